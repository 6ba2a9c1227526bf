"""Burst windows against standing reserve: costs, flips and words worked out on paper."""

from __future__ import annotations

import time
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from tests.analytic.builders import day, gang, offer, pool, scenario, solved

from gpuladder.analysis.answers import FlipRow, StructureRow
from gpuladder.analysis.baselines_orders import Market
from gpuladder.analysis.budget import Budget
from gpuladder.analysis.burst_or_standing import burst_or_standing
from gpuladder.analysis.burst_or_standing_cases import at_cadence, choices
from gpuladder.analysis.burst_or_standing_curves import CADENCE, Curve
from gpuladder.analysis.burst_or_standing_words import sentence
from gpuladder.program import make_program_data
from gpuladder.scenario.loading import load
from gpuladder.scenario.schema import Scenario
from gpuladder.solving import solve_scenario

CASE = Path(__file__).parents[1] / "data" / "cases" / "burst-or-standing.yaml"
Answer = tuple[dict[str, StructureRow], dict[str, dict[float, FlipRow]], str]


def answer(asked: Scenario, seconds: float = 60.0) -> Answer:
    """Return the structures by name, the points by axis and value, and the sentence."""
    budget = Budget(stop_at=time.time() + seconds, workers=1, seconds_each=20.0, relative_gap=1e-7)
    structures, flips, (said,) = burst_or_standing(asked, solve_scenario(asked).plan, budget=budget)
    points: dict[str, dict[float, FlipRow]] = {"cadence": {}, "price_ratio": {}}
    for row in flips:
        points[row.axis][row.value] = row
    return {row.structure: row for row in structures}, points, said


@pytest.fixture(scope="module")
def reference() -> Answer:
    """The answer to the reference case: four runs of 64 GPUs for two weeks, 52 weeks."""
    return answer(load(CASE).scenario)


def test_structures_by_hand(reference: Answer) -> None:
    """The two offers on the table must be priced for the same year of runs.

    A run is 64 x 336 = 21,504 GPU-hours: 66,662.4 in bursts at 3.1, 86,016 on demand at 4.0. The
    year's reservation at 1.5 costs 64 x 168 x 1.5 = 16,128 a week; the first run can wait two weeks
    for it, so it stands for 50 weeks of the horizon: 806,400. Four runs use 86,016 of its 537,600
    GPU-hours; 451,584 are idle.
    """
    structures, _, _ = reference
    assert {name: row.cost for name, row in structures.items()} == pytest.approx(
        {
            "free": 4 * 66_662.4,
            "without burst windows": 4 * 86_016,
            "without standing terms": 4 * 66_662.4,
            "standing terms alone": 806_400,
            "neither": 4 * 86_016,
        }
    )
    alone = structures["standing terms alone"]
    assert alone.idle_gpu_hours == pytest.approx(451_584)
    assert alone.idle_cost == pytest.approx(451_584 * 1.5)
    assert alone.cost_per_run == pytest.approx(201_600)
    assert structures["free"].cost_per_run == pytest.approx(66_662.4)
    assert structures["free"].idle_gpu_hours == pytest.approx(0.0)


def test_cadence_at_which_standing_wins_by_hand(reference: Answer) -> None:
    """Signing a year one run too early, or a dozen bursts too many, is the mistake to prevent.

    n runs cost 66,662.4 n in bursts. A standing term costs 806,400 when the first run waits two
    weeks (838,656 when it does not), whatever the number of runs, until they overlap. 12 runs:
    799,948.8, less than either; 13 runs: 866,611.2, more than either. So standing wins from 13.
    """
    _, points, said = reference
    by_runs = {round(4 * value): row for value, row in points["cadence"].items()}
    assert by_runs[12].burst_cost == pytest.approx(12 * 66_662.4)
    assert by_runs[13].burst_cost == pytest.approx(13 * 66_662.4)
    assert 806_400 - 1e-6 <= (by_runs[13].standing_cost or 0.0) <= 838_656 + 1e-6
    assert (by_runs[12].cheaper, by_runs[13].cheaper) == ("burst", "standing")
    assert by_runs[4].runs_per_quarter == pytest.approx(4 * 91.3125 / 364)
    assert "standing wins from 13 runs" in said


def test_price_ratio_at_which_bursts_stop_paying_by_hand(reference: Answer) -> None:
    """The ratio is what a buyer can say at the table: above it the block is not worth booking.

    Four runs never pay for a standing year, so bursts pay up to the on-demand price of 4.0, which
    is 2.667 times the standing 1.5; today's ratio is 3.1 / 1.5 = 2.067.
    """
    _, points, said = reference
    prices = points["price_ratio"]
    bursts = [value for value, row in prices.items() if row.cheaper == "burst"]
    ties = [value for value, row in prices.items() if row.cheaper == "tie"]
    assert max(bursts) < 4.0 / 1.5 < min(ties)
    assert min(ties) / max(bursts) < 1.02
    today = min(prices, key=lambda value: abs(value - 3.1 / 1.5))
    assert today == pytest.approx(3.1 / 1.5)
    assert prices[today].burst_cost == pytest.approx(266_649.6)
    assert "(today 2.07)" in said


def test_plain_words_first(reference: Answer) -> None:
    """The sentence is what gets pasted: runs, their length, and the percentage must be right.

    266,649.6 against 344,064 is 22.5 % less, and against 806,400 66.9 % less.
    """
    _, _, said = reference
    assert said.startswith("east: four two-week runs a year: bursts cost 22% less")
    assert "67% less than standing terms alone (806,400)" in said


