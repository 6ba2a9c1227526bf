"""Files of jobs as ``sacct`` writes them, of any size, and what reading them takes.

Three years, 60 teams, most jobs short and narrow, a few wide and long, a third of them without
GPUs, in the order of their numbers; one job in twenty waits long enough to start after later ones.
Span and teams are the same for every number of rows, so that only the rows differ.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

FEW, MANY = 500_000, 5_000_000
_SPAN_SECONDS = 3 * 365 * 86_400
_FIRST = np.datetime64("2023-01-02T00:00:00")
_TEAMS = 60
_BLOCK = 250_000
_MEMORY_AIM = 1.5
_HEADER = "JobID|Account|State|Start|End|Elapsed|AllocTRES\n"


def write_jobs(path: Path, rows: int) -> Path:
    """Write a file of so many jobs; return its path."""
    rng = np.random.default_rng(20260105)
    with path.open("w", encoding="utf-8") as file:
        file.write(_HEADER)
        for begin in range(0, rows, _BLOCK):
            number = np.arange(begin, min(begin + _BLOCK, rows))
            file.writelines(_lines(number, rows, rng))
    return path


def _lines(number: np.ndarray[Any, Any], rows: int, rng: np.random.Generator) -> list[str]:
    size = len(number)
    submitted = np.floor(number * (_SPAN_SECONDS / rows)).astype(np.int64)
    waits = np.where(rng.random(size) < 0.05, rng.integers(0, 259_200, size), 0)
    length = np.minimum(np.floor(rng.lognormal(7.5, 1.8, size)) + 1, 14 * 86_400).astype(np.int64)
    start = _FIRST + (submitted + waits).astype("timedelta64[s]")
    end = start + length.astype("timedelta64[s]")
    gpus = rng.choice([0, 1, 2, 4, 8, 16, 64], size, p=[0.33, 0.4, 0.1, 0.08, 0.06, 0.02, 0.01])
    states = rng.choice(["COMPLETED", "FAILED", "CANCELLED by 1000", "TIMEOUT"], size)
    teams = rng.integers(0, _TEAMS, size)
    return [
        f"{n}|team-{team:02d}|{state}|{begin}|{until}|{_elapsed(seconds)}|{_tres(held)}\n"
        for n, team, state, begin, until, seconds, held in zip(
            number.tolist(),
            teams.tolist(),
            states.tolist(),
            np.datetime_as_string(start).tolist(),
            np.datetime_as_string(end).tolist(),
            length.tolist(),
            gpus.tolist(),
            strict=True,
        )
    ]


def _elapsed(seconds: int) -> str:
    days, rest = divmod(seconds, 86_400)
    clock = f"{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
    return f"{days}-{clock}" if days else clock


def _tres(gpus: int) -> str:
    if not gpus:
        return "billing=4,cpu=4,mem=16G,node=1"
    nodes = -(-gpus // 8)
    return f"billing=16,cpu=16,gres/gpu:h100={gpus},gres/gpu={gpus},mem=200G,node={nodes}"


def measure_import(measure: Callable[..., dict[str, Any]], work: Path) -> dict[int, dict[str, Any]]:
    """Measure the import of both files, each in a process of its own."""
    found = {}
    for rows in (FEW, MANY):
        path = write_jobs(work / f"jobs-{rows}.txt", rows)
        found[rows] = {**measure("import-jobs", path), "file_mb": path.stat().st_size / 2**20}
        path.unlink()
    return found


def import_aims(found: dict[int, dict[str, Any]]) -> list[tuple[str, str, bool]]:
    """Return the aim of importing jobs."""
    ratio = found[MANY]["peak_mb"] / found[FEW]["peak_mb"]
    aim = f"ten times the jobs in at most {_MEMORY_AIM} times the memory"
    return [(aim, f"{ratio:.2f}", ratio <= _MEMORY_AIM)]


def import_lines(found: dict[int, dict[str, Any]]) -> list[str]:
    """Return the table of imports."""
    lines = [
        "| rows | file, MB | jobs kept | campaigns | CPU s | rows per CPU s | peak memory, MB |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for rows, answer in found.items():
        spent = answer["seconds"]["import"]
        lines.append(
            f"| {rows:,} | {answer['file_mb']:,.0f} | {answer['kept']:,} | {answer['campaigns']:,} "
            f"| {spent:,.0f} | {rows / spent:,.0f} | {answer['peak_mb']:,.0f} |"
        )
    return lines
