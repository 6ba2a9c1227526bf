"""The scenario as it was written, before it is checked: plain values that remember their place.

Containers carry the places themselves, so a row keeps its ``file:line`` when an override moves it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gpuladder.errors import Problem, Severity

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Key = str | int
KeyPath = tuple[Key, ...]

TABLES = (
    "hardware",
    "pools",
    "offers",
    "preemption_classes",
    "campaigns",
    "commitments",
    "backfill",
    "demand",
)
"""Tables of the scenario, in the order in which they are written."""

NESTED_TABLES = ("horizon.segments", "policy.hardware_limits", "policy.cash_budgets")
"""Lists of rows below a section, which may have a sheet or a CSV of their own."""

TEXT_KEYS = frozenset(
    {
        "id",
        "name",
        "description",
        "currency",
        "team",
        "pool",
        "pools",
        "provider",
        "providers",
        "region",
        "hardware",
        "residency",
        "preemption_class",
        "renewable_as",
        "offer",
        "runs_on",
    }
)
"""Keys whose plain values are names: `007`, `1e3` and `true` stay as they were written."""


class RawMap(dict[str, Any]):
    """A mapping that knows where it and each of its keys were written."""

    __slots__ = ("place", "places")

    def __init__(self, place: str = "") -> None:
        super().__init__()
        self.place = place
        self.places: dict[str, str] = {}

    def put(self, key: str, value: Any, place: str) -> None:
        """Set a key and its place."""
        self[key] = value
        self.places[key] = place


class RawList(list[Any]):
    """A list that knows where it and each of its items were written."""

    __slots__ = ("place", "places")

    def __init__(self, place: str = "") -> None:
        super().__init__()
        self.place = place
        self.places: list[str] = []

    def add(self, value: Any, place: str) -> None:
        """Append an item and its place."""
        self.append(value)
        self.places.append(place)


def raw_tree(value: Any) -> Any:
    """Return plain values as the raw tree that the checks read; they were written nowhere."""
    if isinstance(value, Mapping):
        mapping = RawMap()
        for key, item in value.items():
            mapping.put(key, raw_tree(item), "")
        return mapping
    if isinstance(value, list):
        items = RawList()
        for item in value:
            items.add(raw_tree(item), "")
        return items
    return value


@dataclass(frozen=True)
class RawDocument:
    """A scenario as it was written.

    Attributes
    ----------
    root : RawMap
        The whole tree.
    path : pathlib.Path
        The file or folder it was read from.
    notices : tuple of Problem
        Warnings about files and sheets that were not read.
    """

    root: RawMap
    path: Path
    notices: tuple[Problem, ...] = ()
    sources: tuple[Path, ...] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True)
class Locations:
    """Answers where a value of the scenario was written."""

    root: RawMap

    def place(self, path: Sequence[Key]) -> str:
        """Return ``file:line`` or ``sheet!cell`` of a value, or of its nearest ancestor."""
        node: Any = self.root
        place = self.root.place
        for key in path:
            if isinstance(node, RawMap) and isinstance(key, str):
                place = node.places.get(key, node.place or place)
                node = node.get(key)
            elif isinstance(node, RawList) and isinstance(key, int) and key < len(node):
                place = node.places[key] or place
                node = node[key]
            else:
                break
        return place

    def label(self, path: Sequence[Key]) -> str:
        """Return the key path as a user writes it, rows named by their id."""
        node: Any = self.root
        text = ""
        for key in path:
            child: Any = None
            if isinstance(node, RawMap) and isinstance(key, str):
                child = node.get(key)
            elif isinstance(node, RawList) and isinstance(key, int) and key < len(node):
                child = node[key]
            name = child.get("id") if isinstance(key, int) and isinstance(child, RawMap) else None
            if isinstance(key, int) and not isinstance(name, (str, int, float)):
                text += f"[{key + 1}]"
            else:
                text += ("." if text else "") + str(key if name is None else name)
            node = child
        return text

    def where(self, path: Sequence[Key]) -> str:
        """Return the place and the key path of a value, as messages show them."""
        return " ".join(part for part in (self.place(path), self.label(path)) if part)


def reading_problem(
    code: str, what: str, *, where: str = "", why: str = "", fix: str = ""
) -> Problem:
    """Return an error met while reading a file."""
    return Problem(code=code, what=what, where=where, why=why, fix=fix, severity=Severity.ERROR)
