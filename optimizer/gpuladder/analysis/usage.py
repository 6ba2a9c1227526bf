"""Who uses what, where and when: GPUs by pool and period, read from the plan."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gpuladder.analysis.frame import Frame, gang_availability
from gpuladder.errors import AuditError, Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gpuladder.plan import MeteredUse, Run
    from gpuladder.timegrid import FloatArray

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Levels:
    """Duration curves of a pool's demand, all periods laid end to end.

    Attributes
    ----------
    first : array of int, shape (T + 1,)
        Position of each period's level 0; one past the last level at the end.
    period : array of int, shape (L,)
        Period of each level.
    demand : array, shape (L,)
        GPUs.
    share : array, shape (L,)
        Share of the period at that level; adds up to 1 in each period.
    """

    first: IntArray
    period: IntArray
    demand: FloatArray
    share: FloatArray

    def mean(self, values: FloatArray) -> FloatArray:
        """Average values given by level over each period, shape (T,)."""
        sums = np.bincount(self.period, self.share * values, minlength=len(self.first) - 1)
        return np.asarray(sums, dtype=np.float64)

    def peak(self) -> FloatArray:
        """Return the highest demand of each period, shape (T,)."""
        return self.demand[self.first[1:] - 1]


@dataclass(frozen=True)
class PoolUse:
    """GPUs in use in one pool.

    Attributes
    ----------
    campaigns : dict of str to array, shape (T,)
        Average GPUs of stable capacity in use by each campaign.
    on_demand : dict of str to array, shape (L,)
        GPUs by offer and level.
    drawn : dict of str to array, shape (T,)
        Average GPUs drawn from each flex reservation; they serve campaigns alone.
    backfill : dict of str to array, shape (T,)
        Average GPUs sold to each buyer.
    """

    pool: str
    levels: Levels
    campaigns: dict[str, FloatArray]
    on_demand: dict[str, FloatArray]
    drawn: dict[str, FloatArray]
    backfill: dict[str, FloatArray]

    def campaign_gpus(self) -> FloatArray:
        """Average GPUs of stable capacity in use by all campaigns, shape (T,)."""
        return total(self.campaigns.values(), len(self.levels.first) - 1)

    def backfill_gpus(self) -> FloatArray:
        """Average GPUs sold to all buyers, shape (T,)."""
        return total(self.backfill.values(), len(self.levels.first) - 1)

    def drawn_gpus(self) -> FloatArray:
        """Average GPUs drawn from all flex reservations, shape (T,)."""
        return total(self.drawn.values(), len(self.levels.first) - 1)


@dataclass(frozen=True)
class Use:
    """All use in the plan.

    Attributes
    ----------
    pools : dict of str to PoolUse
        Every pool of the scenario.
    spot : dict of (campaign, offer) to array, shape (T,)
        Average GPUs in use on spot.
    """

    pools: dict[str, PoolUse]
    spot: dict[tuple[str, str], FloatArray]


def use_of(frame: Frame) -> Use:
    """Read every use of capacity from the plan."""
    periods = frame.grid.num_periods
    index = frame.period_index
    levels = _levels_of(frame)
    stable: dict[str, dict[str, FloatArray]] = defaultdict(dict)
    spot: dict[tuple[str, str], FloatArray] = {}
    sold: dict[str, dict[str, FloatArray]] = defaultdict(dict)
    for item in frame.plan.stable_use:
        row = stable[item.pool].setdefault(item.campaign, np.zeros(periods))
        row[index[item.period]] += item.gpus
    for use in frame.plan.spot_use:
        row = spot.setdefault((use.campaign, use.offer), np.zeros(periods))
        row[index[use.period]] += use.gpus
    for run in frame.plan.runs:
        gpus = run_gpus(frame, run)
        if run.spot_offer is None:
            row = stable[run.pool].setdefault(run.campaign, np.zeros(periods))
        else:
            row = spot.setdefault((run.campaign, run.spot_offer), np.zeros(periods))
        row += gpus
    for sale in frame.plan.backfill:
        row = sold[sale.pool].setdefault(sale.buyer, np.zeros(periods))
        row[index[sale.period]] += sale.gpus
    offer_pool = {offer.id: offer.pool for offer in frame.tables.on_demand.values()}
    term_pool = {offer.id: offer.pool for offer in frame.tables.committed.values()}
    on_demand = _by_level(frame, levels, frame.plan.on_demand, offer_pool)
    drawn: dict[str, dict[str, FloatArray]] = defaultdict(dict)
    for draw in frame.plan.drawn:
        row = drawn[term_pool[draw.offer]].setdefault(draw.offer, np.zeros(periods))
        row[index[draw.period]] += draw.gpus
    return Use(
        pools={
            pool: PoolUse(
                pool=pool,
                levels=levels[pool],
                campaigns=stable[pool],
                on_demand=on_demand[pool],
                drawn=drawn[pool],
                backfill=sold[pool],
            )
            for pool in frame.tables.pools
        },
        spot=spot,
    )


def run_gpus(frame: Frame, run: Run) -> FloatArray:
    """Return a gang's GPUs averaged over each period, shape (T,)."""
    begin = frame.grid.hour_of(run.start)
    share = frame.grid.overlap_hours(begin, begin + run.hours) / frame.grid.hours
    if run.spot_offer is None:
        return run.gpus * share
    return run.gpus * gang_availability(frame.tables.spot[run.spot_offer], run.gpus) * share


