"""What a review is made of: plain records that tables, documents and logs are written from.

Money is in the scenario's currency and undiscounted. ``start`` and ``from_date`` are inclusive,
``end`` and ``until`` exclusive. A figure that nobody knows is None, never 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date, datetime

    from gpuladder.errors import Problem
    from gpuladder.scenario.schema import Scenario


# --- Rolling -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class RollNote:
    """One thing that was changed on the way to the next scenario, in words."""

    subject: str
    """Id of the campaign, commitment or offer, or the key of the section."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rolled:
    """The scenario of the next decision, made from a plan."""

    scenario: Scenario
    to: date
    """Its horizon start."""
    plan_sha256: str
    """Fingerprint of the scenario that the plan answers."""
    remaining_cost: float
    """What the plan costs from that date on, present value of it; see ``rolling.remaining``."""
    notes: tuple[RollNote, ...] = ()
    warnings: tuple[Problem, ...] = ()
    """What the new scenario's own checks doubt."""


# --- Actuals -------------------------------------------------------------------------------------


class CampaignStatus(StrEnum):
    """What has become of a campaign."""

    RUNNING = "running"
    DONE = "done"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True, kw_only=True)
class ActualCampaign:
    """What one campaign really did in one place: a pool's stable capacity, or one spot offer."""

    campaign: str
    """Expanded id, ``sweeps#2`` for a repeat."""
    pool: str
    spot_offer: str | None = None
    """None on the pool's stable capacity."""
    start: date | None = None
    """First day of use."""
    end: date | None = None
    """Day after the last day of use; None while it goes on."""
    gpus: float | None = None
    """Gang: its size; elastic: mean GPUs while in use."""
    gpu_hours: float | None = None
    """GPU-hours used, redone work included."""
    useful_gpu_hours: float | None = None
    """Useful reference GPU-hours done: the unit of the scenario's ``gpu_hours``."""
    waste_share: float | None = None
    """Failed runs on top of the useful work, as the scenario's ``waste``."""
    mfu_share: float | None = None
    goodput_share: float | None = None
    reclaims: int | None = None
    """Times that the provider took a node back."""
    node_hours: float | None = None
    """Hours of running nodes over which the reclaims were counted."""
    cost: float | None = None
    status: CampaignStatus | None = None
    """Of the whole campaign; the same on all its rows that state it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActualContract:
    """What one contract, or one metered offer, really gave and cost in one span."""

    contract: str
    """Held commitment's id, an order as ``offer from start``, or a metered offer's id."""
    from_date: date
    until: date
    held_gpu_hours: float | None = None
    """GPU-hours of capacity held; None for metered offers."""
    used_gpu_hours: float | None = None
    price: float | None = None
    """Price paid, currency per GPU-hour held, or used where metered."""
    cost: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ActualDemand:
    """Baseline demand that was seen, in the form of the scenario's ``demand``."""

    pool: str
    at: datetime
    gpus: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Actuals:
    """What happened between a plan's start and a date."""

    from_date: date
    """Horizon start of the plan that it is compared with."""
    until: date
    campaigns: tuple[ActualCampaign, ...] = ()
    contracts: tuple[ActualContract, ...] = ()
    demand: tuple[ActualDemand, ...] = ()
    decisions: tuple[Decision, ...] = ()
    """Entries of the folder's own decision log."""