def equal(**tables: Any) -> Scenario:
    """Return one run of 8 GPUs for two of four weeks, on which both structures cost the same.

    Two one-week blocks of 8 at 3.0: 8 x 336 x 3.0 = 8,064. Four weeks at 1.5: 8 x 672 x 1.5 too.
    """
    standing = offer("reserved", price=1.5, tenor="4 weeks", lot_gpus=8, start_every="4 weeks")
    burst = offer("burst_window", price=3.0, tenor="1 weeks", lot_gpus=8)
    on_demand = offer("on_demand", price=10.0)
    run = gang("run", 8, 8 * 336, deadline=day(2))
    return scenario(**{"offers": [burst, standing, on_demand], "campaigns": [run]} | tables)


def test_tie_is_called_a_tie() -> None:
    """Naming a winner between equal costs would be decided by the solver's mood.

    With two runs, the second in weeks 3 and 4, bursts cost twice as much and the term the same.
    Burst windows cost less below twice the standing price, and more above.
    """
    structures, points, said = answer(equal())
    assert structures["without burst windows"].cost == pytest.approx(8_064)
    assert structures["without standing terms"].cost == pytest.approx(8_064)
    cadence = points["cadence"]
    assert (cadence[1.0].cheaper, cadence[2.0].cheaper) == ("tie", "standing")
    assert cadence[2.0].burst_cost == pytest.approx(16_128)
    assert cadence[2.0].standing_cost == pytest.approx(8_064)
    for value, row in points["price_ratio"].items():
        if value != 2.0:
            assert row.cheaper == ("burst" if value < 2.0 else "standing")
    assert "cost the same (8,064 USD)" in said


def test_costs_whose_proofs_overlap_are_not_called_equal() -> None:
    """Two costs 7 % apart, both stopped early, would be reported as the same to the buyer."""
    asked = load(CASE).scenario
    (choice,) = choices(Market.of(asked, make_program_data(asked)))
    plan = solve_scenario(asked).plan
    open_plans = tuple(
        plan.model_copy(update={"objective": cost, "bound": 900.0}) for cost in (1000.0, 1070.0)
    )
    curve = Curve(choice, CADENCE, {float(len(choice.runs)): open_plans})
    costs = {"without standing terms": 1000.0, "without burst windows": 1070.0}
    said = sentence(choice, costs, [curve], plan)
    assert "is not proven (1,000 against 1,070 USD)" in said
    assert "the same" not in said


def test_only_one_structure_can_serve() -> None:
    """Where one side has no plan there is nothing to negotiate, and that has to be said.

    Without on-demand capacity, and with blocks for one node only, a run of 16 needs the term.
    """
    burst, standing, _ = (item.model_dump(by_alias=True) for item in equal().offers)
    structures, points, said = answer(
        equal(
            offers=[burst | {"max_lots": 1}, standing],
            campaigns=[gang("run", 16, 16 * 336, deadline=day(2))],
        )
    )
    assert structures["without standing terms"].cost is None
    assert "no plan exists" in structures["without standing terms"].note
    assert points["cadence"][1.0].cheaper == "standing"
    assert "no plan without standing terms" in said


def test_offers_in_two_pools_of_one_hardware_are_compared() -> None:
    """Most providers sell one kind or the other: the choice then is between two pools."""
    burst, standing, on_demand = (item.model_dump(by_alias=True) for item in equal().offers)
    asked = equal(
        pools=[pool("east"), pool("west", provider="other")],
        offers=[burst | {"pool": "west"}, standing, on_demand],
    )
    structures, _, said = answer(asked)
    assert {row.pool for row in structures.values()} == {"east + west"}
    assert structures["without burst windows"].cost == pytest.approx(8_064)
    assert said.startswith("east + west: one two-week run in 4 weeks")


def test_nothing_to_compare_and_nothing_solved() -> None:
    """No pool with both is no question; no time is no answer."""
    budget = Budget(stop_at=time.time() - 1, workers=1, seconds_each=20.0, relative_gap=1e-7)
    alone = equal(offers=[equal().offers[0].model_dump(by_alias=True)])
    assert burst_or_standing(alone, solved(alone), budget=budget) == ((), (), ())
    asked = equal()
    structures, flips, (said,) = burst_or_standing(asked, solved(asked), budget=budget)
    assert [row.cost for row in structures if row.structure != "free"] == [None] * 4
    assert flips == ()
    assert "not solved" in said


def test_runs_of_another_cadence_are_spread_evenly() -> None:
    """A curve over the number of runs means nothing if the runs pile up or leave the horizon.

    Eight runs in 364 days open every 45.5 days, rounded down, with windows of 28 days.
    """
    asked = load(CASE).scenario
    (choice,) = choices(Market.of(asked, make_program_data(asked)))
    spread = at_cadence(choice, 8).campaigns
    first = date(2026, 7, 6)
    assert [(run.earliest - first).days for run in spread] == [0, 45, 91, 136, 182, 227, 273, 318]
    assert {(run.deadline - run.earliest).days for run in spread} == {28}
    assert len({run.id for run in spread}) == 8
    crowded = at_cadence(choice, 48).campaigns
    assert max(run.deadline for run in crowded) <= date(2027, 7, 5)
    assert at_cadence(choice, 4) is asked
