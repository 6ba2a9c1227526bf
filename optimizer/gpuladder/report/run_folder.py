"""Run folders: everything about one answer, written whole or not at all, and read back.

<parent>/<scenario>/latest                  name of the newest run
<parent>/<scenario>/20260105T093000Z/       plan.json, result.json, scenario.resolved.yaml,
                                            tables/*.csv, report.xlsx, solver.log
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import time
import unicodedata
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from gpuladder.analysis.document import result_document
from gpuladder.errors import Problem, ReportError, ScenarioError
from gpuladder.plan import Plan
from gpuladder.report.csv_files import write_csv_files
from gpuladder.report.tables import all_tables
from gpuladder.report.workbook import write_workbook
from gpuladder.scenario.loading import load
from gpuladder.scenario.writing import dump_yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from gpuladder.analysis.result import Result
    from gpuladder.scenario.schema import Scenario

PLAN = "plan.json"
RESULT = "result.json"
SCENARIO = "scenario.resolved.yaml"
TABLES = "tables"
WORKBOOK = "report.xlsx"
LOG = "solver.log"
LATEST = "latest"

SCHEMA = str(Plan.model_fields["schema_id"].default)
"""Format of the plans that this version writes and reads."""

_SLUG_LIMIT = 60
_HASH_DIGITS = 8
_MOST_RUNS_A_SECOND = 1000
# Names that Windows keeps for devices.
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)")


def write_run(
    result: Result,
    parent: Path,
    log_text: str | None = None,
    document: Mapping[str, Any] | None = None,
    *,
    now: datetime | None = None,
) -> Path:
    """Write a run folder, never over another one; return its path.

    The folder is built beside its final place under a hidden name and then renamed, so that a
    folder that can be seen is complete; what was begun is removed when anything fails.

    Parameters
    ----------
    result : Result
        With or without a plan.
    parent : Path
        Folder of all runs; made when missing.
    log_text : str, optional
        What the solver said; ``result.solver_log`` when left out.
    document : mapping, optional
        Content of ``result.json``; when left out ``result_document(result)``, with the seconds
        that the other files took.
    now : datetime, optional
        Names the folder and dates the workbook, UTC; the current time when left out.

    Raises
    ------
    ReportError
        When a file cannot be written.
    """
    moment = now or datetime.now(UTC)
    log = result.solver_log if log_text is None else log_text
    home = parent / slug(result.scenario.name)

    def point_at(final: Path) -> None:
        _replace_text(home / LATEST, f"{final.name}\n")

    return write_folder(
        home,
        lambda folder: _write_files(folder, result, log, document, moment),
        now=moment,
        then=point_at,
    )


def write_folder(
    home: Path,
    fill: Callable[[Path], None],
    *,
    now: datetime,
    then: Callable[[Path], None] = lambda _: None,
) -> Path:
    """Write a new folder whole or not at all; return its path.

    Parameters
    ----------
    home : Path
        Folder in which it is made; made when missing.
    fill : callable
        Writes the files into the folder it is given.
    now : datetime
        Names the folder, UTC.
    then : callable
        Told the folder once it is in place.

    Raises
    ------
    ReportError
        When a file cannot be written.
    """

    def place(folder: Path) -> Path:
        return _move_into_place(folder, home, f"{now:%Y%m%dT%H%M%SZ}")

    return _write_whole(home, fill, place, then)


def write_named_folder(home: Path, name: str, fill: Callable[[Path], None]) -> Path:
    """Write a new folder of one name whole or not at all, never over another; return its path.

    Raises
    ------
    ReportError
        When there is something of that name, or a file cannot be written.
    """
    final = home / name

    def place(folder: Path) -> Path:
        if os.path.lexists(final):
            raise ReportError(
                Problem(
                    code="GL-F005",
                    where=str(final),
                    what="there is something of that name already",
                    why="what was written before is never overwritten",
                    fix="move it away, or name another folder with --output",
                )
            )
        return folder.rename(final)

    return _write_whole(home, fill, place, lambda _: None)


def _write_whole(
    home: Path,
    fill: Callable[[Path], None],
    place: Callable[[Path], Path],
    then: Callable[[Path], None],
) -> Path:
    """Build a hidden folder in ``home``, let it be filled and put in its place; return its path."""
    try:
        home.mkdir(parents=True, exist_ok=True)
        with _building(home) as folder:
            fill(folder)
            final = place(folder)
        then(final)
    except OSError as error:
        raise ReportError(
            Problem(
                code="GL-F001",
                where=str(error.filename or home),
                what=f"the run cannot be written: {error.strerror or error}",
                why="nothing is kept of a run that is not whole",
                fix="free some space, or name another folder with --output",
            )
        ) from error
    return final


def read_run(path: Path) -> tuple[Scenario, Plan]:
    """Return the scenario and the plan of a saved run.

    Parameters
    ----------
    path : Path
        A run folder, or the folder of a scenario's runs, of which the latest is read.

    Raises
    ------
    ReportError
        When the folder or a file of it is missing, damaged, or of a newer version.
    """
    folder = find_run(path)
    plan = _read_plan(folder / PLAN)
    source = folder / SCENARIO
    if not source.is_file():
        raise ReportError(_missing(source))
    try:
        scenario = load(source).scenario
    except ScenarioError as error:
        damaged = Problem(
            code="GL-F003",
            where=str(source),
            what="the scenario saved with the run cannot be read",
            fix="solve the scenario again",
        )
        raise ReportError([damaged, *error.problems]) from error
    return scenario, plan


def find_run(path: Path) -> Path:
    """Return the run folder that a path names, following ``latest``; see ``read_run``."""
    if not path.is_dir():
        raise ReportError(
            Problem(
                code="GL-F002",
                where=str(path),
                what="there is no such run folder",
                fix="name the folder that `gpuladder solve` wrote; it holds plan.json",
            )
        )
    pointer = path / LATEST
    if (path / PLAN).is_file() or not pointer.is_file():
        return path
    # Only a plain name: a pointer never leads out of its folder.
    name = Path(_read_text(pointer).strip()).name
    return path / name if name else path


def slug(name: str) -> str:
    """Return a scenario's name as a folder name: lower-case ASCII letters, digits and hyphens.

    A name of which nothing is left is told from other such names by the start of its SHA-256.
    """
    ascii_name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    text = re.sub(r"[^a-z0-9]+", "-", ascii_name)[:_SLUG_LIMIT].strip("-")
    if not text:
        return f"scenario-{sha256(name.encode()).hexdigest()[:_HASH_DIGITS]}"
    return f"scenario-{text}" if _RESERVED.fullmatch(text) else text


@contextmanager
def _building(home: Path) -> Iterator[Path]:
    """Give a new hidden folder, and remove it if it is still there in the end."""
    folder = home / f".writing-{secrets.token_hex(8)}"
    folder.mkdir()
    try:
        yield folder
    finally:
        if folder.exists():
            shutil.rmtree(folder, ignore_errors=True)


def _write_files(
    folder: Path,
    result: Result,
    log_text: str,
    document: Mapping[str, Any] | None,
    moment: datetime,
) -> None:
    began = time.monotonic()
    tables = all_tables(result)
    _write_text(folder / PLAN, result.plan.model_dump_json(indent=1) + "\n")
    _write_text(folder / SCENARIO, dump_yaml(result.scenario))
    _write_text(folder / LOG, log_text)
    write_csv_files(tables, folder / TABLES)
    write_workbook(result, tables, folder / WORKBOOK, created=moment)
    if document is None:
        spent = {**result.seconds, "report": round(time.monotonic() - began, 3)}
        document = result_document(replace(result, seconds=spent))
    _write_text(
        folder / RESULT,
        json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n",
    )


def _move_into_place(folder: Path, home: Path, name: str) -> Path:
    """Rename a finished folder to the first free name; another run's folder is never touched."""
    for number in range(1, _MOST_RUNS_A_SECOND):
        final = home / (name if number == 1 else f"{name}-{number}")
        if final.exists():
            continue
        try:
            return folder.rename(final)
        except OSError:
            # Another run took the name in between; a folder with content cannot be renamed over.
            if not final.exists():
                raise
    msg = f"no free name for the run beside {home / name}"
    raise FileExistsError(msg)


