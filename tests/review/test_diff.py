"""What two runs differ in, and what is not said because it cannot be."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from tests.analysis.conftest import write_plan, write_scenario

from gpuladder.analysis.analyse import analyse
from gpuladder.analysis.answers import Answers, ShadowPriceRow
from gpuladder.analysis.result import Infeasibility, LimitExcess, Shortfall
from gpuladder.errors import UsageError
from gpuladder.plan import Status, Termination
from gpuladder.report.tables_diff import diff_text
from gpuladder.review.diff import diff
from gpuladder.review.diff_result import Kind, Reading
from gpuladder.review.gates import gate_problems, read_limits

JULY, JANUARY = date(2026, 7, 1), date(2027, 1, 1)
MONTHS = tuple(date(2026, month, 1) for month in range(7, 13))
OD = {"id": "od", "pool": "east", "kind": "on_demand", "price": 3.0}
TERM = {
    "id": "term",
    "pool": "east",
    "kind": "reserved",
    "price": 1.0,
    "tenor": "1 years",
    "lot_gpus": 8,
}
RUN = {
    "id": "run",
    "shape": "elastic",
    "preemption_class": "critical",
    "gpu_hours": 4 * 24 * 31,
    "max_gpus": 64,
    "earliest": JULY,
    "deadline": JANUARY,
}


class Clean:
    """An audit that found nothing."""

    passed = True

    def record(self):
        return {"passed": True, "findings": []}


class Refusal(Clean):
    """An audit that found something."""

    passed = False


def solved(*, start=JULY, lots=1, bound=None, month=JULY, plan=None, audit=Clean, **scenario):
    """Return 8 GPUs a lot at 1.00 for a year from a start, of which one month's use is 4 GPUs.

    What they cost inside the half year is 8 × 24 × days × lots.
    """
    horizon = {"start": JULY, "end": JANUARY, "step": "month"}
    keys = {"horizon": horizon, "offers": [OD, TERM], "campaigns": [RUN]} | scenario
    asked = write_scenario(**keys)
    price = next((o["price"] for o in keys["offers"] if o["id"] == "term"), 0.0)
    cost = 8.0 * 24 * (JANUARY - start).days * lots * price
    records = {
        "orders": [{"offer": "term", "start": start, "lots": lots}] if lots else [],
        "stable_use": [{"campaign": "run", "pool": "east", "period": month, "gpus": 4.0}],
    }
    made = write_plan(asked, cost, **records).model_copy(
        update={"bound": cost if bound is None else bound} | (plan or {})
    )
    return analyse(asked, made, audit=audit())


def without_plan(**scenario):
    """Return a run that is proven to have no plan."""
    keys = {"horizon": {"start": JULY, "end": JANUARY, "step": "month"}, "offers": [OD]} | scenario
    asked = write_scenario(**keys)
    made = write_plan(asked, None, status=Status.INFEASIBLE, termination=Termination.INFEASIBLE)
    found = Infeasibility(
        campaigns=(Shortfall(id="run", short_gpu_hours=50.0, fix="more"),),
        limits=(LimitExcess(limit="quota", key="od", excess=4.0, fix="more"),),
    )
    return analyse(asked, made, audit=Clean(), infeasible=found)


def test_nothing_is_said_of_two_runs_that_are_alike():
    """Reviewers would look for a change that is not there."""
    found = diff(solved(), solved())
    assert found.is_same_scenario
    assert found.reading is Reading.SAME
    for rows in (found.inputs, found.demand, found.orders, found.campaigns, found.metrics):
        assert rows == ()
    assert (found.orders_unchanged, found.campaigns_unchanged) == (1, 1)
    assert "Nothing differs." in diff_text(found)


def test_keys_that_differ_are_named_with_both_values_and_rows_matched_by_id():
    """A changed price would be lost between rows that only stand in another order."""
    dearer = TERM | {"price": 1.25}
    other = {"id": "new", "pool": "east", "kind": "spot", "price": 1.0, "max_gpus": 8}
    found = diff(solved(), solved(lots=0, offers=[dearer, other, OD], discount_rate=0.08))
    assert [(row.path, row.kind, row.before, row.after) for row in found.inputs] == [
        ("discount_rate", Kind.CHANGED, 0.0, 0.08),
        ("offers.term.price", Kind.CHANGED, 1.0, 1.25),
        ("offers.new", Kind.ADDED, None, other),
    ]
    assert any("discounted at 0 and 0.08" in remark for remark in found.remarks)


def test_rows_without_ids_are_matched_by_their_dates():
    """A budget of one more quarter would look like a change of all of them."""
    budgets = [
        {"from": "2026-07-01", "until": "2026-10-01", "max": 100_000},
        {"from": "2026-10-01", "until": "2027-01-01", "max": 200_000},
    ]
    raised = [{"from": "2026-04-01", "until": "2026-07-01", "max": 1}, *budgets[1:]]
    found = diff(solved(policy={"cash_budgets": budgets}), solved(policy={"cash_budgets": raised}))
    assert [(row.path, row.kind) for row in found.inputs] == [
        ("policy.cash_budgets[2026-07-01 2026-10-01]", Kind.REMOVED),
        ("policy.cash_budgets[2026-04-01 2026-07-01]", Kind.ADDED),
    ]


def test_demand_is_told_in_short():
    """A year of hours would fill the page, and nobody see that it grew."""

    def demand(levels):
        return [
            {"pool": "east", "at": day, "gpus": n} for day, n in zip(MONTHS, levels, strict=False)
        ]

    found = diff(solved(demand=demand([1, 2, 3])), solved(demand=demand([1, 4, 3, 8])))
    (row,) = found.demand
    assert (row.pool, row.rows_changed) == ("east", 2)
    assert (row.before.mean_gpus, row.before.peak_gpus) == (2.0, 3.0)
    assert (row.after.mean_gpus, row.after.peak_gpus, row.after.rows) == (4.0, 8.0, 4)
    assert (row.after.first, row.after.last) == ("2026-07-01", "2026-10-01")
    assert found.inputs == ()


def test_an_order_that_moved_is_one_change_and_one_more_lot_another():
    """The board would read of a contract given up and a new one, where one moved by a month."""
    august = date(2026, 8, 1)
    (moved,) = diff(solved(), solved(start=august)).orders
    assert (moved.kind, moved.before.start, moved.after.start) == (Kind.CHANGED, JULY, august)
    assert set(moved.differs) == {"start", "end", "sign_by", "cost"}
    (grown,) = diff(solved(), solved(lots=2)).orders
    assert (grown.differs, grown.after.gpus) == (("lots", "gpus", "cost"), 16)
    (gone,) = diff(solved(), solved(lots=0)).orders
    assert (gone.kind, gone.after) == (Kind.REMOVED, None)
    (added,) = diff(solved(lots=0), solved()).orders
    assert (added.kind, added.before) == (Kind.ADDED, None)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ((7, 10), (9, 11), {(7, 9), (10, 11)}),  # 62 + 31 days apart; crosswise 123 + 30
        ((10,), (7, 11), {(10, 11), (None, 7)}),
        ((7, 8, 12), (11,), {(12, 11), (7, None), (8, None)}),
    ],
)
def test_the_nearest_order_is_the_one_that_moved(before, after, expected):
    """Two tranches would seem to change places, or the wrong one to be given up."""

    def made(months):
        result = solved()
        first = result.tables.commitments[0]
        rows = tuple(
            replace(first, start=date(2026, n, 1), end=date(2027, n, 1), sign_by=date(2026, n, 1))
            for n in months
        )
        return replace(result, tables=replace(result.tables, commitments=rows))

    found = diff(made(before), made(after))
    moves = {
        (row.before and row.before.start.month, row.after and row.after.start.month)
        for row in found.orders
    }
    assert moves == expected


def test_campaigns_that_moved_are_told_with_where_they_were():
    """Research would learn of a later run from the calendar, not from the review."""
    found = diff(solved(), solved(month=date(2026, 10, 1)))
    (row,) = found.campaigns
    assert (row.before.start, row.after.start) == (JULY, date(2026, 10, 1))
    assert {"start", "end"} <= set(row.differs)
    more = {**RUN, "id": "second"}
    (added,) = diff(solved(), solved(campaigns=[RUN, more])).campaigns
    assert (added.id, added.kind, added.after.outcome) == ("second", Kind.ADDED, "planned")


def test_costs_and_metrics_are_subtracted_line_by_line():
    """The change would not add up to the change of the total."""
    found = diff(solved(), solved(lots=2))
    one_lot = 8 * 24 * 184
    changes = {row.line: row.amount.change for row in found.costs}
    assert changes == {"reserved": pytest.approx(one_lot)}
    assert found.objective.change == pytest.approx(one_lot)
    assert found.objective.change_share == pytest.approx(1.0)
    metrics = {row.metric: row.value.change for row in found.metrics if row.value}
    assert metrics["idle_gpu_hours"] == pytest.approx(one_lot)
    # One month's use of 4 GPUs out of 8 or 16 held all the time.
    assert metrics["utilisation"] == pytest.approx(-4 * 24 * 31 / one_lot / 2)


@pytest.mark.parametrize(
    ("bound_before", "bound_after", "expected"),
    [
        (None, None, Reading.HIGHER),
        (None, 35_329, Reading.HIGHER),  # above the first plan's 35,328
        (None, 35_328, Reading.NOT_TOLD_APART),  # the second could be as cheap
        (0, None, Reading.HIGHER),  # how cheap the first could be does not matter
    ],
)
def test_a_difference_within_the_gaps_is_not_told_apart(bound_before, bound_after, expected):
    """A longer search would take back what the review told the board."""
    before, after = solved(bound=bound_before), solved(lots=2, bound=bound_after)
    assert diff(before, after).reading is expected
    # The other way round it is the same span, read downwards.
    mirrored = Reading.LOWER if expected is Reading.HIGHER else expected
    assert diff(after, before).reading is mirrored


def test_an_unproven_plan_and_a_refused_one_are_said():
    """Their figures would pass for the scenario's."""
    status = {"status": Status.FEASIBLE, "termination": Termination.TIME_LIMIT, "gap": None}
    found = diff(solved(), solved(lots=2, bound=0, plan=status, audit=Refusal))
    assert found.reading is Reading.NOT_TOLD_APART
    assert any("second run is not proven" in remark for remark in found.remarks)
    assert any("audit refuses the second" in remark for remark in found.remarks)
    assert not found.after.is_audited


