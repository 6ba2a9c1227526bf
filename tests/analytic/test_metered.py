"""Metered capacity by hand: quotas, depth, availability, dated prices and gangs on spot."""

from __future__ import annotations

import math

import pytest
from tests.analytic.builders import (
    WEEK,
    day,
    demand,
    elastic,
    equations,
    gang,
    lines,
    offer,
    runs,
    scenario,
    solved,
    spot_gpus,
)

FREE = "free"


@equations("C14", "C15", "O1")
def test_quota_holds_at_every_level_of_demand() -> None:
    """A peak would be served beyond the quota because the average fits in it.

    One week with five rows of 8 and two of 24. 16 GPUs at 2.0, the rest at 5.0. Level 8 for 5/7 of
    the week: 8 × 2. Level 24 for 2/7: 16 × 2 + 8 × 5.
    """
    rows = [
        {"pool": "east", "at": day(0, number), "gpus": gpus}
        for number, gpus in enumerate([8, 24, 8, 8, 24, 8, 8])
    ]
    plan = solved(
        scenario(
            weeks=1,
            offers=[
                offer("on_demand", id="cheap", price=2.0, max_gpus=16),
                offer("on_demand", id="dear", price=5.0),
            ],
            demand=rows,
        )
    )
    expected = WEEK * (5 / 7 * 8 * 2.0 + 2 / 7 * (16 * 2.0 + 8 * 5.0))
    assert plan.objective == pytest.approx(expected)
    used = {(use.offer, use.level): use.gpus for use in plan.on_demand}
    assert used == pytest.approx({("cheap", 0): 8, ("cheap", 1): 16, ("dear", 1): 8})


@equations("C15")
def test_metered_offer_counts_only_while_it_can_be_had() -> None:
    """An offer would be used on days on which it is not sold.

    Demand 8 for two weeks. The cheap offer, 8 GPUs at 1.0, ends on 10 July, after 4 of 7 days: it
    gives 8 × 4/7 in week 0 and nothing in week 1; the rest is at 3.0.
    """
    plan = solved(
        scenario(
            weeks=2,
            offers=[
                offer("on_demand", id="cheap", price=1.0, max_gpus=8, available_until="2026-07-10"),
                offer("on_demand", id="dear", price=3.0),
            ],
            demand=demand([8, 8]),
        )
    )
    assert plan.objective == pytest.approx(8 * WEEK * (4 / 7 * 1.0 + 3 / 7 * 3.0 + 3.0))


@equations("O1")
def test_price_path_is_read_at_the_start_of_each_period() -> None:
    """A price would hold from the wrong date.

    3.0, from 13 July 2.0, from 24 July (inside week 2) 1.0: weeks cost 3, 2, 2 and 1.
    """
    steps = [{"from": "2026-07-13", "price": 2.0}, {"from": "2026-07-24", "price": 1.0}]
    plan = solved(
        scenario(offers=[offer("on_demand", price=3.0, price_path=steps)], demand=demand([8] * 4))
    )
    assert plan.objective == pytest.approx(8 * WEEK * (3.0 + 2.0 + 2.0 + 1.0))


@equations("C10", "O1", "O2")
def test_spot_is_bounded_by_depth_times_availability() -> None:
    """More spot would be planned than the market has.

    6,720 GPU-hours of work in four weeks. Spot: 8 GPUs half of the time, 4 × 672 = 2,688 GPU-hours
    at 1.0. The other 4,032 on demand at 3.0.
    """
    plan = solved(
        scenario(
            offers=[
                offer("on_demand", price=3.0),
                offer("spot", price=1.0, max_gpus=8, availability=0.5),
            ],
            campaigns=[elastic("sweep", 6720, preemption_class=FREE)],
        )
    )
    assert plan.objective == pytest.approx(2688 * 1.0 + 4032 * 3.0)
    assert lines(plan) == {"on_demand": pytest.approx(12_096), "spot": pytest.approx(2_688)}
    assert [use.gpus for use in plan.spot_use] == pytest.approx([4.0] * 4)


@equations("C10")
def test_spot_ends_with_its_availability() -> None:
    """Spot would be used after the offer has ended.

    Spot of 8 GPUs until 17 July: week 0 whole, 4/7 of week 1: 8 × (168 + 96) = 2,112 GPU-hours at
    1.0; the other 888 of 3,000 on demand at 3.0.
    """
    plan = solved(
        scenario(
            offers=[
                offer("on_demand", price=3.0),
                offer("spot", price=1.0, max_gpus=8, available_until="2026-07-17"),
            ],
            campaigns=[elastic("sweep", 3000, preemption_class=FREE)],
        )
    )
    assert plan.objective == pytest.approx(2112 * 1.0 + 888 * 3.0)
    assert spot_gpus(plan, "sweep") * WEEK == pytest.approx(2112)


