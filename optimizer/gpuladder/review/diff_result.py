"""What differs between two runs: frozen rows, one class per table.

``before`` is the first run and ``after`` the second. A change is after less before; it is None
where the two cannot be compared, and the run's remarks say why. Money is in each run's currency.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import StrEnum

Plain = str | int | float | bool | None | list["Plain"] | dict[str, "Plain"]
"""A value as JSON holds it."""


class Kind(StrEnum):
    """What happened to something between the runs."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


class Reading(StrEnum):
    """What the two net present costs say about each other."""

    SAME = "same"
    """The plans cost the same."""
    HIGHER = "higher"
    """Every plan of the second run costs more than the plan of the first."""
    LOWER = "lower"
    """Every plan of the first run costs more than the plan of the second."""
    NOT_TOLD_APART = "not_told_apart"
    """The plans differ by no more than their proven gaps: the search could make the difference."""
    NOT_COMPARABLE = "not_comparable"
    """In different currencies or over different horizons."""
    NO_PLAN = "no_plan"
    """One of the runs, or both, have no plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """Which run it is, and how sure its answer."""

    scenario: str
    sha256: str
    status: str
    termination: str
    objective: float | None
    bound: float | None
    gap: float | None
    currency: str
    horizon_start: date
    horizon_end: date
    is_audited: bool
    """Whether the audit finds nothing against the run."""
    gpuladder: str | None
    """Version that solved it."""

    @property
    def has_plan(self) -> bool:
        """Whether there is a plan."""
        return self.objective is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure in both runs."""

    before: float | None
    after: float | None
    change: float | None
    """After less before; None where the two are not compared, or one is not known."""
    change_share: float | None
    """Change ÷ |before|; None where that is 0 or there is no change to tell."""

    @property
    def differs(self) -> bool:
        """Whether there is a difference to show, comparable or not."""
        return self.change != 0.0 if self.change is not None else self.before != self.after


@dataclass(frozen=True, slots=True, kw_only=True)
class InputChange:
    """One key of the scenario that differs, defaults written out."""

    path: str
    """As for ``--set``: ``offers.metered.price``; rows without an id by their dates or names."""
    kind: Kind
    """Added and removed for whole rows."""
    before: Plain
    after: Plain


@dataclass(frozen=True, slots=True, kw_only=True)
class DemandFacts:
    """A demand series in short."""

    rows: int
    first: str
    last: str
    mean_gpus: float
    """Over its rows."""
    peak_gpus: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DemandChange:
    """A pool's demand series that differs."""

    pool: str
    kind: Kind
    rows_changed: int
    """Times at which the series differ, or only one of them has a row."""
    before: DemandFacts | None
    after: DemandFacts | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderFacts:
    """An order in one run."""

    start: date
    end: date
    sign_by: date
    lots: int
    gpus: int
    cost: float
    """Present value inside the horizon, charges for use included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderChange:
    """An order that only one run has, or that differs."""

    offer: str
    pool: str
    order_kind: str
    kind: Kind
    differs: tuple[str, ...]
    """Which of its facts differ."""
    before: OrderFacts | None
    after: OrderFacts | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignFacts:
    """A campaign in one run."""

    outcome: str
    start: date | None
    end: date | None
    pool: str | None
    spot_offer: str | None
    gpus: float
    loaded_cost: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignChange:
    """A campaign that only one run has, or with which the plans do something else."""

    id: str
    kind: Kind
    differs: tuple[str, ...]
    """Which of its facts differ."""
    before: CampaignFacts | None
    after: CampaignFacts | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CostChange:
    """One line of the net present cost in both runs."""

    line: str
    amount: Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricChange:
    """One metric in both runs."""

    metric: str
    unit: str
    value: Figure | None
    """None for dates and text."""
    before: str | None = None
    after: str | None = None
    """Dates and text."""

    @property
    def differs(self) -> bool:
        """Whether there is a difference to show."""
        return self.before != self.after if self.value is None else self.value.differs


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceChange:
    """One shadow price that changed, matched by limit, key and period."""

    limit: str
    key: str
    period: date | None
    kind: Kind
    """Added: the limit has a price only in the second run; removed: only in the first."""
    unit_before: str | None
    unit_after: str | None
    fixed_plan_dual: Figure
    marginal_up: Figure
    marginal_down: Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortfallChange:
    """Who or what stands in the way of a plan, in either run; in the unit of each."""

    what: str
    """``campaign`` or the name of a limit."""
    key: str
    amount: Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """One figure that must not rise by more than a share."""

    metric: str
    allowed_share: float
    value: Figure
    rise_share: float | None
    """(after − before) ÷ |before|; None where it cannot be told or before is 0."""
    is_tripped: bool
    why: str
    """The finding in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """All that differs between two runs; everything that does not is left out."""

    before: RunFacts
    after: RunFacts
    reading: Reading
    objective: Figure
    is_same_scenario: bool
    is_money_comparable: bool
    """Same currency and same horizon."""
    remarks: tuple[str, ...]
    """What to know before comparing: why figures are not compared, or not like with like."""
    inputs: tuple[InputChange, ...]
    demand: tuple[DemandChange, ...]
    orders: tuple[OrderChange, ...]
    orders_unchanged: int
    campaigns: tuple[CampaignChange, ...]
    campaigns_unchanged: int
    costs: tuple[CostChange, ...]
    metrics: tuple[MetricChange, ...]
    shadow_prices: tuple[PriceChange, ...]
    shadow_prices_asked: tuple[bool, bool]
    shortfalls: tuple[ShortfallChange, ...]
    gates: tuple[Gate, ...] = ()

    @property
    def is_tripped(self) -> bool:
        """Whether a gate was tripped."""
        return any(gate.is_tripped for gate in self.gates)
