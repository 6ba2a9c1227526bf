"""How a solve ends: its exit code, the problems that come with it, and the next step."""

from __future__ import annotations

import sys
from pathlib import Path
from shlex import quote
from shutil import get_terminal_size

from gpuladder.analysis.answers import INTERRUPTED
from gpuladder.analysis.result import Result
from gpuladder.cli.console import Console, Exit
from gpuladder.errors import GpuladderError, Problem
from gpuladder.pipeline import saved_document, write_run
from gpuladder.plan import Status, Termination
from gpuladder.report.text import summary_text
from gpuladder.solver import Progress
from gpuladder.verdict import require_plan


def finish(console: Console, result: Result, output: Path) -> int:
    """Write a result's run folder, tell the user what came out, and return the exit code."""
    folder = write_run(result, output)
    code, problems = verdict(result)
    console.problems(problems)
    console.document(saved_document(folder))
    console.data(_what_came_out(console, result))
    console.talk(last_line(result, folder, code))
    return code


def _what_came_out(console: Console, result: Result) -> str:
    """Return the summary; a plan that fails its audit is not shown as one."""
    if result.audit is not None and not result.audit.passed:
        return f"{result.scenario.name}: no plan to sign on; the audit refuses the one found"
    return summary_text(
        result, width=get_terminal_size().columns, colour=console.colours(sys.stdout)
    ).rstrip()


def verdict(result: Result) -> tuple[int, tuple[Problem, ...]]:
    """Return the exit code of a result and the problems that explain it."""
    try:
        require_plan(result)
    except GpuladderError as error:
        interrupted = result.plan.termination is Termination.INTERRUPTED
        no_plan = error.exit_code == Exit.NO_PLAN
        return Exit.INTERRUPTED if interrupted and no_plan else error.exit_code, error.problems
    if _is_cut_short(result) or result.plan.termination is Termination.INTERRUPTED:
        return Exit.INTERRUPTED, ()
    if result.plan.status is Status.OPTIMAL:
        return Exit.DONE, ()
    return Exit.STOPPED_AT_LIMIT, ()


def _is_cut_short(result: Result) -> bool:
    """Tell whether the answers beside a plan that stands were interrupted."""
    return any(each.why == INTERRUPTED for each in result.answers.unanswered)


def last_line(result: Result, folder: Path, code: int) -> str:
    """Return what to say last: how it ended, where the files are, and what to do next."""
    run = quote(str(folder))
    plan = result.plan
    gap = "an unproven gap" if plan.gap is None else f"a proven gap of {plan.gap:.2%}"
    ended = {
        Exit.DONE: "Done.",
        Exit.STOPPED_AT_LIMIT: f"Stopped at a limit, with {gap}.",
        Exit.INTERRUPTED: f"Interrupted, with {gap}."
        if plan.has_quantities
        else "Interrupted, without a plan.",
        Exit.NO_PLAN: "No plan was found.",
        Exit.ANSWER_IS_NO: "The answer is no.",
    }[Exit(code)]
    where = f"Files: {run}"
    if code == Exit.INTERRUPTED and _is_cut_short(result):
        ended = "Interrupted; the plan stands, some answers beside it are missing."
    if code == Exit.DONE or _is_cut_short(result):
        return f"{ended} {where}. Next: open {quote(str(folder / 'report.xlsx'))}"
    if plan.has_quantities and code in (Exit.STOPPED_AT_LIMIT, Exit.INTERRUPTED):
        return f"{ended} {where}. Next: go on with --start-from {run}"
    return f"{ended} {where}"


def progress_line(progress: Progress) -> str:
    """Return what the solver knows as one line."""
    shown = [
        "-" if value is None else f"{value:,.0f}" for value in (progress.incumbent, progress.bound)
    ]
    gap = "-" if progress.gap is None else f"{progress.gap:.2%}"
    return f"{progress.seconds:8.1f} s   plan {shown[0]:>16}   bound {shown[1]:>16}   gap {gap:>8}"
