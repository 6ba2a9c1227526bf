"""The answers beside the plan: tables, sheets, charts and sentences."""

from __future__ import annotations

import dataclasses
import io
import re
import zipfile
from datetime import UTC, date, datetime
from pathlib import Path

import openpyxl
import pytest

from gpuladder.analysis.answers import (
    AlternativeRow,
    Answers,
    BaselineRow,
    FlipRow,
    QuantityRangeRow,
    ShadowPriceRow,
    StructureRow,
    TornadoRow,
    Unanswered,
    WalkAwayRow,
    WaterfallRow,
)
from gpuladder.report.answer_charts import waterfall_bars
from gpuladder.report.answer_sheets import STACKS
from gpuladder.report.csv_files import csv_text
from gpuladder.report.tables import all_tables
from gpuladder.report.tables_answers import sensitivity, walk_away, waterfall
from gpuladder.report.text import summary_text
from gpuladder.report.words import sentences
from gpuladder.report.workbook import write_workbook

ANSWER_STACKS = {
    name: each for name, each in STACKS.items() if name not in ("Invoice", "Owned hardware")
}


def walk_away_row(offer: str, money: float, **changes) -> WalkAwayRow:
    known = WalkAwayRow(
        offer=offer,
        pool="east",
        kind="reserved",
        is_in_plan=True,
        price_today=2.0,
        gpus=16.0,
        gpu_hours=1000.0,
        money_at_stake=money,
        same_quantity_price=2.1,
        walk_away_price=2.5,
        tolerance=0.002,
        room_share=0.25,
        entry_gpus=None,
        replaced_by="east-od (1,000 GPU-hours)",
        note="",
    )
    return dataclasses.replace(known, **changes)


def baseline(key: str, cost: float | None, saving: float | None) -> BaselineRow:
    return BaselineRow(
        baseline=key,
        title=key.capitalize(),
        how="nothing is committed",
        cost=cost,
        bound=cost,
        saving=saving,
        saving_share=None if saving is None or cost is None else saving / cost,
        note="" if cost else "not solved in the time given",
    )


def flip(axis: str, value: float, burst: float, standing: float) -> FlipRow:
    return FlipRow(
        pool="east",
        axis=axis,
        value=value,
        runs_per_quarter=value,
        burst_cost=burst,
        standing_cost=standing,
        cheaper="burst" if burst < standing else "standing",
    )


ANSWERS = Answers(
    shadow_prices=(
        ShadowPriceRow(
            limit="stable_supply",
            key="east",
            period=date(2026, 1, 5),
            unit="GPU",
            reading="One more GPU of east in the week of 5 January 2026 is worth 336 USD.",
            fixed_plan_dual=504.0,
            dual_low=0.0,
            dual_high=504.0,
            valid_from=8.0,
            valid_to=None,
            marginal_up=336.0,
            marginal_down=504.0,
            marginal_error=0.0,
            change="one more: --set demand…",
            note="degenerate: one of several optimal duals",
        ),
    ),
    walk_away=(
        walk_away_row("small", 10.0),
        walk_away_row("=large", 900.0, room_share=0.05, walk_away_price=2.1),
        walk_away_row("open", 500.0, walk_away_price=None, room_share=None, note="2.2 or more"),
        walk_away_row(
            "out",
            0.0,
            is_in_plan=False,
            walk_away_price=1.8,
            room_share=-0.1,
            same_quantity_price=None,
            entry_gpus=8.0,
        ),
    ),
    structures=(
        StructureRow(
            pool="east",
            structure="without burst windows",
            cost=120.0,
            idle_gpu_hours=7.0,
            idle_cost=3.0,
            cost_per_run=30.0,
            gap=0.0,
            note="",
        ),
    ),
    flips=(
        flip("cadence", 0.5, 50.0, 80.0),
        flip("cadence", 1.0, 100.0, 120.0),
        flip("cadence", 2.0, 200.0, 140.0),
        flip("price_ratio", 1.2, 100.0, 120.0),
        flip("price_ratio", 1.6, 130.0, 120.0),
    ),
    burst_or_standing=("east: four three-week runs a year: bursts cost 17 % less.",),
    baselines=(
        baseline("on_demand", 160.0, 60.0),
        baseline("peak", 125.0, 25.0),
        baseline("average", None, None),
    ),
    waterfall=(
        WaterfallRow(step="All on demand", delta=None, cost_after=160.0, how="nothing is free"),
        WaterfallRow(step="Schedule", delta=-20.0, cost_after=140.0, how="runs move"),
        WaterfallRow(step="Spot", delta=None, cost_after=None, how="not solved in the time given"),
        WaterfallRow(step="Terms", delta=-45.0, cost_after=95.0, how="terms may be signed"),
        WaterfallRow(step="Ladder kept", delta=5.0, cost_after=100.0, how="the ladder holds"),
    ),
    alternatives=(
        AlternativeRow(
            aim="fewest_providers",
            slack_share=0.01,
            cost=101.0,
            extra_cost=1.0,
            extra_share=0.01,
            measure=1.0,
            measure_of_plan=2.0,
            unit="providers",
            summary="1 provider instead of 2 providers: 1 order (east-res 16 GPUs)",
            is_audited=True,
            note="",
        ),
    ),
    quantity_ranges=(
        QuantityRangeRow(
            offer="east-res",
            slack_share=0.01,
            gpu_hours_in_plan=100.0,
            least_gpu_hours=90.0,
            most_gpu_hours=None,
            reading="not solved in the time given",
        ),
    ),
    tornado=tuple(
        TornadoRow(
            key=key,
            change_share=change,
            cost=100.0 + delta * change,
            delta=delta * change,
            is_structure_changed=abs(change) > 0.2,
        )
        for key, delta in (("offers.small.price", 10.0), ("offers.large.price", 90.0))
        for change in (-0.25, -0.1, 0.1, 0.25)
    ),
    unanswered=(Unanswered(question="alternatives", why="not begun: no time was left"),),
)


