"""Calendar arithmetic: spans, the half-open period grid and overlap shares.

Period *t* is ``[boundaries[t], boundaries[t + 1])``. Instants are either dates (midnight) or hours
since the horizon start; there is no time zone.
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Sequence

FloatArray = NDArray[np.float64]

HOURS_PER_DAY = 24.0
_SPAN = re.compile(r"^\s*(\d+)\s*(day|week|month|year)s?\s*$")
_UNITS = ("day", "week", "month", "year")


@dataclass(frozen=True, slots=True)
class Span:
    """A length of calendar time such as ``"14 days"`` or ``"3 years"``.

    Months and years are calendar steps with the day of the month clipped (31 January + 1 month is
    28 or 29 February), so their number of days depends on where they start.
    """

    count: int
    unit: str

    def __post_init__(self) -> None:
        if self.unit not in _UNITS or self.count < 0:
            msg = f"not a span: {self.count} {self.unit}"
            raise ValueError(msg)

    @classmethod
    def parse(cls, text: str) -> Span:
        """Read ``"4 weeks"``; raise ValueError when the text is not a span."""
        match = _SPAN.match(text)
        if match is None:
            msg = (
                f'not a span: {text!r}; write it as "14 days", "4 weeks", "12 months" or "3 years"'
            )
            raise ValueError(msg)
        return cls(int(match.group(1)), match.group(2))

    def __str__(self) -> str:
        return f"{self.count} {self.unit}s"

    def after(self, start: date, times: int = 1) -> date:
        """Return the date ``times`` spans after ``start``, counted from ``start`` itself."""
        number = self.count * times
        if self.unit == "day":
            return start + timedelta(days=number)
        if self.unit == "week":
            return start + timedelta(weeks=number)
        return add_months(start, number * (12 if self.unit == "year" else 1))

    def days(self, start: date) -> int:
        """Return the number of days of the span when it begins at ``start``."""
        return (self.after(start) - start).days


def add_months(start: date, months: int) -> date:
    """Return ``start`` moved by whole months, the day clipped to the month's length."""
    index = start.year * 12 + start.month - 1 + months
    year, month = divmod(index, 12)
    day = min(start.day, calendar.monthrange(year, month + 1)[1])
    return date(year, month + 1, day)


class Step(StrEnum):
    """Length of the periods of a grid or of one of its segments."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"


_STEP_SPAN = {
    Step.DAY: Span(1, "day"),
    Step.WEEK: Span(1, "week"),
    Step.MONTH: Span(1, "month"),
    Step.QUARTER: Span(3, "month"),
}


def grid_boundaries(start: date, segments: Sequence[tuple[date, Step]]) -> tuple[date, ...]:
    """Return the boundaries of a grid made of segments, each ``(until, step)``, from ``start`` on.

    Calendar steps are counted from their segment's start, so clipping the day of the month never
    accumulates; the last period of a segment is cut at its ``until``.

    Raises
    ------
    ValueError
        When a segment does not end after it begins.
    """
    boundaries = [start]
    for until, step in segments:
        begin = boundaries[-1]
        if until <= begin:
            msg = f"the segment until {until} does not end after {begin}"
            raise ValueError(msg)
        span, number = _STEP_SPAN[step], 1
        while (boundary := span.after(begin, number)) < until:
            boundaries.append(boundary)
            number += 1
        boundaries.append(until)
    return tuple(boundaries)


@dataclass(frozen=True)
class TimeGrid:
    """The periods of a horizon.

    Attributes
    ----------
    boundaries : tuple of date, length T + 1
        Ascending; period *t* is ``[boundaries[t], boundaries[t + 1])``.
    counted_from : date or None
        Date from which recurring dates are counted when that is before the start.
    """

    boundaries: tuple[date, ...]
    counted_from: date | None = None

    @property
    def anchor(self) -> date:
        """Date from which ladder windows and regular start dates are counted."""
        return self.counted_from or self.start

    @property
    def start(self) -> date:
        """First day of the horizon."""
        return self.boundaries[0]

    @property
    def end(self) -> date:
        """Day after the last day of the horizon."""
        return self.boundaries[-1]

    @property
    def num_periods(self) -> int:
        """Number of periods, T."""
        return len(self.boundaries) - 1

    @cached_property
    def boundary_hours(self) -> FloatArray:
        """Hours since the horizon start at each boundary, shape (T + 1,)."""
        days = [(boundary - self.start).days for boundary in self.boundaries]
        return _frozen(np.asarray(days, dtype=np.float64) * HOURS_PER_DAY)

    @cached_property
    def hours(self) -> FloatArray:
        """Length of each period in hours, shape (T,)."""
        return _frozen(np.diff(self.boundary_hours))

    @cached_property
    def midpoint_days(self) -> FloatArray:
        """Days from the horizon start to the middle of each period, shape (T,)."""
        hours = (self.boundary_hours[:-1] + self.boundary_hours[1:]) / 2
        return _frozen(hours / HOURS_PER_DAY)

    def hour_of(self, day: date) -> float:
        """Return the hours from the horizon start to midnight at the start of ``day``."""
        return (day - self.start).days * HOURS_PER_DAY

    def overlap_hours(self, begin_hour: float, end_hour: float) -> FloatArray:
        """Return the hours of ``[begin_hour, end_hour)`` that fall in each period, shape (T,)."""
        low = np.maximum(self.boundary_hours[:-1], begin_hour)
        high = np.minimum(self.boundary_hours[1:], end_hour)
        return np.asarray(np.maximum(high - low, 0.0), np.float64)

    def overlap_share(self, begin: date, end: date) -> FloatArray:
        """Return the share of each period that ``[begin, end)`` covers, shape (T,)."""
        return self.overlap_hours(self.hour_of(begin), self.hour_of(end)) / self.hours

    def first_boundary_from(self, day: date) -> int | None:
        """Return the index of the first boundary on or after ``day``; None past the last one."""
        index = int(np.searchsorted(self.boundary_hours, self.hour_of(day)))
        return index if index <= self.num_periods else None


def _frozen(array: FloatArray) -> FloatArray:
    array.setflags(write=False)
    return array
