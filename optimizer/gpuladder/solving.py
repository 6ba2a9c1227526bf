"""From a scenario to a plan: build the program, solve it, read the answer back."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.compiled import CompiledModel, compile_model
from gpuladder.plan import (
    COST_LINES,
    BackfillSale,
    CostLine,
    Dropped,
    FlexUse,
    MeteredUse,
    Order,
    Plan,
    Run,
    ScenarioRef,
    SolveOptions,
    SpotUse,
    StableUse,
    Status,
)
from gpuladder.program import make_program_data
from gpuladder.scenario.fingerprint import fingerprint
from gpuladder.solver import Outcome, Program, Progress, highs_version, relative_gap
from gpuladder.tidy import tidied
from gpuladder_models.build import build_model
from gpuladder_models.data import ProgramData

if TYPE_CHECKING:
    from gpuladder.scenario.schema import Scenario
    from gpuladder.timegrid import FloatArray

Edit = Callable[[CompiledModel, ProgramData], CompiledModel]
WHOLE_FAMILIES = ("lots", "placed", "mode", "dropped_gang")
SMALLEST_QUANTITY = 1e-9  # anything smaller is rounding left over by the solver


@dataclass(frozen=True, slots=True)
class Solved:
    """A plan with what else the solve left behind."""

    plan: Plan
    log: str
    """What the solver said."""
    size: dict[str, int]
    """Variables, integers, rows and non-zeros."""


def solve_options(scenario: Scenario) -> SolveOptions:
    """Return the options a scenario asks for; all cores where it names no number of threads."""
    asked = scenario.solver
    return SolveOptions(
        time_limit_seconds=asked.time_limit_seconds,
        relative_gap=asked.relative_gap,
        threads=asked.threads or os.cpu_count() or 1,
        seed=asked.seed,
    )


def solve_scenario(
    scenario: Scenario,
    *,
    start_from: Plan | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    edit: Edit | None = None,
) -> Solved:
    """Solve a checked scenario.

    Parameters
    ----------
    edit : callable, optional
        Changes the compiled program before it is solved: some decisions forbidden, another
        objective. With another objective the plan's ``objective`` still is its net present cost,
        and it carries no bound.
    start_from : Plan, optional
        An earlier plan, of this scenario or a similar one; what fits of it is the starting point.
    on_progress : callable, optional
        Called from within the solver with what is known so far.

    Returns
    -------
    Solved
        ``plan.status`` says whether there is a plan; none is raised for an infeasible scenario.
    """
    began = time.monotonic()
    data = make_program_data(scenario)
    plain = compile_model(build_model(data, is_free=edit is not None))
    edited = plain if edit is None else edit(plain, data)
    program = Program(edited)
    built = time.monotonic()
    options = solve_options(scenario)
    start = None if start_from is None else start_values(data, program, start_from)
    outcome = program.solve(options, start=start, on_progress=on_progress)
    outcome = tidied(program, data, outcome, options)
    if edited.cost is not plain.cost:
        outcome = replace(outcome, bound=None)
    solved = time.monotonic()
    plan = make_plan(
        scenario,
        data,
        program,
        outcome,
        options,
        {"build": round(built - began, 3), "solve": round(solved - built, 3)},
    )
    return Solved(plan=plan, log="".join(program.log), size=program_size(program.compiled))


def program_size(compiled: CompiledModel) -> dict[str, int]:
    """Return the number of variables, integers, rows and non-zeros of a program."""
    return {
        "variables": compiled.num_columns,
        "integers": int(compiled.is_integer.sum()),
        "rows": compiled.num_rows,
        "nonzeros": len(compiled.values),
    }


def versions() -> dict[str, str]:
    """Return the versions of everything that can change an answer."""
    packages = ("gpuladder", "pyomo", "numpy", "pydantic")
    named = {name: version(name) for name in packages}
    return {**named, "highs": highs_version(), "python": platform.python_version()}


def make_plan(
    scenario: Scenario,
    data: ProgramData,
    program: Program,
    outcome: Outcome,
    options: SolveOptions,
    seconds: dict[str, float],
) -> Plan:
    """Return the plan of an outcome; without quantities when the solver has none."""
    plan = partial(
        Plan,
        scenario=ScenarioRef(name=scenario.name, sha256=fingerprint(scenario)),
        currency=scenario.currency,
        termination=outcome.termination,
        options=options,
        versions=versions(),
        seconds=seconds,
    )
    if outcome.columns is None:
        return plan(status=outcome.status, objective=None, bound=outcome.bound, gap=None)
    values = {
        family: program.column_values(outcome, family) for family in program.compiled.column_blocks
    }
    values.update({family: np.round(values[family]) for family in WHOLE_FAMILIES})
    costs = cost_lines(data, values)
    objective = sum(line.amount for line in costs)
    bound = None if outcome.bound is None else min(outcome.bound, objective)
    gap = None if bound is None else relative_gap(objective, bound)
    is_proven = gap is not None and gap <= options.relative_gap + 1e-12
    reader = _Reader(data, [date.fromisoformat(day) for day in data.labels.periods])
    return plan(
        status=Status.OPTIMAL if is_proven else Status.FEASIBLE,
        objective=objective,
        bound=bound,
        gap=gap,
        orders=reader.orders(values["lots"]),
        on_demand=reader.on_demand(values["on_demand"]),
        drawn=reader.drawn(values["drawn"]),
        stable_use=reader.stable_use(values["stable"]),
        spot_use=reader.spot_use(values["spot"]),
        runs=reader.runs(values["mode"]),
        dropped=reader.dropped(values["dropped_elastic"], values["dropped_gang"]),
        backfill=reader.backfill(values["backfilled"]),
        costs=costs,
    )


def cost_lines(data: ProgramData, values: dict[str, FloatArray]) -> tuple[CostLine, ...]:
    """Return the net present cost line by line, lines of nothing left out."""
    amounts = {name: float(cost @ values["lots"]) for name, cost in data.orders.cost_lines.items()}
    amounts["on_demand"] = float(data.on_demand.cost @ values["on_demand"])
    amounts["spot"] = float(
        data.elastic.spot_cost @ values["spot"] + data.gangs.mode_cost @ values["mode"]
    )
    amounts["usage"] = float(data.flex.draw_cost @ values["drawn"])
    amounts["setup"] = float(data.orders.setup_cost @ values["placed"])
    amounts["drop"] = float(
        data.drops.elastic_cost @ values["dropped_elastic"]
        + data.drops.gang_cost @ values["dropped_gang"]
    )
    amounts["backfill_revenue"] = float(data.backfill.cost @ values["backfilled"])
    return tuple(
        CostLine(line=name, amount=amounts[name]) for name in COST_LINES if amounts.get(name)
    )


class _Reader:
    """Reads the values of the variable families back as the plan's records."""

    def __init__(self, data: ProgramData, days: list[date]) -> None:
        self._data, self._days = data, days

    def orders(self, lots: FloatArray) -> tuple[Order, ...]:
        data = self._data
        return tuple(
            Order(
                offer=data.labels.committed[data.orders.offer[j]],
                start=self._days[data.orders.start[j]],
                lots=round(lots[j]),
            )
            for j in np.flatnonzero(np.round(lots))
        )

    def on_demand(self, gpus: FloatArray) -> tuple[MeteredUse, ...]:
        data = self._data
        level = data.on_demand.level
        period = data.cells.period[data.levels.cell[level]]
        return tuple(
            MeteredUse(
                offer=data.labels.on_demand[data.on_demand.offer[i]],
                period=self._days[period[i]],
                level=int(data.levels.index[level[i]]),
                gpus=float(gpus[i]),
            )
            for i in _some(gpus)
        )

    def drawn(self, gpus: FloatArray) -> tuple[FlexUse, ...]:
        data = self._data
        flex = data.flex.draw_flex
        return tuple(
            FlexUse(
                offer=data.labels.committed[data.flex.offer[flex[i]]],
                period=self._days[data.cells.period[data.flex.cell[flex[i]]]],
                gpus=float(gpus[i]),
            )
            for i in _some(gpus)
        )

    def stable_use(self, gpus: FloatArray) -> tuple[StableUse, ...]:
        data, elastic = self._data, self._data.elastic
        return tuple(
            StableUse(
                campaign=data.labels.campaigns[elastic.campaign[elastic.stable_instance[i]]],
                pool=data.labels.pools[data.cells.pool[elastic.stable_cell[i]]],
                period=self._days[data.cells.period[elastic.stable_cell[i]]],
                gpus=float(gpus[i]),
            )
            for i in _some(gpus)
        )

    def spot_use(self, gpus: FloatArray) -> tuple[SpotUse, ...]:
        data, elastic = self._data, self._data.elastic
        return tuple(
            SpotUse(
                campaign=data.labels.campaigns[elastic.campaign[elastic.spot_instance[i]]],
                offer=data.labels.spot[data.spot.offer[elastic.spot_cell[i]]],
                period=self._days[data.spot.period[elastic.spot_cell[i]]],
                gpus=float(gpus[i]),
            )
            for i in _some(gpus)
        )

    def runs(self, chosen: FloatArray) -> tuple[Run, ...]:
        data, gangs = self._data, self._data.gangs
        return tuple(
            Run(
                campaign=data.labels.campaigns[gangs.campaign[gangs.mode_instance[m]]],
                pool=data.labels.pools[gangs.mode_pool[m]],
                spot_offer=data.labels.spot[gangs.mode_spot[m]]
                if gangs.mode_spot[m] >= 0
                else None,
                gpus=int(gangs.mode_gpus[m]),
                start=self._days[gangs.mode_start[m]],
                hours=float(gangs.mode_hours[m]),
            )
            for m in np.flatnonzero(np.round(chosen))
        )

    def dropped(self, elastic: FloatArray, gang: FloatArray) -> tuple[Dropped, ...]:
        data = self._data
        parts = [
            (data.elastic.campaign[data.drops.elastic[z]], min(float(elastic[z]), 1.0))
            for z in _some(elastic)
        ]
        wholes = [
            (data.gangs.campaign[data.drops.gang[z]], 1.0) for z in np.flatnonzero(np.round(gang))
        ]
        return tuple(
            Dropped(campaign=data.labels.campaigns[k], share=share) for k, share in parts + wholes
        )

    def backfill(self, gpus: FloatArray) -> tuple[BackfillSale, ...]:
        data = self._data
        return tuple(
            BackfillSale(
                buyer=data.labels.buyers[data.backfill.buyer[i]],
                pool=data.labels.pools[data.cells.pool[data.backfill.cell[i]]],
                period=self._days[data.cells.period[data.backfill.cell[i]]],
                gpus=float(gpus[i]),
            )
            for i in _some(gpus)
        )


