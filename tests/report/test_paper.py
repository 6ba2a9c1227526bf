"""Sheets on paper: wide ones in blocks of columns, nothing cut at the edge."""

import re
import zipfile
from itertools import pairwise
from pathlib import Path

import openpyxl
import pytest

from gpuladder.report.paper import LEAST_SCALE, page_breaks
from gpuladder.report.tables import all_tables
from gpuladder.report.workbook import write_workbook

# Inches between the margins of A4 on its side, and pixels an inch.
PAPER = (11.69 - 0.8) * 96


def blocks(widths: list[float]) -> list[list[float]]:
    edges = [1, *page_breaks(widths), len(widths)]
    return [widths[begin:end] for begin, end in pairwise(edges)]


@pytest.mark.parametrize("count", [3, 12, 20, 40, 90])
def test_every_block_can_be_read(count: int) -> None:
    """The table of what to sign would be printed in letters of four points."""
    widths = [30.0] + [9.0 + 7.0 * (column % 5) for column in range(count)]
    parts = blocks(widths)
    assert [width for part in parts for width in part] == widths[1:]
    for part in parts:
        assert sum(7 * width + 5 for width in [widths[0], *part]) * LEAST_SCALE <= PAPER + 1


def test_a_narrow_sheet_is_not_cut() -> None:
    """Four columns would lie on two sheets of paper."""
    assert page_breaks([30.0, 12.0, 12.0, 46.0]) == ()


def test_what_to_sign_is_printed_in_blocks_that_name_the_offer(result, tmp_path: Path) -> None:
    """The second sheet of paper would not say which order its costs are of."""
    path = tmp_path / "report.xlsx"
    write_workbook(result, all_tables(result), path)
    sheet = openpyxl.load_workbook(path)["What to sign"]
    assert sheet.col_breaks.brk
    assert sheet.print_title_cols == "$A:$A"
    assert sheet.print_title_rows == "$4:$4"
    assert sheet.page_setup.scale >= 100 * LEAST_SCALE
    assert not sheet.sheet_properties.pageSetUpPr.fitToPage
    # Title and note would begin again, and be cut, on every page.
    assert sheet["A1"].value is None
    assert sheet["A2"].value is None
    assert sheet["B1"].value == "What to sign"
    assert "End dates are exclusive" in sheet["B2"].value


def test_charts_end_inside_the_printed_columns(result, tmp_path: Path) -> None:
    """The right border of a chart would be cut off on paper."""
    path = tmp_path / "report.xlsx"
    write_workbook(result, all_tables(result), path)
    last = openpyxl.load_workbook(path)["Summary"].print_area.split(":")[1]
    columns = openpyxl.utils.cell.column_index_from_string(re.sub(r"[^A-Z]", "", last))
    with zipfile.ZipFile(path) as package:
        drawing = package.read("xl/drawings/drawing1.xml").decode()
    ends = re.findall(r"<xdr:to><xdr:col>(\d+)</xdr:col>", drawing)
    assert len(ends) == 3
    assert all(int(column) < columns for column in ends)


def test_numbers_stand_apart_from_the_text_beside_them(result, tmp_path: Path) -> None:
    """``24`` GPUs from ``2026-01-05`` would read as one figure."""
    path = tmp_path / "report.xlsx"
    write_workbook(result, all_tables(result), path)
    book = openpyxl.load_workbook(path)
    for name in ("Summary", "What to sign"):
        found = [cell for row in book[name].iter_rows() for cell in row if cell.value == 24]
        assert found
        assert all(
            (cell.alignment.horizontal, cell.alignment.indent) == ("right", 1) for cell in found
        )
