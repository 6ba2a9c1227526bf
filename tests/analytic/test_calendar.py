"""The time grid by hand: mixed steps, clipped months, midpoints, and rows outside."""

from __future__ import annotations

import pytest
from tests.analytic.builders import WEEK, day, demand, equations, offer, scenario, solved


@equations("O1")
def test_weeks_first_then_months_cut_at_the_end() -> None:
    """Costs of the coarse half of a horizon would be of the wrong length or date.

    Weeks from 6 July to 3 August, then months: 3 August to 3 September (31 days), and from there to
    1 October, cut (28 days). 8 GPUs at 2.0, halving every year, read at the start of each period;
    10 % discounted at each midpoint.
    """
    starts = [0, 7, 14, 21, 28, 59]
    days = [7, 7, 7, 7, 31, 28]
    dates = ["2026-07-06", "2026-07-13", "2026-07-20", "2026-07-27", "2026-08-03", "2026-09-03"]
    plan = solved(
        scenario(
            horizon={
                "start": "2026-07-06",
                "segments": [
                    {"until": "2026-08-03", "step": "week"},
                    {"until": "2026-10-01", "step": "month"},
                ],
            },
            discount_rate=0.10,
            offers=[offer("on_demand", price=2.0, price_change_per_year=-0.5)],
            demand=[{"pool": "east", "at": at, "gpus": 8} for at in dates],
        )
    )
    expected = sum(
        8 * 24 * length * 2.0 * 0.5 ** (begin / 365) * 1.1 ** (-(begin + length / 2) / 365)
        for begin, length in zip(starts, days, strict=True)
    )
    assert plan.objective == pytest.approx(expected, rel=1e-9)
    assert [str(use.period) for use in plan.on_demand] == dates


@equations("O1")
def test_month_steps_from_the_31st_are_clipped() -> None:
    """A calendar that starts on the 31st would drift or fail.

    From 31 January 2026 in months: 28 February, 31 March, 30 April; so 28, 31 and 30 days. Demand
    of 1, 10 and 100 GPUs shows which day belongs where, at 1.0.
    """
    plan = solved(
        scenario(
            horizon={"start": "2026-01-31", "end": "2026-04-30", "step": "month"},
            offers=[offer("on_demand", price=1.0)],
            demand=[
                {"pool": "east", "at": "2026-02-27T23:00:00", "gpus": 1},
                {"pool": "east", "at": "2026-02-28", "gpus": 10},
                {"pool": "east", "at": "2026-04-29", "gpus": 100},
            ],
        )
    )
    assert plan.objective == pytest.approx(24 * (28 * 1 + 31 * 10 + 30 * 100))


@equations("C14")
def test_demand_outside_the_horizon_is_left_out() -> None:
    """History before the horizon, or a forecast after it, would be bought for.

    Rows on the day before the start and on the end date do not count; the first and the last hour
    inside do.
    """
    rows = [
        {"pool": "east", "at": "2026-07-05T23:00:00", "gpus": 800},
        {"pool": "east", "at": "2026-07-06T00:00:00", "gpus": 8},
        {"pool": "east", "at": "2026-07-19T23:00:00", "gpus": 16},
        {"pool": "east", "at": "2026-07-20T00:00:00", "gpus": 800},
    ]
    plan = solved(scenario(weeks=2, offers=[offer("on_demand", price=1.0)], demand=rows))
    assert plan.objective == pytest.approx(WEEK * (8 + 16))


@equations("C14")
def test_period_without_rows_has_no_demand() -> None:
    """A gap in the series would be filled with demand that nobody has.

    Rows in weeks 0 and 2 of four.
    """
    plan = solved(
        scenario(offers=[offer("on_demand", price=1.0)], demand=demand([8]) + demand([16], 2))
    )
    assert plan.objective == pytest.approx(WEEK * 24)


@equations("C4")
def test_terms_of_months_cover_calendar_months() -> None:
    """A term of a month would be taken for 30 or 28 days.

    A month from 6 July ends on 6 August: 31 days, three days into week 4. Demand 8 for five weeks;
    on demand at 3.0 fills the other four days; a second lot is not on sale.
    """
    term = offer("reserved", price=1.0, tenor="1 months", lot_gpus=8, available_until=day())
    plan = solved(
        scenario(weeks=5, offers=[offer("on_demand", price=3.0), term], demand=demand([8] * 5))
    )
    assert plan.objective == pytest.approx(8 * 24 * (31 * 1.0 + 4 * 3.0))
