"""Baselines: the same scenario under the structures that teams actually use.

Each is solved by the program that found the plan, with decisions taken away, so it can never be
cheaper than the plan's optimum. What is not named as taken away stays free: the calendar, spot,
backfill and on-demand capacity of the commitment structures are the cheapest there are on them. Two
exceptions are no restrictions, and are said to be none: held commitments renewed at their own price
where nothing on offer renews them, and structures that break the company's ladder, which are costed
without it.

The levels of standing reserve are those of the use that a team without commitments would observe:
each pool's stable use in the baseline "all on demand" (in the plan, where that has no solution).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gpuladder.analysis.answers import BaselineRow
from gpuladder.analysis.baselines_orders import Market, pool_loads
from gpuladder.analysis.baselines_structures import (
    ALL_ON_DEMAND,
    STRICT,
    Structure,
    all_on_demand,
    freedoms,
    long_term,
    rollover,
    standing,
)
from gpuladder.analysis.baselines_words import difference, gap_note, joined, unsolved_note
from gpuladder.analysis.frame import Frame
from gpuladder.analysis.terms import terms_of
from gpuladder.analysis.variants import solve_variants
from gpuladder.plan import Status
from gpuladder.program import make_program_data

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpuladder.analysis.budget import Budget
    from gpuladder.analysis.variants import Answered
    from gpuladder.plan import Plan
    from gpuladder.scenario.schema import Scenario

WITHOUT_LADDER = (
    "breaks the ladder of the policy and is costed without it, so it is no restriction of the plan"
)


def baselines(
    scenario: Scenario, plan: Plan, *, budget: Budget
) -> tuple[tuple[BaselineRow, ...], dict[str, Plan]]:
    """Return what the scenario costs under the structures in use, and their plans.

    Parameters
    ----------
    scenario : Scenario
        A checked scenario.
    plan : Plan
        Its plan; savings are against it.
    budget : Budget
        What solving them may take.

    Returns
    -------
    rows : tuple of BaselineRow
        One per baseline; the cost is None where there is no plan or no time, and the note says
        which.
    plans : dict of str to Plan
        The plans of the baselines that have one, by ``BaselineRow.baseline``.
    """
    market = Market.of(scenario, make_program_data(scenario))
    first, answers = _solve(
        [*all_on_demand(market), long_term(market), *rollover(market), *freedoms(market)], budget
    )
    first = _one_on_demand(first, answers)
    observed = answers.get(first[0].key)
    is_observed = observed is not None and observed.plan.has_quantities
    loads = pool_loads(scenario, observed.plan if observed and is_observed else plan)
    reference = "in all on demand" if is_observed else "in the plan"
    second, more = _solve(standing(market, loads, reference), budget)
    answers |= more
    ordered = [*first[:1], *second, *first[1:]]
    rows = tuple(_row(item, answers.get(item.key), plan, budget) for item in ordered)
    plans = {
        item.baseline: answers[item.key].plan
        for item in ordered
        if item.key in answers and answers[item.key].plan.has_quantities
    }
    return rows, plans


def _solve(items: list[Structure], budget: Budget) -> tuple[list[Structure], dict[str, Answered]]:
    """Solve structures, and those again without the ladder that have no plan with it."""
    answers = _answers(items, budget)
    again = {
        item.key: _without_ladder(item)
        for item in items
        if item.scenario.policy.ladder is not None
        and item.key in answers
        and answers[item.key].plan.status is Status.INFEASIBLE
    }
    found = _answers(list(again.values()), budget)
    solved = {key: answered for key, answered in found.items() if answered.plan.has_quantities}
    kept = [again[item.key] if item.key in solved else item for item in items]
    return kept, {**answers, **solved}


def _answers(items: list[Structure], budget: Budget) -> dict[str, Answered]:
    return solve_variants(
        [item.variant() for item in items],
        relative_gap=budget.relative_gap,
        seconds_each=budget.seconds_each,
        stop_at=budget.stop_at,
        workers=budget.workers,
    )


def _without_ladder(item: Structure) -> Structure:
    policy = item.scenario.policy.model_copy(update={"ladder": None})
    scenario = item.scenario.model_copy(update={"policy": policy})
    return replace(item, scenario=scenario, note=joined(item.note, WITHOUT_LADDER))


def _one_on_demand(items: list[Structure], answers: Mapping[str, Answered]) -> list[Structure]:
    """Keep the strict baseline where it has a plan, else the lenient one if there is any."""
    if all(item.key != ALL_ON_DEMAND for item in items):
        return items
    has_strict = STRICT in answers and answers[STRICT].plan.has_quantities
    left_out = ALL_ON_DEMAND if has_strict else STRICT
    return [item for item in items if item.key != left_out]


def _row(item: Structure, answered: Answered | None, plan: Plan, budget: Budget) -> BaselineRow:
    if answered is None or answered.plan.objective is None:
        why = unsolved_note(item.scenario, answered, item.edit, budget)
        return _baseline_row(item, joined(why, item.note))
    added = _written_on_cost(item, answered.plan)
    cost = answered.plan.objective + added
    bound = None if answered.plan.bound is None else answered.plan.bound + added
    gap = difference(answered.plan, plan, added=added)
    if gap is None:
        return _baseline_row(item, joined(item.note, gap_note(answered.plan)), cost, bound)
    notes = joined(item.note, gap_note(answered.plan), gap.note(plan.currency))
    if not gap.is_informative:
        told = joined("cannot be told apart from the plan", notes)
        return _baseline_row(item, told, cost, bound)
    share = gap.found / abs(cost) if cost else None
    return _baseline_row(item, notes, cost, bound, gap.found, share)


def _baseline_row(
    item: Structure,
    note: str,
    cost: float | None = None,
    bound: float | None = None,
    saving: float | None = None,
    share: float | None = None,
) -> BaselineRow:
    return BaselineRow(
        baseline=item.baseline,
        title=item.title,
        how=item.how,
        cost=cost,
        bound=bound,
        saving=saving,
        saving_share=share,
        note=note,
    )


def _written_on_cost(item: Structure, plan: Plan) -> float:
    """Return the present value, inside the horizon, of what was written on at its held price."""
    if not item.rolled:
        return 0.0
    terms = terms_of(Frame.of(item.scenario, plan))
    return sum(float(t.present_value.sum()) for t in terms if t.id in item.rolled)
