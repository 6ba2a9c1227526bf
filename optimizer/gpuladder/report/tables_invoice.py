"""Tables of the invoice: each campaign billed on each side of the market and in the plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpuladder.report.fields import Field, money, optional, tabulate, text
from gpuladder.report.labels import title

if TYPE_CHECKING:
    from gpuladder.analysis.result import Result
    from gpuladder.report.table import Cell, Table
    from gpuladder.sizing.invoice_tables import InvoiceTotalRow

_MARKET_BILLS = (
    "Market bills are estimates at undiscounted prices for each campaign alone; the plan's bill is "
    "its loaded cost at present value and what comes beside compute, and not an offer."
)
_ENDS = (
    "The cheapest and the dearest bill of a side are whole bills: on a single line the cheapest "
    "bill may be the higher one."
)
PLAN = "plan"
_SUMS = ("total", "per_completed_run", "due_before_the_start")

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
    money("total_low", "Total, cheapest", total=False),
    money("total_high", "Total, dearest", total=False),
    optional(money("per_run_low", "Per completed run, cheapest", total=False)),
    optional(money("per_run_high", "Per completed run, dearest", total=False)),
    money("escrow_low", "Due before the start, cheapest", "Escrow, prepayment.", total=False),
    money("escrow_high", "Due before the start, dearest", "Escrow, prepayment.", total=False),
    text("offers", "Priced", "The cheapest and the dearest offer or list price."),
    text("notes", "Notes", "Dates and sources of list prices, and what was mixed."),
)

_BARRED = (
    text("campaign", "Campaign"),
    text("market", "Side of the market", read=lambda row: title(row.market)),
    text("reason", "Barred offers and why", read=lambda row: row.notes),
)


@dataclass(frozen=True, slots=True)
class _Line:
    """One line of a campaign's bill across the sides of the market, currency."""

    campaign: str
    line: str
    amounts: dict[str, float | None]


def invoice_overview(result: Result) -> Table:
    """Return what each campaign costs on each side of the market, at the cheapest bill."""
    rows = _priced(result)
    return tabulate(
        "invoice_overview",
        "What each campaign is billed on each side of the market",
        (text("campaign", "Campaign"), *_market_fields([r.market for r in rows], total=PLAN)),
        _across((row.campaign, "total", row.market, row.total_low) for row in rows),
        currency=result.scenario.currency,
        note=f"The cheapest bill of each side; empty where no offer serves the campaign. "
        f"{_MARKET_BILLS}",
    )


def invoice(result: Result) -> Table:
    """Return the cheapest bill of each side line by line, side by side."""
    totals, lines = _priced(result), result.tables.invoice
    per_line = _across((row.campaign, row.line, row.market, row.low) for row in lines)
    sums = _across(
        (row.campaign, name, row.market, amount)
        for row in totals
        for name, amount in zip(
            _SUMS, (row.total_low, row.per_run_low, row.escrow_low), strict=True
        )
    )
    campaigns = list(dict.fromkeys(row.campaign for row in lines))
    order = {name: index for index, name in enumerate(campaigns)}
    return tabulate(
        "invoice",
        "The bills, line by line",
        (
            text("campaign", "Campaign"),
            text("line", "Line", read=lambda item: title(item.line)),
            *_market_fields([row.market for row in totals]),
        ),
        sorted((*per_line, *sums), key=lambda item: order[item.campaign]),
        currency=result.scenario.currency,
        note="The cheapest bill of each side. The first four lines of the plan's bill (ideal "
        "hours, utilisation multiplier, failed runs, checkpoint and restart) add up to the "
        "campaign's loaded cost. Totals are not discounted but for the plan's compute.",
    )


def invoice_totals(result: Result) -> Table:
    """Return both ends of each side: total, per completed run, and what is due before the start."""
    return tabulate(
        "invoice_totals",
        "The cheapest and the dearest bill of each side",
        _TOTALS,
        _priced(result),
        currency=result.scenario.currency,
        note=f"{_ENDS} {_MARKET_BILLS}",
    )


def invoice_barred(result: Result) -> Table:
    """Return the offers that hard filters keep from a campaign, with the reason."""
    return tabulate(
        "invoice_barred",
        "Offers that do not serve a campaign",
        _BARRED,
        [row for row in result.tables.invoice_totals if row.total_low is None],
        currency=result.scenario.currency,
        note="Verification, residency, interconnect, tenancy, class, dates and size are hard "
        "filters: an offer that fails one is not billed.",
    )


def invoice_lines(result: Result) -> Table:
    """Return every line with its formula and working, at both ends."""
    return tabulate(
        "invoice_lines",
        "The bills with their workings",
        _LINES,
        result.tables.invoice,
        currency=result.scenario.currency,
        note=_ENDS,
    )


def _priced(result: Result) -> list[InvoiceTotalRow]:
    return [row for row in result.tables.invoice_totals if row.total_low is not None]


def _market_fields(markets: Sequence[str], *, total: str = "") -> list[Field]:
    """Return a column for each side; only ``total`` is added up, where no campaign is missing."""
    return [
        money(market, title(market), total=market == total, read=_amount(market))
        for market in dict.fromkeys(markets)
    ]


def _amount(market: str) -> Callable[[_Line], Cell]:
    return lambda item: item.amounts.get(market)


def _across(cells: Iterable[tuple[str, str, str, float | None]]) -> list[_Line]:
    """Gather (campaign, line, market, amount) into one row for each campaign and line."""
    found: dict[tuple[str, str], _Line] = {}
    for campaign, line, market, amount in cells:
        row = found.setdefault((campaign, line), _Line(campaign, line, {}))
        row.amounts[market] = amount
    return list(found.values())
