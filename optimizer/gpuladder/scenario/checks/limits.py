"""Limits of the company that cannot hold, or that limit nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpuladder.scenario.checks.supply import starts
from gpuladder.scenario.expand import term_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from gpuladder.errors import Problem
    from gpuladder.scenario.checks.context import Context
    from gpuladder.timegrid import FloatArray, TimeGrid

_SLACK = 1e-9


def check(context: Context) -> Iterator[Problem]:
    """Yield limits broken by what is held already, impossible shares, and idle limits."""
    if context.grid is None:
        return
    yield from _committed(context, context.grid)
    yield from _hardware(context, context.grid)
    yield from _ladder(context, context.grid)
    yield from _providers(context)
    yield from _budgets(context, context.grid)


def _budgets(context: Context, grid: TimeGrid) -> Iterator[Problem]:
    last = _last_payment(context, grid)
    for index, budget in enumerate(context.policy.cash_budgets):
        if budget.until <= grid.start or budget.from_date >= last:
            yield context.warning(
                "GL-S704",
                ("policy", "cash_budgets", index),
                f"nothing is paid from {budget.from_date} to {budget.until}: the horizon begins "
                f"{grid.start}, and no term can run beyond {last}",
                fix="check the dates: it limits nothing",
            )


def _last_payment(context: Context, grid: TimeGrid) -> date:
    """Return the end of the last term that is held or could be bought, at least the horizon's."""
    ends = [held.end for _, held in context.held]
    for _, term in context.terms:
        begins = starts(grid, term)
        if begins and term.max_lots != 0:
            ends.append(term_of(term).after(begins[-1]))
    return max([grid.end, *ends])


def _held_gpus(context: Context, grid: TimeGrid, hardware: str | None = None) -> FloatArray:
    total = np.zeros(grid.num_periods)
    for _, held in context.held:
        kind = context.hardware_of(held.pool)
        if hardware is None or (kind is not None and kind.id == hardware):
            total += held.gpus * grid.overlap_share(held.start, held.end)
    return total


def _committed(context: Context, grid: TimeGrid) -> Iterator[Problem]:
    limit = context.policy.committed_gpus_max
    if limit is None:
        return
    held = _held_gpus(context, grid)
    over = np.flatnonzero(held > limit * (1 + _SLACK) + _SLACK)
    if over.size:
        yield context.error(
            "GL-S701",
            ("policy", "committed_gpus_max"),
            f"{held[over[0]]:g} GPUs are held already in the period from "
            f"{grid.boundaries[over[0]]}, more than {limit:g}",
            why="a held commitment cannot be given back, so no plan can keep this limit",
            fix=f"raise it to {held.max():g} or more",
        )


def _hardware(context: Context, grid: TimeGrid) -> Iterator[Problem]:
    for index, limit in enumerate(context.policy.hardware_limits):
        path = ("policy", "hardware_limits", index)
        counted = np.asarray([day >= limit.after for day in grid.boundaries[:-1]])
        if not counted.any():
            yield context.warning(
                "GL-S704",
                (*path, "after"),
                f"no period begins on or after {limit.after}",
                fix="check the date: the limit limits nothing",
            )
            continue
        held = np.where(counted, _held_gpus(context, grid, limit.hardware), 0.0)
        most = limit.max_committed_gpus
        over = np.flatnonzero(held > most * (1 + _SLACK) + _SLACK)
        if over.size:
            yield context.error(
                "GL-S701",
                (*path, "max_committed_gpus"),
                f"{held[over[0]]:g} GPUs of `{limit.hardware}` are held already in the period from "
                f"{grid.boundaries[over[0]]}, more than {most:g}",
                why="a held commitment cannot be given back, so no plan can keep this limit",
                fix=f"raise it to {held.max():g}, or set `after` to when they have expired",
            )


def _ladder(context: Context, grid: TimeGrid) -> Iterator[Problem]:
    ladder = context.policy.ladder
    if ladder is None:
        return
    longest = max(
        (after - before).days
        for before, after in zip(grid.boundaries, grid.boundaries[1:], strict=False)
    )
    if ladder.window.days(grid.start) < longest:
        yield context.warning(
            "GL-S702",
            ("policy", "ladder", "window"),
            f"a window of {ladder.window} is shorter than a period of {longest} days",
            why="terms start and end on period boundaries, so some windows can never see an expiry",
            fix="use a window at least as long as the longest period",
        )
    least = ladder.min_tenor or ladder.window
    counted = [
        True
        for _, term in context.terms
        if term_of(term).days(grid.start) >= least.days(grid.start)
    ] + [
        True
        for _, held in context.held
        if held.tenor is None or held.tenor.days(held.start) >= least.days(held.start)
    ]
    if not counted:
        yield context.warning(
            "GL-S704",
            ("policy", "ladder"),
            f"no offer and no held commitment has a term of {least} or more",
            fix="lower `min_tenor`: the ladder limits nothing",
        )


def _providers(context: Context) -> Iterator[Problem]:
    share = context.policy.provider_share_max
    if share is None or not _must_buy(context):
        return
    providers = sorted({pool.provider for pool in context.pools.values()})
    if isinstance(share, dict):
        total = sum(share.get(name, 1.0) for name in providers)
    else:
        total = share * len(providers)
    if total < 1 - _SLACK:
        yield context.error(
            "GL-S703",
            ("policy", "provider_share_max"),
            f"the shares of all {len(providers)} providers add up to {total:g} at most",
            why="all GPU-hours come from somebody, so the shares must be able to reach 1",
            fix=f"raise it to {1 / len(providers):.3g} or more, or add a provider",
        )


def _must_buy(context: Context) -> bool:
    return (
        any(campaign.drop_cost is None for _, campaign in context.campaigns)
        or any(row.gpus > 0 for _, row in context.demand)
        or any(True for _ in context.held)
    )
