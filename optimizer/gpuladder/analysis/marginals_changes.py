"""Changes of a scenario by one unit of a limit, made as the command line would make them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import numpy as np

from gpuladder.analysis.shadow_prices_limits import Change, Limit, Rows, node_unit
from gpuladder.scenario.fingerprint import canonical
from gpuladder.scenario.loading import check
from gpuladder.scenario.overrides import set_value
from gpuladder.scenario.schema import (
    DemandRow,
    Scenario,
)
from gpuladder.scenario.source import RawDocument, raw_tree

POINT = 0.01
"""One point of a share."""
WORK_UNIT = 0.01
"""One per cent: the unit in which work and budgets are changed."""


def edited(scenario: Scenario, change: Change) -> Scenario:
    """Return the scenario with a change made, checked as the command line would check it.

    Raises
    ------
    ScenarioError
        When the changed scenario would be refused.
    """
    if change.demand is not None:
        scenario = _with_demand(scenario, *change.demand)
    root = raw_tree(canonical(scenario))
    for assignment in change.assignments:
        set_value(root, assignment)
    return check(RawDocument(root=root, path=Path(scenario.name))).scenario


def _with_demand(scenario: Scenario, pool: str, begin: date, end: date, more: float) -> Scenario:
    rows = [
        row.model_copy(update={"gpus": max(row.gpus + more, 0.0)})
        if row.pool == pool and begin <= row.at.date() < end
        else row
        for row in scenario.demand
    ]
    if not any(row.pool == pool and begin <= row.at.date() < end for row in rows):
        rows.append(DemandRow(pool=pool, at=datetime.combine(begin, time()), gpus=max(more, 0.0)))
    return scenario.model_copy(update={"demand": tuple(rows)})


def with_demand_change(limit: Limit, rows: Rows) -> Limit:
    """Return a pool's stable supply in a period with a node of demand more and less."""
    if limit.period is None or limit.until is None:
        return limit
    gpus = rows.node([limit.key])
    own = [
        row.gpus
        for row in rows.scenario.demand
        if row.pool == limit.key and limit.period <= row.at.date() < limit.until
    ]
    has_node = bool(own) and min(own) >= gpus

    def change(sign: int) -> Change:
        size = f"{gpus} GPU{'s' * (gpus > 1)} {'higher' if sign > 0 else 'lower'}"
        days = f"from {limit.period} to {limit.until}"
        text = f"demand of {limit.key} {size} {days} (`demand` laid over by --with)"
        place = (limit.key, limit.period, limit.until, float(sign * gpus))
        return Change(text=text, demand=place)  # type: ignore[arg-type]  # both dates are there

    note = "" if has_node else "demand is less than a node there: one unit less is not defined"
    return replace(
        limit,
        unit=node_unit(gpus),
        change=limit.change * gpus,
        step=float(gpus),
        more=change(1),
        less=change(-1) if has_node else None,
        note="; ".join(part for part in (limit.note, note) if part),
    )


def set_key(name: str, value: float | str) -> Change:
    """Return the change that sets one key."""
    text = value if isinstance(value, str) else f"{value:.12g}"
    assignment = f"{name}={text}"
    quoted = f"'{assignment}'" if set(text) & set(" {[") else assignment
    return Change(text=f"--set {quoted}", assignments=(assignment,))


def family_direction(rows: Rows, family: str, chosen: Mapping[int, float]) -> dict[str, Any]:
    """Return rows and changes of a limit: index within a family → change of its right-hand side."""
    found = [(at, chosen[key]) for at, key in rows.of(family) if chosen.get(key)]
    return direction(found)


def direction(found: list[tuple[int, float]]) -> dict[str, Any]:
    """Return the keys of a limit for rows by position, each with its change per unit."""
    return {
        "rows": np.array([at for at, _ in found], np.int32),
        "change": np.array([by for _, by in found], np.float64),
    }


def share_limit(
    limit: str,
    key: str,
    name: str,
    value: float,
    thing: str,
    direction: dict[str, Any],
    *,
    is_policy: bool = True,
) -> Limit:
    """Return a limit that is a share, with a point more and less."""
    return Limit(
        limit=limit,
        key=key,
        unit="1 point",
        thing=thing,
        value=value,
        step=POINT,
        more=set_key(name, value + POINT) if value + POINT <= 1 + 1e-9 else None,
        less=set_key(name, value - POINT) if value - POINT >= -1e-9 else None,
        note="" if POINT <= value <= 1 - POINT else "at an end of its range",
        is_policy=is_policy,
        **direction,
    )


def gpus_limit(
    limit: str,
    key: str,
    name: str,
    value: float,
    gpus: int,
    what: str,
    direction: dict[str, Any],
    *,
    is_policy: bool = False,
) -> Limit:
    """Return a limit that is a number of GPUs, with a node more and less."""
    thing = f"GPU {what}" if gpus == 1 else f"node ({gpus} GPUs) {what}"
    return Limit(
        limit=limit,
        key=key,
        unit=node_unit(gpus),
        thing=thing,
        value=value,
        step=float(gpus),
        more=set_key(name, value + gpus),
        less=set_key(name, value - gpus) if value >= gpus else None,
        note="" if value >= gpus else "less than a node: one unit less is not defined",
        is_policy=is_policy,
        **direction,
    )
