"""The native charts of the summary page; each reads the cells of a table in the same workbook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpuladder.report.styles import FONT, INK, KIND_COLOURS, MUTED, RULE
from gpuladder.report.tables_capacity import TOTAL_KINDS

if TYPE_CHECKING:
    from xlsxwriter.chart import Chart
    from xlsxwriter.workbook import Workbook

    from gpuladder.report.sheets import Placed

_LABELS_SHOWN = 26
_FEW = 16
AXIS_FONT = {"name": FONT, "size": 9, "color": MUTED}


def capacity_chart(workbook: Workbook, placed: Placed, *, width: int, height: int) -> Chart | None:
    """Return capacity by kind, stacked, against what is in use, by period.

    Kinds that the plan does not hold are left out; None when it holds and uses nothing.
    """
    table = placed.table
    periods = len(table.rows)
    shown = [key for key in TOTAL_KINDS if table.has(key)]
    if not shown:
        return None
    columns = workbook.add_chart({"type": "column", "subtype": "stacked"})
    for key in shown:
        columns.add_series(
            {
                "name": placed.header_cell(key),
                "categories": placed.column_range("period_start"),
                "values": placed.column_range(key),
                "fill": {"color": KIND_COLOURS[TOTAL_KINDS[key]]},
                "border": {"none": True},
                "gap": 8,
            }
        )
    used = workbook.add_chart({"type": "line"})
    # A white line under the black one keeps it apart from dark columns.
    for colour, line_width in (("#FFFFFF", 4.5), ("#000000", 1.75)):
        used.add_series(
            {
                "name": placed.header_cell("in_use_gpus"),
                "categories": placed.column_range("period_start"),
                "values": placed.column_range("in_use_gpus"),
                "line": {"color": colour, "width": line_width},
                "marker": {"type": "none"},
            }
        )
    columns.combine(used)
    dress(columns, "Capacity by kind against use (GPUs, average of each period)", "GPUs")
    columns.set_x_axis(
        {
            "text_axis": True,
            "num_format": "d mmm yy",
            # Upright: LibreOffice shows every label, whatever the interval.
            "num_font": AXIS_FONT | {"size": 8, "rotation": -90},
            "interval_unit": max(1, -(-periods // _LABELS_SHOWN)),
            "interval_tick": max(1, -(-periods // _LABELS_SHOWN)),
            "line": {"color": RULE},
        }
    )
    columns.set_legend(
        {"position": "right", "font": {"name": FONT, "size": 9}, "delete_series": [len(shown)]}
    )
    columns.set_size({"width": width, "height": height})
    return columns


def expiry_chart(workbook: Workbook, placed: Placed, *, width: int, height: int) -> Chart:
    """Return expiring GPUs by quarter: held alone, and what the plan adds."""
    quarters = len(placed.table.rows)
    chart = workbook.add_chart({"type": "column"})
    for key, colour in (("held_gpus", KIND_COLOURS["held"]), ("total_gpus", "#7AD151")):
        chart.add_series(
            {
                "name": placed.header_cell(key),
                "categories": placed.column_range("quarter_start"),
                "values": placed.column_range(key),
                "fill": {"color": colour},
                "border": {"color": INK, "width": 0.5},
                "gap": 60,
                "overlap": 0,
                "data_labels": _labels("#,##0;;") if quarters <= _FEW else {},
            }
        )
    dress(chart, "GPUs whose term ends, by quarter", "GPUs")
    chart.set_x_axis(
        {
            "text_axis": True,
            "num_format": "mmm yy",
            "num_font": AXIS_FONT | ({"rotation": -45} if quarters > _FEW else {}),
            "interval_unit": max(1, -(-quarters // _LABELS_SHOWN)),
            "line": {"color": RULE},
        }
    )
    chart.set_legend({"position": "bottom", "font": {"name": FONT, "size": 9}})
    chart.set_size({"width": width, "height": height})
    return chart


def cost_chart(
    workbook: Workbook, placed: Placed, currency: str, *, width: int, height: int
) -> Chart:
    """Return the lines of the net present cost as bars."""
    chart = workbook.add_chart({"type": "bar"})
    large = max((abs(float(value or 0)) for value in _amounts(placed)), default=0.0) >= 10_000
    shown = "#,##0" if large else "#,##0.00"
    chart.add_series(
        {
            "name": placed.header_cell("amount"),
            "categories": placed.column_range("line"),
            "values": placed.column_range("amount"),
            "fill": {"color": KIND_COLOURS["reserved"]},
            "border": {"color": INK, "width": 0.5},
            "gap": 40,
            "data_labels": _labels(shown),
        }
    )
    dress(chart, f"Net present cost by line ({currency})", "")
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
            "major_gridlines": {"visible": False},
            "line": {"none": True},
            "visible": False,
        }
    )
    chart.set_legend({"none": True})
    chart.set_size({"width": width, "height": height})
    return chart


def _amounts(placed: Placed) -> list[float]:
    return [float(v) for v in placed.table.values("amount") if isinstance(v, int | float)]


def _labels(shown: str) -> dict[str, Any]:
    return {"value": True, "num_format": shown, "font": {"name": FONT, "size": 9, "color": INK}}


def dress(chart: Chart, title: str, unit: str, *, is_from_zero: bool = True) -> None:
    """Give a chart its title, its value axis and its frame."""
    chart.set_title(
        {
            "name": title,
            "name_font": {"name": FONT, "size": 11, "bold": True, "color": INK},
            "overlay": False,
        }
    )
    chart.set_y_axis(
        {
            "name": unit,
            "name_font": {"name": FONT, "size": 9, "bold": False, "color": MUTED},
            "num_format": "#,##0",
            "num_font": AXIS_FONT,
            **({"min": 0} if is_from_zero else {}),
            "major_gridlines": {"visible": True, "line": {"color": RULE, "width": 0.5}},
            "line": {"none": True},
        }
    )
    chart.set_chartarea({"border": {"color": RULE}})
    chart.show_blanks_as("gap")