def test_money_of_other_currencies_is_shown_and_never_subtracted():
    """Euros less dollars would be a saving."""
    found = diff(solved(), solved(lots=2, currency="EUR"))
    assert found.reading is Reading.NOT_COMPARABLE
    assert not found.is_money_comparable
    assert found.objective.change is None
    assert [row.amount.change for row in found.costs] == [None]
    metrics = {row.metric: row.value for row in found.metrics if row.value}
    assert metrics["idle_cost"].change is None
    assert metrics["idle_gpu_hours"].change == pytest.approx(8 * 24 * 184)
    (order,) = found.orders
    assert "cost" not in order.differs
    assert "USD" in found.remarks[0]
    assert "EUR" in found.remarks[0]


def test_sums_over_other_horizons_are_not_subtracted_and_shares_are():
    """A longer plan would be a dearer one."""
    longer = {"start": JULY, "end": date(2027, 7, 1), "step": "month"}
    before = solved()
    asked = write_scenario(horizon=longer, offers=[OD, TERM], campaigns=[RUN])
    order = [{"offer": "term", "start": JULY, "lots": 1}]
    use = [{"campaign": "run", "pool": "east", "period": JULY, "gpus": 4.0}]
    plan = write_plan(asked, 8 * 24 * 365.0, orders=order, stable_use=use)
    found = diff(before, analyse(asked, plan, audit=Clean()))
    assert found.reading is Reading.NOT_COMPARABLE
    metrics = {row.metric: row.value for row in found.metrics if row.value}
    assert metrics["committed_gpu_hours"].change is None
    assert metrics["utilisation"].change == pytest.approx(
        4 * 24 * 31 / (8 * 24) * (1 / 365 - 1 / 184)
    )
    assert found.remarks[0].startswith("the horizons are 2026-07-01 to 2027-01-01 and")


