"""A single new file: there whole, or not at all, and never over another."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING

from gpuladder.errors import Problem, ReportError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def write_new_file(path: Path, fill: Callable[[Path], None]) -> None:
    """Let a file be written beside its place, and put it there when it is complete.

    Parameters
    ----------
    path : Path
        Where it shall be; its folder is made when missing.
    fill : callable
        Writes the file of the name it is given, which has the same ending.

    Raises
    ------
    ReportError
        When there is something of that name, or the file cannot be written.
    """
    if os.path.lexists(path):
        raise _there_already(path)
    draft = path.with_name(f".{secrets.token_hex(4)}{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fill(draft)
        os.link(draft, path)  # unlike a rename, this never replaces a file
    except FileExistsError:
        raise _there_already(path) from None
    except OSError as error:
        raise ReportError(
            Problem(
                code="GL-F001",
                where=str(path),
                what=f"the file cannot be written: {error.strerror or error}",
                fix="choose a folder that can be written with --output",
            )
        ) from error
    finally:
        draft.unlink(missing_ok=True)


def _there_already(path: Path) -> ReportError:
    return ReportError(
        Problem(
            code="GL-F005",
            where=str(path),
            what="there is something of that name already",
            why="what was written before is never overwritten",
            fix="move it away, or name another file with --output",
        )
    )
