"""Utilisation as tables: CSV files, sheets of a workbook, and the aligned text of a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuladder.report.fields import (
    count,
    day,
    gpu_hours,
    gpus,
    money,
    number,
    optional,
    price,
    share,
    tabulate,
    text,
)
from gpuladder.report.table import aligned
from gpuladder.review.utilisation_result import ALL

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gpuladder.report.fields import Field
    from gpuladder.report.table import Table
    from gpuladder.review.utilisation_result import (
        LendingRow,
        PoolingRow,
        TeamUse,
        Utilisation,
    )

_NOT_TOLD = "–"


def utilisation_tables(found: Utilisation) -> tuple[Table, ...]:
    """Return the tables: teams, pools, pooling, lending, what cannot be told, and the window."""
    return (_teams(found), _pools(found), _pooling(found), _lending(found), _untold(found))


def _amounts() -> tuple[Field, ...]:
    """Return the fields that a team and a sum of teams have in common."""
    return (
        number("hours", "Hours", "h", "Hours of which all that is given is known"),
        optional(number("gap_hours", "Unknown", "h", "Hours left out: a gap is not a zero")),
        gpu_hours("reserved", "Reserved", total=False),
        share("allocated_share", "Allocated of reserved", "Reserved and allocated ÷ reserved"),
        share("busy_share", "Busy of allocated", "Allocated and busy ÷ allocated"),
        share("busy_of_reserved", "Busy of reserved", "Reserved and busy ÷ reserved"),
        gpu_hours("empty", "Empty", "Reserved and not allocated", total=False),
        gpu_hours("stalled", "Stalled", "Allocated and not busy", total=False),
        gpu_hours(
            "dormant",
            "Of these dormant",
            "Stalled GPUs that finished or sleeping jobs hold",
            total=False,
        ),
        gpu_hours("not_busy", "Not busy", "Reserved and not busy: empty and stalled", total=False),
        gpu_hours("allocated", "Allocated", "Held by jobs, metered ones included", total=False),
        gpu_hours("busy", "Busy", total=False),
        optional(gpu_hours("metered", "Metered", "Allocated and bought by the hour", total=False)),
        optional(gpu_hours("beyond", "Beyond", "Allocated beyond the reservation", total=False)),
        gpu_hours("pending", "Waiting", "Asked for and not given", total=False),
        price("price", "Contract price", "Per reserved GPU-hour, used or not"),
        money("reserved_cost", "Cost of the reservation", total=False),
        money("empty_cost", "Empty", "At the contract price", total=False),
        money(
            "stalled_cost", "Stalled", "Within the reservation, at the contract price", total=False
        ),
        money("dormant_cost", "Of these dormant", "At the contract price", total=False),
        money("not_busy_cost", "Not busy", "At the contract price", total=False),
    )


def _teams(found: Utilisation) -> Table:
    fields = (
        text("team", "Team"),
        text("pool", "Pool"),
        *_amounts(),
        text("price_source", "Price from"),
        text(
            "is_dead",
            "Dead",
            f"Whether less than {found.dead_below:.0%} of the reservation was used",
            read=lambda row: row.is_dead,
        ),
    )
    return tabulate(
        "teams",
        "How each team used what it holds",
        fields,
        found.teams,
        currency=found.currency,
        note="Allocated is held by a job, busy is at work. An empty cell: the history cannot tell. "
        "All amounts of a team are over the hours of which all that is given is known.",
    )


def _pools(found: Utilisation) -> Table:
    fields = (text("pool", "Pool", "`all`: every pool"), *_amounts())
    return tabulate(
        "pools",
        "The teams of each pool added up",
        fields,
        found.pools,
        currency=found.currency,
        note="Sums of the teams' rows; empty where one of the teams is not known.",
    )


def _pooling(found: Utilisation) -> Table:
    fields = (
        text("pool", "Pool"),
        text(
            "standard",
            "Standard",
            "peak: every hour in full; hours: a share of the hours in full; work: a share of the "
            "GPU-hours",
        ),
        share("share", "Share", "Of hours or GPU-hours that is served"),
        count("teams", "Teams"),
        number("hours", "Hours", "h", "Hours in which all teams of the pool are known"),
        gpus("held", "Held today", "Mean over the hours"),
        gpus("alone", "One for each team", "Reservations that meet the standard by themselves"),
        gpus("pooled", "One for all", "One reservation that meets the standard for all together"),
        gpus("saved", "Saved by pooling", "One for each less one for all"),
        gpu_hours("saved_gpu_hours", "Saved by pooling", total=False),
        money("saved_cost", "Saved by pooling", "At the mean contract price", total=False),
        gpus("released", "Held beyond one for all", "Negative: one for all needs more than held"),
        money("released_cost", "Held beyond one for all", total=False),
        price("price", "Mean contract price", "Weighted by reserved GPU-hours"),
    )
    return tabulate(
        "pooling",
        "What one common reservation needs",
        fields,
        found.pooling,
        currency=found.currency,
        note="A need is what jobs hold and what they wait for. Of the hours of the history, not a "
        f"forecast; whole lots of {found.lot_gpus}.",
    )


def _lending(found: Utilisation) -> Table:
    fields = (
        text("pool", "Pool"),
        text("team", "Team", "`all`: all borrow at once, no idle GPU is lent twice"),
        number("hours", "Hours", "h"),
        gpu_hours("pending", "Waiting", "Asked for and not given", total=False),
        gpu_hours("idle", "Empty of its own", "Reserved and not allocated", total=False),
        gpu_hours("served", "Others could lend", "At most", total=False),
        share("served_share", "Of what waits"),
        money("served_cost", "Worth", "At the mean contract price, paid already", total=False),
    )
    return tabulate(
        "lending",
        "Waiting work that other teams' empty GPUs could have served",
        fields,
        found.lending,
        currency=found.currency,
        note="At most: a whole job needs its GPUs together and at once, which hourly means hide. A "
        "team's own row is what it could have borrowed were it alone to borrow.",
    )


def _untold(found: Utilisation) -> Table:
    return tabulate(
        "untold",
        "What the history cannot tell",
        (
            text("what", "What", read=lambda row: row[0]),
            day("start", "From", read=lambda row: row[1]),
            day("end", "To", read=lambda row: row[2]),
        ),
        [(line, found.start.date(), found.end.date()) for line in found.untold],
        currency=found.currency,
    )


def utilisation_text(found: Utilisation) -> str:
    """Return what the history says as aligned text: teams, pools, pooling, lending, and gaps."""
    has_price = any(row.price is not None for row in (*found.teams, *found.pools))
    window = f"{found.start:%Y-%m-%d %H:%M} to {found.end:%Y-%m-%d %H:%M}"
    parts = [
        "\n".join(
            (
                f"{found.source}: {window}, steps of {found.step_hours} h, times {found.zone}",
                *(f"  {line}" for line in found.assumptions),
            )
        ),
        _lines(_told(_team_lines(found, has_price=has_price))),
    ]
    if found.dead:
        parts.append(_dead_text(found))
    if found.pooling:
        parts.append(_lines(_told(_pooling_lines(found, has_price=has_price))))
    borrowed = [row for row in found.lending if row.pending]
    if borrowed:
        parts.append(_lines(_lending_lines(found, borrowed, has_price=has_price)))
    if found.untold:
        parts.append("cannot be told:\n" + "\n".join(f"  {line}" for line in found.untold))
    return "\n\n".join(parts)


def _team_lines(found: Utilisation, *, has_price: bool) -> list[list[str]]:
    header = [
        "team",
        "reserved (GPU-h)",
        "allocated (GPU-h)",
        "of reserved",
        "busy of allocated",
        "busy of reserved",
        "empty (GPU-h)",
        "stalled (GPU-h)",
        "waiting (GPU-h)",
    ]
    if has_price:
        header += [f"empty ({found.currency})", f"stalled ({found.currency})"]

    def line(name: str, row: TeamUse) -> list[str]:
        cells = [
            name,
            _amount(row.reserved),
            _amount(row.allocated),
            _share(row.allocated_share),
            _share(row.busy_share),
            _share(row.busy_of_reserved),
            _amount(row.empty),
            _amount(row.stalled),
            _amount(row.pending),
        ]
        return cells + ([_amount(row.empty_cost), _amount(row.stalled_cost)] if has_price else [])

    several = len({row.pool for row in found.teams}) > 1
    teams = [line(f"{row.pool}/{row.team}" if several else row.team, row) for row in found.teams]
    sums = [line(row.pool, row) for row in found.pools] if len(found.teams) > 1 else []
    return [header, *teams, *sums]


def _told(lines: list[list[str]]) -> list[list[str]]:
    """Return the lines without the columns in which nothing can be told."""
    kept = [
        index
        for index, cells in enumerate(zip(*lines[1:], strict=True))
        if any(cell != _NOT_TOLD for cell in cells)
    ]
    return [[line[index] for index in kept] for line in lines]


def _dead_text(found: Utilisation) -> str:
    lines = [f"dead reservations (less than {found.dead_below:.0%} used):"]
    for row in found.dead:
        used = row.allocated_share if row.busy_of_reserved is None else row.busy_of_reserved
        word = "allocated" if row.busy_of_reserved is None else "busy"
        cost = "" if row.reserved_cost is None else f", {row.reserved_cost:,.0f} {found.currency}"
        lines.append(
            f"  {row.team}: {used or 0:.2%} {word} of {row.reserved or 0:,.0f} GPU-hours{cost}"
        )
    return "\n".join(lines)


def _pooling_lines(found: Utilisation, *, has_price: bool) -> list[list[str]]:
    header = ["one reservation for", "serving", "held (GPUs)", "each", "all", "saved", "released"]
    header += [f"saved ({found.currency})", f"released ({found.currency})"] if has_price else []

    def line(row: PoolingRow) -> list[str]:
        cells = [
            f"{row.teams} teams of {row.pool}" if row.pool != ALL else f"{row.teams} teams",
            _standard(row),
            *map(_amount, (row.held, row.alone, row.pooled, row.saved, row.released)),
        ]
        return cells + ([_amount(row.saved_cost), _amount(row.released_cost)] if has_price else [])

    return [header, *map(line, found.pooling)]


def _standard(row: PoolingRow) -> str:
    if row.standard == "peak":
        return "every hour in full"
    return (
        f"{100 * row.share:.4g}% of {'hours in full' if row.standard == 'hours' else 'GPU-hours'}"
    )


def _lending_lines(
    found: Utilisation, rows: Iterable[LendingRow], *, has_price: bool
) -> list[list[str]]:
    header = ["could have borrowed", "waiting (GPU-h)", "of others at most", "share"]
    header += [f"worth ({found.currency})"] if has_price else []
    lines = [header]
    for row in rows:
        name = row.pool if row.team == ALL and row.pool != ALL else row.team
        cells = [name, _amount(row.pending), _amount(row.served), _share(row.served_share)]
        lines.append(cells + ([_amount(row.served_cost)] if has_price else []))
    return lines


def _amount(value: float | None) -> str:
    return _NOT_TOLD if value is None else f"{value:,.0f}"


def _share(value: float | None) -> str:
    return _NOT_TOLD if value is None else f"{value:.2%}"


def _lines(lines: Sequence[Sequence[str]]) -> str:
    words = {0, *(index for index, title in enumerate(lines[0]) if title == "serving")}
    return "\n".join(aligned(lines, right=set(range(len(lines[0]))) - words))
