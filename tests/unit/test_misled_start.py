"""Starts that presolve has no room for."""

from __future__ import annotations

import pytest
from tests.analytic.builders import WEEK, day, elastic, offer, scenario

from gpuladder.compiled import compile_model
from gpuladder.plan import Status
from gpuladder.program import make_program_data
from gpuladder.scenario.schema import Scenario
from gpuladder.solver import Program
from gpuladder.solving import solve_options, solve_scenario, start_values
from gpuladder_models.build import build_model

WEEKS = 26


def rivals(price: float) -> Scenario:
    """Return 8 GPUs of work all 26 weeks, and two equal reservations of which one has a price.

    The other costs 1.00, so the cheapest plan costs 8 x 4,368 h x min(price, 1).
    """
    terms = {"tenor": f"{WEEKS} weeks", "lot_gpus": 8}
    return scenario(
        weeks=WEEKS,
        offers=[
            offer("on_demand", price=3.0),
            offer("reserved", **terms, id="standing", price=1.0),
            offer("reserved", **terms, id="other", price=price),
        ],
        campaigns=[elastic("steady", 8 * WEEKS * WEEK, max_gpus=8, deadline=day(WEEKS))],
    )


def test_a_start_on_a_dominated_offer_does_not_end_the_search() -> None:
    """A start would cost more than it saves: the dearer offer would be kept, unproven.

    Presolve takes the dearer of two equal offers out, and the start with it.
    """
    earlier = solve_scenario(rivals(price=0.9)).plan
    assert [order.offer for order in earlier.orders] == ["other"]
    plan = solve_scenario(rivals(price=1.1), start_from=earlier).plan
    assert plan.status is Status.OPTIMAL
    assert plan.objective == pytest.approx(8 * WEEKS * WEEK)
    assert [order.offer for order in plan.orders] == ["standing"]


def test_what_is_reported_is_the_cost_of_the_columns() -> None:
    """The next solve of the same program would start from a plan at a cost that none has."""
    asked, earlier = rivals(price=1.1), solve_scenario(rivals(price=0.9)).plan
    data = make_program_data(asked)
    program = Program(compile_model(build_model(data)))
    start = start_values(data, program, earlier)
    for outcome in (
        program.solve(solve_options(asked), start=start),
        program.solve(solve_options(asked)),
    ):
        assert outcome.columns is not None
        assert outcome.objective == pytest.approx(float(program.compiled.cost @ outcome.columns))
        assert outcome.bound == pytest.approx(8 * WEEKS * WEEK)
