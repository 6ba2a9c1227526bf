"""Why there is no plan: who is short of how much, which limits are in the way, the smallest fixes.

Two elastic programs answer that. The first keeps every limit and lets work go undone: the least
GPU-hours that cannot be served. The second does all the work and lets limits give way: the least by
which they would have to. Each limit gives way by one number for all periods, so that the fix is an
edit of the scenario that can be made as it is written.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gpuladder.analysis.result import Infeasibility, LimitExcess, Shortfall
from gpuladder.compiled import compile_model
from gpuladder.program import make_program_data
from gpuladder.relaxation import Slack, relax
from gpuladder.scenario.expand import expand
from gpuladder.solver import Program
from gpuladder.solving import solve_options
from gpuladder_models.build import build_model

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gpuladder.compiled import CompiledModel, FloatArray
    from gpuladder.plan import SolveOptions
    from gpuladder.scenario.schema import Campaign, Scenario
    from gpuladder.solving import Edit
    from gpuladder_models.data import ProgramData

Positions = NDArray[np.intp]
SMALLEST_SHORTFALL_GPU_HOURS = 1e-3
SMALLEST_EXCESS = 1e-6
DEMAND_KEY = "demand"
SECONDS = 60.0  # for each elastic program; they are far easier than the program itself


@dataclass(frozen=True, slots=True)
class _Named:
    """A slack and what it stands for."""

    limit: str
    key: str
    slack: Slack
    fix: str
    """How to write the fix; ``{excess}`` is what the limit gives way, ``{total}`` the new value."""
    base: float = 0.0
    digits: int = 0
    """Decimals of the new value."""


def why_infeasible(
    scenario: Scenario, *, edit: Edit | None = None, seconds: float = SECONDS
) -> Infeasibility:
    """Return who is short, which limits are in the way, and the smallest fixes.

    Parameters
    ----------
    scenario : Scenario
        One whose program has no solution.
    edit : callable, optional
        The edit of the compiled program under which it has none.
    seconds : float
        Most seconds for each elastic program.

    Returns
    -------
    Infeasibility
        Campaigns short when every limit is kept (baseline demand under the key ``demand``), and
        the limits' least excess when all work is done; either may be empty when no such answer
        exists.
    """
    data = make_program_data(scenario)
    plain = compile_model(build_model(data))
    compiled = plain if edit is None else edit(plain, data)
    options = solve_options(scenario).model_copy(
        update={"time_limit_seconds": seconds, "relative_gap": 1e-6}
    )
    undone = _undone_work(data, compiled)
    limits = _limits(scenario, data, compiled)
    short = _least(compiled, undone, options)
    if short is None:
        short = _least(compiled, undone + limits, options) or {}
    exceeded = _least(compiled, limits, options) or {}
    return Infeasibility(
        campaigns=_shortfalls(scenario, undone, short, options),
        limits=tuple(
            LimitExcess(
                limit=item.limit,
                key=item.key,
                excess=exceeded[number],
                fix=_fix(item, exceeded[number]),
            )
            for number, item in enumerate(limits)
            if exceeded.get(number, 0.0) > SMALLEST_EXCESS
        ),
    )


def _least(
    compiled: CompiledModel, named: list[_Named], options: SolveOptions
) -> dict[int, float] | None:
    """Return the least violation by slack number; None when slack does not make it feasible."""
    program = Program(relax(compiled, [item.slack for item in named]))
    outcome = program.solve(options)
    if outcome.columns is None:
        return None
    return dict(enumerate(outcome.columns[compiled.num_columns :].tolist()))


def _undone_work(data: ProgramData, compiled: CompiledModel) -> list[_Named]:
    """Return slacks for mandatory work: elastic work, whole gangs, and baseline demand."""
    labels, found = data.labels, []
    block = compiled.row_blocks["elastic_work"]
    droppable = set(data.drops.elastic.tolist())
    for instance, work in enumerate(data.elastic.work.tolist()):
        if instance not in droppable:
            row = block.begin + block.keys.index(instance)
            slack = Slack(np.array([row], np.int32), np.ones(1), 1.0, work)
            found.append(
                _Named("elastic_work", labels.campaigns[data.elastic.campaign[instance]], slack, "")
            )
    block = compiled.row_blocks["gang_choice"]
    droppable = set(data.drops.gang.tolist())
    for instance, work in enumerate(data.gangs.work.tolist()):
        if instance not in droppable:
            row = block.begin + block.keys.index(instance)
            slack = Slack(np.array([row], np.int32), np.ones(1), work, 1.0, is_integer=True)
            found.append(
                _Named("gang_choice", labels.campaigns[data.gangs.campaign[instance]], slack, "")
            )
    block = compiled.row_blocks["stable_supply"]
    hours = data.cells.hours[data.levels.cell] * data.levels.share
    for position, level in enumerate(block.keys):
        demand = float(data.levels.demand[level])
        if demand > 0:
            member = np.array([block.begin + position], np.int32)
            pool = labels.pools[data.cells.pool[data.levels.cell[level]]]
            slack = Slack(member, np.ones(1), float(hours[level]), demand)
            found.append(_Named(DEMAND_KEY, pool, slack, ""))
    return found


def _limits(scenario: Scenario, data: ProgramData, compiled: CompiledModel) -> list[_Named]:
    """Return slacks for limits, one per key of the scenario."""
    expanded, labels = expand(scenario), data.labels
    horizon_hours = float(expanded.grid.hours.sum())
    period_hours = expanded.grid.hours

    def gathered(
        limit: str,
        groups: Iterable[tuple[str, Positions, FloatArray, float, float, str]],
    ) -> list[_Named]:
        """Return one slack per group of a family: key, rows, coefficients, cost, base and fix."""
        block = compiled.row_blocks[limit]
        position = {key: block.begin + place for place, key in enumerate(block.keys)}
        found = []
        for key, members, coefficients, cost, base, fix in groups:
            rows = [position[int(k)] for k in members if int(k) in position]
            kept = [c for k, c in zip(members, coefficients, strict=True) if int(k) in position]
            if rows:
                slack = Slack(np.array(rows, np.int32), -np.array(kept, np.float64), cost)
                found.append(_Named(limit, key, slack, fix, base))
        return found

    metered = data.on_demand
    finite = np.isfinite(metered.quota)
    named = gathered(
        "on_demand_quota",
        (
            (
                label,
                (rows := np.flatnonzero((metered.offer == number) & finite)),
                np.ones(len(rows)),
                horizon_hours,
                expanded.on_demand[label].max_gpus or 0.0,
                f"set offers.{label}.max_gpus to {{total:,.0f}} (GPUs)",
            )
            for number, label in enumerate(labels.on_demand)
        ),
    )
    named += gathered(
        "spot_depth",
        (
            (
                label,
                (rows := np.flatnonzero(data.spot.offer == number)),
                data.spot.depth[rows] / max(expanded.spot[label].max_gpus, 1e-12),
                horizon_hours,
                expanded.spot[label].max_gpus,
                f"set offers.{label}.max_gpus to {{total:,.0f}} (GPUs)",
            )
            for number, label in enumerate(labels.spot)
            if expanded.spot[label].max_gpus > 0
        ),
    )
    elastic = data.elastic
    for instance, campaign in enumerate(elastic.campaign.tolist()):
        label = labels.campaigns[campaign]
        own = expanded.campaigns[label]
        rows = np.flatnonzero(elastic.width_instance == instance)
        widest = getattr(own, "max_gpus", 0.0)
        spread = float(period_hours[elastic.width_period[rows]].sum())
        named += gathered(
            "elastic_width",
            [
                (
                    label,
                    rows,
                    elastic.width[rows] / widest,
                    spread,
                    widest,
                    f"let campaign {label} use {{total:,.0f}} GPUs at once (max_gpus)",
                )
            ],
        )
    return named + _policy_limits(scenario, data, compiled, horizon_hours)


def _policy_limits(
    scenario: Scenario, data: ProgramData, compiled: CompiledModel, horizon_hours: float
) -> list[_Named]:
    """Return slacks for the company's own limits."""
    policy, labels = scenario.policy, data.labels
    work = float(data.elastic.work.sum() + data.gangs.work.sum())
    named: list[_Named] = []

    def rows_of(limit: str, chosen: Iterable[int]) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        block = compiled.row_blocks[limit]
        wanted = set(chosen)
        return np.array(
            [block.begin + place for place, key in enumerate(block.keys) if key in wanted], np.int32
        )

    def add(
        limit: str,
        key: str,
        rows: np.ndarray[tuple[int], np.dtype[np.int32]],
        unit: float,
        cost: float,
        base: float,
        fix: str,
    ) -> None:
        if len(rows):
            slack = Slack(rows, np.full(len(rows), -unit), cost)
            digits = 4 if limit == "policy_spot_share" else 0
            named.append(_Named(limit, key, slack, fix, base, digits))

    if policy.ladder is not None:
        add(
            "ladder",
            "policy.ladder.exempt_gpus",
            rows_of("ladder", range(len(data.ladder.limit))),
            1.0,
            horizon_hours,
            policy.ladder.exempt_gpus,
            "set policy.ladder.exempt_gpus to {total:,.0f} (GPUs)",
        )
    if policy.committed_gpus_max is not None:
        size = len(labels.periods) * len(labels.futures)
        add(
            "committed_cap",
            "policy.committed_gpus_max",
            rows_of("committed_cap", range(size)),
            1.0,
            horizon_hours,
            policy.committed_gpus_max,
            "set policy.committed_gpus_max to {total:,.0f} (GPUs)",
        )
    if policy.spot_share_max is not None:
        add(
            "policy_spot_share",
            "policy.spot_share_max",
            rows_of("policy_spot_share", range(len(labels.futures))),
            work,
            work,
            policy.spot_share_max,
            "set policy.spot_share_max to {total:.4f} (share)",
        )
    for limit in policy.hardware_limits:
        chosen = [
            k for k, (name, _) in enumerate(data.policy.limit_label) if name == limit.hardware
        ]
        add(
            "hardware_limit",
            limit.hardware,
            rows_of("hardware_limit", chosen),
            1.0,
            horizon_hours,
            limit.max_committed_gpus,
            f"set the limit on committed {limit.hardware} to {{total:,.0f}} (GPUs)",
        )
    for number, budget in enumerate(policy.cash_budgets):
        label = data.policy.budget_label[number]
        add(
            "cash_budget",
            label,
            rows_of("cash_budget", [number]),
            1.0,
            1.0,
            budget.max,
            f"raise the budget {label} to {{total:,.0f}} {scenario.currency}",
        )
    for row, provider in enumerate(data.policy.provider.tolist()):
        name = labels.providers[provider]
        add(
            "provider_share",
            name,
            rows_of("provider_share", [row]),
            1.0,
            1.0,
            0.0,
            f"allow {name} {{excess:,.0f}} more GPU-hours (policy.provider_share_max)",
        )
    return named


