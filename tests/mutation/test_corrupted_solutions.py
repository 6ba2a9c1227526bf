"""Plans from the solver: each stands up to the audit, and no record of one can be tampered with."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from gpuladder.audit import audit
from gpuladder.scenario.loading import load
from gpuladder.solving import solve_scenario

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpuladder.plan import Plan
    from gpuladder.scenario.schema import Scenario

CASES = Path(__file__).parents[1] / "data" / "cases"
NAMES = [
    "backfill",
    "burst-or-standing",
    "drop",
    "held",
    "ladder-binding",
    "spot-share",
    "time-to-train",
    "random/fuzz-1",
    "random/fuzz-20",
    "random/fuzz-24",
    "random/fuzz-35",
]
SIZES = {
    "orders": "lots",
    "on_demand": "gpus",
    "drawn": "gpus",
    "stable_use": "gpus",
    "spot_use": "gpus",
    "runs": "gpus",
    "dropped": "share",
    "backfill": "gpus",
    "costs": "amount",
}
Solved = tuple["Scenario", "Plan"]


@pytest.fixture(scope="module", params=NAMES)
def solved(request: pytest.FixtureRequest) -> Solved:
    """Return a scenario and its optimal plan."""
    scenario = load(CASES / f"{request.param}.yaml").scenario
    return scenario, solve_scenario(scenario).plan


def _records(plan: Plan) -> Iterator[tuple[str, int]]:
    """Yield every record that amounts to anything: half a cent of cost is none."""
    for table, size in SIZES.items():
        for position, record in enumerate(getattr(plan, table)):
            if abs(getattr(record, size)) > 0.005:
                yield table, position


def _replaced(plan: Plan, table: str, position: int, *records: Any) -> Plan:
    rows = getattr(plan, table)
    rest = (*rows[:position], *records, *rows[position + 1 :])
    return plan.model_copy(update={table: rest})


def test_solution_stands(solved: Solved) -> None:
    """The audit and the program read the scenario in the same way, or one of them is wrong."""
    scenario, plan = solved
    assert audit(scenario, plan).findings == ()


def test_record_taken_out(solved: Solved) -> None:
    """A plan with a line missing is not the plan that was costed."""
    scenario, plan = solved
    for table, position in _records(plan):
        assert not audit(scenario, _replaced(plan, table, position)).passed, (table, position)


def test_record_told_twice(solved: Solved) -> None:
    """A line that stands twice would be bought twice."""
    scenario, plan = solved
    for table, position in _records(plan):
        record = getattr(plan, table)[position]
        report = audit(scenario, _replaced(plan, table, position, record, record))
        assert "duplicate" in {item.code for item in report.findings}, (table, position)


def test_quantity_lowered(solved: Solved) -> None:
    """A little less of anything is not enough, or not what was costed."""
    scenario, plan = solved
    for table, position in _records(plan):
        record = getattr(plan, table)[position]
        value = getattr(record, SIZES[table])
        less = value - 1 if isinstance(value, int) else value - max(abs(value) * 1e-3, 0.01)
        changed = record.model_copy(update={SIZES[table]: less})
        report = audit(scenario, _replaced(plan, table, position, changed))
        assert not report.passed, (table, position)


def test_date_moved(solved: Solved) -> None:
    """An order, a run or a use moved by a day is another plan."""
    scenario, plan = solved
    for table, position in _records(plan):
        record = getattr(plan, table)[position]
        for name in ("start", "period"):
            if hasattr(record, name):
                later = getattr(record, name) + timedelta(days=1)
                changed = record.model_copy(update={name: later})
                report = audit(scenario, _replaced(plan, table, position, changed))
                assert not report.passed, (table, position)


def test_run_shortened(solved: Solved) -> None:
    """A run planned an hour too short is cut off before it is done."""
    scenario, plan = solved
    for position, run in enumerate(plan.runs):
        changed = run.model_copy(update={"hours": run.hours - 1.0})
        report = audit(scenario, _replaced(plan, "runs", position, changed))
        assert "run_mode" in {item.code for item in report.findings}
