"""Imported usage as tables: what a scenario and utilisation read, and what was left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuladder.report.fields import (
    count,
    day,
    gpu_hours,
    gpus,
    money,
    number,
    price,
    tabulate,
    text,
)
from gpuladder.report.table import Column, Format, Table, aligned
from gpuladder.review.usage_history import QUANTITIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpuladder.review.imports.dropped import Reason, RowCount
    from gpuladder.review.usage_result import ImportedUsage

_NOT_TOLD = "–"
_NO_CURRENCY = "currency"


def usage_tables(found: ImportedUsage) -> tuple[Table, ...]:
    """Return the tables of an imported history; those of a bill only when it is one."""
    series = (_demand(found), _usage(found), _dropped(found))
    if found.currency is None:
        return series
    return (*series, _commitments(found), _seen(found), _rates(found), _charges(found))


def _demand(found: ImportedUsage) -> Table:
    return Table(
        name="demand",
        title="Demand as a scenario reads it",
        columns=(
            Column(key="pool", title="Pool"),
            Column(key="at", title="At", format=Format.MOMENT, note="Begin of the hour or day"),
            Column(key="gpus", title="GPUs", format=Format.NUMBER, note="Mean over it"),
        ),
        rows=tuple((row.pool, row.at, row.gpus) for row in found.demand()),
    )


def _usage(found: ImportedUsage) -> Table:
    return Table(
        name="usage",
        title="What each team held and used",
        columns=(
            Column(key="team", title="Team"),
            Column(key="pool", title="Pool"),
            Column(key="hour", title="Begin", format=Format.MOMENT),
            *(
                Column(
                    key=f"{name}_gpus",
                    title=name.capitalize(),
                    unit="GPUs",
                    format=Format.NUMBER,
                    note=f"{meaning}; empty: not known",
                )
                for name, meaning in QUANTITIES.items()
            ),
        ),
        rows=tuple(
            (
                row.team,
                row.pool,
                row.hour,
                row.capacity,
                row.allocated,
                row.metered,
                row.busy,
                row.pending,
                row.dormant,
            )
            for row in found.usage()
        ),
        note="Mean GPUs over each hour or day. A step of which nothing is known has no row.",
    )


def _dropped(found: ImportedUsage) -> Table:
    files: list[tuple[str, RowCount]] = [("usage", found.rows)]
    if found.contract_rows is not None:
        files.append(("contract commitments", found.contract_rows))
    rows = [
        (file, word, reason)
        for file, counts in files
        for word, reasons in (("dropped", counts.reasons), ("note", counts.notes))
        for reason in reasons
    ]
    return tabulate(
        "dropped",
        "Rows that do not count, and why",
        (
            text("file", "File", read=lambda row: row[0]),
            text(
                "word", "What", "dropped, or a note about rows that count", read=lambda row: row[1]
            ),
            count("rows", "Rows", read=lambda row: row[2].count),
            text("reason", "Why", read=lambda row: row[2].text),
            text("examples", "First ones", read=lambda row: _examples(row[2])),
        ),
        rows,
        currency=_NO_CURRENCY,
    )


def _examples(reason: Reason) -> str:
    return "; ".join(f"{each.place}: {each.text}" for each in reason.examples)


def _commitments(found: ImportedUsage) -> Table:
    return tabulate(
        "commitments",
        "Commitments as a scenario reads them",
        (
            text("id", "Commitment"),
            text("pool", "Pool"),
            text("kind", "Kind"),
            gpus("gpus", "GPUs"),
            day("start", "Start"),
            day("end", "End", "Exclusive"),
            price("price", "Price", "Effective cost ÷ GPU-hours, used or not"),
        ),
        found.whole_commitments,
        currency=found.currency or _NO_CURRENCY,
    )


def _seen(found: ImportedUsage) -> Table:
    return tabulate(
        "commitments_seen",
        "Every commitment of the bill, and what is not known of it",
        (
            text("id", "Commitment"),
            text("pool", "Pool"),
            gpus("gpus", "GPUs"),
            day("start", "Start"),
            day("end", "End"),
            price("price", "Price"),
            text("source", "From"),
            text("lacks", "Not known", "Empty: it is in commitments.csv"),
        ),
        found.commitments,
        currency=found.currency or _NO_CURRENCY,
    )


def _rates(found: ImportedUsage) -> Table:
    return tabulate(
        "rates",
        "What a GPU-hour really cost",
        (
            text("offer", "Offer"),
            text("pool", "Pool"),
            text("kind", "Kind", "spend: covered by a commitment of money"),
            text("commitment", "Commitment"),
            count("rows", "Rows"),
            gpu_hours("gpu_hours", "Used"),
            money("effective_cost", "Effective cost of the used"),
            price("rate", "Realised rate", "Effective cost ÷ GPU-hours used"),
            price("list_rate", "List rate", "List cost ÷ GPU-hours used"),
            price("contracted_rate", "Contracted rate"),
            number("unused_gpu_hours", "Unused", "GPU-hours", "Empty: known in money alone"),
            money("unused_cost", "Effective cost of the unused"),
            price("loaded_rate", "Loaded rate", "Used and unused cost ÷ GPU-hours used"),
        ),
        found.rates,
        currency=found.currency or _NO_CURRENCY,
    )


def _charges(found: ImportedUsage) -> Table:
    return tabulate(
        "charges",
        "The bill by sort of row",
        (
            text("sort", "Sort"),
            text("counted_as", "Counted as"),
            count("rows", "Rows", total=True),
            money("billed_cost", "Billed cost"),
            money("effective_cost", "Effective cost"),
        ),
        found.charges,
        currency=found.currency or _NO_CURRENCY,
        note="Every row that is in the currency and can be read; adds up to the bill.",
    )


def usage_text(found: ImportedUsage) -> str:
    """Return what was read as a person reads it: rows, window, teams, rates, charges."""
    past = found.history
    window = f"{past.start:%Y-%m-%d %H:%M} to {past.end:%Y-%m-%d %H:%M}"
    parts = [
        found.rows.text,
        f"{found.source} ({found.layout}): {window}, steps of {past.step_hours} h, {past.zone}",
        "\n".join(f"  {line}" for line in found.assumptions),
        _lines(_team_lines(found), words=1),
    ]
    if found.contract_rows is not None:
        parts.append(f"contract commitments\n{found.contract_rows.text}")
    if found.rates:
        parts.append(_lines(_rate_lines(found), words=1))
    if found.charges:
        parts.append(_lines(_charge_lines(found), words=2))
    return "\n\n".join(parts)


def _team_lines(found: ImportedUsage) -> list[list[str]]:
    names = [
        name
        for name in QUANTITIES
        if any(team.given(name) is not None for team in found.history.teams)
    ]
    lines = [["team", "hours", "unknown", *(f"{name} (GPU-h)" for name in names)]]
    for team in found.record()["teams"]:
        where = f"{team['pool']}/{team['team']}" if team["pool"] else team["team"]
        amounts = (team["gpu_hours"].get(name) for name in names)
        lines.append(
            [where, f"{team['hours']:,}", f"{team['gap_hours']:,}", *(_amount(a) for a in amounts)]
        )
    return lines


def _rate_lines(found: ImportedUsage) -> list[list[str]]:
    lines = [
        [
            "offer",
            "used (GPU-h)",
            f"rate ({found.currency}/GPU-h)",
            "list",
            "with the unused",
            f"unused ({found.currency})",
        ]
    ]
    lines += [
        [
            row.offer,
            _amount(row.gpu_hours),
            _price(row.rate),
            _price(row.list_rate),
            _price(row.loaded_rate),
            _amount(row.unused_cost),
        ]
        for row in found.rates
    ]
    return lines


def _charge_lines(found: ImportedUsage) -> list[list[str]]:
    lines = [["rows of", "counted as", "rows", f"billed ({found.currency})", "effective"]]
    lines += [
        [
            row.sort,
            row.counted_as,
            f"{row.rows:,}",
            _amount(row.billed_cost),
            _amount(row.effective_cost),
        ]
        for row in found.charges
    ]
    return lines


def _lines(lines: Sequence[Sequence[str]], *, words: int) -> str:
    return "\n".join(aligned(lines, right=range(words, len(lines[0]))))


def _amount(value: float | None) -> str:
    return _NOT_TOLD if value is None else f"{value:,.2f}".removesuffix(".00")


def _price(value: float | None) -> str:
    return _NOT_TOLD if value is None else f"{value:,.4f}"
