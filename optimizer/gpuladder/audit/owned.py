"""Bought hardware, the auditor's own way: its loan and what it is worth.

A loan is valued forwards here: what is owed on a date is the payments still to come, each at the
loan's own rate. What the program does is roll the debt on from payment to payment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpuladder.scenario.schema import OwnedOffer

if TYPE_CHECKING:
    from datetime import date

    from gpuladder.audit.facts import Facts
    from gpuladder.audit.quantities import Lot

_DAYS_PER_YEAR = 365.0

Payment = tuple["date", float]
"""A date and an amount in currency."""


def valued_on(facts: Facts, lot: Lot) -> date:
    """Return the earlier of horizon end and end of life."""
    return min(lot.end, facts.grid.end)


def paid_at_purchase(lot: Lot) -> float:
    """Return what is paid for the hardware on the first day, currency; 0 for a lease."""
    if not isinstance(lot.offer, OwnedOffer):
        return 0.0
    price = lot.gpus * lot.offer.capex_per_gpu
    return price if lot.offer.financing is None else price * lot.offer.financing.down_payment


def loan_payments(lot: Lot, stop: date) -> list[Payment]:
    """Return what an order's loan is repaid in before ``stop``, and its payoff on that date."""
    payments = [(day, amount) for day, amount in _level_payments(lot) if day < stop]
    left = owed(lot, stop)
    return [*payments, (stop, left)] if left else payments


def owed(lot: Lot, day: date) -> float:
    """Return the debt of an order on a date, a payment due on it not yet made."""
    if not isinstance(lot.offer, OwnedOffer) or lot.offer.financing is None:
        return 0.0
    rate = lot.offer.financing.rate
    coming = [item for item in _level_payments(lot) if item[0] >= day]
    return sum(amount * _weight(rate, (due - day).days) for due, amount in coming)


def _level_payments(lot: Lot) -> list[Payment]:
    if not isinstance(lot.offer, OwnedOffer) or lot.offer.financing is None:
        return []
    terms = lot.offer.financing
    last = terms.term.after(lot.start)
    dates, number = {last}, 1
    while (day := terms.every.after(lot.start, number)) < last:
        dates.add(day)
        number += 1
    borrowed = lot.gpus * lot.offer.capex_per_gpu - paid_at_purchase(lot)
    each = borrowed / sum(_weight(terms.rate, (day - lot.start).days) for day in dates)
    return [(day, each) for day in sorted(dates)] if each else []


def _weight(rate: float, days: int) -> float:
    return float((1.0 + rate) ** (-days / _DAYS_PER_YEAR))


def owned_value(facts: Facts, lot: Lot) -> float:
    """Return what owned hardware is worth at the earlier of horizon end and end of life."""
    offer = lot.offer
    if not isinstance(offer, OwnedOffer):
        return 0.0
    day = valued_on(facts, lot)
    kept = offer.residual_per_generation
    share = _share_by_age(offer, lot.start, day, unstated=0.0 if kept is None else 1.0)
    if kept is not None:
        superseded = facts.hardware_of(offer.pool).superseded
        shipped = {*offer.turnovers, *([] if superseded is None else [superseded])}
        for _ in [item for item in shipped if lot.start < item <= day]:
            share *= kept
    return lot.gpus * offer.capex_per_gpu * share


def _share_by_age(offer: OwnedOffer, bought: date, day: date, *, unstated: float) -> float:
    """Return the share of the price that is left by age alone."""
    if offer.residual_curve:
        ages = [point.age.after(bought).toordinal() for point in offer.residual_curve]
        shares = [point.share for point in offer.residual_curve]
        if ages[0] > bought.toordinal():
            ages, shares = [bought.toordinal(), *ages], [1.0, *shares]
        return float(np.interp(day.toordinal(), ages, shares))
    if offer.residual_per_year is None:
        return unstated
    years = max((day - bought).days, 0) / _DAYS_PER_YEAR
    return float(offer.residual_per_year**years)
