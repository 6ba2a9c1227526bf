"""Quantities of a row as mean GPUs: each is converted once, by its own unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpuladder.errors import Problem, UsageError
from gpuladder.review.imports.usage import units
from gpuladder.review.imports.usage.grid import HOUR
from gpuladder.review.usage_history import QUANTITIES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpuladder.review.imports.rows import BoolArray, Rows, Table
    from gpuladder.review.imports.usage.units import Unit
    from gpuladder.timegrid import FloatArray

_ROUNDING = 1e-9


class Quantities:
    """The quantities that a file has, and the unit of each.

    Attributes
    ----------
    names : list of str
        Of ``QUANTITIES``, those with a column.
    units : dict of str to Unit or None
        None where each row names its own.

    Raises
    ------
    UsageError
        When there is no quantity, or the unit of one is not stated.
    """

    def __init__(self, table: Table, stated: Mapping[str, Unit]) -> None:
        self.names = [name for name in QUANTITIES if table.has(name)]
        self._table = table
        if not self.names:
            raise _none(table)
        self.units = {
            name: units.unit_of(name, table.column_of(name), stated) for name in self.names
        }
        unknown = [name for name, unit in self.units.items() if unit is None]
        if unknown and not table.has("unit"):
            raise units.not_stated(table.where, [(n, table.column_of(n)) for n in unknown])
        for name, unit in self.units.items():
            if unit is not None and unit.base is not None:
                self._check_base(name, unit)

    def read(self, rows: Rows, step_seconds: int) -> dict[str, FloatArray]:
        """Return each quantity as mean GPUs over the row's step; NaN where the row has none.

        Rows with a negative or unreadable number, with a unit that is not known, with a share above
        one or of something that the row does not give, and rows without any quantity are dropped.
        """
        raw: dict[str, FloatArray] = {}
        for name in self.names:
            raw[name] = rows.figures(name, may_be_empty=True)
            rows.drop(raw[name] < 0, f"`{self._table.column_of(name)}` is negative", name)
        kinds = self._kinds(rows)
        whole = {name: self._whole(raw[name], kinds[name], step_seconds) for name in self.names}
        found = {name: self._share(rows, name, raw, whole, kinds[name]) for name in self.names}
        empty = np.logical_and.reduce([np.isnan(values) for values in found.values()])
        rows.drop(empty, "none of the quantities is given", "time")
        return found

    def lines(self) -> list[str]:
        """Say which column each quantity is, and in which unit."""
        return [
            f"`{name}` is `{self._table.column_of(name)}`, in "
            + (unit.value if unit else f"the unit that `{self._table.column_of('unit')}` names")
            for name, unit in self.units.items()
        ]

    def _kinds(self, rows: Rows) -> dict[str, dict[Unit, BoolArray]]:
        """Return, for each quantity, which rows have it in which unit."""
        every = np.ones(len(rows), dtype=np.bool_)
        own: dict[Unit, BoolArray] = {}
        if self._table.has("unit"):
            texts = rows.texts("unit")
            for text in dict.fromkeys(texts):
                where = np.fromiter((each == text for each in texts), dtype=np.bool_)
                unit = units.read_unit(text)
                if unit is None:
                    if None in self.units.values():
                        rows.drop(where, "a unit that is not known (see --unit)", "unit")
                else:
                    own[unit] = own.get(unit, ~every) | where
        return {name: own if unit is None else {unit: every} for name, unit in self.units.items()}

    def _whole(
        self, raw: FloatArray, kinds: Mapping[Unit, BoolArray], step_seconds: int
    ) -> FloatArray:
        """Return GPUs where the unit is GPUs or GPU-hours."""
        hours = step_seconds / HOUR
        found = np.full(len(raw), np.nan)
        for unit, where in kinds.items():
            if unit.base is None:
                found[where] = raw[where] / (hours if unit is units.Unit.GPU_HOURS else 1.0)
        return found

    def _share(
        self,
        rows: Rows,
        name: str,
        raw: Mapping[str, FloatArray],
        whole: Mapping[str, FloatArray],
        kinds: Mapping[Unit, BoolArray],
    ) -> FloatArray:
        """Return a quantity with its shares turned into GPUs of their base."""
        found = whole[name].copy()
        for unit, where in kinds.items():
            if unit.base is None:
                continue
            limit = 1.0 / unit.factor
            above = where & (raw[name] > limit * (1 + _ROUNDING))
            rows.drop(above, f"more than {limit:g} in {unit.value}", name)
            base = whole.get(unit.base)
            given = where & ~np.isnan(raw[name])
            lost = given if base is None or unit.base == name else given & np.isnan(base)
            rows.drop(lost, f"a share of `{unit.base}`, which the row does not give in GPUs", name)
            if base is not None:
                found[where] = raw[name][where] * unit.factor * base[where]
        return found

    def _check_base(self, name: str, unit: Unit) -> None:
        base = unit.base
        if base in self.names and (
            self.units[base] is None or self.units[base] in (units.Unit.GPUS, units.Unit.GPU_HOURS)
        ):
            return
        raise UsageError(
            Problem(
                code="GL-I042",
                where=f"{self._table.where} {self._table.column_of(name)}",
                what=f"`{name}` is in {unit.value}, and `{base}` is not there in GPUs or GPU-hours",
                why="a share of a number that is not known is no number of GPUs",
                fix=f"name its column: --column {base}=COLUMN, and its unit",
            )
        )


def _none(table: Table) -> UsageError:
    wanted = ", ".join(f"`{name}_gpus`" for name in QUANTITIES)
    return UsageError(
        Problem(
            code="GL-I003",
            where=table.where,
            what=f"no column of GPUs: none of {wanted}",
            why=f"columns of the file: {', '.join(filter(None, table.header)) or 'none'}",
            fix="name them: --column allocated=COLUMN, --column busy=COLUMN; a bill is read with "
            "--format focus",
        )
    )
