"""The scenario as frozen, validated objects: every table and key an analyst can write.

The classes here know shapes, types and ranges of single values. Relations between values are the
business of ``checks``; reading files is the business of the loaders.
"""

from __future__ import annotations

import math
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import ConfigDict, Field

from gpuladder.fields import (
    Day,
    Identifier,
    Moment,
    NonNegative,
    NonNegativeWhole,
    Number,
    OneOrMore,
    Positive,
    PositiveWhole,
    Prose,
    Record,
    Share,
    TermText,
    WriteOneOrMore,
)
from gpuladder.scenario.held import Due, HeldCommitment
from gpuladder.scenario.offers import (
    BurstWindowOffer,
    CommittedOffer,
    DedicatedOffer,
    LeasedOffer,
    Offer,
    OfferBase,
    OnDemandOffer,
    OwnedOffer,
    PricedOffer,
    PriceStep,
    ReservedOffer,
    SpotOffer,
)
from gpuladder.sizing.scaling import MOST_EFFICIENCY
from gpuladder.sizing.spec import InvoiceTerms, Workload
from gpuladder.timegrid import Step

if TYPE_CHECKING:
    from datetime import date

__all__ = [
    "BackfillBuyer",
    "BurstWindowOffer",
    "Campaign",
    "CampaignBase",
    "CashBudget",
    "CommittedOffer",
    "DedicatedOffer",
    "DemandRow",
    "Due",
    "ElasticCampaign",
    "Fabric",
    "GangCampaign",
    "Hardware",
    "HardwareLimit",
    "HeldCommitment",
    "Horizon",
    "LadderPolicy",
    "LeasedOffer",
    "Offer",
    "OfferBase",
    "OnDemandOffer",
    "OwnedOffer",
    "Policy",
    "Pool",
    "PreemptionClass",
    "PriceStep",
    "PricedOffer",
    "Record",
    "Repeat",
    "ReservedOffer",
    "Scenario",
    "Segment",
    "SoFar",
    "SolverOptions",
    "SpotOffer",
    "is_finite",
]


class Segment(Record):
    """A stretch of the time grid with one step."""

    until: Day
    """Date (exclusive) up to which the step holds."""
    step: Step
    """Length of the periods: day, week, month or quarter."""


class Horizon(Record):
    """The time that is planned, and how finely."""

    start: Day
    """First day."""
    end: Day | None = None
    """Day after the last day; may be left out when segments are given."""
    step: Step | None = None
    """Length of the periods, when it is one throughout."""
    segments: tuple[Segment, ...] | None = None
    """Stretches with their own step, fine first and coarse later."""
    counted_from: Day | None = None
    """Date from which ladder windows and `start_every` are counted; the start when left out."""

    @property
    def pieces(self) -> tuple[tuple[date, Step], ...]:
        """The grid as ``(until, step)`` pieces, whichever way it was written."""
        if self.segments is not None:
            return tuple((segment.until, segment.step) for segment in self.segments)
        if self.end is None or self.step is None:
            msg = "a horizon needs `end` and `step`, or `segments`"
            raise ValueError(msg)
        return ((self.end, self.step),)


class Hardware(Record):
    """A generation of accelerator."""

    id: Identifier
    memory_gb: Positive
    """Memory of one GPU, GB."""
    gpus_per_node: PositiveWhole
    peak_tflops: Positive
    """Dense BF16 peak of one GPU, TFLOPS."""
    relative_speed: Positive = 1.0
    """Work of one GPU-hour against the reference hardware's 1.0."""
    superseded: Day | None = None
    """Date after which it is the previous generation."""
    node_mtbf_hours: Positive | None = None
    """Mean time between hardware failures of one node, hours; none when left out."""


class Fabric(StrEnum):
    """How far coherent memory and fast links reach."""

    NODE = "node"
    RACK = "rack"


class Pool(Record):
    """One place where capacity is interchangeable."""

    id: Identifier
    provider: Identifier
    region: Identifier
    hardware: Identifier
    fabric: Fabric = Fabric.NODE
    residency: tuple[Identifier, ...] = ()
    """Tags for where data may sit."""


