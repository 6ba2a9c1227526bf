"""Shadow prices: what one more unit of a limit is worth, in three numbers that are not the same.

The *fixed-plan dual* keeps whole lots and runs as planned and lets the rest adjust: it is exact for
a small change in operation and says nothing about buying another lot. The *marginals* solve the
whole program again with one unit more and one less: they are what really happens, for that one
unit. Neither is a market price.

Signs: figures are positive where a limit matters. More of a limit saves money; of demand, work, the
minimum of an order and a lead, which are limits too, more costs money. A dual has two ends where
several are optimal; ``fixed_plan_dual`` is the end for one unit more, or, where no plan with these
lots and runs allows for more, the other one.

The limit of a pool's stable supply is its demand (averaged over the period): one unit more is a GPU
of demand more, which costs; a GPU of supply more is worth what one of demand less saves. Below a
demand of zero, in the range of its dual, it is supply that comes on top.

Money is undiscounted to the middle of a limit's own period; of limits that hold over several
periods it is a present value at the horizon start.
"""

from __future__ import annotations

from itertools import chain, zip_longest
from typing import TYPE_CHECKING

from gpuladder.analysis.answers import ShadowPriceRow
from gpuladder.analysis.base import tight_base
from gpuladder.analysis.marginals import Difference, Marginal, marginals
from gpuladder.analysis.marginals_changes import with_demand_change
from gpuladder.analysis.marginals_keys import key_limits
from gpuladder.analysis.readings import shadow_price_reading
from gpuladder.analysis.shadow_prices_duals import FixedPlan, Side, Slopes, fixed_plan
from gpuladder.analysis.shadow_prices_limits import Limit, Rows, row_limits
from gpuladder.compiled import compile_model
from gpuladder.program import make_program_data
from gpuladder.solver import Program
from gpuladder_models.build import build_model

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpuladder.analysis.budget import Budget
    from gpuladder.plan import Plan
    from gpuladder.scenario.schema import Scenario

BINDING = 1e-6
"""A row this close to its limit, as a share of it, is at it."""
NOTHING = 1e-7
"""A dual below this, in currency per unit, is rounding."""
MOST_CELLS = 3
"""Periods of each pool in which a node of demand more and less is solved."""
BASE_SHARE = 0.25
"""Most of the time that the tight base may take."""
DUAL_SHARE = 0.3
"""Most of the time left that ranging may take."""


def shadow_prices(scenario: Scenario, plan: Plan, *, budget: Budget) -> tuple[ShadowPriceRow, ...]:
    """Return the shadow prices of every limit that binds and of every policy limit.

    Parameters
    ----------
    scenario : Scenario
        The checked scenario that the plan answers.
    plan : Plan
        The plan to explain, with quantities.
    budget : Budget
        What is not solved within it says so.

    Returns
    -------
    tuple of ShadowPriceRow
        The largest amounts first.

    Raises
    ------
    AuditError
        When the plan does not fit the scenario, or primal and dual objective differ.
    """
    data = make_program_data(scenario)
    program = Program(compile_model(build_model(data)))
    with fixed_plan(data, program, plan) as fixed:
        rows = Rows(scenario, data, program.compiled, fixed.values)
        keyed = key_limits(rows)
        single = [limit for limit in row_limits(rows) if _binds(fixed, limit)]
        slopes = _slopes(fixed, [*keyed, *single], budget.share(DUAL_SHARE))
    cells = _dearest_cells(single, slopes)
    single = [with_demand_change(x, rows) if x.name in cells else x for x in single]
    slopes.update({x.name: _scaled(slopes[x.name], x.step) for x in single if x.name in cells})
    asked = _by_importance([*keyed, *(x for x in single if x.name in cells)], slopes)
    base = tight_base(scenario, plan, budget.share(BASE_SHARE)).plan
    solved = marginals(scenario, base, asked, budget=budget)
    written = [
        (
            _importance(slopes.get(limit.name), solved.get(limit.name)),
            _row(limit, slopes.get(limit.name), solved.get(limit.name), scenario.currency),
        )
        for limit in _without_repetition([*keyed, *single])
        if limit.more or limit.less or _matters(limit, slopes.get(limit.name))
    ]
    written.sort(key=lambda pair: (-pair[0], pair[1].limit, pair[1].key, str(pair[1].period)))
    return tuple(row for _, row in written)


def _without_repetition(limits: Sequence[Limit]) -> list[Limit]:
    return list({limit.name: limit for limit in reversed(limits)}.values())[::-1]


def _binds(fixed: FixedPlan, limit: Limit) -> bool:
    """Tell whether any row of a limit is at its right-hand side."""
    if not len(limit.rows):
        return False
    size = max(1.0, abs(limit.value or 0.0))
    return bool((fixed.slacks[limit.rows] <= BINDING * size).any())


def _slopes(fixed: FixedPlan, limits: Sequence[Limit], budget: Budget) -> dict[_Name, Slopes]:
    """Return the slopes of limits by name; those that there was no time for are missing."""
    moving = [limit for limit in limits if len(limit.rows)]
    directions = [(limit.rows, limit.change) for limit in moving]
    found = fixed.slopes(directions, stop_at=budget.stop_at)
    return {
        limit.name: slopes
        for limit, slopes in zip(moving, found, strict=True)
        if slopes is not None
    }


_Name = tuple[str, str, object]


