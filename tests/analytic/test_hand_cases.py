"""The hand-derived reference cases, each with its derivation, checked in cost and in structure.

All but ``time-to-train`` have one pool, nodes of 8 or 72 GPUs and weekly periods of 168 hours.
"""

from __future__ import annotations

import math
from datetime import date
from pathlib import Path

import pytest
from tests.analytic.builders import (
    WEEK,
    dropped,
    equations,
    lines,
    orders,
    runs,
    solved,
    spot_gpus,
    stable_gpus,
)

from gpuladder.plan import Plan, Status
from gpuladder.scenario.loading import load
from gpuladder.scenario.schema import Scenario
from gpuladder.solving import solve_scenario

CASES = Path(__file__).parents[1] / "data" / "cases"
YEAR = 52 * WEEK


def case(name: str, *overrides: str) -> Scenario:
    """Return a case, solved to a small gap."""
    exact = ("solver.relative_gap=1e-7", "solver.threads=1")
    return load(CASES / f"{name}.yaml", overrides=[*exact, *overrides]).scenario


def answer(name: str, *overrides: str) -> Plan:
    """Return the plan of a case."""
    return solved(case(name, *overrides))


@equations("C4", "C14", "O1", "O4")
def test_duration_curve() -> None:
    """Commitments would not be weighed against the hours that they cover.

    The same 24 hourly levels, all multiples of 8, repeat daily for 52 weeks. The k-th lot of 8
    costs 1.4 in every hour and saves 3.5 in the hours in which demand is at least 8k. It pays when
    these are more than 1.4 / 3.5 = 0.4 of the day, 9.6 hours: so when in at least 10 of 24. Terms
    last the whole year, so all start on the first day. The rest, max(d − 8L, 0), is on demand.
    """
    asked = case("duration-curve")
    daily = [row.gpus for row in asked.demand[:24]]
    assert [row.gpus for row in asked.demand] == daily * 364
    lots = sum(1 for k in range(1, 17) if sum(level >= 8 * k for level in daily) >= 10)
    excess = sum(max(level - 8 * lots, 0) for level in daily) / 24
    plan = solved(asked)
    assert orders(plan) == {("r12", "2026-07-06"): lots}
    assert plan.objective == pytest.approx(YEAR * (1.4 * 8 * lots + 3.5 * excess), rel=1e-7)


@equations("C9", "C11", "O3")
def test_burst_or_standing() -> None:
    """Short runs far apart would be put on a standing reservation that idles between them.

    Four runs of 64 GPUs for 21504 / 64 = 336 hours, two weeks, 13 weeks apart. Each on a two-week
    burst: 4 × 64 × 336 × 3.1 = 266,649.6. On demand 4 × 64 × 336 × 4 = 344,064. The standing year
    64 × 8736 × 1.5 = 838,656. A reservation for the last run alone, started on the last possible
    day, 19 April, still holds 11 weeks inside the horizon: 177,408 against one burst's 66,662.
    """
    plan = answer("burst-or-standing")
    assert plan.objective == pytest.approx(4 * 64 * 336 * 3.1, rel=1e-7)
    starts = {start for _, _, start, _ in runs(plan).values()}
    assert orders(plan) == {("burst", start): 1 for start in starts}
    assert len(starts) == 4


@equations("C4", "C9", "C11", "C14", "O4")
def test_compaction() -> None:
    """Two runs that fit one term end to end would pay for two.

    Both runs take 64512 / 64 = 1008 hours, six weeks; a must end by week 10, b may start from week
    6. One term of 12 weeks holds both when b starts the day that a ends: 64 × 2016 × 1.7 =
    219,340.8. Any term that holds a lies wholly inside the 26 weeks and costs as much; without one,
    a is 193,536 on demand and b at least 64 × 1008 × 1.7 = 109,670.4 on a term cut by the horizon
    end.
    """
    plan = answer("compaction")
    assert plan.objective == pytest.approx(64 * 12 * WEEK * 1.7, rel=1e-7)
    ((_, start),) = orders(plan)
    _, _, first, first_hours = runs(plan)["a"]
    _, _, second, second_hours = runs(plan)["b"]
    assert first == start
    assert (first_hours, second_hours) == pytest.approx((6 * WEEK, 6 * WEEK))
    assert (date.fromisoformat(second) - date.fromisoformat(first)).days == 42


