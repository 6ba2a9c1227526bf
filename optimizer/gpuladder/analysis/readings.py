"""Sentences that say what a figure means, to be pasted as they stand."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpuladder.analysis.shadow_prices_limits import Limit

CENTS_BELOW = 100.0
"""Amounts from here on are said without cents."""


def money(amount: float, currency: str) -> str:
    """Return an amount as it is said: ``412 USD``, ``3.50 USD``, ``0.0042 USD``.

    >>> money(412.3, "USD"), money(3.5, "USD"), money(0.00421, "USD"), money(0.0, "USD")
    ('412 USD', '3.50 USD', '0.0042 USD', '0 USD')
    """
    size = abs(amount)
    if size >= CENTS_BELOW or size < 1e-9:
        text = f"{amount:,.0f}"
    elif size >= 1.0:
        text = f"{amount:,.2f}"
    else:
        text = f"{amount:.2g}" if size >= 1e-4 else f"{amount:.1e}"
    return f"{'0' if text == '-0' else text} {currency}"


def day_words(day: date) -> str:
    """Return a date as it is said: ``6 July 2026``."""
    return f"{day.day} {day:%B} {day.year}"


def period_words(begin: date, until: date) -> str:
    """Return a period as it is said: ``in the week of 6 July 2026``, ``in July 2026``.

    >>> period_words(date(2026, 7, 6), date(2026, 7, 13))
    'in the week of 6 July 2026'
    >>> period_words(date(2026, 7, 1), date(2026, 8, 1))
    'in July 2026'
    """
    length = (until - begin).days
    if length == 1:
        return f"on {day_words(begin)}"
    if length == 7:
        return f"in the week of {day_words(begin)}"
    if begin.day == 1 and until.day == 1 and length <= 31:
        return f"in {begin:%B} {begin.year}"
    return f"from {day_words(begin)} to {day_words(until - timedelta(days=1))}"


Figure = float | None


def shadow_price_reading(
    limit: Limit,
    dual: tuple[Figure, Figure, Figure],
    marginal: tuple[Figure, Figure],
    currency: str,
) -> str:
    """Return what one more unit of a limit means, in one sentence.

    Parameters
    ----------
    dual : tuple
        The fixed-plan dual and the ends of its range, per unit of the limit.
    marginal : tuple
        One unit more and one less, as in ``ShadowPriceRow``.
    """
    place = ""
    if limit.period is not None and limit.until is not None:
        place = f" {period_words(limit.period, limit.until)}"
    fixed = ""
    if limit.limit == "stable_supply":
        fixed = _supply(limit, dual, place, currency)
    elif dual[0] is not None:
        verb = "costs" if limit.is_cost else "is worth"
        fixed = f"One more {limit.thing}{place} {verb} {money(dual[0], currency)}"
        fixed += " with lots and runs as planned"
    anew = _anew(limit, *marginal, currency)
    if fixed and anew:
        return f"{fixed}; decided anew, {anew}."
    if fixed:
        return f"{fixed}."
    if anew:
        return f"One {limit.thing}{place}: decided anew, {anew}."
    return f"What one more {limit.thing}{place} is worth was not found."


def _supply(limit: Limit, dual: tuple[Figure, Figure, Figure], place: str, currency: str) -> str:
    """Return the words for a pool's supply: a GPU of supply is worth one of demand less."""
    _, low, high = (None if x is None else x / limit.step for x in dual)
    parts = []
    if low is not None:
        parts.append(f"one more {limit.thing}{place} is worth {money(low, currency)}")
    is_same = low is not None and high is not None and high - low <= 1e-6 * max(1.0, abs(high))
    if high is not None and not is_same:
        parts.append(f"one more of demand there costs {money(high, currency)}")
    text = " and ".join(parts)
    return f"{text[:1].upper()}{text[1:]} with lots and runs as planned" if text else ""


def _anew(limit: Limit, up: float | None, down: float | None, currency: str) -> str:
    gains, losses = ("costs", "saves") if limit.is_cost else ("saves", "costs")
    one, less = "one more", "one less"
    if limit.limit == "stable_supply":
        what = f"one {limit.unit}" if limit.unit == "GPU" else limit.unit
        one, less = f"{what} of demand more", f"{what} of demand less"
    parts = []
    if up is not None:
        parts.append(f"{one} {gains} {money(up, currency)}")
    if down is not None:
        parts.append(f"{less} {losses} {money(down, currency)}")
    return " and ".join(parts)
