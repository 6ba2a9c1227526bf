"""The cost waterfall: from the first structure in use to the plan, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuladder.report.answer_charts import ADDED, LEVEL, SAVED, waterfall_bars
from gpuladder.report.plots import canvas
from gpuladder.report.styles import INK, MUTED
from gpuladder.report.tables_answers import waterfall

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gpuladder.analysis.result import Result


def draw(result: Result) -> Figure | None:
    """Return the picture; None where no structure was solved beside the plan."""
    bars = waterfall_bars(waterfall(result))
    if not bars:
        return None
    picture, axes = canvas.blank(0.5 * len(bars) + 1.9)
    ends = [bar.base + bar.level + bar.saved + bar.added for bar in bars]
    room = max(map(abs, ends)) * 0.01
    for place, (bar, end) in enumerate(zip(bars, ends, strict=True)):
        parts = ((bar.level, LEVEL), (bar.saved, SAVED), (bar.added, ADDED))
        length, colour = next(((size, fill) for size, fill in parts if size), (0.0, LEVEL))
        axes.barh(
            place, length, left=bar.base, height=0.6, color=colour, edgecolor=INK, linewidth=0.5
        )
        text = f"{bar.level:,.0f}" if bar.level else f"{bar.added - bar.saved:+,.0f}"
        axes.text(end + room, place, text, va="center", fontsize=9, color=INK)
    axes.set_ylim(len(bars) - 0.4, -0.6)
    axes.set_xlim(min(0.0, *(bar.base for bar in bars)), max(ends) * 1.14)
    axes.set_yticks(range(len(bars)), [canvas.name(bar.label, 44) for bar in bars])
    canvas.dress(axes, "Where the saving comes from", "", grid="x")
    axes.set_xlabel(f"Net present cost, {result.scenario.currency}", fontsize=9, color=MUTED)
    canvas.thousands(axes, "x")
    canvas.caption(picture, result, "Steps depend on their order; the whole does not.")
    return picture
