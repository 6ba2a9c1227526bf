"""Coverage, utilisation and the effective savings rate, by pool and over all."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.analysis.frame import Frame, ratio
from gpuladder.analysis.result import PoolRow
from gpuladder.analysis.usage import total

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpuladder.analysis.ledger import Ledger
    from gpuladder.timegrid import FloatArray


@dataclass(frozen=True, slots=True)
class ListPrice:
    """The on-demand price that use of a pool is measured against.

    Attributes
    ----------
    prices : array, shape (T,)
        Currency per GPU-hour at the start of each period; NaN where there is none.
    base : str
        Whose price it is, or why there is none.
    """

    prices: FloatArray
    base: str


def list_price(frame: Frame, pool_id: str) -> ListPrice:
    """Return a pool's on-demand list price: its own cheapest, else the cheapest of its hardware."""
    hardware = frame.tables.pools[pool_id].hardware
    own = [offer for offer in frame.tables.on_demand.values() if offer.pool == pool_id]
    alike = [
        offer
        for offer in frame.tables.on_demand.values()
        if frame.tables.pools[offer.pool].hardware == hardware
    ]
    offers = own or alike
    if not offers:
        missing = np.full(frame.grid.num_periods, np.nan)
        return ListPrice(missing, f"no on-demand offer for {hardware} to compare with")
    prices = np.fmin.reduce([frame.prices(offer) for offer in offers])
    if own:
        return ListPrice(prices, "on-demand list price of the pool")
    names = ", ".join(sorted({offer.pool for offer in alike}))
    return ListPrice(prices, f"cheapest on-demand list price of {hardware} elsewhere ({names})")


def pool_rows(ledger: Ledger) -> tuple[PoolRow, ...]:
    """Return the commitment ratios of every pool with capacity or use."""
    rows = (_pool_row(ledger, pool) for pool in ledger.pools)
    return tuple(row for row in rows if row.used_gpu_hours > 0.0 or row.committed_gpu_hours > 0.0)


def _pool_row(ledger: Ledger, pool: str) -> PoolRow:
    frame, book = ledger.frame, ledger.pools[pool]
    hours, periods = frame.grid.hours, frame.grid.num_periods
    mine = {key for key in ledger.use.spot if frame.tables.spot[key[1]].pool == pool}
    spot_hours = total((ledger.use.spot[key] for key in mine), periods) * hours
    used = book.used_hours + spot_hours
    listed = list_price(frame, pool)
    busy = used > 0.0
    equivalent: float | None = float(
        (used[busy] * listed.prices[busy] * frame.midpoint_factors[busy]).sum()
    )
    base = listed.base
    if equivalent is None or math.isnan(equivalent):
        equivalent = None
        base = base if base.startswith("no ") else f"{base}: none in part of the horizon"
    holding = book.firm_cost + total(book.flex_cost.values(), periods)
    spot_cost = sum(float(ledger.spot_cost[key].sum()) for key in mine)
    cost = float((holding + book.metered_cost).sum()) + spot_cost
    held_cost = float(book.held_cost.sum())
    committed = float(book.committed_hours.sum())
    committed_used, sold = (
        float(book.committed_used_hours.sum()),
        float(book.backfilled_hours.sum()),
    )
    return PoolRow(
        pool=pool,
        used_gpu_hours=float(used.sum()),
        committed_gpu_hours=committed,
        committed_used_gpu_hours=committed_used,
        backfilled_gpu_hours=sold,
        idle_gpu_hours=float(book.idle_hours.sum()),
        coverage=ratio(committed_used, float(used.sum())),
        utilisation=ratio(committed_used, committed),
        utilisation_with_backfill=ratio(committed_used + sold, committed),
        cost=cost,
        held_cost=held_cost,
        on_demand_cost=equivalent,
        effective_savings_rate=savings_rate(cost + held_cost, equivalent),
        savings_base=base,
    )


def savings_rate(cost: float, on_demand_cost: float | None) -> float | None:
    """Return 1 − cost ÷ the same use at on-demand list price; None without use or price."""
    if on_demand_cost is None:
        return None
    paid = ratio(cost, on_demand_cost)
    return None if paid is None else 1.0 - paid


def on_demand_equivalent(rows: Sequence[PoolRow]) -> tuple[float | None, str]:
    """Return the on-demand cost of all use with its base, or None with the reason."""
    in_use = [row for row in rows if row.used_gpu_hours > 0.0]
    costs = [row.on_demand_cost for row in in_use]
    known = [cost for cost in costs if cost is not None]
    if len(known) < len(costs):
        missing = [row for row in in_use if row.on_demand_cost is None]
        return None, "; ".join(f"{row.pool}: {row.savings_base}" for row in missing)
    bases = {row.savings_base for row in in_use}
    if not in_use:
        return None, "nothing is used"
    if len(bases) == 1:
        return sum(known), bases.pop()
    return sum(known), "; ".join(f"{row.pool}: {row.savings_base}" for row in in_use)
