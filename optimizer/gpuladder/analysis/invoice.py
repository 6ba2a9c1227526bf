"""The invoice of every campaign, on each side of the market and in an optimised plan.

    from gpuladder.analysis.invoice import invoice

    invoice(gpuladder.load("scenario.yaml").scenario).record()

Offers of the scenario are priced first; a side of the market on which it has none is filled from
the dated list prices of the catalogue. Amounts at list prices are undiscounted; those of a plan are
the plan's present values, and say so.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gpuladder.analysis.invoice_bills import Priced, blended
from gpuladder.analysis.invoice_books import Books
from gpuladder.analysis.invoice_markets import (
    MARKETS,
    kind_of,
    price_offer,
    price_quote,
    side,
)
from gpuladder.analysis.invoice_plan import plan_market
from gpuladder.analysis.owned import owned_orders, owned_quarters
from gpuladder.errors import Problem, Severity
from gpuladder.scenario.expand import expand
from gpuladder.sizing.catalogue import MarketRates, PriceQuote, price_rows, rate_rows, stale
from gpuladder.sizing.invoice import (
    Amount,
    CampaignInvoice,
    MarketInvoice,
    Refusal,
    between,
)
from gpuladder.sizing.invoice_tables import Invoice
from gpuladder.sizing.spec import InvoiceTerms

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from gpuladder.analysis.result import Result
    from gpuladder.scenario.expand import CommittedTerm, Expanded, MeteredOffer
    from gpuladder.scenario.schema import Campaign, Scenario

_CATALOGUE_CURRENCY = "USD"
_FIRM = ("hyperscaler_on_demand", "neocloud", "decentralised")
"""Sides of the market on which capacity is firm and billed per use."""


def invoice(
    scenario: Scenario, *, result: Result | None = None, today: date | None = None
) -> Invoice:
    """Return the invoice of every campaign, side by side on each side of the market.

    Parameters
    ----------
    scenario : Scenario
    result : Result, optional
        An analysed plan of the scenario: its market ``plan`` comes first, with compute lines that
        sum to each campaign's loaded cost.
    today : datetime.date, optional
        Warn about list prices that are stale on this day.
    """
    terms = scenario.invoice if scenario.invoice is not None else InvoiceTerms()
    expanded = expand(scenario)
    books = Books(scenario, expanded, terms)
    planned = {} if result is None else {row.id: row for row in result.tables.campaigns}
    campaigns, used, rates = [], set[str](), set[str]()
    for campaign in expanded.campaigns.values():
        markets, refused, listed = _markets(books, campaign)
        used |= {offer for market in markets for offer in market.offers}
        rates |= listed
        row = planned.get(campaign.id)
        if row is not None and result is not None:
            markets.insert(0, plan_market(books, campaign, row, result))
        campaigns.append(
            CampaignInvoice(id=campaign.id, markets=tuple(markets), refused=tuple(refused))
        )
    dated: list[PriceQuote | MarketRates] = [
        *(quote for key, quote in price_rows().items() if key in used),
        *(each for each in rate_rows().values() if each.market in rates),
    ]
    warnings = [] if today is None else [stale(dated, today)]
    warnings.append(_not_known(scenario.currency, campaigns))
    return Invoice(
        currency=scenario.currency,
        campaigns=tuple(campaigns),
        warnings=tuple(warning for warning in warnings if warning is not None),
    )


def with_invoice(result: Result) -> Result:
    """Return an analysed result with its invoice and its accounts of owned hardware as tables.

    A result without a plan is returned as it stands.

    Nothing here depends on the day on which it is computed: a saved run renders the same again.
    """
    if not result.plan.has_quantities:
        return result
    found = invoice(result.scenario, result=result)
    tables = replace(
        result.tables,
        invoice=found.rows(),
        invoice_totals=found.totals(),
        owned_orders=owned_orders(result.scenario, result.plan),
        owned_quarters=owned_quarters(result.scenario, result.plan),
    )
    return replace(result, tables=tables)


def _not_known(currency: str, campaigns: Sequence[CampaignInvoice]) -> Problem | None:
    """Return the warning that bills leave out what has no rate."""
    found = {
        line.line: campaign.id
        for campaign in campaigns
        for market in campaign.markets
        for line in market.lines
        if not line.known
    }
    if not found:
        return None
    names = " and ".join(found)
    return Problem(
        code="GL-S913",
        what=f"no rate of {names} is known in {currency}; the totals leave it out",
        why=f"list rates are in {_CATALOGUE_CURRENCY}",
        fix="give `storage_per_gb_month` and `egress_per_gb` under `invoice`",
        severity=Severity.WARNING,
    )


def _markets(
    books: Books, campaign: Campaign
) -> tuple[list[MarketInvoice], list[Refusal], set[str]]:
    """Return the sides that serve a campaign, those that do not, and the list rates that count."""
    priced: dict[str, list[Priced]] = {}
    barred: dict[str, list[tuple[str, str]]] = {}
    for offer in _offers(books.expanded):
        market = side(books, books.expanded.pools[offer.pool].provider, kind_of(offer))
        found = price_offer(books, campaign, offer)
        if isinstance(found, Priced):
            priced.setdefault(market, []).append(found)
        else:
            barred.setdefault(market, []).append((found, offer.id))
    if books.scenario.currency == _CATALOGUE_CURRENCY:
        for quote in price_rows().values():
            market = (
                quote.market
                if quote.market == "decentralised"
                else side(books, quote.provider, quote.kind)
            )
            if market in barred or any(not item.note for item in priced.get(market, ())):
                continue  # the scenario's own offers speak for this side
            listed = price_quote(books, campaign, quote)
            if isinstance(listed, Priced):
                priced.setdefault(market, []).append(listed)
    _rest_at_firm_prices(priced, barred)
    runs = 1.0 if campaign.workload is None else float(campaign.workload.run.runs)
    markets = [_market(name, priced[name], runs) for name in MARKETS if priced.get(name)]
    refused = [
        Refusal(market=name, reason=_reasons(barred[name])) for name in MARKETS if name in barred
    ]
    rates: set[str] = {
        one.rates.market for each in priced.values() for one in each if one.rates is not None
    }
    return markets, refused, rates


def _rest_at_firm_prices(
    priced: dict[str, list[Priced]], barred: dict[str, list[tuple[str, str]]]
) -> None:
    """Bill the share that a class keeps off spot at the cheapest firm price per use."""
    firm = [one for market in _FIRM for one in priced.get(market, ()) if one.firm_share == 0.0]
    own = [one for one in firm if not one.note]  # a list price only where the scenario has none
    cheapest = min(own or firm, key=lambda one: one.high, default=None)
    for market, each in priced.items():
        kept = []
        for one in each:
            if one.firm_share == 0.0:
                kept.append(one)
            elif cheapest is not None:
                kept.append(blended(one, cheapest))
            else:
                why = f"{one.firm_share:.0%} of the work must be firm, and nothing is on demand"
                barred.setdefault(market, []).append((why, one.offer))
        priced[market] = kept


def _reasons(found: list[tuple[str, str]]) -> str:
    """Return why offers are barred: each reason once, with the offers it bars."""
    offers: dict[str, list[str]] = {}
    for reason, offer in found:
        offers.setdefault(reason, []).append(offer)
    return "; ".join(f"{', '.join(names)}: {reason}" for reason, names in offers.items())


def _market(name: str, priced: list[Priced], runs: float) -> MarketInvoice:
    cheapest = min(priced, key=lambda item: item.low)
    dearest = max(priced, key=lambda item: item.high)
    ends = [cheapest] if cheapest is dearest else [cheapest, dearest]
    return MarketInvoice(
        market=name,
        lines=between(cheapest.lines, dearest.lines),
        runs=runs,
        escrow=Amount(
            min(item.escrow.low for item in ends), max(item.escrow.high for item in ends)
        ),
        offers=tuple(item.offer for item in ends),
        notes=tuple(dict.fromkeys(item.note for item in ends if item.note)),
    )


def _offers(expanded: Expanded) -> list[CommittedTerm | MeteredOffer]:
    return [
        *expanded.on_demand.values(),
        *expanded.committed.values(),
        *expanded.spot.values(),
    ]
