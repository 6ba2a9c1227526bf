"""Charges of everything with a term: what is paid for it, and who used it or nobody did."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.analysis.charge_rows import ChargeRow, Part, TermRow
from gpuladder.analysis.charges_users import draw_shares, firm_shares, flex_shares, use_row
from gpuladder.analysis.frame import hours_between, spread
from gpuladder.analysis.ledger import usage_values
from gpuladder.analysis.terms import HELD
from gpuladder.timegrid import HOURS_PER_DAY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from gpuladder.analysis.charges_users import Facts
    from gpuladder.analysis.ledger import Ledger, PoolLedger
    from gpuladder.analysis.terms import Charge, Term
    from gpuladder.timegrid import FloatArray

GPU_HOURS, GPUS, UNITS = "GPU-Hours", "GPUs", "Units"
LEAST_HOURS = 1e-6
"""GPU-hours below which there is no row."""


@dataclass(frozen=True)
class Calendar:
    """The intervals in which charges are told apart: calendar months, cut at the horizon end.

    Attributes
    ----------
    marks : tuple of date, length I + 1
        Ascending; interval *i* is ``[marks[i], marks[i + 1])``.
    boundaries : tuple of date, length T + 1
        Of the periods.
    """

    marks: tuple[date, ...]
    boundaries: tuple[date, ...]

    def is_after(self, interval: int) -> bool:
        """Tell whether an interval lies after the horizon."""
        return self.marks[interval] >= self.boundaries[-1]

    def within(self, interval: int, begin: date, end: date) -> tuple[date, date]:
        """Return the part of an interval that lies in a span."""
        return max(self.marks[interval], begin), min(self.marks[interval + 1], end)

    def in_horizon(self, interval: int) -> tuple[date, date]:
        """Return the part of an interval that lies in the horizon."""
        return self.within(interval, self.boundaries[0], self.boundaries[-1])

    def over(self, amounts: FloatArray) -> FloatArray:
        """Lay amounts by period, shape (T,), on the intervals, even over each period; (I,)."""
        shares = self.cover(self.boundaries[0], self.boundaries[-1])
        return np.asarray(amounts @ (shares / shares.sum(axis=1, keepdims=True)))

    def cover(self, begin: date, end: date) -> FloatArray:
        """Return the hours of a span in each period and interval, shape (T, I)."""
        days = _days(self.marks)
        edges = _days(self.boundaries)
        low = np.maximum(edges[:-1, None], np.maximum(days[None, :-1], begin.toordinal()))
        high = np.minimum(edges[1:, None], np.minimum(days[None, 1:], end.toordinal()))
        return np.asarray(np.maximum(high - low, 0.0) * HOURS_PER_DAY)


def _days(dates: tuple[date, ...]) -> FloatArray:
    return np.asarray([day.toordinal() for day in dates], dtype=np.float64)


@dataclass(frozen=True)
class Books:
    """What the rows of every term are made from."""

    ledger: Ledger
    calendar: Calendar
    facts: Facts
    listed: dict[str, FloatArray]
    """On-demand list price by pool and period, NaN where there is none; each shape (T,)."""


def term_charges(books: Books, term: Term, row: TermRow) -> Iterator[ChargeRow]:
    """Yield what is billed for a term, then who uses it, month by month."""
    blank = ChargeRow(
        part=Part.UNUSED,
        line=None,
        term=row.id,
        offer=row.offer,
        pool=row.pool,
        kind=row.kind,
        begin=row.charged_from,
        end=row.charged_until,
        quantity=0.0,
        unit=GPU_HOURS,
        billed=0.0,
        effective=0.0,
    )
    for charge in term.charges:
        if charge.total == 0.0 and len(term.charges) > 1:
            continue
        if charge.paid_on is None:
            yield from _recurring(books.calendar, charge, _gpu_hours_paid(term, charge), blank)
        elif charge.paid_on >= books.calendar.boundaries[0]:
            yield _lump(books.calendar, term, charge, blank)
    yield from _capacity(books, term, blank)
    if term.flex:
        yield from _fees(books, term, blank)


def _gpu_hours_paid(term: Term, charge: Charge) -> float:
    """Return the GPU-hours that a charge pays for: its part of what its line costs in all."""
    alike = [other for other in term.charges if other.line == charge.line]
    whole = math.fsum(other.total for other in alike if not is_due(term, other))
    part = charge.total / whole if whole else 1.0
    return part * term.gpus * hours_between(charge.begin, charge.end)


def is_due(term: Term, charge: Charge) -> bool:
    """Tell whether a charge is a payment beside the price of the hours of a held commitment."""
    return any(due.on == charge.paid_on and due.amount == charge.total for due in term.dues)


def _recurring(
    calendar: Calendar, charge: Charge, gpu_hours: float, blank: ChargeRow
) -> Iterator[ChargeRow]:
    shares = spread(charge.begin, charge.end, calendar.marks)
    for interval in np.flatnonzero(shares).tolist():
        begin, end = calendar.within(interval, charge.begin, charge.end)
        yield replace(
            blank,
            part=Part.RECURRING,
            line=charge.line,
            begin=begin,
            end=end,
            quantity=gpu_hours * float(shares[interval]),
            billed=charge.total * float(shares[interval]),
            is_after_horizon=calendar.is_after(interval),
        )


def _lump(calendar: Calendar, term: Term, charge: Charge, blank: ChargeRow) -> ChargeRow:
    assert charge.paid_on is not None
    quantity, unit = 1.0, UNITS
    if charge.line in (term.kind, HELD) and not is_due(term, charge):
        quantity, unit = _gpu_hours_paid(term, charge), GPU_HOURS
    elif charge.line == "owned_capex":
        quantity, unit = term.gpus, GPUS
    return replace(
        blank,
        part=Part.PREPAID,
        line=charge.line,
        begin=charge.paid_on,
        end=charge.end,
        quantity=quantity,
        unit=unit,
        billed=charge.total,
        # Bought hardware is valued on the horizon end itself.
        is_after_horizon=charge.line == HELD and charge.paid_on >= calendar.boundaries[-1],
    )


def _capacity(books: Books, term: Term, blank: ChargeRow) -> Iterator[ChargeRow]:
    """Yield used and unused capacity, each with its part of what the interval costs."""
    calendar, book = books.calendar, books.ledger.pools[term.pool]
    span = (blank.begin, blank.end)
    held = term.gpus * hours_between(*span) * spread(*span, calendar.marks)
    cost = np.zeros_like(held)
    for charge in term.charges:
        cost += charge.total * spread(charge.begin, charge.end, calendar.marks)
    shares = flex_shares(book, blank.offer) if term.flex else firm_shares(book)
    hours = term.gpus * calendar.cover(*span)
    left = held.copy()
    for who, part in shares.users.items():
        by_period = part[:, None] * hours
        used = by_period.sum(axis=0)
        worth = np.nansum(by_period * books.listed[term.pool][:, None], axis=0)
        unknown = (by_period * np.isnan(books.listed[term.pool])[:, None]).sum(axis=0)
        left -= used
        for interval in np.flatnonzero(used > LEAST_HOURS).tolist():
            quantity = float(used[interval])
            begin, end = calendar.within(interval, *span)
            is_listed = unknown[interval] <= LEAST_HOURS
            yield replace(
                blank,
                part=Part.USED,
                begin=begin,
                end=end,
                quantity=quantity,
                effective=float(cost[interval]) * quantity / float(held[interval]),
                list_price=float(worth[interval]) / quantity if is_listed else None,
                use=use_row(who, quantity, books.facts),
            )
    for interval in np.flatnonzero(left > LEAST_HOURS).tolist():
        begin, end = calendar.within(interval, *span)
        yield replace(
            blank,
            begin=begin,
            end=end,
            quantity=float(left[interval]),
            effective=float(cost[interval] * left[interval] / held[interval]),
            is_after_horizon=calendar.is_after(interval),
        )


def _fees(books: Books, term: Term, blank: ChargeRow) -> Iterator[ChargeRow]:
    """Yield what is charged for use: of the offer's draws those on this order."""
    book: PoolLedger = books.ledger.pools[term.pool]
    gpus = book.use.drawn.get(blank.offer)
    if gpus is None:
        return
    held = np.where(book.flex_hours[blank.offer] > 0.0, book.flex_hours[blank.offer], 1.0)
    part = term.gpu_hours / held
    hours = gpus * book.hours * part
    fees = usage_values(books.ledger.frame, blank.offer, gpus)[0] * part
    for who, share in draw_shares(book).all():
        quantity, billed = books.calendar.over(hours * share), books.calendar.over(fees * share)
        for interval in np.flatnonzero(quantity > LEAST_HOURS).tolist():
            begin, end = books.calendar.in_horizon(interval)
            yield replace(
                blank,
                part=Part.FEE,
                line="usage",
                begin=begin,
                end=end,
                quantity=float(quantity[interval]),
                billed=float(billed[interval]),
                effective=float(billed[interval]),
                use=use_row(who, float(quantity[interval]), books.facts),
            )
