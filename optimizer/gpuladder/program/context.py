"""What every part of the translation looks up: indices, dates and discount factors."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.economics import discount_factor, goodput
from gpuladder.scenario.expand import Expanded, expand
from gpuladder.scenario.schema import (
    Campaign,
    DedicatedOffer,
    Fabric,
    Hardware,
    HeldCommitment,
    LeasedOffer,
    OnDemandOffer,
    OwnedOffer,
    Pool,
    PreemptionClass,
    Scenario,
    SpotOffer,
)
from gpuladder_models.data import IntArray, Sparse

if TYPE_CHECKING:
    from datetime import date

    from gpuladder.timegrid import FloatArray, TimeGrid

DEDICATED_KINDS = ("dedicated", "owned")


@dataclass(frozen=True)
class Context:
    """A scenario with its indices and the discount factors of its grid."""

    scenario: Scenario
    expanded: Expanded
    pool_ids: tuple[str, ...]
    midpoint_factor: FloatArray
    """Discount factor at each period's midpoint, shape (T,)."""
    pool_index: dict[str, int] = field(repr=False)

    @property
    def grid(self) -> TimeGrid:
        """The period grid."""
        return self.expanded.grid

    @property
    def num_cells(self) -> int:
        """Pools × periods."""
        return len(self.pool_ids) * self.grid.num_periods

    def cell(self, pool: str, period: int) -> int:
        """Return the index of a pool's cell in a period."""
        return self.pool_index[pool] * self.grid.num_periods + period

    def factor(self, day: date) -> float:
        """Return the discount factor of a date."""
        return discount_factor(self.scenario.discount_rate, (day - self.grid.start).days)

    def is_flex(self, held: HeldCommitment) -> bool:
        """Tell whether a held commitment serves only what is drawn: its offer charges for use."""
        offer = self.expanded.committed.get(held.offer or "")
        return isinstance(offer, LeasedOffer) and offer.usage_price is not None

    def preemption_class(self, campaign: Campaign) -> PreemptionClass:
        """Return a campaign's preemption-tolerance class."""
        return self._preemption_classes[campaign.preemption_class]

    def has_stable_supply(self, pool: str, *, dedicated: bool) -> bool:
        """Tell whether a pool's stable capacity could ever be more than nothing."""
        return pool in (self._dedicated_pools if dedicated else self._stable_pools)

    def admissible_pools(self, campaign: Campaign) -> list[Pool]:
        """Return the pools in which a campaign may run, by its filters and its coupling."""
        return [pool for pool in self.scenario.pools if admits(campaign, pool)]

    def relative_speed(self, pool: Pool) -> float:
        """Return the work of one GPU-hour in a pool, reference GPU-hours."""
        return self._hardware(pool).relative_speed

    def gpus_per_node(self, pool: Pool) -> int:
        """Return the node size of a pool."""
        return self._hardware(pool).gpus_per_node

    def goodput(
        self, campaign: Campaign, pool: Pool, nodes: float, spot: SpotOffer | None
    ) -> float:
        """Return the goodput of a job of ``nodes`` nodes, on a pool or one of its spot offers."""
        mtbf = self._hardware(pool).node_mtbf_hours
        rate = 1.0 / mtbf if mtbf else 0.0
        if spot is not None and spot.node_mtbr_hours:
            rate += 1.0 / spot.node_mtbr_hours
        return _goodput(self.preemption_class(campaign), rate * nodes)

    def superseded(self, pool: str) -> date | None:
        """Return the date from which a pool's hardware is the previous generation."""
        return self._hardware(self.expanded.pools[pool]).superseded

    def availability_share(self, offer: OnDemandOffer | SpotOffer) -> FloatArray:
        """Return the share of each period in which a metered offer can be used, shape (T,)."""
        begin = max(offer.available_from or self.grid.start, self.grid.start)
        end = min(offer.available_until or self.grid.end, self.grid.end)
        return self.grid.overlap_share(begin, end)

    def _hardware(self, pool: Pool) -> Hardware:
        return self._hardware_by_id[pool.hardware]

    @cached_property
    def _preemption_classes(self) -> dict[str, PreemptionClass]:
        return {item.id: item for item in self.scenario.preemption_classes}

    @cached_property
    def _hardware_by_id(self) -> dict[str, Hardware]:
        return {item.id: item for item in self.scenario.hardware}

    @cached_property
    def _stable_pools(self) -> frozenset[str]:
        offers = [*self.expanded.committed.values(), *self.expanded.on_demand.values()]
        return frozenset(item.pool for item in [*offers, *self.scenario.commitments])

    @cached_property
    def _dedicated_pools(self) -> frozenset[str]:
        offers = [
            offer.pool
            for offer in self.expanded.committed.values()
            if isinstance(offer, DedicatedOffer | OwnedOffer)
        ]
        held = [item.pool for item in self.scenario.commitments if item.kind in DEDICATED_KINDS]
        return frozenset(offers + held)


_goodput = lru_cache(maxsize=4096)(goodput)  # many campaigns share a class and a place


def admits(campaign: Campaign, pool: Pool) -> bool:
    """Tell whether a campaign's filters and coupling let it run in a pool."""
    return (
        (campaign.pools is None or pool.id in campaign.pools)
        and (campaign.providers is None or pool.provider in campaign.providers)
        and (campaign.hardware is None or pool.hardware in campaign.hardware)
        and (campaign.residency is None or bool(set(campaign.residency) & set(pool.residency)))
        and (campaign.coupling is Fabric.NODE or pool.fabric is Fabric.RACK)
    )


def make_context(scenario: Scenario) -> Context:
    """Return the context of a scenario."""
    expanded = expand(scenario)
    ids = tuple(expanded.pools)
    factors = [
        discount_factor(scenario.discount_rate, days)
        for days in expanded.grid.midpoint_days.tolist()
    ]
    return Context(
        scenario=scenario,
        expanded=expanded,
        pool_ids=ids,
        midpoint_factor=np.asarray(factors, np.float64),
        pool_index={pool: position for position, pool in enumerate(ids)},
    )


class Entries:
    """Entries of a sparse matrix, collected array by array."""

    def __init__(self) -> None:
        self._rows: list[IntArray] = []
        self._columns: list[IntArray] = []
        self._values: list[FloatArray] = []

    def add(
        self, rows: IntArray | int, columns: IntArray | int, values: FloatArray | float
    ) -> None:
        """Add entries; arrays are of one length, scalars hold for all of it."""
        parts = (rows, columns, values)
        size = next((len(part) for part in parts if isinstance(part, np.ndarray)), 1)
        self._rows.append(_spread(rows, size))
        self._columns.append(_spread(columns, size))
        self._values.append(_spread(values, size))

    def matrix(self) -> Sparse:
        """Return the entries as one sparse matrix."""
        if not self._rows:
            return Sparse(
                row=np.zeros(0, np.int64),
                column=np.zeros(0, np.int64),
                value=np.zeros(0, np.float64),
            )
        return Sparse(
            row=np.concatenate(self._rows).astype(np.int64),
            column=np.concatenate(self._columns).astype(np.int64),
            value=np.concatenate(self._values).astype(np.float64),
        )


def _spread(part: IntArray | FloatArray | float, size: int) -> np.ndarray:
    return part if isinstance(part, np.ndarray) else np.full(size, part)
