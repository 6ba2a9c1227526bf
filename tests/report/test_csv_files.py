"""Tables as CSV files."""

import csv
import io
from datetime import date, datetime, time
from pathlib import Path

import pytest

from gpuladder.report.csv_files import cell_text, csv_text, write_csv_files
from gpuladder.report.table import Column, Format, Table
from gpuladder.report.tables import all_tables


def table_of(*values: object) -> Table:
    return Table(
        name="things",
        title="Things",
        columns=(Column(key="value", title="Value"),),
        rows=tuple((value,) for value in values),  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("text", ["=1+1", "+cmd|x", "-run", "@home", "\tx", "+007", "+3.5", "-007"])
def test_text_that_a_spreadsheet_would_run_is_disarmed(text: str) -> None:
    """A campaign's name could run a command on the desk of whoever opens the CSV file."""
    assert cell_text(text) == f"'{text}"


@pytest.mark.parametrize("text", ["-12", "-1e5", "-0.5", "a=b", "x-y", "plain"])
def test_harmless_text_stays_as_it_is(text: str) -> None:
    """Names would come back changed although nothing was wrong with them."""
    assert cell_text(text) == text


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (date(2026, 2, 3), "2026-02-03"),
        (datetime.combine(date(2026, 2, 3), time(4, 5)), "2026-02-03 04:05"),
        (0.1, "0.1"),
        (1 / 3, "0.3333333333333333"),
        (-5.0, "-5.0"),
        (7, "7"),
        (True, "true"),
        (None, ""),
        (float("nan"), ""),
        (float("inf"), ""),
        ("a\x00b", "ab"),
    ],
)
def test_values_are_written_so_that_they_read_back(value: object, expected: str) -> None:
    """Dates in a local format or rounded numbers would change the analyst's own sums."""
    assert cell_text(value) == expected  # type: ignore[arg-type]


def test_names_with_separators_survive() -> None:
    """A comma, quote or line break in a name would move every later column."""
    names = ["a,b", 'say "x"', "two\nlines", "שלום", "🚀"]
    rows = list(csv.reader(io.StringIO(csv_text(table_of(*names)))))
    assert rows == [["value"], *([name] for name in names)]


def test_every_column_is_explained(result, tmp_path: Path) -> None:
    """A reader of the CSV files would have to guess units."""
    tables = all_tables(result)
    write_csv_files(tables, tmp_path)
    with (tmp_path / "columns.csv").open(encoding="utf-8", newline="") as stream:
        known = {(row["table"], row["column"]) for row in csv.DictReader(stream)}
    for table in tables:
        with (tmp_path / f"{table.name}.csv").open(encoding="utf-8", newline="") as stream:
            header = next(csv.reader(stream))
        assert {(table.name, key) for key in header} <= known


def test_a_table_refuses_rows_that_do_not_fit() -> None:
    """Values would stand under the wrong header without anybody noticing."""
    column = Column(key="a", title="A", format=Format.NUMBER)
    with pytest.raises(ValueError, match="does not fit"):
        Table(name="t", title="T", columns=(column,), rows=((1, 2),))
    with pytest.raises(ValueError, match="two columns"):
        Table(name="t", title="T", columns=(column, column), rows=())
