"""What a number counts: GPUs, GPU-hours, or a share of something. Stated, never guessed."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from gpuladder.errors import Problem, UsageError
from gpuladder.review.usage_history import QUANTITIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Unit(StrEnum):
    """Units that a quantity of a usage history can have."""

    GPUS = "gpus"
    GPU_HOURS = "gpu-hours"
    PERCENT_OF_CAPACITY = "percent-of-capacity"
    PERCENT_OF_ALLOCATED = "percent-of-allocated"
    SHARE_OF_CAPACITY = "share-of-capacity"
    SHARE_OF_ALLOCATED = "share-of-allocated"

    @property
    def base(self) -> str | None:
        """The quantity that it is a part of; None when it stands for itself."""
        word, _, base = self.value.partition("-of-")
        return base or None if word in ("percent", "share") else None

    @property
    def factor(self) -> float:
        """What one of it is of its base."""
        return 0.01 if self.value.startswith("percent") else 1.0


SUFFIXES = {"gpus": Unit.GPUS, "gpu_hours": Unit.GPU_HOURS}
"""Ends of column names that say the unit."""


def read_unit(text: str) -> Unit | None:
    """Return the unit that a text names, or None.

    >>> read_unit("GPU Hours")
    <Unit.GPU_HOURS: 'gpu-hours'>
    """
    word = text.strip().casefold().replace(" ", "-").replace("_", "-")
    word = {"gpu": "gpus", "gpu-hour": "gpu-hours", "gpuh": "gpu-hours"}.get(word, word)
    return Unit(word) if word in tuple(Unit) else None


def stated_units(texts: Iterable[str]) -> dict[str, Unit]:
    """Return units by quantity from ``UNIT`` and ``QUANTITY=UNIT``; ``""`` stands for the rest.

    Raises
    ------
    UsageError
        When a unit or a quantity is not known, or a quantity cannot have the unit.
    """
    found: dict[str, Unit] = {}
    for text in texts:
        name, sign, word = text.partition("=")
        name, word = (name.strip(), word) if sign else ("", text)
        unit = read_unit(word)
        if unit is None:
            raise UsageError(_unknown(word, text))
        if name and name not in QUANTITIES:
            raise UsageError(
                Problem(
                    code="GL-I042",
                    where="--unit",
                    what=f"there is no quantity `{name}`: {text!r}",
                    fix=f"one of {', '.join(QUANTITIES)}",
                )
            )
        if name in found:
            raise UsageError(
                Problem(code="GL-I042", where="--unit", what=f"`{name or text}` is given twice")
            )
        found[name] = unit
    return found


def unit_of(name: str, column: str, stated: Mapping[str, Unit]) -> Unit | None:
    """Return the unit of a quantity in a column: as stated, else as the column's name says.

    Raises
    ------
    UsageError
        When it is a share of itself.
    """
    unit = stated.get(name, stated.get(""))
    if unit is None:
        lowered = column.casefold()
        unit = next((u for end, u in SUFFIXES.items() if lowered.endswith(f"_{end}")), None)
    if unit is not None and unit.base == name:
        raise UsageError(
            Problem(
                code="GL-I042",
                where="--unit",
                what=f"`{name}` as {unit.value}: it cannot be a share of itself",
                fix=f"state its own unit, such as --unit {name}=gpus",
            )
        )
    return unit


def not_stated(where: str, names: Iterable[tuple[str, str]]) -> UsageError:
    """Return the error that the unit of some columns, given as (quantity, column), is not known."""
    return UsageError(
        [
            Problem(
                code="GL-I042",
                where=f"{where} {column}",
                what=f"the unit of `{name}` is not stated",
                why="GPUs, GPU-hours and per cent look alike, and are off by orders of magnitude",
                fix=f"state it: --unit {name}=UNIT, UNIT one of {', '.join(Unit)}; or end the "
                "column's name with _gpus or _gpu_hours",
            )
            for name, column in names
        ]
    )


def _unknown(word: str, text: str) -> Problem:
    if word.strip().casefold() in ("%", "percent", "per cent", "share"):
        return Problem(
            code="GL-I042",
            where="--unit",
            what=f"{text!r} does not say of what",
            why="40 % of what is allocated and 40 % of what is reserved are different GPUs",
            fix="write percent-of-allocated or percent-of-capacity (share-of-… for 0 to 1)",
        )
    return Problem(
        code="GL-I042",
        where="--unit",
        what=f"not a unit: {word!r}",
        fix=f"one of {', '.join(Unit)}, or QUANTITY=UNIT",
    )
