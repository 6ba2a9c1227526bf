"""What must hold between the figures of any plan, on solved scenarios of every kind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpuladder.analysis.analyse import analyse
from gpuladder.analysis.document import result_document
from gpuladder.scenario.loading import load
from gpuladder.solving import solve_scenario

CASES = Path(__file__).parents[1] / "data" / "cases"
NAMES = (
    "burst-or-standing",
    "drop",
    "held",
    "ladder-binding",
    "spot-share",
    "tail-charged",
    "upfront",
    "random/fuzz-7",
    "random/fuzz-10",
    "random/fuzz-14",
    "random/fuzz-19",
    "random/fuzz-20",
    "random/fuzz-25",
    "random/fuzz-31",
)
"""Every kind of offer, flex and bought hardware, backfill, demand, held commitments, discounting,
mixed grids, charged tails, drops and a negative objective."""


@pytest.fixture(scope="module", params=NAMES)
def solved(request):
    """A solved and analysed case."""
    scenario = load(CASES / f"{request.param}.yaml").scenario
    return analyse(scenario, solve_scenario(scenario).plan)


def close(value, total, scale):
    """Tell whether two sums agree up to rounding at their scale."""
    return value == pytest.approx(total, rel=1e-9, abs=1e-9 * max(scale, 1.0))


def test_lines_recomputed_from_quantities_are_the_plans(solved):
    """The report would show other costs than the plan was chosen by."""
    stated = {line.line: line.amount for line in solved.plan.costs}
    for row in solved.tables.costs:
        assert close(row.amount, stated.get(row.line, 0.0), abs(row.amount))


def test_loaded_costs_unallocated_and_revenue_make_the_objective(solved):
    """Money would be lost or counted twice between campaigns and the total."""
    loaded = sum(row.loaded_cost for row in solved.tables.campaigns)
    rest = sum(row.amount for row in solved.tables.unallocated)
    revenue = solved.metrics["backfill_revenue"]
    objective = solved.plan.objective
    assert loaded + rest + revenue == pytest.approx(objective, rel=1e-6, abs=1e-6)


def test_campaign_use_adds_up_to_direct_cost(solved):
    """The period detail of a campaign would contradict its total."""
    for row in solved.tables.campaigns:
        parts = [use for use in solved.tables.campaign_use if use.campaign == row.id]
        assert close(sum(use.cost for use in parts), row.direct_cost, row.direct_cost)
        assert close(sum(use.gpu_hours for use in parts), row.gpu_hours, row.gpu_hours)


def test_quarters_add_up_to_each_cost_line(solved):
    """A quarterly review would not add up to the year."""
    for row in solved.tables.costs:
        quarters = [q.present_value for q in solved.tables.quarters if q.line == row.line]
        assert close(sum(quarters), row.amount, abs(row.amount))


def test_cash_and_accrual_reconcile_line_by_line(solved):
    """Finance would see two totals for one contract."""
    rows = solved.tables.cash
    for line in {row.line for row in rows}:
        cash = sum(row.cash for row in rows if row.line == line)
        accrual = sum(row.accrual for row in rows if row.line == line)
        assert close(cash, accrual, abs(cash))
    monthly = sum(row.cash for row in rows)
    quarterly = sum(row.cash for row in solved.tables.quarters)
    assert close(monthly, quarterly, abs(monthly))


def test_gpu_hours_are_conserved(solved):
    """Use would appear from nowhere, or paid capacity disappear."""
    metrics = solved.metrics
    committed = metrics["committed_gpu_hours"]
    spent = ("committed_used_gpu_hours", "backfilled_gpu_hours", "idle_gpu_hours")
    assert sum(metrics[name] for name in spent) == pytest.approx(committed, rel=1e-6, abs=1e-3)
    sources = ("committed_used_gpu_hours", "on_demand_gpu_hours", "spot_gpu_hours")
    supplied = sum(metrics[name] for name in sources)
    assert supplied == pytest.approx(metrics["used_gpu_hours"], rel=1e-6, abs=1e-3)


def test_capacity_meets_its_use_in_every_period(solved):
    """The capacity chart would show demand that nothing serves."""
    for row in solved.tables.capacity:
        kinds = (row.held_gpus, row.burst_window_gpus, row.reserved_gpus, row.dedicated_gpus)
        committed = sum(kinds) + row.owned_gpus + row.flex_gpus
        used = row.committed_used_gpus + row.backfill_gpus + row.idle_gpus
        assert committed == pytest.approx(used, abs=1e-4)
        served = row.committed_used_gpus + row.on_demand_gpus
        assert served == pytest.approx(row.demand_gpus + row.campaign_gpus, abs=1e-4)


def test_gaps_hold_all_idle_hours_and_their_cost(solved):
    """Idle would be charged that no gap shows."""
    gaps, metrics = solved.tables.gaps, solved.metrics
    hours = sum(gap.idle_gpu_hours for gap in gaps)
    assert hours == pytest.approx(metrics["idle_gpu_hours"], rel=1e-9, abs=1e-6)
    cost = sum(gap.idle_cost for gap in gaps)
    assert cost == pytest.approx(metrics["idle_cost"], rel=1e-6, abs=1e-2)


def test_the_tail_is_the_same_in_lock_in_and_orders(solved):
    """The obligation after the horizon would depend on the sheet that is read."""
    end = max(solved.tables.capacity, key=lambda row: row.period_end).period_end
    (last,) = (row for row in solved.tables.lock_in if row.at == end)
    tails = sum(row.tail for row in solved.tables.commitments)
    tails += sum(row.tail for row in solved.tables.held)
    assert close(last.obligation, tails, tails)
    assert close(last.after_horizon, tails, tails)


def test_the_document_is_strict_json(solved):
    """A script could not read the answer of some scenarios."""
    text = json.dumps(result_document(solved), allow_nan=False)
    assert json.loads(text)["objective"] == solved.plan.objective
