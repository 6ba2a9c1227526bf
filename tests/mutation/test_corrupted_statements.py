"""Costs, objective, proof and provenance misstated: the audit must name what is misstated."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

from gpuladder.audit import audit
from gpuladder.plan import COST_LINES, CostLine, Plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpuladder.scenario.schema import Scenario


def _restated(plan: Plan, line: str, amount: float) -> Plan:
    """Add an amount to one cost line and to the objective."""
    amounts = {item.line: item.amount for item in plan.costs}
    amounts[line] = amounts.get(line, 0.0) + amount
    costs = tuple(CostLine(line=name, amount=value) for name, value in amounts.items())
    total = sum(amounts.values())
    return plan.model_copy(update={"costs": costs, "objective": total, "bound": total})


@pytest.mark.parametrize("line", COST_LINES)
@pytest.mark.parametrize("cents", [1.0, -1.0])
def test_cost_line_off_by_a_cent(
    line: str,
    cents: float,
    scenario_with: Callable[[dict[str, Any]], Scenario],
    priced: Callable[[Scenario, Plan], Plan],
    plan: Plan,
) -> None:
    """A budget would rest on a cost that the quantities do not have."""
    scenario = scenario_with({})
    report = audit(scenario, _restated(priced(scenario, plan), line, cents / 100.0))
    assert [(item.code, item.key) for item in report.findings] == [("cost_line", line)]


STATEMENTS: list[tuple[str, str, dict[str, Any]]] = [
    ("objective", "objective-off-by-a-cent", {"objective": 0.01}),
    ("bound", "bound-above-objective", {"bound": 5.0}),
    ("bound", "optimal-with-a-wide-gap", {"bound": -10_000.0, "gap": 0.0}),
]


@pytest.mark.parametrize(("code", "name", "offsets"), STATEMENTS, ids=str)
def test_misstated_result(
    code: str,
    name: str,
    offsets: dict[str, float],
    scenario_with: Callable[[dict[str, Any]], Scenario],
    priced: Callable[[Scenario, Plan], Plan],
    plan: Plan,
) -> None:
    """An objective or a proof that is not so would be reported as the best that can be done."""
    scenario = scenario_with({})
    valid = priced(scenario, plan)
    values = {key: getattr(valid, key) + offset for key, offset in offsets.items()}
    report = audit(scenario, valid.model_copy(update=values))
    assert {item.code for item in report.findings} == {code}, name


@pytest.mark.parametrize(
    "change",
    [
        {"bound": None, "gap": None},
        {"bound": math.nan},
        {"bound": None, "gap": 0.0, "status": "optimal"},
        {"gap": 0.004},
    ],
    ids=["no-bound", "bound-not-a-number", "no-bound-but-a-gap", "gap-misstated"],
)
def test_proof_missing(
    change: dict[str, Any],
    scenario_with: Callable[[dict[str, Any]], Scenario],
    priced: Callable[[Scenario, Plan], Plan],
    plan: Plan,
) -> None:
    """A plan would be called proven optimal without a proof."""
    scenario = scenario_with({})
    report = audit(scenario, priced(scenario, plan).model_copy(update=change))
    assert {item.code for item in report.findings} == {"bound"}


@pytest.mark.parametrize("key", ["name", "currency", "sha256"])
def test_plan_of_another_scenario(
    key: str,
    scenario_with: Callable[[dict[str, Any]], Scenario],
    priced: Callable[[Scenario, Plan], Plan],
    plan: Plan,
) -> None:
    """A plan for last quarter's scenario would be signed for this one."""
    scenario = scenario_with({"name": "other"} if key == "name" else {})
    valid = priced(scenario, plan)
    if key == "currency":
        valid = valid.model_copy(update={"currency": "EUR"})
    report = audit(scenario, valid, fingerprint="abcd" if key == "sha256" else "abc")
    assert [(item.code, item.key) for item in report.findings] == [("scenario_mismatch", key)]


def test_cost_line_that_does_not_exist(
    scenario_with: Callable[[dict[str, Any]], Scenario],
    priced: Callable[[Scenario, Plan], Plan],
    plan: Plan,
) -> None:
    """A made-up line could hide any cost."""
    scenario = scenario_with({})
    valid = priced(scenario, plan)
    costs = (*valid.costs, CostLine(line="goodwill", amount=0.0))
    report = audit(scenario, valid.model_copy(update={"costs": costs}))
    assert [(item.code, item.key) for item in report.findings] == [("unknown_id", "goodwill")]


def test_plan_without_an_objective(
    scenario_with: Callable[[dict[str, Any]], Scenario],
    priced: Callable[[Scenario, Plan], Plan],
    plan: Plan,
) -> None:
    """A plan with quantities and no cost cannot be compared with any other."""
    scenario = scenario_with({})
    report = audit(scenario, priced(scenario, plan).model_copy(update={"objective": None}))
    assert {item.code for item in report.findings} == {"objective"}


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, 1e300], ids=str)
@pytest.mark.parametrize(
    ("table", "name"),
    [
        ("on_demand", "gpus"),
        ("drawn", "gpus"),
        ("stable_use", "gpus"),
        ("spot_use", "gpus"),
        ("runs", "hours"),
        ("dropped", "share"),
        ("backfill", "gpus"),
    ],
)
def test_impossible_number(
    table: str,
    name: str,
    value: float,
    scenario_with: Callable[[dict[str, Any]], Scenario],
    priced: Callable[[Scenario, Plan], Plan],
    plan: Plan,
) -> None:
    """A file may hold any number; the audit must name it rather than pass it or fall over it."""
    scenario = scenario_with({})
    valid = priced(scenario, plan)
    first, *rest = getattr(valid, table)
    changed = valid.model_copy(update={table: (first.model_copy(update={name: value}), *rest)})
    assert "negative" in {item.code for item in audit(scenario, changed).findings}
