"""One measurement in a process of its own: ``python -m benchmarks.measure WHAT …`` prints JSON.

Seconds are CPU seconds of the process, so that other work on the machine hardly counts; memory is
the most that the process ever held. Modules are imported before a clock starts.
"""

from __future__ import annotations

import json
import pickle
import resource
import sys
import time
from pathlib import Path
from typing import Any

MEGABYTE = 2**20
clock = time.process_time

RE_SOLVES = 6


def peak_mb() -> float:
    """Return the most memory that this process has held so far, MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (MEGABYTE if sys.platform == "darwin" else 1024)


def prepare(scenario: str, target: str) -> dict[str, Any]:
    """Translate a scenario and keep its arrays for the hand-over measurements."""
    from gpuladder.compiled import compile_model
    from gpuladder.program import make_program_data
    from gpuladder.scenario.loading import load
    from gpuladder_models.build import build_model

    began = clock()
    loaded = load(scenario).scenario
    read = clock()
    data = make_program_data(loaded)
    translated = clock()
    compiled = compile_model(build_model(data))
    Path(target).write_bytes(pickle.dumps((data, compiled)))
    return {
        "seconds": {"load": read - began, "translate": translated - read},
        "variables": compiled.num_columns,
        "integers": int(compiled.is_integer.sum()),
        "rows": compiled.num_rows,
        "nonzeros": len(compiled.values),
    }


def hand_over(way: str, source: str) -> dict[str, Any]:
    """Measure one way from arrays to a loaded solver, and say what the solver holds then."""
    data, compiled = pickle.loads(Path(source).read_bytes())
    return {"own": _own, "raw": _raw, "contrib": _contrib, "appsi": _appsi}[way](data, compiled)


def _own(data: Any, _: Any) -> dict[str, Any]:
    from gpuladder.compiled import compile_model
    from gpuladder.solver import Program
    from gpuladder_models.build import build_model

    before, began = peak_mb(), clock()
    model = build_model(data)
    built = clock()
    compiled = compile_model(model)
    flat = clock()
    program = Program(compiled)
    done = clock()
    seconds = {"build": built - began, "compile": flat - built, "pass": done - flat}
    return _answer(seconds, before, program._highs)  # noqa: SLF001 (what the solver really holds)


def _raw(_: Any, compiled: Any) -> dict[str, Any]:
    import highspy
    import numpy as np

    kinds = compiled.is_integer.astype(np.int32)
    before, began = peak_mb(), clock()
    highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    highs.passModel(
        compiled.num_columns,
        compiled.num_rows,
        len(compiled.values),
        int(highspy.MatrixFormat.kRowwise),
        int(highspy.ObjSense.kMinimize),
        0.0,
        compiled.cost,
        compiled.column_lower,
        compiled.column_upper,
        compiled.row_lower,
        compiled.row_upper,
        compiled.starts,
        compiled.columns,
        compiled.values,
        kinds,
    )
    return _answer({"pass": clock() - began}, before, highs)


def _contrib(data: Any, _: Any) -> dict[str, Any]:
    from pyomo.contrib.solver.solvers.highs import Highs

    return _pyomo(data, Highs)


def _appsi(data: Any, _: Any) -> dict[str, Any]:
    from pyomo.contrib.appsi.solvers import Highs

    return _pyomo(data, Highs)


def _pyomo(data: Any, interface: Any) -> dict[str, Any]:
    """Load the same Pyomo model through one of Pyomo's own interfaces, without solving it.

    The rows of the model are arrays that Pyomo writes out when it first looks at them. They are
    written out as ordinary linear expressions beforehand, off the clock, in Pyomo's favour.
    """
    import pyomo.environ as pyo

    from gpuladder_models.build import build_model

    before, began = peak_mb(), clock()
    model = build_model(data)
    built = clock()
    for constraint in model.component_objects(pyo.Constraint):
        for row in constraint.values():
            row.to_bounded_expression()
    model.net_present_cost.set_value(model.net_present_cost.expr.expr)
    written = clock()
    solver = interface()
    solver.set_instance(model)
    done = clock()
    seconds = {"build": built - began, "pass": done - written}
    return _answer(seconds, before, solver._solver_model)  # noqa: SLF001 (what it really holds)


def _answer(seconds: dict[str, float], before: float, highs: Any) -> dict[str, Any]:
    return {
        "seconds": seconds,
        "peak_mb": peak_mb(),
        "added_mb": peak_mb() - before,
        "holds": [highs.getNumRow(), highs.getNumNz()],
    }


def end_to_end(scenario: str, folder: str) -> dict[str, Any]:
    """Measure a whole run, from starting Python to the last file written, by stage."""
    from gpuladder import pipeline

    # The stages are timed by the program itself; its clock is made to count CPU seconds.
    time.monotonic = clock
    started = clock()
    result = pipeline.run(scenario, overrides=["solver.threads=1"])
    solved = clock()
    pipeline.write_run(result, folder)
    done = clock()
    plan = result.plan
    return {
        "seconds": {"start": started, **dict(result.seconds), "report": done - solved},
        "total": done,
        "peak_mb": peak_mb(),
        "status": plan.status.value,
        "gap": plan.gap,
        "audited": result.audit is not None and result.audit.passed,
    }


def re_solves(scenario: str) -> dict[str, Any]:
    """Measure re-solves with one campaign's work raised by 1 %, cold and from the first plan."""
    from gpuladder.scenario.loading import load
    from gpuladder.solving import solve_scenario

    settings = ["solver.relative_gap=1e-4", "solver.threads=1"]
    base = load(scenario, overrides=settings).scenario
    plan = solve_scenario(base).plan
    seconds = {"cold": 0.0, "warm": 0.0}
    chosen = range(min(RE_SOLVES, len(base.campaigns)))
    for number in chosen:
        campaigns = list(base.campaigns)
        more = campaigns[number].gpu_hours * 1.01
        campaigns[number] = campaigns[number].model_copy(update={"gpu_hours": more})
        changed = base.model_copy(update={"campaigns": tuple(campaigns)})
        for way, start in (("cold", None), ("warm", plan)):
            began = clock()
            solve_scenario(changed, start_from=start)
            seconds[way] += clock() - began
    return {"seconds": seconds, "count": len(chosen)}


