"""How much of each offer any near-optimal plan holds: what is firm, and what a matter of taste.

For each offer the program is solved for the fewest and for the most GPU-hours of it at a cost
within the slack. GPU-hours are those bought inside the horizon, or used where they are metered; a
plan that buys more than it uses counts too, as long as it is paid for within the slack, but what
the slack could only buy on top of the plan to stand idle is not read as a choice. A plan already
known within the slack that has none of an offer needs no further proof that it can be left out.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.analysis.alternatives_aims import mode_spot_hours, spot_hours
from gpuladder.analysis.answers import QuantityRangeRow
from gpuladder.analysis.baselines_words import NOT_SOLVED
from gpuladder.analysis.edits import NewColumns, extend
from gpuladder.analysis.frame import Frame
from gpuladder.analysis.ledger import ledger_of
from gpuladder.analysis.variants import Variant, solve_variants
from gpuladder.plan import Termination
from gpuladder.program import make_program_data
from gpuladder.scenario.expand import expand
from gpuladder_models.objective import costs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gpuladder.analysis.alternatives_aims import CostLimit
    from gpuladder.analysis.budget import Budget
    from gpuladder.analysis.variants import Answered
    from gpuladder.compiled import CompiledModel, FloatArray
    from gpuladder.plan import Plan
    from gpuladder.scenario.schema import Scenario
    from gpuladder_models.data import ProgramData

RANGE_GAP = 5e-3
FIRM_SHARE = 0.1  # a quantity that moves by no more than this share of the plan's is firm
NOTHING_GPU_HOURS = 1e-3
IDLE_TOLERANCE = 5e-3  # relative; the gap of the search
LEAST, MOST = "least", "most"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """An edit: fewest or most GPU-hours of an offer within a cost limit."""

    offer: str
    side: str
    limit: CostLimit

    def __call__(self, compiled: CompiledModel, data: ProgramData) -> CompiledModel:
        """Return the program with the offer's GPU-hours in place of its cost."""
        hours = offer_hours(compiled, data, self.offer)
        unit = max(float(hours.max(initial=0.0)), 1.0)
        sign = 1.0 if self.side == LEAST else -1.0
        none = NewColumns(np.zeros(0), np.zeros(0), is_integer=False)
        return extend(compiled, none, [self.limit.row(compiled)], sign * hours / unit)


def offer_hours(compiled: CompiledModel, data: ProgramData, offer: str) -> FloatArray:
    """Return the GPU-hours of an offer that one unit of each column holds, (num_columns,)."""
    hours = np.zeros(compiled.num_columns)
    for family, own in hours_by_family(data, offer).items():
        hours[compiled.column_blocks[family].slice] = own
    return hours


def hours_by_family(data: ProgramData, offer: str) -> dict[str, FloatArray]:
    """Return the GPU-hours of an offer that one unit of each variable holds, by family."""
    labels, cells, levels = data.labels, data.cells, data.levels
    if offer in labels.committed:
        per_lot = np.zeros(len(data.orders.offer))
        np.add.at(per_lot, cells.firm.column, cells.firm.value * cells.hours[cells.firm.row])
        flex = data.flex
        held = flex.held.value * cells.hours[flex.cell[flex.held.row]]
        np.add.at(per_lot, flex.held.column, held)
        is_own = data.orders.offer == labels.committed.index(offer)
        return {"lots": np.where(is_own, per_lot, 0.0)}
    if offer in labels.on_demand:
        level = data.on_demand.level
        use = levels.share[level] * cells.hours[levels.cell[level]]
        is_own = data.on_demand.offer == labels.on_demand.index(offer)
        return {"on_demand": np.where(is_own, use, 0.0)}
    number = labels.spot.index(offer)
    is_own = data.spot.offer[data.elastic.spot_cell] == number
    return {
        "spot": np.where(is_own, spot_hours(data), 0.0),
        "mode": mode_spot_hours(data, number),
    }


def idle_hours(data: ProgramData, offer: str, money: float) -> float:
    """Return the GPU-hours of an offer that so much money would buy and leave idle."""
    cost = costs(data)
    rates = [
        float((cost[family][own > 0] / own[own > 0]).min())
        for family, own in hours_by_family(data, offer).items()
        if (own > 0).any()
    ]
    cheapest = min(rates, default=np.inf)
    return money / cheapest if cheapest > 0 else np.inf


def quantities(scenario: Scenario, plan: Plan) -> dict[str, float]:
    """Return the GPU-hours of each offer that a plan buys or uses inside the horizon."""
    ledger = ledger_of(Frame.of(scenario, plan))
    found: dict[str, float] = defaultdict(float)
    hours = ledger.frame.grid.hours
    for term in ledger.orders:
        found[term.offer or ""] += float(term.gpu_hours.sum())
    for pool in ledger.pools.values():
        for offer, by_level in pool.use.on_demand.items():
            found[offer] += float(pool.use.levels.mean(by_level) @ hours)
    for (_, offer), gpus in ledger.use.spot.items():
        found[offer] += float(gpus @ hours)
    return dict(found)


