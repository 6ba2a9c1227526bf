"""Write campaigns.csv of this scenario from the job trace in ``../data/philly_jobs_2017.csv``.

The rule, in the order it is applied:

1. Window. Jobs submitted from Monday 2017-09-18 to 2017-12-17: thirteen whole weeks. Dates are
   moved on by whole weeks so that the window begins on Monday 2026-01-05, and the thirteen weeks
   are laid down a second time behind the first: 26 weeks. Jobs under one hour are not in the file.
2. Gangs. A job of at least ``GANG_GPUS`` GPUs and ``GANG_GPU_HOURS`` GPU-hours is a run of its own.
3. Bursts. The other jobs of a virtual cluster (a team) are cut into bursts: a new one begins when
   nothing was submitted for ``BURST_GAP``, or ``BURST_LENGTH`` after the burst's first submission.
   A burst is one elastic campaign; bursts under ``BURST_GPU_HOURS`` are left out.
4. Size. ``gpu_hours`` is the trace's; one GPU-hour of 2017 counts as one of the reference hardware.
   ``max_gpus`` of a burst is the most GPUs its jobs held at once, rounded up to whole nodes.
5. Dates. ``earliest`` is the day of the first submission; ``deadline`` the day after the last end,
   plus ``SLACK``, at most the horizon's end. A gang that could not end by then is left out.
6. Preemption class, by how long a job runs (for a burst the median job, weighted by GPU-hours):
   ``short`` under 24 hours, ``medium`` under 72, ``long`` above; gangs are ``restartable`` under
   240 hours (they may run on spot as a whole) and ``steady`` above.

Run it as ``python scenarios/philly/build.py``; it needs nothing but Python.
"""

from __future__ import annotations

import argparse
import csv
import math
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HERE = Path(__file__).parent
JOBS = HERE.parent / "data" / "philly_jobs_2017.csv"
CAMPAIGNS = HERE / "campaigns.csv"

WINDOW_START = date(2017, 9, 18)
WINDOW_END = date(2017, 12, 18)
HORIZON_START = date(2026, 1, 5)
COPIES = 2
HORIZON_END = HORIZON_START + COPIES * (WINDOW_END - WINDOW_START)

GANG_GPUS = 8
GANG_GPU_HOURS = 2500.0
BURST_GAP = timedelta(days=2)
BURST_LENGTH = timedelta(days=28)
BURST_GPU_HOURS = 200.0
SLACK = timedelta(days=14)
NODE_GPUS = 8
GRID_DAYS = 7
"""Gangs start on the horizon's weekly boundaries."""
GANG_MARGIN = 1.05
"""Room for checkpoints and restarts when asking whether a gang can still end in time."""

COLUMNS = (
    "id",
    "team",
    "shape",
    "preemption_class",
    "gpu_hours",
    "earliest",
    "deadline",
    "max_gpus",
    "gpus",
)


@dataclass(frozen=True)
class Job:
    """One job of the trace."""

    team: str
    submitted: datetime
    hours: float
    gpus: int

    @property
    def ended(self) -> datetime:
        """When it ended, had it run without a break from its submission."""
        return self.submitted + timedelta(hours=self.hours)

    @property
    def gpu_hours(self) -> float:
        """GPU-hours it held."""
        return self.hours * self.gpus


def read_jobs(path: Path) -> list[Job]:
    """Return the jobs submitted in the window, by team and time."""
    with path.open(newline="", encoding="utf-8") as file:
        jobs = [
            Job(
                team=row["vc"],
                submitted=datetime.fromisoformat(row["submit_time"]),
                hours=int(row["duration_s"]) / 3600,
                gpus=int(row["num_gpus"]),
            )
            for row in csv.DictReader(file)
        ]
    kept = [job for job in jobs if WINDOW_START <= job.submitted.date() < WINDOW_END]
    return sorted(kept, key=lambda job: (job.team, job.submitted, job.hours, job.gpus))


def is_gang(job: Job) -> bool:
    """Tell whether a job is a run of its own."""
    return job.gpus >= GANG_GPUS and job.gpu_hours >= GANG_GPU_HOURS


