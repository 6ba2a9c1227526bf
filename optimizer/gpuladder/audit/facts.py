"""What the scenario says, looked up and computed the auditor's own way."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.audit.goodput import goodput
from gpuladder.scenario.expand import CommittedTerm, Expanded, expand, term_of
from gpuladder.scenario.schema import (
    BackfillBuyer,
    BurstWindowOffer,
    Campaign,
    DedicatedOffer,
    ElasticCampaign,
    Fabric,
    GangCampaign,
    Hardware,
    HeldCommitment,
    OwnedOffer,
    PreemptionClass,
    PricedOffer,
    ReservedOffer,
    Scenario,
    SpotOffer,
)

if TYPE_CHECKING:
    from gpuladder.timegrid import FloatArray, TimeGrid

DAYS_PER_YEAR = 365.0
MINUTES_PER_HOUR = 60.0

Level = tuple[float, float]
"""Demand in GPUs, and the share of the period's rows at it."""


@dataclass(frozen=True)
class Facts:
    """A scenario with everything the checks look up."""

    scenario: Scenario
    tables: Expanded

    @classmethod
    def of(cls, scenario: Scenario) -> Facts:
        """Expand a scenario."""
        return cls(scenario, expand(scenario))

    @property
    def grid(self) -> TimeGrid:
        """The period grid."""
        return self.tables.grid

    @property
    def num_periods(self) -> int:
        """Number of periods, T."""
        return self.grid.num_periods

    @cached_property
    def hours(self) -> FloatArray:
        """Length of each period in hours, shape (T,)."""
        days = [
            (end - begin).days
            for begin, end in zip(self.grid.boundaries, self.grid.boundaries[1:], strict=False)
        ]
        return np.asarray(days, dtype=np.float64) * 24.0

    @cached_property
    def period_of(self) -> dict[date, int]:
        """Index of each period by its first day."""
        return {day: index for index, day in enumerate(self.grid.boundaries[:-1])}

    @cached_property
    def midpoint_factors(self) -> FloatArray:
        """Discount factor at the middle of each period, shape (T,)."""
        days = [
            ((begin - self.grid.start).days + (end - self.grid.start).days) / 2
            for begin, end in zip(self.grid.boundaries, self.grid.boundaries[1:], strict=False)
        ]
        return np.asarray([self._factor(item) for item in days])

    def factor(self, day: date) -> float:
        """Return the discount factor of a date: ``(1 + r) ** (-days / 365)``."""
        return self._factor((day - self.grid.start).days)

    def _factor(self, days: float) -> float:
        return float((1.0 + self.scenario.discount_rate) ** (-days / DAYS_PER_YEAR))

    def share(self, begin: date, end: date) -> FloatArray:
        """Return the share of each period that lies in ``[begin, end)``, shape (T,)."""
        covered = self.hours_between(_days(self, begin) * 24.0, _days(self, end) * 24.0)
        return np.asarray(covered / self.hours, dtype=np.float64)

    def hours_between(self, begin_hour: float, end_hour: float) -> FloatArray:
        """Return the hours of ``[begin_hour, end_hour)`` in each period, shape (T,)."""
        edges = self._edges
        covered = np.minimum(edges[1:], end_hour) - np.maximum(edges[:-1], begin_hour)
        return np.asarray(np.maximum(covered, 0.0), dtype=np.float64)

    @cached_property
    def _edges(self) -> FloatArray:
        return np.concatenate(([0.0], np.cumsum(self.hours)))

    def window_share(self, offer_id: str) -> FloatArray:
        """Return the share of each period in which a metered offer can be had, shape (T,)."""
        offer = self.metered(offer_id)
        begin = offer.available_from or self.grid.start
        end = offer.available_until or self.grid.end
        return self.share(begin, end)

    def metered(self, offer_id: str) -> PricedOffer:
        """Return an on-demand or spot offer."""
        if offer_id in self.tables.on_demand:
            return self.tables.on_demand[offer_id]
        return self.tables.spot[offer_id]

    def metered_prices(self, offer_id: str) -> FloatArray:
        """Return a metered offer's price at the start of each period, shape (T,)."""
        offer = self.metered(offer_id)
        return np.asarray([self.price(offer, day) for day in self.grid.boundaries[:-1]])

    def price(self, offer: PricedOffer, day: date) -> float:
        """Return the price of a GPU-hour on a date: the last step reached, or the moving price."""
        reached = [step for step in offer.price_path if step.from_date <= day]
        if reached:
            return max(reached, key=lambda step: step.from_date).price
        base = getattr(offer, "price", None)
        if base is None:
            return math.nan
        growth = (1.0 + offer.price_change_per_year) ** (_days(self, day) / DAYS_PER_YEAR)
        return float(base * growth)

    @cached_property
    def levels(self) -> dict[str, list[tuple[Level, ...]]]:
        """Duration curve of every pool and period: distinct demands ascending with their shares."""
        counts: dict[str, dict[int, Counter[float]]] = defaultdict(lambda: defaultdict(Counter))
        starts = np.asarray([day.toordinal() for day in self.grid.boundaries])
        for row in self.scenario.demand:
            day = row.at.date().toordinal()
            if starts[0] <= day < starts[-1]:
                period = int(np.searchsorted(starts, day, side="right")) - 1
                counts[row.pool][period][row.gpus] += 1
        return {
            pool: [_curve(counts[pool][period]) for period in range(self.num_periods)]
            for pool in self.tables.pools
        }

    @cached_property
    def hardware(self) -> dict[str, Hardware]:
        """Hardware by id."""
        return {item.id: item for item in self.scenario.hardware}

    @cached_property
    def classes(self) -> dict[str, PreemptionClass]:
        """Preemption classes by id."""
        return {item.id: item for item in self.scenario.preemption_classes}

    def hardware_of(self, pool_id: str) -> Hardware:
        """Return the hardware of a pool."""
        return self.hardware[self.tables.pools[pool_id].hardware]

    def class_of(self, campaign: Campaign) -> PreemptionClass:
        """Return the preemption class of a campaign."""
        return self.classes[campaign.preemption_class]

    def goodput(self, campaign: Campaign, pool_id: str, nodes: float, spot: str | None) -> float:
        """Return the goodput of a campaign's job of ``nodes`` in a pool, or on its spot offer."""
        hardware, preemption = self.hardware_of(pool_id), self.class_of(campaign)
        rate = _per_hour(hardware.node_mtbf_hours)
        if spot is not None:
            rate += _per_hour(self.tables.spot[spot].node_mtbr_hours)
        interval = preemption.checkpoint_interval_minutes
        return goodput(
            nodes,
            rate,
            preemption.checkpoint_minutes / MINUTES_PER_HOUR,
            preemption.restart_minutes / MINUTES_PER_HOUR,
            interval if interval == "auto" else interval / MINUTES_PER_HOUR,
        )

    def elastic_speed(self, campaign: ElasticCampaign, pool_id: str, spot: str | None) -> float:
        """Return the work that one GPU-hour of an elastic campaign does."""
        hardware = self.hardware_of(pool_id)
        job_gpus = campaign.job_gpus or hardware.gpus_per_node
        nodes = math.ceil(job_gpus / hardware.gpus_per_node)
        return hardware.relative_speed * self.goodput(campaign, pool_id, nodes, spot)

    def gang_hours(self, gang: GangCampaign, pool_id: str, gpus: int, spot: str | None) -> float:
        """Return the wall-clock hours of a gang of a size in a pool, or on its spot offer."""
        hardware = self.hardware_of(pool_id)
        speed = hardware.relative_speed * gang.scaling.get(gpus, 1.0)
        speed *= self.goodput(gang, pool_id, gpus / hardware.gpus_per_node, spot)
        busy = gang.work / (gpus * speed) if speed > 0.0 else math.inf
        return busy / self.gang_availability(spot, gpus)

    def gang_availability(self, spot: str | None, gpus: int) -> float:
        """Return the share of hours in which a spot offer serves a gang; 1 on stable capacity."""
        return 1.0 if spot is None else availability_at(self.tables.spot[spot], gpus)

    def admits(self, campaign: Campaign, pool_id: str) -> bool:
        """Tell whether a campaign may run in a pool at all."""
        pool = self.tables.pools[pool_id]
        return (
            _passes(campaign.pools, pool.id)
            and _passes(campaign.providers, pool.provider)
            and _passes(campaign.hardware, pool.hardware)
            and (campaign.residency is None or bool(set(campaign.residency) & set(pool.residency)))
            and (campaign.coupling is Fabric.NODE or pool.fabric is Fabric.RACK)
        )

    def buys_from(self, buyer: BackfillBuyer, pool_id: str) -> bool:
        """Tell whether a backfill buyer takes capacity of a pool."""
        pool = self.tables.pools[pool_id]
        return _passes(buyer.pools, pool.id) and _passes(buyer.hardware, pool.hardware)

    def is_flex_held(self, held: HeldCommitment) -> bool:
        """Tell whether a held commitment serves only what is drawn, as its offer says."""
        offer = None if held.offer is None else self.tables.committed.get(held.offer)
        return offer is not None and is_flex(offer)

    def counts_in_ladder(self, offer: CommittedTerm, start: date) -> bool:
        """Tell whether a lot's term is long enough for the ladder, both measured from its start."""
        ladder = self.scenario.policy.ladder
        if ladder is None:
            return False
        shortest = ladder.min_tenor or ladder.window
        return term_of(offer).after(start) >= shortest.after(start)