def price(limit="quota", key="od", *, period=None, unit="GPU", dual=1.0, up=None):
    """Return a shadow price."""
    return ShadowPriceRow(
        limit=limit,
        key=key,
        period=period,
        unit=unit,
        reading="",
        fixed_plan_dual=dual,
        dual_low=None,
        dual_high=None,
        valid_from=None,
        valid_to=None,
        marginal_up=up,
        marginal_down=None,
        marginal_error=None,
        change="",
        note="",
    )


def priced(*rows, **keys):
    """Return a run with shadow prices."""
    return replace(solved(**keys), answers=Answers(shadow_prices=rows))


def test_shadow_prices_are_matched_by_limit_key_and_period():
    """The price of one week would be taken for the change of another's."""
    week = date(2026, 7, 6)
    before = priced(price(dual=1.0), price("supply", period=week), price("gone"))
    after = priced(
        price(dual=4.0, up=2.0), price("supply", period=week), price("supply", period=JULY)
    )
    found = {(row.limit, row.period): row for row in diff(before, after).shadow_prices}
    assert set(found) == {("quota", None), ("gone", None), ("supply", JULY)}
    assert found["quota", None].fixed_plan_dual.change == 3.0
    assert found["quota", None].marginal_up.change is None
    assert found["gone", None].kind is Kind.REMOVED
    assert found["supply", JULY].kind is Kind.ADDED


