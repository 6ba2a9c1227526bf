"""From a scenario to the arrays of the program; every line a unit conversion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpuladder.program.campaigns import make_drops, make_elastic, make_gangs, stable_cells
from gpuladder.program.capacity import (
    make_backfill,
    make_cells,
    make_flex,
    make_levels,
    make_on_demand,
    make_spot,
)
from gpuladder.program.context import Context, make_context
from gpuladder.program.limits import make_ladder, make_policy
from gpuladder.program.orders import list_terms, make_lots_active, make_orders
from gpuladder_models.data import Labels, ProgramData

if TYPE_CHECKING:
    from gpuladder.scenario.schema import Scenario


def make_program_data(scenario: Scenario) -> ProgramData:
    """Return the arrays of a checked scenario's program.

    The scenario has passed ``scenario.load``; on an unchecked one a KeyError or ValueError may come
    up instead of a readable problem.
    """
    context = make_context(scenario)
    terms = list_terms(context)
    orders = make_orders(context, terms)
    spot = make_spot(context)
    elastic = make_elastic(context, spot)
    gangs = make_gangs(context, spot)
    loaded, dedicated = stable_cells(context, elastic, gangs)
    cells = make_cells(context, terms, loaded, dedicated)
    levels = make_levels(context, loaded)
    on_demand = make_on_demand(context, cells, levels)
    flex = make_flex(context, terms, cells)
    return ProgramData(
        labels=_labels(context),
        probability=np.ones(1),
        orders=orders,
        cells=cells,
        levels=levels,
        on_demand=on_demand,
        flex=flex,
        spot=spot,
        elastic=elastic,
        gangs=gangs,
        drops=make_drops(context, elastic, gangs),
        backfill=make_backfill(context, cells),
        lots_active=make_lots_active(context, terms),
        ladder=make_ladder(context, terms),
        policy=make_policy(
            context, terms, orders, cells, levels, on_demand, flex, spot, elastic, gangs
        ),
    )


def _labels(context: Context) -> Labels:
    expanded = context.expanded
    return Labels(
        futures=("certain",),
        periods=tuple(str(day) for day in context.grid.boundaries[:-1]),
        pools=context.pool_ids,
        committed=tuple(expanded.committed),
        on_demand=tuple(expanded.on_demand),
        spot=tuple(expanded.spot),
        campaigns=tuple(expanded.campaigns),
        buyers=tuple(buyer.id for buyer in context.scenario.backfill),
        providers=tuple(dict.fromkeys(pool.provider for pool in expanded.pools.values())),
    )
