"""Everything with a term: the plan's orders and held commitments, with their charges."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.analysis.frame import Frame, before, hours_between
from gpuladder.economics import price_at
from gpuladder.scenario.expand import term_of
from gpuladder.scenario.schema import DedicatedOffer, HeldCommitment, LeasedOffer, OwnedOffer
from gpuladder.sizing.owned import down_payment, loan_of, market_value

if TYPE_CHECKING:
    from datetime import date

    from gpuladder.plan import Order
    from gpuladder.scenario.schema import Due
    from gpuladder.sizing.loans import Instalment
    from gpuladder.timegrid import FloatArray, Span

HELD = "held"
"""Line of the cost of held commitments; no part of the net present cost."""


@dataclass(frozen=True, kw_only=True)
class Charge:
    """An amount of money with the dates it is paid and consumed on.

    Attributes
    ----------
    total : float
        Undiscounted, for the full term; received money is negative.
    paid_on : date or None
        Date of a lump; None when it is billed by the hour as consumed.
    begin, end : date
        Span over which it is consumed, evenly by the hour.
    present_value : array, shape (T,)
        The part in the horizon, discounted at its own dates and laid on the periods in which it is
        consumed; lumps by the hours of each.
    """

    line: str
    total: float
    paid_on: date | None
    begin: date
    end: date
    present_value: FloatArray


@dataclass(frozen=True, kw_only=True)
class Term:
    """Capacity committed from a start to an end date.

    Attributes
    ----------
    offer : str or None
        Expanded offer id; None for a held commitment that does not say under which it was signed.
    held : bool
        Whether it was signed before the horizon.
    flex : bool
        Whether it serves only what is drawn.
    price : float
        Currency per GPU-hour held; 0 for bought hardware.
    upfront_share : float
        Share of the whole term's price paid at the start.
    sign_by : date
        Date from which it binds: start less lead; a held commitment's start.
    hours : array, shape (T,)
        Hours of the term in each period.
    dues : tuple of Due
        Of a held commitment: payments still to be made beside the price.
    repaid : tuple of Instalment
        What its loan is repaid in as signed, also after the horizon, until the end of life; its
        charges settle the loan when the hardware is valued.
    """

    id: str
    offer: str | None
    held: bool
    pool: str
    kind: str
    flex: bool
    start: date
    end: date
    lots: int
    gpus: float
    price: float
    upfront_share: float
    sign_by: date
    tenor: Span | None
    hours: FloatArray
    horizon_end: date
    charges: tuple[Charge, ...]
    dues: tuple[Due, ...] = ()
    repaid: tuple[Instalment, ...] = ()

    @property
    def is_owed_by_the_hour(self) -> bool:
        """Whether its hours are owed to somebody: of bought hardware only the purchase is.

        A held one that names no offer may be a lease of any kind, and counts as one.
        """
        return self.kind != "owned" or (self.held and self.offer is None)

    @cached_property
    def gpu_hours(self) -> FloatArray:
        """GPU-hours of capacity in each period, shape (T,)."""
        return self.gpus * self.hours

    @cached_property
    def present_value(self) -> FloatArray:
        """Present value of holding it, by period, shape (T,)."""
        result = np.zeros_like(self.hours)
        for charge in self.charges:
            result += charge.present_value
        return result

    @property
    def tail(self) -> float:
        """Undiscounted cost after the horizon end.

        Bought hardware has none: it is valued there, and its loan settled.
        """
        after = hours_between(max(self.start, self.horizon_end), self.end)
        late = sum(due.amount for due in self.dues if due.on > self.horizon_end)
        return self.gpus * self.price * after + late


def terms_of(frame: Frame) -> tuple[Term, ...]:
    """Return the held commitments that reach into or past the horizon, then the plan's orders."""
    held = [
        _held_term(frame, item)
        for item in frame.tables.held.values()
        if item.end > frame.grid.start
    ]
    return (*held, *(_order_term(frame, order) for order in frame.plan.orders))


def _held_term(frame: Frame, held: HeldCommitment) -> Term:
    share = frame.grid.overlap_share(held.start, held.end)
    hours = share * frame.grid.hours
    offer = frame.tables.committed.get(held.offer or "")
    dues = tuple(each for each in held.dues if each.on >= frame.grid.start)
    return Term(
        id=held.id,
        offer=held.offer,
        held=True,
        pool=held.pool,
        kind=held.kind,
        flex=isinstance(offer, LeasedOffer) and offer.usage_price is not None,
        start=held.start,
        end=held.end,
        lots=0,
        gpus=held.gpus,
        price=held.price,
        upfront_share=held.upfront,
        sign_by=min(held.start, frame.grid.start),
        tenor=held.tenor,
        hours=hours,
        horizon_end=frame.grid.end,
        charges=_held_charges(frame, held, dues, hours),
        dues=dues,
    )


def _held_charges(
    frame: Frame, held: HeldCommitment, dues: tuple[Due, ...], hours: FloatArray
) -> tuple[Charge, ...]:
    """Return what a held commitment costs from the horizon start on.

    What was prepaid before it is consumed by the hour, and paid on a date that no table shows. What
    is due after the horizon end has no present value.
    """
    begin = max(held.start, frame.grid.start)
    hourly, span = held.gpus * held.price, (begin, held.end)
    total, accrued = hourly * hours_between(*span), hourly * hours * frame.midpoint_factors
    charges = [_hourly(HELD, (1.0 - held.upfront) * total, span, (1.0 - held.upfront) * accrued)]
    if held.upfront > 0.0:
        if held.start >= frame.grid.start:
            factor = frame.factor(held.start)
            accrued = _over_hours(hourly * float(hours.sum()) * factor, hours)
        prepaid = held.upfront * accrued
        charges.append(_lump(HELD, held.upfront * total, held.start, span, prepaid))
    for due in dues:
        counts = due.amount * frame.factor(due.on) if due.on <= frame.grid.end else 0.0
        charges.append(_lump(HELD, due.amount, due.on, span, _over_hours(counts, hours)))
    return tuple(charges)


