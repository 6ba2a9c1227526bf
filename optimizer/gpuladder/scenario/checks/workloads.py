"""Workloads that contradict themselves, their campaign or its class; peaks in the wrong unit."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

from gpuladder.errors import Severity
from gpuladder.scenario.checks.context import nearest
from gpuladder.scenario.schema import Campaign, GangCampaign
from gpuladder.scenario.source import RawMap
from gpuladder.scenario.workloads import (
    choices_of,
    limit_hours,
    reference_of,
    refusal,
    size_among,
)
from gpuladder.sizing import derive, sanity, scaling
from gpuladder.sizing.catalogue import is_verified
from gpuladder.sizing.doubts import too_slow
from gpuladder.sizing.memory import holds
from gpuladder.sizing.sheet import workload_problems

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gpuladder.errors import Problem
    from gpuladder.scenario.checks.context import Context
    from gpuladder.scenario.schema import Pool
    from gpuladder.scenario.source import Key
    from gpuladder.scenario.workloads import Sized
    from gpuladder.sizing.machine import Machine
    from gpuladder.sizing.sanity import Where
    from gpuladder.sizing.spec import InvoiceTerms, Workload

_MOST_MULTIPLIER = 10.0
"""Allocated over busy hours: above it less than a tenth of what is paid for would be busy."""


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
    """Yield rows of the invoice's terms that match nothing or say it twice, and per cent."""
    terms = cast("InvoiceTerms | None", context.sections.get("invoice"))
    if terms is None:
        return
    providers = context.values("pools", "provider")
    many = terms.utilisation_multiplier.high
    if many > _MOST_MULTIPLIER:
        yield context.warning(
            "GL-S110",
            ("invoice", "utilisation_multiplier"),
            f"{many:g} is {1 / many:.2g} of the allocated hours busy",
            why="it is allocated over busy hours, and this one looks like a percentage",
            fix=f"for {many:g} % busy write {100 / many:.4g}",
        )
    names = [row.provider for row in terms.providers]
    for index, row in enumerate(terms.providers):
        if row.provider in names[:index]:
            yield context.error(
                "GL-S211",
                ("invoice", "providers", index, "provider"),
                f"the provider `{row.provider}` is written twice",
                why="only the first row would count",
                fix="write all of its terms in one row",
            )
        if row.provider not in providers:
            yield context.warning(
                "GL-S911",
                ("invoice", "providers", index, "provider"),
                f"`{row.provider}` matches no pool{nearest(row.provider, providers)}",
                why="what it says counts for nothing",
                fix=f"one of: {', '.join(sorted(providers))}" if providers else "take it out",
            )


def _workload(
    context: Context, index: int, campaign: Campaign, workload: Workload
) -> Iterator[Problem]:
    path: tuple[Key, ...] = ("campaigns", index, "workload")
    where = context.locations.where
    found = workload_problems(workload, _places(context, path))
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
    yield from _runs(context, path, campaign, workload)
    yield from _said_twice(context, path, campaign, workload)
    yield from _unverified(context, index, campaign, workload)
    if any(problem.severity is Severity.ERROR for problem in found):
        return
    pools = [pool for pool in context.pools.values() if _open(campaign, pool)]
    sized = size_among(workload, kinds, pools)
    if sized is None:
        return
    yield from _memory(context, index, campaign, workload.run.usable_share, sized, pools)
    yield from _scaling(context, index, campaign, workload, sized)
    yield from _reach(context, index, campaign, sized)
    words = sanity.work_in_words(workload.run, sized.reference.id, workload.mfu.expected)
    hours = (sized.hours.fewest, sized.hours.expected, sized.hours.most)
    yield from sanity.stated_hours_problems(
        campaign.gpu_hours, hours, words, where(("campaigns", index, "gpu_hours"))
    )
    if isinstance(campaign, GangCampaign) and workload.run.runs == 1:
        limit = limit_hours(workload, campaign.earliest, campaign.deadline)
        choices, fastest = choices_of(workload, sized, campaign.work, limit)
        if not choices and campaign.gpus == (fastest.gpus,):
            problem = too_slow(campaign.id, fastest, limit)
            yield context.warning(
                problem.code, path, problem.what, why=problem.why, fix=problem.fix
            )


def _places(context: Context, path: tuple[Key, ...]) -> Where:
    """Return where keys of a workload were written; of one that was not, its nearest parent."""

    def where(*keys: str) -> str:
        node: Any = context.locations.root
        for key in path:
            node = node[key]
        found = path
        for key in keys:
            if not isinstance(node, RawMap) or node.get(key) is None:
                break
            node, found = node[key], (*found, key)
        return context.locations.where(found)

    return where


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
            why="the workload counts: none of it is put on spot",
            fix="choose a class with `spot_share_max: 0`, or write `preemption: checkpointed`",
        )
    stated = workload.checkpoints
    if stated.node_mtbf_hours is not None:
        yield from _failures(context, path, campaign, stated.node_mtbf_hours)
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


