"""What is in the scenario and can never count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuladder.scenario.checks.supply import filtered, starts, usable
from gpuladder.scenario.schema import CommittedOffer, SpotOffer
from gpuladder.scenario.wording import join

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpuladder.errors import Problem
    from gpuladder.scenario.checks.context import Context
    from gpuladder.timegrid import TimeGrid


def check(context: Context) -> Iterator[Problem]:
    """Yield offers that can never be used, spot shares without spot, and odd lots."""
    if context.grid is None:
        return
    yield from _lots(context)
    yield from _never(context, context.grid)
    yield from _no_use(context)
    yield from _no_spot(context)


def _lots(context: Context) -> Iterator[Problem]:
    for index, offer in context.offers:
        if not isinstance(offer, CommittedOffer):
            continue
        path = ("offers", index)
        if offer.max_lots is not None and offer.min_lots > offer.max_lots:
            yield context.error(
                "GL-S507",
                (*path, "min_lots"),
                f"`{offer.id}`: an order has at least {offer.min_lots} lots, and at most "
                f"{offer.max_lots} may be active",
                fix="lower `min_lots` or raise `max_lots`",
            )
        kind = context.hardware_of(offer.pool)
        if kind is not None and offer.lot_gpus % kind.gpus_per_node:
            yield context.warning(
                "GL-S508",
                (*path, "lot_gpus"),
                f"`{offer.id}`: a lot of {offer.lot_gpus} GPUs is not whole nodes of "
                f"{kind.gpus_per_node}",
                why="runs that need whole nodes leave the rest of the last node idle",
                fix="check whether the lot is counted in nodes",
            )


def _never(context: Context, grid: TimeGrid) -> Iterator[Problem]:
    committed: dict[int, bool] = {}
    for index, term in context.terms:
        committed[index] = committed.get(index, False) or bool(starts(grid, term))
    for index, can_start in committed.items():
        if not can_start:
            offer = context.rows["offers"][index]
            yield context.warning(
                "GL-S509",
                ("offers", index),
                f"`{offer.id}` can never start in the horizon {grid.start} to {grid.end}: its lead "
                f"is {offer.lead}"
                + (f", first date {offer.available_from}" if offer.available_from else "")
                + (f", last date {offer.available_until}" if offer.available_until else "")
                + (
                    f", and terms start every {offer.start_every} from {grid.anchor} on"
                    if offer.start_every
                    else ""
                ),
                fix="check "
                + ("`start_every`, " if offer.start_every else "")
                + "the lead and the dates, or take it out",
            )
    for index, metered in context.metered:
        if not usable(metered, grid.start, grid.end):
            yield context.warning(
                "GL-S509",
                ("offers", index),
                f"`{metered.id}` can never be used in the horizon {grid.start} to {grid.end}",
                fix="check `available_from` and `available_until`, or take it out",
            )


def _no_use(context: Context) -> Iterator[Problem]:
    wanted = {row.pool for _, row in context.demand}
    for _, campaign in context.campaigns:
        allowed = filtered(context, campaign)[-1][1]
        if not allowed:
            return  # said already, and the offers may be meant for this one
        wanted.update(allowed)
    for _, buyer in context.backfill:
        wanted.update(
            pool.id
            for pool in context.pools.values()
            if (buyer.pools is None or pool.id in buyer.pools)
            and (buyer.hardware is None or pool.hardware in buyer.hardware)
        )
    idle: dict[str, list[tuple[int, str]]] = {}
    for index, offer in context.offers:
        if offer.pool not in wanted:
            idle.setdefault(offer.pool, []).append((index, offer.id))
    for pool, offers in idle.items():
        yield context.warning(
            "GL-S510",
            ("offers", offers[0][0], "pool"),
            f"no campaign, demand or buyer can use the pool `{pool}`, so its offers never count: "
            f"{join([name for _, name in offers])}",
            fix="check the filters of the campaigns, or take the offers out",
        )


def _no_spot(context: Context) -> Iterator[Problem]:
    if any(isinstance(offer, SpotOffer) and offer.max_gpus > 0 for _, offer in context.offers):
        return
    used = {
        campaign.preemption_class
        for _, campaign in context.campaigns
        if campaign.workload is None or campaign.workload.preemption != "never"
    }
    classes = [
        (index, each)
        for index, each in context.table("preemption_classes")
        if each.spot_share_max > 0 and each.id in used
    ]
    if classes:
        index = classes[0][0]
        yield context.warning(
            "GL-S408",
            ("preemption_classes", index, "spot_share_max"),
            f"{join([f'`{each.id}`' for _, each in classes])} may run on spot, and no spot is "
            "on offer",
            fix="add one, or set the share to 0",
        )
