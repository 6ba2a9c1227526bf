"""Dates in their order, and inside the horizon."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from gpuladder.scenario.expand import expand_campaign
from gpuladder.scenario.schema import Campaign, PricedOffer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from gpuladder.errors import Problem
    from gpuladder.scenario.checks.context import Context
    from gpuladder.scenario.source import Key

MAX_PERIODS = 20_000
_LONGEST_REPEAT_DAYS = 36_525


def check(context: Context) -> Iterator[Problem]:
    """Yield dates out of order, and campaigns outside the horizon."""
    yield from _horizon(context)
    for index, campaign in context.campaigns:
        if campaign.deadline <= campaign.earliest:
            path: tuple[Key, ...] = ("campaigns", index, "deadline")
            yield _order(context, path, campaign.deadline, "earliest", campaign.earliest)
        else:
            yield from _in_horizon(context, index, campaign)
    for index, held in context.held:
        if held.end <= held.start:
            yield _order(context, ("commitments", index, "end"), held.end, "start", held.start)
    for index, offer in context.offers:
        first, last = offer.available_from, offer.available_until
        if first is not None and last is not None and last < first:
            path = ("offers", index, "available_until")
            yield _order(context, path, last, "available_from", first)
        if isinstance(offer, PricedOffer):
            yield from _price_path(context, index, offer)
    for index, budget in enumerate(context.policy.cash_budgets):
        if budget.until <= budget.from_date:
            path = ("policy", "cash_budgets", index, "until")
            yield _order(context, path, budget.until, "from", budget.from_date)


def _order(
    context: Context, path: tuple[Key, ...], later: date, name: str, earlier: date
) -> Problem:
    return context.error(
        "GL-S301",
        path,
        f"{later} is not after `{name}` {earlier}",
        fix="check the two dates; has a day been taken for a month?",
    )


def _horizon(context: Context) -> Iterator[Problem]:
    horizon = context.horizon
    if horizon is None:
        return
    if horizon.segments is None:
        for key in ("end", "step"):
            if getattr(horizon, key) is None:
                yield context.error(
                    "GL-S102",
                    ("horizon",),
                    f"`{key}` is missing",
                    fix="a horizon needs `start`, `end` and `step`, or `start` and `segments`",
                )
        if horizon.end is not None and horizon.end <= horizon.start:
            yield _order(context, ("horizon", "end"), horizon.end, "start", horizon.start)
    else:
        yield from _segments(context)
    if context.grid is not None and context.grid.num_periods > MAX_PERIODS:
        yield context.error(
            "GL-S305",
            ("horizon",),
            f"{context.grid.num_periods} periods are more than {MAX_PERIODS}",
            fix="use longer steps, or segments that are coarse later",
        )


def _segments(context: Context) -> Iterator[Problem]:
    horizon = context.horizon
    if horizon is None or horizon.segments is None:
        return
    if not horizon.segments:
        yield context.error("GL-S102", ("horizon", "segments"), "there is no segment")
    if horizon.step is not None:
        yield context.error(
            "GL-S101",
            ("horizon", "step"),
            "`step` and `segments` exclude each other",
            fix="take one out",
        )
    begin, name = horizon.start, "start"
    for index, segment in enumerate(horizon.segments):
        if segment.until <= begin:
            path = ("horizon", "segments", index, "until")
            yield _order(context, path, segment.until, name, begin)
        begin, name = segment.until, "until"
    if horizon.segments and horizon.end is not None and horizon.end != horizon.segments[-1].until:
        yield context.error(
            "GL-S301",
            ("horizon", "end"),
            f"{horizon.end} is not the end of the last segment, {horizon.segments[-1].until}",
            fix="take `end` out: the last segment says it",
        )


def _price_path(context: Context, index: int, offer: PricedOffer) -> Iterator[Problem]:
    for number, (before, after) in enumerate(pairwise(offer.price_path), start=1):
        if after.from_date <= before.from_date:
            path = ("offers", index, "price_path", number, "from")
            yield _order(context, path, after.from_date, "from", before.from_date)


def _in_horizon(context: Context, index: int, campaign: Campaign) -> Iterator[Problem]:
    grid = context.grid
    if grid is None:
        return
    repeat = campaign.repeat
    if repeat is not None:
        days = repeat.every.days(campaign.earliest) * repeat.count
        if days > _LONGEST_REPEAT_DAYS:
            yield context.error(
                "GL-S302",
                ("campaigns", index, "repeat"),
                f"{repeat.count} repeats every {repeat.every} go on for {days // 365} years",
                fix="lower `count`",
            )
            return
    singles = expand_campaign(campaign)
    outside = [one for one in singles if one.deadline <= grid.start or one.earliest >= grid.end]
    partly = [
        one
        for one in singles
        if one not in outside and (one.earliest < grid.start or one.deadline > grid.end)
    ]
    if outside:
        one = outside[0]
        more = f" (and {len(outside) - 1} more repeats)" if len(outside) > 1 else ""
        yield context.error(
            "GL-S302",
            ("campaigns", index, "earliest" if one.earliest >= grid.end else "deadline"),
            f"`{one.id}` runs from {one.earliest} to {one.deadline}, outside the horizon "
            f"{grid.start} to {grid.end}{more}",
            fix="lower `repeat.count`, move the dates or lengthen the horizon",
        )
    for one in () if outside else partly[:1]:
        begin, end = max(one.earliest, grid.start), min(one.deadline, grid.end)
        yield context.warning(
            "GL-S303",
            ("campaigns", index, "deadline" if one.deadline > grid.end else "earliest"),
            f"the window of `{one.id}` reaches beyond the horizon",
            why=f"all its work is planned between {begin} and {end}",
            fix="lengthen the horizon, or lower `gpu_hours` to what falls into it",
        )
