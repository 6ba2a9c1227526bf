"""The only module that talks to HiGHS: hand-over, progress, limits, edits in place and read-back.

Facts about HiGHS and highspy that this file relies on (highspy 1.16, each guarded by a test): the
constructor prints a banner to the process's stdout; a callback may ask for an end; the time limit
of a linear program counts on across runs of one instance, that of a mixed-integer one starts anew;
the size of the thread pool is fixed until it is reset; there are no duals of a mixed-integer
program; a start that presolve has no room for may be taken for a cheaper one, and the search end.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import highspy
import numpy as np

from gpuladder.certificates import Certificates
from gpuladder.compiled import CompiledModel, FloatArray, IntArray, compile_model
from gpuladder.errors import NoPlanError, Problem
from gpuladder.outcome import Outcome, with_bound
from gpuladder.plan import SolveOptions, Status, Termination
from gpuladder.watch import Progress, Watch, finite, relative_gap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyomo.environ as pyo

__all__ = ["Outcome", "Program", "Progress", "highs_version", "relative_gap"]

INTEGRALITY_TOLERANCE = 1e-9  # values further off are rounded and the rest solved again
FEASIBILITY_TOLERANCE = 1e-7
COST_TOLERANCE = 1e-6  # relative; how far the reported cost may be from that of the columns
_HIGHS = highspy.HighsModelStatus
_FEASIBLE_POINT = 2  # HighsSolutionStatus: a point that satisfies every row and bound
_TERMINATIONS = {
    _HIGHS.kOptimal: Termination.GAP_REACHED,
    _HIGHS.kModelEmpty: Termination.GAP_REACHED,
    _HIGHS.kInfeasible: Termination.INFEASIBLE,
    _HIGHS.kUnbounded: Termination.UNBOUNDED,
    _HIGHS.kTimeLimit: Termination.TIME_LIMIT,
    _HIGHS.kInterrupt: Termination.INTERRUPTED,
}


def highs_version() -> str:
    """Return the version of the solver."""
    return (
        f"{highspy.HIGHS_VERSION_MAJOR}.{highspy.HIGHS_VERSION_MINOR}.{highspy.HIGHS_VERSION_PATCH}"
    )


class Program(Certificates):
    """A program loaded into HiGHS, edited in place and solved as often as needed."""

    def __init__(self, model: pyo.ConcreteModel | CompiledModel) -> None:
        self.compiled = model if isinstance(model, CompiledModel) else compile_model(model)
        self.log: list[str] = []
        self._highs = _silent_highs()
        self._integer_columns = np.flatnonzero(self.compiled.is_integer).astype(np.int32)
        self._fixed = False
        self._load()

    @property
    def num_columns(self) -> int:
        """Number of variables."""
        return self.compiled.num_columns

    def _load(self) -> None:
        compiled = self.compiled
        status = self._highs.passModel(
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
            compiled.is_integer.astype(np.int32),  # HighsVarType: 0 continuous, 1 integer
        )
        _expect(status, "take the program")

    def column_values(self, outcome: Outcome, family: str) -> FloatArray:
        """Return the values of one variable family.

        Raises
        ------
        NoPlanError
            When the outcome holds no plan to read.
        """
        if outcome.columns is None:
            raise NoPlanError(
                Problem(
                    code="GL-R001",
                    what=f"the solver ended without a plan ({outcome.termination.value})",
                    why="there is nothing to read",
                    fix="raise solver.time_limit_seconds, or see why the scenario is infeasible",
                )
            )
        return outcome.columns[self.compiled.column_blocks[family].slice]

    def set_costs(self, family: str, costs: FloatArray) -> None:
        """Replace the objective coefficients of a variable family."""
        positions = self._positions(self.compiled.column_blocks[family].slice)
        _expect(
            self._highs.changeColsCost(len(positions), positions, np.asarray(costs, np.float64)),
            "change costs",
        )

    def set_column_bounds(self, family: str, lower: FloatArray, upper: FloatArray) -> None:
        """Replace the bounds of a variable family."""
        positions = self._positions(self.compiled.column_blocks[family].slice)
        self._set_bounds(positions, np.asarray(lower, np.float64), np.asarray(upper, np.float64))

    def set_row_bounds(self, family: str, key: int, lower: float, upper: float) -> None:
        """Replace both right-hand sides of one row of a constraint family."""
        block = self.compiled.row_blocks[family]
        row = block.begin + block.keys.index(key)
        _expect(self._highs.changeRowBounds(row, lower, upper), "change a right-hand side")

    def set_rows(self, rows: IntArray, lower: FloatArray, upper: FloatArray) -> None:
        """Replace both right-hand sides of rows by their positions."""
        positions = np.asarray(rows, np.int32)
        highs: Any = self._highs  # not in highspy's own type stubs
        status = highs.changeRowsBounds(len(positions), positions, lower, upper)
        _expect(status, "change right-hand sides")

    def basic_variables(self) -> IntArray | None:
        """Return what is basic after a linear solve, shape (num_rows,); None without a basis.

        A column by its position, the activity of row *i* as −1 − *i*.
        """
        highs: Any = self._highs
        status, basic = highs.getBasicVariables()
        return None if status == highspy.HighsStatus.kError else np.asarray(basic, np.int32)

    def basis_response(self, change: FloatArray) -> FloatArray:
        """Return ``B⁻¹ change``, shape (num_rows,), in the order of ``basic_variables``.

        What the basic variables do when right-hand sides of non-basic rows move by ``change``; the
        activity of a basic row enters the basis with the opposite sign.
        """
        highs: Any = self._highs
        status, response = highs.getBasisSolve(change)
        _expect(status, "say how the basis responds")
        return np.asarray(response, np.float64)

    @contextlib.contextmanager
    def integers_fixed(self, columns: FloatArray) -> Iterator[None]:
        """Fix every integer at its rounded value in ``columns`` and relax its type; then restore.

        Both are needed: with types left in place HiGHS still treats the program as mixed-integer
        and gives no duals.
        """
        positions = self._integer_columns
        rounded = np.round(columns[positions])
        lp = self._highs.getLp()
        lower = np.asarray(lp.col_lower_)[positions]
        upper = np.asarray(lp.col_upper_)[positions]
        self._set_types(highspy.HighsVarType.kContinuous)
        self._set_bounds(positions, rounded, rounded)
        self._fixed = True
        try:
            yield
        finally:
            self._fixed = False
            self._set_bounds(positions, lower, upper)
            self._set_types(highspy.HighsVarType.kInteger)

    def solve(
        self,
        options: SolveOptions,
        *,
        start: FloatArray | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Outcome:
        """Solve the program as it now stands.

        Parameters
        ----------
        start : float64, shape (num_columns,), optional
            Values of an earlier plan; the solver repairs or drops it when it does not fit.
        on_progress : callable, optional
            Called from within the solver, often; must be quick.

        Returns
        -------
        Outcome
            With a plan whenever the solver has one, at whatever limit it stopped.
        """
        outcome = self._search(options, start, on_progress)
        outcome = self._not_misled(outcome, options, on_progress)
        return self._polished(outcome, options)

    def _search(
        self,
        options: SolveOptions,
        start: FloatArray | None,
        on_progress: Callable[[Progress], None] | None,
    ) -> Outcome:
        began = time.monotonic()
        self._set_options(options)
        if start is not None and len(self._integer_columns):
            solution = highspy.HighsSolution()
            solution.col_value = start
            solution.value_valid = True
            self._highs.setSolution(solution)
        with Watch(self._highs, on_progress, self.log):
            self._highs.run()
        if self._highs.getModelStatus() == _HIGHS.kUnboundedOrInfeasible:
            self._highs.setOptionValue("presolve", "off")
            self._highs.run()
            self._highs.setOptionValue("presolve", "choose")
        return self._read(options, time.monotonic() - began)

    def _not_misled(
        self,
        outcome: Outcome,
        options: SolveOptions,
        on_progress: Callable[[Progress], None] | None,
    ) -> Outcome:
        """Solve again without a start when HiGHS reports a cost that its own plan does not have.

        Presolve may remove columns that the start uses; what is left of it then counts as a plan at
        a cost that no plan has, and everything dearer is cut off. The bound is still one.
        """
        if outcome.columns is None or outcome.objective is None or not self._is_mixed:
            return outcome
        cost = float(np.asarray(self._highs.getLp().col_cost_) @ outcome.columns)
        if abs(cost - outcome.objective) <= COST_TOLERANCE * max(1.0, abs(cost)):
            return outcome
        self._highs.clearSolver()  # it would start from the same point again
        first = with_bound(replace(outcome, objective=cost), outcome.bound, options)
        left = options.time_limit_seconds - outcome.seconds
        if outcome.termination is Termination.INTERRUPTED or left <= 0.0:
            return first
        again = self._search(
            options.model_copy(update={"time_limit_seconds": left}), None, on_progress
        )
        spent = replace(again, seconds=outcome.seconds + again.seconds)
        if again.objective is not None and again.objective <= cost:
            return spent
        kept = replace(spent, objective=cost, columns=outcome.columns)
        return with_bound(kept, again.bound, options)

    def _polished(self, outcome: Outcome, options: SolveOptions) -> Outcome:
        """Put integers on whole numbers and solve the rest again, where rounding was needed."""
        if self._fixed or outcome.columns is None or not len(self._integer_columns):
            return outcome
        values = outcome.columns[self._integer_columns]
        if np.abs(values - np.round(values)).max() <= INTEGRALITY_TOLERANCE:
            return outcome
        with self.integers_fixed(outcome.columns):
            linear = self.solve(options)
        if linear.columns is None or linear.objective is None:
            return outcome
        kept = replace(
            outcome,
            objective=linear.objective,
            columns=linear.columns,
            seconds=outcome.seconds + linear.seconds,
        )
        return with_bound(kept, outcome.bound, options)

    @property
    def _is_mixed(self) -> bool:
        return bool(len(self._integer_columns)) and not self._fixed

    def _set_options(self, options: SolveOptions) -> None:
        highs = self._highs
        _match_thread_pool(options.threads)
        highs.setOptionValue("threads", options.threads)
        highs.setOptionValue("random_seed", options.seed)
        highs.setOptionValue("mip_rel_gap", options.relative_gap)
        highs.setOptionValue("primal_feasibility_tolerance", FEASIBILITY_TOLERANCE)
        spent = 0.0 if self._is_mixed else highs.getRunTime()
        highs.setOptionValue("time_limit", spent + options.time_limit_seconds)

    def _read(self, options: SolveOptions, seconds: float) -> Outcome:
        """Read the outcome; no value before both statuses have been looked at."""
        highs = self._highs
        termination = _TERMINATIONS.get(highs.getModelStatus(), Termination.SOLVER_ERROR)
        info = highs.getInfo()
        is_mixed = self._is_mixed
        has_point = info.primal_solution_status == _FEASIBLE_POINT and termination not in (
            Termination.INFEASIBLE,
            Termination.UNBOUNDED,
        )
        if not has_point:
            infeasible = termination is Termination.INFEASIBLE
            return Outcome(
                termination=termination,
                status=Status.INFEASIBLE if infeasible else Status.NO_PLAN,
                objective=None,
                bound=finite(info.mip_dual_bound) if is_mixed and not infeasible else None,
                gap=None,
                columns=None,
                row_duals=None,
                reduced_costs=None,
                seconds=seconds,
                nodes=max(int(info.mip_node_count), 0),
            )
        solution = highs.getSolution()
        objective = float(info.objective_function_value)
        is_optimum = termination is Termination.GAP_REACHED
        bound = finite(info.mip_dual_bound) if is_mixed else objective if is_optimum else None
        outcome = Outcome(
            termination=termination,
            status=Status.FEASIBLE,
            objective=objective,
            bound=None,
            gap=None,
            columns=np.array(solution.col_value, np.float64),
            row_duals=None if is_mixed else np.array(solution.row_dual, np.float64),
            reduced_costs=None if is_mixed else np.array(solution.col_dual, np.float64),
            seconds=seconds,
            nodes=max(int(info.mip_node_count), 0) if is_mixed else 0,
        )
        return with_bound(outcome, bound, options)

    @staticmethod
    def _positions(block: slice) -> np.ndarray[Any, np.dtype[np.int32]]:
        return np.arange(block.start, block.stop, dtype=np.int32)

    def _set_bounds(self, positions: Any, lower: FloatArray, upper: FloatArray) -> None:
        if len(positions):
            _expect(
                self._highs.changeColsBounds(len(positions), positions, lower, upper),
                "change bounds",
            )

    def _set_types(self, kind: highspy.HighsVarType) -> None:
        positions = self._integer_columns
        if len(positions):
            kinds = np.full(len(positions), int(kind), np.uint8)
            _expect(
                self._highs.changeColsIntegrality(len(positions), positions, kinds),
                "change variable types",
            )


def _expect(status: highspy.HighsStatus, doing: str) -> None:
    if status == highspy.HighsStatus.kError:
        raise NoPlanError(
            Problem(
                code="GL-R002",
                what=f"the solver could not {doing}",
                why="it refused the arrays it was given",
                fix="report this with the scenario: the program should never be malformed",
            )
        )


_pool_threads: int | None = None


def _match_thread_pool(threads: int) -> None:
    """Let the next run use ``threads`` threads; HiGHS keeps the first pool's size otherwise."""
    global _pool_threads  # noqa: PLW0603 (HiGHS's own thread pool is one per process)
    if _pool_threads != threads:
        highspy.Highs.resetGlobalScheduler(True)  # noqa: FBT003 (HiGHS's signature)
        _pool_threads = threads


def _silent_highs() -> highspy.Highs:
    """Return a new HiGHS whose banner does not reach stdout, where data goes."""
    sys.stdout.flush()
    with Path(os.devnull).open("wb") as sink:
        saved = os.dup(1)
        try:
            os.dup2(sink.fileno(), 1)
            highs = highspy.Highs()  # type: ignore[no-untyped-call]
            highs.setOptionValue("log_to_console", False)  # noqa: FBT003 (HiGHS's signature)
        finally:
            os.dup2(saved, 1)
            os.close(saved)
    return highs
