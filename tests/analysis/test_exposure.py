"""What to sign, lock-in, ladder windows and expiries, against figures worked out by hand."""

from __future__ import annotations

from datetime import date

import pytest

WEEK = 168.0
OD = {"id": "od", "pool": "east", "kind": "on_demand", "price": 3.0}


def lease(key="res", kind="reserved", **more):
    base = {"id": key, "pool": "east", "kind": kind, "price": 1.5, "tenor": "26 weeks"}
    return {**base, "lot_gpus": 8, **more}


def held(key, gpus, end, **more):
    base = {"id": key, "pool": "east", "kind": "reserved", "gpus": gpus, "price": 2.0}
    return {**base, "start": date(2026, 1, 5), "end": end, **more}


def test_an_order_states_when_to_sign_what_it_costs_and_what_hangs_over(desk):
    """Somebody would sign late, or not know what the term costs after the horizon.

    52 weeks of 16 GPUs at 1.50 from week 13 of 26: half of it in the horizon, three quarters paid
    by the hour, one quarter of the whole term up front; setup 1,000; lead 2 months.
    """
    scenario = desk.scenario(
        offers=[
            OD,
            lease(
                kind="dedicated",
                tenor="26 weeks",
                lead="2 months",
                upfront=0.25,
                setup_cost=1000,
                lot_gpus=16,
            ),
        ]
    )
    term = 16 * 26 * WEEK * 1.5
    result = desk.result(
        scenario,
        term / 2 + 1000,
        orders=[{"offer": "res", "start": desk.week(13), "lots": 1}],
    )
    (row,) = result.tables.commitments
    assert (row.start, row.end) == (date(2026, 10, 5), date(2027, 4, 5))
    assert row.sign_by == date(2026, 8, 5)
    assert row.cost == row.cost_undiscounted == pytest.approx(term / 2 + 1000)
    assert row.tail == pytest.approx(term / 2)
    assert row.upfront == pytest.approx(term / 4 + 1000)
    assert row.break_even_utilisation == pytest.approx(0.5)
    assert row.utilisation == pytest.approx(0.0)
    assert "pays above 50% use" in row.rationale
    assert "0% of the pool's committed GPU-hours are used" in row.rationale
    owed = {item.at: item for item in result.tables.lock_in}
    assert owed[desk.week(4)].obligation == 0.0
    signed = owed[desk.week(5)]
    assert signed.obligation == signed.unpaid == pytest.approx(term + 1000)
    half = owed[date(2027, 1, 4)]
    assert half.new_obligation == half.after_horizon == pytest.approx(term / 2)
    assert half.unpaid == pytest.approx(term / 2 * 0.75)
    assert half.average_months == pytest.approx(91 / (365.25 / 12))
    assert result.metrics["first_sign_by"] == "2026-08-05"
    assert result.metrics["lock_in_peak_date"] == "2026-08-10"


def test_lock_in_shows_held_and_new_apart_and_weighs_months_by_gpus(desk):
    """A large old commitment would hide behind a small new one."""
    scenario = desk.scenario(offers=[OD, lease()], commitments=[held("old", 24, date(2026, 10, 5))])
    result = desk.result(
        scenario,
        8 * 26 * WEEK * 1.5,
        orders=[{"offer": "res", "start": desk.week(0), "lots": 1}],
    )
    first = result.tables.lock_in[0]
    assert first.held_obligation == pytest.approx(24 * 13 * WEEK * 2.0)
    assert first.new_obligation == pytest.approx(8 * 26 * WEEK * 1.5)
    assert first.average_months == pytest.approx((24 * 91 + 8 * 182) / 32 / (365.25 / 12))
    quarters = [row.at for row in result.tables.lock_in if row.quarter_start]
    assert quarters == [date(2026, 10, 1), date(2027, 1, 1)]


def test_the_cliff_is_the_worst_window_before_and_after(desk):
    """A plan that merely moves the cliff would pass for a ladder.

    Windows of 3 months from 6 July 2026. Held: 40 GPUs end on 6 October, the first window's last
    date, so 40 of 60 end there; the other 20 end on 4 January, all that is left in the second. The
    plan adds 24 GPUs that end with them: 40 of 84 and 44 of 44. A one-month term does not count.
    """
    scenario = desk.scenario(
        offers=[OD, lease()],
        commitments=[
            held("a", 40, date(2026, 10, 6)),
            held("b", 20, date(2027, 1, 4)),
            held("short", 500, date(2026, 9, 1), start=date(2026, 8, 1), tenor="1 months"),
        ],
        policy={"ladder": {"window": "3 months", "max_expiring_share": 0.5, "exempt_gpus": 6}},
    )
    result = desk.result(
        scenario,
        24 * 26 * WEEK * 1.5,
        orders=[{"offer": "res", "start": desk.week(0), "lots": 3}],
    )
    first, second = result.tables.ladder
    assert (first.window_start, first.window_end) == (date(2026, 7, 6), date(2026, 10, 6))
    assert (first.committed_before, first.expiring_before) == (60, 40)
    assert (first.committed_after, first.expiring_after) == (84, 40)
    assert first.allowed_gpus == pytest.approx(48)
    assert (second.committed_before, second.expiring_before) == (20, 20)
    assert (second.committed_after, second.share_after) == (44, pytest.approx(1.0))
    metrics = result.metrics
    assert (metrics["cliff_share_before"], metrics["cliff_window_before"]) == (1.0, "2026-10-06")
    quarters = {r.quarter_start: (r.held_gpus, r.new_gpus) for r in result.tables.expiries}
    assert quarters[date(2026, 7, 1)] == (500, 0)
    assert quarters[date(2026, 10, 1)] == (40, 0)
    assert quarters[date(2027, 1, 1)] == (20, 24)


