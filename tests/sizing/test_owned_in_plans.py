"""Owned hardware of a plan in the accounts."""

from __future__ import annotations

from datetime import date

import pytest

import gpuladder
from gpuladder.analysis.owned import owned_orders, owned_quarters


@pytest.fixture
def result(content, write):
    """Return a plan that buys one node for 8 × 1,000: nothing else is on offer."""
    content["horizon"] = {"start": "2026-02-01", "end": "2026-04-01", "step": "month"}
    content["hardware"] = content["hardware"][:1]
    content["pools"] = content["pools"][:1]
    content["offers"] = [
        {
            "id": "ours",
            "pool": "east",
            "kind": "owned",
            "capex_per_gpu": 1000,
            "life": "2 years",
            "residual_per_year": 0.5,
            "lot_gpus": 8,
        }
    ]
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
    content["invoice"] = {"owned": [{"offer": "ours", "rate": 0.08, "term": "12 months"}]}
    return gpuladder.solve(write(content))


def test_orders_in_cash_and_by_loan(result):
    """A loan would compete at another cost than cash without anybody seeing it."""
    (row,) = owned_orders(result.scenario, result.plan)
    assert (row.offer, row.gpus, row.capex) == ("ours", 8, 8000)
    assert row.end == date(2028, 2, 1)
    assert row.financed_capex == pytest.approx(8000, rel=1e-3)
    assert row.financed_capex_per_gpu == pytest.approx(row.financed_capex / 8)
    assert row.residual_value == pytest.approx(8000 * 0.5 ** (59 / 365))


def test_the_plan_s_own_cost_lines_are_untouched(result):
    """Accounting terms would move the objective: capital cost is cash at the start."""
    costs = {row.line: row.amount for row in result.tables.costs}
    assert costs["owned_capex"] == pytest.approx(8000)


def test_quarters_from_purchase_to_end_of_life(result):
    """An auditor could not follow the book value: straight line over 730 days."""
    rows = [row.quarter for row in owned_quarters(result.scenario, result.plan)]
    assert (rows[0].quarter_start, rows[-1].quarter_end) == (date(2026, 2, 1), date(2028, 2, 1))
    assert rows[0].opening_book == 8000
    assert rows[0].depreciation == pytest.approx(8000 * 59 / 730)
    assert rows[-1].closing_book == pytest.approx(0)
    assert rows[-1].market_value == pytest.approx(2000)
    assert sum(row.principal for row in rows) == pytest.approx(8000)
