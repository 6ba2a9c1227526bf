"""A program with some of its rows made elastic: slack columns that say by how much a row gives way.

HiGHS explains the conflict of a linear program only; an infeasibility of whole lots and runs needs
this elastic program (J. W. Chinneck, Feasibility and Infeasibility in Optimization, 2008, ch. 6).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from gpuladder.compiled import CompiledModel, FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Slack:
    """One slack column: what it adds to which rows, at most how much, at what price."""

    rows: IntArray
    """Positions of the rows it enters."""
    coefficients: FloatArray
    """What one unit of it adds to each of these rows' bodies, same shape as ``rows``."""
    cost: float
    upper: float = np.inf
    is_integer: bool = False


def relax(compiled: CompiledModel, slacks: list[Slack]) -> CompiledModel:
    """Return the program with the slacks as its last columns and no other cost than theirs.

    Minimising it gives the least violation, weighted by the slacks' costs, in place of a plan.
    """
    rows = np.repeat(np.arange(compiled.num_rows), np.diff(compiled.starts))
    own = [np.full(len(slack.rows), compiled.num_columns + k) for k, slack in enumerate(slacks)]
    all_rows = np.concatenate([rows, *(slack.rows for slack in slacks)])
    columns = np.concatenate([compiled.columns, *own])
    values = np.concatenate([compiled.values, *(slack.coefficients for slack in slacks)])
    order = np.argsort(all_rows, kind="stable")
    starts = np.zeros(compiled.num_rows + 1, np.int32)
    np.cumsum(np.bincount(all_rows, minlength=compiled.num_rows), out=starts[1:])
    count = len(slacks)
    return replace(
        compiled,
        cost=np.concatenate([np.zeros(compiled.num_columns), [slack.cost for slack in slacks]]),
        column_lower=np.concatenate([compiled.column_lower, np.zeros(count)]),
        column_upper=np.concatenate([compiled.column_upper, [slack.upper for slack in slacks]]),
        is_integer=np.concatenate(
            [compiled.is_integer, np.array([slack.is_integer for slack in slacks], np.bool_)]
        ),
        starts=starts,
        columns=columns[order].astype(np.int32),
        values=values[order].astype(np.float64),
    )
