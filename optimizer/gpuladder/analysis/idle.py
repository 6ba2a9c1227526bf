"""Gaps: stretches in which a pool's committed capacity stands idle, and what holding it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpuladder.analysis.result import GapRow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpuladder.analysis.ledger import Ledger, PoolLedger
    from gpuladder.timegrid import FloatArray


def gap_rows(ledger: Ledger) -> tuple[GapRow, ...]:
    """Return every gap: per pool, each longest run of consecutive periods with idle capacity."""
    return tuple(
        _gap(ledger, book, first, last)
        for book in ledger.pools.values()
        for first, last in _stretches(book.idle_hours)
    )


def revenue_of(ledger: Ledger, pool: str) -> FloatArray:
    """Return the present value of a pool's backfill sales by period, shape (T,), not above 0."""
    frame, book = ledger.frame, ledger.pools[pool]
    revenue = np.zeros(frame.grid.num_periods)
    for buyer in frame.scenario.backfill:
        if buyer.id in book.use.backfill:
            revenue -= buyer.value * book.use.backfill[buyer.id] * book.hours
    return revenue * frame.midpoint_factors


def _gap(ledger: Ledger, book: PoolLedger, first: int, last: int) -> GapRow:
    """Return the gap of periods ``first`` to ``last - 1``."""

    def over(values: FloatArray) -> float:
        return float(values[first:last].sum())

    idle_cost, held_cost = over(book.idle_cost), over(book.backfilled_cost)
    revenue = over(revenue_of(ledger, book.pool))
    boundaries = ledger.frame.grid.boundaries
    return GapRow(
        pool=book.pool,
        start=boundaries[first],
        end=boundaries[last],
        idle_gpu_hours=over(book.idle_hours),
        idle_cost=idle_cost,
        held_idle_cost=over(book.held_idle_cost),
        backfilled_gpu_hours=over(book.backfilled_hours),
        backfilled_cost=held_cost,
        backfill_revenue=revenue,
        net_cost=idle_cost + held_cost + revenue,
    )


def _stretches(idle: FloatArray) -> Iterator[tuple[int, int]]:
    """Yield the first period and one past the last of each run of periods with idle hours."""
    flags = np.concatenate([[0], (idle > 0.0).astype(np.int64), [0]])
    steps = np.diff(flags)
    starts, ends = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1)
    yield from zip(starts.tolist(), ends.tolist(), strict=True)
