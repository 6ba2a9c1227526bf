"""A scenario of one pool and one metered offer, to be extended, and plans to be priced."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

import pytest

from gpuladder.audit import AuditReport, audit
from gpuladder.plan import Plan, ScenarioRef, SolveOptions, Status, Termination
from gpuladder.scenario.schema import Scenario

if TYPE_CHECKING:
    from collections.abc import Callable

BASE: dict[str, Any] = {
    "name": "small",
    "horizon": {"start": date(2026, 7, 6), "end": date(2026, 8, 3), "step": "week"},
    "hardware": [{"id": "h100", "memory_gb": 80, "gpus_per_node": 8, "peak_tflops": 989}],
    "pools": [{"id": "east", "provider": "acme", "region": "us", "hardware": "h100"}],
    "offers": [{"id": "od", "pool": "east", "kind": "on_demand", "price": 3}],
    "preemption_classes": [{"id": "critical", "spot_share_max": 0}],
    "campaigns": [],
}


@pytest.fixture(scope="session")
def small() -> Callable[..., Scenario]:
    """Build the four-week scenario with tables replaced; ``more_offers`` are added."""

    def build(more_offers: tuple[dict[str, Any], ...] = (), **tables: Any) -> Scenario:
        content = {**BASE, **tables}
        content["offers"] = [*content["offers"], *more_offers]
        return Scenario.model_validate(content)

    return build


@pytest.fixture(scope="session")
def plan_of() -> Callable[..., Plan]:
    """Build a plan from its records, with nothing said of its cost."""

    def build(scenario: Scenario, **records: Any) -> Plan:
        values: dict[str, Any] = {
            "scenario": ScenarioRef(name=scenario.name, sha256=""),
            "currency": scenario.currency,
            "status": Status.FEASIBLE,
            "termination": Termination.TIME_LIMIT,
            "objective": 0.0,
            "bound": None,
            "gap": None,
            "options": SolveOptions(time_limit_seconds=1, relative_gap=0.005, threads=1, seed=0),
            "versions": {},
            "seconds": {},
        }
        return Plan(**{**values, **records})

    return build


@pytest.fixture(scope="session")
def lines_of() -> Callable[[AuditReport], dict[str, float]]:
    """Return the recomputed cost lines that are not zero."""
    return lambda report: {item.line: item.amount for item in report.cost_lines if item.amount}


@pytest.fixture(scope="session")
def faults() -> Callable[[Scenario, Plan], list[tuple[str, str]]]:
    """Return (code, key) of all findings but those on cost, which these plans do not state."""

    def find(scenario: Scenario, plan: Plan) -> list[tuple[str, str]]:
        report = audit(scenario, plan)
        money = ("cost_line", "objective")
        return [(item.code, item.key) for item in report.findings if item.code not in money]

    return find
