"""Every error that the product raises on purpose.

    GpuladderError                exit 70 unless a subclass says otherwise
    ├── UsageError                exit 2   a wrong option, file or folder
    ├── ScenarioError             exit 2   the scenario is wrong; all problems at once
    ├── InfeasibleError           exit 1   no plan can satisfy the scenario
    ├── UnboundedError            exit 1   the scenario pays for buying without end
    ├── AuditError                exit 1   the plan does not stand up to the audit
    ├── NoPlanError               exit 4   the solver ended without a plan
    └── ReportError               exit 2   a saved run cannot be read or rendered

A message says where, what, why and how to fix it, in that order (see ``Problem.text``).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class Severity(StrEnum):
    """How bad a problem is: an error stops the run, a warning does not."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong, or doubtful, in what the user gave.

    Attributes
    ----------
    code : str
        Stable identifier, such as ``GL-S014``; a topic of ``gpuladder explain``.
    where : str
        ``file:line`` or ``sheet!cell`` and the path of the key; empty when there is no place.
    what : str
        What is wrong, with the value that was given.
    why : str
        Why it matters.
    fix : str
        What to do about it.
    """

    code: str
    what: str
    where: str = ""
    why: str = ""
    fix: str = ""
    severity: Severity = Severity.ERROR

    @property
    def text(self) -> str:
        """The problem as the lines a user reads."""
        place = f" {self.where}:" if self.where else ""
        lines = [f"{self.severity.value}[{self.code}]{place} {self.what}"]
        lines += [f"  why: {self.why}"] if self.why else []
        lines += [f"  fix: {self.fix}"] if self.fix else []
        return "\n".join(lines)


class GpuladderError(Exception):
    """Base of every error raised on purpose; carries the exit code of the command line."""

    exit_code = 70

    def __init__(self, problem: Problem | Sequence[Problem]) -> None:
        self.problems: tuple[Problem, ...] = (
            (problem,) if isinstance(problem, Problem) else tuple(problem)
        )
        super().__init__("\n".join(item.text for item in self.problems))

    def __reduce__(self) -> tuple[type[GpuladderError], tuple[tuple[Problem, ...]]]:
        """Travel between processes with the problems, not with their text alone."""
        return type(self), (self.problems,)


class UsageError(GpuladderError):
    """A wrong option, file or folder on the command line or in a call."""

    exit_code = 2


class ScenarioError(GpuladderError):
    """The scenario is wrong; ``problems`` holds every error and warning found."""

    exit_code = 2


class InfeasibleError(GpuladderError):
    """No plan satisfies every limit of the scenario."""

    exit_code = 1


class UnboundedError(GpuladderError):
    """The scenario pays for buying capacity without end."""

    exit_code = 1


class AuditError(GpuladderError):
    """The audit found the plan at odds with the scenario."""

    exit_code = 1


class NoPlanError(GpuladderError):
    """The solver ended without any plan, and without a proof that there is none."""

    exit_code = 4


class ReportError(GpuladderError):
    """A saved run cannot be read, or a deliverable cannot be written."""

    exit_code = 2
