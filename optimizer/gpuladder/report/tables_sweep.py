"""Sweeps as tables: CSV files, and the aligned text of a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuladder.analysis.sweep_result import NOT_SOLVED, STATUSES
from gpuladder.report.table import Cell, Column, Format, Table, aligned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpuladder.analysis.sweep_result import CellRow, Sweep

_LEFT_OUT = "…"
_LONGEST_NOTE = 60


def sweep_tables(found: Sweep) -> tuple[Table, ...]:
    """Return the tables of a sweep: its cells, their commitments, and changes between them."""
    return _cells(found), _commitments(found), _changes(found)


def sweep_text(found: Sweep) -> str:
    """Return the grid as aligned text, one line a cell, and how to read it.

    The GPUs of each offer are over all its orders in the cell.
    """
    offers = offers_of(found)
    keys = [axis.key for axis in found.axes]
    header = [
        "cell",
        *keys,
        "status",
        f"cost ({found.currency})",
        "gap",
        "spot",
        *(f"{offer} (GPUs)" for offer in offers),
        "changes",
    ]
    lines = [header, *(_line(cell, offers, several=len(keys) > 1) for cell in found.cells)]
    numbers = {0, *range(len(keys) + 2, len(header) - 1)}
    return "\n".join([*aligned(lines, right=numbers), "", *_reading(found)])


def offers_of(found: Sweep) -> tuple[str, ...]:
    """Return the offers that any cell signs, by name."""
    return tuple(sorted({item.offer for cell in found.cells for item in cell.commitments}))


def _line(cell: CellRow, offers: Sequence[str], *, several: bool) -> list[str]:
    held = {item.offer: item.gpus for item in cell.commitments}
    has_plan = cell.cost is not None
    changes = [
        f"{change.key} from {change.before}: {change.text}" if several else change.text
        for change in cell.changes
    ]
    return [
        str(cell.number),
        *cell.values,
        cell.status.replace("_", " "),
        "" if cell.cost is None else f"{cell.cost:,.0f}",
        "" if cell.gap is None else f"{cell.gap:.2%}",
        "" if cell.spot_share is None else f"{cell.spot_share:.0%}",
        *(f"{held.get(offer, 0):,}" if has_plan else "" for offer in offers),
        "; ".join(changes) or _short(cell.note),
    ]


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_NOTE else text[: _LONGEST_NOTE - 1] + _LEFT_OUT


def _reading(found: Sweep) -> list[str]:
    lines = [
        f"{status.replace('_', ' ')}: {meaning}"
        for status, meaning in STATUSES.items()
        if status not in ("optimal", NOT_SOLVED) and found.count(status)
    ]
    if any(cell.changes for cell in found.cells):
        lines.append(
            "changes: lots more or fewer than in the cell one value back; within the gap, plans of "
            "other structure may cost as much"
        )
    lines.append(
        "Each cell is a scenario solved on its own; between cells nothing is interpolated."
    )
    return lines


def _cells(found: Sweep) -> Table:
    offers = offers_of(found)
    columns = (
        Column(key="cell", title="Cell", format=Format.COUNT, note="Number, last key fastest"),
        *(
            Column(key=axis.key, title=axis.key, format=Format.ANY, note="A varied key")
            for axis in found.axes
        ),
        Column(
            key="status",
            title="Status",
            note="; ".join(f"{status}: {meaning}" for status, meaning in STATUSES.items()),
        ),
        _money(found, "cost", "Net present cost", "Of the plan found"),
        _money(found, "bound", "Bound", "No plan can cost less"),
        Column(key="gap", title="Gap", format=Format.SHARE, note="(cost − bound) ÷ |cost|"),
        Column(key="spot_share", title="Spot", format=Format.SHARE, note="Share of the work done"),
        _money(found, "cost_per_run", "Cost per completed run", "Idle included"),
        Column(key="utilisation", title="Utilisation", format=Format.SHARE, note="Of committed"),
        _money(found, "lock_in_peak", "Lock-in peak", "Largest remaining obligation"),
        *(
            Column(key=f"gpus {offer}", title=offer, unit="GPUs", format=Format.COUNT)
            for offer in offers
        ),
        Column(key="changes", title="Changes", note="Against the cells one value back"),
        Column(key="seconds", title="Search", unit="s", format=Format.NUMBER),
        Column(key="is_reused", title="Taken over", note="From an earlier sweep"),
        Column(key="note", title="Note"),
    )
    rows = tuple(_cell(cell, offers) for cell in found.cells)
    return Table(name="cells", title="Every cell of the sweep", columns=columns, rows=rows)


def _money(found: Sweep, key: str, title: str, note: str) -> Column:
    return Column(key=key, title=title, unit=found.currency, format=Format.MONEY, note=note)


def _cell(cell: CellRow, offers: Sequence[str]) -> tuple[Cell, ...]:
    held = {item.offer: item.gpus for item in cell.commitments}
    return (
        cell.number,
        *cell.values,
        cell.status,
        cell.cost,
        cell.bound,
        cell.gap,
        cell.spot_share,
        cell.cost_per_run,
        cell.utilisation,
        cell.lock_in_peak,
        *(held.get(offer, 0) if cell.cost is not None else None for offer in offers),
        "; ".join(f"{item.key} from {item.before}: {item.text}" for item in cell.changes),
        cell.seconds,
        cell.is_reused,
        cell.note,
    )


def _commitments(found: Sweep) -> Table:
    columns = (
        Column(key="cell", title="Cell", format=Format.COUNT),
        Column(key="offer", title="Offer"),
        Column(key="lots", title="Lots", format=Format.COUNT, note="Over all orders"),
        Column(key="gpus", title="GPUs", format=Format.COUNT, note="Over all orders"),
    )
    rows = tuple(
        (cell.number, item.offer, item.lots, item.gpus)
        for cell in found.cells
        for item in cell.commitments
    )
    return Table(name="commitments", title="What each cell signs", columns=columns, rows=rows)


def _changes(found: Sweep) -> Table:
    columns = (
        Column(key="cell", title="Cell", format=Format.COUNT),
        Column(key="key", title="Key", note="Against the cell one value of this key back"),
        Column(key="before", title="Its value there", format=Format.ANY),
        Column(key="after", title="Its value here", format=Format.ANY),
        Column(key="offer", title="Offer", note="`spot` for the use of any spot capacity"),
        Column(key="lots", title="Lots more", format=Format.COUNT, note="Negative: fewer"),
        Column(key="change", title="Change"),
    )
    rows: list[tuple[Cell, ...]] = []
    for cell in found.cells:
        values = {axis.key: value for axis, value in zip(found.axes, cell.values, strict=True)}
        for change in cell.changes:
            place = (cell.number, change.key, change.before, values[change.key])
            rows += [
                (*place, offer, lots, "more" if lots > 0 else "fewer")
                for offer, lots in change.lots.items()
            ]
            rows += [(*place, "spot", None, change.spot)] if change.spot else []
    return Table(
        name="changes",
        title="Where the structure changes between neighbouring cells",
        columns=columns,
        rows=tuple(rows),
        note="Within the gap, plans of other structure may cost as much.",
    )
