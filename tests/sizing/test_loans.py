"""Loans on hardware, by hand."""

from __future__ import annotations

from datetime import date
from itertools import pairwise

import pytest

from gpuladder.sizing.loans import Loan
from gpuladder.sizing.owned import Financing

BOUGHT = date(2026, 1, 1)


def loan(borrowed: float, **terms: object) -> Loan:
    """Return a loan from 1 January 2026."""
    return Loan(borrowed=borrowed, start=BOUGHT, terms=Financing.model_validate(terms))


def test_without_interest_every_payment_is_its_part():
    """The simplest loan would be wrong: 1,200 in 12 months is 100 each."""
    rows = loan(1200, rate=0, term="12 months").until(date(2030, 1, 1))
    assert [row.payment for row in rows] == pytest.approx([100] * 12)
    assert [row.due.isoformat() for row in rows[:3]] == ["2026-02-01", "2026-03-01", "2026-04-01"]
    assert rows[-1].due == date(2027, 1, 1)


def test_interest_runs_by_the_day_and_payments_are_level():
    """Interest would be charged for a month that is longer or shorter than it is.

    1,000 at 12 % in two years: January has 31 days, so 1,000 × (1.12^(31/365) − 1) at first; each
    payment is the same, what is repaid adds up to what was borrowed, and every payment's present
    value at 12 % together is 1,000.
    """
    rows = loan(1000, rate=0.12, term="24 months").until(date(2030, 1, 1))
    assert rows[0].interest == pytest.approx(1000 * (1.12 ** (31 / 365) - 1))
    assert [row.payment for row in rows] == pytest.approx([rows[0].payment] * 24, rel=1e-9)
    assert sum(row.principal for row in rows) == pytest.approx(1000)
    assert rows[-1].outstanding == 0
    for before, after in pairwise(rows):
        assert after.outstanding == pytest.approx(before.outstanding - after.principal)
    worth = sum(row.payment * 1.12 ** (-(row.due - BOUGHT).days / 365) for row in rows)
    assert worth == pytest.approx(1000, rel=1e-12)


def test_two_yearly_payments_by_the_annuity_formula():
    """The level payment would not repay the loan: 21 %, 2 years, A = P i ÷ (1 − (1 + i)^−2)."""
    rows = loan(1000, rate=0.21, term="2 years", every="1 years").until(date(2030, 1, 1))
    payment = 1000 * 0.21 / (1 - 1.21**-2)
    assert [row.payment for row in rows] == pytest.approx([payment, payment])
    assert [row.interest for row in rows] == pytest.approx([210, 0.21 * (1210 - payment)])


def test_a_loan_cut_short_is_paid_off_with_interest_to_the_day():
    """A bank would be owed another sum than it asks for.

    1,000 at 10 % with one payment after a year, paid off after 73 days, a fifth of it:
    1,000 × 1.1^0.2.
    """
    single = loan(1000, rate=0.10, term="1 years", every="1 years")
    (row,) = single.until(date(2026, 3, 15))
    assert row.due == date(2026, 3, 15)
    assert row.payment == pytest.approx(1000 * 1.1**0.2)
    assert row.principal == 1000
    assert row.outstanding == 0


def test_a_payment_due_on_the_day_is_part_of_the_payoff():
    """The payment of the last day would be owed twice, or not at all."""
    monthly = loan(1200, rate=0, term="12 months")
    rows = monthly.until(date(2026, 3, 1))
    assert [(row.due.month, row.payment) for row in rows] == [(2, 100.0), (3, 1100.0)]
    assert monthly.until(date(2027, 1, 1))[-1].payment == pytest.approx(100)


def test_nothing_is_owed_on_a_purchase_paid_in_cash_or_a_loan_repaid():
    """Debts would appear that nobody has."""
    assert loan(0, rate=0.1, term="12 months").until(date(2027, 1, 1)) == ()
    repaid = loan(1200, rate=0.1, term="12 months").until(date(2029, 1, 1))
    assert repaid[-1].due == date(2027, 1, 1)
    assert len(repaid) == 12


def test_due_dates_do_not_drift_at_the_end_of_months():
    """A loan of 31 January would be due on the 28th for ever after February."""
    rows = Loan(
        borrowed=300, start=date(2026, 1, 31), terms=Financing(rate=0.0, term="3 months")
    ).until(date(2027, 1, 1))
    assert [row.due.isoformat() for row in rows] == ["2026-02-28", "2026-03-31", "2026-04-30"]
