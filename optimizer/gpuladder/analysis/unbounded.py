"""Why buying pays without end: which offer, and who pays more for it than it costs.

The direction in which the linear program earns without end names them. It holds whatever the
scenario's other limits are; the check of a scenario finds the simple pairs before any solve.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.analysis.result import UnboundedRow
from gpuladder.compiled import compile_model
from gpuladder.program import make_program_data
from gpuladder.scenario.expand import expand
from gpuladder.solver import Program
from gpuladder.solving import solve_options
from gpuladder_models.build import build_model

if TYPE_CHECKING:
    from gpuladder.scenario.schema import Scenario

NOTHING = 1e-9
"""Parts of the direction below this share of its largest are rounding."""


def why_unbounded(scenario: Scenario) -> tuple[UnboundedRow, ...]:
    """Return the orders that pay without end and the buyers that pay for them.

    Parameters
    ----------
    scenario : Scenario
        One whose program is unbounded.

    Returns
    -------
    tuple of UnboundedRow
        One per offer, its first start; without a buyer where the value it keeps alone pays for it.
        Empty when the solver gives no direction.
    """
    data = make_program_data(scenario)
    compiled = compile_model(build_model(data))
    program = Program(replace(compiled, is_integer=np.zeros_like(compiled.is_integer)))
    program.solve(solve_options(scenario))
    direction = program.ray()
    if direction is None:
        return ()
    least = NOTHING * float(np.abs(direction).max(initial=0.0))
    lots = direction[compiled.column_blocks["lots"].slice]
    sold = direction[compiled.column_blocks["backfilled"].slice]
    committed = expand(scenario).committed
    labels, days = data.labels, [date.fromisoformat(day) for day in data.labels.periods]
    pools = {
        (int(data.cells.pool[data.backfill.cell[i]]), labels.buyers[data.backfill.buyer[i]])
        for i in np.flatnonzero(sold > least)
    }
    rows: dict[str, UnboundedRow] = {}
    for order in np.flatnonzero(lots > least):
        offer = labels.committed[data.orders.offer[order]]
        pool = labels.pools.index(committed[offer].pool)
        buyers = sorted(buyer for place, buyer in pools if place == pool)
        start = days[data.orders.start[order]]
        rows.setdefault(offer, UnboundedRow(offer=offer, start=start, buyers=tuple(buyers)))
    return tuple(rows.values())
