"""What a campaign's work costs under each offer and each list price, side of the market by side."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpuladder.analysis.sizing import refusal
from gpuladder.economics import goodput, price_at, residual_share
from gpuladder.scenario.expand import term_of
from gpuladder.scenario.schema import (
    Campaign,
    GangCampaign,
    LeasedOffer,
    OnDemandOffer,
    OwnedOffer,
    Pool,
    PreemptionClass,
    SpotOffer,
)
from gpuladder.sizing.catalogue import Market, MarketRates, find_hardware, market_of, rate_rows
from gpuladder.sizing.invoice import Amount, Bill, InvoiceLine, bill_lines, escrow
from gpuladder.sizing.sheet import LEAST_GOODPUT
from gpuladder.sizing.spec import InvoiceTerms, ProviderTerms, Range

if TYPE_CHECKING:
    from gpuladder.scenario.expand import CommittedTerm, Expanded, MeteredOffer
    from gpuladder.scenario.schema import Hardware, Scenario
    from gpuladder.sizing.catalogue import PriceQuote

HOURS_PER_DAY = 24.0
DAYS_PER_MONTH = 365.0 / 12.0
HOURS_PER_YEAR = 8760.0
NEVER_DONE = "it would be interrupted faster than it advances"
MARKETS = (
    "hyperscaler_on_demand",
    "committed",
    "neocloud",
    "spot",
    "decentralised",
    "owned",
)
"""Sides of the market, in the order in which they are shown."""


@dataclass(frozen=True, slots=True)
class Books:
    """What every bill of a scenario looks up."""

    scenario: Scenario
    expanded: Expanded
    terms: InvoiceTerms

    def hardware(self, pool: Pool) -> Hardware:
        """Return the hardware of a pool."""
        return next(kind for kind in self.scenario.hardware if kind.id == pool.hardware)

    def provider_terms(self, provider: str) -> ProviderTerms:
        """Return what a provider charges beside GPU-hours; defaults when nothing is stated."""
        stated = (each for each in self.terms.providers if each.provider == provider)
        return next(stated, ProviderTerms(provider=provider))

    def side_of(self, provider: str) -> Market:
        """Return the side of the market a provider is on, as stated or by its name."""
        return self.provider_terms(provider).market or market_of(provider)


@dataclass(frozen=True, slots=True)
class Priced:
    """One offer, or one list price, and what the campaign would pay under it."""

    market: str
    offer: str
    lines: tuple[InvoiceLine, ...]
    escrow: Amount
    note: str = ""

    @property
    def low(self) -> float:
        """Its total at the low end."""
        return math.fsum(line.amount.low for line in self.lines)

    @property
    def high(self) -> float:
        """Its total at the high end."""
        return math.fsum(line.amount.high for line in self.lines)


def side(books: Books, provider: str, kind: str) -> str:
    """Return the side of the market on which an offer is shown."""
    if kind == "owned":
        return "owned"
    market = books.side_of(provider)
    if market == "decentralised":
        return "decentralised"
    if kind == "spot":
        return "spot"
    if kind != "on_demand":
        return "committed"
    return "hyperscaler_on_demand" if market == "hyperscaler" else "neocloud"


def kind_of(offer: CommittedTerm | MeteredOffer) -> str:
    """Return an offer's kind; every kind of leased offer has one, their base does not."""
    return str(offer.kind)  # type: ignore[union-attr]


def price_offer(
    books: Books, campaign: Campaign, offer: CommittedTerm | MeteredOffer
) -> Priced | str:
    """Return a campaign's bill under an offer, or the hard filter that bars it."""
    pool = books.expanded.pools[offer.pool]
    barred = refusal(campaign, pool) or _barred(books, campaign, offer, pool)
    if barred is not None:
        return barred
    kind = books.hardware(pool)
    gpus = _gpus(campaign, kind)
    if gpus is None:
        return f"no size of the run is whole nodes of {kind.gpus_per_node} GPUs"
    price = _price(books, campaign, offer)
    if price is None:
        return f"no price on {campaign.earliest}"
    scaling = campaign.scaling.get(gpus, 1.0) if isinstance(campaign, GangCampaign) else 1.0
    ideal = campaign.gpu_hours / kind.relative_speed / scaling
    useful = _goodput(books, campaign, kind, offer, gpus)
    if useful < LEAST_GOODPUT:
        return NEVER_DONE
    minimum, upfront = _commitment(
        books, campaign, offer, price, used_hours=ideal * (1.0 + campaign.waste) / useful
    )
    return _priced(
        books,
        campaign,
        provider=pool.provider,
        market=side(books, pool.provider, kind_of(offer)),
        offer=offer.id,
        price=price,
        ideal=ideal,
        useful=useful,
        minimum=minimum,
        upfront=upfront,
    )


