"""What is doubtful about a run once it has a size, a length and a place."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gpuladder.errors import Problem, Severity
from gpuladder.sizing.memory import holds
from gpuladder.sizing.sanity import counted

if TYPE_CHECKING:
    from gpuladder.sizing.derive import SizeChoice
    from gpuladder.sizing.machine import Machine
    from gpuladder.sizing.spec import Run

HOURS_PER_DAY = 24.0
_MINUTES_PER_HOUR = 60.0
_NOTABLE = 1.0 + 1e-9


def never_done(name: str, mean_hours: float, restart_minutes: float) -> Problem:
    """Return the error of a run that is interrupted faster than it can start again."""
    return Problem(
        code="GL-S912",
        what=f"`{name}` is interrupted every {mean_hours * _MINUTES_PER_HOUR:.3g} minutes and "
        f"needs {restart_minutes:g} to be running again",
        why="it would never be done",
        fix="use fewer nodes, more reliable ones, or shorter restarts",
    )


def too_slow(name: str, fastest: SizeChoice, limit_hours: float) -> Problem:
    """Return the warning that no size that still pays keeps the time limit."""
    days, limit = fastest.run_hours / HOURS_PER_DAY, limit_hours / HOURS_PER_DAY
    return _warning(
        "GL-S909",
        f"`{name}` takes {days:,.1f} days on {counted(fastest.gpus, 'GPU')}, the largest size at "
        f"which a further device still pays; its limit is {limit:,.1f} days",
        "more GPUs would be bought for less than half of what the first ones do",
        "give it more time, or a scaling curve that reaches further",
    )


def too_late(name: str, gpus: int, run_hours: float, limit_hours: float) -> list[Problem]:
    """Return the warning that a run of a stated size is longer than it may be."""
    if run_hours <= limit_hours * _NOTABLE:
        return []
    needed = math.ceil(gpus * run_hours / limit_hours)
    return [
        _warning(
            "GL-S919",
            f"`{name}` takes {run_hours / HOURS_PER_DAY:,.1f} days on {counted(gpus, 'GPU')}, "
            f"interruptions included; it has {limit_hours / HOURS_PER_DAY:,.1f}",
            "it would not be done in time",
            f"use about {needed:,} GPUs, or give it more time",
        )
    ]


def overlapping(
    name: str, gpus: int, run_hours: float, days_between_starts: float
) -> list[Problem]:
    """Return the warning that a run is not over when the next one starts."""
    between = days_between_starts * HOURS_PER_DAY
    if run_hours <= between * _NOTABLE:
        return []
    return [
        _warning(
            "GL-S919",
            f"a run of `{name}` takes {run_hours / HOURS_PER_DAY:,.1f} days on "
            f"{counted(gpus, 'GPU')}, and one starts every {days_between_starts:,.4g}",
            f"{run_hours / between:,.3g} of them would be under way at once",
            "use more GPUs, or start runs less often",
        )
    ]


def too_little_memory(
    gpus: int, place: Machine, footprint_gb: float, share: float
) -> list[Problem]:
    """Return the warning that the stated GPUs of one run do not hold a copy of it."""
    held = gpus * place.memory_gb * share
    if holds(held, footprint_gb):
        return []
    return [
        _warning(
            "GL-S914",
            f"one copy needs {footprint_gb:,.0f} GB; {gpus:,} × {place.id} of "
            f"{place.memory_gb:g} GB at {share:g} usable hold {held:,.0f}",
            "the run does not fit",
            f"use at least {counted(math.ceil(footprint_gb / (place.memory_gb * share)), 'GPU')}",
        )
    ]


def part_nodes(gpus: int, place: Machine) -> list[Problem]:
    """Return the warning that a stated size is no whole number of nodes."""
    node = place.gpus_per_node
    if gpus <= node or gpus % node == 0:
        return []
    whole = math.ceil(gpus / node)
    return [
        _warning(
            "GL-S917",
            f"{gpus:,} GPUs are {gpus / node:,.4g} nodes of {node} {place.id}",
            f"a run that crosses nodes is rented in whole ones: {whole:,} of them are "
            f"{whole * node:,} GPUs",
            f"write {whole * node:,}, or {max(whole - 1, 1) * node:,}",
        )
    ]


def beyond_curve(gpus: int, run: Run) -> list[Problem]:
    """Return the warning that a run is larger or smaller than what was measured."""
    if run.scaling is None or min(run.scaling) <= gpus <= max(run.scaling):
        return []
    low, high = min(run.scaling), max(run.scaling)
    nearest = low if gpus < low else high
    return [
        _warning(
            "GL-S917",
            f"`scaling` was measured on {low:,} to {high:,} GPUs; the run has {gpus:,}",
            f"nothing is extrapolated: the efficiency of {nearest:,} counts",
            f"measure {gpus:,} GPUs too",
        )
    ]


def _warning(code: str, what: str, why: str, fix: str) -> Problem:
    return Problem(code=code, what=what, why=why, fix=fix, severity=Severity.WARNING)
