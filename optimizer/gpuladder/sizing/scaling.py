"""Throughput against cluster size: what each further device adds, and where it stops paying."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PAYING_SHARE = 0.5
"""A further device pays while it adds at least this share of what a device of the smallest size
does: below it the second half of the money buys less than the first bought in a quarter."""
MOST_EFFICIENCY = 1.5
"""Highest efficiency of a size against the smallest one that is believed; caches explain some."""
AMDAHL_SOURCE = "Amdahl 1967: the share that does not shrink with more devices bounds the speed-up"


@dataclass(frozen=True, slots=True)
class ScalePoint:
    """One size of a scaling curve."""

    gpus: int
    throughput: float
    """In any unit, the same for all sizes."""
    efficiency: float
    """Throughput per GPU against that of the smallest size."""
    marginal_share: float
    """What each device beyond the size before adds, against one of the smallest size."""


def curve(throughput_by_gpus: Mapping[int, float]) -> tuple[ScalePoint, ...]:
    """Return the scaling curve of measured throughputs, smallest size first.

    Raises
    ------
    ValueError
        When there is no size, or the smallest one has no throughput.
    """
    sizes = sorted(throughput_by_gpus)
    if not sizes or throughput_by_gpus[sizes[0]] <= 0:
        msg = "a scaling curve needs a smallest size that does some work"
        raise ValueError(msg)
    each = throughput_by_gpus[sizes[0]] / sizes[0]
    points: list[ScalePoint] = []
    for size in sizes:
        rate = throughput_by_gpus[size]
        added = rate - (points[-1].throughput if points else 0.0)
        devices = size - (points[-1].gpus if points else 0)
        points.append(ScalePoint(size, rate, rate / size / each, added / devices / each))
    return tuple(points)


def amdahl_throughput(
    sizes: Sequence[int], communication_share: float, base_gpus: int | None = None
) -> dict[int, float]:
    """Return relative throughput by size when part of each step does not shrink.

    With a share *f* of the step spent on communication at the base size *n₀*, a step on *n* devices
    takes ``(1 − f) n₀ / n + f`` of one on the base (Amdahl 1967). The base has throughput *n₀*.

    Parameters
    ----------
    sizes : sequence of int
    communication_share : float
        Share of the step at the base size, 0 to below 1.
    base_gpus : int, optional
        The smallest size when left out.
    """
    base = min(sizes) if base_gpus is None else base_gpus
    return {
        size: base / ((1.0 - communication_share) * base / size + communication_share)
        for size in sizes
    }


def last_paying(points: Sequence[ScalePoint], paying_share: float = PAYING_SHARE) -> ScalePoint:
    """Return the largest size up to which every further device still paid.

    The curve is walked from its smallest size; the first size whose devices add less than
    ``paying_share`` ends it.
    """
    last = points[0]
    for point in points[1:]:
        if point.marginal_share < paying_share:
            break
        last = point
    return last


def cheapest_size(
    points: Sequence[ScalePoint], price_per_gpu_hour: float, value_of_an_hour: float
) -> ScalePoint:
    """Return the size at which GPUs and waiting together cost least.

    A run takes ``1 / throughput``; each hour of it costs ``n × price`` and delays what waits for it
    by ``value_of_an_hour``. Without a value of time the smallest efficient size wins.
    """
    return min(
        points,
        key=lambda point: (
            (point.gpus * price_per_gpu_hour + value_of_an_hour) / point.throughput,
            point.gpus,
        ),
    )


def gang_scaling(points: Sequence[ScalePoint], sizes: Sequence[int]) -> dict[int, float]:
    """Return the efficiency of each size, interpolated on the curve in the number of GPUs.

    Outside the curve the nearest measured size counts: nothing is extrapolated.
    """
    return {size: _efficiency(points, size) for size in sizes}


def _efficiency(points: Sequence[ScalePoint], size: int) -> float:
    if size <= points[0].gpus:
        return points[0].efficiency
    for low, high in itertools.pairwise(points):
        if size <= high.gpus:
            share = (size - low.gpus) / (high.gpus - low.gpus)
            return low.efficiency + share * (high.efficiency - low.efficiency)
    return points[-1].efficiency
