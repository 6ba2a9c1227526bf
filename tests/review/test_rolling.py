"""The next scenario is what is left of a plan, to the dollar and to the day."""

from __future__ import annotations

import random
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from tests.analytic.builders import (
    START,
    WEEK,
    Row,
    day,
    demand,
    elastic,
    gang,
    offer,
    pool,
    scenario,
    solved,
)
from tests.property.program_strategies import SEEDS, Rows, build

from gpuladder.analysis.frame import Frame
from gpuladder.analysis.ledger import ledger_of
from gpuladder.audit import audit
from gpuladder.economics import price_at
from gpuladder.errors import UsageError
from gpuladder.plan import Plan, Status
from gpuladder.review.position import closing_position, opening_position
from gpuladder.review.rolling import roll
from gpuladder.review.rolling.remaining import remaining_lines
from gpuladder.scenario.expand import expand
from gpuladder.scenario.loading import load
from gpuladder.scenario.schema import ElasticCampaign, GangCampaign, Scenario
from gpuladder.solving import solve_scenario

ROOT = Path(__file__).parents[2]
ON_DEMAND = offer("on_demand", price=3.0)


def at(weeks: int, days: int = 0) -> date:
    return START + timedelta(weeks=weeks, days=days)


def rolled(asked: Scenario, weeks: int) -> Scenario:
    return roll(asked, solved(asked), at(weeks)).scenario


def remaining(asked: Scenario, plan: Plan, to: date) -> float:
    return sum(remaining_lines(ledger_of(Frame.of(asked, plan)), to).values())


# --- What must hold of every plan ----------------------------------------------------------------


def limited(seed: int) -> Row:
    """Return the tables of a small scenario with limits that look back, leads and loans."""
    asked, rng = Rows(seed).tables(), random.Random(seed)
    policy: dict[str, Any] = asked["policy"]
    if rng.random() < 0.4:
        policy["provider_share_max"] = rng.choice([0.6, 0.8])
    if rng.random() < 0.4:
        until = day(rng.choice([2, 3, 6]))
        most = rng.choice([3000, 6000, 12_000])
        policy["cash_budgets"] = [{"from": day(), "until": until, "max": most}]
    for row in asked["offers"]:
        row["max_lots"] = max(row.get("max_lots", 3), row.get("min_lots", 0))
        if row["kind"] in ("on_demand", "spot"):
            del row["max_lots"]
            if rng.random() < 0.3:
                row["price_change_per_year"] = rng.uniform(-0.5, 0.5)
        elif rng.random() < 0.3:
            row["lead"] = rng.choice(["7 days", "10 days", "14 days"])
        if row["kind"] == "owned" and rng.random() < 0.5:
            row["financing"] = {"rate": 0.1, "term": "6 months", "down_payment": 0.3}
    return asked


@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(SEEDS)
def test_planning_the_rest_again_changes_nothing(seed: int) -> None:
    """A review in which nothing happened would advise something else than the plan it follows.

    The plan's rest is a plan of the rolled scenario and the other way round, so both cost the same.
    """
    asked = build(limited(seed))
    plan = solve_scenario(asked).plan
    if plan.status is not Status.OPTIMAL:
        return
    for weeks in (1, 2, 3):
        made = roll(asked, plan, at(weeks)).scenario
        again = solve_scenario(made).plan
        slack = 1e-3 + 2e-6 * abs(plan.objective or 0.0)
        assert again.objective == pytest.approx(remaining(asked, plan, at(weeks)), abs=slack)
        assert audit(made, again).findings == ()
        closing, opening = closing_position(asked, plan, at(weeks)), opening_position(made)
        assert opening.commitments == closing.commitments
        assert opening.gpus == closing.gpus
        assert opening.obligation == pytest.approx(closing.obligation)
        assert opening.unpaid == pytest.approx(closing.unpaid)
        assert opening.average_months == closing.average_months


@pytest.mark.parametrize(
    ("name", "to", "gap"),
    [
        ("quickstart.yaml", "2026-05-04", 2e-5),
        ("quickstart.yaml", "2026-08-03", 2e-5),
        ("training-year", "2026-11-02", 2e-4),
        ("helios-pooled", "2020-05-11", 1e-5),
    ],
)
def test_a_shipped_scenario_is_reviewed_without_a_jump(name: str, to: str, gap: float) -> None:
    """The review of a real calendar would move money between the quarters.

    Plan and rest are proven within the gap, so they differ by at most that of each.
    """
    asked = load(ROOT / "scenarios" / name).scenario
    options = asked.solver.model_copy(update={"relative_gap": gap, "time_limit_seconds": 240.0})
    asked = asked.model_copy(update={"solver": options})
    plan = solve_scenario(asked).plan
    assert plan.status is Status.OPTIMAL
    day_ = date.fromisoformat(to)
    again = solve_scenario(roll(asked, plan, day_).scenario).plan
    frame = Frame.of(asked, plan)
    slack = gap * (plan.objective or 0.0) / frame.factor(day_) + gap * (again.objective or 0.0)
    assert again.objective == pytest.approx(remaining(asked, plan, day_), abs=slack)


