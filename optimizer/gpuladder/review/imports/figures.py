"""Numbers as people write them: read only where there is one way to read them.

``1,234`` is a thousand in one country and one and a quarter in another, so a comma counts as the
decimal sign only when that was stated, and nothing ever stands between thousands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpuladder.review.imports.rows import BoolArray
    from gpuladder.timegrid import FloatArray

DecimalSign = Literal[".", ","]

_POINT = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_COMMA = re.compile(r"[+-]?(?:\d+(?:,\d*)?|,\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_WITH_SIGNS = re.compile(r"[+-]?\d[\d.,' _\u00a0\u2009\u202f\u2019]*", re.ASCII)

_NO_VALUE = frozenset({"", "null"})

COMMA = "a comma in a number: it is a decimal sign only where --decimal , says so"
POINT = "a point in a number, though --decimal , says that decimals have a comma"
SEPARATOR = "something between the thousands of a number"
WORDS = "not a number (units are never guessed)"
EMPTY = "empty"


@dataclass(frozen=True, slots=True)
class Figures:
    """Numbers read from text.

    Attributes
    ----------
    numbers : float64, shape (N,)
        NaN where there is none.
    faults : dict of str to bool array, shape (N,)
        Which texts could not be read, by reason; each text has at most one.
    """

    numbers: FloatArray
    faults: dict[str, BoolArray]


def read_figures(texts: Sequence[str], decimal: DecimalSign = ".") -> Figures:
    """Return the numbers that texts stand for.

    Parameters
    ----------
    texts : sequence of str, length N
        Without surrounding blanks.
    decimal : {".", ","}
        Sign before the decimals.

    Examples
    --------
    >>> read_figures(["1.5", "1,5", ""]).numbers
    array([1.5, nan, nan])
    """
    match = (_POINT if decimal == "." else _COMMA).fullmatch
    numbers = np.full(len(texts), np.nan)
    faults: dict[str, BoolArray] = {}
    for index, text in enumerate(texts):
        if match(text):
            number = float(text if decimal == "." else text.replace(",", "."))
            if number - number == 0.0:
                numbers[index] = number
                continue
        reason = _reason(text, decimal)
        faults.setdefault(reason, np.zeros(len(texts), dtype=bool))[index] = True
    return Figures(numbers, faults)


def _reason(text: str, decimal: DecimalSign) -> str:
    if text.casefold() in _NO_VALUE:
        return EMPTY
    if not _WITH_SIGNS.fullmatch(text):
        return WORDS
    if decimal == "." and "," in text:
        return COMMA
    if decimal == "," and "." in text:
        return POINT
    return SEPARATOR
