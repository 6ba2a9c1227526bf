"""What the solver module promises, and the facts about HiGHS that it stands on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.analytic.builders import (
    WEEK,
    demand,
    gang,
    offer,
    scenario,
    solved,
)
from tests.unit.programs import EXACT, knapsack, program_of, sparse_calendar

from gpuladder.errors import NoPlanError
from gpuladder.plan import Status, Termination
from gpuladder.program import make_program_data
from gpuladder.solver import Program, relative_gap
from gpuladder.solving import solve_scenario, start_values
from gpuladder_models.build import build_model

if TYPE_CHECKING:
    from gpuladder.scenario.schema import Scenario

ROOT = Path(__file__).parents[2]


def test_optimal_outcome_carries_its_proof() -> None:
    """A plan would be called optimal without a bound that proves it."""
    outcome = Program(knapsack()).solve(EXACT)
    assert outcome.status is Status.OPTIMAL
    assert outcome.termination is Termination.GAP_REACHED
    assert (outcome.objective, outcome.bound, outcome.gap) == pytest.approx((-20, -20, 0))
    assert outcome.columns is not None
    assert outcome.columns.tolist() == [2, 1, 2]


def test_mixed_program_has_no_duals() -> None:
    """Numbers that mean nothing would be read as shadow prices."""
    outcome = Program(knapsack(8.5)).solve(EXACT)
    assert outcome.objective == pytest.approx(-17)
    assert outcome.row_duals is None
    assert outcome.reduced_costs is None


def test_fixed_integers_give_duals_and_are_restored() -> None:
    """A dual would be missing, or the next solve would run on the fixed program.

    Two lots of 8 are fixed against a demand of 17 in each of two weeks; the last GPU is on demand
    at 3.0, so one more costs 168 × 3 a week. Afterwards on demand is made dearer, and a third lot
    pays.
    """
    asked = scenario(
        weeks=2,
        offers=[
            offer("on_demand", price=3.0),
            offer("reserved", price=1.0, tenor="2 weeks", lot_gpus=8, start_every="2 weeks"),
        ],
        demand=demand([17, 17]),
    )
    program = program_of(asked)
    mixed = program.solve(EXACT)
    fixed_at = mixed.columns.copy()
    with program.integers_fixed(fixed_at):
        linear = program.solve(EXACT)
    assert linear.status is Status.OPTIMAL
    assert linear.objective == pytest.approx(mixed.objective)
    supply = program.compiled.row_blocks["stable_supply"].slice
    assert linear.row_duals[supply].tolist() == pytest.approx([WEEK * 3.0] * 2)
    assert linear.reduced_costs is not None
    again = program.solve(EXACT)
    assert again.row_duals is None
    assert again.objective == pytest.approx(mixed.objective)
    program.set_column_bounds("lots", np.zeros(1), np.full(1, 3.0))
    program.set_costs("on_demand", np.full(2, WEEK * 9.0))
    wider = program.solve(EXACT)
    assert program.column_values(wider, "lots").tolist() == [3]


def test_fixed_values_are_restored_after_an_error() -> None:
    """An error while integers are fixed would leave every later answer wrong."""
    program = Program(knapsack())

    def stopped() -> None:
        with program.integers_fixed(np.zeros(3)):
            assert program.solve(EXACT).objective == 0
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert program.solve(EXACT).objective == pytest.approx(-20)


def edited(**keys: object) -> Scenario:
    """Return a scenario whose prices, lots and demand a test changes."""
    given = {"price": 3.0, "most": 4, "gpus": 20.0} | keys
    term = offer(
        "reserved", price=1.0, tenor="2 weeks", lot_gpus=8, max_lots=given["most"], lead="7 days"
    )
    return scenario(
        offers=[offer("on_demand", price=given["price"]), term],
        demand=demand([given["gpus"], 12, 30, 4]),
    )


def test_edits_in_place_equal_a_rebuilt_program() -> None:
    """Re-solves for walk-away prices and marginals would answer for another program."""
    program = program_of(edited())
    program.solve(EXACT)

    rebuilt = program_of(edited(price=1.4)).compiled
    block = rebuilt.column_blocks["on_demand"].slice
    program.set_costs("on_demand", rebuilt.cost[block])
    assert program.solve(EXACT).objective == pytest.approx(
        solved(edited(price=1.4)).objective, rel=1e-9
    )

    rebuilt = program_of(edited(price=1.4, most=1)).compiled
    block = rebuilt.column_blocks["lots"].slice
    program.set_column_bounds("lots", rebuilt.column_lower[block], rebuilt.column_upper[block])
    for key in rebuilt.row_blocks["lots_active"].keys:
        program.set_row_bounds("lots_active", key, -np.inf, 1.0)
    assert program.solve(EXACT).objective == pytest.approx(
        solved(edited(price=1.4, most=1)).objective, rel=1e-9
    )

    first = rebuilt.row_blocks["stable_supply"].keys[0]
    program.set_row_bounds("stable_supply", first, 28.0, np.inf)
    assert program.solve(EXACT).objective == pytest.approx(
        solved(edited(price=1.4, most=1, gpus=28.0)).objective, rel=1e-9
    )


def test_edits_name_what_they_change() -> None:
    """An edit of something that does not exist would pass in silence."""
    program = program_of(edited())
    with pytest.raises(KeyError):
        program.set_costs("no_such_family", np.zeros(1))
    with pytest.raises(ValueError, match="not in tuple"):
        program.set_row_bounds("stable_supply", 10_000, 0.0, 1.0)


def test_infeasible_program_has_nothing_to_read() -> None:
    """Zeros would be reported as a plan."""
    asked = scenario(
        weeks=1, offers=[offer("on_demand", price=1.0, max_gpus=4)], demand=demand([8])
    )
    program = program_of(asked)
    outcome = program.solve(EXACT)
    assert outcome.status is Status.INFEASIBLE
    assert outcome.termination is Termination.INFEASIBLE
    assert (outcome.objective, outcome.bound, outcome.columns) == (None, None, None)
    with pytest.raises(NoPlanError) as caught:
        program.column_values(outcome, "on_demand")
    assert caught.value.exit_code == 4
    plan = solve_scenario(asked).plan
    assert not plan.has_quantities
    assert plan.costs == ()


def test_infeasible_by_whole_numbers_alone() -> None:
    """A program whose linear relaxation is feasible would be taken for a plan.

    At most 12 committed GPUs, a need of 12 that only lots of 8 can serve.
    """
    asked = scenario(
        weeks=1,
        offers=[offer("reserved", price=1.0, tenor="1 weeks", lot_gpus=8)],
        demand=demand([12]),
        policy={"committed_gpus_max": 12},
    )
    assert solve_scenario(asked).plan.status is Status.INFEASIBLE


def test_unbounded_scenario_is_told_apart_from_an_infeasible_one() -> None:
    """A buyer who pays more than a lot costs, without limit, would look like a wrong calendar."""
    asked = scenario(
        weeks=1,
        offers=[offer("reserved", price=1.0, tenor="1 weeks", lot_gpus=8)],
        backfill=[{"id": "buyer", "value": 2.0}],
    )
    plan = solve_scenario(asked).plan
    assert plan.termination is Termination.UNBOUNDED
    assert plan.status is Status.NO_PLAN
    assert plan.objective is None
    assert plan.orders == ()


def test_empty_scenario_costs_nothing() -> None:
    """A scenario without decisions would end in a solver error."""
    plan = solve_scenario(scenario(weeks=1)).plan
    assert plan.status is Status.OPTIMAL
    assert plan.objective == 0


def test_start_repeats_the_whole_earlier_plan() -> None:
    """A start would lose what was decided, and the search would begin from nothing."""
    asked = sparse_calendar()
    plan = solved(asked)
    data = make_program_data(asked)
    program = Program(build_model(data))
    columns = start_values(data, program, plan)
    assert columns is not None
    assert program.compiled.cost @ columns == pytest.approx(plan.objective, rel=1e-9)


def test_start_that_no_longer_fits_is_dropped() -> None:
    """A plan from a different calendar would end the solve instead of helping it."""
    earlier = solved(sparse_calendar())
    changed = scenario(
        offers=[offer("on_demand", price=3.0)],
        campaigns=[gang("a", 24, 24 * WEEK), gang("new", 8, 8 * WEEK)],
    )
    plan = solve_scenario(changed, start_from=earlier).plan
    assert plan.status is Status.OPTIMAL
    assert plan.objective == pytest.approx(32 * WEEK * 3.0)
    dearer = sparse_calendar(price=2.2)
    assert solve_scenario(dearer, start_from=earlier).plan.objective == pytest.approx(
        solved(dearer).objective, rel=1e-6
    )


def test_same_options_give_the_same_plan() -> None:
    """Two runs of one scenario would recommend different contracts."""
    asked = sparse_calendar()
    first, second = (
        solve_scenario(asked).plan.model_copy(update={"seconds": {}}) for _ in range(2)
    )
    assert first == second


def test_relaxation_is_a_linear_program() -> None:
    """A bound from the relaxation would be that of the whole-number program."""
    relaxed = Program(replace(knapsack(8.5), is_integer=np.zeros(3, np.bool_))).solve(EXACT)
    assert relaxed.objective == pytest.approx(-(16 + 4 * 2.5 / 3))
    assert relaxed.row_duals.tolist() == pytest.approx([-4 / 3])


@pytest.mark.parametrize(
    ("objective", "bound", "gap"),
    [(100, 90, 0.1), (-100, -110, 0.1), (0, 0, 0), (0, -1, np.inf), (5, 5 + 1e-12, 0)],
)
def test_gap_is_relative_to_the_objective(objective: float, bound: float, gap: float) -> None:
    """A plan would be called proven when it is not."""
    assert relative_gap(objective, bound) == pytest.approx(gap)
