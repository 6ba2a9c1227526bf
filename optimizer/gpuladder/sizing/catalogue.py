"""Hardware and dated price rows that come with the program, loaded by id."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Literal, cast

from gpuladder.errors import Problem, Severity, UsageError
from gpuladder.sizing.memory import PricedMemory

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

    from gpuladder.sizing.placement import Reach
    from gpuladder.sizing.spec import ProviderTerms

STALE_DAYS = 90
"""Age from which a price is doubted."""
Market = Literal["hyperscaler", "neocloud", "decentralised"]
PriceKind = Literal["on_demand", "spot", "reserved_1y"]
DEFAULT_HARDWARE = "h100"
_HYPERSCALERS = ("aws", "amazon", "azure", "microsoft", "gcp", "google", "oracle", "oci", "alibaba")
_DECENTRALISED = ("vast", "akash", "spheron", "tensordock", "salad", "io.net", "ionet", "fluence")


@dataclass(frozen=True, slots=True, kw_only=True)
class HardwareSpec:
    """One kind of GPU."""

    id: str
    name: str
    memory_gb: float
    peak_tflops: float
    """Dense BF16, TFLOPS; FP16 on chips without BF16."""
    gpus_per_node: int
    fabric: Reach
    """How far its fast links reach."""
    released: date
    aliases: tuple[str, ...]
    as_of: date
    verified: bool
    """Whether memory, peak, and GPUs of a node were all read in the sources named."""
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceQuote:
    """The price of a GPU-hour on one day."""

    id: str
    hardware: str
    provider: str
    market: Market
    kind: PriceKind
    verified: bool
    price_per_gpu_hour: float
    currency: str
    as_of: date
    source: str

    def age_days(self, today: date) -> int:
        """Return how old the price is."""
        return (today - self.as_of).days


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketRates:
    """What one side of the market charges beside GPU-hours, as low and high list rates."""

    market: Market
    storage_per_gb_month: tuple[float, float]
    egress_per_gb: tuple[float, float]
    minimum_credit: float
    escrow_share: float
    currency: str
    as_of: date
    source: str


@cache
def hardware_rows() -> dict[str, HardwareSpec]:
    """Return every kind of GPU by id."""
    return {
        row["id"]: HardwareSpec(
            id=row["id"],
            name=row["name"],
            memory_gb=float(row["memory_gb"]),
            peak_tflops=float(row["peak_tflops"]),
            gpus_per_node=int(row["gpus_per_node"]),
            fabric=cast("Reach", row["fabric"]),
            released=date.fromisoformat(row["released"]),
            aliases=tuple(row["aliases"].split("|")),
            as_of=date.fromisoformat(row["as_of"]),
            verified=row["verified"] == "yes",
            source=row["source"],
        )
        for row in _rows("hardware.csv")
    }


@cache
def price_rows() -> dict[str, PriceQuote]:
    """Return every price by id, ``hardware/provider/kind``."""
    return {
        row["id"]: PriceQuote(
            id=row["id"],
            hardware=row["hardware"],
            provider=row["provider"],
            market=cast("Market", row["market"]),
            kind=cast("PriceKind", row["kind"]),
            verified=row["verified"] == "yes",
            price_per_gpu_hour=float(row["price_per_gpu_hour"]),
            currency=row["currency"],
            as_of=date.fromisoformat(row["as_of"]),
            source=row["source"],
        )
        for row in _rows("prices.csv")
    }


@cache
def rate_rows() -> dict[str, MarketRates]:
    """Return the rates beside GPU-hours by side of the market."""
    return {
        row["market"]: MarketRates(
            market=cast("Market", row["market"]),
            storage_per_gb_month=_pair(row, "storage_per_gb_month"),
            egress_per_gb=_pair(row, "egress_per_gb"),
            minimum_credit=float(row["minimum_credit"]),
            escrow_share=float(row["escrow_share"]),
            currency=row["currency"],
            as_of=date.fromisoformat(row["as_of"]),
            source=row["source"],
        )
        for row in _rows("rates.csv")
    }


def hardware(name: str, where: str = "") -> HardwareSpec:
    """Return a kind of GPU by id or by a usual name; ``where`` is the place of the name.

    Raises
    ------
    UsageError
        When it is not in the catalogue.
    """
    found = find_hardware(name)
    if found is None:
        raise UsageError(
            Problem(
                code="GL-S901",
                where=where,
                what=f"`{name}` is not in the hardware catalogue",
                fix=f"one of: {', '.join(hardware_rows())}",
            )
        )
    return found


def find_hardware(name: str, *, memory_gb: float | None = None) -> HardwareSpec | None:
    """Return a kind of GPU by id or by a usual name; None when it is unknown.

    Of a name that is sold with several memories, such as A100, the one with ``memory_gb``.
    """
    names = [_plain(name)]
    if memory_gb is not None:
        names.insert(0, f"{names[0]} {memory_gb:g}gb")
    for wanted in names:
        for spec in hardware_rows().values():
            if wanted == spec.id or wanted in spec.aliases:
                return spec
    return None


def price(identifier: str) -> PriceQuote:
    """Return a price by id.

    Raises
    ------
    UsageError
        When there is no such price.
    """
    rows = price_rows()
    if identifier not in rows:
        near = [key for key in rows if key.startswith(identifier.partition("/")[0] + "/")]
        fix = f"one of: {', '.join(near)}" if near else "ids are hardware/provider/kind"
        problem = Problem(code="GL-S901", what=f"`{identifier}` is not in the prices", fix=fix)
        raise UsageError(problem)
    return rows[identifier]


def lowest_prices(
    kind: PriceKind = "on_demand",
    *,
    verified_only: bool = False,
    providers: Collection[str] | None = None,
) -> dict[str, PriceQuote]:
    """Return the lowest price of a kind by hardware, of all providers or of these."""
    found: dict[str, PriceQuote] = {}
    for quote in price_rows().values():
        if quote.kind != kind or (verified_only and not quote.verified):
            continue
        if providers is not None and quote.provider not in providers:
            continue
        known = found.get(quote.hardware)
        if known is None or quote.price_per_gpu_hour < known.price_per_gpu_hour:
            found[quote.hardware] = quote
    return found


def priced_memory(quotes: dict[str, PriceQuote]) -> tuple[PricedMemory, ...]:
    """Return the catalogue's hardware with these prices; no price where there is none."""
    return tuple(
        PricedMemory(
            spec.id,
            spec.memory_gb,
            quotes[spec.id].price_per_gpu_hour if spec.id in quotes else None,
            spec.gpus_per_node,
        )
        for spec in hardware_rows().values()
    )


