"""The plan that differences are taken from: the same scenario solved tighter than for a decision.

A plan within half a per cent is good enough to sign; the worth of one more node is often less than
that half per cent. So the base is solved again, from the plan, to a gap that differences survive.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from gpuladder.analysis.variants import Answered, Variant, solve_variants
from gpuladder.plan import Plan, Status
from gpuladder.scenario.fingerprint import fingerprint
from gpuladder.solver import relative_gap

if TYPE_CHECKING:
    from gpuladder.analysis.budget import Budget
    from gpuladder.scenario.schema import Scenario

BASE_GAP = 1e-6
"""Gap asked for in the base; the budget's own when that is tighter."""


def tight_base(scenario: Scenario, plan: Plan, budget: Budget) -> Answered:
    """Return the plan solved on to a gap of 1e-6, as far as the budget goes.

    The best plan and the best bound of both solves are kept, so it is never worse than ``plan``.
    Solved once per scenario and plan in a process; a second question gets the same answer, unless
    the first had to stop before the gap was reached.
    """
    gap = min(BASE_GAP, budget.relative_gap)
    if plan.gap is not None and plan.gap <= gap:
        return Answered(key="base", plan=plan, seconds=0.0)
    known = _solved(fingerprint(scenario), plan.model_dump_json())
    if not known or not _is_tight(known[-1].plan, gap):
        start = known[-1].plan if known else plan
        variant = Variant(key="base", scenario=scenario, start=start)
        answers = solve_variants(
            [variant],
            relative_gap=gap,
            seconds_each=budget.seconds_each,
            stop_at=budget.stop_at,
            workers=1,
        )
        found = answers.get("base")
        best = start if found is None else _better(start, found.plan, gap)
        spent = 0.0 if found is None else found.seconds
        known.append(Answered(key="base", plan=best, seconds=spent))
    return known[-1]


@lru_cache(maxsize=4)
def _solved(_scenario: str, _plan: str) -> list[Answered]:
    return []


def _is_tight(plan: Plan, gap: float) -> bool:
    return plan.gap is not None and plan.gap <= gap


def _better(first: Plan, second: Plan, gap: float) -> Plan:
    """Return the cheaper of two plans of one scenario with the higher of their bounds."""
    if second.objective is None:
        return first
    is_second = first.objective is None or second.objective < first.objective
    best = second if is_second else first
    bounds = [plan.bound for plan in (first, second) if plan.bound is not None]
    if not bounds or best.objective is None:
        return best
    bound = min(max(bounds), best.objective)
    reached = relative_gap(best.objective, bound)
    status = Status.OPTIMAL if reached <= gap + 1e-12 else Status.FEASIBLE
    return best.model_copy(update={"bound": bound, "gap": reached, "status": status})
