"""What the checks look at: valid rows with their places, and the grid when there is one."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from gpuladder.errors import Problem, Severity
from gpuladder.scenario.expand import CommittedTerm, MeteredOffer, expand_offer
from gpuladder.scenario.schema import (
    BackfillBuyer,
    Campaign,
    DemandRow,
    Hardware,
    HeldCommitment,
    Horizon,
    LeasedOffer,
    OnDemandOffer,
    OwnedOffer,
    Policy,
    Pool,
    PreemptionClass,
    SpotOffer,
)
from gpuladder.scenario.source import Key, Locations, RawList, RawMap
from gpuladder.timegrid import TimeGrid, grid_boundaries

if TYPE_CHECKING:
    from collections.abc import Iterable

AnyOffer = CommittedTerm | MeteredOffer


@dataclass(frozen=True)
class Context:
    """The valid parts of a scenario, each with the place where it was written.

    Attributes
    ----------
    locations : Locations
    sections : dict of str to object
        Valid top-level values, by key.
    rows : dict of str to dict of int to record
        Valid rows by table and position in the file.
    """

    locations: Locations
    sections: dict[str, Any]
    rows: dict[str, dict[int, Any]]

    def table(self, name: str) -> Iterable[tuple[int, Any]]:
        """Return the valid rows of a table with their positions."""
        return self.rows.get(name, {}).items()

    @property
    def offers(self) -> Iterable[tuple[int, AnyOffer]]:
        """Offers as written, tenor lists included."""
        return cast("Iterable[tuple[int, AnyOffer]]", self.table("offers"))

    @property
    def campaigns(self) -> Iterable[tuple[int, Campaign]]:
        """Campaigns as written, repeats not written out."""
        return cast("Iterable[tuple[int, Campaign]]", self.table("campaigns"))

    @property
    def held(self) -> Iterable[tuple[int, HeldCommitment]]:
        """Held commitments."""
        return cast("Iterable[tuple[int, HeldCommitment]]", self.table("commitments"))

    @property
    def backfill(self) -> Iterable[tuple[int, BackfillBuyer]]:
        """Backfill buyers."""
        return cast("Iterable[tuple[int, BackfillBuyer]]", self.table("backfill"))

    @property
    def demand(self) -> Iterable[tuple[int, DemandRow]]:
        """Demand rows."""
        return cast("Iterable[tuple[int, DemandRow]]", self.table("demand"))

    @cached_property
    def pools(self) -> dict[str, Pool]:
        """Valid pools by id."""
        return {pool.id: pool for _, pool in self.table("pools")}

    @cached_property
    def hardware(self) -> dict[str, Hardware]:
        """Valid hardware by id."""
        return {kind.id: kind for _, kind in self.table("hardware")}

    @cached_property
    def classes(self) -> dict[str, PreemptionClass]:
        """Valid preemption classes by id."""
        return {each.id: each for _, each in self.table("preemption_classes")}

    @property
    def policy(self) -> Policy:
        """The policy; empty when there is none, or when it is wrong."""
        return cast("Policy", self.sections.get("policy", Policy()))

    @property
    def horizon(self) -> Horizon | None:
        """The horizon; None when it is wrong."""
        return cast("Horizon | None", self.sections.get("horizon"))

    @property
    def first_day(self) -> date:
        """The horizon start; some day when the horizon is wrong."""
        return self.horizon.start if self.horizon is not None else date(2026, 1, 1)

    @cached_property
    def grid(self) -> TimeGrid | None:
        """The period grid; None when the horizon does not make one."""
        if self.horizon is None:
            return None
        try:
            boundaries = grid_boundaries(self.horizon.start, self.horizon.pieces)
        except ValueError:
            return None
        return TimeGrid(boundaries, self.horizon.counted_from)

    @cached_property
    def terms(self) -> list[tuple[int, CommittedTerm]]:
        """Committed offers with one tenor each; those whose price list does not fit left out."""
        return [
            (index, term)
            for index, offer in self.offers
            if isinstance(offer, LeasedOffer | OwnedOffer) and not has_wrong_prices(offer)
            for term in expand_offer(offer)
        ]

    @cached_property
    def metered(self) -> list[tuple[int, MeteredOffer]]:
        """Metered offers."""
        return [
            (index, offer)
            for index, offer in self.offers
            if isinstance(offer, OnDemandOffer | SpotOffer)
        ]

    def hardware_of(self, pool_id: str) -> Hardware | None:
        """Return the hardware of a pool; None when the pool or its hardware is unknown."""
        pool = self.pools.get(pool_id)
        return None if pool is None else self.hardware.get(pool.hardware)

    def ids(self, table: str) -> dict[str, list[int]]:
        """Return every id of a table, those of wrong rows included, with its positions."""
        found: dict[str, list[int]] = {}
        raw = self.locations.root.get(table)
        for index, row in enumerate(raw if isinstance(raw, RawList) else ()):
            if isinstance(row, RawMap) and row.get("id") is not None:
                found.setdefault(str(row["id"]), []).append(index)
        return found

    def values(self, table: str, key: str) -> set[str]:
        """Return every value a key has in a table, in wrong rows too; lists are opened."""
        found: set[str] = set()
        raw = self.locations.root.get(table)
        for row in raw if isinstance(raw, RawList) else ():
            value = row.get(key) if isinstance(row, RawMap) else None
            items = value if isinstance(value, RawList) else [value]
            found |= {str(item) for item in items if item is not None}
        return found

    def error(
        self, code: str, path: tuple[Key, ...], what: str, *, why: str = "", fix: str = ""
    ) -> Problem:
        """Return an error about the value at a key path."""
        where = self.locations.where(path)
        return Problem(code=code, where=where, what=what, why=why, fix=fix)

    def warning(
        self, code: str, path: tuple[Key, ...], what: str, *, why: str = "", fix: str = ""
    ) -> Problem:
        """Return a warning about the value at a key path."""
        return Problem(
            code=code,
            where=self.locations.where(path),
            what=what,
            why=why,
            fix=fix,
            severity=Severity.WARNING,
        )


def has_wrong_prices(offer: AnyOffer) -> bool:
    """Tell whether an offer's price list and its tenors are of different lengths."""
    return (
        isinstance(offer, LeasedOffer)
        and isinstance(offer.price, tuple)
        and len(offer.price) != len(offer.tenor)
    )


def nearest(name: str, names: Iterable[str]) -> str:
    """Return ``; did you mean …?`` when a name is close to a known one, else nothing."""
    close = difflib.get_close_matches(name, sorted(names), n=1, cutoff=0.6)
    return f"; did you mean `{close[0]}`?" if close else ""
