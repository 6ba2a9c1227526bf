"""What single values of a scenario may be: numbers, shares, names, dates and spans."""

from __future__ import annotations

import math
from datetime import date, datetime, time
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    WithJsonSchema,
)

from gpuladder.timegrid import Span

LONGEST_YEARS = 100
"""Longest span: far beyond any contract, and short enough for calendar arithmetic never to end."""
LARGEST = 10**15
"""Largest number read: more is a slip, and exact arithmetic ends there."""
FIRST_YEAR, LAST_YEAR = 1950, 2400
SPAN_PATTERN = r"^\s*\d+\s*(day|week|month|year)s?\s*$"
COUNT_PATTERN = r"^\s*\+?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*[kKmMbBgGtT]?\s*$"
_LETTERS = {"K": 1e3, "M": 1e6, "B": 1e9, "G": 1e9, "T": 1e12}
"""What a letter behind a count multiplies it by."""


def _refuse_boolean(value: object) -> object:
    """Refuse what Python would read as a number though nobody meant one: ``true``, ``1_000``."""
    if isinstance(value, bool):
        msg = f"a number is needed, not {str(value).lower()}"
        raise ValueError(msg)  # noqa: TRY004 (what pydantic reports)
    if isinstance(value, str) and ("_" in value or "," in value):
        msg = f"not a number: {value!r}; write decimals with a point and nothing between thousands"
        raise ValueError(msg)
    return value


def _read_count(value: object) -> object:
    """Read a count with the usual letter behind it: ``13B`` is 13e9, ``2.5T`` is 2.5e12."""
    text = value.strip() if isinstance(value, str) else ""
    factor = _LETTERS.get(text[-1:].upper())
    if not text or "_" in text or "," in text:
        return value
    try:
        number = float(text) if factor is None else float(text[:-1]) * factor
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        msg = f"not a number: {value!r}; write 13e9 or 13B, with K, M, B or T for 1e3 to 1e12"
        raise ValueError(msg)
    return number


def _positive_zero(value: float) -> float:
    """Turn -0.0 into 0.0, which not every form of a scenario can tell apart."""
    return value + 0.0


def _read_day(value: object) -> object:
    """Read an ISO date; numbers and other notations are refused, a midnight stands for its day."""
    if isinstance(value, datetime):
        moment: date | datetime = value
    elif isinstance(value, date):
        moment = value
    else:
        moment = _read_iso(value, 'a date such as "2026-07-06"')
    if isinstance(moment, datetime):
        if moment.tzinfo is not None or moment.time() != time():
            msg = f"not a date: {value}; a date has no time of day"
            raise ValueError(msg)
        moment = moment.date()
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:
        msg = f"not a date in {FIRST_YEAR} to {LAST_YEAR}: {value}"
        raise ValueError(msg)
    return moment


def _read_moment(value: object) -> object:
    """Read an ISO date and time without a zone; a date stands for its midnight."""
    moment = value if isinstance(value, date) else _read_iso(value, 'such as "2026-07-06 14:00"')
    if not isinstance(moment, datetime):
        return datetime(moment.year, moment.month, moment.day)  # noqa: DTZ001 (times are naive)
    if moment.tzinfo is not None:
        msg = f"a time zone is not read: {value}; write all times in one zone and leave it out"
        raise ValueError(msg)
    return moment


def _read_iso(value: object, wanted: str) -> date | datetime:
    text = value.strip() if isinstance(value, str) else ""
    try:
        if len(text) == len("2026-07-06") and text[4] == text[7] == "-":
            return date.fromisoformat(text)
        if len(text) > len("2026-07-06") and text[4] == text[7] == "-" and text[10] in " T":
            return datetime.fromisoformat(text)
        detail = ""
    except ValueError as error:
        detail = f" ({error})"
    msg = f"not a date: {value!r}{detail}; write {wanted}"
    raise ValueError(msg)


