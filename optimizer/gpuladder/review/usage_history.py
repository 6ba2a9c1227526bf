"""What teams held and used, step by step: the one form in which a usage history is read.

Allocated and busy are two quantities: a GPU is allocated while a job holds it, and busy while it
computes. Neither is ever made from the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from gpuladder.timegrid import FloatArray

BoolArray = NDArray[np.bool_]
TeamKey = tuple[str, str | None]

QUANTITIES = {
    "capacity": "GPUs reserved to the team",
    "allocated": "GPUs that its jobs hold, metered ones included",
    "metered": "of the allocated ones: bought by the hour, not out of the reservation",
    "busy": "GPUs at work",
    "pending": "GPUs that waiting jobs ask for",
    "dormant": "of the allocated ones: held by jobs that have finished or sleep",
}
"""What a history can know of a team in each step, as mean GPUs over the step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamHistory:
    """One team's history; a step of which nothing is known is NaN, never zero.

    Attributes
    ----------
    team : str
    pool : str or None
        Where its GPUs are; None when the history does not say.
    quantities : dict of str to array, shape (T,)
        Mean GPUs in each step, of those of ``QUANTITIES`` that the history has.
    """

    team: str
    pool: str | None
    quantities: dict[str, FloatArray]

    @property
    def key(self) -> TeamKey:
        """Team and pool: a team may have a reservation in each of several pools."""
        return self.team, self.pool

    def given(self, name: str) -> FloatArray | None:
        """Return a quantity, or None when the history has no value of it."""
        values = self.quantities.get(name)
        return None if values is None or bool(np.isnan(values).all()) else values

    @property
    def known(self) -> BoolArray:
        """Whether every given quantity is known in a step, shape (T,)."""
        steps = len(next(iter(self.quantities.values())))
        given = [values for name in QUANTITIES if (values := self.given(name)) is not None]
        if not given:
            return np.zeros(steps, dtype=np.bool_)
        return np.asarray(~np.isnan(np.array(given)).any(axis=0), dtype=np.bool_)


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageHistory:
    """All teams on one grid of equal steps.

    Attributes
    ----------
    start : datetime
        Begin of the first step, without a zone.
    step_hours : int
        1 or 24.
    steps : int
        T.
    teams : tuple of TeamHistory
        By pool and name.
    zone : str
        The zone of the times: ``UTC`` or ``as written``.
    """

    start: datetime
    step_hours: int
    steps: int
    teams: tuple[TeamHistory, ...]
    zone: str = "as written"

    @property
    def end(self) -> datetime:
        """End of the last step."""
        return self.at(self.steps)

    def at(self, step: int) -> datetime:
        """Return the begin of a step."""
        return self.start + timedelta(hours=self.step_hours * step)