def price_in(choices: Iterable[PricedMemory], spec: HardwareSpec) -> float | None:
    """Return the lowest price of a kind of GPU in a catalogue, by id or by a usual name."""
    prices = [
        each.price_per_gpu_hour
        for each in choices
        if each.price_per_gpu_hour is not None and find_hardware(each.hardware) == spec
    ]
    return min(prices, default=None)


def read_priced_memory(path: Path) -> tuple[PricedMemory, ...]:
    """Read another catalogue: a CSV file with hardware, memory_gb and price_per_gpu_hour.

    Raises
    ------
    UsageError
        When it cannot be read as such.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(Problem(code="GL-S001", what=f"cannot be read: {path}")) from error
    found = []
    for number, row in enumerate(csv.DictReader(io.StringIO(text)), start=2):
        if None in row:  # cells beyond the header's: a decimal comma would be half a price
            raise UsageError(_bad_row(path, number, "more cells than columns"))
        try:
            cost = row.get("price_per_gpu_hour")
            memory, hourly = float(row["memory_gb"]), float(cost) if cost else None
            name = row["hardware"]
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(_bad_row(path, number)) from error
        numbers = [memory] if hourly is None else [memory, hourly]
        if not name or not all(map(math.isfinite, numbers)) or memory <= 0 or min(numbers) < 0:
            raise UsageError(_bad_row(path, number))
        found.append(PricedMemory(name, memory, hourly))
    if not found:
        raise UsageError(_bad_row(path, 1, "no rows"))
    return tuple(found)


def stale(
    dated: Iterable[PriceQuote | MarketRates], today: date, *, limit_days: int = STALE_DAYS
) -> Problem | None:
    """Return one warning for all rows older than a limit; None when there are none."""
    old = [row for row in dated if (today - row.as_of).days > limit_days]
    if not old:
        return None
    oldest = min(row.as_of for row in old)
    return Problem(
        code="GL-S902",
        what=f"{len(old)} price{'s' if len(old) > 1 else ''} of the catalogue "
        f"{'are' if len(old) > 1 else 'is'} older than {limit_days} days, "
        f"the oldest from {oldest}, {(today - oldest).days} days ago",
        why="prices of GPU-hours have moved by a third within half a year, both ways",
        fix="give prices of your own: `--catalogue FILE`, or offers in the scenario",
        severity=Severity.WARNING,
    )


def market_of(provider: str) -> Market:
    """Return the side of the market a provider is on, by its name; neocloud when unknown."""
    name = provider.lower()
    if any(name.startswith(known) for known in _HYPERSCALERS):
        return "hyperscaler"
    if any(name.startswith(known) for known in _DECENTRALISED):
        return "decentralised"
    return "neocloud"


def is_verified(provider: str, terms: Iterable[ProviderTerms]) -> bool:
    """Return whether a provider's machines are verified: as stated, else by its market."""
    stated = next((each for each in terms if each.provider == provider), None)
    if stated is not None and stated.verified is not None:
        return stated.verified
    market = None if stated is None else stated.market
    return (market or market_of(provider)) != "decentralised"


def _rows(name: str) -> list[dict[str, str]]:
    text = (files("gpuladder.sizing") / "data" / name).read_text(encoding="utf-8")
    return list(csv.DictReader(io.StringIO(text)))


def _pair(row: dict[str, str], key: str) -> tuple[float, float]:
    return float(row[f"{key}_low"]), float(row[f"{key}_high"])


def _plain(name: str) -> str:
    words = name.lower().replace("_", "-").replace("nvidia", "").strip(" -")
    return " ".join(words.split())


def _bad_row(path: Path, number: int, what: str = "not a row of a catalogue") -> Problem:
    return Problem(
        code="GL-S005",
        where=f"{path}:{number}",
        what=what,
        fix="columns: hardware, memory_gb (GB per GPU), price_per_gpu_hour (may be empty)",
    )