def _check_name(value: str) -> str:
    """Keep names such that all three forms of a scenario can write them."""
    if value != value.strip() or not value.isprintable() or value[0] in "[{":
        msg = (
            f"not a name: {value!r}; a name has no surrounding blanks or control characters "
            "and does not begin with [ or {"
        )
        raise ValueError(msg)
    return value


def _check_prose(value: str) -> str:
    """Keep free text such that all three forms of a scenario can write it."""
    if not value.replace("\n", " ").replace("\t", " ").replace("\u00a0", " ").isprintable():
        msg = "not a text: it has control characters; take them out"
        raise ValueError(msg)
    return value


def _read_span(value: object) -> object:
    return Span.parse(value) if isinstance(value, str) else value


def _one_or_many(value: object) -> object:
    """Let a single value stand for a list of one."""
    if isinstance(value, (list, tuple)):
        return tuple(value)
    return (value,)


def _write_one_or_many(value: tuple[Any, ...]) -> Any:
    """Write a list of one as its only member."""
    items = [str(item) if isinstance(item, Span) else item for item in value]
    return items[0] if len(items) == 1 else items


def _check_span(value: Span) -> Span:
    days = value.count * {"day": 1, "week": 7, "month": 31, "year": 366}[value.unit]
    if days > LONGEST_YEARS * 366:
        msg = f"not a span: {value} is longer than {LONGEST_YEARS} years"
        raise ValueError(msg)
    return value


def _check_some_time(value: Span) -> Span:
    if value.count == 0:
        msg = f"not a span: {value} is no time at all; leave the key out, or write at least 1"
        raise ValueError(msg)
    return value


Number = Annotated[
    float,
    BeforeValidator(_refuse_boolean),
    Field(allow_inf_nan=False),
    Field(ge=-LARGEST, le=LARGEST),
    AfterValidator(_positive_zero),
]
Whole = Annotated[int, BeforeValidator(_refuse_boolean), Field(ge=-LARGEST, le=LARGEST)]
Positive = Annotated[Number, Field(gt=0)]
NonNegative = Annotated[Number, Field(ge=0)]
PositiveCount = Annotated[
    Positive,
    BeforeValidator(_read_count),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "exclusiveMinimum": 0},
                {"type": "string", "pattern": COUNT_PATTERN, "examples": ["13B", "2T"]},
            ]
        }
    ),
]
"""A large number, which may have a letter behind it."""
NonNegativeCount = Annotated[
    NonNegative,
    BeforeValidator(_read_count),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "minimum": 0},
                {"type": "string", "pattern": COUNT_PATTERN, "examples": ["13B", "2T"]},
            ]
        }
    ),
]
"""Such a number, or 0."""
Share = Annotated[Number, Field(ge=0, le=1)]
PositiveShare = Annotated[Number, Field(gt=0, le=1)]
PositiveWhole = Annotated[Whole, Field(gt=0)]
NonNegativeWhole = Annotated[Whole, Field(ge=0)]
Moment = Annotated[datetime, BeforeValidator(_read_moment)]
Day = Annotated[date, BeforeValidator(_read_day)]
YearlyChange = Annotated[Number, Field(gt=-1)]
Identifier = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_check_name)]
Prose = Annotated[str, Field(max_length=30_000), AfterValidator(_check_prose)]
SpanText = Annotated[
    Span,
    BeforeValidator(_read_span),
    AfterValidator(_check_span),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "string", "pattern": SPAN_PATTERN, "examples": ["4 weeks"]}),
]
TermText = Annotated[SpanText, AfterValidator(_check_some_time)]
OneOrMore = BeforeValidator(_one_or_many)
WriteOneOrMore = PlainSerializer(_write_one_or_many)


class Record(BaseModel):
    """Base of every table row: frozen, unknown keys refused, docstrings used as descriptions."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        populate_by_name=True,
        use_attribute_docstrings=True,
        coerce_numbers_to_str=True,
    )
