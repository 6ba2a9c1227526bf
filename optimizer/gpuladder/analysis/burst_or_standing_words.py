"""One plain sentence per pool: which is cheaper, by how much, and from where on no longer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuladder.analysis.baselines_words import is_tie
from gpuladder.analysis.burst_or_standing_curves import CADENCE, PRICE_RATIO, Curve

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gpuladder.analysis.burst_or_standing_cases import Choice
    from gpuladder.plan import Plan

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
YEAR_DAYS = (350, 380)
ONLY = {
    "burst": "there is no plan without burst windows",
    "standing": "there is no plan without standing terms",
    "": "not solved in the time given, or there is no plan without either",
}
WINNERS = {"burst": "bursts win", "standing": "standing wins", "tie": "both cost the same"}
UNPROVEN = "neither is proven cheaper"


def sentence(
    choice: Choice,
    costs: Mapping[str, float | None],
    curves: Sequence[Curve],
    plan: Plan,
) -> str:
    """Return what the structures and the curves of a pool say, in plain words.

    Parameters
    ----------
    costs : mapping of str to float or None
        Cost of each structure by name.
    curves : sequence of Curve
        Those of the pool; empty where today's point was not solved.
    """
    by_axis = {curve.axis: curve for curve in curves}
    parts = [_today(costs, by_axis.get(CADENCE), plan.currency)]
    if CADENCE in by_axis:
        parts.append(_cadence(by_axis[CADENCE]))
    if PRICE_RATIO in by_axis:
        parts.append(_price(by_axis[PRICE_RATIO]))
    said = "; ".join(part for part in parts if part)
    return f"{choice.pool}: {_runs(choice, plan)}: {said}."


def _runs(choice: Choice, plan: Plan) -> str:
    own = {campaign.id for campaign in choice.runs}
    days = {round(run.hours / 24.0) for run in plan.runs if run.campaign in own}
    count = len(choice.runs)
    is_one_kind = len(days) == 1 and all(campaign.shape == "gang" for campaign in choice.runs)
    length = f" {_days(days.pop())}" if is_one_kind else ""
    return f"{number(count)}{length} run{'' if count == 1 else 's'} {_span(choice)}"


def _days(days: int) -> str:
    return f"{number(days // 7)}-week" if days and days % 7 == 0 else f"{days}-day"


def _span(choice: Choice) -> str:
    days = choice.horizon_days
    is_year = YEAR_DAYS[0] <= days <= YEAR_DAYS[1]
    return "a year" if is_year else f"in {days / 7.0:.0f} weeks"


def number(count: int) -> str:
    """Return a small number in words."""
    return NUMBERS[count] if 0 <= count < len(NUMBERS) else str(count)


def _today(costs: Mapping[str, float | None], curve: Curve | None, currency: str) -> str:
    burst, standing = costs.get("without standing terms"), costs.get("without burst windows")
    alone, neither = costs.get("standing terms alone"), costs.get("neither")
    winner = "" if curve is None else curve.winner(curve.today)
    if burst is None or standing is None:
        return ONLY[winner]
    if winner == "tie" and not is_tie(burst, standing):
        return (
            f"which of bursts and standing terms is cheaper is not proven"
            f" ({burst:,.0f} against {standing:,.0f} {currency})"
        )
    if winner == "tie":
        same = neither is not None and is_tie(neither, burst)
        why = " and nothing is lost without either" if same else ""
        return f"bursts and standing terms cost the same ({burst:,.0f} {currency}){why}"
    low, high = min(burst, standing), max(burst, standing)
    name, other = (
        ("bursts", "burst windows")
        if winner == "burst"
        else (
            "standing terms",
            "standing terms",
        )
    )
    share = (high - low) / abs(high) if high else 0.0
    said = (
        f"{name} cost {share:.0%} less than the best without {other}"
        f" ({low:,.0f} against {high:,.0f} {currency})"
    )
    if winner == "burst" and alone is not None and not is_tie(alone, standing):
        said += f", and {(alone - burst) / abs(alone):.0%} less than standing terms alone"
        said += f" ({alone:,.0f})"
    return said


def _wins(curve: Curve, answer: str) -> str:
    """Return the words for an answer on a curve; a tie that is only open is said to be that."""
    ties = [plans for at, plans in curve.points.items() if curve.winner(at) == "tie"]
    is_open = any(
        burst.objective is not None
        and standing.objective is not None
        and not is_tie(burst.objective, standing.objective)
        for burst, standing in ties
    )
    return UNPROVEN if answer == "tie" and is_open else WINNERS[answer]


def _cadence(curve: Curve) -> str:
    flips = curve.flips()
    solved = [at for at in sorted(curve.points) if curve.winner(at)]
    if not flips:
        if len(solved) < 2:
            return ""
        who = _wins(curve, curve.winner(solved[0]))
        return f"{who} from {number(round(solved[0]))} to {number(round(solved[-1]))} runs"
    said = []
    for low, high, _, after in flips:
        exact = high - low <= 1.0
        where = f"{number(round(high))} runs"
        said.append(
            f"{_wins(curve, after)} from {where}"
            if exact
            else f"{_wins(curve, after)} from somewhere after {number(round(low))}, by {where}"
        )
    return ", ".join(said)


def _price(curve: Curve) -> str:
    flips = [flip for flip in curve.flips() if flip[2] != "standing"]
    if not flips:
        return ""
    low, high, before, after = flips[0]
    subject = "bursts stay cheaper" if before == "burst" else _wins(curve, "tie")
    span = f"{curve.ratio(low):.2f}–{curve.ratio(high):.2f}"
    where = span if curve.is_close(low, high) else f"somewhere in {span}"
    return (
        f"{subject} up to {where} times the standing price"
        f" (today {curve.ratio(1.0):.2f}), beyond that {_wins(curve, after)}"
    )