class PreemptionClass(Record):
    """Which interruptions a campaign survives, and at what cost."""

    id: Identifier
    spot_share_max: Share
    """Share of a campaign's work that may be done on spot; 0 means never."""
    checkpoint_minutes: NonNegative = 0.0
    """Time to write a checkpoint, minutes."""
    restart_minutes: NonNegative = 0.0
    """Time to be running again after an interruption, minutes."""
    checkpoint_interval_minutes: Positive | Literal["auto"] = "auto"
    """Minutes between checkpoints, or `auto`: the interval that maximises goodput."""


class Repeat(Record):
    """The same campaign again, its dates moved on."""

    every: TermText
    count: Annotated[PositiveWhole, Field(le=1000)]
    """How many times in all, the first included."""


def _sized_or_stated(schema: dict[str, Any]) -> None:
    """Say in the JSON schema that a workload stands for what is sized from it."""
    sized = [key for key in ("gpu_hours", "gpus") if key in schema["required"]]
    schema["required"] = [key for key in schema["required"] if key not in sized]
    schema["anyOf"] = [{"required": ["workload"]}, {"required": sized}]


class CampaignBase(Record):
    """What all campaigns have in common."""

    model_config = ConfigDict(json_schema_extra=_sized_or_stated)

    id: Identifier
    team: Identifier | None = None
    preemption_class: Identifier
    gpu_hours: Positive
    """Useful reference GPU-hours; sized from `workload` when left out."""
    workload: Workload | None = None
    """What is trained, in seven lines, from which GPU-hours, sizes and reach are sized."""
    waste: NonNegative = 0.0
    """Share of failed runs on top of the useful work."""
    earliest: Day
    """First day on which work can be done."""
    deadline: Day
    """Day by which all work is done (exclusive)."""
    coupling: Fabric = Fabric.NODE
    """How far its pieces must talk constantly; `rack` runs only in rack pools."""
    pools: tuple[Identifier, ...] | None = None
    """Only these pools."""
    providers: tuple[Identifier, ...] | None = None
    """Only pools of these providers."""
    hardware: tuple[Identifier, ...] | None = None
    """Only pools with this hardware."""
    residency: tuple[Identifier, ...] | None = None
    """Only pools that have at least one of these tags."""
    tenancy: Literal["shared", "dedicated"] = "shared"
    """`dedicated` is served only by dedicated and owned capacity."""
    drop_cost: NonNegative | None = None
    """What not doing it costs, currency; mandatory when left out."""
    repeat: Repeat | None = None
    storage_gb: NonNegative = 0.0
    """Storage for the invoice, GB; not a decision of the model."""
    egress_gb: NonNegative = 0.0
    """Egress for the invoice, GB; not a decision of the model."""
    staff_cost: NonNegative = 0.0
    """Staff for the invoice, currency; not a decision of the model."""

    @property
    def work(self) -> float:
        """Reference GPU-hours to be done, failed runs included."""
        return self.gpu_hours * (1.0 + self.waste)

    def spot_share_max(self, own_class: PreemptionClass) -> float:
        """Return the share of its work that may run on spot: none when its workload says never."""
        if self.workload is not None and self.workload.preemption == "never":
            return 0.0
        return own_class.spot_share_max


class ElasticCampaign(CampaignBase):
    """Many small jobs: any number of GPUs up to a limit, stop and go."""

    shape: Literal["elastic"]
    max_gpus: Positive
    """Most GPUs in use at any time."""
    job_gpus: PositiveWhole | None = None
    """GPUs of one job; one node when left out."""
    done_gpu_hours: NonNegative = 0.0
    """Work done before the horizon, reference GPU-hours, beside `gpu_hours`; counts in the spot
    share alone."""
    done_spot_gpu_hours: NonNegative = 0.0
    """Of the work done before the horizon, on spot."""


class GangCampaign(CampaignBase):
    """One run: a fixed number of GPUs from start to finish without pause."""

    shape: Literal["gang"]
    gpus: Annotated[tuple[PositiveWhole, ...], OneOrMore, WriteOneOrMore, Field(min_length=1)]
    """Size of the run in GPUs, or a list to choose from."""
    scaling: dict[PositiveWhole, Annotated[Positive, Field(le=MOST_EFFICIENCY)]] = Field(
        default_factory=dict
    )
    """Efficiency at each size, 1 when left out."""
    max_duration: TermText | None = None
    """The time-to-train limit."""
    runs_on: Identifier | None = None
    """Pool, or spot offer, on which it runs already: it goes on there from the horizon start."""


