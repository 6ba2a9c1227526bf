"""The net present cost divided: what each campaign is charged, and what nobody is."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.audit.campaigns import elastic_spot_work, elastic_stable_work
from gpuladder.audit.costs import metered_rate
from gpuladder.scenario.schema import ElasticCampaign

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpuladder.audit.books import PoolBook
    from gpuladder.audit.facts import Facts
    from gpuladder.audit.quantities import Quantities
    from gpuladder.scenario.schema import Campaign

_SHARE_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class CampaignFigures:
    """What one campaign uses, does and costs; money as present value."""

    gpu_hours: float
    spot_gpu_hours: float
    committed_gpu_hours: float
    work: float
    done_share: float
    spot_share: float
    direct_cost: float
    idle_cost: float
    drop_cost: float

    @property
    def loaded_cost(self) -> float:
        """Direct and idle."""
        return self.direct_cost + self.idle_cost

    @property
    def runs(self) -> float:
        """Runs completed: the share that is done."""
        return self.done_share

    @property
    def cost_per_run(self) -> float | None:
        """Loaded cost per completed run; None without one."""
        return quotient(self.loaded_cost, self.runs)

    @property
    def outcome(self) -> str:
        """In the words of the result: planned, partial or dropped."""
        if self.done_share <= 0.0:
            return "dropped"
        return "planned" if self.done_share >= 1.0 else "partial"


def divide(
    facts: Facts, plan: Quantities, books: Mapping[str, PoolBook]
) -> dict[str, CampaignFigures]:
    """Return the figures of every campaign."""
    direct: dict[str, float] = defaultdict(float)
    idle: dict[str, float] = defaultdict(float)
    stable: dict[str, float] = defaultdict(float)
    committed: dict[str, float] = defaultdict(float)
    for book in books.values():
        used = np.where(book.used_hours > 0.0, book.used_hours, 1.0)
        price = np.where(book.used_hours > 0.0, book.used_cost / used, 0.0)
        base, idle_cost = float(book.committed_used_hours.sum()), float(book.idle_cost.sum())
        for campaign, (hours, on_committed) in book.campaigns.items():
            direct[campaign] += float(np.dot(hours, price))
            stable[campaign] += float(hours.sum())
            committed[campaign] += float(on_committed.sum())
            if base > 0.0:
                idle[campaign] += idle_cost * float(on_committed.sum()) / base
    spot_hours, spot_cost = _spot(facts, plan)
    return {
        key: CampaignFigures(
            gpu_hours=stable[key] + spot_hours.get(key, 0.0),
            spot_gpu_hours=spot_hours.get(key, 0.0),
            committed_gpu_hours=committed[key],
            work=campaign.work,
            done_share=_done(plan.dropped.get(key, 0.0)),
            spot_share=_spot_share(facts, plan, campaign),
            direct_cost=direct[key] + spot_cost.get(key, 0.0),
            idle_cost=idle[key],
            drop_cost=plan.dropped.get(key, 0.0) * (campaign.drop_cost or 0.0),
        )
        for key, campaign in facts.tables.campaigns.items()
    }


def unallocated(
    books: Mapping[str, PoolBook],
    campaigns: Mapping[str, CampaignFigures],
    spot_cost: float,
    other: float,
) -> float:
    """Return the present value that no campaign is charged for.

    Parameters
    ----------
    spot_cost : float
        Present value of all spot use; campaigns are charged for all of it.
    other : float
        Lines that belong to no pool: the tail charge and the cost of dropped work.
    """
    total = sum(
        float((book.used_cost + book.idle_cost + book.sold_cost + book.unused_metered_cost).sum())
        for book in books.values()
    )
    charged = sum(item.loaded_cost for item in campaigns.values())
    return total + spot_cost + other - charged


def quotient(part: float, whole: float) -> float | None:
    """Return a quotient, or None when there is nothing to divide by."""
    return part / whole if abs(whole) > 1e-12 else None


def _done(dropped: float) -> float:
    done = 1.0 - dropped if dropped > _SHARE_TOLERANCE else 1.0
    return done if done > _SHARE_TOLERANCE else 0.0


def _spot(facts: Facts, plan: Quantities) -> tuple[dict[str, float], dict[str, float]]:
    """Return each campaign's GPU-hours on spot, and their present value."""
    hours: dict[str, float] = defaultdict(float)
    cost: dict[str, float] = defaultdict(float)
    uses = [(campaign, offer, gpus) for (campaign, offer), gpus in plan.spot.items()]
    uses += [
        (
            run.campaign,
            run.spot_offer,
            run.gpus * facts.gang_availability(run.spot_offer, run.gpus) * shares,
        )
        for run, shares in plan.runs
        if run.spot_offer is not None
    ]
    for campaign, offer, gpus in uses:
        hours[campaign] += float(np.dot(gpus, facts.hours))
        rate = metered_rate(facts, offer, gpus)
        cost[campaign] += float(np.sum(rate * facts.hours * facts.midpoint_factors))
    return dict(hours), dict(cost)


def _spot_share(facts: Facts, plan: Quantities, campaign: Campaign) -> float:
    if not isinstance(campaign, ElasticCampaign):
        on_spot = [run for run, _ in plan.runs if run.campaign == campaign.id and run.spot_offer]
        return float(bool(on_spot))
    spot = elastic_spot_work(facts, plan, campaign)
    return quotient(spot, spot + elastic_stable_work(facts, plan, campaign)) or 0.0
