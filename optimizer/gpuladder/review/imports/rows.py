"""A file from elsewhere, opened: the columns that an import asked for, in chunks of rows.

    with open_table(path, FIELDS, options) as table:
        for rows in table:
            gpus = rows.figures("gpus")                   # unreadable ones are dropped, with reason
            rows.drop(gpus < 0, "fewer than no GPUs", "gpus")
            use(gpus[rows.alive])
        counts = table.ledger.result(kept)

Memory holds one chunk at a time. A dropped row stays in the arrays of its chunk, dead, so that all
of them keep the same length.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from gpuladder.errors import Problem, UsageError
from gpuladder.review.imports import parquet, problems
from gpuladder.review.imports.clock import Clock, Times
from gpuladder.review.imports.columns import Field, find_columns
from gpuladder.review.imports.delimited import open_delimited
from gpuladder.review.imports.dropped import EXAMPLES, Ledger
from gpuladder.review.imports.figures import EMPTY, DecimalSign, read_figures

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from gpuladder.timegrid import FloatArray

BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]
Chunk = tuple[IntArray, dict[int, list[str]]]
"""Places of some rows, and their cells by column position."""

CHUNK_ROWS = 16_384


class Source(Protocol):
    """What every kind of file offers."""

    where: str
    header: tuple[str, ...]
    typed: frozenset[str]
    places: str

    def chunks(self, columns: Sequence[int], size: int) -> Iterator[Chunk]:
        """Yield the rows in chunks."""
        ...


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """What the user says about how a file is written.

    Attributes
    ----------
    columns : mapping of str to str
        Column by field, where the file calls it something else.
    delimiter : str or None
        Between columns; the one that the header holds most of, when None.
    decimal : {".", ","}
        Sign before decimals.
    clock : Clock
        How times are written.
    chunk_rows : int
        Rows held in memory at once.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    delimiter: str | None = None
    decimal: DecimalSign = "."
    clock: Clock = field(default_factory=Clock)
    chunk_rows: int = CHUNK_ROWS


class Rows:
    """Some rows of a table, and which of them are still alive.

    Attributes
    ----------
    places : int64, shape (N,)
        Line (or row) of each.
    alive : bool, shape (N,)
        False where a row was dropped.
    """

    def __init__(self, table: Table, places: IntArray, cells: dict[str, list[str]]) -> None:
        self.places = places
        self.alive: BoolArray = np.ones(len(places), dtype=bool)
        self._table = table
        self._cells = cells
        self._notes: list[tuple[BoolArray, str, tuple[str, ...]]] = []

    def __len__(self) -> int:
        return len(self.places)

    def texts(self, name: str) -> list[str]:
        """Return the cells of a field, without surrounding blanks; length N."""
        return self._cells[name]

    def figures(self, name: str, *, may_be_empty: bool = False) -> FloatArray:
        """Return the numbers of a field, shape (N,); NaN where there is none.

        A row whose number cannot be read is dropped, one without a number too unless it may be.
        """
        typed = self._table.column_of(name) in self._table.typed
        found = read_figures(self.texts(name), "." if typed else self._table.options.decimal)
        self._drop_faults(name, found.faults, may_be_empty=may_be_empty)
        return found.numbers

    def times(
        self, name: str, *, may_be_empty: bool = False, missing: Collection[str] = ()
    ) -> Times:
        """Return the times of a field; a row whose time cannot be read is dropped.

        Parameters
        ----------
        name : str
            The field.
        may_be_empty : bool
            Keep rows without a time.
        missing : collection of str
            Words that stand for no time, such as ``Unknown``.

        Raises
        ------
        UsageError
            When a time has no offset and no zone was stated.
        """
        typed = self._table.column_of(name) in self._table.typed
        try:
            texts = ["" if text in missing else text for text in self.texts(name)]
            found = self._table.options.clock.read(texts, typed=typed)
        except UsageError as error:
            raise self._table.located(error, name) from error
        self._drop_faults(name, found.faults, may_be_empty=may_be_empty)
        for reason, mask in found.notes.items():
            self.note(mask, reason, name)
        return found

    def drop(self, where: BoolArray, reason: str, *names: str) -> None:
        """Drop the rows that are still alive there, for a reason; fields are shown as examples."""
        hit = where & self.alive
        self._table.ledger.drop(reason, int(hit.sum()), self._examples(hit, names))
        self.alive &= ~hit

    def note(self, where: BoolArray, reason: str, *names: str) -> None:
        """Say something about the rows there that are alive when the chunk is done with."""
        self._notes.append((where, reason, names))

    def settle(self) -> None:
        """Count the notes, now that no more row of the chunk is dropped."""
        for where, reason, names in self._notes:
            hit = where & self.alive
            self._table.ledger.note(reason, int(hit.sum()), self._examples(hit, names))

    def _drop_faults(
        self, name: str, faults: Mapping[str, BoolArray], *, may_be_empty: bool
    ) -> None:
        for reason, mask in faults.items():
            if not (may_be_empty and reason == EMPTY):
                self.drop(mask, f"`{self._table.column_of(name)}`: {reason}", name)

    def _examples(self, hit: BoolArray, names: Sequence[str]) -> list[tuple[int, str]]:
        return [
            (
                int(self.places[index]),
                ", ".join(f"{self._table.column_of(n)}={self.texts(n)[index]!r}" for n in names),
            )
            for index in np.flatnonzero(hit)[:EXAMPLES]
        ]


