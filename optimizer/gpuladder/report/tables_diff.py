"""What differs between two runs, as the aligned text of a terminal: one section a question."""

from __future__ import annotations

import json
from textwrap import fill
from typing import TYPE_CHECKING

from gpuladder.report.amounts import amount, percent, quantity
from gpuladder.report.labels import kind_label, line_label, metric_label
from gpuladder.report.table import aligned, one_line, shortened
from gpuladder.report.text import BOLD, GREEN, RED, YELLOW, painted
from gpuladder.review.diff_result import Kind, Reading

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gpuladder.review.diff_result import (
        CampaignFacts,
        Diff,
        Figure,
        MetricChange,
        OrderFacts,
        Plain,
        PriceChange,
        RunFacts,
    )

MOST_ROWS = 40
"""Rows shown of one section; the JSON document has all."""
MOST_PRICES = 12
_NONE = "–"
_NAME, _VALUE = 44, 34
_MARKS = {Kind.ADDED: "+", Kind.REMOVED: "-", Kind.CHANGED: "~"}
_COLOURS = {"+": GREEN, "-": RED, "~": YELLOW}
_READINGS = {
    Reading.SAME: "The plans cost the same.",
    Reading.HIGHER: "Told apart: the cheapest plan that the second scenario can have costs more "
    "than the first run's plan.",
    Reading.LOWER: "Told apart: the cheapest plan that the first scenario can have costs more than "
    "the second run's plan.",
    Reading.NOT_TOLD_APART: "Not told apart: the difference lies within the proven gaps, so the "
    "search could have made it, and with it any difference of the plans below.",
    Reading.NOT_COMPARABLE: "Not compared: see below.",
    Reading.NO_PLAN: "Without a plan in both runs there is no cost to compare.",
}
_DUALS = (
    "Undiscounted, of the plan at hand: the fixed-plan dual holds with lots and runs as they are, "
    "and a marginal is the program solved again; neither is the price of a whole lot."
)


def diff_text(found: Diff, *, width: int = 80, colour: bool = False) -> str:
    """Return the differences as text.

    Parameters
    ----------
    found : Diff
    width : int
        Columns of the terminal, for sentences; tables are as wide as they need to be.
    colour : bool
        Whether to mark what was added, removed and changed with ANSI codes.
    """
    writer = _Writer(max(width, 40), colour)
    blocks = [
        _head(found, writer),
        writer.section("Inputs", ("", "Key", "Before", "After"), _inputs(found)),
        writer.section(
            "Demand", ("", "Pool", "Rows that differ", "Before", "After"), _demand(found)
        ),
        writer.section(
            f"Orders ({found.orders_unchanged} as they were)",
            ("", "Offer", "Kind", "GPUs", "Start", "End", "Cost in horizon"),
            _orders(found),
        ),
        writer.section(
            f"Campaigns ({found.campaigns_unchanged} as they were)",
            ("", "Campaign", "Outcome", "Start", "End", "GPUs", "Where"),
            _campaigns(found),
        ),
        writer.section("In the way of a plan", _FIGURES, _shortfalls(found), numbers=True),
        writer.section("Cost by line", _FIGURES, _costs(found), numbers=True),
        writer.section("Figures that differ", _FIGURES, _metrics(found), numbers=True),
        writer.section(
            "Shadow prices",
            _PRICES,
            _prices(found),
            note=_DUALS,
            numbers=True,
            most=MOST_PRICES,
        ),
        _gates(found, writer),
    ]
    said = [block for block in blocks if block]
    if len(said) == 1:
        said.append("Nothing differs.")
    return "\n\n".join(said) + "\n"


_FIGURES = ("", "Figure", "Before", "After", "Change", "")
_PRICES = ("", "Limit", "Unit", "Dual before", "After", "Marginal before", "After")

_Row = tuple[str, ...]


