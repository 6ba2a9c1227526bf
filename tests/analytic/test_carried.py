"""What is carried over from before the horizon counts as if the horizon had begun earlier."""

from __future__ import annotations

from typing import Any

import pytest
from tests.analytic.builders import (
    WEEK,
    Row,
    day,
    demand,
    elastic,
    equations,
    gang,
    held,
    is_infeasible,
    lines,
    offer,
    orders,
    pool,
    runs,
    scenario,
    solved,
)

from gpuladder.analysis.analyse import analyse
from gpuladder.audit import audit
from gpuladder.program import make_program_data
from gpuladder.scenario.schema import Scenario
from gpuladder.solving import solve_scenario

ON_DEMAND = offer("on_demand", price=3.0)
HALF = {"id": "half", "spot_share_max": 0.5}


def findings(asked: Scenario, other: Scenario) -> set[str]:
    """Return what the audit finds when the plan of another scenario is held against one."""
    return {item.code for item in audit(asked, solved(other)).findings}


def reserved(**keys: Any) -> Row:
    return offer("reserved", price=1.0, tenor="2 weeks", lot_gpus=8, max_lots=2) | keys


@equations("C3")
def test_lots_held_count_against_the_lots_on_sale() -> None:
    """A contract would be planned that the provider has sold to us already.

    24 GPUs are wanted for four weeks and 8 held in the first; of two lots on sale one is the held
    one, so week 0 has one lot (8 GPUs), the others two: seven lot-weeks of 8 x 168 x 1 = 1,344, and
    8 GPUs on demand in every week, 4,032 each: 9,408 + 16,128. Were the held lot not counted, week
    0 would have two lots beside the 8 held: 10,752 + 3 x 4,032.
    """
    keys: Row = {"offers": [reserved(), ON_DEMAND], "demand": demand([24] * 4)}
    ours = held(8, start=day(-1), end=day(1))
    counted = scenario(commitments=[ours | {"offer": "reserved"}], **keys)
    free = scenario(commitments=[ours], **keys)
    assert solved(counted).objective == pytest.approx(9_408 + 16_128)
    assert solved(free).objective == pytest.approx(10_752 + 12_096)
    assert "lots_active" in findings(counted, free)


def test_a_held_flex_reservation_serves_only_what_is_drawn_at_its_price() -> None:
    """A flex reservation would turn into free capacity once it is signed.

    8 GPUs of demand cannot draw: 5,376 GPU-hours on demand at 3. The campaign's 5,376 are drawn at
    0.50. Nothing of it can be let out. As plain capacity the same 16 GPUs would cost nothing.
    """
    flex = reserved(id="flex", price=0.4, usage_price=0.5)
    keys: Row = {
        "offers": [flex, ON_DEMAND],
        "demand": demand([8] * 4),
        "campaigns": [elastic("c", 8 * 4 * WEEK)],
        "backfill": [{"id": "buyer", "value": 0.3}],
    }
    asked = scenario(commitments=[held(16, offer="flex")], **keys)
    plan = solved(asked)
    assert lines(plan) == pytest.approx({"on_demand": 16_128, "usage": 2_688})
    assert not plan.orders
    assert solved(scenario(commitments=[held(16)], **keys)).objective == pytest.approx(0)
    none = scenario(commitments=[held(4, offer="flex")], **keys)
    assert "draw_limit" in {item.code for item in audit(none, plan).findings}


@equations("C8")
def test_work_done_before_counts_in_the_spot_share_of_its_class() -> None:
    """A campaign would get a new spot allowance with every review.

    Half of 1,000 done and 1,000 to do is 1,000, of which 200 were used: 800 on spot at 1, 200 on
    demand at 3.
    """
    keys: Row = {
        "preemption_classes": [HALF],
        "offers": [ON_DEMAND, offer("spot", price=1.0, max_gpus=100)],
    }
    row = elastic("c", 1000, preemption_class="half")
    before = {"done_gpu_hours": 1000, "done_spot_gpu_hours": 700}
    asked = scenario(campaigns=[row | before | {"done_spot_gpu_hours": 200}], **keys)
    assert solved(asked).objective == pytest.approx(800 + 600)
    assert "class_spot_share" in findings(scenario(campaigns=[row | before], **keys), asked)


@equations("C20")
def test_work_done_before_counts_in_the_company_s_spot_share() -> None:
    """The company's limit would begin anew with every review.

    30 % of 2,000 less the 100 done: 500 on spot at 1, 500 on demand at 3.
    """
    keys: Row = {
        "campaigns": [elastic("c", 1000, preemption_class="free")],
        "offers": [ON_DEMAND, offer("spot", price=1.0, max_gpus=100)],
    }

    def limited(spot: float) -> Scenario:
        so_far = {"gpu_hours": 1000, "spot_gpu_hours": spot}
        return scenario(policy={"spot_share_max": 0.3, "so_far": so_far}, **keys)

    assert solved(limited(100)).objective == pytest.approx(500 + 1_500)
    assert "policy_spot_share" in findings(limited(200), limited(100))


