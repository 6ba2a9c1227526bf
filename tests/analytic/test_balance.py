"""Supply against demand by hand: levels, backfill, flex reservations and tenancy."""

from __future__ import annotations

import pytest
from tests.analytic.builders import (
    WEEK,
    day,
    demand,
    elastic,
    equations,
    gang,
    hardware,
    held,
    is_infeasible,
    lines,
    offer,
    orders,
    pool,
    scenario,
    solved,
)


@equations("C4", "C11", "C14")
def test_campaigns_add_to_every_level_of_demand() -> None:
    """A reservation would be sized on demand alone, or on the sum of the peaks.

    One week; demand is 0 for half of the rows and 16 for the other half; a gang takes 8 all week.
    So 8 are needed always and 24 half of the time, on demand at 3.0. At 1.0 a lot of 8 pays when
    used half of the time (1.5): three lots, 24 × 168. At 1.6 only the first does: 168 × (8 × 1.6 +
    0.5 × 16 × 3).
    """
    rows = [{"pool": "east", "at": day(0, k), "gpus": gpus} for k, gpus in enumerate([0, 16] * 3)]

    def plan_at(price: float):
        term = offer("reserved", price=price, tenor="1 weeks", lot_gpus=8)
        return solved(
            scenario(
                weeks=1,
                offers=[offer("on_demand", price=3.0), term],
                campaigns=[gang("run", 8, 1344, deadline=day(1))],
                demand=rows,
            )
        )

    assert plan_at(1.0).objective == pytest.approx(24 * WEEK * 1.0)
    assert orders(plan_at(1.0)) == {("reserved", day()): 3}
    assert plan_at(1.6).objective == pytest.approx(WEEK * (8 * 1.6 + 0.5 * 16 * 3))
    assert orders(plan_at(1.6)) == {("reserved", day()): 1}


@equations("C13", "C14", "O13")
def test_best_buyer_first_up_to_what_it_takes() -> None:
    """Idle capacity would be sold at the wrong price, or more than a buyer takes.

    One lot of 32 at 1.0 against on demand at 9.0 for a demand of 8. The 24 idle GPUs: 10 at 0.9 to
    the first buyer, 14 of the second's 20 at 0.5. A third buyer wants another pool, a fourth other
    hardware. 168 × (32 × 1.0 − 10 × 0.9 − 14 × 0.5).
    """
    plan = solved(
        scenario(
            weeks=1,
            hardware=[hardware(), hardware("h200")],
            pools=[pool(), pool("west", hardware="h200")],
            offers=[
                offer("on_demand", price=9.0),
                offer("reserved", price=1.0, tenor="1 weeks", lot_gpus=32),
            ],
            demand=demand([8]),
            backfill=[
                {"id": "first", "value": 0.9, "max_gpus": 10, "pools": ["east"]},
                {"id": "second", "value": 0.5, "max_gpus": 20},
                {"id": "elsewhere", "value": 0.95, "max_gpus": 20, "pools": ["west"]},
                {"id": "other", "value": 0.95, "max_gpus": 20, "hardware": ["h200"]},
            ],
        )
    )
    assert plan.objective == pytest.approx(WEEK * (32 - 10 * 0.9 - 14 * 0.5))
    assert {sale.buyer: sale.gpus for sale in plan.backfill} == pytest.approx(
        {"first": 10, "second": 14}
    )


@equations("C13")
def test_buyer_s_limit_holds_over_all_pools() -> None:
    """A buyer would be counted once in every pool.

    10 GPUs are held in each of two pools and nothing needs them; the buyer takes 12 in all, at 0.5.
    """
    plan = solved(
        scenario(
            weeks=1,
            pools=[pool(), pool("west")],
            commitments=[held(10), held(10, id="held-west", pool="west")],
            backfill=[{"id": "buyer", "value": 0.5, "max_gpus": 12}],
        )
    )
    assert plan.objective == pytest.approx(-12 * WEEK * 0.5)


@equations("C12")
def test_backfill_never_resells_metered_capacity() -> None:
    """Cheap on-demand capacity would be bought only to be sold on.

    8 GPUs are held and idle; on demand costs 0.5 and the buyer pays 0.9 for up to 100: only the
    held 8 are sold. Work in that pool, 168 GPU-hours, then goes on demand.
    """
    tables = {
        "weeks": 1,
        "offers": [offer("on_demand", price=0.5)],
        "commitments": [held(8)],
        "backfill": [{"id": "buyer", "value": 0.9, "max_gpus": 100}],
    }
    assert solved(scenario(**tables)).objective == pytest.approx(-8 * WEEK * 0.9)
    plan = solved(scenario(campaigns=[elastic("sweep", 168, deadline=day(1))], **tables))
    assert plan.objective == pytest.approx(168 * 0.5 - 8 * WEEK * 0.9)