def _some(values: FloatArray) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    return np.flatnonzero(values > SMALLEST_QUANTITY)


def start_values(data: ProgramData, program: Program, plan: Plan) -> FloatArray | None:
    """Return column values that repeat an earlier plan's integer decisions, shape (num_columns,).

    What no longer exists is left out; continuous quantities are found by solving the linear program
    with those integers. None when that is infeasible: the earlier plan does not fit any more.
    """
    period = {day: number for number, day in enumerate(data.labels.periods)}
    columns = np.zeros(program.num_columns)
    blocks = program.compiled.column_blocks
    lots = {
        (data.labels.committed[o], int(s)): j
        for j, (o, s) in enumerate(zip(data.orders.offer, data.orders.start, strict=True))
    }
    for order in plan.orders:
        j = lots.get((order.offer, period.get(str(order.start), -1)))
        if j is not None:
            columns[blocks["lots"].begin + j] = order.lots
    for row, j in enumerate(data.orders.placed.tolist()):
        columns[blocks["placed"].begin + row] = float(columns[blocks["lots"].begin + j] > 0)
    _start_gangs(data, program, plan, columns, period)
    with program.integers_fixed(columns):
        outcome = program.solve(plan.options)
    return outcome.columns


def _start_gangs(
    data: ProgramData, program: Program, plan: Plan, columns: FloatArray, period: dict[str, int]
) -> None:
    gangs, labels, blocks = data.gangs, data.labels, program.compiled.column_blocks
    modes = {
        (
            labels.campaigns[gangs.campaign[gangs.mode_instance[m]]],
            labels.pools[gangs.mode_pool[m]],
            labels.spot[gangs.mode_spot[m]] if gangs.mode_spot[m] >= 0 else None,
            int(gangs.mode_gpus[m]),
            int(gangs.mode_start[m]),
        ): m
        for m in range(len(gangs.mode_start))
    }
    for run in plan.runs:
        place = (run.campaign, run.pool, run.spot_offer, run.gpus, period.get(str(run.start), -1))
        if (m := modes.get(place)) is not None:
            columns[blocks["mode"].begin + m] = 1.0
    left_out = {item.campaign for item in plan.dropped if item.share == 1.0}
    for z, instance in enumerate(data.drops.gang.tolist()):
        if labels.campaigns[gangs.campaign[instance]] in left_out:
            columns[blocks["dropped_gang"].begin + z] = 1.0
