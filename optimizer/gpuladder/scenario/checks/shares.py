"""Shares that look like percentages: 8 where 0.08 is meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuladder.scenario.schema import OwnedOffer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpuladder.errors import Problem
    from gpuladder.scenario.checks.context import Context
    from gpuladder.scenario.source import Key

HIGHEST_RATE = 0.5
HIGHEST_PRICE_CHANGE = 1.0
HIGHEST_WASTE = 1.0
HIGHEST_GAP = 0.2


def check(context: Context) -> Iterator[Problem]:
    """Yield rates and shares without an upper limit whose size suggests per cent."""
    found: list[tuple[tuple[Key, ...], float, float]] = [
        (("discount_rate",), context.sections.get("discount_rate", 0.0), HIGHEST_RATE)
    ]
    solver = context.sections.get("solver")
    if solver is not None:
        found.append((("solver", "relative_gap"), solver.relative_gap, HIGHEST_GAP))
    found += [
        (
            ("offers", index, "price_change_per_year"),
            getattr(offer, "price_change_per_year", 0.0),
            HIGHEST_PRICE_CHANGE,
        )
        for index, offer in context.offers
    ]
    found += [
        (("campaigns", index, "waste"), campaign.waste, HIGHEST_WASTE)
        for index, campaign in context.campaigns
    ]
    found += [
        (("offers", index, "financing", "rate"), offer.financing.rate, HIGHEST_RATE)
        for index, offer in context.offers
        if isinstance(offer, OwnedOffer) and offer.financing is not None
    ]
    for path, value, highest in found:
        if value > highest:
            yield context.warning(
                "GL-S110",
                path,
                f"{value:g} is {value * 100:g} %",
                why="the key is a share, and this one is far larger than usual",
                fix=f"{value:g} % is written {value / 100:g}",
            )
