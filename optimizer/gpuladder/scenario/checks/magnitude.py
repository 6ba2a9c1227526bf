"""Prices in the wrong unit give themselves away by their size."""

from __future__ import annotations

import math
from statistics import median_high, median_low
from typing import TYPE_CHECKING

from gpuladder.scenario.checks.prices import hourly_price

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpuladder.errors import Problem
    from gpuladder.scenario.checks.context import AnyOffer, Context
    from gpuladder.scenario.source import Key

FAR = 4.0
"""Prices this many times above or below their like are doubted."""
USUAL_SHARE = {
    "on_demand": 1.0,
    "spot": 0.45,
    "burst_window": 0.9,
    "reserved": 0.6,
    "dedicated": 0.55,
    "owned": 0.5,
}
"""Typical price of each kind against on demand, so that kinds can be compared."""
DOLLAR_LIKE = ("USD", "EUR", "GBP", "CHF", "CAD", "AUD")
HIGHEST_DOLLARS = 30.0
"""No accelerator of 2026 rents for more per GPU-hour, in a currency worth about a dollar."""

_UNITS = (
    (24.0, "per day"),
    (168.0, "per week"),
    (730.0, "per month"),
    (8760.0, "per year"),
    (100.0, "in cents"),
    (1000.0, "per thousand"),
)


def check(context: Context) -> Iterator[Problem]:
    """Yield prices that are a node's, a day's or a month's rather than a GPU-hour's."""
    compared: set[int] = set()
    for kind in context.hardware:
        priced = [
            (index, offer, price / USUAL_SHARE[offer.kind])  # type: ignore[union-attr]
            for index, offer in context.offers
            if (pool := context.pools.get(offer.pool)) is not None
            and pool.hardware == kind
            and (price := hourly_price(context, offer)) is not None
            and price > 0
        ]
        if len(priced) > 1:
            compared |= {index for index, _, _ in priced}
            yield from _outliers(context, kind, priced)
            yield from _held(context, kind, median_low([level for _, _, level in priced]))
    yield from _absolute(context, compared)


def _outliers(
    context: Context, kind: str, priced: list[tuple[int, AnyOffer, float]]
) -> Iterator[Problem]:
    far = FAR
    if len(priced) == 2:  # no majority: the dearer one is more often the one in the wrong unit
        low, high = sorted(priced, key=lambda item: item[2])
        suspects = [(high, low[2])]
        far = FAR * 1.5
    else:
        suspects = [
            (item, _reference(item[2], [level for at, _, level in priced if at != item[0]]))
            for item in priced
        ]
    for (index, offer, level), reference in suspects:
        node = context.hardware[kind].gpus_per_node
        ratio = level / reference
        limit = FAR * 3 if offer.kind == "spot" and ratio < 1 else far  # type: ignore[union-attr]
        if ratio > limit or ratio < 1 / limit or _near(ratio, node) or _near(1 / ratio, node):
            key = "capex_per_gpu" if offer.kind == "owned" else "price"  # type: ignore[union-attr]
            yield _wrong_unit(context, ("offers", index, key), offer.id, ratio, node, f"`{kind}`")


def _reference(level: float, others: list[float]) -> float:
    """Return the median of the others; of two middle ones the nearer, not a mean of two units."""
    return min((median_low(others), median_high(others)), key=lambda m: abs(math.log(level / m)))


def _held(context: Context, kind: str, level: float) -> Iterator[Problem]:
    node = context.hardware[kind].gpus_per_node
    for index, held in context.held:
        if context.pools.get(held.pool) is None or context.pools[held.pool].hardware != kind:
            continue
        ratio = held.price / (level * USUAL_SHARE[held.kind])
        if ratio > FAR * 1.5 or _near(ratio, node):
            yield _wrong_unit(
                context, ("commitments", index, "price"), held.id, ratio, node, f"`{kind}`"
            )


def _absolute(context: Context, compared: set[int]) -> Iterator[Problem]:
    """Yield offers that cost more than any GPU does, when they have nothing to be compared with."""
    if context.sections.get("currency", "USD") not in DOLLAR_LIKE:
        return
    for index, offer in context.offers:
        price, kind = hourly_price(context, offer), context.hardware_of(offer.pool)
        if index in compared or price is None or kind is None or price <= HIGHEST_DOLLARS:
            continue
        yield context.warning(
            "GL-S511",
            ("offers", index, "price"),
            f"`{offer.id}` costs {price:g} per GPU-hour, more than any GPU on the market",
            why=f"as the price of a node of {kind.gpus_per_node} GPUs it would be "
            f"{price / kind.gpus_per_node:.4g} per GPU",
            fix="prices are per GPU-hour: divide a node's price by its GPUs",
        )


def _near(ratio: float, factor: float) -> bool:
    """Tell whether a ratio is within a fifth of a node's number of GPUs (4 and more)."""
    return factor >= 4 and ratio > 0 and abs(math.log(ratio / factor)) < math.log(1.2)


def _wrong_unit(
    context: Context, path: tuple[Key, ...], name: str, ratio: float, node: int, kind: str
) -> Problem:
    size = max(ratio, 1 / ratio)
    causes = [(float(node), f"per node of {node} GPUs"), *_UNITS] if node > 1 else list(_UNITS)
    factor, unit = min(causes, key=lambda cause: abs(math.log(size / cause[0])))
    likely = abs(math.log(size / factor)) < math.log(2.0)
    cause = (
        f"the price looks like one {unit}"
        if ratio > 1
        else f"the price looks divided by {factor:g}, as if the others were {unit}"
    )
    return context.warning(
        "GL-S511",
        path,
        f"`{name}` costs about {size:.3g} times {'more' if ratio > 1 else 'less'} than its kind "
        f"usually does on {kind}, judged by the other offers",
        why=f"{cause} (factor {factor:g})" if likely else "the unit or the currency may be wrong",
        fix="prices are per GPU-hour in the scenario's currency",
    )
