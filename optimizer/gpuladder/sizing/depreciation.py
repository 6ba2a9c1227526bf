"""Owned hardware: book values, market values, financing, and all of it by quarter.

Rates are annual and effective; a year has 365 days, as in the scenario's discounting.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Protocol

from gpuladder.timegrid import Span, add_months

if TYPE_CHECKING:
    from collections.abc import Sequence

DAYS_PER_YEAR = 365.0
MONTHS_PER_YEAR = 12.0
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
    """Value that holds until a successor ships and then drops to a share of what it was.

    Attributes
    ----------
    turnovers : sequence of date
        Dates on which a following generation is on sale.
    kept : float
        Share of the value that is left after each of them.
    """

    cost: float
    bought: date
    turnovers: Sequence[date]
    kept: float

    def value_at(self, day: date) -> float:
        """Return the value on a day; a turnover counts from its own date."""
        passed = sum(1 for turnover in self.turnovers if self.bought < turnover <= day)
        return float(self.cost * self.kept**passed)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResidualCurve:
    """Market value from observed shares by age, straight between them, level after the last.

    Attributes
    ----------
    shares : sequence of (float, float)
        Age in years and share of the purchase price, ascending; new is 1.
    """

    cost: float
    bought: date
    shares: Sequence[tuple[float, float]]

    def value_at(self, day: date) -> float:
        """Return the value on a day."""
        age = max((day - self.bought).days, 0) / DAYS_PER_YEAR
        before = (0.0, 1.0)
        for point in self.shares:
            if age < point[0]:
                part = (age - before[0]) / (point[0] - before[0])
                return self.cost * (before[1] + part * (point[1] - before[1]))
            before = point
        return self.cost * before[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Financing:
    """A loan repaid in equal monthly instalments, in arrears.

    Attributes
    ----------
    rate : float
        Annual effective interest.
    months : int
        Number of instalments.
    down_payment : float
        Share of the price that is not borrowed, 0 to 1.
    """

    rate: float
    months: int
    down_payment: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Instalment:
    """One payment of a loan."""

    due: date
    payment: float
    interest: float
    principal: float
    outstanding: float
    """Still owed after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarterRow:
    """One calendar quarter of owned hardware. Money is undiscounted.

    ``opening_book − depreciation = closing_book`` and ``opening_debt − principal = closing_debt``,
    and each quarter opens where the one before closed.
    """

    quarter_start: date
    quarter_end: date
    """Exclusive."""
    opening_book: float
    depreciation: float
    closing_book: float
    market_value: float
    """On the last day, when it differs from the book: what a sale would bring."""
    opening_debt: float
    interest: float
    principal: float
    closing_debt: float
    payments: float
    """Cash: down payment and instalments of the quarter."""


def instalment(borrowed: float, financing: Financing) -> float:
    """Return the equal monthly payment that repays a loan: ``P i ÷ (1 − (1 + i)^−n)``.

    ``i = (1 + rate)^(1/12) − 1``; without interest ``P ÷ n``.
    """
    monthly = _monthly_rate(financing.rate)
    if monthly == 0.0:
        return borrowed / financing.months
    return float(borrowed * monthly / -math.expm1(-financing.months * math.log1p(monthly)))


def instalments(cost: float, start: date, financing: Financing) -> tuple[Instalment, ...]:
    """Return the payments of a purchase financed on its start date, the down payment left out."""
    owed = cost * (1.0 - financing.down_payment)
    payment = instalment(owed, financing)
    monthly = _monthly_rate(financing.rate)
    rows = []
    for number in range(1, financing.months + 1):
        interest = owed * monthly
        principal = owed if number == financing.months else payment - interest
        owed -= principal
        rows.append(
            Instalment(
                due=add_months(start, number),
                payment=interest + principal,
                interest=interest,
                principal=principal,
                outstanding=owed,
            )
        )
    return tuple(rows)


