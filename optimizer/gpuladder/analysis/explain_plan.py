"""All questions beside the plan, asked in turn under one time budget.

Each question may spend its share of the time that is left when it begins, so what one does not need
goes to those after it. What could not be solved says so in its row; a question that was not begun,
or broken off, is named in ``Answers.unanswered``.
"""

from __future__ import annotations

import signal
import threading
import time
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from multiprocessing import active_children
from typing import TYPE_CHECKING, Any

from gpuladder.analysis.alternatives import alternatives
from gpuladder.analysis.answers import INTERRUPTED, Answers, Unanswered
from gpuladder.analysis.base import tight_base
from gpuladder.analysis.baselines import baselines
from gpuladder.analysis.budget import Budget
from gpuladder.analysis.burst_or_standing import burst_or_standing
from gpuladder.analysis.sensitivity import tornado
from gpuladder.analysis.shadow_prices import shadow_prices
from gpuladder.analysis.walk_away import walk_away
from gpuladder.analysis.waterfall import waterfall
from gpuladder.errors import GpuladderError
from gpuladder.executor import kept_workers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gpuladder.plan import Plan
    from gpuladder.scenario.schema import Scenario

FLOOR_SECONDS = 2.0
"""Least time of the default budget: small scenarios are answered in it."""
SECONDS_FOR_PROCESSES = 10.0
"""Budgets below it are spent in this process: starting others takes a second or two."""
PATIENT_SECONDS = 30.0
"""From this budget on, structures are compared more closely than the plan was solved."""
BASE_SHARE = 0.1
"""Share of the time for the tight solve that differences are taken from."""
LEAST_BASE_SECONDS = 2.0
"""A base that would get less is left to the questions that need it."""
SHARE_FOR_ONE = 0.4
"""Share of the time of a comparison that one of its programs may take; others may take it all."""
TIGHT_GAP = 1e-6
PATIENT_GAP = 1e-3

NO_TIME = "not begun: no time was left"


@dataclass(frozen=True, slots=True)
class _Question:
    name: str
    part: float
    """Its share of the time, to be compared with the others'."""
    is_comparison: bool
    """Whether it compares whole structures: the gap of the plan itself is close enough then."""
    ask: Callable[[Scenario, Plan, Budget], dict[str, Any]]
    """Gives fields of ``Answers``."""


def _shadow_prices(scenario: Scenario, plan: Plan, budget: Budget) -> dict[str, Any]:
    return {"shadow_prices": shadow_prices(scenario, plan, budget=budget)}


def _walk_away(scenario: Scenario, plan: Plan, budget: Budget) -> dict[str, Any]:
    return {"walk_away": walk_away(scenario, plan, budget=budget)}


def _baselines(scenario: Scenario, plan: Plan, budget: Budget) -> dict[str, Any]:
    return {"baselines": baselines(scenario, plan, budget=budget)[0]}


def _waterfall(scenario: Scenario, plan: Plan, budget: Budget) -> dict[str, Any]:
    return {"waterfall": waterfall(scenario, plan, budget=budget)}


def _burst_or_standing(scenario: Scenario, plan: Plan, budget: Budget) -> dict[str, Any]:
    structures, flips, said = burst_or_standing(scenario, plan, budget=budget)
    return {"structures": structures, "flips": flips, "burst_or_standing": said}


def _alternatives(scenario: Scenario, plan: Plan, budget: Budget) -> dict[str, Any]:
    rows, ranges, _ = alternatives(scenario, plan, budget=budget)
    return {"alternatives": rows, "quantity_ranges": ranges}


def _tornado(scenario: Scenario, plan: Plan, budget: Budget) -> dict[str, Any]:
    return {"tornado": tornado(scenario, plan, budget=budget)}


QUESTIONS = (
    _Question("shadow prices", 2.0, is_comparison=False, ask=_shadow_prices),
    _Question("walk-away prices", 2.0, is_comparison=False, ask=_walk_away),
    _Question("baselines", 2.0, is_comparison=True, ask=_baselines),
    _Question("waterfall", 2.0, is_comparison=True, ask=_waterfall),
    _Question("burst or standing", 1.5, is_comparison=True, ask=_burst_or_standing),
    _Question("alternatives", 1.5, is_comparison=False, ask=_alternatives),
    _Question("sensitivity", 1.5, is_comparison=False, ask=_tornado),
)
"""In the order in which they are asked."""


