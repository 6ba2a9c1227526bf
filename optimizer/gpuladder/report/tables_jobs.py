"""Imported jobs as tables: what a scenario reads, the history by the hour, and what was seen."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from gpuladder.report.fields import count, gpu_hours, gpus, number, tabulate, text
from gpuladder.report.table import Cell, Column, Format, Table, aligned
from gpuladder.review.calendar import utc
from gpuladder.review.calendar_document import assumptions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpuladder.report.fields import Field
    from gpuladder.review.calendar import JobHistory

_HOUR = 3600.0


def job_tables(history: JobHistory, pool: str | None) -> tuple[Table, ...]:
    """Return the tables of an imported job history but for the campaigns.

    Parameters
    ----------
    history : JobHistory
    pool : str or None
        Pool of the demand; the demand of each team is a pool of its own when None.
    """
    return (_demand(history, pool), _history(history), _seen(history))


def _demand(history: JobHistory, pool: str | None) -> Table:
    return Table(
        name="demand",
        title="Demand beside the campaigns, as a scenario reads it",
        columns=(
            Column(key="pool", title="Pool"),
            Column(key="at", title="At", format=Format.MOMENT, note="Begin of the hour, UTC"),
            Column(key="gpus", title="GPUs", format=Format.NUMBER, note="Mean over the hour"),
        ),
        rows=tuple(_demand_rows(history, pool)),
        note="Every hour of the horizon; a pool whose jobs are all in campaigns has no row.",
    )


def _demand_rows(history: JobHistory, pool: str | None) -> Iterator[tuple[Cell, ...]]:
    begin, end = (datetime.combine(day, datetime.min.time()) for day in history.horizon)
    before = int((history.usage.start + history.shift - begin) / timedelta(hours=1))
    hours = int((end - begin) / timedelta(hours=1))
    series = (
        zip(history.teams, history.demand, strict=True)
        if pool is None
        else [(pool, history.demand.sum(axis=0))]
    )
    for name, values in series:
        if not values.any():
            continue
        known = [0.0] * before + values.tolist()
        known += [0.0] * (hours - len(known))
        for hour, value in enumerate(known):
            yield name, begin + timedelta(hours=hour), value


def _history(history: JobHistory) -> Table:
    usage = history.usage
    moments = [usage.at(step) for step in range(usage.steps)]
    return Table(
        name="history",
        title="GPUs that each team's jobs held",
        columns=(
            Column(key="team", title="Team"),
            Column(key="hour", title="Hour", format=Format.MOMENT, note="Its begin, UTC"),
            Column(key="gpus", title="GPUs", format=Format.NUMBER, note="Mean over the hour"),
        ),
        rows=tuple(
            (team.team, moment, value)
            for team in usage.teams
            for moment, value in zip(moments, team.quantities["allocated"].tolist(), strict=True)
        ),
        note="All jobs that count, in campaigns or not.",
    )


def _seen(history: JobHistory) -> Table:
    rows = [
        (campaign, repetition, one)
        for campaign in history.campaigns
        for repetition, one in enumerate(campaign.seen, start=1)
    ]
    return tabulate("calendar", "What each campaign was made from", _SEEN, rows, currency="")


_SEEN: tuple[Field, ...] = (
    text("campaign", "Campaign", read=lambda row: row[0].id),
    count("repetition", "Repetition", read=lambda row: row[1]),
    text("team", "Team", read=lambda row: row[0].team),
    text("shape", "Shape", read=lambda row: row[0].shape),
    count("jobs", "Jobs", total=True, read=lambda row: row[2].jobs),
    text("start", "First start", "UTC", read=lambda row: f"{utc(row[2].start)}"),
    text("end", "Last end", "UTC", read=lambda row: f"{utc(row[2].end)}"),
    gpu_hours("useful_gpu_hours", "Useful", read=lambda row: row[2].useful / _HOUR),
    gpu_hours(
        "wasted_gpu_hours", "Wasted", "Of jobs that failed", read=lambda row: row[2].wasted / _HOUR
    ),
    gpus("peak_gpus", "Most at once", read=lambda row: row[2].peak_gpus),
    number(
        "job_hours",
        "Length of a job",
        "hours",
        "Mean, each job weighted by its GPU-hours",
        read=lambda row: row[2].job_hours,
    ),
    gpus(
        "job_gpus",
        "Width of a job",
        "Mean, each job weighted by its GPU-hours",
        read=lambda row: row[2].job_gpus,
    ),
    text(
        "cut",
        "Cut",
        "Whether it begins or ends only because a campaign may not be longer",
        read=lambda row: "yes" if row[2].is_cut else "",
    ),
)


def job_text(history: JobHistory) -> str:
    """Return what came out as a person reads it: balance, teams, campaigns, assumptions."""
    past, (begin, end) = history.usage, history.horizon
    moved = f", {history.shift.days} days after the history" if history.shift.days else ""
    parts = [
        (
            f"{history.source} ({history.layout}): {past.start:%Y-%m-%d %H:%M} to "
            f"{past.end:%Y-%m-%d %H:%M} UTC; horizon {begin} to {end}{moved}"
        ),
        "\n".join(aligned(_balance_lines(history), right=(1, 2))),
        "\n".join(aligned(_team_lines(history), right=(1, 2, 3, 4))),
        "\n".join(aligned(_campaign_lines(history), right=(2, 3, 4, 5, 8)))
        if history.campaigns
        else "no campaigns: all jobs are hourly demand",
        "\n".join(f"  {line}" for line in assumptions(history)),
    ]
    return "\n\n".join(parts)


def _balance_lines(history: JobHistory) -> list[list[str]]:
    balance = history.balance
    parts = (
        ("gang campaigns", balance.gangs),
        ("elastic campaigns", balance.elastic),
        ("hourly demand", balance.demand),
        ("all jobs", balance.jobs),
    )
    lines = [["", "GPU-hours", "share"]]
    lines += [[name, f"{value:,.1f}", f"{value / balance.jobs:.1%}"] for name, value in parts]
    return lines


def _team_lines(history: JobHistory) -> list[list[str]]:
    lines = [["team", "GPU-hours", "mean GPUs", "busiest hour", "campaigns"]]
    for team in history.usage.teams:
        held = team.quantities["allocated"]
        rows = sum(1 for each in history.campaigns if each.team == team.team)
        lines.append(
            [
                team.team,
                f"{held.sum():,.1f}",
                f"{held.mean():,.1f}",
                f"{held.max():,.1f}",
                f"{rows}",
            ]
        )
    return lines


def _campaign_lines(history: JobHistory) -> list[list[str]]:
    lines = [
        [
            "campaign",
            "shape",
            "jobs",
            "GPU-hours",
            "waste",
            "GPUs",
            "earliest",
            "deadline",
            "repeat",
        ]
    ]
    for each in history.campaigns:
        every = f"{each.count} × {each.every_days} days" if each.every_days else ""
        lines.append(
            [
                each.id,
                each.shape,
                f"{sum(one.jobs for one in each.seen):,}",
                f"{each.gpu_hours:,.1f}",
                f"{each.waste:.1%}",
                f"{each.gpus:g}",
                f"{each.earliest}",
                f"{each.deadline}",
                every,
            ]
        )
    return lines
