"""Committed capacity by hand: lots, starts, terms, prices and owned hardware."""

from __future__ import annotations

import pytest
from tests.analytic.builders import (
    WEEK,
    day,
    demand,
    equations,
    held,
    lines,
    offer,
    orders,
    scenario,
    solved,
)


@equations("C1", "C2", "O5", "O7")
def test_order_is_nothing_or_its_minimum_and_pays_its_setup() -> None:
    """An order below the provider's minimum would be planned, or its setup forgotten.

    Demand 8 for 672 h; on demand 3.0: 16,128. Dedicated at 1.0 in lots of 8, at least two:
    16 × 672 × 1.0 + 500 = 11,252. With a minimum of four, 32 × 672 + 500 = 22,004 is too much.
    """
    tables = {"demand": demand([8] * 4)}
    metered = offer("on_demand", price=3.0)
    keys = {"price": 1.0, "tenor": "4 weeks", "lot_gpus": 8, "setup_cost": 500}
    two = solved(
        scenario(offers=[metered, offer("dedicated", min_lots=2, **keys)], **tables),
    )
    assert two.objective == pytest.approx(16 * 672 * 1.0 + 500)
    assert orders(two) == {("dedicated", day()): 2}
    assert lines(two) == {"dedicated": pytest.approx(10_752), "setup": pytest.approx(500)}
    four = solved(scenario(offers=[metered, offer("dedicated", min_lots=4, **keys)], **tables))
    assert four.objective == pytest.approx(8 * 672 * 3.0)
    assert orders(four) == {}


@equations("C2")
def test_minimum_bounds_each_order_not_their_sum() -> None:
    """Two small orders would be taken for one large one.

    Demand 8, then 16. Terms of two weeks at 1.0, two lots of 8 at least. Two orders of one lot, in
    week 0 and week 1, would cost 8 × 168 × 3; they are not allowed. One order of two lots from
    week 0: 16 × 168 × 2 = 5,376. On demand at 3.0 for week 0 and two lots from week 1 (one week
    lies inside): 8 × 168 × 3 + 16 × 168 = 6,720.
    """
    term = offer("reserved", price=1.0, tenor="2 weeks", lot_gpus=8, min_lots=2)
    plan = solved(
        scenario(weeks=2, offers=[offer("on_demand", price=3.0), term], demand=demand([8, 16]))
    )
    assert plan.objective == pytest.approx(16 * WEEK * 2)
    assert orders(plan) == {("reserved", day()): 2}


@equations("C1", "O7")
def test_setup_is_paid_for_every_order() -> None:
    """The setup of a second order would be missing from the cost.

    Demand 8 in weeks 0 and 2 alone; terms of one week at 1.0, setup 300 each: 2 × (8 × 168 + 300)
    = 3,288. On demand at 3.0: 8,064.
    """
    term = offer("dedicated", price=1.0, tenor="1 weeks", lot_gpus=8, setup_cost=300)
    plan = solved(
        scenario(
            offers=[offer("on_demand", price=3.0), term],
            demand=demand([8, 0, 8]),
        )
    )
    assert plan.objective == pytest.approx(2 * (8 * WEEK * 1.0 + 300))
    assert orders(plan) == {("dedicated", day()): 1, ("dedicated", day(2)): 1}
    assert lines(plan)["setup"] == pytest.approx(600)


@equations("C3")
def test_overlapping_terms_share_the_lots_on_offer() -> None:
    """More lots than the provider has would run at once, through terms that start apart.

    Demand 24 for four weeks; terms of two weeks at 1.0, at most two lots of 8 active. Two at week 0
    and two at week 2: 16 × 672 × 1.0; the other 8 on demand at 3.0: 8 × 672 × 3.
    """
    term = offer("reserved", price=1.0, tenor="2 weeks", lot_gpus=8, max_lots=2)
    plan = solved(
        scenario(offers=[offer("on_demand", price=3.0), term], demand=demand([24] * 4)),
    )
    assert plan.objective == pytest.approx(16 * 672 * 1.0 + 8 * 672 * 3.0)
    assert orders(plan) == {("reserved", day()): 2, ("reserved", day(2)): 2}


@equations("C3", "C4")
def test_term_that_ends_inside_a_period_counts_by_its_share() -> None:
    """Capacity would be counted for days on which its term has already ended.

    Demand 8 for two weeks; terms of 10 days at 1.0, at most one lot active in any period. From
    week 0: 8 × 240 h, and 4/7 of week 1 on demand at 3.0: 8 × 96 × 3. A second term from week 1
    would make two active lots in it. From week 1 alone: 8 × 168 × (3 + 1) = 5,376 is dearer.
    """
    term = offer("reserved", price=1.0, tenor="10 days", lot_gpus=8, max_lots=1)
    plan = solved(
        scenario(weeks=2, offers=[offer("on_demand", price=3.0), term], demand=demand([8, 8]))
    )
    assert plan.objective == pytest.approx(8 * 240 * 1.0 + 8 * 96 * 3.0)
    assert orders(plan) == {("reserved", day()): 1}
    (metered,) = plan.on_demand
    assert metered.gpus == pytest.approx(8 * 4 / 7)