# --- Contracts -----------------------------------------------------------------------------------


def contracts() -> Scenario:
    """Return 8 GPUs of demand that each week's own contract serves, and one that comes late.

    The weekly blocks are signed on the day; `ahead`, for week 4 alone, three weeks before.
    """
    block = offer("burst_window", price=1.0, tenor="1 weeks", lot_gpus=8, max_lots=1)
    ahead = offer(
        "dedicated",
        id="ahead",
        price=1.0,
        tenor="4 weeks",
        lot_gpus=8,
        max_lots=1,
        lead="3 weeks",
        setup_cost=50,
        upfront=0.25,
        available_from=day(4),
        available_until=day(4),
    )
    return scenario(
        weeks=8,
        offers=[block | {"available_until": day(3)}, ahead, ON_DEMAND],
        demand=demand([8] * 8),
    )


def test_signed_orders_are_held_and_open_ones_left_open() -> None:
    """A contract would be signed twice, or one that was signed be forgotten.

    From week 2 on the block of week 0 has ended, week 1's has too (it ends on the day), week 2's is
    still open; `ahead` starts in week 4 and had to be signed in week 1.
    """
    made = rolled(contracts(), 2)
    assert [item.id for item in made.commitments] == [f"ahead from {day(4)}"]
    ours = made.commitments[0]
    assert (ours.gpus, str(ours.start), str(ours.end)) == (8, day(4), day(8))
    assert (ours.price, ours.upfront, ours.kind, str(ours.tenor)) == (
        1,
        0.25,
        "dedicated",
        "4 weeks",
    )
    assert (ours.offer, ours.renewable_as) == ("ahead", "ahead")
    assert [(str(due.on), due.amount) for due in ours.dues] == [(day(4), 50)]
    plan = solved(made)
    assert {(order.offer, str(order.start)) for order in plan.orders} == {
        ("burst_window", day(2)),
        ("burst_window", day(3)),
    }
    assert plan.objective == pytest.approx(2 * 8 * WEEK)


def test_what_can_still_be_signed_on_the_day_is_open() -> None:
    """The decision of the review itself would be taken out of its hands.

    Three weeks before week 4 is week 1: from there on `ahead` can still be signed or not.
    """
    asked = contracts()
    plan = solved(asked)
    made = roll(asked, plan, at(1)).scenario
    assert made.commitments == ()
    again = solved(made)
    assert ("ahead", day(4)) in {(order.offer, str(order.start)) for order in again.orders}
    assert again.objective == pytest.approx(remaining(asked, plan, at(1)))


def test_a_running_contract_is_held_with_what_is_not_paid_yet() -> None:
    """Setup paid last quarter would be due again, and held lots could be bought a second time."""
    made = rolled(contracts(), 5)
    (ours,) = made.commitments
    assert ours.dues == ()
    assert solved(made).objective == pytest.approx(0)
    # The blocks cannot start any more and are left out; `ahead` stays, because it is held.
    assert [row.id for row in made.offers] == ["ahead", "on_demand"]


def test_rolling_in_two_steps_is_rolling_once() -> None:
    """In-flight orders would be netted again by every review."""
    asked = contracts()
    plan = solved(asked)
    first = roll(asked, plan, at(2)).scenario
    twice = roll(first, solved(first), at(4)).scenario
    once = roll(asked, plan, at(4)).scenario
    assert twice.commitments == once.commitments
    assert [item.id for item in once.commitments] == [f"ahead from {day(4)}"]
    assert opening_position(twice) == opening_position(once)


def test_bought_hardware_is_held_with_its_loan() -> None:
    """Instalments of machines that were bought would drop out of the next budget.

    80,000 borrowed for two months without interest: 40,000 on each 6th, as a week of 8 GPUs on
    demand at 300 would cost more. In week 1 both are due; after the first, one.
    """
    own = offer(
        "owned",
        capex_per_gpu=10_000,
        opex_per_gpu_hour=0.5,
        life="1 years",
        lot_gpus=8,
        max_lots=1,
        residual_per_year=1.0,
        financing={"rate": 0.0, "term": "2 months"},
    )
    asked = scenario(
        weeks=10, offers=[own, offer("on_demand", price=300.0)], demand=demand([8] * 10)
    )
    ours = rolled(asked, 1).commitments[0]
    assert (ours.kind, ours.price, str(ours.end)) == ("owned", 0.5, "2027-07-06")
    assert [(str(due.on), due.amount) for due in ours.dues] == [
        ("2026-08-06", 40_000),
        ("2026-09-06", 40_000),
    ]
    assert len(rolled(asked, 5).commitments[0].dues) == 1


