"""What a table is: named rows under columns that carry their unit, format and note.

Every deliverable (CSV, workbook, terminal) is a rendering of these; ``tables`` defines the columns.
"""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass, replace
from datetime import date, datetime
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

Cell = str | float | int | bool | date | datetime | None
Row = tuple[Cell, ...]

_GAP = "  "

# Characters that XML 1.0 cannot hold; a spreadsheet file with one of them does not open.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


class Format(StrEnum):
    """How the values of a column are shown; never how they are stored."""

    TEXT = "text"
    DATE = "date"
    MOMENT = "moment"
    MONEY = "money"
    PRICE = "price"
    QUANTITY = "quantity"
    COUNT = "count"
    SHARE = "share"
    NUMBER = "number"
    ANY = "any"
    """Each value by its own type."""
    EACH = "each"
    """Each value with the digits that its own size deserves."""
    BY_UNIT = "by_unit"
    """By the row's own ``unit`` cell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    key : str
        Name in CSV files, ``snake_case``, stable between versions.
    title : str
        Name for people, without the unit.
    unit : str
        Unit shown in the header; the currency is written out (``USD``), empty when there is none.
    format : Format
        How values are shown.
    width : float or None
        Width in characters; None fits it to the content.
    total : bool
        Whether the values may be added up.
    optional : bool
        Left out of the workbook when every value is zero or missing; CSV files always have it.
    note : str
        What the column means, for the header's comment and the data dictionary.
    """

    key: str
    title: str
    unit: str = ""
    format: Format = Format.TEXT
    width: float | None = None
    total: bool = False
    optional: bool = False
    note: str = ""

    @property
    def header(self) -> str:
        """The title with its unit, as ``Cost (USD)``; a title that is its own unit once."""
        if not self.unit or self.unit == self.title:
            return self.title
        return f"{self.title} ({self.unit})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows under columns.

    Attributes
    ----------
    name : str
        Name of its CSV file and, in the workbook, of its Excel table; ``snake_case``.
    title : str
        What it answers, one line.
    columns : tuple of Column
    rows : tuple of tuple
        One cell per column each.
    note : str
        How to read it, one or two sentences.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    note: str = ""

    def __post_init__(self) -> None:
        keys = [column.key for column in self.columns]
        if len(set(keys)) != len(keys):
            msg = f"table {self.name} has two columns of one key: {keys}"
            raise ValueError(msg)
        if any(len(row) != len(keys) for row in self.rows):
            msg = f"table {self.name} has a row that does not fit its {len(keys)} columns"
            raise ValueError(msg)

    def values(self, key: str) -> tuple[Cell, ...]:
        """Return the cells of one column.

        Raises
        ------
        KeyError
            When the table has no such column.
        """
        position = self.position(key)
        return tuple(row[position] for row in self.rows)

    def has(self, key: str) -> bool:
        """Tell whether the table has a column."""
        return any(column.key == key for column in self.columns)

    def position(self, key: str) -> int:
        """Return the index of a column, or raise KeyError."""
        for index, column in enumerate(self.columns):
            if column.key == key:
                return index
        raise KeyError(key)


def column_total(table: Table, index: int) -> float:
    """Return the sum of a column's finite numbers, exactly rounded."""
    return math.fsum(
        value
        for row in table.rows
        if isinstance(value := row[index], int | float)
        and not isinstance(value, bool)
        and math.isfinite(value)
    )


def without_empty(table: Table) -> Table:
    """Return the table without its optional columns in which there is nothing."""
    kept = [
        index
        for index, column in enumerate(table.columns)
        if not column.optional or any(row[index] for row in table.rows)
    ]
    return replace(
        table,
        columns=tuple(table.columns[index] for index in kept),
        rows=tuple(tuple(row[index] for index in kept) for row in table.rows),
    )


def text_width(text: str) -> int:
    """Return the width of text in character cells; East Asian wide characters take two."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def aligned(lines: Sequence[Sequence[str]], *, right: Collection[int]) -> Iterator[str]:
    """Yield rows of cells as lines of a terminal under each other, some columns on the right."""
    cleaned = [[clean_text(cell) for cell in line] for line in lines]
    widths = [max(text_width(cell) for cell in column) for column in zip(*cleaned, strict=True)]
    for line in cleaned:
        cells = []
        for index, (cell, width) in enumerate(zip(line, widths, strict=True)):
            space = " " * (width - text_width(cell))
            cells.append(space + cell if index in right else cell + space)
        yield _GAP.join(cells).rstrip()


def shortened(text: str, width: int) -> str:
    """Return the text cut in the middle to a width in terminal columns.

    Names differ at their ends, as the tenors of one offer do. Wide characters count as two.
    """
    if text_width(text) <= width:
        return text
    tail = text[-((width - 1) // 2) :]
    while text_width(tail) > (width - 1) // 2:
        tail = tail[1:]
    head = ""
    for char in text:
        if text_width(head + char + tail) > width - 1:
            break
        head += char
    return head + "…" + tail


def one_line(text: str) -> str:
    """Return text as one line without characters that move a terminal's cursor or colours."""
    # Escape sequences in a name must not reach the terminal.
    return " ".join(clean_text(text).split())


def clean_text(text: str) -> str:
    """Return the text without characters that a spreadsheet or a CSV reader cannot hold."""
    return _UNPRINTABLE.sub("", text)


def plain(value: Cell) -> Cell:
    """Return the cell as it may be written: text cleaned, a number that is none left empty."""
    if isinstance(value, str):
        return clean_text(value) or None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
