"""What is said of one term."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One term.

    Attributes
    ----------
    name : str
        As it is written in sentences.
    aliases : tuple of str
        Other names, keys of metrics and of the scenario among them.
    definition : str
        What it is, one or two sentences.
    formula : str
        How it is computed; empty where there is nothing to compute.
    unit : str
        Unit of its value; empty where it has none.
    example : str
        With round numbers.
    source : str
        Where the term comes from, when it is not this program's own.
    """

    name: str
    aliases: tuple[str, ...] = ()
    definition: str
    formula: str = ""
    unit: str = ""
    example: str = ""
    source: str = ""
