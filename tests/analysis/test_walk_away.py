"""Walk-away prices: closed forms on paper, and prices that hold when they are tried."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
import yaml
from tests.analytic.builders import (
    WEEK,
    day,
    demand,
    elastic,
    gang,
    offer,
    orders,
    pool,
    scenario,
    solved,
)

from gpuladder.analysis.budget import Budget
from gpuladder.analysis.walk_away import TOLERANCE, walk_away
from gpuladder.analysis.walk_away_prices import Market, reprice
from gpuladder.scenario.loading import load
from gpuladder.scenario.writing import plain

if TYPE_CHECKING:
    from pathlib import Path

    from gpuladder.analysis.answers import WalkAwayRow
    from gpuladder.scenario.schema import Scenario


def budget(seconds: float = 120.0) -> Budget:
    """Return a budget for small programs, in this process."""
    return Budget(stop_at=time.time() + seconds, workers=1, seconds_each=20.0, relative_gap=1e-9)


def rows_of(asked: Scenario, seconds: float = 120.0) -> dict[str, WalkAwayRow]:
    """Return the walk-away prices of the optimal plan by offer."""
    return {row.offer: row for row in walk_away(asked, solved(asked), budget=budget(seconds))}


def is_price(price: float | None, expected: float) -> bool:
    """Tell whether a price is the expected one to the tolerance prices are closed to."""
    return price == pytest.approx(expected, rel=TOLERANCE)


def duration_curve(price: float) -> Scenario:
    """Return a week in which demand is 8 or more always, 16 for 60 % and 24 for 20 % of it.

    Lots of 8 for the week at ``price`` against 4.0 on demand: the first lot saves 4.0 an hour of
    all its hours, the second of 60 % of them, the third of 20 %.
    """
    levels = [8, 8, 16, 16, 24]
    rows = [{"pool": "east", "at": day(days=k), "gpus": gpus} for k, gpus in enumerate(levels)]
    return scenario(
        weeks=1,
        demand=rows,
        offers=[
            offer("on_demand", price=4.0),
            offer("reserved", price=price, tenor="1 weeks", lot_gpus=8),
        ],
    )


@pytest.mark.parametrize(
    ("price", "lots", "last_lot"), [(1.5, 2, 0.6 * 4.0), (0.5, 3, 0.2 * 4.0), (3.0, 1, 4.0)]
)
def test_last_lot_breaks_even_at_the_hours_it_covers(
    price: float, lots: int, last_lot: float
) -> None:
    """A buyer would give way beyond the price at which the last lot pays, or walk off below it.

    The quantity stays up to the break-even of the last lot, the share of hours it covers × 4.0; one
    lot stays up to 4.0, since demand is never below 8.
    """
    row = rows_of(duration_curve(price))["reserved"]
    assert row.is_in_plan
    assert row.gpus == 8 * lots
    assert row.gpu_hours == pytest.approx(8 * lots * WEEK)
    assert row.money_at_stake == pytest.approx(8 * lots * WEEK * price)
    assert is_price(row.same_quantity_price, last_lot)
    assert is_price(row.walk_away_price, 4.0)
    assert row.tolerance <= 1.1 * TOLERANCE * 4.0
    assert row.room_share == pytest.approx(4.0 / price - 1.0, rel=0.01)
    assert row.replaced_by == f"on_demand ({row_hours(lots):,.0f} GPU-hours)"


def row_hours(lots: int) -> float:
    """Return the GPU-hours of demand that so many lots serve."""
    return 8 * WEEK * sum((1.0, 0.6, 0.2)[:lots])


def test_offer_out_of_the_plan_enters_at_its_break_even() -> None:
    """A seller's better price would be turned down, or taken when it is not good enough.

    At 5.0 none is bought; the first lot enters at 4.0, and takes on demand's place for 8 GPUs.
    """
    row = rows_of(duration_curve(5.0))["reserved"]
    assert not row.is_in_plan
    assert (row.gpus, row.gpu_hours) == (0.0, 0.0)
    assert row.same_quantity_price is None
    assert is_price(row.walk_away_price, 4.0)
    assert row.entry_gpus == 8
    assert row.room_share == pytest.approx(-0.2, rel=0.01)
    assert row.money_at_stake == pytest.approx(8 * WEEK * 4.0, rel=0.01)
    assert row.replaced_by == "on_demand (1,344 GPU-hours)"


def test_metered_price_is_that_of_the_lot_that_replaces_it() -> None:
    """On demand would be thought safe up to any price.

    At 1.5 a lot, two lots and on demand 20 % of the week: its 8 GPUs cost as much as a third lot
    at 1.5 / 0.2 = 7.5.
    """
    row = rows_of(duration_curve(1.5))["on_demand"]
    assert row.gpus == pytest.approx(8)
    assert row.gpu_hours == pytest.approx(0.2 * 8 * WEEK)
    assert is_price(row.walk_away_price, 7.5)
    assert is_price(row.same_quantity_price, 7.5)


def test_a_tie_counts_as_in() -> None:
    """An offer that costs exactly as much as another would be called too dear.

    Demand 8 for a week at 3.0 either way. Whichever is in the plan, both stay or enter at 3.0.
    """
    asked = scenario(
        weeks=1,
        demand=demand([8]),
        offers=[
            offer("on_demand", price=3.0),
            offer("reserved", price=3.0, tenor="1 weeks", lot_gpus=8),
        ],
    )
    rows = rows_of(asked)
    assert sum(row.is_in_plan for row in rows.values()) == 1
    for row in rows.values():
        assert row.walk_away_price == pytest.approx(3.0, rel=1e-9)
        assert row.room_share == pytest.approx(0.0, abs=1e-9)


def test_nothing_replaces_the_only_offer() -> None:
    """A price would be made up for capacity that cannot be done without."""
    asked = scenario(weeks=1, demand=demand([8]), offers=[offer("on_demand", price=3.0)])
    row = rows_of(asked)["on_demand"]
    assert row.walk_away_price is None
    assert row.room_share is None
    assert row.replaced_by == "nothing"
    assert row.note == (
        "no alternative: nothing replaces it; "
        "same quantity: as much is bought at 10 times the price"
    )


def test_bought_hardware_is_worth_what_it_saves_less_its_running() -> None:
    """Hardware would be bought at a price that its running costs have eaten up.

    8 GPUs for four weeks save 3.0 − 0.5 an hour: 672 × 2.5 = 1,680 a GPU, nothing left after.
    """
    asked = scenario(
        weeks=4,
        demand=demand([8] * 4),
        offers=[
            offer("on_demand", price=3.0),
            offer("owned", capex_per_gpu=1000.0, opex_per_gpu_hour=0.5, life="4 weeks", lot_gpus=8),
        ],
    )
    row = rows_of(asked)["owned"]
    assert row.price_today == 1000.0
    assert is_price(row.walk_away_price, 1680.0)
    assert row.money_at_stake == pytest.approx(8 * (1000 + 0.5 * 672))


def test_hardware_on_credit_is_worth_what_is_left_after_its_interest() -> None:
    """A price would be agreed that only cash could pay.

    The same 1,680 a GPU, paid in one sum after the four weeks at 21 %: 1,680 ÷ 1.21^(28/365).
    """
    asked = scenario(
        weeks=4,
        demand=demand([8] * 4),
        offers=[
            offer("on_demand", price=3.0),
            offer(
                "owned",
                capex_per_gpu=1000.0,
                opex_per_gpu_hour=0.5,
                life="4 weeks",
                lot_gpus=8,
                financing={"rate": 0.21, "term": "4 weeks", "every": "4 weeks"},
            ),
        ],
    )
    row = rows_of(asked)["owned"]
    assert is_price(row.walk_away_price, 1680.0 / 1.21 ** (28 / 365))
    assert row.money_at_stake == pytest.approx(8 * (1000 * 1.21 ** (28 / 365) + 0.5 * 672))


def test_a_cash_budget_ends_an_offer_before_its_break_even() -> None:
    """A price would be agreed that the quarter's budget cannot pay.

    Demand 8 for four weeks, on demand 3.0; a lot for the four weeks breaks even at 3.0, but all of
    it is paid in the first week, 8 × 672 × price, of which at most 6,000 may be paid: 1.116. On
    demand pays 4,032 in that week.
    """
    asked = scenario(
        weeks=4,
        demand=demand([8] * 4),
        offers=[
            offer("on_demand", price=3.0),
            offer(
                "reserved",
                price=1.0,
                tenor="4 weeks",
                lot_gpus=8,
                upfront=1.0,
                start_every="4 weeks",
            ),
        ],
        policy={"cash_budgets": [{"from": day(), "until": day(1), "max": 6000}]},
    )
    row = rows_of(asked)["reserved"]
    assert is_price(row.walk_away_price, 6000 / (8 * 672))
    assert row.note == "cash budgets see the moved price as well"


def test_offer_too_dear_at_any_price_says_so() -> None:
    """A seller would be asked for a price that makes no sense: nobody can use the capacity."""
    asked = scenario(
        weeks=1,
        demand=demand([8]),
        pools=[pool(), pool("west")],
        offers=[
            offer("on_demand", price=3.0),
            offer("reserved", pool="west", price=1.0, tenor="1 weeks", lot_gpus=8),
        ],
    )
    row = rows_of(asked)["reserved"]
    assert row.walk_away_price is None
    assert row.note == "not bought even at 5% of the price"


def mixed(**tables: object) -> Scenario:
    """Return lots of two lengths, on demand, spot and campaigns of both shapes in two pools."""
    return scenario(
        weeks=6,
        pools=[pool(), pool("west", provider="beta")],
        discount_rate=0.1,
        demand=demand([9, 14, 12, 8, 8, 6]),
        offers=[
            offer("on_demand", price=3.0, price_change_per_year=-0.3),
            offer("on_demand", id="west-od", pool="west", price=2.6, max_gpus=24),
            offer("spot", price=1.1, max_gpus=10),
            offer(
                "reserved",
                price=[1.9, 1.5],
                tenor=["2 weeks", "4 weeks"],
                lot_gpus=8,
            ),
            offer("dedicated", pool="west", price=1.7, tenor="3 weeks", lot_gpus=8, setup_cost=300),
            offer(
                "burst_window",
                price_path=[{"from": day(), "price": 2.4}, {"from": day(2), "price": 2.1}],
                tenor="1 weeks",
                lot_gpus=4,
                lead="7 days",
            ),
        ],
        preemption_classes=[
            {"id": "critical", "spot_share_max": 0},
            {"id": "half", "spot_share_max": 0.4},
            {"id": "free", "spot_share_max": 1},
        ],
        campaigns=[
            elastic("sweep", 4000, preemption_class="half", max_gpus=24),
            gang("run", [8, 16], 8 * WEEK * 1.5, deadline=day(6), preemption_class="free"),
        ],
        **tables,
    )


def at_price(row: WalkAwayRow, price: float, path: Path) -> Scenario:
    """Return the scenario as the command line reads it with one offer's price changed."""
    if row.offer == "burst_window":
        factor = price / row.price_today
        text = ", ".join(
            f"{{from: {begin}, price: {value * factor:.10g}}}"
            for begin, value in ((day(), 2.4), (day(2), 2.1))
        )
        return load(path, overrides=[f"offers.burst_window.price_path=[{text}]"]).scenario
    if row.offer.startswith("reserved@"):
        prices = [price, 1.5] if row.offer == "reserved@2 weeks" else [1.9, price]
        return load(path, overrides=[f"offers.reserved.price={prices}"]).scenario
    change = f"{price / row.price_today:.12g}"
    listed = {"on_demand": 3.0, "west-od": 2.6, "spot": 1.1, "dedicated": 1.7}[row.offer]
    text = f"offers.{row.offer}.price={listed * float(change):.12g}"
    return load(path, overrides=[text]).scenario


