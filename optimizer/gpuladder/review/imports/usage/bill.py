"""What the rows of a bill add up to: use by team and hour, rates by offer, what is committed."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.review.imports.usage.focus_columns import Status
from gpuladder.review.imports.usage.grid import Grid, Tracks, spread
from gpuladder.review.imports.usage.held import SPEND, Held, held_rows
from gpuladder.review.usage_result import ChargeRow, RateRow, ReservedPrice

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpuladder.errors import Problem
    from gpuladder.review.imports.usage.contracts import ContractTerms, Term
    from gpuladder.review.usage_history import TeamKey
    from gpuladder.review.usage_result import HeldRow

SERIES = ("capacity", "allocated", "metered")
_CAPACITY, _ALLOCATED, _METERED = range(3)


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedRow:
    """A row of usage, used or not."""

    team: str
    pool: str
    kind: str
    commitment: str | None
    commitment_status: Status
    reservation_status: Status
    begin: float
    """Hours since 1970."""
    end: float
    units: float
    """Unit-hours; NaN when the row has none."""
    gpus: float | None
    """Of one unit; None while it is not known."""
    billed: float
    effective: float
    list_cost: float
    contracted: float

    @property
    def is_unused(self) -> bool:
        """Whether it is the unused part of a commitment or a reservation."""
        return Status.UNUSED in (self.commitment_status, self.reservation_status)

    @property
    def is_reserved(self) -> bool:
        """Whether it is of GPUs that are held, used or not; else it was bought by the hour."""
        if self.reservation_status is not Status.NONE:
            return True
        return self.kind != SPEND and (
            self.kind == "reserved" or self.commitment_status is not Status.NONE
        )


@dataclass
class _Sum:
    """Money and GPU-hours of rows; a cost that a row lacks makes its sum unknown."""

    rows: int = 0
    gpu_hours: float = 0.0
    costs: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    unused_gpu_hours: float = 0.0
    unused_cost: float = 0.0


class Bill:
    """Adds up the rows of a bill."""

    def __init__(self, where: str) -> None:
        self.tracks = Tracks(SERIES, Grid(), where)
        self._held: dict[str, Held] = {}
        self._where = where
        self._rates: dict[tuple[str, str, str | None], _Sum] = {}
        self._charges: dict[tuple[str, str], tuple[int, float, float]] = {}
        self._reserved: dict[TeamKey, tuple[float, float]] = {}
        """GPU-hours and effective cost of what each team held."""
        self.unmeasured: dict[str, float] = defaultdict(float)
        """Effective cost of idle GPUs of which no quantity is known, by commitment."""
        self._waiting: dict[str, list[UsedRow]] = defaultdict(list)
        self._added: dict[tuple[TeamKey, int], list[tuple[int, float]]] = defaultdict(list)

    @property
    def has_usage(self) -> bool:
        """Whether any row was of GPUs."""
        return any(track.length for track in self.tracks.by_key.values())

    def charge(
        self, sort: str, counted_as: str, billed: float, effective: float, *, rows: int = 1
    ) -> None:
        """Count the money of one row, or of several."""
        known, all_billed, all_effective = self._charges.get((sort, counted_as), (0, 0.0, 0.0))
        self._charges[sort, counted_as] = (
            known + rows,
            all_billed + billed,
            all_effective + effective,
        )

    def purchase(
        self, text: Mapping[str, str], number: Mapping[str, float], begin: float, end: float
    ) -> None:
        """Take the purchase of a commitment or reserved capacity: perhaps a term, never usage."""
        self.charge(
            "purchase", "commitment bought", number["billed_cost"], number["effective_cost"]
        )
        if text["frequency"].casefold() != "one-time":
            return
        quantity, unit = number["commitment_quantity"], text["commitment_unit"]
        if not text["commitment"]:
            quantity, unit = number["priced"], text["pricing_unit"]
        self._held_of(text["commitment"] or text["reservation"]).bought(begin, end, quantity, unit)

    def wait(self, row: UsedRow) -> None:
        """Keep an unused row until its commitment's machine is known."""
        self._waiting[str(row.commitment)].append(row)

    def resolve(self) -> tuple[int, int]:
        """Use the rows that waited; return how many were, and how many could not be."""
        kept = lost = 0
        for commitment, rows in self._waiting.items():
            held = self._held.get(commitment)
            machine = None if held is None else held.machine
            for row in rows:
                if machine is None:
                    lost += 1
                    self.charge("unused, not GPUs", "left out", row.billed, row.effective)
                else:
                    kept += 1
                    self.use(replace(row, gpus=machine[0], pool=machine[1]))
        self._waiting.clear()
        self.flush()
        return kept, lost

    def use(self, row: UsedRow) -> None:
        """Add up one row."""
        gpu_hours = row.units * (row.gpus or 0.0)
        rate = self._rates.setdefault((row.pool, row.kind, row.commitment), _Sum())
        if row.is_unused:
            of_reservation = row.reservation_status is Status.UNUSED
            self.charge(
                "unused reservation" if of_reservation else "unused commitment",
                "idle" if not math.isnan(gpu_hours) else "idle, in money alone",
                row.billed,
                row.effective,
            )
            rate.unused_gpu_hours += gpu_hours
            rate.unused_cost += row.effective
            if math.isnan(gpu_hours) and row.is_reserved:
                self.unmeasured[str(row.commitment)] += row.effective
        else:
            self.charge(f"usage {row.kind}", "usage", row.billed, row.effective)
            rate.rows += 1
            rate.gpu_hours += gpu_hours
            for name, cost in (
                ("effective", row.effective),
                ("list", row.list_cost),
                ("contracted", row.contracted),
            ):
                rate.costs[name] += cost
        if row.commitment is not None:
            self._held_of(row.commitment).use(row, gpu_hours)
        if math.isnan(gpu_hours):
            return
        key = (row.team, row.pool)
        if row.is_reserved:
            self._spread(key, _CAPACITY, row, gpu_hours)
            held, cost = self._reserved.get(key, (0.0, 0.0))
            self._reserved[key] = (held + gpu_hours, cost + row.effective)
        if not row.is_unused:
            self._spread(key, _ALLOCATED, row, gpu_hours)
            if not row.is_reserved:
                self._spread(key, _METERED, row, gpu_hours)

    def flush(self) -> None:
        """Add what a chunk gave to the series."""
        for (key, quantity), amounts in self._added.items():
            hours = np.array([hour for hour, _ in amounts], dtype=np.int64)
            self.tracks.check_span(int(hours.min()), int(hours.max()))
            self.tracks.of(key).add(quantity, hours, np.array([amount for _, amount in amounts]))
        self._added.clear()

    def commitments(
        self, terms: Mapping[str, Term], contracts: ContractTerms | None, pool: str | None
    ) -> tuple[tuple[HeldRow, ...], tuple[Problem, ...]]:
        """Return what is held, and a warning for each commitment that is not known whole."""
        return held_rows(self._held, terms, contracts, pool)

    def reserved_prices(self) -> tuple[ReservedPrice, ...]:
        """Return what a reserved GPU-hour, used or not, cost each team."""
        return tuple(
            ReservedPrice(team=team, pool=pool, price=cost / held)
            for (team, pool), (held, cost) in self._reserved.items()
            if held and cost > 0
        )

    def rates(self) -> tuple[RateRow, ...]:
        """Return what a GPU-hour of each offer cost, by pool, kind and commitment."""
        rows = []
        for (pool, kind, commitment), found in sorted(
            self._rates.items(), key=lambda item: tuple(map(str, item[0]))
        ):
            effective = found.costs["effective"]
            unused = found.unused_gpu_hours
            rows.append(
                RateRow(
                    offer=f"{pool}-{kind}" + (f"-{commitment}" if commitment else ""),
                    pool=pool,
                    kind=kind,
                    commitment=commitment,
                    rows=found.rows,
                    gpu_hours=found.gpu_hours,
                    effective_cost=effective,
                    rate=_per_hour(effective, found.gpu_hours),
                    list_rate=_per_hour(found.costs["list"], found.gpu_hours),
                    contracted_rate=_per_hour(found.costs["contracted"], found.gpu_hours),
                    unused_gpu_hours=None if math.isnan(unused) else unused,
                    unused_cost=found.unused_cost,
                    loaded_rate=_per_hour(effective + found.unused_cost, found.gpu_hours),
                )
            )
        return tuple(rows)

    def charges(self) -> tuple[ChargeRow, ...]:
        """Return the money of the bill by sort of row; it adds up to the bill."""
        return tuple(
            ChargeRow(
                sort=sort,
                counted_as=counted_as,
                rows=rows,
                billed_cost=None if math.isnan(billed) else billed,
                effective_cost=None if math.isnan(effective) else effective,
            )
            for (sort, counted_as), (rows, billed, effective) in sorted(self._charges.items())
        )

    def _held_of(self, commitment: str) -> Held:
        return self._held.setdefault(commitment, Held(commitment, self._where))

    def _spread(self, key: TeamKey, quantity: int, row: UsedRow, gpu_hours: float) -> None:
        length = row.end - row.begin
        self._added[key, quantity] += [
            (hour, gpu_hours * covered / length) for hour, covered in spread(row.begin, row.end)
        ]


def _per_hour(cost: float, gpu_hours: float) -> float | None:
    return None if not gpu_hours or math.isnan(cost) else cost / gpu_hours
