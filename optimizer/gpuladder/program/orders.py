"""Committed offers as orders: when they may start, what they give, what they cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np

from gpuladder.economics import price_at
from gpuladder.program.context import Context, Entries
from gpuladder.scenario.expand import CommittedTerm, term_of
from gpuladder.scenario.schema import (
    BurstWindowOffer,
    DedicatedOffer,
    LeasedOffer,
    OwnedOffer,
    ReservedOffer,
    Scenario,
)
from gpuladder.sizing.owned import down_payment, loan_of, market_value
from gpuladder.timegrid import HOURS_PER_DAY, FloatArray
from gpuladder_models.data import LotsActive, Orders, Sparse

MOST_BACKFILL_GPUS = 100_000.0  # stands for what a buyer without a limit takes, in bounds alone
LOT_TOLERANCE = 1e-9  # held GPUs divided by a lot's must not lose a lot to rounding
ORDER_LINES = (
    "burst_window",
    "reserved",
    "dedicated",
    "owned_capex",
    "owned_loan",
    "owned_opex",
    "owned_residual",
    "commitment_tail",
)


@dataclass(frozen=True, slots=True)
class Term:
    """One order of one offer: a start, an end, and the share of each period it covers."""

    number: int
    offer_index: int
    offer: CommittedTerm
    period: int
    start: date
    end: date
    share: FloatArray
    """Share of each period that the term covers, shape (T,)."""

    @property
    def is_flex(self) -> bool:
        """Whether its use is paid again."""
        return isinstance(self.offer, LeasedOffer) and self.offer.usage_price is not None


def start_periods(context: Context, offer: CommittedTerm) -> list[int]:
    """Return the periods at whose first boundary an offer's term may start."""
    grid = context.grid
    earliest = offer.lead.after(grid.start)
    if offer.available_from is not None:
        earliest = max(earliest, offer.available_from)
    latest = grid.end - timedelta(days=1)
    if offer.available_until is not None:
        latest = min(latest, offer.available_until)
    if offer.start_every is None:
        candidates = list(range(grid.num_periods))
    else:
        candidates, number = [], 0
        while (day := offer.start_every.after(grid.anchor, number)) < grid.end:
            boundary = grid.first_boundary_from(day)
            if boundary is not None and boundary < grid.num_periods and boundary not in candidates:
                candidates.append(boundary)
            number += 1
    return [t for t in candidates if earliest <= grid.boundaries[t] <= latest]


def list_terms(context: Context) -> list[Term]:
    """Return every order that could be placed, offer by offer, start by start."""
    grid = context.grid
    terms: list[Term] = []
    for offer_index, offer in enumerate(context.expanded.committed.values()):
        for period in start_periods(context, offer):
            start = grid.boundaries[period]
            end = term_of(offer).after(start)
            share = grid.overlap_share(start, end)
            terms.append(Term(len(terms), offer_index, offer, period, start, end, share))
    return terms


def line_of(offer: LeasedOffer) -> str:
    """Return the cost line of a leased offer: its kind."""
    if isinstance(offer, BurstWindowOffer | ReservedOffer | DedicatedOffer):
        return offer.kind
    msg = f"offer {offer.id!r} is of no known kind"
    raise TypeError(msg)


def lot_cost_lines(context: Context, term: Term) -> dict[str, float]:
    """Return the present value of one lot by cost line, the setup left out."""
    grid, offer = context.grid, term.offer
    hours = term.share * grid.hours
    accrued_hours = float(hours @ context.midpoint_factor)
    if isinstance(offer, OwnedOffer):
        capex = offer.capex_per_gpu * offer.lot_gpus
        valued_on = min(grid.end, term.end)
        loan = loan_of(offer, capex, term.start)
        repaid = () if loan is None else loan.until(valued_on)
        sale = market_value(offer, capex, term.start, context.superseded(offer.pool))
        return {
            "owned_capex": down_payment(offer, capex) * context.factor(term.start),
            "owned_loan": sum(row.payment * context.factor(row.due) for row in repaid),
            "owned_opex": offer.opex_per_gpu_hour * offer.lot_gpus * accrued_hours,
            "owned_residual": -sale.value_at(valued_on) * context.factor(valued_on),
        }
    rate = price_at(offer, term.start, grid.start) * offer.lot_gpus
    upfront = offer.upfront * float(hours.sum()) * context.factor(term.start)
    tail_hours = max((term.end - grid.end).days, 0) * HOURS_PER_DAY
    tail = context.scenario.policy.tail_charge * rate * tail_hours * context.factor(grid.end)
    return {
        line_of(offer): rate * (upfront + (1.0 - offer.upfront) * accrued_hours),
        "commitment_tail": tail,
    }


