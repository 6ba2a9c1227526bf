"""Rows from arrays: the one way in which constraints reach the Pyomo model.

A family of rows is a sum of terms; each term says, as arrays, which variables enter which rows with
which coefficients. Building a ``LinearExpression`` from a list of its addends is several times
faster than an algebraic rule, and nothing is scanned that is not there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyomo.environ as pyo
from pyomo.core.expr.numeric_expr import LinearExpression, MonomialTermExpression

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from gpuladder_models.data import FloatArray, IntArray, Sparse


@dataclass(frozen=True, slots=True)
class Term:
    """``coefficient × variable[column]`` added to ``row``; three arrays of one length."""

    variable: pyo.Var
    row: IntArray
    column: IntArray
    coefficient: FloatArray


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
    starts, addends = _grouped(terms, size)
    empty = starts[:-1] == starts[1:]
    keep = np.flatnonzero(
        ~(empty & (low <= 0) & (high >= 0)) & (np.isfinite(low) | np.isfinite(high))
    )
    lows, highs, begins = low.tolist(), high.tolist(), starts.tolist()

    def rule(
        _: pyo.ConcreteModel, index: int
    ) -> tuple[float | None, LinearExpression, float | None]:
        body = LinearExpression(addends[begins[index] : begins[index + 1]])
        if lows[index] == highs[index]:
            return (lows[index], body, lows[index])
        return (
            lows[index] if lows[index] > -np.inf else None,
            body,
            highs[index] if highs[index] < np.inf else None,
        )

    model.add_component(name, pyo.Constraint(keep.tolist(), rule=rule))


def _grouped(terms: Sequence[Term], size: int) -> tuple[IntArray, list[object]]:
    """Return row starts, and the addends of all terms grouped by row.

    An addend is a variable, or a variable with a coefficient other than 1.
    """
    present = [item for item in terms if len(item.row)]
    if not present:
        return np.zeros(size + 1, np.int64), []
    rows = np.concatenate([item.row for item in present])
    order = np.argsort(rows, kind="stable")
    coefficients = np.concatenate([item.coefficient for item in present])[order]
    addends = np.concatenate([_members(item.variable)[item.column] for item in present])[order]
    scaled = np.flatnonzero(coefficients != 1.0)
    pairs = zip(coefficients[scaled].tolist(), addends[scaled].tolist(), strict=True)
    addends[scaled] = np.fromiter(map(MonomialTermExpression, pairs), np.object_, len(scaled))
    starts = np.zeros(size + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=size), out=starts[1:])
    return starts, addends.tolist()


def _members(variable: pyo.Var) -> NDArray[np.object_]:
    return np.fromiter(variable.values(), np.object_, len(variable))
