"""The workbook, read back."""

import dataclasses
import io
import zipfile
from datetime import UTC, date, datetime
from pathlib import Path

import openpyxl
import pandas as pd
import pytest

from gpuladder.report import sheets
from gpuladder.report.table import column_total
from gpuladder.report.tables import all_tables
from gpuladder.report.workbook import write_workbook

HOSTILE = (
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "http://example.org/x",
    "É🚀",
    "שלום עולם",
    "Run",
    "run",
    "x" * 300,
    "two\nlines",
    "{=1}",
    "007",
)
CREATED = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)


def write(result, folder: Path) -> Path:
    path = folder / "report.xlsx"
    write_workbook(result, all_tables(result), path, created=CREATED)
    return path


def column(sheet, header: str) -> list:
    titles = [cell.value for cell in sheet[4]]
    return [row[titles.index(header)] for row in sheet.iter_rows(min_row=5, values_only=True)]


def test_opens_on_the_summary_with_three_charts(result, tmp_path: Path) -> None:
    """A board would open the file on page seventeen, or without its charts."""
    book = openpyxl.load_workbook(write(result, tmp_path))
    assert book.sheetnames[0] == "Summary"
    assert book.active.title == "Summary"
    with zipfile.ZipFile(tmp_path / "report.xlsx") as package:
        charts = [name for name in package.namelist() if name.startswith("xl/charts/chart")]
    assert len(charts) == 3


def test_sheets_stand_in_the_order_of_the_questions(result, tmp_path: Path) -> None:
    """Readers would look for the answer behind the inputs."""
    names = openpyxl.load_workbook(write(result, tmp_path), read_only=True).sheetnames
    wanted = [
        "Summary",
        "What to sign",
        "Ladder",
        "Calendar",
        "Capacity and demand",
        "Idle",
        "Cost per run",
        "Costs",
        "Cash and accrual",
        "In settings",
        "In offers",
        "Audit",
        "Provenance",
    ]
    assert [name for name in names if name in wanted] == wanted


def test_totals_are_live_and_agree_with_the_cells(result, tmp_path: Path) -> None:
    """A total that is text, or differs from its cells, cannot be trusted in a review."""
    path = write(result, tmp_path)
    formulas = openpyxl.load_workbook(path)
    values = openpyxl.load_workbook(path, data_only=True)
    checked = 0
    for sheet in formulas.worksheets:
        for table in sheet.tables.values():
            if not table.totalsRowCount:
                continue
            first, last = (sheet[corner] for corner in table.ref.split(":"))
            for cell in sheet[last.row]:
                if not (isinstance(cell.value, str) and cell.value.startswith("=")):
                    continue
                letter = cell.column_letter
                span = f"{letter}{first.row + 1}:{letter}{last.row - 1}"
                assert cell.value == f"=SUBTOTAL(109,{span})"
                parts = [row[0].value or 0 for row in values[sheet.title][span]]
                assert values[sheet.title][cell.coordinate].value == pytest.approx(sum(parts))
                checked += 1
    assert checked > 20


def test_totals_carry_the_stored_values(result, tmp_path: Path) -> None:
    """The workbook's total cost would not be the plan's."""
    costs = next(table for table in all_tables(result) if table.name == "costs")
    sheet = openpyxl.load_workbook(write(result, tmp_path), data_only=True)["Costs"]
    amounts = column(sheet, "Amount (USD)")
    assert amounts[-1] == pytest.approx(column_total(costs, 1), rel=1e-12)
    assert amounts[-1] == pytest.approx(result.plan.objective, rel=1e-9)


def test_hostile_names_stay_text(make, tmp_path: Path) -> None:
    """A campaign's name could become a formula, a link or a number on someone's desk."""
    path = write(make('=HYPERLINK("http://x")', HOSTILE), tmp_path)
    book = openpyxl.load_workbook(path)
    names = column(book["Campaigns"], "Campaign")[:-1]
    assert names == [*HOSTILE]
    for sheet in book.worksheets:
        for row in sheet.iter_rows():
            for cell in row:
                assert cell.hyperlink is None
                if cell.data_type == "f":
                    assert cell.value.startswith("=SUBTOTAL(109,")
    assert book["Summary"]["A1"].value == 'GPU commitments: =HYPERLINK("http://x")'


def test_characters_that_no_file_can_hold_are_left_out(make, tmp_path: Path) -> None:
    """One control character in a name would make Excel call the file damaged."""
    path = write(make("n", ("a\x00b\x1fc\ufffe", "ok")), tmp_path)
    assert column(openpyxl.load_workbook(path)["Campaigns"], "Campaign")[:2] == ["abc", "ok"]


def test_dates_are_dates(result, tmp_path: Path) -> None:
    """Dates as text cannot be sorted, filtered or subtracted."""
    book = openpyxl.load_workbook(write(result, tmp_path))
    starts = column(book["What to sign"], "Start")[:-1]
    assert [type(start) for start in starts] == [datetime, datetime]
    assert [start.date() for start in starts] == [date(2026, 1, 5), date(2026, 1, 19)]
    assert book["What to sign"].cell(5, 8).number_format == "yyyy-mm-dd"
    assert column(book["In demand"], "At")[1].date() == date(2026, 1, 6)


