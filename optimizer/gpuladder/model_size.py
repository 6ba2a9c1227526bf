"""How large a program is, and how far apart its numbers lie, family by family."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from gpuladder.compiled import CompiledModel, FloatArray


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


def measure(compiled: CompiledModel) -> ModelSize:
    """Return the size of a compiled program, families without members left out."""
    row_of = np.repeat(np.arange(compiled.num_rows), np.diff(compiled.starts))
    return ModelSize(
        variables=tuple(
            Family(
                name=name,
                count=len(block.keys),
                integers=int(compiled.is_integer[block.slice].sum()),
                **_range(compiled.cost[block.slice]),
            )
            for name, block in compiled.column_blocks.items()
            if block.keys
        ),
        rows=tuple(
            _row_family(name, compiled.values[_within(row_of, block.slice)], len(block.keys))
            for name, block in compiled.row_blocks.items()
            if block.keys
        ),
    )


def _row_family(name: str, coefficients: FloatArray, count: int) -> Family:
    non_zeros = int(np.count_nonzero(coefficients))
    return Family(name=name, count=count, non_zeros=non_zeros, **_range(coefficients))


def _within(rows: NDArray[np.intp], block: slice) -> slice:
    """Return where the entries of a block of rows stand; entries are ordered by row."""
    begin, end = np.searchsorted(rows, [block.start, block.stop])
    return slice(int(begin), int(end))


class _Range(TypedDict):
    smallest: float | None
    largest: float | None


def _range(values: FloatArray) -> _Range:
    sizes = np.abs(values[values != 0.0])
    if not len(sizes):
        return {"smallest": None, "largest": None}
    return {"smallest": float(sizes.min()), "largest": float(sizes.max())}
