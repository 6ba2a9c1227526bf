"""The hand-over: a Pyomo model as the flat arrays a solver takes, in one pass.

Pyomo's own interfaces spend most of their time asking for names, building symbol maps and walking
expression trees. Every row of this program already is a ``LinearExpression``; its two lists are
taken as they stand, and positions are kept by component name.
"""

from __future__ import annotations

import gc
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray
from pyomo.core.expr.numeric_expr import LinearExpression, MonomialTermExpression

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Block:
    """Where the columns or rows of one component stand."""

    begin: int
    keys: tuple[int, ...]
    """Index of each member within its component, in order."""

    @property
    def slice(self) -> slice:
        """Positions of its members."""
        return slice(self.begin, self.begin + len(self.keys))


@dataclass(frozen=True, slots=True)
class CompiledModel:
    """A mixed-integer program: minimise cost @ x, row_lower ≤ A x ≤ row_upper, integers in place.

    ``starts``, ``columns`` and ``values`` hold A by rows.
    """

    column_blocks: dict[str, Block]
    row_blocks: dict[str, Block]
    cost: FloatArray
    column_lower: FloatArray
    column_upper: FloatArray
    is_integer: NDArray[np.bool_]
    row_lower: FloatArray
    row_upper: FloatArray
    starts: IntArray
    columns: IntArray
    values: FloatArray

    @property
    def num_columns(self) -> int:
        """Number of variables."""
        return len(self.cost)

    @property
    def num_rows(self) -> int:
        """Number of constraints."""
        return len(self.row_lower)


def compile_model(model: pyo.ConcreteModel) -> CompiledModel:
    """Return the flat arrays of a Pyomo model made of linear rows.

    Automatic garbage collection is off meanwhile, for the reason given in ``build_model``.

    Raises
    ------
    TypeError
        When a row or the objective is anything but a ``LinearExpression``.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        return _compile(model)
    finally:
        if collecting:
            gc.enable()


def _compile(model: pyo.ConcreteModel) -> CompiledModel:
    column_of: dict[int, int] = {}
    column_blocks: dict[str, Block] = {}
    lower: list[float] = []
    upper: list[float] = []
    is_integer: list[bool] = []
    for variable in model.component_objects(pyo.Var, descend_into=False):
        members = list(variable.values())
        column_blocks[variable.local_name] = Block(len(lower), tuple(variable.keys()))
        column_of.update(
            zip(map(id, members), range(len(lower), len(lower) + len(members)), strict=True)
        )
        bounds = [member.bounds for member in members]
        lower.extend(-np.inf if low is None else low for low, _ in bounds)
        upper.extend(np.inf if high is None else high for _, high in bounds)
        is_integer.extend([members[0].is_integer()] * len(members) if members else [])
    row_blocks: dict[str, Block] = {}
    row_lower: list[float] = []
    row_upper: list[float] = []
    lengths: list[int] = []
    addends: list[Any] = []
    for constraint in model.component_objects(pyo.Constraint, descend_into=False):
        row_blocks[constraint.local_name] = Block(len(row_lower), tuple(constraint.keys()))
        for row in constraint.values():
            low, body, high = row.to_bounded_expression()
            row_lower.append(-np.inf if low is None else low)
            row_upper.append(np.inf if high is None else high)
            members = _addends_of(body)
            lengths.append(len(members))
            addends.extend(members)
    columns, values = _entries(addends, column_of)
    starts = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=starts[1:])
    return CompiledModel(
        column_blocks=column_blocks,
        row_blocks=row_blocks,
        cost=_objective(model, column_of, len(lower)),
        column_lower=np.array(lower, np.float64),
        column_upper=np.array(upper, np.float64),
        is_integer=np.array(is_integer, np.bool_),
        row_lower=np.array(row_lower, np.float64),
        row_upper=np.array(row_upper, np.float64),
        starts=starts,
        columns=columns,
        values=values,
    )


def _addends_of(expression: Any) -> list[Any]:
    if expression.__class__ is not LinearExpression:
        msg = f"not a linear row: {expression}"
        raise TypeError(msg)
    addends: list[Any] = expression.args
    return addends


def _entries(addends: list[Any], column_of: dict[int, int]) -> tuple[IntArray, FloatArray]:
    """Return the column and the coefficient of each addend of linear expressions."""
    pairs = [
        item.args if item.__class__ is MonomialTermExpression else (1.0, item) for item in addends
    ]
    columns = np.fromiter([column_of[id(member)] for _, member in pairs], np.int32, len(pairs))
    return columns, np.fromiter([value for value, _ in pairs], np.float64, len(pairs))


def _objective(model: pyo.ConcreteModel, column_of: dict[int, int], size: int) -> FloatArray:
    cost = np.zeros(size)
    for objective in model.component_objects(pyo.Objective, descend_into=False):
        columns, values = _entries(_addends_of(objective.expr), column_of)
        np.add.at(cost, columns, values)
    return cost
