"""The hand-over: a Pyomo model as the flat arrays a solver takes, in one pass.

Pyomo's own interfaces spend most of their time asking for names, building symbol maps and walking
expression trees. Every row of this program knows its entries as arrays; they are taken as they
stand, constraint by constraint, and positions are kept by component name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray

from gpuladder_models.collector import collector_off
from gpuladder_models.rows import Row, Sum

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
_KNOWN = (Row, Sum)


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

    Raises
    ------
    TypeError
        When a row or the objective does not come from ``gpuladder_models.rows``.
    """
    with collector_off():
        return _compile(model)


def _compile(model: pyo.ConcreteModel) -> CompiledModel:
    column_blocks: dict[str, Block] = {}
    lower: list[float] = []
    upper: list[float] = []
    is_integer: list[bool] = []
    for variable in model.component_objects(pyo.Var, descend_into=False):
        members = list(variable.values())
        column_blocks[variable.local_name] = Block(len(lower), tuple(variable.keys()))
        bounds = [member.bounds for member in members]
        lower.extend(-np.inf if low is None else low for low, _ in bounds)
        upper.extend(np.inf if high is None else high for _, high in bounds)
        is_integer.extend([members[0].is_integer()] * len(members) if members else [])
    row_blocks: dict[str, Block] = {}
    row_lower: list[float] = []
    row_upper: list[float] = []
    parts: list[tuple[IntArray, IntArray, FloatArray]] = []
    for constraint in model.component_objects(pyo.Constraint, descend_into=False):
        rows = list(constraint.values())
        row_blocks[constraint.local_name] = Block(len(row_lower), tuple(constraint.keys()))
        if rows:
            parts.append(_entries(rows, column_blocks))
            row_lower += [row.low for row in rows]
            row_upper += [row.high for row in rows]
    lengths, columns, values = (
        (np.concatenate(side) for side in zip(*parts, strict=True)) if parts else [np.zeros(0)] * 3
    )
    starts = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=starts[1:])
    return CompiledModel(
        column_blocks=column_blocks,
        row_blocks=row_blocks,
        cost=_objective(model, column_blocks, len(lower)),
        column_lower=np.array(lower, np.float64),
        column_upper=np.array(upper, np.float64),
        is_integer=np.array(is_integer, np.bool_),
        row_lower=np.array(row_lower, np.float64),
        row_upper=np.array(row_upper, np.float64),
        starts=starts,
        columns=columns.astype(np.int32),
        values=values.astype(np.float64),
    )


def _entries(
    members: Sequence[Any], column_blocks: dict[str, Block]
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the number of entries of each row of one block, and their columns and coefficients."""
    block: Any = getattr(members[0], "block", None)
    for member in members:
        if block is None or member.__class__ not in _KNOWN or member.block is not block:
            msg = f"not a row of this program: {member}"
            raise TypeError(msg)
    rows = np.array([member.row for member in members])
    lengths = np.diff(block.starts)[rows]
    skipped = block.starts[rows] - np.concatenate(([0], np.cumsum(lengths)[:-1]))
    entries = np.arange(lengths.sum()) + np.repeat(skipped, lengths)
    begins = np.array([column_blocks[item.local_name].begin for item in block.variables], np.int64)
    columns = begins[block.family[entries]] + block.column[entries]
    return lengths, columns, block.coefficient[entries]


def _objective(model: pyo.ConcreteModel, column_blocks: dict[str, Block], size: int) -> FloatArray:
    cost = np.zeros(size)
    for objective in model.component_objects(pyo.Objective, descend_into=False):
        _, columns, values = _entries([objective.expr], column_blocks)
        np.add.at(cost, columns, values)
    return cost
