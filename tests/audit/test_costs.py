"""Cost lines as the auditor computes them, against sums written out by hand."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

import pytest

from gpuladder.audit import audit
from gpuladder.plan import BackfillSale, Dropped, FlexUse, MeteredUse, Order, Run

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpuladder.audit import AuditReport
    from gpuladder.plan import Plan
    from gpuladder.scenario.schema import Scenario

    Small = Callable[..., Scenario]
    PlanOf = Callable[..., Plan]
    LinesOf = Callable[[AuditReport], dict[str, float]]

START = date(2026, 7, 6)
LEASE = {"id": "r", "pool": "east", "kind": "reserved", "lot_gpus": 8}
MIDDLES = (3.5, 10.5, 17.5, 24.5)  # days from the start to the middle of each week


def test_half_prepaid_lease(small: Small, plan_of: PlanOf, lines_of: LinesOf) -> None:
    """Prepaid money is dearer than money paid by the hour; a wrong date misprices every lease.

    Two lots of 8 at 1.3 for 4 weeks: half of 16 x 1.3 x 672 at day 0, and half of 16 x 1.3 x 168
    at the middle of each week.
    """
    offer = {**LEASE, "price": 1.3, "tenor": "4 weeks", "upfront": 0.5}
    scenario = small((offer,), discount_rate=0.12)
    plan = plan_of(scenario, orders=(Order(offer="r", start=START, lots=2),))
    accrued = sum(8 * 1.3 * 168 * 1.12 ** (-day / 365) for day in MIDDLES)
    assert lines_of(audit(scenario, plan)) == pytest.approx({"reserved": 8 * 1.3 * 672 + accrued})


def test_term_past_the_horizon(small: Small, plan_of: PlanOf, lines_of: LinesOf) -> None:
    """A tail that is charged wrongly makes long terms look cheap.

    One lot of 8 at 2 from day 14 for 1 month (to 20 August, 31 days): 14 days lie in the horizon;
    17 days after it cost 8 x 2 x 408 = 6528, of which a quarter is charged at day 28.
    """
    offer = {**LEASE, "price": 2, "tenor": "1 months", "upfront": 1.0}
    scenario = small((offer,), discount_rate=0.1, policy={"tail_charge": 0.25})
    plan = plan_of(scenario, orders=(Order(offer="r", start=START + timedelta(days=14), lots=1),))
    assert lines_of(audit(scenario, plan)) == pytest.approx(
        {
            "reserved": 8 * 2 * 336 * 1.1 ** (-14 / 365),
            "commitment_tail": 0.25 * 6528 * 1.1 ** (-28 / 365),
        }
    )


def test_dedicated_setup(small: Small, plan_of: PlanOf, lines_of: LinesOf) -> None:
    """Setup is paid once per order, not per lot."""
    offer = {**LEASE, "kind": "dedicated", "price": 1, "tenor": "1 weeks", "setup_cost": 700}
    scenario = small((offer,))
    plan = plan_of(scenario, orders=(Order(offer="r", start=START, lots=3),))
    assert lines_of(audit(scenario, plan)) == pytest.approx({"dedicated": 24 * 168, "setup": 700})


def test_owned_hardware(small: Small, plan_of: PlanOf, lines_of: LinesOf) -> None:
    """Bought hardware is valued when the horizon ends; without that it would never be bought.

    8 GPUs at 10,000 from day 7; at day 28 they are 21 days old and keep 0.5 ^ (21/365).
    """
    offer = {
        "id": "own",
        "pool": "east",
        "kind": "owned",
        "lot_gpus": 8,
        "capex_per_gpu": 10_000,
        "opex_per_gpu_hour": 0.4,
        "life": "3 years",
        "residual_per_year": 0.5,
    }
    scenario = small((offer,), discount_rate=0.1)
    plan = plan_of(scenario, orders=(Order(offer="own", start=START + timedelta(days=7), lots=1),))
    assert lines_of(audit(scenario, plan)) == pytest.approx(
        {
            "owned_capex": 80_000 * 1.1 ** (-7 / 365),
            "owned_opex": sum(8 * 0.4 * 168 * 1.1 ** (-day / 365) for day in MIDDLES[1:]),
            "owned_residual": -80_000 * 0.5 ** (21 / 365) * 1.1 ** (-28 / 365),
        }
    )


def test_hardware_on_credit(small: Small, plan_of: PlanOf, lines_of: LinesOf) -> None:
    """A debt that is left when the horizon ends must be paid for, or credit would be free.

    80,000 on day 7, a quarter down; the rest at 20 % in four weekly payments that are worth 60,000
    on day 7. Two are made on days 14 and 21; on day 28 the third is due and the fourth is owed, a
    week's interest less.
    """
    offer = {
        "id": "own",
        "pool": "east",
        "kind": "owned",
        "lot_gpus": 8,
        "capex_per_gpu": 10_000,
        "life": "3 years",
        "financing": {"rate": 0.2, "term": "4 weeks", "every": "1 weeks", "down_payment": 0.25},
    }
    scenario = small((offer,), discount_rate=0.1)
    plan = plan_of(scenario, orders=(Order(offer="own", start=START + timedelta(days=7), lots=1),))
    week = 1.2 ** (-7 / 365)
    payment = 60_000 / (week + week**2 + week**3 + week**4)
    assert lines_of(audit(scenario, plan)) == pytest.approx(
        {
            "owned_capex": 20_000 * 1.1 ** (-7 / 365),
            "owned_loan": payment
            * (1.1 ** (-14 / 365) + 1.1 ** (-21 / 365) + (1 + week) * 1.1 ** (-28 / 365)),
        }
    )


@pytest.mark.parametrize(
    ("keys", "share"),
    [
        ({"residual_curve": [{"age": "42 days", "share": 0.4}]}, 1 - 0.6 * 21 / 42),
        ({"residual_curve": [{"age": "14 days", "share": 0.4}]}, 0.4),
        ({"residual_per_generation": 0.7}, 0.7),
        ({"residual_per_generation": 0.7, "turnovers": ["2026-08-03", "2026-07-13"]}, 0.49),
        ({"residual_per_year": 0.5, "residual_per_generation": 0.7}, 0.7 * 0.5 ** (21 / 365)),
    ],
)
def test_value_by_age_and_generation(
    keys: dict[str, object], share: float, small: Small, plan_of: PlanOf, lines_of: LinesOf
) -> None:
    """Hardware sold for more than it brings makes buying it look cheap.

    8,000 from day 7 (13 July), 21 days old at the horizon end, 3 August; superseded on 20 July. A
    successor on the day of the purchase is in its price; one on the day of the sale counts.
    """
    offer = {
        "id": "own",
        "pool": "east",
        "kind": "owned",
        "lot_gpus": 8,
        "capex_per_gpu": 1000,
        "life": "3 years",
        **keys,
    }
    hardware = {"id": "h100", "memory_gb": 80, "gpus_per_node": 8, "peak_tflops": 989}
    scenario = small((offer,), hardware=[hardware | {"superseded": "2026-07-20"}])
    plan = plan_of(scenario, orders=(Order(offer="own", start=START + timedelta(days=7), lots=1),))
    assert lines_of(audit(scenario, plan))["owned_residual"] == pytest.approx(-8000 * share)


def test_life_that_ends_in_the_horizon(small: Small, plan_of: PlanOf, lines_of: LinesOf) -> None:
    """Hardware at the end of its life is sold then, not at the horizon's end."""
    offer = {
        "id": "own",
        "pool": "east",
        "kind": "owned",
        "lot_gpus": 8,
        "capex_per_gpu": 1000,
        "life": "2 weeks",
        "residual_per_year": 0.5,
    }
    scenario = small((offer,), discount_rate=0.1)
    plan = plan_of(scenario, orders=(Order(offer="own", start=START, lots=1),))
    residual = lines_of(audit(scenario, plan))["owned_residual"]
    assert residual == pytest.approx(-8000 * 0.5 ** (14 / 365) * 1.1 ** (-14 / 365))


