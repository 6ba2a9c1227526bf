"""Puts one table on one worksheet: title, note, header, rows, totals, filters and print setup.

Every sheet of a table has the same shape: title in row 1, note in row 2, header in row 4, so that
``pandas.read_excel(path, sheet_name=…, header=3)`` reads any of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from gpuladder.report.csv_files import cell_text
from gpuladder.report.paper import first_page, page_breaks, print_in_blocks, print_setup
from gpuladder.report.styles import MUTED, Styles, format_of_one, number_format
from gpuladder.report.table import (
    Cell,
    Column,
    Format,
    Row,
    Table,
    column_total,
    plain,
    text_width,
    without_empty,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from xlsxwriter.format import Format as CellFormat
    from xlsxwriter.worksheet import Worksheet

HEADER_ROW = 3
"""Zero-based row of the header of a table that has a sheet of its own."""

ROW_LIMIT = 20_000
"""Rows of one table shown in the workbook; the CSV file always has all of them."""

DEFAULT_WIDTH = 8.43
"""Width of a column that none is set for, in characters."""

_LEAST_SHEET_WIDTH = 90.0
_MIN_WIDTH, _MAX_WIDTH = 9.0, 46.0
_SAMPLE_ROWS = 2_000
_TEXT_LIMIT = 32_767
_FIRST_EXCEL_YEAR = 1900
_LINE_POINTS = 15.0
_BODY_LINE_POINTS = 13.0
_NOTE_LIMIT = 255
_CURRENCY_LETTERS = 3
_MOST_LINES = 12
_NOT_KNOWN = "–"
_WRAPPED = (Format.TEXT, Format.ANY)


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a table lies on its sheet, zero-based and inclusive; charts refer to it."""

    sheet: str
    table: Table
    header_row: int
    first_row: int
    last_row: int
    first_column: int = 0

    def column_range(self, key: str) -> list[Any]:
        """Return ``[sheet, first row, column, last row, column]`` of one column's values."""
        column = self.first_column + self.table.position(key)
        return [self.sheet, self.first_row, column, self.last_row, column]

    def header_cell(self, key: str) -> list[Any]:
        """Return ``[sheet, row, column]`` of one column's header."""
        return [self.sheet, self.header_row, self.first_column + self.table.position(key)]


def write_cell(sheet: Worksheet, row: int, column: int, value: Cell, style: CellFormat) -> None:
    """Write one value by its own type: text never becomes a formula, a link or a number."""
    value = plain(value)
    if value is None:
        sheet.write_blank(row, column, None, style)
    elif isinstance(value, str):
        sheet.write_string(row, column, _short(value), style)
    elif isinstance(value, bool):
        sheet.write_string(row, column, "yes" if value else "no", style)
    elif isinstance(value, date):  # a datetime is one too
        if value.year < _FIRST_EXCEL_YEAR:
            sheet.write_string(row, column, cell_text(value), style)
        else:
            sheet.write_datetime(row, column, value, style)
    else:
        sheet.write_number(row, column, value, style)


def write_sheet(sheet: Worksheet, styles: Styles, table: Table, scenario_name: str) -> Placed:
    """Write a table as the only content of a sheet; return where it lies.

    Parameters
    ----------
    sheet : Worksheet
        Empty worksheet.
    styles : Styles
        Formats of its workbook.
    table : Table
        At least one row.
    scenario_name : str
        Shown in the printed footer.
    """
    table = without_empty(table)
    widths = [column_width(column, table.rows, i) for i, column in enumerate(table.columns)]
    for index, width in enumerate(widths):
        sheet.set_column(index, index, width)
    write_title(sheet, styles, table, widths, is_cut=bool(page_breaks(widths)))
    placed = write_table(sheet, styles, table, HEADER_ROW, widths)
    last_row = placed.last_row + (1 if has_total(table) else 0)
    sheet.freeze_panes(HEADER_ROW + 1, 1)
    print_setup(sheet, scenario_name, last_row, last_sheet_column(widths))
    print_in_blocks(sheet, widths)
    sheet.repeat_rows(HEADER_ROW)
    return placed


