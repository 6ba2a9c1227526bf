"""From the rows of a file to jobs: who held how many GPUs from when to when, and how it ended."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.errors import Problem, UsageError
from gpuladder.review.imports.columns import Field, near
from gpuladder.review.imports.slurm import (
    NO_END,
    NOT_STARTED,
    RUNNING,
    WAITING,
    length_seconds,
    state_name,
    tres_gpus,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gpuladder.review.imports.clock import Times
    from gpuladder.review.imports.job_layouts import Layout
    from gpuladder.review.imports.rows import BoolArray, Rows, Table
    from gpuladder.timegrid import FloatArray

JOB = np.dtype(
    [
        ("start", "f8"),
        ("end", "f8"),
        ("gpus", "f8"),
        ("job", "u8"),
        ("run", "u8"),
        ("place", "i8"),
        ("team", "i4"),
        ("state", "i4"),
    ]
)
"""A job: seconds since 1970 UTC, GPUs, hashes of its number and its run (0: has none), its place in
the file, and numbers of its team and state."""

_CLOSE_SECONDS = 60.0
_CLOSE_SHARE, _CLOSE_HOURS = 0.01, 0.02
"""GPU-hours of a file may be rounded to two digits."""
_MOST_CHARACTERS = 150
_RISKY = ("=", "+", "-", "@", "[", "{", "'")

STILL_RUNNING = "still running: --as-of says until when to count it"


@dataclass(frozen=True, kw_only=True)
class JobOptions:
    """Which jobs of a file count.

    Attributes
    ----------
    as_of : float or None
        When the file was written, seconds since 1970 UTC; running jobs count until then.
    since, until : float or None
        Only jobs that start in this span, seconds.
    only : mapping of str to set of str
        Only rows with one of these values, by column.
    team : str or None
        One team for all, where the file has no column for it.
    longest_job_days : float
        Longer jobs are taken for a slip.
    """

    as_of: float | None = None
    since: float | None = None
    until: float | None = None
    only: Mapping[str, frozenset[str]] = field(default_factory=dict)
    team: str | None = None
    longest_job_days: float = 366.0


class Names:
    """Numbers for names, in the order in which they were met."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def numbers(self, names: Sequence[str]) -> list[int]:
        """Return the number of each name; a new name gets the next one."""
        known = self._numbers
        return [known.setdefault(name, len(known)) for name in names]

    @property
    def all(self) -> list[str]:
        """Every name, by number."""
        return list(self._numbers)


def fields_of(layout: Layout, options: JobOptions) -> tuple[Field, ...]:
    """Return what is read from a file: the layout's fields, and the columns of ``only``."""
    own = [
        Field(name=each.name, meaning=each.meaning, also=each.also, required=False)
        if each.name == "team" and options.team is not None
        else each
        for each in layout.fields
    ]
    own += [Field(name=f"only {column}", meaning="what --only asks for") for column in options.only]
    return tuple(own)


def only_columns(pairs: Iterable[str]) -> dict[str, frozenset[str]]:
    """Return the values asked for by column, from ``column=value`` pairs.

    Raises
    ------
    UsageError
        When a pair has no column or no equals sign.
    """
    wanted: dict[str, set[str]] = {}
    for pair in pairs:
        column, sign, value = (part.strip() for part in pair.partition("="))
        if not (column and sign):
            raise UsageError(
                Problem(
                    code="GL-I006",
                    where="--only",
                    what=f"not a column and its value: {pair!r}",
                    fix="write it as COLUMN=VALUE, such as Partition=h100",
                )
            )
        wanted.setdefault(column, set()).add(value)
    return {column: frozenset(values) for column, values in wanted.items()}


def columns_of(options: JobOptions) -> dict[str, str]:
    """Return the columns that ``only`` names, by their field."""
    return {f"only {column}": column for column in options.only}


def check_columns(table: Table, layout: Layout) -> None:
    """Refuse a file that does not say how long jobs ran, or how many GPUs they held.

    Raises
    ------
    UsageError
        When it does not.
    """
    choices: dict[str, tuple[str, ...]] = {"how long jobs ran": ("end", "elapsed", "duration_s")}
    if layout.name == "sacct":
        choices["how many GPUs jobs held"] = ("allocated", "requested")
    known = {each.name: each for each in layout.fields}
    wrong = []
    for what, names in choices.items():
        options = [name for name in names if name in known]
        if not any(table.has(name) for name in options):
            columns = [known[name].also[0] if known[name].also else name for name in options]
            hints = (near(column, filter(None, table.header)) for column in columns)
            hint = next(filter(None, hints), "")
            wrong.append(
                Problem(
                    code="GL-I003",
                    where=table.where,
                    what=f"no column says {what}{hint}",
                    why=f"columns of the file: {', '.join(filter(None, table.header))}",
                    fix=f"one of these fields is needed: {', '.join(options)}; name its column "
                    "with --column FIELD=COLUMN",
                )
            )
    if wrong:
        raise UsageError(wrong)