@equations("C5", "C16", "C17", "O4", "O6")
def test_flex_reservation_pays_for_holding_and_for_use() -> None:
    """Use of a flex reservation would be free, or it would carry baseline demand.

    Flex, one lot of 8 for four weeks: held at 0.5, used at 1.0; on demand 2.5. A gang takes 8 GPUs
    for two weeks: 8 × 672 × 0.5 + 8 × 336 × 1.0 = 5,376 against 6,720 on demand. A demand of 8 in
    every week stays on demand, 8 × 672 × 2.5, also in the weeks in which the reservation idles:
    held capacity at 0.5 + 1.0 would have been cheaper.
    """
    plan = solved(
        scenario(
            offers=[
                offer("on_demand", price=2.5),
                offer(
                    "reserved",
                    price=0.5,
                    usage_price=1.0,
                    tenor="4 weeks",
                    lot_gpus=8,
                    start_every="4 weeks",
                ),
            ],
            campaigns=[gang("run", 8, 8 * 336)],
            demand=demand([8] * 4),
        )
    )
    assert lines(plan) == {
        "on_demand": pytest.approx(8 * 672 * 2.5),
        "reserved": pytest.approx(8 * 672 * 0.5),
        "usage": pytest.approx(8 * 336 * 1.0),
    }
    assert [use.gpus for use in plan.drawn] == pytest.approx([8.0, 8.0])


@equations("C16")
def test_draws_stay_within_what_is_held() -> None:
    """A flex reservation would serve more GPUs than were reserved.

    12 GPUs of work for a week, flex in lots of 8: one lot held at 0.5 and used at 1.0, and 4 on
    demand at 2.5: 168 × (8 × 1.5 + 4 × 2.5) = 3,696. Two lots: 168 × (16 × 0.5 + 12) = 3,360.
    With at most one lot on offer the first is all there is.
    """
    keys = {"price": 0.5, "usage_price": 1.0, "tenor": "1 weeks", "lot_gpus": 8}
    campaign = elastic("sweep", 12 * WEEK, deadline=day(1))
    costs = {}
    for lots in (1, 2):
        offers = [offer("on_demand", price=2.5), offer("reserved", max_lots=lots, **keys)]
        costs[lots] = solved(scenario(weeks=1, offers=offers, campaigns=[campaign])).objective
    assert costs == pytest.approx({1: WEEK * (8 * 1.5 + 4 * 2.5), 2: WEEK * (16 * 0.5 + 12 * 1.0)})


def test_flex_is_never_sold_as_backfill() -> None:
    """Capacity that is paid again for use would be sold as if it stood idle.

    A flex lot at 0.1 while a buyer pays 0.9: nothing is bought, nothing sold.
    """
    plan = solved(
        scenario(
            weeks=1,
            offers=[offer("reserved", price=0.1, usage_price=0.1, tenor="1 weeks", lot_gpus=8)],
            backfill=[{"id": "buyer", "value": 0.9, "max_gpus": 100}],
        )
    )
    assert plan.objective == 0
    assert plan.orders == ()


@equations("C18", "O5")
def test_dedicated_tenancy_is_served_by_dedicated_capacity_alone() -> None:
    """Work that must not share would be put on shared machines.

    Demand 8 and work of 8 GPUs for a week with dedicated tenancy. Reserved at 1.0, dedicated at
    2.0, on demand at 3.0, spot at 0.1: one lot of each of the first two.
    """
    offers = [
        offer("on_demand", price=3.0),
        offer("spot", price=0.1, max_gpus=100),
        offer("reserved", price=1.0, tenor="1 weeks", lot_gpus=8),
        offer("dedicated", price=2.0, tenor="1 weeks", lot_gpus=8),
    ]
    keys = {"deadline": day(1), "tenancy": "dedicated", "preemption_class": "free"}
    for campaign in (elastic("own", 1344, **keys), gang("own", 8, 1344, **keys)):
        plan = solved(
            scenario(weeks=1, offers=offers, campaigns=[campaign], demand=demand([8])),
        )
        assert plan.objective == pytest.approx(8 * WEEK * (1.0 + 2.0))
        assert orders(plan) == {("reserved", day()): 1, ("dedicated", day()): 1}


