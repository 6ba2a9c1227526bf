"""Loans on hardware: level payments, what is still owed, and where one is cut short.

Interest is annual and effective and runs by the day, a year having 365, exactly as the scenario
discounts. A loan at the discount rate therefore costs as much as cash whenever it is settled.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date

    from gpuladder.sizing.owned import Financing

DAYS_PER_YEAR = 365.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Instalment:
    """One payment of a loan, currency."""

    due: date
    payment: float
    interest: float
    """Accrued since the payment before, and part of this one."""
    principal: float
    outstanding: float
    """Still owed after it."""


@dataclass(frozen=True, kw_only=True)
class Loan:
    """What is borrowed for hardware and repaid in equal payments, in arrears.

    Attributes
    ----------
    borrowed : float
        Currency, on the day of purchase.
    start : date
        That day.
    terms : Financing
        Rate, term and the time between payments.
    """

    borrowed: float
    start: date
    terms: Financing

    @cached_property
    def dates(self) -> tuple[date, ...]:
        """Due dates, counted from the start; the last is the end of the term."""
        end = self.terms.term.after(self.start)
        found: list[date] = []
        while (day := self.terms.every.after(self.start, len(found) + 1)) < end:
            found.append(day)
        return (*found, end)

    @cached_property
    def payment(self) -> float:
        """The equal payment ``P ÷ Σ_k (1 + i)^(−days_k / 365)``, currency.

        The textbook annuity ``P i ÷ (1 − (1 + i)^−n)`` with the days that lie between the dates in
        place of equal periods.
        """
        weights = sum(1.0 / growth(self.terms.rate, (day - self.start).days) for day in self.dates)
        return self.borrowed / weights

    def until(self, day: date) -> tuple[Instalment, ...]:
        """Return the payments due before a day and, if any debt is left, its payoff on that day.

        The payoff is what is owed then with interest to the day, which includes a payment due on
        it.
        """
        if self.borrowed == 0.0:
            return ()
        owed, before = self.borrowed, self.start
        rows: list[Instalment] = []
        for due in self.dates:
            paid_on = min(due, day)
            interest = owed * (growth(self.terms.rate, (paid_on - before).days) - 1.0)
            is_last = due >= day or due == self.dates[-1]
            principal = owed if is_last else self.payment - interest
            owed = 0.0 if is_last else owed - principal
            rows.append(
                Instalment(
                    due=paid_on,
                    payment=interest + principal,
                    interest=interest,
                    principal=principal,
                    outstanding=owed,
                )
            )
            if is_last:
                break
            before = due
        return tuple(rows)


def growth(rate: float, days: float) -> float:
    """Return what 1 becomes over so many days at an annual effective rate.

    >>> round(growth(0.10, 365), 6)
    1.1
    """
    return float((1.0 + rate) ** (days / DAYS_PER_YEAR))
