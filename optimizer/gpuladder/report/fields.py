"""Tables from rows of records: a field is a column and the way to its value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, TypeVar

from gpuladder.report.table import Cell, Column, Format, Table

CURRENCY = "{currency}"
"""Stands for the scenario's currency in a column's unit."""

Read = Callable[[Any], Cell]
Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Field:
    """A column and how a row's cell is read from its record."""

    column: Column
    read: Read


def answered(rows: Sequence[Row], *figures: str) -> Sequence[Row]:
    """Return the rows, or none when no row has one of these figures: blanks say nothing.

    The summary says what is unanswered, and result.json holds every row.
    """
    known = any(getattr(row, figure) is not None for row in rows for figure in figures)
    return rows if known else ()


def text(key: str, title: str, note: str = "", *, read: Read | None = None) -> Field:
    """Return a field of text."""
    return _field(key, title, "", Format.TEXT, note, read)


def day(key: str, title: str, note: str = "", *, read: Read | None = None) -> Field:
    """Return a field of dates."""
    return _field(key, title, "", Format.DATE, note, read)


def money(
    key: str, title: str, note: str = "", *, total: bool = True, read: Read | None = None
) -> Field:
    """Return a field of amounts in the scenario's currency, added up unless told otherwise."""
    return _field(key, title, CURRENCY, Format.MONEY, note, read, total=total)


def price(key: str, title: str, note: str = "", *, read: Read | None = None) -> Field:
    """Return a field of prices per GPU-hour."""
    return _field(key, title, f"{CURRENCY}/GPU-hour", Format.PRICE, note, read)


def gpus(
    key: str, title: str, note: str = "", *, total: bool = False, read: Read | None = None
) -> Field:
    """Return a field of numbers of GPUs."""
    return _field(key, title, "GPUs", Format.QUANTITY, note, read, total=total)


def gpu_hours(
    key: str, title: str, note: str = "", *, total: bool = True, read: Read | None = None
) -> Field:
    """Return a field of GPU-hours."""
    return _field(key, title, "GPU-hours", Format.QUANTITY, note, read, total=total)


def share(key: str, title: str, note: str = "", *, read: Read | None = None) -> Field:
    """Return a field of shares, stored as 0…1 and shown in per cent."""
    return _field(key, title, "", Format.SHARE, note, read)


def number(
    key: str,
    title: str,
    unit: str = "",
    note: str = "",
    *,
    total: bool = False,
    read: Read | None = None,
) -> Field:
    """Return a field of other numbers."""
    return _field(key, title, unit, Format.QUANTITY, note, read, total=total)


def count(
    key: str, title: str, note: str = "", *, total: bool = False, read: Read | None = None
) -> Field:
    """Return a field of whole numbers."""
    return _field(key, title, "", Format.COUNT, note, read, total=total)


def optional(field: Field) -> Field:
    """Return the field as one that the workbook leaves out when there is nothing in it."""
    return replace(field, column=replace(field.column, optional=True))


def tabulate(
    name: str,
    title: str,
    fields: Iterable[Field],
    records: Iterable[Any],
    *,
    currency: str,
    note: str = "",
) -> Table:
    """Return the table of some records under some fields.

    Parameters
    ----------
    name, title, note : str
        Of the table.
    fields : iterable of Field
        In the order of the columns.
    records : iterable
        One object per row.
    currency : str
        ISO 4217 code put in the place of ``CURRENCY`` in units.
    """
    known = tuple(fields)
    return Table(
        name=name,
        title=title,
        columns=tuple(
            replace(field.column, unit=field.column.unit.replace(CURRENCY, currency))
            for field in known
        ),
        rows=tuple(tuple(field.read(record) for field in known) for record in records),
        note=note,
    )


def _field(
    key: str,
    title: str,
    unit: str,
    shown: Format,
    note: str,
    read: Read | None,
    *,
    total: bool = False,
) -> Field:
    column = Column(key=key, title=title, unit=unit, format=shown, total=total, note=note)
    return Field(column, read or attrgetter(key))
