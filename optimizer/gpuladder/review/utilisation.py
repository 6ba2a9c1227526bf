"""Where reserved GPU-hours go: busy, stalled, empty; by team and pool, with the money.

Every figure of a team is over the steps in which all that its history gives is known, so that

    reserved  = reserved_used + empty,     allocated = busy within it + stalled

hold to the last GPU-hour. A quantity that the history does not have is None, never zero, and what
follows from it is named in ``untold``.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gpuladder.errors import Problem, Severity
from gpuladder.review.usage_history import QUANTITIES
from gpuladder.review.utilisation_pooling import lending_rows, not_pooled, pooling_rows
from gpuladder.review.utilisation_result import ALL, TeamUse, Utilisation

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gpuladder.review.usage_history import TeamHistory, TeamKey, UsageHistory
    from gpuladder.review.utilisation_result import ContractPrice
    from gpuladder.timegrid import FloatArray

HOURS_SHARE = 0.95
WORK_SHARE = 0.99
DEAD_BELOW = 0.05
_SLACK = 0.01
"""GPUs by which two series may contradict each other without a word: rounding of printed means."""

_ADDED = (
    "reserved",
    "allocated",
    "metered",
    "busy",
    "pending",
    "reserved_used",
    "empty",
    "beyond",
    "stalled",
    "dormant",
    "not_busy",
    "reserved_cost",
    "empty_cost",
    "stalled_cost",
    "dormant_cost",
    "not_busy_cost",
)


def utilisation(
    history: UsageHistory,
    *,
    prices: Mapping[TeamKey, ContractPrice] | None = None,
    currency: str = "USD",
    hours_share: float = HOURS_SHARE,
    work_share: float = WORK_SHARE,
    dead_below: float = DEAD_BELOW,
    lot_gpus: int = 1,
    source: str = "",
    assumptions: Sequence[str] = (),
    warnings: Sequence[Problem] = (),
) -> Utilisation:
    """Return how the teams of a history used what they hold, and what pooling would save.

    Parameters
    ----------
    history : UsageHistory
    prices : mapping of (team, pool) to ContractPrice, optional
        What a reserved GPU-hour costs. A team without one has no money.
    currency : str
        ISO 4217 code of the prices.
    hours_share, work_share : float, 0 < share ≤ 1
        The standards at which reservations are compared beside the peak: the share of hours that
        are served in full, and the share of GPU-hours that is served.
    dead_below : float
        A reservation of which a smaller share was used is dead.
    lot_gpus : int
        Levels of reservations are rounded up to whole lots of so many GPUs.
    source : str
        Name of the history, for the reader.
    assumptions : sequence of str
        How it was read.
    warnings : sequence of Problem
        What was found while the history was read.
    """
    prices = prices or {}
    teams = tuple(
        _team_use(history, team, prices.get(team.key), dead_below) for team in history.teams
    )
    pools = tuple(dict.fromkeys(team.pool for team in teams))
    totals = [_added(pool, [t for t in teams if t.pool == pool], dead_below) for pool in pools]
    if len(pools) > 1:
        totals.append(_added(ALL, teams, dead_below))
    return Utilisation(
        source=source,
        currency=currency,
        start=history.start,
        end=history.end,
        step_hours=history.step_hours,
        zone=history.zone,
        hours_share=hours_share,
        work_share=work_share,
        dead_below=dead_below,
        lot_gpus=lot_gpus,
        teams=teams,
        pools=tuple(totals),
        pooling=pooling_rows(
            history, prices, hours_share=hours_share, work_share=work_share, lot_gpus=lot_gpus
        ),
        lending=lending_rows(history, prices),
        assumptions=tuple(assumptions),
        untold=tuple(_untold(history, prices)),
        warnings=(*warnings, *_contradictions(history)),
    )


def _team_use(
    history: UsageHistory, team: TeamHistory, price: ContractPrice | None, dead_below: float
) -> TeamUse:
    known = team.known
    hours = float(known.sum()) * history.step_hours

    def series(name: str) -> FloatArray | None:
        values = team.given(name)
        return None if values is None else values[known]

    def gpu_hours(values: FloatArray | None) -> float | None:
        return None if values is None else math.fsum(values) * history.step_hours

    capacity, allocated, busy = series("capacity"), series("allocated"), series("busy")
    metered = series("metered")
    used = empty = beyond = stalled = stalled_within = dormant = not_busy = None
    drawn = allocated if metered is None or allocated is None else allocated - metered
    if capacity is not None and drawn is not None:
        used = np.minimum(drawn, capacity)
        empty, beyond = capacity - used, np.maximum(drawn - capacity, 0.0)
    if allocated is not None and busy is not None:
        stalled = np.maximum(allocated - busy, 0.0)
        # Which of the GPUs stood still, reserved or metered ones, no series says; where all are
        # reserved, the ones beyond the reservation are taken to stand still first.
        if not _has_some(metered):
            stalled_within = stalled if used is None else np.maximum(used - busy, 0.0)
        if (held := series("dormant")) is not None:
            dormant = np.minimum(held, stalled)
    if capacity is not None and busy is not None and not _has_some(metered):
        not_busy = np.maximum(capacity - busy, 0.0)

    amounts: dict[str, Any] = {
        "reserved": gpu_hours(capacity),
        "allocated": gpu_hours(allocated),
        "metered": gpu_hours(metered),
        "busy": gpu_hours(busy),
        "pending": gpu_hours(series("pending")),
        "reserved_used": gpu_hours(used),
        "empty": gpu_hours(empty),
        "beyond": gpu_hours(beyond),
        "stalled": gpu_hours(stalled),
        "dormant": gpu_hours(dormant),
        "not_busy": gpu_hours(not_busy),
    }
    within = gpu_hours(stalled_within)
    dormant_within = gpu_hours(
        None if dormant is None or stalled_within is None else np.minimum(dormant, stalled_within)
    )
    row = TeamUse(
        team=team.team,
        pool=team.pool or ALL,
        hours=hours,
        gap_hours=history.steps * history.step_hours - hours,
        **amounts,
        price=None if price is None else price.value,
        price_source="" if price is None else price.source,
        reserved_cost=_cost(amounts["reserved"], price),
        empty_cost=_cost(amounts["empty"], price),
        stalled_cost=_cost(within, price),
        dormant_cost=_cost(dormant_within, price),
        not_busy_cost=_cost(amounts["not_busy"], price),
    )
    return _with_shares(row, dead_below)


def _with_shares(row: TeamUse, dead_below: float) -> TeamUse:
    """Return the row with its shares, each a ratio of two of its amounts."""
    allocated_share = _ratio(row.reserved_used, row.reserved)
    busy_share = _ratio(_less(row.allocated, row.stalled), row.allocated)
    busy_of_reserved = _ratio(_less(row.reserved, row.not_busy), row.reserved)
    used = allocated_share if busy_of_reserved is None else busy_of_reserved
    return replace(
        row,
        allocated_share=allocated_share,
        busy_share=busy_share,
        busy_of_reserved=busy_of_reserved,
        is_dead=None if used is None else used < dead_below,
    )


def _added(pool: str, teams: Sequence[TeamUse], dead_below: float) -> TeamUse:
    """Return the sum of some teams' rows; what one of them does not know, the sum does not."""
    prices = {team.price for team in teams}
    sums: dict[str, Any] = {name: _sum(getattr(team, name) for team in teams) for name in _ADDED}
    row = TeamUse(
        team=ALL,
        pool=pool,
        hours=math.fsum(team.hours for team in teams),
        gap_hours=math.fsum(team.gap_hours for team in teams),
        **sums,
        price=prices.pop() if len(prices) == 1 else None,
    )
    return replace(_with_shares(row, dead_below), is_dead=None)


