"""The calendar sheet: campaigns and terms as bars over time, drawn with cell fills."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from textwrap import wrap
from typing import TYPE_CHECKING

from gpuladder.report.labels import kind_label
from gpuladder.report.paper import print_setup
from gpuladder.report.sheets import lines_needed, write_cell
from gpuladder.report.styles import KIND_COLOURS, WINDOW_FILL, Styles, number_format
from gpuladder.report.table import Format
from gpuladder.scenario.expand import time_grid

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from xlsxwriter.worksheet import Worksheet

    from gpuladder.analysis.result import Result

MAX_COLUMNS = 60
"""Bars have at most so many columns; longer grids show several periods in one."""

MAX_ROWS = 400
"""Most bars of each block."""

_LABELS = ("What", "Kind or place", "GPUs", "Start", "End")
_LABEL_WIDTHS = (26.0, 30.0, 8.0, 11.5, 11.5)
_HEADER_ROW = 3
_LINE_POINTS = 13.0
_MOST_LINES = 8
_FEW = 30
_FIRST_BAR = len(_LABELS)
STABLE_FILL = "#2C728E"
SPOT_FILL = KIND_COLOURS["spot"]


@dataclass(frozen=True, slots=True)
class Bar:
    """One row of the calendar.

    ``fills`` gives for each column with something to show the colour and the GPUs, if any;
    ``before`` and ``after`` tell that it reaches out of the horizon.
    """

    name: str
    place: str
    gpus: float | None
    start: date | None
    end: date | None
    fills: dict[int, tuple[str, float | None]] = field(default_factory=dict)
    before: bool = False
    after: bool = False


def time_columns(result: Result) -> tuple[tuple[date, date], ...]:
    """Return the columns of the bars: the periods, or equal groups of them when there are many."""
    boundaries = time_grid(result.scenario).boundaries
    step = -(-(len(boundaries) - 1) // MAX_COLUMNS)
    cuts = [*boundaries[:-1:step], boundaries[-1]]
    return tuple(pairwise(cuts))


def write_calendar(sheet: Worksheet, styles: Styles, result: Result, scenario_name: str) -> None:
    """Draw the calendar: campaigns first, then new and held commitments."""
    columns = time_columns(result)
    for index, width in enumerate(_LABEL_WIDTHS):
        sheet.set_column(index, index, width)
    last_column = _FIRST_BAR + len(columns) - 1
    sheet.set_column(_FIRST_BAR, last_column, 4.3 if len(columns) <= _FEW else 3.2)
    sheet.set_row(0, 24)
    sheet.write_string(0, 0, "Calendar", styles.title)
    _write_legend(sheet, styles)
    _write_header(sheet, styles, columns)
    row = _HEADER_ROW + 1
    blocks = (
        ("Campaigns", _campaign_bars(result, columns)),
        ("Commitments to sign", _order_bars(result, columns)),
        ("Commitments held", _held_bars(result, columns)),
    )
    for heading, bars in blocks:
        shown = list(bars)
        if not shown:
            continue
        for column in range(last_column + 1):
            sheet.write_blank(row, column, None, styles.heading)
        sheet.write_string(row, 0, heading, styles.heading)
        row += 1
        for bar in shown[:MAX_ROWS]:
            _write_bar(sheet, styles, row, bar, len(columns))
            row += 1
        if len(shown) > MAX_ROWS:
            more = f"… and {len(shown) - MAX_ROWS} more; all of them are in their own tables."
            sheet.write_string(row, 0, more, styles.note)
            row += 1
    sheet.freeze_panes(_HEADER_ROW + 1, 1)
    print_setup(sheet, scenario_name, row - 1, last_column)
    sheet.repeat_rows(_HEADER_ROW)


def _write_legend(sheet: Worksheet, styles: Styles) -> None:
    sheet.write_string(1, 0, "Numbers are GPUs, averages of each column.", styles.legend)
    sheet.write_string(2, 1, "campaign on stable capacity", styles.bar(STABLE_FILL))
    sheet.merge_range(2, 2, 2, 3, "", styles.bar(SPOT_FILL))
    sheet.write_string(2, 2, "mostly on spot", styles.bar(SPOT_FILL))
    sheet.write_string(2, 4, "could run", styles.bar(WINDOW_FILL))


def _write_header(sheet: Worksheet, styles: Styles, columns: tuple[tuple[date, date], ...]) -> None:
    for index, label in enumerate(_LABELS):
        sheet.write_string(_HEADER_ROW, index, label, styles.header)
    upright = styles.make(
        bold=True,
        font_size=8,
        font_color="#FFFFFF",
        bg_color="#1F3A5F",
        rotation=90,
        align="center",
        valign="vcenter",
        num_format=number_format(Format.DATE, ()),
    )
    sheet.set_row(_HEADER_ROW, 60)
    for index, (begin, _) in enumerate(columns):
        sheet.write_datetime(_HEADER_ROW, _FIRST_BAR + index, begin, upright)


def _write_bar(sheet: Worksheet, styles: Styles, row: int, bar: Bar, num_columns: int) -> None:
    text = styles.cell("General", left=True, wrap=True)
    texts = [" ".join(words.split()) for words in (bar.name, bar.place)]
    lines = max(_lines(words, width) for words, width in zip(texts, _LABEL_WIDTHS, strict=False))
    if lines > 1:
        sheet.set_row(row, _LINE_POINTS * min(lines, _MOST_LINES) + 2)
    dates = styles.cell(number_format(Format.DATE, ()), left=True)
    for index, words in enumerate(texts):
        write_cell(sheet, row, index, words, text)
    write_cell(sheet, row, 2, bar.gpus, styles.cell(number_format(Format.QUANTITY, [bar.gpus])))
    write_cell(sheet, row, 3, bar.start, dates)
    write_cell(sheet, row, 4, bar.end, dates)
    for index, (fill, gpus) in bar.fills.items():
        column, style = _FIRST_BAR + index, styles.bar(fill)
        if bar.before and index == 0:
            sheet.write_string(row, column, "◄", style)
        elif bar.after and index == num_columns - 1:
            sheet.write_string(row, column, "►", style)
        elif gpus is None:
            sheet.write_blank(row, column, None, style)
        else:
            sheet.write_number(row, column, gpus, style)


def _lines(text: str, width: float) -> int:
    """Return how many lines a text takes in a column of a width in characters."""
    # Widths count digits; the indent and the cell's own margins take two of them.
    room = int(width) - 2
    return max(len(wrap(text, room, break_on_hyphens=False)), lines_needed(text, room))


def _campaign_bars(result: Result, columns: tuple[tuple[date, date], ...]) -> Iterator[Bar]:
    stable: dict[tuple[str, int], float] = defaultdict(float)
    spot: dict[tuple[str, int], float] = defaultdict(float)
    starts = [begin for begin, _ in columns]
    for use in result.tables.campaign_use:
        target = stable if use.spot_offer is None else spot
        target[use.campaign, _column_of(starts, use.period_start)] += use.gpu_hours
    hours = [(end - begin).days * 24.0 for begin, end in columns]
    for row in result.tables.campaigns:
        fills: dict[int, tuple[str, float | None]] = dict.fromkeys(
            _covered(columns, row.earliest, row.deadline), (WINDOW_FILL, None)
        )
        for index in range(len(columns)):
            on_stable, on_spot = stable[row.id, index], spot[row.id, index]
            if on_stable + on_spot > 0:
                fill = SPOT_FILL if on_spot > on_stable else STABLE_FILL
                fills[index] = (fill, (on_stable + on_spot) / hours[index])
        place = row.spot_offer if row.pool is None else row.pool
        # Pools are joined by plus signs; with blanks around them lines break between pools.
        place = (place or row.outcome).replace("+", " + ")
        yield Bar(row.id, place, row.gpus or None, row.start, row.end, fills)


def _order_bars(result: Result, columns: tuple[tuple[date, date], ...]) -> Iterator[Bar]:
    rows = sorted(result.tables.commitments, key=lambda row: (row.start, row.end, row.offer))
    for row in rows:
        yield _term(
            columns,
            row.offer,
            f"{kind_label(row.kind)} · {row.pool}",
            row.kind,
            float(row.gpus),
            (row.start, row.end),
        )


def _held_bars(result: Result, columns: tuple[tuple[date, date], ...]) -> Iterator[Bar]:
    for row in sorted(result.tables.held, key=lambda row: (row.end, row.start, row.id)):
        place = f"{kind_label(row.kind)} · {row.pool}"
        yield _term(columns, row.id, place, "held", row.gpus, (row.start, row.end))


def _term(
    columns: tuple[tuple[date, date], ...],
    name: str,
    place: str,
    kind: str,
    gpus: float,
    term: tuple[date, date],
) -> Bar:
    start, end = term
    fill = KIND_COLOURS[kind]
    fills: dict[int, tuple[str, float | None]] = {}
    for index in _covered(columns, start, end):
        begin, until = columns[index]
        overlap = (min(end, until) - max(start, begin)).days / (until - begin).days
        fills[index] = (fill, gpus * overlap)
    return Bar(
        name,
        place,
        gpus,
        start,
        end,
        fills,
        before=start < columns[0][0],
        after=end > columns[-1][1],
    )


def _covered(columns: tuple[tuple[date, date], ...], start: date, end: date) -> list[int]:
    return [i for i, (begin, until) in enumerate(columns) if start < until and end > begin]


def _column_of(starts: list[date], day: date) -> int:
    return max(bisect_right(starts, day) - 1, 0)
