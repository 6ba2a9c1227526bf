"""Every campaign needs a place, of the right size, with time enough."""

from __future__ import annotations

import itertools
from datetime import date, timedelta
from typing import TYPE_CHECKING

from gpuladder.scenario.checks.supply import Place, filtered, places
from gpuladder.scenario.expand import expand_campaign
from gpuladder.scenario.schema import Campaign, ElasticCampaign, GangCampaign
from gpuladder.scenario.wording import join
from gpuladder.timegrid import HOURS_PER_DAY, TimeGrid

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpuladder.errors import Problem
    from gpuladder.scenario.checks.context import Context
    from gpuladder.scenario.source import Key


def check(context: Context) -> Iterator[Problem]:
    """Yield campaigns that can be done nowhere, at no size, or not in time.

    All bounds are generous (no interruption, every lot on offer bought, the deepest quota), so a
    campaign reported here can certainly not be done. One that may be dropped is only a warning.
    """
    if context.grid is None:
        return
    for index, campaign in context.campaigns:
        for single in expand_campaign(campaign):
            if single.earliest >= context.grid.end or single.deadline <= context.grid.start:
                continue
            problem = _first_problem(context, context.grid, index, single)
            if problem is not None:
                yield problem
                break
        yield from _part_nodes(context, index, campaign)


def _first_problem(
    context: Context, grid: TimeGrid, index: int, campaign: Campaign
) -> Problem | None:
    open_places = [
        place
        for place in places(context, grid, campaign)
        if place.stable_gpus > 0 or place.spot_gpus > 0
    ]
    if not open_places:
        return _no_place(context, index, campaign)
    if isinstance(campaign, ElasticCampaign):
        return _elastic(context, grid, index, campaign, open_places)
    return _gang(context, grid, index, campaign, open_places)


def _report(
    context: Context, campaign: Campaign, code: str, path: tuple[Key, ...], what: str, fix: str
) -> Problem:
    if campaign.drop_cost is None:
        return context.error(code, path, what, why="the campaign is mandatory", fix=fix)
    why = f"it will be dropped, at {campaign.drop_cost:g}"
    return context.warning(code, path, what, why=why, fix=fix)


def _no_place(context: Context, index: int, campaign: Campaign) -> Problem:
    path: tuple[Key, ...] = ("campaigns", index)
    steps = filtered(context, campaign)
    for (_, before), (name, after) in itertools.pairwise(steps):
        if before and not after:
            return _report(
                context,
                campaign,
                "GL-S401",
                (*path, name.strip("`").split(":")[0]),
                f"`{campaign.id}` has no place to run: {name} leaves none of {join(before)}",
                "widen that filter, or add a pool that passes it",
            )
    capacity = "dedicated or owned capacity" if campaign.tenancy == "dedicated" else "capacity"
    share = campaign.spot_share_max(context.classes[campaign.preemption_class])
    spot = "" if share >= 1 or campaign.tenancy == "dedicated" else " (spot alone does not do)"
    return _report(
        context,
        campaign,
        "GL-S401",
        path,
        f"`{campaign.id}` has no place to run: {join(steps[-1][1]) or 'no pool'} can have no "
        f"{capacity} between {campaign.earliest} and {campaign.deadline}{spot}",
        "add an offer there, shorten its lead, or widen the campaign's filters",
    )


def _elastic(
    context: Context,
    grid: TimeGrid,
    index: int,
    campaign: ElasticCampaign,
    open_places: list[Place],
) -> Problem | None:
    best = max(_speed(context, place) for place in open_places)
    hours = float(
        grid.overlap_hours(grid.hour_of(campaign.earliest), grid.hour_of(campaign.deadline)).sum()
    )
    most = campaign.max_gpus * hours * best
    if campaign.work <= most * (1 + 1e-9):
        return None
    needed = campaign.work / (hours * best)
    return _report(
        context,
        campaign,
        "GL-S402",
        ("campaigns", index, "gpu_hours"),
        f"`{campaign.id}` cannot be done in time: {campaign.work:,.0f} GPU-hours of work, and at "
        f"most {most:,.0f} with {campaign.max_gpus:g} GPUs in {hours / HOURS_PER_DAY:.0f} days",
        f"raise `max_gpus` to {needed:,.0f} or more, or move the deadline",
    )


