"""Rows of a FOCUS bill, a chunk at a time: their words and numbers, and what is a GPU's."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.review.imports.usage import focus_columns as focus
from gpuladder.review.imports.usage.bill import UsedRow
from gpuladder.review.imports.usage.grid import HOUR
from gpuladder.review.imports.usage.held import SPEND

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from gpuladder.review.imports.rows import BoolArray, Rows, Table, TableOptions
    from gpuladder.review.imports.usage.contracts import Term
    from gpuladder.review.imports.usage.focus_columns import Machine
    from gpuladder.timegrid import FloatArray

_NUMBERS = (
    "effective_cost",
    "billed_cost",
    "list_cost",
    "contracted_cost",
    "consumed",
    "priced",
    "commitment_quantity",
)
_TEXTS = (
    "category",
    "class",
    "currency",
    "frequency",
    "pricing",
    "consumed_unit",
    "pricing_unit",
    "commitment",
    "commitment_category",
    "commitment_status",
    "commitment_unit",
    "reservation",
    "reservation_status",
    "sku",
    "region",
    "provider",
    "provider_until_1_2",
    "team",
    "tags",
    "pool",
)
NO_TEAM = "unassigned"


@dataclass(frozen=True, kw_only=True)
class BillOptions:
    """What the user says about a bill.

    Attributes
    ----------
    table : TableOptions
    machines : mapping of str to Machine
        What one unit is, by SKU, commitment, reservation or contract commitment.
    currency : str or None
        The one that counts, where the bill has several.
    pool : str or None
        Pool of every row; made of provider, region and hardware when None.
    team_tag : str or None
        Tag that names the team; the sub-account when None.
    terms : mapping of str to Term
        Terms of commitments, by id.
    contracts : pathlib.Path or None
        A file of ContractCommitment rows.
    hourly_contracts : bool or None
        Whether their quantity is one of each hour (True) or of the whole term (False).
    """

    table: TableOptions
    machines: Mapping[str, Machine] = field(default_factory=dict)
    currency: str | None = None
    pool: str | None = None
    team_tag: str | None = None
    terms: Mapping[str, Term] = field(default_factory=dict)
    contracts: Path | None = None
    hourly_contracts: bool | None = None


class BillChunk:
    """Some rows of a bill.

    Attributes
    ----------
    rows : Rows
    texts : dict of str to sequence of str, length N
        Words by field; nulls are empty.
    numbers : dict of str to float64, shape (N,)
        NaN where there is none.
    begin, end : float64, shape (N,), hours since 1970
    """

    def __init__(self, table: Table, rows: Rows, options: BillOptions) -> None:
        self.rows = rows
        self.texts = {name: _texts(table, rows, name) for name in _TEXTS}
        self.numbers = {name: _numbers(table, rows, name) for name in _NUMBERS}
        self.begin = rows.times("start").utc / HOUR
        self.end = rows.times("end").utc / HOUR
        self._options = options
        # A bill without ConsumedQuantity says what was used by what was priced.
        has_consumed = table.has("consumed")
        self._used = ("consumed", "consumed_unit") if has_consumed else ("priced", "pricing_unit")

    def is_of(self, name: str, *words: str) -> BoolArray:
        """Tell in which rows a field is one of some words, in any case."""
        return each(text.casefold() in words for text in self.texts[name])

    def filled(self, name: str) -> BoolArray:
        """Tell in which rows a field has a text."""
        return each(bool(text) for text in self.texts[name])

    @property
    def is_unused(self) -> BoolArray:
        """Which rows are the unused part of a commitment or a reservation."""
        return self.is_of("commitment_status", "unused") | self.is_of(
            "reservation_status", "unused"
        )

    @property
    def used_quantity(self) -> FloatArray:
        """What each row used, in its own unit."""
        return self.numbers[self._used[0]]

    def units(self) -> list[str]:
        """Return the unit in which each row's machine time is."""
        return [self._quantity(index)[1] for index in range(len(self.rows))]

    def machine(self, index: int) -> Machine | None:
        """Return what a unit of a row is; None when it is not known to be of GPUs."""
        unit = focus.read_time_unit(self._quantity(index)[1])
        for name in ("sku", "commitment", "reservation"):
            machine = self._options.machines.get(self.texts[name][index])
            if machine is not None:
                # A unit that is GPU time already is not multiplied a second time.
                return replace(machine, gpus=1.0) if unit and unit.is_gpu else machine
        if unit is not None and unit.is_gpu:
            return focus.Machine(1.0, self.texts["sku"][index] or "gpu")
        return None

    def row(self, index: int, machine: Machine | None) -> UsedRow:
        """Return a row of usage."""
        text = {name: values[index] for name, values in self.texts.items()}
        quantity, unit_text = self._quantity(index)
        unit = focus.read_time_unit(unit_text)
        hardware = text["sku"] if machine is None else machine.hardware
        place = (text["provider"] or text["provider_until_1_2"], text["region"], hardware)
        pool = text["pool"] or self._options.pool or "-".join(map(_plain, filter(None, place)))
        is_spend = text["commitment_category"].casefold() == "spend"
        kind = focus.KINDS.get(text["pricing"].casefold(), "other")
        return UsedRow(
            team=self.team(index) or NO_TEAM,
            pool=pool or "gpus",
            kind=SPEND if is_spend else kind,
            commitment=text["commitment"] or text["reservation"] or None,
            commitment_status=_status(text["commitment_status"]),
            reservation_status=_status(text["reservation_status"]),
            begin=float(self.begin[index]),
            end=float(self.end[index]),
            units=float("nan") if unit is None else quantity * unit.hours,
            gpus=None if machine is None else machine.gpus,
            billed=float(self.numbers["billed_cost"][index]),
            effective=float(self.numbers["effective_cost"][index]),
            list_cost=float(self.numbers["list_cost"][index]),
            contracted=float(self.numbers["contracted_cost"][index]),
        )

    def team(self, index: int) -> str:
        """Return who used a row: its sub-account, or a tag; empty when it says nothing."""
        name = self.texts["team"][index]
        if self._options.team_tag is not None:
            name = _tag(self.texts["tags"][index], self._options.team_tag)
        return " ".join(name.split()).lstrip("[{")

    def _quantity(self, index: int) -> tuple[float, str]:
        """Return the number of a row that says how much machine time it is, and its unit."""
        name, unit = self._used
        if self.texts["reservation_status"][index].casefold() == "unused":
            name, unit = "priced", "pricing_unit"
        elif self.texts["commitment_status"][index].casefold() == "unused":
            if self.texts["commitment_category"][index].casefold() == "spend":
                return float("nan"), ""  # money that bought nothing, of no machine in particular
            name, unit = "commitment_quantity", "commitment_unit"
        return float(self.numbers[name][index]), self.texts[unit][index]


def each(flags: Iterable[bool]) -> BoolArray:
    """Return flags as an array."""
    return np.array(list(flags), dtype=np.bool_)


def _texts(table: Table, rows: Rows, name: str) -> Sequence[str]:
    if not table.has(name):
        return [""] * len(rows)
    return ["" if text.casefold() in focus.NULLS else text for text in rows.texts(name)]


def _numbers(table: Table, rows: Rows, name: str) -> FloatArray:
    if not table.has(name):
        return np.full(len(rows), np.nan)
    return rows.figures(name, may_be_empty=True)


def _status(text: str) -> focus.Status:
    word = text.casefold()
    return focus.Status(word) if word in tuple(focus.Status) else focus.Status.NONE


def _tag(text: str, key: str) -> str:
    try:
        tags = json.loads(text or "{}")
    except ValueError:
        return ""
    return str(tags.get(key) or "") if isinstance(tags, dict) else ""


def _plain(text: str) -> str:
    return "-".join(text.casefold().split())
