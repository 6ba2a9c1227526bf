"""Campaigns by hand: work, width, spot shares, filters, sizes, windows and repeats."""

from __future__ import annotations

import math

import pytest
from tests.analytic.builders import (
    WEEK,
    day,
    dropped,
    elastic,
    equations,
    gang,
    hardware,
    is_infeasible,
    lines,
    offer,
    pool,
    runs,
    scenario,
    solved,
    spot_gpus,
    stable_gpus,
)


@equations("C6", "C8", "O12")
def test_spot_share_is_of_the_work_that_is_done() -> None:
    """Work left undone would make room for more spot than the class allows.

    Half of the work may be on spot at 1.0. On demand gives one GPU for one week: 168 GPU-hours at
    3.0. So at most 336 of 1,000 GPU-hours can be done, and leaving out all costs 10,000, 10 an
    hour: 168 × 3 + 168 × 1 + 10,000 × (1 − 0.336).
    """
    plan = solved(
        scenario(
            weeks=1,
            preemption_classes=[{"id": "half", "spot_share_max": 0.5}],
            offers=[
                offer("on_demand", price=3.0, max_gpus=1),
                offer("spot", price=1.0, max_gpus=1000),
            ],
            campaigns=[
                elastic("sweep", 1000, preemption_class="half", deadline=day(1), drop_cost=10_000)
            ],
        )
    )
    assert plan.objective == pytest.approx(168 * 3 + 168 * 1 + 10_000 * (1 - 0.336))
    assert dropped(plan) == {"sweep": pytest.approx(0.664)}
    assert spot_gpus(plan, "sweep") * WEEK == pytest.approx(168)


@equations("C7")
def test_width_counts_by_the_share_of_the_window() -> None:
    """A campaign would run on days outside its window.

    8 GPUs from 9 July, so 4 of the 7 days of week 0, to the end of week 1. Week 0 at 1.0 gives
    8 × 96 = 768 of 1,500 GPU-hours; the other 732 are in week 1 at 3.0, where 8 × 168 would fit.
    """
    plan = solved(
        scenario(
            offers=[
                offer("on_demand", price=1.0, price_path=[{"from": "2026-07-13", "price": 3.0}])
            ],
            campaigns=[elastic("sweep", 1500, max_gpus=8, earliest="2026-07-09", deadline=day(2))],
        )
    )
    assert plan.objective == pytest.approx(768 * 1.0 + 732 * 3.0)
    assert [use.gpus for use in plan.stable_use] == pytest.approx([8 * 4 / 7, 732 / WEEK])


@equations("C6")
def test_waste_is_work_too() -> None:
    """Failed runs would be planned as if they took no GPUs.

    1,000 useful GPU-hours and a quarter on top: 1,250 at 3.0.
    """
    plan = solved(
        scenario(
            offers=[offer("on_demand", price=3.0)],
            campaigns=[elastic("sweep", 1000, waste=0.25)],
        )
    )
    assert plan.objective == pytest.approx(1250 * 3.0)


@equations("C6")
def test_speed_and_failures_of_a_wide_job() -> None:
    """Jobs that span nodes would be planned as if a node's failures stopped only that node.

    Work of 1,000 on hardware of speed 2. Jobs of 12 GPUs take two nodes, each failing every 100 h:
    M = 50 h. C = 6 min, R = 12 min, τ = 60 min: η = 1 / (50 · e^(0.2/50) · (e^(1.1/50) − 1)).
    """
    eta = 1 / (50 * math.exp(0.2 / 50) * (math.exp(1.1 / 50) - 1))
    plan = solved(
        scenario(
            hardware=[hardware(relative_speed=2.0, node_mtbf_hours=100)],
            preemption_classes=[
                {
                    "id": "critical",
                    "spot_share_max": 0,
                    "checkpoint_minutes": 6,
                    "restart_minutes": 12,
                    "checkpoint_interval_minutes": 60,
                }
            ],
            offers=[offer("on_demand", price=3.0)],
            campaigns=[elastic("sweep", 1000, job_gpus=12)],
        )
    )
    assert plan.objective == pytest.approx(1000 / (2 * eta) * 3.0, rel=1e-9)


@equations("C6", "C11")
def test_each_filter_narrows_where_a_campaign_may_run() -> None:
    """A campaign would run where its data or its contract forbids.

    Four pools at 1.0, 2.0, 3.0 and 4.0. Unfiltered work goes to the first. Hardware h200 is only in
    the second, provider ``beta`` only has the third, the tag ``eu`` is on the third and the fourth,
    racks are in the fourth, and one campaign names the second.
    """
    pools = [
        pool("p1"),
        pool("p2", hardware="h200"),
        pool("p3", provider="beta", residency=["eu"]),
        pool("p4", provider="gamma", fabric="rack", residency=["us", "eu"]),
    ]
    prices = {"p1": 1.0, "p2": 2.0, "p3": 3.0, "p4": 4.0}
    filters = {
        "any": ({}, "p1"),
        "by_hardware": ({"hardware": ["h200"]}, "p2"),
        "by_provider": ({"providers": ["beta"]}, "p3"),
        "by_residency": ({"residency": ["eu", "ch"]}, "p3"),
        "by_coupling": ({"coupling": "rack"}, "p4"),
        "by_pool": ({"pools": ["p2", "p4"]}, "p2"),
    }
    shapes = {"elastic": lambda name, keys: elastic(name, 168, **keys)}
    shapes["gang"] = lambda name, keys: gang(name, 8, 168, **keys)
    for shape, make in shapes.items():
        plan = solved(
            scenario(
                weeks=1,
                hardware=[hardware(), hardware("h200")],
                pools=pools,
                offers=[
                    offer("on_demand", id=f"od-{place}", pool=place, price=price)
                    for place, price in prices.items()
                ],
                campaigns=[
                    make(name, {"deadline": day(1), **keys}) for name, (keys, _) in filters.items()
                ],
            )
        )
        assert plan.objective == pytest.approx(
            168 * sum(prices[place] for _, place in filters.values())
        )
        if shape == "gang":
            assert {name: run[0] for name, run in runs(plan).items()} == {
                name: place for name, (_, place) in filters.items()
            }
        else:
            for name, (_, place) in filters.items():
                assert stable_gpus(plan, name, place) == pytest.approx(1.0)


