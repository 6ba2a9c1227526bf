"""Campaign costs, idle and what stays unallocated, against figures worked out by hand."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta

import pytest

from gpuladder.analysis.analyse import analyse
from gpuladder.errors import AuditError

WEEK = 168.0
GANG = {"preemption_class": "critical", "shape": "gang", "gpus": 64}


def gang(key, work, earliest, deadline, **more):
    return {
        "id": key,
        "gpu_hours": work,
        "earliest": earliest,
        "deadline": deadline,
        **GANG,
        **more,
    }


def reserved(key="res", price=1.5, tenor="26 weeks", lot=64, **more):
    offer = {"id": key, "pool": "east", "kind": "reserved", "price": price, "tenor": tenor}
    return {**offer, "lot_gpus": lot, **more}


OD = {"id": "od", "pool": "east", "kind": "on_demand", "price": 3.0}


def stable(campaign, gpus, periods):
    return [{"campaign": campaign, "pool": "east", "period": day, "gpus": gpus} for day in periods]


def test_backfilled_term_splits_into_direct_idle_and_revenue(desk):
    """A board could not tell what a run costs from what its idle neighbour weeks cost.

    64 GPUs at 1.50 for 52 weeks; one run uses them in weeks 4 to 21 (18 weeks), a buyer takes 48
    of them at 0.90 in the other 34. Held 64 x 52 x 168 x 1.5 = 838,656, of it used
    64 x 18 x 168 x 1.5 = 290,304, sold 48 x 34 x 168 x 1.5 = 411,264, idle 16 x 34 x 168 x 1.5 =
    137,088. Revenue 48 x 34 x 168 x 0.9 = 246,758.40.
    """
    scenario = desk.scenario(
        horizon={"start": date(2026, 7, 6), "end": date(2027, 7, 5), "step": "week"},
        campaigns=[gang("run", 193536, date(2026, 8, 3), date(2026, 12, 7))],
        offers=[OD, reserved(tenor="52 weeks")],
        backfill=[{"id": "serving", "value": 0.9, "max_gpus": 48}],
    )
    sales = [
        {"buyer": "serving", "pool": "east", "period": desk.week(n), "gpus": 48}
        for n in (*range(4), *range(22, 52))
    ]
    result = desk.result(
        scenario,
        838656 - 246758.4,
        orders=[{"offer": "res", "start": desk.week(0), "lots": 1}],
        runs=[
            {
                "campaign": "run",
                "pool": "east",
                "spot_offer": None,
                "gpus": 64,
                "start": desk.week(4),
                "hours": 18 * WEEK,
            }
        ],
        backfill=sales,
    )
    (row,) = result.tables.campaigns
    assert (row.direct_cost, row.idle_cost) == pytest.approx((290304, 137088))
    assert row.cost_per_run == pytest.approx(427392)
    assert (row.start, row.end) == (desk.week(4), desk.week(22))
    parts = {item.part: item.amount for item in result.tables.unallocated}
    assert parts["backfilled_holding"] == pytest.approx(411264)
    assert sum(parts.values()) == pytest.approx(411264)
    gaps = [(gap.start, gap.end, gap.idle_gpu_hours) for gap in result.tables.gaps]
    assert gaps == [
        (desk.week(0), desk.week(4), pytest.approx(16 * 4 * WEEK)),
        (desk.week(22), desk.week(52), pytest.approx(16 * 30 * WEEK)),
    ]
    first = result.tables.gaps[0]
    assert first.idle_cost == pytest.approx(16 * 4 * WEEK * 1.5)
    assert first.net_cost == pytest.approx(4 * WEEK * (64 * 1.5 - 48 * 0.9))
    assert result.metrics["utilisation"] == pytest.approx(18 / 52)
    assert result.metrics["utilisation_with_backfill"] == pytest.approx((18 * 64 + 34 * 48) / 3328)
    assert result.metrics["idle_net_cost"] == pytest.approx(137088 + 411264 - 246758.4)


def test_runs_end_to_end_on_one_term_carry_no_idle(desk):
    """Compaction would look no better than two separate terms.

    Two 6-week runs of 64 fill a 12-week term at 1.70: 64 x 6 x 168 x 1.7 = 109,670.40 each.
    """
    scenario = desk.scenario(
        campaigns=[
            gang("a", 64512, date(2026, 7, 6), date(2026, 9, 14)),
            gang("b", 64512, date(2026, 8, 17), date(2027, 1, 4)),
        ],
        offers=[OD, reserved("term", 1.7, "12 weeks")],
    )
    runs = [
        {
            "campaign": key,
            "pool": "east",
            "spot_offer": None,
            "gpus": 64,
            "start": desk.week(start),
            "hours": 6 * WEEK,
        }
        for key, start in (("a", 3), ("b", 9))
    ]
    result = desk.result(
        scenario,
        219340.8,
        orders=[{"offer": "term", "start": desk.week(3), "lots": 1}],
        runs=runs,
    )
    assert [row.loaded_cost for row in result.tables.campaigns] == pytest.approx([109670.4] * 2)
    assert result.metrics["idle_cost"] == pytest.approx(0.0)
    assert result.metrics["cost_per_completed_run"] == pytest.approx(109670.4)
    assert result.tables.gaps == ()


def test_idle_is_shared_with_demand_level_by_level(desk):
    """A campaign would pay for idle that spiky demand causes, or the reverse.

    40 GPUs reserved at 1.50 for one week. Demand is 0 half the time and 64 the other half; a
    campaign uses 16 throughout. Low half: 16 of 40 used. High half: 80 wanted, 40 committed and 40
    on demand, so half of either user's GPUs are committed. Committed use averages 28: campaign
    16 x (1 + 1/2) / 2 = 12, demand 64 x 1/2 / 2 = 16. Idle 12.
    """
    rows = [
        {
            "pool": "east",
            "at": datetime.combine(date(2026, 7, 6), time()) + timedelta(hours=hour),
            "gpus": gpus,
        }
        for hour, gpus in ((0, 0), (12, 64), (24, 0), (36, 64))
    ]
    scenario = desk.scenario(
        horizon={"start": date(2026, 7, 6), "end": date(2026, 7, 13), "step": "week"},
        campaigns=[
            {
                "id": "sweep",
                "preemption_class": "critical",
                "shape": "elastic",
                "gpu_hours": 16 * WEEK,
                "max_gpus": 16,
                "earliest": date(2026, 7, 6),
                "deadline": date(2026, 7, 13),
            }
        ],
        offers=[OD, reserved(tenor="1 weeks", lot=8)],
        demand=rows,
    )
    holding, metered = 40 * WEEK * 1.5, 20 * WEEK * 3.0
    result = desk.result(
        scenario,
        holding + metered,
        orders=[{"offer": "res", "start": desk.week(0), "lots": 5}],
        on_demand=[{"offer": "od", "period": desk.week(0), "level": 1, "gpus": 40}],
        stable_use=stable("sweep", 16, [desk.week(0)]),
    )
    (row,) = result.tables.campaigns
    used_cost = holding * 28 / 40 + metered
    assert row.committed_gpu_hours == pytest.approx(12 * WEEK)
    assert row.direct_cost == pytest.approx(used_cost * 16 / 48)
    assert row.idle_cost == pytest.approx(holding * 12 / 40 * 12 / 28)
    parts = {item.part: item.amount for item in result.tables.unallocated}
    assert parts["demand_direct"] == pytest.approx(used_cost * 32 / 48)
    assert parts["demand_idle"] == pytest.approx(holding * 12 / 40 * 16 / 28)
    assert result.metrics["coverage"] == pytest.approx(28 / 48)
    (capacity,) = result.tables.capacity
    assert (capacity.demand_gpus, capacity.demand_peak_gpus) == (32, 64)
    assert (capacity.on_demand_gpus, capacity.idle_gpus) == pytest.approx((20, 12))


def test_flex_charges_use_to_the_campaign_and_the_rest_as_idle(desk):
    """The undrawn part of a flex reservation would vanish from the cost of its runs.

    32 GPUs held at 0.80 for one week, 24 of them drawn at 1.30 on top.
    """
    scenario = desk.scenario(
        horizon={"start": date(2026, 7, 6), "end": date(2026, 7, 13), "step": "week"},
        campaigns=[
            {
                "id": "sweep",
                "preemption_class": "critical",
                "shape": "elastic",
                "gpu_hours": 24 * WEEK,
                "max_gpus": 24,
                "earliest": date(2026, 7, 6),
                "deadline": date(2026, 7, 13),
            }
        ],
        offers=[OD, reserved("flex", 0.8, "1 weeks", 8, usage_price=1.3)],
    )
    result = desk.result(
        scenario,
        WEEK * (32 * 0.8 + 24 * 1.3),
        orders=[{"offer": "flex", "start": desk.week(0), "lots": 4}],
        drawn=[{"offer": "flex", "period": desk.week(0), "gpus": 24}],
        stable_use=stable("sweep", 24, [desk.week(0)]),
    )
    (row,) = result.tables.campaigns
    assert row.direct_cost == pytest.approx(WEEK * 24 * 2.1)
    assert row.idle_cost == pytest.approx(WEEK * 8 * 0.8)
    (order,) = result.tables.commitments
    assert order.usage_cost == pytest.approx(WEEK * 24 * 1.3)
    assert order.cost == pytest.approx(WEEK * 32 * 0.8)
    assert order.break_even_utilisation == pytest.approx(0.8 / (3.0 - 1.3))
    assert order.utilisation == pytest.approx(0.75)
    (capacity,) = result.tables.capacity
    assert (capacity.flex_gpus, capacity.reserved_gpus, capacity.drawn_gpus) == (32, 0, 24)


def test_spot_share_counts_work_and_not_gpu_hours(desk):
    """Spot would look like more of the work than it does: an hour of it does less.

    Nodes are reclaimed every 40 h; checkpoints of 6 minutes every 60, restarts of 12: goodput on
    spot 0.892176 (Daly), off spot 60/66. 40 % of 33,600 GPU-hours of work on spot at 1.30, the rest
    at 3.00, over 8 weeks.
    """
    on_spot, off_spot = 0.4 * 33600 / 0.892176, 0.6 * 33600 * 66 / 60
    scenario = desk.scenario(
        horizon={"start": date(2026, 7, 6), "end": date(2026, 8, 31), "step": "week"},
        preemption_classes=[
            {
                "id": "tolerant",
                "spot_share_max": 0.4,
                "checkpoint_minutes": 6,
                "restart_minutes": 12,
                "checkpoint_interval_minutes": 60,
            }
        ],
        campaigns=[
            {
                "id": "sweep",
                "preemption_class": "tolerant",
                "shape": "elastic",
                "gpu_hours": 33600,
                "max_gpus": 1024,
                "earliest": date(2026, 7, 6),
                "deadline": date(2026, 8, 31),
            }
        ],
        offers=[
            OD,
            {
                "id": "spot",
                "pool": "east",
                "kind": "spot",
                "price": 1.3,
                "max_gpus": 4096,
                "node_mtbr_hours": 40,
            },
        ],
    )
    weeks = [desk.week(n) for n in range(8)]
    use = off_spot / 8 / WEEK
    result = desk.result(
        scenario,
        on_spot * 1.3 + off_spot * 3.0,
        on_demand=[{"offer": "od", "period": w, "level": 0, "gpus": use} for w in weeks],
        stable_use=stable("sweep", use, weeks),
        spot_use=[
            {"campaign": "sweep", "offer": "spot", "period": w, "gpus": on_spot / 8 / WEEK}
            for w in weeks
        ],
    )
    (row,) = result.tables.campaigns
    assert row.spot_share == pytest.approx(0.4, abs=1e-6)
    assert row.direct_cost == pytest.approx(on_spot * 1.3 + off_spot * 3.0)
    assert row.spot_gpu_hours == pytest.approx(on_spot)
    assert (row.pool, row.spot_offer) == ("east", "spot")
    assert result.metrics["spot_share"] == pytest.approx(0.4, abs=1e-6)


def test_dropped_and_partial_campaigns_count_by_what_is_done(desk):
    """Cost per completed run would divide by runs that were never done."""
    window = {"earliest": date(2026, 7, 6), "deadline": date(2026, 7, 20)}
    scenario = desk.scenario(
        campaigns=[
            {
                "id": "half",
                "preemption_class": "critical",
                "shape": "elastic",
                "gpu_hours": 1344,
                "max_gpus": 8,
                "drop_cost": 900,
                **window,
            },
            gang("gone", 10752, drop_cost=5000, **window),
        ]
    )
    result = desk.result(
        scenario,
        4 * WEEK * 3.0 + 450 + 5000,
        on_demand=[{"offer": "od", "period": desk.week(0), "level": 0, "gpus": 4}],
        stable_use=stable("half", 4, [desk.week(0)]),
        dropped=[{"campaign": "half", "share": 0.5}, {"campaign": "gone", "share": 1.0}],
    )
    half, gone = result.tables.campaigns
    assert (half.outcome, half.runs, half.drop_cost) == ("partial", 0.5, 450)
    assert half.cost_per_run == pytest.approx(4 * WEEK * 3.0 / 0.5)
    assert (gone.outcome, gone.start, gone.pool, gone.cost_per_run) == ("dropped", None, None, None)
    assert result.metrics["runs_completed"] == 0.5
    assert {row.part: row.amount for row in result.tables.unallocated}["drop"] == 5450


def test_capacity_that_nobody_used_is_unallocated(desk):
    """A mistaken purchase would be hidden in somebody's run cost."""
    scenario = desk.scenario(offers=[OD, reserved(tenor="2 weeks", lot=8)])
    result = desk.result(
        scenario,
        8 * 2 * WEEK * 1.5,
        orders=[{"offer": "res", "start": desk.week(5), "lots": 1}],
    )
    parts = {row.part: row.amount for row in result.tables.unallocated}
    assert parts["unused_pool_idle"] == pytest.approx(8 * 2 * WEEK * 1.5)
    (gap,) = result.tables.gaps
    assert (gap.start, gap.end) == (desk.week(5), desk.week(7))


