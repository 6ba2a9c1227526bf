"""Marginals: the whole program solved again with one unit of a limit more, and one less.

Unlike a dual, a marginal may buy another lot or move a run. It is a difference of two optima, each
known to lie between its bound and its plan; what is given is the difference of the plans, how far
it may be off, and nothing at all where the bounds leave it open.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpuladder.analysis.marginals_changes import edited
from gpuladder.analysis.variants import Answered, Variant, solve_variants
from gpuladder.audit import audit
from gpuladder.errors import ScenarioError
from gpuladder.plan import Status

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date

    from gpuladder.analysis.budget import Budget
    from gpuladder.analysis.shadow_prices_limits import Change, Limit
    from gpuladder.plan import Plan
    from gpuladder.scenario.schema import Scenario

INFORMATIVE_SHARE = 0.5
"""A difference is given when it is known to within this share of itself …"""
NEGLIGIBLE_SHARE = 2e-6
"""… or of the whole cost."""
ROUNDING_SHARE = 1e-9
"""Differences below this share of the whole cost are rounding."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What one changed unit saves or costs; all present values."""

    value: float | None
    error: float | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Marginal:
    """One unit more and one less of a limit; positive where a looser limit saves money."""

    up: Difference
    down: Difference


Name = tuple[str, str, "date | None"]


def marginals(
    scenario: Scenario, base: Plan, limits: Sequence[Limit], *, budget: Budget
) -> dict[Name, Marginal]:
    """Return the marginals of limits, the most important first, as far as the budget goes.

    Parameters
    ----------
    base : Plan
        The plan that differences are taken from, solved as tightly as they are to be.
    limits : sequence of Limit
        Each with the change that makes it one unit more and one less.
    """
    unsound: dict[str, str] = {}
    variants: list[Variant] = []
    for limit in limits:
        for side, change in (("more", limit.more), ("less", limit.less)):
            if change is None or budget.seconds_left <= 0.0:
                continue
            try:
                asked = edited(scenario, change)
            except ScenarioError as error:
                what = error.problems[0].what
                unsound[_key(limit, side)] = f"refused as a scenario ({what})"
                continue
            variants.append(Variant(key=_key(limit, side), scenario=asked, start=base))
    answers = solve_variants(
        variants,
        relative_gap=budget.relative_gap,
        seconds_each=budget.seconds_each,
        stop_at=budget.stop_at,
        workers=budget.workers,
    )
    faults = {
        variant.key: audit(variant.scenario, answers[variant.key].plan).findings
        for variant in variants
        if variant.key in answers and answers[variant.key].plan.has_quantities
    }
    sound = {key: answer for key, answer in answers.items() if not faults.get(key)}
    for key, findings in faults.items():
        if findings:
            unsound[key] = f"the plan found does not stand up to the audit: {findings[0].message}"
    best = _best_base(base, limits, sound)
    found: dict[Name, Marginal] = {}
    for limit in limits:
        sides = [
            Difference(None, None, f"one unit {side}: {unsound[_key(limit, side)]}")
            if _key(limit, side) in unsound
            else _difference(limit, side, change, best, sound.get(_key(limit, side)))
            for side, change in (("more", limit.more), ("less", limit.less))
        ]
        found[limit.name] = Marginal(*sides)
    return found


def _key(limit: Limit, side: str) -> str:
    return "|".join((limit.limit, limit.key, str(limit.period or ""), side))


def _is_looser(limit: Limit, side: str) -> bool:
    return (side == "less") if limit.is_cost else (side == "more")


@dataclass(frozen=True, slots=True)
class _Interval:
    """Where an optimum lies: not above its best plan, not below its bound."""

    low: float
    high: float


def _best_base(
    base: Plan, limits: Sequence[Limit], answers: Mapping[str, Answered]
) -> _Interval | None:
    """Return where the base's optimum lies, by everything that was solved.

    A plan of a tighter scenario is one of the base too, and a bound of a looser scenario holds for
    the base.
    """
    if base.objective is None:
        return None
    low, high = -float("inf") if base.bound is None else base.bound, base.objective
    for limit in limits:
        for side in ("more", "less"):
            answer = answers.get(_key(limit, side))
            if answer is None:
                continue
            plan = answer.plan
            if _is_looser(limit, side) and plan.bound is not None:
                low = max(low, plan.bound)
            elif not _is_looser(limit, side) and plan.objective is not None:
                high = min(high, plan.objective)
    return _Interval(min(low, high), high)


def _difference(
    limit: Limit,
    side: str,
    change: Change | None,
    base: _Interval | None,
    answer: Answered | None,
) -> Difference:
    if change is None:
        return Difference(None, None)
    if answer is None or base is None:
        return Difference(None, None, f"one unit {side}: not solved in the time given")
    plan = answer.plan
    if plan.status is Status.INFEASIBLE:
        return Difference(None, None, f"one unit {side}: no plan exists")
    if _is_looser(limit, side):
        # The base's plan stands under a looser limit as well.
        high = base.high if plan.objective is None else min(plan.objective, base.high)
        low = min(-float("inf") if plan.bound is None else plan.bound, high)
        value, least, most = base.high - high, max(base.low - high, 0.0), base.high - low
    else:
        if plan.objective is None:
            return Difference(None, None, f"one unit {side}: not solved in the time given")
        high = max(plan.objective, base.high)
        low = max(base.low if plan.bound is None else plan.bound, base.low)
        value, least, most = high - base.high, max(low - base.high, 0.0), high - base.low
    value = 0.0 if value <= ROUNDING_SHARE * abs(base.high) else value
    error = max(value - least, most - value)
    if error <= max(INFORMATIVE_SHARE * value, NEGLIGIBLE_SHARE * abs(base.high)):
        return Difference(value, error)
    if most == float("inf"):
        return Difference(None, None, f"one unit {side}: not solved in the time given")
    return Difference(
        None, None, f"one unit {side}: between {least:,.0f} and {most:,.0f}, not proven closer"
    )
