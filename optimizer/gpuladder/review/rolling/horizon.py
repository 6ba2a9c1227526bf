"""The horizon moved on to one of its own period boundaries, the rest of the grid unchanged."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from gpuladder.errors import Problem, UsageError
from gpuladder.scenario.schema import Horizon, Segment
from gpuladder.timegrid import Step, TimeGrid, grid_boundaries

if TYPE_CHECKING:
    from datetime import date

    from gpuladder.scenario.schema import Scenario


def moved(scenario: Scenario, grid: TimeGrid, to: date) -> Horizon:
    """Return the horizon from a date on, with exactly the grid's boundaries after it.

    Calendar steps are counted from where a segment starts, so a grid that began on the 31st and
    goes on from the 28th would lose days; there each period becomes a segment of its own.

    Raises
    ------
    UsageError
        When no period begins on the date, or the grid cannot be written from there on.
    """
    _require_boundary(grid, to)
    horizon = scenario.horizon
    wanted = tuple(day for day in grid.boundaries if day >= to)
    counted_from = _counted_from(scenario, to)
    pieces = [(until, step) for until, step in horizon.pieces if until > to]
    if grid_boundaries(to, pieces) == wanted:
        if horizon.segments is None:
            return horizon.model_copy(update={"start": to, "counted_from": counted_from})
        segments = tuple(Segment(until=until, step=step) for until, step in pieces)
    else:
        segments = tuple(
            Segment(until=end, step=_one_step(begin, end, to)) for begin, end in pairwise(wanted)
        )
    return Horizon(start=to, segments=segments, counted_from=counted_from)


def _counted_from(scenario: Scenario, to: date) -> date | None:
    """Return where windows and regular starts are counted from; None where nothing is counted."""
    is_counted = scenario.policy.ladder is not None or any(
        getattr(offer, "start_every", None) for offer in scenario.offers
    )
    horizon = scenario.horizon
    anchor = horizon.counted_from or horizon.start
    return anchor if is_counted and anchor < to else None


def _one_step(begin: date, end: date, to: date) -> Step:
    """Return a step of which one alone reaches from a boundary to the next."""
    for step in (Step.WEEK, Step.MONTH, Step.QUARTER):
        if grid_boundaries(begin, [(end, step)]) == (begin, end):
            return step
    raise UsageError(
        Problem(
            code="GL-V001",
            what=f"the period from {begin} to {end} cannot be written in a horizon from {to}",
            why="quarters counted from the end of a month keep their length only from the start on",
            fix="roll to another boundary, or plan in months",
        )
    )


def _require_boundary(grid: TimeGrid, to: date) -> None:
    if to in grid.boundaries[1:-1]:
        return
    if to <= grid.start or to >= grid.end:
        what = f"{to} is not inside the horizon from {grid.start} to {grid.end}"
        why = "a plan has nothing left to roll from its end on, and nothing behind it at its start"
    else:
        what = f"no period begins on {to}"
        why = "what a plan does inside a period is an average; it cannot be cut"
    inner = grid.boundaries[1:-1]
    before = max((day for day in inner if day < to), default=None)
    after = min((day for day in inner if day > to), default=None)
    near = [str(day) for day in (before, after) if day is not None]
    fix = f"nearest: {' and '.join(near)}" if near else "the horizon is a single period"
    raise UsageError(Problem(code="GL-V001", what=what, why=why, fix=fix))
