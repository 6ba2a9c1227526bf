"""Baselines and the waterfall: hand-solved costs, and identities on scenarios of all sorts.

Unless a test says otherwise demand is 8, 8, 8 and 32 GPUs in four weeks of 168 hours, on demand
costs 4.0 and a reservation of four weeks from the first day costs 1.5 in lots of 8. A GPU-week is
672.0 on demand, a lot for the term 8 x 4 x 168 x 1.5 = 8,064. The first lot saves 8 x 4 GPU-weeks
on demand, 21,504; the second only one week of 8, 5,376: so one lot is best, and the plan costs
8,064 + 24 x 672 = 24,192.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from tests.analytic.builders import day, demand, elastic, gang, held, offer, scenario, solved

from gpuladder.analysis.answers import BaselineRow
from gpuladder.analysis.baselines import baselines
from gpuladder.analysis.budget import Budget
from gpuladder.analysis.waterfall import waterfall
from gpuladder.audit import audit
from gpuladder.plan import Plan
from gpuladder.scenario.loading import load
from gpuladder.scenario.schema import Scenario
from gpuladder.solving import solve_scenario

CASES = Path(__file__).parents[1] / "data" / "cases"
RESERVED = offer("reserved", price=1.5, tenor="4 weeks", lot_gpus=8, start_every="4 weeks")
ON_DEMAND = offer("on_demand", price=4.0)


def budget(seconds: float = 60.0) -> Budget:
    """Return a budget that small scenarios never reach."""
    return Budget(stop_at=time.time() + seconds, workers=1, seconds_each=20.0, relative_gap=1e-7)


def small(**tables: Any) -> Scenario:
    """Return the scenario of the docstring above."""
    return scenario(**{"offers": [ON_DEMAND, RESERVED], "demand": demand([8, 8, 8, 32])} | tables)


def by_name(asked: Scenario, plan: Plan | None = None) -> dict[str, BaselineRow]:
    """Return the baselines of a scenario."""
    rows, _ = baselines(asked, plan or solved(asked), budget=budget())
    return {row.baseline: row for row in rows}


def test_standing_levels_by_hand() -> None:
    """A level read wrongly off the use would make any plan look good against it.

    Peak 32: 4 lots, 32,256. Average 14: two lots, 16,128, and 16 GPUs on demand in week 4, 10,752:
    26,880. Quantile 1 - 1.5 / 4.0 = 0.625: 8 GPUs suffice for 0.75 of the hours: the plan itself.
    All on demand: 56 GPU-weeks, 37,632.
    """
    rows = by_name(small())
    assert {name: row.cost for name, row in rows.items()} == pytest.approx(
        {
            "all_on_demand": 37_632,
            "standing_peak": 32_256,
            "standing_average": 26_880,
            "standing_quantile": 24_192,
            "one_long_term": 24_192,
            "no_shift": 24_192,
        }
    )
    assert rows["all_on_demand"].saving == pytest.approx(37_632 - 24_192)
    assert rows["all_on_demand"].saving_share == pytest.approx(1 - 24_192 / 37_632)
    assert rows["standing_quantile"].saving == pytest.approx(0.0, abs=1e-6)


def test_standing_orders_follow_what_is_held() -> None:
    """Reserving on top of what is held would charge a team twice for one GPU.

    24 of 32 GPUs are held for two of the four weeks; the reservation is for two weeks. From the
    start 8 are missing to the peak (one lot, 4,032), from week 2 all 32 are, of which the running
    lot has ended too: four lots, 16,128.
    """
    asked = small(
        offers=[ON_DEMAND, RESERVED | {"tenor": "2 weeks", "start_every": "2 weeks"}],
        commitments=[held(24, end=day(2))],
        demand=demand([32, 32, 32, 32]),
    )
    rows = by_name(asked)
    assert rows["standing_peak"].cost == pytest.approx(4_032 + 16_128)


def test_rollover_under_an_offer_and_at_the_price_held() -> None:
    """Renewing at a price nobody offers is no baseline the plan could have chosen: it must say so.

    8 GPUs are held for two weeks at 2.0. On demand is 24 GPUs in week 4: 16,128. Renewed under the
    reservation, which can start then: 8 x 2 x 168 x 1.5 = 4,032 more. Renewed at the price held,
    as there is no offer: 8 x 2 x 168 x 2.0 = 5,376; the plan of that scenario pays 40 GPU-weeks on
    demand, 26,880, so rolling over is cheaper by 5,376.
    """
    two_weeks = RESERVED | {"start_every": "2 weeks"}
    renewed = small(
        offers=[ON_DEMAND, two_weeks],
        commitments=[held(8, end=day(2), price=2.0, renewable_as="reserved")],
    )
    row = by_name(renewed)["rollover"]
    assert row.cost == pytest.approx(16_128 + 4_032)
    assert "no restriction" not in row.note
    alone = small(offers=[ON_DEMAND], commitments=[held(8, end=day(2), price=2.0)])
    row = by_name(alone)["rollover"]
    assert row.cost == pytest.approx(16_128 + 5_376)
    assert row.saving == pytest.approx(-5_376)
    assert "no restriction" in row.note


def test_baseline_without_a_plan_says_why() -> None:
    """An empty cell without a reason reads as a fault of the program.

    A quota of 16 leaves week 4 short of 16 GPUs for 168 hours: 2,688 GPU-hours.
    """
    row = by_name(small(offers=[ON_DEMAND | {"max_gpus": 16}, RESERVED]))["all_on_demand"]
    assert row.cost is row.saving is None
    assert "no plan exists" in row.note
    assert "2,688 GPU-hours" in row.note


def test_baseline_not_solved_in_time_is_not_guessed() -> None:
    """A figure made up for want of time would end in a negotiation."""
    asked = small()
    rows, plans = baselines(asked, solved(asked), budget=budget(seconds=-1.0))
    assert {row.cost for row in rows} == {None}
    assert all("not solved" in row.note for row in rows)
    assert plans == {}
    first, *_ = waterfall(asked, solved(asked), budget=budget(seconds=-1.0))
    assert first.cost_after is first.delta is None


def test_structure_that_breaks_the_ladder_is_costed_without_it() -> None:
    """Teams without a ladder are the ones to compare with; hiding them hides the ladder's price.

    8 GPUs held expire in week 2; the ladder lets half of the GPUs at the window's start expire, and
    3: with 8 alone 7, so something has to be signed. Lots of 2 for eight weeks, from the first day:
    n lots may expire in the second window if 2 n <= n + 3. A lot costs 2 x 4 x 168 x 1.5 = 2,016
    and saves two weeks of two GPUs on demand, 2,688. So three lots: 6,048 and 2 x 2 GPU-weeks,
    2,688: 8,736. Without the ladder four lots are best, 8,064; the ladder costs 672. All on demand
    costs 16 GPU-weeks, 10,752.
    """
    asked = small(
        offers=[ON_DEMAND, RESERVED | {"tenor": "8 weeks", "lot_gpus": 2}],
        commitments=[held(8, end=day(2))],
        demand=demand([8, 8, 8, 8]),
        policy={"ladder": {"window": "4 weeks", "max_expiring_share": 0.5, "exempt_gpus": 3}},
    )
    plan = solved(asked)
    assert plan.objective == pytest.approx(8_736)
    row = by_name(asked, plan)["all_on_demand"]
    assert (row.cost, row.saving) == (pytest.approx(10_752), pytest.approx(2_016))
    assert "ladder" in row.note
    steps = {row.step: row for row in waterfall(asked, plan, budget=budget())}
    assert steps["All on demand, no shift"].cost_after == pytest.approx(10_752)
    assert steps["Standing terms"].delta == pytest.approx(8_064 - 10_752)
    assert steps["Ladder kept"].delta == pytest.approx(672)
    assert steps["Ladder kept"].cost_after == pytest.approx(8_736)


def test_pool_without_on_demand_keeps_what_it_sells() -> None:
    """A pool that only sells blocks would leave the whole comparison without a first figure.

    The run needs west, which sells one-week blocks of 8 at 3.0: 4,032. In east 8 GPUs for four
    weeks on demand: 21,504, against a reservation of 8,064.
    """
    block = offer("burst_window", pool="west", price=3.0, tenor="1 weeks", lot_gpus=8)
    asked = small(
        pools=[
            {"id": name, "provider": "acme", "region": "r", "hardware": "h100"}
            for name in ("east", "west")
        ],
        offers=[ON_DEMAND, RESERVED, block],
        demand=demand([8, 8, 8, 8]),
        campaigns=[gang("run", 8, 8 * 168, pools=["west"])],
    )
    plan = solved(asked)
    row = by_name(asked, plan)["all_on_demand"]
    assert row.cost == pytest.approx(21_504 + 4_032)
    assert "west" in row.how
    assert plan.objective == pytest.approx(8_064 + 4_032)


def test_no_shift_and_schedule_compaction_by_hand() -> None:
    """What moving campaigns is worth is the first question when a calendar is negotiated.

    On demand falls from 4.0 to 2.0 after two weeks. A run of 8 GPUs for a week and elastic work
    that 8 GPUs do in a week cost 5,376 each at once, and 2,688 each later.
    """
    falling = ON_DEMAND | {"price_path": [{"from": day(2), "price": 2.0}]}
    asked = small(
        offers=[falling],
        demand=[],
        campaigns=[gang("run", 8, 8 * 168), elastic("jobs", 8 * 168, max_gpus=8)],
    )
    plan = solved(asked)
    assert plan.objective == pytest.approx(5_376)
    row = by_name(asked, plan)["no_shift"]
    assert (row.cost, row.saving) == (pytest.approx(10_752), pytest.approx(5_376))
    first, schedule = waterfall(asked, plan, budget=budget())
    assert first.cost_after == pytest.approx(10_752)
    assert (schedule.step, schedule.delta) == ("Schedule compaction", pytest.approx(-5_376))


def test_waterfall_of_bursts_by_hand() -> None:
    """Savings laid to the wrong decision send the next negotiation to the wrong table.

    Four runs of 64 GPUs for two weeks: on demand 64 x 336 x 4.0 x 4 = 344,064, in burst windows at
    3.1 266,649.6; nothing is gained by moving them or by a standing year.
    """
    asked = load(CASES / "burst-or-standing.yaml").scenario
    rows = waterfall(asked, solve_scenario(asked).plan, budget=budget())
    deltas = {row.step: row.delta for row in rows}
    assert rows[0].cost_after == pytest.approx(344_064)
    assert deltas["Burst windows"] == pytest.approx(266_649.6 - 344_064)
    assert deltas["Schedule compaction"] == pytest.approx(0.0, abs=1e-6)
    assert deltas["Standing terms"] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("number", [1, 14, 22, 36])
def test_identities_on_scenarios_of_all_sorts(number: int) -> None:
    """A baseline below the optimum, or steps that do not add up, would disprove each other."""
    asked = load(CASES / "random" / f"fuzz-{number}.yaml").scenario
    plan = solve_scenario(
        asked.model_copy(update={"solver": asked.solver.model_copy(update={"relative_gap": 1e-7})})
    ).plan
    assert plan.objective is not None
    assert plan.bound is not None
    tolerance = 1e-6 * max(abs(plan.objective), 1.0)
    rows, plans = baselines(asked, plan, budget=budget())
    for row in rows:
        if row.cost is not None and "no restriction" not in row.note:
            assert row.cost >= plan.bound - tolerance
            assert row.saving is None or row.saving == pytest.approx(row.cost - plan.objective)
            assert audit(asked, plans[row.baseline]).findings == ()
    steps = waterfall(asked, plan, budget=budget())
    known = [row for row in steps if row.cost_after is not None]
    added = sum(row.delta for row in known if row.delta is not None)
    assert known[-1].cost_after == pytest.approx(plan.objective, abs=tolerance)
    assert added == pytest.approx(plan.objective - known[0].cost_after, abs=tolerance)
    assert all(row.delta <= tolerance for row in known[1:] if row.step != "Ladder kept")
