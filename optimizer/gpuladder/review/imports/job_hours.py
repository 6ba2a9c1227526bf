"""GPUs in use, hour by hour: exact overlaps of jobs with hours, in memory of teams × hours.

In differences from hour to hour a job of *g* GPUs is four numbers: with *a* seconds gone of its
first hour *h*, its start adds ``(3600 - a) g`` at *h* and ``a g`` at *h* + 1, and its end takes the
same away where it ends. Whole seconds and whole GPUs add up without any rounding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpuladder.errors import Problem, UsageError

if TYPE_CHECKING:
    from gpuladder.review.imports.rows import IntArray
    from gpuladder.timegrid import FloatArray

HOUR = 3600.0
MOST_CELLS = 50_000_000
"""Teams × hours: 400 MB."""
_NOTHING = 1e-6
"""GPU-seconds below which an hour is empty: what rounding leaves of parts of GPUs."""


class HourGrid:
    """GPU-seconds of each team in each hour.

    Parameters
    ----------
    first, last : float
        Seconds since 1970 that all jobs lie between.
    teams : int
        Number of teams.

    """

    def __init__(self, first: float, last: float, teams: int) -> None:
        self.first_hour = int(np.floor(first / HOUR))
        self.hours = int(np.ceil(last / HOUR)) - self.first_hour
        self._changes = np.zeros((teams, self.hours + 2))

    def add(self, team: IntArray, start: FloatArray, end: FloatArray, gpus: FloatArray) -> None:
        """Add jobs; all arrays of shape (N,)."""
        self._change(team, start, gpus)
        self._change(team, end, -gpus)

    def _change(self, team: IntArray, moment: FloatArray, gpus: FloatArray) -> None:
        hour = np.floor(moment / HOUR)
        gone = moment - hour * HOUR
        column = hour.astype(np.int64) - self.first_hour
        np.add.at(self._changes, (team, column), (HOUR - gone) * gpus)
        np.add.at(self._changes, (team, column + 1), gone * gpus)

    def gpus(self) -> FloatArray:
        """Return the mean GPUs in use, shape (teams, hours)."""
        held = np.cumsum(self._changes, axis=1)[:, : self.hours]
        held[np.abs(held) < _NOTHING] = 0.0
        return np.asarray(held / HOUR, dtype=np.float64)


def refuse_too_large(first: float, last: float, teams: int) -> None:
    """Refuse a history of so many years or teams that its hours do not fit into memory.

    Raises
    ------
    UsageError
    """
    hours = (last - first) / HOUR
    if teams * hours > MOST_CELLS:
        raise UsageError(
            Problem(
                code="GL-I011",
                what=f"{teams:,} teams over {hours / 8766:,.1f} years do not fit into memory "
                "hour by hour",
                why="a history so long often comes from one wrong date",
                fix="take a part of it with --from and --until, or name a column of fewer teams "
                "with --column team=COLUMN",
            )
        )
