"""Words for people in the place of keys."""

from __future__ import annotations

KINDS = {
    "held": "held",
    "owned": "owned",
    "dedicated": "dedicated",
    "reserved": "reserved",
    "burst_window": "burst window",
    "flex": "flex reservation",
    "on_demand": "on demand",
    "spot": "spot",
}
"""Kinds of capacity, from committed longest to given up soonest."""

COST_LINES = {
    "on_demand": "On demand",
    "spot": "Spot",
    "burst_window": "Burst windows",
    "reserved": "Reserved",
    "dedicated": "Dedicated",
    "usage": "Flex usage charges",
    "setup": "Set-up of orders",
    "owned_capex": "Owned: purchase",
    "owned_loan": "Owned: loan",
    "owned_opex": "Owned: running",
    "owned_residual": "Owned: residual value",
    "commitment_tail": "Tail charge",
    "drop": "Dropped work",
    "backfill_revenue": "Backfill revenue",
    "held": "Held (sunk)",
}

AIMS = {
    "fewest_providers": "Fewest providers",
    "shortest_lock_in": "Shortest lock-in",
    "least_spot": "Least spot",
    "fewest_signatures": "Fewest signatures",
    "latest_signatures": "Latest signatures",
    "flattest_cash": "Flattest cash",
}

AXES = {
    "cadence": "runs, times today's",
    "price_ratio": "burst price ÷ standing price",
}

_WORDS = {"gpu": "GPU", "gpus": "GPUs", "gb": "GB", "id": "Id", "tflops": "TFLOPS"}


def kind_label(kind: str) -> str:
    """Return the words for a kind of capacity."""
    return KINDS.get(kind, kind.replace("_", " "))


def line_label(line: str) -> str:
    """Return the words for a cost line."""
    return COST_LINES.get(line, title(line))


def aim_label(aim: str) -> str:
    """Return the words for what an alternative is best in."""
    return AIMS.get(aim, title(aim))


def axis_label(axis: str) -> str:
    """Return the words for what changes along a curve."""
    return AXES.get(axis, title(axis))


def metric_label(key: str) -> str:
    """Return the words for a metric's key."""
    return title(key)


def title(key: str) -> str:
    """Return a ``snake_case`` key as words: ``gpu_hours`` is ``GPU hours``."""
    words = [_WORDS.get(word, word) for word in key.split("_")]
    joined = " ".join(words)
    return joined[:1].upper() + joined[1:]