class JobReader:
    """Reads one file's jobs; numbers of teams and states are the same in all its chunks."""

    def __init__(self, table: Table, layout: Layout, options: JobOptions) -> None:
        check_columns(table, layout)
        self.teams = Names()
        self.states = Names()
        self.has_states = table.has("state")
        self.has_jobs = table.has("job")
        self._table = table
        self._is_sacct = layout.name == "sacct"
        self._options = options
        self._last_job = ""

    def jobs(self, rows: Rows) -> NDArray[np.void]:
        """Return the jobs of some rows, dtype ``JOB``; the other rows are dropped with a reason."""
        for column, values in self._options.only.items():
            asked = _where(rows.texts(f"only {column}"), values.__contains__)
            rows.drop(~asked, f"not asked for with --only {column}")
        if self._is_sacct:
            self._drop_steps(rows)
        states = [state_name(text) for text in self._texts(rows, "state")]
        gpus = self._gpus(rows, states)
        teams = self._teams(rows)
        start, end = self._span(rows, states)
        self._check_gpu_hours(rows, gpus, start, end)
        alive = rows.alive
        jobs = np.zeros(int(alive.sum()), dtype=JOB)
        jobs["start"], jobs["end"], jobs["gpus"] = start[alive], end[alive], gpus[alive]
        jobs["place"] = rows.places[alive]
        jobs["team"] = self.teams.numbers(_chosen(teams, alive))
        jobs["state"] = self.states.numbers(_chosen(states, alive))
        number = self._job_numbers(rows)
        jobs["job"] = number[alive]
        jobs["run"] = _hashes(rows.texts("run"))[alive] if self._table.has("run") else number[alive]
        return jobs

    def _texts(self, rows: Rows, name: str) -> list[str]:
        return rows.texts(name) if self._table.has(name) else [""] * len(rows)

    def _job_numbers(self, rows: Rows) -> NDArray[np.uint64]:
        if not self.has_jobs:
            return np.zeros(len(rows), dtype=np.uint64)
        texts = rows.texts("job")
        if self._table.has("cluster"):
            pairs = zip(texts, rows.texts("cluster"), strict=True)
            texts = [f"{job} {cluster}" if job else "" for job, cluster in pairs]
        return _hashes(texts)

    def _drop_steps(self, rows: Rows) -> None:
        """Drop what runs inside a job: its GPUs are the job's own."""
        ids = rows.texts("job")
        is_step = np.zeros(len(ids), dtype=bool)
        is_orphan = np.zeros(len(ids), dtype=bool)
        for index, text in enumerate(ids):
            job, dot, _ = text.partition(".")
            if dot:
                is_step[index] = job == self._last_job
                is_orphan[index] = job != self._last_job
            else:
                self._last_job = job
        rows.drop(is_step, "a step, whose GPUs its job holds already", "job")
        rows.drop(is_orphan, "a step whose job does not stand before it", "job")

    def _gpus(self, rows: Rows, states: list[str]) -> FloatArray:
        if self._is_sacct:
            never = _where(rows.texts("start"), NOT_STARTED.__contains__)
            never |= _where(states, WAITING.__contains__)
            rows.drop(never, "never started", "start")
            gpus = self._tres(rows)
        else:
            gpus = rows.figures("gpus")
            rows.drop(gpus < 0, "fewer than no GPUs", "gpus")
        rows.drop(gpus == 0, "no GPUs")
        return gpus

    def _tres(self, rows: Rows) -> FloatArray:
        held, asked = self._texts(rows, "allocated"), self._texts(rows, "requested")
        found = [tres_gpus(a or b) for a, b in zip(held, asked, strict=True)]
        gpus = np.array([np.nan if number is None else number for number in found])
        shown = "allocated" if self._table.has("allocated") else "requested"
        rows.drop(np.isnan(gpus), "typed GPUs contradict the total of GPUs", shown)
        return gpus

    def _teams(self, rows: Rows) -> list[str]:
        if not self._table.has("team"):
            return [str(self._options.team)] * len(rows)
        names = rows.texts("team")
        rows.drop(_where(names, lambda name: not name), "no team", "team")
        bad = _where(names, lambda name: len(name) > _MOST_CHARACTERS or not name.isprintable())
        rows.drop(bad, "not a team's name: too long, or with control characters", "team")
        risky = _where(names, lambda name: name.startswith(_RISKY))
        rows.note(
            risky,
            "a team's name that a spreadsheet could run, or YAML misread: _ before it",
            "team",
        )
        return [f"_{name}" if name.startswith(_RISKY) else name for name in names]

    def _span(self, rows: Rows, states: list[str]) -> tuple[FloatArray, FloatArray]:
        """Return start and end of each job, seconds."""
        start = rows.times("start").utc
        length = self._length(rows)
        ends: Times | None = None
        if self._table.has("end"):
            ends = rows.times("end", may_be_empty=True, missing=NO_END)
        no_end = np.ones(len(rows), dtype=bool) if ends is None else np.isnan(ends.utc)
        running = no_end & np.isnan(length)
        if self.has_states:
            running |= _where(states, RUNNING.__contains__)
        if self._is_sacct and ends is not None:
            running |= no_end  # Elapsed counts on while a job runs
        end = self._finished(rows, start, length, ends)
        as_of = self._options.as_of
        if as_of is None:
            shown = "end" if ends is not None else "start"
            rows.drop(running, STILL_RUNNING, shown)
        else:
            end = np.where(running, as_of, end)
            rows.drop(running & (start >= as_of), "starts at or after --as-of", "start")
            rows.note(running, "still running: counted until --as-of", "start")
        rows.drop(end < start, "ends before it starts", "start", *(["end"] if ends else []))
        rows.drop(end == start, "runs for no time at all", "start")
        longest = self._options.longest_job_days
        too_long = end - start > longest * 86_400
        rows.drop(too_long, f"runs for more than {longest:g} days", "start")
        since, until = self._options.since, self._options.until
        outside = np.zeros(len(rows), dtype=bool)
        if since is not None:
            outside |= start < since
        if until is not None:
            outside |= start >= until
        rows.drop(outside, "starts outside --from and --until", "start")
        return start, end

    def _length(self, rows: Rows) -> FloatArray:
        """Return how long jobs ran, seconds; NaN where the file does not say."""
        if self._table.has("duration_s"):
            return rows.figures("duration_s", may_be_empty=True)
        if not self._table.has("elapsed"):
            return np.full(len(rows), np.nan)
        texts = rows.texts("elapsed")
        found = [length_seconds(text) for text in texts]
        length = np.array([np.nan if seconds is None else seconds for seconds in found])
        wrong = np.isnan(length) & _where(texts, lambda text: bool(text) and text not in NO_END)
        rows.drop(wrong, f"`{self._table.column_of('elapsed')}`: not [days-]h:m:s", "elapsed")
        return length

    @staticmethod
    def _finished(
        rows: Rows, start: FloatArray, length: FloatArray, ends: Times | None
    ) -> FloatArray:
        """Return when jobs ended: start and length, or the end where there is no length."""
        if ends is None:
            return start + length
        # In the hour that a clock shows twice, an end before the start is the later one.
        stated = np.where(ends.utc < start, ends.later, ends.utc)
        differs = np.abs(stated - start - length) > _CLOSE_SECONDS
        rows.note(
            differs,
            "length and end of a job differ (it paused, or the zone is another one): "
            "the length counts",
            "start",
            "end",
        )
        return np.where(np.isnan(length), stated, start + length)

    def _check_gpu_hours(
        self, rows: Rows, gpus: FloatArray, start: FloatArray, end: FloatArray
    ) -> None:
        if not self._table.has("gpu_hours"):
            return
        stated = rows.figures("gpu_hours", may_be_empty=True)
        found = gpus * (end - start) / 3600
        off = np.abs(stated - found) > np.maximum(_CLOSE_SHARE * found, _CLOSE_HOURS)
        rows.note(off, "GPU-hours of the file are not GPUs × hours: the latter count", "gpu_hours")


def _where(texts: Sequence[str], test: Callable[[str], bool]) -> BoolArray:
    return np.fromiter(map(test, texts), dtype=bool, count=len(texts))


def _chosen(texts: Sequence[str], alive: BoolArray) -> list[str]:
    return [text for text, lives in zip(texts, alive.tolist(), strict=True) if lives]


def _hashes(texts: Sequence[str]) -> NDArray[np.uint64]:
    """Return 64 bits for each text, the same in every run; 0 for an empty one."""
    from pandas.util import hash_array

    values = np.array(texts, dtype=object)
    empty = _where(texts, lambda text: not text)
    found = hash_array(values, categorize=False)
    return np.where(empty, np.uint64(0), found)
