"""How the solver behaves over time: limits, progress, interruption, starts and threads."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.analytic.builders import scenario
from tests.unit.programs import EXACT, hard_scenario, knapsack, program_of, sparse_calendar

from gpuladder.plan import SolveOptions, Status, Termination
from gpuladder.program import make_program_data
from gpuladder.solver import Program
from gpuladder.solving import solve_options, solve_scenario, start_values
from gpuladder_models.build import build_model

ROOT = Path(__file__).parents[2]


def child(code: str, **options: object) -> subprocess.Popen[str]:
    """Start Python on a piece of code."""
    return subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,  # type: ignore[call-overload]
    )


def test_stdout_stays_clean() -> None:
    """A banner would stand before the JSON document that a script reads."""
    code = (
        "from gpuladder.solver import Program\n"
        "from tests.unit.programs import EXACT, knapsack\n"
        "assert Program(knapsack()).solve(EXACT).objective == -20\n"
    )
    process = child(code)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "", "")


def test_time_limit_keeps_the_best_plan_and_its_bound() -> None:
    """Hours of solving would be lost at the limit, or the plan be called optimal."""
    asked = hard_scenario(seconds=0.5)
    began = time.monotonic()
    plan = solve_scenario(asked).plan
    assert time.monotonic() - began < 5
    assert plan.status is Status.FEASIBLE
    assert plan.termination is Termination.TIME_LIMIT
    assert plan.bound < plan.objective
    assert plan.gap == pytest.approx((plan.objective - plan.bound) / plan.objective)
    assert len(plan.runs) == 24


def test_each_solve_has_its_own_time_limit() -> None:
    """Later re-solves of one program would run for as long as all before them, or not at all."""
    program = program_of(hard_scenario(seconds=1))
    brief = replace_options(time_limit_seconds=0.4)
    for _ in range(3):
        outcome = program.solve(brief)
        assert outcome.termination is Termination.TIME_LIMIT
        assert outcome.seconds < 1.2  # three times 0.4, were they added up, and more
    with program.integers_fixed(outcome.columns):
        assert program.solve(replace_options(time_limit_seconds=0.1)).status is Status.OPTIMAL


def replace_options(**keys: object) -> SolveOptions:
    """Return exact options with some replaced."""
    return EXACT.model_copy(update=keys)


def test_progress_is_reported_and_moves_one_way() -> None:
    """A user would stare at a still screen, or see the gap grow."""
    seen = []
    solve_scenario(hard_scenario(seconds=0.7), on_progress=seen.append)
    incumbents = [item.incumbent for item in seen if item.incumbent is not None]
    bounds = [item.bound for item in seen if item.bound is not None]
    assert incumbents
    assert bounds
    assert all(later <= earlier * (1 + 1e-9) for earlier, later in pairs(incumbents))
    assert all(later >= earlier * (1 - 1e-9) for earlier, later in pairs(bounds))
    seconds = [item.seconds for item in seen]
    assert seconds == sorted(seconds)


def pairs(values: list[float]) -> list[tuple[float, float]]:
    """Return each value with its follower."""
    return list(itertools.pairwise(values))


def test_interrupt_keeps_the_best_plan() -> None:
    """Ctrl-C would throw away the best plan so far, or end in a traceback."""
    code = """
import sys
from gpuladder.solving import solve_scenario
from tests.unit.programs import hard_scenario

def told(progress):
    if progress.incumbent is not None and progress.seconds > 0.3:
        print("incumbent", flush=True)

plan = solve_scenario(hard_scenario(seconds=60), on_progress=told).plan
print(plan.status.value, plan.termination.value, len(plan.runs), plan.bound < plan.objective)
"""
    with child(code) as process:
        try:
            assert process.stdout.readline() == "incumbent\n"
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert out.splitlines()[-1] == "feasible interrupted 24 True"
    assert err == ""
    assert process.returncode == 0


def test_interrupt_handler_is_put_back() -> None:
    """Ctrl-C after a solve would be swallowed."""
    before = signal.getsignal(signal.SIGINT)
    Program(knapsack()).solve(EXACT)
    assert signal.getsignal(signal.SIGINT) is before


def test_solver_takes_the_start() -> None:
    """An analyst who changes one number would wait for the whole search again."""
    asked = hard_scenario(seconds=1.5)
    earlier = solve_scenario(asked).plan
    data = make_program_data(asked)
    program = Program(build_model(data))
    seen = []
    start = start_values(data, program, earlier)
    outcome = program.solve(
        replace_options(time_limit_seconds=0.5), start=start, on_progress=seen.append
    )
    incumbents = [item.incumbent for item in seen if item.incumbent is not None]
    assert incumbents[0] <= earlier.objective * (1 + 1e-9)
    assert outcome.objective <= earlier.objective * (1 + 1e-9)


def test_threads_may_change_between_runs() -> None:
    """The second solve of a session would fail when it asks for another number of threads."""
    program = program_of(sparse_calendar())
    costs = [program.solve(replace_options(threads=threads)).objective for threads in (1, 2, 1)]
    assert costs == pytest.approx([costs[0]] * 3, rel=1e-9)


def test_scenario_options_reach_the_solver() -> None:
    """A gap or a limit that was asked for would be ignored."""
    asked = scenario(
        solver={"time_limit_seconds": 7, "relative_gap": 0.25, "threads": 2, "seed": 5}
    )
    assert solve_options(asked) == SolveOptions(
        time_limit_seconds=7, relative_gap=0.25, threads=2, seed=5
    )
    assert solve_options(scenario(solver={})).threads == (os.cpu_count() or 1)
    wide = hard_scenario(seconds=60, gangs=8)
    wide = wide.model_copy(update={"solver": wide.solver.model_copy(update={"relative_gap": 0.5})})
    plan = solve_scenario(wide).plan
    assert plan.status is Status.OPTIMAL
    assert 1e-4 < plan.gap <= 0.5
