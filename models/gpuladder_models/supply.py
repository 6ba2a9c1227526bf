"""Committed capacity: lots, orders, and what they give in each cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyomo.environ as pyo

from gpuladder_models.rows import add_rows, add_variable, matrix_term, term

if TYPE_CHECKING:
    from gpuladder_models.data import ProgramData


def add_orders(model: pyo.ConcreteModel, data: ProgramData) -> None:
    """Add lots per order, and the yes-or-no of orders with a setup cost or a minimum.

    Implements (C1) ``order_placed``, (C2) ``order_minimum`` and (C3) ``lots_active``. The big-M of
    (C1) is the bound on lots itself, the tightest that is known before solving.
    """
    orders = data.orders
    add_variable(
        model, "lots", len(orders.offer), upper=orders.most_lots, domain=pyo.NonNegativeIntegers
    )
    add_variable(model, "placed", len(orders.placed), upper=1.0, domain=pyo.Binary)
    rows = np.arange(len(orders.placed))
    add_rows(
        model,
        "order_placed",
        len(rows),
        [
            term(model.lots, rows, orders.placed),
            term(model.placed, rows, rows, -orders.most_lots[orders.placed]),
        ],
        upper=0.0,
    )
    minimum = np.flatnonzero(orders.least_lots > 1)
    add_rows(
        model,
        "order_minimum",
        len(rows),
        [
            term(model.lots, minimum, orders.placed[minimum]),
            term(model.placed, minimum, minimum, -orders.least_lots[minimum]),
        ],
        lower=0.0,
    )
    active = data.lots_active
    add_rows(
        model,
        "lots_active",
        len(active.most),
        [matrix_term(model.lots, active.orders)],
        upper=active.most,
    )


def add_capacity(model: pyo.ConcreteModel, data: ProgramData) -> None:
    """Add the capacity that lots and held commitments give.

    Implements (C4) ``firm_capacity`` and (C5) ``flex_capacity``. Both are definitions: one variable
    for the sum over lots keeps the rows of a cell's many demand levels short.
    """
    cells, flex = data.cells, data.flex
    every = np.arange(len(cells.held))
    add_variable(model, "firm", len(every))
    add_rows(
        model,
        "firm_capacity",
        len(every),
        [term(model.firm, every, every), matrix_term(model.lots, cells.firm, -1.0)],
        lower=cells.held,
        upper=cells.held,
    )
    held = np.arange(len(flex.cell))
    add_variable(model, "flex_held", len(held))
    add_rows(
        model,
        "flex_capacity",
        len(held),
        [term(model.flex_held, held, held), matrix_term(model.lots, flex.held, -1.0)],
        lower=flex.standing,
        upper=flex.standing,
    )
