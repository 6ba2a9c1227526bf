"""From a scenario to arrays: which orders, levels and modes exist, and that nothing moves after."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from tests.analytic.builders import (
    WEEK,
    day,
    demand,
    elastic,
    gang,
    hardware,
    held,
    offer,
    pool,
    scenario,
)
from tests.unit.programs import sparse_calendar

from gpuladder.program import make_program_data
from gpuladder_models.data import ProgramData


def starts(data: ProgramData, offer_id: str) -> list[str]:
    """Return the dates on which an offer's orders may start."""
    number = data.labels.committed.index(offer_id)
    return [data.labels.periods[t] for t in data.orders.start[data.orders.offer == number]]


def test_every_array_is_read_only() -> None:
    """One part of the program could change the numbers of another."""
    data = make_program_data(sparse_calendar())
    arrays = [
        getattr(group, field.name)
        for name in ("orders", "cells", "levels", "spot", "elastic", "gangs", "policy")
        for group in [getattr(data, name)]
        for field in fields(group)
        if isinstance(getattr(group, field.name), np.ndarray)
    ]
    assert len(arrays) > 30
    assert not any(array.flags.writeable for array in arrays)


def test_orders_start_where_lead_dates_and_rhythm_allow() -> None:
    """A contract would be planned on a date on which it cannot be had."""
    keys = {"price": 1.0, "tenor": "2 weeks", "lot_gpus": 8}
    data = make_program_data(
        scenario(
            weeks=6,
            offers=[
                offer("reserved", id="any", **keys),
                offer("reserved", id="led", lead="8 days", **keys),
                offer(
                    "reserved",
                    id="dated",
                    available_from=day(1, 1),
                    available_until=day(4),
                    **keys,
                ),
                offer("reserved", id="every", start_every="2 weeks", lead="1 days", **keys),
                offer("reserved", id="late", lead="1 years", **keys),
            ],
        )
    )
    assert starts(data, "any") == [day(week) for week in range(6)]
    assert starts(data, "led") == [day(week) for week in (2, 3, 4, 5)]
    assert starts(data, "dated") == [day(week) for week in (2, 3, 4)]
    assert starts(data, "every") == [day(week) for week in (2, 4)]
    assert starts(data, "late") == []


def test_demand_curve_keeps_levels_and_shares() -> None:
    """Peaks would be averaged away, or a short peak count for a whole week."""
    rows = [
        {"pool": "east", "at": f"{day()}T{hour:02d}:00", "gpus": gpus}
        for hour, gpus in enumerate([8, 24, 8, 8, 16, 24, 8, 0])
    ]
    data = make_program_data(scenario(weeks=2, offers=[offer("on_demand", price=1.0)], demand=rows))
    assert data.levels.demand.tolist() == [8, 16, 24]
    assert data.levels.share.tolist() == [4 / 8, 1 / 8, 2 / 8]
    assert data.levels.index.tolist() == [1, 2, 3]


def test_levels_without_demand_count_where_campaigns_run() -> None:
    """Hours without demand would be missing for the campaigns that run in them."""
    campaign = elastic("c", WEEK, deadline=day(1))
    data = make_program_data(
        scenario(weeks=2, offers=[offer("on_demand", price=1.0)], campaigns=[campaign])
    )
    assert data.levels.demand.tolist() == [0]
    assert data.levels.share.tolist() == [1]


def test_variables_exist_only_where_they_can_be_used() -> None:
    """A scenario with many offers would be too large to solve."""
    data = make_program_data(
        scenario(
            weeks=4,
            pools=[pool(), pool("west"), pool("bare")],
            offers=[
                offer("on_demand", price=1.0),
                offer("spot", pool="west", price=1.0, max_gpus=8, available_until=day(2)),
            ],
            campaigns=[
                elastic("c", WEEK, earliest=day(1), deadline=day(3), preemption_class="free")
            ],
        )
    )
    periods = data.cells.period[data.elastic.stable_cell]
    assert {data.labels.pools[p] for p in data.cells.pool[data.elastic.stable_cell]} == {"east"}
    assert periods.tolist() == [1, 2]
    assert data.spot.period[data.elastic.spot_cell].tolist() == [1]
    assert len(data.on_demand.level) == 2


