"""The folder of an imported job history, written whole or not at all, never over another."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from gpuladder.errors import ScenarioError
from gpuladder.report.calendar_chart import write_calendar_chart
from gpuladder.report.csv_files import write_csv_files
from gpuladder.report.run_folder import slug, write_folder
from gpuladder.report.tables_jobs import job_tables
from gpuladder.review.calendar_document import job_document
from gpuladder.scenario.loading import load
from gpuladder.scenario.writing import table_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from gpuladder.errors import Problem
    from gpuladder.review.calendar import JobHistory
    from gpuladder.review.starter import Starter

HOME = "jobs"
DOCUMENT = "jobs.json"
CHART = "calendar.png"
SCENARIO = "scenario.yaml"
_OFFERS = "offers.csv"


def write_jobs(
    history: JobHistory,
    parent: Path,
    around: Starter | None = None,
    *,
    now: datetime | None = None,
) -> tuple[Path, tuple[Problem, ...]]:
    """Write campaigns.csv, demand.csv, history.csv, calendar.csv, calendar.png and jobs.json.

    Parameters
    ----------
    history : JobHistory
    parent : pathlib.Path
        Folder of all runs; the new one is below it, in ``<source>/jobs``.
    around : Starter, optional
        What makes a scenario of the tables: then scenario.yaml is written too, and checked.
    now : datetime, optional
        Names the folder, UTC; the current time when left out.

    Returns
    -------
    folder : pathlib.Path
    warnings : tuple of Problem
        What the scenario's checks doubt.

    Raises
    ------
    ReportError
        When a file cannot be written.
    ScenarioError
        When the scenario would not load: of wrong offers, or sizes that the hardware cannot hold.
    """
    warnings: list[Problem] = []

    def fill(folder: Path) -> None:
        write_csv_files(job_tables(history, around.pool if around else None), folder)
        rows: list[Mapping[str, Any]] = [
            each.row(history.rule.preemption_class) for each in history.campaigns
        ]
        _write(folder / "campaigns.csv", table_text("campaigns", rows, "USD"))
        document = json.dumps(job_document(history), indent=1, ensure_ascii=False, allow_nan=False)
        _write(folder / DOCUMENT, document + "\n")
        write_calendar_chart(history, folder / CHART)
        if around is not None:
            if around.offers is not None:
                _write(folder / _OFFERS, around.offers.text)
            _write(folder / SCENARIO, around.text(history))
            warnings.extend(_checked(folder, around))

    home = parent / slug(history.name) / HOME
    return write_folder(home, fill, now=now or datetime.now(UTC)), tuple(warnings)


def _checked(folder: Path, around: Starter) -> list[Problem]:
    """Load the scenario before anyone sees it; its problems name the files of the user."""

    def at_home(problem: Problem) -> Problem:
        where = problem.where
        if around.offers is not None:
            where = where.replace(str(folder / _OFFERS), around.offers.source)
        return replace(problem, where=where.replace(f"{folder}/", ""))

    try:
        return [at_home(each) for each in load(folder / SCENARIO).warnings]
    except ScenarioError as error:
        raise ScenarioError([at_home(each) for each in error.problems]) from error


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
