"""Reading a table from a CSV file, the row of every value kept."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, Any

from gpuladder.errors import ScenarioError
from gpuladder.scenario.source import RawList, RawMap, reading_problem
from gpuladder.scenario.yaml_reader import read_flow

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

_UNIT_NOTE = re.compile(r"\s*\[[^\]]*\]\s*$")
MAX_CELL_CHARACTERS = 131_072


def read_text(path: Path) -> str:
    """Return the text of a UTF-8 file, with or without a byte order mark.

    Raises
    ------
    ScenarioError
        When the file is missing, not readable, or not UTF-8 text.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        reason = error.strerror or "cannot be read"
        raise ScenarioError(
            reading_problem("GL-S001", f"{reason.lower()}: {path}", fix="check the path")
        ) from error
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ScenarioError(
            reading_problem(
                "GL-S007",
                f"not UTF-8 text (byte {content[error.start]:#04x})",
                where=f"{path}:{line}",
                why="another encoding would turn names into other names without a word",
                fix='save it as "UTF-8"; in Excel: "CSV UTF-8 (comma delimited)"',
            )
        ) from error
    if "\x00" in text:
        raise ScenarioError(reading_problem("GL-S007", "a binary file, not text", where=str(path)))
    return text


def header_key(text: str) -> str:
    """Return the key of a column header: the unit note in brackets behind it is dropped."""
    return _UNIT_NOTE.sub("", text.strip())


def cell_value(text: str, key: str, place: str) -> Any:
    """Return the value of a text cell: a list or mapping when it begins with ``[`` or ``{``."""
    text = text.strip()
    return read_flow(text, place, key=key) if text[:1] in ("[", "{") else text


def header_keys(cells: Sequence[str], place: str) -> list[str]:
    """Return the keys of a header row, empty trailing columns kept as empty text.

    Raises
    ------
    ScenarioError
        When a key stands twice, or the file is separated by semicolons.
    """
    keys = [header_key(cell) for cell in cells]
    if len(keys) == 1 and (";" in keys[0] or "\t" in keys[0]):
        raise ScenarioError(
            reading_problem(
                "GL-S005",
                "columns are separated by semicolons or tabs",
                where=place,
                why="such files often write decimal commas, which would change every number",
                fix="save it separated by commas, with decimal points",
            )
        )
    doubles = sorted({key for key in keys if key and keys.count(key) > 1})
    if doubles:
        raise ScenarioError(
            reading_problem(
                "GL-S003", f"the column `{doubles[0]}` stands twice in the header", where=place
            )
        )
    return keys


def read_csv(path: Path, source: str | None = None) -> RawList:
    """Return the rows of a CSV file: UTF-8, comma-separated, one header row.

    Wholly empty rows are skipped, an empty cell leaves its key out, and a cell that begins with
    ``[`` or ``{`` is read as YAML.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    source : str, optional
        Name shown in messages as ``source:line``; the path when left out.

    Raises
    ------
    ScenarioError
        When the file cannot be read as such; all problems of the file at once.
    """
    source = source or str(path)
    text = read_text(path)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(reader, None)
        if header is None:
            raise ScenarioError(
                reading_problem(
                    "GL-S005", "the file is empty", where=source, fix="write a header row"
                )
            )
        keys = header_keys(header, f"{source}:1")
        return _rows(source, keys, reader)
    except csv.Error as error:
        raise ScenarioError(
            reading_problem(
                "GL-S005", f"not a CSV file: {error}", where=f"{source}:{reader.line_num}"
            )
        ) from error


def _rows(source: str, keys: list[str], reader: Any) -> RawList:
    rows = RawList(f"{source}:1")
    problems = []
    begin = reader.line_num + 1
    for cells in reader:
        place = f"{source}:{begin}"
        begin = reader.line_num + 1
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) > len(keys) and any(cell.strip() for cell in cells[len(keys) :]):
            problems.append(
                reading_problem(
                    "GL-S005",
                    f"{len(cells)} values for {len(keys)} columns",
                    where=place,
                    why="perhaps a decimal comma, or a comma in a name",
                    fix='write decimals with a point and put text with commas in double quotes "…"',
                )
            )
            continue
        try:
            rows.add(row_map(zip(keys, cells, strict=False), place), place)
        except ScenarioError as error:
            problems.extend(error.problems)
    if problems:
        raise ScenarioError(problems)
    return rows


def row_map(pairs: Iterable[tuple[str, str]], place: str) -> RawMap:
    """Return one row from its keys and text cells."""
    row = RawMap(place)
    for key, cell in pairs:
        value = cell_value(cell, key, place)
        if value == "":
            continue
        if not key:
            raise ScenarioError(
                reading_problem("GL-S005", f"the value {cell!r} has no column header", where=place)
            )
        row.put(key, value, place)
    return row
