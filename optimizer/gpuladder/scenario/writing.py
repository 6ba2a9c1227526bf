"""Write a scenario: as one YAML file, or as a folder of CSV files. What is written loads again."""

from __future__ import annotations

import csv
import io
import json
import secrets
from collections.abc import Mapping
from datetime import datetime, time
from pathlib import Path
from typing import Any

import yaml

from gpuladder.errors import Problem, UsageError
from gpuladder.scenario.columns import columns
from gpuladder.scenario.fingerprint import canonical
from gpuladder.scenario.schema import Scenario
from gpuladder.scenario.source import TABLES

REQUIRED_TABLES = tuple(name for name in TABLES if Scenario.model_fields[name].is_required())
_EXACT = 1e15
"""Whole numbers below this are written without a decimal point."""
_SafeDumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def plain(scenario: Scenario) -> dict[str, Any]:
    """Return the scenario as plain values in reading order, defaults left out.

    Dates are ISO text; a demand row at midnight has a date only.
    """
    content = canonical(scenario)
    for row in content.get("demand", ()):
        row["at"] = _moment_text(row["at"])
    for name in TABLES:
        order = {column.key: rank for rank, column in enumerate(columns(name, scenario.currency))}
        content[name] = [
            dict(sorted(row.items(), key=lambda item: order[item[0]]))
            for row in content.get(name, ())
        ]
    return {
        key: _tidy(content[key])
        for key in Scenario.model_fields
        if content.get(key) or key in REQUIRED_TABLES or isinstance(content.get(key), float)
    }


def _tidy(value: Any) -> Any:
    """Return a value as a person would write it: 40 for 40.0, and sizes as numbers."""
    if isinstance(value, dict):
        return {int(k) if _is_whole(k) else k: _tidy(item) for k, item in value.items()}
    if isinstance(value, list):
        return [_tidy(item) for item in value]
    if isinstance(value, float) and value.is_integer() and 0 < abs(value) < _EXACT:
        return int(value)
    return 0 if value == 0 and str(value) == "0.0" else value


def _is_whole(key: str) -> bool:
    return key.isascii() and key.isdigit() and str(int(key)) == key


def to_yaml(value: Any) -> str:
    """Return plain values as YAML: sections in blocks, rows on one line each."""
    text: str = yaml.dump(
        value,
        Dumper=_SafeDumper,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=None,
        width=10_000,
    )
    return text


def dump_yaml(scenario: Scenario) -> str:
    """Return the scenario as one YAML document.

    The document is YAML 1.2, leaves defaults out and loads to an equal ``Scenario``. A row of a
    table is one line of JSON, which YAML 1.2 reads as it stands: no quoting rules to get wrong,
    and a demand series of many thousand rows takes milliseconds.
    """
    content = plain(scenario)
    tables = {name: content.pop(name) for name in TABLES if content.get(name)}
    lines = [to_yaml(content)]
    for name, rows in tables.items():
        lines.append(f"{name}:\n")
        lines += [f"  - {json.dumps(row, ensure_ascii=False, allow_nan=False)}\n" for row in rows]
    return "".join(lines)


def dump_folder(scenario: Scenario, folder: Path, *, with_units: bool = False) -> None:
    """Write the scenario as a folder: ``scenario.yaml`` and one CSV file per table.

    Parameters
    ----------
    scenario : Scenario
    folder : pathlib.Path
        Created when it is not there.
    with_units : bool
        Write the unit behind each column's key, in brackets.

    Raises
    ------
    UsageError
        When one of the files is there already.
    """
    content = plain(scenario)
    folder.mkdir(parents=True, exist_ok=True)
    for name in TABLES:
        rows = content.pop(name, None)
        if rows is not None or name in REQUIRED_TABLES:
            text = table_text(name, rows or [], scenario.currency, with_units=with_units)
            write_new(folder / f"{name}.csv", text)
    write_new(folder / "scenario.yaml", to_yaml(content))


def table_text(
    name: str,
    rows: list[Mapping[str, Any]],
    currency: str,
    *,
    with_units: bool = False,
    all_columns: bool = False,
) -> str:
    """Return a table as CSV text; columns that no row uses are left out unless asked for."""
    used = {key for row in rows for key in row}
    kept = [
        column
        for column in columns(name, currency)
        if all_columns or column.key in used or (not rows and column.is_required)
    ]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([column.header if with_units else column.key for column in kept])
    writer.writerows([cell_text(row.get(column.key)) for column in kept] for row in rows)
    return out.getvalue()


def cell_text(value: Any) -> str:
    """Return a value as the text of a cell; lists and mappings as YAML on one line."""
    if value is None:
        return ""
    if isinstance(value, (list, dict)):
        text: str = yaml.dump(
            value,
            Dumper=_SafeDumper,
            sort_keys=False,
            allow_unicode=True,
            default_flow_style=True,
            width=1_000_000,
        )
        return text.strip()
    return repr(value) if isinstance(value, float) else str(value)


def write_new(path: Path, text: str) -> None:
    """Write a text file that must not be there yet, whole or not at all.

    Raises
    ------
    UsageError
        When it is, or cannot be written.
    """
    draft = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    try:
        draft.write_text(text, encoding="utf-8", newline="\n")
        _name_new(draft, path)
    except FileExistsError as error:
        raise already_there(path) from error
    except OSError as error:
        reason = (error.strerror or "cannot be written").lower()
        raise UsageError(Problem(code="GL-S010", what=f"{reason}: {path}")) from error
    finally:
        draft.unlink(missing_ok=True)


def _name_new(draft: Path, path: Path) -> None:
    """Give a finished file its name, never one that is taken.

    Only a link refuses a taken name in one step; where a file system has none, look first.
    """
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        raise
    except OSError:
        if path.exists():
            raise FileExistsError(path) from None
        draft.rename(path)


def already_there(path: Path) -> UsageError:
    """Return the error that a file is there already."""
    return UsageError(
        Problem(
            code="GL-S010",
            what=f"there already: {path}",
            why="a file is never overwritten",
            fix="choose another name, or move it away",
        )
    )


def _moment_text(text: str) -> str:
    moment = datetime.fromisoformat(text)
    if moment.time() == time():
        return moment.date().isoformat()
    if moment.second or moment.microsecond:
        return moment.isoformat(sep=" ")
    return moment.isoformat(sep=" ", timespec="minutes")
