"""Listening to the solver while it runs: progress, its log, and a request to stop."""

from __future__ import annotations

import math
import signal
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType


_PYTHONS_OWN = signal.default_int_handler


@dataclass(frozen=True, slots=True)
class Progress:
    """What is known while the solver runs; None where nothing is known yet."""

    seconds: float
    incumbent: float | None
    bound: float | None
    gap: float | None


def relative_gap(objective: float, bound: float) -> float:
    """Return (objective − bound) ÷ |objective|; zero when they agree to rounding."""
    distance = max(objective - bound, 0.0)
    if distance <= 1e-9 * max(1.0, abs(objective)):
        return 0.0
    return distance / abs(objective) if objective else float("inf")


class Watch:
    """Listens to HiGHS while it runs: progress, the log, and a request to stop (Ctrl-C)."""

    def __init__(
        self,
        highs: Any,
        on_progress: Callable[[Progress], None] | None,
        log: list[str],
    ) -> None:
        self._highs, self._on_progress, self._log = highs, on_progress, log
        self._stop = False
        self._previous: Any = None

    def __enter__(self) -> Watch:
        highs = self._highs
        highs.cbLogging += self._note
        highs.cbMipInterrupt += self._check
        highs.cbSimplexInterrupt += self._check
        highs.cbIpmInterrupt += self._check
        if self._on_progress is not None:
            highs.cbMipLogging += self._report
            highs.cbMipImprovingSolution += self._report
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)
        self._highs.clearCallbacks()
        if self._stop and callable(self._previous) and self._previous is not _PYTHONS_OWN:
            # Whoever listened before may have more to stop than this one search.
            self._previous(signal.SIGINT, None)

    def _interrupt(self, _signal: int, _frame: FrameType | None) -> None:
        self._stop = True

    def _check(self, event: Any) -> None:
        if self._stop:
            event.interrupt()

    def _note(self, event: Any) -> None:
        self._log.append(event.message)

    def _report(self, event: Any) -> None:
        out = event.data_out
        incumbent, bound = finite(out.mip_primal_bound), finite(out.mip_dual_bound)
        gap = None if incumbent is None or bound is None else relative_gap(incumbent, bound)
        if self._on_progress is not None:
            self._on_progress(Progress(float(out.running_time), incumbent, bound, gap))


def finite(value: float) -> float | None:
    """Return a value, or None for HiGHS's ways of saying that it is not known."""
    return float(value) if math.isfinite(value) else None
