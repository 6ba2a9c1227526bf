"""The errors of reading a file from elsewhere; each ends the import with one clear message."""

from __future__ import annotations

from gpuladder.errors import Problem, UsageError


def unreadable(where: str, detail: str, fix: str = "check the path") -> UsageError:
    """Return the error that a file cannot be opened."""
    return UsageError(Problem(code="GL-I001", where=where, what=detail, fix=fix))


def empty(where: str, detail: str = "the file is empty") -> UsageError:
    """Return the error that there is nothing to read."""
    return UsageError(
        Problem(
            code="GL-I002",
            where=where,
            what=detail,
            why="an empty history would look like a quiet one",
            fix="check how the file was written: a header row and at least one row are needed",
        )
    )


def encoding(where: str, detail: str, line: int | None = None) -> UsageError:
    """Return the error that a file is not UTF-8 text."""
    return UsageError(
        Problem(
            code="GL-I004",
            where=where if line is None else f"{where}:{line}",
            what=detail,
            why="another encoding would turn names into other names without a word",
            fix="save it as UTF-8 text (CSV), or as Parquet",
        )
    )


def ragged(where: str, line: int, detail: str, delimiter: str) -> UsageError:
    """Return the error that rows and header do not have the same columns."""
    fix = (
        "ask sacct for the columns that are needed only: free text such as JobName may hold a |"
        if delimiter == "|"
        else 'put text that holds the delimiter in double quotes "…", and decimals with a point'
    )
    return UsageError(
        Problem(
            code="GL-I005",
            where=f"{where}:{line}",
            what=detail,
            why="every value behind the fault would be read under another column's name",
            fix=fix,
        )
    )


def parquet(where: str, detail: str, fix: str = "check how the file was written") -> UsageError:
    """Return the error that a Parquet file cannot be read."""
    return UsageError(Problem(code="GL-I010", where=where, what=detail, fix=fix))


def nothing_left(where: str, counts: str) -> UsageError:
    """Return the error that no row of a file counts."""
    return UsageError(
        Problem(
            code="GL-I009",
            where=where,
            what=f"no row is left of the file\n{counts}",
            why="an empty history would look like a quiet one",
            fix="the reasons above say what to state, or which rows to look at",
        )
    )
