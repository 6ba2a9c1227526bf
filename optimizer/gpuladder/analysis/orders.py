"""What to sign, and what is held: one row per commitment, with the reason in numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpuladder.analysis.frame import Frame, ratio
from gpuladder.analysis.ratios import ListPrice, list_price
from gpuladder.analysis.result import CommitmentRow, HeldRow
from gpuladder.scenario.schema import LeasedOffer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpuladder.analysis.ledger import Ledger, PoolLedger
    from gpuladder.analysis.terms import Term
    from gpuladder.timegrid import FloatArray


def commitment_rows(ledger: Ledger) -> tuple[CommitmentRow, ...]:
    """Return the plan's orders in the order in which they must be signed."""
    listed = {pool: list_price(ledger.frame, pool) for pool in ledger.pools}
    rows = [_commitment(ledger, term, listed) for term in ledger.orders]
    return tuple(sorted(rows, key=lambda row: (row.sign_by, row.start, row.offer)))


def held_rows(ledger: Ledger) -> tuple[HeldRow, ...]:
    """Return the held commitments, those that ended before the horizon left out."""
    return tuple(_held(ledger, term) for term in ledger.held)


def _commitment(ledger: Ledger, term: Term, listed: Mapping[str, ListPrice]) -> CommitmentRow:
    frame, book = ledger.frame, ledger.pools[term.pool]
    pool = frame.tables.pools[term.pool]
    cost_undiscounted = in_horizon_cost(term)
    hours = float(term.gpu_hours.sum())
    price = term.price if term.kind != "owned" else cost_undiscounted / hours
    on_demand = _mean_price(listed[term.pool].prices, term.hours)
    usage_price = _usage_price(frame, term)
    margin = None if on_demand is None else on_demand - usage_price
    break_even = None if margin is None or margin <= 0.0 else price / margin
    used, sold = _shares_used(book, term)
    return CommitmentRow(
        offer=str(term.offer),
        pool=term.pool,
        provider=pool.provider,
        hardware=pool.hardware,
        kind=term.kind,
        start=term.start,
        end=term.end,
        sign_by=term.sign_by,
        lots=term.lots,
        gpus=round(term.gpus),
        price=price,
        cost=float(term.present_value.sum()),
        usage_cost=_usage_cost(ledger, term),
        cost_undiscounted=cost_undiscounted,
        tail=term.tail,
        upfront=sum(charge.total for charge in term.charges if charge.paid_on == term.start),
        break_even_utilisation=break_even,
        utilisation=used,
        rationale=_rationale(frame, term, price, on_demand, break_even, (used, sold)),
    )


def in_horizon_cost(term: Term) -> float:
    """Return the undiscounted cost of a term inside the horizon, lumps included whole."""
    lumps = {"setup", "owned_capex", "owned_loan", "owned_opex", "owned_residual"}
    whole = sum(charge.total for charge in term.charges if charge.line in lumps)
    return whole + term.price * float(term.gpu_hours.sum())


def _held(ledger: Ledger, term: Term) -> HeldRow:
    book = ledger.pools[term.pool]
    held = ledger.frame.tables.held[term.id]
    share = book.undrawn_share(str(term.offer)) if term.flex else book.firm_idle_share
    idle = term.gpu_hours * share
    return HeldRow(
        id=term.id,
        pool=term.pool,
        kind=term.kind,
        gpus=term.gpus,
        start=term.start,
        end=term.end,
        price=term.price,
        cost=float(term.present_value.sum()),
        cost_undiscounted=term.price * float(term.gpu_hours.sum())
        + sum(due.amount for due in term.dues if due.on <= ledger.frame.grid.end),
        idle_gpu_hours=float(np.maximum(idle, 0.0).sum()),
        idle_cost=float(np.maximum(term.present_value * share, 0.0).sum()),
        tail=term.tail,
        renewable_as=held.renewable_as,
    )


def _mean_price(prices: FloatArray, hours: FloatArray) -> float | None:
    """Return a price averaged over a term's hours in the horizon; None when it is nowhere known."""
    known = (hours > 0.0) & ~np.isnan(prices)
    return float(np.average(prices[known], weights=hours[known])) if known.any() else None


def _usage_price(frame: Frame, term: Term) -> float:
    offer = frame.tables.committed[str(term.offer)]
    return (offer.usage_price or 0.0) if isinstance(offer, LeasedOffer) else 0.0


def _usage_cost(ledger: Ledger, term: Term) -> float:
    """Return the present value of an order's draws: its offer's, by GPU-hours held per period."""
    book, frame = ledger.pools[term.pool], ledger.frame
    offer = str(term.offer)
    if offer not in book.use.drawn:
        return 0.0
    held = np.where(book.flex_hours[offer] > 0.0, book.flex_hours[offer], 1.0)
    billed = book.use.drawn[offer] * book.hours * _usage_price(frame, term)
    return float((billed * frame.midpoint_factors * term.gpu_hours / held).sum())


def _shares_used(book: PoolLedger, term: Term) -> tuple[float | None, float | None]:
    """Return the shares of committed GPU-hours used, and backfilled, over a term in the horizon.

    A flex reservation is measured by its own draws, all else by the pool's firm capacity, because
    GPUs of one pool are interchangeable.
    """
    cover = term.hours / book.hours
    if term.flex:
        held = float((book.flex_hours[str(term.offer)] * cover).sum())
        return ratio(float((book.drawn_hours[str(term.offer)] * cover).sum()), held), 0.0
    firm = float((book.firm_hours * cover).sum())
    used = ratio(float((book.firm_used_hours * cover).sum()), firm)
    return used, ratio(float((book.backfilled_hours * cover).sum()), firm)


def _rationale(
    frame: Frame,
    term: Term,
    price: float,
    on_demand: float | None,
    break_even: float | None,
    shares: tuple[float | None, float | None],
) -> str:
    """Return why the order is in the plan, in one sentence made of numbers."""
    currency = frame.scenario.currency
    used = shares[0] or 0.0
    sold = f", and {shares[1]:.0%} sold to backfill" if shares[1] else ""
    cost = f"{price:,.2f} {currency} per GPU-hour held"
    actual = f"over the term {used:.0%} of the pool's committed GPU-hours are used{sold}"
    if term.flex:
        cost += f" and {_usage_price(frame, term):,.2f} used"
        actual = f"over the term {used:.0%} of it is drawn"
    if on_demand is None:
        return f"Costs {cost}, with no on-demand price for this hardware to compare; {actual}."
    if break_even is None:
        return f"Costs {cost} against {on_demand:,.2f} on demand, never cheaper by use; {actual}."
    return (
        f"Costs {cost} against {on_demand:,.2f} on demand, so it pays above "
        f"{break_even:.0%} use; {actual}."
    )
