"""Limits on how much a figure may rise from one run to the next, for use in a pipeline of checks.

A gate looks at the plans in hand: it trips where the figure of the second run is more than so many
per cent above the figure of the first, relative to the first. It also trips where that cannot be
told, because a check that cannot be made has not been passed.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from gpuladder.analysis.metrics import METRICS
from gpuladder.errors import Problem, UsageError
from gpuladder.review.diff_result import Gate, MetricChange, Reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpuladder.review.diff_result import Diff, Figure

OBJECTIVE = "net_present_cost"
OPTION = "--fail-over"
_LIMIT = re.compile(r"(?:(?P<metric>[^=]*)=)?\s*(?P<number>\d+(?:\.\d+)?)\s*%")
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Limit:
    """The share by which a metric may rise."""

    metric: str
    share: float


def read_limits(texts: Sequence[str]) -> tuple[Limit, ...]:
    """Read limits such as ``5%`` (of the net present cost) and ``idle_cost=10%``.

    Raises
    ------
    UsageError
        When one is written without a per cent sign, names no figure that can rise, or comes twice;
        all problems at once.
    """
    limits: list[Limit] = []
    problems: list[Problem] = []
    for text in texts:
        match = _LIMIT.fullmatch(text.strip())
        if match is None:
            problems.append(_unreadable(text))
            continue
        metric = OBJECTIVE if match["metric"] is None else match["metric"].strip()
        if problem := _unknown(metric, text):
            problems.append(problem)
        elif any(limit.metric == metric for limit in limits):
            problems.append(_problem(text, f"{metric} is given twice", "keep one of the two"))
        else:
            limits.append(Limit(metric, float(match["number"]) / 100.0))
    if problems:
        raise UsageError(problems)
    return tuple(limits)


def _problem(text: str, what: str, fix: str, why: str = "") -> Problem:
    return Problem(code="GL-U008", where=f"{OPTION} {text}", what=what, why=why, fix=fix)


def _unreadable(text: str) -> Problem:
    number = text.rpartition("=")[2].strip()
    why = "without its sign, 0.05 could mean 5 % or 0.05 %"
    fix = "write per cent with its sign and no minus: 5%, or METRIC=5%"
    return _problem(text, f"{number!r} is no number of per cent", fix, why)


def _unknown(metric: str, text: str) -> Problem | None:
    """Return what is wrong with a metric's name, if anything."""
    known = [name for name, item in METRICS.items() if item.unit not in ("date", "text")]
    if metric in known:
        return None
    near = get_close_matches(metric, known, n=3, cutoff=0.4)
    fix = f"did you mean {', '.join(near)}?" if near else "`gpuladder explain` lists all metrics"
    what = "is a date or text, and cannot rise" if metric in METRICS else "is no metric"
    return _problem(text, f"{metric!r} {what}", fix)


def check(limit: Limit, found: Diff, metrics: Sequence[MetricChange]) -> Gate:
    """Return whether a figure rose by more than it may."""
    value = next(row.value for row in metrics if row.metric == limit.metric)
    assert value is not None
    rise = _rise(value)
    is_tripped = rise is None or rise > limit.share + _ROUNDING
    return Gate(
        metric=limit.metric,
        allowed_share=limit.share,
        value=value,
        rise_share=rise if rise is not None and math.isfinite(rise) else None,
        is_tripped=is_tripped,
        why=_why(limit, found, value, rise),
    )


def _rise(value: Figure) -> float | None:
    """Return the rise as a share of the first figure; infinite from 0, None where not known."""
    if value.change is None or value.before is None:
        return None
    if value.before == 0.0:
        return math.inf if value.change > 0.0 else 0.0
    return value.change / abs(value.before)


def _why(limit: Limit, found: Diff, value: Figure, rise: float | None) -> str:
    if rise is None:
        missing = [
            name
            for name, known in (("first", value.before), ("second", value.after))
            if known is None
        ]
        if missing:
            return f"{limit.metric} is not known in the {' and the '.join(missing)} run"
        return f"{limit.metric} of the two runs cannot be compared"
    if math.isinf(rise):
        said = f"{limit.metric} rose from 0"
    elif rise == 0.0:
        said = f"{limit.metric} is the same"
    else:
        verb = "rose" if rise > 0.0 else "fell"
        said = f"{limit.metric} {verb} by {abs(rise):.2%}"
    said += f"; up to {limit.share:.2%} more is allowed"
    is_doubtful = limit.metric == OBJECTIVE and found.reading is Reading.NOT_TOLD_APART
    return said + ("; the proven gaps do not tell the two apart" if is_doubtful else "")


def gate_problems(found: Diff) -> tuple[Problem, ...]:
    """Return the gates that were tripped, as problems."""
    return tuple(
        Problem(
            code="GL-R020",
            what=gate.why,
            fix=f"see what changed above, or allow more with {OPTION}",
        )
        for gate in found.gates
        if gate.is_tripped
    )
