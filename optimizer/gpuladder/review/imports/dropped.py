"""What became of every row of a file: kept, or dropped for a stated reason.

The counts reconcile: read = kept + dropped. A note counts rows that were kept, but about which
there is something to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

EXAMPLES = 3
"""First rows that are shown for each reason."""
_MOST_CHARACTERS = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One row that a reason applies to.

    Attributes
    ----------
    place : int
        Line in a text file, counted from 1; row of a Parquet file, counted from 1.
    text : str
        The cells at fault, as ``column='value'``.
    """

    place: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why rows were dropped, or what there is to say about rows that were kept."""

    text: str
    count: int
    examples: tuple[Example, ...]

    def record(self) -> dict[str, Any]:
        """Return the reason as a JSON-ready record."""
        return {
            "reason": self.text,
            "count": self.count,
            "examples": [{"place": item.place, "text": item.text} for item in self.examples],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RowCount:
    """What became of the rows of a file; ``read == kept + dropped``.

    Attributes
    ----------
    read, kept : int
        Rows with any content, and those of them that count.
    reasons : tuple of Reason
        Why the others do not, most rows first.
    notes : tuple of Reason
        What there is to say about rows that were kept, most rows first.
    places : str
        What an example's place counts: ``line`` or ``row``.
    """

    read: int
    kept: int
    reasons: tuple[Reason, ...]
    notes: tuple[Reason, ...]
    places: str = "line"

    @property
    def dropped(self) -> int:
        """Rows that do not count."""
        return sum(reason.count for reason in self.reasons)

    def record(self) -> dict[str, Any]:
        """Return the counts as a JSON-ready record."""
        return {
            "read": self.read,
            "kept": self.kept,
            "dropped": self.dropped,
            "reasons": [reason.record() for reason in self.reasons],
            "notes": [note.record() for note in self.notes],
            "places": self.places,
        }

    @property
    def text(self) -> str:
        """The counts as a person reads them."""
        lines = [f"rows: {self.read:,} read, {self.kept:,} kept, {self.dropped:,} dropped"]
        lines += self._lines("dropped", self.reasons)
        lines += self._lines("note", self.notes)
        return "\n".join(lines)

    def _lines(self, word: str, reasons: Iterable[Reason]) -> list[str]:
        lines = []
        for reason in reasons:
            shown = "; ".join(
                f"{self.places} {each.place}" + (f": {each.text}" if each.text else "")
                for each in reason.examples
            )
            lines.append(f"  {word} {reason.count:,}: {reason.text}")
            lines += [f"      {shown}"] if shown else []
        return lines


class Ledger:
    """Counts rows while they are read; see ``RowCount``."""

    def __init__(self, places: str = "line") -> None:
        self.rows_read = 0
        self._places = places
        self._dropped: dict[str, tuple[int, list[Example]]] = {}
        self._notes: dict[str, tuple[int, list[Example]]] = {}

    @property
    def rows_dropped(self) -> int:
        """Rows dropped up to now."""
        return sum(count for count, _ in self._dropped.values())

    def drop(self, reason: str, count: int, examples: Iterable[tuple[int, str]] = ()) -> None:
        """Count rows as dropped; examples beyond the first few are not looked at."""
        _add(self._dropped, reason, count, examples)

    def note(self, reason: str, count: int, examples: Iterable[tuple[int, str]] = ()) -> None:
        """Count rows that are kept, but about which there is something to say."""
        _add(self._notes, reason, count, examples)

    def result(self, kept: int) -> RowCount:
        """Return the counts, given how many rows were used in the end.

        Raises
        ------
        RuntimeError
            When rows were lost without a reason, or used twice: a fault of the program's own.
        """
        if self.rows_read != kept + self.rows_dropped:
            msg = f"{self.rows_read} rows read, {kept} kept and {self.rows_dropped} dropped"
            raise RuntimeError(msg)
        return RowCount(
            read=self.rows_read,
            kept=kept,
            reasons=_sorted(self._dropped),
            notes=_sorted(self._notes),
            places=self._places,
        )


def _add(
    known: dict[str, tuple[int, list[Example]]],
    reason: str,
    count: int,
    examples: Iterable[tuple[int, str]],
) -> None:
    if count == 0:
        return
    before, shown = known.get(reason, (0, []))
    for place, text in examples:
        if len(shown) == EXAMPLES:
            break
        short = text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…"
        shown.append(Example(place=place, text=short))
    known[reason] = (before + count, shown)


def _sorted(known: dict[str, tuple[int, list[Example]]]) -> tuple[Reason, ...]:
    ordered = sorted(known.items(), key=lambda item: (-item[1][0], item[0]))
    return tuple(
        Reason(text=text, count=count, examples=tuple(examples))
        for text, (count, examples) in ordered
    )