def test_moving_and_stepped_prices(small: Small, plan_of: PlanOf, lines_of: LinesOf) -> None:
    """Prices are read on a period's first day; a later one would misprice falling markets.

    Week 1 at 3 x 0.6 ^ (7/365); from 15 July (mid-week 1) the path says 2, read from week 2 on.
    """
    od = {
        "id": "od",
        "pool": "east",
        "kind": "on_demand",
        "price": 3,
        "price_change_per_year": -0.4,
        "price_path": [{"from": "2026-07-15", "price": 2}],
    }
    scenario = small(offers=[od])
    use = [
        MeteredUse(offer="od", period=START + timedelta(weeks=week), level=0, gpus=10)
        for week in (1, 2)
    ]
    report = audit(scenario, plan_of(scenario, on_demand=use))
    expected = 1680 * 3 * 0.6 ** (7 / 365) + 1680 * 2
    assert lines_of(report) == pytest.approx({"on_demand": expected})


def test_levels_are_weighted_by_their_share(
    small: Small, plan_of: PlanOf, lines_of: LinesOf
) -> None:
    """On-demand capacity for a peak of a quarter of the time costs a quarter.

    Rows of 8, 8, 8 and 24 GPUs: 16 more GPUs at the upper level cost 16 x 0.25 x 168 x 3.
    """
    demand = [
        {"pool": "east", "at": f"2026-07-06 {hour:02}:00", "gpus": gpus}
        for hour, gpus in enumerate((8, 8, 8, 24))
    ]
    scenario = small(demand=demand)
    use = [MeteredUse(offer="od", period=START, level=1, gpus=16)]
    report = audit(scenario, plan_of(scenario, on_demand=use))
    assert lines_of(report) == pytest.approx({"on_demand": 16 * 0.25 * 168 * 3})


