"""Money over time: payments as billed, cost as consumed, and the net present cost by quarter."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.analysis.frame import calendar_edges, spread
from gpuladder.analysis.result import CashRow, QuarterCostRow
from gpuladder.analysis.terms import HELD
from gpuladder.plan import COST_LINES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpuladder.analysis.ledger import Ledger
    from gpuladder.timegrid import FloatArray

LINES = (*COST_LINES, HELD)
VALUED = ("owned_loan", "owned_residual")
"""Lines that fall on the horizon end itself, where bought hardware is valued."""


@dataclass(frozen=True, slots=True)
class Money:
    """One cost line between calendar edges; arrays of shape (len(edges) - 1,)."""

    present_value: FloatArray
    cash: FloatArray
    accrual: FloatArray


def money_between(ledger: Ledger, edges: Sequence[date]) -> dict[str, Money]:
    """Return every cost line between consecutive edges.

    Cash: the upfront share of a whole term, setup and capex on the start date, instalments when due
    and the payoff of a loan when its hardware is valued, all else by the hour over the full term.
    Accrual: everything by the hour over the full term. Present value: the amortised cost inside the
    horizon. A term's part before the horizon is left out.
    """
    marks = tuple(edges)
    grid, size = ledger.frame.grid, len(marks) - 1
    money = {line: Money(np.zeros(size), np.zeros(size), np.zeros(size)) for line in LINES}
    by_period = np.stack([spread(begin, end, marks) for begin, end in pairwise(grid.boundaries)])
    for charge in (charge for term in ledger.terms for charge in term.charges):
        row = money[charge.line]
        consumed = charge.total * spread(charge.begin, charge.end, marks)
        paid = consumed if charge.paid_on is None else np.zeros(size)
        if charge.paid_on is not None and charge.paid_on >= grid.start:
            # What was paid before the horizon is past, also in the month in which that starts.
            paid = charge.total * spread(charge.paid_on, charge.paid_on, marks)
        _add(row, charge.present_value @ by_period, paid, consumed)
    for flow in ledger.flows:
        billed = flow.amounts @ by_period
        _add(money[flow.line], flow.present_value @ by_period, billed, billed)
    none = np.zeros(size)
    last_day = grid.end - timedelta(days=1)
    tail = ledger.tail_charge * spread(last_day, last_day, marks)
    _add(money["commitment_tail"], tail, none, none)
    for campaign, cost in ledger.drop_cost.items():
        deadline = ledger.frame.tables.campaigns[campaign].deadline - timedelta(days=1)
        due = min(max(deadline, grid.start), last_day)
        _add(money["drop"], cost * spread(due, due, marks), none, none)
    return money


def cash_rows(ledger: Ledger) -> tuple[CashRow, ...]:
    """Return cash and accrual by calendar month and cost line, to the end of the last term."""
    edges = calendar_edges(ledger.frame.grid.start, day_after_all(ledger), 1)
    money = money_between(ledger, edges)
    return tuple(
        CashRow(
            month_start=edges[month],
            line=line,
            cash=float(row.cash[month]),
            accrual=float(row.accrual[month]),
        )
        for month in range(len(edges) - 1)
        for line, row in money.items()
        if row.cash[month] or row.accrual[month]
    )


def quarter_rows(ledger: Ledger) -> tuple[QuarterCostRow, ...]:
    """Return present value, cash and accrual by calendar quarter and cost line."""
    edges = calendar_edges(ledger.frame.grid.start, day_after_all(ledger), 3)
    money = money_between(ledger, edges)
    return tuple(
        QuarterCostRow(
            quarter_start=edges[quarter],
            line=line,
            present_value=float(row.present_value[quarter]),
            cash=float(row.cash[quarter]),
            accrual=float(row.accrual[quarter]),
        )
        for quarter in range(len(edges) - 1)
        for line, row in money.items()
        if row.present_value[quarter] or row.cash[quarter] or row.accrual[quarter]
    )


def in_horizon(ledger: Ledger) -> tuple[float, float]:
    """Return cash and accrual inside the horizon.

    Residual values at its end, and the loans settled against them, are included.
    """
    grid = ledger.frame.grid
    money = money_between(ledger, (grid.start, grid.end, grid.end + timedelta(days=1)))
    valued = sum(float(money[line].cash[1]) for line in VALUED)
    cash = sum(float(row.cash[0]) for row in money.values()) + valued
    return cash, sum(float(row.accrual[0]) for row in money.values())


def _add(row: Money, present_value: FloatArray, cash: FloatArray, accrual: FloatArray) -> None:
    row.present_value[:] += present_value
    row.cash[:] += cash
    row.accrual[:] += accrual


def day_after_all(ledger: Ledger) -> date:
    """Return the day after the last payment, consumption or period."""
    charges = [charge for term in ledger.terms for charge in term.charges]
    ends = [max(charge.end, charge.paid_on or charge.end) for charge in charges]
    return max([ledger.frame.grid.end, *ends]) + timedelta(days=1)
