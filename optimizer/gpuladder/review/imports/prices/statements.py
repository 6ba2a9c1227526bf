"""What a user states about a price list on the command line."""

from __future__ import annotations

import math
from datetime import date
from typing import TYPE_CHECKING, get_args

from gpuladder.errors import Problem, UsageError
from gpuladder.review.imports.columns import near
from gpuladder.review.imports.prices.layouts import FIELDS
from gpuladder.scenario.schema import Offer

if TYPE_CHECKING:
    from collections.abc import Iterable

_GPUS_PER_NODE = "--gpus-per-node"
_AS_OF = "--as-of"
_VALUE = "--value"
_OFFER = "--offer"
_DATED = ("as_of", "first_day", "last_day")
_STATED = tuple(field.name for field in FIELDS if field.name not in _DATED)


def read_node_gpus(texts: Iterable[str]) -> dict[str, float]:
    """Return GPUs of a node by SKU from ``GPUS`` and ``SKU=GPUS``; ``""`` stands for the rest.

    Raises
    ------
    UsageError
        When one is no number above zero, or given twice.
    """
    found: dict[str, float] = {}
    for text in texts:
        sku, sign, number = text.rpartition("=")
        try:
            gpus = float(number)
        except ValueError:
            gpus = 0.0
        if not 0 < gpus < math.inf or bool(sign) != bool(sku.strip()):
            fix = "write it as 8, or SKU=8"
            raise _wrong(_GPUS_PER_NODE, f"not a number of GPUs: {text!r}", fix)
        if sku.strip() in found:
            raise _wrong(_GPUS_PER_NODE, f"`{sku.strip() or 'every node'}` is given twice")
        found[sku.strip()] = gpus
    return found


def read_day(text: str) -> date:
    """Return a date.

    Raises
    ------
    UsageError
        When it is none.
    """
    try:
        return date.fromisoformat(text.strip())
    except ValueError as error:
        raise _wrong(_AS_OF, f"not a date: {text!r}", "write it as 2026-05-24") from error


def read_values(texts: Iterable[str]) -> dict[str, str]:
    """Return fields that are the same in every row from ``FIELD=VALUE``.

    Raises
    ------
    UsageError
        When a field is not known, or its value is of no use.
    """
    found: dict[str, str] = {}
    for text in texts:
        name, _, value = (part.strip() for part in text.partition("="))
        if name not in _STATED or not value:
            fix = f"one of {', '.join(_STATED)}"
            raise _wrong(_VALUE, f"not a field and its value: {text!r}{near(name, _STATED)}", fix)
        if name in ("gpus", "min_gpus") and not value.isdecimal():
            raise _wrong(_VALUE, f"`{name}` is a number of GPUs, not {value!r}")
        found[name] = value
    return found


def read_offer_keys(texts: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return keys of offers by kind from ``KIND.KEY=VALUE``.

    Raises
    ------
    UsageError
        When a kind has no such key.
    """
    models = {
        get_args(model.model_fields["kind"].annotation)[0]: model
        for model in get_args(get_args(Offer)[0])
    }
    found: dict[str, dict[str, str]] = {}
    for text in texts:
        path, sign, value = (part.strip() for part in text.partition("="))
        kind, _, key = path.partition(".")
        if kind not in models or not sign or not value:
            fix = f"write it as KIND.KEY=VALUE, KIND one of {', '.join(models)}"
            raise _wrong(_OFFER, f"not a key of offers and its value: {text!r}", fix)
        known = [name for name in models[kind].model_fields if name not in ("id", "pool", "kind")]
        if key not in known:
            raise _wrong(
                _OFFER,
                f"{kind} offers have no key `{key}`{near(key, known)}",
                f"one of {', '.join(known)}",
            )
        found.setdefault(kind, {})[key] = value
    return found


def _wrong(where: str, what: str, fix: str = "") -> UsageError:
    return UsageError(Problem(code="GL-I051", where=where, what=what, fix=fix))
