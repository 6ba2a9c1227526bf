"""The hand-over is the model that Pyomo knows: the same rows, bounds, types and objective."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo.repn.plugins.standard_form import LinearStandardFormCompiler
from tests.unit.programs import sparse_calendar

from gpuladder.compiled import CompiledModel, compile_model
from gpuladder.program import make_program_data
from gpuladder.scenario.loading import load
from gpuladder_models.build import build_model

if TYPE_CHECKING:
    from gpuladder.scenario.schema import Scenario

CASES = Path(__file__).parents[1] / "data" / "cases"
FILES = ["backfill", "ladder-binding", "random/fuzz-3", "random/fuzz-8", "random/fuzz-24"]


def scenarios() -> list[Scenario]:
    """Return scenarios that together use every family of rows."""
    rich = sparse_calendar()
    policy = rich.policy.model_validate(
        {
            "ladder": {"window": "4 weeks", "max_expiring_share": 0.5, "exempt_gpus": 8},
            "spot_share_max": 0.5,
            "provider_share_max": 0.9,
            "committed_gpus_max": 100,
            "hardware_limits": [
                {"hardware": "h100", "after": "2026-07-13", "max_committed_gpus": 90}
            ],
            "cash_budgets": [{"from": "2026-07-06", "until": "2026-08-03", "max": 1e6}],
        }
    )
    limited = rich.model_copy(update={"policy": policy})
    return [limited, *(load(CASES / f"{name}.yaml").scenario for name in FILES)]


@pytest.fixture(scope="module", params=range(len(FILES) + 1), ids=["rich", *FILES])
def both(request: pytest.FixtureRequest) -> tuple[pyo.ConcreteModel, CompiledModel]:
    """Return a model and its arrays."""
    model = build_model(make_program_data(scenarios()[request.param]))
    return model, compile_model(model)


def variables(model: pyo.ConcreteModel, compiled: CompiledModel) -> list[pyo.Var]:
    """Return the model's variables in the order of the columns."""
    found: list[pyo.Var] = [None] * compiled.num_columns
    for name, block in compiled.column_blocks.items():
        family = model.find_component(name)
        found[block.slice] = [family[key] for key in block.keys]
    assert None not in found
    return found


def test_rows_and_objective_have_pyomo_s_values(
    both: tuple[pyo.ConcreteModel, CompiledModel],
) -> None:
    """The solver would be given another program than the one that can be read.

    Every row body and the objective are evaluated by Pyomo at random points, and as A @ x.
    """
    model, compiled = both
    columns = variables(model, compiled)
    rows = np.repeat(np.arange(compiled.num_rows), np.diff(compiled.starts))
    for seed in range(2):
        point = np.random.default_rng(seed).uniform(0, 10, compiled.num_columns)
        for variable, value in zip(columns, point.tolist(), strict=True):
            variable.set_value(value, skip_validation=True)
        bodies = np.bincount(
            rows, compiled.values * point[compiled.columns], minlength=compiled.num_rows
        )
        expected = np.full(compiled.num_rows, np.nan)
        for name, block in compiled.row_blocks.items():
            family = model.find_component(name)
            expected[block.slice] = [pyo.value(family[key].body) for key in block.keys]
        np.testing.assert_allclose(bodies, expected, rtol=1e-9, atol=1e-6)
        cost = pyo.value(model.net_present_cost)
        assert compiled.cost @ point == pytest.approx(cost, rel=1e-9)


def test_bounds_and_types_are_pyomo_s(both: tuple[pyo.ConcreteModel, CompiledModel]) -> None:
    """A limit would be lost on its way to the solver, or half a lot be bought."""
    model, compiled = both

    def bound(value: float | None, without: float) -> float:
        return without if value is None else pyo.value(value)

    columns = variables(model, compiled)
    assert compiled.column_lower.tolist() == [bound(v.lb, -np.inf) for v in columns]
    assert compiled.column_upper.tolist() == [bound(v.ub, np.inf) for v in columns]
    assert compiled.is_integer.tolist() == [v.is_integer() or v.is_binary() for v in columns]
    for name, block in compiled.row_blocks.items():
        family = model.find_component(name)
        members = [family[key] for key in block.keys]
        lower = [bound(row.lower, -np.inf) for row in members]
        upper = [bound(row.upper, np.inf) for row in members]
        assert compiled.row_lower[block.slice].tolist() == lower
        assert compiled.row_upper[block.slice].tolist() == upper


def test_matrix_is_that_of_pyomo_s_own_compiler(
    both: tuple[pyo.ConcreteModel, CompiledModel],
) -> None:
    """An entry would be missing, doubled or in another column."""
    model, compiled = both
    form = LinearStandardFormCompiler().write(model, mixed_form=True)
    position = {id(v): k for k, v in enumerate(variables(model, compiled))}
    row_of = {}
    for name, block in compiled.row_blocks.items():
        family = model.find_component(name)
        row_of |= {id(family[key]): block.begin + k for k, key in enumerate(block.keys)}
    theirs = {}
    matrix = form.A.tocoo()
    for row, column, value in zip(
        matrix.row.tolist(), matrix.col.tolist(), matrix.data.tolist(), strict=True
    ):
        key = row_of[id(form.rows[row].constraint)], position[id(form.columns[column])]
        theirs[key] = value
    ours = {}
    rows = np.repeat(np.arange(compiled.num_rows), np.diff(compiled.starts))
    for key, value in zip(
        zip(rows.tolist(), compiled.columns.tolist(), strict=True),
        compiled.values.tolist(),
        strict=True,
    ):
        assert key not in ours
        ours[key] = value
    ours = {key: value for key, value in ours.items() if value}
    theirs = {key: value for key, value in theirs.items() if value}
    assert ours == pytest.approx(theirs, rel=1e-12)


def test_model_that_is_not_made_of_rows_is_refused() -> None:
    """A constraint that someone adds by hand would be dropped without a word."""
    model = build_model(make_program_data(sparse_calendar()))
    model.extra = pyo.Constraint(expr=model.lots[0] + model.lots[1] <= 1)
    with pytest.raises(TypeError, match="not a row of this program"):
        compile_model(model)


def test_arrays_of_two_builds_are_equal() -> None:
    """The same scenario would not give the same program, nor the same plan."""
    first, second = (
        compile_model(build_model(make_program_data(s))) for s in [sparse_calendar()] * 2
    )
    same = replace(second, column_blocks=first.column_blocks, row_blocks=first.row_blocks)
    for name in ("cost", "row_lower", "row_upper", "starts", "columns", "values", "is_integer"):
        np.testing.assert_array_equal(getattr(first, name), getattr(same, name))
    assert first.column_blocks == second.column_blocks
    assert first.row_blocks == second.row_blocks
