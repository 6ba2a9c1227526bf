"""Cells of a sweep, solved and kept: one file per cell, written whole or not at all.

A file is named by everything that its answer depends on: the scenario with the cell's values and
its solver options, and the versions of the software. So a sweep that was interrupted goes on where
it was, a wider one takes over what it shares with an earlier one, and no answer is ever taken for
another question's.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from gpuladder.analysis.analyse import analyse
from gpuladder.audit import audit
from gpuladder.errors import AuditError, Problem, ReportError
from gpuladder.plan import Plan, Termination
from gpuladder.scenario.fingerprint import fingerprint
from gpuladder.solving import solve_scenario, versions

if TYPE_CHECKING:
    from gpuladder.scenario.schema import Scenario

SCHEMA = "gpuladder.cell/1"
METRICS = ("spot_share", "cost_per_completed_run", "utilisation", "lock_in_peak")
"""Metrics that a cell keeps of its plan."""
UNFINISHED = (Termination.INTERRUPTED, Termination.SOLVER_ERROR)
"""Endings that say nothing about the scenario: such cells are solved again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A cell to be solved; picklable."""

    name: str
    """Its file name; see ``cell_name``."""
    scenario: Scenario
    folder: Path | None
    """Folder of the files; nothing is kept without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What solving a cell gave."""

    plan: Plan
    findings: tuple[str, ...] = ()
    """What the audit found; a plan with findings is not one to sign on."""
    metrics: dict[str, float | None] = field(default_factory=dict)

    @property
    def is_finished(self) -> bool:
        """Whether it says something about the scenario."""
        return self.plan.termination not in UNFINISHED


def single_threaded(scenario: Scenario) -> Scenario:
    """Return the scenario as its cell is solved: with one thread.

    With several, which plan of a gap is found may depend on the machine.
    """
    solver = scenario.solver.model_copy(update={"threads": 1})
    return scenario.model_copy(update={"solver": solver})


def cell_name(scenario: Scenario) -> str:
    """Return the name of a cell's file: SHA-256 of all that its answer depends on."""
    content = {"schema": SCHEMA, "scenario": fingerprint(scenario), "versions": versions()}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def solve_cell(task: Task) -> Answer:
    """Solve a cell, audit its plan, keep it in its file when it is finished."""
    plan = solve_scenario(task.scenario).plan
    answer = Answer(plan=plan)
    if plan.has_quantities:
        answer = _examined(task.scenario, plan)
    if task.folder is not None and answer.is_finished:
        _write(task.folder, task.name, answer)
    return answer


def read_cell(folder: Path, name: str) -> Answer | None:
    """Return the answer kept under a name; None when there is none, or its file is damaged."""
    try:
        content = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        if content["schema"] != SCHEMA or content["name"] != name:
            return None
        return Answer(
            plan=Plan.model_validate(content["plan"]),
            findings=tuple(str(text) for text in content["findings"]),
            metrics={key: content["metrics"][key] for key in METRICS if key in content["metrics"]},
        )
    except (OSError, ValueError, ValidationError, KeyError, TypeError):
        return None


def _examined(scenario: Scenario, plan: Plan) -> Answer:
    findings = [
        f"{item.code} {item.key}: {item.message}"
        for item in audit(scenario, plan, fingerprint=fingerprint(scenario)).findings
    ]
    metrics: dict[str, Any] = {}
    try:
        metrics = dict(analyse(scenario, plan).metrics)
    except AuditError as error:
        findings += [problem.what for problem in error.problems]
    return Answer(
        plan=plan,
        findings=tuple(findings),
        metrics={name: metrics.get(name) for name in METRICS},
    )


def _write(folder: Path, name: str, answer: Answer) -> None:
    content = {
        "schema": SCHEMA,
        "name": name,
        "plan": answer.plan.model_dump(mode="json"),
        "findings": list(answer.findings),
        "metrics": answer.metrics,
    }
    try:
        draft = folder / f".{name}-{secrets.token_hex(8)}"
        try:
            with draft.open("w", encoding="utf-8") as file:
                json.dump(content, file, allow_nan=False)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(folder / f"{name}.json")
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from error


def unwritable(folder: Path, error: OSError) -> ReportError:
    """Return the error that says why finished cells cannot be kept in a folder."""
    return ReportError(
        Problem(
            code="GL-F001",
            where=str(error.filename or folder),
            what=f"finished cells cannot be kept there: {error.strerror or error}",
            why="a sweep that cannot go on where it was is not begun",
            fix="free some space, or name another folder",
        )
    )