def make_orders(context: Context, terms: list[Term]) -> Orders:
    """Return the orders with their bounds and costs."""
    lines = [lot_cost_lines(context, term) for term in terms]
    by_line = {
        name: np.array([line.get(name, 0.0) for line in lines], np.float64) for name in ORDER_LINES
    }
    setups = [t.offer.setup_cost if isinstance(t.offer, DedicatedOffer) else 0.0 for t in terms]
    placed = [
        t.number for t, cost in zip(terms, setups, strict=True) if cost or t.offer.min_lots > 1
    ]
    needs_bound = set(placed)
    standing = standing_lots(context)
    most = [_most_lots(context, t, standing, bounded=t.number in needs_bound) for t in terms]
    return Orders(
        offer=np.array([t.offer_index for t in terms], np.int64),
        start=np.array([t.period for t in terms], np.int64),
        future=np.full(len(terms), -1, np.int64),
        most_lots=np.array(most, np.float64),
        cost=np.sum(list(by_line.values()), axis=0) if terms else np.zeros(0),
        cost_lines=by_line,
        placed=np.array(placed, np.int64),
        least_lots=np.array([max(terms[j].offer.min_lots, 1) for j in placed], np.float64),
        setup_cost=np.array(
            [setups[j] * context.factor(terms[j].start) for j in placed], np.float64
        ),
    )


def standing_lots(context: Context) -> dict[str, FloatArray]:
    """Return the lots of each offer that held commitments keep active, by offer, shape (T,)."""
    standing: dict[str, FloatArray] = {}
    for item in context.scenario.commitments:
        offer = context.expanded.committed.get(item.offer or "")
        if offer is not None:
            own = standing.setdefault(offer.id, np.zeros(context.grid.num_periods))
            touched = context.grid.overlap_share(item.start, item.end) > 0
            own += np.where(touched, item.gpus / offer.lot_gpus, 0.0)
    return standing


def _most_lots(
    context: Context, term: Term, standing: dict[str, FloatArray], *, bounded: bool
) -> float:
    if term.offer.max_lots is not None:
        held = standing.get(term.offer.id)
        taken = 0.0 if held is None else float(held[term.share > 0].max())
        return max(math.floor(term.offer.max_lots - taken + LOT_TOLERANCE), 0.0)
    if not bounded:
        return np.inf
    least_share = float(term.share[term.share > 0].min())
    return max(useful_lots(context.scenario, term.offer, least_share), term.offer.min_lots)


def useful_lots(scenario: Scenario, offer: CommittedTerm, least_share: float) -> float:
    """Return a number of lots beyond which one order could not be worth more.

    All that could ever be used at once (peak demand, every campaign at its largest, backfill) fits
    in it, also in the period of which the term covers least. A ladder or a provider limit can make
    it worth to hold more than is used, in proportion to what is held already and to one over the
    share, and for that the number is widened.

    Parameters
    ----------
    least_share : float
        Smallest share of a period that the term covers, above 0.
    """
    peaks: dict[str, float] = {}
    for row in scenario.demand:
        peaks[row.pool] = max(peaks.get(row.pool, 0.0), row.gpus)
    allowed = scenario.policy.committed_gpus_max
    unlimited = MOST_BACKFILL_GPUS if allowed is None else allowed
    gpus = sum(peaks.values()) + sum(item.gpus for item in scenario.commitments)
    gpus += sum(
        unlimited if buyer.max_gpus is None else buyer.max_gpus for buyer in scenario.backfill
    )
    for campaign in scenario.campaigns:
        largest = campaign.max_gpus if campaign.shape == "elastic" else max(campaign.gpus)
        gpus += largest * (campaign.repeat.count if campaign.repeat else 1)
    ladder, provider = scenario.policy.ladder, scenario.policy.provider_share_max
    shares = [ladder.max_expiring_share] if ladder else []
    shares += [provider] if isinstance(provider, float) else list((provider or {}).values())
    widening = 1.0 / max(min([s for s in shares if s > 0], default=1.0), 0.05)
    return math.ceil(gpus / offer.lot_gpus * widening / least_share) + 1.0


def firm_entries(context: Context, terms: list[Term], *, dedicated: bool) -> Sparse:
    """Return GPUs that one lot of each order gives in each cell, flex reservations left out."""
    entries = Entries()
    for term in terms:
        if term.is_flex or (dedicated and not isinstance(term.offer, DedicatedOffer | OwnedOffer)):
            continue
        periods = np.flatnonzero(term.share)
        first = context.cell(term.offer.pool, 0)
        entries.add(first + periods, term.number, term.share[periods] * term.offer.lot_gpus)
    return entries.matrix()


def make_lots_active(context: Context, terms: list[Term]) -> LotsActive:
    """Return the rows that bound the lots of an offer active in any one period, held ones off."""
    standing = standing_lots(context)
    entries = Entries()
    offers: list[int] = []
    periods: list[int] = []
    most: list[float] = []
    limited: dict[int, list[Term]] = {}
    for term in terms:
        if term.offer.max_lots is not None:
            limited.setdefault(term.offer_index, []).append(term)
    for offer_index, own in limited.items():
        active = np.array([term.share > 0 for term in own])
        numbers = np.array([term.number for term in own])
        shared = np.flatnonzero(active.sum(axis=0) > 1)  # a single one has its own bound
        row, order = np.nonzero(active[:, shared].T)
        entries.add(len(most) + row, numbers[order], 1.0)
        offers += [offer_index] * len(shared)
        periods += shared.tolist()
        taken = standing.get(own[0].offer.id, np.zeros(context.grid.num_periods))
        left = float(own[0].offer.max_lots or 0) - taken[shared]
        most += np.maximum(left, 0.0).tolist()
    return LotsActive(
        offer=np.array(offers, np.int64),
        period=np.array(periods, np.int64),
        orders=entries.matrix(),
        most=np.array(most, np.float64),
    )
