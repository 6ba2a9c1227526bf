"""Rows of a price list, read: each price by GPU-hour, or refused for a reason."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.errors import Problem, UsageError
from gpuladder.review.imports.prices.layouts import COLUMN, GPU, KINDS, kind_of
from gpuladder.review.imports.prices.outliers import FACTOR
from gpuladder.review.prices_result import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpuladder.review.imports.prices.layouts import Layout, PriceColumn
    from gpuladder.review.imports.rows import Rows, Table, TableOptions
    from gpuladder.timegrid import FloatArray

_NULLS = frozenset({"", "null", "none", "nan"})
_UPFRONT = {"noupfront": 0.0, "partialupfront": 0.5, "allupfront": 1.0}


@dataclass(frozen=True, kw_only=True)
class PriceOptions:
    """What the user says about a price list.

    Attributes
    ----------
    table : TableOptions
    per : str or None
        What a price is of: ``gpu`` or ``node``.
    node_gpus : mapping of str to float
        GPUs of a node, by SKU; ``""`` for all others.
    currency : str or None
    as_of : datetime.date or None
        Date of the prices, where the file has none.
    prices : tuple of PriceColumn
        Columns of prices; the layout's when empty.
    values : mapping of str to str
        Fields that are the same in every row.
    offer_keys : mapping of str to mapping of str to str
        Keys of offers that no price list has, by kind: ``{"spot": {"max_gpus": "64"}}``.
    outlier_factor : float
    """

    table: TableOptions
    per: str | None = None
    node_gpus: Mapping[str, float] = field(default_factory=dict)
    currency: str | None = None
    as_of: date | None = None
    prices: tuple[PriceColumn, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict)
    offer_keys: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    outlier_factor: float = FACTOR


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """One price of one row."""

    place: int
    provider: str
    region: str
    hardware: str
    memory: str
    sku: str
    kind: str
    tier: str
    tenor: str
    upfront: float | None
    min_gpus: int
    node_gpus: float | None
    first: date
    last: date
    listed: float
    value: float
    """Per GPU-hour."""

    @property
    def peers(self) -> tuple[str, str, str, str]:
        """What it is compared with: the same GPU, sold in the same way."""
        return self.hardware or self.sku, self.memory, self.kind, self.tenor

    @property
    def identity(self) -> tuple[object, ...]:
        """What it is a price of; the same on every day."""
        place = (self.provider, self.region, self.hardware, self.memory, self.sku)
        return *place, self.kind, self.tier, self.tenor, self.upfront, self.min_gpus

    @property
    def what(self) -> str:
        """The price's row in words."""
        thing = self.sku or self.hardware
        names = (self.provider, self.region, thing, self.kind, self.tier, self.tenor)
        return " ".join(filter(None, names))