def test_costs_that_do_not_add_up_are_refused(desk):
    """A report whose figures contradict each other would be handed out."""
    scenario = desk.scenario(offers=[OD, reserved(tenor="2 weeks", lot=8)])
    plan = desk.plan(
        scenario,
        8 * 2 * WEEK * 1.5 + 0.01,
        orders=[{"offer": "res", "start": desk.week(5), "lots": 1}],
    )
    with pytest.raises(AuditError, match="add up"):
        analyse(scenario, plan)


@pytest.mark.parametrize(
    ("records", "named"),
    [
        ({"orders": [{"offer": "nobody", "start": "2026-07-06", "lots": 1}]}, "offer 'nobody'"),
        ({"orders": [{"offer": "res", "start": "2031-01-01", "lots": 1}]}, "start 2031-01-01"),
        ({"dropped": [{"campaign": "ghost", "share": 1.0}]}, "campaign 'ghost'"),
        (
            {"on_demand": [{"offer": "od", "period": "2026-07-07", "level": 0, "gpus": 1}]},
            "period 2026-07-07",
        ),
        (
            {"on_demand": [{"offer": "od", "period": "2026-07-06", "level": 3, "gpus": 1}]},
            "level 3",
        ),
    ],
)
def test_a_plan_of_another_scenario_is_refused_by_name(desk, records, named):
    """A saved plan laid beside a changed scenario would end in a traceback."""
    scenario = desk.scenario(offers=[OD, reserved()])
    with pytest.raises(AuditError, match=named):
        analyse(scenario, desk.plan(scenario, 0.0, **records))