def _fix(item: _Named, excess: float) -> str:
    """Return the fix in words; the new value is rounded up, so that it really is enough."""
    scale = 10.0**item.digits
    total = math.ceil((item.base + excess) * scale - SMALLEST_EXCESS) / scale
    return item.fix.format(excess=math.ceil(excess), total=total)


def _shortfalls(
    scenario: Scenario, undone: list[_Named], short: dict[int, float], options: SolveOptions
) -> tuple[Shortfall, ...]:
    """Return one row per campaign (and pool of demand) that is short, with the smallest fix."""
    hours: dict[tuple[str, str], float] = {}
    for number, item in enumerate(undone):
        amount = short.get(number, 0.0) * item.slack.cost
        if amount > SMALLEST_SHORTFALL_GPU_HOURS:
            hours[item.limit, item.key] = hours.get((item.limit, item.key), 0.0) + amount
    total = sum(hours.values())
    stop = time.monotonic() + SECONDS
    rows = []
    for (limit, key), amount in hours.items():
        if limit == DEMAND_KEY:
            fix = f"add capacity to pool {key}, or lower its demand"
            rows.append(Shortfall(id=f"{DEMAND_KEY} of {key}", short_gpu_hours=amount, fix=fix))
            continue
        fix = _later_deadline(scenario, key, total - amount, options, stop)
        rows.append(Shortfall(id=key, short_gpu_hours=amount, fix=fix))
    return tuple(rows)


