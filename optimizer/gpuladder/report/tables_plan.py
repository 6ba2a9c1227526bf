"""Tables of what to do: figures, what to sign, what is held, expiries and the calendar."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from gpuladder.analysis.metrics import METRICS
from gpuladder.report.fields import (
    count,
    day,
    gpu_hours,
    gpus,
    money,
    number,
    optional,
    price,
    share,
    tabulate,
    text,
)
from gpuladder.report.labels import kind_label, metric_label
from gpuladder.report.table import Cell, Column, Format, Table

if TYPE_CHECKING:
    from gpuladder.analysis.result import MetricValue, Result

_COMMITMENTS = (
    text("offer", "Offer"),
    text("provider", "Provider"),
    text("pool", "Pool"),
    text("hardware", "Hardware"),
    text("kind", "Kind", read=lambda row: kind_label(row.kind)),
    count("lots", "Lots", "Whole lots of the offer in this order."),
    gpus("gpus", "GPUs", total=True),
    day("sign_by", "Sign by", "Last day to sign: the start less the offer's lead."),
    day("start", "Start", "First day of the term."),
    day("end", "End", "Day after the last day of the term."),
    price("price", "Price", "Holding price locked at the start; owned: average in the horizon."),
    money("cost", "Cost in horizon", "Present value of holding it inside the horizon."),
    optional(
        money(
            "usage_cost", "Usage charges", "Present value of what use of a flex reservation costs."
        )
    ),
    money("cost_undiscounted", "Cost undiscounted", "Cost inside the horizon, as paid."),
    money("tail", "Tail", "Undiscounted cost of the term after the horizon end."),
    optional(
        money("upfront", "Due at start", "Undiscounted payment on the first day of the term.")
    ),
    optional(
        share(
            "break_even_utilisation",
            "Break-even use",
            "Share of its hours that must be used to be cheaper than on demand.",
        )
    ),
    share(
        "utilisation",
        "Expected use",
        "Share of the pool's committed GPU-hours over the term that own work uses.",
    ),
    text("rationale", "Why"),
)

_HELD = (
    text("id", "Commitment"),
    text("pool", "Pool"),
    text("kind", "Kind", read=lambda row: kind_label(row.kind)),
    gpus("gpus", "GPUs", total=True),
    day("start", "Start"),
    day("end", "End", "Day after the last day of the term."),
    price("price", "Price"),
    money("cost", "Sunk cost", "Present value inside the horizon; not in the net present cost."),
    money("cost_undiscounted", "Sunk cost undiscounted", "Inside the horizon, as paid."),
    gpu_hours("idle_gpu_hours", "Idle", "Its share of the pool's idle GPU-hours."),
    money("idle_cost", "Idle cost", "Present value of the idle hours at its price."),
    money("tail", "Tail", "Undiscounted cost after the horizon end."),
    optional(text("renewable_as", "Renewable as")),
)

_EXPIRIES = (
    day("quarter_start", "Quarter from"),
    gpus("held_gpus", "Expiring before", "Held commitments alone.", total=True),
    gpus("new_gpus", "Added by the plan", total=True),
    gpus("total_gpus", "Expiring after", "Held commitments and the plan's.", total=True),
)

_LADDER = (
    day("window_start", "Window from"),
    day("window_end", "Window to"),
    gpus("committed_before", "Committed before", "At the window's start, held alone."),
    gpus("expiring_before", "Expiring before", "Held commitments alone."),
    share("share_before", "Share before"),
    gpus("committed_after", "Committed after", "At the window's start, with the plan."),
    gpus("expiring_after", "Expiring after", "Held commitments and the plan's."),
    share("share_after", "Share after"),
    gpus("allowed_gpus", "Allowed", "What the ladder policy lets expire in the window."),
)

_CALENDAR = (
    text("id", "Campaign"),
    optional(text("team", "Team")),
    text("shape", "Shape"),
    text("outcome", "Outcome"),
    day("earliest", "Earliest"),
    day("start", "Start"),
    day("end", "End", "Day after the last day of use."),
    day("deadline", "Deadline"),
    text("pool", "Pool"),
    optional(text("spot_offer", "Spot offer")),
    gpus("gpus", "GPUs", "Gang: its size; elastic: most GPUs in use in any period."),
    gpu_hours("gpu_hours", "Used"),
    share("done_share", "Work done"),
    share("spot_share", "On spot", "Share of the work done that is done on spot."),
    money("direct_cost", "Direct cost", "Present value of the GPU-hours used."),
    money("idle_cost", "Idle cost", "Present value of idle capacity charged to it."),
    money("loaded_cost", "Loaded cost", "Direct and idle."),
    optional(money("drop_cost", "Drop cost", "Present value charged for what is not done.")),
)

_CAMPAIGN_USE = (
    text("campaign", "Campaign"),
    day("period_start", "Period from"),
    day("period_end", "Period to"),
    text("pool", "Pool"),
    text("spot_offer", "Spot offer", "Empty on the pool's stable capacity."),
    gpus("gpus", "GPUs", "Average over the period."),
    gpu_hours("gpu_hours", "Used"),
    gpu_hours("committed_gpu_hours", "Of it committed"),
    money("cost", "Direct cost", "Present value."),
)

_COST_PER_RUN = (
    text("id", "Campaign"),
    optional(text("team", "Team")),
    text("outcome", "Outcome"),
    number("runs", "Runs completed", "", "1, or the share done when partial.", total=True),
    gpu_hours("gpu_hours", "Used"),
    gpu_hours("committed_gpu_hours", "On committed"),
    optional(gpu_hours("spot_gpu_hours", "On spot")),
    money("direct_cost", "Direct cost", "Present value of the GPU-hours used."),
    money("idle_cost", "Idle cost", "Present value of idle capacity charged to it."),
    money("loaded_cost", "Loaded cost", "Direct and idle."),
    money("cost_per_run", "Cost per run", "Loaded cost ÷ runs completed.", total=False),
    share(
        "idle_share",
        "Idle share",
        "Idle cost ÷ loaded cost.",
        read=lambda row: row.idle_cost / row.loaded_cost if row.loaded_cost else None,
    ),
)

_SUMMARY_COLUMNS = (
    Column(key="figure", title="Figure"),
    Column(key="value", title="Value", format=Format.BY_UNIT, width=26),
    Column(key="unit", title="Unit"),
    Column(key="metric", title="Name", note="Name in result.json and in tables/*.csv."),
    Column(key="definition", title="Definition"),
)


def summary(result: Result) -> Table:
    """Return every metric with its unit and definition, after the status and the proof."""
    plan, currency = result.plan, result.scenario.currency
    head: list[tuple[Cell, ...]] = [
        ("Status", plan.status.value, "text", "status", "what the plan is"),
        ("Ended by", plan.termination.value, "text", "termination", "why the solver stopped"),
        ("Proven floor", plan.bound, currency, "bound", "no plan can cost less"),
        ("Gap", plan.gap, "share", "gap", "(objective − bound) ÷ |objective|"),
    ]
    body = [
        (
            metric_label(key),
            _metric_cell(value, METRICS[key].unit),
            METRICS[key].unit.replace("currency", currency),
            key,
            METRICS[key].definition,
        )
        for key, value in result.metrics.items()
        if key in METRICS
    ]
    return Table(
        name="summary",
        title="Figures and what they mean",
        columns=_SUMMARY_COLUMNS,
        rows=(*head, *body),
    )


def commitments(result: Result) -> Table:
    """Return what to sign, by the date it has to be signed."""
    rows = sorted(
        result.tables.commitments, key=lambda row: (row.sign_by, row.start, row.offer, row.end)
    )
    return tabulate(
        "commitments",
        "What to sign",
        _COMMITMENTS,
        rows,
        currency=result.scenario.currency,
        note="One line per order, the first to sign on top. End dates are exclusive.",
    )


def held(result: Result) -> Table:
    """Return the commitments already held."""
    return tabulate(
        "held",
        "What is already held",
        _HELD,
        result.tables.held,
        currency=result.scenario.currency,
        note="Their cost is sunk: reported here, and no part of the net present cost.",
    )


def expiries(result: Result) -> Table:
    """Return expiring GPUs by calendar quarter, before and after the plan."""
    return tabulate(
        "ladder",
        "Ladder: expiries by quarter",
        _EXPIRIES,
        result.tables.expiries,
        currency=result.scenario.currency,
        note="GPUs whose term ends in each calendar quarter: today's commitments alone (before), "
        "and with the plan (after).",
    )


def ladder_windows(result: Result) -> Table:
    """Return expiries by window of the ladder policy, with what it allows."""
    return tabulate(
        "ladder_windows",
        "Ladder: expiries by policy window",
        _LADDER,
        result.tables.ladder,
        currency=result.scenario.currency,
        note="Only terms that count for the ladder policy. The share is of the GPUs committed at "
        "the window's start.",
    )


def calendar(result: Result) -> Table:
    """Return every campaign with its dates, place, size and cost."""
    return tabulate(
        "calendar",
        "Campaigns: when, where and at what cost",
        _CALENDAR,
        result.tables.campaigns,
        currency=result.scenario.currency,
        note="Costs are present values. End dates and deadlines are exclusive.",
    )


def campaign_use(result: Result) -> Table:
    """Return where each campaign's GPUs come from, period by period."""
    return tabulate(
        "campaign_use",
        "Campaigns by period",
        _CAMPAIGN_USE,
        result.tables.campaign_use,
        currency=result.scenario.currency,
    )


def cost_per_run(result: Result) -> Table:
    """Return what each completed run costs, direct and idle apart."""
    return tabulate(
        "cost_per_run",
        "Cost per completed run",
        _COST_PER_RUN,
        result.tables.campaigns,
        currency=result.scenario.currency,
        note="Present values. Idle capacity is charged to the campaigns of its pool in proportion "
        "to their committed GPU-hours.",
    )


def _metric_cell(value: MetricValue, unit: str) -> Cell:
    if unit == "date" and isinstance(value, str):
        return date.fromisoformat(value)
    return value
