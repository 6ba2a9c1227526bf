"""Variants: the same question asked again with one thing changed, many at a time.

A variant is a scenario, or the same scenario with an edit of its compiled program. Both go through
the one road from scenario to plan, so that an answer here is the answer of the command line for the
same change.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpuladder.executor import run_tasks
from gpuladder.plan import Plan, Status
from gpuladder.solving import Edit, solve_scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gpuladder.scenario.schema import Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One question."""

    key: str
    scenario: Scenario
    edit: Edit | None = None
    """Picklable: a module-level function, or a partial of one."""
    start: Plan | None = None
    """Plan to start from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """One answer, complete or at its limit."""

    key: str
    plan: Plan
    seconds: float

    @property
    def is_proven(self) -> bool:
        """Whether the answer is the optimum, or a proof that there is none."""
        return self.plan.status in (Status.OPTIMAL, Status.INFEASIBLE)


@dataclass(frozen=True, slots=True)
class _Task:
    variant: Variant
    relative_gap: float
    seconds: float
    stop_at: float


def solve_variants(
    variants: Sequence[Variant],
    *,
    relative_gap: float,
    seconds_each: float,
    stop_at: float,
    workers: int | None = None,
    on_answer: Callable[[Answered], None] | None = None,
) -> dict[str, Answered]:
    """Return the answers by key; variants that were not begun by ``stop_at`` are missing.

    Parameters
    ----------
    variants : sequence of Variant
        Most important first.
    relative_gap : float
        Gap asked for in each.
    seconds_each : float
        Most seconds of solving for each.
    stop_at : float
        Reading of ``time.time()``; what has begun ends about then.
    workers : int, optional
        Processes, each with one solver thread; one per core when left out. The answers do not
        depend on their number.
    on_answer : callable, optional
        Told each answer as it comes.
    """
    tasks = [_Task(variant, relative_gap, seconds_each, stop_at) for variant in variants]
    answers: dict[str, Answered] = {}
    for _, answered in run_tasks(_answer, tasks, workers=workers, stop_at=stop_at):
        answers[answered.key] = answered
        if on_answer is not None:
            on_answer(answered)
    return answers


def _answer(task: _Task) -> Answered:
    began = time.time()
    left = max(min(task.seconds, task.stop_at - began), 1e-3)
    solver = task.variant.scenario.solver.model_copy(
        update={"time_limit_seconds": left, "relative_gap": task.relative_gap, "threads": 1}
    )
    scenario = task.variant.scenario.model_copy(update={"solver": solver})
    solved = solve_scenario(scenario, start_from=task.variant.start, edit=task.variant.edit)
    return Answered(key=task.variant.key, plan=solved.plan, seconds=time.time() - began)
