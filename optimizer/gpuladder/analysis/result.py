"""The result: an analysed plan with everything that is said of it, and what to say without one.

Money is in the scenario's currency; see ``rows`` for the rows of the tables.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from gpuladder.analysis.answers import Answers
from gpuladder.analysis.rows import (
    CampaignRow,
    CampaignUseRow,
    CapacityRow,
    CashRow,
    CommitmentRow,
    CostRow,
    ExpiryRow,
    GapRow,
    HeldRow,
    LadderRow,
    LockInRow,
    PoolRow,
    QuarterCostRow,
    UnallocatedRow,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from gpuladder.errors import Problem
    from gpuladder.plan import Plan
    from gpuladder.scenario.schema import Scenario
    from gpuladder.sizing.invoice_tables import (
        InvoiceRow,
        InvoiceTotalRow,
        OwnedOrderRow,
        OwnedQuarterRow,
    )

__all__ = [
    "AuditOutcome",
    "CampaignRow",
    "CampaignUseRow",
    "CapacityRow",
    "CashRow",
    "CommitmentRow",
    "ConflictRow",
    "CostRow",
    "ExpiryRow",
    "GapRow",
    "HeldRow",
    "Infeasibility",
    "LadderRow",
    "LimitExcess",
    "LockInRow",
    "MetricValue",
    "PoolRow",
    "QuarterCostRow",
    "Result",
    "Shortfall",
    "Tables",
    "UnallocatedRow",
    "UnboundedRow",
]

MetricValue = float | int | str | None


class AuditOutcome(Protocol):
    """What the result needs to know of an audit; the audit's own report fits."""

    @property
    def passed(self) -> bool:
        """Whether nothing was found."""

    def record(self) -> dict[str, object]:
        """Return ``passed`` and the findings as values that JSON can hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """Every table of a result; all empty without a plan."""

    commitments: tuple[CommitmentRow, ...] = ()
    held: tuple[HeldRow, ...] = ()
    campaigns: tuple[CampaignRow, ...] = ()
    campaign_use: tuple[CampaignUseRow, ...] = ()
    capacity: tuple[CapacityRow, ...] = ()
    gaps: tuple[GapRow, ...] = ()
    pools: tuple[PoolRow, ...] = ()
    costs: tuple[CostRow, ...] = ()
    unallocated: tuple[UnallocatedRow, ...] = ()
    quarters: tuple[QuarterCostRow, ...] = ()
    cash: tuple[CashRow, ...] = ()
    lock_in: tuple[LockInRow, ...] = ()
    ladder: tuple[LadderRow, ...] = ()
    expiries: tuple[ExpiryRow, ...] = ()
    invoice: tuple[InvoiceRow, ...] = ()
    invoice_totals: tuple[InvoiceTotalRow, ...] = ()
    owned_orders: tuple[OwnedOrderRow, ...] = ()
    owned_quarters: tuple[OwnedQuarterRow, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortfall:
    """A campaign that cannot be served: needed less what it could have, reference GPU-hours."""

    id: str
    short_gpu_hours: float
    fix: str

    @property
    def reading(self) -> str:
        """The GPU-hours in words, with more digits where they are few: never "0" of something."""
        hours = self.short_gpu_hours
        if abs(hours) < 0.1:
            return f"{hours:.2g}"
        is_whole = abs(hours - round(hours)) < 1e-6 or abs(hours) >= 1000
        return f"{hours:,.0f}" if is_whole else f"{hours:,.1f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitExcess:
    """A limit that cannot be kept, and by how much, in the limit's own unit."""

    limit: str
    key: str
    excess: float
    fix: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictRow:
    """One limit of a smallest set of limits that cannot all be kept."""

    conflict: int
    """Which set, from 1; they have no limit in common."""
    limit: str
    key: str
    reading: str
    """What the limit asks for, in plain words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Infeasibility:
    """Who is short of how much, and which limits are in the way."""

    campaigns: tuple[Shortfall, ...] = ()
    limits: tuple[LimitExcess, ...] = ()
    conflicts: tuple[ConflictRow, ...] = ()
    """Empty where none was found in time, or where only whole numbers are in the way."""
    is_integrality_only: bool = False
    """Whether a plan exists with parts of lots, nodes and runs, and none with whole ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnboundedRow:
    """An order that pays without end."""

    offer: str
    start: date
    buyers: tuple[str, ...]
    """Backfill buyers that pay more for it than it costs; empty where what it keeps does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A plan with its meaning: the only thing a report is made from."""

    scenario: Scenario
    plan: Plan
    audit: AuditOutcome | None = None
    """None when the plan was not audited."""
    warnings: tuple[Problem, ...] = ()
    metrics: Mapping[str, MetricValue] = field(default_factory=dict)
    """Every key of ``metrics.METRICS``, in that order; empty without a plan."""
    tables: Tables = Tables()
    answers: Answers = field(default_factory=Answers)
    """What was asked beside the plan; empty when nothing was."""
    infeasible: Infeasibility | None = None
    """Present only when the status is infeasible."""
    unbounded: tuple[UnboundedRow, ...] = ()
    """Present only when the scenario pays for buying without end."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Time of each stage: load, build, solve, analyse, report, as far as run."""
    solver_log: str = ""
    """What the solver said; empty when the result was not just solved."""
