"""The grid of a sweep: which keys are varied over which values, and the scenario of each cell.

All cells are read and checked before the first is solved, each as the command line would with the
same values behind ``--set``.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from gpuladder.analysis.sweep_result import Axis
from gpuladder.errors import Problem, ScenarioError, Severity, UsageError
from gpuladder.scenario.fingerprint import canonical
from gpuladder.scenario.loading import Loaded, check
from gpuladder.scenario.overrides import lay_over, set_value
from gpuladder.scenario.reading import load_raw
from gpuladder.scenario.schema import Scenario
from gpuladder.scenario.source import RawDocument, RawList, RawMap, raw_tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_CELLS = 10_000
"""Largest grid: beyond it a slip is more likely than patience."""
REFUSED_KEYS = {
    "solver.threads": "every cell is solved with one thread, so that none depends on the others",
    "name": "it is what the cells of a sweep have in common",
    "currency": "costs in different currencies do not compare",
}
"""Keys that cannot be varied, and why."""
_OPENING, _CLOSING, _QUOTES = "[{", "]}", "'\""
_RANGE = re.compile(r"(?P<low>.+?)\.\.(?P<high>.+?)(?::(?P<number>\d+))?")
_FIX = "write key=a,b,c or key=low..high:n, e.g. offers.od.price=2,2.5,3 or offers.od.price=2..3:5"

Source = str | Path | Scenario | Loaded
Value = str | int | float | date
Vary = Mapping[str, "Sequence[Value] | Value"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One point of the grid, with its scenario or with what is wrong with it."""

    number: int
    """Counted from 1; the last axis moves fastest."""
    place: tuple[int, ...]
    """Index of its value on each axis."""
    values: tuple[str, ...]
    scenario: Scenario | None
    problems: tuple[Problem, ...]
    """Errors when there is no scenario, else warnings."""


def read_axes(vary: Sequence[str] | Vary) -> tuple[Axis, ...]:
    """Return the axes of a grid.

    Parameters
    ----------
    vary : sequence of str, or mapping
        Texts such as ``offers.od.price=2,2.5,3`` or ``offers.od.price=2..3:5`` (five values, evenly
        spaced, numbers or dates, both ends included), or values by key.

    Raises
    ------
    UsageError
        When a text is not such a thing, a key is given twice, or the grid is too large; all
        problems at once.
    """
    problems: list[Problem] = []
    axes: list[Axis] = []
    pairs = vary.items() if isinstance(vary, Mapping) else (_parted(text) for text in vary)
    for key, given in pairs:
        where = f"--vary {key}"
        try:
            axes.append(Axis(key=key, values=_values(key, given)))
        except ValueError as error:
            problems.append(_problem(where, str(error)))
        if key in REFUSED_KEYS:
            problems.append(
                _problem(
                    where, f"`{key}` cannot be varied", why=REFUSED_KEYS[key], fix="take it out"
                )
            )
        if sum(axis.key == key for axis in axes) > 1:
            problems.append(_problem(where, "the key is varied twice", fix="give all values once"))
    if not axes and not problems:
        problems.append(_problem("--vary", "nothing is varied"))
    size = 1
    for axis in axes:
        size *= len(axis.values)
    if size > MOST_CELLS:
        what = f"the grid has {size:,} cells; at most {MOST_CELLS:,} are solved"
        problems.append(_problem("--vary", what, fix="vary fewer keys, or over fewer values"))
    if problems:
        raise UsageError(problems)
    return tuple(axes)


def read_cells(
    source: Source,
    axes: Sequence[Axis],
    *,
    overrides: Sequence[str] = (),
    overlays: Sequence[str | Path] = (),
) -> tuple[Cell, ...]:
    """Return all cells of a grid, read and checked.

    Parameters
    ----------
    source : str, pathlib.Path, Scenario or Loaded
        The scenario.
    axes : sequence of Axis
    overrides, overlays
        Laid over the scenario before the values of a cell.

    Raises
    ------
    ScenarioError
        When the scenario cannot be read, or an override or overlay is wrong. What is wrong with a
        cell stands in the cell.
    """
    document = _document(source)
    problems: list[Problem] = []
    for lay, items in ((_lay, overlays), (set_value, overrides)):
        for item in items:
            try:
                lay(document.root, item if isinstance(item, str) else str(item))
            except ScenarioError as error:
                problems += error.problems
    if problems:
        raise ScenarioError(problems)
    grid = itertools.product(*(range(len(axis.values)) for axis in axes))
    return tuple(_cell(document, axes, number, place) for number, place in enumerate(grid, 1))


