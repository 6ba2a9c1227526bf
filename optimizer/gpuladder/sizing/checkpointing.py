"""What interruptions cost, how often to checkpoint, and when spot stops paying.

Times are in hours. ``mean_hours`` is the mean time between a job's interruptions,
``interval_hours`` the work between two checkpoints; a *period* is an interval with its checkpoint.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

HOURS_PER_DAY = 24.0
HOURS_PER_MONTH = 730.0
DALY_SOURCE = "Daly 2006, Future Generation Computer Systems 22, 303-312"
YOUNG_SOURCE = "Young 1974, Communications of the ACM 17, 530-531"
FIRST_ORDER_SOURCE = "Aupy et al. 2013, first-order optimum sqrt(2 (M - D - R) C)"
SERIES_SOURCE = "Series system: a job fails with any of its nodes"
_LARGEST_EXPONENT = 700.0  # math.exp overflows a little above this
_MOST_HOURS = 1e9


def mean_hours_of_job(nodes: float, node_rate_per_hour: float) -> float:
    """Return the mean time between interruptions of a job on ``nodes``; infinite without any."""
    rate = nodes * node_rate_per_hour
    return math.inf if rate == 0.0 else 1.0 / rate


def node_rate_per_hour(failures_per_1000_node_days: float) -> float:
    """Return a node's interruptions per hour from a count per 1,000 node-days."""
    return failures_per_1000_node_days / 1000.0 / HOURS_PER_DAY


def failures_per_1000_node_days(interruptions: float, nodes: float, days: float) -> float:
    """Return the usual measure of reliability from a count over a time."""
    return interruptions / (nodes * days) * 1000.0


def mean_hours_observed(interruptions: float, days: float) -> float:
    """Return the mean time between interruptions of one system over a number of days."""
    return days * HOURS_PER_DAY / interruptions


def censored_mean_hours(lifetimes_hours: Iterable[float], reclaims: int) -> float:
    """Return the mean time to reclaim from lifetimes of which some had not ended.

    Exposure over reclaims: the maximum-likelihood mean of an exponential with censored lifetimes.
    Infinite when nothing was reclaimed.
    """
    exposure = math.fsum(lifetimes_hours)
    return math.inf if reclaims == 0 else exposure / reclaims


def young_period_hours(mean_hours: float, checkpoint_hours: float) -> float:
    """Return Young's period, checkpoint included: ``sqrt(2 M C) + C`` (Young 1974)."""
    return math.sqrt(2.0 * mean_hours * checkpoint_hours) + checkpoint_hours


def daly_period_hours(
    mean_hours: float, checkpoint_hours: float, repair_hours: float = 0.0
) -> float:
    """Return Daly's higher-order period: ``sqrt(2 (M + R) C) + C`` (Daly 2006).

    ``repair_hours`` is downtime and restart together.
    """
    return math.sqrt(2.0 * (mean_hours + repair_hours) * checkpoint_hours) + checkpoint_hours


def first_order_period_hours(
    mean_hours: float, checkpoint_hours: float, repair_hours: float = 0.0
) -> float:
    """Return the first-order period: ``sqrt(2 (M − R) C)``, good while R and C are far below M.

    Aupy et al. 2013; ``repair_hours`` is downtime and restart together. Not below the checkpoint
    itself.
    """
    room = max(mean_hours - repair_hours, 0.0)
    return max(math.sqrt(2.0 * room * checkpoint_hours), checkpoint_hours)


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


