"""Supply against demand: every level of every cell, and the sale of what stands idle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpuladder_models.rows import Term, add_rows, add_variable, matrix_term, term

if TYPE_CHECKING:
    import pyomo.environ as pyo

    from gpuladder_models.data import IntArray, ProgramData


def add_campaign_use(model: pyo.ConcreteModel, data: ProgramData) -> None:
    """Add what campaigns use of each cell's stable capacity, even over the period.

    Implements (C11) ``campaign_use_balance``, a definition like (C4).
    """
    cells = data.cells
    every = np.arange(len(cells.held))
    add_variable(model, "campaign_use", len(every), upper=np.where(cells.loaded, np.inf, 0.0))
    use = np.arange(len(data.elastic.stable_cell))
    loaded = np.flatnonzero(cells.loaded)
    add_rows(
        model,
        "campaign_use_balance",
        len(every),
        [
            term(model.campaign_use, loaded, loaded),
            term(model.stable, data.elastic.stable_cell, use, -1.0),
            matrix_term(model.mode, data.gangs.stable, -1.0),
        ],
        lower=0.0,
        upper=0.0,
    )


def add_backfill(model: pyo.ConcreteModel, data: ProgramData) -> None:
    """Add the sale of idle firm capacity.

    Implements (C12) ``backfill_supply`` and (C13) ``backfill_depth``. Firm capacity alone is sold;
    together with (C14) the sale leaves enough for demand and campaigns in every level.
    """
    backfill = data.backfill
    sales = np.arange(len(backfill.cell))
    add_variable(model, "backfilled", len(sales))
    every = np.arange(len(data.cells.held))
    sold = np.unique(backfill.cell)
    add_rows(
        model,
        "backfill_supply",
        len(every),
        [term(model.firm, sold, sold), term(model.backfilled, backfill.cell, sales, -1.0)],
        lower=0.0,
    )
    limited = np.flatnonzero(backfill.depth_row >= 0)
    add_rows(
        model,
        "backfill_depth",
        len(backfill.depth),
        [term(model.backfilled, backfill.depth_row[limited], limited)],
        upper=backfill.depth,
    )


def add_stable_supply(model: pyo.ConcreteModel, data: ProgramData) -> None:
    """Cover demand, campaigns and backfill in every level of every cell.

    Implements (C14) ``stable_supply`` and (C15) ``on_demand_quota``.
    """
    levels, on_demand, flex = data.levels, data.on_demand, data.flex
    use, draws = np.arange(len(on_demand.level)), np.arange(len(flex.draw_flex))
    add_variable(model, "on_demand", len(use))
    add_variable(model, "drawn", len(draws))
    rows = np.arange(len(levels.cell))
    loaded = np.flatnonzero(data.cells.loaded[levels.cell])
    add_rows(
        model,
        "stable_supply",
        len(rows),
        [
            term(model.firm, rows, levels.cell),
            term(model.on_demand, on_demand.level, use),
            _per_level(data, model.drawn, flex.cell[flex.draw_flex], 1.0),
            term(model.campaign_use, loaded, levels.cell[loaded], -1.0),
            _per_level(data, model.backfilled, data.backfill.cell, -1.0),
        ],
        lower=levels.demand,
    )
    add_rows(
        model,
        "on_demand_quota",
        len(use),
        [term(model.on_demand, use, use)],
        upper=on_demand.quota,
    )


def _per_level(data: ProgramData, variable: pyo.Var, cell: IntArray, sign: float) -> Term:
    """Return ``sign × variable[i]`` in every level of the cell of each member of a family."""
    rows, columns = levels_of(data, cell)
    return term(variable, rows, columns, sign)


def levels_of(data: ProgramData, cell: IntArray) -> tuple[IntArray, IntArray]:
    """Return all pairs (level, position) where the level belongs to ``cell[position]``."""
    counts = np.bincount(data.levels.cell, minlength=len(data.cells.held))
    first = np.concatenate(([0], np.cumsum(counts)[:-1]))  # levels are in cell order
    repeats = counts[cell]
    positions = np.repeat(np.arange(len(cell)), repeats)
    offset = np.arange(len(positions)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    return first[cell[positions]] + offset, positions


def add_draws(model: pyo.ConcreteModel, data: ProgramData) -> None:
    """Keep draws within what flex reservations hold and what campaigns use.

    Implements (C16) ``draw_limit`` and (C17) ``draw_use``: a row per cell for draws that are not
    dedicated, which serve shared tenancy alone, and another for all draws where some are.
    """
    flex, elastic, gangs = data.flex, data.elastic, data.gangs
    draws = np.arange(len(flex.draw_flex))
    add_rows(
        model,
        "draw_limit",
        len(draws),
        [term(model.drawn, draws, draws), term(model.flex_held, draws, flex.draw_flex, -1.0)],
        upper=0.0,
    )
    cell, size = flex.cell[flex.draw_flex], len(data.cells.held)
    shared = np.flatnonzero(~flex.draw_dedicated)
    own = np.unique(cell[flex.draw_dedicated])
    drawn = np.unique(cell[shared])
    tenants = np.flatnonzero(elastic.stable_dedicated & np.isin(elastic.stable_cell, drawn))
    runs = np.flatnonzero(
        gangs.mode_dedicated[gangs.stable.column] & np.isin(gangs.stable.row, drawn)
    )
    every = np.flatnonzero(np.isin(cell, own))
    add_rows(
        model,
        "draw_use",
        2 * size,
        [
            term(model.drawn, cell[shared], shared),
            term(model.campaign_use, drawn, drawn, -1.0),
            term(model.stable, elastic.stable_cell[tenants], tenants),
            term(
                model.mode,
                gangs.stable.row[runs],
                gangs.stable.column[runs],
                gangs.stable.value[runs],
            ),
            term(model.drawn, size + cell[every], every),
            term(model.campaign_use, size + own, own, -1.0),
        ],
        upper=0.0,
    )


def add_metered_use(model: pyo.ConcreteModel, data: ProgramData, *, is_free: bool) -> None:
    """Bill metered capacity for what is used: no more of it than demand and campaigns take.

    Implements (C26) ``metered_use``. Least cost alone sees to that; rows stand only where something
    else could pay for hours nobody uses: a provider's share of all hours, or another objective
    (``is_free``).
    """
    levels, on_demand, flex = data.levels, data.on_demand, data.flex
    size = len(levels.cell) if is_free or len(data.policy.provider) else 0
    metered = np.unique(on_demand.level) if size else np.zeros(0, np.int64)
    loaded = metered[data.cells.loaded[levels.cell[metered]]]
    rows, draws = levels_of(data, flex.cell[flex.draw_flex])
    kept = np.isin(rows, metered)
    use = np.arange(len(on_demand.level)) if size else metered
    add_rows(
        model,
        "metered_use",
        size,
        [
            term(model.on_demand, on_demand.level[use], use),
            term(model.drawn, rows[kept], draws[kept]),
            term(model.campaign_use, loaded, levels.cell[loaded], -1.0),
        ],
        upper=levels.demand[:size],
    )


def add_dedicated_supply(model: pyo.ConcreteModel, data: ProgramData) -> None:
    """Cover use that insists on dedicated tenancy by dedicated and owned capacity alone.

    Implements (C18) ``dedicated_supply`` and (C25) ``backfill_tenancy``. Without the second a buyer
    who pays more than on-demand costs would be sold the dedicated GPUs that such use stands on.
    """
    cells, flex, elastic, gangs = data.cells, data.flex, data.elastic, data.gangs
    use = np.flatnonzero(elastic.stable_dedicated)
    runs = np.flatnonzero(gangs.mode_dedicated[gangs.stable.column])
    draws = np.flatnonzero(flex.draw_dedicated)
    insisted = cells.dedicated_tenancy
    drawn_less_used = [
        term(model.drawn, flex.cell[flex.draw_flex[draws]], draws),
        term(model.stable, elastic.stable_cell[use], use, -1.0),
        term(
            model.mode,
            gangs.stable.row[runs],
            gangs.stable.column[runs],
            -gangs.stable.value[runs],
        ),
    ]
    add_rows(
        model,
        "dedicated_supply",
        len(cells.held),
        [matrix_term(model.lots, cells.firm_dedicated), *drawn_less_used],
        lower=np.where(insisted, -cells.held_dedicated, -np.inf),
    )
    every, sales = np.arange(len(cells.held)), np.arange(len(data.backfill.cell))
    sold = np.zeros(len(every), np.bool_)
    sold[data.backfill.cell] = True
    add_rows(
        model,
        "backfill_tenancy",
        len(every),
        [
            term(model.firm, every, every),
            term(model.backfilled, data.backfill.cell, sales, -1.0),
            *drawn_less_used,
        ],
        lower=np.where(insisted & sold, 0.0, -np.inf),
    )
