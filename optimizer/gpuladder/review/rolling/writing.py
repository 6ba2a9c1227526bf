"""A rolled scenario as a file or a folder, and as a document."""

from __future__ import annotations

import secrets
import shutil
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from gpuladder.errors import Problem, UsageError
from gpuladder.scenario.fingerprint import fingerprint
from gpuladder.scenario.writing import already_there, dump_folder, dump_yaml, plain, write_new
from gpuladder.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from gpuladder.review.rows import Rolled

SCHEMA = "gpuladder.roll/1"
MAIN = "scenario.yaml"


def roll_text(rolled: Rolled) -> str:
    """Return the scenario as YAML, with where it comes from above it."""
    return _header(rolled) + dump_yaml(rolled.scenario)


def write_rolled(rolled: Rolled, path: Path) -> None:
    """Write the scenario whole or not at all: a YAML file, or a folder with CSV tables.

    Raises
    ------
    UsageError
        When something is there already, or cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix.lower() in (".yaml", ".yml"):
            write_new(path, roll_text(rolled))
        else:
            _write_folder(rolled, path)
    except OSError as error:
        reason = (error.strerror or "cannot be written").lower()
        raise UsageError(Problem(code="GL-S010", what=f"{reason}: {path}")) from error


def roll_document(rolled: Rolled, output: Path | None) -> dict[str, Any]:
    """Return what ``--json`` says: where it was written, or else the scenario itself."""
    written = {"scenario": plain(rolled.scenario)} if output is None else {"output": str(output)}
    return {
        "schema": SCHEMA,
        "to": str(rolled.to),
        "name": rolled.scenario.name,
        "sha256": fingerprint(rolled.scenario),
        "from_sha256": rolled.plan_sha256,
        "currency": rolled.scenario.currency,
        "remaining_cost": rolled.remaining_cost,
        "notes": [asdict(note) for note in rolled.notes],
        **written,
    }


def _header(rolled: Rolled) -> str:
    lines = [
        f"Rolled on to {rolled.to} by gpuladder {__version__}, from the plan of the scenario with",
        f"the fingerprint {rolled.plan_sha256}.",
        f"Costs of a plan of it are present values of {rolled.to}; from that day on the plan it",
        f"comes from costs {rolled.remaining_cost:,.2f} {rolled.scenario.currency}.",
        *(f"* {note.subject}: {note.text}" for note in rolled.notes),
    ]
    return "".join(f"# {' '.join(line.split())}\n" for line in lines)


def _write_folder(rolled: Rolled, path: Path) -> None:
    if path.exists():
        raise already_there(path)
    draft = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    try:
        dump_folder(rolled.scenario, draft)
        main = draft / MAIN
        text = main.read_text(encoding="utf-8")
        main.write_text(_header(rolled) + text, encoding="utf-8", newline="\n")
        draft.rename(path)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
