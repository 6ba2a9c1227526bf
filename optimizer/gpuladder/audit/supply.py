"""Enough capacity for everything that runs on it, in every period and level.

Supply and use are averages over a period; baseline demand has levels, and supply must cover each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpuladder.audit.facts import Facts, is_flex, is_single_tenant, kind_of
from gpuladder.audit.findings import ABSOLUTE_TOLERANCE_GPUS, Finding, exceeds, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpuladder.audit.quantities import LevelUse, Lot, Quantities
    from gpuladder.scenario.schema import HeldCommitment
    from gpuladder.timegrid import FloatArray


def supply_findings(facts: Facts, plan: Quantities) -> Iterator[Finding]:
    """Check supply, backfill, draws, dedicated tenancy, quotas and market depth."""
    for pool in facts.tables.pools:
        yield from _stable_supply(facts, plan, pool)
        yield from _metered_use(facts, plan, pool)
        yield from _dedicated_supply(facts, plan, pool)
        yield from _backfill_supply(facts, plan, pool)
        yield from _draw_use(facts, plan, pool)
    yield from _backfill_depth(facts, plan)
    yield from _draw_limit(facts, plan)
    yield from _on_demand_quota(facts, plan)
    yield from _spot_depth(facts, plan)


def held_gpus(facts: Facts, held: HeldCommitment) -> FloatArray:
    """Return a held commitment's average GPUs in each period, shape (T,)."""
    return held.gpus * facts.share(held.start, held.end)


def lot_gpus(lot: Lot) -> FloatArray:
    """Return an order's average GPUs in each period, shape (T,)."""
    return lot.gpus * lot.shares


def firm_gpus(
    facts: Facts, plan: Quantities, pool: str, *, single_tenant: bool = False
) -> FloatArray:
    """Return a pool's committed GPUs that serve without being drawn, held ones included.

    Parameters
    ----------
    single_tenant : bool
        Count dedicated and owned capacity only.
    """
    total = np.zeros(facts.num_periods)
    for lot in plan.lots:
        if lot.offer.pool == pool and not is_flex(lot.offer):
            if single_tenant and not is_single_tenant(kind_of(lot.offer)):
                continue
            total += lot_gpus(lot)
    for held in facts.tables.held.values():
        if held.pool != pool or facts.is_flex_held(held):
            continue
        if not single_tenant or is_single_tenant(held.kind):
            total += held_gpus(facts, held)
    return total


def flex_gpus(facts: Facts, plan: Quantities, offer: str) -> FloatArray:
    """Return the GPUs of a flex offer that are ordered or held, in each period, shape (T,)."""
    total = np.zeros(facts.num_periods)
    for lot in plan.lots:
        if lot.offer.id == offer:
            total += lot_gpus(lot)
    for held in facts.tables.held.values():
        if held.offer == offer:
            total += held_gpus(facts, held)
    return total


def campaign_gpus(
    facts: Facts, plan: Quantities, pool: str, *, dedicated_only: bool = False
) -> FloatArray:
    """Return the average stable GPUs that campaigns use in a pool in each period, shape (T,)."""
    campaigns = facts.tables.campaigns
    total = np.zeros(facts.num_periods)
    for (campaign, place), gpus in plan.stable.items():
        if place == pool and (not dedicated_only or campaigns[campaign].tenancy == "dedicated"):
            total += gpus
    for run, shares in plan.runs:
        if run.spot_offer is None and run.pool == pool:
            if dedicated_only and campaigns[run.campaign].tenancy != "dedicated":
                continue
            total += run.gpus * shares
    return total


def backfill_gpus(facts: Facts, plan: Quantities, pool: str) -> FloatArray:
    """Return the average GPUs of a pool sold as backfill in each period, shape (T,)."""
    total = np.zeros(facts.num_periods)
    for (_, place), gpus in plan.backfill.items():
        if place == pool:
            total += gpus
    return total


def spot_gpus(facts: Facts, plan: Quantities, offer: str) -> FloatArray:
    """Return the average GPUs of a spot offer in use in each period, shape (T,)."""
    total = np.zeros(facts.num_periods)
    for (_, place), gpus in plan.spot.items():
        if place == offer:
            total += gpus
    for run, shares in plan.runs:
        if run.spot_offer == offer:
            total += run.gpus * facts.gang_availability(offer, run.gpus) * shares
    return total


