"""Bought hardware by hand: loans that are settled, values by age and generation, and cash.

2026 in quarters of 90, 91, 92 and 92 days, unless a test says otherwise; 8 GPUs at 10,000.
"""

from __future__ import annotations

from typing import Any

import pytest
from tests.analytic.builders import (
    WEEK,
    day,
    demand,
    equations,
    hardware,
    is_infeasible,
    lines,
    offer,
    orders,
    scenario,
    solved,
)

from gpuladder.program import make_program_data
from gpuladder.scenario.schema import Scenario

CAPEX = 8 * 10_000.0
YEAR = {"start": "2026-01-01", "end": "2027-01-01", "step": "quarter"}
TWO_YEARS = {"start": "2026-01-01", "end": "2028-01-01", "step": "quarter"}


def owned(**keys: Any) -> dict[str, Any]:
    """Return the offer of 8 GPUs at 10,000 that can be bought on the first day alone."""
    return (
        offer("owned", capex_per_gpu=10_000, life="4 years", lot_gpus=8)
        | {"available_until": "2026-01-01"}
        | keys
    )


def bought(horizon: dict[str, str] = YEAR, rate: float = 0.10, **tables: Any) -> Scenario:
    """Return a scenario whose demand of 8 on every quarter's first day is best met by buying."""
    years = range(2026, int(horizon["end"][:4]) + (0 if horizon["end"].endswith("01-01") else 1))
    first_days = [f"{year}-{month:02d}-01" for year in years for month in (1, 4, 7, 10)]
    return scenario(
        horizon=horizon,
        discount_rate=rate,
        demand=[{"pool": "east", "at": at, "gpus": 8} for at in first_days if at < horizon["end"]],
        **tables,
    )


def cost_of_lot(asked: Scenario) -> dict[str, float]:
    """Return the coefficients of the first order of the offer, by cost line."""
    return {
        name: float(line[0]) for name, line in make_program_data(asked).orders.cost_lines.items()
    }


LOANS = {
    "cut by the horizon": {"term": "36 months"},
    "cut by the horizon on a due date": {"term": "2 years", "every": "1 years"},
    "repaid before the horizon ends": {"term": "6 months"},
    "repaid on the horizon's last day": {"term": "12 months", "every": "3 months"},
    "with a down payment": {"term": "36 months", "down_payment": 0.3},
    "in days, over three leap days": {"term": "520 weeks", "every": "4 weeks"},
    "of one payment": {"term": "7 months", "every": "7 months"},
}


@equations("O8", "O14")
@pytest.mark.parametrize("life", ["4 years", "5 months", "45 days"])
@pytest.mark.parametrize("start", ["2026-01-01", "2026-04-01", "2026-10-01"])
@pytest.mark.parametrize("loan", LOANS)
def test_a_loan_at_the_discount_rate_costs_what_cash_does(loan: str, start: str, life: str) -> None:
    """Financing alone would make hardware cheaper or dearer, and decide whether it is bought.

    Interest at the rate at which money is discounted moves payments without changing their worth,
    wherever the horizon or the end of life cuts the loan.
    """
    keys = {"life": life, "available_from": start, "available_until": start}
    terms = LOANS[loan]
    cash = cost_of_lot(bought(offers=[owned(**keys)]))
    credit = cost_of_lot(bought(offers=[owned(financing={"rate": 0.10} | terms, **keys)]))
    down = terms.get("down_payment", 0.0)
    assert credit["owned_capex"] == pytest.approx(down * cash["owned_capex"])
    assert credit["owned_loan"] == pytest.approx((1 - down) * cash["owned_capex"], rel=1e-12)
    assert sum(credit.values()) == pytest.approx(sum(cash.values()), rel=1e-12)


@equations("O8", "O14")
def test_a_dearer_loan_costs_the_difference_of_two_annuities() -> None:
    """A loan's interest would be left out of what hardware costs.

    Two years to 2028 at 10 %. A loan at 21 % in two payments after 365 and 730 days:
    A = 80,000 ÷ (1/1.21 + 1/1.21²) = 80,000 × 1.4641 ÷ 2.21 = 52,999.10. Present value
    A × (1/1.1 + 1/1.21) = A × 2.1 ÷ 1.21 = 91,981.9, which is 11,981.9 more than cash. The last
    payment falls on the horizon's last day and settles it.
    """
    loan = {"rate": 0.21, "term": "2 years", "every": "1 years"}
    plan = solved(bought(TWO_YEARS, offers=[offer("on_demand", price=9.0), owned(financing=loan)]))
    payment = CAPEX * 1.4641 / 2.21
    assert lines(plan) == {"owned_loan": pytest.approx(payment * 2.1 / 1.21, rel=1e-9)}
    assert plan.objective == pytest.approx(91_981.9, abs=0.1)