def test_shadow_prices_of_another_unit_or_of_one_run_alone_are_not_subtracted():
    """The price of a lot less the price of a GPU would be a price."""
    lot = priced(price(unit="8 GPUs (a lot)", dual=8.0))
    (row,) = diff(priced(price()), lot).shadow_prices
    assert row.fixed_plan_dual.change is None
    found = diff(priced(price()), solved())
    assert found.shadow_prices == ()
    assert found.shadow_prices_asked == (True, False)
    assert any("only the first run has some" in remark for remark in found.remarks)


def test_runs_without_a_plan_are_compared_by_what_is_in_the_way():
    """Where a plan is lost the review would be empty, or end in a fault."""
    found = diff(solved(), without_plan(), read_limits(["5%"]))
    assert found.reading is Reading.NO_PLAN
    assert {(row.what, row.key): row.amount.after for row in found.shortfalls} == {
        ("campaign", "run"): 50.0,
        ("quota", "od"): 4.0,
    }
    assert [row.kind for row in found.orders] == [Kind.REMOVED]
    assert found.is_tripped
    assert "not known in the second run" in found.gates[0].why
    both = diff(without_plan(), without_plan())
    assert both.reading is Reading.NO_PLAN
    assert "Without a plan in both runs" in diff_text(both)


@pytest.mark.parametrize(
    ("text", "is_tripped"),
    [("100%", False), ("99.9 %", True), ("idle_gpu_hours=113%", True), ("spot_share=0%", True)],
)
def test_a_gate_trips_above_its_share_and_where_nothing_can_be_told(text, is_tripped):
    """A check would pass on a figure that doubled, or on one that nobody knows.

    The cost doubles exactly. Idle hours rise from 35,328 − 2,976 = 32,352 by 35,328, or 109.2 %.
    No work is done on spot, so its share is 0 in both runs.
    """
    expected = {"idle_gpu_hours=113%": False, "spot_share=0%": False}.get(text, is_tripped)
    (gate,) = diff(solved(), solved(lots=2), read_limits([text])).gates
    assert gate.is_tripped is expected


def test_a_gate_looks_at_the_plans_in_hand_and_says_when_they_are_not_told_apart():
    """A poor search would pass a check that its plan does not pass."""
    found = diff(solved(), solved(lots=2, bound=0), read_limits(["5%"]))
    (gate,) = found.gates
    assert gate.is_tripped
    assert gate.rise_share == pytest.approx(1.0)
    assert "do not tell the two apart" in gate.why
    (problem,) = gate_problems(found)
    assert problem.code == "GL-R020"


def test_a_gate_on_money_of_two_currencies_trips():
    """Euros would be held against a limit in dollars."""
    found = diff(solved(), solved(currency="EUR"), read_limits(["5%"]))
    assert found.is_tripped
    assert "cannot be compared" in found.gates[0].why


def test_a_fall_and_a_rise_from_nothing():
    """Any cost would be allowed where there was none."""
    assert not diff(solved(lots=2), solved(), read_limits(["0%"])).is_tripped
    (gate,) = diff(solved(lots=0), solved(), read_limits(["1000%"])).gates
    assert gate.is_tripped
    assert gate.rise_share is None
    assert "rose from 0" in gate.why


@pytest.mark.parametrize(
    "text", ["0.05", "5", "-5%", "5%%", "cost=5%", "=5%", "cash_peak_month=5%", "nan%", ""]
)
def test_limits_that_could_mean_two_things_are_refused(text):
    """A tenth of a per cent would be let through as ten."""
    with pytest.raises(UsageError) as caught:
        read_limits([text, "5%", "5%"])
    codes = [problem.code for problem in caught.value.problems]
    assert codes == ["GL-U008", "GL-U008"]  # and one metric given twice


def test_hostile_names_stay_on_their_line_and_change_no_colours():
    """A campaign's name would repaint the reviewer's terminal."""
    name = "訓練 → very long " * 9
    asked = diff(solved(), solved(campaigns=[RUN, {**RUN, "id": name.strip()}]))
    (row,) = asked.campaigns
    found = replace(asked, campaigns=(replace(row, id=f"{name}\x1b[31m\nred"),))
    text = diff_text(found, colour=False)
    assert "\x1b" not in text
    assert all(len(line) < 200 for line in text.splitlines())
    assert "\x1b[32m" in diff_text(found, colour=True)