@pytest.fixture
def answered(result):
    """A result with a row in every answer."""
    return dataclasses.replace(result, answers=ANSWERS)


@pytest.fixture
def book(answered, tmp_path: Path):
    return openpyxl.load_workbook(write(answered, tmp_path))


def write(result, folder: Path) -> Path:
    path = folder / "report.xlsx"
    write_workbook(result, all_tables(result), path, created=datetime(2026, 1, 5, tzinfo=UTC))
    return path


def texts(sheet) -> list[str]:
    return [str(cell.value) for row in sheet.iter_rows() for cell in row if cell.value is not None]


def test_every_answer_has_a_sheet_and_a_file(answered, book) -> None:
    """A number to negotiate with would be computed and then shown to nobody."""
    assert [name for name in book.sheetnames if name in ANSWER_STACKS] == list(ANSWER_STACKS)
    on_sheets = {name for stack in ANSWER_STACKS.values() for name in (*stack.tables, stack.said)}
    files = {table.name for table in all_tables(answered)}
    assert on_sheets - {""} <= files
    assert "unanswered" in files


def test_sheets_of_questions_that_were_not_asked_are_absent(result, tmp_path: Path) -> None:
    """An empty sheet would be read as "nothing to say"."""
    names = openpyxl.load_workbook(write(result, tmp_path)).sheetnames
    assert not set(names) & set(ANSWER_STACKS)


def test_every_sheet_says_what_its_figures_are_not(book) -> None:
    """A dual would be quoted as a price, a worth as an offer."""
    for name in ANSWER_STACKS:
        said = " ".join(texts(book[name])[:3])
        assert re.search(r"\b(not|no|neither|nor)\b", said, re.IGNORECASE), name


def test_the_negotiation_sheet_begins_where_the_money_is(answered) -> None:
    """The buyer would spend the first hour on the smallest contract."""
    table = walk_away(answered)
    assert table.values("offer") == ("=large", "open", "small", "out")
    assert table.values("room_share")[0] == 0.05


def test_names_that_look_like_formulas_stay_text(answered, book) -> None:
    """An offer's name could run as a formula on the buyer's desk."""
    sheet = book["Walk-away prices"]
    assert sheet["A5"].value == "=large"
    assert sheet["A5"].data_type == "s"
    assert "'=large" in csv_text(walk_away(answered))
    assert "\n'" not in csv_text(sensitivity(answered)).replace("'=", "")


def test_unsolved_figures_are_empty_and_the_note_says_why(book) -> None:
    """A price that is not known would look like one of zero."""
    sheet = book["Walk-away prices"]
    header = [cell.value for cell in sheet[4]]
    row = [cell.value for cell in sheet[6]]
    assert row[header.index("Walk-away price (USD/GPU-hour)")] is None
    assert row[header.index("Note")] == "2.2 or more"


def test_plain_words_stand_above_the_structures(book) -> None:
    """The reader would have to work the answer out from two tables."""
    sheet = book["Burst or standing"]
    assert sheet["A2"].value == ANSWERS.burst_or_standing[0]
    assert sheet["A4"].value == "Pool"


def test_the_waterfall_adds_up_and_so_do_its_bars(answered, book) -> None:
    """The picture would tell another saving than the table.

    160 at first, 20 and 45 saved, 5 added: 100. A step that was not solved has no bar.
    """
    table = waterfall(answered)
    deltas = [value for value in table.values("delta") if value is not None]
    assert sum(deltas) == pytest.approx(100.0 - 160.0)
    bars = waterfall_bars(table)
    assert [bar.label for bar in bars] == [
        "All on demand",
        "Schedule",
        "Terms",
        "Ladder kept",
        "This plan",
    ]
    tops = [bar.base + bar.level + bar.saved + bar.added for bar in bars]
    assert tops == [160.0, 160.0, 140.0, 100.0, 100.0]
    assert [bar.base for bar in bars[1:-1]] == [140.0, 95.0, 95.0]
    sheet = book["Baselines"]
    total = next(cell for row in sheet.iter_rows() for cell in row if cell.value == "Total")
    assert str(sheet.cell(total.row, 2).value).startswith("=SUBTOTAL(109,")


