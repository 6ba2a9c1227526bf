"""The worked sheet: everything that follows from a workload, step by step."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from gpuladder.errors import Problem, Severity, UsageError
from gpuladder.sizing import derive, sanity, scaling, sheet_steps
from gpuladder.sizing.checkpointing import (
    goodput,
    mean_hours_of_job,
    optimal_interval_hours,
)
from gpuladder.sizing.contracts import (
    RESERVED_RATIO,
    ContractForm,
    contract_forms,
    duty_share,
)
from gpuladder.sizing.memory import USABLE_SHARE, Fit, Footprint, fits, holds

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from gpuladder.sizing.derive import Hours, SizeChoice
    from gpuladder.sizing.machine import Machine
    from gpuladder.sizing.memory import PricedMemory
    from gpuladder.sizing.placement import Verdict
    from gpuladder.sizing.spec import Workload
    from gpuladder.sizing.steps import Step
    from gpuladder.sizing.work import Flops

MINUTES_PER_HOUR = 60.0
HOURS_PER_DAY = 24.0
LEAST_GOODPUT = 1e-6
"""Below it a run is never done: a million hours are paid for one of work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interruptions:
    """How a run is interrupted and comes back.

    Attributes
    ----------
    write_minutes, restart_minutes : float
    interval_minutes : float or None
        None: the interval that maximises goodput.
    node_mtbf_hours : float or None
        None: that of the hardware.
    node_mtbr_hours : float or None
        Mean time between reclaims of a spot node; None when it is not known.
    spot_allowed : bool
        Whether the run may be reclaimed at all.
    """

    write_minutes: float = 5.0
    restart_minutes: float = 15.0
    interval_minutes: float | None = None
    node_mtbf_hours: float | None = None
    node_mtbr_hours: float | None = None
    spot_allowed: bool = True

    @property
    def failures_per_hour(self) -> float:
        """Hardware failures of one node per hour."""
        return 0.0 if self.node_mtbf_hours is None else 1.0 / self.node_mtbf_hours


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceVerdict:
    """One place, whether the campaign may run there, and which test says so."""

    place: str
    admissible: bool
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """What a workload needs, with every step that led there.

    GPU-hours are hours of one GPU of the reference hardware, for all runs of the campaign.
    """

    id: str
    machine: Machine
    """The hardware on which the MFU was measured."""
    place: Machine
    """The hardware on which it runs: the same where it may, else the fastest that it may use."""
    hours: Hours
    run_flops: Flops
    """Of one run."""
    runs: int
    footprint: Footprint
    verdict: Verdict
    fits: tuple[Fit, ...]
    gpus: int
    """GPUs of one run."""
    run_hours: float
    """Length of one run on them, interruptions included."""
    goodput: float
    checkpoint_interval_minutes: float | None
    """None when nothing interrupts, so that no checkpoint is needed."""
    sizes: tuple[SizeChoice, ...]
    forms: tuple[ContractForm, ...]
    places: tuple[PlaceVerdict, ...] = ()
    warnings: tuple[Problem, ...] = ()
    steps: tuple[Step, ...] = field(default=())

    @property
    def gpu_hours(self) -> float:
        """Expected reference GPU-hours of the campaign."""
        return self.hours.expected

    @property
    def train_flops(self) -> float:
        """Model FLOPs of the campaign: training and generation, no recomputation."""
        return self.run_flops.model * self.runs

    def record(self) -> dict[str, Any]:
        """Return the sheet's answers as values that JSON can hold."""
        return {
            "gpu_hours": self.gpu_hours,
            "train_flops": self.train_flops,
            "memory_gb": self.footprint.total_gb,
            "fabric": self.verdict.fabric,
            "fabric_reason": self.verdict.reason,
            "fits": [
                {"hardware": fit.hardware, "gpus": fit.gpus, "price_per_hour": fit.price_per_hour}
                for fit in self.fits
            ],
            "goodput": self.goodput,
            "checkpoint_interval_minutes": self.checkpoint_interval_minutes,
            "warnings": [f"{problem.code}: {_sentence(problem)}" for problem in self.warnings],
        }


