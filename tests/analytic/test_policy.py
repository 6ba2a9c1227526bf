"""The company's limits by hand: ladder, spot, providers, exposure and cash."""

from __future__ import annotations

from typing import Any

import pytest
from tests.analytic.builders import (
    WEEK,
    day,
    demand,
    dropped,
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
    runs,
    scenario,
    solved,
    spot_gpus,
)


@equations("C19")
def test_ladder_goes_on_past_the_horizon_end() -> None:
    """A cliff two weeks after the horizon end would go unseen.

    Demand 16 for four weeks; terms of six weeks from week 0 at 1.0, on demand 3.0. Windows of four
    weeks. All terms expire in week 6, in the window (4, 8], whose share is of what is active over
    the last instant of the horizon, S: S ≤ ρ S + 8. With ρ = 0.5 S ≤ 16: two lots, 16 × 672. With ρ
    = 0.25 S ≤ 10.7: one lot, and 8 on demand: 8 × 672 × (1 + 3).
    """
    term = offer("reserved", price=1.0, tenor="6 weeks", lot_gpus=8, start_every="4 weeks")
    for share, cost, lots in ((0.5, 16 * 672 * 1.0, 2), (0.25, 8 * 672 * 4.0, 1)):
        ladder = {"window": "4 weeks", "max_expiring_share": share, "exempt_gpus": 8}
        plan = solved(
            scenario(
                offers=[offer("on_demand", price=3.0), term],
                demand=demand([16] * 4),
                policy={"ladder": ladder},
            )
        )
        assert plan.objective == pytest.approx(cost)
        assert orders(plan) == {("reserved", day()): lots}


@equations("C19")
def test_short_terms_stand_outside_the_ladder() -> None:
    """Bursts would be refused as if they were a cliff.

    Nothing may expire in a window of four weeks. Terms of two weeks are shorter than the window and
    free of it: 16 × 672 × 1.0. When terms of a week or more count, all is on demand at 3.0.
    """
    offers = [
        offer("on_demand", price=3.0),
        offer("reserved", price=1.0, tenor="2 weeks", lot_gpus=8),
    ]
    ladder = {"window": "4 weeks", "max_expiring_share": 0.0}
    free = solved(
        scenario(offers=offers, demand=demand([16] * 4), policy={"ladder": ladder}),
    )
    assert free.objective == pytest.approx(16 * 672 * 1.0)
    counted = ladder | {"min_tenor": "1 weeks"}
    plan = solved(scenario(offers=offers, demand=demand([16] * 4), policy={"ladder": counted}))
    assert plan.objective == pytest.approx(16 * 672 * 3.0)


@equations("C19")
def test_held_commitment_uses_up_the_window_in_which_it_expires() -> None:
    """Expiries that are already signed would be left out of the cliff.

    8 held GPUs expire after two weeks; demand 16. Window of four weeks, share 0, 8 GPUs exempt. A
    new term of four weeks would expire at week 4, in the same window: none is left for it, so 8 and
    then 16 are on demand at 3.0. A held one whose tenor was two weeks does not count; then one lot
    at 1.0 serves four weeks.
    """
    offers = [
        offer("on_demand", price=3.0),
        offer("reserved", price=1.0, tenor="4 weeks", lot_gpus=8, start_every="4 weeks"),
    ]
    ladder = {"window": "4 weeks", "max_expiring_share": 0.0, "exempt_gpus": 8}
    common = {"offers": offers, "demand": demand([16] * 4), "policy": {"ladder": ladder}}
    plan = solved(scenario(commitments=[held(8, end=day(2))], **common))
    assert plan.objective == pytest.approx(2 * WEEK * 3.0 * (8 + 16))
    assert plan.orders == ()
    short = held(8, end=day(2), start=day(), tenor="2 weeks")
    plan = solved(scenario(commitments=[short], **common))
    assert plan.objective == pytest.approx(8 * 672 * 1.0 + 2 * WEEK * 8 * 3.0)


