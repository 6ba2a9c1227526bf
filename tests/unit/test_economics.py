"""Discounting and prices, against plain arithmetic."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuladder.economics import discount_factor, price_at
from gpuladder.scenario.schema import OnDemandOffer

START = date(2026, 1, 1)


def on_demand(**keys: object) -> OnDemandOffer:
    """Return an on-demand offer."""
    return OnDemandOffer.model_validate({"id": "od", "pool": "p", "kind": "on_demand"} | keys)


def test_discount_is_compounded_over_365_days() -> None:
    """Money a year away would be worth the wrong amount today."""
    assert discount_factor(0.10, 0) == 1
    assert discount_factor(0.10, 365) == pytest.approx(1 / 1.1)
    assert discount_factor(0.10, 730) == pytest.approx(1 / 1.21)
    assert discount_factor(0.0, 1000) == 1


@given(st.floats(0, 1), st.floats(0, 3000), st.floats(0, 3000))
def test_discounting_in_two_steps_is_discounting_once(
    rate: float, first: float, second: float
) -> None:
    """The present value would depend on the grid."""
    twice = discount_factor(rate, first) * discount_factor(rate, second)
    assert discount_factor(rate, first + second) == pytest.approx(twice, rel=1e-9)


def test_plain_price_holds_always() -> None:
    """A fixed price would move."""
    assert price_at(on_demand(price=3.0), date(2029, 5, 5), START) == 3.0


def test_price_changes_by_its_yearly_rate() -> None:
    """A forecast price would be off from the first month."""
    falling = on_demand(price=4.0, price_change_per_year=-0.25)
    assert price_at(falling, START, START) == 4.0
    assert price_at(falling, date(2027, 1, 1), START) == pytest.approx(3.0)
    assert price_at(falling, date(2026, 4, 1), START) == pytest.approx(4 * 0.75 ** (90 / 365))


def test_price_path_is_a_step_function() -> None:
    """A dated price would start a day early or late, or be interpolated."""
    steps = [{"from": "2026-03-01", "price": 2.0}, {"from": "2026-06-01", "price": 1.5}]
    offer = on_demand(price=3.0, price_path=steps)
    days = [date(2026, 2, 28), date(2026, 3, 1), date(2026, 5, 31), date(2026, 6, 1)]
    assert [price_at(offer, day, START) for day in days] == [3.0, 2.0, 2.0, 1.5]


def test_path_alone_has_no_price_before_its_first_date() -> None:
    """Capacity would be free before its first price."""
    offer = on_demand(price_path=[{"from": "2026-03-01", "price": 2.0}])
    with pytest.raises(ValueError, match="no price on 2026-02-28"):
        price_at(offer, date(2026, 2, 28), START)
