"""Who used which committed hours, and what every used and idle hour cost.

The accounting rules, each applied to one pool in one period:

* what flex reservations draw serves campaigns first; of the rest, at each level of demand,
  on-demand serves what was bought and firm committed capacity what remains, evenly for all;
* a used stable GPU-hour costs the same for all: used hours' part of holding cost, and all metered;
* lumps (prepaid shares, setup, purchase, loan, residual value) lie on the hours in the horizon;
* a pool's idle cost is charged by committed GPU-hours used over the horizon; what falls on demand,
  or on nobody, stays unallocated. Held commitments cost nothing here: they are sunk.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.audit.costs import holding_rate, level_average, metered_rate
from gpuladder.audit.facts import Facts, is_flex
from gpuladder.audit.owned import loan_payments, owned_value, paid_at_purchase, valued_on
from gpuladder.audit.supply import (
    backfill_gpus,
    campaign_gpus,
    drawn_gpus,
    firm_gpus,
    flex_gpus,
    held_gpus,
)
from gpuladder.scenario.schema import DedicatedOffer, OwnedOffer

if TYPE_CHECKING:
    from gpuladder.audit.quantities import Lot, Quantities
    from gpuladder.scenario.schema import HeldCommitment
    from gpuladder.timegrid import FloatArray


@dataclass(frozen=True, slots=True)
class PoolBook:
    """GPU-hours and present values of one pool; every array has shape (T,).

    Attributes
    ----------
    used_hours, demand_hours : array
        Stable GPU-hours used by campaigns and demand; by demand alone.
    committed_hours, held_hours : array
        Committed GPU-hours, flex and held ones included; held alone.
    committed_used_hours, sold_hours : array
        Of these, used by campaigns and demand; sold as backfill.
    on_demand_hours : array
        GPU-hours bought on demand.
    used_cost, idle_cost, sold_cost, unused_metered_cost : array
        Where the pool's cost went: used hours, idle hours, backfilled hours, and metered capacity
        in periods in which nothing used the pool.
    held_idle_cost : array
        Idle hours of held commitments at their own price.
    campaigns : dict of str to (array, array)
        Stable GPU-hours of each campaign, and of these on committed capacity.
    """

    used_hours: FloatArray
    demand_hours: FloatArray
    committed_hours: FloatArray
    held_hours: FloatArray
    committed_used_hours: FloatArray
    sold_hours: FloatArray
    on_demand_hours: FloatArray
    used_cost: FloatArray
    idle_cost: FloatArray
    sold_cost: FloatArray
    unused_metered_cost: FloatArray
    held_cost: FloatArray
    held_idle_cost: FloatArray
    campaigns: dict[str, tuple[FloatArray, FloatArray]]

    @property
    def idle_hours(self) -> FloatArray:
        """Committed GPU-hours that nobody used or bought."""
        rest = self.committed_hours - self.committed_used_hours - self.sold_hours
        return np.asarray(np.maximum(rest, 0.0), dtype=np.float64)


def open_books(facts: Facts, plan: Quantities) -> dict[str, PoolBook]:
    """Return the book of every pool."""
    return {pool: _open(facts, plan, pool) for pool in facts.tables.pools}


def lot_value(facts: Facts, lot: Lot) -> FloatArray:
    """Return the present value of an order, laid on the periods it serves, shape (T,)."""
    hours = lot.shares * facts.hours
    shares = hours / max(float(hours.sum()), 1.0)
    if isinstance(lot.offer, OwnedOffer):
        sold = valued_on(facts, lot)
        lump = paid_at_purchase(lot) * facts.factor(lot.start)
        lump += sum(amount * facts.factor(day) for day, amount in loan_payments(lot, sold))
        lump -= owned_value(facts, lot) * facts.factor(sold)
        hourly = lot.gpus * lot.offer.opex_per_gpu_hour
    else:
        rate, upfront = holding_rate(facts, lot), lot.offer.upfront
        lump = upfront * rate * float(hours.sum()) * facts.factor(lot.start)
        hourly = (1.0 - upfront) * rate
        if isinstance(lot.offer, DedicatedOffer) and lot.lots > 0:
            lump += lot.offer.setup_cost * facts.factor(lot.start)
    value: FloatArray = lump * shares + hourly * hours * facts.midpoint_factors
    return value


def held_value(facts: Facts, held: HeldCommitment) -> FloatArray:
    """Return the present value of a held commitment, laid on the periods it serves, shape (T,).

    What was prepaid before the horizon counts by the hour, as if it were paid then; what is due
    after the horizon end counts nothing.
    """
    hours = facts.share(held.start, held.end) * facts.hours
    shares = hours / max(float(hours.sum()), 1.0)
    rate, begin = held.gpus * held.price, facts.grid.start
    lump = sum(
        due.amount * facts.factor(due.on) for due in held.dues if begin <= due.on <= facts.grid.end
    )
    prepaid = held.upfront if held.start >= begin else 0.0
    lump += prepaid * rate * float(hours.sum()) * facts.factor(held.start)
    value: FloatArray = lump * shares + (1.0 - prepaid) * rate * hours * facts.midpoint_factors
    return value


def _open(facts: Facts, plan: Quantities, pool: str) -> PoolBook:
    hours, zero = facts.hours, np.zeros(facts.num_periods)
    lots = [lot for lot in plan.lots if lot.offer.pool == pool]
    held = [item for item in facts.tables.held.values() if item.pool == pool]
    firm, even = firm_gpus(facts, plan, pool), campaign_gpus(facts, plan, pool)
    sold = backfill_gpus(facts, plan, pool)
    drawn = np.minimum(drawn_gpus(facts, plan, pool), even)
    served, firm_part, demand = _serve(facts, plan, pool, firm - sold, even - drawn)
    firm_cost = sum((lot_value(facts, lot) for lot in lots if not is_flex(lot.offer)), zero)
    firm_used_cost = firm_cost * _over(served, firm)
    sold_cost = firm_cost * _over(sold, firm)
    flex_cost, flex_used_cost, flex_held, flex_held_idle = zero, zero, zero, zero
    sleeping = [item for item in held if facts.is_flex_held(item)]
    flexible = [lot.offer.id for lot in lots if is_flex(lot.offer)]
    for key in dict.fromkeys([*flexible, *(str(item.offer) for item in sleeping)]):
        gpus = flex_gpus(facts, plan, key)
        cost = sum((lot_value(facts, lot) for lot in lots if lot.offer.id == key), zero)
        sunk = sum((held_value(facts, item) for item in sleeping if item.offer == key), zero)
        in_use = _over(plan.drawn.get(key, zero), gpus)
        flex_held, flex_cost = flex_held + gpus, flex_cost + cost
        flex_used_cost = flex_used_cost + cost * in_use
        flex_held_idle = flex_held_idle + sunk * (1.0 - in_use)
    on_demand, metered = _metered(facts, plan, pool)
    used = even + demand
    busy = used > 0.0
    firm_held = [item for item in held if not facts.is_flex_held(item)]
    firm_held_cost = sum((held_value(facts, item) for item in firm_held), zero)
    flex_held_cost = sum((held_value(facts, item) for item in sleeping), zero)
    firm_idle = np.maximum(firm_held_cost * _over(firm - served - sold, firm), 0.0)
    return PoolBook(
        used_hours=used * hours,
        demand_hours=demand * hours,
        committed_hours=(firm + flex_held) * hours,
        held_hours=sum((held_gpus(facts, item) for item in firm_held), zero) * hours,
        committed_used_hours=(served + drawn) * hours,
        sold_hours=sold * hours,
        on_demand_hours=on_demand * hours,
        used_cost=firm_used_cost + flex_used_cost + np.where(busy, metered, 0.0),
        idle_cost=firm_cost - firm_used_cost - sold_cost + flex_cost - flex_used_cost,
        sold_cost=sold_cost,
        unused_metered_cost=np.where(busy, 0.0, metered),
        held_cost=firm_held_cost + flex_held_cost,
        held_idle_cost=firm_idle + flex_held_idle,
        campaigns=_campaigns(facts, plan, pool, _over(drawn, even), firm_part),
    )


def _serve(
    facts: Facts, plan: Quantities, pool: str, room: FloatArray, rest: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return GPUs that firm capacity serves, its share of undrawn use, and demand, all averages."""
    served, part, demand = (np.zeros(facts.num_periods) for _ in range(3))
    bought = [use for o, use in plan.on_demand.items() if facts.metered(o).pool == pool]
    for period, levels in enumerate(facts.levels[pool]):
        for level, (gpus, share) in enumerate(levels):
            need = gpus + rest[period]
            metered = sum(use.get((period, level), 0.0) for use in bought)
            on_firm = min(max(need - metered, 0.0), max(room[period], 0.0))
            served[period] += share * on_firm
            demand[period] += share * gpus
            if need > 0.0:
                part[period] += share * on_firm / need
    return served, part, demand