@equations("C20")
def test_company_s_spot_share_is_of_the_work_that_is_done() -> None:
    """More of the company's work would depend on spot than it wants.

    An elastic campaign of 1,000 GPU-hours, a gang of 1,344 and one of 500 that may be left out for
    100. Spot 1.0, on demand 3.0. The last is left out, so half of 2,344 may be on spot, 1,172: too
    little for the gang, enough for the 1,000. Counting the 500 would have let the gang in.
    1,000 × 1 + 1,344 × 3 + 100.
    """
    plan = solved(
        scenario(
            offers=[
                offer("on_demand", price=3.0),
                offer("spot", price=1.0, max_gpus=1000),
            ],
            campaigns=[
                elastic("sweep", 1000, preemption_class="free"),
                gang("run", 8, 1344, preemption_class="free"),
                elastic("extra", 500, drop_cost=100),
            ],
            policy={"spot_share_max": 0.5},
        )
    )
    assert plan.objective == pytest.approx(1000 * 1.0 + 1344 * 3.0 + 100)
    assert dropped(plan) == {"extra": pytest.approx(1.0)}
    assert runs(plan)["run"][0] == "east"
    assert spot_gpus(plan, "sweep") * WEEK == pytest.approx(1000)


@equations("C21")
def test_provider_share_counts_what_is_held_and_metered() -> None:
    """The company would depend on one provider more than it wants.

    1,000 GPU-hours in a week; ``acme`` at 1.0, ``beta`` at 2.0. At most 60 % from one: 600 × 1 +
    400 × 2. With one GPU held at ``beta``, 168 of the 1,000 are its: 600 × 1 + 232 × 2. A limit for
    ``acme`` alone of 30 %: 300 × 1 + 700 × 2.
    """

    def plan_with(share: object, **tables: Any):
        return solved(
            scenario(
                weeks=1,
                pools=[pool(), pool("west", provider="beta")],
                offers=[
                    offer("on_demand", id="a", price=1.0),
                    offer("on_demand", id="b", pool="west", price=2.0),
                ],
                campaigns=[elastic("sweep", 1000, deadline=day(1))],
                policy={"provider_share_max": share},
                **tables,
            )
        )

    assert plan_with(0.6).objective == pytest.approx(600 * 1.0 + 400 * 2.0)
    west = held(1, pool="west")
    assert plan_with(0.6, commitments=[west]).objective == pytest.approx(600 + 232 * 2.0)
    assert plan_with({"acme": 0.3}).objective == pytest.approx(300 * 1.0 + 700 * 2.0)


@equations("C21")
def test_provider_share_counts_spot() -> None:
    """Spot, or runs on spot, would escape the limit on a provider.

    ``acme`` has spot at 1.0, ``beta`` on demand at 4.0; at most half from ``acme``. An elastic
    campaign of 1,000: 500 × 1 + 500 × 4. A gang of 1,344 on spot beside 1,344 that must be at
    ``beta``: exactly half, 1,344 × (1 + 4). With only 1,343 to be had at ``beta`` the gang is a
    little too much, and left out for 5,000.
    """

    def plan_of(campaigns: list[dict[str, Any]], hours: float = 10_000):
        return solved(
            scenario(
                weeks=1,
                pools=[pool(), pool("west", provider="beta")],
                offers=[
                    offer("spot", price=1.0, max_gpus=100),
                    offer("on_demand", id="b", pool="west", price=4.0, max_gpus=hours / WEEK),
                ],
                campaigns=campaigns,
                policy={"provider_share_max": {"acme": 0.5}},
            )
        )

    keys = {"deadline": day(1), "preemption_class": "free"}
    assert plan_of([elastic("sweep", 1000, **keys)]).objective == pytest.approx(2500)
    run = gang("run", 8, 1344, drop_cost=5000, **keys)
    there = elastic("there", 1344, deadline=day(1), pools=["west"])
    assert plan_of([run, there]).objective == pytest.approx(1344 * 5.0)
    less = elastic("there", 1343, deadline=day(1), pools=["west"])
    assert plan_of([run, less], 1343).objective == pytest.approx(1343 * 4.0 + 5000)


