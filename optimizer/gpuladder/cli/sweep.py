"""``gpuladder sweep``: the same scenario for every combination of some keys' values."""

from __future__ import annotations

import sys
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

from gpuladder.cli.console import Console, Exit
from gpuladder.cli.options import common, console_of, output, overrides, solver_flags

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpuladder.analysis.sweep import Sweep

CELLS = "cells"
SWEEPS = "sweeps"
DOCUMENT = "sweep.json"


@click.command(short_help="Solve the scenario over a grid of values of some keys.")
@click.argument("scenario", type=click.Path(path_type=Path))
@click.option(
    "vary",
    "--vary",
    multiple=True,
    required=True,
    metavar="KEY=VALUES",
    help="Values of one key: key=a,b,c or key=low..high:n (numbers or dates). Given several "
    "times, every combination is solved.",
)
@overrides
@output
@click.option(
    "--cache",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Folder of finished cells, which are not solved again. By default beside the sweeps.",
)
@click.option("--no-cache", is_flag=True, help="Keep no finished cells, and take none over.")
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    metavar="N",
    help="Cells solved at a time, with one thread each; one per core when left out.",
)
@click.option(
    "--skip-wrong", is_flag=True, help="Solve the other cells when some are refused as scenarios."
)
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Stop the search of a cell after so many seconds; its best plan so far is kept.",
)
@click.option(
    "--gap",
    type=click.FloatRange(min=0),
    metavar="SHARE",
    help="Stop when a plan is proven this close to the best possible one, e.g. 0.005.",
)
@common
@click.pass_context
def sweep(
    context: click.Context,
    scenario: Path,
    vary: tuple[str, ...],
    settings: tuple[str, ...],
    overlays: tuple[Path, ...],
    output: Path,
    cache: Path | None,
    no_cache: bool,
    workers: int | None,
    skip_wrong: bool,
    time_limit: float | None,
    gap: float | None,
) -> None:
    """Solve SCENARIO for every combination of the values given with --vary.

    Costs, gaps and commitments of all cells go to stdout as a table, and with CSV and JSON files
    to a new folder below --output. Interrupted, it goes on where it was when started again.

    A cell without a plan is an answer, not a failure: exit code 0 means that every cell was
    answered. It is 3 when a cell stopped at a limit, 4 when the solver ended without an answer,
    and 1 when a plan does not stand up to the audit.
    """
    from gpuladder.analysis.sweep import require_right, solve_grid
    from gpuladder.analysis.sweep_grid import read_axes, read_cells
    from gpuladder.report.run_folder import slug
    from gpuladder.report.tables_sweep import sweep_text

    console = console_of(context)
    axes = read_axes(vary)
    cells = read_cells(
        scenario,
        axes,
        overrides=(*settings, *solver_flags(time_limit=time_limit, gap=gap)),
        overlays=overlays,
    )
    require_right(axes, cells, skip_wrong=skip_wrong)
    name = next(cell.scenario.name for cell in cells if cell.scenario is not None)
    home = output / slug(name) / SWEEPS
    kept = None if no_cache else cache or home / CELLS
    with _Bar(console) as show:
        found = solve_grid(axes, cells, cache=kept, workers=workers, on_progress=show)
    console.problems(found.warnings)
    folder = write_sweep(found, home)
    console.document(found.record())
    console.data(sweep_text(found))
    console.talk(_last_line(found, folder, is_kept=kept is not None))
    context.exit(verdict(found))


def verdict(found: Sweep) -> int:
    """Return the exit code of a sweep; the worst of what happened."""
    endings = (
        (found.is_interrupted, Exit.INTERRUPTED),
        (found.count("refused"), Exit.ANSWER_IS_NO),
        (any(cell.note == "solver_error" for cell in found.cells), Exit.NO_PLAN),
        (found.count("feasible", "no_plan"), Exit.STOPPED_AT_LIMIT),
    )
    return next((code for happened, code in endings if happened), Exit.DONE)


def write_sweep(found: Sweep, home: Path) -> Path:
    """Write a sweep's folder, never over another one; return its path."""
    import json
    from datetime import UTC, datetime

    from gpuladder.report.csv_files import write_csv_files
    from gpuladder.report.run_folder import write_folder
    from gpuladder.report.tables_sweep import sweep_tables

    def fill(folder: Path) -> None:
        write_csv_files(sweep_tables(found), folder)
        text = json.dumps(found.record(), indent=1, ensure_ascii=False, allow_nan=False)
        (folder / DOCUMENT).write_text(text + "\n", encoding="utf-8", newline="\n")

    return write_folder(home, fill, now=datetime.now(UTC))


def _last_line(found: Sweep, folder: Path, *, is_kept: bool) -> str:
    """Return what to say last: how many cells ended how, and where the files are."""
    from gpuladder.analysis.sweep import STATUSES

    counts = {status: found.count(status) for status in STATUSES}
    said = ", ".join(f"{n} {status.replace('_', ' ')}" for status, n in counts.items() if n)
    reused = sum(cell.is_reused for cell in found.cells)
    said += f"; {reused} taken over" if reused else ""
    ended = "Interrupted" if found.is_interrupted else "Done"
    line = f"{ended}: {len(found.cells)} cells ({said}). Files: {quote(str(folder))}"
    if found.is_interrupted and is_kept:
        line += ". Next: start it again; finished cells are not solved again"
    return line


class _Bar:
    """One line that moves, on a terminal only."""

    WIDTH = 30

    def __init__(self, console: Console) -> None:
        self._is_shown = console.shows_progress
        self._is_open = False

    def __enter__(self) -> Callable[[int, int], None]:
        return self.show

    def __exit__(self, *_: object) -> None:
        if self._is_open:
            sys.stderr.write("\n")

    def show(self, done: int, total: int) -> None:
        """Draw the bar over its last state."""
        if not self._is_shown:
            return
        self._is_open = True
        full = self.WIDTH * done // max(total, 1)
        sys.stderr.write(f"\r[{'#' * full:<{self.WIDTH}}] {done} of {total} cells solved")
        sys.stderr.flush()
