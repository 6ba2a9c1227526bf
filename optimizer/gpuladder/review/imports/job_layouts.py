"""How files of jobs are laid out: what each column of sacct, of a trace or of a CSV file means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from gpuladder.review.imports.columns import Field

if TYPE_CHECKING:
    from collections.abc import Sequence

LayoutName = Literal["sacct", "csv", "philly"]

_TEAM = "who ran the job"
_DURATION = "how long it ran, seconds"
_ELAPSED = "how long it ran, [days-]hours:minutes:seconds"
_START = "when it started"
_END = "when it ended"
_STATE = "how it ended"
_JOB = "its number, the same in each of its rows"
_RUN = "what tells that several jobs are one run, such as a name"
_GPU_HOURS = "its GPU-hours, to check the others against"


@dataclass(frozen=True, slots=True)
class Layout:
    """How a file of jobs is laid out.

    Attributes
    ----------
    name : str
    fields : tuple of Field
        What is read from it.
    recognised_by : frozenset of str
        Columns, in lower case, that tell it from other layouts.
    """

    name: LayoutName
    fields: tuple[Field, ...]
    recognised_by: frozenset[str]


def _optional(name: str, meaning: str, *also: str) -> Field:
    return Field(name=name, meaning=meaning, also=also, required=False)


_SACCT = Layout(
    "sacct",
    (
        Field(name="job", meaning=_JOB, also=("JobID",)),
        Field(name="team", meaning=_TEAM, also=("Account",)),
        Field(name="state", meaning=_STATE, also=("State",)),
        Field(name="start", meaning=_START, also=("Start",)),
        _optional("end", _END, "End"),
        _optional("elapsed", _ELAPSED, "Elapsed"),
        _optional("duration_s", _DURATION, "ElapsedRaw"),
        _optional("allocated", "resources it held, with gres/gpu=N", "AllocTRES"),
        _optional("requested", "resources it asked for, with gres/gpu=N", "ReqTRES"),
        _optional("cluster", "where its number counts", "Cluster"),
        _optional("run", _RUN),
    ),
    frozenset(("jobid", "state")),
)
_PHILLY = Layout(
    "philly",
    (
        Field(name="team", meaning=_TEAM, also=("vc",)),
        Field(name="start", meaning="when it was submitted", also=("submit_time",)),
        Field(name="duration_s", meaning=_DURATION),
        Field(name="gpus", meaning="GPUs it held", also=("num_gpus",)),
        _optional("gpu_hours", _GPU_HOURS),
        _optional("state", _STATE),
        _optional("run", _RUN),
    ),
    frozenset(("vc", "submit_time", "duration_s", "num_gpus")),
)
_CSV = Layout(
    "csv",
    (
        Field(name="team", meaning=_TEAM),
        Field(name="gpus", meaning="GPUs it held", also=("num_gpus",)),
        Field(name="start", meaning=_START, also=("start_time",)),
        _optional("end", _END, "end_time"),
        _optional("duration_s", _DURATION),
        _optional("elapsed", _ELAPSED),
        _optional("state", _STATE, "status"),
        _optional("job", _JOB, "job_id"),
        _optional("run", _RUN),
        _optional("gpu_hours", _GPU_HOURS),
    ),
    frozenset(),
)
LAYOUTS: dict[LayoutName, Layout] = {"sacct": _SACCT, "philly": _PHILLY, "csv": _CSV}
"""The special ones first: the first that is recognised is taken."""


def recognise(header: Sequence[str]) -> Layout:
    """Return the layout that a header has."""
    known = {name.casefold() for name in header}
    return next(layout for layout in LAYOUTS.values() if layout.recognised_by <= known)
