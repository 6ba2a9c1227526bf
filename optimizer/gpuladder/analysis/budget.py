"""How long the answers beside the plan may take, and how exactly they are solved."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What one question, or all of them together, may spend."""

    stop_at: float
    """Reading of ``time.time()``: nothing is begun after it."""
    workers: int | None
    """Processes; one per core when None. Answers do not depend on it."""
    seconds_each: float
    """Most seconds of solving for each program."""
    relative_gap: float
    """Gap asked for in each."""

    @property
    def seconds_left(self) -> float:
        """Seconds until the budget is spent; never negative."""
        return max(self.stop_at - time.time(), 0.0)

    def share(self, part: float) -> Budget:
        """Return a budget that ends after ``part`` (0 to 1) of the time that is left."""
        return replace(self, stop_at=time.time() + part * self.seconds_left)
