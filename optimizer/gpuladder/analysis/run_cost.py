"""What each campaign costs: direct, its part of the idle capacity, and what stays unallocated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpuladder.errors import AuditError, Problem

if TYPE_CHECKING:
    from gpuladder.analysis.ledger import Ledger
    from gpuladder.timegrid import FloatArray

RECONCILIATION_TOLERANCE = 1e-6
"""Relative difference allowed between the attributed cost and the objective."""

UNALLOCATED_PARTS = (
    "demand_direct",
    "demand_idle",
    "unused_pool_idle",
    "backfilled_holding",
    "unused_metered",
    "commitment_tail",
    "drop",
)
"""What no campaign is charged for: demand's own cost and its part of the idle; idle of pools whose
commitments nobody used; holding of backfilled hours; metered capacity bought and not used; the
charge for terms past the horizon; the cost of dropped campaigns."""


@dataclass(frozen=True, slots=True)
class Attribution:
    """The net present cost, divided.

    Attributes
    ----------
    direct, idle : dict of str to float
        By campaign, present value; every expanded campaign has an entry.
    stable : dict of (campaign, pool) to array, shape (T,)
        Direct cost of stable capacity.
    committed_hours : dict of (campaign, pool) to array, shape (T,)
        GPU-hours of committed capacity used.
    committed_total : dict of str to float
        The same over all pools and periods, by campaign.
    unallocated : dict of str to float
        By part, in the order of ``UNALLOCATED_PARTS``.
    backfill_revenue : float
        Zero or negative.
    """

    direct: dict[str, float]
    idle: dict[str, float]
    stable: dict[tuple[str, str], FloatArray]
    committed_hours: dict[tuple[str, str], FloatArray]
    committed_total: dict[str, float]
    unallocated: dict[str, float]
    backfill_revenue: float

    @property
    def total(self) -> float:
        """Sum of all parts."""
        campaigns = sum(self.direct.values()) + sum(self.idle.values())
        return campaigns + sum(self.unallocated.values()) + self.backfill_revenue


def attribute(ledger: Ledger) -> Attribution:
    """Divide the net present cost among campaigns, named unallocated parts and backfill revenue.

    Stable GPU-hours cost a campaign the pool's average of used hours in the period. A pool's idle
    cost is divided in proportion to the committed GPU-hours that campaigns and demand used in it
    over the horizon.
    """
    direct = dict.fromkeys(ledger.frame.tables.campaigns, 0.0)
    idle = dict.fromkeys(ledger.frame.tables.campaigns, 0.0)
    stable: dict[tuple[str, str], FloatArray] = {}
    committed: dict[tuple[str, str], FloatArray] = {}
    committed_total = dict.fromkeys(ledger.frame.tables.campaigns, 0.0)
    parts = dict.fromkeys(UNALLOCATED_PARTS, 0.0)
    for (campaign, _), cost in ledger.spot_cost.items():
        direct[campaign] += float(cost.sum())
    for pool, book in ledger.pools.items():
        for campaign, gpus in book.use.campaigns.items():
            stable[campaign, pool] = gpus * book.hours * book.used_price
            committed[campaign, pool] = book.committed_gpus_of(campaign) * book.hours
            direct[campaign] += float(stable[campaign, pool].sum())
            committed_total[campaign] += float(committed[campaign, pool].sum())
        parts["demand_direct"] += float((book.demand_hours * book.used_price).sum())
        parts["backfilled_holding"] += float(book.backfilled_cost.sum())
        parts["unused_metered"] += float(book.unused_metered_cost.sum())
        pool_idle, used = float(book.idle_cost.sum()), float(book.committed_used_hours.sum())
        if used <= 0.0:
            parts["unused_pool_idle"] += pool_idle
            continue
        rest = pool_idle
        for campaign in book.use.campaigns:
            charge = pool_idle * float(committed[campaign, pool].sum()) / used
            idle[campaign] += charge
            rest -= charge
        parts["demand_idle"] += rest if float(book.demand_hours.sum()) > 0.0 else 0.0
        parts["unused_pool_idle"] += rest if float(book.demand_hours.sum()) <= 0.0 else 0.0
    parts["commitment_tail"] = ledger.tail_charge
    parts["drop"] = sum(ledger.drop_cost.values())
    return Attribution(
        direct=direct,
        idle=idle,
        stable=stable,
        committed_hours=committed,
        committed_total=committed_total,
        unallocated=parts,
        backfill_revenue=ledger.lines["backfill_revenue"],
    )


def reconcile(attribution: Attribution, objective: float) -> None:
    """Check that the attributed parts add up to the objective.

    Raises
    ------
    AuditError
        When they differ by more than 1e-6 of the objective (of 1 currency unit when smaller).
    """
    difference = attribution.total - objective
    if not abs(difference) <= RECONCILIATION_TOLERANCE * max(abs(objective), 1.0):
        raise AuditError(
            Problem(
                code="GL-A002",
                what=(
                    f"the attributed costs add up to {attribution.total:,.2f}, the objective is "
                    f"{objective:,.2f}: a difference of {difference:,.6f}"
                ),
                why="campaign costs, unallocated parts and revenue must add up to the objective",
                fix="audit the plan: its cost lines do not follow from its quantities",
            )
        )