def answers(scenario: str) -> dict[str, Any]:
    """Measure the solve and all answers beside the plan at the default budget, wall seconds."""
    from gpuladder import pipeline

    result = pipeline.run(scenario, analysis_seconds=None)
    shown = result.answers
    rows = [row for row in shown.shadow_prices if row.change]
    return {
        "seconds": {name: result.seconds[name] for name in ("solve", "analyse")},
        "marginals": len(rows),
        "finished": sum(row.marginal_up is not None for row in rows),
    }


def import_jobs(path: str) -> dict[str, Any]:
    """Measure the import of a file of jobs, from reading its first row to the calendar."""
    import pandas as pd  # noqa: F401 (imported before the clock starts)

    from gpuladder.review.imports.clock import Clock
    from gpuladder.review.imports.jobs import import_jobs as read
    from gpuladder.review.imports.rows import TableOptions

    began = clock()
    history = read(path, table=TableOptions(clock=Clock("UTC")))
    return {
        "seconds": {"import": clock() - began},
        "peak_mb": peak_mb(),
        "kept": history.rows.kept,
        "campaigns": len(history.campaigns),
    }


if __name__ == "__main__":
    measurements = {
        "prepare": prepare,
        "hand-over": hand_over,
        "end-to-end": end_to_end,
        "re-solves": re_solves,
        "answers": answers,
        "import-jobs": import_jobs,
    }
    sys.stdout.write(json.dumps(measurements[sys.argv[1]](*sys.argv[2:])) + "\n")