def financed_capex(cost: float, start: date, financing: Financing, discount_rate: float) -> float:
    """Return the present value, at the purchase, of paying for hardware by a loan.

    It stands where ``capex_per_gpu`` does when the purchase is financed, so that owned hardware
    competes on the same net present cost as every other offer. A loan at the discount rate costs
    as much as cash, up to the difference between a twelfth of a year and a calendar month.
    """
    value = cost * financing.down_payment
    for row in instalments(cost, start, financing):
        value += row.payment * _factor(discount_rate, (row.due - start).days)
    return value


def owned_cost(
    cost: float,
    bought: date,
    end: date,
    *,
    residual: Curve,
    discount_rate: float,
    opex_per_day: float = 0.0,
    financing: Financing | None = None,
) -> float:
    """Return the net present cost at the purchase of owning hardware until ``end``.

    Purchase or its loan, plus running cost accrued and discounted day by day at midday, less the
    residual value at ``end``: the terms of the scenario's `owned`, with loans and any residual
    curve. A grid of longer periods discounts running cost at the periods' midpoints instead.
    """
    days = (end - bought).days
    paid = cost if financing is None else financed_capex(cost, bought, financing, discount_rate)
    running = math.fsum(
        opex_per_day * _factor(discount_rate, day + 0.5) for day in range(days) if opex_per_day
    )
    return paid + running - residual.value_at(end) * _factor(discount_rate, days)


def by_quarter(
    cost: float,
    bought: date,
    end: date,
    *,
    book: Curve,
    market: Curve | None = None,
    financing: Financing | None = None,
) -> tuple[QuarterRow, ...]:
    """Return book value, depreciation and debt by calendar quarter from purchase to ``end``.

    What falls on the first day of a quarter belongs to it. A loan that outlives the hardware goes
    on, beside a book value that no longer moves, until it is repaid.

    Parameters
    ----------
    cost : float
        Purchase price.
    bought, end : date
        The first and last quarters are cut there; ``end`` is exclusive.
    book : Curve
        The depreciation schedule.
    market : Curve, optional
        What a sale would bring; the book value when left out.
    financing : Financing, optional
        Cash on the day of purchase when left out.
    """
    loan = () if financing is None else instalments(cost, bought, financing)
    down = cost if financing is None else cost * financing.down_payment
    debt = cost - down
    value = book.value_at(bought)
    rows: list[QuarterRow] = []
    start, last = bought, max(end, loan[-1].due if loan else end)
    while start < last:
        stop = min(_next_quarter(start), end if start < end else last)
        due = [row for row in loan if start <= row.due < stop or row.due == stop == last]
        principal = math.fsum(row.principal for row in due)
        closing = _at_close(book, min(stop, end))
        rows.append(
            QuarterRow(
                quarter_start=start,
                quarter_end=stop,
                opening_book=value,
                depreciation=value - closing,
                closing_book=closing,
                market_value=closing if market is None else _at_close(market, min(stop, end)),
                opening_debt=debt,
                interest=math.fsum(row.interest for row in due),
                principal=principal,
                closing_debt=debt - principal,
                payments=math.fsum(row.payment for row in due) + (0.0 if rows else down),
            )
        )
        start, value, debt = stop, closing, debt - principal
    return tuple(rows)


def _at_close(curve: Curve, stop: date) -> float:
    """Return a value at the end of the day before ``stop``, where a turnover has not counted."""
    if isinstance(curve, ByGeneration):
        return curve.value_at(stop - timedelta(days=1))
    return curve.value_at(stop)


def _next_quarter(day: date) -> date:
    first = day.replace(month=(day.month - 1) // MONTHS_PER_QUARTER * MONTHS_PER_QUARTER + 1, day=1)
    return add_months(first, MONTHS_PER_QUARTER)


def _monthly_rate(rate: float) -> float:
    return float((1.0 + rate) ** (1.0 / MONTHS_PER_YEAR) - 1.0)


def _factor(rate: float, days: float) -> float:
    return float((1.0 + rate) ** (-days / DAYS_PER_YEAR))
