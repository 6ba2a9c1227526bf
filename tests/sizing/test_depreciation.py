"""Book values and market values of owned hardware, and its accounts by quarter, by hand."""

from __future__ import annotations

from datetime import date
from itertools import pairwise

import pytest

from gpuladder.sizing import depreciation as d
from gpuladder.sizing.loans import Loan
from gpuladder.sizing.owned import Financing
from gpuladder.timegrid import Span

BOUGHT = date(2026, 1, 1)


def test_straight_line_falls_by_the_same_every_day():
    """Book values would not be those of the accounts: 4 years from 40,000 to 4,000, half way."""
    book = d.StraightLine(cost=40_000, bought=BOUGHT, life=Span(4, "year"), salvage=4_000)
    assert book.value_at(BOUGHT) == 40_000
    assert book.value_at(date(2028, 1, 1)) == pytest.approx(40_000 - 36_000 * 730 / 1461)
    assert book.value_at(date(2030, 1, 1)) == 4_000
    assert book.value_at(date(2033, 1, 1)) == 4_000


def test_declining_balance_keeps_its_share_every_year_and_stops_at_salvage():
    """Residual value would differ from the plan's: 100 × 0.6² = 36 after 730 days."""
    book = d.DecliningBalance(cost=100, bought=BOUGHT, kept_per_year=0.6, salvage=30)
    assert book.value_at(date(2028, 1, 1)) == pytest.approx(36)
    assert book.value_at(date(2030, 1, 1)) == 30


def by_generation(cost, bought, turnovers, kept):
    """Return a value that keeps all of its cost between successors."""
    steady = d.DecliningBalance(cost=cost, bought=bought, kept_per_year=1.0)
    return d.ByGeneration(value=steady, bought=bought, turnovers=turnovers, kept=kept)


def test_value_drops_when_the_next_generation_ships():
    """Hardware would keep its value past its successor: 0.7 after one, 0.49 after two."""
    turnovers = (date(2025, 1, 1), date(2027, 3, 1), date(2029, 3, 1))
    value = by_generation(100, BOUGHT, turnovers, 0.7)
    assert value.value_at(date(2027, 2, 28)) == 100
    assert value.value_at(date(2027, 3, 1)) == pytest.approx(70)
    assert value.closing_value(date(2027, 3, 1)) == 100
    assert value.value_at(date(2029, 3, 1)) == pytest.approx(49)


def test_a_generation_drops_what_age_has_left():
    """Old hardware would be worth more than its age or its generation allows: 0.6 × 0.7."""
    aged = d.DecliningBalance(cost=100, bought=BOUGHT, kept_per_year=0.6)
    value = d.ByGeneration(value=aged, bought=BOUGHT, turnovers=[date(2026, 6, 1)], kept=0.7)
    assert value.value_at(date(2027, 1, 1)) == pytest.approx(42)


def test_a_residual_curve_is_straight_between_its_points():
    """A sale would be counted at a price of another age: half way from 1 to 0.6 is 0.8."""
    points = ((Span(1, "year"), 0.6), (Span(2, "year"), 0.5))
    value = d.ResidualCurve(cost=100, bought=BOUGHT, points=points)
    assert value.value_at(date(2025, 1, 1)) == 100
    assert value.value_at(BOUGHT) == 100
    assert value.value_at(date(2026, 3, 15)) == pytest.approx(100 - 40 * 73 / 365)
    assert value.value_at(date(2027, 1, 1)) == pytest.approx(60)
    assert value.value_at(date(2027, 7, 2)) == pytest.approx(60 - 10 * 182 / 365)
    assert value.value_at(date(2035, 1, 1)) == 50


