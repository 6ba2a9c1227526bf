"""What a reserved GPU-hour costs each team: as stated, or as its held commitments say."""

from __future__ import annotations

import math
from datetime import datetime, time
from typing import TYPE_CHECKING

from gpuladder.errors import Problem, Severity, UsageError
from gpuladder.review.imports.columns import near
from gpuladder.review.utilisation_result import ContractPrice

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gpuladder.review.usage_history import TeamHistory, TeamKey, UsageHistory
    from gpuladder.review.usage_result import ReservedPrice
    from gpuladder.scenario.schema import HeldCommitment

EVERY = ""
"""Key of the one price that holds for all."""


def read_prices(texts: Iterable[str]) -> dict[str, float]:
    """Return prices by team or pool from ``PRICE`` and ``TEAM=PRICE``.

    Raises
    ------
    UsageError
        When one is no price above zero, or given twice.
    """
    found: dict[str, float] = {}
    for text in texts:
        name, sign, number = text.rpartition("=")
        try:
            price = float(number)
        except ValueError:
            price = math.nan
        if not 0 < price < math.inf or (sign and not name.strip()):
            raise UsageError(
                Problem(
                    code="GL-I054",
                    where="--price",
                    what=f"not a price per GPU-hour above zero: {text!r}",
                    fix="write it as 1.74, or TEAM=1.74",
                )
            )
        if name.strip() in found:
            raise UsageError(
                Problem(
                    code="GL-I054",
                    where="--price",
                    what=f"two prices for {name.strip() or 'every team'}",
                )
            )
        found[name.strip()] = price
    return found


def contract_prices(
    history: UsageHistory,
    stated: Mapping[str, float],
    commitments: Sequence[HeldCommitment] = (),
    source: str = "",
    billed: Sequence[ReservedPrice] = (),
) -> tuple[dict[TeamKey, ContractPrice], tuple[Problem, ...]]:
    """Return the price of each team's reservation, and what is doubtful about them.

    A team's own price as stated comes first, then that of its pool, then the one price for all,
    then the commitments that the scenario holds in its pool (of a team without a pool: in the pool
    of its name), by their GPU-hours within the history, then what the bill says that it held cost.
    A team of which none of this is known has no price.

    Parameters
    ----------
    history : UsageHistory
    stated : mapping of str to float
        By team or pool; ``""`` for all.
    commitments : sequence of HeldCommitment
    source : str
        Where the commitments are from.
    billed : sequence of ReservedPrice
        Of a bill, by team and pool.

    Raises
    ------
    UsageError
        When a price is stated for a team or pool that the history does not have.
    """
    names = {team.team for team in history.teams} | {t.pool for t in history.teams if t.pool}
    unknown = [name for name in stated if name and name not in names]
    if unknown:
        raise UsageError(
            [
                Problem(
                    code="GL-I054",
                    where="--price",
                    what=f"the history has no team or pool {name!r}{near(name, names)}",
                    fix=f"one of {', '.join(sorted(names)[:20])}",
                )
                for name in unknown
            ]
        )
    by_bill = {(each.team, each.pool): each.price for each in billed}
    found: dict[TeamKey, ContractPrice] = {}
    warnings: list[Problem] = []
    for team in history.teams:
        name = next(
            (each for each in (team.team, team.pool, EVERY) if each is not None and each in stated),
            None,
        )
        if name is not None:
            found[team.key] = ContractPrice(value=stated[name], source="as stated")
            continue
        price, doubt = _held_price(history, team, commitments, source)
        own = by_bill.get(team.key)
        if price is None and own is not None:
            price = ContractPrice(value=own, source="effective cost in the bill")
        if price is not None:
            found[team.key] = price
        warnings += [doubt] if doubt is not None else []
    return found, tuple(warnings)


def _held_price(
    history: UsageHistory, team: TeamHistory, commitments: Sequence[HeldCommitment], source: str
) -> tuple[ContractPrice | None, Problem | None]:
    place = team.pool or team.team
    held = [each for each in commitments if each.pool == place]
    weights = [each.gpus * _overlap_hours(history, each) for each in held]
    total = math.fsum(weights)
    if not held:
        return None, None
    if not total:
        first = history.start.date()
        return None, Problem(
            code="GL-I054",
            where=team.team,
            what=f"no commitment of pool {place} is held between {first} and {history.end.date()}",
            why="the price of another time is not the price of this one",
            fix=f"state it: --price {team.team}=PRICE",
            severity=Severity.WARNING,
        )
    value = math.fsum(w * each.price for w, each in zip(weights, held, strict=True)) / total
    counted = [each.id for each, weight in zip(held, weights, strict=True) if weight]
    words = counted[0] if len(counted) == 1 else f"{len(counted)} commitments by GPU-hours"
    return ContractPrice(value=value, source=f"{words} ({source})"), None


def _overlap_hours(history: UsageHistory, commitment: HeldCommitment) -> float:
    begin = max(datetime.combine(commitment.start, time()), history.start)
    end = min(datetime.combine(commitment.end, time()), history.end)
    return max((end - begin).total_seconds() / 3600, 0.0)
