"""Which keys of two scenarios differ: rows matched by id, demand series in short."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, time
from typing import TYPE_CHECKING, Any

from gpuladder.review.diff_result import DemandChange, DemandFacts, InputChange, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpuladder.scenario.schema import Scenario

ROW_KEYS = (
    ("id",),
    ("hardware", "after"),
    ("from", "until"),
    ("from",),
    ("until",),
    ("on",),
    ("offer",),
)
"""What rows of a list are known by: the first of these that all rows have and none share."""

Row = Mapping[str, Any]


def input_changes(before: Scenario, after: Scenario) -> tuple[InputChange, ...]:
    """Return every key that differs, in the order of the scenario; demand rows left out.

    Keys that are left out stand for their defaults, which are written out.
    """
    whole = [_plain(scenario, exclude_defaults=False) for scenario in (before, after)]
    short = [_plain(scenario, exclude_defaults=True) for scenario in (before, after)]
    return tuple(_of_values("", *whole, *short))


def _plain(scenario: Scenario, *, exclude_defaults: bool) -> dict[str, Any]:
    content: dict[str, Any] = scenario.model_dump(
        mode="json", by_alias=True, exclude_defaults=exclude_defaults, exclude={"demand"}
    )
    return content


def _of_values(
    path: str, before: Any, after: Any, short_before: Any, short_after: Any
) -> Iterator[InputChange]:
    """Yield the differences below a path.

    ``short_before`` and ``short_after`` are the same values without defaults, to show rows that
    only one side has.
    """
    if before == after:
        return
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in dict.fromkeys([*before, *after]):
            inner = f"{path}.{key}" if path else str(key)
            short = _get(short_before, key), _get(short_after, key)
            yield from _of_values(inner, before.get(key), after.get(key), *short)
    elif _is_rows(before) and _is_rows(after) and (before or after):
        yield from _of_rows(path, before, after, short_before or [], short_after or [])
    else:
        yield InputChange(path=path, kind=Kind.CHANGED, before=before, after=after)


def _of_rows(
    path: str,
    before: Sequence[Row],
    after: Sequence[Row],
    short_before: Sequence[Row],
    short_after: Sequence[Row],
) -> Iterator[InputChange]:
    """Yield the differences of two lists of rows, matched by what their rows are known by."""
    known_by = next((keys for keys in ROW_KEYS if _tells(keys, before, after)), None)
    first, second = _named(known_by, before), _named(known_by, after)
    short = (
        dict(zip(first, short_before, strict=False)),
        dict(zip(second, short_after, strict=False)),
    )
    for name in dict.fromkeys([*first, *second]):
        inner = f"{path}.{name}" if known_by == ("id",) else f"{path}[{name}]"
        if name not in second:
            row = short[0].get(name, first[name])
            yield InputChange(path=inner, kind=Kind.REMOVED, before=dict(row), after=None)
        elif name not in first:
            row = short[1].get(name, second[name])
            yield InputChange(path=inner, kind=Kind.ADDED, before=None, after=dict(row))
        else:
            values = first[name], second[name]
            yield from _of_values(inner, *values, short[0].get(name), short[1].get(name))


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, Mapping) for item in value)


def _tells(keys: Sequence[str], *lists: Sequence[Row]) -> bool:
    """Tell whether every row of every list has these keys, and no two of a list are alike."""
    for rows in lists:
        if not all(row.get(key) is not None for row in rows for key in keys):
            return False
        if len({tuple(row[key] for key in keys) for row in rows}) < len(rows):
            return False
    return True


def _named(keys: Sequence[str] | None, rows: Sequence[Row]) -> dict[str, Row]:
    if keys is None:
        return {str(number): row for number, row in enumerate(rows, start=1)}
    return {" ".join(str(row[key]) for key in keys): row for row in rows}


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, Mapping) else None


def demand_changes(before: Scenario, after: Scenario) -> tuple[DemandChange, ...]:
    """Return the pools whose demand series differ, each series in short."""
    first, second = _series(before), _series(after)
    changes = []
    for pool in dict.fromkeys([*first, *second]):
        old, new = first.get(pool, {}), second.get(pool, {})
        changed = sum(old.get(at) != new.get(at) for at in {*old, *new})
        if changed:
            kind = Kind.ADDED if not old else Kind.CHANGED if new else Kind.REMOVED
            facts = _facts(old), _facts(new)
            changes.append(
                DemandChange(
                    pool=pool, kind=kind, rows_changed=changed, before=facts[0], after=facts[1]
                )
            )
    return tuple(changes)


def _series(scenario: Scenario) -> dict[str, dict[datetime, tuple[float, ...]]]:
    """Return GPUs by pool and time; a time may have several rows."""
    series: dict[str, dict[datetime, tuple[float, ...]]] = defaultdict(dict)
    for row in scenario.demand:
        series[row.pool][row.at] = (*series[row.pool].get(row.at, ()), row.gpus)
    return series


def _facts(series: Mapping[datetime, tuple[float, ...]]) -> DemandFacts | None:
    values = [gpus for rows in series.values() for gpus in rows]
    if not values:
        return None
    return DemandFacts(
        rows=len(values),
        first=_moment(min(series)),
        last=_moment(max(series)),
        mean_gpus=sum(values) / len(values),
        peak_gpus=max(values),
    )


def _moment(at: datetime) -> str:
    return str(at.date()) if at.time() == time() else at.isoformat(sep=" ")