def write_table(
    sheet: Worksheet, styles: Styles, table: Table, header_row: int, widths: list[float]
) -> Placed:
    """Write header, rows and totals of a table as an Excel table; return where it lies."""
    rows = table.rows[:ROW_LIMIT]
    first, last = header_row + 1, header_row + len(rows)
    options: list[dict[str, Any]] = []
    formats: list[str] = []
    is_totalled = has_total(table)
    money = number_format(Format.MONEY, _money_values(table))
    for index, column in enumerate(table.columns):
        is_money = column.format is Format.MONEY
        shown = money if is_money else number_format(column.format, (row[index] for row in rows))
        formats.append(shown)
        write = _cell_writer(sheet, styles, table, column, shown)
        for offset, row in enumerate(rows):
            write(first + offset, index, row)
        option: dict[str, Any] = {
            "header": column.header,
            "header_format": styles.header if is_left(column) else styles.number_header,
        }
        if is_totalled:
            option |= _total_option(table, index, first, last)
        options.append(option)
        if column.note:
            sheet.data_validation(
                header_row,
                index,
                header_row,
                index,
                {
                    "validate": "any",
                    "input_title": column.title[:32],
                    "input_message": column.note[:_NOTE_LIMIT],
                },
            )
    _set_heights(sheet, table, first, widths)
    sheet.set_row(header_row, _LINE_POINTS * _header_lines(table.columns, widths))
    sheet.add_table(
        header_row,
        0,
        last + (1 if is_totalled else 0),
        len(table.columns) - 1,
        {
            "name": f"t_{table.name}",
            "style": None,
            "columns": options,
            "total_row": is_totalled,
        },
    )
    if is_totalled:
        _write_totals(sheet, styles, table, first, last, formats)
    return Placed(sheet.get_name(), table, header_row, first, last)


def unit_format(unit: str, value: Cell) -> str:
    """Return the number format of one value from the unit beside it."""
    by_unit = {"share": Format.SHARE, "GPU-hours": Format.COUNT, "GPUs": Format.QUANTITY}
    if isinstance(value, date):
        return number_format(Format.DATE, ())
    if len(unit) == _CURRENCY_LETTERS and unit.isupper():
        return number_format(Format.MONEY, [value]).partition(";")[0]
    return number_format(by_unit.get(unit, Format.NUMBER), [value]).partition(";")[0]


def _cell_writer(
    sheet: Worksheet, styles: Styles, table: Table, column: Column, shown: str
) -> Callable[[int, int, Row], None]:
    """Return what writes the cell of one column into a row."""
    style = styles.cell(shown, wrap=column.format in _WRAPPED, left=is_left(column))
    if column.format is Format.EACH:
        return lambda at, index, row: write_cell(
            sheet, at, index, row[index], styles.cell(format_of_one(row[index]))
        )
    if column.format not in (Format.BY_UNIT, Format.ANY):
        return lambda at, index, row: write_cell(sheet, at, index, row[index], style)
    unit = table.position("unit") if column.format is Format.BY_UNIT else None

    def write(at: int, index: int, row: Row) -> None:
        own = unit_format("" if unit is None else str(row[unit] or ""), row[index])
        style = styles.cell(own, wrap=True, left=unit is None)
        # A figure that is not known is told apart from one that was forgotten.
        value = _NOT_KNOWN if row[index] is None and unit is not None else row[index]
        write_cell(sheet, at, index, value, style)

    return write


def _money_values(table: Table) -> Iterator[Cell]:
    """Give all amounts of a table, so that they are shown with the same number of decimals."""
    for index, column in enumerate(table.columns):
        if column.format is Format.MONEY:
            yield from (row[index] for row in table.rows)


def _set_heights(sheet: Worksheet, table: Table, first: int, widths: list[float]) -> None:
    """Make rows as high as their wrapped text needs; most need one line and are left alone."""
    wrapped = [i for i, column in enumerate(table.columns) if column.format in _WRAPPED]
    for offset, row in enumerate(table.rows[:ROW_LIMIT]):
        texts = ((value, widths[i]) for i in wrapped if isinstance(value := row[i], str))
        # Widths count digits of the default font; running text in a smaller one is narrower.
        lines = max((lines_needed(text, (width - 2) * 1.1) for text, width in texts), default=1)
        if lines > 1:
            sheet.set_row(first + offset, _BODY_LINE_POINTS * min(lines, _MOST_LINES) + 2)


