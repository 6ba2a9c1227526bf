"""From the raw tree to schema objects: every wrong key, type and range, found in one pass.

Rows are validated table by table, so that one bad row hides nothing of the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from gpuladder.scenario import wording
from gpuladder.scenario.schema import (
    BackfillBuyer,
    Campaign,
    DemandRow,
    Hardware,
    HeldCommitment,
    Offer,
    Pool,
    PreemptionClass,
    Scenario,
)
from gpuladder.scenario.source import TABLES, KeyPath, Locations, RawList, RawMap
from gpuladder.scenario.workloads import TABLES_READ, Surroundings, fill_in

if TYPE_CHECKING:
    from gpuladder.errors import Problem

ROW_TYPES: dict[str, Any] = {
    "hardware": Hardware,
    "pools": Pool,
    "offers": Offer,
    "preemption_classes": PreemptionClass,
    "campaigns": Campaign,
    "commitments": HeldCommitment,
    "backfill": BackfillBuyer,
    "demand": DemandRow,
}
_VALIDATORS: dict[str, Any] = {
    name: TypeAdapter(list[row_type]).validate_python  # type: ignore[valid-type]
    for name, row_type in ROW_TYPES.items()
}
LATER_KEYS = ("futures", "decide_by", "risk_weight", "risk_level")


@dataclass(frozen=True)
class Shaped:
    """What of the raw tree has the right shape.

    Attributes
    ----------
    sections : dict of str to object
        Valid top-level values by key; one that is missing is either absent or wrong.
    rows : dict of str to dict of int to record
        Valid rows by table and position in the raw list.
    problems : tuple of Problem
    """

    sections: dict[str, Any]
    rows: dict[str, dict[int, BaseModel]]
    problems: tuple[Problem, ...]

    @property
    def is_whole(self) -> bool:
        """Whether nothing is wrong, so that a Scenario can be made."""
        return not self.problems

    def scenario(self) -> Scenario:
        """Return the scenario made of the valid parts; call only when it is whole."""
        tables = {name: tuple(rows.values()) for name, rows in self.rows.items()}
        return Scenario.model_validate({**self.sections, **tables})


def shape(root: RawMap, locations: Locations) -> Shaped:
    """Validate a raw tree against the schema, section by section and row by row."""
    problems: list[Problem] = []
    sections: dict[str, Any] = {}
    rows: dict[str, dict[int, BaseModel]] = {}
    for key, value in root.items():
        if key in LATER_KEYS:
            problems += [wording.not_yet(key, locations.where((key,)))] if value is not None else []
        elif key in TABLES:
            rows[key], found = _table(key, value, locations)
            problems += found
        elif key not in Scenario.model_fields:
            problems.append(
                wording.unknown_key(
                    key,
                    (*Scenario.model_fields, *LATER_KEYS),
                    locations.where((key,)),
                    "a scenario",
                )
            )
        elif value is not None:
            _section(key, value, locations, sections, problems)
    problems += [
        wording.missing_key(key, locations.where(()), is_table=key in TABLES)
        for key, field in Scenario.model_fields.items()
        if field.is_required() and root.get(key) is None
    ]
    return Shaped(sections, rows, tuple(problems))


def _section(
    key: str,
    value: Any,
    locations: Locations,
    sections: dict[str, Any],
    problems: list[Problem],
) -> None:
    field = Scenario.model_fields[key]
    kind: Any = field.annotation
    for item in field.metadata:
        kind = _annotated(kind, item)
    try:
        sections[key] = TypeAdapter(kind).validate_python(_left_out(value))
    except ValidationError as error:
        problems += wording.problems_of(error, (key,), value, locations)


def _annotated(kind: Any, item: Any) -> Any:
    from typing import Annotated

    return Annotated[kind, item]


def _table(
    name: str, value: Any, locations: Locations
) -> tuple[dict[int, BaseModel], list[Problem]]:
    if value is None:
        return {}, []
    if not isinstance(value, RawList):
        return {}, [wording.not_a_table(name, value, locations.where((name,)))]
    problems: list[Problem] = []
    ready: dict[int, Any] = {}
    for index, row in enumerate(value):
        later = _later(name, row, (name, index), locations)
        if later is None:
            ready[index] = _sized(name, _left_out(row), locations)
        else:
            problems.append(later)
    try:
        valid_rows = _VALIDATORS[name](list(ready.values()))
        return dict(zip(ready, valid_rows, strict=True)), problems
    except ValidationError:
        pass  # find the rows at fault, and keep the others
    valid: dict[int, BaseModel] = {}
    single: TypeAdapter[Any] = TypeAdapter(ROW_TYPES[name])
    for index, row in ready.items():
        try:
            valid[index] = single.validate_python(row)
        except ValidationError as error:
            problems += wording.problems_of(error, (name, index), value[index], locations)
    return valid, problems


def _sized(table: str, row: Any, locations: Locations) -> Any:
    """Return a campaign with what its workload says filled in; any other row as it is."""
    if table != "campaigns" or not isinstance(row, Mapping) or row.get("workload") is None:
        return row
    around = {key: _left_out(locations.root.get(key)) for key in TABLES_READ}
    return fill_in(row, Surroundings.of(around))


def _later(table: str, row: Any, path: KeyPath, locations: Locations) -> Problem | None:
    """Return the problem of a row that uses what is planned but not there yet."""
    if not isinstance(row, Mapping):
        return None
    if table == "offers" and row.get("kind") == "spend":
        return wording.not_yet("spend", locations.where((*path, "kind")))
    return None


def _left_out(value: Any) -> Any:
    """Return the value with the keys that have no value left out."""
    if isinstance(value, dict):
        return {key: _left_out(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_left_out(item) for item in value] if _has_containers(value) else value
    return value


def _has_containers(items: Sequence[Any] | Iterable[Any]) -> bool:
    return any(isinstance(item, (dict, list)) for item in items)
