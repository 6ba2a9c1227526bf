"""A history of jobs as a calendar of campaigns: the rule, what was observed, and what comes out.

``REVIEW.md``, "From jobs to a calendar", says the rule in words. Times are in UTC.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

from gpuladder.errors import Problem, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpuladder.review.imports.dropped import RowCount
    from gpuladder.review.usage_history import UsageHistory
    from gpuladder.timegrid import FloatArray

Shape = Literal["elastic", "gang"]

WASTED_STATES = frozenset(
    ("BOOT_FAIL", "CANCELLED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "REVOKED")
)
"""States of a job of which nothing is left. TIMEOUT and PREEMPTED leave checkpoints."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarRule:
    """How jobs become campaigns; every number is an assumption that the user can change.

    Attributes
    ----------
    gap_hours : float
        Jobs of a team belong together until it has started none for so long. Starts count and not
        ends, because the tail of a few long jobs would hold campaigns together that are not one.
        Attempts at a gang follow each other within the same time, end to start.
    longest_days : float
        A job that starts so long after its campaign's first one begins a new campaign.
    gang_gpus : int
        Least GPUs of a run of its own; it also has to fill whole nodes.
    gang_gpu_hours : float
        Least GPU-hours of such a run, over all its attempts.
    campaign_gpu_hours : float
        Groups of jobs with less stay hourly demand; infinite leaves everything there.
    slack_days : int
        Days from the last end to the deadline. No history has deadlines: this is an assumption.
    node_gpus : int
        GPUs of a node, to which the most GPUs of a campaign are rounded up.
    preemption_class : str
        Of all campaigns: no history says which interruptions they survive.
    wasted_states : frozenset of str
        States of jobs whose GPU-hours are waste.
    repeat_least : int
        Campaigns of about one size in step that count as a repetition; 0 looks for none.
    repeat_days : float
        Days by which each may be off the step.
    repeat_share : float
        Share by which the size of each may differ from their mean.
    horizon_start : date or None
        Where the calendar is laid: its dates are moved by whole weeks, so that the Monday of its
        first week is the first one on or after this date. None leaves it where it was.
    """

    gap_hours: float = 48.0
    longest_days: float = 28.0
    gang_gpus: int = 8
    gang_gpu_hours: float = 2500.0
    campaign_gpu_hours: float = 200.0
    slack_days: int = 14
    node_gpus: int = 8
    preemption_class: str = "imported"
    wasted_states: frozenset[str] = WASTED_STATES
    repeat_least: int = 3
    repeat_days: float = 1.0
    repeat_share: float = 0.25
    horizon_start: date | None = None

    def __post_init__(self) -> None:
        wrong = [
            Problem(
                code="GL-I012",
                where=f"--{name.replace('_', '-')}",
                what=f"{value:g} is out of range: it must be {words}",
                fix="see `gpuladder import jobs --help`",
            )
            for name, value, fits, words in (
                ("gap", self.gap_hours, self.gap_hours >= 0, "at least 0"),
                ("longest", self.longest_days, self.longest_days > 0, "more than 0"),
                ("gang_gpus", self.gang_gpus, self.gang_gpus >= 1, "at least 1"),
                ("gang_gpu_hours", self.gang_gpu_hours, self.gang_gpu_hours > 0, "more than 0"),
                (
                    "campaign_gpu_hours",
                    self.campaign_gpu_hours,
                    self.campaign_gpu_hours >= 0,
                    "at least 0",
                ),
                ("slack", self.slack_days, self.slack_days >= 0, "at least 0"),
                ("node_gpus", self.node_gpus, self.node_gpus >= 1, "at least 1"),
                (
                    "repeat_least",
                    self.repeat_least,
                    self.repeat_least == 0 or self.repeat_least >= 2,
                    "0 or at least 2",
                ),
                ("repeat_days", self.repeat_days, self.repeat_days >= 0, "at least 0"),
                ("repeat_share", self.repeat_share, self.repeat_share >= 0, "at least 0"),
            )
            if not fits
        ]
        if wrong:
            raise UsageError(wrong)

    def record(self) -> dict[str, Any]:
        """Return the rule as a JSON-ready record."""
        start = self.horizon_start
        return {
            "gap_hours": self.gap_hours,
            "longest_days": _finite(self.longest_days),
            "gang_gpus": self.gang_gpus,
            "gang_gpu_hours": _finite(self.gang_gpu_hours),
            "campaign_gpu_hours": _finite(self.campaign_gpu_hours),
            "slack_days": self.slack_days,
            "node_gpus": self.node_gpus,
            "preemption_class": self.preemption_class,
            "wasted_states": sorted(self.wasted_states),
            "repeat_least": self.repeat_least,
            "repeat_days": self.repeat_days,
            "repeat_share": self.repeat_share,
            "horizon_start": None if start is None else start.isoformat(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """A group of jobs that were one campaign, as it was seen.

    Attributes
    ----------
    team : str
    shape : {"elastic", "gang"}
    start, end : float
        First start and last end, seconds since 1970 UTC.
    jobs : int
    useful, wasted : float
        GPU-seconds of jobs by how they ended.
    peak_gpus : float
        Most GPUs held at once.
    job_hours, job_gpus : float
        Length and width of its jobs, each job weighted by its GPU-hours.
    is_cut : bool
        Whether it begins or ends only because a campaign may not be longer.
    """

    team: str
    shape: Shape
    start: float
    end: float
    jobs: int
    useful: float
    wasted: float
    peak_gpus: float
    job_hours: float
    job_gpus: float
    is_cut: bool = False

    @property
    def gpu_seconds(self) -> float:
        """GPU-seconds of all its jobs."""
        return self.useful + self.wasted


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """One row of the calendar: a campaign, or several that repeat.

    Attributes
    ----------
    id, team, shape
        As in the scenario.
    seen : tuple of Observed
        What it was made from, one for each repetition.
    gpu_hours, waste : float
        Work of each repetition; ``count × gpu_hours × (1 + waste)`` is all its jobs' GPU-hours.
    earliest, deadline : date
        Of the first repetition, where the calendar is laid.
    gpus : float
        ``max_gpus`` of an elastic campaign, the size of a gang.
    job_gpus : int or None
        Width of the jobs of an elastic campaign, where it is more than a node.
    every_days : int or None
        From one repetition to the next; None when there is one only.
    nothing_completed : bool
        Whether all its jobs failed: then all of their GPU-hours count as work, none as waste.
    """

    id: str
    team: str
    shape: Shape
    seen: tuple[Observed, ...]
    gpu_hours: float
    waste: float
    earliest: date
    deadline: date
    gpus: float
    job_gpus: int | None = None
    every_days: int | None = None
    nothing_completed: bool = False

    @property
    def count(self) -> int:
        """Repetitions."""
        return len(self.seen)

    @property
    def last_deadline(self) -> date:
        """Deadline of its last repetition."""
        return self.deadline + timedelta(days=(self.every_days or 0) * (self.count - 1))

    def row(self, preemption_class: str) -> dict[str, Any]:
        """Return it as a row of the scenario's table."""
        row: dict[str, Any] = {
            "id": self.id,
            "team": self.team,
            "shape": self.shape,
            "preemption_class": preemption_class,
            "gpu_hours": self.gpu_hours,
            "earliest": self.earliest.isoformat(),
            "deadline": self.deadline.isoformat(),
            "max_gpus" if self.shape == "elastic" else "gpus": int(self.gpus),
        }
        if self.waste:
            row["waste"] = self.waste
        if self.job_gpus is not None:
            row["job_gpus"] = self.job_gpus
        if self.every_days is not None:
            row["repeat"] = {"every": f"{self.every_days} days", "count": self.count}
        return row


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """Where the GPU-hours of all jobs went; ``jobs = gangs + elastic + demand``."""

    jobs: float
    gangs: float
    elastic: float
    demand: float

    def record(self) -> dict[str, float]:
        """Return the balance as a JSON-ready record."""
        return {
            "jobs": self.jobs,
            "gang_campaigns": self.gangs,
            "elastic_campaigns": self.elastic,
            "hourly_demand": self.demand,
        }


@dataclass(frozen=True, kw_only=True)
class JobHistory:
    """Jobs, read: who held how many GPUs when, and the calendar that this makes.

    Attributes
    ----------
    source, layout : str
        The file, and how it is laid out: ``sacct``, ``csv`` or ``philly``.
    rule : CalendarRule
    rows : RowCount
        What became of the file's rows.
    usage : UsageHistory
        GPUs that each team's jobs held, hour by hour: all jobs.
    demand : float64, shape (teams, T), GPUs
        Of those, what is not in a campaign; teams and hours as in ``usage``.
    campaigns : tuple of Campaign
        By team and date.
    balance : Balance
        GPU-hours.
    states : mapping of str to float
        GPU-hours by how jobs ended; empty when the file does not say.
    shift : timedelta
        By which the calendar's dates are moved on from the history's.
    """

    source: str
    layout: str
    rule: CalendarRule
    rows: RowCount
    usage: UsageHistory
    demand: FloatArray
    campaigns: tuple[Campaign, ...]
    balance: Balance
    states: Mapping[str, float] = field(default_factory=dict)
    shift: timedelta = timedelta(0)

    @property
    def name(self) -> str:
        """The file's name without its endings."""
        stem, _, _ = self.source.removesuffix(".gz").rpartition(".")
        return stem or self.source

    @property
    def teams(self) -> tuple[str, ...]:
        """Teams by name."""
        return tuple(team.team for team in self.usage.teams)

    @property
    def horizon(self) -> tuple[date, date]:
        """Whole weeks, Monday to Monday, that hold the calendar and the hours as it is laid."""
        first = monday((self.usage.start + self.shift).date())
        last = max(
            [day_after(self.usage.end + self.shift), *(c.last_deadline for c in self.campaigns)]
        )
        return first, first + timedelta(weeks=math.ceil((last - first).days / 7))


def monday(day: date) -> date:
    """Return the Monday on or before a day."""
    return day - timedelta(days=day.weekday())


def day_after(moment: datetime) -> date:
    """Return the first midnight at or after a moment, as its date."""
    is_midnight = moment.time() == datetime.min.time()
    return moment.date() if is_midnight else moment.date() + timedelta(days=1)


def utc(seconds: float) -> datetime:
    """Return a moment in UTC, without a zone as all times of a scenario."""
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)


def _finite(value: float) -> float | None:
    """Return a limit for JSON, which has no infinity: None is no limit."""
    return value if math.isfinite(value) else None
