"""Measured series: units, steps, gaps, clock changes and repeated rows, read in one way only."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest

from gpuladder.cli.codes import CODES
from gpuladder.errors import UsageError
from gpuladder.review.imports.clock import Clock
from gpuladder.review.imports.rows import TableOptions
from gpuladder.review.imports.usage.reading import UsageOptions, import_usage
from gpuladder.review.imports.usage.steps import read_step
from gpuladder.review.imports.usage.units import stated_units

SCENARIOS = Path(__file__).parents[2] / "scenarios"
HELIOS = SCENARIOS / "data" / "helios_earth_hourly_2020.csv"


def read(path, text=None, *, units=(), step=None, zone="UTC", chunk_rows=16_384, **more):
    """Read a series, written first where a text is given."""
    if text is not None:
        path.write_text(text, encoding="utf-8")
    options = UsageOptions(
        units=stated_units(units), step=None if step is None else read_step(step), **more
    )
    columns = more.pop("columns", {})
    table = TableOptions(columns=columns, clock=Clock(zone), chunk_rows=chunk_rows)
    return import_usage(path, options=options, table=table)


def refusal(path, text, **more):
    with pytest.raises(UsageError) as caught:
        read(path, text, **more)
    assert {problem.code for problem in caught.value.problems} <= set(CODES)
    return "\n".join(problem.text for problem in caught.value.problems)


def values(found, name, team=0):
    return [
        None if math.isnan(value) else value
        for value in found.history.teams[team].quantities[name].tolist()
    ]


def test_helios_demand_is_that_of_the_shipped_scenario():
    """The importer and the scenario's own script, written apart, must give the same demand."""
    found = import_usage(HELIOS)
    assert found.layout == "helios"
    with (SCENARIOS / "helios" / "demand.csv").open(newline="") as file:
        shipped = {(row["pool"], row["at"]): float(row["gpus"]) for row in csv.DictReader(file)}
    imported = {(row.pool, f"{row.at:%Y-%m-%d %H:%M}"): row.gpus for row in found.demand()}
    assert imported == pytest.approx(shipped)


def test_one_pool_adds_up_the_teams():
    """The pooled scenario's demand, hour by hour, is what one pool for all rows gives."""
    found = import_usage(HELIOS, options=UsageOptions(pool="earth"))
    with (SCENARIOS / "helios-pooled" / "demand.csv").open(newline="") as file:
        shipped = {row["at"]: float(row["gpus"]) for row in csv.DictReader(file)}
    imported = {f"{row.at:%Y-%m-%d %H:%M}": row.gpus for row in found.demand()}
    assert {row.pool for row in found.demand()} == {"earth"}
    assert imported == pytest.approx(shipped, abs=0.006)


def test_small_chunks_give_the_same_history(tmp_path):
    """A file that does not fit in memory must read like one that does."""
    whole, pieces = import_usage(HELIOS), read(HELIOS, chunk_rows=1000)
    assert whole.history.steps == pieces.history.steps
    for one, other in zip(whole.history.teams, pieces.history.teams, strict=True):
        assert one.key == other.key
        for name in one.quantities:
            np.testing.assert_allclose(one.quantities[name], other.quantities[name])


def test_parquet_reads_like_csv(tmp_path):
    """An export's form must not change its numbers."""
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = tmp_path / "helios.parquet"
    pd.read_csv(HELIOS, parse_dates=["hour"]).to_parquet(path)
    found, expected = import_usage(path), import_usage(HELIOS)
    assert found.rows.kept == expected.rows.kept
    for one, other in zip(found.history.teams, expected.history.teams, strict=True):
        np.testing.assert_allclose(one.quantities["pending"], other.quantities["pending"])


def test_a_unit_that_is_not_stated_is_refused(tmp_path):
    """A share read as GPUs would be off by orders of magnitude."""
    text = "team,hour,busy\na,2026-01-01 00:00,40\na,2026-01-01 01:00,50\n"
    assert "the unit of `busy` is not stated" in refusal(tmp_path / "x.csv", text)
    assert "does not say of what" in refusal(tmp_path / "x.csv", text, units=["busy=percent"])


def test_gpu_hours_of_a_day_are_24_times_its_gpus(tmp_path):
    """192 GPU-hours in a day are 8 GPUs, not 192."""
    text = "team,day,allocated_gpu_hours\na,2026-01-01,192\na,2026-01-02,96\n"
    found = read(tmp_path / "x.csv", text)
    assert found.history.step_hours == 24
    assert values(found, "allocated") == [8, 4]


