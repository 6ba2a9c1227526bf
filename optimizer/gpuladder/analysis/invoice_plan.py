"""The invoice of a campaign as it was planned: the plan's own costs, and what comes beside them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gpuladder.analysis.invoice_books import beside_compute, paid_in
from gpuladder.economics import price_at
from gpuladder.scenario.expand import term_of
from gpuladder.scenario.schema import GangCampaign, OwnedOffer
from gpuladder.sizing.invoice import (
    LINES,
    Amount,
    InvoiceLine,
    MarketInvoice,
    escrow,
    line_of,
    plan_lines,
)
from gpuladder.sizing.owned import down_payment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpuladder.analysis.invoice_books import Books
    from gpuladder.analysis.result import CampaignRow, CampaignUseRow, Result
    from gpuladder.plan import Order
    from gpuladder.scenario.schema import Campaign

HOURS_PER_DAY = 24.0
PLAN = "plan"


def plan_market(
    books: Books, campaign: Campaign, row: CampaignRow, result: Result
) -> MarketInvoice:
    """Return a campaign's market ``plan``: its loaded cost, and what is paid beside compute.

    The efficiency of a gang's size is in its ideal hours, as on the sides of the market. What is
    due at the start: the upfront sums and purchases of orders in pools where the campaign runs, by
    its share of the campaigns' hours there, or a provider's escrow or minimum credit if larger.
    """
    uses = [use for use in result.tables.campaign_use if use.campaign == campaign.id]
    pools = books.expanded.pools
    paid = math.fsum(use.gpu_hours * books.hardware(pools[use.pool]).relative_speed for use in uses)
    if isinstance(campaign, GangCampaign):
        run = next((run for run in result.plan.runs if run.campaign == campaign.id), None)
        paid *= 1.0 if run is None else campaign.scaling.get(run.gpus, 1.0)
    done = row.work * row.done_share
    compute = plan_lines(
        direct_cost=row.direct_cost,
        idle_cost=row.idle_cost,
        waste=campaign.waste,
        goodput=min(done / paid, 1.0) if paid > 0 else 1.0,
    )
    providers = list(dict.fromkeys(pools[use.pool].provider for use in uses))
    terms = [paid_in(books, provider) for provider in providers]
    credit = max((each[0] for each in terms), default=0.0)
    share = max((each[1] for each in terms), default=0.0)
    loaded = math.fsum(line.amount.low for line in compute)
    unused = max(credit - loaded, 0.0)
    rest = _beside(books, campaign, providers)
    minimum = InvoiceLine(
        line=LINES[-1],
        amount=Amount(unused, unused),
        formula="minimum credit − compute, where positive; commitments are in the idle capacity",
        working=f"minimum credit {credit:,.0f}",
    )
    lines = (*compute, *rest, minimum)
    billed = [line.amount for line in lines if line.line not in ("staff", "queue_and_tooling")]
    total = Amount(math.fsum(a.low for a in billed), math.fsum(a.high for a in billed))
    runs = row.runs * (1.0 if campaign.workload is None else campaign.workload.run.runs)
    offers = [name for name in (row.pool, row.spot_offer) if name is not None]
    upfront = _upfront(books, campaign, uses, result)
    return MarketInvoice(
        market=PLAN,
        lines=lines,
        runs=runs,
        escrow=escrow(total, share, Amount(upfront, upfront), credit),
        offers=tuple(offers),
        notes=_notes(books),
    )


def _notes(books: Books) -> tuple[str, ...]:
    notes = ["compute at present value; its lines sum to the plan's loaded cost"]
    many = books.terms.utilisation_multiplier
    if many.high > 1.0:
        stated = f"{many.low:g}" if many.low == many.high else f"{many.low:g} to {many.high:g}"
        notes.append(f"its own idle capacity stands for the stated multiplier of {stated}")
    return tuple(notes)


def _beside(books: Books, campaign: Campaign, providers: Sequence[str]) -> list[InvoiceLine]:
    """Return the lines beside compute, between the providers that the plan uses."""
    found = [beside_compute(books, campaign, provider) for provider in providers]
    by_line: dict[str, list[Amount | None]] = {
        "storage": [each.storage for each in found],
        "egress": [each.egress for each in found],
        "staff": [each.staff for each in found],
        "queue_and_tooling": [each.queue_and_tooling for each in found],
    }
    lines = []
    for name, amounts in by_line.items():
        known = [amount for amount in amounts if amount is not None]
        amount = Amount(
            min((each.low for each in known), default=0.0),
            max((each.high for each in known), default=0.0),
        )
        lines.append(
            line_of(
                name,
                None if len(known) < len(amounts) else amount,
                "as on the sides of the market the plan uses",
                ", ".join(providers) or "not planned",
            )
        )
    return lines


def _upfront(
    books: Books, campaign: Campaign, uses: Sequence[CampaignUseRow], result: Result
) -> float:
    """Return the campaign's share of what the plan's orders want paid at their start."""
    total = 0.0
    for order in result.plan.orders:
        pool = books.expanded.committed[order.offer].pool
        in_pool = [
            use for use in result.tables.campaign_use if use.pool == pool and use.spot_offer is None
        ]
        everyone = math.fsum(use.gpu_hours for use in in_pool)
        own = math.fsum(use.gpu_hours for use in in_pool if use.campaign == campaign.id)
        if own > 0.0:
            total += _paid_at_start(books, order) * own / everyone
    return total if uses else 0.0


def _paid_at_start(books: Books, order: Order) -> float:
    offer = books.expanded.committed[order.offer]
    gpus = order.lots * offer.lot_gpus
    if isinstance(offer, OwnedOffer):
        return down_payment(offer, gpus * offer.capex_per_gpu)
    hours = term_of(offer).days(order.start) * HOURS_PER_DAY
    price = price_at(offer, order.start, books.scenario.horizon.start)
    return gpus * hours * price * offer.upfront + getattr(offer, "setup_cost", 0.0)