@pytest.mark.parametrize(
    "policy",
    [{}, {"cash_budgets": [{"from": day(), "until": day(2), "max": 7000}]}],
    ids=["free", "cash-budget"],
)
def test_prices_hold_when_they_are_tried(policy: dict[str, object], tmp_path: Path) -> None:
    """A price that fails when the offer comes in at it would cost the negotiation.

    Each price is set as on the command line: 0.1 % below it the offer is in the optimal plan, and
    beyond it, by no more than the tolerance said, it is not.
    """
    asked = mixed(policy=policy)
    path = tmp_path / "scenario.yaml"
    path.write_text(yaml.safe_dump(plain(asked), sort_keys=False), encoding="utf-8")
    rows = rows_of(asked)
    tried = 0
    for row in rows.values():
        if row.walk_away_price is None:
            continue
        below = at_price(row, row.walk_away_price * (1.0 - 1e-3), path)
        above = at_price(row, (row.walk_away_price + row.tolerance) * (1.0 + 1e-4), path)
        assert Market(below).purchases(solved(below))[row.offer].gpu_hours > 0, row
        assert Market(above).purchases(solved(above))[row.offer].gpu_hours == 0, row
        tried += 1
    assert tried >= 4


def test_quantity_holds_up_to_the_same_quantity_price(tmp_path: Path) -> None:
    """A discount tied to a volume would be accepted for a volume that no longer pays."""
    asked = mixed()
    path = tmp_path / "scenario.yaml"
    path.write_text(yaml.safe_dump(plain(asked), sort_keys=False), encoding="utf-8")
    tried = 0
    for row in rows_of(asked).values():
        if row.same_quantity_price is None or row.kind == "on_demand":
            continue
        today = Market(asked).purchases(solved(asked))[row.offer].spend
        market = Market(asked)
        below = at_price(row, row.same_quantity_price * (1.0 - 1e-3), path)
        above = at_price(row, (row.same_quantity_price + row.tolerance) * (1.0 + 1e-4), path)
        assert market.purchases(solved(below))[row.offer].spend >= today * (1 - 1e-6), row
        assert market.purchases(solved(above))[row.offer].spend < today * (1 - 1e-6), row
        tried += 1
    assert tried >= 2


