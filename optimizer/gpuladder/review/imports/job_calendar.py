"""From groups of jobs to rows of a calendar: repetitions, dates, sizes, waste."""

from __future__ import annotations

import math
from collections import defaultdict
from datetime import date, timedelta
from itertools import count, pairwise
from typing import TYPE_CHECKING

from gpuladder.review.calendar import Campaign, day_after, utc

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gpuladder.review.calendar import CalendarRule, Observed, Shape

_DAY = 86_400.0
_HOUR = 3600.0


def campaigns(
    observed: Iterable[Observed], rule: CalendarRule, shift: timedelta
) -> tuple[Campaign, ...]:
    """Return the calendar: by team, gangs after the rest, in the order of their starts.

    Parameters
    ----------
    observed : iterable of Observed
        What is large enough to be a campaign.
    rule : CalendarRule
    shift : timedelta
        By which dates are moved on.
    """
    alike: defaultdict[tuple[str, Shape, float], list[Observed]] = defaultdict(list)
    for one in observed:
        size = one.peak_gpus if one.shape == "gang" else 0.0
        alike[one.team, one.shape, size].append(one)
    rows: defaultdict[tuple[str, Shape], list[tuple[Observed, ...]]] = defaultdict(list)
    for (team, shape, _), members in alike.items():
        rows[team, shape] += repetitions(sorted(members, key=lambda one: one.start), rule)
    found = []
    taken: set[str] = set()
    for team, shape in sorted(rows):
        names = _ids(team, shape, taken)
        groups = sorted(rows[team, shape], key=lambda seen: (seen[0].start, seen[0].end))
        found += [_campaign(next(names), seen, rule, shift) for seen in groups]
    return tuple(found)


def repetitions(observed: Sequence[Observed], rule: CalendarRule) -> Iterator[tuple[Observed, ...]]:
    """Yield campaigns one by one, those that repeat together.

    They repeat when at least ``repeat_least`` follow each other, each after the end of the one
    before, in a step of whole days, none of them more than ``repeat_days`` off the step, and all of
    about one size. What was cut for its length is no repetition: its step would be that length.

    Parameters
    ----------
    observed : sequence of Observed
        Of one team and shape, ascending by start; gangs also of one size.
    rule : CalendarRule
    """
    begin = 0
    while begin < len(observed):
        end = begin + rule.repeat_least
        if not rule.repeat_least or end > len(observed) or not _repeats(observed[begin:end], rule):
            end = begin + 1
        else:
            while end < len(observed) and _repeats(observed[begin : end + 1], rule):
                end += 1
        yield tuple(observed[begin:end])
        begin = end


def step_days(observed: Sequence[Observed]) -> int:
    """Return the whole days from one start to the next, on average."""
    return round((observed[-1].start - observed[0].start) / _DAY / (len(observed) - 1))


def _repeats(observed: Sequence[Observed], rule: CalendarRule) -> bool:
    if any(one.is_cut for one in observed):
        return False
    step = step_days(observed)
    if step < 1:
        return False
    mean = sum(one.gpu_seconds for one in observed) / len(observed)
    if any(later.start < one.end for one, later in pairwise(observed)):
        return False
    return all(
        abs(one.start - observed[0].start - number * step * _DAY) <= rule.repeat_days * _DAY
        and abs(one.gpu_seconds - mean) <= rule.repeat_share * mean
        for number, one in enumerate(observed)
    )


def _campaign(
    name: str, seen: tuple[Observed, ...], rule: CalendarRule, shift: timedelta
) -> Campaign:
    """Return the row of a campaign; its window holds each repetition, moved back to the first."""
    first = seen[0]
    step = step_days(seen) if len(seen) > 1 else None
    back = [timedelta(days=(step or 0) * number) for number in range(len(seen))]
    starts = [utc(one.start).date() - days for one, days in zip(seen, back, strict=True)]
    ends = [day_after(utc(one.end)) - days for one, days in zip(seen, back, strict=True)]
    useful, wasted = sum(one.useful for one in seen), sum(one.wasted for one in seen)
    nothing_completed = useful <= 0
    if nothing_completed:
        useful, wasted = wasted, 0.0
    earliest: date = min(starts) + shift
    deadline: date = max(ends) + timedelta(days=rule.slack_days) + shift
    if first.shape == "gang":
        gpus, job_gpus = first.peak_gpus, None
    else:
        gpus = _whole_nodes(max(one.peak_gpus for one in seen), rule)
        width = _whole_nodes(sum(one.job_gpus for one in seen) / len(seen), rule)
        job_gpus = width if width > rule.node_gpus else None
    return Campaign(
        id=name,
        team=first.team,
        shape=first.shape,
        seen=seen,
        gpu_hours=useful / _HOUR / len(seen),
        waste=wasted / useful,
        earliest=earliest,
        deadline=deadline,
        gpus=gpus,
        job_gpus=job_gpus,
        every_days=step,
        nothing_completed=nothing_completed,
    )


def _whole_nodes(gpus: float, rule: CalendarRule) -> int:
    return math.ceil(gpus / rule.node_gpus) * rule.node_gpus


def _ids(team: str, shape: Shape, taken: set[str]) -> Iterator[str]:
    """Yield ids that no other row has, also where one team is called like another's campaign."""
    stem = f"{team}-gang" if shape == "gang" else team
    for number in count(1):
        name = f"{stem}-{number:02d}"
        while name in taken:
            name += "x"
        taken.add(name)
        yield name
