"""The scenario and the plan looked at together: tables, calendar and factors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.economics import discount_factor, goodput, price_at
from gpuladder.scenario.expand import Expanded, expand
from gpuladder.timegrid import HOURS_PER_DAY, FloatArray, Span, TimeGrid, add_months

if TYPE_CHECKING:
    from gpuladder.plan import Plan
    from gpuladder.scenario.schema import (
        ElasticCampaign,
        Hardware,
        PreemptionClass,
        PricedOffer,
        Scenario,
        SpotOffer,
    )

DAYS_PER_MONTH = 365.25 / 12.0
TOLERANCE_GPUS = 1e-6


@dataclass(frozen=True)
class Frame:
    """A scenario and a plan with everything the analyses look up."""

    scenario: Scenario
    plan: Plan
    tables: Expanded

    @classmethod
    def of(cls, scenario: Scenario, plan: Plan) -> Frame:
        """Expand the scenario and put the plan beside it."""
        return cls(scenario, plan, expand(scenario))

    @property
    def grid(self) -> TimeGrid:
        """The period grid."""
        return self.tables.grid

    @cached_property
    def midpoint_factors(self) -> FloatArray:
        """Discount factor at the middle of each period, shape (T,)."""
        rate = self.scenario.discount_rate
        return np.asarray([discount_factor(rate, days) for days in self.grid.midpoint_days])

    @cached_property
    def period_index(self) -> dict[date, int]:
        """Index of each period by its first day."""
        return {day: index for index, day in enumerate(self.grid.boundaries[:-1])}

    @cached_property
    def hardware(self) -> dict[str, Hardware]:
        """Hardware by id."""
        return {item.id: item for item in self.scenario.hardware}

    @cached_property
    def preemption_classes(self) -> dict[str, PreemptionClass]:
        """Preemption classes by id."""
        return {item.id: item for item in self.scenario.preemption_classes}

    def hardware_of(self, pool_id: str) -> Hardware:
        """Return the hardware of a pool."""
        return self.hardware[self.tables.pools[pool_id].hardware]

    def factor(self, day: date) -> float:
        """Return the discount factor of a date."""
        return discount_factor(self.scenario.discount_rate, (day - self.grid.start).days)

    def prices(self, offer: PricedOffer) -> FloatArray:
        """Return an offer's price at the start of each period, NaN without one, shape (T,)."""
        return np.asarray([self.price_or_nan(offer, day) for day in self.grid.boundaries[:-1]])

    def price_or_nan(self, offer: PricedOffer, day: date) -> float:
        """Return an offer's price on a day, NaN before the first step of a bare price path."""
        if getattr(offer, "price", None) is None and all(
            step.from_date > day for step in offer.price_path
        ):
            return math.nan
        return price_at(offer, day, self.grid.start)

    def elastic_speed(self, campaign: ElasticCampaign, pool_id: str, spot: str | None) -> float:
        """Return reference GPU-hours of work that one GPU-hour of an elastic campaign does."""
        hardware = self.hardware_of(pool_id)
        nodes = math.ceil((campaign.job_gpus or hardware.gpus_per_node) / hardware.gpus_per_node)
        rate = 1.0 / hardware.node_mtbf_hours if hardware.node_mtbf_hours else 0.0
        reclaim = self.tables.spot[spot].node_mtbr_hours if spot is not None else None
        rate += 1.0 / reclaim if reclaim else 0.0
        share = goodput(self.preemption_classes[campaign.preemption_class], nodes * rate)
        return hardware.relative_speed * share


def gang_availability(offer: SpotOffer, gpus: int) -> float:
    """Return a spot offer's availability for a gang: the listed size at or above it, else the last.

    Without a list by size the plain availability holds.
    """
    sizes = sorted(offer.availability_by_gpus)
    if not sizes:
        return offer.availability
    return offer.availability_by_gpus[next((size for size in sizes if size >= gpus), sizes[-1])]


def before(day: date, span: Span) -> date:
    """Return the date one span before a day."""
    if span.unit in ("day", "week"):
        return day - timedelta(days=span.count * (7 if span.unit == "week" else 1))
    return add_months(day, -span.count * (12 if span.unit == "year" else 1))


def quarter_start(day: date) -> date:
    """Return the first day of the calendar quarter a date lies in."""
    return date(day.year, (day.month - 1) // 3 * 3 + 1, 1)


def calendar_edges(begin: date, end: date, months: int) -> tuple[date, ...]:
    """Return the calendar boundaries, ``months`` apart (1 or 3), that enclose ``[begin, end)``."""
    edges = [quarter_start(begin) if months == 3 else begin.replace(day=1)]
    while edges[-1] < end or len(edges) == 1:
        edges.append(add_months(edges[-1], months))
    return tuple(edges)


def spread(begin: date, end: date, edges: tuple[date, ...]) -> FloatArray:
    """Return the share of ``[begin, end)`` that lies between consecutive edges, by hours.

    A span without length lies wholly where it begins.

    Returns
    -------
    array, shape (len(edges) - 1,)
    """
    ordinals = np.asarray([edge.toordinal() for edge in edges], dtype=np.float64)
    first, last = float(begin.toordinal()), float(end.toordinal())
    if last <= first:
        return ((ordinals[:-1] <= first) & (first < ordinals[1:])).astype(np.float64)
    covered = np.minimum(ordinals[1:], last) - np.maximum(ordinals[:-1], first)
    shares: FloatArray = np.maximum(covered, 0.0) / (last - first)
    return shares


def hours_between(begin: date, end: date) -> float:
    """Return the hours from one midnight to another, not below 0."""
    return max((end - begin).days, 0) * HOURS_PER_DAY


def ratio(numerator: float, denominator: float) -> float | None:
    """Return a quotient, or None when there is nothing to divide by."""
    return numerator / denominator if abs(denominator) > 1e-12 else None
