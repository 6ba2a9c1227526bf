"""Payments as billed: undiscounted, on the dates on which they fall."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.audit.costs import holding_rate, level_average, metered_rate
from gpuladder.audit.owned import loan_payments, owed, owned_value, paid_at_purchase, valued_on
from gpuladder.audit.supply import spot_gpus
from gpuladder.scenario.schema import DedicatedOffer, HeldCommitment, OwnedOffer

if TYPE_CHECKING:
    from gpuladder.audit.facts import Facts
    from gpuladder.audit.quantities import Lot, Quantities
    from gpuladder.timegrid import FloatArray


def payments(facts: Facts, plan: Quantities, begin: date, end: date) -> float:
    """Return what is paid in ``[begin, end)``, currency, held commitments included.

    The prepaid share of a whole term is paid at its start and the rest by the hour; a loan when its
    instalments are due and, if it outlives the hardware, at the end of life; metered use and draws
    over the period in which they fall.
    """
    total = sum(lot_payments(facts, lot, begin, end) for lot in plan.lots)
    total += sum(held_payments(facts, held, begin, end) for held in facts.tables.held.values())
    return total + float(np.dot(metered_spend(facts, plan), facts.share(begin, end)))


def lot_payments(facts: Facts, lot: Lot, begin: date, end: date) -> float:
    """Return what an order makes payable in ``[begin, end)``, currency."""
    hours = _common_hours(lot.start, lot.end, begin, end)
    at_start = begin <= lot.start < end
    if isinstance(lot.offer, OwnedOffer):
        total = paid_at_purchase(lot) if at_start else 0.0
        total += sum(amount for day, amount in loan_payments(lot, lot.end) if begin <= day < end)
        return total + lot.gpus * lot.offer.opex_per_gpu_hour * hours
    rate, upfront = holding_rate(facts, lot), lot.offer.upfront
    total = (1.0 - upfront) * rate * hours
    if at_start:
        total += upfront * rate * (lot.end - lot.start).days * 24.0
        if isinstance(lot.offer, DedicatedOffer) and lot.lots > 0:
            total += lot.offer.setup_cost
    return total


def held_payments(facts: Facts, held: HeldCommitment, begin: date, end: date) -> float:
    """Return what a held commitment is paid in ``[begin, end)``, from the horizon start on."""
    if held.end <= facts.grid.start:
        return 0.0
    first = max(begin, facts.grid.start)
    rate = held.gpus * held.price
    hours = _common_hours(held.start, held.end, first, end)
    paid = (1.0 - held.upfront) * rate * hours
    if first <= held.start < end:
        paid += held.upfront * rate * (held.end - held.start).days * 24.0
    return paid + sum(due.amount for due in held.dues if first <= due.on < end)


def held_accrued(facts: Facts, held: HeldCommitment, begin: date, end: date) -> float:
    """Return what a held commitment's hours in ``[begin, end)`` cost, from the horizon start on.

    Payments still due beside the price lie on the hours that are left then.
    """
    opening = facts.grid.start
    if held.end <= opening:
        return 0.0
    left = _common_hours(held.start, held.end, opening, date.max)
    hours = _common_hours(held.start, held.end, max(begin, opening), end)
    lumps = sum(due.amount for due in held.dues if due.on >= opening)
    return held.gpus * held.price * hours + lumps * hours / left


def metered_spend(facts: Facts, plan: Quantities) -> FloatArray:
    """Return what metered use and draws cost in each period, undiscounted, shape (T,)."""
    spend = np.zeros(facts.num_periods)
    for offer, use in plan.on_demand.items():
        average = level_average(facts, facts.tables.on_demand[offer].pool, use)
        spend += metered_rate(facts, offer, average) * facts.hours
    for key in facts.tables.spot:
        used = spot_gpus(facts, plan, key)
        if used.any():
            spend += metered_rate(facts, key, used) * facts.hours
    for key, drawn in plan.drawn.items():
        flex = facts.tables.committed[key]
        if not isinstance(flex, OwnedOffer) and flex.usage_price is not None:
            spend += drawn * flex.usage_price * facts.hours
    return spend


def _common_hours(begin: date, end: date, other_begin: date, other_end: date) -> float:
    return max((min(end, other_end) - max(begin, other_begin)).days, 0) * 24.0


def cash_between(facts: Facts, plan: Quantities, begin: date, end: date) -> float:
    """Return all payments less receipts in ``[begin, end)``, currency, undiscounted.

    Beside what a budget counts there are backfill revenue and residual values; hardware is run only
    until it is valued, at the earlier of horizon end and end of life, and its loan settled then.
    """
    total = sum(_lot_cash(facts, lot, begin, end) for lot in plan.lots)
    total += sum(held_payments(facts, held, begin, end) for held in facts.tables.held.values())
    billed = metered_spend(facts, plan) - backfill_income(facts, plan)
    return total + float(np.dot(billed, facts.share(begin, end)))


def accrued_between(facts: Facts, plan: Quantities, begin: date, end: date) -> float:
    """Return the cost of what is consumed in ``[begin, end)``: lumps lie on their term's hours."""
    total = 0.0
    for lot in plan.lots:
        stop = valued_on(facts, lot) if isinstance(lot.offer, OwnedOffer) else lot.end
        whole = _common_hours(lot.start, stop, lot.start, stop)
        part = _common_hours(lot.start, stop, begin, end) / whole
        total += part * _lot_cash(facts, lot, lot.start, date.max)
    total += sum(held_accrued(facts, held, begin, end) for held in facts.tables.held.values())
    billed = metered_spend(facts, plan) - backfill_income(facts, plan)
    return total + float(np.dot(billed, facts.share(begin, end)))


def valued_income(facts: Facts, plan: Quantities, day: date) -> float:
    """Return residual values less the debts settled on a date, undiscounted."""
    lots = [lot for lot in plan.lots if valued_on(facts, lot) == day]
    return sum(owned_value(facts, lot) - owed(lot, day) for lot in lots)


def backfill_income(facts: Facts, plan: Quantities) -> FloatArray:
    """Return what backfill brings in each period, undiscounted, shape (T,)."""
    values = {buyer.id: buyer.value for buyer in facts.scenario.backfill}
    income = np.zeros(facts.num_periods)
    for (buyer, _), gpus in plan.backfill.items():
        income += values[buyer] * gpus * facts.hours
    return income


def _lot_cash(facts: Facts, lot: Lot, begin: date, end: date) -> float:
    if not isinstance(lot.offer, OwnedOffer):
        return lot_payments(facts, lot, begin, end)
    stop = valued_on(facts, lot)
    paid = lot_payments(facts, lot, begin, min(end, stop)) if begin < stop else 0.0
    return paid + (owed(lot, stop) - owned_value(facts, lot) if begin <= stop < end else 0.0)