Campaign = Annotated[ElasticCampaign | GangCampaign, Field(discriminator="shape")]


class BackfillBuyer(Record):
    """A buyer of idle committed capacity."""

    id: Identifier
    pools: tuple[Identifier, ...] | None = None
    hardware: tuple[Identifier, ...] | None = None
    value: Positive
    """Revenue, currency per GPU-hour."""
    max_gpus: Positive | None = None
    """Most GPUs sold to it at any time; no limit when left out."""


class DemandRow(Record):
    """Baseline demand at one time."""

    pool: Identifier
    at: Moment
    """Date and time, without a zone."""
    gpus: NonNegative


class LadderPolicy(Record):
    """How much may expire at once."""

    window: TermText
    max_expiring_share: Share
    """Most GPUs expiring in a window, as a share of the GPUs committed at its start."""
    exempt_gpus: NonNegative = 0.0
    """GPUs that may expire in a window on top of the share."""
    min_tenor: TermText | None = None
    """Only terms at least this long count; the window when left out."""


class HardwareLimit(Record):
    """Most committed GPUs of a generation after a date."""

    hardware: Identifier
    after: Day
    max_committed_gpus: NonNegative


class CashBudget(Record):
    """Most payments in a span, undiscounted."""

    from_date: Day = Field(alias="from")
    until: Day
    max: NonNegative
    """Currency."""


class SoFar(Record):
    """What counts in the policy's shares from before the horizon."""

    gpu_hours: NonNegative = 0.0
    """Work that campaigns have done, reference GPU-hours."""
    spot_gpu_hours: NonNegative = 0.0
    """Of that, on spot."""
    provider_gpu_hours: dict[Identifier, NonNegative] = Field(default_factory=dict)
    """GPU-hours bought or held, by provider."""


class Policy(Record):
    """Limits set by the company."""

    ladder: LadderPolicy | None = None
    spot_share_max: Share | None = None
    """Most of all campaigns' work that may be done on spot."""
    provider_share_max: Share | dict[Identifier, Share] | None = None
    """Most of all GPU-hours bought or held that one provider may have; a number for every
    provider, or one per provider."""
    committed_gpus_max: NonNegative | None = None
    """Most committed GPUs, held ones included, averaged over any one period."""
    hardware_limits: tuple[HardwareLimit, ...] = ()
    cash_budgets: tuple[CashBudget, ...] = ()
    tail_charge: Share = 0.0
    """Share of the cost after the horizon end that is charged to the objective."""
    so_far: SoFar = SoFar()
    """What counts in `spot_share_max` and `provider_share_max` from before the horizon."""


class SolverOptions(Record):
    """How long and how exactly to solve."""

    time_limit_seconds: Positive = 300.0
    relative_gap: NonNegative = 0.005
    threads: PositiveWhole | None = None
    """Threads; all cores when left out."""
    seed: NonNegativeWhole = 0


class Scenario(Record):
    """Everything the model is told."""

    name: Identifier
    description: Prose = ""
    """Free text."""
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] = "USD"
    """ISO 4217 code."""
    horizon: Horizon
    discount_rate: Annotated[Number, Field(gt=-1)] = 0.0
    """Annual, effective."""
    hardware: tuple[Hardware, ...]
    pools: tuple[Pool, ...]
    offers: tuple[Offer, ...]
    preemption_classes: tuple[PreemptionClass, ...]
    campaigns: tuple[Campaign, ...]
    commitments: tuple[HeldCommitment, ...] = ()
    backfill: tuple[BackfillBuyer, ...] = ()
    demand: tuple[DemandRow, ...] = ()
    policy: Policy = Policy()
    solver: SolverOptions = SolverOptions()
    invoice: InvoiceTerms | None = None
    """What an invoice adds to GPU-hours; not a decision of the model."""


def is_finite(value: float | None) -> bool:
    """Tell whether an optional limit is really a limit."""
    return value is not None and math.isfinite(value)
