"""When, and in what size, a campaign can use an offer: dates, lead, quota and lots."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from gpuladder.scenario.expand import term_of
from gpuladder.scenario.schema import GangCampaign, OnDemandOffer, SpotOffer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from gpuladder.scenario.expand import CommittedTerm, MeteredOffer
    from gpuladder.scenario.schema import Campaign, Hardware
    from gpuladder.timegrid import TimeGrid

HOURS_PER_DAY = 24.0
_SLACK = 1.0 + 1e-9


@dataclass(frozen=True, slots=True)
class Window:
    """Days on which a campaign can use an offer.

    Attributes
    ----------
    signed : date
        Start of the first term; the first day of use when the offer is metered.
    start, end : date
        First day of use, and the day after the last.
    """

    signed: date
    start: date
    end: date

    @property
    def hours(self) -> float:
        """Its length."""
        return (self.end - self.start).days * HOURS_PER_DAY


def window_of(
    grid: TimeGrid, campaign: Campaign, offer: CommittedTerm | MeteredOffer
) -> Window | str:
    """Return when a campaign can use an offer, or why it never can.

    Metered capacity from ``available_from`` up to ``available_until``. Committed capacity in terms
    that start from ``lead`` and ``available_from`` on, on dates of ``start_every``, at the latest
    on ``available_until``, renewed as long as a further term may start.
    """
    if isinstance(offer, OnDemandOffer | SpotOffer):
        start = max(campaign.earliest, offer.available_from or grid.start)
        end = min(campaign.deadline, offer.available_until or campaign.deadline)
        if start >= end:
            return f"it can be used {_dates(offer)}, the campaign runs {_span(campaign)}"
        return Window(start, start, end)
    first = offer.lead.after(grid.start)
    first = max(first, offer.available_from or first)
    latest = min(offer.available_until or grid.end, grid.end - timedelta(days=1))
    term = term_of(offer)
    signed = [
        day
        for day in _start_days(grid, campaign, offer, first, latest)
        if day < campaign.deadline and term.after(day) > campaign.earliest
    ]
    if not signed:
        return (
            f"no term of it covers {_span(campaign)}: the first can start on {first}, "
            f"the last on {latest}"
        )
    before = [day for day in signed if day <= campaign.earliest]
    begin = max(before) if before else min(signed)
    end, number = term.after(begin), 2
    while end < campaign.deadline and end <= latest:
        end, number = term.after(begin, number), number + 1
    return Window(begin, max(begin, campaign.earliest), min(end, campaign.deadline))


def _start_days(
    grid: TimeGrid, campaign: Campaign, offer: CommittedTerm, first: date, latest: date
) -> Iterator[date]:
    if offer.start_every is None:
        day = min(max(first, campaign.earliest), latest)
        if day >= first:
            yield day
        return
    number = 0
    while (day := offer.start_every.after(grid.anchor, number)) <= latest:
        if day >= first:
            yield day
        number += 1


def too_little(
    campaign: Campaign,
    offer: CommittedTerm | MeteredOffer | None,
    kind: Hardware,
    *,
    gpus: int,
    paid_hours: float,
    window: Window,
) -> str | None:
    """Return why an offer does not hold a campaign's work in a window, or None when it does.

    Parameters
    ----------
    offer : CommittedTerm or MeteredOffer, optional
        None for a list price, which says nothing about quotas or availability.
    gpus : int
        Size of a gang; of no meaning for small jobs.
    paid_hours : float
        GPU-hours of the work, failed runs and interruptions included.
    """
    most, share = _capacity(offer, kind, gpus)
    if isinstance(campaign, GangCampaign):
        if gpus > most * _SLACK:
            return f"a run needs {gpus:,} GPUs, and it has {most:,.6g}"
        hours = paid_hours / gpus / share
        limit = window.hours
        if campaign.max_duration is not None:
            limit = min(limit, campaign.max_duration.days(window.start) * HOURS_PER_DAY)
        if hours > limit * _SLACK:
            return (
                f"a run takes {hours / HOURS_PER_DAY:,.1f} days on {gpus:,} GPUs, and there are "
                f"{limit / HOURS_PER_DAY:,.1f}"
            )
        return None
    width = min(most * share, campaign.max_gpus)
    if paid_hours > width * window.hours * _SLACK:
        return (
            f"{paid_hours:,.0f} GPU-hours are needed, and {width:,.6g} GPUs for "
            f"{window.hours / HOURS_PER_DAY:,.0f} days are {width * window.hours:,.0f}"
        )
    return None


def _capacity(
    offer: CommittedTerm | MeteredOffer | None, kind: Hardware, gpus: int
) -> tuple[float, float]:
    """Return the GPUs an offer holds at most, and the share of hours in which it has them."""
    if offer is None:
        return math.inf, 1.0
    if isinstance(offer, OnDemandOffer):
        return (math.inf if offer.max_gpus is None else offer.max_gpus), 1.0
    if isinstance(offer, SpotOffer):
        listed = sorted(offer.availability_by_gpus)
        if not listed or gpus <= kind.gpus_per_node:
            return offer.max_gpus, offer.availability
        near = next((size for size in listed if size >= gpus), listed[-1])
        return offer.max_gpus, offer.availability_by_gpus[near]
    lots = math.inf if offer.max_lots is None else float(offer.max_lots)
    return lots * offer.lot_gpus, 1.0


def _dates(offer: MeteredOffer) -> str:
    parts = []
    if offer.available_from is not None:
        parts.append(f"from {offer.available_from}")
    if offer.available_until is not None:
        parts.append(f"until {offer.available_until}")
    return " ".join(parts)


def _span(campaign: Campaign) -> str:
    return f"from {campaign.earliest} to {campaign.deadline}"
