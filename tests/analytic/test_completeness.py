"""Every equation of the program has a hand-solved test that notices when it is missing."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path

import pyomo.environ as pyo
import pytest

from gpuladder_models import balance, campaigns, policy, supply
from gpuladder_models.names import COMPONENTS, Component, Kind, of_kind
from gpuladder_models.rows import add_rows

BUILDERS = (balance, campaigns, policy, supply)


def marked_tests() -> dict[str, list[Callable[[], None]]]:
    """Return the tests of this folder by the equations they name."""
    found: dict[str, list[Callable[[], None]]] = {}
    for file in sorted(Path(__file__).parent.glob("test_*.py")):
        module = importlib.import_module(f"tests.analytic.{file.stem}")
        for test in vars(module).values():
            for number in getattr(test, "equations", ()):
                found.setdefault(number, []).append(test)
    return found


TESTS = marked_tests()


def test_tests_name_equations_that_exist() -> None:
    """A test filed under a wrong number would hide that an equation has none."""
    assert set(TESTS) <= {item.equation for item in COMPONENTS}


@pytest.mark.parametrize("line", of_kind(Kind.OBJECTIVE), ids=lambda line: line.name)
def test_cost_line_is_derived_by_hand(line: Component) -> None:
    """A cost that no one ever computed by hand could be wrong in every plan."""
    assert TESTS.get(line.equation)


@pytest.mark.parametrize("limit", of_kind(Kind.CONSTRAINT), ids=lambda limit: limit.name)
def test_missing_constraint_is_noticed(limit: Component, monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit could be lost from the program and every plan still look right.

    The limit is left out of the model; every test that names it must then fail.
    """

    def without(model: pyo.ConcreteModel, name: str, *arguments: object, **keys: object) -> None:
        if name == limit.name:
            model.add_component(name, pyo.Constraint([]))
        else:
            add_rows(model, name, *arguments, **keys)

    for module in BUILDERS:
        monkeypatch.setattr(module, "add_rows", without)
    tests = TESTS.get(limit.equation, [])
    assert tests
    for test in tests:
        with pytest.raises(AssertionError):
            test()