def _metered(facts: Facts, plan: Quantities, pool: str) -> tuple[FloatArray, FloatArray]:
    """Return a pool's average on-demand GPUs, and the present value of all that is metered."""
    gpus, cost = np.zeros(facts.num_periods), np.zeros(facts.num_periods)
    present = facts.hours * facts.midpoint_factors
    for offer, use in plan.on_demand.items():
        if facts.metered(offer).pool == pool:
            average = level_average(facts, pool, use)
            gpus += average
            cost += metered_rate(facts, offer, average) * present
    for key, drawn in plan.drawn.items():
        offer_drawn = facts.tables.committed[key]
        if offer_drawn.pool == pool and not isinstance(offer_drawn, OwnedOffer):
            cost += drawn * (offer_drawn.usage_price or 0.0) * present
    return gpus, cost


def _campaigns(
    facts: Facts, plan: Quantities, pool: str, drawn_part: FloatArray, firm_part: FloatArray
) -> dict[str, tuple[FloatArray, FloatArray]]:
    use: dict[str, FloatArray] = {}
    for (campaign, place), gpus in plan.stable.items():
        if place == pool:
            use[campaign] = use.get(campaign, np.zeros(facts.num_periods)) + gpus
    for run, shares in plan.runs:
        if run.spot_offer is None and run.pool == pool:
            own = use.get(run.campaign, np.zeros(facts.num_periods))
            use[run.campaign] = own + run.gpus * shares
    committed = drawn_part + (1.0 - drawn_part) * firm_part
    return {
        campaign: (gpus * facts.hours, gpus * facts.hours * committed)
        for campaign, gpus in use.items()
    }


def _over(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Return a quotient, 0 where there is nothing to divide by."""
    safe = np.where(whole > 0.0, whole, 1.0)
    return np.where(whole > 0.0, part / safe, 0.0)
