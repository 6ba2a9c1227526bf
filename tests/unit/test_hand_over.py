"""The hand-over: the arrays that the solver gets say what the Pyomo model says."""

from pathlib import Path

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo.contrib.solver.solvers.highs import Highs
from pyomo.repn import generate_standard_repn

from gpuladder.compiled import compile_model
from gpuladder.plan import SolveOptions
from gpuladder.program import make_program_data
from gpuladder.scenario.loading import load
from gpuladder.solver import Program
from gpuladder_models.build import build_model

SCENARIOS = Path(__file__).parents[2] / "scenarios"


def model_of(name):
    return build_model(make_program_data(load(SCENARIOS / name).scenario))


@pytest.mark.parametrize("name", ["quickstart.yaml", "training-year"])
def test_the_arrays_are_what_pyomo_reads_in_the_model(name):
    """Without it the solver could be given another program than the one that is written down."""
    model = model_of(name)
    compiled = compile_model(model)
    column_of = {
        id(member): position
        for position, member in enumerate(
            member for family in model.component_objects(pyo.Var) for member in family.values()
        )
    }

    def entries(expression):
        flat = generate_standard_repn(expression)
        assert flat.is_linear()
        assert flat.constant == 0
        pairs = zip(flat.linear_vars, flat.linear_coefs, strict=True)
        return {column_of[id(member)]: value for member, value in pairs}

    rows = [row for family in model.component_objects(pyo.Constraint) for row in family.values()]
    assert len(rows) == compiled.num_rows
    for number, row in enumerate(rows):
        part = slice(compiled.starts[number], compiled.starts[number + 1])
        columns = compiled.columns[part].tolist()
        assert len(set(columns)) == len(columns), row.name
        ours = dict(zip(columns, compiled.values[part].tolist(), strict=True))
        assert entries(row.body) == {c: v for c, v in ours.items() if v}, row.name
        assert compiled.row_lower[number] == (-np.inf if row.lb is None else row.lb)
        assert compiled.row_upper[number] == (np.inf if row.ub is None else row.ub)
    priced = np.flatnonzero(compiled.cost)
    costs = dict(zip(priced.tolist(), compiled.cost[priced].tolist(), strict=True))
    assert entries(model.net_present_cost.expr) == costs


def test_pyomos_own_interface_finds_the_same_optimum():
    """Without it the model could no longer be inspected or solved with Pyomo's own tools."""
    model = model_of("quickstart.yaml")
    options = SolveOptions(time_limit_seconds=60, relative_gap=1e-6, threads=1, seed=0)
    ours = Program(model).solve(options).objective
    Highs().solve(model, rel_gap=1e-6)
    assert pyo.value(model.net_present_cost) == pytest.approx(ours, rel=2e-6)


def test_a_row_reads_as_a_sum():
    """Without it nobody could print a row to see what the program says."""
    model = model_of("quickstart.yaml")
    row = model.lots_active[0]
    assert str(row.body).startswith("lots[")
    assert pyo.value(row.body + model.firm[0], exception=False) is None
    for member in model.lots.values():
        member.set_value(2)
    assert pyo.value(row.body) == 2 * len(row.body.linear_vars)


def test_a_row_from_elsewhere_is_refused():
    """Without it a row added by hand could be read wrongly, without a word."""
    model = model_of("quickstart.yaml")
    model.extra = pyo.Constraint(expr=model.firm[0] * model.firm[1] <= 1)
    with pytest.raises(TypeError, match="not a row of this program"):
        compile_model(model)


def test_a_row_given_another_expression_is_refused():
    """Without it an edit of the Pyomo model would silently not reach the solver."""
    model = model_of("quickstart.yaml")
    model.lots_active[0].set_value(model.lots[0] + model.lots[1] <= 1)
    assert str(model.lots_active[0].expr) == "lots[0] + lots[1]  <=  1"
    with pytest.raises(TypeError, match="not a row of this program: lots_active"):
        compile_model(model)


def test_a_copy_of_the_model_is_the_same_program():
    """Without it a model could not be cloned to try something on the copy."""
    model = model_of("quickstart.yaml")
    ours, theirs = compile_model(model), compile_model(model.clone())
    assert np.array_equal(ours.values, theirs.values)
    assert np.array_equal(ours.columns, theirs.columns)
    assert np.array_equal(ours.row_lower, theirs.row_lower)
    assert np.array_equal(ours.cost, theirs.cost)
