"""The invoice of every campaign, on each side of the market and in an optimised plan.

    from gpuladder.analysis.invoice import invoice

    invoice(gpuladder.load("scenario.yaml").scenario).record()

Offers of the scenario are priced first; a side of the market on which it has none is filled from
the dated list prices of the catalogue. Amounts at list prices are undiscounted; those of a plan are
the plan's present values, and say so.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gpuladder.analysis.invoice_markets import (
    MARKETS,
    Books,
    Priced,
    beside_compute,
    kind_of,
    price_offer,
    price_quote,
    side,
)
from gpuladder.scenario.expand import expand
from gpuladder.sizing.catalogue import price_rows, stale
from gpuladder.sizing.invoice import (
    LINES,
    Amount,
    CampaignInvoice,
    InvoiceLine,
    MarketInvoice,
    Refusal,
    between,
    plan_lines,
)
from gpuladder.sizing.invoice_tables import Invoice
from gpuladder.sizing.spec import InvoiceTerms

if TYPE_CHECKING:
    from datetime import date

    from gpuladder.analysis.result import CampaignRow, Result
    from gpuladder.scenario.expand import CommittedTerm, Expanded, MeteredOffer
    from gpuladder.scenario.schema import Campaign, Scenario

PLAN = "plan"
_CATALOGUE_CURRENCY = "USD"


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
    campaigns, used = [], set[str]()
    for campaign in expanded.campaigns.values():
        markets, refused = _markets(books, campaign)
        used |= {offer for market in markets for offer in market.offers}
        row = planned.get(campaign.id)
        if row is not None and result is not None:
            markets.insert(0, _plan_market(books, campaign, row, result))
        campaigns.append(
            CampaignInvoice(id=campaign.id, markets=tuple(markets), refused=tuple(refused))
        )
    dated = [quote for key, quote in price_rows().items() if key in used]
    warning = None if today is None else stale(dated, today)
    return Invoice(
        currency=scenario.currency,
        campaigns=tuple(campaigns),
        warnings=() if warning is None else (warning,),
    )


def _markets(books: Books, campaign: Campaign) -> tuple[list[MarketInvoice], list[Refusal]]:
    priced: dict[str, list[Priced]] = {}
    barred: dict[str, list[str]] = {}
    for offer in _offers(books.expanded):
        market = side(books, books.expanded.pools[offer.pool].provider, kind_of(offer))
        found = price_offer(books, campaign, offer)
        if isinstance(found, Priced):
            priced.setdefault(market, []).append(found)
        else:
            barred.setdefault(market, []).append(f"{offer.id}: {found}")
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
    runs = 1.0 if campaign.workload is None else float(campaign.workload.run.runs)
    markets = [_market(name, priced[name], runs) for name in MARKETS if name in priced]
    refused = [
        Refusal(market=name, reason="; ".join(barred[name]))
        for name in MARKETS
        if name in barred and name not in priced
    ]
    return markets, refused


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


def _plan_market(
    books: Books, campaign: Campaign, row: CampaignRow, result: Result
) -> MarketInvoice:
    uses = [use for use in result.tables.campaign_use if use.campaign == campaign.id]
    pools = books.expanded.pools
    paid = math.fsum(use.gpu_hours * books.hardware(pools[use.pool]).relative_speed for use in uses)
    done = row.work * row.done_share
    compute = plan_lines(
        direct_cost=row.direct_cost,
        idle_cost=row.idle_cost,
        waste=campaign.waste,
        goodput=min(done / paid, 1.0) if paid > 0 else 1.0,
    )
    providers = list(dict.fromkeys(pools[use.pool].provider for use in uses))
    beside = [beside_compute(books, campaign, provider) for provider in providers]
    names = ("storage", "egress", "staff", "queue_and_tooling")
    rest = [
        InvoiceLine(
            line=name,
            amount=Amount(
                min((each[index].low for each in beside), default=0.0),
                max((each[index].high for each in beside), default=0.0),
            ),
            formula="as on the sides of the market the plan uses",
            working=", ".join(providers) or "not planned",
        )
        for index, name in enumerate(names)
    ]
    minimum = InvoiceLine(
        line=LINES[-1],
        amount=Amount(0.0, 0.0),
        formula="in the idle capacity above",
        working="the plan charges unused commitments to campaigns",
    )
    runs = row.runs * (1.0 if campaign.workload is None else campaign.workload.run.runs)
    offers = [name for name in (row.pool, row.spot_offer) if name is not None]
    return MarketInvoice(
        market=PLAN,
        lines=(*compute, *rest, minimum),
        runs=runs,
        offers=tuple(offers),
        notes=("compute at present value; its lines sum to the plan's loaded cost",),
    )


def _offers(expanded: Expanded) -> list[CommittedTerm | MeteredOffer]:
    return [
        *expanded.on_demand.values(),
        *expanded.committed.values(),
        *expanded.spot.values(),
    ]
