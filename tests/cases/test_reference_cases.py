"""Reference cases: scenario files whose optimal cost is known from elsewhere.

``data/cases`` holds small hand-derived scenarios, ``data/cases/random`` random ones that were
solved by an independent model. Both have their costs in ``expected.json``.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gpuladder.audit import audit
from gpuladder.plan import Status
from gpuladder.scenario.fingerprint import fingerprint
from gpuladder.scenario.loading import load
from gpuladder.solving import solve_scenario

CASES = Path(__file__).parents[1] / "data" / "cases"


def _expected(folder: Path) -> list[tuple[Path, dict[str, Any]]]:
    known = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    return [(folder / f"{name}.yaml", answer) for name, answer in known.items()]


ALL = _expected(CASES) + _expected(CASES / "random")


def test_every_case_file_has_an_expected_answer() -> None:
    """A case that nothing compares would give false comfort."""
    files = {file for folder in (CASES, CASES / "random") for file in folder.glob("*.yaml")}
    assert files == {file for file, _ in ALL}


@pytest.mark.parametrize(("file", "answer"), ALL, ids=[file.stem for file, _ in ALL])
def test_case_agrees_with_its_known_answer(file: Path, answer: dict[str, Any]) -> None:
    """A user would sign a plan that is dearer than need be, or that breaks a limit."""
    scenario = load(file, overrides=["solver.relative_gap=1e-6", "solver.threads=1"]).scenario
    plan = solve_scenario(scenario).plan
    if answer.get("status") == "infeasible":
        assert plan.status is Status.INFEASIBLE
        assert plan.objective is None
        return
    assert plan.status is Status.OPTIMAL
    assert plan.objective == pytest.approx(answer["objective"], rel=1e-4, abs=1e-6)
    report = audit(scenario, plan, fingerprint=fingerprint(scenario))
    assert report.findings == ()
    assert report.objective == pytest.approx(plan.objective, rel=1e-9, abs=1e-6)


def test_command_line_says_no_to_an_infeasible_case(tmp_path: Path) -> None:
    """A script that watches the exit code would take an infeasible calendar for a planned one."""
    done = subprocess.run(
        [sys.executable, "-m", "gpuladder", "solve", str(CASES / "too-late.yaml")],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 1, done.stderr
