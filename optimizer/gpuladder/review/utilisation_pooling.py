"""What teams would save behind one reservation, and what they could have lent each other.

Both are over the steps in which every team of a pool is known. A team's *need* in a step is what
its jobs hold and what they wait for (without a `pending` series: what they hold, which a full
reservation keeps below the truth).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.review.utilisation_result import ALL, LendingRow, PoolingRow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from gpuladder.review.usage_history import BoolArray, TeamHistory, TeamKey, UsageHistory
    from gpuladder.review.utilisation_result import ContractPrice
    from gpuladder.timegrid import FloatArray

_ROUNDING = 1e-9


def level_for_hours(need: FloatArray, share: float) -> float:
    """Return the least level that serves a share of the steps in full.

    Parameters
    ----------
    need : float64, shape (T,), GPUs
    share : float, 0 < share ≤ 1

    Notes
    -----
    The inverse of the empirical distribution, without interpolation: between two observed needs
    there is no level that serves the share asked for and is lower than the upper one.

    >>> level_for_hours(np.array([4.0, 1.0, 2.0, 3.0]), 0.75)
    3.0
    """
    ordered = np.sort(need)
    served = math.ceil(share * len(ordered) - _ROUNDING)
    return float(ordered[max(served, 1) - 1])


def level_for_work(need: FloatArray, share: float) -> float:
    """Return the least level L at which Σ min(need, L) is a share of Σ need.

    Parameters
    ----------
    need : float64, shape (T,), GPUs
    share : float, 0 < share ≤ 1

    Notes
    -----
    With the needs in ascending order, Σ min(need, L) is linear between two of them: below the
    k-th one it is the sum of the k - 1 smaller needs plus L for each of the others.

    >>> level_for_work(np.array([1.0, 2.0, 5.0]), 0.75)
    3.0
    """
    ordered = np.sort(need)
    count = len(ordered)
    before = np.concatenate(([0.0], np.cumsum(ordered)[:-1]))
    at_each = before + ordered * (count - np.arange(count))
    target = share * float(ordered.sum())
    index = int(np.searchsorted(at_each, target * (1 - _ROUNDING)))
    index = min(index, count - 1)
    return float(max(target - before[index], 0.0) / (count - index))


def pooling_rows(
    history: UsageHistory,
    prices: Mapping[TeamKey, ContractPrice],
    *,
    hours_share: float,
    work_share: float,
    lot_gpus: int,
) -> tuple[PoolingRow, ...]:
    """Return, for each pool and standard, separate reservations against a common one.

    Pools of one team, and pools whose teams have no step in common, have no rows.
    """
    standards: tuple[tuple[str, float, Callable[[FloatArray], float]], ...] = (
        ("peak", 1.0, lambda need: level_for_hours(need, 1.0)),
        ("hours", hours_share, lambda need: level_for_hours(need, hours_share)),
        ("work", work_share, lambda need: level_for_work(need, work_share)),
    )
    rows = []
    for pool, teams, common in _pools(history):
        needs = [_need(team) for team in teams]
        if any(need is None for need in needs) or len(teams) == 1 or not common.any():
            continue
        table = np.array(needs)[:, common]
        hours = float(common.sum()) * history.step_hours
        held = _held(teams, common)
        price = _mean_price(teams, common, prices)
        for name, share, level in standards:
            alone = math.fsum(_lots(level(need), lot_gpus) for need in table)
            pooled = _lots(level(table.sum(axis=0)), lot_gpus)
            saved = alone - pooled
            released = None if held is None else held - pooled
            rows.append(
                PoolingRow(
                    pool=pool,
                    standard=name,
                    share=share,
                    teams=len(teams),
                    hours=hours,
                    held=held,
                    alone=alone,
                    pooled=pooled,
                    saved=saved,
                    saved_gpu_hours=saved * hours,
                    price=price,
                    saved_cost=_cost(saved, hours, price),
                    released=released,
                    released_cost=_cost(released, hours, price),
                )
            )
    return tuple(rows)


def not_pooled(history: UsageHistory) -> Iterator[tuple[str, str]]:
    """Yield the pools of several teams that cannot be told, and why."""
    for pool, teams, common in _pools(history):
        if len(teams) == 1:
            continue
        if any(_need(team) is None for team in teams):
            yield pool, "what each team needs is not known without `allocated`"
        elif not common.any():
            yield pool, "there is no hour in which all its teams are known"


def lending_rows(
    history: UsageHistory, prices: Mapping[TeamKey, ContractPrice]
) -> tuple[LendingRow, ...]:
    """Return what waiting work could have borrowed of other teams' empty GPUs, at most.

    A team never borrows its own empty GPUs: they stood empty while it waited, for a reason that a
    mean over a step does not show. Whole jobs need their GPUs together and at once, so what could
    have been borrowed is at most this. Pools of which a capacity, an allocation or the waiting work
    is not known have no rows.
    """
    rows: list[LendingRow] = []
    for pool, teams, common in _pools(history):
        waiting, idle = [], []
        for team in teams:
            capacity, allocated = team.given("capacity"), team.given("allocated")
            pending, metered = team.given("pending"), team.given("metered")
            if capacity is None or allocated is None or pending is None:
                break
            drawn = allocated if metered is None else allocated - metered
            waiting.append(pending[common])
            idle.append(np.maximum(capacity - drawn, 0.0)[common])
        if len(waiting) < len(teams) or len(teams) == 1 or not common.any():
            continue
        price = _mean_price(teams, common, prices)
        rows += _lending(history, pool, teams, np.array(waiting), np.array(idle), price)
    return tuple(rows)


def most_lent(waiting: FloatArray, idle: FloatArray) -> FloatArray:
    """Return the GPUs that teams can lend each other in each step, at most.

    Parameters
    ----------
    waiting, idle : float64, shape (N, T), GPUs

    Returns
    -------
    float64, shape (T,), GPUs

    Notes
    -----
    The largest flow from waiting teams to idle ones when every team may serve every other but
    itself. By max-flow min-cut it is the least of: all that waits; all that is idle; and for each
    team i, what the others wait for plus what the others have idle (i's own waiting work can draw
    on the idle of the others alone).
    """
    all_waiting, all_idle = waiting.sum(axis=0), idle.sum(axis=0)
    others = (all_waiting - waiting) + (all_idle - idle)
    least = np.minimum(np.minimum(all_waiting, all_idle), others.min(axis=0))
    return np.asarray(np.maximum(least, 0.0), dtype=np.float64)


def _lending(
    history: UsageHistory,
    pool: str,
    teams: Sequence[TeamHistory],
    waiting: FloatArray,
    idle: FloatArray,
    price: float | None,
) -> Iterator[LendingRow]:
    step = history.step_hours
    hours = float(waiting.shape[1]) * step

    def row(
        name: str, asked: FloatArray, empty: FloatArray, lent: FloatArray, price: float | None
    ) -> LendingRow:
        pending, served = math.fsum(asked) * step, math.fsum(lent) * step
        return LendingRow(
            pool=pool,
            team=name,
            hours=hours,
            pending=pending,
            idle=math.fsum(empty) * step,
            served=served,
            served_share=served / pending if pending else None,
            served_cost=None if price is None else served * price,
        )

    all_idle = idle.sum(axis=0)
    for team, asked, empty in zip(teams, waiting, idle, strict=True):
        yield row(team.team, asked, empty, np.minimum(asked, all_idle - empty), None)
    yield row(ALL, waiting.sum(axis=0), all_idle, most_lent(waiting, idle), price)


def _pools(
    history: UsageHistory,
) -> Iterator[tuple[str, tuple[TeamHistory, ...], BoolArray]]:
    """Yield each pool with its teams and the steps in which all of them are known."""
    for pool in dict.fromkeys(team.pool or ALL for team in history.teams):
        teams = tuple(team for team in history.teams if (team.pool or ALL) == pool)
        yield pool, teams, np.logical_and.reduce([team.known for team in teams])


def _need(team: TeamHistory) -> FloatArray | None:
    allocated, pending = team.given("allocated"), team.given("pending")
    return allocated if allocated is None or pending is None else allocated + pending


def _held(teams: Sequence[TeamHistory], common: BoolArray) -> float | None:
    capacities = [team.given("capacity") for team in teams]
    if any(capacity is None for capacity in capacities):
        return None
    return float(np.array(capacities)[:, common].sum(axis=0).mean())


def _mean_price(
    teams: Sequence[TeamHistory], common: BoolArray, prices: Mapping[TeamKey, ContractPrice]
) -> float | None:
    """Return the price of a pool's reserved GPU-hours, weighted by them; None when one lacks."""
    if any(team.key not in prices for team in teams):
        return None
    values = [prices[team.key].value for team in teams]
    if len(set(values)) == 1:
        return values[0]
    weights = []
    for team in teams:
        capacity = team.given("capacity")
        if capacity is None:
            return None
        weights.append(float(capacity[common].sum()))
    return float(np.average(values, weights=weights)) if sum(weights) else None


def _cost(gpus: float | None, hours: float, price: float | None) -> float | None:
    return None if gpus is None or price is None else gpus * hours * price


def _lots(gpus: float, lot: int) -> float:
    return math.ceil(gpus / lot - _ROUNDING) * float(lot)
