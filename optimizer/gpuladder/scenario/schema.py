"""The scenario as frozen, validated objects: every table and key an analyst can write.

The classes here know shapes, types and ranges of single values. Relations between values are the
business of ``checks``; reading files is the business of the loaders.
"""

from __future__ import annotations

import math
from datetime import date, datetime, time
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    WithJsonSchema,
)

from gpuladder.timegrid import Span, Step

SPAN_PATTERN = r"^\s*\d+\s*(day|week|month|year)s?\s*$"


def _refuse_boolean(value: object) -> object:
    """Refuse what Python would read as a number though nobody meant one: ``true``, ``1_000``."""
    if isinstance(value, bool):
        msg = f"a number is needed, not {str(value).lower()}"
        raise ValueError(msg)
    if isinstance(value, str) and ("_" in value or "," in value):
        msg = f"not a number: {value!r}; write decimals with a point and nothing between thousands"
        raise ValueError(msg)
    return value


def _read_day(value: object) -> object:
    """Read an ISO date; numbers and other notations are refused, a midnight stands for its day."""
    if isinstance(value, datetime):
        moment: date | datetime = value
    elif isinstance(value, date):
        return value
    else:
        moment = _read_iso(value, 'a date such as "2026-07-06"')
    if isinstance(moment, datetime):
        if moment.tzinfo is not None or moment.time() != time():
            msg = f"not a date: {value}; a date has no time of day"
            raise ValueError(msg)
        return moment.date()
    return moment


def _read_moment(value: object) -> object:
    """Read an ISO date and time without a zone; a date stands for its midnight."""
    moment = value if isinstance(value, date) else _read_iso(value, 'such as "2026-07-06 14:00"')
    if not isinstance(moment, datetime):
        return datetime(moment.year, moment.month, moment.day)  # noqa: DTZ001 (times are naive)
    if moment.tzinfo is not None:
        msg = f"a time zone is not read: {value}; write all times in one zone and leave it out"
        raise ValueError(msg)
    return moment


def _read_iso(value: object, wanted: str) -> date | datetime:
    text = value.strip() if isinstance(value, str) else ""
    try:
        if len(text) == len("2026-07-06") and text[4] == text[7] == "-":
            return date.fromisoformat(text)
        if len(text) > len("2026-07-06") and text[4] == text[7] == "-" and text[10] in " T":
            return datetime.fromisoformat(text)
        detail = ""
    except ValueError as error:
        detail = f" ({error})"
    msg = f"not a date: {value!r}{detail}; write {wanted}"
    raise ValueError(msg)


def _check_name(value: str) -> str:
    """Keep names such that all three forms of a scenario can write them."""
    if value != value.strip() or not value.isprintable() or value[0] in "[{":
        msg = (
            f"not a name: {value!r}; a name has no surrounding blanks or control characters "
            "and does not begin with [ or {"
        )
        raise ValueError(msg)
    return value


def _read_span(value: object) -> object:
    return Span.parse(value) if isinstance(value, str) else value


def _one_or_many(value: object) -> object:
    """Let a single value stand for a list of one."""
    if isinstance(value, (list, tuple)):
        return tuple(value)
    return (value,)


def _write_one_or_many(value: tuple[Any, ...]) -> Any:
    """Write a list of one as its only member."""
    items = [str(item) if isinstance(item, Span) else item for item in value]
    return items[0] if len(items) == 1 else items


Number = Annotated[float, BeforeValidator(_refuse_boolean), Field(allow_inf_nan=False)]
Whole = Annotated[int, BeforeValidator(_refuse_boolean)]
Positive = Annotated[Number, Field(gt=0)]
NonNegative = Annotated[Number, Field(ge=0)]
Share = Annotated[Number, Field(ge=0, le=1)]
PositiveShare = Annotated[Number, Field(gt=0, le=1)]
PositiveWhole = Annotated[Whole, Field(gt=0)]
NonNegativeWhole = Annotated[Whole, Field(ge=0)]
Day = Annotated[date, BeforeValidator(_read_day)]
YearlyChange = Annotated[Number, Field(gt=-1)]
Identifier = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_check_name)]
SpanText = Annotated[
    Span,
    BeforeValidator(_read_span),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "string", "pattern": SPAN_PATTERN, "examples": ["4 weeks"]}),
]
OneOrMore = BeforeValidator(_one_or_many)
WriteOneOrMore = PlainSerializer(_write_one_or_many)


