"""Campaigns that state a workload: what sizing makes of it, written into the campaign.

The numbers are filled in before a row is validated, so everything that reads a scenario - checks,
program, audit, reports - sees a campaign with GPU-hours, and `scenario.resolved.yaml` shows them.
What a row states itself always counts; ``checks.workloads`` compares the two.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from gpuladder.fields import Day
from gpuladder.scenario.schema import Hardware, Pool
from gpuladder.sizing import derive, scaling
from gpuladder.sizing.catalogue import is_verified
from gpuladder.sizing.machine import Machine
from gpuladder.sizing.placement import Verdict, admits
from gpuladder.sizing.spec import InvoiceTerms, Workload

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date

    from gpuladder.scenario.schema import Campaign

HOURS_PER_DAY = 24.0
TABLES_READ = ("hardware", "pools", "invoice")
_Row = TypeVar("_Row", bound=BaseModel)
_DAY: TypeAdapter[date] = TypeAdapter(Day)
_PLACEHOLDERS: dict[str, dict[str, Any]] = {
    "gang": {"gpu_hours": 1.0, "gpus": [1]},
    "elastic": {"gpu_hours": 1.0},
}
"""Stand in where the workload itself is wrong, so that nothing else is reported as missing."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What of a scenario sizing looks at; rows that are wrong are left out."""

    hardware: tuple[Hardware, ...]
    pools: tuple[Pool, ...]
    invoice: InvoiceTerms | None

    @classmethod
    def of(cls, root: Mapping[str, Any]) -> Surroundings:
        """Read them from a raw tree."""
        terms = list(_valid([root.get("invoice")], InvoiceTerms))
        return cls(
            hardware=tuple(_valid(root.get("hardware"), Hardware)),
            pools=tuple(_valid(root.get("pools"), Pool)),
            invoice=terms[0] if terms else None,
        )


@dataclass(frozen=True, slots=True)
class Sized:
    """A workload among the hardware it may run on.

    Attributes
    ----------
    machines : tuple of Machine
        Of the pools it may run in, before the tests of memory and reach.
    admitted : tuple of Machine
        Those that pass the tests.
    reference : Machine
        Hardware on which the MFU was measured.
    hours : Hours
        Reference GPU-hours of all runs over the band of MFU.
    """

    machines: tuple[Machine, ...]
    admitted: tuple[Machine, ...]
    reference: Machine
    hours: derive.Hours
    footprint_gb: float
    verdict: Verdict


def machine(kind: Hardware) -> Machine:
    """Return a scenario's hardware as sizing sees it."""
    return Machine(
        id=kind.id,
        memory_gb=kind.memory_gb,
        gpus_per_node=kind.gpus_per_node,
        peak_tflops=kind.peak_tflops,
        relative_speed=kind.relative_speed,
        node_mtbf_hours=kind.node_mtbf_hours,
    )


def reference_of(workload: Workload, kinds: Sequence[Hardware]) -> Hardware | None:
    """Return the hardware on which the MFU was measured: as named, or the reference hardware.

    None when the named one is unknown or there is none at all.
    """
    name = workload.mfu.hardware
    if name is not None:
        return next((kind for kind in kinds if kind.id == name), None)
    first = kinds[0] if kinds else None
    return next((kind for kind in kinds if kind.relative_speed == 1.0), first)


def size_among(
    workload: Workload, kinds: Sequence[Hardware], pools: Iterable[Pool]
) -> Sized | None:
    """Size a workload among the hardware of pools; None when there is no hardware to judge by."""
    reference = reference_of(workload, kinds) or reference_of(
        workload.model_copy(update={"mfu": workload.mfu.model_copy(update={"hardware": None})}),
        kinds,
    )
    if reference is None:
        return None
    open_pools = list(pools)
    used = {pool.hardware for pool in open_pools}
    machines = tuple(machine(kind) for kind in kinds if kind.id in used) or tuple(
        machine(kind) for kind in kinds
    )
    flops = derive.run_flops(workload.run)
    hours = derive.run_hours(flops, workload.mfu, machine(reference)).times(workload.run.runs)
    footprint = derive.run_footprint(workload.run).total_gb
    verdict = derive.reach(workload.run, footprint, machines)
    admitted = derive.admissible_machines(workload.run, footprint, verdict, machines)
    if verdict.fabric == "rack":
        racks = {pool.hardware for pool in open_pools if pool.fabric.value == "rack"}
        admitted = tuple(each for each in admitted if each.id in racks) or admitted
    return Sized(machines, admitted, machine(reference), hours, footprint, verdict)


def fill_in(row: Mapping[str, Any], around: Surroundings) -> dict[str, Any]:
    """Return a campaign's row with what its workload says where the row says nothing itself.

    Filled in: ``gpu_hours``; ``coupling``, ``hardware``, ``providers`` and ``residency``;
    ``repeat`` from the cadence; for a gang ``gpus``, ``scaling`` and ``max_duration``; for small
    jobs ``job_gpus`` where one node does not hold a job.
    """
    filled = {key: value for key, value in row.items() if value is not None}
    try:
        workload = Workload.model_validate(row["workload"])
    except ValidationError:
        return {**_PLACEHOLDERS.get(str(row.get("shape")), {}), **filled}
    place = workload.placement
    for key, stated in (
        ("hardware", place.hardware),
        ("residency", place.residency),
        ("providers", _providers(workload, around)),
    ):
        if stated is not None:
            filled.setdefault(key, list(stated))
    if workload.cadence is not None:
        cadence = workload.cadence
        filled.setdefault("repeat", {"every": str(cadence.every), "count": cadence.count})
    sized = size_among(workload, around.hardware, _open_pools(filled, around.pools))
    if sized is None:
        return {**_PLACEHOLDERS.get(str(row.get("shape")), {}), **filled}
    filled.setdefault("gpu_hours", sized.hours.expected)
    filled.setdefault("coupling", sized.verdict.fabric)
    if len(sized.admitted) < len(sized.machines):
        filled.setdefault("hardware", [each.id for each in sized.admitted])
    if row.get("shape") == "gang":
        _gang(filled, workload, sized)
    elif row.get("shape") == "elastic":
        _elastic(filled, workload, sized)
    return filled