@equations("O14")
def test_what_is_owed_at_the_horizon_end_is_settled() -> None:
    """Debt past the horizon would vanish, and the longest loan be the cheapest.

    The same loan on a horizon of one year: with the payment due that day 1.21 × 80,000 is owed on
    1 January 2027, worth 1.21 / 1.1 × 80,000 = 88,000 today.
    """
    loan = {"rate": 0.21, "term": "2 years", "every": "1 years"}
    plan = solved(bought(YEAR, offers=[offer("on_demand", price=9.0), owned(financing=loan)]))
    assert lines(plan) == {"owned_loan": pytest.approx(88_000, rel=1e-9)}


@equations("O8", "O10", "O14")
def test_a_loan_that_outlives_the_hardware_is_paid_off_when_it_leaves() -> None:
    """Hardware would be sold and its loan forgotten.

    Life of six months: on 1 July, after 181 days, half the price is still owed as one payment due
    after a year, at 21 %: 40,000 × 1.21^(181/365), against what is left of the value, 80,000 ×
    0.6^(181/365). Both are discounted from that day at 10 %.
    """
    terms = {"rate": 0.21, "term": "1 years", "every": "1 years", "down_payment": 0.5}
    hardware_sold = owned(life="6 months", financing=terms, residual_per_year=0.6)
    asked = bought(offers=[offer("on_demand", price=9.0), hardware_sold])
    asked = asked.model_copy(update={"demand": asked.demand[:2]})
    part = 181 / 365
    assert lines(solved(asked)) == {
        "owned_capex": pytest.approx(40_000),
        "owned_loan": pytest.approx(40_000 * (1.21 / 1.1) ** part, rel=1e-9),
        "owned_residual": pytest.approx(-80_000 * (0.6 / 1.1) ** part, rel=1e-9),
    }


@equations("O8", "O10", "O14")
def test_a_dear_loan_turns_buying_into_reserving() -> None:
    """Hardware would be bought on a loan that makes a reservation the cheaper choice.

    Two years, 17,520 hours, no discounting; a quarter of the value is left (0.5²). In cash a GPU
    costs 10,000 − 2,500 = 7,500; by the loan at 21 % 2 × 6,624.89 − 2,500 = 10,749.77. Reserved at
    0.5 it costs 8,760 either way.
    """
    reserved = offer("reserved", price=0.5, tenor="2 years", lot_gpus=8) | {
        "available_until": "2026-01-01"
    }
    metered = offer("on_demand", price=9.0)
    cash = owned(residual_per_year=0.5)
    loan = {"rate": 0.21, "term": "2 years", "every": "1 years"}
    in_cash = solved(bought(TWO_YEARS, 0.0, offers=[metered, reserved, cash]))
    assert orders(in_cash) == {("owned", "2026-01-01"): 1}
    assert in_cash.objective == pytest.approx(60_000)
    on_credit = solved(
        bought(TWO_YEARS, 0.0, offers=[metered, reserved, cash | {"financing": loan}])
    )
    assert orders(on_credit) == {("reserved", "2026-01-01"): 1}
    assert on_credit.objective == pytest.approx(8 * 8_760)
    alone = solved(bought(TWO_YEARS, 0.0, offers=[metered, cash | {"financing": loan}]))
    assert alone.objective == pytest.approx(8 * (2 * 10_000 * 1.4641 / 2.21 - 2_500), rel=1e-9)


CURVE = [{"age": "1 years", "share": 0.6}, {"age": "3 years", "share": 0.3}]
VALUES = {
    "half a year in": ("2026-07-02", {"residual_curve": CURVE}, 1 - 0.4 * 182 / 365),
    "at its first age": ("2027-01-01", {"residual_curve": CURVE}, 0.6),
    # 731 days from 1 January 2027 to 1 January 2029, of which 365 have passed
    "between two ages": ("2028-01-01", {"residual_curve": CURVE}, 0.6 - 0.3 * 365 / 731),
    "past its last age": ("2029-07-01", {"residual_curve": CURVE}, 0.3),
    "less as soon as it is unpacked": (
        "2026-07-02",
        {"residual_curve": [{"age": "0 days", "share": 0.9}, {"age": "1 years", "share": 0.6}]},
        0.9 - 0.3 * 182 / 365,
    ),
    "a year old, and superseded": (
        "2027-01-01",
        {"residual_per_year": 0.6, "residual_per_generation": 0.7},
        0.6 * 0.7,
    ),
    "superseded twice": (
        "2027-01-01",
        {"residual_per_generation": 0.7, "turnovers": ["2027-01-01", "2026-07-01", "2027-01-02"]},
        0.7 * 0.7,
    ),
    "a curve, and superseded": (
        "2027-01-01",
        {"residual_curve": CURVE, "residual_per_generation": 0.5},
        0.6 * 0.5,
    ),
    "nothing said": ("2027-01-01", {}, 0.0),
}


