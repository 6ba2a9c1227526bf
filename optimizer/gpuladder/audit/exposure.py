"""What is still owed, what expires at once, and what lies past the horizon."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import TYPE_CHECKING

from gpuladder.audit.commitments import Term, ladder_windows
from gpuladder.audit.costs import holding_rate, hours_after_horizon
from gpuladder.audit.owned import Payment, loan_payments, paid_at_purchase
from gpuladder.audit.shares import quotient
from gpuladder.scenario.expand import term_of
from gpuladder.scenario.schema import (
    DedicatedOffer,
    Due,
    HeldCommitment,
    LadderPolicy,
    OwnedOffer,
)
from gpuladder.timegrid import Span, add_months

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpuladder.audit.facts import Facts
    from gpuladder.audit.quantities import Lot, Quantities

_DAYS_PER_MONTH = 365.25 / 12.0
_DEFAULT_LADDER = LadderPolicy(window=Span(3, "month"), max_expiring_share=1.0)


@dataclass(frozen=True, slots=True)
class Debt:
    """One commitment as an obligation.

    Attributes
    ----------
    binds : date
        Date from which it is owed.
    rate : float
        Undiscounted currency per hour of its term.
    lump : float
        Owed until the term starts: setup, or what of hardware is paid at its purchase.
    loan : list of (date, float)
        Payments of a loan as signed, each owed until it is made.
    leased : bool
        Whether its hours are owed, and its remaining months count in the average.
    dues : tuple of Due
        Owed until they are paid.
    """

    binds: date
    start: date
    end: date
    gpus: float
    rate: float
    lump: float
    leased: bool
    dues: tuple[Due, ...] = ()
    loan: list[Payment] = field(default_factory=list)

    def owed(self, day: date) -> float:
        """Return what is still owed on a date, undiscounted, prepaid or not."""
        rest = self.rate * max((self.end - max(day, self.start)).days, 0) * 24.0
        rest += sum(due.amount for due in self.dues if due.on > day)
        rest += sum(amount for due, amount in self.loan if due > day)
        return rest + (self.lump if self.start > day else 0.0)


def debts(facts: Facts, plan: Quantities) -> list[Debt]:
    """Return everything that is or becomes owed: held commitments and orders."""
    held = [
        _held_debt(facts, item)
        for item in facts.tables.held.values()
        if item.end > facts.grid.start
    ]
    return held + [_debt(facts, lot) for lot in plan.lots]


def owed_on(items: list[Debt], day: date) -> tuple[float, float | None]:
    """Return what is owed on a date, and the average remaining months, weighted by GPUs."""
    bound = [item for item in items if item.binds <= day < item.end]
    leased = [item for item in bound if item.leased]
    months = sum(
        item.gpus * (item.end - max(day, item.start)).days / _DAYS_PER_MONTH for item in leased
    )
    owed = sum(item.owed(day) for item in bound)
    return owed, quotient(months, sum(item.gpus for item in leased))


def lock_in_dates(facts: Facts, items: list[Debt]) -> list[date]:
    """Return the dates on which lock-in is told: boundaries, and quarter starts to the last end."""
    ends = [item.end for item in items if item.leased]
    ends += [due.on for item in items for due in item.dues]
    ends += [item.loan[-1][0] for item in items if item.loan]
    last = max([facts.grid.end, *ends])
    days = set(facts.grid.boundaries)
    quarter = date(facts.grid.start.year, 1, 1)
    while quarter <= last:
        if quarter >= facts.grid.start:
            days.add(quarter)
        quarter = add_months(quarter, 3)
    return sorted(days)


def expiry_shares(
    facts: Facts, plan: Quantities, *, held_only: bool
) -> Iterator[tuple[date, float | None]]:
    """Yield the start of each ladder window and the share of GPUs that expires in it.

    Without a ladder policy the windows are three months long.
    """
    ladder = facts.scenario.policy.ladder or _DEFAULT_LADDER
    shortest = ladder.min_tenor or ladder.window
    terms = [
        Term(item.start, item.end, item.gpus)
        for item in facts.tables.held.values()
        if item.tenor is None or item.tenor.after(item.start) >= shortest.after(item.start)
    ]
    if not held_only:
        terms += [
            Term(lot.start, lot.end, lot.gpus)
            for lot in plan.lots
            if term_of(lot.offer).after(lot.start) >= shortest.after(lot.start)
        ]
    for begin, _, expiring, standing in ladder_windows(facts, ladder, terms):
        yield begin, quotient(expiring, standing)


def sign_by(facts: Facts, lot: Lot) -> date:
    """Return the last date to sign an order: its start less the lead, from the horizon start on."""
    lead = lot.offer.lead
    if lead.unit in ("day", "week"):
        signed = lot.start - timedelta(days=lead.count * (7 if lead.unit == "week" else 1))
    else:
        signed = add_months(lot.start, -lead.count * (12 if lead.unit == "year" else 1))
    return max(signed, facts.grid.start)


def tail(facts: Facts, lot: Lot) -> float:
    """Return what a lease costs after the horizon end, undiscounted; hardware is valued there."""
    return holding_rate(facts, lot) * hours_after_horizon(facts, lot)


def held_tail(facts: Facts) -> float:
    """Return what held commitments cost after the horizon end, undiscounted."""
    end = facts.grid.end
    return sum(
        item.gpus * item.price * max((item.end - max(item.start, end)).days, 0) * 24.0
        + sum(due.amount for due in item.dues if due.on > end)
        for item in facts.tables.held.values()
    )


def _held_debt(facts: Facts, held: HeldCommitment) -> Debt:
    """Return a held commitment as an obligation; of hardware bought under an offer, its dues."""
    begin = facts.grid.start
    leased = held.kind != "owned" or held.offer is None
    return Debt(
        min(held.start, begin),
        held.start,
        held.end,
        held.gpus,
        held.gpus * held.price if leased else 0.0,
        0.0,
        leased=leased,
        dues=tuple(due for due in held.dues if due.on >= begin),
    )


def _debt(facts: Facts, lot: Lot) -> Debt:
    if isinstance(lot.offer, OwnedOffer):
        lump = paid_at_purchase(lot)
    else:
        lump = lot.offer.setup_cost if isinstance(lot.offer, DedicatedOffer) else 0.0
    return Debt(
        sign_by(facts, lot),
        lot.start,
        lot.end,
        lot.gpus,
        holding_rate(facts, lot),
        lump,
        leased=not isinstance(lot.offer, OwnedOffer),
        loan=loan_payments(lot, lot.end),
    )
