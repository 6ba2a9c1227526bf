"""Every table of the deliverable, in order; columns are defined in the ``tables_*`` modules."""

from __future__ import annotations

from collections.abc import Callable

from gpuladder.analysis.result import Result
from gpuladder.report import tables_answers as of_answers
from gpuladder.report import tables_capacity as of_capacity
from gpuladder.report import tables_costs as of_costs
from gpuladder.report import tables_invoice as of_invoice
from gpuladder.report import tables_owned as of_owned
from gpuladder.report import tables_plan as of_plan
from gpuladder.report import tables_proof as of_proof
from gpuladder.report.table import Table
from gpuladder.report.tables_inputs import inputs

Make = Callable[[Result], Table]

PLAN_TABLES: tuple[Make, ...] = (
    of_plan.commitments,
    of_plan.held,
    of_plan.expiries,
    of_plan.ladder_windows,
    of_plan.calendar,
    of_plan.campaign_use,
    of_capacity.capacity_total,
    of_capacity.capacity_by_pool,
    of_capacity.idle,
    of_capacity.pools,
    of_plan.cost_per_run,
    of_costs.costs,
    of_costs.unallocated,
    of_costs.cost_by_quarter,
    of_costs.quarter_lines,
    of_costs.cash_accrual,
    of_costs.cash_lines,
    of_costs.lock_in,
    of_invoice.invoice_overview,
    of_invoice.invoice,
    of_invoice.invoice_totals,
    of_invoice.invoice_barred,
    of_invoice.invoice_lines,
    of_owned.owned_orders,
    of_owned.owned_quarters,
)
"""Tables of a plan; all without rows when there is none."""

ANSWER_TABLES: tuple[Make, ...] = (
    of_answers.shadow_prices,
    of_answers.walk_away,
    of_answers.burst_or_standing,
    of_answers.structures,
    of_answers.flips,
    of_answers.baselines,
    of_answers.waterfall,
    of_answers.alternatives,
    of_answers.quantity_ranges,
    of_answers.sensitivity,
    of_answers.unanswered,
)
"""Answers beside a plan; without rows where a question was not asked."""

PROOF_TABLES: tuple[Make, ...] = (
    of_proof.audit,
    of_proof.warnings,
    of_proof.provenance,
)

NO_PLAN_TABLES: tuple[Make, ...] = (
    of_proof.short_campaigns,
    of_proof.exceeded_limits,
    of_proof.conflicts,
)


def all_tables(result: Result) -> tuple[Table, ...]:
    """Return every table of a result, those without rows included.

    With a plan: figures, plan tables, answers beside it, proof, inputs. Without one: figures, who
    is short of what, proof, inputs.
    """
    middle = (*PLAN_TABLES, *ANSWER_TABLES) if result.plan.has_quantities else NO_PLAN_TABLES
    return (
        of_plan.summary(result),
        *(make(result) for make in (*middle, *PROOF_TABLES)),
        *inputs(result),
    )