# --- Campaigns -----------------------------------------------------------------------------------


def test_a_run_under_way_keeps_its_place_and_what_is_left() -> None:
    """A run would be planned to pause, to move, or to be done once more.

    8 GPUs for 2.5 weeks from week 0: after one week 1.5 of 2.5 parts are left, 60 %.
    """
    keys: Row = {"max_duration": "18 days", "drop_cost": 1e6, "scaling": {16: 0.51}}
    row = gang("g", [8, 16], 2.5 * 8 * WEEK, **keys)
    cheap = offer("on_demand", id="later", pool="west", price=0.01, available_from=day(1))
    asked = scenario(
        pools=[pool(), pool("west")],
        offers=[ON_DEMAND | {"available_until": day(3)}, cheap],
        campaigns=[row | {"deadline": day(2, 4), "staff_cost": 100}],
    )
    made = rolled(asked, 1)
    (left,) = made.campaigns
    assert isinstance(left, GangCampaign)
    assert (left.runs_on, left.gpus) == ("east", (8,))
    assert left.gpu_hours == pytest.approx(1.5 * 8 * WEEK)
    assert (left.max_duration, left.drop_cost) == (None, None)
    assert left.staff_cost == pytest.approx(60)
    (run,) = solved(made).runs
    assert (run.pool, run.gpus, str(run.start)) == ("east", 8, day(1))
    assert run.hours == pytest.approx(1.5 * WEEK)


def test_an_elastic_campaign_keeps_its_rest_net_of_waste() -> None:
    """Failed runs would be planned for twice, or not at all.

    1,000 useful hours and a quarter failed: 1,250 of work, at most 4 GPUs x 168 = 672 a week. After
    a week 578 of work are left, 46.24 %: 462.4 useful hours, and their part of the drop cost.
    """
    row = elastic("c", 1000, waste=0.25, max_gpus=4, deadline=day(2), drop_cost=1e6)
    path = [{"from": "2026-01-05", "price": 1.0}, {"from": day(1), "price": 2.0}]
    asked = scenario(offers=[offer("on_demand", price_path=path)], campaigns=[row])
    (left,) = rolled(asked, 1).campaigns
    assert isinstance(left, ElasticCampaign)
    assert left.gpu_hours == pytest.approx(462.4)
    assert left.waste == 0.25
    assert left.drop_cost == pytest.approx(1e6 * 0.4624)
    assert (str(left.earliest), str(left.deadline)) == (day(1), day(2))


def test_done_campaigns_go_and_repeats_are_written_out_where_one_has_begun() -> None:
    """A finished campaign would be planned again, or a repeat change its name at every review.

    `weekly` happens in weeks 0, 1 and 2; `later` in weeks 2 and 3 has not begun.
    """
    weekly = elastic("weekly", 100, deadline=day(1), repeat={"every": "1 weeks", "count": 3})
    later = elastic(
        "later", 100, earliest=day(2), deadline=day(3), repeat={"every": "1 weeks", "count": 2}
    )
    once = elastic("once", 100, deadline=day(1))
    made = rolled(scenario(offers=[ON_DEMAND], campaigns=[weekly, later, once]), 1)
    assert [item.id for item in made.campaigns] == ["weekly#2", "weekly#3", "later"]
    assert made.campaigns[2].repeat is not None
    assert list(expand(made).campaigns) == ["weekly#2", "weekly#3", "later#1", "later#2"]


def test_dropping_keeps_its_weight() -> None:
    """A campaign would be taken up again only because its cost is discounted less.

    8 x 168 hours at 100 in week 35, mid-week 248.5 days on, cost 134,400 x 1.21^(-248.5/365) =
    118,041 at 21 % a year; dropping costs 117,000. From week 26 (182 days) on the work costs
    118,041 x 1.21^(182/365) = 129,809, and so does dropping weigh 128,664: still the less.
    """
    row = elastic("c", 8 * WEEK, max_gpus=8, earliest=day(35), deadline=day(36), drop_cost=117_000)
    asked = scenario(
        weeks=40, offers=[offer("on_demand", price=100.0)], campaigns=[row], discount_rate=0.21
    )
    plan = solved(asked)
    assert plan.dropped
    made = roll(asked, plan, at(26)).scenario
    assert made.campaigns[0].drop_cost == pytest.approx(117_000 * 1.21 ** (182 / 365))
    assert solved(made).dropped


# --- Prices, dates, limits -----------------------------------------------------------------------