def test_a_percentage_is_taken_of_its_base_once(tmp_path):
    """25 % of 8 allocated are 2 busy GPUs; a busy number of GPUs is not multiplied again."""
    text = (
        "team,hour,allocated_gpus,busy\na,2026-01-01 00:00,8,25\na,2026-01-01 01:00,4,100\n"
        "a,2026-01-01 02:00,,50\na,2026-01-01 03:00,4,101\n"
    )
    found = read(tmp_path / "x.csv", text, units=["busy=percent-of-allocated"])
    assert values(found, "busy") == [2, 4]
    assert [reason.count for reason in found.rows.reasons] == [1, 1]
    plain = text.replace("busy\n", "busy_gpus\n")
    assert values(read(tmp_path / "y.csv", plain), "busy")[:2] == [25, 100]


def test_a_unit_may_stand_in_each_row(tmp_path):
    """Rows of one file can be in two units when each says so; one that says nonsense is dropped."""
    text = (
        "team,day,unit,allocated\na,2026-01-01,GPU-Hours,48\na,2026-01-02,GPUs,2\n"
        "a,2026-01-03,cores,2\n"
    )
    found = read(tmp_path / "x.csv", text)
    assert values(found, "allocated") == [2, 2]
    assert found.rows.dropped == 1


def test_a_missing_hour_is_a_gap_not_a_zero(tmp_path):
    """An hour without data read as idle would be a saving that is not there."""
    text = (
        "team,hour,capacity_gpus,allocated_gpus\na,2026-01-01 00:00,8,8\n"
        "a,2026-01-01 01:00,8,8\na,2026-01-01 03:00,8,\n"
    )
    found = read(tmp_path / "x.csv", text)
    assert values(found, "allocated") == [8, 8, None, None]
    assert values(found, "capacity") == [8, 8, None, 8]
    assert [row.at.hour for row in found.demand()] == [0, 1]
    assert [row.hour.hour for row in found.usage()] == [0, 1, 3]


def test_samples_within_an_hour_are_averaged(tmp_path):
    """Twelve five-minute samples are one hour of their mean, not twelve hours."""
    rows = [f"a,2026-01-01 00:{minute:02},{minute // 5}" for minute in range(0, 60, 5)]
    text = "\n".join(["team,time,busy_gpus", *rows]) + "\n"
    found = read(tmp_path / "x.csv", text)
    assert found.history.step_hours == 1
    assert values(found, "busy") == [pytest.approx(sum(range(12)) / 12)]


def test_rows_longer_than_an_hour_fill_their_hours(tmp_path):
    """A row every six hours stands for six hours of its mean."""
    text = "team,time,busy_gpus\na,2026-01-01 00:00,6\na,2026-01-01 06:00,2\n"
    found = read(tmp_path / "x.csv", text)
    assert values(found, "busy") == [6] * 6 + [2] * 6
    assert any("peaks" in line for line in found.assumptions)


def test_a_step_that_cannot_be_told_is_asked_for(tmp_path):
    """One row a team says nothing of how long it stands for."""
    text = "team,time,busy_gpus\na,2026-01-01 00:00,6\nb,2026-01-01 00:00,6\n"
    assert "cannot be told" in refusal(tmp_path / "x.csv", text)
    assert read(tmp_path / "x.csv", text, step="day").history.step_hours == 24


def test_rows_of_one_step_that_differ_are_refused_until_said(tmp_path):
    """Parts dropped as duplicates, or corrections added up, would be wrong by half or double."""
    text = "team,hour,busy_gpus\na,2026-01-01 00:00,2\na,2026-01-01 00:00,3\na,2026-01-01 01:00,1\n"
    message = refusal(tmp_path / "x.csv", text)
    assert "x.csv:3" in message
    assert "--repeats" in message
    assert values(read(tmp_path / "x.csv", text, repeats="sum"), "busy") == [5, 1]
    first = read(tmp_path / "x.csv", text, repeats="first")
    assert values(first, "busy") == [2, 1]
    assert first.rows.dropped == 1


@pytest.mark.parametrize("text", ["7 minutes", "36 hours", "month", "0 hours", "an hour"])
def test_steps_that_do_not_fit_a_grid_are_refused(text):
    """Rows of seven minutes do not add up to hours."""
    with pytest.raises(UsageError, match="GL-I043"):
        read_step(text)


@pytest.mark.parametrize("chunk_rows", [1, 100])
def test_the_same_row_again_is_dropped_and_counted(tmp_path, chunk_rows):
    """A file joined twice must not end the import, nor count twice."""
    text = "team,hour,busy_gpus\na,2026-01-01 00:00,2\na,2026-01-01 01:00,1\na,2026-01-01 00:00,2\n"
    found = read(tmp_path / "x.csv", text, step="hour", chunk_rows=chunk_rows)
    assert values(found, "busy") == [2, 1]
    assert (found.rows.dropped, found.rows.reasons[0].text) == (1, "the same row again")


