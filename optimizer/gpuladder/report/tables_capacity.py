"""Tables of capacity against its use: by period, by pool and period, idle gaps and ratios."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

from gpuladder.report.fields import (
    Field,
    day,
    gpu_hours,
    gpus,
    money,
    number,
    optional,
    share,
    tabulate,
    text,
)
from gpuladder.report.labels import title

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date

    from gpuladder.analysis.result import CapacityRow, Result
    from gpuladder.report.table import Cell, Table

_CAPACITY = (
    text("pool", "Pool"),
    day("period_start", "Period from"),
    day("period_end", "Period to"),
    number("hours", "Length", "hours"),
    optional(gpus("held_gpus", "Held", "Commitments held before the horizon.")),
    optional(gpus("owned_gpus", "Owned")),
    optional(gpus("dedicated_gpus", "Dedicated")),
    optional(gpus("reserved_gpus", "Reserved")),
    optional(gpus("burst_window_gpus", "Burst window")),
    optional(gpus("flex_gpus", "Flex held", "Held under flex reservations; usable only as drawn.")),
    optional(gpus("drawn_gpus", "Flex drawn")),
    optional(gpus("on_demand_gpus", "On demand")),
    optional(gpus("spot_gpus", "Spot")),
    gpus("campaign_gpus", "Used by campaigns", "Stable capacity; spot use is in its own column."),
    optional(gpus("demand_gpus", "Used by demand", "Average of the demand series.")),
    optional(gpus("demand_peak_gpus", "Demand peak", "Highest level of the demand series.")),
    optional(gpus("backfill_gpus", "Backfill", "Idle committed capacity sold.")),
    gpus("idle_gpus", "Idle", "Committed, and used by no campaign, demand or backfill."),
)

TOTAL_KINDS = {
    "held_gpus": "held",
    "owned_gpus": "owned",
    "dedicated_gpus": "dedicated",
    "reserved_gpus": "reserved",
    "burst_window_gpus": "burst_window",
    "flex_gpus": "flex",
    "on_demand_gpus": "on_demand",
    "spot_gpus": "spot",
}
"""Columns of capacity that stack up to all capacity, with their kind."""

_GAPS = (
    text("pool", "Pool"),
    day("start", "From"),
    day("end", "To"),
    gpu_hours("idle_gpu_hours", "Idle", "Used by no campaign, demand or backfill."),
    money("idle_cost", "Idle cost", "Present value of holding them; held commitments at 0 (sunk)."),
    optional(money("held_idle_cost", "Idle cost, held", "Present value at the held price; sunk.")),
    optional(gpu_hours("backfilled_gpu_hours", "Backfilled")),
    optional(
        money("backfilled_cost", "Cost of backfilled", "Present value of holding the hours sold.")
    ),
    optional(money("backfill_revenue", "Backfill revenue", "Present value; zero or negative.")),
    money("net_cost", "Net cost", "Idle cost, cost of backfilled hours, less revenue."),
)

_POOLS = (
    text("pool", "Pool"),
    gpu_hours("used_gpu_hours", "Used", "By campaigns and demand, spot included."),
    gpu_hours("committed_gpu_hours", "Committed", "Held included."),
    gpu_hours("committed_used_gpu_hours", "Committed and used"),
    gpu_hours("backfilled_gpu_hours", "Backfilled"),
    gpu_hours("idle_gpu_hours", "Idle"),
    share("coverage", "Coverage", "Committed GPU-hours used ÷ all GPU-hours used."),
    share("utilisation", "Utilisation", "Committed GPU-hours used ÷ committed GPU-hours."),
    optional(
        share(
            "utilisation_with_backfill", "With backfill", "Utilisation, backfilled hours as used."
        )
    ),
    money("cost", "Cost", "Present value; held commitments not included."),
    money("held_cost", "Held cost", "Present value; sunk."),
    money("on_demand_cost", "Same use on demand", "Present value at on-demand list price."),
    share("effective_savings_rate", "Savings rate", "1 − (cost + held cost) ÷ same use on demand."),
    text("savings_base", "Measured against"),
)


def capacity_by_pool(result: Result) -> Table:
    """Return capacity by kind and its use, by pool and period."""
    return tabulate(
        "capacity",
        "Capacity and use by pool and period",
        _CAPACITY,
        result.tables.capacity,
        currency=result.scenario.currency,
        note="Averages over each period.",
    )


def capacity_total(result: Result) -> Table:
    """Return capacity by kind and its use, all pools together, by period."""
    periods: dict[tuple[date, date], list[CapacityRow]] = defaultdict(list)
    for row in result.tables.capacity:
        periods[row.period_start, row.period_end].append(row)
    return tabulate(
        "capacity_total",
        "Capacity and demand by period, all pools",
        _TOTAL,
        [_Total(span, rows) for span, rows in sorted(periods.items())],
        currency=result.scenario.currency,
        note="GPUs, averages over each period. In use: campaigns (spot included) and demand.",
    )


def idle(result: Result) -> Table:
    """Return the gaps in which committed capacity had no own work."""
    return tabulate(
        "idle",
        "Idle: what the gaps cost",
        _GAPS,
        result.tables.gaps,
        currency=result.scenario.currency,
        note="A gap is a longest run of periods with idle or backfilled capacity in one pool. "
        "Present values.",
    )


def pools(result: Result) -> Table:
    """Return coverage, utilisation and savings by pool."""
    return tabulate(
        "pools",
        "Coverage, utilisation and savings by pool",
        _POOLS,
        result.tables.pools,
        currency=result.scenario.currency,
    )


class _Total:
    """The sums of all pools in one period."""

    def __init__(self, span: tuple[date, date], rows: Iterable[CapacityRow]) -> None:
        self.period_start, self.period_end = span
        self.rows = tuple(rows)

    def sum(self, *keys: str) -> float:
        """Return the sum of some columns over all pools."""
        return math.fsum(getattr(row, key) for row in self.rows for key in keys)


def _total(key: str, words: str, *parts: str, note: str = "") -> Field:
    def read(row: _Total) -> Cell:
        return row.sum(*parts)

    return gpus(key, words, note, read=read)


_TOTAL = (
    day("period_start", "Period from"),
    day("period_end", "Period to"),
    *(optional(_total(key, title(kind), key)) for key, kind in TOTAL_KINDS.items()),
    _total("capacity_gpus", "All capacity", *TOTAL_KINDS),
    _total("in_use_gpus", "In use", "campaign_gpus", "spot_gpus", "demand_gpus"),
    optional(_total("backfill_gpus", "Backfill", "backfill_gpus")),
    _total("idle_gpus", "Idle", "idle_gpus"),
)
