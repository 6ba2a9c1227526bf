"""Pure formulas: discounting, prices and the goodput of checkpointed jobs.

What bought hardware costs and keeps of its value is in ``sizing.owned``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gpuladder.sizing.checkpointing import goodput as goodput_of_job

if TYPE_CHECKING:
    from datetime import date

    from gpuladder.scenario.schema import PreemptionClass, PricedOffer

DAYS_PER_YEAR = 365.0
MINUTES_PER_HOUR = 60.0


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
    interval = preemption_class.checkpoint_interval_minutes
    return goodput_of_job(
        math.inf if interruptions_per_hour == 0.0 else 1.0 / interruptions_per_hour,
        preemption_class.checkpoint_minutes / MINUTES_PER_HOUR,
        preemption_class.restart_minutes / MINUTES_PER_HOUR,
        None if interval == "auto" else interval / MINUTES_PER_HOUR,
    )
