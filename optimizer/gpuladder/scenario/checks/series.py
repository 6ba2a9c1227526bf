"""The demand series: inside the horizon, without gaps, and with capacity to serve it."""

from __future__ import annotations

import math
from datetime import datetime, time
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.scenario.checks.supply import stable_gpus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpuladder.errors import Problem
    from gpuladder.scenario.checks.context import Context
    from gpuladder.timegrid import FloatArray, TimeGrid

UNEVEN_SHARE = 0.05
"""Share of a period at another level than its rows say from which on uneven rows are doubted."""


def check(context: Context) -> Iterator[Problem]:
    """Yield rows outside the horizon, gaps, uneven rows, and pools that cannot serve."""
    if context.grid is None:
        return
    grid = context.grid
    begin, end = (datetime.combine(day, time()) for day in (grid.start, grid.end))
    outside: list[int] = []
    hours: dict[str, list[float]] = {}
    levels: dict[str, list[float]] = {}
    peaks: dict[str, tuple[float, int]] = {}
    for index, row in context.demand:
        if not begin <= row.at < end:
            outside.append(index)
            continue
        hours.setdefault(row.pool, []).append((row.at - begin).total_seconds() / 3600)
        levels.setdefault(row.pool, []).append(row.gpus)
        if row.gpus > peaks.get(row.pool, (0.0, 0))[0]:
            peaks[row.pool] = (row.gpus, index)
    if outside:
        first = context.rows["demand"][outside[0]]
        yield context.warning(
            "GL-S801",
            ("demand", outside[0], "at"),
            f"{len(outside)} demand rows lie outside the horizon {grid.start} to {grid.end} and "
            f"are left out; the first is at {first.at}",
            fix="move the dates of a usage history into the horizon, or lengthen the horizon",
        )
    for pool, times in hours.items():
        yield from _gaps(context, grid, pool, np.asarray(times))
        yield from _uneven(context, grid, pool, np.asarray(times), np.asarray(levels[pool]))
    for pool, (gpus, index) in peaks.items():
        if pool in context.pools and stable_gpus(context, grid, pool, grid.start, grid.end) == 0:
            yield context.error(
                "GL-S803",
                ("demand", index, "pool"),
                f"`{pool}` has demand (up to {gpus:g} GPUs) and no stable capacity",
                why="demand is served by committed, held or on-demand capacity of its pool only",
                fix="add such an offer there",
            )


def _gaps(context: Context, grid: TimeGrid, pool: str, hours: FloatArray) -> Iterator[Problem]:
    counts, _ = np.histogram(hours, bins=grid.boundary_hours)
    empty = np.flatnonzero(counts == 0)
    if not empty.size or math.isclose(empty.size, grid.num_periods):
        return
    first = grid.boundaries[int(empty[0])]
    index = next(number for number, row in context.demand if row.pool == pool)
    yield context.warning(
        "GL-S802",
        ("demand", index, "pool"),
        f"`{pool}` has no demand rows in {empty.size} of {grid.num_periods} periods, the first "
        f"from {first}",
        why="a period without rows counts as no demand",
        fix="fill the gap, with 0 where there was none",
    )


def _uneven(
    context: Context, grid: TimeGrid, pool: str, hours: FloatArray, gpus: FloatArray
) -> Iterator[Problem]:
    """Yield a pool whose rows, each counted alike, stand for other times than they are apart."""
    order = np.argsort(hours, kind="stable")
    at, level = hours[order], gpus[order]
    if len(at) < 3:
        return
    period = np.searchsorted(grid.boundary_hours, at, side="right") - 1
    apart = np.diff(at)
    lasts = np.append(apart, apart[-1])
    # A row before periods without rows does not last through them.
    far = np.append(np.diff(period) > 1, False)
    lasts[far] = np.insert(apart, 0, apart[0])[far]
    misread = [
        (int(number), share)
        for number in np.unique(period)
        if (share := _misread(level[period == number], lasts[period == number])) > UNEVEN_SHARE
    ]
    if not misread:
        return
    first, share = misread[0]
    index = next(
        number
        for number, row in context.demand
        if row.pool == pool and grid.boundaries[first] <= row.at.date() < grid.boundaries[first + 1]
    )
    yield context.warning(
        "GL-S804",
        ("demand", index, "at"),
        f"`{pool}` has demand rows at uneven distances in {len(misread)} of {grid.num_periods} "
        f"periods, the first from {grid.boundaries[first]}: {share:.0%} of it would be taken for "
        "another level",
        why="each row of a period counts for the same share of it, however far apart the rows are",
        fix="write the rows at even distances, e.g. every hour",
    )


def _misread(gpus: FloatArray, lasts: FloatArray) -> float:
    """Return the share of a period that is at another level when each row counts alike."""
    total = float(lasts.sum())
    if len(gpus) < 2 or total <= 0.0:
        return 0.0
    _, place = np.unique(gpus, return_inverse=True)
    differs = np.bincount(place, weights=lasts / total - 1.0 / len(gpus))
    return float(np.abs(differs).sum()) / 2.0
