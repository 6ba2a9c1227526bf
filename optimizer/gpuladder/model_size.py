"""How large a program is, and how far apart its numbers lie, family by family."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import pyomo.environ as pyo


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """The variables or rows that share one name.

    Attributes
    ----------
    name : str
        Name of the component, as in the formulation.
    count : int
        Number of variables or rows.
    integers : int
        Of the variables, how many must be whole; 0 for rows.
    non_zeros : int
        Coefficients in the rows; 0 for variables.
    smallest, largest : float or None
        Range of the absolute coefficients of the rows, or costs of the variables; None without any.
    """

    name: str
    count: int
    integers: int = 0
    non_zeros: int = 0
    smallest: float | None = None
    largest: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSize:
    """The size of a program."""

    variables: tuple[Family, ...]
    rows: tuple[Family, ...]

    @property
    def num_variables(self) -> int:
        """Number of variables."""
        return sum(family.count for family in self.variables)

    @property
    def num_integers(self) -> int:
        """Number of variables that must be whole."""
        return sum(family.integers for family in self.variables)

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return sum(family.count for family in self.rows)

    @property
    def num_non_zeros(self) -> int:
        """Number of coefficients in the rows."""
        return sum(family.non_zeros for family in self.rows)

    def record(self) -> dict[str, Any]:
        """Return totals and families as values that JSON can hold."""
        return {
            "variables": self.num_variables,
            "integers": self.num_integers,
            "rows": self.num_rows,
            "non_zeros": self.num_non_zeros,
            "variable_families": [asdict(family) for family in self.variables],
            "row_families": [asdict(family) for family in self.rows],
        }


def measure(model: pyo.ConcreteModel) -> ModelSize:
    """Return the size of a built program; rows and objective are linear expressions."""
    costs = _costs_by_family(model)
    variables = tuple(
        Family(
            name=component.name,
            count=len(component),
            integers=sum(variable.is_integer() for variable in component.values()),
            smallest=smallest(costs.get(component.name, ())),
            largest=largest(costs.get(component.name, ())),
        )
        for component in model.component_objects(pyo.Var, active=True)
        if len(component)
    )
    return ModelSize(
        variables=variables,
        rows=tuple(
            _row_family(component)
            for component in model.component_objects(pyo.Constraint, active=True)
            if len(component)
        ),
    )


def _row_family(component: Any) -> Family:
    coefficients = [
        value for row in component.values() for value in row.body.linear_coefs if value != 0.0
    ]
    return Family(
        name=component.name,
        count=len(component),
        non_zeros=len(coefficients),
        smallest=smallest(coefficients),
        largest=largest(coefficients),
    )


def _costs_by_family(model: pyo.ConcreteModel) -> dict[str, list[float]]:
    costs: dict[str, list[float]] = {}
    for objective in model.component_objects(pyo.Objective, active=True):
        expression = objective.expr
        for value, variable in zip(expression.linear_coefs, expression.linear_vars, strict=True):
            costs.setdefault(variable.parent_component().name, []).append(value)
    return costs


def smallest(values: Iterable[float]) -> float | None:
    """Return the smallest absolute value that is not zero; None without any."""
    return min((abs(value) for value in values if value != 0.0), default=None)


def largest(values: Iterable[float]) -> float | None:
    """Return the largest absolute value that is not zero; None without any."""
    return max((abs(value) for value in values if value != 0.0), default=None)
