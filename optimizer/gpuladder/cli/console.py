"""What the command line writes, and where: data to stdout, talk to stderr."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, TextIO

from gpuladder.errors import Problem, Severity, UsageError

_RED, _YELLOW, _PLAIN = "\x1b[31m", "\x1b[33m", "\x1b[0m"


class Exit(IntEnum):
    """Exit codes of the command line."""

    DONE = 0
    ANSWER_IS_NO = 1
    WRONG_INPUT = 2
    STOPPED_AT_LIMIT = 3
    NO_PLAN = 4
    INTERNAL_FAULT = 70
    INTERRUPTED = 130


@dataclass
class Console:
    """Where a verb writes, and how much of it.

    Attributes
    ----------
    as_json : bool
        Exactly one JSON document goes to stdout and nothing else.
    quiet : bool
        No talk and no warnings; errors are still written.
    verbose : bool
        More talk.
    colour : bool
        Colours where stderr is a terminal.
    debug : bool
        Tracebacks of the program's own faults.
    """

    as_json: bool = False
    quiet: bool = False
    verbose: bool = False
    colour: bool = True
    debug: bool = False

    def data(self, text: str) -> None:
        """Write text that a user asked for to stdout; nothing when JSON was asked for."""
        if not self.as_json:
            _write(sys.stdout, text)

    def document(self, document: Mapping[str, Any]) -> None:
        """Write the one JSON document of ``--json`` to stdout; nothing otherwise."""
        if self.as_json:
            _write(sys.stdout, json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))

    def talk(self, text: str) -> None:
        """Tell the user what is going on, on stderr."""
        if not self.quiet:
            _write(sys.stderr, text)

    def detail(self, text: str) -> None:
        """Tell more, on stderr, when ``--verbose`` asks for it."""
        if self.verbose:
            self.talk(text)

    @property
    def shows_progress(self) -> bool:
        """Whether progress lines are wanted: only where a person watches."""
        return not self.quiet and sys.stderr.isatty()

    def colours(self, stream: TextIO) -> bool:
        """Whether colours are wanted on a stream: only on a terminal, and unless refused."""
        return self.colour and not os.environ.get("NO_COLOR") and stream.isatty()

    def problems(self, problems: Iterable[Problem]) -> None:
        """Write problems to stderr, errors before warnings; ``--quiet`` leaves warnings out."""
        ordered = sorted(problems, key=lambda problem: problem.severity is Severity.WARNING)
        for problem in ordered:
            if problem.severity is Severity.ERROR or not self.quiet:
                _write(sys.stderr, self._coloured(problem))

    def error(self, problems: Iterable[Problem], exit_code: int) -> None:
        """Report problems that end the run, on stderr and as the JSON document."""
        found = tuple(problems)
        self.problems(found)
        self.document({"error": {"exit_code": int(exit_code), "problems": as_records(found)}})

    def traceback(self) -> None:
        """Write the traceback of the error at hand when ``--debug`` asks for it."""
        if self.debug:
            _write(sys.stderr, traceback.format_exc().rstrip())

    def _coloured(self, problem: Problem) -> str:
        if not self.colours(sys.stderr):
            return problem.text
        colour = _RED if problem.severity is Severity.ERROR else _YELLOW
        first, newline, rest = problem.text.partition("\n")
        return f"{colour}{first}{_PLAIN}{newline}{rest}"


def as_records(problems: Iterable[Problem]) -> list[dict[str, str]]:
    """Return problems as JSON-ready records, keys in reading order."""
    return [
        {
            "code": problem.code,
            "severity": problem.severity.value,
            "where": problem.where,
            "what": problem.what,
            "why": problem.why,
            "fix": problem.fix,
        }
        for problem in problems
    ]


def _write(stream: TextIO, text: str) -> None:
    """Write a line; when the reader has gone away, go on without it.

    What a run writes to disk and how it exits must not depend on ``| head``.
    """
    try:
        stream.write(text + "\n")
        stream.flush()
    except BrokenPipeError:
        discard(stream)
    except OSError as error:
        discard(stream)
        # Where stderr itself is full there is nobody left to be told.
        if stream is sys.stdout:
            raise UsageError(unwritable(error)) from error


def unwritable(error: OSError) -> Problem:
    """Return the problem that what was asked for cannot be written to stdout."""
    return Problem(
        code="GL-U003",
        what=f"standard output cannot be written: {error.strerror or error}",
        why="what was asked for is not there in full",
        fix="free some space, or send the output elsewhere",
    )


def discard(stream: TextIO) -> None:
    """Send whatever a stream still holds, and all that follows, to nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
