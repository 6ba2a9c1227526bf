"""Limits that the company sets itself, as keys of the scenario with their changes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.analysis.marginals_changes import (
    POINT,
    WORK_UNIT,
    family_direction,
    gpus_limit,
    set_key,
    share_limit,
)
from gpuladder.analysis.shadow_prices_limits import Change, Limit, Rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpuladder.compiled import FloatArray


def policy_limits(rows: Rows) -> Iterator[Limit]:
    """Yield every limit of ``policy``."""
    policy = rows.scenario.policy
    if policy.ladder is not None:
        share, exempt = policy.ladder.max_expiring_share, policy.ladder.exempt_gpus
        gpus = rows.node([])
        windows = dict.fromkeys((key for _, key in rows.of("ladder")), 1.0)
        yield share_limit(
            "ladder",
            "max_expiring_share",
            "policy.ladder.max_expiring_share",
            share,
            "point of expiring share",
            family_direction(rows, "ladder", windows),
        )
        yield gpus_limit(
            "ladder",
            "exempt_gpus",
            "policy.ladder.exempt_gpus",
            exempt,
            gpus,
            "exempt from the ladder",
            family_direction(rows, "ladder", dict.fromkeys(windows, float(gpus))),
            is_policy=True,
        )
    if (spot := policy.spot_share_max) is not None:
        done = float(work_done(rows).sum()) + float(_gang_work_done(rows).sum())
        done += policy.so_far.gpu_hours
        yield share_limit(
            "policy_spot_share",
            "policy",
            "policy.spot_share_max",
            spot,
            "point of spot in all work",
            family_direction(rows, "policy_spot_share", {0: POINT * done}),
        )
    yield from _provider_shares(rows)
    if (cap := policy.committed_gpus_max) is not None:
        gpus = rows.node([])
        periods = {key: float(gpus) for _, key in rows.of("committed_cap")}
        yield gpus_limit(
            "committed_cap",
            "policy",
            "policy.committed_gpus_max",
            cap,
            gpus,
            "committed in all",
            family_direction(rows, "committed_cap", periods),
            is_policy=True,
        )
    yield from _hardware_limits(rows)
    yield from _cash_budgets(rows)


def _provider_shares(rows: Rows) -> Iterator[Limit]:
    asked, providers = rows.scenario.policy.provider_share_max, rows.data.policy.provider
    if asked is None:
        return
    names, hours = rows.data.labels.providers, _bought_or_held(rows)
    hours += sum(rows.scenario.policy.so_far.provider_gpu_hours.values())
    if not isinstance(asked, dict):
        every = dict.fromkeys(range(len(providers)), POINT * hours)
        yield share_limit(
            "provider_share",
            "every provider",
            "policy.provider_share_max",
            asked,
            "point of one provider's share",
            family_direction(rows, "provider_share", every),
        )
        return

    def written(name: str, share: float) -> Change:
        pairs = ", ".join(f'"{k}": {v:.12g}' for k, v in {**asked, name: share}.items())
        return set_key("policy.provider_share_max", f"{{{pairs}}}")

    for number, provider in enumerate(providers):
        name = names[provider]
        limit = share_limit(
            "provider_share",
            name,
            "policy.provider_share_max",
            asked[name],
            f"point of {name}'s share",
            family_direction(rows, "provider_share", {number: POINT * hours}),
        )
        yield replace(
            limit,
            more=limit.more and written(name, asked[name] + POINT),
            less=limit.less and written(name, asked[name] - POINT),
        )


def _hardware_limits(rows: Rows) -> Iterator[Limit]:
    limits, begin = rows.scenario.policy.hardware_limits, 0
    for number, item in enumerate(limits):
        count = sum(day >= item.after for day in rows.days[:-1])
        pools = [pool.id for pool in rows.scenario.pools if pool.hardware == item.hardware]
        gpus = rows.node(pools)
        own = dict.fromkeys(range(begin, begin + count), float(gpus))
        begin += count

        def written(value: float, number: int = number) -> Change:
            texts = [
                f'{{hardware: "{other.hardware}", after: {other.after}, max_committed_gpus: '
                f"{value if k == number else other.max_committed_gpus:.12g}}}"
                for k, other in enumerate(limits)
            ]
            return set_key("policy.hardware_limits", f"[{', '.join(texts)}]")

        limit = gpus_limit(
            "hardware_limit",
            f"{item.hardware} after {item.after}",
            "",
            item.max_committed_gpus,
            gpus,
            f"of {item.hardware} committed after {item.after}",
            family_direction(rows, "hardware_limit", own),
            is_policy=True,
        )
        yield replace(
            limit,
            more=written(item.max_committed_gpus + gpus),
            less=limit.less and written(item.max_committed_gpus - gpus),
        )


def _cash_budgets(rows: Rows) -> Iterator[Limit]:
    budgets, currency = rows.scenario.policy.cash_budgets, rows.scenario.currency
    for number, budget in enumerate(budgets):
        step = WORK_UNIT * budget.max
        if step == 0:
            continue

        def written(value: float, number: int = number) -> Change:
            texts = [
                f"{{from: {other.from_date}, until: {other.until}, max: "
                f"{value if k == number else other.max:.12g}}}"
                for k, other in enumerate(budgets)
            ]
            return set_key("policy.cash_budgets", f"[{', '.join(texts)}]")

        label = f"{budget.from_date}/{budget.until}"
        yield Limit(
            limit="cash_budget",
            key=f"{label}, whole",
            unit=f"1 % ({step:,.0f} {currency})",
            thing=f"per cent ({step:,.0f} {currency}) in the budget {label}",
            value=budget.max,
            step=step,
            more=written(budget.max + step),
            less=written(budget.max - step),
            is_policy=True,
            **family_direction(rows, "cash_budget", {number: step}),
        )


def work_done(rows: Rows) -> FloatArray:
    """Return the work that is done of each elastic instance, shape (E,)."""
    done = np.ones(len(rows.data.elastic.work))
    done[rows.data.drops.elastic] -= rows.values("dropped_elastic")
    return np.asarray(rows.data.elastic.work * done, np.float64)


def _gang_work_done(rows: Rows) -> FloatArray:
    done = np.ones(len(rows.data.gangs.work))
    done[rows.data.drops.gang] -= rows.values("dropped_gang")
    return np.asarray(rows.data.gangs.work * done, np.float64)


def _bought_or_held(rows: Rows) -> float:
    """Return all GPU-hours committed, held or metered."""
    data, hours = rows.data, rows.context.grid.hours
    level = data.on_demand.level
    cell = data.levels.cell[level]
    spot = np.bincount(data.elastic.spot_cell, rows.values("spot"), len(data.spot.offer))
    modes = rows.values("mode")[data.gangs.spot.column] * data.gangs.spot.value
    spot += np.bincount(data.gangs.spot.row, modes, len(data.spot.offer))
    return float(
        rows.values("firm") @ data.cells.hours
        + rows.values("flex_held") @ data.cells.hours[data.flex.cell]
        + rows.values("on_demand") @ (data.levels.share[level] * data.cells.hours[cell])
        + spot @ hours[data.spot.period]
    )
