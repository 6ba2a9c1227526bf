"""Prices: there must be one, it must cost something, and it should be in the right order."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from gpuladder.scenario.checks.context import AnyOffer, Context, has_wrong_prices
from gpuladder.scenario.expand import term_of
from gpuladder.scenario.schema import LeasedOffer, OnDemandOffer, OwnedOffer, PricedOffer
from gpuladder.sizing.owned import market_value
from gpuladder.timegrid import HOURS_PER_DAY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpuladder.errors import Problem

NOTHING = 1e-3
"""Prices per GPU-hour below this are taken for a slip, in any currency."""


def check(context: Context) -> Iterator[Problem]:
    """Yield offers without a price, that cost nothing, or that cost more than on demand."""
    for index, offer in context.offers:
        yield from _has_price(context, index, offer)
        yield from _costs_something(context, index, offer)
    yield from _above_on_demand(context)
    yield from _backfill(context)


def _has_price(context: Context, index: int, offer: AnyOffer) -> Iterator[Problem]:
    if not isinstance(offer, PricedOffer):
        return
    path = ("offers", index, "price")
    price = offer.price
    if price is None and not offer.price_path:
        yield context.error(
            "GL-S501",
            ("offers", index),
            f"`{offer.id}` has no price",
            fix="give `price` in currency per GPU-hour, or `price_path`",
        )
    elif price is None and context.horizon is not None:
        first = max(context.horizon.start, offer.available_from or date.min)
        if offer.price_path[0].from_date > first:
            yield context.error(
                "GL-S501",
                ("offers", index, "price_path"),
                f"`{offer.id}` has no price between {first} and {offer.price_path[0].from_date}",
                fix="begin the path earlier, give `price`, or set `available_from`",
            )
    if isinstance(offer, LeasedOffer) and has_wrong_prices(offer):
        yield context.error(
            "GL-S502",
            path,
            f"`{offer.id}` has {len(offer.price)} prices for {len(offer.tenor)} tenors",  # type: ignore[arg-type]
            fix="write one price per tenor, in the same order, or one for all",
        )


def _costs_something(context: Context, index: int, offer: AnyOffer) -> Iterator[Problem]:
    path = ("offers", index)
    price = hourly_price(context, offer)
    if isinstance(offer, OwnedOffer):
        if _keeps_all(context, offer) and offer.opex_per_gpu_hour == 0:
            key = "residual_curve" if offer.residual_curve else "residual_per_year"
            yield context.error(
                "GL-S503",
                (*path, key),
                f"`{offer.id}` costs nothing: it keeps its whole value and has no opex",
                fix="give the share of its value it keeps each year, e.g. 0.6",
            )
        elif price is not None and price < NOTHING:
            yield context.error(
                "GL-S503",
                (*path, "capex_per_gpu"),
                f"`{offer.id}` costs {price:.2g} per GPU-hour over its life",
                why="an offer that costs nothing would be bought without end",
                fix="give the purchase price of one GPU with its share of the node",
            )
        return
    if price is not None and price < NOTHING:
        yield context.error(
            "GL-S503",
            (*path, "price"),
            f"`{offer.id}` costs {price:g} per GPU-hour",
            why="an offer that costs nothing would be bought without end",
            fix="give the price of one GPU for one hour in the scenario's currency",
        )


def _keeps_all(context: Context, offer: OwnedOffer) -> bool:
    """Tell whether hardware bought first of all has lost nothing when it is valued.

    A loan dearer than the discount rate is a cost even then.
    """
    start, kind = context.first_day, context.hardware_of(offer.pool)
    last = offer.life.after(start)
    if context.grid is not None:
        last = min(last, context.grid.end)
    value = market_value(offer, 1.0, start, None if kind is None else kind.superseded)
    rate = float(context.sections.get("discount_rate", 0.0))
    is_dear = offer.financing is not None and offer.financing.rate > rate
    return value.value_at(last) >= 1.0 and not is_dear


def hourly_price(context: Context, offer: AnyOffer) -> float | None:
    """Return an offer's price per GPU-hour at the horizon start, use included; None without one.

    Owned capacity: purchase price over the hours of its life, and running cost. A list of tenors:
    the price of the last one.
    """
    if isinstance(offer, OwnedOffer):
        hours = term_of(offer).days(context.first_day) * HOURS_PER_DAY
        return offer.capex_per_gpu / hours + offer.opex_per_gpu_hour
    price = offer.price[-1] if isinstance(offer.price, tuple) else offer.price
    if offer.price_path:
        start = context.horizon.start if context.horizon is not None else date.max
        past = [step.price for step in offer.price_path if step.from_date <= start]
        price = past[-1] if past else (price or offer.price_path[0].price)
    if price is None:
        return None
    return price + (getattr(offer, "usage_price", None) or 0.0)


def on_demand_prices(context: Context) -> dict[str, tuple[float, str]]:
    """Return the lowest on-demand price of each pool at the horizon start, and the offer's id."""
    found: dict[str, tuple[float, str]] = {}
    for _, offer in context.metered:
        price = hourly_price(context, offer)
        if isinstance(offer, OnDemandOffer) and price is not None:
            found[offer.pool] = min(found.get(offer.pool, (price, offer.id)), (price, offer.id))
    return found


def _above_on_demand(context: Context) -> Iterator[Problem]:
    lowest = on_demand_prices(context)
    for index, offer in context.offers:
        if isinstance(offer, OnDemandOffer | OwnedOffer) or offer.pool not in lowest:
            continue
        price = hourly_price(context, offer)
        base, name = lowest[offer.pool]
        if price is not None and price > base * (1 + 1e-9):
            noun = "commitment" if isinstance(offer, LeasedOffer) else "spot offer"
            yield context.warning(
                "GL-S504",
                ("offers", index, "price"),
                f"`{offer.id}` costs {price:g} per GPU-hour, on demand (`{name}`) {base:g}",
                why=f"such a {noun} is worth its price only where on-demand capacity runs out",
                fix="check both prices and their unit",
            )


def _backfill(context: Context) -> Iterator[Problem]:
    lowest = on_demand_prices(context)
    for index, buyer in context.backfill:
        for pool_id, (price, name) in lowest.items():
            pool = context.pools.get(pool_id)
            if pool is None or (buyer.pools is not None and pool_id not in buyer.pools):
                continue
            if buyer.hardware is not None and pool.hardware not in buyer.hardware:
                continue
            if buyer.value > price:
                yield context.warning(
                    "GL-S505",
                    ("backfill", index, "value"),
                    f"`{buyer.id}` pays {buyer.value:g} per GPU-hour, more than on demand costs in "
                    f"`{pool_id}` (`{name}`, {price:g})",
                    why="a buyer who could have it cheaper is doubtful income",
                    fix="check the value and its unit",
                )
                break