def goodput(
    mean_hours: float,
    checkpoint_hours: float,
    restart_hours: float,
    interval_hours: float | None = None,
) -> float:
    """Return the share of a job's paid hours that is useful work, 0 to 1.

    ``η = τ / (M · exp(R/M) · (exp((τ + C)/M) − 1))`` (Daly 2006). Without interruptions η is
    ``τ / (τ + C)``, or 1 when the interval is free.

    Parameters
    ----------
    mean_hours : float
        Mean time between interruptions; may be infinite.
    checkpoint_hours, restart_hours : float
    interval_hours : float, optional
        The best one when left out.
    """
    if math.isinf(mean_hours):
        return (
            1.0 if interval_hours is None else interval_hours / (interval_hours + checkpoint_hours)
        )
    if interval_hours is None:
        interval_hours = optimal_interval_hours(mean_hours, checkpoint_hours)
    if interval_hours == 0.0:  # free checkpoints, taken all the time: only restarts cost
        return math.exp(-restart_hours / mean_hours)
    if (interval_hours + checkpoint_hours + restart_hours) / mean_hours > _LARGEST_EXPONENT:
        return 0.0
    growth = math.expm1((interval_hours + checkpoint_hours) / mean_hours)
    return interval_hours / (mean_hours * math.exp(restart_hours / mean_hours) * growth)


def first_order_goodput(
    mean_hours: float, checkpoint_hours: float, restart_hours: float, interval_hours: float
) -> float:
    """Return goodput where losses are small: ``(1 − (R + τ/2) / M) / (1 + C/τ)``.

    Kokolis et al. 2025 (arXiv 2410.21680), expected training time ratio. Not below 0.
    """
    kept = 1.0 - (restart_hours + lost_hours(interval_hours)) / mean_hours
    return max(kept, 0.0) / (1.0 + checkpoint_hours / interval_hours)


def lost_hours(interval_hours: float) -> float:
    """Return the work lost to one interruption: half an interval on average."""
    return interval_hours / 2.0


def lost_share(interval_hours: float, mean_hours: float) -> float:
    """Return the share of all work that is lost and redone, to first order.

    >>> lost_share(0.5, 2.0)
    0.125
    """
    return lost_hours(interval_hours) / mean_hours


def effective_price(price: float, lost: float) -> float:
    """Return the price per useful hour: ``price ÷ (1 − lost share)``.

    >>> round(effective_price(0.4, 0.10), 3)
    0.444
    """
    return price / (1.0 - lost)


def break_even_mean_hours(
    spot_price: float,
    stable_price: float,
    *,
    nodes: float,
    checkpoint_hours: float,
    restart_hours: float,
    node_failures_per_hour: float = 0.0,
    interval_hours: float | None = None,
) -> float | None:
    """Return a spot node's mean time between reclaims below which spot stops paying, hours.

    At it the price per useful hour is the same: ``spot ÷ η(failures + reclaims) = stable ÷
    η(failures)``, with Daly's goodput η of the whole job. Returns 0 when spot pays however often it
    is reclaimed, and None when it never pays.
    """
    stable = goodput(
        mean_hours_of_job(nodes, node_failures_per_hour),
        checkpoint_hours,
        restart_hours,
        interval_hours,
    )
    needed = spot_price / stable_price * stable

    def on_spot(mean: float) -> float:
        rate = node_failures_per_hour + 1.0 / mean
        hours = mean_hours_of_job(nodes, rate)
        return goodput(hours, checkpoint_hours, restart_hours, interval_hours)

    low, high = 1e-6, _MOST_HOURS
    if on_spot(high) < needed:
        return None
    if on_spot(low) >= needed:
        return 0.0
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if on_spot(middle) >= needed else (middle, high)
        if high / low < 1.0 + 1e-12:
            break
    return high


def storage_cost_per_month(stored_gb: float, price_per_gb_month: float, kept: float = 1.0) -> float:
    """Return what keeping checkpoints costs a month."""
    return stored_gb * price_per_gb_month * kept


def break_even_runs(storage_per_month: float, saved_per_run: float) -> float:
    """Return how many runs a month must share the storage before spot saves anything.

    >>> round(break_even_runs(20.00, 4.08), 1)
    4.9
    """
    return math.inf if saved_per_run <= 0 else storage_per_month / saved_per_run
