"""What every bill of a scenario looks up, and what is paid beside compute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpuladder.sizing.catalogue import Market, MarketRates, market_of, rate_rows
from gpuladder.sizing.derive import checkpoint_gb
from gpuladder.sizing.invoice import Amount
from gpuladder.sizing.spec import InvoiceTerms, ProviderTerms, Range

if TYPE_CHECKING:
    from gpuladder.scenario.expand import Expanded
    from gpuladder.scenario.schema import Campaign, Hardware, Pool, Scenario

DAYS_PER_MONTH = 365.0 / 12.0


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What is paid beside compute; None where no rate is known."""

    storage: Amount | None
    egress: Amount | None
    staff: Amount
    queue_and_tooling: Amount
    stored: str
    """What is kept, in words."""
    rates: MarketRates | None
    """List rates that count in it; None where all rates are stated."""


def beside_compute(
    books: Books, campaign: Campaign, provider: str, rates: MarketRates | None = None
) -> Beside:
    """Return storage, egress, staff, and queue with tooling, at stated or at list rates.

    Storage is the campaign's data and the checkpoints of its workload. List rates are in US
    dollars: in another currency a rate that is not stated is not known.
    """
    stated, terms = books.provider_terms(provider), books.terms
    listed = rates or rate_rows()[books.side_of(provider)]
    known = listed.currency == books.scenario.currency
    months = terms.storage_months
    if months is None:
        months = (campaign.deadline - campaign.earliest).days / DAYS_PER_MONTH
    kept = 0.0 if campaign.workload is None else checkpoint_gb(campaign.workload)
    stores, sends = (campaign.storage_gb + kept) * months, campaign.egress_gb
    uses_list = known and (
        (stores > 0 and stated.storage_per_gb_month is None and terms.storage_per_gb_month is None)
        or (sends > 0 and stated.egress_per_gb is None and terms.egress_per_gb is None)
    )
    waiting = stated.queue_hours * terms.staff_per_hour + terms.tooling_cost
    return Beside(
        storage=_cost(
            stores,
            stated.storage_per_gb_month,
            terms.storage_per_gb_month,
            listed.storage_per_gb_month if known else None,
        ),
        egress=_cost(
            sends,
            stated.egress_per_gb,
            terms.egress_per_gb,
            listed.egress_per_gb if known else None,
        ),
        staff=Amount(campaign.staff_cost, campaign.staff_cost),
        queue_and_tooling=Amount(waiting, waiting),
        stored=f"({campaign.storage_gb:,.0f} + {kept:,.0f} of checkpoints) × {months:.2f}",
        rates=listed if uses_list else None,
    )


def paid_in(books: Books, provider: str, rates: MarketRates | None = None) -> tuple[float, float]:
    """Return a provider's minimum credit and the share of a bill it wants before the start.

    What is stated counts, zero too; else list terms on the decentralised side, and nothing
    elsewhere. A share is one in every currency; a sum in another currency is not known, and left
    out.
    """
    stated = books.provider_terms(provider)
    listed = rates or rate_rows()[books.side_of(provider)]
    usual = listed.market == "decentralised"
    credit, share = stated.minimum_credit, stated.escrow_share
    if credit is None:
        known = usual and listed.currency == books.scenario.currency
        credit = listed.minimum_credit if known else 0.0
    if share is None:
        share = listed.escrow_share if usual else 0.0
    return credit, share


def _cost(
    quantity: float,
    stated: float | None,
    shared: Range | None,
    listed: tuple[float, float] | None,
) -> Amount | None:
    if quantity == 0.0:
        return Amount(0.0, 0.0)
    if stated is not None:
        return Amount(stated, stated).times(quantity)
    if shared is not None:
        return Amount(shared.low, shared.high).times(quantity)
    return None if listed is None else Amount(*listed).times(quantity)
