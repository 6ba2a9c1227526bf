"""The limits that the company sets itself."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.audit.campaigns import dropped_share, elastic_spot_work, spot_share_base
from gpuladder.audit.cash import payments
from gpuladder.audit.costs import level_average
from gpuladder.audit.findings import (
    ABSOLUTE_TOLERANCE_GPUS,
    MONEY_TOLERANCE,
    Finding,
    exceeds,
    number,
)
from gpuladder.audit.supply import held_gpus, lot_gpus, spot_gpus
from gpuladder.scenario.schema import ElasticCampaign

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from gpuladder.audit.facts import Facts
    from gpuladder.audit.quantities import Quantities
    from gpuladder.timegrid import FloatArray


def policy_findings(facts: Facts, plan: Quantities) -> Iterator[Finding]:
    """Check spot share, provider share, committed GPUs, generations and cash."""
    yield from _policy_spot_share(facts, plan)
    yield from _provider_share(facts, plan)
    yield from _committed_cap(facts, plan)
    yield from _hardware_limits(facts, plan)
    yield from _cash_budgets(facts, plan)


def committed_gpus(facts: Facts, plan: Quantities, pools: set[str]) -> FloatArray:
    """Return committed GPUs in some pools, held ones and flex included, shape (T,)."""
    total = np.zeros(facts.num_periods)
    for lot in plan.lots:
        if lot.offer.pool in pools:
            total += lot_gpus(lot)
    for held in facts.tables.held.values():
        if held.pool in pools:
            total += held_gpus(facts, held)
    return total


def provider_gpu_hours(facts: Facts, plan: Quantities) -> dict[str, float]:
    """Return GPU-hours bought or held within the horizon, by provider."""
    pools = facts.tables.pools
    total: dict[str, float] = defaultdict(float)
    for pool in pools.values():
        total[pool.provider] += float(np.dot(committed_gpus(facts, plan, {pool.id}), facts.hours))
    for offer, use in plan.on_demand.items():
        pool_id = facts.tables.on_demand[offer].pool
        average = level_average(facts, pool_id, use)
        total[pools[pool_id].provider] += float(np.dot(average, facts.hours))
    for key, spot in facts.tables.spot.items():
        used = spot_gpus(facts, plan, key)
        total[pools[spot.pool].provider] += float(np.dot(used, facts.hours))
    return dict(total)


def _policy_spot_share(facts: Facts, plan: Quantities) -> Iterator[Finding]:
    share = facts.scenario.policy.spot_share_max
    if share is None:
        return
    campaigns = facts.tables.campaigns
    spot = sum(
        elastic_spot_work(facts, plan, item)
        for item in campaigns.values()
        if isinstance(item, ElasticCampaign)
    )
    spot += sum(campaigns[run.campaign].work for run, _ in plan.runs if run.spot_offer is not None)
    base = sum(spot_share_base(item, dropped_share(plan, item)) for item in campaigns.values())
    before = facts.scenario.policy.so_far
    spot, base = spot + before.spot_gpu_hours, base + before.gpu_hours
    allowance = ABSOLUTE_TOLERANCE_GPUS * float(facts.hours.sum())
    if exceeds(spot, share * base, spot + share * base, allowance):
        text = (
            f"{number(spot)} reference GPU-hours of all campaigns' {number(base)} on spot, but the "
            f"policy allows {number(share)}, which is {number(share * base)}"
        )
        yield _fault("policy_spot_share", "spot_share_max", text, spot - share * base)


def _provider_share(facts: Facts, plan: Quantities) -> Iterator[Finding]:
    limit = facts.scenario.policy.provider_share_max
    if limit is None:
        return
    before = facts.scenario.policy.so_far.provider_gpu_hours
    inside = provider_gpu_hours(facts, plan)
    hours = {name: own + before.get(name, 0.0) for name, own in inside.items()}
    everything = sum(hours.values())
    for provider, own in hours.items():
        share = limit.get(provider) if isinstance(limit, dict) else limit
        if share is None:
            continue
        allowance = ABSOLUTE_TOLERANCE_GPUS * float(facts.hours.sum())
        if exceeds(own, share * everything, own + share * everything, allowance):
            text = (
                f"{provider} has {number(own)} of {number(everything)} GPU-hours, more than "
                f"{number(share)} of them"
            )
            yield _fault("provider_share", provider, text, own - share * everything)


def _committed_cap(facts: Facts, plan: Quantities) -> Iterator[Finding]:
    most = facts.scenario.policy.committed_gpus_max
    if most is None:
        return
    total = committed_gpus(facts, plan, set(facts.tables.pools))
    for period, day in enumerate(facts.grid.boundaries[:-1]):
        if exceeds(total[period], most, total[period] + most, ABSOLUTE_TOLERANCE_GPUS):
            text = (
                f"{number(total[period])} GPUs committed in the period from {day}, at most "
                f"{number(most)}"
            )
            excess = float(total[period] - most)
            yield _fault("committed_cap", "committed_gpus_max", text, excess, day)


def _hardware_limits(facts: Facts, plan: Quantities) -> Iterator[Finding]:
    for limit in facts.scenario.policy.hardware_limits:
        pools = {pool.id for pool in facts.tables.pools.values() if pool.hardware == limit.hardware}
        total, most = committed_gpus(facts, plan, pools), limit.max_committed_gpus
        for period, day in enumerate(facts.grid.boundaries[:-1]):
            if day < limit.after:
                continue
            if exceeds(total[period], most, total[period] + most, ABSOLUTE_TOLERANCE_GPUS):
                text = (
                    f"{number(total[period])} GPUs of {limit.hardware} committed in the period "
                    f"from {day}, at most {number(most)} after {limit.after}"
                )
                excess = float(total[period] - most)
                yield _fault("hardware_limit", limit.hardware, text, excess, day)


def _cash_budgets(facts: Facts, plan: Quantities) -> Iterator[Finding]:
    for budget in facts.scenario.policy.cash_budgets:
        paid = payments(facts, plan, budget.from_date, budget.until)
        if exceeds(paid, budget.max, abs(paid) + budget.max, MONEY_TOLERANCE):
            text = (
                f"{paid:,.2f} {facts.scenario.currency} are paid from {budget.from_date} until "
                f"{budget.until}, the budget is {budget.max:,.2f}"
            )
            key = f"{budget.from_date}/{budget.until}"
            yield _fault("cash_budget", key, text, paid - budget.max, budget.from_date)


def _fault(code: str, key: str, text: str, amount: float, day: date | None = None) -> Finding:
    return Finding(code=code, key=key, period=day, message=text, amount=amount)
