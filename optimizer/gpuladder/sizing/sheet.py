"""The worked sheet: everything that follows from a workload, step by step."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from gpuladder.errors import Problem, Severity, UsageError
from gpuladder.sizing import derive, doubts, effects, sanity, scaling, sheet_steps
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
from gpuladder.sizing.memory import Fit, Footprint, fits
from gpuladder.sizing.sanity import nowhere

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from gpuladder.sizing.derive import Hours, SizeChoice
    from gpuladder.sizing.machine import Machine
    from gpuladder.sizing.memory import PricedMemory
    from gpuladder.sizing.placement import Verdict
    from gpuladder.sizing.sanity import Where
    from gpuladder.sizing.spec import Workload
    from gpuladder.sizing.steps import Step
    from gpuladder.sizing.work import Flops

MINUTES_PER_HOUR = 60.0
HOURS_PER_DAY = 24.0
DAYS_PER_YEAR = 365.0
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
    kinds: tuple[tuple[str, bool, str], ...] = ()
    """Kinds of contract on offer there: name, whether the campaign may use it, and why."""


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
    gpus: int | Sequence[int] | None = None,
    spreads: bool = False,
    waste: float = 0.0,
    window_hours: float = math.inf,
    stated_gpu_hours: float | None = None,
    places: Sequence[PlaceVerdict] = (),
    warnings: Sequence[Problem] = (),
    where: Where = nowhere,
    start: date | None = None,
    once_in_days: float = DAYS_PER_YEAR,
    storage_per_gb_month: float | None = None,
    reserved_ratio: float = RESERVED_RATIO,
    currency: str = "currency",
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
    gpus : int or sequence of int, optional
        GPUs of one run, or sizes to choose from, of which the first that keeps the time limit
        counts; the smallest that holds it and keeps the limit when left out.
    spreads : bool
        Whether the work may take more GPUs than one job has, so that no limit binds the job.
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
    where : callable
        Returns where a key of the workload was written.
    start : datetime.date, optional
        Start of the first run, which makes a month's days definite.
    once_in_days : float
        Days in which a run without a cadence takes place once.
    storage_per_gb_month : float, optional
        Price of keeping checkpoints.
    reserved_ratio : float
        Price of a reservation over on demand, the break-even of a standing reserve.
    currency : str
        Unit of all prices.

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
    flops = derive.run_flops(run)
    hours = derive.run_hours(flops, workload.mfu, machine).times(run.runs)
    found = [*warnings, *workload_problems(workload, where)]
    found += sanity.peak_problems(machine.id, machine.peak_tflops)
    if stated_gpu_hours is not None:
        found += sanity.stated_hours_problems(
            stated_gpu_hours,
            (hours.fewest, hours.expected, hours.most),
            sanity.work_in_words(run, machine.id, workload.mfu.expected),
            where("gpu_hours"),
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
    points = derive.scale_points(
        run, derive.smallest_size(footprint.total_gb, admitted, run.usable_share)
    )

    def length(size: int) -> _Length:
        return _length(size, place, interruptions, work, points)

    stated = (gpus,) if isinstance(gpus, int) else tuple(gpus or ())
    offered = stated or tuple(each.gpus for each in sizes)
    if offered:  # the first that keeps the limit with its interruptions, else the largest
        chosen = next((each for each in offered if length(each).hours <= limit_hours), offered[-1])
    else:
        found.append(doubts.too_slow(name, fastest, limit_hours))
        chosen = fastest.gpus
    if stated:
        found += doubts.too_little_memory(chosen, place, footprint.total_gb, run.usable_share)
        found += doubts.part_nodes(chosen, place)
    job = length(chosen)
    if job.goodput < LEAST_GOODPUT:
        raise UsageError(doubts.never_done(name, job.mean_hours, interruptions.restart_minutes))
    if offered and not spreads:
        found += doubts.too_late(name, chosen, job.hours, limit_hours)
    found += doubts.beyond_curve(chosen, run)
    days = once_in_days
    if workload.cadence is not None:
        days = _span_days(workload.cadence.every, start)
        if not spreads:
            found += doubts.overlapping(name, chosen, job.hours, days)
    forms = contract_forms(
        duty_share(job.hours * run.runs, days),
        job.hours,
        reserved_ratio=reserved_ratio,
        spot_allowed=interruptions.spot_allowed,
        rhythm=f"{'once in' if workload.cadence is None else 'every'} {days:,.4g} days",
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
        fits=fits(footprint.total_gb, choices, usable_share=run.usable_share),
        gpus=chosen,
        run_hours=job.hours,
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
        efficiency=job.efficiency,
        points=points,
        waste=waste,
        limit_hours=limit_hours,
        storage_per_gb_month=storage_per_gb_month,
        runs_per_month=_runs_per_month(workload, start),
        currency=currency,
    )


def workload_problems(workload: Workload, where: Where = nowhere) -> list[Problem]:
    """Return what a workload says wrongly or doubtfully, whatever it runs on."""
    return [
        *sanity.mfu_problems(workload.mfu, where),
        *sanity.run_problems(workload.run, where),
        *effects.contradictions(workload, where),
        *effects.unread(workload.run, where),
        *effects.unruled_activations(workload.run, where),
    ]


@dataclass(frozen=True, slots=True)
class _Length:
    """How long a run of one size takes, interruptions included."""

    mean_hours: float
    goodput: float
    interval_minutes: float | None
    efficiency: float
    hours: float


def _length(
    gpus: int,
    machine: Machine,
    interruptions: Interruptions,
    work_hours: float,
    points: Sequence[scaling.ScalePoint],
) -> _Length:
    nodes = math.ceil(gpus / machine.gpus_per_node)
    mean = mean_hours_of_job(nodes, interruptions.failures_per_hour)
    write = interruptions.write_minutes / MINUTES_PER_HOUR
    restart = interruptions.restart_minutes / MINUTES_PER_HOUR
    stated = interruptions.interval_minutes
    interval = None if stated is None else stated / MINUTES_PER_HOUR
    minutes = stated
    if stated is None and math.isfinite(mean):
        minutes = optimal_interval_hours(mean, write) * MINUTES_PER_HOUR
    useful = goodput(mean, write, restart, interval)
    efficiency = scaling.gang_scaling(points, [gpus])[gpus]
    rate = gpus * machine.relative_speed * efficiency * useful
    hours = work_hours / rate if rate > 0.0 else math.inf
    return _Length(mean, useful, minutes, efficiency, hours)


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
    return workload.run.runs * DAYS_PER_YEAR / 12.0 / _span_days(workload.cadence.every, start)


def _sentence(problem: Problem) -> str:
    return f"{problem.what}; {problem.why}" if problem.why else problem.what
