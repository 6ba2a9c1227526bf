"""Orders placed when and as large as they can be, and their expiries laddered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.audit.findings import (
    ABSOLUTE_TOLERANCE_GPUS,
    QUANTITY_TOLERANCE,
    Finding,
    exceeds,
    number,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from gpuladder.audit.facts import Facts
    from gpuladder.audit.quantities import Lot, Quantities
    from gpuladder.scenario.expand import CommittedTerm
    from gpuladder.scenario.schema import HeldCommitment, LadderPolicy


@dataclass(frozen=True, slots=True)
class Term:
    """GPUs that stand over ``[start, end)``."""

    start: date
    end: date
    gpus: float


def commitment_findings(facts: Facts, plan: Quantities) -> Iterator[Finding]:
    """Check start dates, order sizes, lots on offer and the ladder."""
    for lot in plan.lots:
        yield from _order_start(facts, lot)
        yield from _order_minimum(lot)
    yield from _lots_active(facts, plan)
    yield from _ladder(facts, plan)


def start_refusal(facts: Facts, offer: CommittedTerm, start: date) -> str:
    """Return why a term may not start on a date; empty when it may."""
    earliest = offer.lead.after(facts.grid.start)
    if start not in facts.period_of:
        return "no period of the grid begins then"
    if start < earliest:
        return f"with a lead of {offer.lead} the first start is {earliest}"
    if offer.available_from is not None and start < offer.available_from:
        return f"it is on offer from {offer.available_from}"
    if offer.available_until is not None and start > offer.available_until:
        return f"it is on offer until {offer.available_until}"
    if offer.start_every is not None and start not in _regular_starts(facts, offer):
        return f"it starts only every {offer.start_every} from {facts.grid.anchor}"
    return ""


def ladder_terms(facts: Facts, plan: Quantities) -> list[Term]:
    """Return the terms that count in the ladder: those long enough, held ones included."""
    terms = [
        Term(lot.start, lot.end, lot.gpus)
        for lot in plan.lots
        if facts.counts_in_ladder(lot.offer, lot.start)
    ]
    ladder = facts.scenario.policy.ladder
    if ladder is None:
        return terms
    return terms + held_terms(facts, ladder)


def held_terms(facts: Facts, ladder: LadderPolicy) -> list[Term]:
    """Return the held commitments that count in a ladder."""
    return [
        Term(held.start, held.end, held.gpus)
        for held in facts.tables.held.values()
        if _held_counts(held, ladder)
    ]


def ladder_windows(
    facts: Facts, ladder: LadderPolicy, terms: list[Term]
) -> Iterator[tuple[date, date, float, float]]:
    """Yield (start, end, expiring GPUs, GPUs the share is of) until the last expiry.

    A window is ``(start, end]``; the first is the one in which the horizon starts. From the horizon
    end on, the share is of the GPUs that stand over the last instant of the horizon.
    """
    last = max((term.end for term in terms), default=facts.grid.start)
    index, begin = 0, facts.grid.anchor
    while begin < last:
        end = ladder.window.after(facts.grid.anchor, index + 1)
        expiring = sum(term.gpus for term in terms if begin < term.end <= end)
        if end > facts.grid.start:
            yield begin, end, expiring, _standing(terms, begin, facts.grid.end)
        if end <= begin:
            return
        index, begin = index + 1, end


def _standing(terms: list[Term], day: date, horizon_end: date) -> float:
    if day < horizon_end:
        return sum(term.gpus for term in terms if term.start <= day < term.end)
    return sum(term.gpus for term in terms if term.start < horizon_end <= term.end)


def _regular_starts(facts: Facts, offer: CommittedTerm) -> set[date]:
    if offer.start_every is None:
        return set(facts.period_of)
    starts, times, day = set(), 0, facts.grid.anchor
    while day <= facts.grid.end:
        starts.add(min(bound for bound in facts.grid.boundaries if bound >= day))
        times += 1
        following = offer.start_every.after(facts.grid.anchor, times)
        if following <= day:
            break
        day = following
    return starts


def _order_start(facts: Facts, lot: Lot) -> Iterator[Finding]:
    reason = start_refusal(facts, lot.offer, lot.start)
    if reason:
        text = f"{lot.offer.id} is ordered to start on {lot.start}: {reason}"
        yield Finding(
            code="order_start", key=lot.offer.id, period=lot.start, message=text, amount=0.0
        )


def _order_minimum(lot: Lot) -> Iterator[Finding]:
    least = lot.offer.min_lots
    if QUANTITY_TOLERANCE < lot.lots < least - QUANTITY_TOLERANCE:
        text = f"{lot.offer.id} from {lot.start}: {number(lot.lots)} lots ordered, at least {least}"
        yield Finding(
            code="order_minimum",
            key=lot.offer.id,
            period=lot.start,
            message=text,
            amount=least - lot.lots,
        )


def _lots_active(facts: Facts, plan: Quantities) -> Iterator[Finding]:
    for key, offer in facts.tables.committed.items():
        if offer.max_lots is None:
            continue
        active, ordered = np.zeros(facts.num_periods), np.zeros(facts.num_periods)
        for lot in plan.lots:
            if lot.offer.id == key:
                ordered += np.where(lot.shares > 0.0, lot.lots, 0.0)
        for held in facts.tables.held.values():
            if held.offer == key:
                touched = facts.share(held.start, held.end) > 0.0
                active += np.where(touched, held.gpus / offer.lot_gpus, 0.0)
        active += ordered
        over = (active > offer.max_lots + QUANTITY_TOLERANCE) & (ordered > QUANTITY_TOLERANCE)
        for period in np.flatnonzero(over).tolist():
            day = facts.grid.boundaries[period]
            text = (
                f"{key}: {number(active[period])} lots active in the period from {day}, "
                f"{offer.max_lots} on offer"
            )
            excess = float(active[period] - offer.max_lots)
            yield Finding(code="lots_active", key=key, period=day, message=text, amount=excess)


def _held_counts(held: HeldCommitment, ladder: LadderPolicy) -> bool:
    shortest = ladder.min_tenor or ladder.window
    return held.tenor is None or held.tenor.after(held.start) >= shortest.after(held.start)


def _ladder(facts: Facts, plan: Quantities) -> Iterator[Finding]:
    ladder = facts.scenario.policy.ladder
    if ladder is None:
        return
    for begin, end, expiring, standing in ladder_windows(facts, ladder, ladder_terms(facts, plan)):
        most = ladder.max_expiring_share * standing + ladder.exempt_gpus
        if exceeds(expiring, most, expiring + most, ABSOLUTE_TOLERANCE_GPUS):
            text = (
                f"{number(expiring)} GPUs expire after {begin} and by {end}, but only "
                f"{number(ladder.max_expiring_share)} of the {number(standing)} standing and "
                f"{number(ladder.exempt_gpus)} exempt may, which is {number(most)}"
            )
            yield Finding(
                code="ladder", key="ladder", period=begin, message=text, amount=expiring - most
            )