def _said_twice(
    context: Context, path: tuple[Key, ...], campaign: Campaign, workload: Workload
) -> Iterator[Problem]:
    """Yield lines of a workload that its campaign overrides, or that count for nothing."""
    gang, place, cadence = isinstance(campaign, GangCampaign), workload.placement, workload.cadence
    limit = campaign.max_duration if isinstance(campaign, GangCampaign) else None
    repeat = campaign.repeat
    found: list[tuple[str, object, object, str]] = []
    if workload.time_limit is not None and not gang:
        found.append(("time_limit", workload.time_limit, "small jobs", "only a gang has a limit"))
    elif workload.time_limit is not None and limit != workload.time_limit:
        found.append(("time_limit", workload.time_limit, limit, "`max_duration` counts"))
    if workload.time_limit is not None and gang:
        most = workload.time_limit.days(campaign.earliest)
        window = (campaign.deadline - campaign.earliest).days
        if most > window:
            says = str(workload.time_limit), f"{window} days from `earliest` to `deadline`"
            found.append(("time_limit", *says, "the shorter one counts"))
    if not gang:
        for name in ("scaling", "communication_share"):
            if (value := getattr(workload.run, name)) is not None:
                said = f"{value}".replace(": ", ":")
                found.append((f"run.{name}", said, "small jobs", "only a gang has one size"))
    if cadence is not None and repeat is not None:
        mine, counts = (cadence.every, cadence.count), (repeat.every, repeat.count)
        if mine != counts:
            says = f"every {mine[0]}, {mine[1]} times", f"every {counts[0]}, {counts[1]} times"
            found.append(("cadence", *says, "`repeat` counts"))
    for name, mine_, counts_ in (
        ("hardware", place.hardware, campaign.hardware),
        ("residency", place.residency, campaign.residency),
    ):
        if mine_ is not None and counts_ is not None and set(mine_) != set(counts_):
            says = ", ".join(mine_), ", ".join(counts_)
            found.append((f"placement.{name}", *says, f"the campaign's `{name}` counts"))
    if place.providers is not None and campaign.providers is not None:
        named, chosen = set(place.providers), set(campaign.providers)
        # Verified machines alone leave fewer of those named, which is no contradiction.
        if chosen - named or (named - chosen and not place.verified):
            says = ", ".join(place.providers), ", ".join(campaign.providers)
            found.append(("placement.providers", *says, "the campaign's `providers` counts"))
    for name, mine__, counts__, why in found:
        yield context.warning(
            "GL-S916",
            (*path, *name.split(".")),
            f"{mine__} here, {counts__} in the campaign",
            why=why,
            fix="leave one of the two out",
        )


def _failures(
    context: Context, path: tuple[Key, ...], campaign: Campaign, stated: float
) -> Iterator[Problem]:
    """Yield a failure rate of the workload that the plan does not count."""
    pools = [pool for pool in context.pools.values() if _open(campaign, pool)]
    names = dict.fromkeys(pool.hardware for pool in pools)
    other = [
        f"{kind.id}: {kind.node_mtbf_hours or 'none'}"
        for name in names
        if (kind := context.hardware.get(name)) is not None and kind.node_mtbf_hours != stated
    ]
    if other:
        yield context.warning(
            "GL-S916",
            (*path, "checkpoints", "node_mtbf_hours"),
            f"{stated:g} here, {', '.join(other)} in `hardware`",
            why="the hardware's counts for the plan and the invoice; this one in the sheet alone",
            fix="write it under `hardware`",
        )


def _runs(
    context: Context, path: tuple[Key, ...], campaign: Campaign, workload: Workload
) -> Iterator[Problem]:
    """Yield several runs that would be planned as one: a gang is one run from start to finish."""
    runs = workload.run.runs
    if runs > 1 and isinstance(campaign, GangCampaign):
        yield context.error(
            "GL-S915",
            (*path, "run", "runs"),
            f"`{campaign.id}` is a gang, one run from start to finish, and its workload has {runs}",
            why="lengths, limits and scaling are those of one run",
            fix=f"write `runs: 1` with `cadence: {{every: 2 weeks, count: {runs}}}`, or "
            "`shape: elastic` for runs side by side",
        )


