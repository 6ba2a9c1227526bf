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
    from gpuladder.timegrid import TimeGrid


def check(context: Context) -> Iterator[Problem]:
    """Yield rows outside the horizon, periods without rows, and pools that cannot serve."""
    if context.grid is None:
        return
    grid = context.grid
    begin, end = (datetime.combine(day, time()) for day in (grid.start, grid.end))
    outside: list[int] = []
    hours: dict[str, list[float]] = {}
    peaks: dict[str, tuple[float, int]] = {}
    for index, row in context.demand:
        if not begin <= row.at < end:
            outside.append(index)
            continue
        hours.setdefault(row.pool, []).append((row.at - begin).total_seconds() / 3600)
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
    for pool, (gpus, index) in peaks.items():
        if pool in context.pools and stable_gpus(context, grid, pool, grid.start, grid.end) == 0:
            yield context.error(
                "GL-S803",
                ("demand", index, "pool"),
                f"`{pool}` has demand (up to {gpus:g} GPUs) and no stable capacity",
                why="demand is served by committed, held or on-demand capacity of its pool only",
                fix="add such an offer there",
            )


def _gaps(
    context: Context, grid: TimeGrid, pool: str, hours: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> Iterator[Problem]:
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
