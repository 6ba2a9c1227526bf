"""The names of the metrics: one table of units and definitions, read by code, pages and sheets."""

from __future__ import annotations

from dataclasses import dataclass

CURRENCY = "currency"
GPU_HOURS = "GPU-hours"
SHARE = "share"


@dataclass(frozen=True, slots=True)
class Metric:
    """Unit and definition of one metric."""

    unit: str
    """``currency`` (the scenario's), ``GPU-hours``, ``GPUs``, ``share`` (0…1), ``months``,
    ``runs``, ``count``, ``date`` (ISO text) or ``text``."""
    definition: str


METRICS: dict[str, Metric] = {
    "net_present_cost": Metric(CURRENCY, "objective: all cost lines, discounted to the start"),
    "committed_cost": Metric(
        CURRENCY,
        "present value of holding new commitments in the horizon: leases, setup, owned hardware",
    ),
    "metered_cost": Metric(CURRENCY, "present value of on-demand, spot and flex use"),
    "held_cost": Metric(
        CURRENCY, "present value of held commitments in the horizon; sunk, not in the objective"
    ),
    "direct_cost": Metric(CURRENCY, "present value of what campaigns used"),
    "idle_cost_charged": Metric(CURRENCY, "present value of idle capacity charged to campaigns"),
    "loaded_cost": Metric(CURRENCY, "direct cost and idle cost charged, all campaigns"),
    "unallocated_cost": Metric(
        CURRENCY, "present value of all that no campaign is charged for; parts in their own table"
    ),
    "backfill_revenue": Metric(CURRENCY, "present value of backfill sales, zero or negative"),
    "runs_completed": Metric(
        "runs", "campaigns done by their deadline; one partly dropped counts by its share done"
    ),
    "campaigns_planned": Metric("count", "campaigns done in full"),
    "campaigns_partial": Metric("count", "elastic campaigns done in part"),
    "campaigns_dropped": Metric("count", "campaigns not done"),
    "cost_per_completed_run": Metric(CURRENCY, "loaded cost ÷ runs completed"),
    "direct_cost_per_completed_run": Metric(CURRENCY, "direct cost ÷ runs completed"),
    "idle_cost_per_completed_run": Metric(CURRENCY, "idle cost charged ÷ runs completed"),
    "used_gpu_hours": Metric(GPU_HOURS, "used by campaigns and demand, spot included"),
    "spot_gpu_hours": Metric(GPU_HOURS, "used by campaigns on spot"),
    "on_demand_gpu_hours": Metric(GPU_HOURS, "bought on demand"),
    "committed_gpu_hours": Metric(GPU_HOURS, "committed capacity in the horizon, held included"),
    "held_gpu_hours": Metric(GPU_HOURS, "of the committed capacity, held before the horizon"),
    "committed_used_gpu_hours": Metric(
        GPU_HOURS, "committed capacity used by campaigns and demand"
    ),
    "backfilled_gpu_hours": Metric(GPU_HOURS, "committed capacity sold to backfill buyers"),
    "idle_gpu_hours": Metric(
        GPU_HOURS, "committed capacity that no campaign, demand or backfill used"
    ),
    "idle_cost": Metric(
        CURRENCY, "present value of holding the idle GPU-hours; held commitments at 0 (sunk)"
    ),
    "held_idle_cost": Metric(
        CURRENCY, "present value, at the held price, of the idle GPU-hours of held commitments"
    ),
    "idle_net_cost": Metric(
        CURRENCY, "idle cost, plus the holding cost of backfilled hours, less backfill revenue"
    ),
    "coverage": Metric(
        SHARE, "committed GPU-hours used by campaigns and demand ÷ all GPU-hours they used"
    ),
    "utilisation": Metric(
        SHARE, "committed GPU-hours used by campaigns and demand ÷ committed GPU-hours"
    ),
    "utilisation_with_backfill": Metric(
        SHARE, "the same with backfilled GPU-hours counted as used"
    ),
    "spot_share": Metric(SHARE, "share of the campaigns' work done that is done on spot"),
    "on_demand_equivalent_cost": Metric(
        CURRENCY, "present value of the same use at on-demand list prices"
    ),
    "effective_savings_rate": Metric(
        SHARE,
        "1 − (committed + metered + held cost) ÷ the same use at on-demand list price; before "
        "backfill revenue; empty when a pool in use has no on-demand price to compare with",
    ),
    "effective_savings_rate_sunk_excluded": Metric(
        SHARE, "the same with held commitments' cost at 0, because it is sunk"
    ),
    "effective_savings_base": Metric("text", "the on-demand price used, or why there is none"),
    "lock_in_peak": Metric(
        CURRENCY,
        "largest undiscounted cost of remaining terms and loans on any boundary or quarter start; "
        "held too",
    ),
    "lock_in_peak_date": Metric("date", "the date of that peak"),
    "lock_in_peak_months": Metric("months", "average remaining months there, weighted by GPUs"),
    "tail_cost": Metric(
        CURRENCY,
        "undiscounted cost of the plan's commitments after the horizon end; bought hardware is "
        "valued there, its loan settled, and has none",
    ),
    "held_tail_cost": Metric(
        CURRENCY, "undiscounted cost of held commitments after the horizon end"
    ),
    "cliff_share_before": Metric(
        SHARE,
        "largest share of committed GPUs expiring in one ladder window, held alone; the windows "
        "run to the last expiry of what is counted",
    ),
    "cliff_window_before": Metric("date", "start of that window"),
    "cliff_share_after": Metric(SHARE, "the same with the plan's commitments"),
    "cliff_window_after": Metric("date", "start of that window"),
    "cash_total": Metric(
        CURRENCY,
        "undiscounted payments of full terms, held included; hardware until it is valued",
    ),
    "cash_in_horizon": Metric(CURRENCY, "undiscounted payments inside the horizon, held included"),
    "cash_peak_month": Metric(
        "date", "calendar month with the largest payments, of those with any"
    ),
    "cash_peak": Metric(CURRENCY, "undiscounted payments of that month"),
    "accrual_total": Metric(CURRENCY, "undiscounted cost as consumed; equals cash_total"),
    "accrual_in_horizon": Metric(CURRENCY, "undiscounted cost as consumed inside the horizon"),
    "commitments_to_sign": Metric("count", "orders in the plan"),
    "gpus_to_sign": Metric("GPUs", "GPUs of all orders, added up"),
    "first_sign_by": Metric("date", "earliest date by which an order must be signed"),
}
