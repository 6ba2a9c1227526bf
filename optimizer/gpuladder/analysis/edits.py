"""Decisions taken away from a compiled program, and columns and rows added to it.

A restriction only narrows the bounds of columns, so what the restricted program finds is a plan of
the scenario too, and its optimum can never be cheaper than the scenario's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpuladder.compiled import CompiledModel, FloatArray, IntArray
    from gpuladder_models.data import IntArray as Index
    from gpuladder_models.data import ProgramData

WORK_TOLERANCE = 1e-9  # relative; work that fills its window exactly must not fall to rounding


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedOrder:
    """An order that is placed as it stands."""

    offer: str
    """Expanded id of a committed offer."""
    period: int
    """Period at whose first boundary it starts."""
    lots: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Restriction:
    """An edit that takes families of decisions away; empty, it takes nothing."""

    closed: frozenset[str] = frozenset()
    """Offers, by expanded id, of which nothing new is ordered or used."""
    at_first_start: frozenset[str] = frozenset()
    """Committed offers that are ordered on the first date they can start on, or not at all."""
    fixed: tuple[FixedOrder, ...] = ()
    """Orders that are placed exactly so; close the offers' other starts through ``closed``."""
    has_spot: bool = True
    """Whether spot may be used."""
    has_backfill: bool = True
    """Whether idle capacity may be sold."""
    is_unshifted: bool = False
    """Whether every campaign is held to its earliest dates; see ``hold_to_earliest``."""

    def __call__(self, compiled: CompiledModel, data: ProgramData) -> CompiledModel:
        """Return the program without the decisions taken away."""
        lower, upper = compiled.column_lower.copy(), compiled.column_upper.copy()
        self._restrict_orders(compiled, data, lower, upper)
        blocks = compiled.column_blocks
        if not self.has_spot:
            upper[blocks["spot"].slice] = 0.0
            upper[blocks["mode"].begin + np.flatnonzero(data.gangs.mode_spot >= 0)] = 0.0
        self._close_metered(compiled, data, upper)
        if not self.has_backfill:
            upper[blocks["backfilled"].slice] = 0.0
        edited = replace(compiled, column_lower=lower, column_upper=upper)
        return hold_to_earliest(edited, data) if self.is_unshifted else edited

    def _restrict_orders(
        self, compiled: CompiledModel, data: ProgramData, lower: FloatArray, upper: FloatArray
    ) -> None:
        begin, orders = compiled.column_blocks["lots"].begin, data.orders
        first: dict[int, int] = {}
        for offer, start in zip(orders.offer.tolist(), orders.start.tolist(), strict=True):
            first[offer] = min(start, first.get(offer, start))
        fixed = {(item.offer, item.period): item.lots for item in self.fixed}
        for j, (offer, start) in enumerate(
            zip(orders.offer.tolist(), orders.start.tolist(), strict=True)
        ):
            name = data.labels.committed[offer]
            is_late = name in self.at_first_start and start > first[offer]
            if (name, start) in fixed:
                lower[begin + j] = upper[begin + j] = fixed[name, start]
            elif name in self.closed or is_late:
                upper[begin + j] = 0.0

    def _close_metered(self, compiled: CompiledModel, data: ProgramData, upper: FloatArray) -> None:
        blocks, gangs = compiled.column_blocks, data.gangs
        on_demand = np.array([name in self.closed for name in data.labels.on_demand], np.bool_)
        spot = np.array([name in self.closed for name in data.labels.spot], np.bool_)
        if on_demand.any():
            use = np.flatnonzero(on_demand[data.on_demand.offer])
            upper[blocks["on_demand"].begin + use] = 0.0
        if spot.any():
            use = np.flatnonzero(spot[data.spot.offer[data.elastic.spot_cell]])
            upper[blocks["spot"].begin + use] = 0.0
            modes = np.flatnonzero((gangs.mode_spot >= 0) & spot[gangs.mode_spot])
            upper[blocks["mode"].begin + modes] = 0.0


def hold_to_earliest(compiled: CompiledModel, data: ProgramData) -> CompiledModel:
    """Return the program in which no campaign is shifted.

    A gang starts on the first boundary on which any of its modes can; place and size stay free. An
    elastic campaign is done as soon as its width allows: it works only in the first periods of its
    window, as many as it needs at full width on the slowest capacity open to it (stable capacity if
    there is any, else spot). Where all that a pool could ever give is less than the width, full
    width means that.
    """
    upper = compiled.column_upper.copy()
    gangs, elastic = data.gangs, data.elastic
    first = np.full(len(gangs.campaign), np.iinfo(np.int64).max)
    open_modes = upper[compiled.column_blocks["mode"].slice] > 0
    np.minimum.at(first, gangs.mode_instance[open_modes], gangs.mode_start[open_modes])
    late = np.flatnonzero(gangs.mode_start > first[gangs.mode_instance])
    upper[compiled.column_blocks["mode"].begin + late] = 0.0
    last = _last_periods(compiled, data)
    stable_period = data.cells.period[elastic.stable_cell]
    late_stable = np.flatnonzero(stable_period > last[elastic.stable_instance])
    upper[compiled.column_blocks["stable"].begin + late_stable] = 0.0
    spot_period = data.spot.period[elastic.spot_cell]
    late_spot = np.flatnonzero(spot_period > last[elastic.spot_instance])
    upper[compiled.column_blocks["spot"].begin + late_spot] = 0.0
    return replace(compiled, column_upper=upper)