def _scaled(slopes: Slopes, by: float) -> Slopes:
    def scaled(side: Side) -> Side:
        slope = None if side.slope is None else side.slope * by
        return Side(slope, side.reach / by)

    return Slopes(scaled(slopes.less), scaled(slopes.more))


def _size(slopes: Slopes | None) -> float:
    """Return the largest finite slope, a present value per unit."""
    if slopes is None:
        return 0.0
    ends = [abs(s) for s in (slopes.less.slope, slopes.more.slope) if s is not None]
    return max(ends, default=0.0)


def _matters(limit: Limit, slopes: Slopes | None) -> bool:
    """Tell whether a row is worth a line: its dual is something, or it is the company's own."""
    return limit.is_policy or slopes is None or _size(slopes) > NOTHING * limit.factor


def _dearest_cells(limits: Sequence[Limit], slopes: dict[_Name, Slopes]) -> set[_Name]:
    cells = [limit for limit in limits if limit.limit == "stable_supply" and limit.name in slopes]
    cells.sort(key=lambda limit: -_size(slopes[limit.name]))
    chosen: dict[str, list[_Name]] = {}
    for limit in cells:
        own = chosen.setdefault(limit.key, [])
        if len(own) < MOST_CELLS and _size(slopes[limit.name]) > 0:
            own.append(limit.name)
    return set(chain.from_iterable(chosen.values()))


def _by_importance(limits: Sequence[Limit], slopes: dict[_Name, Slopes]) -> list[Limit]:
    """Return the company's own limits, then by turns the largest of each other kind.

    Duals of different kinds are per different units, and dates have none: taking turns, every kind
    is answered for before the first is exhausted.
    """

    def largest_first(some: Sequence[Limit]) -> list[Limit]:
        return sorted(some, key=lambda limit: -_size(slopes.get(limit.name)))

    kinds: dict[str, list[Limit]] = {}
    for limit in largest_first([limit for limit in limits if not limit.is_policy]):
        kinds.setdefault(limit.limit, []).append(limit)
    own = largest_first([limit for limit in limits if limit.is_policy])
    turns = chain.from_iterable(zip_longest(*kinds.values()))
    return [*own, *(limit for limit in turns if limit is not None)]


def _importance(slopes: Slopes | None, marginal: Marginal | None) -> float:
    amounts = [_size(slopes)]
    if marginal is not None:
        amounts += [abs(x.value) for x in (marginal.up, marginal.down) if x.value is not None]
    return max(amounts)


def _row(
    limit: Limit, slopes: Slopes | None, marginal: Marginal | None, currency: str
) -> ShadowPriceRow:
    sign = 1.0 if limit.is_cost else -1.0

    def figure(slope: float | None) -> float | None:
        if slope is None:
            return None
        amount = sign * slope / limit.factor
        return 0.0 if abs(amount) <= NOTHING else amount

    up, down = (marginal.up, marginal.down) if marginal else (Difference(None, None),) * 2
    marginal_up = None if up.value is None else up.value / limit.factor
    marginal_down = None if down.value is None else down.value / limit.factor
    errors = [x.error for x in (up, down) if x.error is not None]
    dual = low = high = valid_from = valid_to = None
    notes = [limit.note]
    if slopes is not None:
        more, less = figure(slopes.more.slope), figure(slopes.less.slope)
        side = slopes.less if more is None else slopes.more
        dual = less if more is None else more
        low, high = (less, more) if limit.is_cost else (more, less)
        valid_from, valid_to = _validity(limit, slopes, side)
        notes.append(_kink_note(slopes))
    elif len(limit.rows):
        notes.append("no time was left for the dual")
    notes += [up.note, down.note]
    return ShadowPriceRow(
        limit=limit.limit,
        key=limit.key,
        period=limit.period,
        unit=limit.unit,
        reading=shadow_price_reading(
            limit, (dual, low, high), (marginal_up, marginal_down), currency
        ),
        fixed_plan_dual=dual,
        dual_low=low,
        dual_high=high,
        valid_from=valid_from,
        valid_to=valid_to,
        marginal_up=marginal_up,
        marginal_down=marginal_down,
        marginal_error=max(errors) / limit.factor if errors else None,
        change=_change_text(limit) if marginal else "",
        note="; ".join(part for part in notes if part),
    )


def _validity(limit: Limit, slopes: Slopes, side: Side) -> tuple[float | None, float | None]:
    """Return the values of the limit between which the dual given holds; None without an end."""
    if limit.value is None:
        return None, None
    back = 0.0 if slopes.is_kink and side is slopes.more else slopes.less.reach
    ahead = 0.0 if slopes.is_kink and side is slopes.less else slopes.more.reach
    begin, end = limit.value - back * limit.step, limit.value + ahead * limit.step
    return (
        begin if begin > -float("inf") else None,
        end if end < float("inf") else None,
    )


def _kink_note(slopes: Slopes) -> str:
    more, less = slopes.more.slope, slopes.less.slope
    if more is None and less is None:
        return "no plan with these lots and runs has more or less of it"
    if more is None:
        return "no plan with these lots and runs has more of it: the dual is that of less"
    if less is None:
        held = "" if abs(more) > NOTHING else ": lots and runs alone decide here, see the marginals"
        return f"no plan with these lots and runs has less of it{held}"
    if slopes.is_kink:
        return "degenerate: one of several optimal duals, this one holds for more of it"
    return ""


def _change_text(limit: Limit) -> str:
    parts = [("more", limit.more), ("less", limit.less)]
    return "; ".join(f"one {side}: {change.text}" for side, change in parts if change is not None)
