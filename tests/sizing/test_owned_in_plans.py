"""Owned hardware of a plan in the accounts."""

from __future__ import annotations

from datetime import date
from itertools import pairwise

import pytest

import gpuladder
from gpuladder.analysis.owned import owned_orders, owned_quarters

OURS = {
    "id": "ours",
    "pool": "east",
    "kind": "owned",
    "capex_per_gpu": 1000,
    "life": "2 years",
    "residual_per_year": 0.5,
    "lot_gpus": 8,
}


@pytest.fixture
def solved(content, write):
    """Return a function that plans to buy one node for 8 × 1,000: nothing else is on offer."""

    def solve(**keys):
        content["horizon"] = {"start": "2026-02-01", "end": "2026-04-01", "step": "month"}
        content["hardware"] = content["hardware"][:1]
        content["pools"] = content["pools"][:1]
        content["hardware"][0]["superseded"] = "2026-03-01"
        content["offers"] = [OURS | keys]
        content["campaigns"] = [
            {
                "id": "work",
                "shape": "elastic",
                "preemption_class": "steady",
                "max_gpus": 8,
                "earliest": "2026-02-01",
                "deadline": "2026-04-01",
                "gpu_hours": 10000,
            }
        ]
        content["discount_rate"] = 0.08
        return gpuladder.solve(write(content))

    return solve


def orders(result):
    return owned_orders(result.scenario, result.plan)


def quarters(result):
    return [row.quarter for row in owned_quarters(result.scenario, result.plan)]


def test_an_order_in_cash(solved):
    """Accounts would differ from the plan: 59 of 730 days written off, half a year's value a year.

    Book 8,000 × (1 − 59/730) = 7,353.42 on 1 April, worth 8,000 × 0.5^(59/365) = 7,152.0.
    """
    result = solved()
    (row,) = orders(result)
    assert (row.offer, row.gpus, row.capex, row.down_payment) == ("ours", 8, 8000, 8000)
    assert (row.end, row.valued_on) == (date(2028, 2, 1), date(2026, 4, 1))
    assert (row.instalment, row.instalments, row.interest, row.debt) == (0, 0, 0, 0)
    assert row.last_payment == row.start
    assert row.financed_capex == 8000
    assert row.depreciation == pytest.approx(8000 * 59 / 730)
    assert row.book_value == pytest.approx(8000 - 8000 * 59 / 730)
    assert row.residual_value == pytest.approx(8000 * 0.5 ** (59 / 365))
    assert row.disposal_gain == pytest.approx(row.residual_value - row.book_value)
    costs = {line.line: line.amount for line in result.tables.costs}
    assert costs["owned_capex"] == pytest.approx(8000)
    assert costs["owned_residual"] == pytest.approx(-row.residual_value * 1.08 ** (-59 / 365))


def test_an_order_by_a_loan(solved):
    """A signatory would not see what the loan takes, nor what is owed when the plan ends.

    A quarter down, 6,000 at 0 % in 12 months of 500, the first due on 1 March. On 1 April the
    payment due then and 10 more are owed: 5,500. At 8 % that is worth 2,000 + 500 × 1.08^(−28/365)
    + 5,500 × 1.08^(−59/365).
    """
    loan = {"rate": 0.0, "term": "12 months", "down_payment": 0.25}
    result = solved(financing=loan)
    (row,) = orders(result)
    assert (row.capex, row.down_payment) == (8000, 2000)
    assert (row.instalment, row.instalments) == (pytest.approx(500), 12)
    assert row.last_payment == date(2027, 2, 1)
    assert row.interest == pytest.approx(0, abs=1e-9)
    assert row.debt == pytest.approx(5500)
    worth = 2000 + 500 * 1.08 ** (-28 / 365) + 5500 * 1.08 ** (-59 / 365)
    assert row.financed_capex == pytest.approx(worth)
    assert row.financed_capex_per_gpu == pytest.approx(worth / 8)
    costs = {line.line: line.amount for line in result.tables.costs}
    assert costs["owned_capex"] + costs["owned_loan"] == pytest.approx(worth)


