"""Small scenarios and hand-written plans whose figures can be worked out on paper."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from gpuladder.analysis.analyse import analyse
from gpuladder.plan import Plan, ScenarioRef, SolveOptions, Status, Termination
from gpuladder.scenario.schema import Scenario

MONDAY = date(2026, 7, 6)


def write_scenario(**changes: Any) -> Scenario:
    """Return one pool of H100 with on-demand at 3.00, weekly for 26 weeks from a Monday."""
    document: dict[str, Any] = {
        "name": "small",
        "horizon": {"start": MONDAY, "end": date(2027, 1, 4), "step": "week"},
        "hardware": [{"id": "h100", "memory_gb": 80, "gpus_per_node": 8, "peak_tflops": 989}],
        "pools": [{"id": "east", "provider": "acme", "region": "us", "hardware": "h100"}],
        "offers": [{"id": "od", "pool": "east", "kind": "on_demand", "price": 3.0}],
        "preemption_classes": [{"id": "critical", "spot_share_max": 0}],
        "campaigns": [],
        **changes,
    }
    return Scenario.model_validate(document)


def write_plan(scenario: Scenario, objective: float | None, **records: Any) -> Plan:
    """Return a plan with the given records; without a status it is optimal."""
    return Plan.model_validate(
        {
            "scenario": ScenarioRef(name=scenario.name, sha256="0" * 64),
            "currency": scenario.currency,
            "status": records.pop("status", Status.OPTIMAL),
            "termination": records.pop("termination", Termination.GAP_REACHED),
            "objective": objective,
            "bound": objective,
            "gap": None if objective is None else 0.0,
            "options": SolveOptions(time_limit_seconds=1, relative_gap=0, threads=1, seed=0),
            "versions": {"gpuladder": "1"},
            "seconds": {"build": 0.1, "solve": 0.2},
            **records,
        }
    )


def weeks_from(number: int) -> date:
    """Return the Monday that many weeks after the horizon start."""
    return date.fromordinal(MONDAY.toordinal() + 7 * number)


class Desk:
    """What a test needs to write a scenario and a plan and read the result."""

    scenario = staticmethod(write_scenario)
    plan = staticmethod(write_plan)
    week = staticmethod(weeks_from)

    def result(self, scenario: Scenario, objective: float, **records: Any) -> Any:
        """Analyse a hand-written plan."""
        return analyse(scenario, write_plan(scenario, objective, **records))


@pytest.fixture
def desk() -> Desk:
    """The writing desk."""
    return Desk()
