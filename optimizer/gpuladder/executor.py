"""Many independent tasks over local processes: in any order, with the same results.

What a task returns depends on the task alone, never on how many workers there are. One worker means
this process; more are spawned, so that each has a solver with a thread pool of its own.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
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
    queue = iter(enumerate(tasks))
    running: dict[Future[Answer], int] = {}
    with ProcessPoolExecutor(
        number, mp_context=get_context("spawn"), initializer=_leave_interrupts_to_the_parent
    ) as pool:
        try:
            while True:
                while len(running) < number and time.time() < stop_at:
                    following = next(queue, None)
                    if following is None:
                        break
                    running[pool.submit(function, following[1])] = following[0]
                if not running:
                    return
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    yield running.pop(future), future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
