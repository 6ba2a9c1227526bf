"""The words for what the schema refuses: where, what, why and how to fix it."""

from __future__ import annotations

import difflib
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

from gpuladder.errors import Problem
from gpuladder.fields import LARGEST
from gpuladder.scenario import schema
from gpuladder.scenario.source import KeyPath, Locations, RawList, RawMap
from gpuladder.sizing import owned, spec

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from pydantic import BaseModel, ValidationError
    from pydantic_core import ErrorDetails

_LATER = {
    "spend": "spend offers (commitments denominated in money)",
}
_RANGE = {
    "greater_than": ("gt", "must be greater than"),
    "greater_than_equal": ("ge", "must be at least"),
    "less_than": ("lt", "must be less than"),
    "less_than_equal": ("le", "must be at most"),
}
_RANK = {"missing": 0, "extra_forbidden": 0, **dict.fromkeys(_RANGE, 1), "finite_number": 1}
_OFFER_TYPES = {
    str(get_args(kind.model_fields["kind"].annotation)[0]): kind
    for kind in get_args(get_args(schema.Offer)[0])
}
_CAMPAIGN_TYPES = {
    str(get_args(kind.model_fields["shape"].annotation)[0]): kind
    for kind in get_args(get_args(schema.Campaign)[0])
}
_NESTED: dict[str, type[BaseModel]] = {
    "horizon": schema.Horizon,
    "segments": schema.Segment,
    "policy": schema.Policy,
    "ladder": schema.LadderPolicy,
    "hardware_limits": schema.HardwareLimit,
    "cash_budgets": schema.CashBudget,
    "solver": schema.SolverOptions,
    "price_path": schema.PriceStep,
    "repeat": schema.Repeat,
    "workload": spec.Workload,
    "run": spec.Run,
    "cadence": spec.Cadence,
    "checkpoints": spec.Checkpoints,
    "mfu": spec.MfuBand,
    "placement": spec.Placement,
    "invoice": spec.InvoiceTerms,
    "providers": spec.ProviderTerms,
    "financing": owned.Financing,
    "residual_curve": owned.ResidualPoint,
    "depreciation": owned.Depreciation,
}
_ROWS: dict[str, type[BaseModel]] = {
    "hardware": schema.Hardware,
    "pools": schema.Pool,
    "preemption_classes": schema.PreemptionClass,
    "commitments": schema.HeldCommitment,
    "backfill": schema.BackfillBuyer,
    "demand": schema.DemandRow,
}


def keys_of(model: type[BaseModel]) -> tuple[str, ...]:
    """Return the keys a record may have, as they are written."""
    return tuple(field.alias or name for name, field in model.model_fields.items())


def not_yet(feature: str, where: str) -> Problem:
    """Return the error for a key that is planned but not supported."""
    return Problem(
        code="GL-S106",
        where=where,
        what=f"{_LATER.get(feature, f'`{feature}` (uncertain futures)')}: not yet supported",
        why="it is planned; leaving it out silently would plan something that was not asked for",
        fix="take it out of the scenario",
    )


def unknown_key(key: str, allowed: Iterable[str], where: str, owner: str) -> Problem:
    """Return the error for an unknown key, with the nearest known one."""
    keys = list(allowed)
    close = difflib.get_close_matches(key.lower(), keys, n=1, cutoff=0.6)
    guess = f"; did you mean `{close[0]}`?" if close else ""
    return Problem(
        code="GL-S101",
        where=where,
        what=f"unknown key `{key}` in {owner}{guess}",
        why="an unknown key is never ignored: it would be a limit or a price that does not count",
        fix=f"rename it to `{close[0]}`" if close else f"known keys: {', '.join(keys)}",
    )


def missing_key(key: str, where: str, *, is_table: bool = False) -> Problem:
    """Return the error for a key that has no default and no value."""
    return Problem(
        code="GL-S102",
        where=where,
        what=f"`{key}` is missing",
        fix=f"add it; `{key}: []` says that there are none" if is_table else "add it",
    )


def not_a_table(name: str, value: Any, where: str) -> Problem:
    """Return the error for a table that is not a list of rows."""
    return Problem(
        code="GL-S103",
        where=where,
        what=f"`{name}` must be a list of rows, not {_kind_of(value)}",
        fix="write one item with a dash for each row, or the path of a CSV file beside it",
    )


