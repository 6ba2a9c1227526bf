"""Tasks over processes: kept ones are reused, and what a task returns does not depend on them."""

from __future__ import annotations

import os

from gpuladder.executor import kept_workers, run_tasks


def own_process(number: int) -> tuple[int, int]:
    """Return a number squared, and the process that squared it."""
    return number * number, os.getpid()


def test_kept_processes_serve_all_tasks_inside_and_none_outside() -> None:
    """Every question of an analysis would begin with a second or two of starting processes."""
    with kept_workers(2):
        rounds = [dict(run_tasks(own_process, range(6), workers=2)) for _ in range(2)]
    outside = dict(run_tasks(own_process, range(2), workers=1))
    for answers in rounds:
        assert {index: square for index, (square, _) in answers.items()} == {
            index: index * index for index in range(6)
        }
    processes = {process for answers in rounds for _, process in answers.values()}
    assert len(processes) <= 2
    assert os.getpid() not in processes
    assert {process for _, process in outside.values()} == {os.getpid()}
