"""Times as people write them, read into one clock: seconds since 1970 in UTC.

A time without an offset means nothing until its zone is known, so the zone has to be stated; times
with an offset keep their own. In spring a zone's clock skips an hour, and a time within it is none;
in autumn it shows an hour twice, and the earlier one is taken unless something says otherwise.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, available_timezones

import numpy as np

from gpuladder.errors import Problem, UsageError
from gpuladder.fields import FIRST_YEAR, LAST_YEAR
from gpuladder.review.imports.columns import near
from gpuladder.review.imports.figures import EMPTY, read_figures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gpuladder.review.imports.rows import BoolArray
    from gpuladder.timegrid import FloatArray

ISO = "iso"
EPOCH_SECONDS = "epoch_s"
EPOCH_MILLISECONDS = "epoch_ms"

NOT_A_TIME = "not a time in the format that was stated"
OUT_OF_RANGE = f"a time outside the years {FIRST_YEAR} to {LAST_YEAR}"
SKIPPED = "a time that the clock of {zone} skipped when it went forward"
TWICE = "a time that the clock of {zone} showed twice: the earlier one is taken"

_ISO_TIME = re.compile(
    r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)?"
    r"(?P<offset> ?(?:Z|UTC|[+-]\d\d(?::?\d\d)?))?",
    re.ASCII,
)
_PLAIN = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d", re.ASCII)
_KEPT = "datetime64[us]"
_PLAIN_LENGTH = len("2026-07-06 14:00:00")


@dataclass(frozen=True, slots=True)
class Times:
    """Times read from text.

    Attributes
    ----------
    utc : float64, shape (N,), seconds since 1970-01-01 00:00 UTC
        NaN where there is none.
    later : float64, shape (N,), seconds
        The same, but the later of two where the zone's clock showed the time twice.
    faults, notes : dict of str to bool array, shape (N,)
        Which texts could not be read, by reason; and what there is to say about others.
    """

    utc: FloatArray
    later: FloatArray
    faults: dict[str, BoolArray]
    notes: dict[str, BoolArray]


@dataclass(frozen=True)
class Clock:
    """How the times of a file are written.

    Attributes
    ----------
    timezone : str or None
        Zone of times without an offset, such as ``Europe/Berlin``; ``UTC`` takes them as they
        stand. None refuses such times.
    time_format : str
        ``iso``, ``epoch_s``, ``epoch_ms``, or a pattern such as ``%d.%m.%Y %H:%M``.
    """

    timezone: str | None = None
    time_format: str = ISO

    def __post_init__(self) -> None:
        if self.timezone is not None and self.timezone not in available_timezones():
            raise UsageError(
                Problem(
                    code="GL-I008",
                    where="--timezone",
                    what=f"no such time zone: {self.timezone!r}"
                    f"{near(self.timezone, available_timezones())}",
                    fix="name it as the time zone database does: Europe/Berlin, UTC",
                )
            )
        formats = (ISO, EPOCH_SECONDS, EPOCH_MILLISECONDS)
        if self.time_format not in formats and "%" not in self.time_format:
            raise UsageError(
                Problem(
                    code="GL-I008",
                    where="--time-format",
                    what=f"not a way to write times: {self.time_format!r}",
                    fix=f"one of {', '.join(formats)}, or a pattern such as %d.%m.%Y %H:%M",
                )
            )

    @cached_property
    def zone(self) -> ZoneInfo | None:
        """The zone of times without an offset."""
        return None if self.timezone is None else ZoneInfo(self.timezone)

    def read(self, texts: Sequence[str], *, typed: bool = False) -> Times:
        """Return the times that texts stand for.

        Parameters
        ----------
        texts : sequence of str, length N
            Without surrounding blanks.
        typed : bool
            Whether the file itself knows that these are times or numbers (Parquet), so that
            a pattern does not apply to them.

        Raises
        ------
        UsageError
            When a time has no offset and no zone was stated.
        """
        if self.time_format in (EPOCH_SECONDS, EPOCH_MILLISECONDS):
            return _from_epoch(texts, 1.0 if self.time_format == EPOCH_SECONDS else 1e-3)
        if self.time_format != ISO and not typed:
            return self._from_pattern(texts)
        if all(len(text) == _PLAIN_LENGTH and _PLAIN.fullmatch(text) for text in texts):
            return _checked(texts, self._localised(_parsed(texts), texts))
        return self._from_iso(texts)

    def _from_iso(self, texts: Sequence[str]) -> Times:
        local: list[str] = []
        ahead = np.full(len(texts), np.nan)
        for index, text in enumerate(texts):
            match = _ISO_TIME.fullmatch(text)
            offset = match["offset"] if match else None
            if offset:
                ahead[index] = _offset_seconds(offset.strip())
                local.append(text[: -len(offset)])
            else:
                local.append(text if match else "")
        moments = _parsed(local)
        own = ~np.isnan(ahead)
        naive = moments.copy()
        naive[own] = np.datetime64("NaT")
        times = self._localised(naive, texts)
        utc = np.where(own, _seconds(moments) - ahead, times.utc)
        return _checked(texts, replace(times, utc=utc, later=np.where(own, utc, times.later)))

    def _from_pattern(self, texts: Sequence[str]) -> Times:
        import pandas as pd

        own = any(code in self.time_format for code in ("%z", "%Z"))
        try:
            found = pd.to_datetime(
                pd.Series(texts, dtype=object), format=self.time_format, errors="coerce", utc=own
            )
        except ValueError as error:
            raise UsageError(
                Problem(
                    code="GL-I008",
                    where="--time-format",
                    what=f"not a pattern of a time: {self.time_format!r} ({error})",
                    fix="see the format codes of Python's strptime, such as %d.%m.%Y %H:%M",
                )
            ) from error
        if not own:
            return _checked(texts, self._localised(found.to_numpy(_KEPT), texts))
        return _checked(texts, _certain(_seconds(found.dt.tz_localize(None).to_numpy(_KEPT))))

    def _localised(self, moments: NDArray[np.datetime64], texts: Sequence[str]) -> Times:
        """Return local times in UTC; NaT stays out, and is no fault yet."""
        import pandas as pd

        is_time = ~np.isnat(moments)
        if not is_time.any() or self.timezone == "UTC":
            return _certain(_seconds(moments))
        if self.zone is None:
            raise UsageError(
                Problem(
                    code="GL-I007",
                    what=f"a time without a zone: {texts[int(np.argmax(is_time))]!r}",
                    why="hours would be cut at the wrong places, and clock changes would "
                    "lengthen or shorten jobs",
                    fix="state it: --timezone Europe/Berlin; --timezone UTC takes the times as "
                    "they stand",
                )
            )
        index = pd.DatetimeIndex(moments)
        first, second = (
            index.tz_localize(
                self.zone,
                ambiguous=np.full(len(index), fill_value=is_first),
                nonexistent="NaT",
            )
            for is_first in (True, False)
        )
        utc, later = (
            _seconds(item.tz_convert("UTC").tz_localize(None).to_numpy(_KEPT))
            for item in (first, second)
        )
        skipped = is_time & np.isnan(utc)
        faults = {SKIPPED.format(zone=self.timezone): skipped} if skipped.any() else {}
        twice = later > utc
        notes = {TWICE.format(zone=self.timezone): twice} if twice.any() else {}
        return Times(utc, later, faults, notes)


def moment(text: str, clock: Clock, where: str) -> float:
    """Return one time given on the command line, in seconds since 1970 UTC.

    Raises
    ------
    UsageError
        When it is not an ISO date or time, or has no zone.
    """
    try:
        times = Clock(clock.timezone).read([text.strip()])
    except UsageError as error:
        raise UsageError([replace(each, where=where) for each in error.problems]) from error
    if times.faults:
        raise UsageError(
            Problem(
                code="GL-I008",
                where=where,
                what=f"{text!r}: {next(iter(times.faults))}",
                fix='write it as "2026-07-06" or "2026-07-06 14:00"',
            )
        )
    return float(times.utc[0])


def _parsed(texts: Sequence[str]) -> NDArray[np.datetime64]:
    import pandas as pd

    series = pd.Series(texts, dtype=object)
    return pd.to_datetime(series, format="ISO8601", errors="coerce").to_numpy(_KEPT)


def _seconds(moments: NDArray[np.datetime64]) -> FloatArray:
    whole = moments.astype("datetime64[s]")
    rest = (moments - whole) / np.timedelta64(1, "s")
    seconds = whole.astype(np.int64).astype(np.float64) + rest
    return np.where(np.isnat(moments), np.nan, seconds)


def _offset_seconds(text: str) -> float:
    if text in ("Z", "UTC"):
        return 0.0
    digits = text[1:].replace(":", "").ljust(4, "0")
    seconds = 3600.0 * int(digits[:2]) + 60.0 * int(digits[2:])
    return -seconds if text[0] == "-" else seconds


def _from_epoch(texts: Sequence[str], unit: float) -> Times:
    figures = read_figures(texts)
    return _checked(texts, replace(_certain(figures.numbers * unit), faults=figures.faults))


def _certain(utc: FloatArray) -> Times:
    return Times(utc, utc, {}, {})


_FIRST, _LAST = (
    (datetime(year, 1, 1) - datetime(1970, 1, 1)).total_seconds()  # noqa: DTZ001 (only a length)
    for year in (FIRST_YEAR, LAST_YEAR + 1)
)


def _checked(texts: Sequence[str], times: Times) -> Times:
    """Give each text that is no time exactly one reason."""
    found = {reason: mask for reason, mask in times.faults.items() if mask.any()}
    outside = ~np.isnan(times.utc) & ((times.utc < _FIRST) | (times.utc >= _LAST))
    utc, later = (np.where(outside, np.nan, values) for values in (times.utc, times.later))
    known = np.zeros(len(texts), dtype=bool)
    for mask in found.values():
        known |= mask
    blank = np.fromiter((not text for text in texts), dtype=bool, count=len(texts))
    rest = np.isnan(utc) & ~known & ~outside
    masks = {OUT_OF_RANGE: outside & ~known, EMPTY: rest & blank, NOT_A_TIME: rest & ~blank}
    found |= {reason: mask for reason, mask in masks.items() if mask.any()}
    return Times(utc, later, found, times.notes)
