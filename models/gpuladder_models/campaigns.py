"""Campaigns: elastic work, gangs, and what is left undone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyomo.environ as pyo

from gpuladder_models.rows import add_rows, add_variable, matrix_term, term

if TYPE_CHECKING:
    from gpuladder_models.data import ProgramData


def add_elastic(model: pyo.ConcreteModel, data: ProgramData) -> None:
    """Add elastic campaigns: stable and spot GPUs in each period, and the share not done.

    Implements (C6) ``elastic_work``, (C7) ``elastic_width`` and (C8) ``class_spot_share``.
    """
    elastic, drops = data.elastic, data.drops
    add_variable(model, "stable", len(elastic.stable_cell))
    add_variable(model, "spot", len(elastic.spot_cell))
    add_variable(model, "dropped_elastic", len(drops.elastic), upper=1.0)
    stable, spot = np.arange(len(elastic.stable_cell)), np.arange(len(elastic.spot_cell))
    dropped = np.arange(len(drops.elastic))
    done = [
        term(model.stable, elastic.stable_instance, stable, elastic.stable_work),
        term(model.spot, elastic.spot_instance, spot, elastic.spot_work),
    ]
    undone = term(model.dropped_elastic, drops.elastic, dropped, elastic.work[drops.elastic])
    add_rows(
        model,
        "elastic_work",
        len(elastic.work),
        [*done, undone],
        lower=elastic.work,
        upper=elastic.work,
    )
    width_row = _width_rows(data)
    add_rows(
        model,
        "elastic_width",
        len(elastic.width),
        [
            term(
                model.stable,
                width_row[elastic.stable_instance, data.cells.period[elastic.stable_cell]],
                stable,
            ),
            term(
                model.spot,
                width_row[elastic.spot_instance, data.spot.period[elastic.spot_cell]],
                spot,
            ),
        ],
        upper=elastic.width,
    )
    limited = (elastic.spot_share < 1.0)[elastic.spot_instance]
    add_rows(
        model,
        "class_spot_share",
        len(elastic.work),
        [
            term(
                model.spot,
                elastic.spot_instance[limited],
                spot[limited],
                elastic.spot_work[limited],
            ),
            term(
                model.dropped_elastic,
                drops.elastic,
                dropped,
                (elastic.spot_share * elastic.work)[drops.elastic],
            ),
        ],
        upper=np.where(elastic.spot_share < 1.0, elastic.spot_work_room, np.inf),
    )


def _width_rows(data: ProgramData) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """Return the width row of each elastic instance and period, shape (E, T)."""
    elastic = data.elastic
    table = np.full((len(elastic.work), len(data.labels.periods)), -1, np.int64)
    table[elastic.width_instance, elastic.width_period] = np.arange(len(elastic.width))
    return table


def add_gangs(model: pyo.ConcreteModel, data: ProgramData) -> None:
    """Add gangs: exactly one mode (place, size, start) each, or none where it may be dropped.

    Implements (C9) ``gang_choice``.
    """
    gangs, drops = data.gangs, data.drops
    modes, dropped = np.arange(len(gangs.mode_start)), np.arange(len(drops.gang))
    add_variable(model, "mode", len(modes), upper=1.0, domain=pyo.Binary)
    add_variable(model, "dropped_gang", len(dropped), upper=1.0, domain=pyo.Binary)
    add_rows(
        model,
        "gang_choice",
        len(gangs.work),
        [
            term(model.mode, gangs.mode_instance, modes),
            term(model.dropped_gang, drops.gang, dropped),
        ],
        lower=1.0,
        upper=1.0,
    )


def add_spot_depth(model: pyo.ConcreteModel, data: ProgramData) -> None:
    """Keep all use of a spot offer within what the market has.

    Implements (C10) ``spot_depth``.
    """
    use = np.arange(len(data.elastic.spot_cell))
    add_rows(
        model,
        "spot_depth",
        len(data.spot.depth),
        [
            term(model.spot, data.elastic.spot_cell, use),
            matrix_term(model.mode, data.gangs.spot),
        ],
        upper=data.spot.depth,
    )
