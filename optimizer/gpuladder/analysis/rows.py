"""What an analysed plan says: frozen rows, one class per table.

Money is in the scenario's currency. "Present value" means discounted to the horizon start;
"undiscounted" means as paid. GPU-hours are hours of one GPU. ``start`` and ``from`` dates are
inclusive, ``end`` and ``to`` dates exclusive. A number that cannot be told is None.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitmentRow:
    """One order to sign: lots of one offer that start on one date."""

    offer: str
    pool: str
    provider: str
    hardware: str
    kind: str
    start: date
    end: date
    """Day after the last day of the term."""
    sign_by: date
    """Start less the offer's lead, not before the horizon start."""
    lots: int
    gpus: int
    price: float
    """Holding price locked at its start, currency per GPU-hour; owned: in-horizon average."""
    cost: float
    """Present value of holding it inside the horizon (setup, and of bought hardware capex, loan,
    opex and residual value included)."""
    usage_cost: float
    """Present value of what a flex reservation charges for the GPU-hours drawn; 0 otherwise."""
    cost_undiscounted: float
    """The same as ``cost``, undiscounted."""
    tail: float
    """Undiscounted cost of the term after the horizon end; bought hardware is valued there, its
    loan settled, and has none."""
    upfront: float
    """Undiscounted payment on the start date (upfront share, setup, capex or down payment)."""
    break_even_utilisation: float | None
    """Share of its hours that must be used to beat on-demand: holding price ÷ on-demand price."""
    utilisation: float | None
    """Share of the pool's committed GPU-hours over the term, in the horizon, that own work used."""
    rationale: str
    """Why, in one sentence made of numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldRow:
    """A commitment already held; its cost is sunk and no part of the net present cost."""

    id: str
    pool: str
    kind: str
    gpus: float
    start: date
    end: date
    price: float
    cost: float
    """Present value of its sunk cost inside the horizon."""
    cost_undiscounted: float
    """Undiscounted sunk cost inside the horizon."""
    idle_gpu_hours: float
    """Its share of the pool's idle GPU-hours."""
    idle_cost: float
    """Present value of those hours at its price."""
    tail: float
    """Undiscounted cost after the horizon end."""
    renewable_as: str | None
    """Offer under which it can be renewed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignRow:
    """What the plan does with one campaign, and what that costs."""

    id: str
    team: str | None
    shape: str
    """elastic or gang."""
    outcome: str
    """planned, dropped or partial."""
    earliest: date
    deadline: date
    start: date | None
    """First day of use (elastic: of the first period with use); None when dropped."""
    end: date | None
    """Day after the last day of use; None when dropped."""
    pool: str | None
    """Pool or pools, the most used first, joined by ``+``; None when dropped."""
    spot_offer: str | None
    """Spot offer or offers used, joined by ``+``."""
    gpus: float
    """Gang: its size; elastic: most GPUs in use in any period."""
    gpu_hours: float
    """Used, stable and spot."""
    spot_gpu_hours: float
    committed_gpu_hours: float
    """GPU-hours used of committed capacity, held included."""
    work: float
    """Work asked for, reference GPU-hours, waste included."""
    done_share: float
    """Share of the work that is done."""
    spot_share: float
    """Share of its work done that is done on spot."""
    direct_cost: float
    """Present value: spot at its price, stable at the pool's average cost of used hours."""
    idle_cost: float
    """Present value of the idle capacity charged to it."""
    loaded_cost: float
    runs: float
    """Runs completed by the deadline: 1, 0 when dropped, the share done when partial."""
    cost_per_run: float | None
    """Loaded cost ÷ runs."""
    drop_cost: float
    """Charged for what is not done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignUseRow:
    """Where a campaign's GPUs come from in one period."""

    campaign: str
    period_start: date
    period_end: date
    pool: str
    spot_offer: str | None
    """None on the pool's stable capacity."""
    gpus: float
    """Average over the period."""
    gpu_hours: float
    committed_gpu_hours: float
    cost: float
    """Present value, direct."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityRow:
    """One pool in one period: GPUs by kind against their use, all averages over the period."""

    pool: str
    period_start: date
    period_end: date
    hours: float
    held_gpus: float
    burst_window_gpus: float
    reserved_gpus: float
    dedicated_gpus: float
    owned_gpus: float
    flex_gpus: float
    """Held under flex reservations (in no other column); usable only as drawn."""
    drawn_gpus: float
    on_demand_gpus: float
    spot_gpus: float
    demand_gpus: float
    demand_peak_gpus: float
    """Highest level of the demand series in the period."""
    campaign_gpus: float
    """Campaigns' use of stable capacity; their spot use is ``spot_gpus``."""
    backfill_gpus: float
    committed_used_gpus: float
    """Committed capacity used by campaigns and demand."""
    idle_gpus: float
    """Committed, and used by no campaign, demand or backfill."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GapRow:
    """A gap: a longest run of consecutive periods with idle committed capacity in a pool."""

    pool: str
    start: date
    end: date
    idle_gpu_hours: float
    idle_cost: float
    """Present value of holding them; held commitments at 0, their cost being sunk."""
    held_idle_cost: float
    """Present value, at the held price, of the idle hours of held commitments."""
    backfilled_gpu_hours: float
    backfilled_cost: float
    """Present value of holding the backfilled hours."""
    backfill_revenue: float
    """Present value, zero or negative."""
    net_cost: float
    """idle_cost + backfilled_cost + backfill_revenue: what hours without own work cost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolRow:
    """Commitment ratios of one pool over the horizon."""

    pool: str
    used_gpu_hours: float
    """By campaigns and demand, spot included."""
    committed_gpu_hours: float
    """Committed and held."""
    committed_used_gpu_hours: float
    backfilled_gpu_hours: float
    idle_gpu_hours: float
    coverage: float | None
    utilisation: float | None
    utilisation_with_backfill: float | None
    cost: float
    """Present value of committed, metered and spot capacity; held commitments not included."""
    held_cost: float
    """Present value of held commitments inside the horizon."""
    on_demand_cost: float | None
    """Present value of the same use at the on-demand list price."""
    effective_savings_rate: float | None
    """1 − (cost + held_cost) ÷ on_demand_cost."""
    savings_base: str
    """The on-demand price it is measured against, or why there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CostRow:
    """One line of the net present cost; the lines add up to the objective."""

    line: str
    """One of ``plan.COST_LINES``."""
    amount: float


@dataclass(frozen=True, slots=True, kw_only=True)
class UnallocatedRow:
    """A named part of the cost that no campaign is charged for, present value."""

    part: str
    amount: float


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarterCostRow:
    """One cost line in one calendar quarter."""

    quarter_start: date
    line: str
    """A line of ``plan.COST_LINES``, or ``held`` (sunk, so no part of the objective)."""
    present_value: float
    """Lumps spread over the term's in-horizon hours; adds up to the cost line."""
    cash: float
    """Undiscounted, as billed."""
    accrual: float
    """Undiscounted, as consumed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CashRow:
    """One cost line in one calendar month, full terms, so also after the horizon end."""

    month_start: date
    line: str
    """A line of ``plan.COST_LINES`` without ``commitment_tail`` and ``drop``, or ``held``."""
    cash: float
    """Undiscounted, as billed; money received is negative. Bought hardware is valued, and its loan
    settled, at the earlier of horizon end and end of life."""
    accrual: float
    """Undiscounted, as consumed; adds up to the same as ``cash`` over all months."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LockInRow:
    """What is still owed on one date under signed commitments, undiscounted, full terms."""

    at: date
    quarter_start: bool
    """Whether it is the first day of a calendar quarter."""
    new_obligation: float
    """Cost of the remaining terms of the plan's orders signed by then, prepaid or not."""
    held_obligation: float
    """The same for held commitments."""
    obligation: float
    """New and held."""
    loans: float
    """Of the obligation, instalments of loans on hardware the plan buys, as signed."""
    unpaid: float
    """Of the obligation, what is not yet paid."""
    after_horizon: float
    """Of the obligation, what falls after the horizon end."""
    average_months: float | None
    """Remaining months of the terms counted, weighted by GPUs; None when nothing is committed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderRow:
    """Expiries in one ladder window, with held commitments alone (before) and the plan (after)."""

    window_start: date
    window_end: date
    committed_before: float
    """GPUs committed at the window's start (past the horizon: at its end)."""
    expiring_before: float
    """GPUs whose term ends after the window's start and by its end."""
    share_before: float | None
    """None when nothing is committed at the window's start."""
    committed_after: float
    expiring_after: float
    share_after: float | None
    allowed_gpus: float | None
    """What the ladder policy lets expire in this window; None without a policy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiryRow:
    """GPUs whose terms end in one calendar quarter (end dates after its start, by its end)."""

    quarter_start: date
    held_gpus: float
    """Before: held commitments alone."""
    new_gpus: float
    """Added by the plan."""
    total_gpus: float
    """After."""
