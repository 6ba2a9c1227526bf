"""The calendar: campaigns in their windows, above the terms that serve them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpuladder.report.labels import kind_label
from gpuladder.report.plots import canvas
from gpuladder.report.styles import INK, KIND_COLOURS, MUTED, WINDOW_FILL
from gpuladder.scenario.expand import time_grid

if TYPE_CHECKING:
    from datetime import date

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gpuladder.analysis.result import Result

MOST_BARS = 60
"""Bars of each block; the table of the same name has all of them."""
_ROW_INCHES = 0.22
_RUN = "#2C728E"


@dataclass(frozen=True, slots=True)
class _Bar:
    label: str
    start: date
    end: date
    colour: str
    window: tuple[date, date] | None = None
    """Earliest start and deadline, drawn behind the bar."""
    is_done: bool = True


def draw(result: Result) -> Figure | None:
    """Return the picture; None without campaigns and terms."""
    blocks = {
        "Campaigns": _campaigns(result),
        "Commitments to sign": _orders(result),
        "Commitments held": _held(result),
    }
    shown = {title: bars for title, bars in blocks.items() if bars}
    if not shown:
        return None
    rows = sum(min(len(bars), MOST_BARS) + 1.6 for bars in shown.values())
    picture, axes = canvas.blank(max(2.5, rows * _ROW_INCHES + 1.4))
    row, ticks = 0.0, []
    for title, bars in shown.items():
        more = f" (the first {MOST_BARS} of {len(bars)})" if len(bars) > MOST_BARS else ""
        axes.text(
            0.0,
            row + 0.35,
            f"{title}{more}",
            transform=axes.get_yaxis_transform(),
            fontsize=9,
            fontweight="bold",
            color=INK,
            va="center",
        )
        row += 1.2
        for bar in bars[:MOST_BARS]:
            _draw_bar(axes, row, bar)
            ticks.append((row, bar.label))
            row += 1.0
        row += 0.4
    grid = time_grid(result.scenario)
    begin, end = canvas.numbers((grid.start, grid.end))
    axes.set_xlim(begin, end)
    axes.set_ylim(row - 0.2, -0.4)
    canvas.dress(axes, "Campaigns and the terms that serve them", "", grid="x")
    axes.set_yticks([at for at, _ in ticks], [label for _, label in ticks])
    axes.tick_params(axis="y", length=0, labelsize=7.5)
    canvas.dates(axes)
    _legend(axes, result)
    canvas.caption(
        picture,
        result,
        "Pale: from earliest start to deadline. Terms are cut at the horizon.",
    )
    return picture


def _draw_bar(axes: Axes, row: float, bar: _Bar) -> None:
    if bar.window is not None:
        begin, end = canvas.numbers(bar.window)
        axes.barh(row, end - begin, left=begin, height=0.8, color=WINDOW_FILL)
    begin, end = canvas.numbers((bar.start, bar.end))
    if bar.is_done:
        axes.barh(row, end - begin, left=begin, height=0.56, color=bar.colour)
    else:
        axes.text(begin, row, " not done", fontsize=7, color=MUTED, va="center")


def _legend(axes: Axes, result: Result) -> None:
    from matplotlib.patches import Patch

    kinds = dict.fromkeys(row.kind for row in result.tables.commitments)
    if result.tables.held:
        kinds["held"] = None
    patches = [Patch(facecolor=KIND_COLOURS[kind], label=kind_label(kind)) for kind in kinds]
    if any(row.spot_share < 1.0 for row in result.tables.campaigns):
        patches.insert(0, Patch(facecolor=_RUN, label="campaign, stable"))
    if any(row.spot_share > 0.0 for row in result.tables.campaigns):
        patches.insert(1, Patch(facecolor=KIND_COLOURS["spot"], label="campaign, mostly spot"))
    axes.legend(
        handles=patches,
        loc="upper left",
        bbox_to_anchor=(1.01, 1.0),
        frameon=False,
        fontsize=8.5,
        borderaxespad=0.0,
    )


def _campaigns(result: Result) -> list[_Bar]:
    bars = []
    for row in sorted(result.tables.campaigns, key=lambda row: (row.start or row.earliest, row.id)):
        start, end = row.start or row.earliest, row.end or row.deadline
        colour = KIND_COLOURS["spot"] if row.spot_share > 0.5 else _RUN
        window = (row.earliest, row.deadline)
        label = f"{canvas.name(row.id)}  {row.gpus:,.0f}"
        bars.append(_Bar(label, start, end, colour, window, is_done=row.start is not None))
    return bars


def _orders(result: Result) -> list[_Bar]:
    rows = sorted(result.tables.commitments, key=lambda row: (row.start, row.offer))
    return [
        _Bar(f"{canvas.name(row.offer)}  {row.gpus:,}", row.start, row.end, KIND_COLOURS[row.kind])
        for row in rows
    ]


def _held(result: Result) -> list[_Bar]:
    rows = sorted(result.tables.held, key=lambda row: (row.end, row.id))
    return [
        _Bar(f"{canvas.name(row.id)}  {row.gpus:,.10g}", row.start, row.end, KIND_COLOURS["held"])
        for row in rows
    ]
