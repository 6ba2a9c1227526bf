"""Limits as directions: which right-hand sides move, and how far, when a limit grows by one unit.

A limit is one row, such as a campaign's work, or many that belong together: one GPU more of a pool
in a week is one GPU more at every level of that week's demand.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.compiled import FloatArray, IntArray
from gpuladder.program.context import Context, make_context

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gpuladder.compiled import CompiledModel
    from gpuladder.scenario.schema import Scenario
    from gpuladder_models.data import ProgramData

COSTS = frozenset({"stable_supply", "elastic_work", "order_minimum", "gpu_hours", "lead"})
"""Limits of which more costs money; of every other more saves money, or changes nothing."""


@dataclass(frozen=True, slots=True)
class Change:
    """One edit of a scenario, as it could be written on the command line."""

    text: str
    assignments: tuple[str, ...] = ()
    demand: tuple[str, date, date, float] | None = None
    """Pool, first day, day after the last and GPUs that its demand there grows by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """One limit, what one more unit of it moves, and how it is said."""

    limit: str
    key: str
    period: date | None = None
    until: date | None = None
    """Day after the period."""
    unit: str
    thing: str
    """What there is one more of, such as ``GPU of quota on od``."""
    rows: IntArray = field(default_factory=lambda: np.zeros(0, np.int32))
    change: FloatArray = field(default_factory=lambda: np.zeros(0))
    """How each row's right-hand side moves per unit, same shape as ``rows``."""
    value: float | None = None
    """The limit today, as it stands in the scenario."""
    step: float = 1.0
    """How much of ``value`` one unit is."""
    factor: float = 1.0
    """Discount factor of the date that its money is given at."""
    more: Change | None = None
    less: Change | None = None
    is_policy: bool = False
    note: str = ""

    @property
    def is_cost(self) -> bool:
        """Whether more of it costs money: demand, work, and what orders must keep to."""
        return self.limit in COSTS

    @property
    def name(self) -> tuple[str, str, date | None]:
        """What tells it from every other limit."""
        return self.limit, self.key, self.period


class Rows:
    """The rows of a compiled program by family and index, and words for where they belong."""

    def __init__(
        self,
        scenario: Scenario,
        data: ProgramData,
        compiled: CompiledModel,
        values: FloatArray,
    ) -> None:
        self.scenario, self.data, self.compiled = scenario, data, compiled
        self._values = values
        self.context: Context = make_context(scenario)
        self.days = self.context.grid.boundaries

    def of(self, family: str) -> list[tuple[int, int]]:
        """Return position and index of each row of a family."""
        block = self.compiled.row_blocks[family]
        return [(block.begin + number, key) for number, key in enumerate(block.keys)]

    def values(self, family: str) -> FloatArray:
        """Return what the plan decides in a family of variables."""
        return self._values[self.compiled.column_blocks[family].slice]

    def upper(self, position: int) -> float:
        """Return a row's upper right-hand side."""
        return float(self.compiled.row_upper[position])

    def in_period(self, period: int) -> dict[str, date | float]:
        """Return the period's keys of a limit."""
        return {
            "period": self.days[period],
            "until": self.days[period + 1],
            "factor": float(self.context.midpoint_factor[period]),
        }

    def node(self, pools: Sequence[str]) -> int:
        """Return the GPUs of the smallest node in some pools; of all pools without any."""
        chosen = [p for p in self.scenario.pools if p.id in pools] or list(self.scenario.pools)
        return min(self.context.gpus_per_node(pool) for pool in chosen)


def node_unit(gpus: int) -> str:
    """Return the words for a node as a unit."""
    return "GPU" if gpus == 1 else f"{gpus} GPUs (a node)"


def row_limits(rows: Rows) -> list[Limit]:
    """Return every limit that is a row or the rows of one place and period, a GPU or so a unit."""
    return [
        *_campaign_limits(rows),
        *_market_limits(rows),
        *_pool_limits(rows),
        *_order_limits(rows),
        *_policy_limits(rows),
    ]


def _one(position: int) -> dict[str, IntArray | FloatArray]:
    return {"rows": np.array([position], np.int32), "change": np.ones(1)}


def _limit(limit: str, key: str, unit: str, thing: str, **rest: object) -> Limit:
    return Limit(limit=limit, key=key, unit=unit, thing=thing, **rest)  # type: ignore[arg-type]


def _campaign_limits(rows: Rows) -> Iterator[Limit]:
    data = rows.data
    names, elastic = data.labels.campaigns, data.elastic
    for position, c in rows.of("elastic_work"):
        name = names[elastic.campaign[c]]
        thing = f"reference GPU-hour of work in {name}"
        yield _limit(
            "elastic_work",
            name,
            "reference GPU-hour",
            thing,
            value=elastic.work[c],
            **_one(position),
        )
    for position, v in rows.of("elastic_width"):
        name = names[elastic.campaign[elastic.width_instance[v]]]
        yield _limit(
            "elastic_width",
            name,
            "GPU",
            f"GPU that {name} may use",
            value=rows.upper(position),
            **_one(position),
            **rows.in_period(int(elastic.width_period[v])),
        )
    for position, c in rows.of("class_spot_share"):
        name = names[elastic.campaign[c]]
        thing = f"reference GPU-hour that {name} may do on spot"
        yield _limit(
            "class_spot_share",
            name,
            "reference GPU-hour",
            thing,
            value=rows.upper(position),
            **_one(position),
        )