def problems_of(
    error: ValidationError, base: KeyPath, raw: Any, locations: Locations
) -> list[Problem]:
    """Return the problems of a validation error, one for each value at fault.

    Parameters
    ----------
    error : pydantic.ValidationError
        Raised for the value that stands at ``base``.
    base : tuple
        Key path of the value in the raw tree.
    raw : object
        The raw value.
    locations : Locations
        Where things were written.
    """
    found: dict[KeyPath, ErrorDetails] = {}
    words: dict[KeyPath, str] = {}
    for detail in error.errors(include_url=False):
        path = _clean(detail, raw)
        if detail["type"] == "literal_error":
            words[path] = f"or write {detail['ctx']['expected']}"
        known = found.get(path)
        if known is None or _rank(detail) < _rank(known):
            found[path] = detail
    deepest = [
        (path, detail)
        for path, detail in found.items()
        if _rank(detail) == 0
        or not any(len(other) > len(path) and other[: len(path)] == path for other in found)
    ]
    problems = []
    for path, detail in deepest:
        problem = _problem(detail, (*base, *path), base, raw, locations)
        if path in words and detail["type"] != "literal_error":  # a number or a word
            problem = replace(problem, fix="; ".join(filter(None, (problem.fix, words[path]))))
        problems.append(problem)
    return problems


def _rank(detail: ErrorDetails) -> int:
    kind = detail["type"]
    if kind == "value_error":
        return 2
    return _RANK.get(kind, 4 if kind in ("tuple_type", "dict_type", "literal_error") else 3)


def _clean(detail: ErrorDetails, raw: Any) -> KeyPath:
    """Return the error's place without the names of union branches, which nobody wrote."""
    path: list[str | int] = []
    node = raw
    last = len(detail["loc"]) - 1
    for number, key in enumerate(detail["loc"]):
        if isinstance(node, RawMap) and str(key) in node and not _is_tag(key, node, number):
            path.append(str(key))
            node = node[str(key)]
        elif isinstance(node, RawList) and isinstance(key, int) and key < len(node):
            path.append(key)
            node = node[key]
        elif number == last and detail["type"] == "missing":
            path.append(str(key))
    return tuple(path)


def _is_tag(key: str | int, node: RawMap, number: int) -> bool:
    return number == 0 and key in (node.get("kind"), node.get("shape"))


def _problem(
    detail: ErrorDetails, path: KeyPath, base: KeyPath, raw: Any, locations: Locations
) -> Problem:
    kind, context = detail["type"], detail.get("ctx", {})
    value, where, key = detail["input"], locations.where(path), path[-1]
    if kind == "missing":
        return missing_key(str(key), locations.where(path[:-1]))
    if kind == "extra_forbidden":
        return _foreign_key(path, base, raw, where)
    if kind in _RANGE:
        name, words = _RANGE[kind]
        return Problem(
            code="GL-S104",
            where=where,
            what=f"{_kind_of(value)} is out of range: it {words} {context[name]:g}",
            fix=_range_hint(value, name, context[name], str(key)),
        )
    if kind == "finite_number":
        return Problem(
            code="GL-S108",
            where=where,
            what=f"{value} is not a finite number",
            fix="leave the key out when there is no limit",
        )
    if kind == "value_error":
        text = str(context["error"])
        what, _, fix = text.partition("; ")
        code = "GL-S105" if "date" in what or "span" in what else "GL-S103"
        code = "GL-S109" if "time zone" in what else code
        return Problem(code=code, where=where, what=what, fix=fix)
    if kind in ("union_tag_invalid", "union_tag_not_found", "enum", "literal_error"):
        return _wrong_choice(detail, where, base, raw, locations)
    return Problem(
        code="GL-S103",
        where=where,
        what=f"{_wanted(kind, context)} is needed, not {_kind_of(value)}",
        fix=_type_hint(kind, value),
    )


def _foreign_key(path: KeyPath, base: KeyPath, raw: Any, where: str) -> Problem:
    key, table = str(path[-1]), str(base[0])
    nested = next((str(part) for part in reversed(path[:-1]) if str(part) in _NESTED), None)
    if nested is not None:
        return unknown_key(key, keys_of(_NESTED[nested]), where, f"`{nested}`")
    types = {"offers": _OFFER_TYPES, "campaigns": _CAMPAIGN_TYPES}.get(table)
    if types is None:
        return unknown_key(key, keys_of(_ROWS[table]), where, f"`{table}`")
    kind = raw.get("kind" if table == "offers" else "shape")
    others = [name for name, model in types.items() if key in keys_of(model)]
    noun = f"{_article(str(kind))} {kind} {table[:-1]}"
    if others:
        return Problem(
            code="GL-S101",
            where=where,
            what=f"{noun} has no key `{key}`",
            why=f"`{key}` belongs to: {', '.join(others)}",
            fix=f"take it out, or change the {'kind' if table == 'offers' else 'shape'}",
        )
    return unknown_key(key, keys_of(types[str(kind)]), where, noun)


