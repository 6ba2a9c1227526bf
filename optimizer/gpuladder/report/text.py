"""The answer on a terminal: status, cost, proof, what to sign and the facts that matter most."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

from gpuladder.plan import Status
from gpuladder.report.labels import kind_label
from gpuladder.report.table import one_line, shortened, text_width
from gpuladder.report.words import horizon_words, sentences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpuladder.analysis.result import CommitmentRow, Result

MOST_ORDERS = 15
_NARROWEST = 40
_GAP = "  "
_SHORTEST_OFFER = 8
_OFFER, _KIND = 1, 2
BOLD, GREEN, YELLOW, RED, _PLAIN = "\x1b[1m", "\x1b[32m", "\x1b[33m", "\x1b[31m", "\x1b[0m"
_STATUS_COLOURS = {
    Status.OPTIMAL: GREEN,
    Status.FEASIBLE: YELLOW,
    Status.INFEASIBLE: RED,
    Status.NO_PLAN: RED,
}


def summary_text(result: Result, *, width: int = 80, colour: bool = False) -> str:
    """Return the answer as plain text, ending with a newline.

    Parameters
    ----------
    result : Result
        With or without a plan.
    width : int
        Columns of the terminal; never fewer than 40 are used.
    colour : bool
        Whether to mark the status and the headline with ANSI codes.
    """
    columns = max(width, _NARROWEST)
    plan = result.plan
    first, *rest = sentences(result)
    status = painted(plan.status.value, _STATUS_COLOURS[plan.status], colour=colour)
    name = shortened(one_line(result.scenario.name), max(columns - 40, 20))
    blocks = [f"{name}: {status}, {horizon_words(result)}"]
    blocks.append(painted(_wrapped(first, columns), BOLD, colour=colour))
    orders = sorted(result.tables.commitments, key=lambda row: (row.sign_by, row.start, row.offer))
    if orders:
        blocks.append("\n".join(_order_lines(orders, result.scenario.currency, columns)))
    blocks.append("\n".join(_wrapped(sentence, columns, "- ", "  ") for sentence in rest))
    return "\n\n".join(block for block in blocks if block) + "\n"


def _order_lines(rows: Sequence[CommitmentRow], currency: str, columns: int) -> list[str]:
    header = ("Sign by", "Offer", "Kind", "GPUs", "Start", "End", f"Cost ({currency})")
    body = [
        (
            row.sign_by.isoformat(),
            one_line(row.offer),
            kind_label(row.kind),
            f"{row.gpus:,}",
            row.start.isoformat(),
            row.end.isoformat(),
            f"{row.cost + row.usage_cost:,.0f}",
        )
        for row in rows[:MOST_ORDERS]
    ]
    lines = _aligned([header, *body], columns)
    if len(rows) > MOST_ORDERS:
        lines.append(f"… and {len(rows) - MOST_ORDERS} more")
    return lines


def _aligned(rows: Sequence[Sequence[str]], columns: int) -> list[str]:
    """Return rows as lines; where they are too wide, kinds go first, then offers are cut.

    Offers are never cut so far that two of them look the same, even where lines get too long.
    """
    shown = list(rows)
    excess = _line_width(shown) - columns
    if excess > 0:
        shown = [(*row[:_KIND], *row[_KIND + 1 :]) for row in rows]
        excess = _line_width(shown) - columns
    widths = _widths(shown)
    if excess > 0:
        offers = [row[_OFFER] for row in shown]
        widths[_OFFER] = _telling_width(offers, widths[_OFFER] - excess)
    numbers = {len(widths) - 1, len(widths) - 4}
    return [
        _GAP.join(
            _padded(shortened(cell, width), width, right=index in numbers)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in shown
    ]


def _telling_width(names: Sequence[str], wanted: int) -> int:
    """Return the least width, not below the wanted one, at which different names look different."""
    full, distinct = max(text_width(name) for name in names), set(names)
    widths = range(max(wanted, _SHORTEST_OFFER), full)
    return next(
        (
            width
            for width in widths
            if len({shortened(x, width) for x in distinct}) == len(distinct)
        ),
        full,
    )


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(text_width(cell) for cell in column) for column in zip(*rows, strict=True)]


def _line_width(rows: Sequence[Sequence[str]]) -> int:
    widths = _widths(rows)
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _padded(text: str, width: int, *, right: bool) -> str:
    space = " " * (width - text_width(text))
    return space + text if right else text + space


def _wrapped(text: str, columns: int, first: str = "", rest: str = "") -> str:
    return fill(
        one_line(text),
        width=columns,
        initial_indent=first,
        subsequent_indent=rest,
        break_on_hyphens=False,
    )


def painted(text: str, code: str, *, colour: bool) -> str:
    """Return text marked with an ANSI code where colours are wanted."""
    return f"{code}{text}{_PLAIN}" if colour else text
