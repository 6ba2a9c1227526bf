"""Who uses what of a pool, period by period: the shares by which its capacity is charged.

GPUs of one pool are interchangeable, so every firm commitment of a pool is used by the same users
in the same shares; a flex reservation is used by those who draw on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.analysis.charge_rows import User, UseRow
from gpuladder.analysis.frame import TOLERANCE_GPUS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gpuladder.analysis.ledger import PoolLedger
    from gpuladder.timegrid import FloatArray

Who = tuple[User, str | None]
"""What uses capacity: a campaign, demand (without a name) or a backfill buyer."""


@dataclass(frozen=True, slots=True)
class CampaignFacts:
    """What a row says of the campaign that uses it."""

    team: str | None
    preemption_class: str
    runs_per_gpu_hour: float
    """Completed runs ÷ GPU-hours used."""


Facts = dict[str, CampaignFacts]


def use_row(who: Who | None, gpu_hours: float, facts: Facts) -> UseRow | None:
    """Return who uses some GPU-hours, with what is known of a campaign."""
    if who is None:
        return None
    by, name = who
    if by is not User.CAMPAIGN or name is None:
        return UseRow(by=by, name=name)
    known = facts[name]
    return UseRow(
        by=by,
        name=name,
        team=known.team,
        preemption_class=known.preemption_class,
        runs=known.runs_per_gpu_hour * gpu_hours,
    )


@dataclass(frozen=True)
class Shares:
    """Who has which share of some capacity, by period.

    Attributes
    ----------
    users : dict of Who to array, shape (T,)
        Shares, each at least 0.
    unused : array, shape (T,)
        The rest; with all users it adds up to 1.
    """

    users: dict[Who, FloatArray]
    unused: FloatArray

    def all(self) -> Iterator[tuple[Who | None, FloatArray]]:
        """Yield every user with its share, and None with what nobody uses."""
        yield from self.users.items()
        yield None, self.unused


def firm_shares(book: PoolLedger) -> Shares:
    """Return the shares of a pool's firm capacity: campaigns, demand, buyers and nobody."""
    drawn = _drawn_by(book)
    hours: dict[Who, FloatArray] = {
        (User.CAMPAIGN, name): gpus * book.hours * book.committed_share - drawn[name]
        for name, gpus in book.use.campaigns.items()
    }
    hours[User.DEMAND, None] = book.demand_committed_hours
    for buyer, gpus in book.use.backfill.items():
        hours[User.BACKFILL, buyer] = gpus * book.hours
    return _shares(hours, book.firm_hours, book.hours)


def flex_shares(book: PoolLedger, offer: str) -> Shares:
    """Return the shares of a flex reservation: the campaigns that draw on it and nobody."""
    drawn = book.drawn_hours[offer]
    hours: dict[Who, FloatArray] = {
        (User.CAMPAIGN, name): drawn * part for name, part in _campaign_parts(book).items()
    }
    return _shares(hours, book.flex_hours[offer], book.hours)


def on_demand_shares(book: PoolLedger) -> Shares:
    """Return the shares of a pool's on-demand GPU-hours: what committed capacity does not serve.

    What is bought beyond all use has no user.
    """
    needs: dict[Who, FloatArray] = {
        (User.CAMPAIGN, name): gpus * book.hours * (1.0 - book.committed_share)
        for name, gpus in book.use.campaigns.items()
    }
    needs[User.DEMAND, None] = book.demand_hours - book.demand_committed_hours
    return _shares(needs, book.metered_hours, book.hours)


def draw_shares(book: PoolLedger) -> Shares:
    """Return the shares of what is drawn from flex reservations, which the campaigns have all."""
    users: dict[Who, FloatArray] = {
        (User.CAMPAIGN, name): part for name, part in _campaign_parts(book).items()
    }
    return Shares(users, np.where(book.use.campaign_gpus() > 0.0, 0.0, 1.0))


def _campaign_parts(book: PoolLedger) -> dict[str, FloatArray]:
    """Return each campaign's part of all campaigns' stable use, 0 where there is none."""
    whole = book.use.campaign_gpus()
    safe = np.where(whole > 0.0, whole, 1.0)
    return {name: gpus / safe for name, gpus in book.use.campaigns.items()}


def _drawn_by(book: PoolLedger) -> dict[str, FloatArray]:
    """Return the GPU-hours that each campaign draws from all flex reservations."""
    drawn = np.zeros_like(book.hours)
    for hours in book.drawn_hours.values():
        drawn = drawn + hours
    return {name: drawn * part for name, part in _campaign_parts(book).items()}


def _shares(used: Mapping[Who, FloatArray], capacity: FloatArray, hours: FloatArray) -> Shares:
    """Return shares of a capacity, GPU-hours; what is within the tolerance of nothing is nothing.

    Use and capacity come from a solver and may differ in the last digits: where they are the same
    but for the tolerance, users have all of it, and never more.
    """
    tolerance = TOLERANCE_GPUS * hours
    known = {who: np.where(value > tolerance, value, 0.0) for who, value in used.items()}
    in_use = np.zeros_like(capacity)
    for value in known.values():
        in_use = in_use + value
    is_full = (in_use > 0.0) & (capacity - in_use <= tolerance)
    whole = np.where(is_full, in_use, capacity)
    safe = np.where(whole > 0.0, whole, 1.0)
    users = {who: value / safe for who, value in known.items() if value.any()}
    rest = np.where(is_full, 0.0, 1.0 - in_use / safe)
    return Shares(users, np.asarray(np.maximum(rest, 0.0)))