def test_spot_gang_pays_for_what_it_gets(small: Small, plan_of: PlanOf, lines_of: LinesOf) -> None:
    """A gang on a market that is open 80 % of the time pays for 80 % of its longer run.

    16 GPUs for 168 h of work take 168 / 0.5 = 336 h at the availability listed for 32, and use
    8 GPUs on average: 8 x 336 x 1.2.
    """
    spot = {
        "id": "spot",
        "pool": "east",
        "kind": "spot",
        "price": 1.2,
        "max_gpus": 64,
        "availability_by_gpus": {8: 0.9, 32: 0.5, 64: 0.25},
    }
    gang = {
        "id": "g",
        "shape": "gang",
        "preemption_class": "free",
        "gpus": 16,
        "gpu_hours": 16 * 168,
        "earliest": START,
        "deadline": date(2026, 8, 3),
    }
    scenario = small(
        (spot,), campaigns=[gang], preemption_classes=[{"id": "free", "spot_share_max": 1}]
    )
    run = Run(campaign="g", pool="east", spot_offer="spot", gpus=16, start=START, hours=336)
    report = audit(scenario, plan_of(scenario, runs=(run,)))
    assert lines_of(report) == pytest.approx({"spot": 8 * 336 * 1.2})
    assert {item.code for item in report.findings} == {"cost_line"}


def test_use_of_a_flex_reservation(small: Small, plan_of: PlanOf, lines_of: LinesOf) -> None:
    """Held hours cost the holding rate and drawn hours the usage price on top."""
    flex = {**LEASE, "price": 1, "usage_price": 0.5, "tenor": "1 weeks"}
    scenario = small((flex,))
    plan = plan_of(
        scenario,
        orders=(Order(offer="r", start=START, lots=1),),
        drawn=(FlexUse(offer="r", period=START, gpus=6),),
    )
    expected = {"reserved": 8 * 168, "usage": 6 * 168 * 0.5}
    assert lines_of(audit(scenario, plan)) == pytest.approx(expected)


def test_drop_and_backfill(small: Small, plan_of: PlanOf, lines_of: LinesOf) -> None:
    """Dropping a quarter costs a quarter, at face value; backfill brings money in when sold."""
    campaign = {
        "id": "e",
        "shape": "elastic",
        "preemption_class": "critical",
        "gpu_hours": 100,
        "max_gpus": 8,
        "earliest": START,
        "deadline": date(2026, 8, 3),
        "drop_cost": 1000,
    }
    scenario = small(campaigns=[campaign], backfill=[{"id": "b", "value": 0.5}], discount_rate=0.1)
    plan = plan_of(
        scenario,
        dropped=(Dropped(campaign="e", share=0.25),),
        backfill=(BackfillSale(buyer="b", pool="east", period=START, gpus=4),),
    )
    assert lines_of(audit(scenario, plan)) == pytest.approx(
        {"drop": 250.0, "backfill_revenue": -4 * 168 * 0.5 * 1.1 ** (-3.5 / 365)}
    )


def test_held_commitments_are_sunk(small: Small, plan_of: PlanOf, lines_of: LinesOf) -> None:
    """Charging again for what is signed already would make every renewal look dearer."""
    held = {
        "id": "h",
        "pool": "east",
        "kind": "reserved",
        "gpus": 8,
        "start": "2026-01-01",
        "end": "2027-01-01",
        "price": 2,
    }
    scenario = small(commitments=[held])
    assert lines_of(audit(scenario, plan_of(scenario))) == {}
