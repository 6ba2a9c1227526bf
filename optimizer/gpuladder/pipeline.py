"""The one way through: load, build and solve, audit, analyse, write.

The command line and the library both go through here, so they cannot differ in what they check.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gpuladder.analysis.analyse import analyse
from gpuladder.analysis.charges import charges_of
from gpuladder.analysis.conflicts import explain_infeasible
from gpuladder.analysis.document import result_document
from gpuladder.analysis.explain_plan import answer_all
from gpuladder.analysis.invoice import with_invoice
from gpuladder.analysis.result import Infeasibility, Result
from gpuladder.analysis.unbounded import why_unbounded
from gpuladder.audit import AuditReport, Finding
from gpuladder.audit import audit as audit_plan
from gpuladder.compiled import compile_model
from gpuladder.errors import AuditError, Problem
from gpuladder.model_size import ModelSize, measure
from gpuladder.plan import Plan, Status, Termination
from gpuladder.program import make_program_data
from gpuladder.report import focus, run_folder, saved_result
from gpuladder.report.focus_lines import FocusVersion, Offers
from gpuladder.scenario.fingerprint import canonical, fingerprint
from gpuladder.scenario.loading import Loaded, check, load
from gpuladder.scenario.overrides import lay_over, set_value
from gpuladder.scenario.schema import Scenario
from gpuladder.scenario.source import RawDocument, raw_tree
from gpuladder.solver import Progress
from gpuladder.solving import solve_scenario
from gpuladder.start_fit import start_fit
from gpuladder.verdict import require_plan
from gpuladder_models.build import build_model

Source = str | Path | Scenario | Loaded


@dataclass(frozen=True, slots=True)
class Listener:
    """Who is told what while a solve runs; nobody by default.

    Attributes
    ----------
    stage : callable
        Told what begins, in words.
    warnings : callable
        Told the warnings of the scenario, once, before the program is built.
    note : callable
        Told in one line what of an earlier plan there is to start from.
    progress : callable or None
        Told what the solver knows, often; must be quick.
    """

    stage: Callable[[str], None] = lambda _: None
    warnings: Callable[[Sequence[Problem]], None] = lambda _: None
    note: Callable[[str], None] = lambda _: None
    progress: Callable[[Progress], None] | None = None


def run(
    source: Source,
    *,
    overrides: Sequence[str] = (),
    overlays: Sequence[str | Path] = (),
    start_from: Plan | None = None,
    analysis_seconds: float | None = 0.0,
    workers: int | None = 1,
    listener: Listener = Listener(),
) -> Result:
    """Go from a scenario to an audited and analysed answer, whatever the answer is.

    Parameters
    ----------
    source : str, pathlib.Path, Loaded or Scenario
        Where the scenario is, or what ``load`` made of it.
    overrides : sequence of str
        Assignments such as ``policy.tail_charge=0.5``; for a path only.
    overlays : sequence of path
        YAML files laid over the scenario; for a path only.
    start_from : Plan, optional
        An earlier plan to start the search from.
    analysis_seconds : float, optional
        Time for the answers beside the plan; none are asked for at 0, and about the time of the
        solve is spent at None. A plan that fails its audit, or whose search was interrupted, is not
        explained.
    workers : int, optional
        Processes for the answers; at None as many as the scenario's solver has threads. See
        ``answer_all``.
    listener : Listener
        Who is told what on the way.

    Returns
    -------
    Result
        ``plan.status`` says whether there is a plan, ``audit`` whether it stands.

    Raises
    ------
    ScenarioError
        When the scenario is wrong.
    """
    clock = _Clock()
    listener.stage(f"reading {_name(source)}")
    loaded = _loaded(source, overrides, overlays)
    listener.warnings(loaded.warnings)
    if start_from is not None:
        listener.note(start_fit(loaded.scenario, start_from).text)
    clock.stop("load")
    listener.stage("building and solving the program")
    solved = solve_scenario(loaded.scenario, start_from=start_from, on_progress=listener.progress)
    clock.take(solved.plan.seconds)
    listener.stage("analysing and auditing the plan")
    is_infeasible = solved.plan.status is Status.INFEASIBLE
    infeasible = explain_infeasible(loaded.scenario) if is_infeasible else None
    result = analyse_and_audit(loaded, solved.plan, infeasible)
    if solved.plan.termination is Termination.UNBOUNDED:
        result = replace(result, unbounded=why_unbounded(loaded.scenario))
    if _is_worth_explaining(result):
        answers = answer_all(
            loaded.scenario,
            result.plan,
            seconds=analysis_seconds,
            workers=loaded.scenario.solver.threads if workers is None else workers,
            on_stage=listener.stage,
        )
        result = replace(result, answers=answers)
    clock.stop("analyse")
    return replace(result, seconds=dict(clock.seconds), solver_log=solved.log)


def _is_worth_explaining(result: Result) -> bool:
    is_interrupted = result.plan.termination is Termination.INTERRUPTED
    is_sound = result.audit is not None and result.audit.passed
    return is_sound and not is_interrupted


def analyse_and_audit(
    loaded: Loaded, plan: Plan, infeasible: Infeasibility | None = None
) -> Result:
    """Return what a plan means, with the audit's word on the plan and on every figure.

    A plan whose costs cannot be attributed without a remainder has no figures to report; the audit
    says so, as it does for every other fault.
    """
    scenario = loaded.scenario
    unexplained: tuple[Finding, ...] = ()
    try:
        result = analyse(scenario, plan, warnings=loaded.warnings, infeasible=infeasible)
        result = with_invoice(result)
    except AuditError as error:
        result = Result(scenario=scenario, plan=plan, warnings=loaded.warnings)
        unexplained = tuple(
            Finding(code="metric", key="objective", period=None, message=problem.what, amount=0.0)
            for problem in error.problems
        )
    report = audit_plan(scenario, plan, figures=_figures(result), fingerprint=fingerprint(scenario))
    return replace(result, audit=replace(report, findings=(*report.findings, *unexplained)))


def _figures(result: Result) -> dict[str, Any] | None:
    """Return every figure that the audit computes again; None where there are none."""
    if not result.metrics:
        return None
    return {
        **result_document(result),
        "unallocated": [asdict(row) for row in result.tables.unallocated],
        "gaps": [asdict(row) for row in result.tables.gaps],
    }


def solve(
    source: Source,
    *,
    overrides: Sequence[str] = (),
    overlays: Sequence[str | Path] = (),
    start_from: Plan | None = None,
    analysis_seconds: float | None = 0.0,
    workers: int | None = 1,
) -> Result:
    """Find the cheapest plan for a scenario, audit and analyse it.

    Parameters
    ----------
    source : str, pathlib.Path, Loaded or Scenario
        Where the scenario is, or what ``load`` made of it.
    overrides : sequence of str
        Assignments such as ``policy.tail_charge=0.5`` or ``solver.relative_gap=0.001``.
    overlays : sequence of path
        YAML files laid over the scenario.
    start_from : Plan, optional
        An earlier plan to start the search from.
    analysis_seconds : float, optional
        Time for the answers beside the plan (``result.answers``): shadow prices, walk-away prices,
        baselines and so on. None are asked for at 0; at None about the time of the solve is spent.
    workers : int, optional
        Processes for those answers; at None as many as the scenario's solver has threads. With
        more than one, a script must guard its main part (``if __name__ == "__main__":``).

    Returns
    -------
    Result
        With a plan that stands up to the audit. At a limit ``result.plan.status`` is ``feasible``,
        and ``result.plan.gap`` says how far from the best possible the plan may be.

    Raises
    ------
    ScenarioError
        When the scenario is wrong; all problems at once.
    InfeasibleError
        When no plan satisfies the scenario.
    UnboundedError
        When the scenario pays for buying without end.
    NoPlanError
        When the solver ended without a plan.
    AuditError
        When the plan does not stand up to the audit.
    """
    result = run(
        source,
        overrides=overrides,
        overlays=overlays,
        start_from=start_from,
        analysis_seconds=analysis_seconds,
        workers=workers,
    )
    require_plan(result)
    return result


def program_size(scenario: Scenario) -> ModelSize:
    """Build the program of a scenario, without solving it, and return its size."""
    return measure(compile_model(build_model(make_program_data(scenario))))


def write_run(result: Result, parent: str | Path) -> Path:
    """Write a result as a new run folder below ``parent``, never over another; return its path.

    Raises
    ------
    ReportError
        When it cannot be written; nothing is left behind then.
    """
    return run_folder.write_run(result, Path(parent))


def read_run(folder: str | Path) -> Result:
    """Read a saved run back, audited and analysed again.

    Parameters
    ----------
    folder : str or pathlib.Path
        A run folder, or the folder of a scenario's runs, of which the latest is read.

    Raises
    ------
    ReportError
        When the folder holds no run that can be read.
    """
    home = run_folder.find_run(Path(folder))
    scenario, plan = run_folder.read_run(home)
    infeasible = None
    if plan.status is Status.INFEASIBLE:
        infeasible = saved_result.infeasibility_of(home)
    result = analyse_and_audit(_checked(scenario), plan, infeasible)
    if result.audit is not None and result.audit.passed:
        result = replace(result, answers=saved_result.answers_of(home))
    if plan.termination is Termination.UNBOUNDED:
        result = replace(result, unbounded=saved_result.unbounded_of(home))
    log = home / run_folder.LOG
    return replace(result, solver_log=log.read_text(encoding="utf-8") if log.is_file() else "")


def saved_document(folder: str | Path) -> dict[str, Any]:
    """Return the ``result.json`` of a run folder."""
    return saved_result.document_of(run_folder.find_run(Path(folder)))


def read_plan(folder: str | Path) -> Plan:
    """Return the plan of a saved run; see ``read_run``."""
    return run_folder.read_run(Path(folder))[1]


def audit_run(folder: str | Path) -> AuditReport:
    """Audit a saved run again, from its scenario, its plan and its reported figures alone.

    Raises
    ------
    ReportError
        When the folder holds no run that can be read.
    """
    home = run_folder.find_run(Path(folder))
    scenario, plan = run_folder.read_run(home)
    return audit_plan(
        scenario,
        plan,
        figures=saved_document(home) if plan.has_quantities else None,
        fingerprint=fingerprint(scenario),
    )


def write_focus(
    result: Result,
    parent: str | Path,
    *,
    version: str = FocusVersion.V1_3,
    negotiated: Sequence[str] = (),
) -> tuple[Path, dict[str, Any]]:
    """Write a plan as FOCUS-shaped CSV files, in a new folder ``focus`` below ``parent``.

    Parameters
    ----------
    result : Result
        With a plan that stands up to the audit.
    version : str
        Of the specification: ``1.3`` or ``1.4``.
    negotiated : sequence of str
        Offers and held commitments that are no public offers, by id.

    Returns
    -------
    tuple of Path and dict
        The folder, and what its ``metadata.json`` says.

    Raises
    ------
    GpuladderError
        When there is no plan to sign on, nothing of such an id, or something of that name.
    """
    require_plan(result)
    offers = Offers.of(result.scenario, negotiated)
    return focus.write_focus(
        result,
        charges_of(result.scenario, result.plan),
        Path(parent),
        version=FocusVersion(version),
        offers=offers,
        written=datetime.now(UTC),
    )


def _loaded(source: Source, overrides: Sequence[str], overlays: Sequence[str | Path]) -> Loaded:
    if isinstance(source, str | Path):
        return load(source, overrides=overrides, overlays=overlays)
    if isinstance(source, Loaded) and not (overrides or overlays):
        return source
    scenario = source.scenario if isinstance(source, Loaded) else source
    return _checked(scenario, overrides, overlays)


def _checked(
    scenario: Scenario,
    overrides: Sequence[str] = (),
    overlays: Sequence[str | Path] = (),
) -> Loaded:
    """Return a scenario that was not read from a file, checked like one that was."""
    root = raw_tree(canonical(scenario))
    for overlay in overlays:
        lay_over(root, Path(overlay))
    for assignment in overrides:
        set_value(root, assignment)
    return check(RawDocument(root=root, path=Path(scenario.name)))


def _name(source: Source) -> str:
    if isinstance(source, Loaded):
        return source.scenario.name
    return source.name if isinstance(source, Scenario) else str(source)


class _Clock:
    """Measures stages that follow each other."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.monotonic()

    def stop(self, stage: str) -> None:
        """End a stage; the next begins."""
        now = time.monotonic()
        self.seconds[stage] = round(now - self._last, 3)
        self._last = now

    def take(self, measured: Mapping[str, float]) -> None:
        """Take over what a stage measured of itself; the next stage begins."""
        self.seconds.update(measured)
        self._last = time.monotonic()
