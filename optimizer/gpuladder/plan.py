"""The plan: every decision, the proof that comes with it, and where it came from.

A plan holds only what was decided. Costs, metrics and tables are derived from it and the scenario,
so that a saved plan can be audited and rendered again without a solver.
"""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict

COST_LINES = (
    "on_demand",
    "spot",
    "burst_window",
    "reserved",
    "dedicated",
    "usage",
    "setup",
    "owned_capex",
    "owned_loan",
    "owned_opex",
    "owned_residual",
    "commitment_tail",
    "drop",
    "backfill_revenue",
)
"""Lines of the net present cost, in order. ``owned_residual`` and ``backfill_revenue`` are negative
or zero; ``usage`` is what flex reservations charge for use; every line is discounted."""


class Frozen(BaseModel):
    """Base of the plan's records."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Status(StrEnum):
    """What the plan is; read together with ``Termination``."""

    OPTIMAL = "optimal"
    """Proven to be within the gap asked for."""
    FEASIBLE = "feasible"
    """Every limit holds, but the gap asked for is not proven."""
    INFEASIBLE = "infeasible"
    """Proven: no plan exists."""
    NO_PLAN = "no_plan"
    """The solver ended without a plan and without a proof that there is none."""


class Termination(StrEnum):
    """Why the solver stopped."""

    GAP_REACHED = "gap_reached"
    TIME_LIMIT = "time_limit"
    INTERRUPTED = "interrupted"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    SOLVER_ERROR = "solver_error"


class Order(Frozen):
    """Lots of one committed offer that start on one date."""

    offer: str
    """Expanded offer id (``offer@tenor`` where tenors were a list)."""
    start: date
    lots: int


class MeteredUse(Frozen):
    """GPUs of an on-demand offer at one level of a period's demand duration curve."""

    offer: str
    period: date
    """First day of the period."""
    level: int
    """Index of the level in the pool's duration curve of that period, ascending by demand; 0 is
    the only level of a period without demand rows."""
    gpus: float
    """GPUs in use during that level's share of the period."""


class FlexUse(Frozen):
    """GPUs drawn from a flex reservation by campaigns, averaged over a period.

    Draws serve campaigns alone, never baseline demand or backfill.
    """

    offer: str
    period: date
    gpus: float


class StableUse(Frozen):
    """GPUs of a pool's stable capacity that an elastic campaign uses, averaged over a period."""

    campaign: str
    pool: str
    period: date
    gpus: float


class SpotUse(Frozen):
    """GPUs of a spot offer that an elastic campaign uses, averaged over a period."""

    campaign: str
    offer: str
    period: date
    gpus: float


class Run(Frozen):
    """The mode chosen for a gang: where, how large, from when, for how long."""

    campaign: str
    pool: str
    spot_offer: str | None
    """The spot offer it runs on; None on the pool's stable capacity."""
    gpus: int
    start: date
    hours: float
    """Wall-clock hours from start to finish."""


class Dropped(Frozen):
    """Share of a campaign's work that is not done."""

    campaign: str
    share: float


class BackfillSale(Frozen):
    """GPUs of a pool's idle committed capacity sold to a buyer, averaged over a period."""

    buyer: str
    pool: str
    period: date
    gpus: float


class CostLine(Frozen):
    """One line of the net present cost; all lines add up to the objective."""

    line: str
    amount: float


class ScenarioRef(Frozen):
    """Which scenario the plan answers."""

    name: str
    sha256: str


class SolveOptions(Frozen):
    """The options the plan was solved under."""

    time_limit_seconds: float
    relative_gap: float
    threads: int
    seed: int


class Plan(Frozen):
    """An answer to a scenario. Quantities below the tolerance 1e-9 are left out."""

    schema_id: Literal["gpuladder.plan/1"] = "gpuladder.plan/1"
    scenario: ScenarioRef
    currency: str
    status: Status
    termination: Termination
    objective: float | None
    """Net present cost, currency; None without a plan."""
    bound: float | None
    """Proven floor of the net present cost, currency."""
    gap: float | None
    """(objective − bound) ÷ |objective|."""
    options: SolveOptions
    versions: dict[str, str]
    seconds: dict[str, float]
    orders: tuple[Order, ...] = ()
    on_demand: tuple[MeteredUse, ...] = ()
    drawn: tuple[FlexUse, ...] = ()
    stable_use: tuple[StableUse, ...] = ()
    spot_use: tuple[SpotUse, ...] = ()
    runs: tuple[Run, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    backfill: tuple[BackfillSale, ...] = ()
    costs: tuple[CostLine, ...] = ()

    @property
    def has_quantities(self) -> bool:
        """Tell whether there is a plan to read."""
        return self.status in (Status.OPTIMAL, Status.FEASIBLE)
