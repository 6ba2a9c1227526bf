"""Cash budgets by hand: what is billed, when, and what is not."""

from __future__ import annotations

from typing import Any

import pytest
from tests.analytic.builders import (
    WEEK,
    day,
    demand,
    elastic,
    equations,
    gang,
    held,
    is_infeasible,
    offer,
    orders,
    pool,
    scenario,
    solved,
)

from gpuladder.scenario.schema import Scenario


@equations("C24")
def test_prepaid_term_waits_for_the_next_budget() -> None:
    """A payment for a whole term would be spread over it, and the budget broken on the first day.

    Demand 8 and 4 more that a held commitment of 4 at 5.0 serves. A term of eight weeks at 1.0,
    prepaid: 8 × 1344 = 10,752 on its first day, though only part lies in the four weeks. The budget
    of the first two weeks is 9,000 besides the held one's 4 × 336 × 5 = 6,720. On demand at 3.0
    pays 8 × 336 × 3 = 8,064 there, so the term starts in week 2: 8,064 + 8 × 336 × 1.0.
    """
    plan = solved(
        scenario(
            offers=[
                offer("on_demand", price=3.0),
                offer("reserved", price=1.0, tenor="8 weeks", lot_gpus=8, upfront=1.0),
            ],
            commitments=[held(4, price=5.0)],
            demand=demand([12] * 4),
            policy={"cash_budgets": [{"from": day(), "until": day(2), "max": 9_000 + 6_720}]},
        )
    )
    assert plan.objective == pytest.approx(8 * 336 * 3.0 + 8 * 336 * 1.0)
    assert orders(plan) == {("reserved", day(2)): 1}


def _billed(**tables: Any) -> dict[str, Any]:
    return {"weeks": 2, "discount_rate": 0.5} | tables


WORK = {"deadline": day(1), "preemption_class": "free"}
TERM = {"price": 2.0, "tenor": "4 weeks", "lot_gpus": 8, "start_every": "4 weeks"}
PAYMENTS = {
    "on_demand": (
        _billed(offers=[offer("on_demand", price=3.0)], demand=demand([8, 8])),
        8 * WEEK * 3.0,
    ),
    "spot of an elastic campaign": (
        _billed(
            offers=[offer("spot", price=2.0, max_gpus=8)], campaigns=[elastic("c", 1344, **WORK)]
        ),
        8 * WEEK * 2.0,
    ),
    "spot of a gang": (
        _billed(
            offers=[offer("spot", price=2.0, max_gpus=8)], campaigns=[gang("c", 8, 1344, **WORK)]
        ),
        8 * WEEK * 2.0,
    ),
    "a term by the hour": (
        _billed(offers=[offer("reserved", **TERM)], demand=demand([8, 8])),
        8 * WEEK * 2.0,
    ),
    "half of a term of four weeks upfront, half by the hour": (
        _billed(offers=[offer("reserved", upfront=0.5, **TERM)], demand=demand([8, 8])),
        8 * 2.0 * (0.5 * 4 * WEEK + 0.5 * WEEK),
    ),
    "a whole burst upfront": (
        _billed(offers=[offer("burst_window", **TERM)], demand=demand([8, 8])),
        8 * 4 * WEEK * 2.0,
    ),
    "setup": (
        _billed(offers=[offer("dedicated", setup_cost=700, **TERM)], demand=demand([8, 8])),
        8 * WEEK * 2.0 + 700,
    ),
    "purchase and running, no residual": (
        _billed(
            offers=[
                offer(
                    "owned",
                    capex_per_gpu=1000,
                    opex_per_gpu_hour=0.5,
                    life="1 years",
                    residual_per_year=0.9,
                    lot_gpus=8,
                )
            ],
            demand=demand([8, 8]),
        ),
        8 * 1000 + 8 * WEEK * 0.5,
    ),
    "use of a flex reservation": (
        _billed(
            offers=[offer("reserved", usage_price=1.0, **TERM)],
            campaigns=[elastic("c", 672, **WORK)],
        ),
        8 * WEEK * 2.0 + 672 * 1.0,
    ),
    "a held commitment; neither drop nor backfill": (
        _billed(
            commitments=[held(8, price=2.0)],
            campaigns=[elastic("c", 2 * 1344, deadline=day(2), drop_cost=100, pools=["west"])],
            pools=[pool(), pool("west")],
            backfill=[{"id": "buyer", "value": 0.9, "max_gpus": 8}],
        ),
        8 * WEEK * 2.0,
    ),
}


@pytest.mark.parametrize("name", PAYMENTS)
def test_every_payment_of_the_span_counts_undiscounted(name: str) -> None:
    """A kind of payment would be left out of the budget, or counted at its present value.

    Each scenario has only one way to be met. The budget covers the first of its two weeks and is
    exactly what is billed there, at a discount rate of 50 % that must not matter; one unit less and
    there is no plan.
    """
    tables, paid = PAYMENTS[name]

    def with_budget(most: float) -> Scenario:
        budget = {"from": day(), "until": day(1), "max": most}
        return scenario(policy={"cash_budgets": [budget]}, **tables)

    solved(with_budget(paid + 1e-3))
    assert is_infeasible(with_budget(paid - 1.0))