@equations("O10")
@pytest.mark.parametrize("name", VALUES)
def test_what_a_sale_brings_follows_age_and_generation(name: str) -> None:
    """Hardware would be credited with a value that nobody pays.

    Superseded on 1 July 2026 where that counts; no discounting. The value is 80,000 times the
    share written out in the table.
    """
    end, keys, share = VALUES[name]
    horizon = {"start": "2026-01-01", "end": end, "step": "quarter"}
    kind = hardware(superseded="2026-07-01")
    asked = bought(
        horizon, 0.0, hardware=[kind], offers=[offer("on_demand", price=90.0), owned(**keys)]
    )
    found = lines(solved(asked))
    assert found.get("owned_residual", 0.0) == pytest.approx(-CAPEX * share, rel=1e-9)
    assert found["owned_capex"] == pytest.approx(CAPEX)


@equations("O10")
def test_a_successor_that_is_on_sale_already_is_in_the_price() -> None:
    """Last generation's hardware would be written down for a drop it was bought after.

    Superseded on 1 July; bought then it keeps all its value until the horizon end, bought in April
    it loses 30 %.
    """
    keys = {"residual_per_generation": 0.7, "opex_per_gpu_hour": 0.1}
    for start, share in (("2026-04-01", 0.7), ("2026-07-01", 1.0)):
        asked = bought(
            rate=0.0,
            hardware=[hardware(superseded="2026-07-01")],
            offers=[owned(available_from=start, available_until=start, **keys)],
        )
        assert cost_of_lot(asked)["owned_residual"] == pytest.approx(-CAPEX * share)


FINANCED = {"rate": 0.0, "term": "12 days", "every": "3 days", "down_payment": 0.25}


def _weeks(budget: dict[str, Any], **tables: Any) -> Scenario:
    return scenario(weeks=2, policy={"cash_budgets": [budget]}, **tables)


@equations("C24")
def test_a_financed_purchase_is_billed_by_its_loan() -> None:
    """A purchase that the bank pays for would be refused for want of cash, or slip by unpaid.

    8 GPUs at 1,000, a quarter down; 6,000 without interest in four payments on days 3, 6, 9 and 12.
    In the first week 2,000 + 2 × 1,500, and 168 hours of running at 0.5 on 8 GPUs. The budget is
    exactly that; one unit less and there is no plan.
    """
    hardware_on_credit = offer(
        "owned",
        capex_per_gpu=1000,
        opex_per_gpu_hour=0.5,
        life="1 years",
        lot_gpus=8,
        financing=FINANCED,
    )

    def with_budget(most: float) -> Scenario:
        budget = {"from": day(), "until": day(1), "max": most}
        return _weeks(budget, offers=[hardware_on_credit], demand=demand([8, 8]))

    paid = 2_000 + 2 * 1_500 + 8 * WEEK * 0.5
    solved(with_budget(paid + 1e-3))
    assert is_infeasible(with_budget(paid - 1.0))


@equations("C24")
def test_the_payoff_at_the_end_of_life_is_billed() -> None:
    """Hardware would leave with a debt that no budget ever sees.

    Life of five days; after the payment of day 3 another 4,500 is owed, all of it on day 5. The
    budget holds from there to the end of the week, in which nothing else is billed.
    """

    def with_budget(most: float) -> Scenario:
        short = offer(
            "owned", capex_per_gpu=1000, life="5 days", lot_gpus=8, financing=FINANCED
        ) | {"available_until": day()}
        return scenario(
            horizon={"start": day(), "end": day(1), "step": "day"},
            policy={"cash_budgets": [{"from": day(0, 5), "until": day(1), "max": most}]},
            offers=[short],
            demand=[{"pool": "east", "at": day(0, number), "gpus": 8} for number in range(5)],
        )

    solved(with_budget(4_500 + 1e-3))
    assert is_infeasible(with_budget(4_500 - 1.0))


@equations("C24")
def test_a_loan_lets_a_small_budget_buy() -> None:
    """The company would rent for want of cash that a loan does not need.

    8 GPUs at 200 for four weeks, of which 1,000 may be paid in the first. In cash 1,600 is too
    much, and a lot bought a week later costs a week on demand, 8 × 168 × 0.5 = 672, beside it:
    2,272. With four weekly payments of 400, the first due on day 7, 1,600 is all that is paid.
    """
    budget = {"cash_budgets": [{"from": day(), "until": day(1), "max": 1_000}]}
    metered = offer("on_demand", price=0.5)
    cash = offer("owned", capex_per_gpu=200, life="1 years", lot_gpus=8)
    loan = {"rate": 0.0, "term": "4 weeks", "every": "1 weeks"}
    tables = {"demand": demand([8] * 4), "policy": budget}
    late = solved(scenario(offers=[metered, cash], **tables))
    assert orders(late) == {("owned", day(1)): 1}
    assert late.objective == pytest.approx(8 * WEEK * 0.5 + 1_600)
    now = solved(scenario(offers=[metered, cash | {"financing": loan}], **tables))
    assert orders(now) == {("owned", day()): 1}
    assert now.objective == pytest.approx(1_600)
