"""Campaigns: where they may run, the work of a GPU there, and the modes of gangs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gpuladder.program.capacity import period_prices
from gpuladder.program.context import Context, Entries
from gpuladder.scenario.schema import ElasticCampaign, GangCampaign, Pool, SpotOffer
from gpuladder.timegrid import HOURS_PER_DAY, FloatArray
from gpuladder_models.data import BoolArray, Drops, Elastic, Gangs, IntArray, Spot

HOUR_TOLERANCE = 1e-6  # a run that fills its window exactly must not fall to rounding


def spot_cells(context: Context, spot: Spot) -> IntArray:
    """Return the index of each spot offer in each period, −1 where there is none, shape (S, T)."""
    index = np.full((len(context.expanded.spot), context.grid.num_periods), -1, np.int64)
    index[spot.offer, spot.period] = np.arange(len(spot.offer))
    return index


def spot_unit_cost(context: Context, spot: Spot) -> FloatArray:
    """Return the present value of one GPU of each spot cell over its period, shape (Q,)."""
    prices = [period_prices(context, offer) for offer in context.expanded.spot.values()]
    if not prices:
        return np.zeros(0)
    cost = np.array(prices) * context.grid.hours * context.midpoint_factor
    return np.asarray(cost[spot.offer, spot.period], np.float64)


def elastic_nodes(campaign: ElasticCampaign, gpus_per_node: int) -> int:
    """Return the nodes of one of an elastic campaign's jobs; part of a node is a whole one."""
    return math.ceil((campaign.job_gpus or gpus_per_node) / gpus_per_node)


def make_elastic(context: Context, spot: Spot) -> Elastic:
    """Return elastic campaigns and every place and period in which they may use GPUs."""
    grid = context.grid
    campaigns = list(context.expanded.campaigns.values())
    offers = list(context.expanded.spot.values())
    own = [(k, c) for k, c in enumerate(campaigns) if isinstance(c, ElasticCampaign)]
    index = spot_cells(context, spot)
    stable, on_spot, widths = Entries(), Entries(), Entries()
    shares: list[float] = []
    for instance, (_, campaign) in enumerate(own):
        overlap = grid.overlap_share(campaign.earliest, campaign.deadline)
        periods = np.flatnonzero(overlap)
        hours = grid.hours[periods]
        dedicated = campaign.tenancy == "dedicated"
        share = 0.0 if dedicated else campaign.spot_share_max(context.preemption_class(campaign))
        shares.append(share)
        widths.add(instance, periods, campaign.max_gpus * overlap[periods])
        for pool in context.admissible_pools(campaign):
            nodes = elastic_nodes(campaign, context.gpus_per_node(pool))
            speed = context.relative_speed(pool)
            rate = speed * context.goodput(campaign, pool, nodes, None)
            if rate > 0 and context.has_stable_supply(pool.id, dedicated=dedicated):
                stable.add(instance, context.cell(pool.id, 0) + periods, rate * hours)
            for number, offer in enumerate(offers):
                if share == 0.0 or offer.pool != pool.id:
                    continue
                rate = speed * context.goodput(campaign, pool, nodes, offer)
                cells = index[number, periods]
                usable = (cells >= 0) & (rate > 0)
                on_spot.add(instance, cells[usable], rate * hours[usable])
    use, spot_use, width = stable.matrix(), on_spot.matrix(), widths.matrix()
    dedicated_instance = np.array([c.tenancy == "dedicated" for _, c in own], np.bool_)
    return Elastic(
        campaign=np.array([k for k, _ in own], np.int64),
        future=np.zeros(len(own), np.int64),
        work=np.array([c.work for _, c in own], np.float64),
        stable_instance=use.row,
        stable_cell=use.column,
        stable_work=use.value,
        stable_dedicated=dedicated_instance[use.row],
        spot_instance=spot_use.row,
        spot_cell=spot_use.column,
        spot_work=spot_use.value,
        spot_cost=spot_unit_cost(context, spot)[spot_use.column],
        spot_work_room=np.array(
            [
                s * (c.work + c.done_gpu_hours) - c.done_spot_gpu_hours
                for s, (_, c) in zip(shares, own, strict=True)
            ],
            np.float64,
        ),
        width_instance=width.row,
        width_period=width.column,
        width=width.value,
        spot_share=np.array(shares, np.float64),
    )


@dataclass(frozen=True, slots=True)
class Mode:
    """One way to run a gang."""

    instance: int
    pool: int
    spot: int
    """Spot offer, −1 on stable capacity."""
    gpus: int
    start: int
    hours: float
    share: FloatArray
    """Share of each period in which it runs, shape (T,)."""
    used_gpus: float
    """GPUs in use while it runs: the size, times the availability on spot."""
    is_dedicated: bool


def gang_hours(
    context: Context, campaign: GangCampaign, pool: Pool, size: int, spot: SpotOffer | None
) -> float:
    """Return the wall-clock hours of a run of ``size`` GPUs; infinite when it cannot progress.

    ``D = work / (N · speed · scaling(N) · η(N))``, divided by the availability on spot.
    """
    nodes = size / context.gpus_per_node(pool)
    rate = context.goodput(campaign, pool, nodes, spot)
    rate *= size * context.relative_speed(pool) * campaign.scaling.get(size, 1.0)
    if spot is not None:
        rate *= gang_availability(spot, size)
    return campaign.work / rate if rate > 0 else math.inf


def gang_availability(spot: SpotOffer, size: int) -> float:
    """Return a spot offer's availability for a gang of ``size`` GPUs.

    Of the listed sizes the nearest at or above counts, else the largest.
    """
    if not spot.availability_by_gpus:
        return spot.availability
    listed = sorted(spot.availability_by_gpus)
    return spot.availability_by_gpus[next((n for n in listed if n >= size), listed[-1])]