def _memory(
    context: Context,
    index: int,
    campaign: Campaign,
    share: float,
    sized: Sized,
    pools: Sequence[Pool],
) -> Iterator[Problem]:
    """Yield models of which no place holds a copy, each with its arithmetic."""
    need, path = sized.footprint_gb, ("campaigns", index)
    if isinstance(campaign, GangCampaign):
        best = max(sized.admitted, key=lambda each: max(_whole(campaign, each)) * each.memory_gb)
        gpus, where = max(_whole(campaign, best)), "its largest size"
    else:
        best = max(sized.admitted, key=lambda each: each.memory_gb)
        gpus, where = int(campaign.max_gpus), "`max_gpus`"
    most = gpus * best.memory_gb * share
    if not holds(most, need):
        yield context.error(
            "GL-S914",
            path,
            f"`{campaign.id}` needs {need:,.0f} GB for one copy; {gpus:,} × {best.id} of "
            f"{best.memory_gb:g} GB at {share:g} usable, {where}, hold {most:,.0f}",
            why="the model fits nowhere",
            fix=f"allow at least {math.ceil(need / (best.memory_gb * share)):,} GPUs, or "
            "hardware with more memory",
        )
    elif sized.verdict.fabric == "rack" and not any(p.fabric.value == "rack" for p in pools):
        yield context.error(
            "GL-S914",
            path,
            f"`{campaign.id}` needs {need:,.0f} GB and a rack: {sized.verdict.reason}",
            why="no pool where it may run is a rack",
            fix="add a rack pool, or a kind of node that holds it",
        )
    elif not isinstance(campaign, GangCampaign):
        job = campaign.job_gpus or best.gpus_per_node
        holding = job * best.memory_gb * share
        if not holds(holding, need):
            yield context.warning(
                "GL-S914",
                path,
                f"a job of `{campaign.id}` needs {need:,.0f} GB; its {job} × {best.id} hold "
                f"{holding:,.0f}",
                why="one job would not hold a copy of the model",
                fix="raise `job_gpus`",
            )


def _reach(context: Context, index: int, campaign: Campaign, sized: Sized) -> Iterator[Problem]:
    """Yield a coupling that is stated and is not what the workload comes to."""
    stated, comes_to = campaign.coupling.value, sized.verdict.fabric
    if stated != comes_to:
        yield context.warning(
            "GL-S916",
            ("campaigns", index, "coupling"),
            f"`coupling` is {stated}; the workload comes to {comes_to}",
            why=f"{sized.verdict.reason}; the campaign's `coupling` counts",
            fix="leave `coupling` out, or correct `run.communication`",
        )


def _scaling(
    context: Context, index: int, campaign: Campaign, workload: Workload, sized: Sized
) -> Iterator[Problem]:
    """Yield efficiencies of a gang that are stated and are not what its workload comes to."""
    run = workload.run
    if not isinstance(campaign, GangCampaign) or not (run.scaling or run.communication_share):
        return
    first = derive.smallest_size(sized.footprint_gb, sized.admitted, run.usable_share)
    comes_to = scaling.gang_scaling(derive.scale_points(run, first), campaign.gpus)
    other = [
        f"{size:,}: {campaign.scaling.get(size, 1.0):.3g}, not {share:.3g}"
        for size, share in comes_to.items()
        if abs(campaign.scaling.get(size, 1.0) / share - 1.0) > sanity.NEAR
    ]
    if other:
        yield context.warning(
            "GL-S916",
            ("campaigns", index, "scaling"),
            f"`scaling` is another than the workload's: {'; '.join(other)}",
            why="the campaign's `scaling` counts",
            fix="leave one of the two out",
        )


def _unverified(
    context: Context, index: int, campaign: Campaign, workload: Workload
) -> Iterator[Problem]:
    """Yield providers that a campaign names although its workload wants verified machines."""
    if not workload.placement.verified or campaign.providers is None:
        return
    terms = cast("InvoiceTerms | None", context.sections.get("invoice"))
    stated = () if terms is None else terms.providers
    strange = [name for name in campaign.providers if not is_verified(name, stated)]
    if strange:
        yield context.error(
            "GL-S916",
            ("campaigns", index, "providers"),
            f"`providers` names {', '.join(strange)}, and `placement.verified` is true",
            why="nobody has verified their machines, and the campaign would run there",
            fix="take them out, or say under `invoice.providers` that they are verified",
        )


def _whole(campaign: GangCampaign, each: Machine) -> list[int]:
    """Return a gang's sizes in whole nodes; all when none is, which is said elsewhere."""
    return [size for size in campaign.gpus if size % each.gpus_per_node == 0] or list(campaign.gpus)


def _open(campaign: Campaign, pool: Pool) -> bool:
    return refusal(campaign, pool) is None
