"""Calendar arithmetic, against Python's own calendar."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuladder.timegrid import Span, Step, TimeGrid, add_months, grid_boundaries

DATES = st.dates(date(1999, 1, 1), date(2150, 12, 31))


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("14 days", date(2026, 2, 20), date(2026, 3, 6)),
        ("4 weeks", date(2026, 12, 14), date(2027, 1, 11)),
        ("1 months", date(2026, 1, 31), date(2026, 2, 28)),
        ("1 month", date(2028, 1, 31), date(2028, 2, 29)),
        ("12 months", date(2028, 2, 29), date(2029, 2, 28)),
        ("3 years", date(2026, 7, 6), date(2029, 7, 6)),
    ],
)
def test_span_ends_where_the_calendar_says(text: str, start: date, end: date) -> None:
    """A contract would expire on the wrong day."""
    span = Span.parse(text)
    assert span.after(start) == end
    assert span.days(start) == (end - start).days


@pytest.mark.parametrize("text", ["", "weeks", "4 fortnights", "-1 days", "1.5 months", "4"])
def test_text_that_is_no_span_is_refused(text: str) -> None:
    """A typing error in a term would be read as some other term."""
    with pytest.raises(ValueError, match="not a span"):
        Span.parse(text)


@pytest.mark.parametrize("text", ["14 days", "4 weeks", "12 months", "3 years"])
def test_span_is_written_as_it_is_read(text: str) -> None:
    """A saved scenario would not load to the same terms."""
    assert str(Span.parse(text)) == text


def test_repeated_months_do_not_drift() -> None:
    """Monthly dates from the 31st would stick at the 28th after February."""
    span = Span.parse("1 months")
    dates = [span.after(date(2026, 1, 31), number) for number in range(4)]
    assert dates == [date(2026, 1, 31), date(2026, 2, 28), date(2026, 3, 31), date(2026, 4, 30)]


@given(DATES, st.integers(0, 400))
def test_months_keep_the_day_or_clip_it(start: date, months: int) -> None:
    """A term would end in the wrong month."""
    end = add_months(start, months)
    assert (end.year - start.year) * 12 + end.month - start.month == months
    last = (end + timedelta(days=1)).month != end.month
    assert end.day == start.day or (end.day < start.day and last)


def test_last_period_of_a_segment_is_cut() -> None:
    """A period would run past its segment into the next."""
    boundaries = grid_boundaries(
        date(2026, 7, 6), [(date(2026, 7, 24), Step.WEEK), (date(2026, 10, 1), Step.MONTH)]
    )
    assert [str(day) for day in boundaries] == [
        "2026-07-06",
        "2026-07-13",
        "2026-07-20",
        "2026-07-24",
        "2026-08-24",
        "2026-09-24",
        "2026-10-01",
    ]


def test_quarters_and_days() -> None:
    """A step would be of another length than its name."""
    quarters = grid_boundaries(date(2026, 1, 1), [(date(2027, 1, 1), Step.QUARTER)])
    assert [day.month for day in quarters] == [1, 4, 7, 10, 1]
    days = TimeGrid(grid_boundaries(date(2026, 2, 27), [(date(2026, 3, 2), Step.DAY)]))
    assert days.hours.tolist() == [24, 24, 24]


def test_segment_that_ends_before_it_begins_is_refused() -> None:
    """A wrong date would give an empty or an endless grid."""
    with pytest.raises(ValueError, match="does not end after"):
        grid_boundaries(date(2026, 7, 6), [(date(2026, 7, 6), Step.WEEK)])


@given(
    DATES,
    st.lists(st.tuples(st.integers(1, 120), st.sampled_from(list(Step))), min_size=1, max_size=3),
)
def test_grid_covers_the_horizon_once(start: date, pieces: list[tuple[int, Step]]) -> None:
    """Days of the horizon would be missing or count twice."""
    segments, until = [], start
    for days, step in pieces:
        until += timedelta(days=days)
        segments.append((until, step))
    grid = TimeGrid(grid_boundaries(start, segments))
    assert grid.start == start
    assert grid.end == until
    assert list(grid.boundaries) == sorted(set(grid.boundaries))
    assert grid.hours.sum() == 24 * (until - start).days
    assert {until for until, _ in segments} <= set(grid.boundaries)
    longest = {Step.DAY: 1, Step.WEEK: 7, Step.MONTH: 31, Step.QUARTER: 92}
    assert grid.hours.max() <= 24 * max(longest[step] for _, step in segments)


WEEKS = TimeGrid(grid_boundaries(date(2026, 7, 6), [(date(2026, 8, 3), Step.WEEK)]))


def test_midpoints_lie_in_the_middle() -> None:
    """Accruals would be discounted at the wrong date."""
    assert WEEKS.midpoint_days.tolist() == [3.5, 10.5, 17.5, 24.5]


def test_overlap_is_half_open() -> None:
    """A term that ends on a boundary would reach into the next period."""
    share = WEEKS.overlap_share(date(2026, 7, 9), date(2026, 7, 20))
    assert share.tolist() == pytest.approx([4 / 7, 1, 0, 0])
    assert WEEKS.overlap_share(date(2026, 7, 13), date(2026, 7, 13)).sum() == 0
    assert WEEKS.overlap_share(date(2020, 1, 1), date(2030, 1, 1)).tolist() == [1, 1, 1, 1]


@given(st.integers(-40, 60), st.integers(0, 60))
def test_overlap_adds_up_to_what_lies_inside(begin: int, length: int) -> None:
    """Hours of a term would be lost between periods."""
    inside = max(0, min(begin + length, 28) - max(begin, 0))
    assert WEEKS.overlap_hours(24.0 * begin, 24.0 * (begin + length)).sum() == 24.0 * inside


def test_next_boundary() -> None:
    """A start date would be moved back instead of on."""
    assert WEEKS.first_boundary_from(date(2026, 7, 13)) == 1
    assert WEEKS.first_boundary_from(date(2026, 7, 14)) == 2
    assert WEEKS.first_boundary_from(date(2026, 8, 3)) == 4
    assert WEEKS.first_boundary_from(date(2026, 8, 4)) is None


def test_arrays_cannot_be_changed() -> None:
    """One reader of the grid could shift it for all others."""
    with pytest.raises(ValueError, match="read-only"):
        WEEKS.hours[0] = 1.0
