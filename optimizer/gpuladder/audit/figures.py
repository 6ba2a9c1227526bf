"""Every reported metric, computed again from the scenario and the plan."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.audit.books import PoolBook, lot_value, open_books
from gpuladder.audit.cash import accrued_between, cash_between, valued_income
from gpuladder.audit.costs import cost_lines
from gpuladder.audit.exposure import (
    debts,
    expiry_shares,
    held_tail,
    lock_in_dates,
    owed_on,
    sign_by,
    tail,
)
from gpuladder.audit.shares import CampaignFigures, divide, quotient, unallocated
from gpuladder.timegrid import add_months

if TYPE_CHECKING:
    from gpuladder.audit.facts import Facts
    from gpuladder.audit.quantities import Quantities
    from gpuladder.timegrid import FloatArray

Figure = float | str | None


@dataclass(frozen=True)
class Figures:
    """All figures of a plan.

    Attributes
    ----------
    metrics : dict
        By name; dates as ISO text.
    dated : dict
        For metrics that name a date: every date that would be right, because ties are possible.
    """

    books: dict[str, PoolBook]
    campaigns: dict[str, CampaignFigures]
    metrics: dict[str, Figure]
    dated: dict[str, set[str | None]]


def compute_figures(facts: Facts, plan: Quantities) -> Figures:
    """Compute every figure of a plan whose records are sound."""
    books = open_books(facts, plan)
    campaigns = divide(facts, plan, books)
    lines = {line.line: line.amount for line in cost_lines(facts, plan)}
    exposure, dated = _exposure(facts, plan)
    cash, cash_dates = _cash(facts, plan)
    costs = _costs(facts, plan, books, campaigns, lines)
    return Figures(
        books=books,
        campaigns=campaigns,
        metrics={
            **costs,
            **_runs(campaigns, costs),
            **_hours(books, campaigns),
            **_savings(facts, plan, books, costs),
            **exposure,
            **cash,
        },
        dated={**dated, **cash_dates},
    )


def _costs(
    facts: Facts,
    plan: Quantities,
    books: dict[str, PoolBook],
    campaigns: dict[str, CampaignFigures],
    lines: dict[str, float],
) -> dict[str, float]:
    idle = sum(float(book.idle_cost.sum()) for book in books.values())
    sold = sum(float(book.sold_cost.sum()) for book in books.values())
    direct = sum(item.direct_cost for item in campaigns.values())
    charged = sum(item.idle_cost for item in campaigns.values())
    other = lines["commitment_tail"] + lines["drop"]
    return {
        "net_present_cost": sum(lines.values()),
        "committed_cost": sum(float(lot_value(facts, lot).sum()) for lot in plan.lots),
        "metered_cost": lines["on_demand"] + lines["spot"] + lines["usage"],
        "held_cost": sum(float(book.held_cost.sum()) for book in books.values()),
        "direct_cost": direct,
        "idle_cost_charged": charged,
        "loaded_cost": direct + charged,
        "unallocated_cost": unallocated(books, campaigns, lines["spot"], other),
        "backfill_revenue": lines["backfill_revenue"],
        "idle_cost": idle,
        "held_idle_cost": sum(float(book.held_idle_cost.sum()) for book in books.values()),
        "idle_net_cost": idle + sold + lines["backfill_revenue"],
    }


def _runs(campaigns: dict[str, CampaignFigures], costs: dict[str, float]) -> dict[str, Figure]:
    items = list(campaigns.values())
    runs = sum(item.runs for item in items)
    done = sum(item.work * item.done_share for item in items)
    spot = sum(item.work * item.done_share * item.spot_share for item in items)
    outcomes = [item.outcome for item in items]
    return {
        "runs_completed": runs,
        "campaigns_planned": outcomes.count("planned"),
        "campaigns_partial": outcomes.count("partial"),
        "campaigns_dropped": outcomes.count("dropped"),
        "cost_per_completed_run": quotient(costs["loaded_cost"], runs),
        "direct_cost_per_completed_run": quotient(costs["direct_cost"], runs),
        "idle_cost_per_completed_run": quotient(costs["idle_cost_charged"], runs),
        "spot_share": quotient(spot, done),
    }


def _hours(books: dict[str, PoolBook], campaigns: dict[str, CampaignFigures]) -> dict[str, Figure]:
    def total(name: str) -> float:
        return sum(float(getattr(book, name).sum()) for book in books.values())

    spot = sum(item.spot_gpu_hours for item in campaigns.values())
    used, committed = total("used_hours") + spot, total("committed_hours")
    committed_used, sold = total("committed_used_hours"), total("sold_hours")
    return {
        "used_gpu_hours": used,
        "spot_gpu_hours": spot,
        "on_demand_gpu_hours": total("on_demand_hours"),
        "committed_gpu_hours": committed,
        "held_gpu_hours": total("held_hours"),
        "committed_used_gpu_hours": committed_used,
        "backfilled_gpu_hours": sold,
        "idle_gpu_hours": total("idle_hours"),
        "coverage": quotient(committed_used, used),
        "utilisation": quotient(committed_used, committed),
        "utilisation_with_backfill": quotient(committed_used + sold, committed),
    }


def _savings(
    facts: Facts, plan: Quantities, books: dict[str, PoolBook], costs: dict[str, float]
) -> dict[str, Figure]:
    equivalent: float | None = 0.0
    anything = False
    for pool, book in books.items():
        used = book.used_hours + _spot_hours(facts, plan, pool)
        busy = used > 0.0
        anything = anything or bool(busy.any())
        listed = used[busy] * _list_prices(facts, pool)[busy] * facts.midpoint_factors[busy]
        cost = float(listed.sum())
        equivalent = None if equivalent is None or np.isnan(cost) else equivalent + cost
    if not anything:
        equivalent = None
    bought = costs["committed_cost"] + costs["metered_cost"]
    return {
        "on_demand_equivalent_cost": equivalent,
        "effective_savings_rate": _saved(bought + costs["held_cost"], equivalent),
        "effective_savings_rate_sunk_excluded": _saved(bought, equivalent),
    }


def _saved(cost: float, equivalent: float | None) -> float | None:
    share = None if equivalent is None else quotient(cost, equivalent)
    return None if share is None else 1.0 - share


def _spot_hours(facts: Facts, plan: Quantities, pool: str) -> FloatArray:
    total = np.zeros(facts.num_periods)
    for (_, offer), gpus in plan.spot.items():
        if facts.tables.spot[offer].pool == pool:
            total += gpus * facts.hours
    for run, shares in plan.runs:
        if run.spot_offer is not None and facts.tables.spot[run.spot_offer].pool == pool:
            share = facts.gang_availability(run.spot_offer, run.gpus)
            total += run.gpus * share * shares * facts.hours
    return total


def _list_prices(facts: Facts, pool: str) -> FloatArray:
    """Return the cheapest on-demand price in a pool, else on its hardware anywhere, shape (T,)."""
    offers = facts.tables.on_demand
    own = [key for key, offer in offers.items() if offer.pool == pool]
    hardware = facts.tables.pools[pool].hardware
    alike = [k for k, o in offers.items() if facts.tables.pools[o.pool].hardware == hardware]
    prices = np.full(facts.num_periods, np.nan)
    for key in own or alike:
        prices = np.fmin(prices, facts.metered_prices(key))
    return prices


def _exposure(
    facts: Facts, plan: Quantities
) -> tuple[dict[str, Figure], dict[str, set[str | None]]]:
    items = debts(facts, plan)
    owed = [(day, *owed_on(items, day)) for day in lock_in_dates(facts, items)]
    peak = max(amount for _, amount, _ in owed)
    slack = 1e-9 * abs(peak)
    peaks = {day.isoformat(): months for day, amount, months in owed if amount >= peak - slack}
    first = min(peaks)
    locked = peak > 0.0
    metrics: dict[str, Figure] = {
        "lock_in_peak": peak,
        "lock_in_peak_months": peaks[first] if locked else None,
        "tail_cost": sum(tail(facts, lot) for lot in plan.lots),
        "held_tail_cost": held_tail(facts),
        "commitments_to_sign": len(plan.lots),
        "gpus_to_sign": sum(lot.gpus for lot in plan.lots),
    }
    dated: dict[str, set[str | None]] = {
        "lock_in_peak_date": set(peaks) if locked else {None},
        "first_sign_by": {
            min((sign_by(facts, lot).isoformat() for lot in plan.lots), default=None)
        },
    }
    for name, held_only in (("before", True), ("after", False)):
        shares = [
            (day, share)
            for day, share in expiry_shares(facts, plan, held_only=held_only)
            if share is not None
        ]
        worst = max((share for _, share in shares), default=None)
        metrics[f"cliff_share_{name}"] = worst
        dated[f"cliff_window_{name}"] = {
            day.isoformat() for day, share in shares if worst is not None and share >= worst - 1e-9
        } or {None}
    return metrics, dated


def _cash(facts: Facts, plan: Quantities) -> tuple[dict[str, Figure], dict[str, set[str | None]]]:
    begin, end = facts.grid.start, facts.grid.end
    last = max([end, *(lot.end for lot in plan.lots), *(h.end for h in facts.tables.held.values())])
    months: dict[str, float] = {}
    month = begin.replace(day=1)
    while month <= last:
        following = add_months(month, 1)
        months[month.isoformat()] = cash_between(facts, plan, month, following)
        month = following
    smallest = 1e-9 * max(map(abs, months.values()))
    paying = {day: amount for day, amount in months.items() if abs(amount) > smallest}
    peak = max(paying.values(), default=0.0)
    everything = last + timedelta(days=1)
    metrics: dict[str, Figure] = {
        "cash_total": cash_between(facts, plan, begin, everything),
        "cash_in_horizon": cash_between(facts, plan, begin, end) - valued_income(facts, plan, end),
        "cash_peak": peak if paying else None,
        "accrual_total": accrued_between(facts, plan, begin, everything),
        "accrual_in_horizon": accrued_between(facts, plan, begin, end),
    }
    slack = 1e-9 * abs(peak)
    peaks: set[str | None] = {day for day, amount in paying.items() if amount >= peak - slack}
    return metrics, {"cash_peak_month": peaks if paying else {None}}