def _later_deadline(
    scenario: Scenario, campaign: str, others_short: float, options: SolveOptions, stop: float
) -> str:
    """Return the fewest days by which a later deadline serves a campaign, in words.

    The search ends at ``stop`` (a reading of the monotonic clock) and then says that it did.
    """
    expanded = expand(scenario)
    own = expanded.campaigns[campaign]
    most = (expanded.grid.end - own.deadline).days

    def serves(days: int) -> bool:
        moved = own.model_copy(update={"deadline": own.deadline + timedelta(days=days)})
        left = _shortage(_with_campaign(scenario, moved), options)
        return left is not None and left <= others_short + SMALLEST_SHORTFALL_GPU_HOURS

    if time.monotonic() > stop:
        return f"give {campaign} more time or capacity (how much was not searched: out of time)"
    if most <= 0 or not serves(most):
        return (
            f"a later deadline inside the horizon does not help {campaign}: give it more capacity,"
            " another place to run, a longer horizon, or a drop_cost"
        )
    low, high = 0, most
    while high - low > 1 and time.monotonic() < stop:
        middle = (low + high) // 2
        low, high = (low, middle) if serves(middle) else (middle, high)
    at_most = "at most " if high - low > 1 else ""
    return f"move the deadline of {campaign} by {at_most}{high} {'day' if high == 1 else 'days'}"


def _with_campaign(scenario: Scenario, campaign: Campaign) -> Scenario:
    """Return the scenario with its repeats written out and one campaign replaced."""
    campaigns = {**expand(scenario).campaigns, campaign.id: campaign}
    return scenario.model_copy(update={"campaigns": tuple(campaigns.values())})


def _shortage(scenario: Scenario, options: SolveOptions) -> float | None:
    """Return the least GPU-hours that cannot be served within every limit."""
    data = make_program_data(scenario)
    compiled = compile_model(build_model(data))
    undone = _undone_work(data, compiled)
    short = _least(compiled, undone, options)
    if short is None:
        return None
    return sum(amount * undone[number].slack.cost for number, amount in short.items())
