"""The expiry ladder: GPUs whose terms end in each quarter, held alone and with the plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gpuladder.report.plots import canvas
from gpuladder.report.styles import INK, KIND_COLOURS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gpuladder.analysis.result import Result

_FEW = 24
_NEW = "#7AD151"


def draw(result: Result) -> Figure | None:
    """Return the picture; None where nothing expires."""
    rows = result.tables.expiries
    if not any(row.total_gpus > 0 for row in rows):
        return None
    picture, axes = canvas.blank()
    at = np.arange(len(rows))
    held = [row.held_gpus for row in rows]
    total = [row.total_gpus for row in rows]
    style: dict[str, Any] = {"edgecolor": INK, "linewidth": 0.5}
    before = axes.bar(
        at - 0.2, held, 0.4, color=KIND_COLOURS["held"], label="Before: held alone", **style
    )
    after = axes.bar(at + 0.2, total, 0.4, color=_NEW, label="After: with the plan", **style)
    if len(rows) <= _FEW:
        for bars, values in ((before, held), (after, total)):
            texts = [f"{value:,.10g}" if value else "" for value in values]
            axes.bar_label(bars, texts, fontsize=8, color=INK, padding=1)
    step = -(-len(rows) // _FEW)
    quarters = [f"Q{(row.quarter_start.month + 2) // 3} {row.quarter_start.year}" for row in rows]
    axes.set_xticks(at[::step], quarters[::step], rotation=45 if len(rows) > 8 else 0)
    axes.set_ylim(0, max(total) * 1.1)
    canvas.dress(axes, "GPUs whose term ends, by quarter", "GPUs")
    canvas.thousands(axes)
    canvas.legend_right(axes)
    canvas.caption(picture, result, "A term that ends on a quarter's first day counts before it.")
    return picture
