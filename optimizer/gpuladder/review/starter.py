"""A scenario to start from, around the tables of an imported history."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpuladder.errors import Problem, UsageError
from gpuladder.review.calendar_document import assumptions
from gpuladder.review.imports.columns import near
from gpuladder.scenario.csv_reader import read_csv, read_text
from gpuladder.sizing import catalogue

if TYPE_CHECKING:
    from pathlib import Path

    from gpuladder.review.calendar import JobHistory

ON_DEMAND = "on-demand"


@dataclass(frozen=True, slots=True)
class OffersFile:
    """A table of offers as it was given."""

    source: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Starter:
    """What surrounds the tables.

    Attributes
    ----------
    pool : str
        Where the hourly demand is.
    hardware : str
        Id in the catalogue.
    offers : OffersFile or None
        A table of offers; the catalogue's lowest on-demand price when None.
    pools : tuple of str
        All pools, that of the demand first.
    """

    pool: str
    hardware: str
    offers: OffersFile | None
    pools: tuple[str, ...]

    def text(self, history: JobHistory) -> str:
        """Return ``scenario.yaml``; its tables are campaigns.csv, demand.csv and offers.csv."""
        spec = catalogue.hardware(self.hardware)
        begin, end = history.horizon
        lines = [
            f"# Made by `gpuladder import jobs` from {_comment(history.source)}.",
            "# Fill in what is marked so, and judge the calendar by calendar.png. Assumed:",
            *(f"# - {_comment(line)}" for line in assumptions(history)),
            f"name: {_quoted(history.name)}",
            f"horizon: {{start: {begin}, end: {end}, step: week}}",
            "hardware:   # fill in: what the GPUs of the offers are",
            f"  # {spec.source}, {spec.as_of}",
            (
                f"  - {{id: {spec.id}, memory_gb: {spec.memory_gb:g}, gpus_per_node: "
                f"{spec.gpus_per_node}, peak_tflops: {spec.peak_tflops:g}}}"
            ),
            "pools:   # fill in: provider and region of each",
            *(
                f"  - {{id: {_quoted(pool)}, provider: {_quoted(pool)}, region: {_quoted(pool)}, "
                f"hardware: {spec.id}}}"
                for pool in self.pools
            ),
            "preemption_classes:   # fill in: 0 never runs on spot",
            f"  - {{id: {_quoted(history.rule.preemption_class)}, spot_share_max: 0}}",
            *self._offers(),
            "campaigns: campaigns.csv",
            "demand: demand.csv",
        ]
        return "\n".join(lines) + "\n"

    def _offers(self) -> list[str]:
        if self.offers is not None:
            return ["offers: offers.csv"]
        quote = lowest_price(self.hardware)
        return [
            "offers:   # fill in: reservations, blocks, spot",
            f"  # the lowest on-demand price of the catalogue: {quote.provider}, {quote.as_of}",
            (
                f"  - {{id: {ON_DEMAND}, pool: {_quoted(self.pool)}, kind: on_demand, "
                f"price: {quote.price_per_gpu_hour:g}}}"
            ),
        ]


def starter(pool: str, hardware: str, offers: Path | None) -> Starter:
    """Return what surrounds the tables, given a pool and perhaps a table of offers.

    Parameters
    ----------
    pool : str
        Where the hourly demand is.
    hardware : str
        What its GPUs are: id or usual name in the catalogue.
    offers : pathlib.Path, optional
        CSV file of offers as in a scenario.

    Raises
    ------
    UsageError
        When the hardware is unknown or has no price, or no offer is for the pool.
    ScenarioError
        When the file of offers cannot be read.
    """
    spec = catalogue.hardware(hardware)
    if offers is None:
        lowest_price(spec.id)
        return Starter(pool=pool, hardware=spec.id, offers=None, pools=(pool,))
    found = {str(row.get("pool", "")) for row in read_csv(offers)} - {""}
    if pool not in found:
        raise UsageError(
            Problem(
                code="GL-I014",
                where=str(offers),
                what=f"no offer is for the pool `{pool}`{near(pool, found)}",
                why="the hourly demand of that pool could never be served",
                fix=f"pools with offers: {', '.join(sorted(found)) or 'none'}",
            )
        )
    others = sorted(found - {pool})
    return Starter(
        pool=pool,
        hardware=spec.id,
        offers=OffersFile(str(offers), read_text(offers)),
        pools=(pool, *others),
    )


def lowest_price(hardware: str) -> catalogue.PriceQuote:
    """Return the lowest on-demand price of the catalogue, of verified machines where there are any.

    Raises
    ------
    UsageError
        When it has none.
    """
    for verified_only in (True, False):
        quotes = catalogue.lowest_prices(verified_only=verified_only)
        if hardware in quotes:
            return quotes[hardware]
    raise UsageError(
        Problem(
            code="GL-I014",
            what=f"the catalogue has no on-demand price of `{hardware}`",
            fix="give a table of offers: --offers FILE",
        )
    )


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _comment(text: str) -> str:
    return " ".join(text.split())
