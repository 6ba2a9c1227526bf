"""The net present cost, line by line, from the plan's quantities and the scenario's prices."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.audit.facts import Facts, hour_of, kind_of
from gpuladder.audit.findings import Finding, money_differs
from gpuladder.audit.owned import loan_payments, owned_value, paid_at_purchase, valued_on
from gpuladder.audit.supply import spot_gpus
from gpuladder.plan import COST_LINES, CostLine, Plan, Status
from gpuladder.scenario.schema import DedicatedOffer, OwnedOffer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpuladder.audit.quantities import LevelUse, Lot, Quantities
    from gpuladder.timegrid import FloatArray


def cost_lines(facts: Facts, plan: Quantities) -> tuple[CostLine, ...]:
    """Return every line of the net present cost, in the order of ``COST_LINES``."""
    amounts: dict[str, float] = defaultdict(float)
    present = facts.hours * facts.midpoint_factors
    for offer, use in plan.on_demand.items():
        average = level_average(facts, facts.tables.on_demand[offer].pool, use)
        amounts["on_demand"] += float(np.sum(metered_rate(facts, offer, average) * present))
    for key in facts.tables.spot:
        used = spot_gpus(facts, plan, key)
        if used.any():
            amounts["spot"] += float(np.sum(metered_rate(facts, key, used) * present))
    for lot in plan.lots:
        for line, amount in _lot_costs(facts, lot):
            amounts[line] += amount
    for key, drawn in plan.drawn.items():
        flex = facts.tables.committed[key]
        if not isinstance(flex, OwnedOffer) and flex.usage_price is not None:
            amounts["usage"] += float(np.sum(drawn * present)) * flex.usage_price
    for campaign, share in plan.dropped.items():
        drop_cost = facts.tables.campaigns[campaign].drop_cost
        amounts["drop"] += share * drop_cost if drop_cost is not None else 0.0
    values = {buyer.id: buyer.value for buyer in facts.scenario.backfill}
    for (buyer, _), gpus in plan.backfill.items():
        amounts["backfill_revenue"] -= float(np.sum(gpus * present)) * values[buyer]
    return tuple(CostLine(line=line, amount=amounts[line]) for line in COST_LINES)


def level_average(facts: Facts, pool: str, use: LevelUse) -> FloatArray:
    """Return GPUs averaged over the levels of each period by their shares, shape (T,)."""
    average = np.zeros(facts.num_periods)
    for (period, level), gpus in use.items():
        levels = facts.levels[pool][period]
        if 0 <= level < len(levels):
            average[period] += levels[level][1] * gpus
    return average


def metered_rate(facts: Facts, offer: str, gpus: FloatArray) -> FloatArray:
    """Return what average GPUs of a metered offer cost per hour of each period, shape (T,).

    Periods without use cost nothing, whether or not the offer has a price there.
    """
    return np.where(gpus != 0.0, gpus * facts.metered_prices(offer), 0.0)


def holding_rate(facts: Facts, lot: Lot) -> float:
    """Return what a leased order costs per hour of its term, currency; 0 for owned hardware."""
    if isinstance(lot.offer, OwnedOffer):
        return 0.0
    return lot.gpus * facts.price(lot.offer, lot.start)


def hours_after_horizon(facts: Facts, lot: Lot) -> float:
    """Return the hours of an order's term that lie past the horizon end."""
    end = hour_of(facts, facts.grid.end)
    return max(hour_of(facts, lot.end) - max(hour_of(facts, lot.start), end), 0.0)


