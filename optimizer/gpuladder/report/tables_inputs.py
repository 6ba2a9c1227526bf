"""The scenario's own tables, as they were read: one table each, only the columns in use."""

from __future__ import annotations

from datetime import date
from enum import Enum
from typing import TYPE_CHECKING

from pydantic import BaseModel

from gpuladder.report.labels import title
from gpuladder.report.table import Cell, Column, Format, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pydantic.fields import FieldInfo

    from gpuladder.analysis.result import Result
    from gpuladder.scenario.schema import Scenario

INPUT_TABLES = (
    "hardware",
    "pools",
    "offers",
    "preemption_classes",
    "campaigns",
    "commitments",
    "backfill",
    "demand",
)

_SETTINGS = ("name", "description", "currency", "horizon", "discount_rate", "policy", "solver")


def inputs(result: Result) -> tuple[Table, ...]:
    """Return the settings and every table of the scenario that has rows."""
    scenario = result.scenario
    tables = [_settings(scenario)]
    for name in INPUT_TABLES:
        records: Sequence[BaseModel] = getattr(scenario, name)
        if records:
            tables.append(_input_table(name, records))
    return tuple(tables)


def _input_table(name: str, records: Sequence[BaseModel]) -> Table:
    fields: dict[str, FieldInfo] = {}
    used: set[str] = set()
    for kind in dict.fromkeys(type(record) for record in records):
        fields = {**kind.model_fields, **fields}
    for record in records:
        used |= record.model_fields_set
    # `id` first, then in the order of the schema, whatever order the kinds came in.
    order: list[str] = [key for key in ("id", "kind") if key in used]
    order += [key for key in fields if key in used and key not in order]
    rows = tuple(tuple(_cell(getattr(record, key, None)) for key in order) for record in records)
    return Table(
        name=f"inputs_{name}",
        title=f"Input: {title(name).lower()}",
        columns=tuple(
            _column(key, fields[key], [row[index] for row in rows])
            for index, key in enumerate(order)
        ),
        rows=rows,
        note="As read from the scenario; keys that it leaves out are not shown.",
    )


def _column(key: str, field: FieldInfo, values: Iterable[Cell]) -> Column:
    kinds = {type(value) for value in values if value is not None}
    if kinds == {date}:
        shown = Format.DATE
    elif kinds and all(issubclass(kind, date) for kind in kinds):
        shown = Format.MOMENT
    elif kinds & {int, float}:
        shown = Format.NUMBER
    else:
        shown = Format.TEXT
    note = (field.description or "").replace("`", "")
    return Column(key=field.alias or key, title=title(field.alias or key), format=shown, note=note)


def _settings(scenario: Scenario) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for key in _SETTINGS:
        value = getattr(scenario, key)
        if isinstance(value, BaseModel):
            rows += _flattened(key, value)
        else:
            rows.append((key, _cell(value)))
    return Table(
        name="inputs_settings",
        title="Input: settings and policy",
        columns=(
            Column(key="key", title="Key"),
            Column(key="value", title="Value", format=Format.ANY, width=46),
        ),
        rows=tuple(rows),
        note="As read, defaults included; limits that are not set are left out.",
    )


def _flattened(prefix: str, record: BaseModel) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    for key, field in type(record).model_fields.items():
        value = getattr(record, key)
        name = f"{prefix}.{field.alias or key}"
        if isinstance(value, BaseModel):
            rows += _flattened(name, value)
        elif isinstance(value, tuple) and value and isinstance(value[0], BaseModel):
            for number, item in enumerate(value, start=1):
                rows += _flattened(f"{name}[{number}]", item)
        elif value is not None and value != ():
            rows.append((name, _cell(value)))
    return rows


def _cell(value: object) -> Cell:
    """Return any value of a scenario as one cell: numbers and dates as such, the rest as text."""
    if isinstance(value, Enum):
        return str(value.value)
    if value is None or isinstance(value, str | int | float | date):
        return value
    if isinstance(value, BaseModel):
        parts = [
            f"{field.alias or key}: {_cell(getattr(value, key))}"
            for key, field in type(value).model_fields.items()
            if getattr(value, key) is not None
        ]
        return ", ".join(parts)
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_cell(item)}" for key, item in value.items())
    if isinstance(value, tuple | list):
        separator = "; " if value and isinstance(value[0], BaseModel) else ", "
        items = [_cell(item) for item in value]
        return items[0] if len(items) == 1 else separator.join(str(item) for item in items) or None
    return str(value)