def is_flex(offer: CommittedTerm) -> bool:
    """Tell whether an offer serves only what is drawn."""
    return not isinstance(offer, OwnedOffer) and offer.usage_price is not None


def kind_of(offer: CommittedTerm) -> str:
    """Return the kind of a committed offer as the scenario names it."""
    if isinstance(offer, BurstWindowOffer | ReservedOffer | DedicatedOffer | OwnedOffer):
        return offer.kind
    msg = f"not a committed offer of a known kind: {type(offer).__name__}"
    raise TypeError(msg)


def is_single_tenant(kind: str) -> bool:
    """Tell whether a kind of capacity serves dedicated tenancy."""
    return kind in ("dedicated", "owned")


def availability_at(offer: SpotOffer, gpus: int) -> float:
    """Return a spot offer's availability for a gang: its size, the next listed, or the largest."""
    listed = offer.availability_by_gpus
    if not listed:
        return offer.availability
    at_or_above = [size for size in listed if size >= gpus]
    return listed[min(at_or_above) if at_or_above else max(listed)]


def hour_of(facts: Facts, day: date) -> float:
    """Return hours from the horizon start to a date."""
    return _days(facts, day) * 24.0


def day_after(facts: Facts, hour: float) -> date:
    """Return the date on which an hour since the horizon start falls."""
    return facts.grid.start + timedelta(days=math.floor(hour / 24.0))


def _days(facts: Facts, day: date) -> int:
    return (day - facts.grid.start).days


def _curve(counts: Counter[float]) -> tuple[Level, ...]:
    if not counts:
        return ((0.0, 1.0),)
    rows = sum(counts.values())
    return tuple((gpus, counts[gpus] / rows) for gpus in sorted(counts))


def _passes(allowed: tuple[str, ...] | None, value: str) -> bool:
    return allowed is None or value in allowed


def _per_hour(mean_hours: float | None) -> float:
    return 0.0 if mean_hours is None else 1.0 / mean_hours
