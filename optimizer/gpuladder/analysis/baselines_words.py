"""Differences of solved costs with what is proven of them, in figures and in words."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpuladder.analysis.why_not import why_infeasible
from gpuladder.plan import Status

if TYPE_CHECKING:
    from gpuladder.analysis.budget import Budget
    from gpuladder.analysis.variants import Answered
    from gpuladder.plan import Plan
    from gpuladder.scenario.schema import Scenario
    from gpuladder.solving import Edit

NOT_SOLVED = "not solved in the time given"
PROVEN_GAP = 5e-5  # a gap below it is not worth a word
TIE_SHARE = 1e-6  # costs closer than this share of them are equal
SECONDS_FOR_WHY = 10.0
NAMED = 3  # campaigns or limits named in a note


@dataclass(frozen=True, slots=True)
class Difference:
    """Cost of one program's optimum less another's: as found, and between what is proven."""

    found: float
    low: float
    high: float

    @property
    def is_informative(self) -> bool:
        """Whether the proven interval says which is cheaper, or is narrower than what was found."""
        return self.low >= 0.0 or self.high <= 0.0 or self.high - self.low <= abs(self.found)

    def note(self, currency: str) -> str:
        """Return what is proven, empty when nothing is left open."""
        if self.high - self.low <= PROVEN_GAP * max(abs(self.low), abs(self.high), 1.0):
            return ""
        return (
            f"of the optima the difference is between {self.low:,.0f} and {self.high:,.0f}"
            f" {currency}"
        )


def difference(first: Plan, second: Plan, *, added: float = 0.0) -> Difference | None:
    """Return the cost of ``first``, plus ``added``, less that of ``second``; None without both."""
    if first.objective is None or second.objective is None:
        return None
    found = first.objective + added - second.objective
    low = float("-inf") if first.bound is None else first.bound + added - second.objective
    high = float("inf") if second.bound is None else first.objective + added - second.bound
    return Difference(found=found, low=low, high=high)


def is_tie(first: float, second: float) -> bool:
    """Tell whether two costs are equal to what solving can tell."""
    return abs(first - second) <= TIE_SHARE * max(abs(first), abs(second), 1.0)


def unsolved_note(
    scenario: Scenario, answered: Answered | None, edit: Edit | None, budget: Budget
) -> str:
    """Return why a variant has no cost: infeasible and by how much, or not solved in time."""
    if answered is None or answered.plan.status is not Status.INFEASIBLE:
        return NOT_SOLVED
    if time.time() >= budget.stop_at:
        return "no plan exists under it; no time was left to say why"
    seconds = min(SECONDS_FOR_WHY, budget.seconds_each, budget.seconds_left)
    found = why_infeasible(scenario, edit=edit, seconds=seconds)
    short = [f"{c.id} is short of {c.reading} GPU-hours" for c in found.campaigns]
    over = [f"{item.limit} ({item.key}) by {item.excess:,.6g}" for item in found.limits]
    reasons = _some(short) or (f"limits would be exceeded: {_some(over)}" if over else "")
    return f"no plan exists under it{f': {reasons}' if reasons else ''}"


def _some(items: list[str]) -> str:
    more = f" and {len(items) - NAMED} more" if len(items) > NAMED else ""
    return ", ".join(items[:NAMED]) + more


def gap_note(plan: Plan) -> str:
    """Return how far a plan may be from its optimum; empty when it is proven."""
    if plan.gap is None:
        return "no bound is proven"
    return "" if plan.gap < PROVEN_GAP else f"solved to a gap of {plan.gap:.2%}"


def joined(*notes: str) -> str:
    """Return the notes that say something as one."""
    return "; ".join(note for note in notes if note)
