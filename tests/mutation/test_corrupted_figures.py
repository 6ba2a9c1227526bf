"""Every figure of a result changed a little: the audit must name that figure."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest

from gpuladder.analysis.analyse import analyse
from gpuladder.analysis.metrics import METRICS
from gpuladder.audit import audit
from gpuladder.audit.metrics import NOT_FIGURES, TABLES

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpuladder.plan import Plan
    from gpuladder.scenario.schema import Scenario

Audited = tuple["Scenario", "Plan", dict[str, Any]]


@pytest.fixture(scope="module")
def audited(
    scenario_with: Callable[[dict[str, Any]], Scenario],
    priced: Callable[[Scenario, Plan], Plan],
    plan: Plan,
) -> Audited:
    """Return the scenario, the plan and all its figures, which stand up to the audit."""
    scenario = scenario_with({})
    valid = priced(scenario, plan)
    result = analyse(scenario, valid)
    figures: dict[str, Any] = {"metrics": dict(result.metrics)}
    for table in TABLES[1:]:
        figures[table] = [asdict(row) for row in getattr(result.tables, table)]
    return scenario, valid, figures


def test_all_figures_stand(audited: Audited) -> None:
    """A true report must not be called wrong, or nobody would heed the audit."""
    scenario, plan, figures = audited
    assert audit(scenario, plan, figures=figures).findings == ()


def _changed(value: Any) -> Any:
    if value is None:
        return 1.0
    if isinstance(value, str):
        return "2026-01-06"
    return value + max(abs(value) * 1e-4, 0.1)


@pytest.mark.parametrize("name", [name for name in METRICS if name not in NOT_FIGURES])
def test_changed_metric(name: str, audited: Audited) -> None:
    """A headline figure off by a hundredth of a per cent would go out unnoticed."""
    scenario, plan, figures = audited
    metrics = {**figures["metrics"], name: _changed(figures["metrics"][name])}
    report = audit(scenario, plan, figures={**figures, "metrics": metrics})
    assert {item.code for item in report.findings} == {"metric"}
    assert name in {item.key for item in report.findings}


@pytest.mark.parametrize(
    ("table", "name"),
    [
        ("campaigns", "direct_cost"),
        ("campaigns", "idle_cost"),
        ("campaigns", "loaded_cost"),
        ("campaigns", "gpu_hours"),
        ("campaigns", "committed_gpu_hours"),
        ("campaigns", "spot_share"),
        ("campaigns", "done_share"),
        ("unallocated", "amount"),
        ("gaps", "idle_gpu_hours"),
        ("gaps", "idle_cost"),
        ("commitments", "cost"),
        ("commitments", "tail"),
        ("commitments", "lots"),
        ("costs", "amount"),
    ],
)
def test_changed_row(table: str, name: str, audited: Audited) -> None:
    """A single row off by ten cents would put the blame, or the money, in the wrong place."""
    scenario, plan, figures = audited
    for position, row in enumerate(figures[table]):
        rows = list(figures[table])
        rows[position] = {**row, name: _changed(row[name])}
        report = audit(scenario, plan, figures={**figures, table: rows})
        assert {item.code for item in report.findings} == {"metric"}, row
