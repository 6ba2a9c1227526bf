"""What a run folder's ``result.json`` says that its plan alone does not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING, Any

from gpuladder.analysis.answers import Answers
from gpuladder.analysis.answers_document import read_answers
from gpuladder.analysis.result import (
    ConflictRow,
    Infeasibility,
    LimitExcess,
    Shortfall,
    UnboundedRow,
)
from gpuladder.errors import Problem, ReportError
from gpuladder.report.run_folder import RESULT

if TYPE_CHECKING:
    from pathlib import Path


def document_of(home: Path) -> dict[str, Any]:
    """Return the ``result.json`` of a run folder.

    Raises
    ------
    ReportError
        When it is missing or damaged; so does every function here.
    """
    path = home / RESULT
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise _damaged(path, "it cannot be read") from error
    if not isinstance(document, dict):
        raise _damaged(path, "it is not a JSON object")
    return document


def answers_of(home: Path) -> Answers:
    """Return the answers saved with a run; a run may be without them."""
    if not (home / RESULT).is_file():
        return Answers()
    try:
        return read_answers(document_of(home))
    except ValueError as error:
        raise _damaged(home / RESULT, "the answers beside the plan are damaged") from error


def infeasibility_of(home: Path) -> Infeasibility:
    """Return why a run has no plan."""
    section = document_of(home).get("infeasible")
    if not isinstance(section, Mapping):
        raise _damaged(home / RESULT, "it has no section `infeasible`")
    try:
        return Infeasibility(
            campaigns=tuple(Shortfall(**row) for row in section["campaigns"]),
            limits=tuple(LimitExcess(**row) for row in section["limits"]),
            conflicts=tuple(ConflictRow(**row) for row in section.get("conflicts", ())),
            is_integrality_only=bool(section.get("is_integrality_only", False)),
        )
    except (KeyError, TypeError) as error:
        raise _damaged(home / RESULT, "`infeasible` is damaged") from error


def unbounded_of(home: Path) -> tuple[UnboundedRow, ...]:
    """Return which orders of a run pay without end."""
    try:
        return tuple(
            UnboundedRow(
                offer=row["offer"],
                start=date.fromisoformat(row["start"]),
                buyers=tuple(row["buyers"]),
            )
            for row in document_of(home).get("unbounded", ())
        )
    except (KeyError, TypeError, ValueError) as error:
        raise _damaged(home / RESULT, "`unbounded` is damaged") from error


def _damaged(path: Path, what: str) -> ReportError:
    return ReportError(
        Problem(
            code="GL-F003",
            where=str(path),
            what=what,
            why="it holds what the run reported",
            fix="restore the file, or solve the scenario again",
        )
    )