def column_width(column: Column, rows: tuple[tuple[Cell, ...], ...], index: int) -> float:
    """Return a width, in characters, that shows a column's values and the words of its header."""
    if column.width is not None:
        return column.width
    sample = [row[index] for row in rows[:_SAMPLE_ROWS]]
    longest_word = max((text_width(word) for word in column.header.split()), default=0)
    content = max((_shown_width(value, column.format) for value in sample), default=0)
    # Room for the filter button beside the header, and for the indent and a total, which is longer
    # than a part.
    wanted = max(longest_word + 3, -(-text_width(column.header) // 2) + 4, content + 3)
    return float(min(max(wanted, _MIN_WIDTH), _MAX_WIDTH))


def lines_needed(text: str, width: float) -> int:
    """Return how many lines a text takes when it is wrapped to a width in characters."""
    return sum(
        max(1, -(-text_width(line) // max(int(width), 1))) for line in text.splitlines() or [""]
    )


def _shown_width(value: Cell, shown: Format) -> int:
    if value is None:
        return 0
    if isinstance(value, str):
        return max((text_width(line) for line in value.splitlines()), default=0)
    if isinstance(value, datetime):
        return 16
    if isinstance(value, date):
        return 11
    if isinstance(value, bool):
        return 3
    decimals = {Format.MONEY: 3, Format.PRICE: 5, Format.QUANTITY: 2, Format.NUMBER: 4}
    return len(f"{value:,.0f}") + decimals.get(shown, 1) + 1


def _header_lines(columns: tuple[Column, ...], widths: list[float]) -> int:
    # Two characters of a header cell's width are under the filter button.
    return max(
        lines_needed(column.header, width - 3)
        for column, width in zip(columns, widths, strict=True)
    )


def has_total(table: Table) -> bool:
    """Tell whether a table has a totals row on its sheet."""
    return any(column.total for column in table.columns) and len(table.rows) <= ROW_LIMIT


def _total_option(table: Table, index: int, first: int, last: int) -> dict[str, Any]:
    """Return what the Excel table has to know of a column's total."""
    if table.columns[index].total:
        return {"total_function": _total_formula(index, first, last)}
    return {"total_string": "Total"} if index == 0 else {}


def _total_formula(index: int, first: int, last: int) -> str:
    # Plain cell references: LibreOffice 7 does not compute structured ones with a comma in the
    # header. 109 is the sum of what the filter shows.
    letter = column_letter(index)
    return f"=SUBTOTAL(109,{letter}{first + 1}:{letter}{last + 1})"


def _write_totals(
    sheet: Worksheet, styles: Styles, table: Table, first: int, last: int, formats: list[str]
) -> None:
    """Write the totals row: live formulas that carry the value they had when written."""
    for index, (column, shown) in enumerate(zip(table.columns, formats, strict=True)):
        if column.total:
            formula = _total_formula(index, first, last)
            value = column_total(table, index)
            sheet.write_formula(last + 1, index, formula, styles.total(shown), value)
        elif index == 0:
            sheet.write_string(last + 1, index, "Total", styles.total_label)


def is_left(column: Column) -> bool:
    """Tell whether a column's values stand on the left of their cells."""
    return column.format in (Format.TEXT, Format.DATE, Format.MOMENT, Format.ANY)


def column_letter(index: int) -> str:
    """Return the letters of a zero-based column: 0 is ``A``, 26 is ``AA``."""
    letters = ""
    number = index + 1
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def _short(text: str) -> str:
    return text if len(text) <= _TEXT_LIMIT else text[: _TEXT_LIMIT - 1] + "…"


def write_title(
    sheet: Worksheet,
    styles: Styles,
    table: Table,
    widths: list[float],
    *,
    at: int = 0,
    is_cut: bool = False,
) -> None:
    """Write a table's title, and under it its note; further down the sheet as a heading.

    Where the print is cut into blocks, title and note stand clear of the column that all show.
    """
    widths = first_page(widths) if is_cut else widths
    last, begin = last_sheet_column(widths), int(is_cut and len(widths) > 2)
    if at:
        for index in range(last + 1):
            sheet.write_blank(at, index, None, styles.heading)
        sheet.write_string(at, 0, table.title, styles.heading)
    else:
        sheet.set_row(at, 24)
        sheet.write_string(at, begin, table.title, styles.title)
    note = table.note
    if len(table.rows) > ROW_LIMIT:
        note = (
            f"{note} The first {ROW_LIMIT:,} of {len(table.rows):,} rows; "
            f"all of them are in tables/{table.name}.csv."
        ).strip()
    if note:
        style = styles.make(font_color=MUTED, text_wrap=True, italic=True, valign="vcenter")
        look, space = (style, 5.0) if at else (styles.note, 0.0)
        write_across(sheet, at + 1, note, widths, look, space=space, begin=begin)


def write_across(
    sheet: Worksheet,
    row: int,
    text: str,
    widths: list[float],
    style: CellFormat,
    *,
    size: float = 1.0,
    space: float = 0.0,
    begin: int = 0,
) -> None:
    """Write running text over the width of a sheet, as high as it needs, from a column on.

    ``size`` is that of its font, in notes' sizes; ``space`` are points around it.
    """
    last = last_sheet_column(widths)
    room = sum(widths[begin:]) + DEFAULT_WIDTH * (last + 1 - len(widths))
    sheet.set_row(row, _LINE_POINTS * lines_needed(text, room * 1.1 / size) + space)
    sheet.merge_range(row, begin, row, last, "", style)
    sheet.write_string(row, begin, text, style)


def last_sheet_column(widths: list[float]) -> int:
    """Return the last column of the sheet, empty ones included that leave room for the note."""
    missing = max(_LEAST_SHEET_WIDTH - sum(widths), 0.0)
    return max(len(widths) + int(-(-missing // DEFAULT_WIDTH)), 2) - 1