def bursts(jobs: Iterable[Job]) -> Iterator[list[Job]]:
    """Yield one team's jobs, ascending by submission, cut where it paused."""
    burst: list[Job] = []
    for job in jobs:
        if burst and (
            job.submitted - burst[-1].submitted >= BURST_GAP
            or job.submitted - burst[0].submitted >= BURST_LENGTH
        ):
            yield burst
            burst = []
        burst.append(job)
    if burst:
        yield burst


def peak_gpus(jobs: Iterable[Job]) -> int:
    """Return the most GPUs the jobs held at once."""
    changes = [(job.submitted, job.gpus) for job in jobs]
    changes += [(job.ended, -job.gpus) for job in jobs]
    held = peak = 0
    for _, change in sorted(changes):
        held += change
        peak = max(peak, held)
    return peak


def typical_hours(jobs: Iterable[Job]) -> float:
    """Return the length of the median job, weighted by GPU-hours."""
    ordered = sorted(jobs, key=lambda job: (job.hours, job.gpus))
    half, done = sum(job.gpu_hours for job in ordered) / 2, 0.0
    for job in ordered:
        done += job.gpu_hours
        if done >= half:
            return job.hours
    return ordered[-1].hours


def burst_class(hours: float) -> str:
    """Return the preemption class of a burst whose typical job runs so long."""
    if hours < 24:
        return "short"
    return "medium" if hours < 72 else "long"


def dates(jobs: list[Job], shift: timedelta) -> tuple[date, date]:
    """Return the earliest day and the deadline of the jobs, moved on by the shift."""
    earliest = jobs[0].submitted.date() + shift
    last = max(job.ended for job in jobs).date() + timedelta(days=1) + shift
    return earliest, min(last + SLACK, HORIZON_END)


def can_end(job: Job, earliest: date, deadline: date) -> bool:
    """Tell whether a gang that starts on the first weekly boundary can end by its deadline."""
    weeks = math.ceil((earliest - HORIZON_START).days / GRID_DAYS)
    start = HORIZON_START + timedelta(days=GRID_DAYS * weeks)
    return start + timedelta(hours=job.hours * GANG_MARGIN) <= deadline - timedelta(days=1)


def rows(jobs: list[Job]) -> Iterator[dict[str, str]]:
    """Yield the campaigns, copy by copy, team by team."""
    length = WINDOW_END - WINDOW_START
    for copy in range(COPIES):
        shift = (HORIZON_START - WINDOW_START) + copy * length
        for team, members in groupby(jobs, key=lambda job: job.team):
            own = list(members)
            name = f"{team}-{'ab'[copy]}"
            gangs = [job for job in own if is_gang(job)]
            for number, job in enumerate(gangs, start=1):
                earliest, deadline = dates([job], shift)
                if can_end(job, earliest, deadline):
                    yield {
                        "id": f"{name}-gang-{number}",
                        "team": team,
                        "shape": "gang",
                        "preemption_class": "restartable" if job.hours < 240 else "steady",
                        "gpu_hours": f"{job.gpu_hours:.1f}",
                        "earliest": earliest.isoformat(),
                        "deadline": deadline.isoformat(),
                        "gpus": str(job.gpus),
                    }
            rest = [job for job in own if not is_gang(job)]
            for number, burst in enumerate(bursts(rest), start=1):
                gpu_hours = sum(job.gpu_hours for job in burst)
                if gpu_hours < BURST_GPU_HOURS:
                    continue
                earliest, deadline = dates(burst, shift)
                yield {
                    "id": f"{name}-burst-{number}",
                    "team": team,
                    "shape": "elastic",
                    "preemption_class": burst_class(typical_hours(burst)),
                    "gpu_hours": f"{gpu_hours:.1f}",
                    "earliest": earliest.isoformat(),
                    "deadline": deadline.isoformat(),
                    "max_gpus": str(math.ceil(peak_gpus(burst) / NODE_GPUS) * NODE_GPUS),
                }


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--output", type=Path, default=CAMPAIGNS, help="file to write")
    output: Path = parser.parse_args().output
    with output.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows(read_jobs(JOBS)))


if __name__ == "__main__":
    main()