class _Writer:
    """Writes sections: a title, a header, marked rows."""

    def __init__(self, width: int, colour: bool) -> None:  # noqa: FBT001
        self.width = width
        self.colour = colour

    def section(
        self,
        title: str,
        header: _Row,
        rows: Sequence[_Row],
        *,
        note: str = "",
        numbers: bool = False,
        most: int = MOST_ROWS,
    ) -> str:
        """Return a section, or nothing where there are no rows; numbers stand on the right."""
        if not rows:
            return ""
        shown = rows[:most]
        right = set(range(2, len(header))) if numbers else set()
        head, *body = aligned([header, *shown], right=right)
        lines = [painted(title, BOLD, colour=self.colour), f"  {head}".rstrip()]
        for row, line in zip(shown, body, strict=True):
            code = _COLOURS.get(row[0], "")
            lines.append(painted(f"  {line}", code, colour=self.colour and bool(code)))
        if len(rows) > most:
            lines.append(f"  … and {len(rows) - most} more (--json has all)")
        return "\n".join([*lines, *([self.wrapped(note, "  ")] if note else [])])

    def wrapped(self, text: str, indent: str = "", rest: str | None = None) -> str:
        """Return a sentence in lines of the terminal's width."""
        return fill(
            one_line(text),
            width=self.width,
            initial_indent=indent,
            subsequent_indent=indent if rest is None else rest,
            break_on_hyphens=False,
        )


def _head(found: Diff, writer: _Writer) -> str:
    """Return which runs are compared, what they cost, and what to know before comparing."""
    lines = [
        writer.wrapped(_run("Before", found.before)),
        writer.wrapped(_run("After", found.after)),
    ]
    if found.is_same_scenario:
        lines.append("Both answer the same scenario.")
    cost = found.objective
    said = (
        f"Net present cost {_money(cost.before, found.before)} → {_money(cost.after, found.after)}"
    )
    if cost.change is not None:
        said += f", {_signed(cost.change)} {found.after.currency}{_share(cost)}"
    code = {Reading.HIGHER: RED, Reading.LOWER: GREEN}.get(found.reading, BOLD)
    lines.append(painted(writer.wrapped(said), code, colour=writer.colour))
    lines.append(writer.wrapped(_READINGS[found.reading]))
    lines += [writer.wrapped(f"- {remark}", "", "  ") for remark in found.remarks]
    return "\n".join(lines)


def _run(name: str, run: RunFacts) -> str:
    gap = f", gap {percent(run.gap)}" if run.has_plan and run.gap is not None else ""
    ended = "" if run.status in ("optimal", "infeasible") else f" ({run.termination})"
    status = f"{run.status}{ended}".replace("_", " ")
    span = f"{run.horizon_start} to {run.horizon_end}"
    return f"{name}: {run.scenario}: {status}{gap}, {span}"


def _money(value: float | None, run: RunFacts) -> str:
    return _NONE if value is None else amount(value, run.currency)


def _signed(value: float) -> str:
    digits = 0 if abs(value) >= 1000 else 2
    return f"{value:+,.{digits}f}" if value else "0"


def _share(figure: Figure) -> str:
    if figure.change_share is None or figure.change == 0.0:
        return ""
    return f" ({figure.change_share:+.1%})"


def _value(value: Plain) -> str:
    if value is None:
        return _NONE
    if isinstance(value, str):
        return shortened(one_line(value), _VALUE)
    return shortened(one_line(json.dumps(value, ensure_ascii=False)), _VALUE)


def _name(text: str) -> str:
    return shortened(one_line(text), _NAME)


def _inputs(found: Diff) -> list[_Row]:
    return [
        (_MARKS[row.kind], _name(row.path), _value(row.before), _value(row.after))
        for row in found.inputs
    ]


def _demand(found: Diff) -> list[_Row]:
    rows = []
    for row in found.demand:
        words = [
            _NONE
            if facts is None
            else f"{facts.rows:,} rows, mean {quantity(facts.mean_gpus)}, peak "
            f"{quantity(facts.peak_gpus)} GPUs, {facts.first} to {facts.last}"
            for facts in (row.before, row.after)
        ]
        rows.append((_MARKS[row.kind], _name(row.pool), f"{row.rows_changed:,}", *words))
    return rows


def _orders(found: Diff) -> list[_Row]:
    def cells(facts: OrderFacts | None, run: RunFacts) -> list[str | None]:
        if facts is None:
            return [None] * 4
        cost = amount(facts.cost, run.currency)
        return [f"{facts.gpus:,}", str(facts.start), str(facts.end), cost]

    return [
        (
            _MARKS[row.kind],
            _name(row.offer),
            kind_label(row.order_kind),
            *map(_both, cells(row.before, found.before), cells(row.after, found.after)),
        )
        for row in found.orders
    ]


