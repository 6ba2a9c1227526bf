"""What the use of reservations says: rows of plain numbers, for tables and JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from gpuladder.version import __version__

if TYPE_CHECKING:
    from datetime import datetime

    from gpuladder.errors import Problem

SCHEMA = "gpuladder.utilisation/1"
ALL = "all"
"""Team of the row that adds up a pool's teams, and pool of teams of which no pool is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractPrice:
    """What one reserved GPU-hour costs, and who says so."""

    value: float
    """Currency per GPU-hour."""
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamUse:
    """How one team used what it holds, over the hours of which all is known; GPU-hours.

    None where the history cannot tell.
    """

    team: str
    pool: str
    hours: float
    gap_hours: float
    """Hours of the history in which nothing is known of the team, or not all of it."""
    reserved: float | None = None
    allocated: float | None = None
    metered: float | None = None
    busy: float | None = None
    pending: float | None = None
    reserved_used: float | None = None
    """Reserved and allocated: the reservation without its empty part."""
    empty: float | None = None
    """Reserved and not allocated."""
    beyond: float | None = None
    """Allocated beyond the reservation and not metered: borrowed, or a capacity that is wrong."""
    stalled: float | None = None
    """Allocated and not busy."""
    dormant: float | None = None
    """The part of the stalled that finished or sleeping jobs hold."""
    not_busy: float | None = None
    """Reserved and not busy: empty and stalled together."""
    allocated_share: float | None = None
    """Reserved and allocated ÷ reserved."""
    busy_share: float | None = None
    """Allocated and busy ÷ allocated."""
    busy_of_reserved: float | None = None
    """Reserved and busy ÷ reserved."""
    price: float | None = None
    """Contract price, currency per GPU-hour."""
    price_source: str = ""
    reserved_cost: float | None = None
    empty_cost: float | None = None
    stalled_cost: float | None = None
    """Of the stalled GPUs within the reservation."""
    dormant_cost: float | None = None
    not_busy_cost: float | None = None
    is_dead: bool | None = None
    """Whether less of the reservation was used than the threshold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolingRow:
    """What one common reservation would need against one for each team, at one standard."""

    pool: str
    standard: str
    """``peak``, ``hours`` (the share of hours served in full) or ``work`` (of GPU-hours)."""
    share: float
    teams: int
    hours: float
    """Hours in which all its teams are known."""
    held: float | None
    """GPUs reserved today, mean over the hours."""
    alone: float
    """GPUs of reservations that meet the standard for each team by itself."""
    pooled: float
    """GPUs of one reservation that meets it for all of them."""
    saved: float
    """GPUs: alone less pooled; at a share below 1 it can be negative."""
    saved_gpu_hours: float
    price: float | None
    saved_cost: float | None
    released: float | None
    """GPUs held today less pooled: what one reservation would let go, or lacks when negative."""
    released_cost: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LendingRow:
    """Waiting work that idle GPUs of other teams of the pool could have served, at most."""

    pool: str
    team: str
    """``all`` for the pool as a whole: what all borrow at once, no idle GPU lent twice."""
    hours: float
    pending: float
    """GPU-hours asked for and waiting."""
    idle: float
    """GPU-hours of the reservation that stood empty."""
    served: float
    """Of the pending ones, by others' idle GPUs; a team's own row: were it alone to borrow."""
    served_share: float | None
    served_cost: float | None
    """At the pool's mean contract price; None on the rows of teams."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Utilisation:
    """Where reserved GPU-hours went, by team and pool, and what pooling would save."""

    source: str
    currency: str
    start: datetime
    end: datetime
    step_hours: int
    zone: str
    hours_share: float
    work_share: float
    dead_below: float
    lot_gpus: int
    teams: tuple[TeamUse, ...]
    pools: tuple[TeamUse, ...]
    """One row a pool, its teams added up, and one for everything when there are several."""
    pooling: tuple[PoolingRow, ...]
    lending: tuple[LendingRow, ...]
    assumptions: tuple[str, ...] = ()
    """How the history was read, and what was taken from elsewhere."""
    untold: tuple[str, ...] = ()
    """What the history cannot tell, and why."""
    warnings: tuple[Problem, ...] = ()

    @property
    def dead(self) -> tuple[TeamUse, ...]:
        """The teams whose reservation is dead."""
        return tuple(team for team in self.teams if team.is_dead)

    def record(self) -> dict[str, Any]:
        """Return it as plain values, for JSON."""
        return {
            "schema": SCHEMA,
            "source": self.source,
            "currency": self.currency,
            "window": {
                "start": self.start.isoformat(),
                "end": self.end.isoformat(),
                "step_hours": self.step_hours,
                "zone": self.zone,
            },
            "standards": {
                "hours_share": self.hours_share,
                "work_share": self.work_share,
                "dead_below": self.dead_below,
                "lot_gpus": self.lot_gpus,
            },
            "versions": {"gpuladder": __version__},
            "teams": [asdict(row) for row in self.teams],
            "pools": [asdict(row) for row in self.pools],
            "pooling": [asdict(row) for row in self.pooling],
            "lending": [asdict(row) for row in self.lending],
            "dead": [row.team for row in self.dead],
            "assumptions": list(self.assumptions),
            "untold": list(self.untold),
            "warnings": [
                {"code": each.code, "where": each.where, "what": each.what}
                for each in self.warnings
            ],
        }
