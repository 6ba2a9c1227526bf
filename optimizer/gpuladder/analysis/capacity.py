"""Capacity against its use, by pool and period."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpuladder.analysis.result import CapacityRow
from gpuladder.analysis.usage import total

if TYPE_CHECKING:
    from gpuladder.analysis.ledger import Ledger

KINDS = ("burst_window", "reserved", "dedicated", "owned")


def capacity_rows(ledger: Ledger) -> tuple[CapacityRow, ...]:
    """Return one row per pool and period, averages in GPUs."""
    return tuple(row for pool in ledger.pools for row in _pool(ledger, pool))


def _pool(ledger: Ledger, pool: str) -> list[CapacityRow]:
    frame, book = ledger.frame, ledger.pools[pool]
    grid, periods, levels = frame.grid, frame.grid.num_periods, book.use.levels
    firm = {
        kind: total(
            (t.gpu_hours for t in book.terms if t.kind == kind and not t.held and not t.flex),
            periods,
        )
        for kind in KINDS
    }
    flex, drawn = total(book.flex_hours.values(), periods), book.use.drawn_gpus()
    spot = total(
        (g for (_, offer), g in ledger.use.spot.items() if frame.tables.spot[offer].pool == pool),
        periods,
    )
    demand, peak = levels.mean(levels.demand), levels.peak()
    campaigns, sold = book.use.campaign_gpus(), book.use.backfill_gpus()
    per_hour = {
        "held_gpus": book.held_hours,
        **{f"{kind}_gpus": firm[kind] for kind in KINDS},
        "flex_gpus": flex,
        "on_demand_gpus": book.metered_hours,
        "committed_used_gpus": book.committed_used_hours,
        "idle_gpus": book.idle_hours,
    }
    columns = {name: np.asarray(values / grid.hours) for name, values in per_hour.items()}
    columns |= {
        "drawn_gpus": drawn,
        "spot_gpus": spot,
        "demand_gpus": demand,
        "demand_peak_gpus": peak,
        "campaign_gpus": campaigns,
        "backfill_gpus": sold,
    }
    return [
        CapacityRow(
            pool=pool,
            period_start=grid.boundaries[period],
            period_end=grid.boundaries[period + 1],
            hours=float(grid.hours[period]),
            **{name: float(values[period]) for name, values in columns.items()},
        )
        for period in range(periods)
    ]
