"""Coverage, utilisation, savings rate and held commitments, against figures worked out by hand."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta

import pytest

WEEK = 168.0


def daily_demand(gpus, days=182):
    start = datetime.combine(date(2026, 7, 6), time())
    return [
        {"pool": "east", "at": start + timedelta(days=number), "gpus": gpus}
        for number in range(days)
    ]


HELD = {
    "id": "c1",
    "pool": "east",
    "kind": "reserved",
    "gpus": 40,
    "start": date(2025, 12, 8),
    "end": date(2026, 10, 5),
    "price": 2.0,
}


def held_case(desk, **changes):
    """64 GPUs of demand for 26 weeks; 40 are held for the first 13, the rest is on demand."""
    scenario = desk.scenario(demand=daily_demand(64), commitments=[HELD], **changes)
    use = [
        {"offer": "od", "period": desk.week(n), "level": 0, "gpus": 24 if n < 13 else 64}
        for n in range(26)
    ]
    return desk.result(scenario, (24 + 64) * 13 * WEEK * 3.0, on_demand=use)


def test_held_commitments_count_in_the_savings_rate_and_apart_from_it(desk):
    """Sunk cost would make a bad renewal look free, or a free decision look dear.

    On demand 192,192 h x 3 = 576,576; held 40 x 13 x 168 x 2 = 174,720; all of it on demand
    64 x 26 x 168 x 3 = 838,656.
    """
    metrics = held_case(desk).metrics
    assert metrics["net_present_cost"] == pytest.approx(576576)
    assert metrics["held_cost"] == pytest.approx(174720)
    assert metrics["effective_savings_rate"] == pytest.approx(1 - (576576 + 174720) / 838656)
    assert metrics["effective_savings_rate_sunk_excluded"] == pytest.approx(1 - 576576 / 838656)
    assert metrics["coverage"] == pytest.approx(40 * 13 / (64 * 26))
    assert metrics["utilisation"] == pytest.approx(1.0)
    assert metrics["effective_savings_base"] == "on-demand list price of the pool"


def test_idle_held_capacity_is_shown_at_its_own_price(desk):
    """An idle held commitment would show a cost of nothing and never be questioned."""
    scenario = desk.scenario(commitments=[HELD], demand=daily_demand(30))
    use = [{"offer": "od", "period": desk.week(n), "level": 0, "gpus": 30} for n in range(13, 26)]
    result = desk.result(scenario, 30 * 13 * WEEK * 3.0, on_demand=use)
    (held,) = result.tables.held
    assert held.idle_gpu_hours == pytest.approx(10 * 13 * WEEK)
    assert held.idle_cost == pytest.approx(10 * 13 * WEEK * 2.0)
    assert held.cost_undiscounted == pytest.approx(40 * 13 * WEEK * 2.0)
    (gap,) = result.tables.gaps
    assert (gap.start, gap.end) == (desk.week(0), desk.week(13))
    assert (gap.idle_cost, gap.held_idle_cost) == pytest.approx((0.0, 10 * 13 * WEEK * 2.0))
    assert result.metrics["idle_cost"] == pytest.approx(0.0)
    assert result.metrics["held_idle_cost"] == pytest.approx(10 * 13 * WEEK * 2.0)


def test_a_pool_without_on_demand_is_measured_by_its_hardware_elsewhere(desk):
    """The savings rate would be missing, or measured against an unnamed price."""
    result = two_pools(desk, "h100")
    (row,) = result.tables.pools
    assert row.on_demand_cost == pytest.approx(8 * 26 * WEEK * 3.0)
    assert row.effective_savings_rate == pytest.approx(0.5)
    assert row.savings_base == "cheapest on-demand list price of h100 elsewhere (east)"


def test_without_any_price_the_savings_rate_is_withheld_with_a_reason(desk):
    """A rate against a price that does not exist would be reported as a fact."""
    result = two_pools(desk, "b200")
    assert result.metrics["effective_savings_rate"] is None
    assert "no on-demand offer for b200" in result.metrics["effective_savings_base"]
    (order,) = result.tables.commitments
    assert order.break_even_utilisation is None
    assert "no on-demand price" in order.rationale


def two_pools(desk, hardware):
    """8 GPUs of demand in a pool that only sells reservations, at 1.50."""
    both = [
        {"id": name, "memory_gb": 80, "gpus_per_node": 8, "peak_tflops": 989}
        for name in ("h100", "b200")
    ]
    pool = {"provider": "acme", "region": "us"}
    scenario = desk.scenario(
        hardware=both,
        pools=[
            {"id": "east", "hardware": "h100", **pool},
            {"id": "west", "hardware": hardware, **pool},
        ],
        offers=[
            {"id": "od", "pool": "east", "kind": "on_demand", "price": 3.0},
            {
                "id": "res",
                "pool": "west",
                "kind": "reserved",
                "price": 1.5,
                "tenor": "26 weeks",
                "lot_gpus": 8,
            },
        ],
        demand=[{**row, "pool": "west"} for row in daily_demand(8)],
    )
    return desk.result(
        scenario,
        8 * 26 * WEEK * 1.5,
        orders=[{"offer": "res", "start": desk.week(0), "lots": 1}],
    )


def test_no_use_means_no_ratio(desk):
    """A ratio of nothing to nothing would be reported as 0 % or 100 %."""
    metrics = desk.result(desk.scenario(), 0.0).metrics
    for name in ("coverage", "utilisation", "effective_savings_rate", "cost_per_completed_run"):
        assert metrics[name] is None