def _replace_text(path: Path, text: str) -> None:
    draft = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    try:
        _write_text(draft, text)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def _read_plan(path: Path) -> Plan:
    if not path.is_file():
        raise ReportError(_missing(path))
    text = _read_text(path)
    try:
        content = json.loads(text)
    except ValueError as error:
        raise ReportError(_damaged(path, f"it is not JSON: {error}")) from error
    schema = content.get("schema_id") if isinstance(content, dict) else None
    if schema != SCHEMA:
        raise ReportError(_other_schema(path, schema))
    try:
        return Plan.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ReportError(_damaged(path, f"{place}: {first['msg']}")) from error


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ReportError(_damaged(path, str(error))) from error


def _missing(path: Path) -> Problem:
    return Problem(
        code="GL-F002",
        where=str(path),
        what="the file is missing",
        why="a run cannot be read without it",
        fix="name a folder that `gpuladder solve` wrote, or solve the scenario again",
    )


def _damaged(path: Path, detail: str) -> Problem:
    return Problem(
        code="GL-F003",
        where=str(path),
        what=f"the file is damaged: {detail}",
        fix="restore it, or solve the scenario again",
    )


def _other_schema(path: Path, schema: object) -> Problem:
    family, _, known = SCHEMA.rpartition("/")
    version = schema.removeprefix(f"{family}/") if isinstance(schema, str) else ""
    if version.isdigit() and int(version) > int(known):
        return Problem(
            code="GL-F004",
            where=str(path),
            what=f"the plan has format {schema}; this version reads {SCHEMA}",
            why="a newer gpuladder wrote it, and may mean something else by it",
            fix="update gpuladder",
        )
    return _damaged(path, f"it does not say that its format is {SCHEMA}")
