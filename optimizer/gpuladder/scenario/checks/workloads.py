"""Workloads that contradict themselves, their campaign or its class; peaks in the wrong unit."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from gpuladder.errors import Severity
from gpuladder.scenario.checks.context import nearest
from gpuladder.scenario.schema import Campaign, GangCampaign, OwnedOffer
from gpuladder.scenario.workloads import choices_of, limit_hours, reference_of, size_among
from gpuladder.sizing import sanity
from gpuladder.sizing.sheet import too_slow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpuladder.errors import Problem
    from gpuladder.scenario.checks.context import Context
    from gpuladder.scenario.source import Key
    from gpuladder.sizing.spec import InvoiceTerms, Workload


def check(context: Context) -> Iterator[Problem]:
    """Yield what is wrong or doubtful about workloads and the peaks they are divided by."""
    for index, kind in context.table("hardware"):
        where = context.locations.where(("hardware", index, "peak_tflops"))
        yield from sanity.peak_problems(kind.id, kind.peak_tflops, where)
    for index, campaign in context.campaigns:
        if campaign.workload is not None:
            yield from _workload(context, index, campaign, campaign.workload)
    yield from _invoice(context)


def _invoice(context: Context) -> Iterator[Problem]:
    """Yield rows of the invoice's terms that match nothing in the scenario."""
    terms = cast("InvoiceTerms | None", context.sections.get("invoice"))
    if terms is None:
        return
    providers = context.values("pools", "provider")
    owned = {offer.id for _, offer in context.offers if isinstance(offer, OwnedOffer)}
    named: list[tuple[str, int, str, str, set[str]]] = [
        ("providers", index, "provider", row.provider, providers)
        for index, row in enumerate(terms.providers)
    ]
    named += [("owned", index, "offer", row.offer, owned) for index, row in enumerate(terms.owned)]
    for table, index, key, name, known in named:
        if name not in known:
            yield context.warning(
                "GL-S911",
                ("invoice", table, index, key),
                f"`{name}` matches no {'pool' if table == 'providers' else 'owned offer'}"
                f"{nearest(name, known)}",
                why="what it says counts for nothing",
                fix=f"one of: {', '.join(sorted(known))}" if known else "take it out",
            )


def _workload(
    context: Context, index: int, campaign: Campaign, workload: Workload
) -> Iterator[Problem]:
    path: tuple[Key, ...] = ("campaigns", index, "workload")
    where = context.locations.where
    found = [
        *sanity.mfu_problems(workload.mfu, where((*path, "mfu"))),
        *sanity.run_problems(workload.run, where((*path, "run"))),
    ]
    yield from found
    kinds = tuple(context.hardware.values())
    if reference_of(workload, kinds) is None and kinds:
        yield context.error(
            "GL-S901",
            (*path, "mfu", "hardware"),
            f"unknown hardware `{workload.mfu.hardware}`",
            why="the MFU is a share of that hardware's peak",
            fix=f"one of: {', '.join(context.hardware)}",
        )
        return
    yield from _class(context, path, campaign, workload)
    if any(problem.severity is Severity.ERROR for problem in found):
        return
    pools = [pool for pool in context.pools.values() if _open(campaign, pool.hardware)]
    sized = size_among(workload, kinds, pools)
    if sized is None:
        return
    words = sanity.work_in_words(workload.run, sized.reference.id, workload.mfu.expected)
    hours = (sized.hours.fewest, sized.hours.expected, sized.hours.most)
    yield from sanity.stated_hours_problems(
        campaign.gpu_hours, hours, words, where(("campaigns", index, "gpu_hours"))
    )
    if isinstance(campaign, GangCampaign):
        limit = limit_hours(workload, campaign.earliest, campaign.deadline)
        choices, fastest = choices_of(workload, sized, campaign.work, limit)
        if not choices and campaign.gpus == (fastest.gpus,):
            problem = too_slow(campaign.id, fastest, limit)
            yield context.warning(
                problem.code, path, problem.what, why=problem.why, fix=problem.fix
            )


def _class(
    context: Context, path: tuple[Key, ...], campaign: Campaign, workload: Workload
) -> Iterator[Problem]:
    each = context.classes.get(campaign.preemption_class)
    if each is None:
        return
    if workload.preemption == "never" and each.spot_share_max > 0:
        yield context.warning(
            "GL-S910",
            (*path, "preemption"),
            f"the workload must not be stopped, and `{each.id}` lets {each.spot_share_max:.0%} of "
            "it run on spot",
            why="the class counts: capacity can be taken back in the middle of a run",
            fix="choose a class with `spot_share_max: 0`",
        )
    stated = workload.checkpoints
    for name, mine, counts in (
        ("write_minutes", stated.write_minutes, each.checkpoint_minutes),
        ("restart_minutes", stated.restart_minutes, each.restart_minutes),
        ("interval_minutes", stated.interval_minutes, each.checkpoint_interval_minutes),
    ):
        if mine is not None and mine != counts:
            yield context.warning(
                "GL-S910",
                (*path, "checkpoints", name),
                f"{mine} here, {counts} in `{each.id}`",
                why="the class counts for the plan",
                fix="leave it out here, or give the campaign a class of its own",
            )


def _open(campaign: Campaign, hardware: str) -> bool:
    return campaign.hardware is None or hardware in campaign.hardware
