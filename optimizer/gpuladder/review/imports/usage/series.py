"""Measured series of GPUs: reserved, allocated, busy, waiting, by team and hour or day.

A row is the mean of its step, which begins at its time. A step without a row is a gap, of which
nothing is known; it is never taken for a zero.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from pydantic import TypeAdapter, ValidationError

from gpuladder.fields import Identifier
from gpuladder.review.imports import problems
from gpuladder.review.imports.columns import Field
from gpuladder.review.imports.rows import open_table
from gpuladder.review.imports.usage import repeats, units
from gpuladder.review.imports.usage.grid import DAY, HOUR, Tracks
from gpuladder.review.imports.usage.quantities import Quantities
from gpuladder.review.imports.usage.steps import Steps, inferred_step
from gpuladder.review.usage_history import QUANTITIES
from gpuladder.review.usage_result import ImportedUsage

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from gpuladder.review.imports.rows import IntArray, Rows, Table, TableOptions
    from gpuladder.review.imports.usage.units import Unit
    from gpuladder.review.usage_history import TeamKey
    from gpuladder.timegrid import FloatArray

ONE_TEAM = "all"

FIELDS = (
    Field(name="team", meaning="who holds the GPUs", required=False),
    Field(name="pool", meaning="where the GPUs are", required=False),
    Field(name="time", meaning="begin of the hour or day", also=("hour", "day", "timestamp", "at")),
    Field(name="unit", meaning="unit of the row's quantities", required=False),
    *(
        Field(
            name=name,
            meaning=meaning,
            also=tuple(f"{name}_{end}" for end in units.SUFFIXES),
            required=False,
        )
        for name, meaning in QUANTITIES.items()
    ),
)
_IDENTIFIER: TypeAdapter[str] = TypeAdapter(Identifier)


@dataclass(frozen=True, kw_only=True)
class SeriesOptions:
    """What the user says about a series.

    Attributes
    ----------
    table : TableOptions
        How the file is written.
    units : mapping of str to Unit
        By quantity; ``""`` for all others.
    step : int or None
        Seconds from one row of a team to the next; taken from the first rows when None.
    repeats : str
        One of ``repeats.REPEATS``.
    pool : str or None
        Pool of rows that name none.
    zone : str
        Of the times, once they are read.
    """

    table: TableOptions
    units: Mapping[str, Unit] = field(default_factory=dict)
    step: int | None = None
    repeats: str = repeats.REFUSE
    pool: str | None = None
    zone: str = "UTC"


def import_series(
    path: Path, options: SeriesOptions, *, layout: str, demand_of: str
) -> ImportedUsage:
    """Read a file of measured series.

    Parameters
    ----------
    path : pathlib.Path
        CSV or Parquet.
    options : SeriesOptions
    layout : str
        Name of the layout, for the report.
    demand_of : str
        One of ``usage_result.DEMANDS``.

    Raises
    ------
    UsageError
        When it cannot be read, a unit is not stated, the step cannot be told, or rows of one team
        and step differ.
    """
    with open_table(path, FIELDS, options.table) as table:
        reader = _Reader(table, options)
        for rows in table:
            reader.take(rows)
        counts = table.ledger.result(reader.kept)
    if reader.tracks is None or not reader.kept:
        raise problems.nothing_left(str(path), counts.text)
    return ImportedUsage(
        source=path.name,
        layout=layout,
        history=reader.tracks.history(zone=options.zone, is_complete=False),
        rows=counts,
        demand_of=demand_of,
        assumptions=tuple(reader.assumptions()),
    )


class _Reader:
    """Adds up the rows of one file."""

    def __init__(self, table: Table, options: SeriesOptions) -> None:
        self.tracks: Tracks | None = None
        self.kept = 0
        self._table = table
        self._options = options
        self._quantities = Quantities(table, options.units)
        self._steps = Steps(0, 0)
        self._names: dict[str, bool] = {}

    def take(self, rows: Rows) -> None:
        """Add up one chunk."""
        times = rows.times("time")
        keys, owner = self._teams(rows)
        if self.tracks is None:
            if not rows.alive.any():
                return
            self.tracks = self._begin(times.utc[rows.alive], owner[rows.alive])
        slots, beside = self._steps.slots(times.utc)
        length = self._steps.seconds / HOUR
        rows.drop(beside, f"not at the begin of a step of {length:g} h", "time")
        values = self._quantities.read(rows, self._steps.seconds)
        if not rows.alive.any():
            return
        steps = slots[rows.alive] // self.tracks.grid.slots
        self.tracks.check_span(int(steps.min()), int(steps.max()))
        table = np.array([values[name] for name in self._quantities.names])
        chunk = repeats.Chunk(keys, owner, slots, table)
        later, _ = self._steps.slots(times.later)
        chunk.slots = repeats.second_hours(self.tracks, chunk, later, rows.alive)
        repeats.settle(self.tracks, chunk, rows, self._table, self._options.repeats)
        self._add(self.tracks, chunk, np.flatnonzero(rows.alive))

    def assumptions(self) -> list[str]:
        """Say how the file was read."""
        how = "as the first rows are apart" if self._options.step is None else "as stated"
        seconds = self._steps.seconds
        lines = self._quantities.lines()
        lines.append(f"a row stands for {seconds / HOUR:g} h from its time on, {how}")
        if seconds > DAY or HOUR < seconds < DAY:
            lines.append("a row is taken as even over its hours: peaks within it are not seen")
        return lines

    def _teams(self, rows: Rows) -> tuple[list[TeamKey], IntArray]:
        """Return the teams of a chunk, and the number of each row's; nameless rows are dropped."""
        count = len(rows)
        teams = rows.texts("team") if self._table.has("team") else [ONE_TEAM] * count
        pools = rows.texts("pool") if self._table.has("pool") else [""] * count
        pools = [pool or self._options.pool or "" for pool in pools]
        if self._table.has("team"):
            rows.drop(np.array([not team for team in teams]), "no team", "team")
        for name, texts in (("team", teams), ("pool", pools)):
            if self._table.has(name):
                wrong = np.array([bool(text) and not self._is_name(text) for text in texts])
                rows.drop(wrong, "a name that a scenario cannot hold", name)
        numbers: dict[TeamKey, int] = {}
        owner = [
            numbers.setdefault((team, pool or None), len(numbers))
            for team, pool in zip(teams, pools, strict=True)
        ]
        return list(numbers), np.array(owner, dtype=np.int64)

    def _is_name(self, text: str) -> bool:
        if text not in self._names:
            try:
                _IDENTIFIER.validate_python(text)
            except ValidationError:
                self._names[text] = False
            else:
                self._names[text] = True
        return self._names[text]

    def _begin(self, utc: FloatArray, owner: IntArray) -> Tracks:
        """Settle the step and the grid by the first rows."""
        seconds = self._options.step or inferred_step(utc, owner, self._table.where)
        zone = self._options.table.clock.timezone
        slack = HOUR if seconds >= DAY and zone not in (None, "UTC") else 0
        self._steps = Steps(seconds, int(utc[0]), slack)
        return Tracks(self._quantities.names, self._steps.grid, self._table.where)

    def _add(self, tracks: Tracks, chunk: repeats.Chunk, alive: IntArray) -> None:
        self.kept += len(alive)
        repeat = np.arange(self._steps.repeat)
        for number in np.unique(chunk.owner[alive]):
            track = tracks.of(chunk.keys[number])
            mine = alive[chunk.owner[alive] == number]
            for quantity, values in enumerate(chunk.values):
                given = mine[~np.isnan(values[mine])]
                slots = (chunk.slots[given][:, None] + repeat).ravel()
                track.add(quantity, slots, np.repeat(values[given], len(repeat)))
