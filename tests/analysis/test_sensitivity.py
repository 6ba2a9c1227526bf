"""Tornado: differences that can be worked out on paper, and agree with the command line's."""

from __future__ import annotations

import time
from datetime import datetime, timedelta

import pytest

from gpuladder.analysis.budget import Budget
from gpuladder.analysis.sensitivity import tornado
from gpuladder.pipeline import solve

HOURS = 26 * 7 * 24
"""Hours of the horizon: 26 weeks."""
SPEND = 8 * HOURS
"""What 8 GPUs cost over the horizon at 1.00."""


@pytest.fixture
def steady(desk):
    """One campaign that keeps 8 GPUs busy all 26 weeks: reserved at ``price``, or 3.00 on demand.

    The reservation lasts as long as the horizon. Below 3.00 it is bought, at 8 x 4,368 h x price.
    """

    def write(price=1.0, offers=(), **changes):
        on_demand = {"id": "od", "pool": "east", "kind": "on_demand", "price": 3.0}
        standing = on_demand | {"id": "standing", "kind": "reserved", "price": price}
        standing |= {"tenor": "26 weeks", "lot_gpus": 8}
        campaign = {
            "id": "steady",
            "shape": "elastic",
            "preemption_class": "critical",
            "gpu_hours": SPEND,
            "max_gpus": 8,
            "earliest": desk.week(0),
            "deadline": desk.week(26),
        }
        content = {"campaigns": [campaign], "offers": [on_demand, standing, *offers]}
        return desk.scenario(**content | changes)

    return write


def budget(seconds=60.0, workers=1):
    return Budget(
        stop_at=time.time() + seconds, workers=workers, seconds_each=20.0, relative_gap=1e-6
    )


def rows_of(scenario, **options):
    plan = solve(scenario).plan
    found = tornado(scenario, plan, budget=budget(**options))
    return {(row.key, row.change_share): row for row in found}, found


def deltas(rows, key):
    return {share: row.delta for (own, share), row in rows.items() if own == key}


def test_prices_move_the_cost_as_far_as_the_plan_lets_them(steady):
    """A price rise that is escaped by switching would be shown as if it had to be paid.

    At 2.90 the reservation is bought. 10 % more, 3.19, is above on demand: the rise stops at 3.00.
    On demand is not used: only where it falls below 2.90 does anything change.
    """
    rows, found = rows_of(steady(price=2.9))
    assert deltas(rows, "offers.standing.price") == pytest.approx(
        {-0.25: -0.725 * SPEND, -0.1: -0.29 * SPEND, 0.1: 0.1 * SPEND, 0.25: 0.1 * SPEND}
    )
    assert deltas(rows, "offers.od.price") == pytest.approx(
        {-0.25: -0.65 * SPEND, -0.1: -0.2 * SPEND, 0.1: 0.0, 0.25: 0.0}, abs=1e-3
    )
    changed = {place for place, row in rows.items() if row.is_structure_changed}
    assert {("offers.standing.price", 0.1), ("offers.od.price", -0.1)} <= changed
    assert ("offers.standing.price", -0.1) not in changed
    assert all(row.cost == pytest.approx(2.9 * SPEND + row.delta) for row in found if row.cost)
    # Sorted by effect; the shares of one input together, from low to high.
    keys = list(dict.fromkeys(row.key for row in found))
    effects = [max(abs(x or 0.0) for x in deltas(rows, key).values()) for key in keys]
    assert keys[0] == "offers.standing.price"
    assert effects == sorted(effects, reverse=True)
    assert [row.key for row in found] == [key for key in keys for _ in deltas(rows, key)]
    assert [row.change_share for row in found[:4]] == [-0.25, -0.1, 0.1, 0.25]


def test_what_cannot_be_done_is_told_from_what_was_not_tried(steady):
    """An empty cell would hide that a tenth more work cannot be done at all.

    At most 8 GPUs work on it, and they are needed all the time.
    """
    rows, _ = rows_of(steady())
    for key, share in (("campaigns.steady.gpu_hours", 0.1), ("campaigns.steady.deadline", -0.1)):
        row = rows[key, share]
        assert (row.cost, row.delta, row.is_structure_changed) == (None, None, None)
        assert "cannot be done in time" in row.note
    # A tenth less is 23.4 weeks of 8 GPUs: the reservation starts two weeks later, at 1.00 each.
    less = rows["campaigns.steady.gpu_hours", -0.1].delta
    assert less == pytest.approx(-2 * 7 * 24 * 8)