def neighbours(cell: Cell, axes: Sequence[Axis]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield ``(axis, place)`` of the cells one value back, one along each axis that has one."""
    for axis in range(len(axes)):
        if cell.place[axis] > 0:
            place = list(cell.place)
            place[axis] -= 1
            yield axis, tuple(place)


def label(axes: Sequence[Axis], values: Sequence[str]) -> str:
    """Return the values of a cell as they would be written on the command line."""
    return ", ".join(f"{axis.key}={value}" for axis, value in zip(axes, values, strict=True))


def wrong_cells(axes: Sequence[Axis], cells: Sequence[Cell]) -> tuple[Problem, ...]:
    """Return what is wrong in any cell, each problem once, with the cells it is wrong in."""
    met: dict[Problem, list[Cell]] = {}
    wrong = [cell for cell in cells if cell.scenario is None]
    for cell in wrong:
        errors = [item for item in cell.problems if item.severity is Severity.ERROR]
        for problem in dict.fromkeys(errors):
            met.setdefault(_of_vary(axes, problem), []).append(cell)
    return tuple(
        problem if len(own) == len(cells) else replace(problem, where=_where(axes, problem, own))
        for problem, own in met.items()
    )


def _where(axes: Sequence[Axis], problem: Problem, cells: Sequence[Cell]) -> str:
    first = f"cell {cells[0].number} ({label(axes, cells[0].values)})"
    more = f" and {len(cells) - 1} more" if len(cells) > 1 else ""
    return f"{first}{more}: {problem.where}" if problem.where else f"{first}{more}"


def _of_vary(axes: Sequence[Axis], problem: Problem) -> Problem:
    """Return a problem that points at ``--vary`` where that is where the value came from."""
    begin = "--set "
    words = problem.where.removeprefix(begin).split()
    is_varied = any(axis.key in words for axis in axes)
    if not problem.where.startswith(begin) or not is_varied:
        return problem
    return replace(problem, where=f"--vary {problem.where.removeprefix(begin)}")


def _cell(document: RawDocument, axes: Sequence[Axis], number: int, place: tuple[int, ...]) -> Cell:
    values = tuple(axis.values[index] for axis, index in zip(axes, place, strict=True))
    root = _copied(document.root, {axis.key.partition(".")[0] for axis in axes})
    problems: list[Problem] = []
    for axis, value in zip(axes, values, strict=True):
        try:
            set_value(root, f"{axis.key}={value}")
        except ScenarioError as error:
            problems += error.problems
    scenario = None
    if not problems:
        try:
            loaded = check(replace(document, root=root))
        except ScenarioError as error:
            problems += error.problems
        else:
            scenario, problems = loaded.scenario, list(loaded.warnings)
    return Cell(
        number=number, place=place, values=values, scenario=scenario, problems=tuple(problems)
    )


def _document(source: Source) -> RawDocument:
    if isinstance(source, str | Path):
        return load_raw(Path(source))
    scenario = source.scenario if isinstance(source, Loaded) else source
    root: RawMap = raw_tree(canonical(scenario))
    return RawDocument(root=root, path=Path(scenario.name))


def _lay(root: RawMap, path: str) -> None:
    lay_over(root, Path(path))


def _copied(root: RawMap, keys: set[str]) -> RawMap:
    """Return a raw tree of which only the named branches may be changed; the rest is shared."""
    copy = RawMap(root.place)
    for key, value in root.items():
        copy.put(key, _deep(value) if key in keys else value, root.places[key])
    return copy


def _deep(value: RawMap | RawList | object) -> object:
    if isinstance(value, RawMap):
        mapping = RawMap(value.place)
        for key, item in value.items():
            mapping.put(key, _deep(item), value.places[key])
        return mapping
    if isinstance(value, RawList):
        items = RawList(value.place)
        for item, place in zip(value, value.places, strict=True):
            items.add(_deep(item), place)
        return items
    return value


def _problem(where: str, what: str, *, why: str = "", fix: str = _FIX) -> Problem:
    return Problem(code="GL-U006", where=where, what=what, why=why, fix=fix)


def _parted(text: str) -> tuple[str, str]:
    key, _, values = text.partition("=")
    return key.strip(), values


def _values(key: str, given: Sequence[Value] | Value) -> tuple[str, ...]:
    """Return the values of one axis as texts; ``ValueError`` says what is wrong."""
    if not key:
        msg = "the key is missing"
        raise ValueError(msg)
    if isinstance(given, str):
        items = [text for part in _parts(given) for text in _spread(part)]
    elif isinstance(given, int | float | date):
        items = [_text(given)]
    else:
        items = [_text(item) for item in given]
    if not items or not all(items):
        msg = "a value is missing"
        raise ValueError(msg)
    twice = [item for number, item in enumerate(items) if item in items[:number]]
    if twice:
        msg = f"the value {twice[0]} is given twice"
        raise ValueError(msg)
    return tuple(items)


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _parts(text: str) -> Iterator[str]:
    """Yield what stands between commas, except those inside brackets and quotes."""
    depth, quote, part = 0, "", ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in _QUOTES:
            quote = letter
        elif letter in _OPENING:
            depth += 1
        elif letter in _CLOSING:
            depth -= 1
        elif letter == "," and depth == 0:
            yield part.strip()
            part = ""
            continue
        part += letter
    yield part.strip()


def _spread(text: str) -> list[str]:
    """Return the values of ``low..high:n``; any other text is a value of its own."""
    found = _RANGE.fullmatch(text)
    if found is None or text[0] in _OPENING + _QUOTES:
        return [text]
    low, high, number = found["low"].strip(), found["high"].strip(), int(found["number"] or 0)
    if number < 2:
        msg = f"how many values from {low} to {high}? At least 2"
        raise ValueError(msg)
    if number > MOST_CELLS:
        msg = f"{number:,} values from {low} to {high} are too many; at most {MOST_CELLS:,}"
        raise ValueError(msg)
    try:
        begin, end = float(low), float(high)
    except ValueError:
        return _days(low, high, number)
    if not abs(end - begin) < float("inf"):
        msg = f"no numbers lie evenly between {low} and {high}"
        raise ValueError(msg)
    step = (end - begin) / (number - 1)
    return [_text(begin + step * index) for index in range(number - 1)] + [_text(end)]


def _days(low: str, high: str, number: int) -> list[str]:
    try:
        begin, end = date.fromisoformat(low), date.fromisoformat(high)
    except ValueError:
        msg = f"from {low} to {high} is neither between numbers nor between dates"
        raise ValueError(msg) from None
    days = (end - begin).days
    if abs(days) < number - 1:
        msg = f"there are fewer than {number} days from {low} to {high}"
        raise ValueError(msg)
    return [str(begin + timedelta(days=round(days * at / (number - 1)))) for at in range(number)]
