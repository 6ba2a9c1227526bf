"""Reading an Excel workbook: one sheet per table, and a sheet ``scenario`` of keys and values."""

from __future__ import annotations

import warnings
import zipfile
import zlib
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import ParseError

from openpyxl import load_workbook
from openpyxl.utils import get_column_letter
from openpyxl.utils.exceptions import InvalidFileException

from gpuladder.errors import Problem, ScenarioError
from gpuladder.scenario.csv_reader import cell_value, header_keys
from gpuladder.scenario.reading import put_table, read_linked_tables, unread_notice
from gpuladder.scenario.source import (
    NESTED_TABLES,
    TABLES,
    RawDocument,
    RawList,
    RawMap,
    reading_problem,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

MAIN_SHEET = "scenario"
OWN_SHEETS = ("notes", "lists")
"""Sheets of our own templates that hold no data."""
MAX_UNPACKED_BYTES = 500_000_000
FREE_TEXT_KEYS = ("name", "description", "currency")
_ERRORS = ("#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!", "#GETTING_DATA")
_BROKEN = (
    InvalidFileException,
    zipfile.BadZipFile,
    zlib.error,
    ParseError,
    KeyError,
    ValueError,
    TypeError,
    AttributeError,
    EOFError,
    OSError,
)


def read_workbook(path: Path) -> RawDocument:
    """Return the raw tree of a workbook.

    Raises
    ------
    ScenarioError
        When it is not a workbook, has no ``scenario`` sheet, or a sheet cannot be read as a table;
        all problems at once.
    """
    _refuse_bombs(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # openpyxl warns of styles and lists it does not keep
            sheets, formulas = _cells(path)
    except _BROKEN as error:
        raise _not_a_workbook(path, str(error) or type(error).__name__) from error
    root = RawMap(str(path))
    problems: list[Problem] = []
    notices: list[Problem] = []
    for name, rows in sheets.items():
        try:
            reader = _SheetReader(name, formulas)
            if name == MAIN_SHEET:
                reader.keys_and_values(rows, root)
            elif name in TABLES or name in NESTED_TABLES:
                put_table(root, name, reader.table(rows), f"{name}!A1")
            elif name.lower() not in OWN_SHEETS:
                notices.append(unread_notice(name, name))
        except ScenarioError as error:
            problems += error.problems
    if MAIN_SHEET not in sheets:
        problems.append(
            reading_problem(
                "GL-S006",
                f"{path} has no sheet `{MAIN_SHEET}`",
                fix="add one with the columns `key` and `value`: name, horizon.start, …",
            )
        )
    try:
        sources = read_linked_tables(root, path.parent)
    except ScenarioError as error:
        problems += error.problems
        sources = []
    if problems:
        raise ScenarioError(problems)
    return RawDocument(root, path, tuple(notices), (path, *sources))


class _SheetReader:
    """Turns the cells of one sheet into rows; knows the sheet's name for messages."""

    def __init__(self, sheet: str, formulas: frozenset[tuple[str, str]]) -> None:
        self.sheet = sheet
        self.formulas = formulas
        self.problems: list[Problem] = []

    def table(self, cells: Sequence[Sequence[Any]]) -> RawList:
        """Return the rows of a table: the first row that is not empty is the header."""
        numbered = self.filled_rows(cells)
        first = next(numbered, None)
        if first is None:
            return RawList(f"{self.sheet}!A1")
        keys = self.header(*first)
        rows = RawList(self.place(first[0], 0))
        for number, values in numbered:
            row = RawMap(self.place(number, 0))
            for column, value in enumerate(values):
                key = keys[column] if column < len(keys) else ""
                self.put(row, key, value, number, column)
            if row:
                rows.add(row, row.place)
        self.finish()
        return rows

    def keys_and_values(self, cells: Sequence[Sequence[Any]], root: RawMap) -> None:
        """Put the rows of the main sheet into the tree; dots in a key open sections."""
        numbered = self.filled_rows(cells)
        first = next(numbered, None)
        keys = self.header(*first) if first is not None else []
        if "key" not in keys or "value" not in keys:
            raise ScenarioError(
                reading_problem(
                    "GL-S006",
                    "the first row must have the columns `key` and `value`",
                    where=f"{self.sheet}!A1",
                )
            )
        at_key, at_value = keys.index("key"), keys.index("value")
        for number, values in numbered:
            name = str(values[at_key] or "").strip() if at_key < len(values) else ""
            value = values[at_value] if at_value < len(values) else None
            if not name:
                if value is not None:
                    self.report(number, at_value, f"the value {value!r} has no key", "GL-S006")
                continue
            self.put_dotted(root, name, value, number, at_value)
        self.finish()

    def put_dotted(self, root: RawMap, name: str, value: Any, number: int, column: int) -> None:
        place = self.place(number, column)
        holder = root
        *sections, key = name.split(".")
        for section in sections:
            if section not in holder:
                holder.put(section, RawMap(place), place)
            inner = holder[section]
            if not isinstance(inner, RawMap):
                self.report(number, column, f"`{name}`: `{section}` has a value already", "GL-S003")
                return
            holder = inner
        if key in holder:
            self.report(number, column, f"the key `{name}` stands twice", "GL-S003")
            return
        if name in FREE_TEXT_KEYS and isinstance(value, str):
            holder.put(key, value, place)
        else:
            self.put(holder, key, value, number, column)

    def filled_rows(self, cells: Sequence[Sequence[Any]]) -> Iterator[tuple[int, Sequence[Any]]]:
        for number, values in enumerate(cells, start=1):
            if any(value is not None and value != "" for value in values) or any(
                (self.sheet, f"{get_column_letter(column + 1)}{number}") in self.formulas
                for column in (range(len(values)) if self.formulas else ())
            ):
                yield number, values

    def header(self, number: int, values: Sequence[Any]) -> list[str]:
        texts = ["" if value is None else str(value) for value in values]
        return header_keys(texts, self.place(number, 0))

    def put(self, row: RawMap, key: str, value: Any, number: int, column: int) -> None:
        place = self.place(number, column)
        if value is None and (self.sheet, place.split("!")[-1]) in self.formulas:
            self.report(
                number,
                column,
                "a formula without a stored value",
                "GL-S006",
                fix="open the workbook in Excel or LibreOffice once and save it",
            )
            return
        try:
            value = _plain(value, key, place)
        except ScenarioError as error:
            self.problems += error.problems
            return
        if value is None or value == "":
            return
        if isinstance(value, str) and value in _ERRORS:
            self.report(number, column, f"the cell shows the error {value}", "GL-S006")
        elif not key:
            self.report(number, column, f"the value {value!r} has no column header", "GL-S006")
        else:
            row.put(key, value, place)

    def report(self, number: int, column: int, what: str, code: str, *, fix: str = "") -> None:
        self.problems.append(reading_problem(code, what, where=self.place(number, column), fix=fix))

    def place(self, number: int, column: int) -> str:
        return f"{self.sheet}!{get_column_letter(column + 1)}{number}"

    def finish(self) -> None:
        if self.problems:
            raise ScenarioError(self.problems)


def _plain(value: Any, key: str, place: str) -> Any:
    """Return a cell's value as YAML would have it; a midnight is a date."""
    if isinstance(value, str):
        return cell_value(value, key, place)
    if isinstance(value, datetime):
        rounded = (value + timedelta(milliseconds=500)).replace(microsecond=0)
        return rounded.date() if rounded.time() == time() else rounded
    if isinstance(value, (bool, int, float, date)) or value is None:
        return value
    return str(value)


def _cells(path: Path) -> tuple[dict[str, list[tuple[Any, ...]]], frozenset[tuple[str, str]]]:
    """Return the values of every sheet, and where formulas stand."""
    book = load_workbook(path, read_only=True, data_only=True)
    sheets = {}
    for sheet in book.worksheets:
        sheet.reset_dimensions()
        sheets[sheet.title] = list(sheet.iter_rows(values_only=True))
    book.close()
    return sheets, _formulas(path) if _has_formulas(path) else frozenset()


def _has_formulas(path: Path) -> bool:
    with zipfile.ZipFile(path) as archive:
        return any(
            b"<f>" in content or b"<f " in content
            for name in archive.namelist()
            if name.startswith("xl/worksheets/")
            for content in (archive.read(name),)
        )


def _formulas(path: Path) -> frozenset[tuple[str, str]]:
    book = load_workbook(path, read_only=True, data_only=False)
    found = set()
    for sheet in book.worksheets:
        sheet.reset_dimensions()
        for number, row in enumerate(sheet.iter_rows(), start=1):
            found |= {
                (sheet.title, f"{get_column_letter(column + 1)}{number}")
                for column, cell in enumerate(row)
                if getattr(cell, "data_type", "") == "f"
            }
    book.close()
    return frozenset(found)


def _refuse_bombs(path: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
    except (zipfile.BadZipFile, OSError) as error:
        raise _not_a_workbook(path, str(error)) from error
    if size > MAX_UNPACKED_BYTES:
        raise _not_a_workbook(path, f"it unpacks to {size / 1e6:.0f} MB")


def _not_a_workbook(path: Path, reason: str) -> ScenarioError:
    return ScenarioError(
        reading_problem(
            "GL-S006",
            f"not a readable Excel workbook: {path} ({reason})",
            fix="save it as .xlsx without a password",
        )
    )
