"""``import_jobs``: a file of jobs as a history by the hour and a calendar of campaigns.

The file is read once, in chunks; jobs are laid on disk by day and read again in order, so that
memory holds a chunk, a day of jobs, and hours × teams.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from gpuladder.review.calendar import Balance, CalendarRule, JobHistory, monday, utc
from gpuladder.review.imports import problems
from gpuladder.review.imports.job_calendar import campaigns
from gpuladder.review.imports.job_groups import BURSTS, RUNS, find_bursts, find_runs
from gpuladder.review.imports.job_hours import HOUR, HourGrid, refuse_too_large
from gpuladder.review.imports.job_layouts import LAYOUTS, LayoutName, recognise
from gpuladder.review.imports.job_rows import JobOptions, JobReader, columns_of, fields_of
from gpuladder.review.imports.job_spool import open_spool
from gpuladder.review.imports.rows import TableOptions, open_table, read_header
from gpuladder.review.usage_history import TeamHistory, UsageHistory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpuladder.review.calendar import Observed
    from gpuladder.review.imports.dropped import Ledger
    from gpuladder.review.imports.job_groups import Groups
    from gpuladder.review.imports.job_spool import Spool
    from gpuladder.timegrid import FloatArray

_CLOSE = 1e-9


def import_jobs(
    path: str | Path,
    *,
    layout: LayoutName | Literal["auto"] = "auto",
    rule: CalendarRule | None = None,
    options: JobOptions | None = None,
    table: TableOptions | None = None,
) -> JobHistory:
    """Read a file of jobs.

    Parameters
    ----------
    path : str or pathlib.Path
        Output of ``sacct --parsable2``, or a CSV or Parquet file with a row for each job.
    layout : {"auto", "sacct", "csv", "philly"}
        How it is laid out; by its columns when ``auto``.
    rule : CalendarRule, optional
        How jobs become campaigns.
    options : JobOptions, optional
        Which jobs count.
    table : TableOptions, optional
        How the file is written: names of columns, decimal sign, zone.

    Returns
    -------
    JobHistory
        GPU-hours of all jobs = those of the campaigns + those of the hourly demand.

    Raises
    ------
    UsageError
        When the file cannot be read, or none of its rows is a job that counts.
    """
    path = Path(path)
    rule, options, table = rule or CalendarRule(), options or JobOptions(), table or TableOptions()
    table = replace(table, columns={**table.columns, **columns_of(options)})
    form = recognise(read_header(path, table)) if layout == "auto" else LAYOUTS[layout]
    with open_spool() as spool:
        with open_table(path, fields_of(form, options), table) as opened:
            reader = JobReader(opened, form, options)
            for rows in opened:
                spool.add(reader.jobs(rows))
        if not spool.days:
            raise problems.nothing_left(str(path), opened.ledger.result(0).text)
        refuse_too_large(spool.first, spool.last, len(reader.teams.all))
        kept = spool.put_in_order(opened.ledger, have_numbers=reader.has_jobs)
        return _history(path.name, form.name, rule, spool, reader, opened.ledger, kept)


def _history(
    source: str,
    layout: LayoutName,
    rule: CalendarRule,
    spool: Spool,
    reader: JobReader,
    ledger: Ledger,
    kept: int,
) -> JobHistory:
    teams, states = reader.teams.all, reader.states.all
    wasted = [state in rule.wasted_states for state in states]
    runs = find_runs(spool, rule, teams, wasted)
    bursts = find_bursts(spool, rule, teams, wasted, runs)
    held, demand, by_state = _hours(spool, len(teams), len(states), runs, bursts)
    start = utc(np.floor(spool.first / HOUR) * HOUR)
    shift = _shift(start, rule)
    order = sorted(range(len(teams)), key=lambda number: teams[number])
    balance = Balance(
        jobs=float(by_state.sum()) / HOUR,
        gangs=_gpu_hours(runs.observed),
        elastic=_gpu_hours(bursts.observed),
        demand=float(demand.sum()),
    )
    _check(balance, float(held.sum()))
    return JobHistory(
        source=source,
        layout=layout,
        rule=rule,
        rows=ledger.result(kept),
        usage=UsageHistory(
            start=start,
            step_hours=1,
            steps=held.shape[1],
            teams=tuple(
                TeamHistory(team=teams[n], pool=None, quantities={"allocated": held[n]})
                for n in order
            ),
            zone="UTC",
        ),
        demand=demand[order],
        campaigns=campaigns([*runs.observed, *bursts.observed], rule, shift),
        balance=balance,
        states=dict(sorted(zip(states, (by_state / HOUR).tolist(), strict=True)))
        if reader.has_states
        else {},
        shift=shift,
    )


def _hours(
    spool: Spool, teams: int, states: int, runs: Groups, bursts: Groups
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return all GPUs and those outside campaigns, by team and hour; GPU-seconds by state."""
    held = HourGrid(spool.first, spool.last, teams)
    rest = HourGrid(spool.first, spool.last, teams)
    by_state = np.zeros(states)
    for day in spool.days:
        jobs = spool.jobs(day)
        team = jobs["team"].astype(np.int64)
        held.add(team, jobs["start"], jobs["end"], jobs["gpus"])
        gpu_seconds = jobs["gpus"] * (jobs["end"] - jobs["start"])
        by_state += np.bincount(jobs["state"], gpu_seconds, states)
        outside = ~np.isin(spool.labels(day, RUNS), runs.numbers)
        outside &= ~np.isin(spool.labels(day, BURSTS), bursts.numbers)
        left = jobs[outside]
        rest.add(team[outside], left["start"], left["end"], left["gpus"])
    return held.gpus(), rest.gpus(), by_state


def _shift(start: datetime, rule: CalendarRule) -> timedelta:
    """Return by how many whole weeks the calendar is moved."""
    if rule.horizon_start is None:
        return timedelta(0)
    target = monday(rule.horizon_start + timedelta(days=6))
    return target - monday(start.date())


def _gpu_hours(observed: Sequence[Observed]) -> float:
    return sum(one.gpu_seconds for one in observed) / HOUR


def _check(balance: Balance, held: float) -> None:
    """Fail when GPU-hours were lost or counted twice: a fault of the program's own."""
    parts = balance.gangs + balance.elastic + balance.demand
    for other in (parts, held):
        if abs(other - balance.jobs) > _CLOSE * balance.jobs:
            msg = f"{balance.jobs} GPU-hours of jobs, but {other} in the history"
            raise RuntimeError(msg)
