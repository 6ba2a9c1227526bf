"""The invoice of a campaign: what is paid, line by line, not what the brochure says an hour costs.

Every line is an estimate with a low and a high end. Utilisation here is allocated over busy hours;
how well a busy GPU works (MFU) is in the GPU-hours already.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LINES = (
    "ideal_hours",
    "utilisation_multiplier",
    "failed_runs",
    "checkpoint_and_restart",
    "storage",
    "egress",
    "staff",
    "queue_and_tooling",
    "minimums_and_commitments",
)
"""Lines of every invoice, in order."""
COMPUTE_LINES = LINES[:4]
"""Lines that are GPU-hours at a price; in an optimised plan they sum to the loaded cost."""


@dataclass(frozen=True, slots=True)
class Amount:
    """A low and a high estimate, currency."""

    low: float
    high: float

    def plus(self, other: Amount) -> Amount:
        """Return the sum."""
        return Amount(self.low + other.low, self.high + other.high)

    def times(self, factor: float) -> Amount:
        """Return the product with a number that is not negative."""
        return Amount(self.low * factor, self.high * factor)

    def record(self) -> dict[str, float]:
        """Return it as values that JSON can hold."""
        return {"low": self.low, "high": self.high}


NOTHING = Amount(0.0, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class InvoiceLine:
    """One line of an invoice."""

    line: str
    amount: Amount
    """Nothing where it is not known."""
    formula: str
    working: str
    known: bool = True
    """Whether there is a rate for it."""

    def record(self) -> dict[str, object]:
        """Return it as values that JSON can hold; null where it is not known."""
        ends = self.amount.record() if self.known else {"low": None, "high": None}
        return {"line": self.line, **ends}


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketInvoice:
    """What a campaign costs on one side of the market."""

    market: str
    lines: tuple[InvoiceLine, ...]
    runs: float
    """Runs completed."""
    escrow: Amount = NOTHING
    """To be paid in before the start."""
    offers: tuple[str, ...] = ()
    """What was priced: offers of the scenario, or rows of the catalogue."""
    notes: tuple[str, ...] = ()
    """Filters that were applied, and dates of prices."""

    @property
    def total(self) -> Amount:
        """All lines together."""
        return Amount(
            math.fsum(line.amount.low for line in self.lines),
            math.fsum(line.amount.high for line in self.lines),
        )

    @property
    def compute(self) -> Amount:
        """The lines that are GPU-hours at a price."""
        chosen = [line.amount for line in self.lines if line.line in COMPUTE_LINES]
        return Amount(math.fsum(a.low for a in chosen), math.fsum(a.high for a in chosen))

    @property
    def per_run(self) -> Amount | None:
        """The total per completed run; None when none is completed."""
        return None if self.runs <= 0 else self.total.times(1.0 / self.runs)

    def record(self) -> dict[str, object]:
        """Return it as values that JSON can hold."""
        return {
            "market": self.market,
            "lines": [line.record() for line in self.lines],
            "total": self.total.record(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A side of the market that cannot serve a campaign, and which hard filter says so."""

    market: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignInvoice:
    """The invoices of one campaign, side by side."""

    id: str
    markets: tuple[MarketInvoice, ...]
    refused: tuple[Refusal, ...] = ()

    def record(self) -> dict[str, object]:
        """Return it as values that JSON can hold."""
        return {"id": self.id, "markets": [market.record() for market in self.markets]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """What one campaign buys at one price.

    Attributes
    ----------
    ideal_hours : Amount
        Busy GPU-hours of the useful work, without failed runs or interruptions; a band where the
        MFU is stated as one.
    price : float
        Currency per GPU-hour.
    utilisation_multiplier : Amount
        Allocated over busy hours.
    waste : float
        Failed runs on top, share of the compute.
    goodput : float
        Useful share of paid hours, 0 to 1.
    storage, egress : Amount or None
        Currency; None when no rate is known.
    staff, queue_and_tooling : Amount
        Currency.
    stored : str
        Working of the storage.
    minimum : Amount
        Least that is paid for compute: minimum credit, or a commitment's whole terms. More hours
        may take more of them.
    """

    ideal_hours: Amount
    price: float
    utilisation_multiplier: Amount = Amount(1.0, 1.0)
    waste: float = 0.0
    goodput: float = 1.0
    storage: Amount | None = NOTHING
    egress: Amount | None = NOTHING
    staff: Amount = NOTHING
    queue_and_tooling: Amount = NOTHING
    stored: str = ""
    minimum: Amount = NOTHING


def compute_cost(ideal_hours: float, utilisation_multiplier: float, price: float) -> float:
    """Return the compute of the useful work: ``ideal hours × multiplier × price``.

    >>> compute_cost(30_000, 1.6, 3.00)
    144000.0
    """
    return ideal_hours * utilisation_multiplier * price


def bill_lines(bill: Bill) -> tuple[InvoiceLine, ...]:
    """Return the lines of a bill.

    Failed runs are a share of the compute of the useful work; checkpoints and restarts stretch
    both: ``(compute + failed) × (1 / goodput − 1)``. A minimum adds what the compute leaves of it.
    """
    many = bill.utilisation_multiplier
    ideal = bill.ideal_hours.times(bill.price)
    compute = Amount(ideal.low * many.low, ideal.high * many.high)
    failed = compute.times(bill.waste)
    overhead = compute.plus(failed).times(1.0 / bill.goodput - 1.0)
    paid = compute.plus(failed).plus(overhead)
    # Where more compute leaves less of a minimum unused, each end keeps its own rest: the totals
    # stay in order, though the rest at the low end is the larger one.
    least = bill.minimum
    unused = Amount(max(least.low - paid.low, 0.0), max(least.high - paid.high, 0.0))
    amounts: tuple[tuple[Amount | None, str, str], ...] = (
        (ideal, "hours × price", f"{_span(bill.ideal_hours)} × {bill.price:,.4g}"),
        (
            Amount(compute.low - ideal.low, compute.high - ideal.high),
            "hours × price × (multiplier − 1)",
            f"multiplier {many.low:g}" + (f" to {many.high:g}" if many.high > many.low else ""),
        ),
        (failed, "compute × failed share", f"{bill.waste:.0%} of {_span(compute)}"),
        (overhead, "(compute + failed) × (1 ÷ goodput − 1)", f"goodput {bill.goodput:.4f}"),
        (bill.storage, "GB × months × rate", bill.stored),
        (bill.egress, "GB × rate", ""),
        (bill.staff, "as stated", ""),
        (bill.queue_and_tooling, "hours waited × rate + tooling", ""),
        (
            unused,
            "minimum − compute, where positive",
            f"minimum {_span(least)}",
        ),
    )
    return tuple(
        line_of(line, amount, formula, working)
        for line, (amount, formula, working) in zip(LINES, amounts, strict=True)
    )


def _span(amount: Amount) -> str:
    low, high = f"{amount.low:,.0f}", f"{amount.high:,.0f}"
    return low if low == high else f"{low} to {high}"


def line_of(line: str, amount: Amount | None, formula: str, working: str) -> InvoiceLine:
    """Return a line; one without an amount is not known and counts for nothing."""
    if amount is None:
        return InvoiceLine(
            line=line, amount=NOTHING, formula=formula, working="no rate is known", known=False
        )
    return InvoiceLine(line=line, amount=amount, formula=formula, working=working)


def between(low: Sequence[InvoiceLine], high: Sequence[InvoiceLine]) -> tuple[InvoiceLine, ...]:
    """Return the lines of the cheapest offer's low end and the dearest offer's high end."""
    return tuple(
        InvoiceLine(
            line=cheap.line,
            amount=Amount(cheap.amount.low, dear.amount.high),
            formula=cheap.formula,
            working=cheap.working
            if cheap.working == dear.working
            else f"{cheap.working} … {dear.working}",
            known=cheap.known and dear.known,
        )
        for cheap, dear in zip(low, high, strict=True)
    )


def escrow(total: Amount, escrow_share: float, upfront: Amount, minimum_credit: float) -> Amount:
    """Return what must be paid in before the start: a share of the bill, upfront sums, or credit.

    The largest of the three counts; upfront payments are part of the bill.
    """
    return Amount(
        max(total.low * escrow_share, upfront.low, minimum_credit),
        max(total.high * escrow_share, upfront.high, minimum_credit),
    )


def plan_lines(
    *,
    direct_cost: float,
    idle_cost: float,
    waste: float,
    goodput: float,
) -> tuple[InvoiceLine, ...]:
    """Return the compute lines of a campaign in an optimised plan; they sum to its loaded cost.

    The direct cost is split by the hours it pays for: useful work, failed runs, and checkpoints
    with restarts; the idle capacity charged to the campaign is the utilisation line.

    Parameters
    ----------
    direct_cost, idle_cost : float
        Present value, from the plan.
    waste : float
        Failed runs on top of the useful work.
    goodput : float
        Work done per GPU-hour of reference speed, averaged over where it ran.
    """
    useful = direct_cost * goodput / (1.0 + waste)
    failed = useful * waste
    parts = (
        (useful, "direct cost × goodput ÷ (1 + failed share)", f"direct {direct_cost:,.0f}"),
        (idle_cost, "idle capacity charged to the campaign", "from the plan"),
        (failed, "useful × failed share", f"{waste:.0%}"),
        (direct_cost - useful - failed, "direct × (1 − goodput)", f"goodput {goodput:.4f}"),
    )
    return tuple(
        InvoiceLine(line=line, amount=Amount(value, value), formula=formula, working=working)
        for line, (value, formula, working) in zip(COMPUTE_LINES, parts, strict=True)
    )
