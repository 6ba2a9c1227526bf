"""Offers: metered capacity, and capacity committed in whole lots for a term."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from gpuladder.fields import (
    Day,
    Identifier,
    NonNegative,
    NonNegativeWhole,
    OneOrMore,
    Positive,
    PositiveShare,
    PositiveWhole,
    Record,
    Share,
    SpanText,
    TermText,
    WriteOneOrMore,
    YearlyChange,
)
from gpuladder.sizing.owned import Depreciation, Financing, ResidualPoint
from gpuladder.timegrid import Span


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
    start_every: TermText | None = None
    """Terms start only on these dates, counted from the horizon start."""


class LeasedOffer(PricedOffer, CommittedOffer):
    """Committed capacity of a provider, held at a price per GPU-hour."""

    price: Positive | Annotated[tuple[Positive, ...], Field(min_length=1)] | None = None
    """Currency per GPU-hour held; with several tenors a list of as many prices."""
    tenor: Annotated[tuple[TermText, ...], OneOrMore, WriteOneOrMore, Field(min_length=1)]
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

    model_config = ConfigDict(
        json_schema_extra={"not": {"required": ["residual_per_year", "residual_curve"]}}
    )

    kind: Literal["owned"]
    capex_per_gpu: Positive
    """Purchase price per GPU, currency."""
    opex_per_gpu_hour: NonNegative = 0.0
    """Power, space and staff, currency per GPU-hour."""
    life: TermText
    """Its tenor: how long it serves."""
    residual_per_year: Share | None = None
    """Share of the value kept each year, geometric; none when left out, unless a curve or a share
    per generation is given."""
    residual_curve: tuple[ResidualPoint, ...] = ()
    """Share of the price left at each age, straight between the ages and level after the last; in
    place of `residual_per_year`."""
    residual_per_generation: Share | None = None
    """Share of the value left when its hardware is superseded, on top of its age."""
    turnovers: tuple[Day, ...] = ()
    """Dates of further successors, each of which counts like `superseded`."""
    financing: Financing | None = None
    """The loan it is bought with; paid in cash when left out."""
    depreciation: Depreciation = Depreciation()
    """How the books write it off; straight line over its life when left out."""


Offer = Annotated[
    OnDemandOffer | SpotOffer | BurstWindowOffer | ReservedOffer | DedicatedOffer | OwnedOffer,
    Field(discriminator="kind"),
]
