"""From a path to the raw tree: one YAML file, a folder of CSV files, or a workbook."""

from __future__ import annotations

import difflib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuladder.errors import Problem, ScenarioError, Severity
from gpuladder.scenario.csv_reader import read_csv, read_text
from gpuladder.scenario.source import (
    NESTED_TABLES,
    TABLES,
    RawDocument,
    RawMap,
    reading_problem,
)
from gpuladder.scenario.yaml_reader import read_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

YAML_SUFFIXES = (".yaml", ".yml", ".json")
MAIN_FILES = ("scenario.yaml", "scenario.yml", "scenario.json")


def load_raw(path: Path) -> RawDocument:
    """Return the raw tree of a scenario in any of its three forms.

    Parameters
    ----------
    path : pathlib.Path
        A YAML (or JSON) file, an ``.xlsx`` workbook, or a folder with ``scenario.yaml`` and CSVs.

    Raises
    ------
    ScenarioError
        When it cannot be read; the problems say where.
    """
    suffix = path.suffix.lower()
    if path.is_dir():
        return _load_folder(path)
    if not path.exists():
        raise ScenarioError(
            reading_problem("GL-S001", f"no such file or folder: {path}", fix="check the path")
        )
    if suffix in YAML_SUFFIXES:
        return load_yaml(path)
    if suffix in (".xlsx", ".xlsm"):
        from gpuladder.scenario.workbook_reader import read_workbook  # openpyxl is slow to import

        return read_workbook(path)
    fixes = {
        ".csv": "give the folder that holds scenario.yaml and this file",
        ".xls": "save it as .xlsx",
        ".ods": "save it as .xlsx",
    }
    raise ScenarioError(
        reading_problem(
            "GL-S001",
            f"not a scenario: {path}",
            why="a scenario is a .yaml file, an .xlsx, or a folder of scenario.yaml and CSVs",
            fix=fixes.get(suffix, "name the file by what it holds, e.g. scenario.yaml"),
        )
    )


def load_yaml(path: Path) -> RawDocument:
    """Return the raw tree of one YAML file; tables given as the path of a CSV are read."""
    root = read_yaml(read_text(path), str(path))
    if not isinstance(root, RawMap):
        found = "empty" if root is None else f"a {'list' if isinstance(root, list) else 'value'}"
        raise ScenarioError(
            reading_problem(
                "GL-S002",
                f"the file is {found}, not a mapping of keys",
                where=f"{path}:1",
                fix="start from the template: gpuladder new NAME",
            )
        )
    sources = read_linked_tables(root, path.parent)
    return RawDocument(root, path, sources=(path, *sources))


def read_linked_tables(root: RawMap, folder: Path) -> list[Path]:
    """Read every table that is written as the path of a CSV file, in place."""
    problems: list[Problem] = []
    sources = []
    for holder, key in table_slots(root):
        name = holder.get(key)
        if not isinstance(name, str):
            continue
        place = holder.places.get(key, holder.place)
        try:
            path = _linked_path(name, folder, f"{place} {key}")
            holder[key] = read_csv(path)
            sources.append(path)
        except ScenarioError as error:
            problems += error.problems
            holder[key] = None
    if problems:
        raise ScenarioError(problems)
    return sources


def table_slots(root: RawMap) -> Iterator[tuple[RawMap, str]]:
    """Yield where each table stands, or could stand, in a raw tree."""
    for name in TABLES:
        yield root, name
    for name in NESTED_TABLES:
        section, key = name.split(".")
        holder = root.get(section)
        if isinstance(holder, RawMap):
            yield holder, key


def _linked_path(name: str, folder: Path, where: str) -> Path:
    path = Path(name)
    reason = None
    if "://" in name or path.is_absolute() or path.suffix.lower() != ".csv":
        reason = f"a table, or the path of a CSV file beside it, is needed, not {name!r}"
    elif not (folder / path).is_file():
        reason = f"no such file: {folder / path}"
    if reason is not None:
        raise ScenarioError(
            reading_problem(
                "GL-S001", reason, where=where, fix="write a relative path such as `demand.csv`"
            )
        )
    return folder / path


def _load_folder(folder: Path) -> RawDocument:
    main = next((folder / name for name in MAIN_FILES if (folder / name).is_file()), None)
    if main is None:
        raise ScenarioError(
            reading_problem(
                "GL-S001",
                f"no scenario.yaml in the folder {folder}",
                fix="it holds `name`, `horizon`, `policy`; the tables may be CSV files beside it",
            )
        )
    root = read_yaml(read_text(main), str(main))
    if root is None:
        root = RawMap(f"{main}:1")
    if not isinstance(root, RawMap):
        raise ScenarioError(
            reading_problem("GL-S002", "the file is not a mapping of keys", where=f"{main}:1")
        )
    document = RawDocument(root, folder, sources=(main,))
    linked = {
        value for holder, key in table_slots(root) if isinstance(value := holder.get(key), str)
    }
    problems: list[Problem] = []
    notices: list[Problem] = []
    sources = [main]
    for path in sorted(folder.glob("*.csv")):
        if path.name in linked:
            continue
        try:
            if place_table(root, path.stem, path):
                sources.append(path)
            else:
                notices.append(unread_notice(str(path), path.stem))
        except ScenarioError as error:
            problems += error.problems
    try:
        sources += read_linked_tables(root, folder)
    except ScenarioError as error:
        problems += error.problems
    if problems:
        raise ScenarioError(problems)
    return replace(document, notices=tuple(notices), sources=tuple(sources))


def place_table(root: RawMap, name: str, path: Path) -> bool:
    """Read the CSV of a table into the tree; False when there is no table of that name."""
    if name not in TABLES and name not in NESTED_TABLES:
        return False
    put_table(root, name, read_csv(path), f"{path}:1")
    return True


def put_table(root: RawMap, name: str, rows: Any, place: str) -> None:
    """Put a table into the tree under its (dotted) name.

    Raises
    ------
    ScenarioError
        When the table is there already.
    """
    holder = root
    *sections, key = name.split(".")
    for section in sections:
        if section not in holder:
            holder.put(section, RawMap(place), place)
        holder = holder[section]
    if holder.get(key) is not None:
        raise ScenarioError(
            reading_problem(
                "GL-S009",
                f"the table `{name}` is given twice",
                where=place,
                why=f"it also stands at {holder.places[key]}",
                fix="keep one of the two",
            )
        )
    holder.put(key, rows, place)


def unread_notice(where: str, name: str) -> Problem:
    """Return the notice that a file or sheet was not read, or the error of a misspelt one."""
    close = difflib.get_close_matches(name.lower(), (*TABLES, *NESTED_TABLES), n=1, cutoff=0.75)
    if close:
        raise ScenarioError(
            reading_problem(
                "GL-S009",
                f"`{name}` is not a table; did you mean `{close[0]}`?",
                where=where,
                fix="rename it, or keep it elsewhere",
            )
        )
    return Problem(
        code="GL-S009",
        what=f"`{name}` is not a table of a scenario and was not read",
        where=where,
        severity=Severity.WARNING,
    )
