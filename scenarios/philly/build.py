"""Write campaigns.csv of this scenario from the job trace in ``../data/philly_jobs_2017.csv``.

``gpuladder import jobs`` makes the calendar by its rule (``optimizer/gpuladder/review/REVIEW.md``)
with the numbers below; this script lays it down and says what the trace does not:

1. Window. Thirteen whole weeks from Monday 2017-09-18, moved on by whole weeks to begin on Monday
   2026-01-05, and laid down a second time behind the first: 26 weeks. Jobs under one hour are not
   in the file. The zone of its times is not stated, and they are taken as they stand.
2. Campaigns. Wide, long jobs are gangs; the others of a virtual cluster (a team) are bursts, one
   elastic campaign each. What is in no campaign (bursts under 200 GPU-hours) is left out. One
   GPU-hour of 2017 counts as one of the reference hardware.
3. Dates. Deadlines are the rule's, at most the horizon's end; a gang that could not end by then is
   left out.
4. Preemption class, by how long a job runs (in a burst the mean, weighted by GPU-hours): ``short``
   under 24 hours, ``medium`` under 72, ``long`` above; gangs are ``restartable`` under 240 hours
   (they may run on spot as a whole) and ``steady`` above.

Run it as ``python scenarios/philly/build.py``.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuladder.review.calendar import CalendarRule
from gpuladder.review.imports.clock import Clock
from gpuladder.review.imports.jobs import import_jobs
from gpuladder.review.imports.rows import TableOptions
from gpuladder.scenario.writing import table_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpuladder.review.calendar import Campaign, JobHistory

HERE = Path(__file__).parent
JOBS = HERE.parent / "data" / "philly_jobs_2017.csv"
CAMPAIGNS = HERE / "campaigns.csv"

HORIZON_START = date(2026, 1, 5)
LENGTH = timedelta(weeks=13)
COPIES = 2
HORIZON_END = HORIZON_START + COPIES * LENGTH
RULE = CalendarRule(
    gap_hours=48.0,
    longest_days=28.0,
    gang_gpus=8,
    gang_gpu_hours=2500.0,
    campaign_gpu_hours=200.0,
    slack_days=14,
    node_gpus=8,
    repeat_least=0,  # the copies repeat everything
    horizon_start=HORIZON_START,
)
GRID_DAYS = 7
"""Gangs start on the horizon's weekly boundaries."""
GANG_MARGIN = 1.05
"""Room for checkpoints and restarts when asking whether a gang can still end in time."""


def class_of(campaign: Campaign) -> str:
    """Return the preemption class of a campaign by how long its jobs run."""
    hours = campaign.seen[0].job_hours
    if campaign.shape == "gang":
        return "restartable" if hours < 240 else "steady"
    if hours < 24:
        return "short"
    return "medium" if hours < 72 else "long"


def can_end(campaign: Campaign, earliest: date, deadline: date) -> bool:
    """Tell whether a gang that starts on the first weekly boundary can end by its deadline."""
    weeks = math.ceil((earliest - HORIZON_START).days / GRID_DAYS)
    start = HORIZON_START + timedelta(days=GRID_DAYS * weeks)
    hours = campaign.seen[0].job_hours * GANG_MARGIN
    return start + timedelta(hours=hours) <= deadline - timedelta(days=1)


def rows(history: JobHistory) -> Iterator[dict[str, Any]]:
    """Yield the campaigns, copy by copy, team by team, gangs first."""
    ordered = sorted(history.campaigns, key=lambda each: (each.team, each.shape == "elastic"))
    for copy in range(COPIES):
        numbers: Counter[str] = Counter()
        for campaign in ordered:
            name = f"{campaign.team}-{'ab'[copy]}-"
            name += "gang" if campaign.shape == "gang" else "burst"
            numbers[name] += 1
            earliest = campaign.earliest + copy * LENGTH
            deadline = min(campaign.deadline + copy * LENGTH, HORIZON_END)
            if campaign.shape == "gang" and not can_end(campaign, earliest, deadline):
                continue
            yield {
                **campaign.row(class_of(campaign)),
                "id": f"{name}-{numbers[name]}",
                "gpu_hours": round(campaign.gpu_hours, 1),
                "earliest": earliest.isoformat(),
                "deadline": deadline.isoformat(),
            }


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--output", type=Path, default=CAMPAIGNS, help="file to write")
    output: Path = parser.parse_args().output
    history = import_jobs(JOBS, rule=RULE, table=TableOptions(clock=Clock("UTC")))
    text = table_text("campaigns", list(rows(history)), "USD")
    output.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
