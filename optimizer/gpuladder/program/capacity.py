"""Cells, demand levels, metered capacity, flex reservations and backfill."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpuladder.economics import price_at
from gpuladder.program.context import DEDICATED_KINDS, Context, Entries
from gpuladder.program.orders import Term, firm_entries
from gpuladder.scenario.schema import BackfillBuyer, DedicatedOffer, Pool, PricedOffer
from gpuladder_models.data import (
    Backfill,
    BoolArray,
    Cells,
    Flex,
    IntArray,
    Levels,
    OnDemand,
    Spot,
)

if TYPE_CHECKING:
    from gpuladder.timegrid import FloatArray


def held_gpus(context: Context, *, dedicated: bool) -> FloatArray:
    """Return GPUs of held commitments in each cell, averaged over the period, shape (N,).

    Those that serve only what is drawn are left out.
    """
    held = np.zeros(context.num_cells)
    for item in context.scenario.commitments:
        if context.is_flex(item) or (dedicated and item.kind not in DEDICATED_KINDS):
            continue
        first = context.cell(item.pool, 0)
        share = context.grid.overlap_share(item.start, item.end)
        held[first : first + context.grid.num_periods] += item.gpus * share
    return held


def make_cells(
    context: Context, terms: list[Term], loaded: BoolArray, dedicated_tenancy: BoolArray
) -> Cells:
    """Return the cells: pool-major, then period."""
    num_periods, num_pools = context.grid.num_periods, len(context.pool_ids)
    return Cells(
        future=np.zeros(context.num_cells, np.int64),
        pool=np.repeat(np.arange(num_pools), num_periods),
        period=np.tile(np.arange(num_periods), num_pools),
        held=held_gpus(context, dedicated=False),
        held_dedicated=held_gpus(context, dedicated=True),
        hours=np.tile(context.grid.hours, num_pools),
        firm=firm_entries(context, terms, dedicated=False),
        firm_dedicated=firm_entries(context, terms, dedicated=True),
        loaded=loaded,
        dedicated_tenancy=dedicated_tenancy,
    )


def duration_curves(context: Context) -> dict[int, tuple[FloatArray, FloatArray]]:
    """Return the demand duration curve of each cell that has rows: levels ascending, and shares.

    Rows outside the horizon are left out.
    """
    grid, rows = context.grid, context.scenario.demand
    if not rows:
        return {}
    moments = np.array([row.at for row in rows], "datetime64[us]")
    at = (moments - np.datetime64(grid.start)) / np.timedelta64(1, "h")
    inside = (at >= 0) & (at < grid.boundary_hours[-1])
    period = np.searchsorted(grid.boundary_hours, at, side="right") - 1
    first_cell = {pool: context.cell(pool, 0) for pool in context.pool_ids}
    if not inside.any():
        return {}
    cell = np.array([first_cell[row.pool] for row in rows]) + period
    demand = np.array([row.gpus for row in rows], np.float64)
    order = np.argsort(cell[inside], kind="stable")
    numbers, first = np.unique(cell[inside][order], return_index=True)
    curves = {}
    for number, own in zip(
        numbers.tolist(), np.split(demand[inside][order], first[1:]), strict=True
    ):
        levels, counts = np.unique(own, return_counts=True)
        curves[number] = (levels, counts / counts.sum())
    return curves


def make_levels(context: Context, loaded: BoolArray) -> Levels:
    """Return the levels that supply must cover: those with demand, and all of loaded cells."""
    curves = duration_curves(context)
    flat = (np.zeros(1), np.ones(1))
    parts: list[tuple[IntArray, IntArray, FloatArray, FloatArray]] = []
    for number in range(context.num_cells):
        levels, shares = curves.get(number, flat)
        index = np.flatnonzero((levels > 0) | loaded[number])
        parts.append((np.full(len(index), number), index, levels[index], shares[index]))
    cell, index, demand, share = (np.concatenate(side) for side in zip(*parts, strict=True))
    return Levels(
        cell=cell.astype(np.int64), index=index.astype(np.int64), demand=demand, share=share
    )


def level_cost(context: Context, cells: Cells, levels: Levels, chosen: IntArray) -> FloatArray:
    """Return the present value of 1 per GPU-hour for one GPU at each chosen level."""
    cell = levels.cell[chosen]
    return levels.share[chosen] * cells.hours[cell] * context.midpoint_factor[cells.period[cell]]


def make_on_demand(context: Context, cells: Cells, levels: Levels) -> OnDemand:
    """Return on-demand use per offer and level; none where an offer cannot be had."""
    parts: list[tuple[IntArray, IntArray, FloatArray, FloatArray]] = []
    for number, offer in enumerate(context.expanded.on_demand.values()):
        available = context.availability_share(offer)
        quota = np.full(len(available), np.inf)
        if offer.max_gpus is not None:
            quota = offer.max_gpus * available
        pool = context.pool_index[offer.pool]
        period = cells.period[levels.cell]
        useful = (cells.pool[levels.cell] == pool) & (available[period] > 0) & (quota[period] > 0)
        chosen = np.flatnonzero(useful)
        unit = level_cost(context, cells, levels, chosen)
        cost = unit * period_prices(context, offer)[period[chosen]]
        parts.append((np.full(len(chosen), number), chosen, quota[period[chosen]], cost))
    columns = [np.concatenate(side) for side in zip(*parts, strict=True)] if parts else []
    offer_index, level, quota_gpus, cost = columns or [np.zeros(0)] * 4
    return OnDemand(
        offer=offer_index.astype(np.int64),
        level=level.astype(np.int64),
        quota=quota_gpus.astype(np.float64),
        cost=cost.astype(np.float64),
    )


def period_prices(context: Context, offer: PricedOffer) -> FloatArray:
    """Return a metered offer's price at the first boundary of each period, shape (T,)."""
    grid = context.grid
    return np.array([price_at(offer, day, grid.start) for day in grid.boundaries[:-1]], np.float64)


