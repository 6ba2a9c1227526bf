"""Pure formulas: discounting, prices, residual values and the goodput of checkpointed jobs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date

    from gpuladder.scenario.schema import PreemptionClass, PricedOffer

DAYS_PER_YEAR = 365.0
MINUTES_PER_HOUR = 60.0
_LARGEST_EXPONENT = 700.0  # math.exp overflows a little above this


def discount_factor(rate: float, days: float) -> float:
    """Return the present value of 1 due in ``days`` at the annual effective ``rate``.

    >>> round(discount_factor(0.10, 365), 6)
    0.909091
    """
    return float((1.0 + rate) ** (-days / DAYS_PER_YEAR))


def price_at(offer: PricedOffer, day: date, horizon_start: date) -> float:
    """Return an expanded offer's price on ``day``, currency per GPU-hour.

    A price path is a step function; before its first date the plain ``price`` holds. Otherwise the
    price changes by ``price_change_per_year``, compounded daily from the horizon start.

    Raises
    ------
    ValueError
        When the offer has no price on that day.
    """
    steps = [step.price for step in offer.price_path if step.from_date <= day]
    if steps:
        return steps[-1]
    price = getattr(offer, "price", None)
    if not isinstance(price, float):
        msg = f"offer {offer.id!r} has no price on {day}"
        raise ValueError(msg)  # noqa: TRY004 (a missing value, not a wrong type)
    if offer.price_path:
        return price
    years = (day - horizon_start).days / DAYS_PER_YEAR
    return float(price * (1.0 + offer.price_change_per_year) ** years)


def residual_share(kept_per_year: float, days: float) -> float:
    """Return the share of the purchase price left after ``days`` of geometric depreciation."""
    return float(kept_per_year ** (days / DAYS_PER_YEAR))


def optimal_interval_hours(mean_hours: float, checkpoint_hours: float) -> float:
    """Return the checkpoint interval that maximises goodput, hours.

    With ``u = interval / mean_hours`` and ``c = checkpoint_hours / mean_hours`` the derivative of
    Daly's goodput (J. T. Daly, Future Generation Computer Systems 22, 2006) vanishes where
    ``u + ln(1 - u) = -c``; the left side falls on (0, 1), so Newton's method kept inside a
    shrinking bracket finds the only root.
    """
    ratio = checkpoint_hours / mean_hours
    if ratio == 0.0:
        return 0.0
    low, high = 0.0, 1.0
    guess = min(math.sqrt(2.0 * ratio), 1.0 - 1e-12)
    for _ in range(200):
        value = guess + math.log1p(-guess) + ratio
        low, high = (guess, high) if value > 0 else (low, guess)
        step = guess + value * (1.0 - guess) / guess
        following = step if low < step < high else (low + high) / 2.0
        if abs(following - guess) <= 1e-15 * guess:
            break
        guess = following
    return guess * mean_hours


def goodput(preemption_class: PreemptionClass, interruptions_per_hour: float) -> float:
    """Return the share of a job's paid hours that is useful work, 0 to 1.

    ``η = τ / (M · exp(R/M) · (exp((τ + C)/M) − 1))`` (Daly 2006), with M the mean time between the
    job's interruptions, C the time to write a checkpoint, R the time to be running again and τ the
    checkpoint interval. Without interruptions η is ``τ / (τ + C)``, or 1 when the interval is free.

    Parameters
    ----------
    interruptions_per_hour : float
        Failures and reclaims of all the job's nodes together, per hour.
    """
    checkpoint = preemption_class.checkpoint_minutes / MINUTES_PER_HOUR
    restart = preemption_class.restart_minutes / MINUTES_PER_HOUR
    interval = preemption_class.checkpoint_interval_minutes
    if interruptions_per_hour == 0.0:
        if interval == "auto":
            return 1.0
        hours = interval / MINUTES_PER_HOUR
        return hours / (hours + checkpoint)
    mean = 1.0 / interruptions_per_hour
    if interval == "auto":
        tau = optimal_interval_hours(mean, checkpoint)
    else:
        tau = interval / MINUTES_PER_HOUR
    if tau == 0.0:  # free checkpoints, taken all the time: only restarts cost
        return math.exp(-restart / mean)
    if (tau + checkpoint + restart) / mean > _LARGEST_EXPONENT:
        return 0.0
    return tau / (mean * math.exp(restart / mean) * math.expm1((tau + checkpoint) / mean))