def drawn_gpus(
    facts: Facts, plan: Quantities, pool: str, *, single_tenant: bool = False
) -> FloatArray:
    """Return the average GPUs drawn from a pool's flex reservations, shape (T,)."""
    total = np.zeros(facts.num_periods)
    for key, gpus in plan.drawn.items():
        offer = facts.tables.committed[key]
        if offer.pool == pool and (not single_tenant or is_single_tenant(kind_of(offer))):
            total += gpus
    return total


def _stable_supply(facts: Facts, plan: Quantities, pool: str) -> Iterator[Finding]:
    standing = firm_gpus(facts, plan, pool) + drawn_gpus(facts, plan, pool)
    even = campaign_gpus(facts, plan, pool) + backfill_gpus(facts, plan, pool)
    metered = [use for o, use in plan.on_demand.items() if facts.metered(o).pool == pool]
    for period, levels in enumerate(facts.levels[pool]):
        worst: tuple[float, str] | None = None
        for level, (demand, _) in enumerate(levels):
            extra = sum(use.get((period, level), 0.0) for use in metered)
            supply, need = standing[period] + extra, demand + even[period]
            if exceeds(need, supply, abs(need) + abs(supply), ABSOLUTE_TOLERANCE_GPUS):
                text = (
                    f"{pool}: {number(need)} stable GPUs needed ({number(demand)} baseline demand, "
                    f"{number(even[period])} campaigns and backfill), but {number(supply)} there "
                    f"({number(standing[period])} committed, {number(extra)} on demand)"
                )
                worst = max(worst or (0.0, ""), (need - supply, text))
        if worst is not None:
            yield _period_finding(facts, "stable_supply", pool, period, worst[1], worst[0])


def _metered_use(facts: Facts, plan: Quantities, pool: str) -> Iterator[Finding]:
    """Metered capacity is billed for what is used: demand and campaigns, never more."""
    drawn, use = drawn_gpus(facts, plan, pool), campaign_gpus(facts, plan, pool)
    metered = [own for o, own in plan.on_demand.items() if facts.metered(o).pool == pool]
    for period, levels in enumerate(facts.levels[pool]):
        for level, (demand, _) in enumerate(levels):
            bought = sum(own.get((period, level), 0.0) for own in metered)
            most = demand + use[period] - drawn[period]
            if bought and exceeds(bought, most, bought + abs(most), ABSOLUTE_TOLERANCE_GPUS):
                text = (
                    f"{pool}: {number(bought)} GPUs on demand, but {number(max(most, 0.0))} of "
                    "demand and campaigns to use them"
                )
                yield _period_finding(facts, "metered_use", pool, period, text, bought - most)
                break


def _dedicated_supply(facts: Facts, plan: Quantities, pool: str) -> Iterator[Finding]:
    need = campaign_gpus(facts, plan, pool, dedicated_only=True)
    own = firm_gpus(facts, plan, pool, single_tenant=True)
    own += drawn_gpus(facts, plan, pool, single_tenant=True)
    for period in np.flatnonzero(need > 0.0).tolist():
        supply = own[period]
        if exceeds(need[period], supply, need[period] + supply, ABSOLUTE_TOLERANCE_GPUS):
            text = (
                f"{pool}: {number(need[period])} GPUs for dedicated tenancy, but "
                f"{number(supply)} dedicated or owned"
            )
            excess = need[period] - supply
            yield _period_finding(facts, "dedicated_supply", pool, period, text, excess)
    yield from _backfill_tenancy(facts, plan, pool, need)


def _backfill_tenancy(
    facts: Facts, plan: Quantities, pool: str, need: FloatArray
) -> Iterator[Finding]:
    sold = backfill_gpus(facts, plan, pool)
    there = firm_gpus(facts, plan, pool) + drawn_gpus(facts, plan, pool, single_tenant=True)
    for period in np.flatnonzero((need > 0.0) & (sold > 0.0)).tolist():
        wanted = need[period] + sold[period]
        if exceeds(wanted, there[period], wanted + there[period], ABSOLUTE_TOLERANCE_GPUS):
            text = (
                f"{pool}: {number(sold[period])} GPUs sold as backfill beside "
                f"{number(need[period])} for dedicated tenancy, but {number(there[period])} there"
            )
            excess = wanted - there[period]
            yield _period_finding(facts, "backfill_tenancy", pool, period, text, excess)


