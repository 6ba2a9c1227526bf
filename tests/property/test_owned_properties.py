"""What must hold of bought hardware, whatever its loan and wherever the horizon cuts it."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.analytic.builders import hardware, offer, scenario

from gpuladder.audit.facts import Facts
from gpuladder.audit.owned import loan_payments, owned_value
from gpuladder.audit.quantities import Lot
from gpuladder.program import make_program_data
from gpuladder.sizing.owned import loan_of, market_value

steady = settings(max_examples=150, deadline=None, derandomize=True, database=None)

LINES = ("owned_capex", "owned_loan", "owned_opex", "owned_residual")
START = date(2027, 11, 30)  # a month's end, with a leap day ahead

loans = st.one_of(
    st.builds(
        lambda every, number: {"every": f"{every} months", "term": f"{every * number} months"},
        st.integers(1, 12),
        st.integers(1, 10),
    ),
    st.builds(
        lambda every, number: {"every": f"{every} weeks", "term": f"{every * number} weeks"},
        st.integers(1, 60),
        st.integers(1, 10),
    ),
)
shares = st.floats(0, 1)
lives = st.builds("{} {}s".format, st.integers(1, 40), st.sampled_from(["day", "week", "month"]))
values = st.one_of(
    st.fixed_dictionaries({"residual_per_year": shares}),
    st.builds(
        lambda first, second, third: {
            "residual_curve": [
                {"age": "0 days", "share": first},
                {"age": "5 months", "share": second},
                {"age": "2 years", "share": third},
            ]
        },
        shares,
        shares,
        shares,
    ),
    st.fixed_dictionaries({}),
)
generations = st.fixed_dictionaries(
    {},
    optional={"residual_per_generation": shares, "turnovers": st.just([str(START), "2028-08-30"])},
)


def asked(horizon: int, rate: float, **keys: Any) -> Any:
    """Return a scenario with one offer of hardware over a horizon of so many days."""
    end = START + timedelta(days=horizon)
    return scenario(
        horizon={"start": str(START), "end": str(end), "step": "month"},
        discount_rate=rate,
        hardware=[hardware(superseded="2028-02-29")],
        offers=[offer("owned", capex_per_gpu=10_000, lot_gpus=8, **keys)],
    )


def costs(given_scenario: Any) -> np.ndarray:
    """Return the present cost of one lot, start by start."""
    lines = make_program_data(given_scenario).orders.cost_lines
    return np.sum([lines[name] for name in LINES], axis=0)


@steady
@given(loans, lives, st.integers(10, 1500), st.floats(0, 0.6), shares, values)
def test_a_loan_at_the_discount_rate_changes_no_cost(loan, life, horizon, rate, down, value):
    """Financing alone would decide between buying and reserving."""
    cash = costs(asked(horizon, rate, life=life, **value))
    terms = {"rate": rate, "down_payment": down} | loan
    credit = costs(asked(horizon, rate, life=life, financing=terms, **value))
    assert credit == pytest.approx(cash, rel=1e-9, abs=1e-6)


@steady
@given(loans, lives, st.integers(10, 1500), st.floats(0, 0.6), st.floats(0, 0.6), shares, values)
def test_a_dearer_loan_never_costs_less_and_none_earns(
    loan, life, horizon, rate, other, down, value
):
    """A worse offer of a bank would be taken, or hardware be bought for the sake of its loan."""
    cheap, dear = sorted((rate, other))
    terms = {"down_payment": down} | loan
    keys = {"life": life, **value}
    low = costs(asked(horizon, 0.08, financing={"rate": cheap} | terms, **keys))
    high = costs(asked(horizon, 0.08, financing={"rate": dear} | terms, **keys))
    assert (low <= high + 1e-6).all()
    assert (low >= -1e-6).all()


@steady
@given(loans, lives, st.integers(10, 1500), st.floats(0, 3), shares, values, generations)
def test_two_ways_of_reckoning_a_loan_and_a_value_agree(
    loan, life, horizon, rate, down, value, generation
):
    """The audit would refuse right plans, or share a mistake with what it checks."""
    terms = {"rate": rate, "down_payment": down} | loan
    given_scenario = asked(horizon, 0.1, life=life, financing=terms, **value, **generation)
    facts = Facts.of(given_scenario)
    (bought,) = facts.tables.committed.values()
    end = bought.life.after(START)
    lot = Lot(bought, START, end, 1.0, 8.0, np.zeros(facts.num_periods))
    for stop in (end, min(end, facts.grid.end)):
        rolled = [(row.due, row.payment) for row in loan_of(bought, 80_000, START).until(stop)]
        forwards = loan_payments(lot, stop)
        assert [day for day, _ in rolled] == [day for day, _ in forwards]
        amounts = [amount for _, amount in forwards]
        assert [amount for _, amount in rolled] == pytest.approx(amounts, rel=1e-6, abs=1e-3)
    sale = market_value(bought, 80_000, START, date(2028, 2, 29))
    assert sale.value_at(min(end, facts.grid.end)) == pytest.approx(owned_value(facts, lot))
