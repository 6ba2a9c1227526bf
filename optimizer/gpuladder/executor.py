"""Many independent tasks over local processes: in any order, with the same results.

What a task returns depends on the task alone, never on how many workers there are. One worker means
this process; more are spawned, so that each has a solver with a thread pool of its own.
"""

from __future__ import annotations

import atexit
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing import get_context
from typing import TypeVar

Task = TypeVar("Task")
Answer = TypeVar("Answer")


def default_workers() -> int:
    """Return one worker for each core that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_tasks(
    function: Callable[[Task], Answer],
    tasks: Sequence[Task],
    *,
    workers: int | None = None,
    stop_at: float = float("inf"),
) -> Iterator[tuple[int, Answer]]:
    """Yield ``(index, answer)`` of tasks as they finish; those not begun in time are missing.

    Parameters
    ----------
    function : callable
        A module-level function of one task; both must pickle.
    tasks : sequence
        Most important first: they begin in this order.
    workers : int, optional
        Processes; one per core when left out, and never more than tasks.
    stop_at : float
        Reading of ``time.time()`` after which no task is begun. A task that has begun is waited
        for: it has to keep its own limit.
    """
    number = min(default_workers() if workers is None else workers, len(tasks))
    if number <= 1:
        for index, task in enumerate(tasks):
            if time.time() >= stop_at:
                return
            yield index, function(task)
        return
    if _kept is not None:
        yield from _run_in(_kept, number, function, tasks, stop_at)
        return
    with _new_pool(number) as pool:
        yield from _run_in(pool, number, function, tasks, stop_at)


@contextmanager
def kept_workers(workers: int | None = None) -> Iterator[None]:
    """Keep the same processes for all tasks that are run inside; starting them takes a second.

    Parameters
    ----------
    workers : int, optional
        Processes; one per core when left out. They are started by the first tasks that need them.
    """
    global _kept  # noqa: PLW0603 (the processes belong to this one, as its solver's threads do)
    outer = _kept
    with _new_pool(default_workers() if workers is None else workers) as _kept:
        try:
            yield
        finally:
            _kept = outer


_kept: ProcessPoolExecutor | None = None


@contextmanager
def _new_pool(number: int) -> Iterator[ProcessPoolExecutor]:
    pool = ProcessPoolExecutor(
        number, mp_context=get_context("spawn"), initializer=_leave_interrupts_to_the_parent
    )
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _run_in(
    pool: ProcessPoolExecutor,
    number: int,
    function: Callable[[Task], Answer],
    tasks: Sequence[Task],
    stop_at: float,
) -> Iterator[tuple[int, Answer]]:
    """Yield answers as they come, never more than ``number`` tasks at a time."""
    queue = iter(enumerate(tasks))
    running: dict[Future[Answer], int] = {}
    while True:
        while len(running) < number and time.time() < stop_at:
            following = next(queue, None)
            if following is None:
                break
            with _interrupts_ignored():  # the first task starts the processes
                running[pool.submit(function, following[1])] = following[0]
        if not running:
            return
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            yield running.pop(future), future.result()


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Let processes that are started inside ignore interrupts from their first moment on.

    Until its initializer has run, an interrupted process would end in a traceback of its own.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)


def _leave(_signal: int, _frame: object) -> None:
    """End at once, but give back what is shared: Pyomo makes a lock between processes."""
    # Run by hand, as leaving by an exception would have to pass through the solver.
    atexit._run_exitfuncs()  # noqa: SLF001
    os._exit(128 + signal.SIGTERM)
