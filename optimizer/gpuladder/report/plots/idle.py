"""Idle committed GPUs of each pool over time, as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpuladder.report.plots import canvas
from gpuladder.report.styles import INK, MUTED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gpuladder.analysis.result import Result

MOST_POOLS = 40
_NUMBERED_CELLS = 400


def draw(result: Result) -> Figure | None:
    """Return the picture; None where nothing is idle."""
    rows = result.tables.capacity
    idle: dict[str, float] = {}
    for row in rows:
        idle[row.pool] = idle.get(row.pool, 0.0) + row.idle_gpus * row.hours
    pools = [pool for pool in sorted(idle, key=lambda pool: -idle[pool]) if idle[pool] > 1e-6]
    if not pools:
        return None
    shown = pools[:MOST_POOLS]
    starts = sorted({(row.period_start, row.period_end) for row in rows})
    place = {span: index for index, span in enumerate(starts)}
    grid = np.full((len(shown), len(starts)), np.nan)
    for row in rows:
        committed = row.idle_gpus + row.committed_used_gpus + row.backfill_gpus
        if row.pool in shown and committed > 1e-9:
            grid[shown.index(row.pool), place[row.period_start, row.period_end]] = row.idle_gpus
    edges = canvas.numbers([*(start for start, _ in starts), starts[-1][1]])
    picture, axes = canvas.blank(max(2.6, 0.34 * len(shown) + 1.7))
    colours = axes.pcolormesh(
        edges, np.arange(len(shown) + 1), grid, cmap="viridis_r", vmin=0.0, edgecolors="none"
    )
    if grid.size <= _NUMBERED_CELLS:
        _write_numbers(axes, edges, grid)
    axes.set_ylim(len(shown), 0)
    more = f" (the {MOST_POOLS} idlest of {len(pools)})" if len(pools) > MOST_POOLS else ""
    canvas.dress(axes, f"Idle committed GPUs by pool{more}", "")
    axes.grid(visible=False)
    axes.set_yticks(np.arange(len(shown)) + 0.5, [canvas.name(pool) for pool in shown])
    axes.tick_params(axis="y", length=0)
    canvas.dates(axes)
    bar = picture.colorbar(colours, ax=axes, pad=0.01)
    bar.set_label("GPUs, average of each period", fontsize=9, color=MUTED)
    bar.ax.tick_params(labelsize=8, colors=INK)
    canvas.caption(
        picture, result, "White: nothing committed. Idle: used by no campaign, demand or backfill."
    )
    return picture


def _write_numbers(axes: object, edges: list[float], grid: np.ndarray) -> None:
    """Write the GPUs into the cells that have any, dark on light and light on dark."""
    largest = float(np.nanmax(grid))
    for row, values in enumerate(grid):
        for column, value in enumerate(values):
            if value > 0.5:
                axes.text(  # type: ignore[attr-defined]
                    (edges[column] + edges[column + 1]) / 2,
                    row + 0.5,
                    f"{value:,.0f}",
                    ha="center",
                    va="center",
                    fontsize=5.5,
                    color="white" if value > 0.55 * largest else INK,
                )
