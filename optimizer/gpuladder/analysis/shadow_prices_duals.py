"""The linear program that is left when whole lots and runs are fixed: its duals and their range.

The cost of that program is a convex, piecewise linear function of any right-hand side. Where it has
a kink there are several optimal duals, and a solver reports any one of them; so what is read here
are the two one-sided slopes, which are the ends of the range of duals (D. Bertsimas and J. N.
Tsitsiklis, Introduction to Linear Optimization, 1997, ch. 5.2–5.4) and the same whatever basis the
solver ended with.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.errors import AuditError, Problem
from gpuladder.plan import Termination
from gpuladder.solving import start_values

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gpuladder.compiled import FloatArray, IntArray
    from gpuladder.plan import Plan, SolveOptions
    from gpuladder.solver import Outcome, Program
    from gpuladder_models.data import ProgramData

AGREEMENT = 1e-6
"""Largest relative difference between the primal and the dual objective that is rounding."""
PIVOT = 1e-9
"""Smaller changes of a basic variable are rounding."""
KINK = 1e-6
"""A basis that holds for less than this share of the right-hand side holds not at all."""
STEP = 1e-3
"""How far from a kink a slope is read, in units of the right-hand side, or as a share of 1,000."""


Direction = tuple["IntArray", "FloatArray"]


@dataclass(frozen=True, slots=True)
class Side:
    """What happens on one side of today's right-hand sides, per unit of a direction."""

    slope: float | None
    """Change of the cost per unit of the direction; None where no plan with these lots and runs
    goes that way."""
    reach: float
    """Units of the direction over which the slope holds, zero without a slope."""


@dataclass(frozen=True, slots=True)
class Slopes:
    """Slopes of the cost along a direction: for less of it and for more; equal without a kink."""

    less: Side
    more: Side

    @property
    def is_kink(self) -> bool:
        """Whether several duals are optimal."""
        less, more = self.less.slope, self.more.slope
        if less is None or more is None:
            return True
        return abs(more - less) > AGREEMENT * max(1.0, abs(less), abs(more))


class FixedPlan:
    """The linear program with lots and runs fixed, solved; made by ``fixed_plan``."""

    def __init__(self, program: Program, outcome: Outcome, options: SolveOptions) -> None:
        compiled = program.compiled
        self._program, self._options = program, options
        self._row_lower, self._row_upper = compiled.row_lower, compiled.row_upper
        self._lower, self._upper = compiled.column_lower.copy(), compiled.column_upper.copy()
        values, duals = outcome.columns, outcome.row_duals
        if values is None or duals is None or outcome.objective is None:
            raise AuditError(_misfit(outcome.termination))
        whole = compiled.is_integer
        self._lower[whole] = self._upper[whole] = np.round(values[whole])
        self.values, self.duals, self.objective = values, duals, outcome.objective
        self._rows = np.repeat(np.arange(compiled.num_rows), np.diff(compiled.starts))
        self.activities = self._activities(values)
        self._require_agreement(outcome)

    @property
    def slacks(self) -> FloatArray:
        """Distance of each row to its nearer limit, shape (num_rows,)."""
        return np.minimum(self.activities - self._row_lower, self._row_upper - self.activities)

    def slopes(
        self, directions: Sequence[Direction], *, stop_at: float = float("inf")
    ) -> list[Slopes | None]:
        """Return the slopes of the cost as right-hand sides move.

        To be called once: the kinks are read from programs solved beside this one, and the basis
        that the others are read from is not kept.

        Parameters
        ----------
        directions : sequence of (rows, change)
            Positions of rows, and how far the right-hand side of each moves per unit, both of
            shape (k,).
        stop_at : float
            Reading of ``time.time()``; what is not known by then is None.
        """
        reaches: list[tuple[float, float] | None] = [
            None
            if time.time() >= stop_at
            else self._reach(rows, change, self.values, self.activities, 0.0)
            for rows, change in directions
        ]
        found: list[Slopes | None] = []
        for (rows, change), reach in zip(directions, reaches, strict=True):
            if reach is None or time.time() >= stop_at:
                found.append(None)
                continue
            slope = float(self.duals[rows] @ change)
            back, ahead = reach
            least = KINK * self._size(rows, change)
            found.append(
                Slopes(
                    less=Side(slope, back) if back > least else self._beside(rows, change, -1.0),
                    more=Side(slope, ahead) if ahead > least else self._beside(rows, change, 1.0),
                )
            )
        return found

    def _size(self, rows: IntArray, change: FloatArray) -> float:
        """Return the units of a direction that move its right-hand sides by about themselves."""
        sides = np.where(np.isfinite(self._row_lower[rows]), self._row_lower[rows], 0.0)
        sides = np.maximum(np.abs(sides), np.where(np.isfinite(u := self._row_upper[rows]), u, 0.0))
        return max(1.0, float(np.max(np.abs(sides)))) / float(np.max(np.abs(change)))

    def _beside(self, rows: IntArray, change: FloatArray, sign: float) -> Side:
        """Return the slope on one side of a kink, read from the program solved a step further."""
        most = float(np.max(np.abs(change)))
        step = max(STEP / most, STEP * STEP * self._size(rows, change))
        found = Side(None, 0.0)
        try:
            for _ in range(3):
                moved = sign * step * change
                self._move(rows, moved)
                outcome = self._program.solve(self._options)
                if outcome.termination is not Termination.GAP_REACHED:
                    break
                if outcome.columns is None or outcome.row_duals is None:
                    break
                slope = float(outcome.row_duals[rows] @ change)
                activities = self._activities(outcome.columns)
                back, ahead = self._reach(rows, change, outcome.columns, activities, sign * step)
                inward, outward = (back, ahead) if sign > 0 else (ahead, back)
                found = Side(slope, outward + step)
                if inward >= step * (1.0 - 1e-3):
                    break
                step *= 0.05
        finally:
            self._move(rows, np.zeros(len(rows)))
        return found

    def _move(self, rows: IntArray, moved: FloatArray) -> None:
        self._program.set_rows(rows, self._row_lower[rows] + moved, self._row_upper[rows] + moved)

    def _reach(
        self,
        rows: IntArray,
        change: FloatArray,
        values: FloatArray,
        activities: FloatArray,
        units: float,
    ) -> tuple[float, float]:
        """Return how many units back and ahead the current basis stays feasible.

        The basis stays dual feasible as right-hand sides move, so this is how far the duals hold.
        ``units`` is how far the right-hand sides have been moved already.
        """
        basic = self._program.basic_variables()
        if basic is None:
            return 0.0, 0.0
        direction = np.zeros(len(self._row_lower))
        direction[rows] = change
        columns, basic_rows = basic[basic >= 0], -1 - basic[basic < 0]
        pushed = direction.copy()
        pushed[basic_rows] = 0.0
        response = self._program.basis_response(pushed)
        by = np.concatenate([response[basic >= 0], -response[basic < 0] - direction[basic_rows]])
        moved = units * direction[basic_rows]
        at = np.concatenate([values[columns], activities[basic_rows]])
        low = np.concatenate([self._lower[columns], self._row_lower[basic_rows] + moved])
        high = np.concatenate([self._upper[columns], self._row_upper[basic_rows] + moved])
        below, above = np.maximum(at - low, 0.0), np.maximum(high - at, 0.0)
        return _first(below, above, by), _first(above, below, by)

    def _activities(self, values: FloatArray) -> FloatArray:
        compiled = self._program.compiled
        products = compiled.values * values[compiled.columns]
        return np.bincount(self._rows, products, compiled.num_rows).astype(np.float64)

    def _require_agreement(self, outcome: Outcome) -> None:
        """Hold the dual objective against the primal one: duals that do not add up are wrong."""
        dual = _worth(self.duals, self._row_lower, self._row_upper)
        if outcome.reduced_costs is not None:
            dual += _worth(outcome.reduced_costs, self._lower, self._upper)
        if not abs(dual - self.objective) <= AGREEMENT * max(1.0, abs(self.objective)):
            raise AuditError(_disagreement(self.objective, dual))


