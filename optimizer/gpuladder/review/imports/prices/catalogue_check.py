"""A list's prices beside those of the catalogue: a whole list in another unit has no outliers."""

from __future__ import annotations

from collections import defaultdict
from statistics import median
from typing import TYPE_CHECKING

from gpuladder.errors import Problem, Severity
from gpuladder.review.imports.prices.outliers import FACTOR, LEAST_PEERS, is_outlier
from gpuladder.sizing.catalogue import find_hardware, price_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gpuladder.review.imports.prices.listing import Price


def implausible(prices: Sequence[Price], currency: str) -> Iterator[Problem]:
    """Warn of GPUs whose on-demand prices are far from all that the catalogue has of them."""
    known: dict[str, list[float]] = defaultdict(list)
    for quote in price_rows().values():
        if quote.kind == "on_demand" and quote.currency == currency:
            known[quote.hardware].append(quote.price_per_gpu_hour)
    found: dict[str, list[float]] = defaultdict(list)
    for price in prices:
        spec = find_hardware(price.hardware)
        if price.kind == "on_demand" and spec is not None and spec.id in known:
            found[spec.id].append(price.value)
    for hardware, values in sorted(found.items()):
        own, others = median(values), median(known[hardware])
        if len(known[hardware]) >= LEAST_PEERS and is_outlier(own, others, FACTOR):
            yield Problem(
                code="GL-I052",
                where=hardware,
                what=f"on demand it costs {own:.4g} {currency} per GPU-hour in this list, and "
                f"{others:.4g} in the catalogue",
                why="a whole list in another unit, such as nodes for GPUs, has no outliers",
                fix="check --per, --gpus-per-node and --currency",
                severity=Severity.WARNING,
            )
