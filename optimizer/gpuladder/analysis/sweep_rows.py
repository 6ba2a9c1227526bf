"""What a sweep says: one row a cell, and where the structure of neighbouring cells differs."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from gpuladder.analysis.sweep_grid import Axis, Cell, neighbours
from gpuladder.errors import Problem, Severity
from gpuladder.plan import Status, Termination
from gpuladder.scenario.expand import expand

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gpuladder.analysis.sweep_cells import Answer
    from gpuladder.plan import Plan
    from gpuladder.scenario.schema import Scenario

SCHEMA = "gpuladder.sweep/1"
WRONG = "wrong"
REFUSED = "refused"
UNBOUNDED = "unbounded"
NOT_SOLVED = "not_solved"
SOME_SPOT = 1e-6
"""Share of the work below which none counts as done on spot."""
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


def cell_row(cell: Cell, answer: Answer | None, *, is_reused: bool) -> CellRow:
    """Return the row of a cell; without an answer it is one that was not solved."""
    if cell.scenario is None:
        errors = [item.what for item in cell.problems if item.severity is Severity.ERROR]
        note = "; ".join(dict.fromkeys(errors))
        return CellRow(number=cell.number, values=cell.values, status=WRONG, note=note)
    if answer is None:
        return CellRow(number=cell.number, values=cell.values, status=NOT_SOLVED)
    plan = answer.plan
    status, note = plan.status.value, ""
    if plan.termination is Termination.UNBOUNDED:
        status = UNBOUNDED
    elif answer.findings:
        status, note = REFUSED, "; ".join(answer.findings)
    elif not plan.has_quantities and plan.status is not Status.INFEASIBLE:
        note = plan.termination.value
    has_plan = plan.has_quantities and not answer.findings
    metrics = answer.metrics if has_plan else {}
    return CellRow(
        number=cell.number,
        values=cell.values,
        status=status,
        cost=plan.objective if has_plan else None,
        bound=plan.bound if has_plan else None,
        gap=plan.gap if has_plan else None,
        spot_share=metrics.get("spot_share"),
        cost_per_run=metrics.get("cost_per_completed_run"),
        utilisation=metrics.get("utilisation"),
        lock_in_peak=metrics.get("lock_in_peak"),
        commitments=_commitments(cell.scenario, plan) if has_plan else (),
        seconds=plan.seconds.get("solve"),
        is_reused=is_reused,
        note=note,
    )


def lots_by_offer(plan: Plan) -> dict[str, int]:
    """Return the lots ordered of each offer over all starts: the structure of a plan."""
    lots: Counter[str] = Counter()
    for order in plan.orders:
        lots[order.offer] += order.lots
    return dict(sorted(lots.items()))


def _commitments(scenario: Scenario, plan: Plan) -> tuple[Commitment, ...]:
    offers = expand(scenario).committed
    return tuple(
        Commitment(offer=offer, lots=lots, gpus=lots * offers[offer].lot_gpus)
        for offer, lots in lots_by_offer(plan).items()
    )


def compared(rows: Mapping[tuple[int, ...], CellRow], cell: Cell, axes: Sequence[Axis]) -> CellRow:
    """Return a cell's row with what is different in the cells one value back."""
    row = rows[cell.place]
    if row.cost is None:
        return row
    changes = []
    for axis, place in neighbours(cell, axes):
        other = rows[place]
        if other.cost is None:
            continue
        lots, spot = _lot_changes(other, row), _spot_change(other, row)
        if lots or spot:
            before = other.values[axis]
            change = StructureChange(key=axes[axis].key, before=before, lots=lots, spot=spot)
            changes.append(change)
    return replace(row, changes=tuple(changes))


def _lot_changes(before: CellRow, after: CellRow) -> dict[str, int]:
    had = {item.offer: item.lots for item in before.commitments}
    has = {item.offer: item.lots for item in after.commitments}
    moved = {offer: has.get(offer, 0) - had.get(offer, 0) for offer in sorted({*had, *has})}
    return {offer: lots for offer, lots in moved.items() if lots}


def _spot_change(before: CellRow, after: CellRow) -> str:
    had = (before.spot_share or 0.0) > SOME_SPOT
    has = (after.spot_share or 0.0) > SOME_SPOT
    return "" if had == has else "begins" if has else "ends"
