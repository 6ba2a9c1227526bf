"""Write a scenario as an Excel workbook: a sheet per table, with units, notes and choice lists."""

from __future__ import annotations

import math
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import xlsxwriter
from xlsxwriter.utility import xl_col_to_name

from gpuladder.errors import Problem, UsageError
from gpuladder.scenario.columns import Column, columns, is_share, unit
from gpuladder.scenario.source import NESTED_TABLES, TABLES
from gpuladder.scenario.workbook_reader import MAIN_SHEET
from gpuladder.scenario.writing import REQUIRED_TABLES, already_there, cell_text, plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xlsxwriter.format import Format
    from xlsxwriter.workbook import Workbook
    from xlsxwriter.worksheet import Worksheet

    from gpuladder.scenario.schema import Scenario

LIST_ROWS = 2_000
"""Rows to which choice lists reach."""
_MAX_TEXT = 32_000
_FIRST_EXCEL_DATE = date(1901, 1, 1)
_DATE_KEYS = frozenset(
    {
        "superseded",
        "available_from",
        "available_until",
        "earliest",
        "deadline",
        "start",
        "end",
        "from",
        "until",
        "after",
        "at",
    }
)
_NOTES = (
    "How to fill in this workbook",
    "",
    "Each sheet is one table of the scenario; each row one thing. Bold headers are required.",
    "The sheet `scenario` holds single values: one key a row, dots for keys inside a section.",
    "The part of a header in [brackets] is the unit and is not read; everything before it is.",
    "An empty cell leaves the key out, and its default counts. Hover over a header to read it.",
    "A cell that begins with [ or { is a list or mapping: [64, 128], {every: 4 weeks, count: 3}.",
    "Spans are written `14 days`, `4 weeks`, `12 months`, `3 years`; shares between 0 and 1.",
    "Rows are never used twice: ids must be unique in their sheet. Ends of spans are exclusive.",
    "Sheets called `notes` are not read. Check the workbook with: gpuladder validate FILE",
)


class _Styles(NamedTuple):
    required: Format
    optional: Format
    date: Format
    moment: Format
    title: Format


def dump_workbook(
    scenario: Scenario,
    path: Path,
    *,
    all_columns: bool = False,
    notes: Mapping[str, str] | None = None,
) -> None:
    """Write the scenario as an ``.xlsx`` workbook that loads to an equal ``Scenario``.

    Text is always written as text and can never become a formula.

    Parameters
    ----------
    scenario : Scenario
    path : pathlib.Path
        Must not be there yet.
    all_columns : bool
        Write every column a table may have, and every table, for filling in.
    notes : mapping of str to str, optional
        Notes beside keys of the main sheet.

    Raises
    ------
    UsageError
        When the file is there already.
    """
    if path.exists():
        raise already_there(path)
    content = plain(scenario)
    tables = {name: content.pop(name, []) for name in TABLES}
    for name in NESTED_TABLES:
        section, key = name.split(".")
        tables[name] = content.get(section, {}).pop(key, [])
    with xlsxwriter.Workbook(
        str(path),
        {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False},
    ) as book:
        styles = _styles(book)
        _main_sheet(book.add_worksheet(MAIN_SHEET), content, scenario, notes or {}, styles)
        for name, rows in tables.items():
            if rows or name in REQUIRED_TABLES or (all_columns and name in TABLES):
                kept = _kept(name, rows, scenario.currency, all_columns=all_columns)
                _table_sheet(book.add_worksheet(name), rows, kept, styles)
        sheet = book.add_worksheet("notes")
        sheet.set_column(0, 0, 100)
        for number, line in enumerate(_NOTES):
            sheet.write_string(number, 0, line, styles.title if number == 0 else None)


def _kept(
    name: str, rows: Sequence[Mapping[str, Any]], currency: str, *, all_columns: bool
) -> list[Column]:
    used = {key for row in rows for key in row}
    return [
        column
        for column in columns(name, currency)
        if all_columns or column.key in used or column.is_required
    ]


def _styles(book: Workbook) -> _Styles:
    header = {"bottom": 1, "text_wrap": True, "valign": "top"}
    return _Styles(
        required=book.add_format({**header, "bold": True, "bg_color": "#DCE6F1"}),
        optional=book.add_format({**header, "bg_color": "#F2F2F2"}),
        date=book.add_format({"num_format": "yyyy-mm-dd"}),
        moment=book.add_format({"num_format": "yyyy-mm-dd hh:mm"}),
        title=book.add_format({"bold": True, "font_size": 13}),
    )