def _wrong_choice(
    detail: ErrorDetails, where: str, base: KeyPath, raw: Any, locations: Locations
) -> Problem:
    context = detail.get("ctx", {})
    if detail["type"] == "union_tag_not_found":
        key = str(context["discriminator"]).strip("'")
        return missing_key(key, locations.where(base))
    value: Any = detail["input"]
    if detail["type"] == "union_tag_invalid":
        key = str(context["discriminator"]).strip("'")
        value = raw.get(key)
        where = locations.where((*base, key))
    choices = str(context.get("expected_tags") or context.get("expected", ""))
    names = [part.strip(" '") for part in choices.replace(" or ", ", ").split(",")]
    close = difflib.get_close_matches(str(value).lower(), names, n=1, cutoff=0.5)
    return Problem(
        code="GL-S107",
        where=where,
        what=f"{value!r} is not a choice" + (f"; did you mean `{close[0]}`?" if close else ""),
        fix=f"one of: {', '.join(names)}",
    )


def _range_hint(value: Any, name: str, bound: float, key: str) -> str:
    if abs(bound) == LARGEST:
        return "check the number of digits"
    number = float(value)
    if name in ("le", "lt") and bound == 1 and 1 < number <= 100:
        return f"a share is written between 0 and 1: {number:g} % is {number / 100:g}"
    if name == "le" and key == "rate":
        return f"interest is a share a year: {number:g} % is {number / 100:g}"
    if name == "gt" and bound == -1:
        return "a yearly change of -15 % is written -0.15"
    if name == "gt" and number == 0 and "availability" in key:
        return "what can never be had is left out of the scenario"
    if name == "gt" and number == 0 and "price" in key:
        return "an offer that costs nothing would be bought without end; give its price"
    return ""


def _type_hint(kind: str, value: Any) -> str:
    if kind == "tuple_type" and isinstance(value, str):
        return f"write [{value}] for a list of one"
    if kind == "string_pattern_mismatch":
        return "a currency is an ISO 4217 code such as USD"
    if kind.startswith("string_too_long"):
        return "shorten it"
    if kind == "int_from_float":
        return "round it"
    if kind.endswith("parsing") and isinstance(value, str) and "%" in value:
        share = _share_of(value)
        shown = "" if share is None else f": {value.strip()} is {share:g}"
        return f"a share is written between 0 and 1, without a sign{shown}"
    if kind == "int_parsing" and isinstance(value, str) and value.strip()[:1].isdigit():
        return "write it out in digits, such as 8192"
    return ""


def _share_of(text: str) -> float | None:
    """Return the share that a percentage stands for, or None when it is none."""
    try:
        return float(text.strip().removesuffix("%")) / 100.0
    except ValueError:
        return None


def _wanted(kind: str, context: dict[str, Any]) -> str:
    words: dict[str, str] = {
        "float": "a number",
        "int": "a whole number",
        "string": "a text",
        "tuple": "a list",
        "dict": "a mapping `{key: value}`",
        "model": "a mapping of keys",
        "too": "at least one item",
        "is": "an object",
    }
    if kind == "string_too_short":
        return "a text that is not empty"
    if kind == "string_too_long":
        return f"a text of at most {context.get('max_length')} characters"
    return words.get(kind.split("_", maxsplit=1)[0], "another value")


def _kind_of(value: Any) -> str:
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, (list, tuple)):
        return "a list" if value else "an empty list"
    text = repr(value) if isinstance(value, str) else str(value).lower()
    return text if len(text) <= 60 else text[:57] + "…"


def _article(word: str) -> str:
    return "an" if word[:1] in "aeiou" else "a"


def join(names: Collection[str], limit: int = 6) -> str:
    """Return names as a readable list, the tail counted."""
    items = list(names)
    shown = ", ".join(items[:limit])
    return shown if len(items) <= limit else f"{shown} and {len(items) - limit} more"