@equations("C6", "C8", "O1", "O2")
def test_spot_share() -> None:
    """Spot would do more work than the class allows, or its lost hours would be forgotten.

    Spot: one node, reclaimed every M = 40 h; C = 0.1 h, R = 0.2 h, τ = 1 h give
    η = 1 / (40 · e^(0.2/40) · (e^(1.1/40) − 1)) = 0.892176. On demand nothing interrupts, but the
    checkpoints are still written: η = 1 / 1.1. Work costs 1.3 / η on spot and 3.0 / η on demand, so
    spot does all of the 40 % that the class allows.
    """
    on_spot = 1 / (40 * math.exp(0.2 / 40) * (math.exp(1.1 / 40) - 1))
    stable = 1 / 1.1
    plan = answer("spot-share")
    expected = 33600 * (0.4 * 1.3 / on_spot + 0.6 * 3.0 / stable)
    assert plan.objective == pytest.approx(expected, rel=1e-7)
    assert spot_gpus(plan, "sweep") * WEEK * on_spot == pytest.approx(0.4 * 33600, rel=1e-6)
    assert stable_gpus(plan, "sweep") * WEEK * stable == pytest.approx(0.6 * 33600, rel=1e-6)


def test_ladder_free() -> None:
    """A cliff that the exemption allows would be refused.

    96 GPUs for a year at 1.2: 96 × 8736 × 1.2 = 1,006,387.2. All 96 expire at week 52, in the
    window (26, 52], at whose start 96 are committed: 96 ≤ 0.5 × 96 + 48.
    """
    plan = answer("ladder-free")
    assert plan.objective == pytest.approx(96 * YEAR * 1.2, rel=1e-7)
    assert orders(plan) == {("r52", "2026-07-06"): 12}


@equations("C19")
def test_ladder_binding() -> None:
    """More GPUs would expire at once than the company wants.

    Whatever stands at week 26 (52-week terms, 26-week terms started then) expires by week 52. So
    S ≤ 0.5 S + 24, S ≤ 48. These 48 are cheapest on the year at 1.2. In the first half the other 48
    take the 26-week term at 1.6: 48 expire by week 26, and 48 ≤ 0.5 × 96 + 24. In the second half
    they are on demand at 4: 48 × (1.2 × 8736 + 1.6 × 4368 + 4 × 4368) = 1,677,312.
    """
    plan = answer("ladder-binding")
    assert plan.objective == pytest.approx(48 * (1.2 * YEAR + 5.6 * YEAR / 2), rel=1e-7)
    assert orders(plan) == {("r52", "2026-07-06"): 6, ("r26", "2026-07-06"): 6}


@equations("C1", "O5", "O7")
def test_lead_time() -> None:
    """A rack would be planned before it can be delivered.

    72 GPUs for a year; the rack at 2.2 can stand from week 20. On demand 20 weeks at 5.0, then
    32 weeks of the term lie inside the horizon: 72 × 168 × (20 × 5 + 32 × 2.2) + 10,000.
    """
    plan = answer("lead-time")
    assert plan.objective == pytest.approx(72 * WEEK * (20 * 5 + 32 * 2.2) + 10_000, rel=1e-7)
    assert orders(plan) == {("rack", "2026-11-23"): 1}
    assert lines(plan)["setup"] == pytest.approx(10_000)


@equations("O11")
def test_tail_charged() -> None:
    """The weeks of a term after the horizon end would look free.

    As above, with the 20 weeks after the end charged in full: 72 × 168 × (20 × 5 + 52 × 2.2)
    + 10,000 = 2,603,382.4; all on demand it would be 72 × 8736 × 5 = 3,144,960.
    """
    plan = answer("tail-charged")
    assert plan.objective == pytest.approx(72 * WEEK * (20 * 5 + 52 * 2.2) + 10_000, rel=1e-7)
    assert lines(plan)["commitment_tail"] == pytest.approx(72 * WEEK * 20 * 2.2, rel=1e-7)
    assert orders(plan) == {("rack", "2026-11-23"): 1}


def test_backfill_too_cheap() -> None:
    """Selling idle weeks would be taken to pay for a reservation when it does not.

    One run of 64 GPUs for 193536 / 64 = 3024 hours fills its window of 18 weeks. On demand:
    64 × 3024 × 3 = 580,608. Reserved for the year: 64 × 8736 × 1.5 = 838,656, less 34 idle weeks in
    which 48 GPUs sell at 0.9, 34 × 168 × 48 × 0.9 = 246,758.4, and 16 find no buyer: 591,897.6.
    """
    plan = answer("backfill")
    reserved = 64 * YEAR * 1.5 - 34 * WEEK * 48 * 0.9
    assert plan.objective == pytest.approx(min(64 * 18 * WEEK * 3, reserved), rel=1e-7)
    assert orders(plan) == {}
    assert plan.backfill == ()


