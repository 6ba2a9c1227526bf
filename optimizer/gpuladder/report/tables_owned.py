"""Tables of owned hardware: how it is paid for, and its accounts by quarter."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from gpuladder.report.fields import Field, count, day, gpus, money, optional, tabulate, text
from gpuladder.report.labels import title

if TYPE_CHECKING:
    from gpuladder.analysis.result import Result
    from gpuladder.report.table import Table

_ORDERS = (
    text("offer", "Offer"),
    gpus("gpus", "GPUs", total=True),
    day("start", "Bought on"),
    day("end", "End of life"),
    money("capex", "Purchase price"),
    optional(money("down_payment", "Down payment", "Paid on the day of purchase.")),
    optional(money("instalment", "Instalment", "The equal payment of its loan.", total=False)),
    optional(count("instalments", "Instalments")),
    optional(money("interest", "Interest in all", "Undiscounted, over all instalments.")),
    money(
        "financed_capex",
        "Purchase as the plan counts it",
        "Value at the start of all that is paid, at the scenario's discount rate; the purchase "
        "price when it is paid in cash.",
    ),
    day("valued_on", "Valued on", "The earlier of the horizon's end and the end of life."),
    money("depreciation", "Depreciation until then", "By the offer's own schedule."),
    money("book_value", "Book value then", "Purchase price less depreciation."),
    money("residual_value", "Residual value then", "What a sale would bring, undiscounted."),
    money("disposal_gain", "Gain on disposal", "Residual less book value; a loss below 0."),
    optional(money("debt", "Debt then", "Settled against the residual value.")),
)


def _quarter(make: Field) -> Field:
    """Return a field that is read from the row's quarter."""
    return Field(make.column, attrgetter(f"quarter.{make.column.key}"))


_QUARTERS = (
    text("offer", "Offer"),
    day("start", "Bought on"),
    gpus("gpus", "GPUs"),
    text("schedule", "Depreciation", read=lambda row: title(row.schedule)),
    _quarter(day("quarter_start", "Quarter from")),
    _quarter(day("quarter_end", "Until", "Exclusive.")),
    _quarter(money("opening_book", "Opening book value", total=False)),
    _quarter(money("depreciation", "Depreciation")),
    _quarter(
        money("closing_book", "Closing book value", "Opening less depreciation.", total=False)
    ),
    _quarter(money("market_value", "Market value", "A sale on the last day.", total=False)),
    _quarter(optional(money("opening_debt", "Opening debt", total=False))),
    _quarter(optional(money("interest", "Interest"))),
    _quarter(optional(money("principal", "Principal repaid"))),
    _quarter(optional(money("closing_debt", "Closing debt", total=False))),
    _quarter(money("payments", "Paid", "Purchase or down payment, instalments, payoff.")),
    _quarter(optional(money("disposal_gain", "Gain on disposal", "In the last quarter."))),
)


def owned_orders(result: Result) -> Table:
    """Return one row for each order of owned hardware."""
    return tabulate(
        "owned_orders",
        "Owned hardware: how it is paid for and what it is worth",
        _ORDERS,
        result.tables.owned_orders,
        currency=result.scenario.currency,
        note="Purchase price less depreciation is the book value. Undiscounted but for the "
        "purchase as the plan counts it.",
    )


def owned_quarters(result: Result) -> Table:
    """Return book value, depreciation and debt of every order by quarter, over its whole life."""
    return tabulate(
        "owned_quarters",
        "Owned hardware in the accounts, by quarter",
        _QUARTERS,
        result.tables.owned_quarters,
        currency=result.scenario.currency,
        note="Undiscounted. Each quarter opens where the one before closed; the first opens at the "
        "purchase price. Terms run past the horizon to the end of life.",
    )