class Listing:
    """Prices of a file, and those refused."""

    def __init__(
        self, table: Table, layout: Layout, columns: tuple[PriceColumn, ...], options: PriceOptions
    ) -> None:
        self.prices: list[Price] = []
        self.refused: list[Refused] = []
        self.currency = options.currency or options.values.get("currency")
        self._is_stated = options.currency is not None
        self._priced: set[int] = set()
        """Rows with a price."""
        self._why: dict[int, str] = {}
        self._table = table
        self._layout = layout
        self._columns = columns
        self._options = options

    def take(self, rows: Rows) -> None:
        """Read one chunk."""
        self._check_currency(rows)
        first, last = self._days(rows)
        gpus = self._numbers(rows, "gpus")
        bundle = self._numbers(rows, "min_gpus")
        for number, column in enumerate(self._columns):
            listed = self._numbers(rows, f"price_{number}")
            for index in map(int, np.flatnonzero(rows.alive & ~np.isnan(listed))):
                self._priced.add(int(rows.places[index]))
                self._one(rows, index, column, listed, first, last, gpus, bundle)
        self._drop_unpriced(rows)

    def refuse(self, price: Price, reason: str, detail: str = "") -> None:
        """Refuse a price that was read."""
        self._refuse(price.place, price.what, f"{price.listed:g}", reason, detail)

    def finish(self, kept: list[Price]) -> int:
        """Settle the rows of which no price is left; return how many are kept."""
        places = {price.place for price in kept}
        lost: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for each in sorted(self.refused, key=lambda each: each.place):
            if each.place not in places and self._why.get(each.place) == each.reason:
                del self._why[each.place]  # a row is dropped once
                lost[each.reason].append((each.place, f"{each.what} {each.listed}"))
        for reason, examples in lost.items():
            self._table.ledger.drop(reason, len(examples), examples)
        return len(places)

    def _one(
        self,
        rows: Rows,
        index: int,
        column: PriceColumn,
        listed: FloatArray,
        first: FloatArray,
        last: FloatArray,
        gpus: FloatArray,
        bundle: FloatArray,
    ) -> None:
        text = {name: self._text(rows, index, name) for name in _NAMES}
        place, value = int(rows.places[index]), float(listed[index])
        kind, why = self._kind(text["kind"], column)
        label = (text["provider"], text["region"], text["sku"] or text["hardware"], kind or "")
        what = " ".join(filter(None, label))
        node = self._node_gpus(text["sku"], float(gpus[index]))
        is_node = self._options.per != GPU
        for is_wrong, reason in (
            (kind is None, why),
            (value == 0, "a price of zero: nobody rents for nothing"),
            (value < 0, "a negative price"),
            (is_node and node is None, "how many GPUs the node has is not known"),
            (not (text["sku"] or text["hardware"]), "neither a GPU nor a SKU is named"),
            (text["region"].casefold() == "unknown", "its region is unknown"),
        ):
            if is_wrong:
                self._refuse(place, what, f"{value:g}", reason)
                return
        assert kind is not None
        least = 1 if math.isnan(bundle[index]) else max(int(bundle[index]), 1)
        self.prices.append(
            Price(
                place=place,
                provider=text["provider"],
                region=text["region"],
                hardware=_linked(text["hardware"], text["interconnect"]),
                memory=text["memory_gb"].removesuffix(".0"),
                sku=text["sku"],
                kind=kind,
                tier=_beside(text["tier"], kind),
                tenor=self._tenor(text, column),
                upfront=_UPFRONT.get(text["payment"].replace(" ", "").casefold()),
                min_gpus=least,
                node_gpus=node,
                first=_day(float(first[index])),
                last=_day(float(last[index])),
                listed=value,
                value=value / (node if is_node and node is not None else 1.0),
            )
        )

    def _kind(self, word: str, column: PriceColumn) -> tuple[str | None, str]:
        if column.kind != COLUMN:
            return column.kind, ""
        try:
            kind = kind_of(word, self._layout)
        except KeyError:
            return None, f"its kind is not known: {word!r} (see --value kind=…)"
        return kind, f"nothing to train on: {word}"

    def _tenor(self, text: Mapping[str, str], column: PriceColumn) -> str:
        if text["tenor"]:
            return text["tenor"]
        if text["term_years"]:
            return f"{text['term_years'].removesuffix('.0')} years"
        return column.tenor or ""

    def _node_gpus(self, sku: str, listed: float) -> float | None:
        stated = self._options.node_gpus
        if sku and sku in stated:
            return stated[sku]
        if listed > 0:
            return listed
        return stated.get("")

    def _days(self, rows: Rows) -> tuple[FloatArray, FloatArray]:
        """Return the first and the last day of each price, in seconds since 1970."""
        if self._table.has("first_day"):
            first = rows.times("first_day").utc
            last = rows.times("last_day").utc if self._table.has("last_day") else first
            rows.drop(last < first, "it was last listed before it was first listed", "first_day")
            return first, last
        if self._table.has("as_of"):
            day = rows.times("as_of").utc
            return day, day
        if self._options.as_of is None:
            raise UsageError(
                Problem(
                    code="GL-I051",
                    where=self._table.where,
                    what="the date of the prices is not stated",
                    why="prices of GPU-hours move by a third within half a year",
                    fix="state it: --as-of 2026-05-24, or --column as_of=COLUMN",
                )
            )
        moment = datetime.combine(self._options.as_of, datetime.min.time(), tzinfo=UTC)
        day = np.full(len(rows), moment.timestamp())
        return day, day

    def _check_currency(self, rows: Rows) -> None:
        if not self._table.has("currency"):
            if self.currency is None:
                raise UsageError(
                    Problem(
                        code="GL-I051",
                        where=self._table.where,
                        what="the currency of the prices is not stated",
                        fix="state it: --currency USD, or --column currency=COLUMN",
                    )
                )
            return
        texts = rows.texts("currency")
        rows.drop(np.array([text in _NULLS for text in texts]), "no currency", "currency")
        found = sorted({text for text in texts if text not in _NULLS})
        self.currency = self.currency or next(iter(found), None)
        others = [text for text in found if text != self.currency]
        if others and not self._is_stated:
            raise UsageError(
                Problem(
                    code="GL-I047",
                    where=self._table.where,
                    what=f"several currencies: {', '.join([str(self.currency), *others])}",
                    why="a scenario has one",
                    fix=f"say which rows count: --currency {self.currency}",
                )
            )
        for text in others:
            other = np.array([each == text for each in texts])
            rows.drop(other, f"in {text}, not in {self.currency}", "currency")

    def _numbers(self, rows: Rows, name: str) -> FloatArray:
        if name in self._options.values:
            return np.full(len(rows), float(self._options.values[name]))
        if not self._table.has(name):
            return np.full(len(rows), np.nan)
        return rows.figures(name, may_be_empty=True)

    def _text(self, rows: Rows, index: int, name: str) -> str:
        if name in self._options.values:
            return self._options.values[name]
        if not self._table.has(name):
            return ""
        text = " ".join(rows.texts(name)[index].split())
        return "" if text.casefold() in _NULLS else text

    def _drop_unpriced(self, rows: Rows) -> None:
        """Drop rows without any price; a missing one beside others is an offer not made."""
        without = np.array([int(place) not in self._priced for place in rows.places])
        rows.drop(without, "no price", "price_0")

    def _refuse(self, place: int, what: str, listed: str, reason: str, detail: str = "") -> None:
        self.refused.append(
            Refused(place=place, what=what, listed=listed, reason=reason, detail=detail)
        )
        self._why.setdefault(place, reason)


_NAMES = (
    "provider",
    "region",
    "hardware",
    "memory_gb",
    "sku",
    "kind",
    "tier",
    "interconnect",
    "tenor",
    "term_years",
    "payment",
)


def _linked(hardware: str, interconnect: str) -> str:
    """Return a GPU's name with how it is linked, unless the name says it."""
    if not interconnect or interconnect.casefold() in hardware.casefold():
        return hardware
    return f"{hardware} {interconnect}"


def _beside(tier: str, kind: str) -> str:
    """Return a grade of service, unless it only repeats the kind."""
    word = tier.casefold().replace("-", "_").replace(" ", "_")
    return (
        ""
        if KINDS.get(word) == kind
        and word.replace("_", "")
        in (
            "ondemand",
            "spot",
            "reserved",
        )
        else tier
    )


def _day(seconds: float) -> date:
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)).date()