def _both(before: str | None, after: str | None) -> str:
    """Return one value where both are the same or one is missing, else both with an arrow."""
    if before is None or after is None or before == after:
        return after or before or _NONE
    return f"{before} → {after}"


def _campaigns(found: Diff) -> list[_Row]:
    """Return campaigns that moved or ended otherwise, then how many only cost otherwise."""

    def cells(facts: CampaignFacts | None) -> list[str | None]:
        if facts is None:
            return [None] * 5
        place = "+".join(name for name in (facts.pool, facts.spot_offer) if name)
        size = quantity(facts.gpus) if facts.start is not None else _NONE
        dates = [_NONE if day is None else str(day) for day in (facts.start, facts.end)]
        return [facts.outcome, *dates, size, _name(place) or _NONE]

    moved = [row for row in found.campaigns if row.differs != ("loaded_cost",)]
    rows: list[_Row] = [
        (_MARKS[row.kind], _name(row.id), *map(_both, cells(row.before), cells(row.after)))
        for row in moved
    ]
    if others := len(found.campaigns) - len(moved):
        rows.append(("~", f"{others} at another loaded cost alone", *[""] * 5))
    return rows


def _shortfalls(found: Diff) -> list[_Row]:
    rows = []
    for row in found.shortfalls:
        what = "GPU-hours short" if row.what == "campaign" else f"{row.what}, too much by"
        rows.append(_figure_row(_name(f"{row.key}: {what}"), row.amount))
    return rows


def _costs(found: Diff) -> list[_Row]:
    if not any(row.amount.differs for row in found.costs):
        return []
    return [_figure_row(line_label(row.line), row.amount) for row in found.costs]


def _metrics(found: Diff) -> list[_Row]:
    return [_metric(row, found) for row in found.metrics]


def _metric(row: MetricChange, found: Diff) -> _Row:
    if row.value is None:
        return ("", metric_label(row.metric), _value(row.before), _value(row.after), "", "")
    unit = row.unit.replace("currency", found.after.currency)
    name = metric_label(row.metric)
    if row.unit == "share":
        cells = [_NONE if v is None else f"{v:.2%}" for v in (row.value.before, row.value.after)]
        change = _NONE if row.value.change is None else f"{row.value.change * 100:+.2f} points"
        return ("", name, *cells, change, "")
    is_money = row.unit == "currency" and found.before.currency != found.after.currency
    return _figure_row(f"{name} ({'money' if is_money else unit})", row.value)


def _figure_row(name: str, figure: Figure) -> _Row:
    cells = [_NONE if v is None else _number(v) for v in (figure.before, figure.after)]
    change = _NONE if figure.change is None else _signed(figure.change)
    return ("", name, *cells, change, _share(figure).strip(" ()"))


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:,.2f}"


def _prices(found: Diff) -> list[_Row]:
    """Return the shadow prices that changed, those that changed most on top."""
    rows = []
    for row in sorted(found.shadow_prices, key=_moved, reverse=True):
        period = "" if row.period is None else f" {row.period}"
        cells = [
            _NONE if value is None else _number(value)
            for figure in (row.fixed_plan_dual, row.marginal_up)
            for value in (figure.before, figure.after)
        ]
        name = _name(f"{row.limit} {row.key}{period}")
        rows.append((_MARKS[row.kind], name, _both(row.unit_before, row.unit_after), *cells))
    return rows


def _moved(row: PriceChange) -> float:
    """Return by how much a price moved; one that only one run has moved by all of it."""
    moves = [
        abs((figure.after or 0.0) - (figure.before or 0.0))
        for figure in (row.fixed_plan_dual, row.marginal_up, row.marginal_down)
    ]
    return max(moves)


def _gates(found: Diff, writer: _Writer) -> str:
    def lines() -> Iterator[str]:
        for gate in found.gates:
            mark = "tripped" if gate.is_tripped else "passed"
            line = writer.wrapped(f"{mark}: {gate.why}", "  ", "    ")
            yield painted(line, RED if gate.is_tripped else GREEN, colour=writer.colour)

    if not found.gates:
        return ""
    return "\n".join([painted("Limits (--fail-over)", BOLD, colour=writer.colour), *lines()])
