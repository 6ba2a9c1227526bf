"""Expiries a few days off the boundary on which they were meant to fall."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuladder.scenario.checks.supply import starts
from gpuladder.scenario.expand import term_of
from gpuladder.scenario.wording import join

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from gpuladder.errors import Problem
    from gpuladder.scenario.checks.context import Context
    from gpuladder.timegrid import Span, TimeGrid

MOST_DAYS_OFF = 14
LONG_PERIOD_DAYS = 28
"""Only periods and windows at least this long have a boundary that a term can miss by days."""


def check(context: Context) -> Iterator[Problem]:
    """Yield terms and held commitments that miss a ladder window or a period by a few days.

    The usual cause is a term of 365 days or 12 months against windows of 13 weeks (364 days): it
    expires one day into the next window, and the ladder does not see what was meant.
    """
    if context.grid is None:
        return
    ladder = context.policy.ladder
    window = ladder.window if ladder is not None else None
    yield from _terms(context, context.grid, window)
    yield from _held(context, context.grid, window)


def _terms(context: Context, grid: TimeGrid, window: Span | None) -> Iterator[Problem]:
    late: dict[tuple[str, int, str], list[tuple[int, str]]] = {}
    for index, term in context.terms:
        days = starts(grid, term)
        if not days:
            continue
        first = grid.start if grid.start in days else days[0]
        end = term_of(term).after(first)
        found = _off(grid, window, end)
        if found is not None and (end - first).days < found[2] - MOST_DAYS_OFF:
            continue  # shorter than a window or period: it was never meant to fill one
        if found is not None and _off(grid, window, first) is None:
            late.setdefault((str(term_of(term)), found[0], found[1]), []).append((index, term.id))
    for (tenor, days_off, kind), offers in late.items():
        index, name = offers[0]
        many = f"{len(offers)} offers: {join([each for _, each in offers])}"
        yield context.warning(
            "GL-S601",
            ("offers", index),
            f"a term of {tenor} that starts on a boundary ends {_words(days_off)} "
            f"{kind} ({f'`{name}`' if len(offers) == 1 else many})",
            why=_trap(days_off, kind),
            fix=_advice(kind, window),
        )


def _held(context: Context, grid: TimeGrid, window: Span | None) -> Iterator[Problem]:
    for index, held in context.held:
        if held.end <= grid.start:
            continue
        found = _off(grid, window, held.end)
        if found is not None:
            days_off, kind, length = found
            if held.tenor is not None and held.tenor.days(held.start) < length - MOST_DAYS_OFF:
                continue  # as above
            yield context.warning(
                "GL-S601",
                ("commitments", index, "end"),
                f"`{held.id}` expires on {held.end}, {_words(days_off)} {kind}",
                why=_trap(days_off, kind),
                fix=f"check the date; {_advice(kind, window)}",
            )


def _off(grid: TimeGrid, window: Span | None, day: date) -> tuple[int, str, int] | None:
    """Return by how many days a date misses a boundary, which, and the length of its step."""
    if window is not None and window.days(grid.start) >= LONG_PERIOD_DAYS:
        number = max((day - grid.anchor).days // (window.days(grid.anchor) + 3) - 1, 0)
        while window.after(grid.anchor, number + 1) <= day:
            number += 1
        before, after = window.after(grid.anchor, number), window.after(grid.anchor, number + 1)
        days = _nearest(day, before, after)
        length = (after - before).days
        return None if days is None else (days, "a boundary of the ladder's windows", length)
    if day >= grid.end:
        return None
    index = grid.first_boundary_from(day)
    if index is None or index == 0:
        return None
    before, after = grid.boundaries[index - 1], grid.boundaries[index]
    if (after - before).days < LONG_PERIOD_DAYS:
        return None
    days = _nearest(day, before, after)
    length = (after - before).days
    return None if days is None else (days, "a boundary of the periods", length)


def _nearest(day: date, before: date, after: date) -> int | None:
    late, early = (day - before).days, (after - day).days
    most = min(MOST_DAYS_OFF, (after - before).days // 4)
    if min(late, early) == 0 or min(late, early) > most:
        return None
    return late if late <= early else -early


def _words(days_off: int) -> str:
    days = abs(days_off)
    return f"{days} day{'s' if days > 1 else ''} {'after' if days_off > 0 else 'before'}"


def _trap(days_off: int, kind: str) -> str:
    if "window" in kind and days_off > 0:
        return "it counts in the next window, and is renewed a review later than meant"
    if "window" in kind:
        return "it lapses before the review that would renew it"
    return "it covers only part of that period, by its overlap share"


def _advice(kind: str, window: Span | None) -> str:
    if "window" in kind and window is not None and window.unit in ("day", "week"):
        return f"write tenors as multiples of {window}: 52 weeks are 364 days, 12 months 365 or 366"
    if "window" in kind:
        return "write tenors in months, as the windows are"
    return "write tenors in the unit of the periods"
