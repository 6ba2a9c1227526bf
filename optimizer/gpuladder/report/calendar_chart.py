"""The chart by which a person judges an imported calendar: history above, its campaigns below."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from gpuladder.report.styles import INK, KIND_COLOURS, MUTED, RULE
from gpuladder.review.calendar import utc

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from gpuladder.review.calendar import Campaign, JobHistory, Observed
    from gpuladder.review.usage_history import TeamHistory
    from gpuladder.timegrid import FloatArray

MOST_TEAMS = 12
MOST_LANES = 14
COLOURS = {"elastic": KIND_COLOURS["burst_window"], "gang": KIND_COLOURS["dedicated"]}
_HISTORY, _REST = "#9CA3AF", INK
_LANE_INCHES, _HISTORY_INCHES, _WIDTH_INCHES = 0.24, 1.5, 14.0
_BAR = 0.72
_LETTER_INCHES = 0.058

_Bar = tuple["Campaign", "Observed"]


def write_calendar_chart(history: JobHistory, path: Path) -> None:
    """Draw the history of the largest teams and their campaigns as a PNG file.

    Each team has its GPUs by the hour, what of them is in no campaign in black, and below them one
    bar for each campaign that was seen: from first start to last end, with a line on to the
    deadline. Dates are those of the history, also where the calendar is laid elsewhere.

    Raises
    ------
    OSError
        When the file cannot be written.
    """
    from matplotlib.figure import Figure

    order = sorted(
        range(len(history.teams)),
        key=lambda n: -float(history.usage.teams[n].quantities["allocated"].sum()),
    )
    shown = order[:MOST_TEAMS]
    lanes = {n: _lanes(history, history.teams[n]) for n in shown}
    heights: list[float] = []
    for n in shown:
        heights += [_HISTORY_INCHES, _LANE_INCHES * max(1, min(len(lanes[n]), MOST_LANES))]
    figure = Figure(figsize=(_WIDTH_INCHES, sum(heights) * 1.12 + 1.0), layout="constrained")
    axes = figure.subplots(
        len(heights), 1, sharex=True, squeeze=False, gridspec_kw={"height_ratios": heights}
    )[:, 0]
    for row, n in enumerate(shown):
        _draw_history(axes[2 * row], history, history.usage.teams[n], history.demand[n])
        _draw_lanes(axes[2 * row + 1], history, lanes[n])
    axes[0].set_xlim(*_limits(history))
    hidden = len(order) - len(shown)
    figure.suptitle(_title(history, hidden), x=0.01, ha="left", fontsize=11, color=INK)
    figure.savefig(path, format="png", dpi=110, metadata={"Software": None})


def _title(history: JobHistory, hidden: int) -> str:
    rule = history.rule
    lines = [
        (
            f"{history.source}: GPUs by the hour (grey), of them in no campaign (black), and the "
            "campaigns: bar = first start to last end, line = to the deadline "
            f"(last end + {rule.slack_days} days, assumed)"
        )
    ]
    if history.shift.days:
        lines.append(f"Dates of the history; the calendar is laid {history.shift.days} days later.")
    if hidden:
        lines.append(f"{hidden} smaller teams are not shown; calendar.csv has them all.")
    return "\n".join(lines)


def _limits(history: JobHistory) -> tuple[datetime, datetime]:
    slack = timedelta(days=history.rule.slack_days)
    ends = [utc(one.end) + slack for each in history.campaigns for one in each.seen]
    return history.usage.start, max([history.usage.end, *ends])


def _draw_history(axes: Axes, history: JobHistory, team: TeamHistory, rest: FloatArray) -> None:
    held = team.quantities["allocated"]
    edges = [history.usage.at(step) for step in range(history.usage.steps + 1)]
    axes.stairs(held, edges, fill=True, color=_HISTORY, linewidth=0)  # type: ignore[arg-type]
    axes.stairs(rest, edges, fill=True, color=_REST, linewidth=0)  # type: ignore[arg-type]
    axes.set_title(
        f"{team.team}: {held.sum():,.0f} GPU-hours, at most {held.max():,.0f} GPUs in an hour",
        loc="left",
        fontsize=9,
        color=INK,
    )
    axes.set_ylabel("GPUs", fontsize=8, color=MUTED)
    _dress(axes)


def _draw_lanes(axes: Axes, history: JobHistory, lanes: list[list[_Bar]]) -> None:
    slack = timedelta(days=history.rule.slack_days)
    for lane, bars in enumerate(lanes[:MOST_LANES]):
        for campaign, one in bars:
            start, end = utc(one.start), utc(one.end)
            colour = COLOURS[campaign.shape]
            foot = lane + _BAR / 2 - 0.04
            axes.plot([end, end + slack], [foot, foot], color=colour, linewidth=1.2)  # type: ignore[arg-type]
            axes.barh(
                lane,
                end - start,  # type: ignore[arg-type]
                left=start,  # type: ignore[arg-type]
                height=_BAR,
                color=colour,
                hatch="//" if campaign.count > 1 else None,
                edgecolor="white",
                linewidth=0.4,
            )
            is_long = end - start > _label_time(history, campaign, one)
            axes.text(
                start if is_long else end,  # type: ignore[arg-type]
                lane,
                f" {_label(campaign, one)}",
                va="center",
                fontsize=6.5,
                color="white" if is_long else INK,
                clip_on=True,
            )
    axes.set_ylim(max(1, min(len(lanes), MOST_LANES)) - 0.5, -0.5)
    axes.set_yticks([])
    if len(lanes) > MOST_LANES:
        axes.set_ylabel(f"+{len(lanes) - MOST_LANES} rows", fontsize=7, color=MUTED)
    _dress(axes)


def _label(campaign: Campaign, one: Observed) -> str:
    name = campaign.id.removeprefix(f"{campaign.team}-")
    size = "" if campaign.shape == "gang" else "≤ "
    cut = ", cut" if one.is_cut else ""
    return f"{name}: {one.gpu_seconds / 3600:,.0f} GPU-h, {size}{campaign.gpus:g} GPUs{cut}"


def _label_time(history: JobHistory, campaign: Campaign, one: Observed) -> timedelta:
    """Return the time that a bar's label is as wide as."""
    begin, end = _limits(history)
    share = len(_label(campaign, one)) * _LETTER_INCHES / (_WIDTH_INCHES - 0.6)
    return (end - begin) * share


def _lanes(history: JobHistory, team: str) -> list[list[_Bar]]:
    """Return a team's campaigns in rows in which no two overlap, elastic ones above gangs."""
    bars = [(c, one) for c in history.campaigns if c.team == team for one in c.seen]
    bars.sort(key=lambda bar: (bar[0].shape, bar[1].start))
    slack = timedelta(days=history.rule.slack_days)
    lanes: list[list[_Bar]] = []
    for bar in bars:
        for lane in lanes:
            last = lane[-1]
            room = max(slack, _label_time(history, *last))
            if last[0].shape == bar[0].shape and utc(last[1].end) + room <= utc(bar[1].start):
                lane.append(bar)
                break
        else:
            lanes.append([bar])
    return lanes


def _dress(axes: Axes) -> None:
    axes.tick_params(labelsize=7, colors=MUTED)
    axes.grid(axis="x", color=RULE, linewidth=0.5)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left", "bottom"):
        axes.spines[side].set_color(RULE)
