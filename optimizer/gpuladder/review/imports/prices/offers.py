"""From dated prices to the offers of a scenario: one for each thing sold, its prices in order."""

from __future__ import annotations

import re
from collections import defaultdict
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from gpuladder.review.prices_result import PoolRow, PriceSource
from gpuladder.scenario.csv_reader import cell_value
from gpuladder.scenario.schema import Offer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from gpuladder.review.imports.prices.listing import Listing, Price, PriceOptions

NOT_SAID = "unstated"
METERED = ("on_demand", "spot")
CHEAPER = "another price of the same offer and day is lower"
_OFFER: TypeAdapter[Any] = TypeAdapter(Offer)


def build_offers(
    prices: list[Price], listing: Listing, options: PriceOptions
) -> tuple[list[dict[str, Any]], list[PoolRow], list[PriceSource], list[Price]]:
    """Return offers, their pools, the sources of their prices, and the prices taken.

    Of two prices of one offer and day the lower one counts: a buyer takes it. An offer that the
    scenario would refuse is refused with what it lacks.
    """
    groups: dict[str, list[Price]] = defaultdict(list)
    for price in prices:
        groups[_offer_id(price)].append(price)
    newest = max((price.last for price in prices), default=None)
    offers, sources, taken = [], [], []
    pools: dict[str, PoolRow] = {}
    for name, listed in groups.items():
        steps = _in_order(listed, listing)
        row = _offer(name, steps, newest, options)
        if lacks := _lacks(row):
            for price in steps:
                listing.refuse(price, lacks)
            continue
        pool = _pool(steps[0])
        pools[pool.id] = pool
        offers.append(row)
        taken += steps
        sources += [_source(name, price, options) for price in steps]
    return offers, sorted(pools.values(), key=lambda pool: pool.id), sources, taken


def _in_order(listed: list[Price], listing: Listing) -> list[Price]:
    """Return an offer's prices by day, the lowest of each day; others are refused."""
    lowest: dict[date, Price] = {}
    for price in listed:
        known = lowest.get(price.first)
        if known is None:
            lowest[price.first] = price
            continue
        lower, higher = sorted((known, price), key=lambda each: (each.value, each.place))
        lowest[price.first] = lower
        same = "the same price again" if lower.value == higher.value else CHEAPER
        listing.refuse(higher, same)
    return sorted(lowest.values(), key=lambda price: price.first)


def _offer(
    name: str, steps: list[Price], newest: date | None, options: PriceOptions
) -> dict[str, Any]:
    """Return the row of an offer; keys that a price list does not have are the user's."""
    first = steps[0]
    row: dict[str, Any] = {"id": name, "pool": _pool(first).id, "kind": first.kind}
    path = _path(steps)
    if len(path) == 1:
        row["price"] = path[0]["price"]
    else:
        row["price_path"] = path
        row["available_from"] = path[0]["from"]
    last = max(price.last for price in steps)
    if newest is not None and last < newest:  # no longer on the list
        end = last + timedelta(days=1) if first.kind in METERED else last
        row["available_until"] = end.isoformat()
    if first.kind not in METERED:
        row |= {"tenor": first.tenor} if first.tenor else {}
        row |= {"lot_gpus": _whole(first.node_gpus)} if first.node_gpus else {}
        row |= {"upfront": first.upfront} if first.upfront is not None else {}
    return row | {key: _value(text) for key, text in options.offer_keys.get(first.kind, {}).items()}


def _path(steps: list[Price]) -> list[dict[str, Any]]:
    """Return the steps at which the price changes."""
    path: list[dict[str, Any]] = []
    for step in steps:
        price = round(step.value, 6)
        if not path or path[-1]["price"] != price:
            path.append({"from": step.first.isoformat(), "price": price})
    return path


def _lacks(row: Mapping[str, Any]) -> str:
    """Say what a scenario would refuse an offer for; empty when nothing."""
    try:
        _OFFER.validate_python(dict(row))
    except ValidationError as error:
        kind = row["kind"]
        missing = sorted(
            str(each["loc"][-1]) for each in error.errors() if each["type"] == "missing"
        )
        if missing:
            stated = " ".join(f"--offer {kind}.{key}=…" for key in missing)
            return f"{kind} offers need {', '.join(missing)}, which the list has not: {stated}"
        first = error.errors()[0]
        return f"`{'.'.join(map(str, first['loc'][1:]))}`: {first['msg']}"
    return ""


def _source(name: str, price: Price, options: PriceOptions) -> PriceSource:
    return PriceSource(
        offer=name,
        place=price.place,
        as_of=price.first,
        last_seen=price.last,
        listed=price.listed,
        per=str(options.per),
        gpus=price.listed / price.value,
        price=price.value,
    )


def _pool(price: Price) -> PoolRow:
    hardware = _slug(price.hardware or price.sku)
    if price.memory:
        hardware = f"{hardware}-{_slug(price.memory)}gb"
    provider, region = _slug(price.provider) or NOT_SAID, _slug(price.region) or NOT_SAID
    place = (provider, *((region,) if region != NOT_SAID else ()), hardware)
    return PoolRow(id="-".join(place), provider=provider, region=region, hardware=hardware)


def _offer_id(price: Price) -> str:
    pool = _pool(price)
    parts = [
        pool.id,
        _slug(price.sku) if price.sku and price.hardware else "",
        price.kind.replace("_", "-"),
        _slug(price.tier),
        _slug(price.tenor),
        f"upfront-{price.upfront:g}" if price.upfront else "",
        f"min-{price.min_gpus}" if price.min_gpus > 1 else "",
    ]
    return "-".join(filter(None, parts))


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", text.casefold()).strip("-")


def _whole(gpus: float) -> int | float:
    return int(gpus) if gpus == int(gpus) else gpus


def _value(text: str) -> Any:
    """Return a value of the command line: a list or mapping where it is one, else a number."""
    value = _plain(cell_value(text, "", "--offer"))
    if not isinstance(value, str):
        return value
    try:
        number = float(value)
    except ValueError:
        return value
    return int(number) if number.is_integer() else number


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value
