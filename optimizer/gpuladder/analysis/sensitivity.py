"""Tornado: which inputs move the cost most when each is a share higher or lower than assumed.

Every row is the whole scenario solved again with one input moved and everything else as it is, the
plan free to change. It is not a derivative, and rows do not add up: two inputs that move together
are a question of their own (see ``gpuladder.analysis.sweep``). Nor does it say how likely a change
is. Which inputs are tried, and in which order, is in ``sensitivity_inputs``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gpuladder.analysis.answers import TornadoRow
from gpuladder.analysis.base import tight_base
from gpuladder.analysis.sensitivity_inputs import Input, inputs_of
from gpuladder.analysis.sweep_rows import lots_by_offer
from gpuladder.analysis.variants import Variant, solve_variants
from gpuladder.audit import audit
from gpuladder.errors import ScenarioError
from gpuladder.plan import Plan, Status, Termination
from gpuladder.scenario.fingerprint import canonical
from gpuladder.scenario.loading import check
from gpuladder.scenario.source import RawDocument, raw_tree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gpuladder.analysis.budget import Budget
    from gpuladder.analysis.variants import Answered
    from gpuladder.scenario.schema import Scenario

SHARES = (0.10, 0.25)
TORNADO_GAP = 5e-4
"""Gap to which the changed scenarios are solved, and no closer; differences here are far larger."""
BASE_SHARE = 0.2
"""Most of the time that the tight base may take."""
INFORMATIVE_SHARE = 0.5
"""A difference is given when it is known to within this share of itself …"""
NEGLIGIBLE_SHARE = 1e-3
"""… or of the whole cost."""
NOT_SOLVED = "not solved in the time given"


@dataclass(frozen=True, slots=True)
class _Asked:
    """One input moved by one share."""

    key: str
    share: float
    estimate: float
    scenario: Scenario | None
    note: str = ""

    @property
    def name(self) -> str:
        return f"{self.key}|{self.share:+g}"


def tornado(
    scenario: Scenario,
    plan: Plan,
    *,
    budget: Budget,
    shares: Sequence[float] = SHARES,
) -> tuple[TornadoRow, ...]:
    """Return how much each input moves the cost, the one that moves it most first.

    Parameters
    ----------
    scenario : Scenario
        The checked scenario that the plan answers.
    plan : Plan
        Its plan; costs are compared with it, solved on to a tighter gap.
    budget : Budget
        Inputs that seem to matter most come first, far changes before near ones.
    shares : sequence of float
        Each input is moved up and down by each of them.

    Returns
    -------
    tuple of TornadoRow
        Rows of one input together, from the lowest share to the highest. ``delta`` is the changed
        scenario's cost less the base's, and None where the bounds leave it open; a row without a
        ``cost`` says in ``note`` why. Inputs of which nothing was solved come last. A change that
        is out of an input's range has no row.
    """
    if plan.objective is None:
        return ()
    base = tight_base(scenario, plan, budget.share(BASE_SHARE)).plan
    inputs = inputs_of(scenario, base)
    signed = sorted({sign * share for share in shares for sign in (-1.0, 1.0)})
    asked = [
        moved
        for item in inputs
        for share in signed
        if (moved := _moved(scenario, item, share)) is not None
    ]
    asked.sort(key=lambda item: -item.estimate * abs(item.share))
    answers = solve_variants(
        [
            Variant(key=item.name, scenario=item.scenario, start=base)
            for item in asked
            if item.scenario is not None
        ],
        relative_gap=max(budget.relative_gap, TORNADO_GAP),
        seconds_each=budget.seconds_each,
        stop_at=budget.stop_at,
        workers=budget.workers,
    )
    rows: dict[str, list[TornadoRow]] = {item.key: [] for item in inputs}
    for each in asked:
        rows[each.key].append(_row(each, answers, base))
    # The sort is stable: inputs of equal effect, and those not solved, stay in the first order.
    ordered = sorted(rows.values(), key=lambda own: -_effect(own))
    return tuple(row for own in ordered for row in sorted(own, key=lambda row: row.change_share))


def _moved(scenario: Scenario, item: Input, share: float) -> _Asked | None:
    """Return one input moved by a share; None where that is no change or out of range."""
    changed = item.change(scenario, 1.0 + share)
    if changed is None:
        return None
    root = raw_tree(canonical(changed))
    try:
        checked = check(RawDocument(root=root, path=Path(scenario.name))).scenario
    except ScenarioError as error:
        note = f"refused as a scenario ({error.problems[0].what})"
        return _Asked(item.key, share, item.estimate, None, note)
    return _Asked(item.key, share, item.estimate, checked)


def _effect(rows: Sequence[TornadoRow]) -> float:
    return max((abs(row.delta) for row in rows if row.delta is not None), default=-1.0)


def _row(asked: _Asked, answers: Mapping[str, Answered], base: Plan) -> TornadoRow:
    answered = answers.get(asked.name)
    if asked.scenario is None or answered is None:
        return _unknown(asked, asked.note or NOT_SOLVED)
    found = answered.plan
    if found.objective is None or base.objective is None:
        return _unknown(asked, _why_none(found))
    findings = audit(asked.scenario, found).findings
    if findings:
        why = f"the plan found does not stand up to the audit: {findings[0].message}"
        return _unknown(asked, why)
    error = _error(base, found)
    delta = found.objective - base.objective
    is_known = error is not None and (
        error <= INFORMATIVE_SHARE * abs(delta) or error <= NEGLIGIBLE_SHARE * abs(base.objective)
    )
    note = "" if found.status is Status.OPTIMAL else "stopped at its limit"
    if not is_known:
        note = "the bounds leave the difference open"
    return TornadoRow(
        key=asked.key,
        change_share=asked.share,
        cost=found.objective,
        delta=delta if is_known else None,
        is_structure_changed=lots_by_offer(found) != lots_by_offer(base),
        error=error,
        note=note,
    )


def _unknown(asked: _Asked, note: str) -> TornadoRow:
    return TornadoRow(
        key=asked.key,
        change_share=asked.share,
        cost=None,
        delta=None,
        is_structure_changed=None,
        note=note,
    )


def _why_none(plan: Plan) -> str:
    if plan.status is Status.INFEASIBLE:
        return "infeasible"
    if plan.termination is Termination.UNBOUNDED:
        return "unbounded: it pays for buying without end"
    return NOT_SOLVED


def _error(base: Plan, found: Plan) -> float | None:
    """Return how far a difference of two plans may be from that of the two optima."""
    slacks = [
        plan.objective - plan.bound
        for plan in (base, found)
        if plan.objective is not None and plan.bound is not None
    ]
    return max(*slacks, 0.0) if len(slacks) == 2 else None
