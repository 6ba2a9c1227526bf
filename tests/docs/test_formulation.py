"""FORMULATION.md, the registry and the built model say the same, in all directions."""

from __future__ import annotations

import re
from pathlib import Path

import pyomo.environ as pyo
import pytest

from gpuladder.plan import COST_LINES
from gpuladder.program import make_program_data
from gpuladder.scenario.loading import load
from gpuladder_models.build import build_model
from gpuladder_models.names import COMPONENTS, Component, Kind, of_kind

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "models" / "FORMULATION.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| ([VCO]\d+) \| `(\w+)` \|(.*)\|$", re.MULTILINE)


def page_rows() -> dict[tuple[str, str], list[str]]:
    """Return the page's numbered rows: (number, name) to the other cells."""
    return {
        (number, name): [cell.strip() for cell in rest.split(" | ")]
        for number, name, rest in ROW.findall(PAGE)
    }


@pytest.fixture(scope="module")
def model() -> pyo.ConcreteModel:
    """Return a built model of a scenario that uses most of the mathematics."""
    scenario = load(ROOT / "scenarios" / "quickstart.yaml").scenario
    return build_model(make_program_data(scenario))


def test_page_and_registry_list_the_same_components() -> None:
    """An equation that is on the page but not in the registry could not be explained to a user."""
    assert set(page_rows()) == {(item.equation, item.name) for item in COMPONENTS}


def test_numbers_are_used_once() -> None:
    """A number used twice would make a reference to an equation ambiguous."""
    numbers = [item.equation for item in COMPONENTS]
    assert len(numbers) == len(set(numbers))


def test_model_has_the_registered_variables_and_constraints(model: pyo.ConcreteModel) -> None:
    """A constraint without a registered name would have a shadow price that nobody can read."""
    built = {c.local_name for c in model.component_objects(pyo.Constraint)}
    assert built == {item.name for item in of_kind(Kind.CONSTRAINT)}
    variables = {v.local_name for v in model.component_objects(pyo.Var)}
    assert variables == {item.name for item in of_kind(Kind.VARIABLE)}


def test_objective_lines_are_the_plan_s_cost_lines() -> None:
    """A cost line that is not in the objective, or the reverse, would not reconcile."""
    assert tuple(item.name for item in of_kind(Kind.OBJECTIVE)) == COST_LINES


@pytest.mark.parametrize("item", of_kind(Kind.CONSTRAINT), ids=lambda item: item.name)
def test_page_states_the_dual_unit_of_the_registry(item: Component) -> None:
    """A dual whose unit on the page differs from the sheet's would be misread."""
    assert page_rows()[item.equation, item.name][-1] == item.dual_unit


@pytest.mark.parametrize("item", of_kind(Kind.VARIABLE), ids=lambda item: item.name)
def test_page_states_the_variable_s_unit(item: Component) -> None:
    """A variable in another unit than stated would make every coefficient suspect."""
    assert page_rows()[item.equation, item.name][-1] == item.unit


def test_code_cites_the_equation_it_implements() -> None:
    """A builder whose docstring cites another number sends the reader to the wrong equation."""
    cited = {
        (number, name)
        for file in (ROOT / "models" / "gpuladder_models").glob("*.py")
        for number, name in re.findall(r"\((C\d+)\)\s+``(\w+)``", file.read_text(encoding="utf-8"))
    }
    assert cited == {(item.equation, item.name) for item in of_kind(Kind.CONSTRAINT)}