def _main_sheet(
    sheet: Worksheet,
    content: Mapping[str, Any],
    scenario: Scenario,
    notes: Mapping[str, str],
    styles: _Styles,
) -> None:
    for column, (title, width) in enumerate(
        (("key", 32), ("value", 40), ("unit", 24), ("note", 90))
    ):
        sheet.write_string(0, column, title, styles.required if column < 2 else styles.optional)
        sheet.set_column(column, column, width)
    sheet.freeze_panes(1, 0)
    for number, (key, value) in enumerate(_flat(content), start=1):
        sheet.write_string(number, 0, key)
        _write(sheet, number, 1, key.rpartition(".")[2], value, styles)
        sheet.write_string(number, 2, unit(key, scenario.currency))
        sheet.write_string(number, 3, notes.get(key, ""))
        if key == "horizon.step":
            choices = {"validate": "list", "source": ["day", "week", "month", "quarter"]}
            sheet.data_validation(number, 1, number, 1, choices)


def _flat(content: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Return nested sections as dotted keys; mappings keyed by names or sizes stay whole."""
    flat: list[tuple[str, Any]] = []
    for key, value in content.items():
        if isinstance(value, dict) and key in ("horizon", "policy", "ladder", "solver"):
            flat += _flat(value, f"{prefix}{key}.")
        else:
            flat.append((f"{prefix}{key}", value))
    return flat


def _table_sheet(
    sheet: Worksheet,
    rows: Sequence[Mapping[str, Any]],
    kept: Sequence[Column],
    styles: _Styles,
) -> None:
    sheet.freeze_panes(1, 1)
    sheet.set_row(0, 32)
    for number, column in enumerate(kept):
        style = styles.required if column.is_required else styles.optional
        sheet.write_string(0, number, column.header, style)
        if column.note:
            sheet.write_comment(0, number, column.note, {"x_scale": 2, "y_scale": 1.2})
        sheet.set_column(number, number, max(12, min(24, len(column.header) + 2)))
        _offer_choices(sheet, number, column)
    for number, row in enumerate(rows, start=1):
        for place, column in enumerate(kept):
            if column.key in row:
                _write(sheet, number, place, column.key, row[column.key], styles)
    if rows:
        sheet.autofilter(0, 0, len(rows), len(kept) - 1)
    sheet.ignore_errors({"number_stored_as_text": f"A1:{xl_col_to_name(len(kept) - 1)}{LIST_ROWS}"})


def _offer_choices(sheet: Worksheet, number: int, column: Column) -> None:
    if column.choices:
        rule: dict[str, Any] = {"validate": "list", "source": list(column.choices)}
    elif column.refers_to:
        rule = {
            "validate": "list",
            "source": f"='{column.refers_to}'!$A$2:$A${LIST_ROWS}",
            "error_type": "warning",
            "error_message": f"Not an id of the sheet {column.refers_to}.",
        }
    elif is_share(column):
        rule = {
            "validate": "decimal",
            "criteria": "between",
            "minimum": 0,
            "maximum": 1,
            "error_message": "A share is written between 0 and 1.",
        }
    else:
        return
    sheet.data_validation(1, number, LIST_ROWS, number, rule)


def _write(sheet: Worksheet, row: int, column: int, key: str, value: Any, styles: _Styles) -> None:
    """Write a value so that it reads back exactly."""
    if isinstance(value, str) and key in _DATE_KEYS:
        moment = datetime.fromisoformat(value)
        if moment.date() >= _FIRST_EXCEL_DATE and not moment.microsecond:
            style = styles.date if len(value) == len("2026-07-06") else styles.moment
            sheet.write_datetime(row, column, moment, style)
            return
    if isinstance(value, (int, float)) and _is_kept_by_excel(value):
        sheet.write_number(row, column, value)
        return
    text = cell_text(value)
    if len(text) > _MAX_TEXT:
        raise UsageError(
            Problem(
                code="GL-S010",
                what=f"`{key}` has {len(text)} characters, more than a cell of a workbook holds",
                fix="write the scenario as YAML or as a folder",
            )
        )
    sheet.write_string(row, column, text)


def _is_kept_by_excel(value: float) -> bool:
    """Tell whether the 16 digits of a cell give back the same number."""
    return math.isfinite(value) and float(f"{value:.16G}") == value
