"""What differs between two runs: their scenarios, plans, costs, metrics and shadow prices.

It reads two analysed results and solves nothing. Figures are subtracted only where that means
something: money in one currency, sums over one horizon. A difference that the proven gaps could
make is said to be one.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from gpuladder.analysis.metrics import CURRENCY, GPU_HOURS, METRICS
from gpuladder.review.diff_inputs import demand_changes, input_changes
from gpuladder.review.diff_plans import campaign_changes, order_changes
from gpuladder.review.diff_result import (
    CostChange,
    Diff,
    Figure,
    Kind,
    MetricChange,
    PriceChange,
    Reading,
    RunFacts,
    ShortfallChange,
)
from gpuladder.review.gates import check
from gpuladder.scenario.expand import time_grid
from gpuladder.scenario.fingerprint import fingerprint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpuladder.analysis.answers import ShadowPriceRow
    from gpuladder.analysis.result import Result
    from gpuladder.review.gates import Limit

SUMS = (CURRENCY, GPU_HOURS, "runs", "count", "GPUs")
"""Units of metrics that add up over the horizon; the others are shares and spans."""
ROUNDING = 1e-9
"""Relative difference that arithmetic makes."""


def diff(before: Result, after: Result, limits: Sequence[Limit] = ()) -> Diff:
    """Return what differs between two runs.

    Parameters
    ----------
    before, after : Result
        With or without a plan.
    limits : sequence of Limit
        By how much figures may rise.
    """
    facts = run_facts(before), run_facts(after)
    reasons = _why_not_comparable(*facts)
    is_comparable = not reasons
    metrics = _metrics(before, after, facts)
    orders, same_orders = order_changes(before, after)
    campaigns, same_campaigns = campaign_changes(before, after)
    found = Diff(
        before=facts[0],
        after=facts[1],
        reading=reading(*facts, is_comparable=is_comparable),
        objective=figure(facts[0].objective, facts[1].objective, is_comparable=is_comparable),
        is_same_scenario=fingerprint(before.scenario) == fingerprint(after.scenario),
        is_money_comparable=is_comparable,
        remarks=(*reasons, *_remarks(before, after, facts)),
        inputs=input_changes(before.scenario, after.scenario),
        demand=demand_changes(before.scenario, after.scenario),
        orders=orders,
        orders_unchanged=same_orders,
        campaigns=campaigns,
        campaigns_unchanged=same_campaigns,
        costs=_costs(before, after, is_comparable=is_comparable),
        metrics=tuple(row for row in metrics if row.differs),
        shadow_prices=_prices(before, after, facts),
        shadow_prices_asked=(
            bool(before.answers.shadow_prices),
            bool(after.answers.shadow_prices),
        ),
        shortfalls=_shortfalls(before, after),
    )
    return replace(found, gates=tuple(check(limit, found, metrics) for limit in limits))


def run_facts(result: Result) -> RunFacts:
    """Return which run it is, and how sure its answer."""
    plan, grid = result.plan, time_grid(result.scenario)
    has_plan = plan.has_quantities
    return RunFacts(
        scenario=result.scenario.name,
        sha256=plan.scenario.sha256,
        status=plan.status.value,
        termination=plan.termination.value,
        objective=plan.objective if has_plan else None,
        bound=plan.bound,
        gap=plan.gap if has_plan else None,
        currency=result.scenario.currency,
        horizon_start=grid.start,
        horizon_end=grid.end,
        is_audited=result.audit is not None and result.audit.passed,
        gpuladder=plan.versions.get("gpuladder"),
    )


def figure(before: float | None, after: float | None, *, is_comparable: bool = True) -> Figure:
    """Return a figure of both runs; what differs by rounding alone is the same."""
    change = share = None
    if is_comparable and before is not None and after is not None:
        change = after - before
        if math.isclose(before, after, rel_tol=ROUNDING, abs_tol=ROUNDING):
            change = 0.0
        share = change / abs(before) if before else (0.0 if change == 0.0 else None)
    return Figure(before=before, after=after, change=change, change_share=share)


def reading(before: RunFacts, after: RunFacts, *, is_comparable: bool) -> Reading:
    """Return what two net present costs say about each other.

    The cheapest possible plan of a run costs at least its bound and at most its plan. Two runs are
    told apart only where these spans do not meet.
    """
    first, second = before.objective, after.objective
    if first is None or second is None:
        return Reading.NO_PLAN
    if not is_comparable:
        return Reading.NOT_COMPARABLE
    if figure(first, second).change == 0.0:
        return Reading.SAME
    if second > first:
        is_apart = after.bound is not None and after.bound > first
        return Reading.HIGHER if is_apart else Reading.NOT_TOLD_APART
    is_apart = before.bound is not None and before.bound > second
    return Reading.LOWER if is_apart else Reading.NOT_TOLD_APART


def _why_not_comparable(before: RunFacts, after: RunFacts) -> tuple[str, ...]:
    reasons = []
    if before.currency != after.currency:
        reasons.append(
            f"money is in {before.currency} and in {after.currency}: no amount is subtracted"
        )
    spans = [f"{facts.horizon_start} to {facts.horizon_end}" for facts in (before, after)]
    if spans[0] != spans[1]:
        reasons.append(
            f"the horizons are {spans[0]} and {spans[1]}: sums over them (money, GPU-hours, "
            "runs, counts) are not subtracted; shares and single commitments are compared"
        )
    return tuple(reasons)


def _remarks(before: Result, after: Result, facts: tuple[RunFacts, RunFacts]) -> list[str]:
    """Return what makes comparable figures not quite like with like."""
    remarks = []
    first, second = before.scenario, after.scenario
    if first.discount_rate != second.discount_rate:
        remarks.append(
            f"present values are discounted at {first.discount_rate:g} and "
            f"{second.discount_rate:g} a year"
        )
    tails = first.policy.tail_charge, second.policy.tail_charge
    if tails[0] != tails[1]:
        remarks.append(
            f"the objective has {tails[0]:g} and {tails[1]:g} of what terms cost after the horizon"
        )
    grids = time_grid(first), time_grid(second)
    is_same_span = (grids[0].start, grids[0].end) == (grids[1].start, grids[1].end)
    if is_same_span and grids[0].boundaries != grids[1].boundaries:
        remarks.append("the same horizon is divided into other periods")
    for name, run in zip(("first", "second"), facts, strict=True):
        if run.has_plan and run.status != "optimal":
            gap = "no proven gap" if run.gap is None else f"a proven gap of {run.gap:.2%}"
            remarks.append(f"the plan of the {name} run is not proven: it has {gap}")
        if not run.is_audited:
            remarks.append(f"the audit refuses the {name} run: do not rely on its figures")
    asked = [bool(result.answers.shadow_prices) for result in (before, after)]
    if asked[0] != asked[1]:
        which = "first" if asked[0] else "second"
        remarks.append(f"shadow prices are not compared: only the {which} run has some")
    if facts[0].gpuladder != facts[1].gpuladder:
        remarks.append(
            f"solved by gpuladder {facts[0].gpuladder} and {facts[1].gpuladder}; analysed by this "
            "version alike"
        )
    return remarks


def _costs(before: Result, after: Result, *, is_comparable: bool) -> tuple[CostChange, ...]:
    """Return every cost line that has an amount in either run."""
    first = {row.line: row.amount for row in before.tables.costs}
    second = {row.line: row.amount for row in after.tables.costs}
    lines = (line for line in dict.fromkeys([*first, *second]))
    return tuple(
        CostChange(
            line=line,
            amount=figure(first.get(line), second.get(line), is_comparable=is_comparable),
        )
        for line in lines
        if first.get(line) or second.get(line)
    )


def _metrics(
    before: Result, after: Result, facts: tuple[RunFacts, RunFacts]
) -> tuple[MetricChange, ...]:
    """Return every metric in both runs."""
    has_currency = facts[0].currency == facts[1].currency
    spans = {(run.horizon_start, run.horizon_end) for run in facts}
    rows = []
    for name, metric in METRICS.items():
        values = before.metrics.get(name), after.metrics.get(name)
        if metric.unit in ("date", "text"):
            texts = [None if value is None else str(value) for value in values]
            rows.append(
                MetricChange(
                    metric=name, unit=metric.unit, value=None, before=texts[0], after=texts[1]
                )
            )
            continue
        is_comparable = (has_currency or metric.unit != CURRENCY) and (
            len(spans) == 1 or metric.unit not in SUMS
        )
        numbers = [value if isinstance(value, int | float) else None for value in values]
        rows.append(
            MetricChange(
                metric=name,
                unit=metric.unit,
                value=figure(numbers[0], numbers[1], is_comparable=is_comparable),
            )
        )
    return tuple(rows)


def _prices(
    before: Result, after: Result, facts: tuple[RunFacts, RunFacts]
) -> tuple[PriceChange, ...]:
    """Return the shadow prices that changed; none where one of the runs was not asked for them."""
    rows = [
        {(row.limit, row.key, row.period): row for row in result.answers.shadow_prices}
        for result in (before, after)
    ]
    if not all(rows):
        return ()
    changes = []
    for key in dict.fromkeys([*rows[0], *rows[1]]):
        old, new = rows[0].get(key), rows[1].get(key)
        units = None if old is None else old.unit, None if new is None else new.unit
        is_comparable = facts[0].currency == facts[1].currency and units[0] == units[1]
        figures = [
            figure(_of(old, name), _of(new, name), is_comparable=is_comparable)
            for name in ("fixed_plan_dual", "marginal_up", "marginal_down")
        ]
        if any(item.differs for item in figures):
            changes.append(
                PriceChange(
                    limit=key[0],
                    key=key[1],
                    period=key[2],
                    kind=Kind.ADDED if old is None else Kind.CHANGED if new else Kind.REMOVED,
                    unit_before=units[0],
                    unit_after=units[1],
                    fixed_plan_dual=figures[0],
                    marginal_up=figures[1],
                    marginal_down=figures[2],
                )
            )
    return tuple(changes)


def _of(row: ShadowPriceRow | None, name: str) -> float | None:
    value: float | None = None if row is None else getattr(row, name)
    return value


def _shortfalls(before: Result, after: Result) -> tuple[ShortfallChange, ...]:
    """Return who is short of how much and which limits give way, of runs without a plan."""
    amounts: list[dict[tuple[str, str], float]] = []
    for result in (before, after):
        found = result.infeasible
        rows = (
            {}
            if found is None
            else {
                **{("campaign", row.id): row.short_gpu_hours for row in found.campaigns},
                **{(row.limit, row.key): row.excess for row in found.limits},
            }
        )
        amounts.append(rows)
    return tuple(
        ShortfallChange(
            what=what,
            key=key,
            amount=figure(amounts[0].get((what, key)), amounts[1].get((what, key))),
        )
        for what, key in dict.fromkeys([*amounts[0], *amounts[1]])
    )
