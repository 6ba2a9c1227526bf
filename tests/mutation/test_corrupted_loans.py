"""Bought hardware on credit misstated in each way: the audit must notice."""

from __future__ import annotations

from dataclasses import asdict
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from gpuladder.analysis.analyse import analyse
from gpuladder.audit import audit
from gpuladder.plan import CostLine, Plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpuladder.scenario.schema import Scenario

    Build = Callable[[dict[str, Any]], Scenario]
    Price = Callable[[Scenario, Plan], Plan]

START = date(2026, 1, 5)
LOAN = {"rate": 0.2, "term": "26 weeks", "every": "2 weeks", "down_payment": 0.1}
CREDIT: dict[str, Any] = {
    "offers.own.financing": LOAN,
    "offers.own.residual_per_year": None,
    "offers.own.residual_curve": [{"age": "1 years", "share": 0.5}],
    "offers.own.residual_per_generation": 0.9,
    "offers.own.turnovers": ["2026-03-16"],
}
"""8 GPUs at 20,000 on 2 March, a tenth down: 144,000 in 13 payments, two of them (16 and 30 March)
by the horizon end, 30 March, which settles the rest."""
OTHERWISE: dict[str, dict[str, Any]] = {
    "in cash": {"offers.own.financing": None},
    "at another rate": {"offers.own.financing": LOAN | {"rate": 0.21}},
    "over another term": {"offers.own.financing": LOAN | {"term": "24 weeks"}},
    "in other payments": {"offers.own.financing": LOAN | {"every": "1 weeks"}},
    "with more down": {"offers.own.financing": LOAN | {"down_payment": 0.2}},
    "worth another share": {"offers.own.residual_curve": [{"age": "1 years", "share": 0.49}]},
    "never superseded": {"offers.own.turnovers": []},
}


def test_a_right_plan_stands(scenario_with: Build, priced: Price, plan: Plan) -> None:
    """A plan on credit, with all its figures, must not be called wrong."""
    scenario = scenario_with(CREDIT)
    valid = priced(scenario, plan)
    assert any(line.line == "owned_loan" and line.amount > 100_000 for line in valid.costs)
    result = analyse(scenario, valid)
    tables = ("campaigns", "unallocated", "gaps", "commitments", "costs")
    figures: dict[str, Any] = {"metrics": dict(result.metrics)}
    figures |= {name: [asdict(row) for row in getattr(result.tables, name)] for name in tables}
    assert audit(scenario, valid, figures=figures).findings == ()


@pytest.mark.parametrize("name", OTHERWISE)
def test_costs_of_other_terms_are_found(
    name: str, scenario_with: Build, priced: Price, plan: Plan
) -> None:
    """Hardware would be bought on terms that nobody offered."""
    as_if = priced(scenario_with(CREDIT | OTHERWISE[name]), plan)
    report = audit(scenario_with(CREDIT), as_if)
    assert {item.code for item in report.findings} == {"cost_line"}
    assert {item.key for item in report.findings} <= {"owned_capex", "owned_loan", "owned_residual"}


def test_a_debt_left_out_is_found(scenario_with: Build, priced: Price, plan: Plan) -> None:
    """The instalments of the horizon alone would pass for the whole loan."""
    scenario = scenario_with(CREDIT)
    valid = priced(scenario, plan)
    costs = tuple(
        CostLine(line=line.line, amount=11_000.0) if line.line == "owned_loan" else line
        for line in valid.costs
    )
    total = sum(line.amount for line in costs)
    update = {"costs": costs, "objective": total, "bound": total}
    report = audit(scenario, valid.model_copy(update=update))
    assert [(item.code, item.key) for item in report.findings] == [("cost_line", "owned_loan")]


def test_an_instalment_over_the_budget_is_found(
    scenario_with: Build, priced: Price, plan: Plan
) -> None:
    """A loan would be signed whose payments the company has no money for.

    The week from 16 March: one payment, about 144,000 / 13 with interest, 8 × 168 × 0.1 of running,
    and the dedicated lot of 16 at 3; backfill is no payment. One less, and the budget is broken.
    """
    payment = 144_000 / sum(1.2 ** (-14 * number / 365) for number in range(1, 14))
    billed = payment + 8 * 168 * 0.1 + 16 * 168 * 3
    day = START + timedelta(weeks=10)

    def budget(most: float) -> dict[str, Any]:
        return {"policy.cash_budgets": [{"from": day, "until": day + timedelta(7), "max": most}]}

    for most, found in ((billed + 0.01, set()), (billed - 1.0, {"cash_budget"})):
        scenario = scenario_with(CREDIT | budget(most))
        report = audit(scenario, priced(scenario, plan))
        assert {item.code for item in report.findings} == found


@pytest.mark.parametrize(
    "name", ["lock_in_peak", "cash_total", "cash_in_horizon", "accrual_total", "committed_cost"]
)
def test_figures_of_a_purchase_in_cash_are_found(
    name: str, scenario_with: Build, priced: Price, plan: Plan
) -> None:
    """What is owed, and what is paid when, would be told as if there were no loan."""
    credit, cash = scenario_with(CREDIT), scenario_with(CREDIT | OTHERWISE["in cash"])
    stated = analyse(cash, priced(cash, plan)).metrics[name]
    report = audit(credit, priced(credit, plan), figures={"metrics": {name: stated}})
    assert [(item.code, item.key) for item in report.findings] == [("metric", name)]
