"""The invoice, line by line, against published totals."""

from __future__ import annotations

import math

import pytest

from gpuladder.sizing import invoice as inv
from gpuladder.sizing.invoice import Amount, Bill


def total(lines):
    return (
        math.fsum(line.amount.low for line in lines),
        math.fsum(line.amount.high for line in lines),
    )


def by_name(lines):
    return {line.line: (line.amount.low, line.amount.high) for line in lines}


@pytest.mark.parametrize(
    ("price", "beside", "compute", "failed", "totals"),
    [
        (3.00, (4000, 8000), 144_000, 36_000, (244_000, 248_000)),
        (1.80, (2000, 4000), 86_400, 21_600, (170_000, 172_000)),
    ],
)
def test_thirty_thousand_ideal_hours(price, beside, compute, failed, totals):
    """The budget would be the brochure's rate: 90,000 instead of 244,000.

    30,000 ideal hours × 1.6, failed runs 25 % on top, storage and egress, staff 60,000.
    """
    lines = inv.bill_lines(
        Bill(
            ideal_hours=Amount(30_000, 30_000),
            price=price,
            utilisation_multiplier=Amount(1.6, 1.6),
            waste=0.25,
            storage=Amount(*beside),
            staff=Amount(60_000, 60_000),
        )
    )
    found = by_name(lines)
    assert inv.compute_cost(30_000, 1.6, price) == pytest.approx(compute)
    assert found["ideal_hours"][0] + found["utilisation_multiplier"][0] == pytest.approx(compute)
    assert found["failed_runs"] == pytest.approx((failed, failed))
    assert total(lines) == pytest.approx(totals)


def test_every_invoice_has_the_same_lines():
    """Sides of the market could not be laid side by side."""
    lines = inv.bill_lines(Bill(ideal_hours=Amount(1, 1), price=1))
    assert tuple(line.line for line in lines) == inv.LINES


def test_interruptions_stretch_useful_and_failed_runs_alike():
    """Failed runs would be free of checkpoints.

    100 hours at 2 with a quarter failed are 250; at a goodput of 0.8 they take 312.50.
    """
    lines = inv.bill_lines(Bill(ideal_hours=Amount(100, 100), price=2, waste=0.25, goodput=0.8))
    assert by_name(lines)["checkpoint_and_restart"] == pytest.approx((62.5, 62.5))
    assert total(lines) == pytest.approx((312.5, 312.5))


def test_a_commitment_is_paid_whole():
    """Unused hours of a term would be free: 200 used of a minimum of 500."""
    lines = inv.bill_lines(Bill(ideal_hours=Amount(100, 100), price=2, minimum=Amount(500, 500)))
    assert by_name(lines)["minimums_and_commitments"] == (300, 300)
    assert total(lines) == (500, 500)
    enough = inv.bill_lines(Bill(ideal_hours=Amount(300, 300), price=2, minimum=Amount(500, 500)))
    assert by_name(enough)["minimums_and_commitments"] == (0, 0)


def test_a_minimum_keeps_totals_in_order():
    """A dearer estimate would cost less: 200 to 300 used of a minimum of 250 is 250 to 300."""
    lines = inv.bill_lines(
        Bill(
            ideal_hours=Amount(100, 100),
            price=2,
            utilisation_multiplier=Amount(1, 1.5),
            minimum=Amount(250, 250),
        )
    )
    assert total(lines) == (250, 300)


def test_escrow_is_the_largest_of_what_must_be_paid_in():
    """A run could not start for want of a deposit nobody had planned."""
    bill = Amount(900, 1100)
    assert inv.escrow(bill, 1.0, inv.NOTHING, 5) == Amount(900, 1100)
    assert inv.escrow(bill, 0.0, Amount(300, 300), 5) == Amount(300, 300)
    assert inv.escrow(bill, 0.0, inv.NOTHING, 5) == Amount(5, 5)


def test_plan_lines_sum_to_the_loaded_cost():
    """The invoice of a plan would be another amount than the plan.

    Direct 1,000 at goodput 0.8 with a quarter failed: 640 useful, 160 failed, 200 interruptions;
    idle 300 is allocated and not busy.
    """
    lines = inv.plan_lines(direct_cost=1000, idle_cost=300, waste=0.25, goodput=0.8)
    assert [line.line for line in lines] == list(inv.COMPUTE_LINES)
    assert [line.amount.low for line in lines] == pytest.approx([640, 300, 160, 200])
    assert total(lines) == pytest.approx((1300, 1300))