@equations("C13", "O13")
def test_backfill_worth_it() -> None:
    """Revenue from idle weeks would not tip a decision that it should.

    The same at 1.0 per GPU-hour sold: 838,656 − 34 × 168 × 48 × 1.0 = 564,480, below 580,608.
    """
    plan = answer("backfill", "backfill.serving.value=1.0")
    assert plan.objective == pytest.approx(64 * YEAR * 1.5 - 34 * WEEK * 48, rel=1e-7)
    assert orders(plan) == {("r52", "2026-07-06"): 1}
    assert sum(sale.gpus for sale in plan.backfill) == pytest.approx(34 * 48, rel=1e-6)


@equations("O4")
def test_upfront() -> None:
    """A prepaid term would be discounted as if it were paid week by week.

    8 GPUs for four weeks, 672 h, at 1.3, all paid on the first day: 8 × 672 × 1.3 = 6,988.8,
    whatever the discount rate. On demand is 9.0.
    """
    plan = answer("upfront")
    assert plan.objective == pytest.approx(8 * 4 * WEEK * 1.3, rel=1e-7)
    assert orders(plan) == {("r4", "2026-07-06"): 1}


@equations("O1")
def test_falling_prices() -> None:
    """A locked price would be compared with today's on-demand price instead of its path.

    On demand falls by 40 % a year from 2.0, read at each Monday: Σ 16 × 168 × 2 × 0.6^(7t/365) over
    52 weeks is 220,117. The locked year costs 16 × 8736 × 1.75 = 244,608.
    """
    plan = answer("falling-prices")
    falling = sum(16 * WEEK * 2.0 * 0.6 ** (7 * t / 365) for t in range(52))
    assert falling < 16 * YEAR * 1.75
    assert plan.objective == pytest.approx(falling, rel=1e-7)
    assert orders(plan) == {}


@equations("C4", "C14")
def test_held() -> None:
    """What is already paid for would be bought again, or used after it has expired.

    64 GPUs for 26 weeks; 40 are held for the first 13. On demand: 13 × 24 and then 13 × 64
    GPU-weeks at 3.0. The held ones' price of 2.0 is sunk.
    """
    plan = answer("held")
    assert plan.objective == pytest.approx(WEEK * 3 * (13 * 24 + 13 * 64), rel=1e-7)
    assert lines(plan) == {"on_demand": pytest.approx(plan.objective)}


@equations("C9", "C11")
def test_time_to_train() -> None:
    """A run would be put where it takes longer than it may.

    86,016 reference GPU-hours on 64 GPUs: 1344 h, eight weeks, on h100 at 2.0; half of that on b200
    (speed 2) at 5.0, so 64 × 672 × 5 = 215,040 there. ``fast`` has five weeks: b200. ``slow`` has
    eight: 64 h100s for 172,032; 128 of them at efficiency 0.9 would be 86016 / 0.9 × 2 = 191,147.
    ``coupled`` needs a rack, and only b200 has one. Sum 215,040 × 2 + 172,032 = 602,112.
    """
    plan = answer("time-to-train")
    assert plan.objective == pytest.approx(2 * (64 * 672 * 5) + 64 * 1344 * 2, rel=1e-7)
    placed = {campaign: (place, gpus) for campaign, (place, gpus, _, _) in runs(plan).items()}
    assert placed == {"fast": ("west", 64), "slow": ("east", 64), "coupled": ("west", 64)}
    assert runs(plan)["fast"][3] == pytest.approx(672)
    assert runs(plan)["slow"][3] == pytest.approx(1344)


@equations("C6", "C9", "O12")
def test_drop() -> None:
    """A run that is worth less than it costs would be kept, or one worth more left out.

    Both campaigns cost 16128 × 3 = 48,384 on demand. Leaving out ``worth`` costs 56,448, so it
    runs; leaving out ``not`` costs 32,256, so it is left out: 80,640.
    """
    plan = answer("drop")
    assert plan.objective == pytest.approx(16128 * 3 + 32256, rel=1e-7)
    assert dropped(plan) == {"not": pytest.approx(1.0)}
    assert set(runs(plan)) == {"worth"}


@equations("C15")
def test_too_late() -> None:
    """A calendar that cannot be met would get a plan all the same.

    Sixteen GPUs over four weeks give 16 × 672 = 10,752 of the 11,752 GPU-hours. With
    11752 / 672 = 17.49 GPUs it can be done, at 3.0 each.
    """
    assert solve_scenario(case("too-late")).plan.status is Status.INFEASIBLE
    plan = answer("too-late", f"offers.od.max_gpus={11752 / 672 + 1e-6}")
    assert plan.objective == pytest.approx(11752 * 3, rel=1e-6)