def make_flex(context: Context, terms: list[Term], cells: Cells) -> Flex:
    """Return flex reservations: what lots hold, and where campaigns may draw on them."""
    flex_cell: dict[tuple[int, int], int] = {}
    held = Entries()
    for term in terms:
        if not term.is_flex:
            continue
        periods = np.flatnonzero(term.share)
        rows = [
            flex_cell.setdefault(
                (term.offer_index, context.cell(term.offer.pool, t)), len(flex_cell)
            )
            for t in periods.tolist()
        ]
        held.add(np.array(rows, np.int64), term.number, term.share[periods] * term.offer.lot_gpus)
    standing = _standing_flex(context, flex_cell)
    offer = np.array([key[0] for key in flex_cell], np.int64)
    cell = np.array([key[1] for key in flex_cell], np.int64)
    drawn = np.flatnonzero(cells.loaded[cell])
    offers = list(context.expanded.committed.values())
    usage = np.array([getattr(o, "usage_price", None) or 0.0 for o in offers], np.float64)
    hours = cells.hours[cell[drawn]] * context.midpoint_factor[cells.period[cell[drawn]]]
    is_dedicated = np.array([isinstance(o, DedicatedOffer) for o in offers], np.bool_)
    return Flex(
        offer=offer,
        cell=cell,
        held=held.matrix(),
        standing=np.array([standing.get(key, 0.0) for key in flex_cell], np.float64),
        draw_flex=drawn,
        draw_cost=usage[offer[drawn]] * hours,
        draw_dedicated=is_dedicated[offer[drawn]],
    )


def _standing_flex(
    context: Context, flex_cell: dict[tuple[int, int], int]
) -> dict[tuple[int, int], float]:
    """Return GPUs of held flex reservations by offer and cell; their cells are added to those."""
    standing: dict[tuple[int, int], float] = {}
    numbers = {name: number for number, name in enumerate(context.expanded.committed)}
    for item in context.scenario.commitments:
        if item.offer is None or not context.is_flex(item):
            continue
        share = context.grid.overlap_share(item.start, item.end)
        for period in np.flatnonzero(share).tolist():
            key = (numbers[item.offer], context.cell(item.pool, period))
            flex_cell.setdefault(key, len(flex_cell))
            standing[key] = standing.get(key, 0.0) + item.gpus * float(share[period])
    return standing


def make_spot(context: Context) -> Spot:
    """Return each spot offer in each period in which it can be had."""
    offer_index: list[int] = []
    periods: list[int] = []
    depth: list[float] = []
    for number, offer in enumerate(context.expanded.spot.values()):
        gpus = offer.max_gpus * offer.availability * context.availability_share(offer)
        for period in np.flatnonzero(gpus).tolist():
            offer_index.append(number)
            periods.append(period)
            depth.append(float(gpus[period]))
    return Spot(
        offer=np.array(offer_index, np.int64),
        period=np.array(periods, np.int64),
        future=np.zeros(len(periods), np.int64),
        depth=np.array(depth, np.float64),
    )


def buys_from(buyer: BackfillBuyer, pool: Pool) -> bool:
    """Tell whether a buyer's filters admit a pool."""
    return (buyer.pools is None or pool.id in buyer.pools) and (
        buyer.hardware is None or pool.hardware in buyer.hardware
    )


def make_backfill(context: Context, cells: Cells) -> Backfill:
    """Return sales per buyer and cell, where there can be firm capacity at all."""
    firm = cells.held > 0
    firm[cells.firm.row] = True
    grid = context.grid
    buyer_index: list[int] = []
    sale_cells: list[int] = []
    cost: list[float] = []
    depth_row: list[int] = []
    depth: list[tuple[int, int, float]] = []
    for number, buyer in enumerate(context.scenario.backfill):
        pools = [pool for pool in context.scenario.pools if buys_from(buyer, pool)]
        unit = -buyer.value * grid.hours * context.midpoint_factor
        for period in range(grid.num_periods):
            own = [cell for pool in pools if firm[cell := context.cell(pool.id, period)]]
            if own and buyer.max_gpus is not None:
                depth.append((number, period, buyer.max_gpus))
            for cell in own:
                buyer_index.append(number)
                sale_cells.append(cell)
                cost.append(float(unit[period]))
                depth_row.append(len(depth) - 1 if buyer.max_gpus is not None else -1)
    return Backfill(
        buyer=np.array(buyer_index, np.int64),
        cell=np.array(sale_cells, np.int64),
        cost=np.array(cost, np.float64),
        depth_row=np.array(depth_row, np.int64),
        depth_buyer=np.array([row[0] for row in depth], np.int64),
        depth_period=np.array([row[1] for row in depth], np.int64),
        depth=np.array([row[2] for row in depth], np.float64),
    )
