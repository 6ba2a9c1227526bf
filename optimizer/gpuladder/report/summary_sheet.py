"""The first page of the workbook: recommendation, headline figures, charts, next signatures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpuladder.report.charts import capacity_chart, cost_chart, expiry_chart
from gpuladder.report.labels import kind_label
from gpuladder.report.paper import print_setup
from gpuladder.report.sheets import Placed, lines_needed, unit_format, write_cell
from gpuladder.report.styles import HEADER_FILL, MUTED, SHADE, Styles, number_format
from gpuladder.report.table import Cell, Format, clean_text
from gpuladder.report.words import horizon_words, most_at_once, sentences

if TYPE_CHECKING:
    from xlsxwriter.workbook import Workbook
    from xlsxwriter.worksheet import Worksheet

    from gpuladder.analysis.result import CommitmentRow, Result

_COLUMNS = 12
_COLUMN_PIXELS = 96
_PAGE_CHARACTERS = 150
_ROW_PIXELS = 20
_TILE_COLUMNS = 2
_SIGNATURES_SHOWN = 8
_CHART_GAP_PIXELS = 8
_EDGE_PIXELS = 8
_NAME_SHOWN = 120


@dataclass(frozen=True, slots=True)
class Places:
    """Where the tables that feed the charts lie; None where their sheet is absent."""

    capacity: Placed | None = None
    expiries: Placed | None = None
    costs: Placed | None = None


def write_summary(
    workbook: Workbook, sheet: Worksheet, styles: Styles, result: Result, places: Places
) -> None:
    """Write the summary onto its sheet."""
    sheet.set_column_pixels(0, _COLUMNS - 1, _COLUMN_PIXELS)
    row = _write_head(sheet, styles, result)
    row = _write_sentences(sheet, styles, result, row)
    if result.plan.has_quantities:
        row = _write_tiles(sheet, styles, result, row)
        row = _write_signatures(sheet, styles, result, row)
    row = _insert_charts(workbook, sheet, result, places, row)
    print_setup(sheet, result.scenario.name, row, _COLUMNS - 1, portrait=True)
    sheet.fit_to_pages(1, 1)
    sheet.set_first_sheet()
    sheet.activate()


def _write_head(sheet: Worksheet, styles: Styles, result: Result) -> int:
    name = clean_text(result.scenario.name).replace("\n", " ")
    shown = name if len(name) <= _NAME_SHOWN else f"{name[: _NAME_SHOWN - 1]}…"
    sheet.set_row(0, 28)
    sheet.write_string(0, 0, f"GPU commitments: {shown}", styles.title)
    facts = f"{horizon_words(result)} · {result.scenario.currency} · status: {result.plan.status}"
    sheet.write_string(1, 0, facts, styles.make(font_color=MUTED))
    row = 2
    description = clean_text(result.scenario.description).strip()
    if description:
        row = _write_merged(sheet, row, description, styles.note)
    return row + 1


def _write_sentences(sheet: Worksheet, styles: Styles, result: Result, row: int) -> int:
    _write_heading(sheet, styles, row, "Recommendation" if result.plan.has_quantities else "Answer")
    row += 1
    for number, sentence in enumerate(sentences(result)):
        style = (
            styles.make(font_size=13, bold=True, text_wrap=True, valign="vcenter")
            if not number
            else styles.paragraph
        )
        row = _write_merged(sheet, row, clean_text(sentence), style, first=not number)
    return row + 1


def _write_merged(
    sheet: Worksheet, row: int, text: str, style: object, *, first: bool = False
) -> int:
    lines = lines_needed(text, _PAGE_CHARACTERS * (0.85 if first else 1.0))
    sheet.set_row(row, lines * (20 if first else 16) + (6 if first else 0))
    sheet.merge_range(row, 0, row, _COLUMNS - 1, "", style)
    sheet.write_string(row, 0, text, style)
    return row + 1


def _write_heading(sheet: Worksheet, styles: Styles, row: int, text: str) -> None:
    for column in range(_COLUMNS):
        sheet.write_blank(row, column, None, styles.heading)
    sheet.write_string(row, 0, text, styles.heading)


def _write_tiles(sheet: Worksheet, styles: Styles, result: Result, row: int) -> int:
    currency = result.scenario.currency
    metrics = result.metrics
    tiles: tuple[tuple[str, Cell, str], ...] = (
        (f"Net present cost ({currency})", result.plan.objective, currency),
        ("Proven gap to the cheapest", result.plan.gap, "share"),
        ("Most new GPUs at a time", most_at_once(result.tables.commitments), "GPUs"),
        (f"Cost per completed run ({currency})", metrics.get("cost_per_completed_run"), currency),
        ("Use of committed GPU-hours", metrics.get("utilisation"), "share"),
        ("Saved against on demand", metrics.get("effective_savings_rate"), "share"),
    )
    sheet.set_row(row, 26)
    for index, (label, value, unit) in enumerate(tiles):
        left = index * _TILE_COLUMNS
        right = left + _TILE_COLUMNS - 1
        big = styles.make(
            font_size=16,
            bold=True,
            font_color=HEADER_FILL,
            bg_color=SHADE,
            align="center",
            valign="vcenter",
            shrink=True,
            num_format=unit_format(unit, value),
            left=1,
            left_color="#FFFFFF",
        )
        small = styles.make(
            font_size=9,
            font_color=MUTED,
            bg_color=SHADE,
            align="center",
            left=1,
            left_color="#FFFFFF",
        )
        sheet.merge_range(row, left, row, right, "", big)
        write_cell(sheet, row, left, "not known" if value is None else value, big)
        sheet.merge_range(row + 1, left, row + 1, right, "", small)
        sheet.write_string(row + 1, left, label, small)
    return row + 3


def _write_signatures(sheet: Worksheet, styles: Styles, result: Result, row: int) -> int:
    rows = sorted(
        result.tables.commitments, key=lambda item: (item.sign_by, item.start, item.offer)
    )
    if not rows:
        return row
    shown = rows[:_SIGNATURES_SHOWN]
    more = f" (first {len(shown)} of {len(rows)})" if len(rows) > len(shown) else ""
    _write_heading(sheet, styles, row, f"To sign{more}")
    currency = result.scenario.currency
    # Label, first and last column, format.
    layout: tuple[tuple[str, int, int, Format], ...] = (
        ("Sign by", 0, 0, Format.DATE),
        ("Offer", 1, 3, Format.TEXT),
        ("Kind", 4, 4, Format.TEXT),
        ("Pool", 5, 6, Format.TEXT),
        ("GPUs", 7, 7, Format.QUANTITY),
        ("Start", 8, 8, Format.DATE),
        ("End", 9, 9, Format.DATE),
        (f"Cost ({currency})", 10, 10, Format.MONEY),
        (f"Tail ({currency})", 11, 11, Format.MONEY),
    )
    values = [_signature(item) for item in shown]
    for index, (label, left, right, kind) in enumerate(layout):
        is_left = kind in (Format.TEXT, Format.DATE)
        style = styles.cell(number_format(kind, [value[index] for value in values]), left=is_left)
        header = styles.make(
            bold=True,
            font_color=MUTED,
            bottom=1,
            align="left" if is_left else "right",
            valign="vcenter",
            indent=1,
        )
        _write_span(sheet, row + 1, left, right, label, header)
        for offset, value in enumerate(values):
            _write_span(sheet, row + 2 + offset, left, right, value[index], style)
    return row + 3 + len(shown)


def _signature(item: CommitmentRow) -> tuple[Cell, ...]:
    return (
        item.sign_by,
        item.offer,
        kind_label(item.kind),
        item.pool,
        item.gpus,
        item.start,
        item.end,
        item.cost,
        item.tail,
    )


def _write_span(
    sheet: Worksheet, row: int, left: int, right: int, value: Cell, style: object
) -> None:
    if right > left:
        sheet.merge_range(row, left, row, right, "", style)
    write_cell(sheet, row, left, value, style)


def _insert_charts(
    workbook: Workbook, sheet: Worksheet, result: Result, places: Places, row: int
) -> int:
    page = _COLUMNS * _COLUMN_PIXELS - _EDGE_PIXELS
    if places.capacity is not None:
        height = 360
        capacity = capacity_chart(workbook, places.capacity, width=page, height=height)
        if capacity is not None:
            chart_options = {"description": "Capacity by kind against use, by period"}
            sheet.insert_chart(row, 0, capacity, chart_options)
            row += height // _ROW_PIXELS + 1
    half, height = (page - _CHART_GAP_PIXELS) // 2, 320
    charts = []
    if places.expiries is not None:
        size = {"width": half, "height": height}
        charts.append((expiry_chart(workbook, places.expiries, **size), "Expiries by quarter"))
    if places.costs is not None and any(places.costs.table.values("amount")):
        currency = result.scenario.currency
        chart = cost_chart(workbook, places.costs, currency, width=half, height=height)
        charts.append((chart, "Cost by line"))
    for index, (chart, description) in enumerate(charts):
        sheet.insert_chart(row, index * _COLUMNS // 2, chart, {"description": description})
    return row + (height // _ROW_PIXELS + 1 if charts else 0)