def size(
    workload: Workload,
    machines: Sequence[Machine],
    *,
    reference: Machine | None = None,
    choices: Sequence[PricedMemory] = (),
    interruptions: Interruptions = Interruptions(),
    name: str = "workload",
    gpus: int | None = None,
    waste: float = 0.0,
    window_hours: float = math.inf,
    stated_gpu_hours: float | None = None,
    places: Sequence[PlaceVerdict] = (),
    warnings: Sequence[Problem] = (),
    start: date | None = None,
    storage_per_gb_month: float | None = None,
    reserved_ratio: float = RESERVED_RATIO,
) -> Sheet:
    """Size a workload.

    Parameters
    ----------
    workload : Workload
    machines : sequence of Machine
        Hardware it may run on, at least one.
    reference : Machine, optional
        Hardware on which the MFU was measured; the first one when left out.
    choices : sequence of PricedMemory
        Catalogue for the smallest and the cheapest node.
    interruptions : Interruptions
    name : str
    gpus : int, optional
        GPUs of one run; the smallest that holds it and keeps the time limit when left out.
    waste : float
        Share of failed runs on top.
    window_hours : float
        Hours between the earliest start and the deadline.
    stated_gpu_hours : float, optional
        GPU-hours given beside the workload, to be compared with it.
    places : sequence of PlaceVerdict
        Pools with what decided about them.
    warnings : sequence of Problem
        Found before, to be reported with the sheet.
    start : datetime.date, optional
        Start of the first run, which makes a month's days definite.
    storage_per_gb_month : float, optional
        Price of keeping checkpoints.
    reserved_ratio : float
        Price of a reservation over on demand, the break-even of a standing reserve.

    Returns
    -------
    Sheet

    Raises
    ------
    UsageError
        When inputs contradict each other; all problems at once.
    """
    machine = machines[0] if reference is None else reference
    run = workload.run
    found = [
        *warnings,
        *sanity.mfu_problems(workload.mfu),
        *sanity.run_problems(run),
        *sanity.contradictions(run, workload.mfu.generation),
        *sanity.peak_problems(machine.id, machine.peak_tflops),
    ]
    flops = derive.run_flops(run)
    hours = derive.run_hours(flops, workload.mfu, machine).times(run.runs)
    if stated_gpu_hours is not None:
        found += sanity.stated_hours_problems(
            stated_gpu_hours,
            (hours.fewest, hours.expected, hours.most),
            sanity.work_in_words(run, machine.id, workload.mfu.expected),
        )
    errors = [problem for problem in found if problem.severity is Severity.ERROR]
    if errors:
        raise UsageError([*errors, *(p for p in found if p.severity is Severity.WARNING)])
    footprint = derive.run_footprint(run)
    verdict = derive.reach(run, footprint.total_gb, machines)
    admitted = derive.admissible_machines(run, footprint.total_gb, verdict, machines)
    place = next((each for each in admitted if each.id == machine.id), None)
    if place is None:
        place = max(admitted, key=lambda each: each.relative_speed)
    if interruptions.node_mtbf_hours is None:
        interruptions = replace(interruptions, node_mtbf_hours=place.node_mtbf_hours)
    limit_hours = min(_limit_hours(workload, start), window_hours)
    work = hours.expected / run.runs * (1.0 + waste)
    sizes, fastest = derive.sizes_by_doubling(
        workload,
        admitted,
        footprint_gb=footprint.total_gb,
        work_hours=work,
        limit_hours=limit_hours,
    )
    if not sizes and gpus is None:
        found.append(too_slow(name, fastest, limit_hours))
    chosen = gpus if gpus is not None else (sizes[0] if sizes else fastest).gpus
    found += _memory_problems(chosen, place, footprint.total_gb, stated=gpus is not None)
    job = _job(chosen, place, interruptions)
    if job.goodput < LEAST_GOODPUT:
        raise UsageError(_never_done(name, job.mean_hours, interruptions))
    points = derive.scale_points(run, derive.smallest_size(footprint.total_gb, admitted))
    efficiency = scaling.gang_scaling(points, [chosen])[chosen]
    run_hours = work / (chosen * place.relative_speed * efficiency * job.goodput)
    forms: tuple[ContractForm, ...] = ()
    if workload.cadence is not None:
        days = _span_days(workload.cadence.every, start)
        duty = duty_share(run_hours * run.runs, days)
        forms = contract_forms(
            duty,
            run_hours,
            reserved_ratio=reserved_ratio,
            spot_allowed=interruptions.spot_allowed,
        )
    sheet = Sheet(
        id=name,
        machine=machine,
        place=place,
        hours=hours,
        run_flops=flops,
        runs=run.runs,
        footprint=footprint,
        verdict=verdict,
        fits=fits(footprint.total_gb, choices),
        gpus=chosen,
        run_hours=run_hours,
        goodput=job.goodput,
        checkpoint_interval_minutes=job.interval_minutes,
        sizes=sizes,
        forms=forms,
        places=tuple(places),
        warnings=tuple(found),
    )
    return sheet_steps.with_steps(
        sheet,
        workload,
        interruptions,
        mean_hours=job.mean_hours,
        efficiency=efficiency,
        waste=waste,
        storage_per_gb_month=storage_per_gb_month,
        runs_per_month=_runs_per_month(workload, start),
    )


