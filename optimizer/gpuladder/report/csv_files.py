"""Tables as CSV: UTF-8, ISO dates, full precision, and nothing a spreadsheet would run."""

from __future__ import annotations

import csv
import io
import re
from datetime import date, datetime
from typing import TYPE_CHECKING

from gpuladder.report.table import Cell, Column, Table, plain

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

DICTIONARY = "columns"
"""Name of the file that says what every column means."""

_RUNS_AS_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d*)?([eE][+-]?\d+)?")


def csv_text(table: Table) -> str:
    """Return a table as CSV text: a header of column keys, then one line per row.

    Dates are ISO, numbers have the shortest digits that read back to the same value, and a missing
    value is empty. Text that a spreadsheet would take for a formula (it begins with ``=``, ``+``,
    ``-``, ``@``, a tab or a carriage return, and is not a negative number) gets a leading
    apostrophe, so that ``+007`` does not turn into 7.
    """
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([column.key for column in table.columns])
    writer.writerows([[cell_text(value) for value in row] for row in table.rows])
    return stream.getvalue()


def cell_text(value: Cell) -> str:
    """Return one cell as CSV text."""
    value = plain(value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="minutes")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, str):
        return _guarded(value)
    return repr(value)


def dictionary(tables: Iterable[Table]) -> Table:
    """Return the table that says what every column of the other tables means."""
    return Table(
        name=DICTIONARY,
        title="What the columns mean",
        columns=(
            Column(key="table", title="Table"),
            Column(key="column", title="Column"),
            Column(key="title", title="Title"),
            Column(key="unit", title="Unit"),
            Column(key="note", title="Meaning"),
        ),
        rows=tuple(
            (table.name, column.key, column.title, column.unit, column.note)
            for table in tables
            for column in table.columns
        ),
    )


def write_csv_files(tables: Iterable[Table], folder: Path) -> list[Path]:
    """Write one file per table, and the dictionary of columns, into a folder; return their paths.

    Raises
    ------
    OSError
        When a file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    known = tuple(tables)
    paths = []
    for table in (*known, dictionary(known)):
        path = folder / f"{table.name}.csv"
        path.write_text(csv_text(table), encoding="utf-8", newline="")
        paths.append(path)
    return paths


def _guarded(text: str) -> str:
    if not text.startswith(_RUNS_AS_FORMULA) or _NUMBER.fullmatch(text):
        return text
    return f"'{text}"
