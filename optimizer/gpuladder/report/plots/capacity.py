"""Capacity by kind, stacked over time, against what uses it."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.report.labels import kind_label
from gpuladder.report.plots import canvas
from gpuladder.report.styles import KIND_COLOURS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gpuladder.analysis.result import CapacityRow, Result

_COLUMNS = {
    "held": "held_gpus",
    "owned": "owned_gpus",
    "dedicated": "dedicated_gpus",
    "reserved": "reserved_gpus",
    "burst_window": "burst_window_gpus",
    "flex": "drawn_gpus",
    "on_demand": "on_demand_gpus",
    "spot": "spot_gpus",
}
"""Kinds from committed longest to given up soonest; of flex reservations what is drawn."""


def draw(result: Result) -> Figure | None:
    """Return the picture; None without any capacity."""
    rows = result.tables.capacity
    periods: dict[tuple[float, float], list[CapacityRow]] = defaultdict(list)
    for row in rows:
        begin, end = canvas.numbers((row.period_start, row.period_end))
        periods[begin, end].append(row)
    spans = sorted(periods)
    if not spans:
        return None
    edges = np.asarray([*(begin for begin, _ in spans), spans[-1][1]])
    levels = {
        kind: np.asarray([sum(getattr(row, key) for row in periods[span]) for span in spans])
        for kind, key in _COLUMNS.items()
    }
    used = np.asarray([sum(_in_use(row) for row in periods[span]) for span in spans])
    shown = {kind: values for kind, values in levels.items() if values.max() > 1e-9}
    if not shown and used.max() <= 0:
        return None
    picture, axes = canvas.blank()
    floor = np.zeros(len(spans))
    for kind, values in shown.items():
        axes.stairs(
            floor + values,
            edges,
            baseline=floor,
            fill=True,
            facecolor=KIND_COLOURS[kind],
            edgecolor="white",
            linewidth=0.3,
            label=kind_label(kind).capitalize(),
        )
        floor = floor + values
    for colour, width, label in (("white", 4.0, None), ("black", 1.6, "In use")):
        axes.stairs(used, edges, color=colour, linewidth=width, label=label, baseline=None)
    axes.set_xlim(edges[0], edges[-1])
    axes.set_ylim(0, max(float(floor.max()), float(used.max())) * 1.06 or 1.0)
    canvas.dress(axes, "Capacity by kind against use", "GPUs, average of each period")
    canvas.dates(axes)
    canvas.thousands(axes)
    canvas.legend_right(axes)
    canvas.caption(picture, result, "In use: campaigns, demand and backfill; the rest is idle.")
    return picture


def _in_use(row: CapacityRow) -> float:
    return row.demand_gpus + row.campaign_gpus + row.backfill_gpus + row.spot_gpus
