"""One bill of a campaign: what an offer or a list price comes to, and how bills are mixed."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gpuladder.sizing.derive import run_flops, run_hours
from gpuladder.sizing.invoice import COMPUTE_LINES, Amount, InvoiceLine
from gpuladder.sizing.machine import Machine

if TYPE_CHECKING:
    from gpuladder.scenario.schema import Campaign
    from gpuladder.sizing.catalogue import MarketRates

_ANY_MACHINE = Machine(id="any", memory_gb=1.0, gpus_per_node=1, peak_tflops=1.0)
"""The band of hours, as a share of the expected ones, is the same on every machine."""


@dataclass(frozen=True, slots=True)
class Priced:
    """One offer, or one list price, and what the campaign would pay under it."""

    market: str
    offer: str
    lines: tuple[InvoiceLine, ...]
    escrow: Amount
    note: str = ""
    rates: MarketRates | None = None
    """List rates that count in it."""
    firm_share: float = 0.0
    """Share of the work that the campaign's class keeps off this offer; 0 but on spot."""

    @property
    def low(self) -> float:
        """Its total at the low end."""
        return math.fsum(line.amount.low for line in self.lines)

    @property
    def high(self) -> float:
        """Its total at the high end."""
        return math.fsum(line.amount.high for line in self.lines)


def blended(spot: Priced, firm: Priced) -> Priced:
    """Return a spot bill of which the share that must be firm is billed at a firm offer.

    Bills are linear in their hours, so the lines mix by the share; what does not depend on hours
    (storage, egress, staff) is about the same in both.
    """
    share = spot.firm_share
    lines = tuple(
        replace(
            ours,
            amount=ours.amount.times(1.0 - share).plus(theirs.amount.times(share)),
            working=f"{1.0 - share:.0%} of {ours.working} + {share:.0%} of {theirs.working}"
            if ours.line in COMPUTE_LINES
            else ours.working,
            known=ours.known and theirs.known,
        )
        for ours, theirs in zip(spot.lines, firm.lines, strict=True)
    )
    note = f"{share:.0%} of the work is firm by its class, on {firm.offer}"
    return replace(
        spot,
        lines=lines,
        escrow=spot.escrow.times(1.0 - share).plus(firm.escrow.times(share)),
        note="; ".join(part for part in (spot.note, note) if part),
        firm_share=0.0,
    )


def hours_over_band(campaign: Campaign, ideal: float) -> Amount:
    """Return the ideal hours over the band of MFU that a workload states: twice the MFU, half."""
    if campaign.workload is None:
        return Amount(ideal, ideal)
    flops = run_flops(campaign.workload.run)
    hours = run_hours(flops, campaign.workload.mfu, _ANY_MACHINE)
    return Amount(
        ideal * hours.fewest / hours.expected,
        ideal * hours.most / hours.expected,
    )
