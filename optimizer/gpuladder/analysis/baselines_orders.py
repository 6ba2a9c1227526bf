"""What a team would sign that keeps a pool at a level, or renews what it holds."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.analysis.edits import FixedOrder
from gpuladder.analysis.frame import Frame
from gpuladder.analysis.usage import use_of
from gpuladder.economics import price_at
from gpuladder.scenario.expand import Expanded, expand, term_of
from gpuladder.scenario.schema import DedicatedOffer, ReservedOffer

if TYPE_CHECKING:
    from datetime import date

    from gpuladder.plan import Plan
    from gpuladder.scenario.expand import CommittedTerm
    from gpuladder.scenario.schema import HeldCommitment, LeasedOffer, Scenario
    from gpuladder.timegrid import FloatArray
    from gpuladder_models.data import ProgramData

LOT_TOLERANCE = 1e-6  # a level that is whole lots to within it is those lots


@dataclass(frozen=True)
class Market:
    """A scenario's offers by pool, and when each can start."""

    scenario: Scenario
    tables: Expanded
    starts: dict[str, list[int]]
    """Periods at whose first boundary each committed offer can start, ascending."""

    @classmethod
    def of(cls, scenario: Scenario, data: ProgramData) -> Market:
        """Read the offers and the dates they can start on."""
        starts: dict[str, list[int]] = defaultdict(list)
        for offer, start in zip(
            data.orders.offer.tolist(), data.orders.start.tolist(), strict=True
        ):
            starts[data.labels.committed[offer]].append(start)
        return cls(scenario, expand(scenario), {name: sorted(own) for name, own in starts.items()})

    @property
    def committed(self) -> frozenset[str]:
        """All committed offers, by expanded id."""
        return frozenset(self.tables.committed)

    def of_kinds(self, *kinds: str) -> frozenset[str]:
        """Return the committed offers of some kinds."""
        return frozenset(
            name for name, offer in self.tables.committed.items() if kind_of(offer) in kinds
        )

    def metered_pools(self) -> frozenset[str]:
        """Return the pools that sell on demand."""
        return frozenset(offer.pool for offer in self.tables.on_demand.values())

    def in_pools(self, pools: frozenset[str]) -> frozenset[str]:
        """Return the committed offers of some pools."""
        return frozenset(
            name for name, offer in self.tables.committed.items() if offer.pool in pools
        )

    def standing_offer(self, pool: str) -> LeasedOffer | None:
        """Return a pool's cheapest standing offer by the hour, the longer of two as cheap.

        Standing offers are reserved and dedicated ones without a usage price that can start inside
        the horizon; prices are those of the first date they can start on.
        """
        own = [
            offer
            for name, offer in self.tables.committed.items()
            if isinstance(offer, ReservedOffer | DedicatedOffer)
            and offer.pool == pool
            and offer.usage_price is None
            and self.starts.get(name)
        ]
        return min(own, key=lambda offer: (self._price(offer), -self._days(offer)), default=None)

    def standing_offers(self) -> dict[str, LeasedOffer]:
        """Return the standing offer of each pool that has one."""
        found = {pool: self.standing_offer(pool) for pool in self.tables.pools}
        return {pool: offer for pool, offer in found.items() if offer is not None}

    def standing_price(self, pool: str) -> float | None:
        """Return the price of a pool's standing offer, currency per GPU-hour."""
        offer = self.standing_offer(pool)
        return None if offer is None else self._price(offer)

    def on_demand_price(self, pool: str) -> float | None:
        """Return a pool's lowest on-demand price at the horizon start, currency per GPU-hour."""
        start = self.tables.grid.start
        own = [o for o in self.tables.on_demand.values() if o.pool == pool and o.price is not None]
        return min((price_at(offer, start, start) for offer in own), default=None)

    def _first_day(self, offer: LeasedOffer) -> date:
        return self.tables.grid.boundaries[self.starts[offer.id][0]]

    def _price(self, offer: LeasedOffer) -> float:
        return price_at(offer, self._first_day(offer), self.tables.grid.start)

    def _days(self, offer: LeasedOffer) -> int:
        return term_of(offer).days(self._first_day(offer))


def kind_of(offer: object) -> str:
    """Return the kind of an offer."""
    return str(getattr(offer, "kind", ""))


