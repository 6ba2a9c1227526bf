"""What a search that ended early may leave behind: orders of nothing, and hours nobody uses.

Both are within the limits and cost money; at the optimum there are none. A plan shows neither.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.outcome import Outcome, with_bound
from gpuladder_models.balance import levels_of

if TYPE_CHECKING:
    from gpuladder.plan import SolveOptions
    from gpuladder.solver import Program
    from gpuladder.timegrid import FloatArray
    from gpuladder_models.data import ProgramData

WASTE_TOLERANCE_GPUS = 1e-6


def tidied(program: Program, data: ProgramData, outcome: Outcome, options: SolveOptions) -> Outcome:
    """Return the outcome without waste: whole decisions kept, all else solved again where needed.

    The bound stays; the objective can only fall.
    """
    if outcome.columns is None:
        return outcome
    blocks = program.compiled.column_blocks
    columns = outcome.columns.copy()
    placed = np.round(columns[blocks["placed"].slice])
    needed = np.round(columns[blocks["lots"].slice][data.orders.placed]) > 0
    if not np.any(placed > needed) and not _wastes_hours(program, data, outcome.columns):
        return outcome
    columns[blocks["placed"].slice] = needed
    with program.integers_fixed(columns):
        linear = program.solve(options)
    if linear.columns is None or linear.objective is None:
        return outcome
    kept = replace(outcome, columns=linear.columns, objective=linear.objective)
    return with_bound(kept, outcome.bound, options)


def _wastes_hours(program: Program, data: ProgramData, columns: FloatArray) -> bool:
    """Tell whether metered capacity at some level exceeds what demand and campaigns take."""
    blocks, levels, size = program.compiled.column_blocks, data.levels, len(data.levels.cell)
    bought = np.zeros(size)
    bought += np.bincount(data.on_demand.level, columns[blocks["on_demand"].slice], size)
    rows, draws = levels_of(data, data.flex.cell[data.flex.draw_flex])
    bought += np.bincount(rows, columns[blocks["drawn"].slice][draws], size)
    most = levels.demand + columns[blocks["campaign_use"].slice][levels.cell]
    return bool(np.any(bought > most + WASTE_TOLERANCE_GPUS * (1.0 + most)))
