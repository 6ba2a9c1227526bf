"""How the tests here read a history: from text written to a file, as its user does."""

from __future__ import annotations

import pytest

from gpuladder.review.calendar import CalendarRule
from gpuladder.review.imports.clock import Clock
from gpuladder.review.imports.job_rows import JobOptions
from gpuladder.review.imports.jobs import import_jobs
from gpuladder.review.imports.rows import TableOptions


@pytest.fixture
def read_jobs(tmp_path):
    """Read jobs from text; options go to the rule, to the choice of jobs and to the file."""

    def read(text, *, rule=None, choice=None, layout="auto", timezone="UTC", **table):
        path = tmp_path / "jobs.csv"
        path.write_text(text, encoding="utf-8")
        return import_jobs(
            path,
            layout=layout,
            rule=CalendarRule(**(rule or {})),
            options=JobOptions(**(choice or {})),
            table=TableOptions(clock=Clock(timezone), **table),
        )

    return read


@pytest.fixture
def reasons():
    """Return why rows were dropped, and how many."""
    return lambda history: {each.text: each.count for each in history.rows.reasons}


@pytest.fixture
def notes():
    """Return what is said about rows that count, and how many."""
    return lambda history: {each.text: each.count for each in history.rows.notes}
