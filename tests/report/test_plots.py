"""Pictures of a result: they show its numbers, for every name and size of plan."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

import pytest

from gpuladder.analysis.answers import Answers, WaterfallRow
from gpuladder.analysis.result import Tables
from gpuladder.errors import ReportError, UsageError
from gpuladder.report.new_file import write_new_file
from gpuladder.report.plots import PLOTS, figure, has_content, path_of, save

NAMES = ("=cmd|' /C calc'!A0", "$x^{2$", "日本語の名前", "😀 مهمة", "x" * 300, "a\nb\tc")


def heights(axes) -> list[float]:
    return [patch.get_height() for patch in axes.patches]


def texts(picture) -> str:
    (axes, *_) = picture.axes
    labels = [*axes.get_xticklabels(), *axes.get_yticklabels(), *axes.texts, axes.title]
    return "\n".join(label.get_text() for label in labels)


def waterfall_of(result):
    rows = (
        WaterfallRow(step="Standing terms", delta=None, cost_after=1000.0, how=""),
        WaterfallRow(step="Bursts", delta=-300.0, cost_after=700.0, how=""),
        WaterfallRow(step="Ladder kept", delta=50.0, cost_after=750.0, how=""),
    )
    return dataclasses.replace(result, answers=Answers(waterfall=rows))


@pytest.mark.parametrize("name", PLOTS)
@pytest.mark.parametrize("ending", ["png", "svg"])
def test_the_same_result_gives_the_same_file(result, tmp_path, name, ending):
    """A picture in a board paper would change between two prints of one run."""
    answered = waterfall_of(result)
    files = [tmp_path / f"{n}.{ending}" for n in (1, 2)]
    for path in files:
        save(figure(answered, name), path)
    assert files[0].read_bytes() == files[1].read_bytes()
    assert len(files[0].read_bytes()) > 1000


def test_the_ladder_has_the_expiries_of_the_table(result):
    """The board would see another cliff than the contracts have."""
    (axes,) = figure(result, "ladder").axes
    rows = result.tables.expiries
    assert heights(axes) == [row.held_gpus for row in rows] + [row.total_gpus for row in rows]


def test_capacity_stacks_up_to_what_is_there(result):
    """A kind that is left out or drawn twice would hide idle GPUs."""
    (axes,) = figure(result, "capacity").axes
    top = axes.patches[-3].get_data()  # the last kind; the two after it are the line of use
    periods = sorted({row.period_start for row in result.tables.capacity})
    for value, start in zip(top.values, periods, strict=True):
        rows = [row for row in result.tables.capacity if row.period_start == start]
        kinds = ("held", "burst_window", "reserved", "dedicated", "owned", "drawn", "on_demand")
        there = sum(getattr(row, f"{kind}_gpus") for row in rows for kind in (*kinds, "spot"))
        assert value == pytest.approx(there)


def test_the_waterfall_shows_each_step_once(result):
    """A saving would be counted twice: 1,000 − 300 + 50 is 750."""
    picture = figure(waterfall_of(result), "waterfall")
    (axes,) = picture.axes
    assert [(p.get_x(), p.get_width()) for p in axes.patches] == [
        (0.0, 1000.0),
        (700.0, 300.0),
        (700.0, 50.0),
        (0.0, 750.0),
    ]
    assert all(part in texts(picture) for part in ("1,000", "-300", "+50", "750"))


def test_idle_gpus_stand_in_their_pool_and_period(result):
    """The gap would be looked for in another week."""
    picture = figure(result, "idle")
    (mesh,) = picture.axes[0].collections
    known = {
        round(row.idle_gpus, 6)
        for row in result.tables.capacity
        if row.idle_gpus + row.committed_used_gpus + row.backfill_gpus > 0
    }
    drawn = {round(float(value), 6) for value in mesh.get_array().compressed().ravel()}
    assert drawn <= known
    assert max(drawn) == max(known)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("text", NAMES)
@pytest.mark.parametrize("name", ["calendar", "idle"])
def test_any_name_can_be_drawn(result, tmp_path, text, name):
    """One odd campaign name would take the picture away, or draw formulas."""
    tables = result.tables
    renamed = dataclasses.replace(
        tables,
        campaigns=tuple(dataclasses.replace(row, id=text) for row in tables.campaigns),
        capacity=tuple(dataclasses.replace(row, pool=text) for row in tables.capacity[:1]),
    )
    odd = dataclasses.replace(result, tables=renamed)
    if has_content(odd, name):
        save(figure(odd, name), tmp_path / "odd.svg")
        assert (tmp_path / "odd.svg").stat().st_size > 1000


def test_a_calendar_of_hundreds_is_cut_and_says_so(result):
    """Two hundred bars would overlap, or the picture be metres high."""
    (first, *_) = result.tables.campaigns
    many = tuple(
        dataclasses.replace(first, id=f"run {n}", earliest=first.earliest + timedelta(days=n % 7))
        for n in range(200)
    )
    busy = dataclasses.replace(result, tables=dataclasses.replace(result.tables, campaigns=many))
    picture = figure(busy, "calendar")
    assert "(the first 60 of 200)" in texts(picture)
    assert picture.get_size_inches()[1] < 40


def test_what_cannot_be_drawn_is_said(result):
    """An empty picture would be read as "nothing is idle"."""
    empty = dataclasses.replace(result, tables=Tables(), answers=Answers())
    for name in PLOTS:
        assert not has_content(empty, name)
    with pytest.raises(UsageError, match="nothing to show"):
        figure(empty, "ladder")
    with pytest.raises(UsageError, match="no plot"):
        figure(result, "laddr")


def test_the_ending_is_the_form(tmp_path):
    """A PNG called .svg opens nowhere."""
    assert path_of("ladder", None, "svg").name == "ladder.svg"
    assert path_of("ladder", tmp_path / "x", "svg").name == "x.svg"
    for output, form in ((tmp_path / "x.pdf", None), (tmp_path / "x.png", "svg")):
        with pytest.raises(UsageError, match="a picture is a file that ends in"):
            path_of("ladder", output, form)


def test_a_file_is_new_and_whole_or_not_there(tmp_path):
    """An older picture would be lost, or half of one be mailed."""
    path = tmp_path / "sub" / "one.txt"
    write_new_file(path, lambda draft: draft.write_text("first") and None)
    with pytest.raises(ReportError, match="already"):
        write_new_file(path, lambda draft: draft.write_text("second") and None)

    def breaks(draft):
        draft.write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(ReportError, match="No space left"):
        write_new_file(tmp_path / "sub" / "two.txt", breaks)
    assert [file.name for file in (tmp_path / "sub").iterdir()] == ["one.txt"]
    assert path.read_text() == "first"
