"""Sheets of the answers beside the plan: one or two tables each, and what they look like."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from gpuladder.report.answer_charts import (
    Bar,
    flip_chart,
    tornado_chart,
    waterfall_bars,
    waterfall_chart,
)
from gpuladder.report.paper import page_breaks, pixels, print_in_blocks, print_setup
from gpuladder.report.sheets import (
    DEFAULT_WIDTH,
    HEADER_ROW,
    Placed,
    column_width,
    has_total,
    last_sheet_column,
    write_across,
    write_table,
    write_title,
)
from gpuladder.report.styles import MUTED
from gpuladder.report.table import Table, clean_text, without_empty

if TYPE_CHECKING:
    from xlsxwriter.chart import Chart
    from xlsxwriter.workbook import Workbook
    from xlsxwriter.worksheet import Worksheet

    from gpuladder.report.styles import Styles

_ROW_PIXELS = 20
_CHART_HEIGHT = 340
_WIDEST_CHART = 1100
_CHART_ROWS = _CHART_HEIGHT // _ROW_PIXELS + 1
_MOST_CURVES = 6
_MOST_INPUTS = 15
_LEAST_POINTS = 2
_BOLD_SIZE = 1.15


@dataclass(frozen=True, slots=True)
class Drawing:
    """What a chart needs to know of the sheet that it goes on."""

    workbook: Workbook
    sheet: Worksheet
    styles: Styles
    currency: str
    placed: Mapping[str, Placed]
    last_column: int


Charts = Sequence[tuple["Chart", str]]


@dataclass(frozen=True, slots=True)
class Stack:
    """Tables one under another on one sheet, with charts.

    Attributes
    ----------
    tables : tuple of str
        Names, in order; those without rows are left out.
    left_out : frozenset of str
        Columns that only the CSV files have.
    draw : callable or None
        Makes the charts, each with its description.
    rows : callable
        How many lines of charts there will be, from the tables.
    beside : int
        Charts on one line.
    charts_before : str
        Table under which the charts stand; empty for the end.
    said : str
        Table of sentences that stand above everything.
    is_one_page : bool
        Whether it is printed on one page, so that no chart is cut.
    is_portrait : bool
        Whether that page stands upright.
    """

    tables: tuple[str, ...]
    left_out: frozenset[str] = frozenset()
    draw: Callable[[Drawing], Charts] | None = None
    rows: Callable[[Mapping[str, Table]], int] = lambda _: 0
    beside: int = 1
    charts_before: str = ""
    said: str = ""
    is_one_page: bool = False
    is_portrait: bool = False


def is_there(stack: Stack, known: Mapping[str, Table]) -> bool:
    """Tell whether a sheet has any content."""
    return any(name in known and known[name].rows for name in stack.tables)


def write_stack(
    workbook: Workbook,
    sheet: Worksheet,
    styles: Styles,
    stack: Stack,
    known: Mapping[str, Table],
    scenario_name: str,
    currency: str,
) -> None:
    """Write tables one under another; the first has the shape of every sheet of a table."""
    shown = [
        _without(without_empty(known[name]), stack.left_out)
        for name in stack.tables
        if name in known and known[name].rows
    ]
    widths = _common_widths(shown)
    for index, width in enumerate(widths):
        sheet.set_column(index, index, width)
    # A chart lies across the columns and cannot be cut between them; nor do two tables have the
    # columns at which to cut in common.
    is_cut = stack.draw is None and len(shown) == 1 and bool(page_breaks(widths))
    placed: dict[str, Placed] = {}
    lines = stack.rows({table.name: table for table in shown})
    chart_row: int | None = None
    row = 0
    for table in shown:
        if placed and table.name == stack.charts_before:
            chart_row, row = row, row + lines * _CHART_ROWS
        said = () if placed or stack.said not in known else known[stack.said].rows
        titled = replace(table, note="") if said else table
        write_title(sheet, styles, titled, widths, at=row, is_cut=is_cut)
        if said:
            _write_said(sheet, styles, [str(cells[0]) for cells in said], table.note, widths)
        where = write_table(sheet, styles, table, row + HEADER_ROW, widths[: len(table.columns)])
        placed[table.name] = where
        row = where.last_row + (2 if has_total(table) else 1) + 1
    last_column = last_sheet_column(widths)
    if stack.draw is not None and lines:
        if chart_row is None:
            chart_row, row = row, row + lines * _CHART_ROWS
        drawing = Drawing(workbook, sheet, styles, currency, placed, last_column)
        _insert(sheet, stack, stack.draw(drawing), chart_row, _sheet_pixels(widths, last_column))
    if len(shown) == 1:
        sheet.freeze_panes(HEADER_ROW + 1, 1)
        sheet.repeat_rows(HEADER_ROW)
    print_setup(sheet, scenario_name, row - 1, last_column, portrait=stack.is_portrait)
    if stack.is_one_page:
        sheet.fit_to_pages(1, 1)
    if is_cut:
        print_in_blocks(sheet, widths)


def _sheet_pixels(widths: list[float], last_column: int) -> int:
    """Return how wide a sheet is printed."""
    every = [*widths, *[DEFAULT_WIDTH] * (last_column + 1 - len(widths))]
    return sum(pixels(width) for width in every)


def _insert(sheet: Worksheet, stack: Stack, charts: Charts, row: int, room: int) -> None:
    """Put charts on the sheet, beside each other as far as the stack wants it."""
    width = min(room // stack.beside, _WIDEST_CHART) - 8
    for number, (chart, description) in enumerate(charts):
        line, place = divmod(number, stack.beside)
        chart.set_size({"width": width, "height": _CHART_HEIGHT})
        options = {"x_offset": place * (width + 8), "description": description}
        sheet.insert_chart(row + line * _CHART_ROWS, 0, chart, options)


def _without(table: Table, left_out: frozenset[str]) -> Table:
    kept = [i for i, column in enumerate(table.columns) if column.key not in left_out]
    return replace(
        table,
        columns=tuple(table.columns[i] for i in kept),
        rows=tuple(tuple(row[i] for i in kept) for row in table.rows),
    )


def _common_widths(tables: Sequence[Table]) -> list[float]:
    """Return a width for each column of the sheet that fits every table on it."""
    widths: list[float] = []
    for table in tables:
        for index, column in enumerate(table.columns):
            width = column_width(column, table.rows, index)
            if index < len(widths):
                widths[index] = max(widths[index], width)
            else:
                widths.append(width)
    return widths


def _write_said(
    sheet: Worksheet, styles: Styles, said: Sequence[str], note: str, widths: list[float]
) -> None:
    """Write the sentences where the note stands, and the note under them."""
    bold = styles.make(font_size=11, bold=True, text_wrap=True)
    text = "\n".join(clean_text(each) for each in said)
    write_across(sheet, 1, text, widths, bold, size=_BOLD_SIZE)
    write_across(sheet, 2, note, widths, styles.note)


def _draw_waterfall(drawing: Drawing) -> Charts:
    """Draw the waterfall; what it is made from stands beside its table, off the printed page."""
    placed = drawing.placed["waterfall"]
    bars = waterfall_bars(placed.table)
    column = drawing.last_column + 2
    _write_bars(drawing, placed.header_row, column, bars)
    sheet_name = drawing.sheet.get_name()
    chart = waterfall_chart(
        drawing.workbook, sheet_name, placed.header_row, column, bars, drawing.currency
    )
    return [(chart, "Waterfall of the saving")]


def _waterfall_rows(tables: Mapping[str, Table]) -> int:
    return int("waterfall" in tables and bool(waterfall_bars(tables["waterfall"])))


def _write_bars(drawing: Drawing, header: int, column: int, bars: Sequence[Bar]) -> None:
    muted = drawing.styles.make(font_color=MUTED, font_size=8)
    figure = drawing.styles.make(font_color=MUTED, font_size=8, num_format="#,##0")
    sheet = drawing.sheet
    for offset, name in enumerate(("Data of the chart", "Below", "Whole cost", "Saved", "Added")):
        sheet.write_string(header, column + offset, name, muted)
    for at, bar in enumerate(bars, start=header + 1):
        sheet.write_string(at, column, clean_text(bar.label), muted)
        for offset, value in enumerate((bar.base, bar.level, bar.saved, bar.added), start=1):
            sheet.write_number(at, column + offset, value, figure)


def _curves(table: Table) -> list[tuple[str, str, int, int]]:
    """Return pool, axis, first and last row of each curve of at least two points."""
    found, first = [], 0
    labels = zip(table.values("pool"), table.values("axis"), strict=True)
    for (pool, axis), points in groupby(labels):
        last = first + len(list(points)) - 1
        if last - first + 1 >= _LEAST_POINTS:
            found.append((str(pool), str(axis), first, last))
        first = last + 1
    return found[:_MOST_CURVES]


def _draw_flips(drawing: Drawing) -> Charts:
    placed = drawing.placed["flips"]
    charts = []
    for pool, axis, first, last in _curves(placed.table):
        name = f"{pool}: net present cost by {axis}"
        chart = flip_chart(drawing.workbook, placed, first, last, name, axis, drawing.currency)
        charts.append((chart, name))
    return charts


def _flip_rows(tables: Mapping[str, Table]) -> int:
    return -(-len(_curves(tables["flips"])) // 2) if "flips" in tables else 0


def _draw_tornado(drawing: Drawing) -> Charts:
    placed = drawing.placed["sensitivity"]
    most = min(len(placed.table.rows), _MOST_INPUTS)
    chart = tornado_chart(drawing.workbook, placed, most, drawing.currency)
    return [(chart, "Inputs by how far they move the cost")]


STACKS = {
    "Burst or standing": Stack(
        ("structures", "flips"),
        draw=_draw_flips,
        rows=_flip_rows,
        beside=2,
        charts_before="flips",
        said="burst_or_standing",
    ),
    "Baselines": Stack(
        ("baselines", "waterfall"),
        left_out=frozenset({"baseline"}),
        draw=_draw_waterfall,
        rows=_waterfall_rows,
        is_one_page=True,
    ),
    "Walk-away prices": Stack(("walk_away",)),
    "Alternatives": Stack(("alternatives", "quantity_ranges")),
    "Shadow prices": Stack(("shadow_prices",), left_out=frozenset({"change"})),
    "Sensitivity": Stack(
        ("sensitivity",),
        draw=_draw_tornado,
        rows=lambda _: 1,
        is_one_page=True,
        is_portrait=True,
    ),
    "Invoice": Stack(
        ("invoice_overview", "invoice", "invoice_totals", "invoice_barred"),
        left_out=frozenset({"notes"}),
    ),
    "Owned hardware": Stack(("owned_orders", "owned_quarters")),
}
"""The sheets by name, in the order of the questions."""
