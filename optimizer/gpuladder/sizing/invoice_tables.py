"""The invoice and the accounts of owned hardware as tables: frozen rows, one class per table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date

    from gpuladder.errors import Problem
    from gpuladder.sizing.depreciation import QuarterRow
    from gpuladder.sizing.invoice import CampaignInvoice, MarketInvoice, Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class InvoiceRow:
    """One line of one campaign on one side of the market, as a table shows it."""

    campaign: str
    market: str
    line: str
    low: float | None
    """None where no rate is known; the total is then too low."""
    high: float | None
    formula: str
    working: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InvoiceTotalRow:
    """One campaign on one side of the market: total, per run, and what is due before the start."""

    campaign: str
    market: str
    total_low: float | None
    """None where a hard filter bars this side of the market."""
    total_high: float | None
    per_run_low: float | None
    per_run_high: float | None
    escrow_low: float | None
    escrow_high: float | None
    offers: str
    """What was priced."""
    notes: str
    """Dates of prices, or the filter that bars it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Invoice:
    """The invoices of all campaigns of a scenario."""

    currency: str
    campaigns: tuple[CampaignInvoice, ...]
    warnings: tuple[Problem, ...] = ()

    def record(self) -> dict[str, object]:
        """Return them as values that JSON can hold."""
        return {"campaigns": [campaign.record() for campaign in self.campaigns]}

    def rows(self) -> tuple[InvoiceRow, ...]:
        """Return every line as a table row."""
        return tuple(
            InvoiceRow(
                campaign=campaign.id,
                market=market.market,
                line=line.line,
                low=line.amount.low if line.known else None,
                high=line.amount.high if line.known else None,
                formula=line.formula,
                working=line.working,
            )
            for campaign in self.campaigns
            for market in campaign.markets
            for line in market.lines
        )

    def totals(self) -> tuple[InvoiceTotalRow, ...]:
        """Return one row for each campaign and side of the market, barred ones included."""
        rows: list[InvoiceTotalRow] = []
        for campaign in self.campaigns:
            rows += [_total(campaign.id, market) for market in campaign.markets]
            rows += [_refused(campaign.id, refusal) for refusal in campaign.refused]
        return tuple(rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnedQuarterRow:
    """One calendar quarter of one order of owned hardware; undiscounted."""

    offer: str
    start: date
    gpus: int
    schedule: str
    quarter: QuarterRow


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnedOrderRow:
    """One order of owned hardware: what it costs in cash and by its loan, at its start."""

    offer: str
    start: date
    end: date
    """End of its life."""
    gpus: int
    capex: float
    financed_capex: float
    """Value, at the start, of paying by the loan; the capital cost when paid in cash."""
    financed_capex_per_gpu: float
    """What to write as `capex_per_gpu` for the program to compete with the loan."""
    residual_value: float
    """At the earlier of horizon end and end of life, undiscounted, as in the objective."""


def _total(campaign: str, market: MarketInvoice) -> InvoiceTotalRow:
    each = market.per_run
    return InvoiceTotalRow(
        campaign=campaign,
        market=market.market,
        total_low=market.total.low,
        total_high=market.total.high,
        per_run_low=None if each is None else each.low,
        per_run_high=None if each is None else each.high,
        escrow_low=market.escrow.low,
        escrow_high=market.escrow.high,
        offers=", ".join(market.offers),
        notes="; ".join(market.notes),
    )


def _refused(campaign: str, refusal: Refusal) -> InvoiceTotalRow:
    return InvoiceTotalRow(
        campaign=campaign,
        market=refusal.market,
        total_low=None,
        total_high=None,
        per_run_low=None,
        per_run_high=None,
        escrow_low=None,
        escrow_high=None,
        offers="",
        notes=refusal.reason,
    )