def _untold(history: UsageHistory, prices: Mapping[TeamKey, ContractPrice]) -> Iterable[str]:
    """Say what cannot be told, for all teams or for those named."""
    consequences = (
        (
            "capacity",
            "what was reserved and stood empty cannot be told, nor what a team used of it",
        ),
        (
            "allocated",
            "GPUs that no job held cannot be told from GPUs that a job held without using them",
        ),
        ("busy", "GPUs that a job held without using them cannot be told from GPUs at work"),
        (
            "pending",
            "what a team needed beyond what it was given cannot be told: needs are too low",
        ),
        ("dormant", "which of the stalled GPUs finished or sleeping jobs held cannot be told"),
    )
    every = tuple(team.team for team in history.teams)
    hours = history.steps * history.step_hours
    gaps = [
        (hours - int(team.known.sum()) * history.step_hours, team.team) for team in history.teams
    ]
    unknown = sum(gap for gap, _ in gaps)
    if unknown:
        most, name = max(gaps)
        yield (
            f"{unknown:,} of {hours * len(every):,} hours of all teams are not known, or not in "
            f"full, and left out; most of {name}: {most:,} of {hours:,}."
        )
    for pool, reason in not_pooled(history):
        yield f"Pooling of {pool}: {reason}."
    for name, consequence in consequences:
        lacking = [
            team.team
            for team in history.teams
            if team.given(name) is None and not (name == "dormant" and team.given("busy") is None)
        ]
        if lacking:
            yield f"No `{name}` ({QUANTITIES[name]}) {_of(lacking, every)}: {consequence}."
    unpriced = [team.team for team in history.teams if team.key not in prices]
    if unpriced:
        yield f"No contract price {_of(unpriced, every)}: its GPU-hours have no money."
    split = [team.team for team in history.teams if _is_split(team)]
    if split:
        yield (
            f"Some GPUs were metered {_of(split, every)}: whether a stalled GPU was a reserved or "
            "a metered one cannot be told, so stalled ones have no money."
        )