def _lot_costs(facts: Facts, lot: Lot) -> Iterator[tuple[str, float]]:
    hours = lot.shares * facts.hours
    accrued = float(np.sum(hours * facts.midpoint_factors))
    if isinstance(lot.offer, OwnedOffer):
        yield "owned_capex", paid_at_purchase(lot) * facts.factor(lot.start)
        sold = valued_on(facts, lot)
        for day, amount in loan_payments(lot, sold):
            yield "owned_loan", amount * facts.factor(day)
        yield "owned_opex", lot.gpus * lot.offer.opex_per_gpu_hour * accrued
        yield "owned_residual", -owned_value(facts, lot) * facts.factor(sold)
        return
    rate, upfront = holding_rate(facts, lot), lot.offer.upfront
    prepaid = upfront * rate * float(hours.sum()) * facts.factor(lot.start)
    yield kind_of(lot.offer), prepaid + (1.0 - upfront) * rate * accrued
    tail = rate * hours_after_horizon(facts, lot) * facts.factor(facts.grid.end)
    yield "commitment_tail", facts.scenario.policy.tail_charge * tail
    if isinstance(lot.offer, DedicatedOffer) and lot.lots > 0:
        yield "setup", lot.offer.setup_cost * facts.factor(lot.start)


def cost_findings(facts: Facts, plan: Plan, placed: Quantities) -> Iterator[Finding]:
    """Compare the stated lines, objective and proof with what the quantities cost."""
    computed = {line.line: line.amount for line in cost_lines(facts, placed)}
    stated: dict[str, float] = defaultdict(float)
    for line in plan.costs:
        stated[line.line] += line.amount
    for name in dict.fromkeys((*computed, *stated)):
        if name not in computed:
            text = f"{name} is no cost line"
            yield _fault("unknown_id", name, text, abs(stated[name]))
        elif money_differs(stated[name], computed[name]):
            text = (
                f"{name}: {stated[name]:,.2f} {plan.currency} stated, but the quantities cost "
                f"{computed[name]:,.2f}"
            )
            yield _fault("cost_line", name, text, abs(stated[name] - computed[name]))
    yield from _objective(plan, sum(stated.values()))
    yield from _proof(plan)


def _objective(plan: Plan, total: float) -> Iterator[Finding]:
    if plan.objective is None:
        yield _fault("objective", "objective", "the plan states no objective", 0.0)
    elif money_differs(plan.objective, total):
        text = (
            f"the objective is {plan.objective:,.2f} {plan.currency}, but the cost lines add up to "
            f"{total:,.2f}"
        )
        yield _fault("objective", "objective", text, abs(plan.objective - total))


def _proof(plan: Plan) -> Iterator[Finding]:
    if plan.objective is None:
        return
    is_optimal = plan.status == Status.OPTIMAL
    if plan.bound is None:
        if is_optimal or plan.gap is not None:
            yield _fault("bound", "bound", "a gap or optimality is claimed without a bound", 0.0)
        return
    slack, tolerance = plan.objective - plan.bound, _proof_tolerance(plan.objective)
    if not slack >= -tolerance:
        text = f"the bound {plan.bound:,.2f} is above the objective {plan.objective:,.2f}"
        yield _fault("bound", "bound", text, -slack)
        return
    asked = plan.options.relative_gap
    if is_optimal and slack > asked * abs(plan.objective) + tolerance:
        text = (
            f"the plan is called optimal, but its objective {plan.objective:,.2f} is more than the "
            f"gap of {asked:g} asked for above the bound {plan.bound:,.2f}"
        )
        yield _fault("bound", "gap", text, slack - asked * abs(plan.objective))
    if math.isinf(slack):
        return
    stated = math.nan if plan.gap is None else plan.gap * abs(plan.objective)
    if not abs(stated - max(slack, 0.0)) <= tolerance:
        text = (
            f"the gap is stated as {plan.gap}, but the objective {plan.objective:,.2f} is "
            f"{slack:,.2f} above the bound"
        )
        yield _fault("bound", "gap", text, abs(stated - slack))


def _proof_tolerance(objective: float) -> float:
    """Return the currency by which a solver's bound may pass its own objective."""
    return 0.005 + 1e-6 * abs(objective)


def _fault(code: str, key: str, text: str, amount: float) -> Finding:
    return Finding(code=code, key=key, period=None, message=text, amount=amount)
