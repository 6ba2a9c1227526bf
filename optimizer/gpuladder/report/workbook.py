"""``report.xlsx``: one page to read, then one sheet per question; none without content."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import xlsxwriter
from xlsxwriter.exceptions import FileCreateError

from gpuladder.report.answer_sheets import STACKS, is_there, write_stack
from gpuladder.report.gantt import write_calendar
from gpuladder.report.labels import title
from gpuladder.report.paper import print_setup
from gpuladder.report.sheets import HEADER_ROW, Placed, write_sheet
from gpuladder.report.styles import Styles
from gpuladder.report.summary_sheet import Places, write_summary
from gpuladder.report.table import Table, clean_text
from gpuladder.report.tables_proof import audit_sentence
from gpuladder.report.words import headline

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from xlsxwriter.workbook import Workbook
    from xlsxwriter.worksheet import Worksheet

    from gpuladder.analysis.result import Result

CALENDAR = "Calendar"
AUDIT = "Audit"

_PROPERTY_LIMIT = 250
_ANSWER, _MONEY, _BESIDE = "#1F3A5F", "#21918C", "#7AD151"
_INPUT, _PROOF = "#9CA3AF", "#440154"


@dataclass(frozen=True, slots=True)
class SheetPlan:
    """Name of a sheet, of the table on it (None: drawn otherwise), and the colour of its tab."""

    name: str
    table: str | None
    colour: str


SHEETS = (
    SheetPlan("What to sign", "commitments", _ANSWER),
    SheetPlan("Held", "held", _ANSWER),
    SheetPlan("Ladder", "ladder", _ANSWER),
    SheetPlan("Ladder windows", "ladder_windows", _ANSWER),
    SheetPlan(CALENDAR, None, _ANSWER),
    SheetPlan("Campaigns", "calendar", _ANSWER),
    SheetPlan("Capacity and demand", "capacity_total", _ANSWER),
    SheetPlan("Capacity by pool", "capacity", _ANSWER),
    SheetPlan("Idle", "idle", _ANSWER),
    SheetPlan("Pools", "pools", _ANSWER),
    SheetPlan("Cost per run", "cost_per_run", _MONEY),
    SheetPlan("Costs", "costs", _MONEY),
    SheetPlan("Costs by quarter", "cost_by_quarter", _MONEY),
    SheetPlan("Unallocated", "unallocated", _MONEY),
    SheetPlan("Cash and accrual", "cash_accrual", _MONEY),
    SheetPlan("Lock-in", "lock_in", _MONEY),
    *(SheetPlan(name, None, _BESIDE) for name in STACKS),
    SheetPlan("Short campaigns", "infeasible_campaigns", _ANSWER),
    SheetPlan("Limits exceeded", "infeasible_limits", _ANSWER),
    SheetPlan("Conflicts", "infeasible_conflicts", _ANSWER),
    SheetPlan("Figures", "summary", _MONEY),
)
"""Sheets after the summary and before the inputs, in order."""

PROOF_SHEETS = (
    SheetPlan(AUDIT, "audit", _PROOF),
    SheetPlan("Warnings", "warnings", _PROOF),
    SheetPlan("Provenance", "provenance", _PROOF),
)
"""Sheets after the inputs, in order."""


def write_workbook(
    result: Result, tables: Iterable[Table], path: Path, *, created: datetime | None = None
) -> None:
    """Write ``report.xlsx``.

    Parameters
    ----------
    result : Result
        With or without a plan.
    tables : iterable of Table
        ``tables.all_tables(result)``; made once, and also written as CSV.
    path : Path
        File to write.
    created : datetime, optional
        Creation time in the document's properties, UTC; now when left out. The file depends on
        nothing else but the result.

    Raises
    ------
    OSError
        When the file cannot be written.
    """
    known = {table.name: table for table in tables}
    workbook = xlsxwriter.Workbook(
        str(path),
        {
            "in_memory": True,
            "strings_to_formulas": False,
            "strings_to_urls": False,
            "strings_to_numbers": False,
            "remove_timezone": True,
        },
    )
    styles = Styles(workbook)
    _set_properties(workbook, result, created or datetime.now(UTC))
    summary = workbook.add_worksheet("Summary")
    summary.set_tab_color(_ANSWER)
    inputs = [
        SheetPlan(f"In {title(name.removeprefix('inputs_')).lower()}", name, _INPUT)
        for name in known
        if name.startswith("inputs_")
    ]
    placed: dict[str, Placed] = {}
    for sheet_plan in (*SHEETS, *inputs, *PROOF_SHEETS):
        where = _write_planned(workbook, styles, result, known, sheet_plan)
        if where is not None:
            placed[where.table.name] = where
    places = Places(
        capacity=placed.get("capacity_total"),
        expiries=placed.get("ladder"),
        costs=placed.get("costs"),
    )
    write_summary(workbook, summary, styles, result, places)
    _close(workbook)


def _close(workbook: Workbook) -> None:
    try:
        workbook.close()
    except FileCreateError as error:
        cause = error.args[0] if error.args else error
        raise OSError(str(cause)) from error


def _write_planned(
    workbook: Workbook,
    styles: Styles,
    result: Result,
    known: dict[str, Table],
    sheet_plan: SheetPlan,
) -> Placed | None:
    """Add a sheet when it has content; return where its table lies."""
    name = result.scenario.name
    stack = STACKS.get(sheet_plan.name)
    if stack is not None:
        if is_there(stack, known):
            sheet = _add_sheet(workbook, sheet_plan)
            currency = result.scenario.currency
            write_stack(workbook, sheet, styles, stack, known, name, currency)
        return None
    if sheet_plan.table is None:
        if result.tables.campaigns or result.tables.commitments or result.tables.held:
            write_calendar(_add_sheet(workbook, sheet_plan), styles, result, name)
        return None
    table = known.get(sheet_plan.table)
    if table is not None and table.rows:
        return write_sheet(_add_sheet(workbook, sheet_plan), styles, table, name)
    if sheet_plan.name == AUDIT:
        _write_clean_audit(_add_sheet(workbook, sheet_plan), styles, result)
    return None


def _add_sheet(workbook: Workbook, sheet_plan: SheetPlan) -> Worksheet:
    sheet = workbook.add_worksheet(sheet_plan.name)
    sheet.set_tab_color(sheet_plan.colour)
    return sheet


def _write_clean_audit(sheet: Worksheet, styles: Styles, result: Result) -> None:
    sheet.set_column(0, 0, 100)
    sheet.set_row(0, 24)
    sheet.write_string(0, 0, "Audit", styles.title)
    sheet.write_string(HEADER_ROW, 0, audit_sentence(result), styles.paragraph)
    print_setup(sheet, result.scenario.name, HEADER_ROW, 0)


def _set_properties(workbook: Workbook, result: Result, created: datetime) -> None:
    plan = result.plan
    workbook.set_properties(
        {
            "title": f"GPU commitments: {clean_text(result.scenario.name)}"[:_PROPERTY_LIMIT],
            "subject": headline(result)[:_PROPERTY_LIMIT],
            "keywords": "GPU, commitments, capacity",
            "comments": f"Scenario sha256 {plan.scenario.sha256}; status {plan.status.value}",
            "created": created,
        }
    )