@pytest.mark.parametrize(
    ("before", "cost"),
    [
        ({}, 500 * 1 + 500 * 2),  # half of 1,000 each
        ({"beta": 1000}, 1000 * 1),  # half of 2,000 is all
        ({"acme": 500}, 250 * 1 + 750 * 2),  # half of 1,500 less 500
    ],
)
def test_gpu_hours_bought_before_count_in_a_provider_s_share(
    before: dict[str, float], cost: float
) -> None:
    """A provider's share would be limited quarter by quarter, not as the policy says."""
    asked = scenario(
        pools=[pool(), pool("west", provider="beta")],
        offers=[
            offer("on_demand", id="east", price=1.0),
            offer("on_demand", id="west", pool="west", price=2.0),
        ],
        campaigns=[elastic("c", 1000)],
        policy={"provider_share_max": {"acme": 0.5}, "so_far": {"provider_gpu_hours": before}},
    )
    assert solved(asked).objective == pytest.approx(cost)
    more = scenario(**(asked.model_dump(mode="json") | {"weeks": 4}))
    past = {"provider_gpu_hours": {"acme": 2000}}
    worse = more.model_copy(
        update={
            "policy": more.policy.model_validate(
                {"provider_share_max": {"acme": 0.5}, "so_far": past}
            )
        }
    )
    assert "provider_share" in {i.code for i in audit(worse, solved(asked)).findings}


@equations("C19")
def test_the_ladder_window_under_way_keeps_its_beginning() -> None:
    """A review in mid-quarter would let as much expire again as had expired in it already.

    8 of 16 GPUs ran out a week ago, half may in the window that began two weeks ago: nothing more
    may expire until week 2, so 8 GPUs are bought on demand for two weeks at 3. Counted from today,
    two lots of 4 could be taken at 1: half of 8 held and 8 new.
    """
    keys: Row = {
        "offers": [reserved(lot_gpus=4, max_lots=9, available_until=day()), ON_DEMAND],
        "demand": demand([16, 16, 8, 8]),
        "commitments": [
            held(8, id="gone", start=day(-3), end=day(-1)),
            held(4, id="stays", start=day(-3)),
            held(4, id="stays longer", start=day(-3), end="2029-01-01"),
        ],
        "policy": {
            "ladder": {"window": "4 weeks", "max_expiring_share": 0.5, "min_tenor": "1 weeks"}
        },
    }
    horizon = {"start": day(), "end": day(4), "step": "week"}
    under_way = scenario(horizon=horizon | {"counted_from": day(-2)}, **keys)
    anew = scenario(horizon=horizon, **keys)
    assert solved(under_way).objective == pytest.approx(8 * 2 * WEEK * 3)
    assert solved(anew).objective == pytest.approx(8 * 2 * WEEK * 1)
    assert "ladder" in findings(under_way, anew)
    rows = analyse(under_way, solved(under_way)).tables.ladder
    assert (str(rows[0].window_start), rows[0].committed_after, rows[0].expiring_after) == (
        day(-2),
        16,
        8,
    )
    assert rows[0].allowed_gpus == 8


@pytest.mark.parametrize(
    ("keys", "weeks"), [({}, [0, 1, 3]), ({"available_from": day(0, 1)}, [1, 3])]
)
def test_regular_start_dates_keep_their_rhythm(keys: Row, weeks: list[int]) -> None:
    """A contract that starts every other week would move to the week of the review.

    Counted from a week ago: a week ago, in one week, in three. The one before the horizon stands
    for its first day, unless the offer begins later.
    """
    asked = scenario(
        horizon={"start": day(), "end": day(4), "step": "week", "counted_from": day(-1)},
        offers=[reserved(start_every="2 weeks", **keys), ON_DEMAND],
        demand=demand([8]),
    )
    data = make_program_data(asked)
    assert [data.labels.periods[t] for t in data.orders.start] == [day(week) for week in weeks]
    late = scenario(offers=[reserved(available_from=day(2), max_lots=1)], demand=demand([8], 2))
    ordered = late.model_copy(update={"horizon": late.horizon, "offers": asked.offers[:1]})
    plan = solve_scenario(late).plan
    assert set(orders(plan)) == {("reserved", day(2))}
    assert "order_start" in {
        item.code
        for item in audit(ordered.model_copy(update={"horizon": asked.horizon}), plan).findings
    }


