"""Tables of the invoice: each campaign billed on each side of the market and in the plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpuladder.report.fields import Field, money, optional, tabulate, text
from gpuladder.report.labels import title

if TYPE_CHECKING:
    from gpuladder.analysis.result import Result
    from gpuladder.report.table import Cell, Table
    from gpuladder.sizing.invoice_tables import InvoiceRow

_ENDS = (
    "Each side of the market has two ends: the cheapest bill found there and the dearest. They are "
    "whole bills, so that on a single line the cheapest bill may be the higher one."
)

_LINES = (
    text("campaign", "Campaign"),
    text("market", "Side of the market", read=lambda row: title(row.market)),
    text("line", "Line", read=lambda row: title(row.line)),
    money("low", "Cheapest bill", "Empty where no rate is known.", total=False),
    money("high", "Dearest bill", "Empty where no rate is known.", total=False),
    text("formula", "Formula"),
    text("working", "Working"),
)

_TOTALS = (
    text("campaign", "Campaign"),
    text("market", "Side of the market", read=lambda row: title(row.market)),
    money("total_low", "Total, cheapest", "Empty where every offer is barred.", total=False),
    money("total_high", "Total, dearest", "Empty where every offer is barred.", total=False),
    optional(money("per_run_low", "Per completed run, cheapest", total=False)),
    optional(money("per_run_high", "Per completed run, dearest", total=False)),
    money("escrow_low", "Due before the start, cheapest", "Escrow, prepayment.", total=False),
    money("escrow_high", "Due before the start, dearest", "Escrow, prepayment.", total=False),
    text("offers", "Priced", "The cheapest and the dearest offer or list price."),
    text("notes", "Notes", "Dates of list prices, and what a hard filter bars."),
)


@dataclass(frozen=True, slots=True)
class _BillLine:
    """One line of a campaign across the sides of the market."""

    campaign: str
    line: str
    by_market: dict[str, InvoiceRow]


def invoice_totals(result: Result) -> Table:
    """Return one row for each campaign and side of the market, barred ones included."""
    return tabulate(
        "invoice_totals",
        "What each campaign is billed on each side of the market",
        _TOTALS,
        result.tables.invoice_totals,
        currency=result.scenario.currency,
        note="Market bills are estimates at undiscounted prices, one campaign alone; the plan's "
        f"bill is its loaded cost at present value and what comes beside compute. {_ENDS}",
    )


def invoice(result: Result) -> Table:
    """Return the lines of every campaign side by side: one column pair for each side."""
    rows = result.tables.invoice
    markets = list(dict.fromkeys(row.market for row in rows))
    return tabulate(
        "invoice",
        "The bills, line by line",
        (
            text("campaign", "Campaign"),
            text("line", "Line", read=lambda item: title(item.line)),
            *(field for market in markets for field in _ends(market, rows)),
        ),
        _bill_lines(rows),
        currency=result.scenario.currency,
        note="The four compute lines of the plan (ideal hours, utilisation multiplier, failed "
        "runs, checkpoint and restart) add up to the campaign's loaded cost.",
    )


def invoice_lines(result: Result) -> Table:
    """Return every line with its formula and working."""
    return tabulate(
        "invoice_lines",
        "The bills with their workings",
        _LINES,
        result.tables.invoice,
        currency=result.scenario.currency,
        note=_ENDS,
    )


def _ends(market: str, rows: Iterable[InvoiceRow]) -> list[Field]:
    """Return the columns of one side: a single one where both ends agree on every line."""
    name = title(market)
    is_one = all(row.low == row.high for row in rows if row.market == market)
    if is_one:
        return [money(market, name, total=False, read=_end(market, "low"))]
    return [
        money(f"{market}_low", f"{name}, cheapest", total=False, read=_end(market, "low")),
        money(f"{market}_high", f"{name}, dearest", total=False, read=_end(market, "high")),
    ]


def _end(market: str, end: str) -> Callable[[_BillLine], Cell]:
    def read(item: _BillLine) -> Cell:
        row = item.by_market.get(market)
        value: float | None = None if row is None else getattr(row, end)
        return value

    return read


def _bill_lines(rows: Iterable[InvoiceRow]) -> list[_BillLine]:
    found: dict[tuple[str, str], _BillLine] = {}
    for row in rows:
        key = (row.campaign, row.line)
        found.setdefault(key, _BillLine(*key, {})).by_market[row.market] = row
    return list(found.values())