def test_demand_is_met_by_what_is_cheapest_at_the_margin(steady, desk):
    """Growth would be priced at the average, not at what the next GPU costs.

    Demand of 8 at 1.00 fills a lot. 10 % more is 0.8 GPUs on demand at 3.00: cheaper than a lot.
    25 % more is 2 GPUs: 6 an hour on demand, against 8 for a second lot. Less demand saves nothing:
    even 6 GPUs are 18 an hour on demand.
    """
    start = datetime.combine(desk.week(0), datetime.min.time())
    rows = [{"pool": "east", "at": start + timedelta(days=d), "gpus": 8} for d in range(182)]
    found, _ = rows_of(steady(campaigns=[], demand=rows))
    assert deltas(found, "demand[*].gpus") == pytest.approx(
        {-0.25: 0.0, -0.1: 0.0, 0.1: 0.8 * 3 * HOURS, 0.25: 2 * 3 * HOURS}, abs=1e-3
    )
    assert not any(key.startswith("campaigns") for key, _ in found)


@pytest.fixture
def market(steady):
    """Everything that can be moved by one key: spot, backfill, a discount rate and a tail charge.

    Half of the work may be done on spot, of which there is less than that; six idle GPUs are sold.
    """
    spot = {"id": "cheap", "pool": "east", "kind": "spot", "price": 0.5, "max_gpus": 2}
    spot |= {"availability": 0.9, "node_mtbr_hours": 500}
    return steady(
        offers=[spot],
        discount_rate=0.1,
        preemption_classes=[
            {
                "id": "critical",
                "spot_share_max": 0.5,
                "checkpoint_minutes": 5,
                "restart_minutes": 10,
            }
        ],
        backfill=[{"id": "buyer", "value": 0.2, "max_gpus": 6}],
        policy={"tail_charge": 0.5},
    )


def test_every_difference_is_that_of_the_edited_scenario(market):
    """The table would say something else than changing the file does."""
    base = solve(market, overrides=["solver.relative_gap=1e-6"]).plan.objective
    found, _ = rows_of(market)
    values = {
        "offers.standing.price": 1.0,
        "offers.cheap.price": 0.5,
        "offers.cheap.max_gpus": 2.0,
        "offers.cheap.availability": 0.9,
        "offers.cheap.node_mtbr_hours": 500.0,
        "campaigns.steady.gpu_hours": float(SPEND),
        "backfill.buyer.value": 0.2,
        "discount_rate": 0.1,
        "policy.tail_charge": 0.5,
    }
    assert set(values) <= {key for key, _ in found}
    for key, value in values.items():
        row = found[key, -0.25]
        edits = [f"{key}={value * 0.75!r}", "solver.relative_gap=1e-6"]
        edited = solve(market, overrides=edits).plan.objective
        assert row.delta == pytest.approx(edited - base, abs=1e-3 * base), key
        assert row.error <= 5e-4 * base


def test_a_share_past_its_range_has_no_row(market):
    """A rise to the limit would be taken for one of 25 %."""
    found, _ = rows_of(market)
    shares = [share for key, share in found if key == "offers.cheap.availability"]
    assert shares == [-0.25, -0.1, 0.1]  # 0.9 x 1.25 is more than all hours
    assert len([share for key, share in found if key == "policy.tail_charge"]) == 4


def test_offers_of_a_kind_move_together_too(steady):
    """A market-wide rise would look harmless, as each offer alone is escaped to the other."""
    other = {"id": "other", "pool": "east", "kind": "reserved", "price": 1.0}
    other |= {"tenor": "26 weeks", "lot_gpus": 8}
    rows, _ = rows_of(steady(offers=[other]))
    assert rows["offers[reserved].price", 0.25].delta == pytest.approx(0.25 * SPEND)
    assert rows["offers.standing.price", 0.25].delta == pytest.approx(0.0, abs=1e-3)
    assert rows["offers.other.price", 0.25].delta == pytest.approx(0.0, abs=1e-3)
    assert not any(key == "offers[on_demand].price" for key, _ in rows)


def test_without_time_nothing_is_guessed_and_the_likely_ones_come_first(steady):
    """A first-order guess would be read as a solved figure."""
    scenario = steady()
    plan = solve(scenario).plan
    found = tornado(scenario, plan, budget=budget(seconds=-1.0))
    assert "not solved in the time given" in {row.note for row in found}
    assert all(row.note for row in found)
    assert {(row.cost, row.delta, row.is_structure_changed) for row in found} == {(None,) * 3}
    assert {row.key for row in found[:8]} == {"offers.standing.price", "campaigns.steady.gpu_hours"}


def test_shares_are_the_callers(steady):
    """Someone who fears 50 % could not ask about it."""
    scenario = steady()
    found = tornado(scenario, solve(scenario).plan, budget=budget(), shares=(0.5,))
    assert {row.change_share for row in found} == {-0.5, 0.5}
    by_key = {(row.key, row.change_share): row for row in found}
    assert by_key["offers.standing.price", 0.5].delta == pytest.approx(0.5 * SPEND)


def test_the_number_of_workers_changes_nothing(steady):
    """Two people with the same file would argue over two tables."""
    scenario = steady(price=2.9)
    assert rows_of(scenario, workers=1)[1] == rows_of(scenario, workers=2)[1]
