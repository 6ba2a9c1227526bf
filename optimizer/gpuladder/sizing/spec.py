"""The workload of a campaign in seven lines, and the terms of its invoice, as they are written.

The seven lines are ``run`` (single-run scale and coupling), ``cadence``, ``time_limit``,
``preemption``, ``checkpoints`` (cadence and failure rate), ``mfu`` and ``placement``; when it runs
is said by the campaign's own dates.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from gpuladder.fields import (
    Identifier,
    NonNegative,
    NonNegativeCount,
    Positive,
    PositiveCount,
    PositiveShare,
    PositiveWhole,
    Record,
    Share,
    TermText,
)
from gpuladder.sizing.memory import USABLE_SHARE, WEIGHT_BYTES
from gpuladder.sizing.placement import Communication
from gpuladder.sizing.scaling import MOST_EFFICIENCY, curve
from gpuladder.sizing.work import Method, Recompute

MarketClass = Literal["hyperscaler", "neocloud", "decentralised"]


class Run(Record):
    """Line 1: the scale of a single run, and how its pieces are coupled."""

    method: Method = Method.PRETRAINING
    """pretraining, full_finetune, lora, qlora or rl."""
    params: PositiveCount
    """Parameters of the model, all experts included; 13e9 or 13B."""
    active_params: PositiveCount | None = None
    """Parameters a token passes through (mixture of experts); all when left out."""
    tokens: PositiveCount
    """Tokens trained on in one run, all epochs; 2e12 or 2T."""
    generated_tokens: NonNegativeCount = 0.0
    """Tokens of rollouts in one run (reinforcement learning)."""
    layers: PositiveWhole | None = None
    """Layers; estimated from the parameters when left out."""
    hidden: PositiveWhole | None = None
    """Width of the model; estimated from the parameters when left out."""
    heads: PositiveWhole | None = None
    """Attention heads; 128 wide each when left out."""
    sequence: PositiveWhole | None = None
    """Tokens of context; without it the attention term is left out."""
    micro_batch: PositiveWhole = 1
    """Sequences in memory at once on one copy of the model."""
    recompute: Recompute = Recompute.SELECTIVE
    """Which activations are computed again: none, selective (attention) or full."""
    weight_bytes: Positive = WEIGHT_BYTES
    """Bytes per weight, 2 in BF16."""
    usable_share: PositiveShare = USABLE_SHARE
    """Share of the memory of a GPU that a run can use; the rest is fragmentation and libraries."""
    communication: Communication = Communication.PERIODIC
    """constant (tensor or expert parallel) or periodic (data or pipeline parallel)."""
    scaling: Annotated[dict[PositiveWhole, Positive], Field(min_length=1)] | None = None
    """Measured throughput by number of GPUs, in any unit."""
    communication_share: Annotated[NonNegative, Field(lt=1)] | None = None
    """Share of a step, at the smallest size, that does not shrink with more GPUs."""
    runs: PositiveWhole = 1
    """Runs of this size in the campaign."""

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if self.active_params is not None and self.active_params > self.params:
            msg = (
                f"`active_params` ({self.active_params:g}) is more than `params` "
                f"({self.params:g}); `params` counts all experts"
            )
            raise ValueError(msg)
        if (self.layers is None) != (self.hidden is None):
            msg = (
                "`layers` and `hidden` are given together or not at all; add the other one, or "
                "leave both out to have them guessed"
            )
            raise ValueError(msg)
        if self.scaling is not None and self.communication_share is not None:
            msg = "`scaling` and `communication_share` say the same twice; leave one out"
            raise ValueError(msg)
        points = () if self.scaling is None else curve(self.scaling)
        for point in points:
            if point.efficiency > MOST_EFFICIENCY:
                msg = (
                    f"`scaling`: {point.gpus:,} GPUs do {point.throughput:g}, "
                    f"{point.efficiency:,.3g} times as much each as {points[0].gpus:,}, which do "
                    f"{points[0].throughput:g}; give the throughput of the whole cluster"
                )
                raise ValueError(msg)
        return self

    @property
    def active(self) -> float:
        """Parameters that a token passes through."""
        return self.params if self.active_params is None else self.active_params


class Cadence(Record):
    """Line 2: how often the campaign comes back; its ``repeat`` when it states none."""

    every: TermText
    count: Annotated[PositiveWhole, Field(le=1000)]
    """How many times in all, the first included."""


class Checkpoints(Record):
    """Line 5: checkpoint cadence and failure rate; the preemption class where left out."""

    interval_minutes: Positive | Literal["auto"] | None = None
    """Minutes between checkpoints, or `auto`."""
    write_minutes: NonNegative | None = None
    """Time to write one, minutes."""
    restart_minutes: NonNegative | None = None
    """Time to be running again after an interruption, minutes."""
    node_mtbf_hours: Positive | None = None
    """Mean time between hardware failures of one node, hours; the hardware's when left out."""
    size_gb: NonNegative | None = None
    """Size of one checkpoint, GB; 14 bytes per parameter when left out."""
    kept: Positive = 1.0
    """Checkpoints kept at once."""


