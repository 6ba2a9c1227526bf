"""Owned hardware: book values and market values over time, and with its loan by quarter.

Rates are annual and effective; a year has 365 days, as in the scenario's discounting.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from gpuladder.sizing.loans import DAYS_PER_YEAR, Loan
from gpuladder.timegrid import Span, add_months

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

MONTHS_PER_QUARTER = 3


class Curve(Protocol):
    """A value that changes with time: a depreciation schedule or a residual curve."""

    def value_at(self, day: date) -> float:
        """Return the value on a day, currency."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StraightLine:
    """Equal depreciation every day from cost to salvage over the life."""

    cost: float
    bought: date
    life: Span
    salvage: float = 0.0

    def value_at(self, day: date) -> float:
        """Return the book value: ``cost − (cost − salvage) × age ÷ life``, salvage at the end."""
        age = min(max((day - self.bought).days, 0) / self.life.days(self.bought), 1.0)
        return self.cost - (self.cost - self.salvage) * age


@dataclass(frozen=True, slots=True, kw_only=True)
class DecliningBalance:
    """The same share of what is left every year: ``cost × kept^(days / 365)``, never below salvage.

    This is also the market value of the scenario's ``residual_per_year``.
    """

    cost: float
    bought: date
    kept_per_year: float
    salvage: float = 0.0

    def value_at(self, day: date) -> float:
        """Return the value on a day."""
        years = max((day - self.bought).days, 0) / DAYS_PER_YEAR
        return max(float(self.cost * self.kept_per_year**years), self.salvage)


@dataclass(frozen=True, slots=True, kw_only=True)
class ByGeneration:
    """A value that also drops, to a share of what it was, when a successor is on sale.

    Attributes
    ----------
    value : Curve
        What it would be without successors.
    turnovers : sequence of date
        Dates from which a following generation is on sale; those up to the purchase are in its
        price.
    kept : float
        Share of the value that is left after each of them.
    """

    value: Curve
    bought: date
    turnovers: Sequence[date]
    kept: float

    def value_at(self, day: date) -> float:
        """Return the value on a day; a turnover counts from its own date."""
        passed = sum(1 for turnover in self.turnovers if self.bought < turnover <= day)
        return float(self.value.value_at(day) * self.kept**passed)

    def closing_value(self, day: date) -> float:
        """Return the value at the end of the day before: a turnover on the day has not counted."""
        passed = sum(1 for turnover in self.turnovers if self.bought < turnover < day)
        return float(self.value.value_at(day) * self.kept**passed)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResidualCurve:
    """Market value from observed shares by age, straight between them, level after the last.

    Attributes
    ----------
    points : sequence of (Span, float)
        Age and share of the purchase price, ages ascending; new is 1 unless age 0 says otherwise.
    """

    cost: float
    bought: date
    points: Sequence[tuple[Span, float]]

    def value_at(self, day: date) -> float:
        """Return the value on a day, by the days between the dates of the two points around it."""
        now = max(day, self.bought)
        begin, share = self.bought, 1.0
        for age, following in self.points:
            end = age.after(self.bought)
            if now < end:
                part = (now - begin).days / (end - begin).days
                return self.cost * (share + part * (following - share))
            begin, share = end, following
        return self.cost * share


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarterRow:
    """One calendar quarter of owned hardware. Money is undiscounted.

    ``opening_book − depreciation = closing_book`` and ``opening_debt − principal = closing_debt``,
    and each quarter opens where the one before closed. The first opens at the purchase price, so
    the price less all depreciation up to a quarter is its closing book value.
    """

    quarter_start: date
    quarter_end: date
    """Exclusive."""
    opening_book: float
    depreciation: float
    closing_book: float
    market_value: float
    """On the last day: what a sale would bring."""
    opening_debt: float
    interest: float
    principal: float
    closing_debt: float
    payments: float
    """Cash: down payment, instalments and payoff of the quarter."""
    disposal_gain: float
    """In the last quarter what a sale brings less the book value then, a loss below 0; 0 before."""


def by_quarter(
    cost: float,
    bought: date,
    end: date,
    *,
    book: Curve,
    market: Curve,
    loan: Loan | None = None,
) -> tuple[QuarterRow, ...]:
    """Return book value, depreciation and debt by calendar quarter from purchase to ``end``.

    What falls on the first day of a quarter belongs to it. At the end the hardware is sold, and
    what is left of its loan is paid off.

    Parameters
    ----------
    cost : float
        Purchase price.
    bought, end : date
        The first and last quarters are cut there; ``end`` is exclusive.
    book : Curve
        The depreciation schedule.
    market : Curve
        What a sale would bring.
    loan : Loan, optional
        Cash on the day of purchase when left out.
    """
    due = () if loan is None else loan.until(end)
    debt = 0.0 if loan is None else loan.borrowed
    down = cost - debt
    value = cost
    rows: list[QuarterRow] = []
    start = bought
    while start < end:
        stop = min(_next_quarter(start), end)
        paid = [row for row in due if start <= row.due < stop or row.due == stop == end]
        principal = math.fsum(row.principal for row in paid)
        closing = _at_close(book, stop, end)
        sale = _at_close(market, stop, end)
        rows.append(
            QuarterRow(
                quarter_start=start,
                quarter_end=stop,
                opening_book=value,
                depreciation=value - closing,
                closing_book=closing,
                market_value=sale,
                opening_debt=debt,
                interest=math.fsum(row.interest for row in paid),
                principal=principal,
                closing_debt=debt - principal,
                payments=math.fsum(row.payment for row in paid) + (0.0 if rows else down),
                disposal_gain=sale - closing if stop == end else 0.0,
            )
        )
        start, value, debt = stop, closing, debt - principal
    return tuple(rows)


def _at_close(curve: Curve, stop: date, end: date) -> float:
    """Return a value at the end of the day before ``stop``, where a turnover has not counted.

    At the end itself it has: no later quarter could show it, and the sale is on that day.
    """
    if isinstance(curve, ByGeneration) and stop < end:
        return curve.closing_value(stop)
    return curve.value_at(stop)


def _next_quarter(day: date) -> date:
    first = day.replace(month=(day.month - 1) // MONTHS_PER_QUARTER * MONTHS_PER_QUARTER + 1, day=1)
    return add_months(first, MONTHS_PER_QUARTER)
