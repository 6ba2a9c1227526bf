"""What a scenario holds, as the capacity of teams whose history does not say what was reserved."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from datetime import datetime, time
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpuladder.review.usage_history import TeamHistory, UsageHistory
    from gpuladder.scenario.schema import HeldCommitment
    from gpuladder.timegrid import FloatArray


def with_held_capacity(
    history: UsageHistory, commitments: Sequence[HeldCommitment]
) -> tuple[UsageHistory, tuple[str, ...]]:
    """Return the history with held commitments as capacity, and which teams have it from there.

    A team takes the commitments of its pool, a team without a pool those of the pool of its name;
    only where its history has no capacity, and no other team is in the pool: nothing says how
    several would share.

    Parameters
    ----------
    history : UsageHistory
    commitments : sequence of HeldCommitment
    """
    by_place: dict[str, list[TeamHistory]] = defaultdict(list)
    for team in history.teams:
        by_place[team.pool or team.team].append(team)
    teams, notes = [], []
    for team in history.teams:
        place = team.pool or team.team
        held = [each for each in commitments if each.pool == place]
        if team.given("capacity") is not None or len(by_place[place]) > 1 or not held:
            teams.append(team)
            continue
        capacity = np.sum([each.gpus * _share_of_steps(history, each) for each in held], axis=0)
        teams.append(replace(team, quantities={**team.quantities, "capacity": capacity}))
        notes.append(
            f"`capacity` of {team.team} is what the scenario holds in pool {place}: "
            f"{', '.join(each.id for each in held)}"
        )
    return replace(history, teams=tuple(teams)), tuple(notes)


def _share_of_steps(history: UsageHistory, commitment: HeldCommitment) -> FloatArray:
    """Return the share of each step in which a commitment runs, shape (T,)."""
    begin, end = (
        (datetime.combine(day, time()) - history.start).total_seconds()
        / (3600 * history.step_hours)
        for day in (commitment.start, commitment.end)
    )
    steps = np.arange(history.steps, dtype=np.float64)
    covered = np.minimum(steps + 1, end) - np.maximum(steps, begin)
    return np.asarray(np.clip(covered, 0.0, 1.0), dtype=np.float64)
