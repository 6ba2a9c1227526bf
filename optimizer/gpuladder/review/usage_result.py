"""What an imported usage history is: series, what is held, realised rates, and what was left out.

Plain records, for tables and JSON. A figure that the file does not tell is None, never 0.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gpuladder.review.usage_history import QUANTITIES
from gpuladder.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date, datetime

    from gpuladder.errors import Problem
    from gpuladder.review.imports.dropped import RowCount
    from gpuladder.review.usage_history import TeamHistory, UsageHistory
    from gpuladder.timegrid import FloatArray

SCHEMA = "gpuladder.import.usage/1"
SERIES_FILE, DOCUMENT = "usage.csv", "usage.json"
"""Of the folder of an import: what each team held and used, and everything else."""
NEED, ALLOCATED, BUSY = "need", "allocated", "busy"
DEMANDS = {
    NEED: "GPUs that jobs hold and, where the history has them, those that jobs wait for",
    ALLOCATED: "GPUs that jobs hold",
    BUSY: "GPUs at work",
}
"""What the demand of a scenario can be made of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemandPoint:
    """A row of a scenario's ``demand``."""

    pool: str
    at: datetime
    gpus: float


@dataclass(frozen=True, slots=True, kw_only=True)
class UsagePoint:
    """One team in one step; mean GPUs over the step."""

    team: str
    pool: str | None
    hour: datetime
    capacity: float | None
    allocated: float | None
    metered: float | None
    busy: float | None
    pending: float | None
    dormant: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldRow:
    """A commitment that a bill shows; with all of it known, a row of ``commitments``."""

    id: str
    pool: str | None
    kind: str
    gpus: float | None
    start: date | None
    end: date | None
    price: float | None
    """Currency per GPU-hour, used or not."""
    source: str
    """Where the figures come from."""
    lacks: str = ""
    """What is not known, and how to state it; empty when the row is whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservedPrice:
    """What a GPU-hour that a team held, used or not, cost by the bill."""

    team: str
    pool: str | None
    price: float
    """Effective cost ÷ GPU-hours held, currency."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateRow:
    """What a GPU-hour of one offer really cost."""

    offer: str
    pool: str
    kind: str
    """``on_demand``, ``spot``, ``reserved``, or ``other`` where the bill does not say."""
    commitment: str | None
    rows: int
    gpu_hours: float
    """Used."""
    effective_cost: float
    """Of the used ones."""
    rate: float | None
    """Effective cost ÷ GPU-hours used."""
    list_rate: float | None
    """List cost ÷ GPU-hours used; None unless every row has one."""
    contracted_rate: float | None
    unused_gpu_hours: float | None
    """Committed and not used; None where the bill has them in money alone."""
    unused_cost: float
    loaded_rate: float | None
    """Effective cost, the unused part included ÷ GPU-hours used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargeRow:
    """Rows of a bill of one sort, and their money."""

    sort: str
    counted_as: str
    """What was made of them."""
    rows: int
    billed_cost: float | None
    effective_cost: float | None
    """None unless every row has one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedUsage:
    """A usage history, read."""

    source: str
    layout: str
    history: UsageHistory
    rows: RowCount
    demand_of: str
    """One of ``DEMANDS``."""
    currency: str | None = None
    """Of a bill."""
    contract_rows: RowCount | None = None
    commitments: tuple[HeldRow, ...] = ()
    reserved_prices: tuple[ReservedPrice, ...] = ()
    rates: tuple[RateRow, ...] = ()
    charges: tuple[ChargeRow, ...] = ()
    assumptions: tuple[str, ...] = ()
    """What was concluded from the file and not stated, and how each quantity was read."""
    warnings: tuple[Problem, ...] = ()

    @property
    def whole_commitments(self) -> tuple[HeldRow, ...]:
        """Commitments of which a scenario can be told everything."""
        return tuple(row for row in self.commitments if not row.lacks)

    def usage(self) -> Iterator[UsagePoint]:
        """Yield each team's steps in which anything is known."""
        for team in self.history.teams:
            columns = {name: team.quantities.get(name) for name in QUANTITIES}
            for step in range(self.history.steps):
                values = {
                    name: None if column is None or np.isnan(column[step]) else float(column[step])
                    for name, column in columns.items()
                }
                if any(value is not None for value in values.values()):
                    yield UsagePoint(
                        team=team.team, pool=team.pool, hour=self.history.at(step), **values
                    )

    def demand(self) -> Iterator[DemandPoint]:
        """Yield the demand of each pool; a step of which a team is not known is left out.

        A team without a pool is a pool of its own: nothing says that it shares.
        """
        for pool, gpus in self._demand_by_pool().items():
            for step in np.flatnonzero(~np.isnan(gpus)):
                yield DemandPoint(
                    pool=pool, at=self.history.at(int(step)), gpus=round(float(gpus[step]), 6)
                )

    def _demand_by_pool(self) -> dict[str, FloatArray]:
        pools: dict[str, FloatArray] = {}
        for team in self.history.teams:
            gpus = needed(team, self.demand_of)
            if gpus is not None:
                pool = team.pool or team.team
                pools[pool] = pools[pool] + gpus if pool in pools else gpus
        return pools

    def record(self) -> dict[str, Any]:
        """Return what was read, without the series, as plain values for JSON."""
        return {
            "schema": SCHEMA,
            "source": self.source,
            "layout": self.layout,
            "currency": self.currency,
            "window": {
                "start": self.history.start.isoformat(),
                "end": self.history.end.isoformat(),
                "step_hours": self.history.step_hours,
                "zone": self.history.zone,
            },
            "demand_of": self.demand_of,
            "teams": [self._team_record(team) for team in self.history.teams],
            "commitments": [_with_dates(asdict(row)) for row in self.commitments],
            "reserved_prices": [asdict(row) for row in self.reserved_prices],
            "rates": [asdict(row) for row in self.rates],
            "charges": [asdict(row) for row in self.charges],
            "rows": self.rows.record(),
            "contract_rows": None if self.contract_rows is None else self.contract_rows.record(),
            "assumptions": list(self.assumptions),
            "warnings": [
                {"code": each.code, "where": each.where, "what": each.what}
                for each in self.warnings
            ],
            "versions": {"gpuladder": __version__},
        }

    def _team_record(self, team: TeamHistory) -> dict[str, Any]:
        hours = self.history.step_hours
        seen = ~np.isnan(np.array(list(team.quantities.values()))).all(axis=0)
        return {
            "team": team.team,
            "pool": team.pool,
            "hours": int(seen.sum()) * hours,
            "gap_hours": int((~seen).sum()) * hours,
            "gpu_hours": {
                name: float(np.nansum(values)) * hours for name, values in team.quantities.items()
            },
        }


def needed(team: TeamHistory, demand_of: str) -> FloatArray | None:
    """Return a team's demand in each step, or None when its history has none of it."""
    if demand_of == BUSY:
        return team.given("busy")
    allocated, pending = team.given("allocated"), team.given("pending")
    if allocated is None or pending is None or demand_of == ALLOCATED:
        return allocated
    return allocated + pending


def _with_dates(record: dict[str, Any]) -> dict[str, Any]:
    return {
        key: value.isoformat() if key in ("start", "end") and value is not None else value
        for key, value in record.items()
    }
