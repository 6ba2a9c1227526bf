"""What a sweep says: one row a cell, with what it signs and where that changes."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from gpuladder.plan import Status

if TYPE_CHECKING:
    from gpuladder.errors import Problem

SCHEMA = "gpuladder.sweep/1"
WRONG = "wrong"
REFUSED = "refused"
UNBOUNDED = "unbounded"
NOT_SOLVED = "not_solved"
STATUSES = {
    Status.OPTIMAL.value: "proven to be within the gap asked for",
    Status.FEASIBLE.value: "stopped at a limit: the best plan so far",
    Status.INFEASIBLE.value: "proven: no plan exists",
    UNBOUNDED: "it pays for buying without end",
    Status.NO_PLAN.value: "the solver ended without a plan and without a proof that there is none",
    REFUSED: "the plan found does not stand up to the audit",
    WRONG: "refused as a scenario",
    NOT_SOLVED: "the sweep ended before it",
}
"""What a cell can be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """One key and the values it takes, as they would be written on the command line."""

    key: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Commitment:
    """What a cell signs of one offer, over all starts."""

    offer: str
    lots: int
    gpus: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StructureChange:
    """How a cell's commitments differ from those of the cell one value back along an axis."""

    key: str
    """Key of the axis."""
    before: str
    """Its value in the other cell."""
    lots: dict[str, int]
    """Lots more (less when negative) by offer, offers with as many left out."""
    spot: str
    """``begins`` or ``ends`` when only one of the two uses spot; else empty."""

    @property
    def text(self) -> str:
        """The change in words."""
        parts = [
            f"{offer} {'+' if lots > 0 else '−'}{abs(lots)} lot{'s' * (abs(lots) > 1)}"
            for offer, lots in self.lots.items()
        ]
        return ", ".join([*parts, *([f"spot {self.spot}"] if self.spot else [])])


@dataclass(frozen=True, slots=True, kw_only=True)
class CellRow:
    """One cell of the grid; figures are None where there is no plan to sign on."""

    number: int
    values: tuple[str, ...]
    """One for each axis."""
    status: str
    """One of ``STATUSES``."""
    cost: float | None = None
    """Net present cost, currency."""
    bound: float | None = None
    """Proven floor of it."""
    gap: float | None = None
    spot_share: float | None = None
    """Of the work done."""
    cost_per_run: float | None = None
    """Loaded cost of a completed run, currency."""
    utilisation: float | None = None
    """Of committed GPU-hours, without backfill."""
    lock_in_peak: float | None = None
    """Largest remaining obligation, currency."""
    commitments: tuple[Commitment, ...] = ()
    changes: tuple[StructureChange, ...] = ()
    """Where it differs from a neighbour with a plan; none where nothing is known of the other."""
    seconds: float | None = None
    """That the search took, when it was solved."""
    is_reused: bool = False
    """Whether the answer was there already."""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """A grid of answers."""

    name: str
    """Of the scenario."""
    currency: str
    axes: tuple[Axis, ...]
    cells: tuple[CellRow, ...]
    warnings: tuple[Problem, ...] = ()
    """Of all cells, each once."""
    versions: dict[str, str] = field(default_factory=dict)
    is_interrupted: bool = False

    def count(self, *statuses: str) -> int:
        """Return how many cells have one of the statuses."""
        return sum(cell.status in statuses for cell in self.cells)

    def record(self) -> dict[str, Any]:
        """Return the sweep as plain values, for JSON."""
        return {
            "schema": SCHEMA,
            "scenario": {"name": self.name},
            "currency": self.currency,
            "versions": self.versions,
            "is_interrupted": self.is_interrupted,
            "axes": [{"key": axis.key, "values": list(axis.values)} for axis in self.axes],
            "cells": [
                {
                    **asdict(cell),
                    "values": dict(zip((axis.key for axis in self.axes), cell.values, strict=True)),
                    "commitments": [asdict(item) for item in cell.commitments],
                    "changes": [{**asdict(item), "text": item.text} for item in cell.changes],
                }
                for cell in self.cells
            ],
        }