def test_the_price_in_cash_that_costs_as_much(solved):
    """The price to hold a vendor's loan against would lead to another plan's cost.

    Bought in cash at ``financed_capex_per_gpu``, less the same residual value, the plan costs what
    it does by the loan.
    """
    loan = {"rate": 0.19, "term": "18 months", "down_payment": 0.1}
    on_credit = solved(financing=loan)
    (row,) = orders(on_credit)
    in_cash = solved(capex_per_gpu=row.financed_capex_per_gpu, residual_per_year=0.0)
    value = row.residual_value * 1.08 ** (-59 / 365)
    assert in_cash.plan.objective - value == pytest.approx(on_credit.plan.objective, rel=1e-9)


def test_the_books_follow_the_offer_s_own_schedule(solved):
    """A company's books would be kept by another method than it uses.

    Straight line to a tenth; 0.6 a year; 0.75 when superseded on 1 March, a month after the
    purchase. The objective does not move.
    """
    methods = {
        "straight_line": ({"salvage_share": 0.1}, 8000 - 7200 * 59 / 730),
        "declining": ({"kept_per_year": 0.6}, 8000 * 0.6 ** (59 / 365)),
        "by_generation": ({"kept_per_generation": 0.75}, 6000),
    }
    costs = []
    for method, (keys, expected) in methods.items():
        result = solved(depreciation={"method": method} | keys)
        (row,) = orders(result)
        assert row.book_value == pytest.approx(expected)
        assert {each.schedule for each in owned_quarters(result.scenario, result.plan)} == {method}
        assert quarters(result)[0].closing_book == pytest.approx(expected)
        costs.append(result.plan.objective)
    assert costs == pytest.approx([costs[0]] * 3, rel=1e-12)


def test_the_books_take_the_offer_s_market_shares_when_they_state_none(solved):
    """A share given once would have to be given twice, or count as nothing."""
    (declining,) = orders(solved(depreciation={"method": "declining"}))
    assert declining.book_value == pytest.approx(declining.residual_value)
    assert declining.disposal_gain == pytest.approx(0)
    drop = {"residual_per_generation": 0.7, "depreciation": {"method": "by_generation"}}
    (by_generation,) = orders(solved(**drop))
    assert by_generation.book_value == pytest.approx(5600)
    assert by_generation.residual_value == pytest.approx(5600 * 0.5 ** (59 / 365))


def test_quarters_from_purchase_to_end_of_life(solved):
    """An auditor could not follow book value and debt: straight line over 730 days, a year's loan.

    The price less all depreciation is the book value of every quarter, the last sells for 2,000
    what the books hold at 800.
    """
    loan = {"rate": 0.08, "term": "12 months", "down_payment": 0.25}
    result = solved(financing=loan, depreciation={"salvage_share": 0.1})
    rows = quarters(result)
    assert (rows[0].quarter_start, rows[-1].quarter_end) == (date(2026, 2, 1), date(2028, 2, 1))
    assert rows[0].opening_book == 8000
    assert rows[0].depreciation == pytest.approx(7200 * 59 / 730)
    written_off = 0.0
    for row in rows:
        written_off += row.depreciation
        assert 8000 - written_off == pytest.approx(row.closing_book)
    for before, after in pairwise(rows):
        assert after.opening_book == before.closing_book
        assert after.opening_debt == before.closing_debt
    assert rows[-1].closing_book == pytest.approx(800)
    assert rows[-1].market_value == pytest.approx(2000)
    assert rows[-1].disposal_gain == pytest.approx(1200)
    assert sum(row.principal for row in rows) == pytest.approx(6000)
    (order,) = orders(result)
    assert sum(row.interest for row in rows) == pytest.approx(order.interest)
    assert sum(row.payments for row in rows) == pytest.approx(8000 + order.interest)