@equations("C9", "O2")
def test_gang_on_spot_takes_the_availability_of_its_size() -> None:
    """A wide run on spot would be planned as fast as a narrow one is available.

    2,688 GPU-hours. Listed availabilities: 0.8 at 8 GPUs, 0.5 at 64. 8 GPUs take 336 / 0.8 = 420 h,
    16 GPUs take the next listed size above, 64: 168 / 0.5 = 336 h. Two weeks are 336 h, so only 16
    fit; the run uses 16 × 0.5 = 8 GPUs on average and costs 8 × 336 × 1.0. With 420 h at hand in
    three weeks both cost 2,688; 8 alone uses 6.4 GPUs. A size above the list takes its last: 128
    GPUs, 21 / 0.5 = 42 h.
    """

    def plan_of(gpus: int | list[int], weeks: int):
        return solved(
            scenario(
                offers=[
                    offer(
                        "spot",
                        price=1.0,
                        max_gpus=128,
                        availability=0.9,
                        availability_by_gpus={8: 0.8, 64: 0.5},
                    )
                ],
                campaigns=[
                    gang("run", gpus, 2688, preemption_class=FREE, deadline=day(weeks)),
                ],
            )
        )

    two = plan_of([8, 16], 2)
    assert runs(two) == {"run": ("spot", 16, day(), pytest.approx(336.0))}
    assert two.objective == pytest.approx(8 * 336 * 1.0)
    narrow = plan_of(8, 3)
    assert runs(narrow)["run"][3] == pytest.approx(420.0)
    assert narrow.objective == pytest.approx(6.4 * 420 * 1.0)
    wide = plan_of(128, 1)
    assert runs(wide)["run"][3] == pytest.approx(42.0)
    assert wide.objective == pytest.approx(64 * 42 * 1.0)


@equations("C10")
def test_gangs_share_the_depth_of_a_spot_market() -> None:
    """Two runs would hold the same spot capacity at the same time.

    Each run of 16 GPUs takes 2688 / 16 / 0.5 = 336 h and 8 GPUs on average. The market's depth is
    16 × 0.5 = 8. In the same two weeks one goes on demand at 3.0; with four weeks they take turns.
    """
    spot = offer("spot", price=1.0, max_gpus=16, availability=0.5)
    offers = [offer("on_demand", price=3.0), spot]

    def plan_of(weeks: int):
        pair = [
            gang(name, 16, 2688, preemption_class=FREE, deadline=day(weeks)) for name in ("a", "b")
        ]
        return solved(scenario(offers=offers, campaigns=pair))

    together = plan_of(2)
    assert together.objective == pytest.approx(2688 * (1.0 + 3.0))
    assert sorted(place for place, *_ in runs(together).values()) == ["east", "spot"]
    in_turn = plan_of(4)
    assert in_turn.objective == pytest.approx(2688 * 2.0)
    assert sorted(start for _, _, start, _ in runs(in_turn).values()) == [day(), day(2)]


@equations("O2")
def test_reclaims_and_failures_lengthen_a_gang_on_spot() -> None:
    """Hours lost to reclaims would be missing from the price of a run on spot.

    16 GPUs are two nodes; each fails every 1,000 h and is reclaimed every 100 h, so
    λ = 2 × (1/1000 + 1/100) = 0.022 and M = 45.45 h. Writing takes 6 minutes, restarting 12; the
    interval is free. Its best goodput is searched here on a fine grid. D = 1600 / (16 η) hours.
    """
    mean, write, restart = 1 / 0.022, 0.1, 0.2

    def eta(interval: float) -> float:
        lost = math.exp(restart / mean) * (math.exp((interval + write) / mean) - 1)
        return interval / (mean * lost)

    best = max(eta(k / 10_000) for k in range(1, 100_000))
    plan = solved(
        scenario(
            hardware=[
                {
                    "id": "h100",
                    "memory_gb": 80,
                    "gpus_per_node": 8,
                    "peak_tflops": 989,
                    "node_mtbf_hours": 1000,
                }
            ],
            preemption_classes=[
                {
                    "id": FREE,
                    "spot_share_max": 1,
                    "checkpoint_minutes": 6,
                    "restart_minutes": 12,
                }
            ],
            offers=[offer("spot", price=1.0, max_gpus=16, node_mtbr_hours=100)],
            campaigns=[gang("run", 16, 1600, preemption_class=FREE)],
        )
    )
    assert runs(plan)["run"][3] == pytest.approx(1600 / (16 * best), rel=1e-6)
    assert plan.objective == pytest.approx(1600 / best * 1.0, rel=1e-6)