class Record(BaseModel):
    """Base of every table row: frozen, unknown keys refused, docstrings used as descriptions."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        populate_by_name=True,
        use_attribute_docstrings=True,
        coerce_numbers_to_str=True,
    )


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


class PriceStep(Record):
    """A price that holds from a date on."""

    from_date: Day = Field(alias="from")
    price: Positive
    """Price from that date on, currency per GPU-hour."""


class OfferBase(Record):
    """What all offers have in common."""

    id: Identifier
    pool: Identifier
    available_from: Day | None = None
    """First date on which it can start (committed) or be used (metered)."""
    available_until: Day | None = None
    """Committed: last date on which it can start. Metered: day after the last day of use."""


class PricedOffer(OfferBase):
    """An offer with a price per GPU-hour that may move with time."""

    price_change_per_year: YearlyChange = 0.0
    """Yearly change of the price, compounded daily from the horizon start, e.g. -0.15."""
    price_path: tuple[PriceStep, ...] = ()
    """Dated prices, a step function; replaces `price` from its first date on."""


class OnDemandOffer(PricedOffer):
    """Metered capacity that can be had and given back at any time."""

    kind: Literal["on_demand"]
    price: Positive | None = None
    """Currency per GPU-hour."""
    max_gpus: NonNegative | None = None
    """Quota in GPUs; no limit when left out."""


class SpotOffer(PricedOffer):
    """Metered capacity that the provider may reclaim."""

    kind: Literal["spot"]
    price: Positive | None = None
    """Currency per GPU-hour."""
    max_gpus: NonNegative
    """Market depth in GPUs."""
    availability: PositiveShare = 1.0
    """Share of hours in which capacity can be had at all."""
    availability_by_gpus: dict[PositiveWhole, PositiveShare] = Field(default_factory=dict)
    """Availability for gangs by their size in GPUs."""
    node_mtbr_hours: Positive | None = None
    """Mean time between reclaims of one running node, hours; never when left out."""
    notice_minutes: NonNegative = 0.0
    """Warning before a reclaim, minutes."""


class CommittedOffer(OfferBase):
    """Capacity bought in whole lots for a fixed term."""

    lot_gpus: PositiveWhole
    """GPUs of one lot."""
    min_lots: NonNegativeWhole = 0
    """Fewest lots of an order that is placed."""
    max_lots: NonNegativeWhole | None = None
    """Most lots active in any one period; no limit when left out."""
    lead: SpanText = Span(0, "day")
    """Time from signing, at the earliest the horizon start, to the start of the term."""
    start_every: SpanText | None = None
    """Terms start only on these dates, counted from the horizon start."""


class LeasedOffer(PricedOffer, CommittedOffer):
    """Committed capacity of a provider, held at a price per GPU-hour."""

    price: Positive | Annotated[tuple[Positive, ...], Field(min_length=1)] | None = None
    """Currency per GPU-hour held; with several tenors a list of as many prices."""
    tenor: Annotated[tuple[SpanText, ...], OneOrMore, WriteOneOrMore, Field(min_length=1)]
    """Length of the term, or a list: the offer then stands for one offer per tenor."""
    upfront: Share = 0.0
    """Share of the price paid at the start of the term."""
    usage_price: NonNegative | None = None
    """Currency per GPU-hour used, on top of the holding price (a flex reservation)."""


class BurstWindowOffer(LeasedOffer):
    """A short block for a fixed length, booked ahead."""

    kind: Literal["burst_window"]
    upfront: Share = 1.0
    """Share of the price paid at the start of the term."""


class ReservedOffer(LeasedOffer):
    """A standing reservation."""

    kind: Literal["reserved"]


class DedicatedOffer(LeasedOffer):
    """Whole clusters or racks of one tenant, in large lots."""

    kind: Literal["dedicated"]
    setup_cost: NonNegative = 0.0
    """Currency per order placed."""


class OwnedOffer(CommittedOffer):
    """Bought hardware."""

    kind: Literal["owned"]
    capex_per_gpu: Positive
    """Purchase price per GPU, currency."""
    opex_per_gpu_hour: NonNegative = 0.0
    """Power, space and staff, currency per GPU-hour."""
    life: SpanText
    """Its tenor: how long it serves."""
    residual_per_year: Share = 0.0
    """Share of the value kept each year, geometric."""


Offer = Annotated[
    OnDemandOffer | SpotOffer | BurstWindowOffer | ReservedOffer | DedicatedOffer | OwnedOffer,
    Field(discriminator="kind"),
]


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

    every: SpanText
    count: PositiveWhole
    """How many times in all, the first included."""


class CampaignBase(Record):
    """What all campaigns have in common."""

    id: Identifier
    team: Identifier | None = None
    preemption_class: Identifier
    gpu_hours: Positive
    """Useful reference GPU-hours."""
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


class ElasticCampaign(CampaignBase):
    """Many small jobs: any number of GPUs up to a limit, stop and go."""

    shape: Literal["elastic"]
    max_gpus: Positive
    """Most GPUs in use at any time."""
    job_gpus: PositiveWhole | None = None
    """GPUs of one job; one node when left out."""


class GangCampaign(CampaignBase):
    """One run: a fixed number of GPUs from start to finish without pause."""

    shape: Literal["gang"]
    gpus: Annotated[tuple[PositiveWhole, ...], OneOrMore, WriteOneOrMore, Field(min_length=1)]
    """Size of the run in GPUs, or a list to choose from."""
    scaling: dict[PositiveWhole, Annotated[Positive, Field(le=1.5)]] = Field(default_factory=dict)
    """Efficiency at each size, 1 when left out."""
    max_duration: SpanText | None = None
    """The time-to-train limit."""


Campaign = Annotated[ElasticCampaign | GangCampaign, Field(discriminator="shape")]


class HeldCommitment(Record):
    """A commitment signed before the horizon; its cost is sunk, its capacity and expiry count."""

    id: Identifier
    pool: Identifier
    kind: Literal["burst_window", "reserved", "dedicated", "owned"]
    gpus: Positive
    start: Day
    end: Day
    price: NonNegative
    """Currency per GPU-hour."""
    tenor: SpanText | None = None
    """Term as signed."""
    renewable_as: Identifier | None = None
    """Offer under which it can be renewed."""


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
    at: Annotated[datetime, BeforeValidator(_read_moment)]
    """Date and time, without a zone."""
    gpus: NonNegative


class LadderPolicy(Record):
    """How much may expire at once."""

    window: SpanText
    max_expiring_share: Share
    """Most GPUs expiring in a window, as a share of the GPUs committed at its start."""
    exempt_gpus: NonNegative = 0.0
    """GPUs that may expire in a window on top of the share."""
    min_tenor: SpanText | None = None
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
    description: Annotated[str, Field(max_length=30_000)] = ""
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


def is_finite(value: float | None) -> bool:
    """Tell whether an optional limit is really a limit."""
    return value is not None and math.isfinite(value)
