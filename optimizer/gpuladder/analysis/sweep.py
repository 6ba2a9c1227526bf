"""Sweeps: one scenario solved for every combination of some keys' values.

    from gpuladder.analysis.sweep import sweep

    found = sweep("scenario.yaml", {"offers.od.price": [2, 2.5, 3], "policy.tail_charge": "0..1:3"})
    for cell in found.cells:
        print(cell.values, cell.status, cell.cost)

Every cell is a scenario of its own, solved from nothing with one thread: its answer is the one that
``gpuladder solve`` gives for the same values and one thread, and does not depend on the other cells
nor on how many are solved at a time. Where plans of different structure cost about the same, which
of them a cell shows is a matter of the gap; a change of structure is worth no more than that.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import closing, contextmanager, suppress
from multiprocessing import active_children
from pathlib import Path
from typing import TYPE_CHECKING, cast

from gpuladder.analysis.sweep_cells import (
    Answer,
    Task,
    cell_name,
    read_cell,
    single_threaded,
    solve_cell,
    unwritable,
)
from gpuladder.analysis.sweep_grid import (
    Cell,
    Source,
    Vary,
    read_axes,
    read_cells,
    wrong_cells,
)
from gpuladder.analysis.sweep_result import STATUSES, Axis, CellRow, Sweep
from gpuladder.analysis.sweep_rows import cell_row, compared
from gpuladder.errors import ScenarioError
from gpuladder.executor import run_tasks
from gpuladder.plan import Termination
from gpuladder.solving import versions

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
    from multiprocessing.process import BaseProcess
    from types import FrameType

__all__ = ["STATUSES", "CellRow", "Sweep", "sweep"]

PAUSE_SECONDS = 0.2
GRACE_SECONDS = 10.0
"""How long processes may take to end after an interrupt, and the pauses between reminders."""


def sweep(
    source: Source,
    vary: Sequence[str] | Vary,
    *,
    overrides: Sequence[str] = (),
    overlays: Sequence[str | Path] = (),
    cache: str | Path | None = None,
    workers: int | None = None,
    skip_wrong: bool = False,
    on_progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> Sweep:
    """Solve a scenario for every combination of some keys' values.

    Parameters
    ----------
    source : str, pathlib.Path, Scenario or Loaded
        The scenario.
    vary : sequence of str, or mapping
        Texts such as ``offers.od.price=2,2.5,3`` or ``offers.od.price=2..3:5``, or values by key.
        The last key moves fastest.
    overrides, overlays
        Laid over the scenario before the values of a cell; see ``gpuladder.load``.
    cache : path, optional
        Folder with one file per finished cell; made when missing. What is there is not solved
        again.
    workers : int, optional
        Processes; one per core when left out. Answers do not depend on it.
    skip_wrong : bool
        Solve the other cells when some are refused as scenarios.
    on_progress : callable, optional
        Told how many of how many cells are done; first before anything is solved.

    Returns
    -------
    Sweep
        All cells, in the order of the grid. After an interrupt the finished ones, the others
        marked ``not_solved``.

    Raises
    ------
    UsageError
        When ``vary`` is wrong.
    ScenarioError
        When the scenario is wrong in any cell (with ``skip_wrong``: in all); all problems of all
        cells at once, before anything is solved.
    ReportError
        When the folder for finished cells cannot be written.
    """
    axes = read_axes(vary)
    cells = read_cells(source, axes, overrides=overrides, overlays=overlays)
    require_right(axes, cells, skip_wrong=skip_wrong)
    return solve_grid(axes, cells, cache=cache, workers=workers, on_progress=on_progress)


def require_right(axes: Sequence[Axis], cells: Sequence[Cell], *, skip_wrong: bool = False) -> None:
    """Raise the error that says what is wrong with cells; with ``skip_wrong`` only if all are."""
    wrong = sum(cell.scenario is None for cell in cells)
    if wrong and not (skip_wrong and wrong < len(cells)):
        raise ScenarioError(wrong_cells(axes, cells))


def solve_grid(
    axes: Sequence[Axis],
    cells: Sequence[Cell],
    *,
    cache: str | Path | None = None,
    workers: int | None = None,
    on_progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> Sweep:
    """Solve the cells of a grid that are right, of which there is at least one; see ``sweep``."""
    right = {cell.number: cell for cell in cells if cell.scenario is not None}
    tasks = _tasks(right, cache)
    known = _known(tasks, cache)
    names = dict.fromkeys(task.name for task in tasks.values())
    on_progress(len(known), len(names))
    fresh, is_interrupted = _solved(tasks, known, workers, lambda n: on_progress(n, len(names)))
    if is_interrupted:
        fresh |= _known(
            {at: task for at, task in tasks.items() if task.name not in {**known, **fresh}}, cache
        )
    rows = {
        cell.place: cell_row(
            cell,
            known.get(tasks[cell.number].name) or fresh.get(tasks[cell.number].name)
            if cell.number in tasks
            else None,
            is_reused=cell.number in tasks and tasks[cell.number].name in known,
        )
        for cell in cells
    }
    first = next(cell.scenario for cell in right.values() if cell.scenario is not None)
    return Sweep(
        name=first.name,
        currency=first.currency,
        axes=tuple(axes),
        cells=tuple(compared(rows, cell, axes) for cell in cells),
        warnings=tuple(dict.fromkeys(item for cell in right.values() for item in cell.problems)),
        versions=versions(),
        is_interrupted=is_interrupted,
    )


def _tasks(cells: Mapping[int, Cell], cache: str | Path | None) -> dict[int, Task]:
    folder = None if cache is None else Path(cache)
    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritable(folder, error) from error
    tasks = {}
    for number, cell in cells.items():
        if cell.scenario is not None:
            scenario = single_threaded(cell.scenario)
            tasks[number] = Task(name=cell_name(scenario), scenario=scenario, folder=folder)
    return tasks


def _known(tasks: Mapping[int, Task], cache: str | Path | None) -> dict[str, Answer]:
    """Return the answers that are there already, by name."""
    if cache is None:
        return {}
    found = {task.name: read_cell(Path(cache), task.name) for task in tasks.values()}
    return {name: answer for name, answer in found.items() if answer is not None}


def _solved(
    tasks: Mapping[int, Task],
    known: Mapping[str, Answer],
    workers: int | None,
    on_answer: Callable[[int], None],
) -> tuple[dict[str, Answer], bool]:
    """Return the answers by name, and whether the work was interrupted."""
    # Cells whose scenarios are equal are solved once.
    left = list({task.name: task for task in tasks.values() if task.name not in known}.values())
    found: dict[str, Answer] = {}
    try:
        work = cast("Generator[tuple[int, Answer]]", run_tasks(solve_cell, left, workers=workers))
        with _workers_end_at_once(), closing(work):
            for index, answer in work:
                if answer.plan.termination is Termination.INTERRUPTED:
                    return found, True
                found[left[index].name] = answer
                on_answer(len(known) + len(found))
    except KeyboardInterrupt:
        return found, True
    return found, False


@contextmanager
def _workers_end_at_once() -> Iterator[None]:
    """On an interrupt, end what the processes started inside are doing.

    Otherwise it would wait for cells that nobody waits for any more. What they had finished is in
    its file. An interrupt ends a search; one that comes between searches is ignored there, so it is
    sent until they are gone.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    others = {child.pid for child in active_children()}

    def end(number: int, frame: FrameType | None) -> None:
        own = [child for child in active_children() if child.pid not in others]
        threading.Thread(target=_end, args=(own,), daemon=True).start()
        signal.default_int_handler(number, frame)

    previous = signal.signal(signal.SIGINT, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def _end(children: Sequence[BaseProcess]) -> None:
    """End processes by interrupts, and by force when they take no notice."""
    for _ in range(round(GRACE_SECONDS / PAUSE_SECONDS)):
        alive = [child for child in children if child.is_alive()]
        if not alive:
            return
        for child in alive:
            if child.pid is None:
                continue
            with suppress(ProcessLookupError):
                os.kill(child.pid, signal.SIGINT)
        time.sleep(PAUSE_SECONDS)
    for child in children:
        with suppress(ProcessLookupError):
            child.terminate()