def total(arrays: Iterable[FloatArray], length: int) -> FloatArray:
    """Add up arrays of one length; zeros when there are none."""
    result = np.zeros(length)
    for array in arrays:
        result += array
    return result


def _by_level(
    frame: Frame,
    levels: dict[str, Levels],
    records: Iterable[MeteredUse],
    pool_of: dict[str, str],
) -> dict[str, dict[str, FloatArray]]:
    """Lay metered use on the levels of its pool: pool → offer → array, shape (L,)."""
    result: dict[str, dict[str, FloatArray]] = defaultdict(dict)
    for record in records:
        pool = pool_of[record.offer]
        curve = levels[pool]
        row = result[pool].setdefault(record.offer, np.zeros(len(curve.demand)))
        place = curve.first[frame.period_index[record.period]] + record.level
        if record.level < 0 or place >= curve.first[frame.period_index[record.period] + 1]:
            raise AuditError(
                Problem(
                    code="GL-A003",
                    what=f"{record.offer!r} names level {record.level} of {record.period}",
                    why=f"the demand of {pool!r} has no such level in that period",
                    fix="analyse the plan with the scenario it was solved for",
                )
            )
        row[place] += record.gpus
    return result


def _levels_of(frame: Frame) -> dict[str, Levels]:
    """Return the duration curves of every pool; rows outside the horizon are left out."""
    start = datetime.combine(frame.grid.start, time())
    rows: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for row in frame.scenario.demand:
        rows[row.pool][0].append((row.at - start) / timedelta(hours=1))
        rows[row.pool][1].append(row.gpus)
    return {pool: _levels(frame, *rows[pool]) for pool in frame.tables.pools}


def _levels(frame: Frame, at_hours: list[float], gpus: list[float]) -> Levels:
    edges = frame.grid.boundary_hours
    periods = frame.grid.num_periods
    at, value = np.asarray(at_hours, dtype=np.float64), np.asarray(gpus, dtype=np.float64)
    inside = (at >= edges[0]) & (at < edges[-1])
    period = np.searchsorted(edges, at[inside], side="right") - 1
    missing = np.setdiff1d(np.arange(periods), period)
    pairs = np.stack(
        [np.concatenate([period, missing]), np.concatenate([value[inside], np.zeros(len(missing))])]
    )
    distinct, counts = np.unique(pairs, axis=1, return_counts=True)
    owner = distinct[0].astype(np.int64)
    rows = np.bincount(owner, counts, minlength=periods)
    return Levels(
        first=np.searchsorted(owner, np.arange(periods + 1)).astype(np.int64),
        period=owner,
        demand=distinct[1],
        share=counts / rows[owner],
    )
