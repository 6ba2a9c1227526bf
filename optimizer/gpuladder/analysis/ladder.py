"""Expiries: how much of the committed capacity ends in one window, before and after the plan."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from gpuladder.analysis.frame import calendar_edges, ratio
from gpuladder.analysis.result import ExpiryRow, LadderRow
from gpuladder.timegrid import Span

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from gpuladder.analysis.ledger import Ledger
    from gpuladder.analysis.terms import Term
    from gpuladder.scenario.schema import HeldCommitment

DEFAULT_WINDOW = Span(3, "month")
"""Window of the cliff figures when there is no ladder policy."""


def ladder_rows(ledger: Ledger) -> tuple[LadderRow, ...]:
    """Return the ladder windows from the one under way to the last expiry (at least horizon end).

    A share is of the terms it counts, held ones alone or all, and has no value in windows that
    begin after the last of them has ended.
    """
    policy = ledger.frame.scenario.policy.ladder
    window = DEFAULT_WINDOW if policy is None else policy.window
    shortest = window if policy is None else policy.min_tenor or window
    grid = ledger.frame.grid
    held = ledger.frame.tables.held.values()  # also those that ended in the window under way
    before = [_Standing(i.start, i.end, i.gpus) for i in held if _counts(i, shortest)]
    orders = [_Standing(t.start, t.end, t.gpus) for t in ledger.orders if _counts(t, shortest)]
    after = before + orders
    last = max([grid.end, *(term.end for term in after)])
    last_before = max((term.end for term in before), default=grid.start)
    rows: list[LadderRow] = []
    number = 0
    while (start := window.after(grid.anchor, number)) < last:
        end = window.after(grid.anchor, number + 1)
        number += 1
        if end <= grid.start:
            continue
        committed = _committed(after, start, grid.end)
        committed_before = _committed(before, start, grid.end)
        expiring, expiring_before = _expiring(after, start, end), _expiring(before, start, end)
        allowed = (
            None if policy is None else policy.max_expiring_share * committed + policy.exempt_gpus
        )
        rows.append(
            LadderRow(
                window_start=start,
                window_end=end,
                committed_before=committed_before,
                expiring_before=expiring_before,
                share_before=(
                    ratio(expiring_before, committed_before) if start < last_before else None
                ),
                committed_after=committed,
                expiring_after=expiring,
                share_after=ratio(expiring, committed),
                allowed_gpus=allowed,
            )
        )
    return tuple(rows)


def cliff(shares: Sequence[tuple[date, float | None]]) -> tuple[float | None, date | None]:
    """Return the largest share of ``(window start, share)`` pairs and the first window with it."""
    known = [(share, start) for start, share in shares if share is not None]
    if not known:
        return None, None
    largest = max(share for share, _ in known)
    return largest, min(start for share, start in known if share == largest)


def expiry_rows(ledger: Ledger) -> tuple[ExpiryRow, ...]:
    """Return the GPUs whose terms end in each calendar quarter, from the first to the last."""
    if not ledger.terms:
        return ()
    last = max(term.end for term in ledger.terms)
    edges = calendar_edges(ledger.frame.grid.start, last, 3)
    rows = []
    for start, end in pairwise(edges):
        held = _expiring(ledger.held, start, end)
        new = _expiring(ledger.orders, start, end)
        rows.append(
            ExpiryRow(quarter_start=start, held_gpus=held, new_gpus=new, total_gpus=held + new)
        )
    return tuple(rows)


@dataclass(frozen=True, slots=True)
class _Standing:
    """GPUs that stand over ``[start, end)``."""

    start: date
    end: date
    gpus: float


def _counts(term: Term | HeldCommitment, shortest: Span) -> bool:
    """Tell whether a term is long enough to count; a held one without a tenor does."""
    if term.tenor is None:
        return True
    return term.tenor.after(term.start) >= shortest.after(term.start)


def _committed(terms: Sequence[_Standing], at: date, horizon_end: date) -> float:
    """Return the GPUs active at a date; from the horizon end on, over its last instant."""
    if at >= horizon_end:
        return sum(term.gpus for term in terms if term.start < horizon_end <= term.end)
    return sum(term.gpus for term in terms if term.start <= at < term.end)


def _expiring(terms: Sequence[_Standing | Term], start: date, end: date) -> float:
    """Return the GPUs whose terms end after ``start`` and by ``end``."""
    return sum(term.gpus for term in terms if start < term.end <= end)
