"""What a campaign's work costs under each offer and each list price, side of the market by side."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gpuladder.analysis.invoice_bills import Priced, hours_over_band
from gpuladder.analysis.invoice_books import Books, beside_compute, paid_in
from gpuladder.analysis.invoice_windows import Window, too_little, window_of
from gpuladder.economics import goodput, price_at
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
from gpuladder.scenario.workloads import refusal
from gpuladder.sizing.catalogue import MarketRates, find_hardware, is_verified, rate_rows
from gpuladder.sizing.invoice import NOTHING, Amount, Bill, bill_lines, escrow
from gpuladder.sizing.owned import down_payment, loan_of, market_value
from gpuladder.sizing.sheet import LEAST_GOODPUT

if TYPE_CHECKING:
    from gpuladder.scenario.expand import CommittedTerm, MeteredOffer
    from gpuladder.scenario.schema import Hardware
    from gpuladder.sizing.catalogue import PriceQuote

HOURS_PER_DAY = 24.0
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
    window = window_of(books.expanded.grid, campaign, offer)
    if isinstance(window, str):
        return window
    price = _price(books, offer, window)
    if price is None:
        return f"no price on {window.signed}"
    firm_share = _firm_share(books, campaign) if isinstance(offer, SpotOffer) else 0.0
    sized = _sized(books, campaign, kind, offer, window, firm_share=firm_share)
    if isinstance(sized, str):
        return sized
    gpus, ideal, useful = sized
    minimum, upfront = NOTHING, NOTHING
    if not isinstance(offer, OnDemandOffer | SpotOffer):
        taken = _taken_hours(books, campaign, ideal, useful)
        found = _commitment(campaign, offer, price, window, gpus=gpus, taken=taken)
        if isinstance(found, str):
            return found
        minimum, upfront = found
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
        firm_share=firm_share,
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
            if (spec := find_hardware(each.id, memory_gb=each.memory_gb)) is not None
            and spec.id == quote.hardware
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
    dates = Window(campaign.earliest, campaign.earliest, campaign.deadline)
    firm_share = _firm_share(books, campaign) if quote.kind == "spot" else 0.0
    sized = _sized(books, campaign, kind, None, dates, firm_share=firm_share)
    if isinstance(sized, str):
        return sized
    gpus, ideal, useful = sized
    minimum = NOTHING
    if quote.kind == "reserved_1y":
        taken, node = _taken_hours(books, campaign, ideal, useful), kind.gpus_per_node
        held = [
            _held_gpus(campaign, each, node, gpus=gpus, hours=dates.hours)
            for each in (taken.low, taken.high)
        ]
        minimum = Amount(*held).times(HOURS_PER_YEAR * quote.price_per_gpu_hour)
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
        upfront=NOTHING,
        firm_share=firm_share,
        note=f"list price of {quote.as_of}, {quote.source}",
        market_rates=rate_rows()[quote.market],
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
    minimum: Amount,
    upfront: Amount,
    firm_share: float,
    note: str = "",
    market_rates: MarketRates | None = None,
) -> Priced:
    rates = market_rates or rate_rows()[books.side_of(provider)]
    credit, share = paid_in(books, provider, rates)
    many = books.terms.utilisation_multiplier
    beside = beside_compute(books, campaign, provider, rates)
    lines = bill_lines(
        Bill(
            ideal_hours=hours_over_band(campaign, ideal),
            price=price,
            utilisation_multiplier=Amount(many.low, many.high),
            waste=campaign.waste,
            goodput=useful,
            storage=beside.storage,
            egress=beside.egress,
            staff=beside.staff,
            queue_and_tooling=beside.queue_and_tooling,
            stored=beside.stored,
            minimum=Amount(max(minimum.low, credit), max(minimum.high, credit)),
        )
    )
    ours = beside.staff.high + beside.queue_and_tooling.high
    total = Amount(
        math.fsum(line.amount.low for line in lines) - ours,
        math.fsum(line.amount.high for line in lines) - ours,
    )
    due = escrow(total, share, upfront, credit)
    return Priced(market, offer, lines, due, note, beside.rates, firm_share)


def _barred(
    books: Books, campaign: Campaign, offer: CommittedTerm | MeteredOffer, pool: Pool
) -> str | None:
    if campaign.tenancy == "dedicated" and kind_of(offer) not in ("dedicated", "owned"):
        return "the campaign needs capacity of its own"
    if isinstance(offer, SpotOffer) and not _takes_spot(books, campaign):
        return "its preemption class keeps it off spot"
    if _needs_verified(campaign) and not is_verified(pool.provider, books.terms.providers):
        return f"{pool.provider}'s machines are not verified"
    return None


def _needs_verified(campaign: Campaign) -> bool:
    return campaign.workload is not None and campaign.workload.placement.verified


def _takes_spot(books: Books, campaign: Campaign) -> bool:
    share = campaign.spot_share_max(_class(books, campaign))
    return share >= 1.0 if isinstance(campaign, GangCampaign) else share > 0.0


def _firm_share(books: Books, campaign: Campaign) -> float:
    return 1.0 - campaign.spot_share_max(_class(books, campaign))


def _class(books: Books, campaign: Campaign) -> PreemptionClass:
    classes = books.scenario.preemption_classes
    return next(each for each in classes if each.id == campaign.preemption_class)


def _no_size(kind: Hardware) -> str:
    return f"no size of the run is whole nodes of {kind.gpus_per_node} GPUs"


def _sizes(campaign: Campaign, kind: Hardware) -> list[int]:
    """Return the GPUs of one job, ascending; none when a gang has no size in whole nodes there."""
    if isinstance(campaign, GangCampaign):
        return sorted(size for size in campaign.gpus if size % kind.gpus_per_node == 0)
    return [campaign.job_gpus or kind.gpus_per_node]


def _sized(
    books: Books,
    campaign: Campaign,
    kind: Hardware,
    offer: CommittedTerm | MeteredOffer | None,
    window: Window,
    *,
    firm_share: float,
) -> tuple[int, float, float] | str:
    """Return GPUs, ideal hours and goodput of the smallest size an offer holds, or why none is.

    Without an offer, at a list price: what is done in time on as many GPUs as are asked for.
    """
    reason = ""
    for gpus in _sizes(campaign, kind):
        scaling = campaign.scaling.get(gpus, 1.0) if isinstance(campaign, GangCampaign) else 1.0
        ideal = campaign.gpu_hours / kind.relative_speed / scaling
        useful = _goodput(books, campaign, kind, offer, gpus)
        if useful < LEAST_GOODPUT:
            reason = reason or NEVER_DONE
            continue
        paid = ideal * (1.0 + campaign.waste) / useful
        paid *= 1.0 - firm_share
        why = too_little(campaign, offer, kind, gpus=gpus, paid_hours=paid, window=window)
        if why is None:
            return gpus, ideal, useful
        reason = reason or why
    return reason or _no_size(kind)


def _goodput(
    books: Books,
    campaign: Campaign,
    kind: Hardware,
    offer: CommittedTerm | MeteredOffer | None,
    gpus: int,
) -> float:
    nodes = math.ceil(gpus / kind.gpus_per_node)
    rate = 0.0 if kind.node_mtbf_hours is None else 1.0 / kind.node_mtbf_hours
    if isinstance(offer, SpotOffer) and offer.node_mtbr_hours is not None:
        rate += 1.0 / offer.node_mtbr_hours
    return goodput(_class(books, campaign), nodes * rate)


def _price(books: Books, offer: CommittedTerm | MeteredOffer, window: Window) -> float | None:
    """Return the price of a used GPU-hour on the first day of use.

    Of owned hardware: the value it loses from the first to the last day of use, the interest of its
    loan meanwhile, and running it.
    """
    if isinstance(offer, OwnedOffer):
        capex, kind = offer.capex_per_gpu, books.hardware(books.expanded.pools[offer.pool])
        sale = market_value(offer, capex, window.start, kind.superseded)
        lost = capex - sale.value_at(window.end)
        loan = loan_of(offer, capex, window.start)
        if loan is not None:
            lost += math.fsum(row.interest for row in loan.until(window.end))
        return lost / window.hours + offer.opex_per_gpu_hour
    try:
        price = price_at(offer, window.signed, books.scenario.horizon.start)
    except ValueError:
        return None
    usage = offer.usage_price if isinstance(offer, LeasedOffer) else None
    return price + (usage or 0.0)


def _taken_hours(books: Books, campaign: Campaign, ideal: float, useful: float) -> Amount:
    """Return the GPU-hours that the work takes up, idle ones of the multiplier included."""
    many = books.terms.utilisation_multiplier
    band = hours_over_band(campaign, ideal).times((1.0 + campaign.waste) / useful)
    return Amount(band.low * many.low, band.high * many.high)


def _commitment(
    campaign: Campaign,
    offer: CommittedTerm,
    price: float,
    window: Window,
    *,
    gpus: int,
    taken: Amount,
) -> tuple[Amount, Amount] | str:
    """Return the least that is paid for compute, and what of it is due at the start.

    A reason where there are too few lots for the fewest hours; the most hours take up all lots
    that there are, and are billed whatever is beyond.
    """
    lot = offer.lot_gpus
    most = math.inf if offer.max_lots is None else offer.max_lots * lot
    bills: list[tuple[float, float]] = []
    for hours in (taken.low, taken.high):
        held = _held_gpus(campaign, hours, lot, gpus=gpus, hours=window.hours)
        held = max(held, offer.min_lots * lot)
        if held > most and not bills:
            return f"{held / lot:,.0f} lots are needed, and `max_lots` is {offer.max_lots}"
        bills.append(_held_cost(offer, price, window, min(held, most), hours))
    (low, due_low), (high, due_high) = bills
    return Amount(low, high), Amount(due_low, due_high)


def _held_cost(
    offer: CommittedTerm, price: float, window: Window, held: float, hours: float
) -> tuple[float, float]:
    """Return what so many GPUs cost for the work, and what of it is due at the start.

    Whole terms, one after the other until the work is done; owned hardware loses value, and its
    loan bears interest, over the campaign's dates whether used or not.
    """
    if isinstance(offer, OwnedOffer):
        return held * window.hours * price, down_payment(offer, held * offer.capex_per_gpu)
    term_hours = term_of(offer).days(window.signed) * HOURS_PER_DAY
    waited = (window.start - window.signed).days * HOURS_PER_DAY
    terms = max(math.ceil((waited + hours / held) / term_hours - 1e-9), 1)
    usage = offer.usage_price or 0.0
    one = held * term_hours * (price - usage)
    setup = getattr(offer, "setup_cost", 0.0)
    return one * terms + usage * hours + setup, one * offer.upfront + setup


def _held_gpus(
    campaign: Campaign, used_hours: float, lot: float, *, gpus: int, hours: float
) -> float:
    """Return the GPUs to hold, in whole lots: a gang's size, or what the dates ask on average."""
    needed = float(gpus)
    if not isinstance(campaign, GangCampaign):
        needed = min(used_hours / hours, campaign.max_gpus)
    return max(math.ceil(needed / lot - 1e-9), 1) * lot