def _last_periods(compiled: CompiledModel, data: ProgramData) -> Index:
    """Return the last period in which each elastic campaign may work unshifted, shape (E,)."""
    elastic, num_periods = data.elastic, len(data.labels.periods)
    most = _most_supply(compiled, data)
    last = np.full(len(elastic.work), num_periods, np.int64)
    for instance, work in enumerate(elastic.work.tolist()):
        rate = np.full(num_periods, np.inf)
        room = np.zeros(num_periods)
        own = np.flatnonzero(elastic.stable_instance == instance)
        if len(own):
            cells = elastic.stable_cell[own]
            np.minimum.at(rate, data.cells.period[cells], elastic.stable_work[own])
            np.add.at(room, data.cells.period[cells], most[cells])
        else:
            own = np.flatnonzero(elastic.spot_instance == instance)
            cells = elastic.spot_cell[own]
            np.minimum.at(rate, data.spot.period[cells], elastic.spot_work[own])
            np.add.at(room, data.spot.period[cells], data.spot.depth[cells])
        width = np.zeros(num_periods)
        rows = np.flatnonzero(elastic.width_instance == instance)
        width[elastic.width_period[rows]] = elastic.width[rows]
        per_period = np.where(np.isfinite(rate), rate, 0.0) * np.minimum(width, room)
        done = np.cumsum(per_period) >= work * (1.0 - WORK_TOLERANCE)
        if done.any():
            last[instance] = int(np.argmax(done))
    return last


def _most_supply(compiled: CompiledModel, data: ProgramData) -> FloatArray:
    """Return the most GPUs that each cell could ever spare for campaigns, shape (N,)."""
    cells, levels, flex = data.cells, data.levels, data.flex
    lots = compiled.column_upper[compiled.column_blocks["lots"].slice]
    most = cells.held.astype(np.float64)
    np.add.at(most, flex.cell, flex.standing)
    for matrix, cell in ((cells.firm, None), (flex.held, flex.cell)):
        some = np.flatnonzero(lots[matrix.column] > 0)
        row = matrix.row[some] if cell is None else cell[matrix.row[some]]
        np.add.at(most, row, matrix.value[some] * lots[matrix.column[some]])
    at_top = levels.index[data.on_demand.level] == _top_level(data)[data.on_demand.level]
    np.add.at(most, levels.cell[data.on_demand.level[at_top]], data.on_demand.quota[at_top])
    demand = np.zeros(len(most))
    np.maximum.at(demand, levels.cell, levels.demand)
    return np.maximum(most - demand, 0.0)


def _top_level(data: ProgramData) -> Index:
    """Return the index of the highest level of each level's cell, shape (L,)."""
    top = np.zeros(len(data.cells.held), np.int64)
    np.maximum.at(top, data.levels.cell, data.levels.index)
    return top[data.levels.cell]


@dataclass(frozen=True, slots=True)
class NewColumns:
    """Columns to be added after a program's own; arrays of one length."""

    lower: FloatArray
    upper: FloatArray
    is_integer: bool


@dataclass(frozen=True, slots=True)
class NewRow:
    """A row to be added: ``lower ≤ values @ x[columns] ≤ upper``."""

    columns: IntArray
    values: FloatArray
    upper: float
    lower: float = -np.inf


def extend(
    compiled: CompiledModel, columns: NewColumns, rows: Sequence[NewRow], cost: FloatArray
) -> CompiledModel:
    """Return the program with more columns and rows after its own, and another objective.

    Parameters
    ----------
    cost : float64, shape (num_columns + new columns,)
        The new objective.
    """
    count = len(columns.upper)
    lengths = [len(row.columns) for row in rows]
    return replace(
        compiled,
        cost=np.asarray(cost, np.float64),
        column_lower=np.concatenate([compiled.column_lower, columns.lower]),
        column_upper=np.concatenate([compiled.column_upper, columns.upper]),
        is_integer=np.concatenate(
            [compiled.is_integer, np.full(count, columns.is_integer, np.bool_)]
        ),
        row_lower=np.concatenate([compiled.row_lower, [row.lower for row in rows]]),
        row_upper=np.concatenate([compiled.row_upper, [row.upper for row in rows]]),
        starts=np.concatenate(
            [compiled.starts, compiled.starts[-1] + np.cumsum(lengths, dtype=np.int64)]
        ).astype(np.int32),
        columns=np.concatenate([compiled.columns, *(row.columns for row in rows)]).astype(np.int32),
        values=np.concatenate([compiled.values, *(row.values for row in rows)]).astype(np.float64),
    )
