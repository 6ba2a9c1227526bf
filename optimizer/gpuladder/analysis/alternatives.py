"""Alternatives: plans almost as cheap that are as different as can be in one respect.

Near-optimal are the plans that cost at most the best cost known plus the slack. Each alternative is
the best of them in one respect (see ``alternatives_aims``), audited like any plan, and shown with
the price paid for it: its cost less that of the plan. Plans already known within the slack count
too, so no alternative is worse in its respect than the plan itself.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpuladder.analysis.alternatives_aims import (
    AIMS,
    COST_TOLERANCE,
    PROVIDERS,
    SIGNATURES,
    Aim,
    CostLimit,
    asked_scenario,
    measures,
    unit_of,
)
from gpuladder.analysis.answers import AlternativeRow, QuantityRangeRow
from gpuladder.analysis.base import tight_base
from gpuladder.analysis.baselines_words import NOT_SOLVED, joined
from gpuladder.analysis.quantity_ranges import quantity_ranges
from gpuladder.analysis.variants import Variant, solve_variants
from gpuladder.audit import audit
from gpuladder.plan import Termination
from gpuladder.scenario.expand import expand

if TYPE_CHECKING:
    from gpuladder.analysis.budget import Budget
    from gpuladder.analysis.variants import Answered
    from gpuladder.plan import Plan
    from gpuladder.scenario.schema import Scenario

AIM_GAP = 5e-3  # relative to the aim
SAME = 1e-6  # measures closer than this share of them are equal
COUNTED = {PROVIDERS: "provider", SIGNATURES: "order"}
PART_FOR_AIMS = 0.6  # of the time; the rest is for the ranges of quantities


@dataclass(frozen=True)
class _Found:
    """A plan within the slack, with its measures."""

    plan: Plan
    cost: float
    measures: dict[str, float]


def alternatives(
    scenario: Scenario,
    plan: Plan,
    *,
    budget: Budget,
    slacks: tuple[float, ...] = (0.01, 0.02),
) -> tuple[tuple[AlternativeRow, ...], tuple[QuantityRangeRow, ...], dict[str, Plan]]:
    """Return near-optimal plans, and how much of each offer such plans hold.

    Parameters
    ----------
    scenario : Scenario
        A checked scenario.
    plan : Plan
        Its plan; extra cost is against it. What is near-optimal is measured from the best cost
        known: that of the plan solved on to a tighter gap.
    budget : Budget
        The aims come first, at the first slack before the second, then the ranges.
    slacks : tuple of float
        Shares of the cost that a plan may cost more.

    Returns
    -------
    rows : tuple of AlternativeRow
    ranges : tuple of QuantityRangeRow
    plans : dict of str to Plan
        The alternatives by ``aim@slack``, such as ``least_spot@0.01``.
    """
    if plan.objective is None:
        return (), (), {}
    base = tight_base(scenario, plan, budget).plan
    best = base if base.objective is not None and base.objective <= plan.objective else plan
    least = plan.objective if best.objective is None else best.objective
    limits = {slack: CostLimit(least=least, most=least + slack * abs(least)) for slack in slacks}
    of_plan, of_best = measures(scenario, plan), measures(scenario, best)
    asked = [
        Variant(
            key=_key(aim, slack),
            scenario=asked_scenario(scenario, aim, best),
            edit=Aim(
                name=aim, scenario=scenario, plan=best, limit=limits[slack], scale=of_best[aim]
            ),
            start=best,
        )
        for slack in slacks
        for aim in AIMS
        if of_best[aim] > SAME
    ]
    aims_budget = budget.share(PART_FOR_AIMS)
    answers = solve_variants(
        asked,
        relative_gap=max(budget.relative_gap, AIM_GAP),
        seconds_each=budget.seconds_each,
        stop_at=aims_budget.stop_at,
        workers=budget.workers,
    )
    known = [_Found(plan, plan.objective, of_plan), _Found(best, least, of_best)]
    found = {
        key: _found(scenario, answered, best)
        for key, answered in answers.items()
        if answered.plan.objective is not None
    }
    known += found.values()
    rows: list[AlternativeRow] = []
    plans: dict[str, Plan] = {}
    for slack in slacks:
        inside = [item for item in known if item.cost <= limits[slack].tolerated]
        for aim in AIMS:
            key = _key(aim, slack)
            is_asked = of_best[aim] > SAME
            if is_asked and key not in found:
                rows.append(_unsolved(aim, slack, of_plan[aim], plan))
                continue
            chosen = min(inside, key=lambda item: (_rounded(item.measures[aim], aim), item.cost))
            note = _proof_note(answers.get(key))
            rows.append(_row(scenario, plan, of_plan[aim], aim, slack, chosen, note))
            plans[key] = chosen.plan
    ranges = quantity_ranges(
        scenario, plan, best, limits=limits, known=[item.plan for item in known], budget=budget
    )
    return tuple(rows), ranges, plans


def _key(aim: str, slack: float) -> str:
    return f"{aim}@{slack:g}"


def _rounded(measure: float, aim: str) -> float:
    """Return a measure without the noise that would prefer a dearer plan for nothing."""
    return round(measure) if aim in COUNTED else float(f"{measure:.6g}")


def _found(scenario: Scenario, answered: Answered, best: Plan) -> _Found:
    """Return an answer as a plan of the scenario itself."""
    found = answered.plan.model_copy(update={"scenario": best.scenario})
    return _Found(found, found.objective or 0.0, measures(scenario, found))


def _proof_note(answered: Answered | None) -> str:
    if answered is None:
        return "the plan has none of it"
    if answered.plan.termination is Termination.GAP_REACHED:
        return ""
    return "stopped at its time limit: better ones may exist within the slack"


def _unsolved(aim: str, slack: float, of_plan: float, plan: Plan) -> AlternativeRow:
    return AlternativeRow(
        aim=aim,
        slack_share=slack,
        cost=None,
        extra_cost=None,
        extra_share=None,
        measure=None,
        measure_of_plan=of_plan,
        unit=unit_of(aim, plan.currency),
        summary="",
        is_audited=False,
        note=NOT_SOLVED,
    )


def _row(
    scenario: Scenario,
    plan: Plan,
    of_plan: float,
    aim: str,
    slack: float,
    chosen: _Found,
    note: str,
) -> AlternativeRow:
    before = plan.objective or 0.0
    extra = chosen.cost - before
    measure = chosen.measures[aim]
    if abs(measure - of_plan) <= SAME * max(abs(of_plan), 1.0):
        note = note or "no plan within the slack has less"
    if extra < -COST_TOLERANCE * max(abs(before), 1.0):
        note = joined(note, "cheaper than the plan, whose own gap allows for it")
    return AlternativeRow(
        aim=aim,
        slack_share=slack,
        cost=chosen.cost,
        extra_cost=extra,
        extra_share=extra / abs(before) if before else None,
        measure=measure,
        measure_of_plan=of_plan,
        unit=unit_of(aim, plan.currency),
        summary=_summary(scenario, chosen, aim, of_plan, plan.currency),
        is_audited=audit(scenario, chosen.plan).passed,
        note=note,
    )


def _summary(scenario: Scenario, chosen: _Found, aim: str, of_plan: float, currency: str) -> str:
    """Return what an alternative signs, in a sentence."""
    tables = expand(scenario)
    gpus: Counter[str] = Counter()
    for order in chosen.plan.orders:
        gpus[order.offer] += order.lots * tables.committed[order.offer].lot_gpus
    orders = _count(len(chosen.plan.orders), "order")
    what = ", ".join(f"{offer} {count:,} GPUs" for offer, count in gpus.most_common())
    signs = f"{orders} ({what})" if what else "nothing is signed"
    measure = _measure_words(aim, chosen.measures[aim], currency)
    if abs(chosen.measures[aim] - of_plan) <= SAME * max(abs(of_plan), 1.0):
        return f"{measure}, as in the plan: {signs}"
    return f"{measure} instead of {_measure_words(aim, of_plan, currency)}: {signs}"


def _measure_words(aim: str, measure: float, currency: str) -> str:
    if aim in COUNTED:
        return _count(round(measure), COUNTED[aim])
    return f"{measure:,.0f} {unit_of(aim, currency)}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
