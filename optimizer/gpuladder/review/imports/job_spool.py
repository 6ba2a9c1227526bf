"""Jobs on disk, a file for each day of their start, so that memory holds one day at a time.

Files of jobs come in any order, and a calendar needs them in the order of their starts: they are
laid out by day as they are read, and each day is then sorted in memory.
"""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.errors import Problem, UsageError
from gpuladder.review.imports.job_rows import JOB

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from gpuladder.review.imports.dropped import Ledger

DAY_SECONDS = 86_400
DUPLICATE = "the same job again: of rows with one number and start the last end counts"
TWIN = "the same as another row in team, time and GPUs; nothing tells them apart, so both count"
OVERLAP = "of a job that already runs under the same number: both count"


class Spool:
    """Jobs by day.

    Attributes
    ----------
    first, last : float
        First start and last end of any job, seconds since 1970 UTC.
    """

    def __init__(self, folder: Path) -> None:
        self.first = np.inf
        self.last = -np.inf
        self._folder = folder
        self._days: set[int] = set()

    def add(self, jobs: NDArray[np.void]) -> None:
        """Lay jobs into the files of their days."""
        if not len(jobs):
            return
        self.first = min(self.first, float(jobs["start"].min()))
        self.last = max(self.last, float(jobs["end"].max()))
        days = np.floor(jobs["start"] / DAY_SECONDS).astype(np.int64)
        for day in np.unique(days).tolist():
            self._days.add(day)
            with self._path(day, "jobs").open("ab") as file:
                file.write(jobs[days == day].tobytes())

    @property
    def days(self) -> list[int]:
        """Days with jobs, ascending; days since 1970."""
        return sorted(self._days)

    def jobs(self, day: int) -> NDArray[np.void]:
        """Return the jobs of a day; in order of start once ``put_in_order`` is done."""
        return np.fromfile(self._path(day, "jobs"), dtype=JOB)

    def put_in_order(self, ledger: Ledger, *, have_numbers: bool) -> int:
        """Sort every day by start, drop duplicates, and return how many jobs are left.

        Parameters
        ----------
        ledger : Ledger
            Told of duplicates, and of jobs that overlap themselves.
        have_numbers : bool
            Whether jobs have numbers, by which duplicates are known.
        """
        kept = 0
        running = np.empty(0, dtype=JOB)
        for day in self.days:
            jobs = self.jobs(day)
            if have_numbers:
                jobs = _without_duplicates(jobs, ledger)
                running = _note_overlaps(running, jobs, ledger, (day + 1) * DAY_SECONDS)
            else:
                _note_twins(jobs, ledger)
            jobs = jobs[np.lexsort((jobs["place"], jobs["start"]))]
            jobs.tofile(self._path(day, "jobs"))
            kept += len(jobs)
        return kept

    def label(self, day: int, name: str, labels: NDArray[np.int64]) -> None:
        """Keep a number for each job of a day."""
        labels.astype(np.int64).tofile(self._path(day, name))

    def labels(self, day: int, name: str) -> NDArray[np.int64]:
        """Return the numbers that were kept for a day's jobs."""
        return np.fromfile(self._path(day, name), dtype=np.int64)

    def _path(self, day: int, name: str) -> Path:
        return self._folder / f"{day}.{name}"


@contextmanager
def open_spool() -> Iterator[Spool]:
    """Give a spool in a temporary folder, which is removed in the end.

    Raises
    ------
    UsageError
        When the disk is full.
    """
    with tempfile.TemporaryDirectory(prefix="gpuladder-") as folder:
        try:
            yield Spool(Path(folder))
        except OSError as error:
            if error.filename is not None and not str(error.filename).startswith(folder):
                raise
            raise UsageError(
                Problem(
                    code="GL-I013",
                    where=folder,
                    what=f"no room to sort the jobs: {error.strerror or error}",
                    fix="free some space, or set TMPDIR to a folder with room: 75 bytes for a job",
                )
            ) from error


def _without_duplicates(jobs: NDArray[np.void], ledger: Ledger) -> NDArray[np.void]:
    order = np.lexsort((jobs["place"], jobs["end"], jobs["start"], jobs["job"]))
    jobs = jobs[order]
    again = np.zeros(len(jobs), dtype=bool)
    again[:-1] = (
        (jobs["job"][1:] == jobs["job"][:-1])
        & (jobs["start"][1:] == jobs["start"][:-1])
        & (jobs["job"][1:] != 0)
    )
    ledger.drop(DUPLICATE, int(again.sum()), _examples(jobs[again]))
    return jobs[~again]


def _note_overlaps(
    running: NDArray[np.void], jobs: NDArray[np.void], ledger: Ledger, now: float
) -> NDArray[np.void]:
    """Note jobs that start while one of their number runs; return those that run at ``now``."""
    both = np.concatenate([running, jobs])
    both = both[np.lexsort((both["end"], both["start"], both["job"]))]
    same = (both["job"][1:] == both["job"][:-1]) & (both["job"][1:] != 0)
    overlaps = np.zeros(len(both), dtype=bool)
    overlaps[1:] = same & (both["start"][1:] < both["end"][:-1])
    overlaps &= np.isin(both["place"], jobs["place"])
    ledger.note(OVERLAP, int(overlaps.sum()), _examples(both[overlaps]))
    return both[both["end"] > now]


def _note_twins(jobs: NDArray[np.void], ledger: Ledger) -> None:
    keys = ("gpus", "end", "start", "team")
    jobs = jobs[np.lexsort([jobs["place"], *(jobs[key] for key in keys)])]
    same = np.ones(max(len(jobs) - 1, 0), dtype=bool)
    for key in keys:
        same &= jobs[key][1:] == jobs[key][:-1]
    twins = np.concatenate([np.zeros(min(len(jobs), 1), dtype=bool), same])
    ledger.note(TWIN, int(twins.sum()), _examples(jobs[twins]))


def _examples(jobs: NDArray[np.void]) -> list[tuple[int, str]]:
    from gpuladder.review.calendar import utc

    return [
        (int(job["place"]), f"{utc(job['start'])} UTC, {job['gpus']:g} GPUs") for job in jobs[:3]
    ]