def _gang(
    context: Context,
    grid: TimeGrid,
    index: int,
    campaign: GangCampaign,
    open_places: list[Place],
) -> Problem | None:
    path: tuple[Key, ...] = ("campaigns", index, "gpus")
    sizes = join([str(size) for size in campaign.gpus])
    whole = [
        (place, size)
        for place in open_places
        for size in campaign.gpus
        if size % context.hardware[context.pools[place.pool].hardware].gpus_per_node == 0
    ]
    if not whole:
        nodes = sorted(
            {context.hardware[context.pools[p.pool].hardware].gpus_per_node for p in open_places}
        )
        return _report(
            context,
            campaign,
            "GL-S403",
            path,
            f"`{campaign.id}`: {sizes} GPUs are not whole nodes in any pool where it may run",
            f"use multiples of {join([str(node) for node in nodes])}",
        )
    fitting = [
        (place, size) for place, size in whole if size <= max(place.stable_gpus, place.spot_gpus)
    ]
    if not fitting:
        place, size = max(whole, key=lambda pair: max(pair[0].stable_gpus, pair[0].spot_gpus))
        most = max(place.stable_gpus, place.spot_gpus)
        return _report(
            context,
            campaign,
            "GL-S404",
            path,
            f"`{campaign.id}` needs {min(size for _, size in whole)} GPUs in one place, and the "
            f"largest, `{place.pool}`, could hold {most:g}",
            "offer a smaller size, or raise the quota or `max_lots` there",
        )
    best_hours, place, size = min(
        (
            (
                campaign.work / (size * _speed(context, place) * campaign.scaling.get(size, 1.0)),
                place,
                size,
            )
            for place, size in fitting
        ),
        key=lambda item: (item[0], item[2]),
    )
    if _fits(grid, campaign, best_hours):
        return None
    limit = f" and takes at most {campaign.max_duration}" if campaign.max_duration else ""
    return _report(
        context,
        campaign,
        "GL-S405",
        ("campaigns", index),
        f"`{campaign.id}` cannot be done in time: it takes {best_hours / HOURS_PER_DAY:.1f} days "
        f"at best ({size} GPUs in `{place.pool}`), starts on a period boundary from "
        f"{campaign.earliest}, ends by {min(campaign.deadline, grid.end)}{limit}",
        "move the deadline, raise `max_duration`, or allow a larger size",
    )


def _speed(context: Context, place: Place) -> float:
    return context.hardware[context.pools[place.pool].hardware].relative_speed


def _fits(grid: TimeGrid, campaign: GangCampaign, hours: float) -> bool:
    """Tell whether a run of so many hours fits the window from some boundary."""
    end = min(campaign.deadline, grid.end)
    slack = 1e-6
    return any(
        grid.hour_of(day) + hours <= grid.hour_of(end) + slack
        and hours <= _longest_hours(campaign, day) + slack
        for day in grid.boundaries[:-1]
        if campaign.earliest <= day < end
    )


def _longest_hours(campaign: GangCampaign, start: date) -> float:
    if campaign.max_duration is None:
        return timedelta.max.days * HOURS_PER_DAY
    return campaign.max_duration.days(start) * HOURS_PER_DAY


def _part_nodes(context: Context, index: int, campaign: Campaign) -> Iterator[Problem]:
    """Yield sizes that are whole nodes nowhere, and jobs that leave GPUs of a node idle."""
    pools = filtered(context, campaign)[-1][1]
    nodes = {context.hardware[context.pools[pool].hardware].gpus_per_node for pool in pools}
    if isinstance(campaign, GangCampaign):
        wrong = [size for size in campaign.gpus if all(size % node for node in nodes)]
        if wrong and len(wrong) < len(campaign.gpus):
            yield context.warning(
                "GL-S406",
                ("campaigns", index, "gpus"),
                f"`{campaign.id}`: {join([str(size) for size in wrong])} GPUs are not whole nodes "
                "in any pool where it may run",
                why="these sizes are left out of the choice",
                fix=f"use multiples of {join([str(node) for node in sorted(nodes)])}",
            )
        foreign = sorted(set(campaign.scaling) - set(campaign.gpus))
        if foreign:
            yield context.warning(
                "GL-S407",
                ("campaigns", index, "scaling"),
                f"`{campaign.id}`: `scaling` names sizes that are not in `gpus`: "
                f"{join([str(size) for size in foreign])}",
                fix="add them to `gpus`, or take them out",
            )
    elif campaign.job_gpus is not None:
        job = campaign.job_gpus
        if nodes and all(job > node and job % node for node in nodes):
            yield context.warning(
                "GL-S406",
                ("campaigns", index, "job_gpus"),
                f"`{campaign.id}`: jobs of {job} GPUs are not whole nodes in any pool",
                why="interruptions are counted as if the last node were used fully",
                fix=f"use multiples of {join([str(node) for node in sorted(nodes)])}",
            )
        if job > campaign.max_gpus:
            yield context.warning(
                "GL-S407",
                ("campaigns", index, "job_gpus"),
                f"`{campaign.id}`: a job has {job} GPUs, `max_gpus` is {campaign.max_gpus:g}",
                fix="raise `max_gpus` or lower `job_gpus`",
            )
