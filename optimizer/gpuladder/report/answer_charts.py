"""The native charts of the answers beside the plan; each reads cells of its own sheet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpuladder.report.charts import AXIS_FONT, dress
from gpuladder.report.styles import FONT, INK, KIND_COLOURS, RULE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xlsxwriter.chart import Chart
    from xlsxwriter.workbook import Workbook

    from gpuladder.report.sheets import Placed
    from gpuladder.report.table import Table

LEVEL, SAVED, ADDED = "#1F3A5F", "#7AD151", "#E59866"
"""Whole costs, savings and extra costs; they differ in lightness too."""
_FAR, _NEAR = "#9FC5D8", "#1F3A5F"
_FLAT = 1e-9


@dataclass(frozen=True, slots=True)
class Bar:
    """One column of a waterfall: what is under it, and what it shows."""

    label: str
    base: float
    level: float = 0.0
    saved: float = 0.0
    added: float = 0.0


def waterfall_bars(table: Table) -> tuple[Bar, ...]:
    """Return the columns of a waterfall: the start, each step that was solved, and the plan."""
    bars: list[Bar] = []
    before: float | None = None
    for step, delta, after in zip(
        *(table.values(key) for key in ("step", "delta", "cost_after")), strict=True
    ):
        if not isinstance(after, int | float):
            continue
        if before is None:
            bars.append(Bar(str(step), base=0.0, level=after))
        elif isinstance(delta, int | float):
            saved, added = max(-delta, 0.0), max(delta, 0.0)
            bars.append(Bar(str(step), base=min(before, after), saved=saved, added=added))
        before = after
    if before is None or len(bars) < 2:
        return ()
    return (*bars, Bar("This plan", base=0.0, level=before))


def waterfall_chart(
    workbook: Workbook, sheet: str, first: int, column: int, bars: Sequence[Bar], currency: str
) -> Chart:
    """Return the waterfall as stacked columns over a base that is not drawn.

    Parameters
    ----------
    sheet, first, column
        Where the bars' data lie: header row ``first``, labels in ``column``, then base, level,
        saved and added.
    """
    chart = workbook.add_chart({"type": "column", "subtype": "stacked"})
    last = first + len(bars)
    for offset, (name, colour) in enumerate(
        (("", None), ("Whole cost", LEVEL), ("Saved", SAVED), ("Added", ADDED)), start=1
    ):
        series: dict[str, Any] = {
            "name": name or "Below",
            "categories": [sheet, first + 1, column, last, column],
            "values": [sheet, first + 1, column + offset, last, column + offset],
            "gap": 40,
            "fill": {"none": True} if colour is None else {"color": colour},
            "border": {"none": True},
        }
        if colour is not None:
            font = {"name": FONT, "size": 8, "color": "#FFFFFF" if colour == LEVEL else INK}
            series["data_labels"] = {"value": True, "num_format": "#,##0;;", "font": font}
        chart.add_series(series)
    dress(chart, f"From the first structure to the plan (net present cost, {currency})", currency)
    chart.set_x_axis({"num_font": AXIS_FONT | {"size": 8}, "line": {"color": RULE}})
    unused = [1 + offset for offset, key in enumerate(("saved", "added"), 1) if not _any(bars, key)]
    chart.set_legend(
        {"position": "bottom", "font": {"name": FONT, "size": 9}, "delete_series": [0, *unused]}
    )
    return chart


def _any(bars: Sequence[Bar], key: str) -> bool:
    return any(getattr(bar, key) > _FLAT for bar in bars)


def flip_chart(
    workbook: Workbook, placed: Placed, first: int, last: int, title: str, axis: str, currency: str
) -> Chart:
    """Return the costs of both structures along one axis, from row ``first`` to ``last``."""
    chart = workbook.add_chart({"type": "scatter", "subtype": "straight_with_markers"})
    for key, colour, marker in (
        ("burst_cost", KIND_COLOURS["burst_window"], "circle"),
        ("standing_cost", KIND_COLOURS["held"], "diamond"),
    ):
        chart.add_series(
            {
                "name": placed.header_cell(key),
                "categories": _rows_of(placed, "value", first, last),
                "values": _rows_of(placed, key, first, last),
                "line": {"color": colour, "width": 2.0},
                "marker": {
                    "type": marker,
                    "size": 6,
                    "fill": {"color": colour},
                    "border": {"color": colour},
                },
            }
        )
    dress(chart, title, currency, is_from_zero=False)
    chart.set_x_axis(
        {
            "name": axis,
            "name_font": AXIS_FONT | {"bold": False},
            "num_font": AXIS_FONT,
            "num_format": "#,##0.0#",
            "min": 0,
            "line": {"color": RULE},
            "major_gridlines": {"visible": False},
        }
    )
    chart.set_legend({"position": "bottom", "font": {"name": FONT, "size": 9}})
    return chart


def _rows_of(placed: Placed, key: str, first: int, last: int) -> list[Any]:
    sheet, begin, column, _, _ = placed.column_range(key)
    return [sheet, begin + first, column, begin + last, column]


def tornado_chart(workbook: Workbook, placed: Placed, most: int, currency: str) -> Chart:
    """Return how far inputs move the cost, the first ``most`` rows, as bars around zero."""
    chart = workbook.add_chart({"type": "bar"})
    keys = [column.key for column in placed.table.columns if column.key.startswith("delta_")]
    # Far changes first, so that near ones lie on top of them.
    for key in sorted(keys, key=lambda key: -float(key.rpartition("us_")[2].replace("_", "."))):
        is_far = not key.endswith("_10")
        chart.add_series(
            {
                "name": placed.header_cell(key),
                "categories": _rows_of(placed, "key", 0, most - 1),
                "values": _rows_of(placed, key, 0, most - 1),
                "fill": {"color": _FAR if is_far else _NEAR},
                "border": {"color": INK, "width": 0.5},
                "gap": 40,
                "overlap": 100,
            }
        )
    dress(chart, f"Change of the net present cost ({currency})", "")
    chart.set_y_axis(
        {
            "reverse": True,
            "num_font": AXIS_FONT | {"color": INK},
            "label_position": "low",
            "line": {"color": RULE},
            "major_tick_mark": "none",
        }
    )
    chart.set_x_axis(
        {
            "num_format": "#,##0",
            "num_font": AXIS_FONT,
            "major_gridlines": {"visible": True, "line": {"color": RULE, "width": 0.5}},
            "line": {"color": RULE},
        }
    )
    chart.set_legend({"position": "bottom", "font": {"name": FONT, "size": 9}})
    return chart
