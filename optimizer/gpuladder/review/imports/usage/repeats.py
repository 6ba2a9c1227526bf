"""Several rows of one team and step: the same row again, parts of one, or a contradiction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpuladder.errors import Problem, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpuladder.review.imports.rows import BoolArray, IntArray, Rows, Table
    from gpuladder.review.imports.usage.grid import Tracks
    from gpuladder.review.usage_history import TeamKey
    from gpuladder.timegrid import FloatArray

REFUSE, FIRST, SUM = "refuse", "first", "sum"
REPEATS = {
    REFUSE: "end the import when rows of one team and step differ",
    FIRST: "the first of them counts, the others are dropped",
    SUM: "they are parts, added up",
}
"""What to do with them."""


class Chunk:
    """Rows of a chunk as the tracks see them.

    Attributes
    ----------
    keys : sequence of (team, pool)
        Teams of the chunk.
    owner : int64, shape (N,)
        Number of each row's team among them.
    slots : int64, shape (N,)
        Where each row begins, since 1970.
    values : float64, shape (Q, N), GPUs
        NaN where a row does not give a quantity.
    """

    def __init__(
        self, keys: Sequence[TeamKey], owner: IntArray, slots: IntArray, values: FloatArray
    ) -> None:
        self.keys = keys
        self.owner = owner
        self.slots = slots
        self.values = values


def second_hours(tracks: Tracks, chunk: Chunk, later: IntArray, alive: BoolArray) -> IntArray:
    """Return the slots, the second of two rows of an hour that the clock showed twice moved on.

    Parameters
    ----------
    later : int64, shape (N,)
        The slot of each row were it the later of the two.
    """
    found = chunk.slots.copy()
    taken: set[tuple[int, int]] = set()
    for index in np.flatnonzero(alive & (later != chunk.slots)):
        owner, slot = int(chunk.owner[index]), int(chunk.slots[index])
        if (owner, slot) in taken or _is_given(tracks, chunk.keys[owner], slot):
            found[index] = later[index]
        taken.add((owner, slot))
    return found


def settle(tracks: Tracks, chunk: Chunk, rows: Rows, table: Table, repeats: str) -> None:
    """Drop or refuse the rows that come after another one of their team and step.

    Raises
    ------
    UsageError
        When they differ, and nothing says what that means.
    """
    if repeats == SUM:
        return
    again, same = _compared(tracks, chunk, rows.alive)
    rows.drop(again & same, "the same row again", "time")
    differing = again & ~same & rows.alive
    if differing.any() and repeats == REFUSE:
        index = int(np.argmax(differing))
        raise UsageError(
            Problem(
                code="GL-I044",
                where=f"{table.where}:{rows.places[index]}",
                what=f"a second row of team {chunk.keys[chunk.owner[index]][0]!r} at "
                f"{rows.texts('time')[index]!r} with other values",
                why="parts that have to be added up cannot be told from corrections, nor from an "
                "hour that the clock showed twice",
                fix="say which: --repeats sum, or --repeats first; for a clock that changes, state "
                "its --timezone",
            )
        )
    rows.drop(differing, "another row of its team and step: the first one counts", "time")


def _compared(tracks: Tracks, chunk: Chunk, alive: BoolArray) -> tuple[BoolArray, BoolArray]:
    """Tell which rows come after another of their team and step, and which are equal to it."""
    again, same = np.zeros_like(alive), np.zeros_like(alive)
    at = np.flatnonzero(alive)
    pairs = np.stack((chunk.owner[at], chunk.slots[at]), axis=1)
    _, first, inverse = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
    leader = at[first[inverse.ravel()]]
    again[at] = leader != at
    mine, theirs = chunk.values[:, at], chunk.values[:, leader]
    same[at] = ((mine == theirs) | (np.isnan(mine) & np.isnan(theirs))).all(axis=0)
    for index in at[_given(tracks, chunk, at)]:
        again[index] = True
        same[index] = _is_known(
            tracks, chunk.keys[chunk.owner[index]], int(chunk.slots[index]), chunk.values[:, index]
        )
    return again, same


def _given(tracks: Tracks, chunk: Chunk, at: IntArray) -> BoolArray:
    """Tell which rows are of a step that an earlier chunk gave."""
    found = np.zeros(len(at), dtype=np.bool_)
    for number in np.unique(chunk.owner[at]):
        mine = chunk.owner[at] == number
        track = tracks.of(chunk.keys[number])
        slots = chunk.slots[at[mine]]
        found[mine] = np.logical_or.reduce(
            [track.given(quantity, slots) for quantity in range(len(tracks.names))]
        )
    return found


def _is_given(tracks: Tracks, key: TeamKey, slot: int) -> bool:
    track, one = tracks.of(key), np.array([slot], dtype=np.int64)
    return any(bool(track.given(q, one)[0]) for q in range(len(tracks.names)))


def _is_known(tracks: Tracks, key: TeamKey, slot: int, row: FloatArray) -> bool:
    """Tell whether a row says what is known of its slot; not told where slots are averaged."""
    if tracks.grid.slots > 1:
        return False
    track, one = tracks.of(key), np.array([slot], dtype=np.int64)
    return all(
        bool(track.given(q, one)[0]) != bool(np.isnan(value))
        and (bool(np.isnan(value)) or track.value(q, slot) == value)
        for q, value in enumerate(row)
    )
