"""What a pool could hold at most: an upper bound, so that a check that fails is surely right."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpuladder.scenario.expand import CommittedTerm, MeteredOffer, term_of
from gpuladder.scenario.schema import Campaign, Fabric, OnDemandOffer, SpotOffer

if TYPE_CHECKING:
    from datetime import date

    from gpuladder.scenario.checks.context import Context
    from gpuladder.timegrid import TimeGrid

DEDICATED_KINDS = ("dedicated", "owned")


@dataclass(frozen=True)
class Place:
    """A pool where a campaign may run, and the most it could have there at any time.

    Attributes
    ----------
    stable_gpus : float
        Committed lots, held commitments and on-demand together; infinite without a limit.
    spot_gpus : float
        The deepest spot offer.
    """

    pool: str
    stable_gpus: float
    spot_gpus: float


def starts(grid: TimeGrid, term: CommittedTerm) -> list[date]:
    """Return the boundaries on which a committed term may start."""
    first = term.lead.after(grid.start)
    if term.available_from is not None:
        first = max(first, term.available_from)
    last = term.available_until
    days = [day for day in grid.boundaries[:-1] if day >= first and (last is None or day <= last)]
    if term.start_every is None:
        return days
    allowed, number = set(), 0
    while (mark := term.start_every.after(grid.anchor, number)) < grid.end:
        index = grid.first_boundary_from(mark)
        if index is not None:
            allowed.add(grid.boundaries[index])
        number += 1
    return [day for day in days if day in allowed]


def usable(offer: MeteredOffer, begin: date, end: date) -> bool:
    """Tell whether a metered offer can be used at some time in ``[begin, end)``."""
    first = begin if offer.available_from is None else max(begin, offer.available_from)
    last = end if offer.available_until is None else min(end, offer.available_until)
    return first < last


def most_lots_gpus(term: CommittedTerm) -> float:
    """Return the most GPUs of a committed term that can be active at once."""
    if term.max_lots is None:
        return math.inf
    return float(term.max_lots * term.lot_gpus) if term.min_lots <= term.max_lots else 0.0


def stable_gpus(
    context: Context, grid: TimeGrid, pool: str, begin: date, end: date, *, dedicated: bool = False
) -> float:
    """Return the most stable GPUs a pool could have at some time in ``[begin, end)``.

    Parameters
    ----------
    dedicated : bool
        Count dedicated and owned capacity only.
    """
    total = 0.0
    for _, term in context.terms:
        if term.pool != pool or (dedicated and term.kind not in DEDICATED_KINDS):  # type: ignore[union-attr]
            continue
        span = term_of(term)
        if any(day < end and span.after(day) > begin for day in starts(grid, term)):
            total += most_lots_gpus(term)
    for _, held in context.held:
        if held.pool == pool and held.start < end and held.end > begin:
            total += held.gpus if not dedicated or held.kind in DEDICATED_KINDS else 0.0
    if not dedicated:
        for _, offer in context.metered:
            if (
                isinstance(offer, OnDemandOffer)
                and offer.pool == pool
                and usable(offer, begin, end)
            ):
                total += math.inf if offer.max_gpus is None else offer.max_gpus
    return total


def spot_gpus(context: Context, pool: str, begin: date, end: date) -> float:
    """Return the depth of the deepest spot offer of a pool that can be used in ``[begin, end)``."""
    return max(
        (
            offer.max_gpus
            for _, offer in context.metered
            if isinstance(offer, SpotOffer) and offer.pool == pool and usable(offer, begin, end)
        ),
        default=0.0,
    )


def filtered(context: Context, campaign: Campaign) -> list[tuple[str, list[str]]]:
    """Return the pools left after each filter of a campaign, as ``(filter, pools)`` in order."""
    pools = list(context.pools.values())
    steps = [("", [pool.id for pool in pools])]
    for name, values in (("pools", campaign.pools), ("providers", campaign.providers)):
        if values is not None:
            key = "id" if name == "pools" else "provider"
            pools = [pool for pool in pools if getattr(pool, key) in values]
            steps.append((f"`{name}`", [pool.id for pool in pools]))
    if campaign.hardware is not None:
        pools = [pool for pool in pools if pool.hardware in campaign.hardware]
        steps.append(("`hardware`", [pool.id for pool in pools]))
    if campaign.residency is not None:
        pools = [pool for pool in pools if set(pool.residency) & set(campaign.residency)]
        steps.append(("`residency`", [pool.id for pool in pools]))
    if campaign.coupling is Fabric.RACK:
        pools = [pool for pool in pools if pool.fabric is Fabric.RACK]
        steps.append(("`coupling: rack`", [pool.id for pool in pools]))
    return steps


def places(context: Context, grid: TimeGrid, campaign: Campaign) -> list[Place]:
    """Return the pools a campaign's filters leave, with what each could hold in its window."""
    begin, end = max(campaign.earliest, grid.start), min(campaign.deadline, grid.end)
    share = campaign.spot_share_max(context.classes[campaign.preemption_class])
    dedicated = campaign.tenancy == "dedicated"
    takes_spot = not dedicated and (share >= 1 if campaign.shape == "gang" else share > 0)
    return [
        Place(
            pool,
            stable_gpus(context, grid, pool, begin, end, dedicated=dedicated),
            spot_gpus(context, pool, begin, end) if takes_spot else 0.0,
        )
        for pool in filtered(context, campaign)[-1][1]
    ]