def _market_limits(rows: Rows) -> Iterator[Limit]:
    data = rows.data
    for position, q in rows.of("spot_depth"):
        name = data.labels.spot[data.spot.offer[q]]
        yield _limit(
            "spot_depth",
            name,
            "GPU",
            f"GPU of depth of {name}",
            value=rows.upper(position),
            **_one(position),
            **rows.in_period(int(data.spot.period[q])),
        )
    for position, r in rows.of("backfill_depth"):
        name = data.labels.buyers[data.backfill.depth_buyer[r]]
        yield _limit(
            "backfill_depth",
            name,
            "GPU",
            f"GPU that {name} takes",
            value=rows.upper(position),
            **_one(position),
            **rows.in_period(int(data.backfill.depth_period[r])),
        )
    quotas: dict[tuple[int, int], list[int]] = {}
    for position, i in rows.of("on_demand_quota"):
        cell = data.levels.cell[data.on_demand.level[i]]
        key = (int(data.on_demand.offer[i]), int(data.cells.period[cell]))
        quotas.setdefault(key, []).append(position)
    for (offer, period), positions in quotas.items():
        name = data.labels.on_demand[offer]
        yield _limit(
            "on_demand_quota",
            name,
            "GPU",
            f"GPU of quota on {name}",
            rows=np.array(positions, np.int32),
            change=np.ones(len(positions)),
            value=rows.upper(positions[0]),
            **rows.in_period(period),
        )


def _pool_limits(rows: Rows) -> Iterator[Limit]:
    data = rows.data
    supply: dict[int, list[tuple[int, int]]] = {}
    for position, level in rows.of("stable_supply"):
        supply.setdefault(int(data.levels.cell[level]), []).append((position, level))
    for cell, members in supply.items():
        levels = [level for _, level in members]
        share = data.levels.share[levels]
        hours = float(share.sum())
        name = data.labels.pools[data.cells.pool[cell]]
        yield _limit(
            "stable_supply",
            name,
            "GPU",
            f"GPU of {name}",
            rows=np.array([position for position, _ in members], np.int32),
            change=np.ones(len(members)),
            value=float(share @ data.levels.demand[levels]),
            note="" if hours > 1 - 1e-9 else f"counts the {hours:.0%} of hours with demand alone",
            **rows.in_period(int(data.cells.period[cell])),
        )
    for position, cell in rows.of("dedicated_supply"):
        name = data.labels.pools[data.cells.pool[cell]]
        held = float(data.cells.held_dedicated[cell])
        yield _limit(
            "dedicated_supply",
            name,
            "GPU",
            f"dedicated GPU in {name}",
            rows=np.array([position], np.int32),
            change=-np.ones(1),
            value=held,
            **rows.in_period(int(data.cells.period[cell])),
        )


def _order_limits(rows: Rows) -> Iterator[Limit]:
    data = rows.data
    for position, a in rows.of("lots_active"):
        name = data.labels.committed[data.lots_active.offer[a]]
        yield _limit(
            "lots_active",
            name,
            "lot",
            f"lot of {name} on sale",
            value=rows.upper(position),
            **_one(position),
            **rows.in_period(int(data.lots_active.period[a])),
        )
    placed = rows.values("placed")
    for position, number in rows.of("order_minimum"):
        if placed[number] < 0.5:  # an order that is not placed has no minimum
            continue
        order = data.orders.placed[number]
        name = data.labels.committed[data.orders.offer[order]]
        yield _limit(
            "order_minimum",
            name,
            "lot",
            f"lot that an order of {name} must have",
            value=float(data.orders.least_lots[number]),
            **_one(position),
            **rows.in_period(int(data.orders.start[order])),
        )


def _policy_limits(rows: Rows) -> Iterator[Limit]:
    data, policy = rows.data, rows.data.policy
    for position, w in rows.of("ladder"):
        begin, end = data.ladder.window[w].split("/")
        yield _limit(
            "ladder",
            data.ladder.window[w],
            "GPU",
            f"GPU that may expire from {begin} to {end}",
            value=rows.upper(position),
            is_policy=True,
            **_one(position),
        )
    for position, _ in rows.of("policy_spot_share"):
        yield _limit(
            "policy_spot_share",
            "all work",
            "reference GPU-hour",
            "reference GPU-hour allowed on spot",
            value=rows.upper(position),
            is_policy=True,
            **_one(position),
        )
    for position, number in rows.of("provider_share"):
        name = data.labels.providers[policy.provider[number]]
        yield _limit(
            "provider_share",
            f"{name}, by the hour",
            "GPU-hour",
            f"GPU-hour allowed to {name} beyond its share",
            value=rows.upper(position),
            is_policy=True,
            **_one(position),
        )
    num_periods = len(data.labels.periods)
    for position, number in rows.of("committed_cap"):
        yield _limit(
            "committed_cap",
            "all pools",
            "GPU",
            "committed GPU allowed",
            is_policy=True,
            value=rows.upper(position),
            **_one(position),
            **rows.in_period(number % num_periods),
        )
    for position, number in rows.of("hardware_limit"):
        name, day = policy.limit_label[number]
        yield _limit(
            "hardware_limit",
            name,
            "GPU",
            f"committed {name} GPU allowed",
            is_policy=True,
            value=rows.upper(position),
            **_one(position),
            **rows.in_period(data.labels.periods.index(day)),
        )
    for position, number in rows.of("cash_budget"):
        currency, label = rows.scenario.currency, policy.budget_label[number]
        yield _limit(
            "cash_budget",
            label,
            f"1 {currency} paid",
            f"{currency} in the budget {label}",
            value=rows.scenario.policy.cash_budgets[number].max,
            is_policy=True,
            **_one(position),
        )