def test_every_price_is_the_same_on_every_day() -> None:
    """The market would look cheaper or dearer after a review than before it."""
    path = [{"from": day(3), "price": 5.0}]
    keys: Row = {"tenor": ["1 weeks", "2 weeks"], "price": [2.0, 3.0], "lot_gpus": 8}
    asked = scenario(
        weeks=6,
        offers=[
            ON_DEMAND | {"price_change_per_year": -0.3},
            offer("reserved", price_change_per_year=0.2, max_lots=1, **keys),
            offer("on_demand", id="stepped", price=4.0, price_path=path),
        ],
        demand=demand([8] * 6),
    )
    made = rolled(asked, 2)
    before, after = expand(asked), expand(made)
    for table in ("on_demand", "committed"):
        for name, old in getattr(before, table).items():
            new = getattr(after, table)[name]
            for week in (2, 3, 5):
                price = price_at(old, at(week), START)
                assert price_at(new, at(week), at(2)) == pytest.approx(price, rel=1e-12)


@pytest.mark.parametrize(("weeks", "first"), [(1, [2, 4, 6]), (2, [2, 4, 6]), (3, [4, 6])])
def test_terms_keep_starting_on_the_same_days(weeks: int, first: list[int]) -> None:
    """A contract that starts every second week would start in the week of the review.

    Counted from six days before the start they fall on days -6, 8, 22 and 36, and so on the first
    days of weeks 0 (not on offer yet), 2, 4 and 6.
    """
    term = offer(
        "reserved",
        price=1.0,
        tenor="1 weeks",
        lot_gpus=8,
        max_lots=1,
        start_every="2 weeks",
        available_from=day(0, 1),
    )
    asked = scenario(
        horizon={"start": day(), "end": day(8), "step": "week", "counted_from": day(-1, 1)},
        offers=[term, ON_DEMAND],
        demand=demand([8] * 8),
    )
    plan = solved(rolled(asked, weeks))
    assert [str(order.start) for order in plan.orders] == [day(week) for week in first]


def test_what_is_left_of_a_budget_is_left() -> None:
    """Money spent last quarter could be spent again.

    8 GPUs on demand at 3 are 4,032 a week; of 10,000 one week is paid.
    """
    asked = scenario(
        offers=[ON_DEMAND],
        demand=demand([8, 8]),
        policy={
            "cash_budgets": [
                {"from": day(), "until": day(2), "max": 10_000},
                {"from": day(), "until": day(1), "max": 10_000},
                {"from": day(1), "until": day(3), "max": 10_000},
            ]
        },
    )
    budgets = rolled(asked, 1).policy.cash_budgets
    assert [(str(b.from_date), str(b.until), b.max) for b in budgets] == [
        (day(1), day(2), pytest.approx(5_968)),
        (day(1), day(3), 10_000),
    ]


def test_demand_before_the_date_is_cut() -> None:
    """Last quarter's demand would be counted outside the horizon, with a warning a row."""
    made = rolled(scenario(offers=[ON_DEMAND], demand=demand([8, 9, 10, 11])), 2)
    assert [row.gpus for row in made.demand] == [10, 11]


def test_months_counted_from_the_31st_keep_their_length() -> None:
    """Rolled to 28 February, months would end on the 28th from then on."""
    asked = scenario(
        horizon={"start": "2026-01-31", "end": "2026-06-30", "step": "month"},
        offers=[ON_DEMAND],
        demand=[{"pool": "east", "at": "2026-01-31", "gpus": 8}],
    )
    made = roll(asked, solved(asked), date(2026, 2, 28)).scenario
    assert [str(d) for d in expand(made).grid.boundaries] == [
        "2026-02-28",
        "2026-03-31",
        "2026-04-30",
        "2026-05-31",
        "2026-06-30",
    ]


@pytest.mark.parametrize(
    ("to", "words"),
    [
        (at(1, 1), ("no period begins", str(at(1)), str(at(2)))),
        (at(0), ("not inside the horizon", str(at(1)))),
        (at(4), ("not inside the horizon", str(at(3)))),
    ],
)
def test_another_date_is_refused_with_the_nearest(to: date, words: tuple[str, ...]) -> None:
    """Half a period's average use would be counted as done, or as left."""
    asked = scenario(offers=[ON_DEMAND], demand=demand([8] * 4))
    plan = solved(asked)
    with pytest.raises(UsageError) as caught:
        roll(asked, plan, to)
    assert all(word in str(caught.value) for word in words)


def test_a_run_without_a_plan_is_refused() -> None:
    """An empty quarter would be taken for a plan in which nothing was done."""
    asked = scenario(campaigns=[elastic("c", 100)], offers=[ON_DEMAND | {"max_gpus": 0}])
    plan = solve_scenario(asked).plan
    assert plan.status is Status.INFEASIBLE
    with pytest.raises(UsageError, match="no plan to roll"):
        roll(asked, plan, at(1))
