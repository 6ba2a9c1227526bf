"""Offers after a date: the same price on every day, the same start dates, the dead left out."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from gpuladder.economics import DAYS_PER_YEAR
from gpuladder.review.rows import RollNote
from gpuladder.scenario.expand import expand_offer
from gpuladder.scenario.schema import CommittedOffer, LeasedOffer, PricedOffer

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date

    from gpuladder.scenario.schema import Offer, Scenario
    from gpuladder.timegrid import TimeGrid


def carried(
    scenario: Scenario, grid: TimeGrid, to: date, needed: Iterable[str]
) -> tuple[tuple[Offer, ...], tuple[RollNote, ...]]:
    """Return the offers of the scenario from a date on.

    Parameters
    ----------
    needed : iterable of str
        Offers that commitments name; they stay even when nothing more can be had under them.
    """
    kept = set(needed)
    offers: list[Offer] = []
    notes: list[RollNote] = []
    for offer in scenario.offers:
        if _is_dead(offer, to) and not kept & _names(offer):
            text = f"left out: available until {offer.available_until}"
            notes.append(RollNote(subject=offer.id, text=text))
            continue
        offers.append(_rhythm(_repriced(offer, scenario.horizon.start, to), grid, to))
    return tuple(offers), tuple(notes)


def _names(offer: Offer) -> set[str]:
    if isinstance(offer, LeasedOffer):
        return {offer.id} | {each.id for each in expand_offer(offer)}
    return {offer.id}


def _is_dead(offer: Offer, to: date) -> bool:
    last = offer.available_until
    if last is None:
        return False
    return last < to if isinstance(offer, CommittedOffer) else last <= to


def _repriced(offer: Offer, start: date, to: date) -> Offer:
    """Return an offer whose price is that of the new start, so that it is the same on every day.

    A price path is dated, and what it leaves to the plain price does not change with time.
    """
    if not isinstance(offer, PricedOffer) or offer.price_path or not offer.price_change_per_year:
        return offer
    factor = (1.0 + offer.price_change_per_year) ** ((to - start).days / DAYS_PER_YEAR)
    price = getattr(offer, "price", None)
    if price is None:
        return offer
    moved = tuple(item * factor for item in price) if isinstance(price, tuple) else price * factor
    return offer.model_copy(update={"price": moved})


def _rhythm(offer: Offer, grid: TimeGrid, to: date) -> Offer:
    """Return an offer that may start on the new first day only where it might have before.

    A regular start before the horizon stands for its first day; in the grid as it was, it belongs
    to its own next boundary, which may have passed.
    """
    if not isinstance(offer, CommittedOffer) or offer.start_every is None:
        return offer
    number = 0
    while (mark := offer.start_every.after(grid.anchor, number)) <= to:
        index = grid.first_boundary_from(mark)
        if index is not None and grid.boundaries[index] == to:
            return offer
        number += 1
    later = to + timedelta(days=1)
    if offer.available_from is not None and offer.available_from >= later:
        return offer
    return offer.model_copy(update={"available_from": later})
