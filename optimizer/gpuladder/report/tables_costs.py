"""Tables of money: by line, by quarter, as billed and as consumed, and what is still owed."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import accumulate
from typing import TYPE_CHECKING

from gpuladder.plan import COST_LINES
from gpuladder.report.fields import day, money, number, optional, tabulate, text
from gpuladder.report.labels import line_label, title

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import date

    from gpuladder.analysis.result import CashRow, Result
    from gpuladder.report.table import Cell, Table

HELD = "held"
_HALF_A_CENT = 0.005

_COSTS = (
    text("line", "Cost line", read=lambda row: line_label(row.line)),
    money("amount", "Amount", "Present value at the horizon start."),
)

_UNALLOCATED = (
    text("part", "Part", read=lambda row: title(row.part)),
    money("amount", "Amount", "Present value at the horizon start."),
)

_QUARTERS = (
    day("quarter_start", "Quarter from"),
    text("line", "Cost line", read=lambda row: line_label(row.line)),
    money("present_value", "Present value", "Lumps spread over the hours of their term."),
    money("cash", "Cash", "Undiscounted, as billed."),
    money("accrual", "Accrual", "Undiscounted, as consumed."),
)

_CASH_LINES = (
    day("month_start", "Month from"),
    text("line", "Cost line", read=lambda row: line_label(row.line)),
    money("cash", "Cash", "Undiscounted, as billed; money received is negative."),
    money("accrual", "Accrual", "Undiscounted, as consumed."),
)

_LOCK_IN = (
    day("at", "Date"),
    money("new_obligation", "New", "Remaining terms of the plan's orders.", total=False),
    optional(money("held_obligation", "Held", "Remaining terms of held commitments.", total=False)),
    optional(money("loans", "Of it loans", "Instalments on hardware the plan buys.", total=False)),
    money("obligation", "All", "New and held, prepaid or not.", total=False),
    money("unpaid", "Of it unpaid", total=False),
    optional(money("after_horizon", "Of it after the horizon", total=False)),
    number("average_months", "Average remaining", "months", "Weighted by GPUs."),
)


def costs(result: Result) -> Table:
    """Return the lines of the net present cost; they add up to the objective."""
    shown = [row for row in result.tables.costs if row.amount]
    return tabulate(
        "costs",
        "Cost by line",
        _COSTS,
        shown or result.tables.costs,
        currency=result.scenario.currency,
        note="Present values; the total is the net present cost that the plan minimises. "
        "Lines of nothing are left out.",
    )


def unallocated(result: Result) -> Table:
    """Return the parts of the cost that no campaign is charged for."""
    return tabulate(
        "unallocated",
        "Cost that no campaign is charged for",
        _UNALLOCATED,
        result.tables.unallocated,
        currency=result.scenario.currency,
        note="Present values. Loaded costs of campaigns, these parts and backfill revenue add up "
        "to the net present cost.",
    )


def cost_by_quarter(result: Result) -> Table:
    """Return present values by quarter, one column per cost line that occurs."""
    rows = result.tables.quarters
    lines = [line for line in COST_LINES if any(r.line == line and r.present_value for r in rows)]
    quarters: dict[date, dict[str, float]] = defaultdict(dict)
    for row in rows:
        amounts = quarters[row.quarter_start]
        if row.line in lines:
            amounts[row.line] = amounts.get(row.line, 0.0) + row.present_value
    return tabulate(
        "cost_by_quarter",
        "Cost by quarter and line",
        (
            day("quarter_start", "Quarter from", read=lambda item: item[0]),
            *(money(line, line_label(line), read=_amount(line)) for line in lines),
            money("total", "All lines", read=lambda item: math.fsum(item[1].values())),
        ),
        sorted(quarters.items()),
        currency=result.scenario.currency,
        note="Present values; lumps are spread over the hours of their term, so that the columns "
        "add up to the cost lines.",
    )


def quarter_lines(result: Result) -> Table:
    """Return every cost line of every quarter: present value, cash and accrual."""
    return tabulate(
        "quarter_lines",
        "Cost lines by quarter",
        _QUARTERS,
        result.tables.quarters,
        currency=result.scenario.currency,
    )


def cash_accrual(result: Result) -> Table:
    """Return payments and cost as consumed by month, new and held apart."""
    months: dict[date, list[CashRow]] = defaultdict(list)
    for row in result.tables.cash:
        months[row.month_start].append(row)
    ordered = sorted(months.items())
    cash = [_sum(rows, "cash") for _, rows in ordered]
    accrual = [_sum(rows, "accrual") for _, rows in ordered]
    ahead = [
        _settled(paid - used)
        for paid, used in zip(accumulate(cash), accumulate(accrual), strict=True)
    ]
    records = [(*item, *rest) for item, *rest in zip(ordered, cash, accrual, ahead, strict=True)]
    return tabulate(
        "cash_accrual",
        "Cash and accrual by month",
        (
            day("month_start", "Month from", read=lambda record: record[0]),
            money("new_cash", "Cash, new", read=lambda r: _sum(r[1], "cash", held=False)),
            money("held_cash", "Cash, held", read=lambda r: _sum(r[1], "cash", held=True)),
            money("cash", "Cash", "As billed, undiscounted.", read=lambda record: record[2]),
            money("accrual", "Accrual", "As consumed, undiscounted.", read=lambda r: r[3]),
            money(
                "paid_ahead",
                "Paid ahead",
                "Cash less accrual, added up from the first month.",
                total=False,
                read=lambda record: record[4],
            ),
        ),
        records,
        currency=result.scenario.currency,
        note="Undiscounted, over full terms, so also after the horizon end; cash and accrual add "
        "up to the same.",
    )


def cash_lines(result: Result) -> Table:
    """Return every cost line of every month as billed and as consumed."""
    return tabulate(
        "cash_lines",
        "Cash and accrual by month and line",
        _CASH_LINES,
        result.tables.cash,
        currency=result.scenario.currency,
    )


def lock_in(result: Result) -> Table:
    """Return what is still owed under signed commitments, by quarter."""
    rows = [row for row in result.tables.lock_in if row.quarter_start]
    return tabulate(
        "lock_in",
        "Lock-in: what is still owed",
        _LOCK_IN,
        rows or result.tables.lock_in,
        currency=result.scenario.currency,
        note="Undiscounted, under commitments signed by each date, at the start of each quarter.",
    )


def _amount(line: str) -> Callable[[tuple[date, dict[str, float]]], Cell]:
    def read(item: tuple[date, dict[str, float]]) -> Cell:
        return item[1].get(line, 0.0)

    return read


def _sum(rows: Iterable[CashRow], key: str, *, held: bool | None = None) -> float:
    return math.fsum(
        getattr(row, key) for row in rows if held is None or (row.line == HELD) == held
    )


def _settled(amount: float) -> float:
    """Return an amount, or zero when it is only what rounding leaves."""
    return 0.0 if abs(amount) < _HALF_A_CENT else amount