@equations("O4")
def test_start_every_moves_to_the_next_boundary() -> None:
    """A term would be planned on a date on which the provider does not start one.

    Monthly starts from 6 July: 6 August lies inside week 4, so that term starts on 10 August, week
    5; 6 September moves to the horizon end and falls out. Demand 8 in weeks 4 to 8: week 4 on
    demand at 3.0, then four weeks of the term at 1.0.
    """
    term = offer("reserved", price=1.0, tenor="4 weeks", lot_gpus=8, start_every="1 months")
    plan = solved(
        scenario(weeks=9, offers=[offer("on_demand", price=3.0), term], demand=demand([8] * 5, 4))
    )
    assert plan.objective == pytest.approx(8 * WEEK * (3.0 + 4 * 1.0))
    assert orders(plan) == {("reserved", "2026-08-10"): 1}


@equations("O3", "O4")
def test_terms_start_inside_their_availability_and_after_their_lead() -> None:
    """A term would be planned before it is sold, after it is withdrawn, or too soon to deliver.

    Demand 8 for four weeks; one-week terms at 1.0 that can be had from 10 July (inside week 0)
    until 20 July, the start of week 2: weeks 1 and 2. The other two on demand at 3.0. The same with
    a lead of 10 days and no availability: weeks 2 and 3.
    """
    metered = offer("on_demand", price=3.0)
    keys = {"price": 1.0, "tenor": "1 weeks", "lot_gpus": 8}
    dated = offer("reserved", available_from="2026-07-10", available_until="2026-07-20", **keys)
    plan = solved(scenario(offers=[metered, dated], demand=demand([8] * 4)))
    assert plan.objective == pytest.approx(8 * WEEK * (2 * 1.0 + 2 * 3.0))
    assert orders(plan) == {("reserved", day(1)): 1, ("reserved", day(2)): 1}
    led = offer("burst_window", lead="10 days", **keys)
    plan = solved(scenario(offers=[metered, led], demand=demand([8] * 4)))
    assert plan.objective == pytest.approx(8 * WEEK * (2 * 3.0 + 2 * 1.0))
    assert orders(plan) == {("burst_window", day(2)): 1, ("burst_window", day(3)): 1}


@equations("O4")
def test_price_path_is_locked_at_the_start() -> None:
    """A term would be billed at a price that came after its signature.

    The price steps from 3.0 to 2.0 on 13 July and to 1.0 on 24 July, inside week 2. Two-week terms
    start in weeks 0 and 2: the first at 3.0, the second, on 20 July, at 2.0. On demand is 9.0.
    """
    steps = [{"from": "2026-07-13", "price": 2.0}, {"from": "2026-07-24", "price": 1.0}]
    term = offer(
        "reserved",
        price=3.0,
        price_path=steps,
        tenor="2 weeks",
        lot_gpus=8,
        start_every="2 weeks",
    )
    plan = solved(
        scenario(offers=[offer("on_demand", price=9.0), term], demand=demand([8] * 4)),
    )
    assert plan.objective == pytest.approx(8 * 2 * WEEK * (3.0 + 2.0))
    assert orders(plan) == {("reserved", day()): 1, ("reserved", day(2)): 1}


@equations("O4")
def test_price_change_is_compounded_to_the_start_and_then_locked() -> None:
    """A falling price would go on falling inside a term.

    2.0 falling by half a year. Demand 8 in weeks 2 and 3; a term of two weeks from week 2 costs
    8 × 336 × 2 × 0.5^(14/365).
    """
    term = offer("reserved", price=2.0, price_change_per_year=-0.5, tenor="2 weeks", lot_gpus=8)
    plan = solved(
        scenario(offers=[offer("on_demand", price=9.0), term], demand=demand([8, 8], 2)),
    )
    assert plan.objective == pytest.approx(8 * 2 * WEEK * 2.0 * 0.5 ** (14 / 365))
    assert orders(plan) == {("reserved", day(2)): 1}