def refusal(campaign: Campaign, pool: Pool) -> str | None:
    """Return why a campaign may not run in a pool, or None when it may."""
    if campaign.pools is not None and pool.id not in campaign.pools:
        return f"`pools` names {', '.join(campaign.pools)}"
    if campaign.providers is not None and pool.provider not in campaign.providers:
        return f"provider {pool.provider} is not among {', '.join(campaign.providers) or 'none'}"
    if campaign.hardware is not None and pool.hardware not in campaign.hardware:
        return f"hardware {pool.hardware} is not among {', '.join(campaign.hardware)}"
    if campaign.residency is not None and not set(campaign.residency) & set(pool.residency):
        return f"data must sit in {' or '.join(campaign.residency)}"
    if not admits(pool.fabric.value, campaign.coupling.value):
        return "its fabric ends at the node, and the run needs a rack"
    return None


def choices_of(
    workload: Workload, sized: Sized, work_hours: float, limit_hours: float
) -> tuple[tuple[derive.SizeChoice, ...], derive.SizeChoice]:
    """Return the sizes of a gang that keep a time limit, and the fastest that pays."""
    return derive.sizes_by_doubling(
        workload,
        sized.admitted,
        footprint_gb=sized.footprint_gb,
        work_hours=work_hours,
        limit_hours=limit_hours,
    )


def limit_hours(workload: Workload, earliest: date, deadline: date) -> float:
    """Return the longest a run may take: its time limit, and the days it may run in."""
    window = (deadline - earliest).days * HOURS_PER_DAY
    if workload.time_limit is None:
        return window
    return min(window, workload.time_limit.days(earliest) * HOURS_PER_DAY)


def _gang(filled: dict[str, Any], workload: Workload, sized: Sized) -> None:
    if workload.time_limit is not None:
        filled.setdefault("max_duration", str(workload.time_limit))
    if "gpus" not in filled:
        work = _number(filled["gpu_hours"]) * (1.0 + _number(filled.get("waste", 0.0)))
        choices, fastest = choices_of(workload, sized, work, _limit(filled, workload))
        sizes = [choice.gpus for choice in choices or (fastest,)]
        filled["gpus"] = sizes if len(sizes) > 1 else sizes[0]
    run = workload.run
    if "scaling" not in filled and (run.scaling or run.communication_share):
        sizes = filled["gpus"] if isinstance(filled["gpus"], list) else [filled["gpus"]]
        whole = [int(_number(size)) for size in sizes]
        if all(size > 0 for size in whole):
            first = derive.smallest_size(sized.footprint_gb, sized.admitted, run.usable_share)
            points = derive.scale_points(run, first)
            filled["scaling"] = scaling.gang_scaling(points, whole)


def _elastic(filled: dict[str, Any], workload: Workload, sized: Sized) -> None:
    share = workload.run.usable_share
    needed = derive.smallest_size(sized.footprint_gb, sized.admitted, share)
    node = min(each.gpus_per_node for each in sized.admitted)
    if needed > node and needed <= _number(filled.get("max_gpus", 0.0)):
        filled.setdefault("job_gpus", needed)


def _limit(filled: Mapping[str, Any], workload: Workload) -> float:
    try:
        earliest = _DAY.validate_python(filled.get("earliest"))
        deadline = _DAY.validate_python(filled.get("deadline"))
    except ValidationError:
        return math.inf
    return limit_hours(workload, earliest, deadline)


def _providers(workload: Workload, around: Surroundings) -> list[str] | None:
    """Return the providers that placement admits; None when it admits all."""
    stated = workload.placement.providers
    if not workload.placement.verified:
        return None if stated is None else list(stated)
    terms = () if around.invoice is None else around.invoice.providers
    names = stated or tuple(dict.fromkeys(pool.provider for pool in around.pools))
    verified = [name for name in names if is_verified(name, terms)]
    return None if stated is None and len(verified) == len(names) else verified


def _open_pools(filled: Mapping[str, Any], pools: Iterable[Pool]) -> list[Pool]:
    """Return the pools that pass the row's own filters."""

    def among(key: str, value: str) -> bool:
        stated = filled.get(key)
        return not isinstance(stated, list | tuple) or value in map(str, stated)

    wanted = filled.get("residency")
    return [
        pool
        for pool in pools
        if among("pools", pool.id)
        and among("providers", pool.provider)
        and among("hardware", pool.hardware)
        and (not isinstance(wanted, list | tuple) or set(map(str, wanted)) & set(pool.residency))
        and ("coupling" not in filled or admits(pool.fabric.value, _reach(filled["coupling"])))
    ]


def _reach(value: object) -> Any:
    return "rack" if str(value) == "rack" else "node"


def _number(value: object) -> float:
    """Return a raw value as a number; 1 where it is none, which validation will report."""
    try:
        number = float(str(value))
    except ValueError:
        return 1.0
    return number if math.isfinite(number) and number >= 0 else 1.0


def _valid(rows: object, kind: type[_Row]) -> Iterable[_Row]:
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, Mapping):
            content = {key: value for key, value in row.items() if value is not None}
            try:
                yield kind.model_validate(content)
            except ValidationError:
                continue