def _is_split(team: TeamHistory) -> bool:
    return _has_some(team.given("metered")) and team.given("busy") is not None


def _contradictions(history: UsageHistory) -> Iterable[Problem]:
    """Warn of series that cannot both be right."""
    for smaller, larger in (
        ("busy", "allocated"),
        ("metered", "allocated"),
        ("dormant", "allocated"),
    ):
        for team in history.teams:
            low, high = team.given(smaller), team.given(larger)
            if low is None or high is None:
                continue
            excess = (low - high)[team.known]
            wrong = int((excess > _SLACK).sum())
            if wrong:
                yield Problem(
                    code="GL-I041",
                    where=team.team,
                    what=f"`{smaller}` is above `{larger}` in {wrong} of {len(excess)} steps, by "
                    f"up to {float(excess.max()):,.2f} GPUs",
                    why=f"{QUANTITIES[smaller]} cannot be more than {QUANTITIES[larger]}; one of "
                    "the two is not what it is taken for",
                    fix="check which columns were read as what, and their units",
                    severity=Severity.WARNING,
                )


def _of(names: Sequence[str], every: Sequence[str]) -> str:
    shown = 5
    if len(names) == len(every):
        return "of any team" if len(every) > 1 else "of the team"
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return f"of {', '.join(names[:shown])}{more}"


def _has_some(values: FloatArray | None) -> bool:
    return values is not None and bool(np.nansum(values) > 0)


def _cost(gpu_hours: float | None, price: ContractPrice | None) -> float | None:
    return None if gpu_hours is None or price is None else gpu_hours * price.value


def _ratio(part: float | None, whole: float | None) -> float | None:
    return None if part is None or not whole else part / whole


def _less(whole: float | None, part: float | None) -> float | None:
    return None if whole is None or part is None else whole - part


def _sum(values: Iterable[float | None]) -> float | None:
    known = list(values)
    return None if any(value is None for value in known) else math.fsum(v or 0.0 for v in known)