def _backfill_supply(facts: Facts, plan: Quantities, pool: str) -> Iterator[Finding]:
    sold, firm = backfill_gpus(facts, plan, pool), firm_gpus(facts, plan, pool)
    for period in np.flatnonzero(sold > 0.0).tolist():
        scale = sold[period] + firm[period]
        if exceeds(sold[period], firm[period], scale, ABSOLUTE_TOLERANCE_GPUS):
            text = (
                f"{pool}: {number(sold[period])} GPUs sold as backfill, but "
                f"{number(firm[period])} firm committed"
            )
            excess = sold[period] - firm[period]
            yield _period_finding(facts, "backfill_supply", pool, period, text, excess)


def _backfill_depth(facts: Facts, plan: Quantities) -> Iterator[Finding]:
    buyers = {buyer.id: buyer for buyer in facts.scenario.backfill}
    totals = {key: np.zeros(facts.num_periods) for key in buyers}
    for (buyer, pool), gpus in plan.backfill.items():
        totals[buyer] += gpus
        if not facts.buys_from(buyers[buyer], pool):
            text = f"{buyer} does not buy capacity of {pool}"
            yield Finding(
                code="eligibility", key=buyer, period=None, message=text, amount=float(gpus.max())
            )
    for key, sold in totals.items():
        depth = buyers[key].max_gpus
        if depth is not None:
            yield from _above(facts, "backfill_depth", key, sold, np.full(len(sold), depth))


def _draw_limit(facts: Facts, plan: Quantities) -> Iterator[Finding]:
    for offer, use in plan.drawn.items():
        yield from _above(facts, "draw_limit", offer, use, flex_gpus(facts, plan, offer))


def _draw_use(facts: Facts, plan: Quantities, pool: str) -> Iterator[Finding]:
    drawn = drawn_gpus(facts, plan, pool)
    use = campaign_gpus(facts, plan, pool)
    yield from _above(facts, "draw_use", pool, drawn, use)
    shared = drawn - drawn_gpus(facts, plan, pool, single_tenant=True)
    shared_use = use - campaign_gpus(facts, plan, pool, dedicated_only=True)
    yield from _above(facts, "draw_use", pool, np.where(drawn > use, 0.0, shared), shared_use)


def _on_demand_quota(facts: Facts, plan: Quantities) -> Iterator[Finding]:
    for offer, use in plan.on_demand.items():
        peak, window = _peak(facts, use), facts.window_share(offer)
        yield from _closed(facts, offer, peak, window)
        quota = facts.tables.on_demand[offer].max_gpus
        if quota is not None:
            peak = np.where(window > 0.0, peak, 0.0)
            yield from _above(facts, "on_demand_quota", offer, peak, quota * window)


def _spot_depth(facts: Facts, plan: Quantities) -> Iterator[Finding]:
    for key, offer in facts.tables.spot.items():
        use, window = spot_gpus(facts, plan, key), facts.window_share(key)
        yield from _closed(facts, key, use, window)
        depth = offer.max_gpus * offer.availability * window
        yield from _above(facts, "spot_depth", key, np.where(window > 0.0, use, 0.0), depth)


def _closed(facts: Facts, offer: str, use: FloatArray, window: FloatArray) -> Iterator[Finding]:
    """Find use of a metered offer in periods in which it cannot be had at all."""
    for period in np.flatnonzero((window <= 0.0) & (use > ABSOLUTE_TOLERANCE_GPUS)).tolist():
        text = f"{offer}: {number(use[period])} GPUs in use outside its availability window"
        yield _period_finding(facts, "eligibility", offer, period, text, use[period])


def _above(
    facts: Facts, code: str, key: str, use: FloatArray, limit: FloatArray
) -> Iterator[Finding]:
    for period, (value, most) in enumerate(zip(use, limit, strict=True)):
        if exceeds(value, most, abs(value) + abs(most), ABSOLUTE_TOLERANCE_GPUS):
            text = f"{key}: {number(value)} GPUs, at most {number(most)}"
            yield _period_finding(facts, code, key, period, text, value - most)


def _peak(facts: Facts, use: LevelUse) -> FloatArray:
    """Return the most GPUs at any level of each period, shape (T,)."""
    peak = np.zeros(facts.num_periods)
    for (period, _), gpus in use.items():
        peak[period] = max(peak[period], gpus)
    return peak


def _period_finding(
    facts: Facts, code: str, key: str, period: int, text: str, amount: float
) -> Finding:
    day = facts.grid.boundaries[period]
    return Finding(
        code=code, key=key, period=day, message=f"{text}, in the period from {day}", amount=amount
    )
