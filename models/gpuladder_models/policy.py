"""Limits set by the company: expiries, spot, providers, exposure and cash."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpuladder_models.rows import Term, add_rows, matrix_term, term

if TYPE_CHECKING:
    import pyomo.environ as pyo

    from gpuladder_models.data import ProgramData


def add_ladder(model: pyo.ConcreteModel, data: ProgramData) -> None:
    """Keep the GPUs that expire in a window below a share of those committed at its start.

    Implements (C19) ``ladder``; linear because the share multiplies a sum of lots.
    """
    ladder = data.ladder
    add_rows(
        model,
        "ladder",
        len(ladder.limit),
        [matrix_term(model.lots, ladder.orders)],
        upper=ladder.limit,
    )


def add_policy_spot_share(model: pyo.ConcreteModel, data: ProgramData) -> None:
    """Keep spot below a share of all campaigns' work that is done.

    Implements (C20) ``policy_spot_share``, one row per future.
    """
    elastic, gangs, drops, share = data.elastic, data.gangs, data.drops, data.policy.spot_share_max
    size = len(data.labels.futures)
    if np.isinf(share):
        add_rows(model, "policy_spot_share", 0, [])
        return
    work = np.bincount(elastic.future, elastic.work, size) + np.bincount(
        gangs.future, gangs.work, size
    )
    use = np.arange(len(elastic.spot_cell))
    modes = np.flatnonzero(gangs.mode_spot >= 0)
    instance = gangs.mode_instance[modes]
    add_rows(
        model,
        "policy_spot_share",
        size,
        [
            term(model.spot, elastic.future[elastic.spot_instance], use, elastic.spot_work),
            term(model.mode, gangs.future[instance], modes, gangs.work[instance]),
            term(
                model.dropped_elastic,
                elastic.future[drops.elastic],
                np.arange(len(drops.elastic)),
                share * elastic.work[drops.elastic],
            ),
            term(
                model.dropped_gang,
                gangs.future[drops.gang],
                np.arange(len(drops.gang)),
                share * gangs.work[drops.gang],
            ),
        ],
        upper=share * (work + data.policy.work_so_far) - data.policy.spot_work_so_far,
    )


def add_provider_share(model: pyo.ConcreteModel, data: ProgramData) -> None:
    """Keep each provider below a share of all GPU-hours bought or held.

    Implements (C21) ``provider_share``.
    """
    policy = data.policy
    rows = [
        entry
        for row, (provider, future, share) in enumerate(
            zip(policy.provider, policy.provider_future, policy.provider_share, strict=True)
        )
        for entry in _provider_terms(model, data, row, int(provider), int(future), float(share))
    ]
    add_rows(model, "provider_share", len(policy.provider), rows, upper=policy.provider_room)


def _provider_terms(
    model: pyo.ConcreteModel, data: ProgramData, row: int, provider: int, future: int, share: float
) -> list[Term]:
    """Return (own − share × all) GPU-hours of one provider, all metered use included."""
    cells, levels, spot, gangs = data.cells, data.levels, data.spot, data.gangs
    of_pool = data.policy.pool_provider

    def weighted(
        variable: pyo.Var, where: np.ndarray, owner: np.ndarray, hours: np.ndarray
    ) -> Term:
        chosen = np.flatnonzero(where == future)
        factor = (owner[chosen] == provider).astype(float) - share
        return term(variable, np.full(len(chosen), row), chosen, factor * hours[chosen])

    level_cell = data.on_demand.level
    od_cell = levels.cell[level_cell]
    period_hours = _period_hours(data)
    spot_pool = data.policy.spot_pool
    elastic_cell = data.elastic.spot_cell
    used = gangs.spot.row
    factor = (of_pool[spot_pool[spot.offer[used]]] == provider).astype(float) - share
    hours = factor * period_hours[spot.period[used]] * gangs.spot.value
    own = np.where(spot.future[used] == future, hours, 0.0)
    per_mode = np.bincount(gangs.spot.column, own, len(gangs.mode_start))  # over its periods
    modes = np.flatnonzero(per_mode)
    return [
        weighted(model.firm, cells.future, of_pool[cells.pool], cells.hours),
        weighted(
            model.flex_held,
            cells.future[data.flex.cell],
            of_pool[cells.pool[data.flex.cell]],
            cells.hours[data.flex.cell],
        ),
        weighted(
            model.on_demand,
            cells.future[od_cell],
            of_pool[cells.pool[od_cell]],
            cells.hours[od_cell] * levels.share[level_cell],
        ),
        weighted(
            model.spot,
            spot.future[elastic_cell],
            of_pool[spot_pool[spot.offer[elastic_cell]]],
            period_hours[spot.period[elastic_cell]],
        ),
        term(model.mode, np.full(len(modes), row), modes, per_mode[modes]),
    ]


def _period_hours(data: ProgramData) -> np.ndarray:
    hours = np.zeros(len(data.labels.periods))
    hours[data.cells.period] = data.cells.hours
    return hours


def add_exposure(model: pyo.ConcreteModel, data: ProgramData) -> None:
    """Bound committed GPUs in all, and of a hardware generation after its turnover.

    Implements (C22) ``committed_cap``, one row per future and period, and (C23) ``hardware_limit``.
    """
    cells, flex, policy = data.cells, data.flex, data.policy
    num_periods = len(data.labels.periods)
    every, held = np.arange(len(cells.held)), np.arange(len(flex.cell))
    row = cells.future * num_periods + cells.period
    size = len(data.labels.futures) * num_periods
    add_rows(
        model,
        "committed_cap",
        size,
        [term(model.firm, row, every), term(model.flex_held, row[flex.cell], held)],
        upper=policy.committed_max,
    )
    matrix = policy.limit_cells
    flex_of: dict[int, list[int]] = {}
    for position, cell in enumerate(flex.cell.tolist()):
        flex_of.setdefault(cell, []).append(position)
    pairs = [
        (int(limit), position)
        for limit, cell in zip(matrix.row.tolist(), matrix.column.tolist(), strict=True)
        for position in flex_of.get(cell, ())
    ]
    add_rows(
        model,
        "hardware_limit",
        len(policy.limit_max),
        [
            matrix_term(model.firm, matrix),
            term(model.flex_held, [p[0] for p in pairs], [p[1] for p in pairs]),
        ],
        upper=policy.limit_max,
    )


def add_cash_budgets(model: pyo.ConcreteModel, data: ProgramData) -> None:
    """Keep the payments billed in a span within its budget.

    Implements (C24) ``cash_budget``.
    """
    policy = data.policy
    add_rows(
        model,
        "cash_budget",
        len(policy.budget_max),
        [
            matrix_term(model.lots, policy.budget_orders),
            matrix_term(model.placed, policy.budget_setups),
            matrix_term(model.on_demand, policy.budget_on_demand),
            matrix_term(model.drawn, policy.budget_draws),
            matrix_term(model.spot, policy.budget_elastic_spot),
            matrix_term(model.mode, policy.budget_modes),
        ],
        upper=policy.budget_max,
    )