def test_numbers_that_are_none_are_empty_cells(make, tmp_path: Path) -> None:
    """A missing price would show as an error, or as a zero that looks like a bargain."""
    result = make()
    rows = dict(zip(("nan", "none"), result.tables.pools * 2, strict=True))
    pools = (
        dataclasses.replace(rows["nan"], pool="nan", on_demand_cost=float("nan")),
        dataclasses.replace(rows["none"], pool="none", on_demand_cost=None),
    )
    changed = dataclasses.replace(result, tables=dataclasses.replace(result.tables, pools=pools))
    sheet = openpyxl.load_workbook(write(changed, tmp_path), data_only=True)["Pools"]
    assert column(sheet, "Same use on demand (USD)") == [None, None, 0]


@pytest.mark.parametrize(
    "name", ["What to sign", "Capacity and demand", "Cash and accrual", "In offers"]
)
def test_reads_back_with_pandas(result, tmp_path: Path, name: str) -> None:
    """An analyst could not go on working with the tables."""
    frame = pd.read_excel(write(result, tmp_path), sheet_name=name, header=3)
    assert len(frame) > 1
    assert not [title for title in frame.columns if str(title).startswith("Unnamed")]


def test_tables_filter_and_headers_stay_in_view(result, tmp_path: Path) -> None:
    """A long table would be unusable on screen and unreadable on paper."""
    book = openpyxl.load_workbook(write(result, tmp_path))
    sheet = book["Capacity and demand"]
    assert sheet.freeze_panes == "B5"
    assert next(iter(sheet.tables.values())).autoFilter is not None
    assert sheet.print_title_rows == "$4:$4"
    assert sheet.page_setup.orientation == "landscape"
    assert sheet.page_setup.fitToHeight == 0
    assert sheet.print_area


def test_headers_name_currency_and_unit(make, tmp_path: Path) -> None:
    """A reader could take euros for dollars, or GPU-hours for GPUs."""
    result = make()
    scenario = result.scenario.model_copy(update={"currency": "EUR"})
    sheet = openpyxl.load_workbook(
        write(dataclasses.replace(result, scenario=scenario), tmp_path), read_only=True
    )["What to sign"]
    titles = [cell.value for cell in next(sheet.iter_rows(min_row=4, max_row=4))]
    assert "Cost in horizon (EUR)" in titles
    assert "Price (EUR/GPU-hour)" in titles


def test_calendar_draws_campaigns_and_terms(result, tmp_path: Path) -> None:
    """The calendar would be blank, or show a term where there is none."""
    sheet = openpyxl.load_workbook(write(result, tmp_path))["Calendar"]
    assert sheet["F4"].value.date() == date(2026, 1, 5)
    rows = {row[0].value: row for row in sheet.iter_rows(min_row=5)}
    # The second order runs from the third week to past the end of the horizon.
    order = rows["east-res@1"]
    assert [cell.value for cell in order[5:9]] == [None, None, 24, 24]
    assert order[5 + 19].value == "►"
    assert order[7].fill.fgColor.rgb != order[5].fill.fgColor.rgb
    # 60 days of the held commitment are left: eight weeks and four days of the ninth.
    held = rows["held-2025"]
    assert held[5].value == "◄"
    assert held[5 + 8].value == pytest.approx(16 * 4 / 7)
    assert held[5 + 9].value is None


def test_a_long_grid_is_grouped(make, tmp_path: Path) -> None:
    """A year by day would make a calendar of 365 columns that nobody can print."""
    sheet = openpyxl.load_workbook(write(make(weeks=104), tmp_path))["Calendar"]
    assert 50 <= sheet.max_column - 5 <= 60


@pytest.mark.parametrize(
    "arguments",
    [
        {"campaigns": (), "orders": 0, "with_demand": False},
        {"campaigns": (), "orders": 1},
        {"campaigns": ("only",), "orders": 0},
    ],
)
def test_sheets_without_content_are_absent(make, tmp_path: Path, arguments) -> None:
    """Empty sheets would look as if something had been lost, or the file would not be written."""
    names = openpyxl.load_workbook(write(make("corner", **arguments), tmp_path)).sheetnames
    assert ("What to sign" in names) == (arguments["orders"] > 0)
    assert ("Cost per run" in names) == bool(arguments["campaigns"])
    assert ("In demand" in names) == arguments.get("with_demand", True)
    assert "Provenance" in names


def test_no_plan_gives_a_short_report(infeasible, tmp_path: Path) -> None:
    """An infeasible run would leave no report, or one full of empty sheets."""
    book = openpyxl.load_workbook(write(infeasible, tmp_path))
    assert "Short campaigns" in book.sheetnames
    assert "Costs" not in book.sheetnames
    texts = [cell.value for row in book["Summary"].iter_rows() for cell in row if cell.value]
    assert any("No plan can satisfy" in str(text) for text in texts)


