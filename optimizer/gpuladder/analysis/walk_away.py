"""Walk-away prices: up to which price an offer belongs in the plan, and from which it would.

An offer's whole price path is moved by one factor, its other terms kept; the scenario is solved
again at the prices that matter (``walk_away_search`` says which and why that suffices). A tie
counts as in. What is compared over prices is what an offer's purchases cost at today's discounted
prices: with one price and no discount that is its GPU-hours.

A walk-away price holds for one offer at a time, all others at today's prices.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.analysis.answers import WalkAwayRow
from gpuladder.analysis.base import tight_base
from gpuladder.analysis.walk_away_prices import Market, Purchase, columns_of
from gpuladder.analysis.walk_away_search import LEAST_FACTOR, SURGES, Found, Task, search
from gpuladder.compiled import compile_model
from gpuladder.executor import default_workers, run_tasks
from gpuladder.plan import Plan
from gpuladder.solver import Program
from gpuladder_models.build import build_model

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpuladder.analysis.budget import Budget
    from gpuladder.scenario.schema import Scenario

TOLERANCE = 1e-3
"""Relative width to which a price is closed in."""
WIDE = 0.05
"""A price that is known less closely than this share of it is not given."""
BASE_SHARE = 0.25
"""Most of the time that the tight base may take."""
EVEN_SHARE = 0.5
"""Share of the time that is dealt out evenly; the rest by money at stake."""
ROUNDS = 2
"""How often time is dealt out: what is left over goes to offers that were not closed."""
NAMED = 3
"""Offers named as replacements."""


def walk_away(
    scenario: Scenario, plan: Plan, *, budget: Budget, tolerance: float = TOLERANCE
) -> tuple[WalkAwayRow, ...]:
    """Return the walk-away price of every committed and metered offer.

    Parameters
    ----------
    scenario : Scenario
        The checked scenario that the plan answers.
    plan : Plan
        The plan to explain, with quantities.
    budget : Budget
        Time is dealt out half evenly, half by money at stake. What is not closed within it says so.
    tolerance : float
        Relative width to which prices are closed in.

    Returns
    -------
    tuple of WalkAwayRow
        One per offer (and tenor), most money at stake first.
    """
    base = tight_base(scenario, plan, budget.share(BASE_SHARE)).plan
    market = Market(scenario)
    bought = market.purchases(plan)
    money = {offer: purchase.money for offer, purchase in bought.items()}
    tasks = {
        offer: Task(
            scenario=scenario,
            base=base,
            offer=offer,
            relaxed_factor=factor,
            tolerance=tolerance,
            budget=budget,
            seconds=0.0,
        )
        for offer, factor in _relaxed_factors(market, plan).items()
        if market.is_usable(offer)
    }
    found = _searched(tasks, money, budget)
    rows = [
        _row(market, bought, base, found.get(offer, Found(offer=offer))) for offer in market.offers
    ]
    if scenario.policy.cash_budgets:
        rows = [
            replace(row, note=_joined(row.note, "cash budgets see the moved price as well"))
            for row in rows
        ]
    return tuple(sorted(rows, key=lambda row: (-row.money_at_stake, row.offer)))


def _searched(
    tasks: Mapping[str, Task], money: Mapping[str, float], budget: Budget
) -> dict[str, Found]:
    """Return what was found of each offer; time that some left over goes to those not finished."""
    found: dict[str, Found] = {}
    spent = dict.fromkeys(tasks, 0.0)
    workers = budget.workers or default_workers()
    for _ in range(ROUNDS):
        left = workers * budget.seconds_left
        open_money = {x: money[x] for x in tasks if x not in found or not found[x].is_finished}
        dealt = {x: share * left for x, share in _shares(open_money).items()}
        again = [replace(tasks[x], seconds=s) for x, s in dealt.items() if s > 2.0 * spent[x]]
        answers = run_tasks(search, again, workers=budget.workers, stop_at=budget.stop_at)
        for number, answer in answers:
            found[again[number].offer] = answer
            spent[again[number].offer] = again[number].seconds
    return found


def _shares(money: Mapping[str, float]) -> dict[str, float]:
    """Return each offer's share of the time, most money first."""
    total = sum(money.values()) or 1.0
    even = EVEN_SHARE / max(len(money), 1)
    ranked = sorted(money, key=lambda offer: -money[offer])
    return {offer: even + (1.0 - EVEN_SHARE) * money[offer] / total for offer in ranked}


def _relaxed_factors(market: Market, plan: Plan) -> dict[str, float]:
    """Return the share of today's price at which each offer enters without whole numbers.

    Exact for the linear program: a column enters when its reduced cost is gone, and that falls with
    the price by what one unit of it costs. It only says where to look first.
    """
    compiled = compile_model(build_model(market.data))
    relaxed = replace(compiled, is_integer=np.zeros(compiled.num_columns, np.bool_))
    outcome = Program(relaxed).solve(plan.options.model_copy(update={"threads": 1}))
    factors = dict.fromkeys(market.offers, 1.0)
    if outcome.reduced_costs is None:
        return factors
    for offer in market.offers:
        own = columns_of(market.data, offer)
        nearest = [
            1.0 - max(float(outcome.reduced_costs[begin + column]), 0.0) / spend
            for family, units in market.unit_spends(offer).items()
            for begin in (compiled.column_blocks[family].begin,)
            for column, spend in zip(own[family].tolist(), units.tolist(), strict=True)
            if spend > 0
        ]
        factors[offer] = max(nearest, default=1.0)
    return factors