def _memory_problems(
    gpus: int, place: Machine, footprint_gb: float, *, stated: bool
) -> list[Problem]:
    """Return the warning that the stated GPUs of one run do not hold a copy of it."""
    held = gpus * place.memory_gb * USABLE_SHARE
    if not stated or holds(held, footprint_gb):
        return []
    return [
        Problem(
            code="GL-S914",
            what=f"one copy needs {footprint_gb:,.0f} GB; {gpus:,} × {place.id} of "
            f"{place.memory_gb:g} GB at {USABLE_SHARE:g} usable hold {held:,.0f}",
            why="the run does not fit",
            fix=f"use at least {math.ceil(footprint_gb / (place.memory_gb * USABLE_SHARE)):,} GPUs",
            severity=Severity.WARNING,
        )
    ]


@dataclass(frozen=True, slots=True)
class _Job:
    mean_hours: float
    goodput: float
    interval_minutes: float | None


def _job(gpus: int, machine: Machine, interruptions: Interruptions) -> _Job:
    nodes = math.ceil(gpus / machine.gpus_per_node)
    mean = mean_hours_of_job(nodes, interruptions.failures_per_hour)
    write = interruptions.write_minutes / MINUTES_PER_HOUR
    restart = interruptions.restart_minutes / MINUTES_PER_HOUR
    stated = interruptions.interval_minutes
    interval = None if stated is None else stated / MINUTES_PER_HOUR
    minutes = stated
    if stated is None and math.isfinite(mean):
        minutes = optimal_interval_hours(mean, write) * MINUTES_PER_HOUR
    return _Job(mean, goodput(mean, write, restart, interval), minutes)


def _never_done(name: str, mean_hours: float, interruptions: Interruptions) -> Problem:
    return Problem(
        code="GL-S912",
        what=f"`{name}` is interrupted every {mean_hours * MINUTES_PER_HOUR:.3g} minutes and needs "
        f"{interruptions.restart_minutes:g} to be running again",
        why="it would never be done",
        fix="use fewer nodes, more reliable ones, or shorter restarts",
    )


def too_slow(name: str, fastest: SizeChoice, limit_hours: float) -> Problem:
    """Return the warning that no size that still pays keeps the time limit."""
    days, limit = fastest.run_hours / HOURS_PER_DAY, limit_hours / HOURS_PER_DAY
    return Problem(
        code="GL-S909",
        what=f"`{name}` takes {days:,.1f} days on {fastest.gpus:,} GPUs, the largest size at which "
        f"a further device still pays; its limit is {limit:,.1f} days",
        why="more GPUs would be bought for less than half of what the first ones do",
        fix="give it more time, or a scaling curve that reaches further",
        severity=Severity.WARNING,
    )


def _limit_hours(workload: Workload, start: date | None) -> float:
    if workload.time_limit is None:
        return math.inf
    return _span_days(workload.time_limit, start) * HOURS_PER_DAY


def _span_days(span: Any, start: date | None) -> float:
    from datetime import date as calendar_date

    return float(span.days(calendar_date(2026, 1, 1) if start is None else start))


def _runs_per_month(workload: Workload, start: date | None) -> float:
    if workload.cadence is None:
        return float(workload.run.runs)
    return workload.run.runs * 365.0 / 12.0 / _span_days(workload.cadence.every, start)


def _sentence(problem: Problem) -> str:
    return f"{problem.what}; {problem.why}" if problem.why else problem.what