# --- Variance ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class CostSplit:
    """A cost difference, actual less plan, in the order in which the plan's figures are replaced.

    Amounts are whole multiples of 2^-16 of the currency, so that adding them up rounds nothing.
    """

    volume: float
    """More or less work, or GPU-hours, than planned."""
    efficiency: float
    """GPU-hours needed for the same work."""
    mix: float
    """Places used in other proportions."""
    schedule: float
    """The plan's own prices at the dates on which it really ran."""
    price: float
    """Prices paid against the plan's at those dates."""

    @property
    def total(self) -> float:
        """The difference itself."""
        return self.volume + self.efficiency + self.mix + self.schedule + self.price


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignVariance:
    """One campaign in the span: what was planned, what happened."""

    campaign: str
    team: str | None
    planned_start: date | None
    actual_start: date | None
    planned_end: date | None
    actual_end: date | None
    planned_gpu_hours: float
    actual_gpu_hours: float | None
    planned_work: float
    """Useful reference GPU-hours."""
    actual_work: float | None
    planned_price: float | None
    """Currency per GPU-hour used."""
    actual_price: float | None
    planned_mfu: float | None
    """From its workload, where it has one."""
    actual_mfu: float | None
    planned_goodput: float | None
    """By the scenario's failure and reclaim rates, mean over its GPU-hours."""
    actual_goodput: float | None
    assumed_reclaims: float | None
    """Node-hours on spot seen ÷ the offers' mean time between reclaims."""
    seen_reclaims: int | None
    planned_cost: float
    actual_cost: float | None
    split: CostSplit | None
    """None where a figure that it needs is missing."""
    missing: tuple[str, ...] = ()
    """Names of those figures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractVariance:
    """One contract or metered offer in the span: the rows add up to the bill."""

    contract: str
    pool: str
    kind: str
    planned_held_gpu_hours: float | None
    """None for metered offers."""
    actual_held_gpu_hours: float | None
    planned_used_gpu_hours: float
    actual_used_gpu_hours: float | None
    planned_idle_gpu_hours: float | None
    actual_idle_gpu_hours: float | None
    planned_price: float | None
    actual_price: float | None
    planned_cost: float
    actual_cost: float | None
    split: CostSplit | None
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Variance:
    """Plan against actual over one span."""

    from_date: date
    until: date
    currency: str
    campaigns: tuple[CampaignVariance, ...]
    contracts: tuple[ContractVariance, ...]
    not_charged: CostSplit | None
    """What the bill's difference has beyond the campaigns': idle, demand, backfill; None where the
    bill or a campaign is not known in full."""
    planned_cost: float
    """Of the contracts and metered offers together: the bill."""
    actual_cost: float | None
    split: CostSplit | None
    """Of the bill's difference, by campaigns and the rest."""


# --- Updates -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One key that an update would set, as an overlay of the next scenario writes it."""

    table: str
    row: str
    """Id of the row."""
    key: str
    value: float | str


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateRow:
    """An assumption against what was seen of it, and what to make of that; never applied by itself.

    The interval is two-sided at ``level``; its method stands in ``evidence``.
    """

    id: str
    """``waste``, ``reclaims of aws-spot``, …: what a decision log names."""
    what: str
    unit: str
    assumed: float | None
    seen: float | None
    n: float
    """Observations: campaigns, weeks, or reclaims."""
    exposure: float | None
    """Node-hours behind a rate; None elsewhere."""
    low: float | None
    high: float | None
    level: float
    suggested: float | None
    """None while the evidence does not contradict the assumption, or is too thin to tell."""
    is_thin: bool
    evidence: str
    changes: tuple[Change, ...] = ()


# --- Decisions -----------------------------------------------------------------------------------


class DecisionKind(StrEnum):
    """What is decided."""

    ORDER = "order"
    RENEWAL = "renewal"
    UPDATE = "update"


class Verdict(StrEnum):
    """What was decided."""

    ACCEPTED = "accepted"
    CHANGED = "changed"
    DECLINED = "declined"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenDecision:
    """Something a review asks to be decided."""

    id: str
    """``order a100-reserved@1 years from 2026-08-03``, ``renewal held-2025``, ``update waste``."""
    kind: DecisionKind
    what: str
    """In one sentence."""
    pool: str | None = None
    offer: str | None = None
    start: date | None = None
    end: date | None = None
    sign_by: date | None = None
    lots: int | None = None
    gpus: float | None = None
    price: float | None = None
    cost: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One entry of the decision log."""

    id: str
    """Of the open decision."""
    plan: str
    """Fingerprint of the scenario whose plan asked for it."""
    verdict: Verdict
    by: str
    on: date
    """Date of the decision; of an order: of its signature."""
    note: str = ""
    start: date | None = None
    """Changed orders: the start agreed on; None as planned. The same for what follows."""
    lots: int | None = None
    price: float | None = None
