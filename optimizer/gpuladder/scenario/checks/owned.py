"""Bought hardware: what it keeps of its value, its loan and its books must fit together."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from gpuladder.scenario.schema import OwnedOffer
from gpuladder.sizing.owned import MOST_PAYMENTS, Financing, successors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpuladder.errors import Problem
    from gpuladder.scenario.checks.context import Context
    from gpuladder.scenario.source import Key
    from gpuladder.timegrid import Span

_MONTHS = {"month": 1, "year": 12}
_DAYS = {"day": 1, "week": 7}
_SHORTEST = {"day": 1, "week": 7, "month": 28, "year": 365}
_LONGEST = {"day": 1, "week": 7, "month": 31, "year": 366}
_KEYS_OF = {
    "straight_line": ("salvage_share",),
    "declining": ("kept_per_year", "salvage_share"),
    "by_generation": ("kept_per_generation",),
}


def check(context: Context) -> Iterator[Problem]:
    """Yield terms of owned offers that contradict each other or count for nothing."""
    for index, offer in context.offers:
        if isinstance(offer, OwnedOffer):
            path: tuple[Key, ...] = ("offers", index)
            yield from _residual(context, path, offer)
            yield from _generations(context, path, offer)
            yield from _loan(context, path, offer)
            yield from _books(context, path, offer)


def _residual(context: Context, path: tuple[Key, ...], offer: OwnedOffer) -> Iterator[Problem]:
    curve = offer.residual_curve
    if not curve:
        return
    if offer.residual_per_year is not None:
        yield context.error(
            "GL-S512",
            (*path, "residual_curve"),
            f"`{offer.id}` has both `residual_per_year` and `residual_curve`",
            why="both say what a sale brings at an age, and only one can count",
            fix="keep one of them",
        )
    for number, (before, after) in enumerate(pairwise(curve), start=1):
        if _bounds(after.age)[0] <= _bounds(before.age)[1]:
            yield context.error(
                "GL-S513",
                (*path, "residual_curve", number),
                f"`{offer.id}` has a value at {after.age} after one at {before.age}",
                why="the curve is read from one age to the next",
                fix="write each age once, the youngest first",
            )
            return
        if after.share > before.share:
            yield context.warning(
                "GL-S513",
                (*path, "residual_curve", number, "share"),
                f"`{offer.id}` is worth {before.share:.0%} of its price at {before.age} and "
                f"{after.share:.0%} at {after.age}",
                why="hardware that gains value with age pays for being kept",
                fix="check both shares: they are of the purchase price, and fall with age",
            )
    start = context.first_day
    last = offer.life.after(start)
    if context.grid is not None:
        last = min(last, context.grid.end)
    if curve[-1].age.after(start) < last and curve[-1].share > 0.0:
        yield context.warning(
            "GL-S517",
            (*path, "residual_curve"),
            f"`{offer.id}` can be valued up to {last}, and its curve ends at {curve[-1].age}",
            why=f"from there on it keeps {curve[-1].share:.0%} of its price, however old it is",
            fix="add a share at its full life",
        )


def _bounds(age: Span) -> tuple[int, int]:
    """Return the least and the most days of an age, whatever day it is counted from."""
    return age.count * _SHORTEST[age.unit], age.count * _LONGEST[age.unit]


def _generations(context: Context, path: tuple[Key, ...], offer: OwnedOffer) -> Iterator[Problem]:
    kind = context.hardware_of(offer.pool)
    if kind is None:
        return
    by_generation = offer.depreciation.method == "by_generation"
    is_read = offer.residual_per_generation is not None or by_generation
    dates = successors(offer, kind.superseded)
    first = offer.lead.after(context.first_day)
    first = max(first, offer.available_from or first)
    if is_read and max(dates, default=first) <= first:
        key = "depreciation" if by_generation else "residual_per_generation"
        ends = f"superseded last on {max(dates)}" if dates else "never superseded"
        yield context.warning(
            "GL-S518",
            (*path, key),
            f"`{offer.id}` loses value with each generation, and `{kind.id}` is {ends}"
            + (f", before it can be bought, from {first} on" if dates else ""),
            why="without a later date its value never drops",
            fix="give `turnovers`"
            if dates
            else f"give `superseded` for `{kind.id}`, or `turnovers`",
        )
    elif offer.turnovers and not is_read:
        yield context.warning(
            "GL-S518",
            (*path, "turnovers"),
            f"`{offer.id}` has `turnovers`, and nothing says what they do to its value",
            why="the dates count for nothing",
            fix="give `residual_per_generation`, or take them out",
        )


def _loan(context: Context, path: tuple[Key, ...], offer: OwnedOffer) -> Iterator[Problem]:
    loan = offer.financing
    if loan is None:
        return
    payments = _payments(loan)
    if payments is None or payments > MOST_PAYMENTS:
        many = f"not a whole number of payments every {loan.every}"
        if payments is not None:
            many = f"{payments} payments, more than {MOST_PAYMENTS}"
        yield context.error(
            "GL-S514",
            (*path, "financing", "every"),
            f"the loan of `{offer.id}` over {loan.term} is {many}",
            why="payments are equal and equally far apart, and the last ends the loan",
            fix="write both in months or years, or both in days or weeks: 36 months and 3 months",
        )
    elif loan.term.after(context.first_day) > offer.life.after(context.first_day):
        yield context.warning(
            "GL-S515",
            (*path, "financing", "term"),
            f"the loan of `{offer.id}` runs {loan.term}, and the hardware serves {offer.life}",
            why="what is left of it is paid off when the hardware leaves",
            fix="check both",
        )


def _payments(loan: Financing) -> int | None:
    """Return the number of payments of a loan; None when its term is not whole payments."""
    for lengths in (_MONTHS, _DAYS):
        if loan.term.unit in lengths and loan.every.unit in lengths:
            whole = loan.term.count * lengths[loan.term.unit]
            number, rest = divmod(whole, loan.every.count * lengths[loan.every.unit])
            return None if rest else number
    return None


def _books(context: Context, path: tuple[Key, ...], offer: OwnedOffer) -> Iterator[Problem]:
    terms = offer.depreciation
    method = terms.method
    own = _KEYS_OF[method]
    for key in ("salvage_share", "kept_per_year", "kept_per_generation"):
        if key not in own and getattr(terms, key) is not None:
            methods = [name for name, keys in _KEYS_OF.items() if key in keys]
            yield context.error(
                "GL-S516",
                (*path, "depreciation", key),
                f"`{key}` has no meaning for the method `{method}`",
                why=f"it belongs to: {', '.join(methods)}",
                fix="take it out, or change the method",
            )
    missing = {
        "declining": ("kept_per_year", terms.kept_per_year, offer.residual_per_year),
        "by_generation": (
            "kept_per_generation",
            terms.kept_per_generation,
            offer.residual_per_generation,
        ),
    }
    if method in missing:
        key, own_share, of_offer = missing[method]
        if own_share is None and of_offer is None:
            yield context.error(
                "GL-S516",
                (*path, "depreciation"),
                f"the books of `{offer.id}` are written off by the method `{method}`, and nothing "
                "says by how much",
                fix=f"give `{key}`, or `{key.replace('kept', 'residual')}` of the offer",
            )