def _order_term(frame: Frame, order: Order) -> Term:
    offer = frame.tables.committed[order.offer]
    tenor = term_of(offer)
    end = tenor.after(order.start)
    hours = frame.grid.overlap_share(order.start, end) * frame.grid.hours
    gpus = float(order.lots * offer.lot_gpus)
    repaid: tuple[Instalment, ...] = ()
    if isinstance(offer, OwnedOffer):
        price, upfront, flex = 0.0, 1.0, False
        charges = _owned_charges(frame, offer, order.start, end, gpus, hours)
        loan = loan_of(offer, gpus * offer.capex_per_gpu, order.start)
        repaid = () if loan is None else loan.until(end)
    else:
        price = price_at(offer, order.start, frame.grid.start)
        upfront, flex = offer.upfront, offer.usage_price is not None
        charges = _leased_charges(frame, offer, order.start, end, gpus * price, hours)
    return Term(
        id=f"{offer.id} from {order.start}",
        offer=offer.id,
        held=False,
        pool=offer.pool,
        kind=_kind(offer),
        flex=flex,
        start=order.start,
        end=end,
        lots=order.lots,
        gpus=gpus,
        price=price,
        upfront_share=upfront,
        sign_by=max(before(order.start, offer.lead), frame.grid.start),
        tenor=tenor,
        hours=hours,
        horizon_end=frame.grid.end,
        charges=charges,
        repaid=repaid,
    )


def _kind(offer: LeasedOffer | OwnedOffer) -> str:
    return str(getattr(offer, "kind"))  # noqa: B009 (each concrete class has it, their base has not)


def _over_hours(amount: float, hours: FloatArray) -> FloatArray:
    """Lay a lump on the periods in proportion to the term's hours in each.

    A term without hours in the horizon has no part of it there.
    """
    shares: FloatArray = hours / max(float(hours.sum()), 1.0)
    return amount * shares


def _leased_charges(
    frame: Frame,
    offer: LeasedOffer,
    start: date,
    end: date,
    hourly: float,
    hours: FloatArray,
) -> tuple[Charge, ...]:
    """Return the charges of a lease that costs ``hourly`` per hour for all its GPUs."""
    line, factor = _kind(offer), frame.factor(start)
    total = hourly * hours_between(start, end)
    upfront = offer.upfront
    charges = []
    if upfront > 0.0:
        prepaid = _over_hours(upfront * hourly * float(hours.sum()) * factor, hours)
        charges.append(_lump(line, upfront * total, start, (start, end), prepaid))
    if upfront < 1.0:
        accrued = (1.0 - upfront) * hourly * hours * frame.midpoint_factors
        charges.append(_hourly(line, (1.0 - upfront) * total, (start, end), accrued))
    setup = offer.setup_cost if isinstance(offer, DedicatedOffer) else 0.0
    if setup > 0.0:
        charges.append(
            _lump("setup", setup, start, (start, end), _over_hours(setup * factor, hours))
        )
    return tuple(charges)


def _owned_charges(
    frame: Frame, offer: OwnedOffer, start: date, end: date, gpus: float, hours: FloatArray
) -> tuple[Charge, ...]:
    """Return the charges of bought hardware, valued at horizon end or, if sooner, end of life.

    What is still owed on its loan then is settled on the same day.
    """
    stop = min(end, frame.grid.end)
    span = (start, stop)
    capex = gpus * offer.capex_per_gpu
    superseded = frame.hardware_of(offer.pool).superseded
    residual = market_value(offer, capex, start, superseded).value_at(stop)
    opex_hourly = gpus * offer.opex_per_gpu_hour
    paid = down_payment(offer, capex)
    loan = loan_of(offer, capex, start)
    charges = []
    if paid > 0.0:
        bought = _over_hours(paid * frame.factor(start), hours)
        charges.append(_lump("owned_capex", paid, start, span, bought))
    for row in () if loan is None else loan.until(stop):
        repaid = _over_hours(row.payment * frame.factor(row.due), hours)
        charges.append(_lump("owned_loan", row.payment, row.due, span, repaid))
    if opex_hourly > 0.0:
        opex = opex_hourly * hours * frame.midpoint_factors
        charges.append(_hourly("owned_opex", opex_hourly * hours_between(*span), span, opex))
    if residual > 0.0:
        kept = _over_hours(-residual * frame.factor(stop), hours)
        charges.append(_lump("owned_residual", -residual, stop, span, kept))
    return tuple(charges)


def _lump(
    line: str, total: float, paid_on: date, span: tuple[date, date], present_value: FloatArray
) -> Charge:
    return Charge(
        line=line,
        total=total,
        paid_on=paid_on,
        begin=span[0],
        end=span[1],
        present_value=present_value,
    )


def _hourly(line: str, total: float, span: tuple[date, date], present_value: FloatArray) -> Charge:
    return Charge(
        line=line,
        total=total,
        paid_on=None,
        begin=span[0],
        end=span[1],
        present_value=present_value,
    )
