"""Which column of a file holds what: stated by the user, or known by its name; never guessed."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpuladder.errors import Problem, UsageError
from gpuladder.scenario.csv_reader import read_text
from gpuladder.scenario.yaml_reader import read_yaml

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """Something that an import reads from a column.

    Attributes
    ----------
    name : str
        Name in ``--column name=COLUMN``; also the column that it is found under without one.
    meaning : str
        What it holds, with its unit.
    also : tuple of str
        Other columns that mean the same wherever they occur.
    required : bool
        Whether a file without it is refused.
    """

    name: str
    meaning: str
    also: tuple[str, ...] = ()
    required: bool = True


def column_map(pairs: Iterable[str], file: Path | None = None) -> dict[str, str]:
    """Return the columns by field, from ``field=column`` pairs and a YAML file of the same.

    A pair on the command line wins over the file.

    Raises
    ------
    UsageError
        When a pair has no equals sign, a field stands twice, or the file is no such mapping.
    ScenarioError
        When the file cannot be read or is not YAML.
    """
    stated: dict[str, str] = {}
    for pair in pairs:
        field, sign, column = (part.strip() for part in pair.partition("="))
        if not (field and sign and column):
            raise UsageError(
                Problem(
                    code="GL-I006",
                    where="--column",
                    what=f"not a field and its column: {pair!r}",
                    fix="write it as FIELD=COLUMN, such as gpus=num_gpus",
                )
            )
        if field in stated:
            raise UsageError(
                Problem(code="GL-I006", where="--column", what=f"`{field}` is given twice")
            )
        stated[field] = column
    return stated if file is None else {**_read_map(file), **stated}


def _read_map(file: Path) -> dict[str, str]:
    content = read_yaml(read_text(file), str(file))
    if not isinstance(content, dict) or not all(isinstance(v, str) for v in content.values()):
        raise UsageError(
            Problem(
                code="GL-I006",
                where=str(file),
                what="not a map of columns",
                fix="write one line for each field: `gpus: num_gpus`",
            )
        )
    return {str(field): column.strip() for field, column in content.items()}


def find_columns(
    fields: Sequence[Field], header: Sequence[str], stated: Mapping[str, str], where: str
) -> dict[str, int]:
    """Return the position in the header of each field that the file has.

    Parameters
    ----------
    fields : sequence of Field
        What the import can read.
    header : sequence of str
        Names of the file's columns.
    stated : mapping of str to str
        Columns by field, as the user gave them.
    where : str
        Place of the header, for messages.

    Raises
    ------
    UsageError
        When a column is missing, a field is unknown, or a column cannot be told from another; all
        of them at once.
    """
    known = {field.name: field for field in fields}
    problems = [_unknown_field(name, known, where) for name in stated if name not in known]
    found: dict[str, int] = {}
    for field in fields:
        names = [stated[field.name]] if field.name in stated else [field.name, *field.also]
        places = [index for index, name in enumerate(header) if name in names]
        if not places and field.name not in stated:  # no exact name: case does not matter
            lowered = {name.casefold() for name in names}
            places = [i for i, name in enumerate(header) if name.casefold() in lowered]
        if len(places) > 1:
            problems.append(_several(field, [header[index] for index in places], where))
        elif places:
            found[field.name] = places[0]
        elif field.required or field.name in stated:
            problems.append(_missing(field, names, header, where))
    if problems:
        raise UsageError(problems)
    return found


def near(word: str, words: Iterable[str]) -> str:
    """Return `` ; did you mean …?`` for the nearest of the words, or nothing when none is near."""
    options = {item.casefold(): item for item in words}
    close = difflib.get_close_matches(word.casefold(), options, n=1, cutoff=0.6)
    return f"; did you mean `{options[close[0]]}`?" if close else ""


def _unknown_field(name: str, known: Mapping[str, Field], where: str) -> Problem:
    return Problem(
        code="GL-I006",
        where=where,
        what=f"there is no field `{name}`{near(name, known)}",
        why="a column under a name that nothing reads would not count",
        fix=f"fields: {', '.join(known)}",
    )


def _several(field: Field, columns: Sequence[str], where: str) -> Problem:
    shown = " and ".join(f"`{name}`" for name in columns)
    return Problem(
        code="GL-I006",
        where=where,
        what=f"several columns could be `{field.name}` ({field.meaning}): {shown}",
        fix=f"say which: --column {field.name}={columns[0]}; columns of one name must be renamed",
    )


def _missing(field: Field, names: Sequence[str], header: Sequence[str], where: str) -> Problem:
    shown = " or ".join(f"`{name}`" for name in names)
    return Problem(
        code="GL-I003",
        where=where,
        what=f"no column {shown} ({field.meaning}){near(names[0], filter(None, header))}",
        why=f"columns of the file: {', '.join(filter(None, header)) or 'none'}",
        fix=f"name the column: --column {field.name}=COLUMN",
    )