def test_less_is_bought_of_an_offer_as_its_price_rises() -> None:
    """The search would end at a price that is not the only one.

    What is bought, weighed by today's discounted prices, never rises with the offer's own price.
    """
    asked = mixed()
    market = Market(asked)
    for name in ("reserved@4 weeks", "spot", "west-od"):
        spends = [
            market.purchases(solved(reprice(asked, name, factor)))[name].spend
            for factor in (0.5, 0.9, 1.0, 1.1, 1.5, 3.0)
        ]
        for earlier, later in pairwise(spends):
            assert later <= earlier + 1e-6 * max(spends)


def test_purchases_add_up_to_the_cost_lines_of_the_plan() -> None:
    """Money at stake would be money that the plan does not spend."""
    asked = mixed()
    plan = solved(asked)
    spent = sum(purchase.money for purchase in Market(asked).purchases(plan).values())
    assert spent == pytest.approx(plan.objective)


def test_repricing_one_tenor_leaves_the_others_alone() -> None:
    """A better price for four weeks would be credited to two weeks as well."""
    asked = mixed()
    same = reprice(asked, "reserved@4 weeks", 1.0)
    assert solved(same).objective == pytest.approx(solved(asked).objective)
    cheap = solved(reprice(asked, "reserved@4 weeks", 0.2))
    assert all(not offer.startswith("reserved@2") for offer, _ in orders(cheap))