@equations("C26")
def test_hours_nobody_uses_do_not_dilute_a_provider() -> None:
    """A limit on a provider would be met by paying another one for GPUs that stand empty.

    ``acme`` must do 5,376 GPU-hours; ``beta`` may do the other 672 of 6,048: a ninth. At most 75 %
    from ``acme`` cannot be met by what is used, though 1,120 idle hours at ``beta`` would meet it.
    """

    def campaigns() -> list[dict[str, Any]]:
        return [
            elastic("here", 5376, deadline=day(2), pools=["east"]),
            elastic("there", 672, deadline=day(2)),
        ]

    tables: dict[str, Any] = {
        "weeks": 2,
        "pools": [pool(), pool("west", provider="beta")],
        "offers": [
            offer("on_demand", id="a", price=3.0),
            offer("on_demand", id="b", pool="west", price=2.0),
        ],
        "campaigns": campaigns(),
    }
    limited = scenario(policy={"provider_share_max": {"acme": 0.75}}, **tables)
    assert is_infeasible(limited)
    allowed = scenario(policy={"provider_share_max": {"acme": 0.9}}, **tables)
    assert solved(allowed).objective == pytest.approx(5376 * 3.0 + 672 * 2.0)


@equations("C22")
def test_committed_cap_counts_held_and_flex() -> None:
    """The company would be committed to more GPUs than it allows.

    Demand 24, 8 held, lots of 8 at 1.0, on demand 3.0. With a cap of 20 one lot fits beside the
    held 8: 168 × (8 × 1 + 8 × 3). A campaign of 8 GPUs would take a flex lot, 0.1 + 0.1, but under
    a cap of 16 it competes with the reserved lot: the worth of the lot is 2.0, of the flex lot 2.8.
    """
    reserved = offer("reserved", price=1.0, tenor="1 weeks", lot_gpus=8)
    common: dict[str, Any] = {"weeks": 1, "demand": demand([24])}
    common["commitments"] = [held(8)]
    plan = solved(
        scenario(
            offers=[offer("on_demand", price=3.0), reserved],
            policy={"committed_gpus_max": 20},
            **common,
        )
    )
    assert plan.objective == pytest.approx(WEEK * (8 * 1.0 + 8 * 3.0))
    flex = offer("reserved", id="flex", price=0.1, usage_price=0.1, tenor="1 weeks", lot_gpus=8)
    plan = solved(
        scenario(
            offers=[offer("on_demand", price=3.0), reserved, flex],
            campaigns=[elastic("sweep", 8 * WEEK, deadline=day(1))],
            policy={"committed_gpus_max": 16},
            **common,
        )
    )
    assert orders(plan) == {("flex", day()): 1}
    assert plan.objective == pytest.approx(WEEK * (8 * 0.2 + 16 * 3.0))


@equations("C23")
def test_exposure_to_a_generation_after_its_turnover() -> None:
    """The company would sit on old hardware after its successor is out.

    Demand 16 in each of two pools of two generations; weekly lots of 8 at 1.0, on demand 3.0. After
    15 July (inside week 1) at most 8 committed h100: that is weeks 2 and 3. The h200 pool is free.
    """
    offers = [
        offer(kind, id=f"{kind}-{place}", pool=place, **keys)
        for place in ("east", "west")
        for kind, keys in (
            ("on_demand", {"price": 3.0}),
            ("reserved", {"price": 1.0, "tenor": "1 weeks", "lot_gpus": 8}),
        )
    ]
    plan = solved(
        scenario(
            hardware=[hardware(), hardware("h200")],
            pools=[pool(), pool("west", hardware="h200")],
            offers=offers,
            demand=demand([16] * 4) + demand([16] * 4, pool="west"),
            policy={
                "hardware_limits": [
                    {"hardware": "h100", "after": "2026-07-15", "max_committed_gpus": 8}
                ]
            },
        )
    )
    east = 16 * 2 * 1.0 + 2 * (8 * 1.0 + 8 * 3.0)
    assert plan.objective == pytest.approx(WEEK * (east + 16 * 4 * 1.0))


@equations("O3", "O4", "O5", "O11")
def test_each_kind_has_its_own_line() -> None:
    """The board would read one kind's cost under another's name.

    Three demands in three pools, each with one offer of its own kind: 8 GPUs for a week at 1.0.
    """
    kinds = ("burst_window", "reserved", "dedicated")
    plan = solved(
        scenario(
            weeks=1,
            pools=[pool(kind) for kind in kinds],
            offers=[
                offer(kind, pool=kind, price=1.0, tenor="2 weeks", lot_gpus=8) for kind in kinds
            ],
            demand=[row for kind in kinds for row in demand([8], pool=kind)],
            policy={"tail_charge": 1.0},
        )
    )
    assert lines(plan) == {
        **{kind: pytest.approx(8 * WEEK) for kind in kinds},
        "commitment_tail": pytest.approx(3 * 8 * WEEK),
    }