@equations("O4")
def test_tenor_list_is_one_offer_per_tenor() -> None:
    """The longer tenor's price would be had for the shorter term.

    Demand 8 for four of eight weeks. Four weeks at 1.9: 8 × 672 × 1.9 = 10,214.4; eight weeks at
    1.0: 8 × 1344 = 10,752. With demand for all eight the long one wins at 10,752.
    """
    term = offer("reserved", price=[1.9, 1.0], tenor=["4 weeks", "8 weeks"], lot_gpus=8)
    offers = [offer("on_demand", price=9.0), term]
    short = solved(scenario(weeks=8, offers=offers, demand=demand([8] * 4)))
    assert short.objective == pytest.approx(8 * 672 * 1.9)
    assert orders(short) == {("reserved@4 weeks", day()): 1}
    whole = solved(scenario(weeks=8, offers=offers, demand=demand([8] * 8)))
    assert whole.objective == pytest.approx(8 * 1344 * 1.0)
    assert orders(whole) == {("reserved@8 weeks", day()): 1}


@equations("O3", "O4", "O5")
def test_upfront_share_at_the_start_the_rest_at_midpoints() -> None:
    """Money due later would weigh as much as money due today.

    8 GPUs at 1.3 at a discount rate of 12 %. A quarter of the four weeks is paid on the first day,
    the rest accrues in weeks whose midpoints are days 3.5, 10.5, 17.5 and 24.5:
    8 × 1.3 × (0.25 × 672 + 0.75 × 168 × Σ 1.12^(−(3.5 + 7t)/365)). A burst of two weeks from week 1
    is prepaid on day 7: 8 × 1.3 × 336 × 1.12^(−7/365).
    """

    def factor(days: float) -> float:
        return 1.12 ** (-days / 365)

    keys = {"price": 1.3, "lot_gpus": 8}
    accrued = sum(factor(3.5 + 7 * t) for t in range(4))
    for kind in ("reserved", "dedicated"):
        offers = [offer("on_demand", price=9.0), offer(kind, tenor="4 weeks", upfront=0.25, **keys)]
        plan = solved(scenario(offers=offers, discount_rate=0.12, demand=demand([8] * 4)))
        expected = 8 * 1.3 * (0.25 * 672 + 0.75 * WEEK * accrued)
        assert plan.objective == pytest.approx(expected, rel=1e-9)
        assert lines(plan) == {kind: pytest.approx(expected)}
    offers = [offer("on_demand", price=9.0), offer("burst_window", tenor="2 weeks", **keys)]
    plan = solved(scenario(offers=offers, discount_rate=0.12, demand=demand([8, 8], 1)))
    assert plan.objective == pytest.approx(8 * 1.3 * 336 * factor(7), rel=1e-9)
    assert lines(plan) == {"burst_window": pytest.approx(plan.objective)}


@equations("O11")
def test_tail_is_charged_in_part_at_the_horizon_end() -> None:
    """The obligation left at the horizon end would be ignored, or discounted as if due today.

    An eight-week term at 1.3 in a horizon of four weeks, 12 % discount rate, tail charged by half:
    the four weeks inside accrue at midpoints; the 672 hours after count 0.5 × 8 × 1.3 × 672 at the
    factor of day 28.
    """
    term = offer("reserved", price=1.3, tenor="8 weeks", lot_gpus=8)
    plan = solved(
        scenario(
            offers=[offer("on_demand", price=9.0), term],
            discount_rate=0.12,
            demand=demand([8] * 4),
            policy={"tail_charge": 0.5},
        )
    )
    inside = 8 * 1.3 * WEEK * sum(1.12 ** (-(3.5 + 7 * t) / 365) for t in range(4))
    tail = 0.5 * 8 * 1.3 * 672 * 1.12 ** (-28 / 365)
    assert lines(plan) == {
        "reserved": pytest.approx(inside, rel=1e-9),
        "commitment_tail": pytest.approx(tail, rel=1e-9),
    }
    assert plan.objective == pytest.approx(inside + tail, rel=1e-9)


@equations("O8", "O9", "O10")
def test_owned_hardware_keeps_its_value_at_the_horizon_end() -> None:
    """Bought hardware would be written off whole, and never bought.

    2026 in quarters of 90, 91, 92 and 92 days, rate 10 %. 8 GPUs: purchase 8 × 10,000 on the first
    day; running 0.1 per GPU-hour at the quarters' midpoints; after 365 days 60 % of the value is
    left, at 1 / 1.1. Sum about 43,000; on demand at 3.0 it would be about 200,000.
    """
    plan = solved(
        scenario(
            horizon={"start": "2026-01-01", "end": "2027-01-01", "step": "quarter"},
            discount_rate=0.10,
            offers=[
                offer("on_demand", price=3.0),
                offer(
                    "owned",
                    capex_per_gpu=10_000,
                    opex_per_gpu_hour=0.1,
                    life="4 years",
                    residual_per_year=0.6,
                    lot_gpus=8,
                ),
            ],
            demand=[
                {"pool": "east", "at": f"2026-{month:02d}-01", "gpus": 8} for month in (1, 4, 7, 10)
            ],
        )
    )
    running, begin = 0.0, 0
    for days in (90, 91, 92, 92):
        running += 8 * 0.1 * 24 * days * 1.1 ** (-(begin + days / 2) / 365)
        begin += days
    assert orders(plan) == {("owned", "2026-01-01"): 1}
    assert lines(plan) == {
        "owned_capex": pytest.approx(80_000),
        "owned_opex": pytest.approx(running, rel=1e-9),
        "owned_residual": pytest.approx(-80_000 * 0.6 / 1.1, rel=1e-9),
    }
    assert plan.objective == pytest.approx(80_000 + running - 80_000 * 0.6 / 1.1, rel=1e-9)