def test_quarters_tie_out():
    """An auditor could not follow the book value from purchase to end.

    Bought in the middle of a quarter for 1,000 over two years, half of it borrowed for one.
    """
    bought = date(2026, 2, 15)
    rows = d.by_quarter(
        1000,
        bought,
        date(2028, 2, 15),
        book=d.StraightLine(cost=1000, bought=bought, life=Span(2, "year")),
        market=d.DecliningBalance(cost=1000, bought=bought, kept_per_year=0.5),
        loan=Loan(borrowed=500, start=bought, terms=Financing(rate=0.10, term="12 months")),
    )
    assert (rows[0].quarter_start, rows[0].quarter_end) == (bought, date(2026, 4, 1))
    assert rows[1].quarter_end == date(2026, 7, 1)
    assert rows[-1].quarter_end == date(2028, 2, 15)
    for before, after in pairwise(rows):
        assert after.opening_book == before.closing_book
        assert after.opening_debt == before.closing_debt
    for row in rows:
        assert row.opening_book - row.depreciation == pytest.approx(row.closing_book)
        assert row.opening_debt - row.principal == pytest.approx(row.closing_debt)
    assert rows[0].depreciation == pytest.approx(1000 * 45 / 730)
    assert sum(row.depreciation for row in rows) == pytest.approx(1000)
    assert sum(row.principal for row in rows) == pytest.approx(500)
    assert sum(row.payments for row in rows) == pytest.approx(
        1000 + sum(row.interest for row in rows)
    )
    assert rows[-1].market_value == pytest.approx(250)
    assert [row.disposal_gain for row in rows[:-1]] == [0] * (len(rows) - 1)
    assert rows[-1].disposal_gain == pytest.approx(250 - 0)
    assert rows[-1].closing_debt == pytest.approx(0, abs=1e-9)


def test_cash_is_paid_on_the_day_of_purchase():
    """A purchase without a loan would never be paid in the table."""
    book = d.StraightLine(cost=100, bought=BOUGHT, life=Span(1, "year"))
    rows = d.by_quarter(100, BOUGHT, date(2027, 1, 1), book=book, market=book)
    assert [row.payments for row in rows] == [100, 0, 0, 0]
    assert [row.closing_debt for row in rows] == [0, 0, 0, 0]
    assert [row.market_value for row in rows] == [row.closing_book for row in rows]


def test_what_falls_on_the_first_day_of_a_quarter_belongs_to_it():
    """Books would close a quarter with payments and losses of the next one.

    Bought on 1 January; instalments on the first of each month; a successor on 1 July, and one on
    the day of the sale, which no later quarter could show.
    """
    bought, sold = date(2026, 1, 1), date(2027, 1, 1)
    value = by_generation(1200, bought, [date(2026, 7, 1), sold], 0.5)
    rows = d.by_quarter(
        1200,
        bought,
        sold,
        book=value,
        market=value,
        loan=Loan(borrowed=1200, start=bought, terms=Financing(rate=0.0, term="12 months")),
    )
    assert [row.payments for row in rows] == pytest.approx([200, 300, 300, 400])
    assert [row.depreciation for row in rows] == pytest.approx([0, 0, 600, 300])
    assert rows[-1].closing_debt == pytest.approx(0)


def test_a_loan_that_outlives_the_hardware_is_paid_off_at_the_sale():
    """A debt would vanish from the books when the hardware is sold, or outlive its security.

    1,200 without interest in 24 months, sold after a year for 400: 11 payments of 50, and 650 on
    the day of the sale, 50 of which are due then anyway.
    """
    bought = date(2026, 1, 1)
    rows = d.by_quarter(
        1200,
        bought,
        date(2027, 1, 1),
        book=d.StraightLine(cost=1200, bought=bought, life=Span(1, "year"), salvage=300),
        market=d.DecliningBalance(cost=1200, bought=bought, kept_per_year=1 / 3),
        loan=Loan(borrowed=1200, start=bought, terms=Financing(rate=0.0, term="24 months")),
    )
    assert [row.payments for row in rows] == pytest.approx([100, 150, 150, 150 + 650])
    assert rows[-1].quarter_end == date(2027, 1, 1)
    assert rows[-1].closing_debt == pytest.approx(0)
    assert sum(row.depreciation for row in rows) == pytest.approx(900)
    assert rows[-1].disposal_gain == pytest.approx(400 - 300)