def quantity_ranges(
    scenario: Scenario,
    plan: Plan,
    best: Plan,
    *,
    limits: Mapping[float, CostLimit],
    known: Sequence[Plan],
    budget: Budget,
) -> tuple[QuantityRangeRow, ...]:
    """Return the range of each offer at each slack.

    Parameters
    ----------
    plan, best : Plan
        The plan explained, and the best one known, from which the searches start.
    limits : mapping of float to CostLimit
        Cost limit of each slack.
    known : sequence of Plan
        Plans found before; those within a limit widen its ranges.
    budget : Budget
        What solving them may take; offers in the plan come first.
    """
    tables = expand(scenario)
    own = quantities(scenario, plan)
    offers = [*tables.committed, *tables.on_demand, *tables.spot]
    offers.sort(key=lambda offer: own.get(offer, 0.0) <= NOTHING_GPU_HOURS)
    data = make_program_data(scenario)
    found = [
        _Held(item.objective, quantities(scenario, item))
        for item in known
        if item.objective is not None
    ]
    rows: list[QuantityRangeRow] = []
    for slack, limit in sorted(limits.items()):
        inside = [item.gpu_hours for item in found if item.cost <= limit.tolerated]
        asked = [
            Variant(
                key=_key(offer, side),
                scenario=scenario,
                edit=Quantity(offer=offer, side=side, limit=limit),
                start=best,
            )
            for offer in offers
            for side in (LEAST, MOST)
            if side == MOST or not _can_be_left_out(offer, inside)
        ]
        answers = solve_variants(
            asked,
            relative_gap=max(budget.relative_gap, RANGE_GAP),
            seconds_each=budget.seconds_each,
            stop_at=budget.stop_at,
            workers=budget.workers,
        )
        found += [
            _Held(answered.plan.objective, quantities(scenario, answered.plan))
            for answered in answers.values()
            if answered.plan.objective is not None
        ]
        inside = [item.gpu_hours for item in found if item.cost <= limit.tolerated]
        for offer in offers:
            idle = idle_hours(data, offer, limit.most - limit.least)
            rows.append(_row(offer, slack, own.get(offer, 0.0), idle, answers, inside))
    return tuple(rows)


@dataclass(frozen=True, slots=True)
class _Held:
    cost: float
    gpu_hours: Mapping[str, float]


def _can_be_left_out(offer: str, inside: Sequence[Mapping[str, float]]) -> bool:
    return any(item.get(offer, 0.0) <= NOTHING_GPU_HOURS for item in inside)


def _key(offer: str, side: str) -> str:
    return f"{offer}/{side}"


def _row(
    offer: str,
    slack: float,
    own: float,
    idle: float,
    answers: Mapping[str, Answered],
    inside: Sequence[Mapping[str, float]],
) -> QuantityRangeRow:
    known = [item.get(offer, 0.0) for item in inside]
    has_none = _can_be_left_out(offer, inside)
    lowest, highest = answers.get(_key(offer, LEAST)), answers.get(_key(offer, MOST))
    least = min(known) if has_none or _has_plan(lowest) else None
    most = max(known) if _has_plan(highest) else None
    is_proven = (has_none or _is_proven(lowest)) and _is_proven(highest)
    return QuantityRangeRow(
        offer=offer,
        slack_share=slack,
        gpu_hours_in_plan=own,
        least_gpu_hours=least,
        most_gpu_hours=most,
        reading=_reading(own, least, most, idle, is_proven=is_proven),
    )


def _has_plan(answered: Answered | None) -> bool:
    return answered is not None and answered.plan.objective is not None


def _is_proven(answered: Answered | None) -> bool:
    return answered is not None and answered.plan.termination is Termination.GAP_REACHED


def _reading(
    own: float, least: float | None, most: float | None, idle: float, *, is_proven: bool
) -> str:
    """Return what a range means; what the slack could only buy to stand idle is no choice."""
    if least is None or most is None:
        return NOT_SOLVED
    wider = "" if is_proven else "; the range may be wider, it is not proven"
    top = own if most - own <= idle * (1.0 + IDLE_TOLERANCE) else most
    if top <= NOTHING_GPU_HOURS:
        return f"firm: left out, the slack would only buy it to stand idle{wider}"
    if least <= NOTHING_GPU_HOURS:
        what = "it can be left out" if own > NOTHING_GPU_HOURS else "it can be taken in"
        return f"a matter of taste: {what}{wider}"
    if own * (1.0 - FIRM_SHARE) <= least and top <= own * (1.0 + FIRM_SHARE):
        return f"firm: within {FIRM_SHARE:.0%} of the plan's{wider}"
    if own <= NOTHING_GPU_HOURS:
        return f"flexible: at least {least:,.0f} GPU-hours in the plans found{wider}"
    return f"flexible: from {least / own:.0%} to {top / own:.0%} of the plan's{wider}"
