"""The answers beside the plan as sections of the JSON document of a run, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from gpuladder.analysis.answers import Answers

TABLES = (
    "shadow_prices",
    "walk_away",
    "burst_or_standing",
    "baselines",
    "waterfall",
    "alternatives",
    "quantity_ranges",
    "tornado",
    "unanswered",
)
"""Sections of the document, in order."""
_SHADOW_PRICE_KEYS = (
    "limit",
    "key",
    "period",
    "unit",
    "reading",
    "fixed_plan_dual",
    "valid_from",
    "valid_to",
    "marginal_up",
    "marginal_down",
    "dual_low",
    "dual_high",
    "marginal_error",
    "change",
    "note",
)


def answer_sections(answers: Answers) -> dict[str, Any]:
    """Return the answers as sections, each a list of rows; dates are left as dates.

    ``burst_or_standing`` is an object: its plain sentences, the structures and the flips.
    """
    rows = asdict(answers)
    sections = {name: list(rows[name]) for name in TABLES}
    sections["shadow_prices"] = [
        {key: row[key] for key in _SHADOW_PRICE_KEYS} for row in rows["shadow_prices"]
    ]
    burst_or_standing = {
        "sentences": list(rows["burst_or_standing"]),
        "structures": list(rows["structures"]),
        "flips": list(rows["flips"]),
    }
    return {**sections, "burst_or_standing": burst_or_standing}


def read_answers(document: Mapping[str, Any]) -> Answers:
    """Return the answers that a document holds; sections that it does not have are empty.

    Raises
    ------
    ValueError
        When a section is not what ``answer_sections`` writes.
    """
    found = {name: document[name] for name in TABLES if name in document}
    pools = found.pop("burst_or_standing", {})
    if not isinstance(pools, Mapping):
        msg = "`burst_or_standing` is not an object"
        raise ValueError(msg)  # noqa: TRY004 (one kind of error for a damaged document)
    return _reader().validate_python(
        {
            **found,
            "burst_or_standing": pools.get("sentences", ()),
            "structures": pools.get("structures", ()),
            "flips": pools.get("flips", ()),
        }
    )


@cache
def _reader() -> TypeAdapter[Answers]:
    return TypeAdapter(Answers)
