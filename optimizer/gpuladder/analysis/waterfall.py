"""The waterfall: where the savings come from, one freed family of decisions after another.

It starts from all on demand with no campaign shifted, no spot and no sale of idle capacity, and
frees one family a step until nothing is restricted. A pool that sells nothing on demand keeps what
it sells from the start, or nothing could run there. Each program contains the one before, so the
cheapest plan known of any step up to now is a plan of this one: no step costs, and the deltas add
up to the plan's cost less the first. What a step is worth depends on the order; it is always this
one. Families that the scenario does not have are left out.

Where the company's ladder leaves the first program without a plan, all steps are taken without the
ladder, and keeping it is a last step of its own, which costs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpuladder.analysis.answers import WaterfallRow
from gpuladder.analysis.baselines_orders import Market
from gpuladder.analysis.baselines_words import NOT_SOLVED, gap_note, is_tie, joined
from gpuladder.analysis.edits import Restriction
from gpuladder.analysis.variants import Variant, solve_variants
from gpuladder.plan import Status
from gpuladder.program import make_program_data

if TYPE_CHECKING:
    from gpuladder.analysis.budget import Budget
    from gpuladder.analysis.variants import Answered
    from gpuladder.plan import Plan
    from gpuladder.scenario.schema import Scenario

START = "All on demand, no shift"
FIRST = (
    "no new commitment where capacity is sold on demand, no spot, no sale of idle capacity; each"
    " run starts at its earliest date, elastic work is done at full width from its first day on"
)
WHOLE = "whole"
WITHOUT_LADDER = "without the ladder of the policy, which it breaks"
KEEP_LADDER = ("Ladder kept", "what expires in each window stays within the ladder")
NOT_OPTIMAL = ("Not yet optimal", "a step found a plan cheaper than the one explained")


@dataclass(frozen=True, slots=True)
class _Step:
    key: str
    name: str
    how: str
    edit: Restriction


@dataclass(frozen=True, slots=True)
class _Known:
    """What a step is known to cost, and what is said of it."""

    step: _Step
    cost: float | None
    note: str


def waterfall(scenario: Scenario, plan: Plan, *, budget: Budget) -> tuple[WaterfallRow, ...]:
    """Return the steps from all on demand without any shift to the plan.

    Parameters
    ----------
    scenario : Scenario
        A checked scenario.
    plan : Plan
        Its plan, at which the waterfall ends.
    budget : Budget
        What solving the steps may take.

    Returns
    -------
    tuple of WaterfallRow
        The first row is where it starts and has no delta; the deltas of the others add up to the
        plan's cost less the start's. A step that was not solved in time has no figures, and its
        effect is in the next one. Empty without a plan.
    """
    if plan.objective is None:
        return ()
    steps = _steps(Market.of(scenario, make_program_data(scenario)))
    answers = _solve(scenario, steps, budget)
    policy = scenario.policy
    first = answers.get(steps[0].key)
    is_ladder_lifted = False
    if policy.ladder is not None and first is not None and _is_infeasible(first):
        lifted = scenario.model_copy(update={"policy": policy.model_copy(update={"ladder": None})})
        whole = _Step(WHOLE, "", "", Restriction())
        without = _solve(lifted, [*steps, whole], budget)
        if all(_has_plan(without.get(key)) for key in (steps[0].key, WHOLE)):
            answers, is_ladder_lifted = without, True
    known = [_known(step, answers.get(step.key)) for step in steps[:-1]]
    end = answers[WHOLE].plan if is_ladder_lifted else plan
    known.append(_Known(steps[-1], end.objective, gap_note(end)))
    return _rows(known, plan, plan.objective, is_ladder_lifted=is_ladder_lifted)


def _steps(market: Market) -> list[_Step]:
    """Return the nested programs that the scenario has decisions for, the last unrestricted."""
    metered = market.in_pools(market.metered_pools())
    bursts = market.of_kinds("burst_window") & metered
    standing = market.of_kinds("reserved", "dedicated", "owned") & metered
    has_spot, has_backfill = bool(market.tables.spot), bool(market.scenario.backfill)
    has_later = any(len(market.starts.get(name, ())) > 1 for name in standing)
    families: list[tuple[str, str, str, dict[str, object], bool]] = [
        (
            "start",
            START,
            FIRST,
            {
                "closed": bursts | standing,
                "has_spot": False,
                "has_backfill": False,
                "is_unshifted": True,
            },
            True,
        ),
        (
            "schedule",
            "Schedule compaction",
            "campaigns move inside their windows",
            {"is_unshifted": False},
            bool(market.tables.campaigns),
        ),
        ("spot", "Spot blending", "spot may be used", {"has_spot": True}, has_spot),
        (
            "bursts",
            "Burst windows",
            "burst windows may be booked",
            {"closed": standing},
            bool(bursts),
        ),
        (
            "standing",
            "Standing terms",
            "standing terms and purchases may be signed, all from the first date on offer",
            {"closed": frozenset(), "at_first_start": standing},
            bool(standing),
        ),
        (
            "ladder",
            "Tenor choice and staggered starts",
            "standing terms may start on any date on offer, one after another",
            {"at_first_start": frozenset()},
            has_later,
        ),
        (
            "backfill",
            "Backfill",
            "idle committed capacity may be sold",
            {"has_backfill": True},
            has_backfill,
        ),
    ]
    steps: list[_Step] = []
    kept: dict[str, object] = {}
    for key, name, how, freed, is_there in families:
        kept |= freed
        if is_there:
            steps.append(_Step(key, name, how, Restriction(**kept)))  # type: ignore[arg-type]
    return steps


def _solve(scenario: Scenario, steps: list[_Step], budget: Budget) -> dict[str, Answered]:
    """Solve all steps; the last of those that end at the plan needs none."""
    asked = [step for step in steps if step.key == WHOLE or step is not steps[-1]]
    return solve_variants(
        [Variant(key=step.key, scenario=scenario, edit=step.edit) for step in asked],
        relative_gap=budget.relative_gap,
        seconds_each=budget.seconds_each,
        stop_at=budget.stop_at,
        workers=budget.workers,
    )


def _is_infeasible(answered: Answered) -> bool:
    return answered.plan.status is Status.INFEASIBLE


def _has_plan(answered: Answered | None) -> bool:
    return answered is not None and answered.plan.objective is not None


def _known(step: _Step, answered: Answered | None) -> _Known:
    if answered is None:
        return _Known(step, None, f"{NOT_SOLVED}; its effect is in the next step")
    if _is_infeasible(answered):
        return _Known(step, None, "no plan exists yet; its effect is in the next step")
    if answered.plan.objective is None:
        return _Known(step, None, f"{NOT_SOLVED}; its effect is in the next step")
    return _Known(step, answered.plan.objective, gap_note(answered.plan))


def _rows(
    known: list[_Known], plan: Plan, plan_cost: float, *, is_ladder_lifted: bool
) -> tuple[WaterfallRow, ...]:
    rows: list[WaterfallRow] = []
    least: float | None = None
    for item in known:
        cost = item.cost
        if cost is not None and least is not None and cost > least and not is_tie(cost, least):
            cost = least
        delta = None if least is None or cost is None else cost - least
        note = joined(WITHOUT_LADDER if is_ladder_lifted and not rows else "", item.note)
        rows.append(
            WaterfallRow(
                step=item.step.name, delta=delta, cost_after=cost, how=joined(item.step.how, note)
            )
        )
        least = least if cost is None else cost
    if least is None or (not is_ladder_lifted and is_tie(least, plan_cost)):
        return tuple(rows)
    last = KEEP_LADDER if is_ladder_lifted else NOT_OPTIMAL
    delta, how = plan_cost - least, joined(last[1], gap_note(plan))
    return (*rows, WaterfallRow(step=last[0], delta=delta, cost_after=plan_cost, how=how))
