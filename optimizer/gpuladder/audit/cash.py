"""Payments as billed: undiscounted, on the dates on which they fall."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpuladder.audit.costs import holding_rate, level_average
from gpuladder.audit.supply import spot_gpus
from gpuladder.scenario.schema import DedicatedOffer, HeldCommitment, OwnedOffer

if TYPE_CHECKING:
    from datetime import date

    from gpuladder.audit.facts import Facts
    from gpuladder.audit.quantities import Lot, Quantities
    from gpuladder.timegrid import FloatArray


def payments(facts: Facts, plan: Quantities, begin: date, end: date) -> float:
    """Return what is paid in ``[begin, end)``, currency, held commitments included.

    The prepaid share of a whole term is paid at its start and the rest by the hour; metered use and
    draws are paid over the period in which they fall.
    """
    total = sum(lot_payments(facts, lot, begin, end) for lot in plan.lots)
    total += sum(held_payments(facts, held, begin, end) for held in facts.tables.held.values())
    return total + float(np.dot(metered_spend(facts, plan), facts.share(begin, end)))


def lot_payments(facts: Facts, lot: Lot, begin: date, end: date) -> float:
    """Return what an order makes payable in ``[begin, end)``, currency."""
    hours = _common_hours(lot.start, lot.end, begin, end)
    at_start = begin <= lot.start < end
    if isinstance(lot.offer, OwnedOffer):
        capex = lot.gpus * lot.offer.capex_per_gpu if at_start else 0.0
        return capex + lot.gpus * lot.offer.opex_per_gpu_hour * hours
    rate, upfront = holding_rate(facts, lot), lot.offer.upfront
    total = (1.0 - upfront) * rate * hours
    if at_start:
        total += upfront * rate * (lot.end - lot.start).days * 24.0
        if isinstance(lot.offer, DedicatedOffer) and lot.lots > 0:
            total += lot.offer.setup_cost
    return total


def held_payments(facts: Facts, held: HeldCommitment, begin: date, end: date) -> float:
    """Return what a held commitment costs in ``[begin, end)``, from the horizon start on."""
    hours = _common_hours(held.start, held.end, max(begin, facts.grid.start), end)
    return held.gpus * held.price * hours


def metered_spend(facts: Facts, plan: Quantities) -> FloatArray:
    """Return what metered use and draws cost in each period, undiscounted, shape (T,)."""
    spend = np.zeros(facts.num_periods)
    for offer, use in plan.on_demand.items():
        average = level_average(facts, facts.tables.on_demand[offer].pool, use)
        spend += average * facts.metered_prices(offer) * facts.hours
    for key in facts.tables.spot:
        used = spot_gpus(facts, plan, key)
        if used.any():
            spend += used * facts.metered_prices(key) * facts.hours
    for key, drawn in plan.drawn.items():
        flex = facts.tables.committed[key]
        if not isinstance(flex, OwnedOffer) and flex.usage_price is not None:
            spend += drawn * flex.usage_price * facts.hours
    return spend


def _common_hours(begin: date, end: date, other_begin: date, other_end: date) -> float:
    return max((min(end, other_end) - max(begin, other_begin)).days, 0) * 24.0
