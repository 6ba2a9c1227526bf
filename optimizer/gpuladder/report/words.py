"""What the result says, in sentences made from its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuladder.plan import Status, Termination
from gpuladder.report.amounts import amount, less_or_more, names, percent, quantity
from gpuladder.report.answer_words import answer_sentences, open_questions
from gpuladder.report.tables_proof import audit_sentence

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date

    from gpuladder.analysis.result import CommitmentRow, Result

_NAMES_SHOWN = 5
_NOTHING = 5e-5

_ENDED = {
    Termination.TIME_LIMIT: "the time limit was reached",
    Termination.INTERRUPTED: "the search was interrupted",
    Termination.SOLVER_ERROR: "the solver failed",
    Termination.UNBOUNDED: "the scenario pays for buying without end",
}


def headline(result: Result) -> str:
    """Return the answer in one sentence."""
    plan = result.plan
    if plan.status is Status.INFEASIBLE:
        return "No plan can satisfy this scenario: see who is short, and the smallest fix."
    if not plan.has_quantities:
        why = _ENDED.get(plan.termination, "it ended early")
        return f"The solver has no plan, and no proof that there is none: {why}."
    rows = result.tables.commitments
    if not rows:
        if result.tables.held:
            return "Sign nothing: what is held, and buying the rest by the hour, costs least."
        return "Sign nothing: buying what is needed by the hour costs least."
    first = min(row.sign_by for row in rows)
    if len(rows) == 1:
        return f"Sign 1 commitment for {quantity(rows[0].gpus)} GPUs, by {first}."
    return (
        f"Sign {len(rows)} commitments, together at most {quantity(most_at_once(rows))} GPUs at a "
        f"time, the first by {first}."
    )


def most_at_once(rows: Iterable[CommitmentRow]) -> float:
    """Return the most GPUs that commitments to sign hold on any one day."""
    known = tuple(rows)
    # Only where a term starts can the sum reach its height; end dates are exclusive.
    return max(
        (
            sum(row.gpus for row in known if row.start <= day < row.end)
            for day in {row.start for row in known}
        ),
        default=0,
    )


def sentences(result: Result) -> tuple[str, ...]:
    """Return the recommendation and what stands behind it, most important first."""
    if not result.plan.has_quantities:
        return (headline(result), *_shortfalls(result), *_endless(result))
    parts = (
        _proof(result),
        _savings(result),
        *answer_sentences(result),
        _campaigns(result),
        _idle(result),
        _lock_in(result),
        _cliff(result),
        audit_sentence(result),
        open_questions(result),
    )
    return (headline(result), *(part for part in parts if part))


def _proof(result: Result) -> str:
    plan = result.plan
    if plan.objective is None:
        return ""
    text = f"The net present cost is {amount(plan.objective, plan.currency)}"
    if plan.gap is None:
        return f"{text}; how close to the cheapest possible is not proven."
    if plan.status is Status.OPTIMAL:
        return f"{text}, proven to be within {percent(plan.gap)} of the cheapest possible."
    why = _ENDED.get(plan.termination, "the search ended early")
    return (
        f"{text}; {why}, and a plan up to {percent(plan.gap)} cheaper is not ruled out. "
        "The gap asked for is not proven."
    )


def _savings(result: Result) -> str:
    base = _number(result, "on_demand_equivalent_cost")
    rate = _number(result, "effective_savings_rate")
    if base is None or rate is None:
        return ""
    return (
        f"The same use at on-demand list prices would cost {amount(base, result.plan.currency)}; "
        f"this plan, with what is already held, costs {less_or_more(rate)}."
    )


def _campaigns(result: Result) -> str:
    rows = result.tables.campaigns
    if not rows:
        return ""
    done = [row for row in rows if row.outcome == "planned"]
    text = f"{len(done)} of {len(rows)} campaigns are done in full by their deadline"
    per_run = _number(result, "cost_per_completed_run")
    if per_run is not None:
        text += f", at {amount(per_run, result.plan.currency)} per completed run on average"
    for outcome, words in (("partial", "Done in part"), ("dropped", "Dropped")):
        found = [row.id for row in rows if row.outcome == outcome]
        text += f". {words}: {names(found)}" if found else ""
    return f"{text}."


def _idle(result: Result) -> str:
    committed = _number(result, "committed_gpu_hours")
    idle = _number(result, "idle_gpu_hours")
    cost = _number(result, "idle_cost")
    if not committed or idle is None or cost is None:
        return ""
    if idle < committed * _NOTHING:
        text = "No committed GPU-hour is idle"
    else:
        text = (
            f"{percent(idle / committed)} of the committed GPU-hours are idle, which costs "
            f"{amount(cost, result.plan.currency)}"
        )
    revenue = _number(result, "backfill_revenue")
    if revenue:
        text += f"; backfill {_backfill(result, -revenue, cost)}"
    return f"{text}."


def _backfill(result: Result, revenue: float, idle_cost: float) -> str:
    """Return what backfill brings in, against what the hours it buys cost to hold."""
    currency = result.plan.currency
    net_cost = _number(result, "idle_net_cost")
    if net_cost is None:
        return f"brings in {amount(revenue, currency)}"
    holding = net_cost - idle_cost + revenue
    return (
        f"brings in {amount(revenue, currency)} against {amount(holding, currency)} for holding "
        f"those hours: net {amount(revenue - holding, currency)}"
    )


def _lock_in(result: Result) -> str:
    peak = _number(result, "lock_in_peak")
    when = result.metrics.get("lock_in_peak_date")
    if not peak or when is None:
        return ""
    currency = result.plan.currency
    loans = " and loans" if any(row.loans for row in result.tables.lock_in) else ""
    text = f"At its height, on {when}, {amount(peak, currency)} are owed for remaining terms{loans}"
    tail = _number(result, "tail_cost")
    end = result.scenario.horizon.pieces[-1][0]
    if tail:
        text += f"; {amount(tail, currency)} of what the plan signs falls after {end}"
    return f"{text}."


def _cliff(result: Result) -> str:
    after = _number(result, "cliff_share_after")
    window = result.metrics.get("cliff_window_after")
    if not after or window is None:
        return ""
    before = _number(result, "cliff_share_before")
    today = f" (today's commitments alone: {percent(before)})" if before is not None else ""
    return (
        f"At most {percent(after)} of the committed GPUs run out in one window, the one from "
        f"{window}{today}."
    )


def _shortfalls(result: Result) -> tuple[str, ...]:
    if result.infeasible is None:
        return ()
    whole = (
        "With parts of lots, nodes and runs there would be a plan: whole ones alone are in the way."
    )
    short = [
        f"{names([row.id])} is short of {row.reading} GPU-hours. {row.fix}".strip()
        for row in result.infeasible.campaigns[:_NAMES_SHOWN]
    ]
    over = [
        f"{row.limit.replace('_', ' ')} {names([row.key]) if row.key else ''} is exceeded by "
        f"{quantity(row.excess)}. {row.fix}".strip()
        for row in result.infeasible.limits[:_NAMES_SHOWN]
    ]
    sets: dict[int, list[str]] = {}
    for conflict in result.infeasible.conflicts:
        sets.setdefault(conflict.conflict, []).append(conflict.reading)
    against = [f"These cannot all be kept: {'; '.join(members)}." for members in sets.values()]
    is_whole = result.infeasible.is_integrality_only
    return (*([whole] if is_whole else []), *short, *over, *against[:_NAMES_SHOWN])


def _endless(result: Result) -> tuple[str, ...]:
    return tuple(
        f"Buying {names([row.offer])} from {row.start} pays without end: "
        + (
            f"{names(list(row.buyers))} pays more for it than it costs."
            if row.buyers
            else "what it is worth afterwards is more than it costs."
        )
        for row in result.unbounded
    )


def _number(result: Result, key: str) -> float | None:
    value = result.metrics.get(key)
    return float(value) if isinstance(value, int | float) else None


def horizon_words(result: Result) -> str:
    """Return the horizon as ``2026-02-02 to 2027-02-01``."""
    start: date = result.scenario.horizon.start
    return f"{start} to {result.scenario.horizon.pieces[-1][0]}"
