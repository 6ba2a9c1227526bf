"""Book values, market values and loans of owned hardware, by hand."""

from __future__ import annotations

from datetime import date
from itertools import pairwise

import pytest

from gpuladder.sizing import depreciation as d
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


def test_value_drops_when_the_next_generation_ships():
    """Hardware would keep its value past its successor: 0.7 after one, 0.49 after two."""
    turnovers = (date(2025, 1, 1), date(2027, 3, 1), date(2029, 3, 1))
    value = d.ByGeneration(cost=100, bought=BOUGHT, turnovers=turnovers, kept=0.7)
    assert value.value_at(date(2027, 2, 28)) == 100
    assert value.value_at(date(2027, 3, 1)) == pytest.approx(70)
    assert value.value_at(date(2029, 3, 1)) == pytest.approx(49)


def test_a_residual_curve_is_straight_between_its_points():
    """A sale would be counted at a price of another age: half way from 1 to 0.6 is 0.8."""
    value = d.ResidualCurve(cost=100, bought=BOUGHT, shares=((1.0, 0.6), (2.0, 0.5)))
    assert value.value_at(BOUGHT) == 100
    assert value.value_at(date(2027, 1, 1)) == pytest.approx(60)
    assert value.value_at(date(2027, 7, 2)) == pytest.approx(60 - 10 * 182 / 365)
    assert value.value_at(date(2035, 1, 1)) == 50


def test_a_loan_is_repaid_by_its_instalments():
    """Interest would be wrong: 1,200 at 0 % in 12 months is 100 each; at a rate the debt ends."""
    free = d.Financing(rate=0.0, months=12)
    assert [row.payment for row in d.instalments(1200, BOUGHT, free)] == pytest.approx([100] * 12)
    loan = d.Financing(rate=0.12, months=24, down_payment=0.25)
    rows = d.instalments(1000, BOUGHT, loan)
    assert rows[0].due == date(2026, 2, 1)
    assert rows[0].interest == pytest.approx(750 * (1.12 ** (1 / 12) - 1))
    assert sum(row.principal for row in rows) == pytest.approx(750)
    assert rows[-1].outstanding == pytest.approx(0, abs=1e-9)
    assert len({round(row.payment, 6) for row in rows}) == 1


def test_a_loan_at_the_discount_rate_costs_what_cash_does():
    """Financing would make hardware look cheaper than it is.

    Months differ from twelfths of a year by a day or two: within 0.1 %.
    """
    loan = d.Financing(rate=0.08, months=36)
    assert d.financed_capex(1000, BOUGHT, loan, 0.08) == pytest.approx(1000, rel=1e-3)
    dear = d.Financing(rate=0.15, months=36)
    assert d.financed_capex(1000, BOUGHT, dear, 0.08) > 1080


def test_owned_cost_is_capex_and_opex_less_residual():
    """Owned hardware would compete at another cost than the plan counts.

    No discounting: 1,000 + 365 days at 1 − 600 left = 765. At 10 %: the residual weighs 1/1.1.
    """
    residual = d.DecliningBalance(cost=1000, bought=BOUGHT, kept_per_year=0.6)
    end = date(2027, 1, 1)
    plain = d.owned_cost(1000, BOUGHT, end, residual=residual, discount_rate=0.0, opex_per_day=1.0)
    assert plain == pytest.approx(765)
    weighed = d.owned_cost(1000, BOUGHT, end, residual=residual, discount_rate=0.1)
    assert weighed == pytest.approx(1000 - 600 / 1.1)


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
        financing=d.Financing(rate=0.10, months=12, down_payment=0.5),
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
    assert rows[-1].closing_debt == pytest.approx(0, abs=1e-9)


def test_cash_is_paid_on_the_day_of_purchase():
    """A purchase without a loan would never be paid in the table."""
    book = d.StraightLine(cost=100, bought=BOUGHT, life=Span(1, "year"))
    rows = d.by_quarter(100, BOUGHT, date(2027, 1, 1), book=book)
    assert [row.payments for row in rows] == [100, 0, 0, 0]
    assert [row.market_value for row in rows] == [row.closing_book for row in rows]


def test_what_falls_on_the_first_day_of_a_quarter_belongs_to_it():
    """Books would close a quarter with payments and losses of the next one.

    Bought on 1 January; instalments on the first of each month; a successor on 1 July.
    """
    bought = date(2026, 1, 1)
    rows = d.by_quarter(
        1200,
        bought,
        date(2027, 1, 1),
        book=d.ByGeneration(cost=1200, bought=bought, turnovers=[date(2026, 7, 1)], kept=0.5),
        financing=d.Financing(rate=0.0, months=12),
    )
    assert [row.payments for row in rows] == pytest.approx([200, 300, 300, 400])
    assert [row.depreciation for row in rows] == pytest.approx([0, 0, 600, 0])
    assert rows[-1].closing_debt == pytest.approx(0)


def test_a_loan_that_outlives_the_hardware_is_repaid_in_the_table():
    """A debt would vanish from the books when the hardware is scrapped."""
    bought = date(2026, 1, 15)
    rows = d.by_quarter(
        1200,
        bought,
        date(2027, 1, 15),
        book=d.StraightLine(cost=1200, bought=bought, life=Span(1, "year")),
        financing=d.Financing(rate=0.05, months=24),
    )
    assert rows[-1].quarter_end == date(2028, 1, 15)
    assert rows[-1].closing_debt == pytest.approx(0, abs=1e-9)
    assert sum(row.principal for row in rows) == pytest.approx(1200)
    assert sum(row.depreciation for row in rows) == pytest.approx(1200)
    assert all(row.depreciation == 0 for row in rows if row.quarter_start >= date(2027, 1, 15))
