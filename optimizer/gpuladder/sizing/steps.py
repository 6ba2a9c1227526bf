"""One step of a worked calculation: the number, how it came about, and who says so."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One line of a worked sheet.

    Attributes
    ----------
    section : str
        Part of the sheet: work, memory, placement, cluster, checkpoints, market or cadence.
    name : str
        What is worked out.
    formula : str
        The formula in symbols.
    working : str
        The formula with its numbers.
    value : float or str
        The result; a word where the result is a verdict.
    unit : str
        Unit of the value; empty for words and ratios.
    source : str
        Where the formula or the number comes from.
    """

    section: str
    name: str
    formula: str
    working: str
    value: float | str
    unit: str = ""
    source: str = ""