def _or_a_number(schema: dict[str, Any]) -> None:
    """Say in the JSON schema that one number may stand for the record."""
    whole = dict(schema)
    schema.clear()
    schema["anyOf"] = [{"type": "number", "minimum": 0}, whole]


def _read_band(value: object) -> object:
    """Let a number stand for the expected MFU."""
    return {"expected": value} if isinstance(value, int | float | str) else value


class MfuBand(Record):
    """Line 6: the realised share of peak, as a band."""

    model_config = ConfigDict(json_schema_extra=_or_a_number)

    expected: Positive
    """Share of the dense peak, 0.4 is 40 %."""
    low: Positive | None = None
    """Pessimistic; the expected one when left out."""
    high: Positive | None = None
    """Optimistic; the expected one when left out."""
    generation: Positive | None = None
    """While generating rollouts; as in training when left out."""
    hardware: Identifier | None = None
    """Hardware it was measured on; the reference hardware when left out."""

    @property
    def band(self) -> tuple[float, float, float]:
        """Low, expected and high."""
        low = self.expected if self.low is None else self.low
        high = self.expected if self.high is None else self.high
        return low, self.expected, high


class Placement(Record):
    """Line 7: where it may run; dates are the campaign's own."""

    hardware: tuple[Identifier, ...] | None = None
    providers: tuple[Identifier, ...] | None = None
    residency: tuple[Identifier, ...] | None = None
    verified: bool = False
    """Only providers whose machines are verified."""


class Workload(Record):
    """What a campaign trains, in seven lines, from which its GPU-hours are sized."""

    run: Run
    cadence: Cadence | None = None
    time_limit: TermText | None = None
    """Line 3: the time-to-train limit of one run."""
    preemption: Literal["never", "checkpointed"] = "checkpointed"
    """Line 4: whether a run survives being stopped (from its checkpoints) or must not be."""
    checkpoints: Checkpoints = Checkpoints()
    mfu: Annotated[MfuBand, BeforeValidator(_read_band)]
    """Line 6: realised share of peak; one number, or a band."""
    placement: Placement = Placement()


class Range(Record):
    """A low and a high estimate."""

    model_config = ConfigDict(json_schema_extra=_or_a_number)

    low: NonNegative
    high: NonNegative

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.low > self.high:
            msg = f"`low` ({self.low:g}) is above `high` ({self.high:g})"
            raise ValueError(msg)
        return self


def _read_range(value: object) -> object:
    """Let a number stand for a range of no width."""
    return {"low": value, "high": value} if isinstance(value, int | float | str) else value


Estimate = Annotated[Range, BeforeValidator(_read_range)]


class ProviderTerms(Record):
    """What a provider charges beside GPU-hours."""

    provider: Identifier
    market: MarketClass | None = None
    """hyperscaler, neocloud or decentralised; known by name when left out."""
    verified: bool | None = None
    """Whether its machines are verified; those of decentralised markets are not when left out."""
    storage_per_gb_month: NonNegative | None = None
    egress_per_gb: NonNegative | None = None
    minimum_credit: NonNegative | None = None
    """Least that is bought or spent per campaign, currency; list terms of a decentralised market
    when left out, and none elsewhere."""
    escrow_share: Share | None = None
    """Share of the expected bill to be paid in before the start; likewise."""
    queue_hours: NonNegative = 0.0
    """Hours for which people wait for a start."""


class InvoiceTerms(Record):
    """What an invoice adds to GPU-hours; not a decision of the model."""

    utilisation_multiplier: Estimate = Range(low=1.0, high=1.0)
    """Allocated over busy GPU-hours, 1 or more; MFU is another loss and is not part of it."""
    storage_per_gb_month: Estimate | None = None
    """List rates by market when left out."""
    egress_per_gb: Estimate | None = None
    """List rates by market when left out."""
    storage_months: Positive | None = None
    """Months for which a campaign's data is kept; its own dates when left out."""
    tooling_cost: NonNegative = 0.0
    """Tools and set-up, currency per campaign."""
    staff_per_hour: NonNegative = 0.0
    """Cost of people who wait in a queue, currency per hour."""
    providers: tuple[ProviderTerms, ...] = ()

    @model_validator(mode="after")
    def _allocates_what_is_busy(self) -> Self:
        low = self.utilisation_multiplier.low
        if low < 1.0:
            msg = (
                f"`utilisation_multiplier` ({low:g}) is below 1: no more can be busy than is "
                "allocated" + (f"; for {low:.0%} busy write {1 / low:.4g}" if low > 0 else "")
            )
            raise ValueError(msg)
        return self
