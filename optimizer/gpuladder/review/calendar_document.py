"""The one JSON document of an imported job history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpuladder.review.calendar import Campaign, JobHistory

SCHEMA = "gpuladder.import.jobs/1"


def job_document(history: JobHistory) -> dict[str, Any]:
    """Return what was read and what came out, JSON-ready; hours are in history.csv."""
    usage, (begin, end) = history.usage, history.horizon
    return {
        "schema": SCHEMA,
        "source": history.source,
        "layout": history.layout,
        "rows": history.rows.record(),
        "zone": usage.zone,
        "history": {"start": usage.start.isoformat(), "end": usage.end.isoformat()},
        "horizon": {
            "start": begin.isoformat(),
            "end": end.isoformat(),
            "moved_days": history.shift.days,
        },
        "rule": history.rule.record(),
        "assumptions": assumptions(history),
        "gpu_hours": history.balance.record(),
        "gpu_hours_by_state": dict(history.states),
        "teams": [
            {
                "team": team.team,
                "gpu_hours": float(team.quantities["allocated"].sum()),
                "peak_hour_gpus": float(team.quantities["allocated"].max()),
                "demand_gpu_hours": float(rest.sum()),
                "campaigns": [c.id for c in history.campaigns if c.team == team.team],
            }
            for team, rest in zip(usage.teams, history.demand, strict=True)
        ],
        "campaigns": [
            {**each.row(history.rule.preemption_class), "seen": _seen(each)}
            for each in history.campaigns
        ],
    }


def assumptions(history: JobHistory) -> list[str]:
    """Return in words what the calendar takes for granted because no history says it."""
    rule = history.rule
    lines = [
        f"A history has no deadlines: each is the last end and {rule.slack_days} days.",
        (
            "Nothing says which interruptions jobs survive: all campaigns are of the class "
            f"`{rule.preemption_class}`."
        ),
        "One GPU-hour of the history counts as one of the reference hardware.",
    ]
    if history.layout == "philly":
        lines.append("Jobs start when they are submitted: the file has no other start.")
    if not history.states:
        lines.append("The file does not say how jobs ended: all of them count as useful work.")
    unfinished = [each.id for each in history.campaigns if each.nothing_completed]
    if unfinished:
        lines.append(
            "No job of these campaigns was completed, so that all of their GPU-hours count as "
            f"work and none as waste: {', '.join(unfinished)}."
        )
    return lines


def _seen(campaign: Campaign) -> list[dict[str, Any]]:
    from gpuladder.review.calendar import utc

    return [
        {
            "start": utc(one.start).isoformat(),
            "end": utc(one.end).isoformat(),
            "jobs": one.jobs,
            "useful_gpu_hours": one.useful / 3600,
            "wasted_gpu_hours": one.wasted / 3600,
            "peak_gpus": one.peak_gpus,
            "job_hours": one.job_hours,
            "job_gpus": one.job_gpus,
            "cut_for_length": one.is_cut,
        }
        for one in campaign.seen
    ]