class Table:
    """An open file, and the columns of it that an import reads.

    Attributes
    ----------
    ledger : Ledger
        What became of the rows read up to now.
    options : TableOptions
    typed : frozenset of str
        Columns that the file itself knows to be numbers or times.
    """

    def __init__(self, source: Source, fields: Sequence[Field], options: TableOptions) -> None:
        self.options = options
        self.ledger = Ledger(source.places)
        self.typed = source.typed
        self.where = source.where
        self.header = source.header
        self._source = source
        self._columns = find_columns(fields, source.header, options.columns, source.where)

    def has(self, name: str) -> bool:
        """Tell whether the file has a column for a field."""
        return name in self._columns

    def column_of(self, name: str) -> str:
        """Return what the file calls a field."""
        return self.header[self._columns[name]]

    def located(self, error: UsageError, name: str) -> UsageError:
        """Return an error met in a column, with the file and the column as its place."""
        return UsageError(
            [
                Problem(
                    code=problem.code,
                    where=problem.where or f"{self.where} {self.column_of(name)}",
                    what=problem.what,
                    why=problem.why,
                    fix=problem.fix,
                )
                for problem in error.problems
            ]
        )

    def __iter__(self) -> Iterator[Rows]:
        """Yield the rows, chunk by chunk.

        Raises
        ------
        UsageError
            When a row does not fit the header, the file is damaged, or it has no row at all.
        """
        positions = sorted(set(self._columns.values()))
        for places, cells in self._source.chunks(positions, self.options.chunk_rows):
            self.ledger.rows_read += len(places)
            by_field = {name: cells[index] for name, index in self._columns.items()}
            rows = Rows(self, places, by_field)
            yield rows
            rows.settle()
        if not self.ledger.rows_read:
            raise problems.empty(self.where, "the file has a header and no row")


@contextmanager
def open_table(
    path: Path, fields: Sequence[Field], options: TableOptions | None = None
) -> Iterator[Table]:
    """Open a CSV or other delimited file (also gzipped) or a Parquet file, known by its content.

    Parameters
    ----------
    path : pathlib.Path
    fields : sequence of Field
        What can be read from it.
    options : TableOptions, optional
        How it is written; the defaults when left out.

    Raises
    ------
    UsageError
        When it cannot be read, or a column is missing.
    """
    with ExitStack() as stack:
        source = stack.enter_context(_open(path, options or TableOptions()))
        yield Table(source, fields, options or TableOptions())


def read_header(path: Path, options: TableOptions | None = None) -> tuple[str, ...]:
    """Return the names of a file's columns; see ``open_table``."""
    with _open(path, options or TableOptions()) as source:
        return source.header


@contextmanager
def _open(path: Path, options: TableOptions) -> Iterator[Source]:
    if path.is_dir():
        raise problems.unreadable(str(path), "a folder, not a file", "name the file in it")
    try:
        with path.open("rb") as file:
            head = file.read(len(parquet.MAGIC))
    except OSError as error:
        detail = (error.strerror or "cannot be read").lower()
        raise problems.unreadable(str(path), detail) from error
    if head == parquet.MAGIC:
        with parquet.open_parquet(path) as typed:
            yield typed
    else:
        with open_delimited(path, head, options.delimiter) as text:
            yield text
