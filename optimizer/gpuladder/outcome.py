"""What a solve ended with, and what a plan and a bound prove together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gpuladder.plan import SolveOptions, Status, Termination
from gpuladder.watch import relative_gap

if TYPE_CHECKING:
    from gpuladder.compiled import FloatArray


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a solve ended with: ``status`` says what the point is, ``termination`` why it ended."""

    termination: Termination
    status: Status
    objective: float | None
    bound: float | None
    gap: float | None
    columns: FloatArray | None
    """Value of every column; None without a plan."""
    row_duals: FloatArray | None
    """Cost per unit of each row's right-hand side; linear programs only."""
    reduced_costs: FloatArray | None
    seconds: float
    nodes: int


def with_bound(outcome: Outcome, bound: float | None, options: SolveOptions) -> Outcome:
    """Return an outcome with a plan and a bound, and what the two prove together."""
    if outcome.objective is None:
        return outcome
    bound = None if bound is None else min(bound, outcome.objective)
    gap = None if bound is None else relative_gap(outcome.objective, bound)
    is_proven = gap is not None and gap <= options.relative_gap + 1e-12
    status = Status.OPTIMAL if is_proven else Status.FEASIBLE
    return replace(outcome, bound=bound, gap=gap, status=status)
