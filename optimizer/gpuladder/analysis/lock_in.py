"""Lock-in: what is still owed under signed commitments on each date."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpuladder.analysis.frame import (
    DAYS_PER_MONTH,
    calendar_edges,
    hours_between,
    quarter_start,
    ratio,
)
from gpuladder.analysis.result import LockInRow

if TYPE_CHECKING:
    from datetime import date

    from gpuladder.analysis.ledger import Ledger
    from gpuladder.analysis.terms import Term


@dataclass(frozen=True, slots=True)
class Obligation:
    """What one term still costs after a date, undiscounted."""

    amount: float
    unpaid: float
    after_horizon: float
    loan: float = 0.0


def lock_in_rows(ledger: Ledger) -> tuple[LockInRow, ...]:
    """Return the obligation on every period boundary and every quarter start to the last expiry.

    An order binds from its sign-by date. Bought hardware is owed for only until it is paid, with a
    loan until that is repaid as signed: nobody is owed its running cost, and it can be sold.
    """
    grid = ledger.frame.grid
    leases = [term for term in ledger.terms if term.is_owed_by_the_hour]
    dues = [due.on for term in ledger.terms for due in term.dues]
    dues += [row.due for term in ledger.terms for row in term.repaid[-1:]]
    last = max([grid.end, *(term.end for term in leases), *dues])
    quarters = {day for day in calendar_edges(grid.start, last, 3) if grid.start <= day <= last}
    return tuple(_row(ledger, at) for at in sorted({*grid.boundaries, *quarters}))


def obligation(term: Term, at: date) -> Obligation:
    """Return what a term still costs from a date on, payments due on that date made."""
    if term.kind == "owned" and not term.held:
        due = sum(c.total for c in term.charges if c.line == "owned_capex" and term.start > at)
        loan = sum(row.payment for row in term.repaid if row.due > at)
        begin = max(at, term.horizon_end)
        after = sum(row.payment for row in term.repaid if row.due > begin)
        return Obligation(due + loan, due + loan, after, loan)
    begin = max(at, term.start)
    hourly = term.gpus * term.price if term.is_owed_by_the_hour else 0.0
    amount = hourly * hours_between(begin, term.end)
    setup = sum(c.total for c in term.charges if c.line == "setup") if term.start > at else 0.0
    unpaid_share = 1.0 if term.start > at else 1.0 - term.upfront_share
    after = hourly * hours_between(max(begin, term.horizon_end), term.end)
    dues = sum(due.amount for due in term.dues if due.on > at)
    late = sum(due.amount for due in term.dues if due.on > max(at, term.horizon_end))
    lump = setup + dues
    return Obligation(amount + lump, amount * unpaid_share + lump, after + late)


def _row(ledger: Ledger, at: date) -> LockInRow:
    bound = [term for term in ledger.terms if term.sign_by <= at < term.end]
    owed = [(term, obligation(term, at)) for term in bound]
    new = sum(item.amount for term, item in owed if not term.held)
    held = sum(item.amount for term, item in owed if term.held)
    counted = [term for term in bound if term.is_owed_by_the_hour]
    months = sum(
        term.gpus * (term.end - max(at, term.start)).days / DAYS_PER_MONTH for term in counted
    )
    return LockInRow(
        at=at,
        quarter_start=at == quarter_start(at),
        new_obligation=new,
        held_obligation=held,
        obligation=new + held,
        loans=sum(item.loan for _, item in owed),
        unpaid=sum(item.unpaid for _, item in owed),
        after_horizon=sum(item.after_horizon for _, item in owed),
        average_months=ratio(months, sum(term.gpus for term in counted)),
    )