def price_quote(books: Books, campaign: Campaign, quote: PriceQuote) -> Priced | str:
    """Return a campaign's bill at a list price of the catalogue, or the filter that bars it.

    List prices say nothing about where data sits, how far links reach or how often spot is
    reclaimed: a campaign with filters of that kind is barred, and spot is taken as never reclaimed.
    """
    kind = next(
        (
            each
            for each in books.scenario.hardware
            if (spec := find_hardware(each.id)) is not None and spec.id == quote.hardware
        ),
        None,
    )
    if kind is None or (campaign.hardware is not None and kind.id not in campaign.hardware):
        return f"no hardware of the scenario is {quote.hardware}"
    if campaign.pools or campaign.residency or campaign.coupling.value == "rack":
        return "a list price says nothing about pools, residency or racks"
    if campaign.providers is not None and quote.provider not in campaign.providers:
        return f"provider {quote.provider} is not among {', '.join(campaign.providers)}"
    if _needs_verified(campaign) and not quote.verified:
        return f"{quote.provider}'s machines are not verified"
    if campaign.tenancy == "dedicated" or (
        quote.kind == "spot" and not _takes_spot(books, campaign)
    ):
        return "its class or its tenancy bars this kind"
    gpus = _gpus(campaign, kind)
    if gpus is None:
        return f"no size of the run is whole nodes of {kind.gpus_per_node} GPUs"
    scaling = campaign.scaling.get(gpus, 1.0) if isinstance(campaign, GangCampaign) else 1.0
    ideal = campaign.gpu_hours / kind.relative_speed / scaling
    each_class = _class(books, campaign)
    nodes = math.ceil(gpus / kind.gpus_per_node)
    rate = 0.0 if kind.node_mtbf_hours is None else nodes / kind.node_mtbf_hours
    useful = goodput(each_class, rate)
    if useful < LEAST_GOODPUT:
        return NEVER_DONE
    minimum = 0.0
    if quote.kind == "reserved_1y":
        held = _held_gpus(campaign, ideal * (1.0 + campaign.waste) / useful, kind.gpus_per_node)
        minimum = held * HOURS_PER_YEAR * quote.price_per_gpu_hour
    return _priced(
        books,
        campaign,
        provider=quote.provider,
        market="decentralised"
        if quote.market == "decentralised"
        else side(books, quote.provider, quote.kind),
        offer=quote.id,
        price=quote.price_per_gpu_hour,
        ideal=ideal,
        useful=useful,
        minimum=minimum,
        upfront=0.0,
        note=f"list price of {quote.as_of}, {quote.source}",
        market_rates=rate_rows()[quote.market],
    )


def beside_compute(
    books: Books, campaign: Campaign, provider: str, rates: MarketRates | None = None
) -> tuple[Amount, Amount, Amount, Amount]:
    """Return storage, egress, staff, and queue with tooling, at stated or at list rates."""
    stated, terms = books.provider_terms(provider), books.terms
    list_rates = rates or rate_rows()[books.side_of(provider)]
    known = list_rates.currency == books.scenario.currency
    months = terms.storage_months
    if months is None:
        months = (campaign.deadline - campaign.earliest).days / DAYS_PER_MONTH
    storage = _rate(
        stated.storage_per_gb_month,
        terms.storage_per_gb_month,
        list_rates.storage_per_gb_month if known else (0.0, 0.0),
    )
    egress = _rate(
        stated.egress_per_gb,
        terms.egress_per_gb,
        list_rates.egress_per_gb if known else (0.0, 0.0),
    )
    waiting = stated.queue_hours * terms.staff_per_hour + terms.tooling_cost
    return (
        storage.times(campaign.storage_gb * months),
        egress.times(campaign.egress_gb),
        Amount(campaign.staff_cost, campaign.staff_cost),
        Amount(waiting, waiting),
    )


def _priced(
    books: Books,
    campaign: Campaign,
    *,
    provider: str,
    market: str,
    offer: str,
    price: float,
    ideal: float,
    useful: float,
    minimum: float,
    upfront: float,
    note: str = "",
    market_rates: MarketRates | None = None,
) -> Priced:
    stated = books.provider_terms(provider)
    rates = market_rates or rate_rows()[books.side_of(provider)]
    credit, share = stated.minimum_credit, stated.escrow_share
    if rates.currency == books.scenario.currency and rates.market == "decentralised":
        credit = credit or rates.minimum_credit
        share = share or rates.escrow_share
    many = books.terms.utilisation_multiplier
    storage, egress, staff, waiting = beside_compute(books, campaign, provider, rates)
    lines = bill_lines(
        Bill(
            ideal_hours=ideal,
            price=price,
            utilisation_multiplier=Amount(many.low, many.high),
            waste=campaign.waste,
            goodput=useful,
            storage=storage,
            egress=egress,
            staff=staff,
            queue_and_tooling=waiting,
            minimum=max(minimum, credit),
        )
    )
    ours = staff.high + waiting.high
    total = Amount(
        math.fsum(line.amount.low for line in lines) - ours,
        math.fsum(line.amount.high for line in lines) - ours,
    )
    return Priced(market, offer, lines, escrow(total, share, upfront, credit), note)