def _row(
    market: Market,
    bought: Mapping[str, Purchase],
    base: Plan,
    found: Found,
) -> WalkAwayRow:
    offer, today = found.offer, bought[found.offer]
    price = market.price_today(offer)
    is_in = today.gpu_hours > 0.0
    walk, width, note = _closed(
        (found.low, found.high), (found.low_proven, found.high_proven), price
    )
    same, same_width, same_note = _closed(
        (found.same_low, found.same_high),
        (found.same_low_proven, found.same_high or float("inf")),
        price,
    )
    if not is_in:
        same, same_note = None, ""
    elif found.is_replaceable is False:
        note = "no alternative: nothing replaces it"
        if found.is_rigid:
            same_note = f"as much is bought at {SURGES[-1]:.0f} times the price"
    elif found.is_replaceable is None:
        note, same_note = "not solved in the time given", ""
    if not market.is_usable(offer):
        note = "no work in the horizon can use it"
    elif not is_in and found.low is None:
        note = _never_entered(found, price)
    money = today.money
    if not is_in and found.entry is not None and found.low is not None:
        money = found.entry.money - (1.0 - found.low) * found.entry.spend
    widths = [w for w, p in ((width, walk), (same_width, same)) if w is not None and p is not None]
    is_entering = not is_in and walk is not None and found.entry is not None
    return WalkAwayRow(
        offer=offer,
        pool=market.pool(offer),
        kind=market.kind(offer),
        is_in_plan=is_in,
        price_today=price,
        gpus=today.gpus,
        gpu_hours=today.gpu_hours,
        money_at_stake=money,
        same_quantity_price=same,
        walk_away_price=walk,
        tolerance=max(widths) if widths else None,
        room_share=None if walk is None else walk / price - 1.0,
        entry_gpus=found.entry.gpus if is_entering and found.entry else None,
        replaced_by=_replaced_by(market, base, found, is_in=is_in),
        note=_joined(
            note, "" if same_note == note else same_note and f"same quantity: {same_note}"
        ),
    )


def _closed(
    bracket: tuple[float | None, float | None], proven: tuple[float, float], price: float
) -> tuple[float | None, float | None, str]:
    """Return a bracket's price, how far it may be off, and a note where it is not given.

    The bracket is of plans that were found; ``proven`` is where the bounds leave no other.
    """
    low, high = bracket
    if low is None and high is None:
        return None, None, "not solved in the time given"
    if low is None:
        return None, None, f"below {price * (high or 0.0):,.4g}; not closed in the time given"
    least, most = max(min(proven[0], low), 0.0), max(proven[1], low)
    width = max(most - low, low - least)
    if width <= WIDE * low:
        return price * low, price * width, ""
    if most == float("inf"):
        return None, None, f"{price * least:,.4g} or more; not closed in the time given"
    text = f"between {price * least:,.4g} and {price * most:,.4g}"
    return None, None, f"{text}; not closed in the time given"


def _never_entered(found: Found, price: float) -> str:
    if found.lowest_tried is None:
        return "not solved in the time given"
    if found.is_finished:
        return f"not bought even at {LEAST_FACTOR:.0%} of the price"
    tried = f"{price * found.lowest_tried:,.4g}"
    return f"not bought at {tried}; not closed in the time given"


def _replaced_by(market: Market, base: Plan, found: Found, *, is_in: bool) -> str:
    """Return what takes an offer's place beyond its price; out of the plan: whose place it takes.

    Both by GPU-hours, the largest first.
    """
    if is_in and found.is_replaceable is False:
        return "nothing"
    other = found.plan_without if is_in else found.entry_plan
    if other is None:
        return ""
    before, after = market.purchases(base), market.purchases(other)
    sign = 1.0 if is_in else -1.0
    moved = {
        offer: sign * (after[offer].gpu_hours - before[offer].gpu_hours)
        for offer in market.offers
        if offer != found.offer
    }
    most = sorted((x for x in moved if moved[x] > 0.5), key=lambda x: -moved[x])
    parts = [f"{offer} ({moved[offer]:,.0f} GPU-hours)" for offer in most[:NAMED]]
    if len(most) > NAMED:
        parts.append(f"{len(most) - NAMED} more")
    return _joined(", ".join(parts), _dropped(base, other, sign), ", ") or "nothing"


def _dropped(base: Plan, other: Plan, sign: float) -> str:
    before = {item.campaign: item.share for item in base.dropped}
    after = {item.campaign: item.share for item in other.dropped}
    names = [
        campaign
        for campaign in {**before, **after}
        if sign * (after.get(campaign, 0.0) - before.get(campaign, 0.0)) > 1e-6
    ]
    return f"work left undone in {', '.join(names)}" if names else ""


def _joined(first: str, second: str, by: str = "; ") -> str:
    return by.join(part for part in (first, second) if part)