@pytest.mark.parametrize(
    ("keys", "place", "cost"),
    [
        ({"runs_on": "east"}, "east", 8 * WEEK * 3),
        ({"runs_on": "spot"}, "spot", 8 * WEEK * 4),
        ({}, "east", 8 * WEEK * 1),
    ],
)
def test_a_run_under_way_goes_on_where_it_is(keys: Row, place: str, cost: float) -> None:
    """A run would be paused, or moved to a cheaper place, by making a new plan.

    A week on 8 GPUs: on demand at 3 now and at 1 from next week on, on spot at 4.
    """
    path = [{"from": "2026-01-05", "price": 3.0}, {"from": day(1), "price": 1.0}]
    row = gang("g", 8, 8 * WEEK, preemption_class="free")
    tables: Row = {
        "offers": [
            offer("on_demand", price_path=path),
            offer("spot", price=4.0, max_gpus=8),
        ]
    }
    asked = scenario(campaigns=[row | keys], **tables)
    plan = solved(asked)
    assert plan.objective == pytest.approx(cost)
    assert runs(plan)["g"] == (place, 8, day(1) if not keys else day(), WEEK)
    free = scenario(campaigns=[row], **tables)
    assert bool(keys) == ("run_mode" in findings(asked, free))


@equations("C24")
def test_what_is_still_due_on_a_signed_contract_counts_in_the_budget() -> None:
    """A prepayment signed for last quarter would be forgotten in this one's budget.

    Half of 8 GPUs x 336 hours x 1 on the start, 1,344; 168 hours of the other half, 672; setup of
    100; and 8 GPUs on demand in week 0 at 1: 1,344. In all 3,460. Of one that started a week ago
    the prepaid half is paid: 8 x 336 x 0.5 = 1,344 by the hour in two weeks.
    """

    def limited(most: float, **keys: Any) -> Scenario:
        ours = held(8, upfront=0.5, **keys)
        return scenario(
            commitments=[ours],
            offers=[offer("on_demand", price=1.0)],
            demand=demand([8] if "dues" in keys else [16, 16]),
            policy={"cash_budgets": [{"from": day(), "until": day(2), "max": most}]},
        )

    in_flight = {
        "start": day(1),
        "end": day(3),
        "dues": [{"on": day(1), "amount": 100}, {"on": day(-1), "amount": 5000}],
    }
    assert solved(limited(3_460, **in_flight)).objective == pytest.approx(1_344)
    assert is_infeasible(limited(3_459, **in_flight))
    running = {"start": day(-1), "end": day(3)}
    assert solved(limited(1_344 + 2_688, **running)).objective == pytest.approx(2_688)
    assert is_infeasible(limited(1_344 + 2_687, **running))


def test_what_is_owed_on_a_signed_contract_is_told_to_the_day() -> None:
    """Lock-in and cash of the review would not open where the last one closed.

    Before its start all of 8 x 336 x 1 = 2,688 and the setup of 100 are owed and unpaid; from the
    start on the hours that are left, and half of them are paid for.
    """
    ours = held(8, start=day(1), end=day(3), upfront=0.5, dues=[{"on": day(1), "amount": 100}])
    asked = scenario(
        commitments=[ours],
        offers=[offer("on_demand", price=1.0)],
        campaigns=[elastic("c", 8 * WEEK)],
        discount_rate=0.0,
    )
    result = analyse(asked, solved(asked))
    rows = {str(row.at): row for row in result.tables.lock_in}
    assert (rows[day()].held_obligation, rows[day()].unpaid) == (2_788, 2_788)
    assert (rows[day(1)].held_obligation, rows[day(1)].unpaid) == (2_688, 1_344)
    assert (rows[day(2)].held_obligation, rows[day(2)].unpaid) == (1_344, 672)
    cash = sum(row.cash for row in result.tables.cash if row.line == "held")
    accrual = sum(row.accrual for row in result.tables.cash if row.line == "held")
    assert (cash, accrual) == pytest.approx((2_788, 2_788))
    assert result.tables.held[0].cost == pytest.approx(2_788)


def test_bought_hardware_that_was_signed_for_is_owed_until_it_is_paid() -> None:
    """Machines in delivery would show as nothing owed, and running ones as a lease.

    The purchase of 50,000 is due in week 1; its running cost is nobody's claim.
    """
    own = offer("owned", capex_per_gpu=6250, life="1 years", lot_gpus=8, max_lots=0)
    asked = scenario(
        offers=[own, ON_DEMAND],
        commitments=[
            held(
                8,
                "owned",
                start=day(1),
                end="2027-07-13",
                price=0.5,
                offer="owned",
                dues=[{"on": day(1), "amount": 50_000}],
            )
        ],
        campaigns=[elastic("c", 8 * WEEK)],
    )
    rows = {str(row.at): row for row in analyse(asked, solved(asked)).tables.lock_in}
    assert rows[day()].obligation == 50_000
    assert rows[day(1)].obligation == 0
    assert rows[day()].average_months is None