@pytest.mark.parametrize("chunk_rows", [1, 100])
def test_the_hour_that_a_clock_shows_twice_is_two_hours(tmp_path, chunk_rows):
    """In Berlin, 2026-10-25 02:00 comes twice; the second one must not be lost or refused."""
    hours = ["01:00", "02:00", "02:00", "03:00"]
    rows = [f"a,2026-10-25 {hour},{number}" for number, hour in enumerate(hours)]
    text = "\n".join(["team,time,busy_gpus", *rows]) + "\n"
    found = read(tmp_path / "x.csv", text, zone="Europe/Berlin", step="hour", chunk_rows=chunk_rows)
    assert values(found, "busy") == [0, 1, 2, 3]
    assert (found.history.start.day, found.history.start.hour) == (24, 23)


def test_the_hour_that_a_clock_skips_is_a_row_dropped(tmp_path):
    """In Berlin, 2026-03-29 02:00 does not exist; UTC goes on without a gap."""
    rows = ["a,2026-03-29 01:00,1", "a,2026-03-29 02:00,9", "a,2026-03-29 03:00,2"]
    text = "\n".join(["team,time,busy_gpus", *rows]) + "\n"
    found = read(tmp_path / "x.csv", text, zone="Europe/Berlin", step="hour")
    assert values(found, "busy") == [1, 2]
    assert found.rows.dropped == 1


def test_days_of_a_zone_stay_days_when_its_clock_changes(tmp_path):
    """Daily rows of a zone with summer time are one a day, though one day has 23 hours."""
    rows = [f"a,2026-03-{day},{day}" for day in (28, 29, 30, 31)]
    text = "\n".join(["team,day,busy_gpus", *rows]) + "\n"
    found = read(tmp_path / "x.csv", text, zone="Europe/Berlin")
    assert values(found, "busy") == [28, 29, 30, 31]


def test_times_without_a_zone_are_asked_for(tmp_path):
    """Peaks would move by hours against the bill."""
    text = "team,hour,busy_gpus\na,2026-01-01 00:00,2\na,2026-01-01 01:00,2\n"
    assert "--timezone" in refusal(tmp_path / "x.csv", text, zone=None)


def test_offsets_of_rows_are_kept(tmp_path):
    """Rows of two zones in one file are one time: 00:00+02:00 is 22:00 in UTC, the day before."""
    text = (
        "team,hour,busy_gpus\na,2026-01-01T00:00:00+02:00,1\na,2026-01-01T01:00:00+02:00,3\n"
        "b,2025-12-31T22:00:00Z,5\n"
    )
    found = read(tmp_path / "x.csv", text, zone=None)
    assert (found.history.start.day, found.history.start.hour, found.history.zone) == (
        31,
        22,
        "UTC",
    )
    assert values(found, "busy", team=0) == [1, 3]
    assert values(found, "busy", team=1) == [5, None]


def test_odd_cells_are_dropped_for_a_reason(tmp_path):
    """Each odd row is counted, and the others still count."""
    text = (
        "team,hour,capacity_gpus,allocated_gpus\n"
        "a,2026-01-01 00:00,8,1\n"
        "a,2026-01-01 01:00,8,-1\n"
        'a,2026-01-01 02:00,8,"1,5"\n'
        "a,2026-01-01 03:00,8,many\n"
        ",2026-01-01 04:00,8,1\n"
        "a,yesterday,8,1\n"
        "a,2026-01-01 05:30,8,1\n"
        "a,2026-01-01 06:00,NaN,\n"
        "a,2026-01-01 07:00,0,0\n"
        "[a,2026-01-01 08:00,8,1\n"
    )
    found = read(tmp_path / "x.csv", text, step="hour")
    assert (found.rows.read, found.rows.kept) == (10, 2)
    reasons = {reason.text: reason.count for reason in found.rows.reasons}
    assert set(reasons.values()) == {1}
    assert len(reasons) == 8
    assert values(found, "allocated") == [1] + [None] * 6 + [0]


def test_a_column_of_something_else_is_refused(tmp_path):
    """A history by job would take all memory and answer nothing."""
    rows = "".join(f"job{n},2026-01-01 00:00,1\n" for n in range(10_001))
    assert "more than 10,000 teams" in refusal(
        tmp_path / "x.csv", f"team,hour,busy_gpus\n{rows}", step="hour"
    )


def test_a_misread_year_is_refused(tmp_path):
    """One row of 1970 would make half a century of empty hours."""
    text = "team,hour,busy_gpus\na,1970-01-01 00:00,2\na,2026-01-01 00:00,2\n"
    assert "more than 20 years" in refusal(tmp_path / "x.csv", text, step="hour")


def test_no_quantity_at_all_is_refused(tmp_path):
    """A file of other numbers must not become an empty history."""
    text = "team,hour,cpus\na,2026-01-01 00:00,2\n"
    assert "no column of GPUs" in refusal(tmp_path / "x.csv", text)


def test_statements_that_nothing_reads_are_refused(tmp_path):
    """A price or a machine stated for the wrong kind of file would be ignored without a word."""
    text = "team,hour,busy_gpus\na,2026-01-01 00:00,2\na,2026-01-01 01:00,2\n"
    assert "--team-tag" in refusal(tmp_path / "x.csv", text, team_tag="team")
