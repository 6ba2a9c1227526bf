"""Goodput of a job that checkpoints and restarts, maximised numerically where asked.

Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps" (2006): with
mean time to interruption M, write time C, restart time R and interval T, the useful share is
``T / (M exp(R/M) (exp((T + C)/M) - 1))``.
"""

from __future__ import annotations

import math
from typing import Literal

_BISECTIONS = 200


def goodput(
    nodes: float,
    interruptions_per_node_hour: float,
    write_hours: float,
    restart_hours: float,
    interval_hours: float | Literal["auto"],
) -> float:
    """Return the useful share of a job's running time, in (0, 1].

    Parameters
    ----------
    nodes : float
        Nodes of the job; an interruption of any of them stops it.
    interruptions_per_node_hour : float
        Failures, plus reclaims on spot.
    write_hours, restart_hours : float
        Time to write a checkpoint, and to be running again after an interruption.
    interval_hours : float or "auto"
        Useful time between checkpoints; ``"auto"`` takes the best one.
    """
    rate = nodes * interruptions_per_node_hour
    if rate <= 0.0:
        if interval_hours == "auto":
            return 1.0
        return interval_hours / (interval_hours + write_hours)
    write, restart = write_hours * rate, restart_hours * rate
    interval = best_interval(write) if interval_hours == "auto" else interval_hours * rate
    return _useful_share(interval, write, restart)


def best_interval(write: float) -> float:
    """Return the interval that maximises goodput; interval and write time in units of M.

    The derivative of the logarithm of goodput is zero where ``y = 1 - exp(-(y + c))``; the right
    side less the left falls with y, from ``1 - exp(-c)`` at 0 to below 0 at 1, so bisection is
    safe. With a free checkpoint the best interval is 0: checkpoint all the time.
    """
    low, high = 0.0, 1.0
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        if -math.expm1(-(middle + write)) > middle:
            low = middle
        else:
            high = middle
    return low


def _useful_share(interval: float, write: float, restart: float) -> float:
    """Return goodput with all times in units of M, through logarithms so nothing overflows."""
    if interval == 0.0:
        return math.exp(-restart) if write == 0.0 else 0.0
    span = interval + write
    log_growth = span + math.log(-math.expm1(-span))
    return math.exp(math.log(interval) - restart - log_growth)