def test_nothing_is_guessed_when_there_is_no_time() -> None:
    """A price nobody solved for would look like an answer."""
    for row in rows_of(duration_curve(1.5), seconds=-1.0).values():
        assert (row.walk_away_price, row.same_quantity_price, row.tolerance) == (None, None, None)
        assert "time" in row.note


@pytest.mark.parametrize("kind", ["on_demand", "spot"])
def test_an_offer_that_nothing_can_use_says_so(kind: str) -> None:
    """One offer that no work can use would take the answers about all the others with it."""
    metered = {"max_gpus": 64, "available_from": day(days=13)}
    unused = offer(kind, id="late", price=3.0, **metered)
    asked = scenario(
        weeks=2,
        demand=[{"pool": "east", "at": day(), "gpus": 8}],
        offers=[offer("on_demand", price=4.0), unused],
    )
    row = rows_of(asked)["late"]
    assert not row.is_in_plan
    assert row.walk_away_price is None


def test_no_work_at_all_has_no_walk_away_price() -> None:
    """A scenario before its campaigns are known would end in a fault of the program."""
    asked = scenario(
        weeks=1,
        offers=[
            offer("on_demand", price=4.0),
            offer("reserved", price=1.0, tenor="1 weeks", lot_gpus=8),
        ],
    )
    row = rows_of(asked)["on_demand"]
    assert row.walk_away_price is None
    assert row.note == "no work in the horizon can use it"
