"""The answers beside the plan in a few sentences: saving, closest price, bursts, what is open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuladder.report.amounts import SAME, amount, less_or_more, names, percent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gpuladder.analysis.answers import Answers, WalkAwayRow
    from gpuladder.analysis.result import Result

_UNFINISHED = "in the time given"
_TELLS_NOTHING = (_UNFINISHED, "not proven")


def answer_sentences(result: Result) -> tuple[str, ...]:
    """Return what matters most of the answers; nothing where none were asked for."""
    parts = (_best_baseline(result), _closest_price(result), _bursts(result))
    return tuple(part for part in parts if part)


def open_questions(result: Result) -> str:
    """Return which questions have no answer or half of one, and what helps; empty if none."""
    whys = dict.fromkeys(each.why for each in result.answers.unanswered)
    parts = [
        f"Not answered ({why}): "
        f"{', '.join(x.question for x in result.answers.unanswered if x.why == why)}."
        for why in whys
    ]
    half = _unfinished(result.answers)
    if half:
        parts.append(f"Answered in part, for want of time: {', '.join(half)}.")
    return " ".join([*parts, "More --analysis-seconds answer more."]) if parts else ""


def _best_baseline(result: Result) -> str:
    rows = [row for row in result.answers.baselines if row.saving is not None]
    known = [row for row in rows if row.cost is not None]
    if not known:
        return ""
    best = min(known, key=lambda row: row.cost or 0.0)
    saving, share = best.saving or 0.0, best.saving_share
    currency = result.plan.currency
    count = f"the cheapest of {len(known)} structures in use" if len(known) > 1 else "a baseline"
    against = f"Against {count} ({best.title}: {amount(best.cost or 0.0, currency)}) the plan costs"
    if not saving or (share is not None and less_or_more(share) == SAME):
        return f"{against} {SAME}."
    text = f"{against} {amount(abs(saving), currency)} {'less' if saving > 0 else 'more'}"
    return f"{text} ({percent(abs(share))})." if share is not None else f"{text}."


def _closest_price(result: Result) -> str:
    rows = [
        row
        for row in result.answers.walk_away
        if row.walk_away_price is not None and row.room_share is not None
    ]
    inside = [row for row in rows if row.is_in_plan]
    outside = [row for row in rows if not row.is_in_plan]
    currency = result.plan.currency
    parts = []
    if inside:
        row = min(inside, key=_room)
        parts.append(
            f"Closest walk-away price: {names([row.offer])} leaves the plan above "
            f"{_price(row, currency)}, {percent(_room(row))} above today's"
        )
    if outside:
        row = min(outside, key=_room)
        entering = (
            f"{names([row.offer])} would enter below {_price(row, currency)}, "
            f"{percent(_room(row))} below today's"
        )
        parts.append(entering if parts else f"Closest offer that is out: {entering}")
    return f"{'; '.join(parts)}." if parts else ""


def _room(row: WalkAwayRow) -> float:
    return abs(row.room_share or 0.0)


def _price(row: WalkAwayRow, currency: str) -> str:
    unit = f"{currency} per GPU" if row.kind == "owned" else f"{currency} per GPU-hour"
    digits = 0 if row.kind == "owned" else 2
    return f"{row.walk_away_price or 0.0:,.{digits}f} {unit}"


def _bursts(result: Result) -> str:
    """Return the first pool's sentence that tells which is cheaper."""
    said = result.answers.burst_or_standing
    telling = [each for each in said if not any(words in each for words in _TELLS_NOTHING)]
    if not telling:
        return ""
    return telling[0] if len(said) == 1 else f"{telling[0]} (Other pools are in the report.)"


def _unfinished(answers: Answers) -> list[str]:
    """Return the questions with a row that was not solved in time."""
    rows: tuple[tuple[str, Iterable[str]], ...] = (
        ("shadow prices", (row.note for row in answers.shadow_prices)),
        ("walk-away prices", (row.note for row in answers.walk_away)),
        ("burst or standing", (row.note for row in answers.structures)),
        ("baselines", (row.note for row in answers.baselines)),
        ("waterfall", (row.how for row in answers.waterfall)),
        ("alternatives", (row.note for row in answers.alternatives)),
        ("quantity ranges", (row.reading for row in answers.quantity_ranges)),
        ("sensitivity", (row.note for row in answers.tornado)),
    )
    return [name for name, notes in rows if any(_UNFINISHED in note for note in notes)]
