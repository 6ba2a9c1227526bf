"""The history by the hour is the exact overlap of every job with every hour."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuladder.review.imports.job_hours import HourGrid

HOUR = 3600

jobs = st.lists(
    st.tuples(
        st.integers(0, 2),  # team
        st.integers(0, 30 * HOUR),  # start
        st.integers(1, 50 * HOUR),  # length
        st.integers(1, 512),  # GPUs
    ),
    min_size=1,
    max_size=30,
)


@settings(deadline=None, max_examples=60)
@given(jobs=jobs, offset=st.integers(0, 10**6))
def test_hours_are_overlaps(jobs, offset):
    """Or demand would be placed in hours in which nothing ran. Compared with max(0, …) by hand."""
    team, start, length, gpus = (np.array(column) for column in zip(*jobs, strict=True))
    start = start + offset
    end = start + length
    grid = HourGrid(start.min(), end.max(), 3)
    half = len(jobs) // 2
    for part in (slice(None, half), slice(half, None)):  # jobs come a day at a time
        grid.add(team[part], start[part].astype(float), end[part].astype(float), gpus[part] * 1.0)
    found = grid.gpus()
    first = int(start.min()) // HOUR
    expected = np.zeros_like(found)
    for t, s, e, g in zip(team, start, end, gpus, strict=True):
        for hour in range(found.shape[1]):
            begin = (first + hour) * HOUR
            expected[t, hour] += g * max(0, min(e, begin + HOUR) - max(s, begin)) / HOUR
    assert found == pytest.approx(expected, abs=1e-9)
    # Whole seconds and GPUs add up without rounding.
    assert found.sum() * HOUR == pytest.approx((gpus * length).sum(), rel=1e-15)
    assert (found >= 0).all()


def test_parts_of_gpus_leave_nothing_behind():
    """Or hours after the last job would hold a billionth of a GPU, and never be free."""
    grid = HourGrid(0.0, 5 * HOUR, 1)
    thirds = np.full(7, 1 / 7)
    grid.add(np.zeros(7, int), np.full(7, 100.0), np.arange(1, 8) * 997.0, thirds)
    hours = grid.gpus()[0]
    assert hours[2:].tolist() == [0, 0, 0]
    assert hours.sum() * HOUR == pytest.approx((np.arange(1, 8) * 997 - 100).sum() / 7)
