"""A commented scenario to start from, in any of the three forms."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from gpuladder.errors import Problem, UsageError
from gpuladder.scenario.columns import columns
from gpuladder.scenario.loading import load
from gpuladder.scenario.source import TABLES
from gpuladder.scenario.writing import already_there, plain, table_text, write_new

Form = Literal["yaml", "csv", "xlsx"]
TEMPLATE = Path(__file__).with_name("template.yaml")
MAIN_NOTES = {
    "name": "short name of the scenario",
    "description": "free text",
    "currency": "ISO 4217 code, shown everywhere",
    "horizon.start": "first day",
    "horizon.end": "day after the last day",
    "horizon.step": "length of the periods: day, week, month or quarter; or a sheet "
    "`horizon.segments` with `until` and `step` instead of end and step",
    "discount_rate": "effective, per year; default 0",
    "policy.ladder.window": "in each such window …",
    "policy.ladder.max_expiring_share": "… at most this share of the committed GPUs may expire",
    "policy.ladder.exempt_gpus": "GPUs that may expire in a window on top",
    "policy.ladder.min_tenor": "shorter terms do not count; default: the window",
    "policy.spot_share_max": "of all campaigns' work",
    "policy.provider_share_max": "of all GPU-hours; a number for every provider, or {alpha: 0.8}",
    "policy.committed_gpus_max": "committed GPUs in any period, held ones included",
    "policy.tail_charge": "share of the cost after the horizon that counts",
    "solver.time_limit_seconds": "the best plan found by then is kept",
    "solver.relative_gap": "stop when the plan is proven to be this close to the best",
}


def write_template(name: str, form: Form = "yaml", directory: Path | None = None) -> Path:
    """Write a small, commented, valid scenario and return where it is.

    Parameters
    ----------
    name : str
        Name of the scenario; the file is ``name.yaml`` or ``name.xlsx``, the folder ``name``.
    form : {"yaml", "csv", "xlsx"}
        One file, a folder with ``scenario.yaml`` and CSV tables, or a workbook.
    directory : pathlib.Path, optional
        Where to write it; the current folder when left out.

    Raises
    ------
    UsageError
        When the name is no file name, or the file or folder is there already.
    """
    if not re.fullmatch(r"[\w][\w .-]*", name) or name != name.strip(" ."):
        raise UsageError(
            Problem(
                code="GL-S010",
                what=f"not a name for a file: {name!r}",
                fix="use letters, digits, blanks, dots and dashes; no path",
            )
        )
    folder = directory or Path()
    if form == "xlsx":
        return _write_workbook(name, folder / f"{name.removesuffix('.xlsx')}.xlsx")
    text = _named(TEMPLATE.read_text(encoding="utf-8"), name)
    if form == "yaml":
        path = folder / (name if name.endswith((".yaml", ".yml")) else f"{name}.yaml")
        _make_folder(folder)
        write_new(path, text)
        return path
    return _write_folder(text, folder / name)


def _named(text: str, name: str) -> str:
    stem = Path(name).stem if name.endswith((".yaml", ".yml")) else name
    return re.sub(r"^name: .*\n", lambda _: f'name: "{stem}"\n', text, count=1, flags=re.MULTILINE)


def _write_folder(text: str, folder: Path) -> Path:
    if folder.exists():
        raise already_there(folder)
    scenario = load(TEMPLATE).scenario
    content = plain(scenario)
    for table in TABLES:
        text = _link(text, table, scenario.currency)
    _make_folder(folder)
    write_new(folder / "scenario.yaml", text)
    for table in TABLES:
        rows = table_text(
            table, content[table], scenario.currency, with_units=True, all_columns=True
        )
        write_new(folder / f"{table}.csv", rows)
    return folder


def _link(text: str, table: str, currency: str) -> str:
    """Replace the rows of a table by the path of its CSV, and name its columns above."""
    notes = [
        f"#   {column.header}: {column.note}" if column.note else f"#   {column.header}"
        for column in columns(table, currency)
    ]
    block = "\n".join(["# Columns of the file; [units] in its header are not read:", *notes])
    return re.sub(
        rf"^{table}:\n(?:  .*\n)+",
        lambda _: f"{block}\n{table}: {table}.csv\n",
        text,
        count=1,
        flags=re.MULTILINE,
    )


def _write_workbook(name: str, path: Path) -> Path:
    from gpuladder.scenario.workbook_writer import dump_workbook  # slow to import

    scenario = load(TEMPLATE).scenario.model_copy(update={"name": name.removesuffix(".xlsx")})
    _make_folder(path.parent)
    dump_workbook(scenario, path, all_columns=True, notes=MAIN_NOTES)
    return path


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = (error.strerror or "cannot be made").lower()
        raise UsageError(Problem(code="GL-S010", what=f"{reason}: {folder}")) from error