@equations("O8", "O10")
def test_owned_hardware_is_sold_at_the_end_of_its_life() -> None:
    """Hardware that leaves before the horizon end would be valued at the wrong date.

    Life six months from 1 January 2026: it leaves on 1 July, after 181 days. Demand 8 in the first
    two quarters. Purchase 8 × 2,000, 60 % of the value kept a year, 10 %:
    16,000 − 16,000 × 0.6^(181/365) × 1.1^(−181/365).
    """
    plan = solved(
        scenario(
            horizon={"start": "2026-01-01", "end": "2027-01-01", "step": "quarter"},
            discount_rate=0.10,
            offers=[
                offer("on_demand", price=3.0),
                offer(
                    "owned",
                    capex_per_gpu=2_000,
                    life="6 months",
                    residual_per_year=0.6,
                    lot_gpus=8,
                ),
            ],
            demand=[{"pool": "east", "at": f"2026-{month:02d}-01", "gpus": 8} for month in (1, 4)],
        )
    )
    kept = 16_000 * (0.6 / 1.1) ** (181 / 365)
    assert plan.objective == pytest.approx(16_000 - kept, rel=1e-9)
    assert orders(plan) == {("owned", "2026-01-01"): 1}


@equations("C1")
def test_setup_does_not_bound_what_a_buyer_without_limit_takes() -> None:
    """A profitable order would be cut to a lot or two because nothing else needs it.

    A buyer takes any amount at 2.0; dedicated lots of 8 at 1.0, setup 100; the company allows 80
    committed GPUs: ten lots, 100 + 80 × 168 × (1.0 − 2.0).
    """
    term = offer("dedicated", price=1.0, tenor="1 weeks", lot_gpus=8, setup_cost=100)
    plan = solved(
        scenario(
            weeks=1,
            offers=[term],
            backfill=[{"id": "buyer", "value": 2.0}],
            policy={"committed_gpus_max": 80},
        )
    )
    assert orders(plan) == {("dedicated", day()): 10}
    assert plan.objective == pytest.approx(100 + 80 * WEEK * (1.0 - 2.0))


@equations("C1", "C19")
def test_order_may_be_larger_than_all_use_to_carry_a_held_cliff() -> None:
    """A ladder that only more standing capacity can meet would be called infeasible.

    32 held GPUs expire in week 2; in a window of four weeks 50 % and 8 more may: 32 ≤ 0.5 S + 8, so
    S ≥ 48 and 16 new GPUs must stand, though nothing uses them. They expire in week 8, past the
    horizon: 16 ≤ 0.5 × 16 + 8. Two lots at 1.0 and the setup: 16 × 672 + 100.
    """
    term = offer("dedicated", price=1.0, tenor="8 weeks", lot_gpus=8, setup_cost=100)
    ladder = {"window": "4 weeks", "max_expiring_share": 0.5, "exempt_gpus": 8}
    plan = solved(
        scenario(
            offers=[term | {"start_every": "4 weeks"}],
            commitments=[held(32, end=day(2))],
            policy={"ladder": ladder},
        )
    )
    assert orders(plan) == {("dedicated", day()): 2}
    assert plan.objective == pytest.approx(16 * 672 * 1.0 + 100)


@equations("C1", "C4")
def test_setup_does_not_bound_what_a_partly_covered_period_needs() -> None:
    """A calendar that can be met would be called infeasible.

    Terms of 10 days that start in week 0 alone cover 3/7 of week 1. A demand of 8 there needs
    8 × 7 / 3 = 18.7 GPUs: three lots of 8 at 1.0, and the setup of 100: 24 × 240 + 100.
    """
    term = offer(
        "dedicated",
        price=1.0,
        tenor="10 days",
        lot_gpus=8,
        setup_cost=100,
        available_until=day(),
    )
    plan = solved(scenario(weeks=2, offers=[term], demand=demand([8, 8])))
    assert orders(plan) == {("dedicated", day()): 3}
    assert plan.objective == pytest.approx(24 * 240 * 1.0 + 100)