@contextlib.contextmanager
def fixed_plan(data: ProgramData, program: Program, plan: Plan) -> Iterator[FixedPlan]:
    """Fix the plan's lots and runs, relax their type, solve the rest; restore the program after.

    Raises
    ------
    AuditError
        When the plan does not fit the scenario, or the primal and the dual objective differ.
    """
    options = plan.options.model_copy(update={"threads": 1})  # the same basis on every machine
    start = start_values(data, program, plan.model_copy(update={"options": options}))
    if start is None:
        raise AuditError(_misfit(Termination.INFEASIBLE))
    with program.integers_fixed(start):
        yield FixedPlan(program, program.solve(options), options)


def _first(above: FloatArray, below: FloatArray, by: FloatArray) -> float:
    """Return the largest step for which nothing that moves by ``by`` passes a limit."""
    up, down = by > PIVOT, by < -PIVOT
    steps = np.concatenate([above[up] / by[up], below[down] / -by[down], [np.inf]])
    return float(steps.min())


def _worth(duals: FloatArray, lower: FloatArray, upper: FloatArray) -> float:
    """Return the duals' part of the dual objective; a dual without a limit is rounding."""
    side = np.where(duals > 0, lower, upper)
    held = np.isfinite(side)
    stray = np.abs(duals[~held])
    if len(stray) and stray.max() > AGREEMENT * max(1.0, float(np.abs(duals).max())):
        return float("nan")
    return float(duals[held] @ side[held])


def _misfit(termination: Termination) -> Problem:
    return Problem(
        code="GL-R004",
        what=f"the plan's lots and runs do not fit the scenario ({termination.value})",
        why="shadow prices are those of the plan, the rest of it solved again",
        fix="solve the scenario again, or pass the scenario that the plan answers",
    )


def _disagreement(primal: float, dual: float) -> Problem:
    return Problem(
        code="GL-R005",
        what=f"the duals are worth {dual:,.6f} and the plan costs {primal:,.6f}",
        why="at an optimum both are the same; with these duals every shadow price would be wrong",
        fix="report this with the scenario, and do not use shadow prices meanwhile",
    )
