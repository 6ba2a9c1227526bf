"""The steps of a series: how long a row stands for, and which step of the grid it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.errors import Problem, UsageError
from gpuladder.review.imports.usage.grid import DAY, HOUR, Grid

if TYPE_CHECKING:
    from gpuladder.review.imports.rows import BoolArray, IntArray
    from gpuladder.timegrid import FloatArray

_STEP = re.compile(r"\s*(\d+)?\s*(second|minute|hour|day)s?\s*")
_SECONDS = {"second": 1, "minute": 60, "hour": HOUR, "day": DAY}


@dataclass(frozen=True, slots=True)
class Steps:
    """How the rows of a series stand on a grid of hours or days.

    Attributes
    ----------
    seconds : int
        From one row of a team to the next.
    anchor : int
        Seconds since 1970 at which some row begins; all others begin whole steps from it.
    slack : int
        Seconds by which a row may begin earlier or later: days of a zone whose clock changes.
    """

    seconds: int
    anchor: int
    slack: int = 0

    @property
    def grid(self) -> Grid:
        """The grid that rows are added up on: hours, or days for rows of a day or more."""
        length = DAY if self.seconds >= DAY else HOUR
        unit = min(self.seconds, length)
        return Grid(seconds=length, offset=self.anchor % unit, slots=max(length // self.seconds, 1))

    @property
    def repeat(self) -> int:
        """Slots of the grid that a row stands for."""
        return max(self.seconds // self.grid.seconds, 1)

    def slots(self, utc: FloatArray) -> tuple[IntArray, BoolArray]:
        """Return the slot, since 1970, in which each row begins, and which rows begin in none.

        Parameters
        ----------
        utc : float64, shape (N,), seconds since 1970
            NaN where a row has no time; its slot is of no meaning.
        """
        unit = min(self.seconds, self.grid.seconds)
        away = (np.nan_to_num(utc, nan=float(self.anchor)) - self.anchor) / self.seconds
        number = np.rint(away)
        beside = np.abs(away - number) * self.seconds > self.slack + 1e-3
        slots = self.anchor // unit + number.astype(np.int64) * self.repeat
        return slots, beside


def read_step(text: str) -> int:
    """Return the seconds of a step such as ``hour``, ``day`` or ``5 minutes``.

    Raises
    ------
    UsageError
        When it is no step, or neither divides an hour nor is made of whole hours or days.
    """
    match = _STEP.fullmatch(text)
    seconds = int(match[1] or 1) * _SECONDS[match[2]] if match else 0
    if not _fits(seconds):
        raise UsageError(_bad_step("--step", f"not a step of a series: {text!r}"))
    return seconds


def inferred_step(utc: FloatArray, owner: IntArray, where: str) -> int:
    """Return the least distance between two rows of a team, when that is a step.

    Parameters
    ----------
    utc : float64, shape (N,), seconds
    owner : int64, shape (N,)
        Number of each row's team.
    where : str
        Place, for messages.

    Raises
    ------
    UsageError
        When no team has two rows, or the distance is no step.
    """
    gaps = []
    for number in np.unique(owner):
        times = np.unique(utc[(owner == number) & ~np.isnan(utc)])
        if len(times) > 1:
            gaps.append(float(np.diff(times).min()))
    if not gaps:
        raise UsageError(
            _bad_step(where, "the length of a step cannot be told: no team has two rows")
        )
    least = min(gaps)
    if (least + HOUR) % DAY == 0:  # a zone's day, or week, in which its clock went forward
        least += HOUR
    if least % 1 or not _fits(int(least)):
        raise UsageError(
            _bad_step(where, f"rows of a team are {least:g} seconds apart, which is no step")
        )
    return int(least)


def _fits(seconds: int) -> bool:
    """Whether steps divide an hour, or are made of whole hours within a day, or of whole days."""
    if seconds <= 0:
        return False
    if seconds >= DAY:
        return seconds % DAY == 0
    return HOUR % seconds == 0 or (seconds % HOUR == 0 and DAY % seconds == 0)


def _bad_step(where: str, what: str) -> Problem:
    return Problem(
        code="GL-I043",
        where=where,
        what=what,
        why="a row counts for as long as its step is: GPU-hours and money hang on it",
        fix='state it: --step hour, --step day, or a part of an hour such as --step "5 minutes"',
    )
