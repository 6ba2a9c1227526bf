"""The plan's records as arrays over periods, and the faults of the records themselves.

Records that cannot be placed (unknown ids, no such period, no usable number) are reported and left
out of the sums; everything else is counted as it stands, duplicates included.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from gpuladder.audit.facts import Facts, is_flex
from gpuladder.audit.findings import QUANTITY_TOLERANCE, Finding, is_usable, number
from gpuladder.scenario.expand import CommittedTerm, term_of
from gpuladder.scenario.schema import GangCampaign

if TYPE_CHECKING:
    from datetime import date

    from gpuladder.plan import MeteredUse, Order, Plan, Run
    from gpuladder.timegrid import FloatArray

KeyT = TypeVar("KeyT", bound=Hashable)
LevelUse = dict[tuple[int, int], float]
"""GPUs by period index and level index."""


@dataclass(frozen=True, slots=True)
class Lot:
    """An order with its term worked out.

    Attributes
    ----------
    gpus : float
        GPUs of all its lots.
    shares : float64, shape (T,)
        Share of each period that its term covers.
    """

    offer: CommittedTerm
    start: date
    end: date
    lots: float
    gpus: float
    shares: FloatArray


@dataclass(frozen=True, slots=True)
class Quantities:
    """Every decision of a plan, placed on the grid.

    Attributes
    ----------
    on_demand : dict of str to LevelUse
        By offer.
    drawn : dict of str to float64, shape (T,)
        GPUs drawn from each flex offer.
    stable, spot : dict of (str, str) to float64, shape (T,)
        GPUs of elastic campaigns by (campaign, pool) and by (campaign, spot offer).
    runs : tuple of (Run, float64 shape (T,))
        Each gang's mode with the share of every period that it occupies.
    backfill : dict of (str, str) to float64, shape (T,)
        GPUs sold by (buyer, pool).
    dropped : dict of str to float
        Share of work not done by campaign.
    """

    lots: tuple[Lot, ...]
    on_demand: dict[str, LevelUse]
    drawn: dict[str, FloatArray]
    stable: dict[tuple[str, str], FloatArray]
    spot: dict[tuple[str, str], FloatArray]
    runs: tuple[tuple[Run, FloatArray], ...]
    backfill: dict[tuple[str, str], FloatArray]
    dropped: dict[str, float]


def read_quantities(facts: Facts, plan: Plan) -> Quantities:
    """Place every record that can be placed; see ``record_findings`` for those that cannot."""
    tables = facts.tables
    dropped: dict[str, float] = defaultdict(float)
    for item in plan.dropped:
        if item.campaign in tables.campaigns and is_usable(item.share):
            dropped[item.campaign] += item.share
    return Quantities(
        lots=tuple(
            _lot(facts, order)
            for order in plan.orders
            if order.offer in tables.committed and is_usable(order.lots)
        ),
        on_demand=_by_level(facts, plan.on_demand),
        drawn=_by_period(
            facts,
            (
                (row.offer, row.period, row.gpus)
                for row in plan.drawn
                if _is_drawable(facts, row.offer)
            ),
        ),
        stable=_by_period(
            facts,
            (
                ((row.campaign, row.pool), row.period, row.gpus)
                for row in plan.stable_use
                if row.campaign in tables.campaigns and row.pool in tables.pools
            ),
        ),
        spot=_by_period(
            facts,
            (
                ((row.campaign, row.offer), row.period, row.gpus)
                for row in plan.spot_use
                if row.campaign in tables.campaigns and row.offer in tables.spot
            ),
        ),
        runs=tuple((run, _run_shares(facts, run)) for run in plan.runs if _is_placed(facts, run)),
        backfill=_by_period(
            facts,
            (
                ((row.buyer, row.pool), row.period, row.gpus)
                for row in plan.backfill
                if row.buyer in _buyers(facts) and row.pool in tables.pools
            ),
        ),
        dropped=dict(dropped),
    )


def record_findings(facts: Facts, plan: Plan) -> Iterator[Finding]:
    """Find records that name nothing, say things twice, or hold impossible numbers."""
    yield from _unknown(facts, plan)
    yield from _duplicates(plan)
    yield from _impossible_numbers(plan)
    yield from _not_whole(facts, plan)


def _lot(facts: Facts, order: Order) -> Lot:
    offer = facts.tables.committed[order.offer]
    end = term_of(offer).after(order.start)
    shares = facts.share(order.start, end)
    return Lot(offer, order.start, end, order.lots, order.lots * offer.lot_gpus, shares)


def _run_shares(facts: Facts, run: Run) -> FloatArray:
    begin = (run.start - facts.grid.start).days * 24.0
    return facts.hours_between(begin, begin + run.hours) / facts.hours


def _is_placed(facts: Facts, run: Run) -> bool:
    tables = facts.tables
    return (
        isinstance(tables.campaigns.get(run.campaign), GangCampaign)
        and run.pool in tables.pools
        and (run.spot_offer is None or run.spot_offer in tables.spot)
        and is_usable(run.hours)
        and is_usable(run.gpus)
    )


def _is_drawable(facts: Facts, offer_id: str) -> bool:
    offer = facts.tables.committed.get(offer_id)
    return offer is not None and is_flex(offer)


def _buyers(facts: Facts) -> set[str]:
    return {buyer.id for buyer in facts.scenario.backfill}


def _by_level(facts: Facts, rows: Sequence[MeteredUse]) -> dict[str, LevelUse]:
    table: dict[str, LevelUse] = {}
    for row in rows:
        known = row.offer in facts.tables.on_demand and row.period in facts.period_of
        if known and is_usable(row.gpus):
            use = table.setdefault(row.offer, {})
            place = (facts.period_of[row.period], row.level)
            use[place] = use.get(place, 0.0) + row.gpus
    return table


def _by_period(facts: Facts, rows: Iterable[tuple[KeyT, date, float]]) -> dict[KeyT, FloatArray]:
    table: dict[KeyT, FloatArray] = {}
    for key, day, gpus in rows:
        period = facts.period_of.get(day)
        if period is not None and is_usable(gpus):
            if key not in table:
                table[key] = np.zeros(facts.num_periods)
            table[key][period] += gpus
    return table


def _named(plan: Plan) -> Iterator[tuple[str, str, date | None]]:
    """Yield (table, id, period) of everything that a record refers to."""
    for order in plan.orders:
        yield "committed offer", order.offer, None
    for metered in plan.on_demand:
        yield "on-demand offer", metered.offer, metered.period
    for draw in plan.drawn:
        yield "flex offer", draw.offer, draw.period
    for stable in plan.stable_use:
        yield "elastic campaign", stable.campaign, stable.period
        yield "pool", stable.pool, None
    for spot in plan.spot_use:
        yield "elastic campaign", spot.campaign, spot.period
        yield "spot offer", spot.offer, None
    for run in plan.runs:
        yield "gang campaign", run.campaign, None
        yield "pool", run.pool, None
        if run.spot_offer is not None:
            yield "spot offer", run.spot_offer, None
    for drop in plan.dropped:
        yield "campaign", drop.campaign, None
    for sale in plan.backfill:
        yield "backfill buyer", sale.buyer, sale.period
        yield "pool", sale.pool, None


def _unknown(facts: Facts, plan: Plan) -> Iterator[Finding]:
    tables = facts.tables
    gangs = {key for key, item in tables.campaigns.items() if isinstance(item, GangCampaign)}
    known: dict[str, set[str]] = {
        "committed offer": set(tables.committed),
        "flex offer": {key for key, item in tables.committed.items() if is_flex(item)},
        "on-demand offer": set(tables.on_demand),
        "spot offer": set(tables.spot),
        "pool": set(tables.pools),
        "campaign": set(tables.campaigns),
        "gang campaign": gangs,
        "elastic campaign": set(tables.campaigns) - gangs,
        "backfill buyer": _buyers(facts),
    }
    for table, key, day in dict.fromkeys(_named(plan)):
        if key not in known[table]:
            message = f"the plan names {key!r}, but the scenario has no {table} of that name"
            yield _fault("unknown_id", key, day, message)
        elif day is not None and day not in facts.period_of:
            message = f"{key}: no period of the grid begins on {day}"
            yield _fault("unknown_id", key, day, message)
    yield from _unknown_levels(facts, plan)


def _unknown_levels(facts: Facts, plan: Plan) -> Iterator[Finding]:
    pools = {key: offer.pool for key, offer in facts.tables.on_demand.items()}
    for row in plan.on_demand:
        period = facts.period_of.get(row.period)
        if period is None or row.offer not in pools:
            continue
        count = len(facts.levels[pools[row.offer]][period])
        if not 0 <= row.level < count:
            message = (
                f"{row.offer}: level {row.level} in the period from {row.period}, but the demand "
                f"of {pools[row.offer]} has {count} level(s) there"
            )
            yield _fault("unknown_id", row.offer, row.period, message)


def _keys(plan: Plan) -> Iterator[tuple[str, tuple[Hashable, ...], date | None]]:
    """Yield (table, key, period) of every record; equal ones are duplicates."""
    for order in plan.orders:
        yield "orders", (order.offer,), order.start
    for metered in plan.on_demand:
        yield "on_demand", (metered.offer, metered.level), metered.period
    for draw in plan.drawn:
        yield "drawn", (draw.offer,), draw.period
    for stable in plan.stable_use:
        yield "stable_use", (stable.campaign, stable.pool), stable.period
    for spot in plan.spot_use:
        yield "spot_use", (spot.campaign, spot.offer), spot.period
    for run in plan.runs:
        yield "runs", (run.campaign, run.pool, run.spot_offer, run.gpus), run.start
    for drop in plan.dropped:
        yield "dropped", (drop.campaign,), None
    for sale in plan.backfill:
        yield "backfill", (sale.buyer, sale.pool), sale.period
    for line in plan.costs:
        yield "costs", (line.line,), None


def _duplicates(plan: Plan) -> Iterator[Finding]:
    seen: dict[tuple[str, tuple[Hashable, ...], date | None], int] = defaultdict(int)
    for record in _keys(plan):
        seen[record] += 1
    for (table, key, day), count in seen.items():
        if count > 1:
            name = ", ".join(str(part) for part in key if part is not None)
            when = "" if day is None else f" on {day}"
            message = f"{table}: {count} records for {name}{when}"
            yield Finding(
                code="duplicate", key=str(key[0]), period=day, message=message, amount=count - 1
            )


def _numbers(plan: Plan) -> Iterator[tuple[str, date | None, str, float]]:
    """Yield (key, period, what, value) of every quantity that must not be negative."""
    for order in plan.orders:
        yield order.offer, order.start, "lots", order.lots
    for metered in plan.on_demand:
        yield metered.offer, metered.period, "GPUs", metered.gpus
    for draw in plan.drawn:
        yield draw.offer, draw.period, "drawn GPUs", draw.gpus
    for stable in plan.stable_use:
        yield stable.campaign, stable.period, "stable GPUs", stable.gpus
    for spot in plan.spot_use:
        yield spot.campaign, spot.period, "spot GPUs", spot.gpus
    for run in plan.runs:
        yield run.campaign, run.start, "GPUs", run.gpus
        yield run.campaign, run.start, "hours", run.hours
    for drop in plan.dropped:
        yield drop.campaign, None, "dropped share", drop.share
    for sale in plan.backfill:
        yield sale.buyer, sale.period, "backfill GPUs", sale.gpus


def _impossible_numbers(plan: Plan) -> Iterator[Finding]:
    for key, day, what, value in _numbers(plan):
        if not is_usable(value) or value < -QUANTITY_TOLERANCE:
            written = number(value) if is_usable(value) else "no usable number"
            message = f"{key}: {what} are {written}; they must be a number at or above zero"
            excess = -value if is_usable(value) else 0.0
            yield Finding(code="negative", key=key, period=day, message=message, amount=excess)


def _not_whole(facts: Facts, plan: Plan) -> Iterator[Finding]:
    parts: list[tuple[str, date | None, str, float]] = [
        (order.offer, order.start, "lots", order.lots) for order in plan.orders
    ]
    parts += [(run.campaign, run.start, "GPUs of the run", run.gpus) for run in plan.runs]
    parts += [
        (drop.campaign, None, "dropped share of a gang", drop.share)
        for drop in plan.dropped
        if isinstance(facts.tables.campaigns.get(drop.campaign), GangCampaign)
    ]
    for key, day, what, value in parts:
        if is_usable(value) and abs(value - round(value)) > QUANTITY_TOLERANCE:
            message = f"{key}: {what} are {number(value)}, which is not a whole number"
            yield Finding(
                code="not_whole",
                key=key,
                period=day,
                message=message,
                amount=abs(value - round(value)),
            )


def _fault(code: str, key: str, day: date | None, message: str) -> Finding:
    return Finding(code=code, key=key, period=day, message=message, amount=0.0)
