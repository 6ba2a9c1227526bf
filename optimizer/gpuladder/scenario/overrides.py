"""Overrides: single keys set from the command line, and files laid over a scenario.

Both act on the raw tree before it is checked, and leave their own place behind, so that a message
about an overridden value points at the override.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any, Self

from gpuladder.errors import Problem, ScenarioError
from gpuladder.scenario.csv_reader import read_text
from gpuladder.scenario.reading import read_linked_tables
from gpuladder.scenario.source import TABLES, RawList, RawMap, reading_problem
from gpuladder.scenario.yaml_reader import read_flow, read_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

REMOVE = "remove"


class FlagOverride(str):
    """An assignment that an option such as ``--gap`` stands for; messages name the option."""

    flag: str

    def __new__(cls, flag: str, assignment: str) -> Self:
        """Return the assignment ``key.path=value`` with the option it comes from."""
        made = super().__new__(cls, assignment)
        made.flag = flag
        return made


def lay_over(root: RawMap, path: Path) -> None:
    """Lay a YAML file over a raw tree, in place.

    Mappings are merged; tables are merged by ``id``: a row that is there is updated, another is
    appended, and ``{id: x, remove: true}`` removes one. Every other value is replaced, and ``null``
    takes a key away. ``demand``, whose rows have no id, is replaced.

    Raises
    ------
    ScenarioError
        When the file cannot be read, or a row to be removed is not there.
    """
    overlay = read_yaml(read_text(path), str(path))
    if not isinstance(overlay, RawMap):
        raise ScenarioError(
            reading_problem(
                "GL-S008",
                "an overlay is a mapping with the keys to change",
                where=f"{path}:1",
                fix="write the same keys as in the scenario, e.g. `policy: {tail_charge: 0.5}`",
            )
        )
    read_linked_tables(overlay, path.parent)
    for key, value in overlay.items():
        place = overlay.places[key]
        base = root.get(key)
        if isinstance(value, RawList) and isinstance(base, RawList) and _has_ids(value):
            _merge_rows(key, base, value)
        else:
            _merge_key(root, key, value, place)


def set_value(root: RawMap, assignment: str) -> None:
    """Set one key of a raw tree, in place: ``key.path=value``.

    Rows of a table are named by their id, the longest that fits when ids contain dots; the value is
    read as YAML (``[64, 128]``, ``{every: 4 weeks, count: 3}``, ``null`` to take the key away).

    Raises
    ------
    ScenarioError
        When it is not an assignment, or names a row or a section that is not there.
    """
    name, sign, text = assignment.partition("=")
    name = name.strip()
    place = assignment.flag if isinstance(assignment, FlagOverride) else "--set"
    if not sign or not name or name.startswith(".") or name.endswith("."):
        raise ScenarioError(
            reading_problem(
                "GL-S008",
                f"not an assignment: {assignment!r}",
                where="--set",
                fix="write key.path=value, e.g. --set policy.tail_charge=0.5",
            )
        )
    holder, key = _find(root, name, place)
    value = read_flow(text, place, key=key) if text.strip() else None
    holder.put(key, value, place)


def _find(root: RawMap, name: str, place: str) -> tuple[RawMap, str]:
    """Return the mapping and the key that a dotted name stands for."""
    node: Any = root
    done, rest = "", name
    while True:
        if isinstance(node, RawList):
            row = next(_rows_named(node, rest), None)
            if row is None:
                raise ScenarioError(_no_row(done, node, rest, f"{place} {name}"))
            step, node = row
        else:
            key, dot, _tail = rest.partition(".")
            if not dot:
                return node, rest
            if node.get(key) is None:
                if done == "" and key in TABLES:
                    raise ScenarioError(
                        _no_row(key, RawList(), rest.partition(".")[2], f"{place} {name}")
                    )
                node.put(key, RawMap(place), place)
            step, node = key, node[key]
        done = f"{done}.{step}" if done else step
        rest = rest[len(step) + 1 :]
        if not rest or not isinstance(node, (RawMap, RawList)):
            raise ScenarioError(
                reading_problem(
                    "GL-S008",
                    f"`{done}` has no keys of its own" if rest else f"`{done}` is a whole row",
                    where=f"{place} {name}",
                    fix="name a single key; use --with FILE for whole rows and tables",
                )
            )


def _rows_named(rows: RawList, rest: str) -> Iterator[tuple[str, RawMap]]:
    """Yield the rows whose id begins the rest of the name, the longest id first."""
    named = [
        (str(row["id"]), row)
        for row in rows
        if isinstance(row, RawMap) and row.get("id") is not None
    ]
    named.sort(key=lambda pair: -len(pair[0]))
    yield from ((name, row) for name, row in named if rest == name or rest.startswith(name + "."))


def _no_row(table: str, rows: RawList, rest: str, where: str) -> Problem:
    names = [str(row["id"]) for row in rows if isinstance(row, RawMap) and "id" in row]
    close = difflib.get_close_matches(rest.partition(".")[0], names, n=1, cutoff=0.6)
    guess = f"; did you mean `{close[0]}`?" if close else ""
    shown = ", ".join(names[:12]) + (" …" if len(names) > 12 else "")
    return reading_problem(
        "GL-S008",
        f"`{table}` has no row whose id begins `{rest}`{guess}",
        where=where,
        fix=f"ids: {shown}" if names else "use --with FILE to add rows",
    )


def _has_ids(rows: RawList) -> bool:
    return all(isinstance(row, RawMap) and row.get("id") is not None for row in rows)


def _merge_rows(table: str, base: RawList, overlay: RawList) -> None:
    for row in overlay:
        index = next(
            (
                number
                for number, old in enumerate(base)
                if isinstance(old, RawMap) and str(old.get("id")) == str(row["id"])
            ),
            None,
        )
        if row.get(REMOVE) is True or row.get(REMOVE) == "true":
            if index is None:
                raise ScenarioError(
                    reading_problem(
                        "GL-S008",
                        f"`{table}` has no row `{row['id']}` to remove",
                        where=row.place,
                    )
                )
            del base[index], base.places[index]
        elif index is None:
            base.add(row, row.place)
        else:
            for key, value in row.items():
                _merge_key(base[index], key, value, row.places[key])


def _merge_key(holder: RawMap, key: str, value: Any, place: str) -> None:
    base = holder.get(key)
    if isinstance(value, RawMap) and isinstance(base, RawMap):
        for inner, item in value.items():
            _merge_key(base, inner, item, value.places[inner])
    else:
        holder.put(key, value, place)