def _barred(
    books: Books, campaign: Campaign, offer: CommittedTerm | MeteredOffer, pool: Pool
) -> str | None:
    if campaign.tenancy == "dedicated" and kind_of(offer) not in ("dedicated", "owned"):
        return "the campaign needs capacity of its own"
    if isinstance(offer, SpotOffer) and not _takes_spot(books, campaign):
        return "its preemption class keeps it off spot"
    if _needs_verified(campaign) and not books.provider_terms(pool.provider).verified:
        return f"{pool.provider}'s machines are not verified"
    return None


def _needs_verified(campaign: Campaign) -> bool:
    return campaign.workload is not None and campaign.workload.placement.verified


def _takes_spot(books: Books, campaign: Campaign) -> bool:
    share = _class(books, campaign).spot_share_max
    return share >= 1.0 if isinstance(campaign, GangCampaign) else share > 0.0


def _class(books: Books, campaign: Campaign) -> PreemptionClass:
    classes = books.scenario.preemption_classes
    return next(each for each in classes if each.id == campaign.preemption_class)


def _gpus(campaign: Campaign, kind: Hardware) -> int | None:
    """Return the GPUs of one job; None when a gang has no size in whole nodes there."""
    if isinstance(campaign, GangCampaign):
        sizes = [size for size in campaign.gpus if size % kind.gpus_per_node == 0]
        return min(sizes, default=None)
    return campaign.job_gpus or kind.gpus_per_node


def _goodput(
    books: Books,
    campaign: Campaign,
    kind: Hardware,
    offer: CommittedTerm | MeteredOffer,
    gpus: int,
) -> float:
    nodes = math.ceil(gpus / kind.gpus_per_node)
    rate = 0.0 if kind.node_mtbf_hours is None else 1.0 / kind.node_mtbf_hours
    if isinstance(offer, SpotOffer) and offer.node_mtbr_hours is not None:
        rate += 1.0 / offer.node_mtbr_hours
    return goodput(_class(books, campaign), nodes * rate)


def _price(books: Books, campaign: Campaign, offer: CommittedTerm | MeteredOffer) -> float | None:
    """Return the price of a used GPU-hour on the campaign's first day."""
    if isinstance(offer, OwnedOffer):
        days = (campaign.deadline - campaign.earliest).days
        kept = residual_share(offer.residual_per_year, days)
        lost = offer.capex_per_gpu * (1.0 - kept) / (days * HOURS_PER_DAY)
        return lost + offer.opex_per_gpu_hour
    day = campaign.earliest
    if offer.available_until is not None and day > offer.available_until:
        return None
    try:
        price = price_at(offer, day, books.scenario.horizon.start)
    except ValueError:
        return None
    usage = offer.usage_price if isinstance(offer, LeasedOffer) else None
    return price + (usage or 0.0)


def _commitment(
    books: Books,
    campaign: Campaign,
    offer: CommittedTerm | MeteredOffer,
    price: float,
    *,
    used_hours: float,
) -> tuple[float, float]:
    """Return the least that is paid for compute, and what of it is due at the start.

    Whole lots for whole terms, one after the other until the campaign's dates are covered; owned
    hardware loses value over the campaign's dates whether used or not.
    """
    if isinstance(offer, OnDemandOffer | SpotOffer):
        return 0.0, 0.0
    multiplier = books.terms.utilisation_multiplier.low
    lot = offer.lot_gpus
    held = _held_gpus(campaign, used_hours * multiplier, lot)
    held = max(held, (offer.min_lots if not isinstance(offer, OwnedOffer) else 0) * lot)
    if isinstance(offer, OwnedOffer):
        hours = (campaign.deadline - campaign.earliest).days * HOURS_PER_DAY
        return held * hours * price, held * offer.capex_per_gpu
    term_hours = term_of(offer).days(campaign.earliest) * HOURS_PER_DAY
    run_hours = used_hours * multiplier / held
    terms = max(math.ceil(run_hours / term_hours - 1e-9), 1)
    usage = offer.usage_price or 0.0
    holding = price - usage
    hours = held * term_hours
    minimum = hours * terms * holding + usage * used_hours * multiplier
    setup = getattr(offer, "setup_cost", 0.0)
    return minimum + setup, hours * holding * offer.upfront + setup


def _held_gpus(campaign: Campaign, used_hours: float, lot: float) -> float:
    """Return the GPUs to hold, in whole lots: a gang's size, or what the dates ask on average."""
    if isinstance(campaign, GangCampaign):
        needed = float(min(campaign.gpus))
    else:
        window = (campaign.deadline - campaign.earliest).days * HOURS_PER_DAY
        needed = min(used_hours / window, campaign.max_gpus)
    return max(math.ceil(needed / lot - 1e-9), 1) * lot


def _rate(stated: float | None, shared: Range | None, listed: tuple[float, float]) -> Amount:
    if stated is not None:
        return Amount(stated, stated)
    if shared is not None:
        return Amount(shared.low, shared.high)
    return Amount(*listed)
