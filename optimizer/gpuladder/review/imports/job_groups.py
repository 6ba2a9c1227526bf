"""Jobs, day by day in the order of their starts, into groups: runs of their own, and bursts.

Memory holds what is open: runs that could still go on, and one burst a team. Groups too small to be
campaigns are forgotten; of the others a few numbers stay.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.review.calendar import CalendarRule, Observed
from gpuladder.review.imports.job_spool import DAY_SECONDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gpuladder.review.calendar import Shape
    from gpuladder.review.imports.job_spool import Spool

RUNS, BURSTS = "runs", "bursts"
"""Names of the labels that a spool keeps."""
NO_GROUP = -1
HOUR = 3600.0

_RunKey = tuple[int, float, int]
"""Team, GPUs and run."""


@dataclass(slots=True)
class _Group:
    """Jobs that belong together, up to now."""

    number: int
    team: int
    start: float
    end: float
    last_start: float
    jobs: int = 0
    useful: float = 0.0
    wasted: float = 0.0
    length: float = 0.0
    width: float = 0.0
    peak: float = 0.0
    held: float = 0.0
    running: list[tuple[float, float]] = field(default_factory=list)
    is_cut: bool = False

    def add(self, start: float, end: float, gpus: float, *, wasted: bool) -> None:
        """Take in a job that starts no earlier than those before it."""
        gpu_seconds = gpus * (end - start)
        if wasted:
            self.wasted += gpu_seconds
        else:
            self.useful += gpu_seconds
        self.jobs += 1
        self.last_start = start
        self.length += gpu_seconds * (end - start)
        self.width += gpu_seconds * gpus
        self.end = max(self.end, end)
        while self.running and self.running[0][0] <= start:
            self.held -= heappop(self.running)[1]
        heappush(self.running, (end, gpus))
        self.held += gpus
        self.peak = max(self.peak, self.held)

    @property
    def gpu_seconds(self) -> float:
        return self.useful + self.wasted

    def observed(self, shape: Shape, teams: Sequence[str]) -> Observed:
        """Return what is left of it once it is over."""
        total = self.gpu_seconds
        return Observed(
            team=teams[self.team],
            shape=shape,
            start=self.start,
            end=self.end,
            jobs=self.jobs,
            useful=self.useful,
            wasted=self.wasted,
            peak_gpus=self.peak,
            job_hours=self.length / total / HOUR,
            job_gpus=self.width / total,
            is_cut=self.is_cut,
        )


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups that are large enough.

    Attributes
    ----------
    observed : tuple of Observed
        In the order in which they began.
    numbers : int64 array
        Their labels in the spool, ascending.
    """

    observed: tuple[Observed, ...]
    numbers: NDArray[np.int64]


class _Kept:
    """Collects groups that are large enough."""

    def __init__(self, least_gpu_hours: float, shape: Shape, teams: Sequence[str]) -> None:
        self._least = least_gpu_hours * HOUR
        self._shape: Shape = shape
        self._teams = teams
        self._found: list[tuple[int, Observed]] = []

    def close(self, group: _Group) -> None:
        if group.gpu_seconds >= self._least:
            self._found.append((group.number, group.observed(self._shape, self._teams)))

    def groups(self) -> Groups:
        self._found.sort(key=lambda item: item[0])
        numbers = np.array([number for number, _ in self._found], dtype=np.int64)
        return Groups(tuple(observed for _, observed in self._found), numbers)


def find_runs(
    spool: Spool, rule: CalendarRule, teams: Sequence[str], wasted: Sequence[bool]
) -> Groups:
    """Return the runs of their own: wide jobs on whole nodes, with their further attempts.

    Jobs of one team, one width and one run (or one number) that follow each other within the gap
    are attempts at one run; those that overlap are runs beside each other.

    Parameters
    ----------
    spool : Spool
        In order; the label ``runs`` is kept for every job.
    rule : CalendarRule
    teams : sequence of str
        Name of each team's number.
    wasted : sequence of bool
        Whether GPU-hours are wasted, by number of the state.
    """
    least = max(rule.gang_gpu_hours, rule.campaign_gpu_hours)
    kept = _Kept(least, "gang", teams)
    gap = rule.gap_hours * HOUR
    opened: defaultdict[_RunKey, list[_Group]] = defaultdict(list)
    number = 0
    for day in spool.days:
        jobs = spool.jobs(day)
        labels = np.full(len(jobs), NO_GROUP, dtype=np.int64)
        places = np.flatnonzero(
            (jobs["gpus"] >= rule.gang_gpus) & (jobs["gpus"] % rule.node_gpus == 0)
        )
        for place, (start, end, gpus, _, run, _, team, state) in zip(
            places.tolist(), jobs[places].tolist(), strict=True
        ):
            # A job that nothing ties to others is a run by itself.
            groups = opened[team, gpus, run] if run else opened[team, gpus, -number - 1]
            before = [g for g in groups if g.end <= start and start - g.end <= gap]
            if before:
                group = max(before, key=lambda g: g.end)
            else:
                group = _Group(number, team, start, end, start)
                groups.append(group)
                number += 1
            group.add(start, end, gpus, wasted=wasted[state])
            labels[place] = group.number
        spool.label(day, RUNS, labels)
        _close_old(opened, (day + 1) * DAY_SECONDS - gap, kept)
    _close_old(opened, np.inf, kept)
    return kept.groups()


def _close_old(opened: dict[_RunKey, list[_Group]], before: float, kept: _Kept) -> None:
    """Close the runs that ended before a moment: nothing that starts from now on follows them."""
    for key in list(opened):
        going = []
        for group in opened[key]:
            if group.end < before:
                kept.close(group)
            else:
                going.append(group)
        if going:
            opened[key] = going
        else:
            del opened[key]


def find_bursts(
    spool: Spool,
    rule: CalendarRule,
    teams: Sequence[str],
    wasted: Sequence[bool],
    runs: Groups,
) -> Groups:
    """Return the bursts: a team's other jobs, cut where it started none, or went on for too long.

    Parameters are as in ``find_runs``; the label ``bursts`` is kept for every job, and jobs of the
    runs found there belong to no burst.
    """
    kept = _Kept(rule.campaign_gpu_hours, "elastic", teams)
    gap, longest = rule.gap_hours * HOUR, rule.longest_days * DAY_SECONDS
    opened: dict[int, _Group] = {}
    number = 0
    for day in spool.days:
        jobs = spool.jobs(day)
        labels = np.full(len(jobs), NO_GROUP, dtype=np.int64)
        places = np.flatnonzero(~np.isin(spool.labels(day, RUNS), runs.numbers))
        for place, (start, end, gpus, _, _, _, team, state) in zip(
            places.tolist(), jobs[places].tolist(), strict=True
        ):
            group = opened.get(team)
            if group is None or start - group.last_start >= gap or start - group.start >= longest:
                is_cut = group is not None and start - group.last_start < gap
                if group is not None:
                    group.is_cut |= is_cut
                    kept.close(group)
                group = _Group(number, team, start, end, start, is_cut=is_cut)
                opened[team] = group
                number += 1
            group.add(start, end, gpus, wasted=wasted[state])
            labels[place] = group.number
        spool.label(day, BURSTS, labels)
    for group in opened.values():
        kept.close(group)
    return kept.groups()
