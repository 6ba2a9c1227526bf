"""From the answers of cells to rows, and where the structure of neighbouring cells differs."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from gpuladder.analysis.sweep_grid import Cell, neighbours
from gpuladder.analysis.sweep_result import (
    NOT_SOLVED,
    REFUSED,
    UNBOUNDED,
    WRONG,
    Axis,
    CellRow,
    Commitment,
    StructureChange,
)
from gpuladder.errors import Severity
from gpuladder.plan import Status, Termination
from gpuladder.scenario.expand import expand

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gpuladder.analysis.sweep_cells import Answer
    from gpuladder.plan import Plan
    from gpuladder.scenario.schema import Scenario

SOME_SPOT = 1e-6
"""Share of the work below which none counts as done on spot."""


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