@equations("C9")
def test_time_to_train_pays_for_a_wider_run() -> None:
    """The narrow, cheaper size would be taken though it takes too long.

    2,016 GPU-hours on 8 GPUs: 252 h, 4,032 at 2.0. On 16 at efficiency 0.75: 168 h and 2016 / 0.75
    × 2 = 5,376. One week is 168 h, so with that limit the run takes 16 GPUs, to the hour.
    """
    offers = [offer("on_demand", price=2.0)]
    keys = {"scaling": {16: 0.75}}
    free = solved(scenario(offers=offers, campaigns=[gang("run", [8, 16], 2016, **keys)]))
    assert free.objective == pytest.approx(2016 * 2.0)
    limited = solved(
        scenario(
            offers=offers, campaigns=[gang("run", [8, 16], 2016, max_duration="1 weeks", **keys)]
        )
    )
    assert limited.objective == pytest.approx(2016 / 0.75 * 2.0)
    assert runs(limited)["run"][1:] == (16, runs(limited)["run"][2], pytest.approx(168.0))


@equations("C9", "C11")
def test_gang_starts_on_a_boundary_and_ends_in_time() -> None:
    """A run would start before its data is there, or finish after its deadline.

    8 GPUs for 200 h, from 8 July: the first boundary is 13 July. It must end by 23 July, 240 h
    later, so it cannot start on 20 July. Week 1 is at 1.0 and whole, week 2 at 3.0 for 32 h. An
    hour more than 240 and there is no way.
    """
    steps = [{"from": "2026-07-20", "price": 3.0}]
    offers = [offer("on_demand", price=1.0, price_path=steps)]
    keys = {"earliest": "2026-07-08", "deadline": "2026-07-23"}
    plan = solved(scenario(offers=offers, campaigns=[gang("run", 8, 8 * 200, **keys)]))
    assert plan.objective == pytest.approx(8 * (168 * 1.0 + 32 * 3.0))
    assert runs(plan) == {"run": ("east", 8, "2026-07-13", pytest.approx(200.0))}
    assert [use.gpus for use in plan.on_demand] == pytest.approx([8.0, 8 * 32 / 168])
    full = scenario(offers=offers, campaigns=[gang("run", 8, 8 * 240, **keys)])
    assert runs(solved(full))["run"][3] == pytest.approx(240.0)
    assert is_infeasible(scenario(offers=offers, campaigns=[gang("run", 8, 8 * 241, **keys)]))


@equations("C9")
def test_gang_uses_spot_only_when_all_of_it_may() -> None:
    """A run that survives a few reclaims would be put on spot from start to end.

    1,344 GPU-hours, spot 1.0, on demand 3.0. A class that allows 0.9 on spot allows a gang none.
    """
    offers = [offer("on_demand", price=3.0), offer("spot", price=1.0, max_gpus=8)]
    for share, price in ((0.9, 3.0), (1.0, 1.0)):
        plan = solved(
            scenario(
                preemption_classes=[{"id": "critical", "spot_share_max": share}],
                offers=offers,
                campaigns=[gang("run", 8, 1344)],
            )
        )
        assert plan.objective == pytest.approx(1344 * price)


@equations("O12")
def test_gang_is_dropped_whole() -> None:
    """Half a training run would be planned, which is worth nothing.

    Four GPU-weeks of the eight that the run needs are held; the rest would cost 672 × 3 = 2,016
    more than the 1,500 of leaving it out. An elastic campaign would do the half that is free, and
    drop the other half for 750.
    """
    held = {
        "id": "held",
        "pool": "east",
        "kind": "reserved",
        "gpus": 4,
        "start": "2026-01-05",
        "end": "2027-01-04",
        "price": 1.0,
    }
    common = {"offers": [offer("on_demand", price=3.0)], "commitments": [held], "weeks": 1}
    keys = {"deadline": day(1), "drop_cost": 1500}
    whole = solved(scenario(campaigns=[gang("run", 8, 1344, **keys)], **common))
    assert whole.objective == pytest.approx(1500)
    assert dropped(whole) == {"run": 1.0}
    part = solved(scenario(campaigns=[elastic("run", 1344, **keys)], **common))
    assert part.objective == pytest.approx(750)
    assert lines(part) == {"drop": pytest.approx(750)}


@equations("C9")
def test_repeat_moves_both_dates() -> None:
    """A monthly run would be planned once.

    Three runs of one week, every 14 days, each with a window of one week: on 8 GPUs at 1.0, 2.0 and
    3.0 by the week they fall in.
    """
    steps = [{"from": day(2), "price": 2.0}, {"from": day(4), "price": 3.0}]
    plan = solved(
        scenario(
            weeks=6,
            offers=[offer("on_demand", price=1.0, price_path=steps)],
            campaigns=[
                gang("run", 8, 1344, deadline=day(1), repeat={"every": "14 days", "count": 3})
            ],
        )
    )
    assert plan.objective == pytest.approx(1344 * (1.0 + 2.0 + 3.0))
    assert {name: start for name, (_, _, start, _) in runs(plan).items()} == {
        "run#1": day(),
        "run#2": day(2),
        "run#3": day(4),
    }
