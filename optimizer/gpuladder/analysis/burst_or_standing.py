"""Burst windows against standing reserve, priced against each other before either is signed.

For each pool that sells both: what the whole scenario costs with both, without burst windows and
without new standing terms in that pool, and where the answer flips: how many runs in the horizon,
and what burst windows may cost in terms of the standing price. Everything else is free to answer,
so "without burst windows" may well mean on-demand capacity; the structures "neither" and "standing
terms alone" (no metered capacity in the pool either) say which it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuladder.analysis.analyse import analyse
from gpuladder.analysis.answers import FlipRow, StructureRow
from gpuladder.analysis.base import tight_base
from gpuladder.analysis.baselines_orders import Market
from gpuladder.analysis.baselines_words import gap_note, joined, unsolved_note
from gpuladder.analysis.burst_or_standing_cases import Choice, choices
from gpuladder.analysis.burst_or_standing_curves import CADENCE, PRICE_RATIO, Curve, closed_in
from gpuladder.analysis.burst_or_standing_words import sentence
from gpuladder.analysis.variants import Variant, solve_variants
from gpuladder.plan import Status
from gpuladder.program import make_program_data

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpuladder.analysis.budget import Budget
    from gpuladder.analysis.edits import Restriction
    from gpuladder.analysis.variants import Answered
    from gpuladder.plan import Plan
    from gpuladder.scenario.schema import Scenario

FREE = "free"
NO_BURSTS = "without burst windows"
NO_STANDING = "without standing terms"
STANDING_ALONE = "standing terms alone"
NEITHER = "neither"


def burst_or_standing(
    scenario: Scenario, plan: Plan, *, budget: Budget
) -> tuple[tuple[StructureRow, ...], tuple[FlipRow, ...], tuple[str, ...]]:
    """Return burst windows and standing terms against each other, pool by pool.

    Parameters
    ----------
    scenario : Scenario
        A checked scenario.
    plan : Plan
        Its plan; solved on to a tighter gap, it is the structure "free".
    budget : Budget
        The structures come first, then the points of the curves.

    Returns
    -------
    structures : tuple of StructureRow
        Cost of the whole scenario; idle capacity of the pool; cost per completed run of the
        campaigns that may run there.
    flips : tuple of FlipRow
        Solved points by cadence and by price ratio; today's lies among them.
    sentences : tuple of str
        One per pool.
    """
    if plan.objective is None:
        return (), (), ()
    market = Market.of(scenario, make_program_data(scenario))
    pools = choices(market)
    asked = [
        Variant(key=f"{choice.pool}/{name}", scenario=scenario, edit=edit)
        for choice in pools
        for name, edit in _structures(choice).items()
    ]
    answers = solve_variants(
        asked,
        relative_gap=budget.relative_gap,
        seconds_each=budget.seconds_each,
        stop_at=budget.stop_at,
        workers=budget.workers,
    )
    base = tight_base(scenario, plan, budget).plan if pools else plan
    rows = [row for choice in pools for row in _rows(choice, base, answers, budget)]
    curves = [curve for choice in pools for curve in _curves(choice, answers)]
    curves = closed_in(curves, budget)
    sentences = tuple(
        sentence(
            choice,
            {row.structure: row.cost for row in rows if row.pool == choice.pool},
            [curve for curve in curves if curve.choice is choice],
            plan,
        )
        for choice in pools
    )
    return tuple(rows), tuple(row for curve in curves for row in curve.rows()), sentences


def _structures(choice: Choice) -> dict[str, Restriction]:
    return {
        NO_BURSTS: choice.without_bursts,
        NO_STANDING: choice.without_standing,
        STANDING_ALONE: choice.standing_alone,
        NEITHER: choice.without_either,
    }


def _curves(choice: Choice, answers: Mapping[str, Answered]) -> list[Curve]:
    """Return both curves with today's point; none where that was not solved."""
    keys = [f"{choice.pool}/{name}" for name in (NO_STANDING, NO_BURSTS)]
    if any(key not in answers for key in keys):
        return []
    bursts, standing = (answers[key].plan for key in keys)
    ends = (Status.NO_PLAN,)
    if bursts.status in ends or standing.status in ends:
        return []
    today = (bursts, standing)
    return [
        Curve(choice, CADENCE, {float(len(choice.runs)): today}),
        Curve(choice, PRICE_RATIO, {1.0: today}),
    ]


def _rows(
    choice: Choice, plan: Plan, answers: Mapping[str, Answered], budget: Budget
) -> list[StructureRow]:
    scenario = choice.market.scenario
    rows = [_row(choice, FREE, plan, "")]
    for name, edit in _structures(choice).items():
        answered = answers.get(f"{choice.pool}/{name}")
        if answered is not None and answered.plan.objective is not None:
            rows.append(_row(choice, name, answered.plan, _meaning(name)))
        else:
            note = joined(_meaning(name), unsolved_note(scenario, answered, edit, budget))
            rows.append(
                StructureRow(
                    pool=choice.pool,
                    structure=name,
                    cost=None,
                    idle_gpu_hours=None,
                    idle_cost=None,
                    cost_per_run=None,
                    gap=None,
                    note=note,
                )
            )
    return rows


def _meaning(structure: str) -> str:
    return "no metered capacity in the pool either" if structure == STANDING_ALONE else ""


def _row(choice: Choice, structure: str, plan: Plan, meaning: str) -> StructureRow:
    tables = analyse(choice.market.scenario, plan).tables
    own = {campaign.id for campaign in choice.runs}
    campaigns = [row for row in tables.campaigns if row.id in own]
    runs = sum(row.runs for row in campaigns)
    loaded = sum(row.loaded_cost for row in campaigns)
    return StructureRow(
        pool=choice.pool,
        structure=structure,
        cost=plan.objective,
        idle_gpu_hours=sum(r.idle_gpu_hours for r in tables.pools if r.pool in choice.pools),
        idle_cost=sum(r.idle_cost for r in tables.gaps if r.pool in choice.pools),
        cost_per_run=loaded / runs if runs else None,
        gap=plan.gap,
        note=joined(meaning, gap_note(plan)),
    )