def gang_starts(context: Context, campaign: GangCampaign, hours: float) -> list[int]:
    """Return the periods at whose first boundary a run of ``hours`` hours may start.

    One that runs already goes on in the first period, and in no other.
    """
    grid = context.grid
    finish = min(grid.hour_of(campaign.deadline), grid.boundary_hours[-1]) + HOUR_TOLERANCE
    starts = []
    days = grid.boundaries[:-1] if campaign.runs_on is None else grid.boundaries[:1]
    for period, day in enumerate(days):
        if day < campaign.earliest or grid.boundary_hours[period] + hours > finish:
            continue
        limit = campaign.max_duration
        if limit is not None and hours > limit.days(day) * HOURS_PER_DAY + HOUR_TOLERANCE:
            continue
        starts.append(period)
    return starts


def list_modes(context: Context, instance: int, campaign: GangCampaign) -> list[Mode]:
    """Return every admissible mode of a gang: whole nodes of a pool, in time, before its limits."""
    grid, modes = context.grid, []
    dedicated = campaign.tenancy == "dedicated"
    most = campaign.spot_share_max(context.preemption_class(campaign))
    full_spot = most == 1.0 and not dedicated
    offers = list(context.expanded.spot.values())
    for pool in context.admissible_pools(campaign):
        places: list[tuple[int, SpotOffer | None]] = []
        if context.has_stable_supply(pool.id, dedicated=dedicated):
            places.append((-1, None))
        if full_spot:
            places += [(number, o) for number, o in enumerate(offers) if o.pool == pool.id]
        for number, offer in places:
            if campaign.runs_on not in (None, pool.id if offer is None else offer.id):
                continue
            for size in sorted(set(campaign.gpus)):
                if size % context.gpus_per_node(pool):
                    continue
                hours = gang_hours(context, campaign, pool, size, offer)
                used = size * (gang_availability(offer, size) if offer else 1.0)
                for start in gang_starts(context, campaign, hours):
                    begin = float(grid.boundary_hours[start])
                    share = grid.overlap_hours(begin, begin + hours) / grid.hours
                    mode = Mode(
                        instance,
                        context.pool_index[pool.id],
                        number,
                        size,
                        start,
                        hours,
                        share,
                        used,
                        dedicated,
                    )
                    modes.append(mode)
    return modes


def make_gangs(context: Context, spot: Spot) -> Gangs:
    """Return gangs with all their modes, what each uses and what its spot use costs."""
    campaigns = list(context.expanded.campaigns.values())
    own = [(k, c) for k, c in enumerate(campaigns) if isinstance(c, GangCampaign)]
    index, unit = spot_cells(context, spot), spot_unit_cost(context, spot)
    modes: list[Mode] = []
    costs: list[float] = []
    stable, on_spot = Entries(), Entries()
    for instance, (_, campaign) in enumerate(own):
        for mode in list_modes(context, instance, campaign):
            periods = np.flatnonzero(mode.share)
            gpus = mode.used_gpus * mode.share[periods]
            if mode.spot < 0:
                first = mode.pool * context.grid.num_periods
                stable.add(first + periods, len(modes), gpus)
                costs.append(0.0)
            else:
                cells = index[mode.spot, periods]
                if cells.min() < 0:  # the offer cannot be had throughout
                    continue
                on_spot.add(cells, len(modes), gpus)
                costs.append(float(gpus @ unit[cells]))
            modes.append(mode)
    return Gangs(
        campaign=np.array([k for k, _ in own], np.int64),
        future=np.zeros(len(own), np.int64),
        work=np.array([c.work for _, c in own], np.float64),
        mode_instance=np.array([m.instance for m in modes], np.int64),
        mode_pool=np.array([m.pool for m in modes], np.int64),
        mode_spot=np.array([m.spot for m in modes], np.int64),
        mode_gpus=np.array([m.gpus for m in modes], np.int64),
        mode_start=np.array([m.start for m in modes], np.int64),
        mode_hours=np.array([m.hours for m in modes], np.float64),
        mode_cost=np.array(costs, np.float64),
        mode_dedicated=np.array([m.is_dedicated for m in modes], np.bool_),
        stable=stable.matrix(),
        spot=on_spot.matrix(),
    )


def make_drops(context: Context, elastic: Elastic, gangs: Gangs) -> Drops:
    """Return the campaigns that may be left undone, and what that costs."""
    campaigns = list(context.expanded.campaigns.values())

    def droppable(instances: np.ndarray) -> list[tuple[int, float]]:
        costs = [(row, campaigns[k].drop_cost) for row, k in enumerate(instances.tolist())]
        return [(row, cost) for row, cost in costs if cost is not None]

    parts, wholes = droppable(elastic.campaign), droppable(gangs.campaign)
    return Drops(
        elastic=np.array([row for row, _ in parts], np.int64),
        elastic_cost=np.array([cost for _, cost in parts], np.float64),
        gang=np.array([row for row, _ in wholes], np.int64),
        gang_cost=np.array([cost for _, cost in wholes], np.float64),
    )


def stable_cells(context: Context, elastic: Elastic, gangs: Gangs) -> tuple[BoolArray, BoolArray]:
    """Return which cells campaigns may load, and which of them with dedicated tenancy."""
    loaded = np.zeros(context.num_cells, np.bool_)
    loaded[elastic.stable_cell] = True
    loaded[gangs.stable.row] = True
    dedicated = np.zeros(context.num_cells, np.bool_)
    dedicated[elastic.stable_cell[elastic.stable_dedicated]] = True
    dedicated[gangs.stable.row[gangs.mode_dedicated[gangs.stable.column]]] = True
    return loaded, dedicated
