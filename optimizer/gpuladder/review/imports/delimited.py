"""Delimited text, plain or gzipped, in chunks of bounded size: each row whole, its line known.

Python's own reader and not that of pandas: pandas fills a row that is too short without a word, and
takes the first column for an index where all rows are too long.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from gpuladder.review.imports import problems

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from gpuladder.review.imports.rows import Chunk

DELIMITERS = (",", ";", "|", "\t")
_GZIP = b"\x1f\x8b"
_LOOKED_AT = 65_536
_DAMAGED = (OSError, EOFError, zlib.error)


class DelimitedFile:
    """An open text file: its header, and its rows in chunks."""

    typed: frozenset[str] = frozenset()
    places = "line"

    def __init__(self, file: io.TextIOWrapper, where: str, delimiter: str | None) -> None:
        self.where = where
        self._file = file
        self._reader: Any = None
        first = self._first_line()
        self.delimiter = delimiter or max(DELIMITERS, key=first.count)
        # sacct quotes nothing: a quote is a character like any other there.
        self._reader = (
            csv.reader(file, delimiter="|", quoting=csv.QUOTE_NONE)
            if self.delimiter == "|"
            else csv.reader(file, delimiter=self.delimiter, strict=True)
        )
        with self._reading():
            self.header = tuple(name.strip() for name in next(self._reader))

    def chunks(self, columns: Sequence[int], size: int) -> Iterator[Chunk]:
        """Yield the rows in chunks: places and, for each column asked for, its cells.

        Raises
        ------
        UsageError
            When a row does not fit the header, or is not UTF-8 text.
        """
        while True:
            rows, lines = self._next_rows(size)
            if not rows:
                return
            cells = dict(enumerate(zip(*rows, strict=True)))
            yield (
                np.asarray(lines, dtype=np.int64),
                {index: [cell.strip() for cell in cells[index]] for index in columns},
            )

    def _next_rows(self, size: int) -> tuple[list[list[str]], list[int]]:
        width, reader = len(self.header), self._reader
        rows: list[list[str]] = []
        lines: list[int] = []
        before = reader.line_num
        with self._reading():
            for row in reader:
                line, before = before + 1, reader.line_num
                if not row or (not row[0] and not any(row)):
                    continue  # an empty line, or a row of a spreadsheet with nothing in it
                rows.append(row if len(row) == width else self._fitted(row, line))
                lines.append(line)
                if len(rows) == size:
                    break
        return rows, lines

    def _fitted(self, row: list[str], line: int) -> list[str]:
        """Return a row without the empty cells beyond the header."""
        width = len(self.header)
        if len(row) > width and not any(row[width:]):
            return row[:width]
        raise problems.ragged(
            self.where,
            line,
            f"{len(row)} values for {width} columns; is the file cut off, or a text with a "
            f"delimiter ({_shown(self.delimiter)}) in it?",
            self.delimiter,
        )

    def _first_line(self) -> str:
        with self._reading():
            first = self._file.readline(_LOOKED_AT)
            self._file.seek(0)
        if not first.strip():
            raise problems.empty(self.where)
        return first

    def _lines_read(self) -> int:
        return 0 if self._reader is None else int(self._reader.line_num)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except UnicodeDecodeError as error:
            byte = error.object[error.start]
            detail = f"not UTF-8 text (byte {byte:#04x}, on this line or below)"
            raise problems.encoding(self.where, detail, self._lines_read() + 1) from error
        except csv.Error as error:
            raise problems.ragged(
                self.where,
                self._lines_read(),
                f"not a table of delimited text: {error}",
                self.delimiter,
            ) from error
        except StopIteration as error:
            raise problems.empty(self.where) from error
        except _DAMAGED as error:
            raise problems.unreadable(
                self.where, f"cannot be read to its end: {error}", "check that it was copied whole"
            ) from error


@contextmanager
def open_delimited(path: Path, head: bytes, delimiter: str | None) -> Iterator[DelimitedFile]:
    """Open a text file, or a gzipped one.

    Parameters
    ----------
    path : pathlib.Path
    head : bytes
        Its first bytes.
    delimiter : str, optional
        The one that the header holds most of, when left out.

    Raises
    ------
    UsageError
        When it is empty or not UTF-8 text.
    """
    opened: Any = gzip.open if head.startswith(_GZIP) else open
    with opened(path, "rb") as binary:
        _refuse_binary(binary, str(path))
        with io.TextIOWrapper(binary, encoding="utf-8-sig", newline="") as text:
            yield DelimitedFile(text, str(path), delimiter)


def _refuse_binary(binary: Any, where: str) -> None:
    try:
        head = binary.read(_LOOKED_AT)
        binary.seek(0)
    except _DAMAGED as error:
        raise problems.unreadable(
            where, f"cannot be read: {error}", "check that it was copied whole"
        ) from error
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise problems.encoding(where, "UTF-16 text, not UTF-8")
    if head.startswith(b"PK\x03\x04"):
        raise problems.encoding(where, "a workbook or archive, not a text file")
    if b"\x00" in head:
        raise problems.encoding(where, "a binary file, not text")


def _shown(delimiter: str) -> str:
    return "tab" if delimiter == "\t" else delimiter