def test_a_failed_audit_stands_on_the_first_page(make, failed_audit, tmp_path: Path) -> None:
    """Somebody would sign on a plan that does not stand."""
    book = openpyxl.load_workbook(write(make(audit=failed_audit), tmp_path))
    texts = [cell.value for row in book["Summary"].iter_rows() for cell in row if cell.value]
    assert any("do not sign" in str(text) for text in texts)
    assert column(book["Audit"], "Finding") == ["48 GPUs expire where 32 may"]


def test_the_same_result_gives_the_same_file(result, tmp_path: Path) -> None:
    """Two runs of one scenario could not be compared byte by byte."""
    first, second = tmp_path / "a", tmp_path / "b"
    first.mkdir()
    second.mkdir()
    assert write(result, first).read_bytes() == write(result, second).read_bytes()


def test_properties_say_what_the_file_is(result, tmp_path: Path) -> None:
    """A file found a year later could not be traced to its scenario."""
    properties = openpyxl.load_workbook(write(result, tmp_path)).properties
    assert properties.title == "GPU commitments: small"
    assert result.plan.scenario.sha256 in properties.description
    assert properties.created.date() == date(2026, 1, 5)


def test_the_package_holds_no_link_to_anywhere(make, tmp_path: Path) -> None:
    """Opening the report would call out to an address in a campaign's name."""
    path = write(make("n", ("http://example.org", "mailto:x@example.org")), tmp_path)
    with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as package:
        for name in package.namelist():
            if name.endswith(".rels"):
                assert b'TargetMode="External"' not in package.read(name)


def test_a_table_too_long_for_a_sheet_says_so(result, tmp_path: Path, monkeypatch) -> None:
    """Rows would be missing from the workbook without anybody noticing."""
    monkeypatch.setattr(sheets, "ROW_LIMIT", 50)
    sheet = openpyxl.load_workbook(write(result, tmp_path))["In demand"]
    assert (
        "The first 50 of 140 rows; all of them are in tables/inputs_demand.csv."
        in sheet["A2"].value
    )
    assert len(column(sheet, "At")) == 50


CAPACITY = (
    "held_gpus",
    "burst_window_gpus",
    "reserved_gpus",
    "dedicated_gpus",
    "owned_gpus",
    "flex_gpus",
    "drawn_gpus",
    "on_demand_gpus",
    "spot_gpus",
)


@pytest.mark.parametrize("lines", [(), ("on_demand",)], ids=["no cost line", "costs of nothing"])
def test_a_plan_of_nothing_is_written_without_charts(make, tmp_path: Path, lines) -> None:
    """A scenario without work yet would end in a fault instead of a report."""
    result = make(campaigns=(), orders=0, with_demand=False)
    zero = dict.fromkeys(CAPACITY, 0.0)
    tables = dataclasses.replace(
        result.tables,
        held=(),
        expiries=(),
        capacity=tuple(dataclasses.replace(row, **zero) for row in result.tables.capacity),
        costs=tuple(
            dataclasses.replace(row, amount=0.0) for row in result.tables.costs if row.line in lines
        ),
    )
    path = write(dataclasses.replace(result, tables=tables), tmp_path)
    assert "Summary" in openpyxl.load_workbook(path).sheetnames
    with zipfile.ZipFile(path) as package:
        assert not [name for name in package.namelist() if name.startswith("xl/charts/chart")]


def test_a_figure_that_is_not_known_is_a_dash(result, tmp_path: Path) -> None:
    """An empty cell, or the program's own word for it, would look like a fault of the report."""
    book = openpyxl.load_workbook(write(result, tmp_path))
    cells = dict(
        zip(column(book["Figures"], "Figure"), column(book["Figures"], "Value"), strict=True)
    )
    assert result.metrics["coverage"] is None
    assert cells["Coverage"] == "–"
    said = [str(text) for text in column(book["Figures"], "Definition")]
    assert not [text for text in said if "None" in text]


def test_all_pools_of_a_campaign_can_be_read_in_the_calendar(result, tmp_path: Path) -> None:
    """The pools behind the second would be cut off on paper."""
    pools = ["first-long-pool", "second-long-pool", "third-long-pool", "fourth-long-pool"]
    rows = tuple(dataclasses.replace(row, pool="+".join(pools)) for row in result.tables.campaigns)
    tables = dataclasses.replace(result.tables, campaigns=rows)
    path = write(dataclasses.replace(result, tables=tables), tmp_path)
    sheet = openpyxl.load_workbook(path)["Calendar"]
    place = next(cell for cell in sheet["B"] if cell.value == " + ".join(pools))
    assert place.alignment.wrap_text
    # Two pools of 15 characters and the sign between them fit on no line of the column.
    assert sheet.row_dimensions[place.row].height >= 3 * 13
