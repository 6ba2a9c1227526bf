"""What every part of the translation looks up: indices, dates and discount factors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.economics import discount_factor, goodput
from gpuladder.scenario.expand import CommittedTerm, Expanded, expand
from gpuladder.scenario.schema import (
    Campaign,
    DedicatedOffer,
    Fabric,
    Hardware,
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

    def preemption_class(self, campaign: Campaign) -> PreemptionClass:
        """Return a campaign's preemption-tolerance class."""
        return next(
            c for c in self.scenario.preemption_classes if c.id == campaign.preemption_class
        )

    def committed_in(self, pool: str) -> list[CommittedTerm]:
        """Return the committed offers of a pool."""
        return [offer for offer in self.expanded.committed.values() if offer.pool == pool]

    def has_stable_supply(self, pool: str, *, dedicated: bool) -> bool:
        """Tell whether a pool's stable capacity could ever be more than nothing."""
        committed = self.committed_in(pool)
        held = [item for item in self.scenario.commitments if item.pool == pool]
        if dedicated:
            return any(isinstance(o, DedicatedOffer | OwnedOffer) for o in committed) or any(
                item.kind in DEDICATED_KINDS for item in held
            )
        metered = any(offer.pool == pool for offer in self.expanded.on_demand.values())
        return bool(committed or held or metered)

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
        return goodput(self.preemption_class(campaign), rate * nodes)

    def availability_share(self, offer: OnDemandOffer | SpotOffer) -> FloatArray:
        """Return the share of each period in which a metered offer can be used, shape (T,)."""
        begin = max(offer.available_from or self.grid.start, self.grid.start)
        end = min(offer.available_until or self.grid.end, self.grid.end)
        return self.grid.overlap_share(begin, end)

    def _hardware(self, pool: Pool) -> Hardware:
        return next(item for item in self.scenario.hardware if item.id == pool.hardware)


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
        """Add entries; scalars are spread over the longest argument."""
        row, column, value = np.broadcast_arrays(np.atleast_1d(rows), columns, values)
        self._rows.append(row.astype(np.int64))
        self._columns.append(column.astype(np.int64))
        self._values.append(value.astype(np.float64))

    def matrix(self) -> Sparse:
        """Return the entries as one sparse matrix."""
        if not self._rows:
            return Sparse(
                row=np.zeros(0, np.int64),
                column=np.zeros(0, np.int64),
                value=np.zeros(0, np.float64),
            )
        return Sparse(
            row=np.concatenate(self._rows),
            column=np.concatenate(self._columns),
            value=np.concatenate(self._values),
        )
