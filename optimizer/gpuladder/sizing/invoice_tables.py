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
    """One calendar quarter of one order of owned hardware, over its whole life; undiscounted."""

    offer: str
    start: date
    gpus: int
    schedule: str
    """The depreciation method: straight_line, declining or by_generation."""
    quarter: QuarterRow


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnedOrderRow:
    """One order of owned hardware: how it is paid for, and what it is worth when it is valued.

    ``capex − depreciation = book_value`` and ``residual_value − book_value = disposal_gain``.
    """

    offer: str
    start: date
    end: date
    """End of its life."""
    gpus: int
    capex: float
    """Purchase price."""
    down_payment: float
    """Paid at the start: the purchase price without a loan."""
    instalment: float
    """The equal payment of its loan; 0 when paid in cash."""
    instalments: int
    """Payments of the loan until its term or the end of life; 0 when paid in cash."""
    last_payment: date
    """Of the loan, not after the end of life; the start when paid in cash."""
    interest: float
    """All interest of those payments, undiscounted."""
    financed_capex: float
    """Value, at the start, of the down payment, the instalments until ``valued_on`` and the debt
    left then: the purchase as the objective counts it. The purchase price when paid in cash."""
    financed_capex_per_gpu: float
    """Price per GPU, paid in cash, that would cost as much."""
    valued_on: date
    """The earlier of horizon end and end of life, on which the objective values it."""
    depreciation: float
    """Written off until then, by its own schedule."""
    book_value: float
    residual_value: float
    """What a sale brings then, undiscounted, as in the objective."""
    disposal_gain: float
    """Residual value less book value; a loss below 0."""
    debt: float
    """Owed then, interest to the day included; settled against the residual value."""


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
