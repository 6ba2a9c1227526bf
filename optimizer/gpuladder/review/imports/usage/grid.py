"""Amounts added up by hour or day while a file is read: memory grows with time, not with rows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.errors import Problem, UsageError
from gpuladder.review.usage_history import TeamHistory, UsageHistory

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gpuladder.review.imports.rows import BoolArray, IntArray
    from gpuladder.review.usage_history import TeamKey
    from gpuladder.timegrid import FloatArray

HOUR, DAY = 3600, 86400
LONGEST_YEARS = 20
MOST_TEAMS = 10_000
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 (UTC, or as the file wrote it)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """The steps that amounts are added up by.

    Attributes
    ----------
    seconds : int
        Length of a step: an hour or a day.
    offset : int
        Seconds after a full one at which each step begins.
    slots : int
        Rows of one team in a step, where rows are shorter than it.
    """

    seconds: int = HOUR
    offset: int = 0
    slots: int = 1

    @property
    def hours(self) -> int:
        """Length of a step in hours."""
        return self.seconds // HOUR


class Track:
    """What rows add up to for one team, by quantity and step of a grid.

    Attributes
    ----------
    first : int
        Step since 1970 of the first column.
    sums : float64, shape (Q, T)
    counts : int32, shape (Q, T)
        Slots in which the quantity was given.
    """

    def __init__(self, quantities: int, slots: int = 1) -> None:
        self.first = 0
        self.sums = np.zeros((quantities, 0))
        self.counts = np.zeros((quantities, 0), dtype=np.int32)
        self._slots = slots
        self._given = np.zeros((quantities, 0), dtype=np.bool_)

    @property
    def length(self) -> int:
        """T, the steps from the first to the last one that has a row."""
        return self.sums.shape[1]

    def given(self, quantity: int, slots: IntArray) -> BoolArray:
        """Tell in which of some slots, counted since 1970, the quantity was given already."""
        at = slots - self.first * self._slots
        inside = (at >= 0) & (at < self._given.shape[1])
        found = np.zeros(len(slots), dtype=np.bool_)
        found[inside] = self._given[quantity, at[inside]]
        return found

    def value(self, quantity: int, slot: int) -> float:
        """Return what a slot of a whole step was given."""
        return float(self.sums[quantity, slot - self.first])

    def add(self, quantity: int, slots: IntArray, amounts: FloatArray) -> None:
        """Add amounts in slots counted since 1970; a slot given twice counts once."""
        if not len(slots):
            return
        steps = slots // self._slots
        self.reach(int(steps.min()), int(steps.max()))
        np.add.at(self.sums[quantity], steps - self.first, amounts)
        new = np.unique(slots)
        new = new[~self.given(quantity, new)]
        np.add.at(self.counts[quantity], new // self._slots - self.first, 1)
        self._given[quantity, new - self.first * self._slots] = True

    def reach(self, low: int, high: int) -> None:
        """Make room for the steps from ``low`` to ``high``.

        Raises
        ------
        UsageError
            When that is more time than any history has: a time was misread.
        """
        if not self.length:
            self.first = low
        before = max(self.first - low, 0)
        after = max(high + 1 - (self.first + self.length), 0)
        if not before and not after:
            return
        widths = ((0, 0), (before, after))
        self.sums, self.counts = np.pad(self.sums, widths), np.pad(self.counts, widths)
        self._given = np.pad(self._given, ((0, 0), (before * self._slots, after * self._slots)))
        self.first -= before


class Tracks:
    """The tracks of all teams of a file."""

    def __init__(self, names: Sequence[str], grid: Grid, where: str) -> None:
        self.names = tuple(names)
        self.grid = grid
        self.by_key: dict[TeamKey, Track] = {}
        self._where = where
        self._low: int | None = None
        self._high: int | None = None

    def of(self, key: TeamKey) -> Track:
        """Return a team's track, a new one for a new team.

        Raises
        ------
        UsageError
            When there are more teams than any company has: the column is another one.
        """
        track = self.by_key.get(key)
        if track is None:
            if len(self.by_key) == MOST_TEAMS:
                raise UsageError(
                    Problem(
                        code="GL-I045",
                        where=self._where,
                        what=f"more than {MOST_TEAMS:,} teams, such as {key[0]!r}",
                        why="a history by team cannot be told from one by job or machine otherwise",
                        fix="name the column of the team: --column team=COLUMN",
                    )
                )
            track = self.by_key[key] = Track(len(self.names), self.grid.slots)
        return track

    def check_span(self, low: int, high: int) -> None:
        """Refuse a history that is too long to be one.

        Parameters
        ----------
        low, high : int
            Steps since 1970 of the earliest and the latest of some rows.

        Raises
        ------
        UsageError
            When a time was misread.
        """
        self._low = low if self._low is None else min(low, self._low)
        self._high = high if self._high is None else max(high, self._high)
        if (self._high - self._low) * self.grid.seconds <= LONGEST_YEARS * 366 * DAY:
            return
        first, last = (
            _EPOCH + timedelta(seconds=step * self.grid.seconds) for step in (self._low, self._high)
        )
        raise UsageError(
            Problem(
                code="GL-I046",
                where=self._where,
                what=f"times from {first:%Y-%m-%d} to {last:%Y-%m-%d}: more than "
                f"{LONGEST_YEARS} years",
                why="one misread time would make a history of empty years",
                fix="look at the earliest and the latest times; state how they are written with "
                "--time-format",
            )
        )

    def history(self, *, zone: str, is_complete: bool) -> UsageHistory:
        """Return all tracks as one history.

        Parameters
        ----------
        zone : str
            Of the times.
        is_complete : bool
            True for a bill, whose amounts are GPU-hours and in which a step without a row is a step
            without use. False for measured GPUs, of which a step has the mean of its rows, and of
            which nothing is known without a row.
        """
        tracks = {key: track for key, track in self.by_key.items() if track.length}
        first = min(track.first for track in tracks.values())
        last = max(track.first + track.length for track in tracks.values())
        teams = []
        for key in sorted(tracks, key=lambda key: (key[1] or "", key[0])):
            track = tracks[key]
            track.reach(first, last - 1)
            quantities: Mapping[str, FloatArray] = {
                name: track.sums[index] / self.grid.hours
                if is_complete
                else _mean(track.sums[index], track.counts[index])
                for index, name in enumerate(self.names)
                if is_complete or track.counts[index].any()
            }
            teams.append(TeamHistory(team=key[0], pool=key[1], quantities=dict(quantities)))
        start = _EPOCH + timedelta(seconds=first * self.grid.seconds + self.grid.offset)
        return UsageHistory(
            start=start,
            step_hours=self.grid.hours,
            steps=last - first,
            teams=tuple(teams),
            zone=zone,
        )


def _mean(sums: FloatArray, counts: IntArray) -> FloatArray:
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def spread(begin: float, end: float) -> Iterator[tuple[int, float]]:
    """Yield the hours since 1970 that ``[begin, end)`` covers, in hours, and how much of each.

    >>> list(spread(0.5, 2.0))
    [(0, 0.5), (1, 1.0)]
    """
    hour = int(begin // 1)
    while hour < end:
        yield hour, min(end, hour + 1) - max(begin, hour)
        hour += 1
