"""From a scenario and a plan to a result: no solver, so a saved plan can be read again."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from gpuladder.analysis.campaigns import campaign_rows, campaign_use_rows
from gpuladder.analysis.capacity import capacity_rows
from gpuladder.analysis.cash import cash_rows, in_horizon, quarter_rows
from gpuladder.analysis.frame import Frame, ratio
from gpuladder.analysis.idle import gap_rows
from gpuladder.analysis.ladder import cliff, expiry_rows, ladder_rows
from gpuladder.analysis.ledger import Ledger, ledger_of
from gpuladder.analysis.lock_in import lock_in_rows
from gpuladder.analysis.metrics import METRICS
from gpuladder.analysis.orders import commitment_rows, held_rows
from gpuladder.analysis.ratios import on_demand_equivalent, pool_rows, savings_rate
from gpuladder.analysis.references import require_references
from gpuladder.analysis.result import (
    AuditOutcome,
    CashRow,
    CostRow,
    Infeasibility,
    MetricValue,
    Result,
    Tables,
    UnallocatedRow,
)
from gpuladder.analysis.run_cost import Attribution, attribute, reconcile
from gpuladder.plan import Plan, Status

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date

    from gpuladder.errors import Problem
    from gpuladder.scenario.schema import Scenario


def analyse(
    scenario: Scenario,
    plan: Plan,
    *,
    audit: AuditOutcome | None = None,
    warnings: Sequence[Problem] = (),
    infeasible: Infeasibility | None = None,
    seconds: Mapping[str, float] | None = None,
    solver_log: str = "",
) -> Result:
    """Work out what a plan means.

    Parameters
    ----------
    audit : audit report, optional
        Carried along.
    warnings : sequence of Problem
        Carried along.
    infeasible : Infeasibility, optional
        Who is short of how much; kept only when the plan's status is infeasible.
    seconds : mapping, optional
        Time of the stages run so far; ``analyse`` is added.
    solver_log : str, optional
        Carried along.

    Raises
    ------
    AuditError
        When the plan names what the scenario has not, or when campaign costs, unallocated parts and
        revenue do not add up to its objective.
    """
    began = time.monotonic()
    metrics: dict[str, MetricValue] = {}
    tables = Tables()
    if plan.has_quantities and plan.objective is not None:
        frame = Frame.of(scenario, plan)
        require_references(frame)
        ledger = ledger_of(frame)
        attribution = attribute(ledger)
        reconcile(attribution, plan.objective)
        tables = _tables(ledger, attribution)
        metrics = _metrics(ledger, attribution, tables)
    spent = {**plan.seconds, **(seconds or {}), "analyse": round(time.monotonic() - began, 3)}
    return Result(
        scenario=scenario,
        plan=plan,
        audit=audit,
        warnings=tuple(warnings),
        metrics=metrics,
        tables=tables,
        infeasible=infeasible if plan.status is Status.INFEASIBLE else None,
        seconds=spent,
        solver_log=solver_log,
    )


def _tables(ledger: Ledger, attribution: Attribution) -> Tables:
    return Tables(
        commitments=commitment_rows(ledger),
        held=held_rows(ledger),
        campaigns=campaign_rows(ledger, attribution),
        campaign_use=campaign_use_rows(ledger, attribution),
        capacity=capacity_rows(ledger),
        gaps=gap_rows(ledger),
        pools=pool_rows(ledger),
        costs=tuple(CostRow(line=line, amount=amount) for line, amount in ledger.lines.items()),
        unallocated=tuple(
            UnallocatedRow(part=part, amount=amount)
            for part, amount in attribution.unallocated.items()
        ),
        quarters=quarter_rows(ledger),
        cash=cash_rows(ledger),
        lock_in=lock_in_rows(ledger),
        ladder=ladder_rows(ledger),
        expiries=expiry_rows(ledger),
    )


def _metrics(ledger: Ledger, attribution: Attribution, tables: Tables) -> dict[str, MetricValue]:
    """Return every metric, in the order of ``METRICS``."""
    values = {
        **_cost_metrics(ledger, attribution),
        **_run_metrics(attribution, tables),
        **_use_metrics(ledger, tables),
        **_saving_metrics(ledger, tables),
        **_exposure_metrics(tables),
        **_cash_metrics(ledger, tables.cash),
    }
    return {name: values[name] for name in METRICS}


def _cost_metrics(ledger: Ledger, attribution: Attribution) -> dict[str, MetricValue]:
    books, lines = ledger.pools.values(), ledger.lines
    direct, idle = sum(attribution.direct.values()), sum(attribution.idle.values())
    idle_cost = sum(float(book.idle_cost.sum()) for book in books)
    backfilled = sum(float(book.backfilled_cost.sum()) for book in books)
    return {
        "net_present_cost": ledger.objective,
        "committed_cost": sum(float(term.present_value.sum()) for term in ledger.orders),
        "metered_cost": lines["on_demand"] + lines["spot"] + lines["usage"],
        "held_cost": sum(float(term.present_value.sum()) for term in ledger.held),
        "direct_cost": direct,
        "idle_cost_charged": idle,
        "loaded_cost": direct + idle,
        "unallocated_cost": sum(attribution.unallocated.values()),
        "backfill_revenue": attribution.backfill_revenue,
        "idle_cost": idle_cost,
        "held_idle_cost": sum(float(book.held_idle_cost.sum()) for book in books),
        "idle_net_cost": idle_cost + backfilled + attribution.backfill_revenue,
    }


def _run_metrics(attribution: Attribution, tables: Tables) -> dict[str, MetricValue]:
    rows = tables.campaigns
    runs = sum(row.runs for row in rows)
    direct, idle = sum(attribution.direct.values()), sum(attribution.idle.values())
    done = sum(row.work * row.done_share for row in rows)
    on_spot = sum(row.work * row.done_share * row.spot_share for row in rows)
    outcomes = [row.outcome for row in rows]
    return {
        "runs_completed": runs,
        "campaigns_planned": outcomes.count("planned"),
        "campaigns_partial": outcomes.count("partial"),
        "campaigns_dropped": outcomes.count("dropped"),
        "cost_per_completed_run": ratio(direct + idle, runs),
        "direct_cost_per_completed_run": ratio(direct, runs),
        "idle_cost_per_completed_run": ratio(idle, runs),
        "spot_share": ratio(on_spot, done),
    }


def _use_metrics(ledger: Ledger, tables: Tables) -> dict[str, MetricValue]:
    books, rows = ledger.pools.values(), tables.pools
    used = sum(row.used_gpu_hours for row in rows)
    committed = sum(row.committed_gpu_hours for row in rows)
    committed_used = sum(row.committed_used_gpu_hours for row in rows)
    sold = sum(row.backfilled_gpu_hours for row in rows)
    return {
        "used_gpu_hours": used,
        "spot_gpu_hours": sum(row.spot_gpu_hours for row in tables.campaigns),
        "on_demand_gpu_hours": sum(float(book.metered_hours.sum()) for book in books),
        "committed_gpu_hours": committed,
        "held_gpu_hours": sum(float(book.held_hours.sum()) for book in books),
        "committed_used_gpu_hours": committed_used,
        "backfilled_gpu_hours": sold,
        "idle_gpu_hours": sum(row.idle_gpu_hours for row in rows),
        "coverage": ratio(committed_used, used),
        "utilisation": ratio(committed_used, committed),
        "utilisation_with_backfill": ratio(committed_used + sold, committed),
    }


def _saving_metrics(ledger: Ledger, tables: Tables) -> dict[str, MetricValue]:
    equivalent, base = on_demand_equivalent(tables.pools)
    cost = sum(row.cost for row in tables.pools)
    held = sum(float(term.present_value.sum()) for term in ledger.held)
    return {
        "on_demand_equivalent_cost": equivalent,
        "effective_savings_rate": savings_rate(cost + held, equivalent),
        "effective_savings_rate_sunk_excluded": savings_rate(cost, equivalent),
        "effective_savings_base": base,
    }


def _exposure_metrics(tables: Tables) -> dict[str, MetricValue]:
    peak = max(tables.lock_in, key=lambda row: row.obligation)
    locked = peak.obligation > 0.0
    before = cliff([(row.window_start, row.share_before) for row in tables.ladder])
    after = cliff([(row.window_start, row.share_after) for row in tables.ladder])
    sign_by = min((row.sign_by for row in tables.commitments), default=None)
    return {
        "lock_in_peak": peak.obligation,
        "lock_in_peak_date": _iso(peak.at) if locked else None,
        "lock_in_peak_months": peak.average_months if locked else None,
        "tail_cost": sum(row.tail for row in tables.commitments),
        "held_tail_cost": sum(row.tail for row in tables.held),
        "cliff_share_before": before[0],
        "cliff_window_before": _iso(before[1]),
        "cliff_share_after": after[0],
        "cliff_window_after": _iso(after[1]),
        "commitments_to_sign": len(tables.commitments),
        "gpus_to_sign": sum(row.gpus for row in tables.commitments),
        "first_sign_by": _iso(sign_by),
    }


def _cash_metrics(ledger: Ledger, rows: Sequence[CashRow]) -> dict[str, MetricValue]:
    months: dict[date, float] = {}
    for row in rows:
        months[row.month_start] = months.get(row.month_start, 0.0) + row.cash
    smallest = 1e-9 * max(map(abs, months.values()), default=0.0)
    paying = [month for month in sorted(months) if abs(months[month]) > smallest]
    peak = max(paying, key=lambda month: months[month], default=None)
    cash, accrual = in_horizon(ledger)
    return {
        "cash_total": sum(months.values()),
        "cash_in_horizon": cash,
        "cash_peak_month": _iso(peak),
        "cash_peak": None if peak is None else months[peak],
        "accrual_total": sum(row.accrual for row in rows),
        "accrual_in_horizon": accrual,
    }


def _iso(day: date | None) -> str | None:
    return None if day is None else day.isoformat()