def default_seconds(plan: Plan) -> float:
    """Return how long the answers may take by default: as long as the solve, or a few seconds."""
    return max(plan.seconds.get("solve", 0.0), FLOOR_SECONDS)


def answer_all(
    scenario: Scenario,
    plan: Plan,
    *,
    seconds: float | None = None,
    workers: int | None = None,
    on_stage: Callable[[str], None] = lambda _: None,
) -> Answers:
    """Answer every question beside the plan, as far as the time goes.

    Parameters
    ----------
    scenario : Scenario
        The checked scenario that the plan answers.
    plan : Plan
        The plan to explain. Without quantities nothing is asked.
    seconds : float, optional
        Time for all questions together; ``default_seconds`` when left out, and none at all at 0.
        Building programs may take a little longer.
    workers : int, optional
        Processes; one per core when left out. With more than one the calling script must guard its
        main part (``if __name__ == "__main__":``), as new processes read it again.
    on_stage : callable
        Told which question is asked next.

    Returns
    -------
    Answers
        An interrupt (Ctrl-C) ends the questions, not the run: what was answered before it is kept.
    """
    total = default_seconds(plan) if seconds is None else seconds
    if total <= 0.0 or not plan.has_quantities:
        return Answers()
    if total < SECONDS_FOR_PROCESSES:
        workers = 1
    found: dict[str, Any] = {}
    left: dict[str, str] = {question.name: INTERRUPTED for question in QUESTIONS}
    try:
        with _interrupts_raised(), nullcontext() if workers == 1 else kept_workers(workers):
            for name, answer, why in _answered(scenario, plan, total, workers, on_stage):
                found |= answer
                left.pop(name)
                if why:
                    left[name] = why
    except KeyboardInterrupt:
        on_stage("interrupted: the rest is left unanswered")
    unanswered = tuple(Unanswered(question=name, why=why) for name, why in left.items())
    return Answers(**found, unanswered=unanswered)


def _answered(
    scenario: Scenario,
    plan: Plan,
    total: float,
    workers: int | None,
    on_stage: Callable[[str], None],
) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield each question with its answer, or with why it has none."""
    stop_at = time.time() + total
    if BASE_SHARE * total >= LEAST_BASE_SECONDS:
        on_stage("solving the plan on, for differences")
        tight_base(scenario, plan, _budget(stop_at, workers, BASE_SHARE))
    for number, question in enumerate(QUESTIONS):
        if time.time() >= stop_at:
            yield question.name, {}, NO_TIME
            continue
        share = question.part / sum(each.part for each in QUESTIONS[number:])
        budget = _budget(stop_at, workers, share)
        if question.is_comparison:
            budget = _of_comparison(budget, scenario, total)
        on_stage(f"answering: {question.name}")
        try:
            yield question.name, question.ask(scenario, plan, budget), ""
        except (GpuladderError, BrokenExecutor) as error:
            yield question.name, {}, _reason(error)


def _budget(stop_at: float, workers: int | None, share: float) -> Budget:
    """Return the budget of a question that may spend a share of the time left."""
    own = share * max(stop_at - time.time(), 0.0)
    return Budget(
        stop_at=time.time() + own, workers=workers, seconds_each=own, relative_gap=TIGHT_GAP
    )


def _of_comparison(budget: Budget, scenario: Scenario, total: float) -> Budget:
    """Return the budget of a question whose programs are few, and all needed."""
    gap = scenario.solver.relative_gap
    return replace(
        budget,
        seconds_each=SHARE_FOR_ONE * budget.seconds_each,
        relative_gap=min(gap, PATIENT_GAP) if total >= PATIENT_SECONDS else gap,
    )


def _reason(error: GpuladderError | BrokenExecutor) -> str:
    if isinstance(error, GpuladderError):
        return f"could not be answered: {error.problems[0].what}"
    return "could not be answered: a process that worked on it was ended from outside"


@contextmanager
def _interrupts_raised() -> Iterator[None]:
    """Let an interrupt end all questions, not only the search that runs when it comes.

    Processes that were started for them are ended with it, whatever they are doing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    others = {child.pid for child in active_children()}

    def interrupt(_signal: int, _frame: object) -> None:
        for child in active_children():
            if child.pid not in others:
                child.terminate()
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
