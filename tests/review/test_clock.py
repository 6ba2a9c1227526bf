"""Times of a history land in the right hour, whatever the zone and whatever the clock did."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from gpuladder.errors import GpuladderError
from gpuladder.review.imports.clock import Clock, moment
from gpuladder.review.imports.columns import Field
from gpuladder.review.imports.rows import TableOptions, open_table


def utc(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-07-06 14:00:00", "2026-07-06 12:00:00"),  # Berlin is two hours ahead in summer
        ("2026-01-06T14:00:00", "2026-01-06 13:00:00"),  # and one in winter
        ("2026-07-06", "2026-07-05 22:00:00"),
        ("2026-07-06 14:00", "2026-07-06 12:00:00"),
        ("2026-07-06 14:00:00.250", "2026-07-06 12:00:00.250"),
        ("2026-07-06T14:00:00Z", "2026-07-06 14:00:00"),
        ("2026-07-06 14:00:00 UTC", "2026-07-06 14:00:00"),
        ("2026-07-06T14:00:00+05:30", "2026-07-06 08:30:00"),
        ("2026-07-06T14:00:00-0700", "2026-07-06 21:00:00"),
        ("2026-07-06T14:00:00+02", "2026-07-06 12:00:00"),
    ],
)
def test_an_offset_in_the_file_wins_over_the_stated_zone(text, expected):
    """Or the jobs of one office would be laid hours away from where they ran."""
    times = Clock("Europe/Berlin").read([text, "2026-07-06 14:00:00"])
    assert times.utc.tolist() == [utc(expected), utc("2026-07-06 12:00:00")]
    assert times.faults == {}


def test_a_time_without_a_zone_is_refused():
    """Or a guess would cut hours at the wrong places."""
    with pytest.raises(GpuladderError, match=r"GL-I007.*'2026-07-06 14:00:00'"):
        Clock().read(["", "2026-07-06 14:00:00"])
    assert Clock().read(["2026-07-06T14:00Z"]).faults == {}


def test_the_refusal_names_the_column(tmp_path):
    """Or the user of a wide file would not know which times are meant."""
    path = tmp_path / "f.csv"
    path.write_text("begin\n2026-07-06 14:00\n")
    field = Field(name="start", meaning="start", also=("begin",))
    with (
        open_table(path, [field], TableOptions()) as table,
        pytest.raises(GpuladderError, match=r"f\.csv begin: a time without a zone"),
    ):
        next(iter(table)).times("start")


def test_the_hour_that_spring_skips_is_no_time():
    """Or a job would be laid where no clock ever stood: the file is of another zone."""
    times = Clock("Europe/Berlin").read(["2026-03-29 01:59:59", "2026-03-29 02:30:00"])
    assert times.utc[0] == utc("2026-03-29 00:59:59")
    (reason,) = times.faults
    assert "skipped" in reason
    assert times.faults[reason].tolist() == [False, True]


@pytest.mark.parametrize(
    ("zone", "text", "hours"),
    [
        ("Europe/Berlin", "2026-10-25 02:30:00", 1),
        ("America/New_York", "2026-11-01 01:30:00", 1),
        ("Europe/Dublin", "2026-10-25 01:30:00", 1),  # summer is standard time there
        ("Australia/Lord_Howe", "2026-04-05 01:45:00", 0.5),
    ],
)
def test_the_hour_that_autumn_shows_twice(zone, text, hours):
    """Or jobs of one night would be an hour too long or too short, without a word."""
    times = Clock(zone).read([text])
    local = datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone))
    assert times.utc[0] == local.replace(fold=0).timestamp()
    assert times.later[0] == local.replace(fold=1).timestamp()
    assert times.later[0] - times.utc[0] == 3600 * hours
    assert [mask.tolist() for mask in times.notes.values()] == [[True]]


def test_every_quarter_of_an_hour_of_a_year_agrees_with_the_zone_database():
    """Or some other hour of the year would be off."""
    zone = ZoneInfo("Europe/Berlin")
    naive = [
        datetime.fromisoformat("2026-01-01") + timedelta(minutes=15 * k) for k in range(365 * 96)
    ]
    times = Clock("Europe/Berlin").read([f"{item:%Y-%m-%d %H:%M:%S}" for item in naive])
    skipped = sum(mask.sum() for mask in times.faults.values())
    twice = sum(mask.sum() for mask in times.notes.values())
    assert (skipped, twice) == (4, 4)
    for item, found in zip(naive, times.utc, strict=True):
        if found == found:
            assert found == item.replace(tzinfo=zone).timestamp()


@pytest.mark.parametrize(
    ("time_format", "text", "expected"),
    [
        ("epoch_s", "1783339200", "2026-07-06 12:00:00"),
        ("epoch_ms", "1783339200500", "2026-07-06 12:00:00.500"),
        ("%d.%m.%Y %H:%M", "06.07.2026 14:00", "2026-07-06 12:00:00"),
        ("%m/%d/%Y %H:%M %z", "07/06/2026 14:00 -0700", "2026-07-06 21:00:00"),
    ],
)
def test_other_ways_to_write_times_are_stated(time_format, text, expected):
    """Or 06/07 would be read as June in one file and July in the next."""
    times = Clock("Europe/Berlin", time_format).read([text])
    assert times.utc.tolist() == [utc(expected)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("Unknown", "not a time"),
        ("06.07.2026", "not a time"),
        ("07/06/2026 14:00", "not a time"),
        ("2026-02-30 00:00:00", "not a time"),
        ("2026-07-06 25:00:00", "not a time"),
        ("2026", "not a time"),
        ("1783339200", "not a time"),
        ("1911-07-06 14:00:00Z", "outside the years"),
        ("1911-07-06T14:00:00", "outside the years"),
    ],
)
def test_what_is_no_time_has_one_reason(text, reason):
    """Or a slip in a date would move a job by years, or be counted twice."""
    times = Clock("UTC").read([text])
    assert [reason in found for found in times.faults] == [True]
    assert times.utc[0] != times.utc[0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("Europe/Berlim",), "did you mean `Europe/Berlin`?"),
        (("UTC", "excel"), "not a way to write times"),
    ],
)
def test_a_wrong_zone_or_format_is_refused(arguments, words):
    """Or a misspelt zone would end in a traceback."""
    with pytest.raises(GpuladderError, match="GL-I008") as caught:
        Clock(*arguments)
    assert words in str(caught.value)


def test_a_moment_of_the_command_line():
    """Or --as-of would be read by another clock than the file."""
    clock = Clock("Europe/Berlin", "epoch_s")
    assert moment("2026-07-06 14:00", clock, "--as-of") == utc("2026-07-06 12:00")
    with pytest.raises(GpuladderError, match="--as-of"):
        moment("tomorrow", clock, "--as-of")
