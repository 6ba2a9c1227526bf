"""Rows from arrays: the one way in which linear expressions reach the Pyomo model.

A family of rows is a sum of terms; each term says, as arrays, which variables enter which rows with
which coefficients. The rows stay arrays: the expression of a Pyomo constraint is made when Pyomo
asks for it, so that a large program is neither built nor handed over entry by entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any
from weakref import ref

import numpy as np
import pyomo.environ as pyo
from numpy.typing import ArrayLike
from pyomo.core.base.constraint import ConstraintData, IndexedConstraint
from pyomo.core.base.expression import NamedExpressionData
from pyomo.core.expr.numeric_expr import LinearExpression, MonomialTermExpression
from pyomo.core.expr.relational_expr import (
    EqualityExpression,
    InequalityExpression,
    RangedExpression,
)

from gpuladder_models.data import FloatArray, IntArray, Sparse


@dataclass(frozen=True, slots=True)
class Term:
    """``coefficient × variable[column]`` added to ``row``; three arrays of one length."""

    variable: pyo.Var
    row: IntArray
    column: IntArray
    coefficient: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class RowBlock:
    """Linear expressions as arrays, grouped by row.

    Entry *e* is ``coefficient[e] × variables[family[e]][column[e]]``; row *r* is the sum of the
    entries from ``starts[r]`` up to ``starts[r + 1]``.
    """

    variables: tuple[pyo.Var, ...]
    starts: IntArray
    family: IntArray
    column: IntArray
    coefficient: FloatArray

    def expression(self, row: int) -> LinearExpression:
        """Return a row as Pyomo writes it."""
        part = slice(int(self.starts[row]), int(self.starts[row + 1]))
        entries = zip(
            self.coefficient[part].tolist(),
            self.family[part].tolist(),
            self.column[part].tolist(),
            strict=True,
        )
        return LinearExpression(
            [
                MonomialTermExpression((value, self.variables[family][column]))
                for value, family, column in entries
            ]
        )


class Row(ConstraintData):  # type: ignore[misc]  # Pyomo has no types
    """A constraint ``low ≤ row of a block ≤ high``.

    Its expression is made when it is first asked for. When it is given another one, as any Pyomo
    constraint can be, it no longer belongs to a block.
    """

    __slots__ = ("_made", "block", "high", "low", "row")

    def __init__(self, expr: Any = None, component: Any = None) -> None:
        # The fields of Pyomo's constructors are set in line, as Pyomo itself does for speed.
        self._component = None if component is None else ref(component)  # type: ignore[misc]
        self._active = True  # type: ignore[misc]
        self._made: Any = None
        self.block: RowBlock | None = None
        if expr is not None:
            self.set_value(expr)

    def set_value(self, expr: Any) -> None:
        """Take ``(block, row, low, high)``, or whatever else a Pyomo constraint takes."""
        if expr.__class__ is tuple and expr[0].__class__ is RowBlock:
            self.block, self.row, self.low, self.high = expr
        else:
            self.block = None
            super().set_value(expr)

    @property
    def _expr(self) -> Any:
        if self._made is None and self.block is not None:
            body = self.block.expression(self.row)
            self._made = _relation(body, self.low, self.high)
        return self._made

    @_expr.setter
    def _expr(self, value: Any) -> None:
        self._made = value


class RowConstraint(IndexedConstraint):  # type: ignore[misc]  # Pyomo has no types
    """A Pyomo constraint whose members are rows of a block."""

    _ComponentDataClass = Row


class Sum(NamedExpressionData):  # type: ignore[misc]  # Pyomo has no types
    """A row of a block as a Pyomo expression, made when it is first asked for."""

    __slots__ = ("_made", "block", "row")

    def __init__(self, block: RowBlock, row: int) -> None:
        self.block = block
        self.row = row
        self._made: tuple[LinearExpression] | None = None

    def __str__(self) -> str:
        return str(self.expr)

    @property
    def _args_(self) -> tuple[LinearExpression]:
        if self._made is None:
            self._made = (self.block.expression(self.row),)
        return self._made


def _relation(body: LinearExpression, low: float, high: float) -> Any:
    if low == high:
        return EqualityExpression((body, low))
    if low == -inf:
        return InequalityExpression((body, high), strict=False)
    if high == inf:
        return InequalityExpression((low, body), strict=False)
    return RangedExpression((low, body, high), strict=False)


def term(
    variable: pyo.Var, row: ArrayLike, column: ArrayLike, coefficient: ArrayLike = 1.0
) -> Term:
    """Return a term; a scalar coefficient holds for all its entries."""
    rows = np.asarray(row, np.int64)
    values = np.broadcast_to(np.asarray(coefficient, np.float64), rows.shape)
    return Term(variable, rows, np.asarray(column, np.int64), values)


def matrix_term(variable: pyo.Var, matrix: Sparse, sign: float = 1.0) -> Term:
    """Return the term ``sign × matrix @ variable``."""
    return Term(variable, matrix.row, matrix.column, sign * matrix.value)


def add_variable(
    model: pyo.ConcreteModel,
    name: str,
    size: int,
    *,
    upper: FloatArray | float = np.inf,
    domain: object = pyo.NonNegativeReals,
) -> pyo.Var:
    """Add ``size`` non-negative variables under ``name`` and return them."""
    variable = pyo.Var(range(size), domain=domain)
    model.add_component(name, variable)
    tops = np.broadcast_to(np.asarray(upper, np.float64), (size,))
    bounded = np.flatnonzero(np.isfinite(tops))
    for index, top in zip(bounded.tolist(), tops[bounded].tolist(), strict=True):
        variable[index].setub(top)
    return variable


def add_rows(
    model: pyo.ConcreteModel,
    name: str,
    size: int,
    terms: Sequence[Term],
    *,
    lower: ArrayLike = -np.inf,
    upper: ArrayLike = np.inf,
) -> None:
    """Add the rows ``lower ≤ Σ terms ≤ upper`` under ``name``.

    A row without any entry is left out when zero satisfies it; otherwise it stands as it is, and
    the solver will find the program infeasible.

    Parameters
    ----------
    size : int
        Number of rows; rows are indexed 0 … size − 1 as in the terms.
    lower, upper : float64, scalar or shape (size,)
        Right-hand sides; infinite where there is none.
    """
    low = np.broadcast_to(np.asarray(lower, np.float64), (size,))
    high = np.broadcast_to(np.asarray(upper, np.float64), (size,))
    block = _grouped(terms, size)
    empty = np.diff(block.starts) == 0
    keep = np.flatnonzero(
        ~(empty & (low <= 0) & (high >= 0)) & (np.isfinite(low) | np.isfinite(high))
    )
    lows, highs = low.tolist(), high.tolist()

    def rule(_: pyo.ConcreteModel, index: int) -> tuple[RowBlock, int, float, float]:
        return block, index, lows[index], highs[index]

    model.add_component(name, RowConstraint(keep.tolist(), rule=rule))


def linear_expression(terms: Sequence[Term]) -> Sum:
    """Return the sum of terms that all stand in row 0."""
    return Sum(_grouped(terms, 1), 0)


def _grouped(terms: Sequence[Term], size: int) -> RowBlock:
    if not terms:
        none = np.zeros(0, np.int64)
        return RowBlock((), np.zeros(size + 1, np.int64), none, none, np.zeros(0))
    rows = np.concatenate([item.row for item in terms])
    order = np.argsort(rows, kind="stable")
    starts = np.zeros(size + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=size), out=starts[1:])
    return RowBlock(
        variables=tuple(item.variable for item in terms),
        starts=starts,
        family=np.repeat(np.arange(len(terms)), [len(item.row) for item in terms])[order],
        column=np.concatenate([item.column for item in terms])[order],
        coefficient=np.concatenate([item.coefficient for item in terms])[order],
    )