def test_a_waterfall_without_two_solved_steps_has_no_chart(answered) -> None:
    """An empty picture, or one bar, would be printed as the story of the saving."""
    one = dataclasses.replace(ANSWERS, waterfall=ANSWERS.waterfall[:1])
    assert waterfall_bars(waterfall(dataclasses.replace(answered, answers=one))) == ()


def test_charts_are_native_and_read_their_own_sheet(answered, result, tmp_path: Path) -> None:
    """A chart would show stale figures, or another sheet's.

    Three on the summary; then the waterfall, two curves and the tornado.
    """
    with zipfile.ZipFile(io.BytesIO(write(answered, tmp_path).read_bytes())) as package:
        charts = [
            package.read(name).decode()
            for name in package.namelist()
            if name.startswith("xl/charts/chart")
        ]
    assert len(charts) == 3 + 4
    assert sum("'Burst or standing'!" in chart for chart in charts) == 2
    assert sum("Baselines!" in chart for chart in charts) == 1
    assert sum("Sensitivity!" in chart for chart in charts) == 1


def test_each_curve_reads_its_own_points(answered, tmp_path: Path) -> None:
    """The curve of prices would be drawn into that of the runs."""
    book = openpyxl.load_workbook(write(answered, tmp_path))
    sheet = book["Burst or standing"]
    header = next(row[0].row for row in sheet.iter_rows() if row[1].value == "What changes")
    with zipfile.ZipFile(tmp_path / "report.xlsx") as package:
        curves = [
            text
            for name in package.namelist()
            if name.startswith("xl/charts/chart")
            and "'Burst or standing'!" in (text := package.read(name).decode())
        ]
    spans = {
        tuple(int(n) for n in re.findall(r"\$C\$(\d+):\$C\$(\d+)", curve)[0]) for curve in curves
    }
    assert spans == {(header + 1, header + 3), (header + 4, header + 5)}


def test_sensitivity_has_a_row_for_each_input_the_largest_first(answered) -> None:
    """The input that matters most would be somewhere in a list of forty lines."""
    table = sensitivity(answered)
    assert table.values("key") == ("offers.large.price", "offers.small.price")
    assert table.values("delta_minus_25") == (-22.5, -2.5)
    assert table.values("delta_plus_10") == pytest.approx((9.0, 1.0))
    assert table.values("structure_changes") == ("at -25%, +25%",) * 2


def test_the_best_sentences_reach_summary_and_terminal(answered, book) -> None:
    """A board would have to open six sheets to learn what the plan saves.

    Of the structures that were solved the cheapest costs 125; nearest to its price of today is the
    offer with 5 % of room, and the one that is out by 10 %.
    """
    said = sentences(answered)
    best = next(text for text in said if "structures in use" in text)
    assert "cheapest of 2" in best
    assert "Peak: 125.00 USD" in best
    assert "25.00 USD less (20.0 %)" in best
    price = next(text for text in said if text.startswith("Closest walk-away price"))
    assert "=large leaves the plan above 2.10 USD per GPU-hour, 5.0 % above today's" in price
    assert "out would enter below 1.80 USD per GPU-hour, 10.0 % below today's" in price
    assert ANSWERS.burst_or_standing[0] in said
    assert {best, price} <= set(texts(book["Summary"]))
    assert "Closest walk-away price" in summary_text(answered, width=200)


def test_a_baseline_that_costs_as_much_is_not_beaten(answered) -> None:
    """A plan that is the baseline would be said to cost 0.0 % less."""
    baselines = tuple(
        dataclasses.replace(row, saving=0.01, saving_share=0.0001)
        for row in answered.answers.baselines
        if row.cost is not None
    )
    answers = dataclasses.replace(answered.answers, baselines=baselines)
    said = sentences(dataclasses.replace(answered, answers=answers))
    assert next(text for text in said if text.startswith("Against")).endswith("costs the same.")


def test_what_was_not_answered_is_said(answered) -> None:
    """An answer that was cut short would be taken for a complete one."""
    last = sentences(answered)[-1]
    assert "Not answered (not begun: no time was left): alternatives." in last
    assert "baselines, waterfall, quantity ranges" in last
    assert "--analysis-seconds" in last


def test_without_answers_nothing_is_said_of_them(result) -> None:
    """A plan made with --no-analysis would seem to be incomplete."""
    assert not [text for text in sentences(result) if "--analysis-seconds" in text]