def test_gang_modes_are_whole_nodes_in_time() -> None:
    """A run would be planned on part of a node, or past its deadline.

    1,344 GPU-hours on 8 GPUs take one week, on 16 half a week, on 12 they are not whole nodes.
    Windows of two weeks: 8 start in weeks 0 and 1, 16 too.
    """
    data = make_program_data(
        scenario(
            offers=[offer("on_demand", price=1.0)],
            campaigns=[gang("run", [8, 12, 16], 1344, deadline=day(2))],
        )
    )
    modes = zip(data.gangs.mode_gpus.tolist(), data.gangs.mode_start.tolist(), strict=True)
    assert sorted(modes) == [(8, 0), (8, 1), (16, 0), (16, 1)]
    assert sorted(set(data.gangs.mode_hours)) == pytest.approx([84, 168])


def test_node_size_is_the_pool_s() -> None:
    """A run of 72 GPUs would be refused on racks of 72, or be split over nodes of 8."""
    data = make_program_data(
        scenario(
            hardware=[hardware(), hardware("gb200", gpus_per_node=72)],
            pools=[pool(), pool("rack", hardware="gb200")],
            offers=[
                offer("on_demand", price=1.0),
                offer("on_demand", id="rack", pool="rack", price=1.0),
            ],
            campaigns=[gang("run", [64, 72], 72 * WEEK, deadline=day(2))],
        )
    )
    places = {
        (data.labels.pools[p], n)
        for p, n in zip(data.gangs.mode_pool.tolist(), data.gangs.mode_gpus.tolist(), strict=True)
    }
    assert places == {("east", 64), ("east", 72), ("rack", 72)}


def test_held_capacity_counts_by_its_share_of_a_period() -> None:
    """A commitment that ends on a Thursday would serve the whole week.

    Two commitments in one pool add up; only the dedicated one counts as such.
    """
    data = make_program_data(
        scenario(
            weeks=2,
            commitments=[held(14, end=day(1, 3)), held(8, "dedicated", start=day(1))],
            demand=demand([8]),
        )
    )
    assert data.cells.held.tolist() == pytest.approx([14, 14 * 3 / 7 + 8])
    assert data.cells.held_dedicated.tolist() == pytest.approx([0, 8])


def test_order_without_limit_is_bounded_where_it_needs_a_yes_or_no() -> None:
    """An order with a setup cost would have no bound, and its setup cost no effect."""
    keys = {"price": 1.0, "tenor": "4 weeks", "lot_gpus": 8}
    data = make_program_data(
        scenario(
            weeks=1,
            offers=[
                offer("reserved", **keys),
                offer("reserved", id="least", min_lots=3, **keys),
                offer("dedicated", setup_cost=100, **keys),
            ],
            demand=demand([80]),
        )
    )
    assert np.isinf(data.orders.most_lots[0])
    assert data.orders.placed.tolist() == [1, 2]
    assert data.orders.least_lots.tolist() == [3, 1]
    assert (data.orders.most_lots[1:] >= 10).all()
    assert np.isfinite(data.orders.most_lots[1:]).all()


def test_demand_outside_the_horizon_alone_is_no_demand() -> None:
    """A usage history whose dates were not moved would crash the program."""
    keys = {"offers": [offer("on_demand", price=3.0)], "campaigns": [elastic("run", WEEK)]}
    outside = [
        {"pool": "east", "at": day(-4), "gpus": 4},
        {"pool": "east", "at": day(4), "gpus": 4},
    ]
    with_rows = make_program_data(scenario(weeks=4, demand=outside, **keys))
    without = make_program_data(scenario(weeks=4, **keys))
    assert np.array_equal(with_rows.levels.demand, without.levels.demand)
    assert np.array_equal(with_rows.levels.share, without.levels.share)