def test_past_the_horizon_the_ladder_counts_what_is_active_at_its_end(desk):
    """Terms that all end after the horizon would never be seen as a cliff."""
    scenario = desk.scenario(
        offers=[OD, lease(tenor="52 weeks")], commitments=[held("a", 24, date(2027, 12, 31))]
    )
    result = desk.result(
        scenario,
        8 * 26 * WEEK * 1.5,
        orders=[{"offer": "res", "start": desk.week(0), "lots": 1}],
    )
    shares = {row.window_start: row.share_after for row in result.tables.ladder}
    assert shares[date(2027, 4, 6)] == pytest.approx(8 / 32)
    assert shares[date(2027, 10, 6)] == pytest.approx(24 / 32)
    assert result.tables.ladder[-1].window_end >= date(2027, 12, 31)
    assert result.tables.ladder[0].allowed_gpus is None


def test_bought_hardware_is_no_lock_in_once_paid(desk):
    """Owned hardware would be reported as an obligation to a provider."""
    scenario = desk.scenario(
        offers=[
            OD,
            {
                "id": "own",
                "pool": "east",
                "kind": "owned",
                "capex_per_gpu": 1000,
                "opex_per_gpu_hour": 0.5,
                "life": "2 years",
                "residual_per_year": 0.5,
                "lot_gpus": 8,
                "lead": "4 weeks",
            },
        ]
    )
    kept = 8000 * 0.5 ** ((26 - 6) * 7 / 365)
    opex = 8 * 20 * WEEK * 0.5
    result = desk.result(
        scenario,
        8000 + opex - kept,
        orders=[{"offer": "own", "start": desk.week(6), "lots": 1}],
    )
    owed = {row.at: row.obligation for row in result.tables.lock_in}
    assert [owed[desk.week(n)] for n in (1, 2, 5, 6)] == [0, 8000, 8000, 0]
    (row,) = result.tables.commitments
    assert row.price == pytest.approx((8000 + opex - kept) / (8 * 20 * WEEK))
    assert row.tail == 0.0
    lines = {item.line: item.amount for item in result.tables.costs}
    assert lines["owned_residual"] == pytest.approx(-kept)
    assert result.metrics["cash_total"] == pytest.approx(8000 + opex - kept)
    assert result.metrics["accrual_total"] == pytest.approx(8000 + opex - kept)
    assert result.metrics["cash_in_horizon"] == pytest.approx(8000 + opex - kept)


def test_a_loan_is_owed_as_signed_and_settled_in_the_books(desk):
    """A debt that runs on after the plan would be seen by nobody.

    8 GPUs for 8,000 on 17 August, signed four weeks before: 2,000 down and 12 monthly payments of
    500 without interest. At the horizon end, 4 January, four are made and 4,000 is owed; the books
    of the plan settle that against the residual value, and lock-in shows it as long as it runs.
    """
    scenario = desk.scenario(
        offers=[
            OD,
            {
                "id": "own",
                "pool": "east",
                "kind": "owned",
                "capex_per_gpu": 1000,
                "opex_per_gpu_hour": 0.5,
                "life": "2 years",
                "residual_per_year": 0.5,
                "lot_gpus": 8,
                "lead": "4 weeks",
                "financing": {"rate": 0, "term": "12 months", "down_payment": 0.25},
            },
        ]
    )
    kept = 8000 * 0.5 ** (140 / 365)
    total = 8000 + 8 * 20 * WEEK * 0.5 - kept
    result = desk.result(
        scenario, total, orders=[{"offer": "own", "start": desk.week(6), "lots": 1}]
    )
    owed = {row.at: (row.obligation, row.loans, row.after_horizon) for row in result.tables.lock_in}
    assert owed[desk.week(1)] == (0, 0, 0)
    assert owed[desk.week(2)] == pytest.approx((8000, 6000, 4000))
    assert owed[desk.week(6)] == pytest.approx((6000, 6000, 4000))
    assert owed[date(2026, 10, 1)] == pytest.approx((5500, 5500, 4000))
    assert owed[date(2027, 1, 4)] == pytest.approx((4000, 4000, 4000))
    assert owed[date(2027, 7, 1)] == pytest.approx((1000, 1000, 1000))
    assert max(owed) == date(2027, 7, 1)
    assert [row.unpaid for row in result.tables.lock_in] == [row[0] for row in owed.values()]
    (row,) = result.tables.commitments
    assert (row.upfront, row.tail) == (2000, 0)
    assert row.cost == row.cost_undiscounted == pytest.approx(total)
    assert row.price == pytest.approx(total / (8 * 20 * WEEK))
    cash = {r.month_start: r.cash for r in result.tables.cash if r.line == "owned_loan" and r.cash}
    months = [date(2026, month, 1) for month in range(9, 13)]
    assert cash == pytest.approx({**dict.fromkeys(months, 500), date(2027, 1, 1): 4000})
    metrics = result.metrics
    assert metrics["lock_in_peak"] == pytest.approx(8000)
    assert metrics["tail_cost"] == 0
    for name in ("cash_total", "cash_in_horizon", "accrual_total", "accrual_in_horizon"):
        assert metrics[name] == pytest.approx(total)
    lines = {item.line: item.amount for item in result.tables.costs}
    assert (lines["owned_capex"], lines["owned_loan"]) == pytest.approx((2000, 6000))