@equations("C18")
def test_held_dedicated_capacity_counts_and_reserved_does_not() -> None:
    """A dedicated cluster that is already paid for would be bought again.

    8 GPUs of work for a week. Held: 8 reserved and 3 dedicated; lots of one dedicated GPU at 2.0:
    five of them. Owned hardware counts like dedicated: with 5 owned held none is bought.
    """
    offers = [offer("dedicated", price=2.0, tenor="1 weeks", lot_gpus=1)]
    campaign = elastic("own", 8 * WEEK, deadline=day(1), tenancy="dedicated")
    plan = solved(
        scenario(
            weeks=1,
            offers=offers,
            campaigns=[campaign],
            commitments=[held(8), held(3, "dedicated")],
        )
    )
    assert plan.objective == pytest.approx(5 * WEEK * 2.0)
    plan = solved(
        scenario(
            weeks=1,
            offers=offers,
            campaigns=[campaign],
            commitments=[held(3, "dedicated"), held(5, "owned")],
        )
    )
    assert plan.objective == 0


def test_flex_dedicated_serves_dedicated_tenancy() -> None:
    """A dedicated flex reservation would be no use to the work that needs it.

    8 GPUs of work for a week: dedicated flex held at 0.5 and used at 1.0; a reserved flex at a
    tenth of that does not count. Without the dedicated one there is no plan.
    """
    keys = {"tenor": "1 weeks", "lot_gpus": 8}
    reserved = offer("reserved", price=0.05, usage_price=0.1, **keys)
    dedicated = offer("dedicated", price=0.5, usage_price=1.0, **keys)
    campaign = elastic("own", 8 * WEEK, deadline=day(1), tenancy="dedicated")
    plan = solved(scenario(weeks=1, offers=[reserved, dedicated], campaigns=[campaign]))
    assert plan.objective == pytest.approx(8 * WEEK * 1.5)
    assert {use.offer for use in plan.drawn} == {"dedicated"}
    assert is_infeasible(scenario(weeks=1, offers=[reserved], campaigns=[campaign]))


@equations("C25")
def test_capacity_under_dedicated_tenancy_is_not_sold() -> None:
    """A buyer who pays more than on-demand costs would be sold the tenant's own machines.

    One week, a gang of 8 with dedicated tenancy, one dedicated lot of 8 at 2.0, on demand at 3.0
    and a buyer at 4.0. Selling the lot and running the gang on demand would leave 2 + 3 − 4 = 1.0
    per GPU-hour; tenancy forbids it, so the cost is 8 × 168 × 2.0. The same gang with shared
    tenancy may be moved to on demand.
    """

    def cost(tenancy: str) -> float:
        return solved(
            scenario(
                weeks=1,
                offers=[
                    offer("on_demand", price=3.0),
                    offer("dedicated", price=2.0, tenor="1 weeks", lot_gpus=8, max_lots=1),
                ],
                campaigns=[gang("run", 8, 1344, deadline=day(1), tenancy=tenancy)],
                backfill=[{"id": "buyer", "value": 4.0, "max_gpus": 8}],
            )
        ).objective

    assert cost("dedicated") == pytest.approx(8 * WEEK * 2.0)
    assert cost("shared") == pytest.approx(8 * WEEK * (2.0 + 3.0 - 4.0))


@equations("C17")
def test_flex_serves_neither_demand_nor_another_tenancy() -> None:
    """A flex reservation would serve baseline demand whenever some tenant runs beside it.

    One week: demand of 8, and a gang of 8 with dedicated tenancy on dedicated capacity at 3.0. A
    shared flex reservation at 0.5 + 1.0 may serve neither of them; a second lot does: 16 × 3.0.
    """
    keys = {"tenor": "1 weeks", "lot_gpus": 8}
    plan = solved(
        scenario(
            weeks=1,
            offers=[
                offer("reserved", price=0.5, usage_price=1.0, **keys),
                offer("dedicated", price=3.0, **keys),
            ],
            campaigns=[gang("run", 8, 1344, deadline=day(1), tenancy="dedicated")],
            demand=demand([8]),
        )
    )
    assert plan.objective == pytest.approx(16 * WEEK * 3.0)
    assert plan.drawn == ()
