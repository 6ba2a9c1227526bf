"""Cash as billed and cost as consumed, month by month, against figures worked out by hand."""

from __future__ import annotations

from datetime import date

import pytest

DAY = 24.0
OD = {"id": "od", "pool": "east", "kind": "on_demand", "price": 3.0}


def prepaid(desk, upfront, rate=0.0):
    """8 GPUs at 1.00 for one year from 1 July, on a horizon of the first half, by month."""
    scenario = desk.scenario(
        horizon={"start": date(2026, 7, 1), "end": date(2027, 1, 1), "step": "month"},
        discount_rate=rate,
        offers=[
            OD,
            {
                "id": "res",
                "pool": "east",
                "kind": "reserved",
                "price": 1.0,
                "tenor": "1 years",
                "lot_gpus": 8,
                "upfront": upfront,
            },
        ],
    )
    middles = ((0, 31), (31, 62), (62, 92), (92, 123), (123, 153), (153, 184))
    accrued = sum(
        8 * DAY * (end - begin) * (1 + rate) ** (-(begin + end) / 2 / 365) for begin, end in middles
    )
    objective = upfront * 8 * DAY * 184 + (1 - upfront) * accrued
    orders = [{"offer": "res", "start": date(2026, 7, 1), "lots": 1}]
    return desk.result(scenario, objective, orders=orders), objective


def test_cash_pays_the_whole_terms_share_at_once_and_accrual_follows_use(desk):
    """A budget would be planned on consumption while the bill comes up front."""
    result, _ = prepaid(desk, 0.5)
    rows = {row.month_start: (row.cash, row.accrual) for row in result.tables.cash}
    term = 8 * DAY * 365
    july = 8 * DAY * 31
    assert rows[date(2026, 7, 1)] == pytest.approx((term / 2 + july / 2, july))
    assert rows[date(2027, 2, 1)] == pytest.approx((8 * DAY * 28 / 2, 8 * DAY * 28))
    assert max(rows) == date(2027, 6, 1)
    metrics = result.metrics
    assert metrics["cash_total"] == metrics["accrual_total"] == pytest.approx(term)
    assert metrics["cash_in_horizon"] == pytest.approx(term / 2 + 8 * DAY * 184 / 2)
    assert metrics["accrual_in_horizon"] == pytest.approx(8 * DAY * 184)
    assert (metrics["cash_peak_month"], metrics["cash_peak"]) == (
        "2026-07-01",
        pytest.approx(term / 2 + july / 2),
    )


def test_quarters_add_up_to_the_discounted_cost(desk):
    """The cost by quarter would not add up to the objective it is said to divide."""
    result, objective = prepaid(desk, 0.4, rate=0.12)
    quarters = {row.quarter_start: row for row in result.tables.quarters}
    total = sum(row.present_value for row in quarters.values())
    assert total == pytest.approx(objective, rel=1e-12)
    summer = quarters[date(2026, 7, 1)]
    prepaid_part = 0.4 * 8 * DAY * 92
    assert summer.present_value == pytest.approx(
        prepaid_part
        + 0.6
        * 8
        * DAY
        * sum(
            days * 1.12 ** (-middle / 365) for days, middle in ((31, 15.5), (31, 46.5), (30, 77.0))
        )
    )
    assert quarters[date(2027, 4, 1)].present_value == 0.0
    assert quarters[date(2027, 4, 1)].accrual == pytest.approx(8 * DAY * 91)


def test_a_week_across_two_months_is_split_by_its_days(desk):
    """Metered bills would land in the wrong month at every month's end."""
    use = [{"offer": "od", "period": date(2026, 7, 27), "level": 0, "gpus": 8}]
    demand = [{"pool": "east", "at": date(2026, 7, 27), "gpus": 8}]
    scenario = desk.scenario(demand=demand)
    result = desk.result(scenario, 8 * 168 * 3.0, on_demand=use)
    cash = {row.month_start: row.cash for row in result.tables.cash}
    assert cash[date(2026, 7, 1)] == pytest.approx(8 * 5 * DAY * 3.0)
    assert cash[date(2026, 8, 1)] == pytest.approx(8 * 2 * DAY * 3.0)


def test_held_commitments_are_billed_from_the_horizon_start_to_their_end(desk):
    """Money already promised would be missing from the cash plan."""
    scenario = desk.scenario(
        commitments=[
            {
                "id": "old",
                "pool": "east",
                "kind": "reserved",
                "gpus": 10,
                "start": date(2026, 1, 1),
                "end": date(2027, 2, 1),
                "price": 2.0,
            }
        ]
    )
    result = desk.result(scenario, 0.0)
    cash = {row.month_start: row.cash for row in result.tables.cash if row.line == "held"}
    assert cash[date(2026, 7, 1)] == pytest.approx(10 * 2.0 * DAY * 26)
    assert cash[date(2027, 1, 1)] == pytest.approx(10 * 2.0 * DAY * 31)
    assert sum(cash.values()) == pytest.approx(10 * 2.0 * DAY * 210)
    assert result.metrics["held_tail_cost"] == pytest.approx(10 * 2.0 * DAY * 28)