@dataclass(frozen=True, slots=True)
class PoolLoad:
    """Stable use of one pool over the horizon as levels and their hours, arrays of one length."""

    gpus: FloatArray
    hours: FloatArray

    @property
    def peak(self) -> float:
        """Most GPUs in use at any time."""
        return float(self.gpus.max())

    @property
    def average(self) -> float:
        """GPUs in use on average over the horizon."""
        return float(self.gpus @ self.hours / self.hours.sum())

    def quantile(self, share: float) -> float:
        """Return the smallest level that use stays within for ``share`` of the hours."""
        order = np.argsort(self.gpus, kind="stable")
        covered = np.cumsum(self.hours[order]) / self.hours.sum()
        return float(self.gpus[order][np.searchsorted(covered, share - 1e-12)])


def pool_loads(scenario: Scenario, plan: Plan) -> dict[str, PoolLoad]:
    """Return each pool's stable use under a plan: demand by level, campaigns even over a period."""
    frame = Frame.of(scenario, plan)
    loads: dict[str, PoolLoad] = {}
    for pool, use in use_of(frame).pools.items():
        levels = use.levels
        gpus = levels.demand + use.campaign_gpus()[levels.period]
        loads[pool] = PoolLoad(gpus, levels.share * frame.grid.hours[levels.period])
    return loads


def standing_orders(market: Market, pool: str, level_gpus: float) -> tuple[FixedOrder, ...]:
    """Return the orders that keep a pool at a level of committed GPUs.

    On each date the pool's standing offer can start on, what is missing of the level, after held
    commitments and running terms, is ordered in whole lots, as far as lots are on offer.
    """
    offer = market.standing_offer(pool)
    if offer is None:
        return ()
    orders: list[FixedOrder] = []
    running: list[tuple[date, int]] = []
    for period in market.starts[offer.id]:
        day = market.tables.grid.boundaries[period]
        held = sum(
            item.gpus
            for item in market.scenario.commitments
            if item.pool == pool and item.start <= day < item.end
        )
        lots_running = sum(lots for end, lots in running if end > day)
        missing = level_gpus - held - lots_running * offer.lot_gpus
        lots = _lots(offer, missing, lots_running + _lots_held(market, offer, day))
        if lots:
            orders.append(FixedOrder(offer=offer.id, period=period, lots=lots))
            running.append((term_of(offer).after(day), lots))
    return tuple(orders)


def _lots_held(market: Market, offer: CommittedTerm, day: date) -> int:
    """Return the lots of an offer that are held in a term of it from a date on, at most."""
    end = term_of(offer).after(day)
    gpus = sum(
        item.gpus
        for item in market.scenario.commitments
        if item.offer == offer.id and item.start < end and item.end > day
    )
    return math.ceil(gpus / offer.lot_gpus - LOT_TOLERANCE)


def _lots(offer: CommittedTerm, gpus: float, lots_running: int) -> int:
    """Return whole lots that give ``gpus``, within the offer's minimum and what is on offer."""
    wanted = math.ceil(gpus / offer.lot_gpus - LOT_TOLERANCE)
    if wanted <= 0:
        return 0
    lots = max(wanted, offer.min_lots)
    if offer.max_lots is not None:
        lots = min(lots, offer.max_lots - lots_running)
    return lots if lots >= max(offer.min_lots, 1) else 0


def renewal_orders(market: Market, held: HeldCommitment) -> tuple[FixedOrder, ...] | None:
    """Return the orders that renew a held commitment again and again under its renewal offer.

    None when it names no offer that can start inside the horizon after it ends.
    """
    offer = market.tables.committed.get(held.renewable_as or "")
    if offer is None:
        return None
    grid, orders, free_from = market.tables.grid, [], held.end
    for period in market.starts.get(offer.id, []):
        day = grid.boundaries[period]
        lots = _lots(offer, held.gpus, _lots_held(market, offer, day))
        if day >= free_from and lots:
            orders.append(FixedOrder(offer=offer.id, period=period, lots=lots))
            free_from = term_of(offer).after(day)
    return tuple(orders) or None


def merged(orders: tuple[FixedOrder, ...]) -> tuple[FixedOrder, ...]:
    """Return one order per offer and start."""
    lots: dict[tuple[str, int], int] = defaultdict(int)
    for order in orders:
        lots[order.offer, order.period] += order.lots
    return tuple(
        FixedOrder(offer=offer, period=period, lots=count)
        for (offer, period), count in lots.items()
    )
