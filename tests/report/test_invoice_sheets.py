"""The invoice and the accounts of owned hardware in the deliverable."""

from __future__ import annotations

import csv
import itertools
from pathlib import Path

import openpyxl
import pandas as pd
import pytest

import gpuladder

ROOT = Path(__file__).parents[2]

SCENARIO = """
name: bills
horizon: {start: 2026-01-05, end: 2026-07-06, step: week}
discount_rate: 0.08
hardware: [{id: h100, memory_gb: 80, gpus_per_node: 8, peak_tflops: 989}]
pools:
  - {id: own, provider: house, region: here, hardware: h100}
  - {id: cloud, provider: aws, region: there, hardware: h100}
offers:
  - {id: buy, pool: own, kind: owned, capex_per_gpu: 8000, opex_per_gpu_hour: 0.2, life: 2 years,
     residual_per_year: 0.6, lot_gpus: 8, max_lots: 1, available_until: 2026-01-05}
  - {id: od, pool: cloud, kind: on_demand, price: 4.0, max_gpus: 64}
  - {id: cut, pool: cloud, kind: spot, price: 1.5, max_gpus: 64}
preemption_classes: [{id: steady, spot_share_max: 0}]
campaigns:
  - {id: '=first', shape: elastic, preemption_class: steady, gpu_hours: 20000, max_gpus: 16,
     earliest: 2026-01-05, deadline: 2026-07-06, staff_cost: 1000}
"""


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    """Return the result of a scenario that buys hardware, and its run folder."""
    folder = tmp_path_factory.mktemp("bills")
    (folder / "bills.yaml").write_text(SCENARIO, encoding="utf-8")
    result = gpuladder.solve(folder / "bills.yaml")
    return result, gpuladder.write_run(result, folder / "runs")


def rows_of(home: Path, name: str) -> list[dict[str, str]]:
    with (home / "tables" / f"{name}.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_the_compute_lines_of_the_sheet_are_the_plan_s_loaded_cost(solved):
    """The board would read another cost of a campaign than the plan's."""
    result, home = solved
    sheet = pd.read_excel(home / "report.xlsx", sheet_name="Invoice", header=None)
    top = sheet.index[sheet[1] == "Line"][0]
    lines = sheet.iloc[top + 1 : top + 13].set_axis(sheet.iloc[top], axis=1).set_index("Line")
    compute = lines.loc[
        ["Ideal hours", "Utilisation multiplier", "Failed runs", "Checkpoint and restart"],
        "Plan (USD)",
    ]
    (row,) = result.tables.campaigns
    assert compute.sum() == pytest.approx(row.loaded_cost, rel=1e-9)
    # Staff comes beside compute, and nothing else does here.
    assert lines.loc["Total", "Plan (USD)"] == pytest.approx(row.loaded_cost + 1000, rel=1e-9)


def test_the_on_demand_bill_by_hand(solved):
    """20,000 hours at 4.00 and 1,000 of staff are 81,000, due to nobody before the start."""
    _, home = solved
    (bill,) = (r for r in rows_of(home, "invoice_overview"))
    assert float(bill["hyperscaler_on_demand"]) == pytest.approx(81_000)
    (total,) = (
        r for r in rows_of(home, "invoice_totals") if r["market"] == "Hyperscaler on demand"
    )
    assert float(total["escrow_high"]) == 0.0


def test_barred_offers_are_said(solved):
    """The reader would ask why the cheapest offer was not priced."""
    _, home = solved
    (barred,) = (r for r in rows_of(home, "invoice_barred") if r["market"] == "Spot")
    assert "cut: its preemption class keeps it off spot" in barred["reason"]


def test_book_values_by_quarter_by_hand(solved):
    """An auditor could not follow the write-off: 64,000 over two years, straight line by days.

    Bought on 5 January 2026: the first quarter is 86 of 730 days.
    """
    _, home = solved
    quarters = rows_of(home, "owned_quarters")
    assert float(quarters[0]["opening_book"]) == pytest.approx(64_000)
    assert float(quarters[0]["depreciation"]) == pytest.approx(64_000 * 86 / 730)
    for before, after in itertools.pairwise(quarters):
        assert float(after["opening_book"]) == pytest.approx(float(before["closing_book"]))
    written_off = sum(float(row["depreciation"]) for row in quarters)
    assert float(quarters[-1]["closing_book"]) == pytest.approx(64_000 - written_off, abs=1e-6)


def test_the_sheets_are_there_and_names_stay_text(solved):
    """A campaign called "=first" would be run as a formula by the reader's spreadsheet."""
    _, home = solved
    book = openpyxl.load_workbook(home / "report.xlsx")
    assert {"Invoice", "Owned hardware"} <= set(book.sheetnames)
    cells = [cell for row in book["Invoice"].iter_rows() for cell in row]
    (first, *_) = (cell for cell in cells if cell.value == "=first")
    assert first.data_type == "s"


def test_a_saved_run_renders_the_same_invoice(solved, tmp_path):
    """The invoice handed over last month could not be shown again."""
    _, home = solved
    again = gpuladder.write_run(gpuladder.read_run(home), tmp_path / "again")
    for name in ("invoice", "invoice_totals", "invoice_lines", "owned_orders", "owned_quarters"):
        assert rows_of(again, name) == rows_of(home, name)
