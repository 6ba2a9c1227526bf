"""What an imported price list is: offers of a scenario, where each price is from, what was refused.

Plain records, for tables and JSON.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from gpuladder.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from gpuladder.errors import Problem
    from gpuladder.review.imports.dropped import RowCount

SCHEMA = "gpuladder.import.prices/1"
DOCUMENT = "prices.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolRow:
    """A pool that the offers need; its hardware has to be described in the scenario."""

    id: str
    provider: str
    region: str
    hardware: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceSource:
    """Where one price of an offer is from."""

    offer: str
    place: int
    """Line or row of the file."""
    as_of: date
    last_seen: date
    listed: float
    """As the file has it."""
    per: str
    """What that is of: ``gpu`` or ``node``."""
    gpus: float
    """GPUs of the node; 1 for a GPU."""
    price: float
    """Per GPU-hour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A price that was not taken."""

    place: int
    what: str
    """The provider, region, SKU or GPU, and kind."""
    listed: str
    """As the file has it."""
    reason: str
    detail: str = ""

    @property
    def text(self) -> str:
        """The price as a person reads it."""
        detail = f" ({self.detail})" if self.detail else ""
        return f"line {self.place}, {self.what}: {self.listed}{detail}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedPrices:
    """A price list, read."""

    source: str
    layout: str
    currency: str
    per: str
    offers: tuple[Mapping[str, Any], ...]
    """Rows of a scenario's ``offers``, plain values."""
    pools: tuple[PoolRow, ...]
    sources: tuple[PriceSource, ...]
    refused: tuple[Refused, ...]
    rows: RowCount
    outlier_factor: float
    assumptions: tuple[str, ...] = ()
    warnings: tuple[Problem, ...] = ()

    def record(self) -> dict[str, Any]:
        """Return it as plain values, for JSON."""
        return {
            "schema": SCHEMA,
            "source": self.source,
            "layout": self.layout,
            "currency": self.currency,
            "per": self.per,
            "outlier_factor": self.outlier_factor,
            "offers": [dict(row) for row in self.offers],
            "pools": [asdict(row) for row in self.pools],
            "sources": [
                asdict(row)
                | {"as_of": row.as_of.isoformat(), "last_seen": row.last_seen.isoformat()}
                for row in self.sources
            ],
            "refused": [asdict(row) for row in self.refused],
            "rows": self.rows.record(),
            "assumptions": list(self.assumptions),
            "warnings": [
                {"code": each.code, "where": each.where, "what": each.what}
                for each in self.warnings
            ],
            "versions": {"gpuladder": __version__},
        }
