"""The objective: net present cost, line by line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyomo.environ as pyo

if TYPE_CHECKING:
    from gpuladder_models.data import FloatArray, ProgramData
from gpuladder_models.rows import linear_expression, term


def costs(data: ProgramData) -> dict[str, FloatArray]:
    """Return the cost of one unit of each variable, by variable family (O1 … O14)."""
    return {
        "lots": data.orders.cost,
        "placed": data.orders.setup_cost,
        "on_demand": data.on_demand.cost,
        "drawn": data.flex.draw_cost,
        "spot": data.elastic.spot_cost,
        "mode": data.gangs.mode_cost,
        "dropped_elastic": data.drops.elastic_cost,
        "dropped_gang": data.drops.gang_cost,
        "backfilled": data.backfill.cost,
    }


def add_objective(model: pyo.ConcreteModel, data: ProgramData) -> None:
    """Minimise the net present cost; implements (O1) to (O14)."""
    terms = []
    for family, cost in costs(data).items():
        priced = np.flatnonzero(cost)
        terms.append(term(getattr(model, family), np.zeros(len(priced)), priced, cost[priced]))
    model.net_present_cost = pyo.Objective(expr=linear_expression(terms), sense=pyo.minimize)
