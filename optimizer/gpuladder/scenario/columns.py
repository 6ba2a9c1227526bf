"""The columns of each table as they are written: order, units, choices and notes.

Names, descriptions and what is required come from the schema; only units and references to other
tables are said here.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, get_args

from gpuladder.scenario import schema
from gpuladder.timegrid import Step

if TYPE_CHECKING:
    from pydantic import BaseModel

UNITS = {
    "memory_gb": "GB per GPU",
    "gpus_per_node": "GPUs",
    "peak_tflops": "TFLOPS",
    "relative_speed": "reference hardware = 1",
    "superseded": "date",
    "node_mtbf_hours": "hours",
    "price": "{currency} per GPU-hour",
    "usage_price": "{currency} per GPU-hour used",
    "price_change_per_year": "share, -0.15 is -15 %",
    "price_path": "list of from, price",
    "available_from": "date",
    "available_until": "date",
    "max_gpus": "GPUs",
    "availability": "0 to 1",
    "availability_by_gpus": "0 to 1 by size",
    "node_mtbr_hours": "hours",
    "notice_minutes": "minutes",
    "tenor": "e.g. 12 months",
    "lot_gpus": "GPUs",
    "min_lots": "lots",
    "max_lots": "lots",
    "lead": "e.g. 4 weeks",
    "start_every": "e.g. 1 months",
    "upfront": "0 to 1",
    "setup_cost": "{currency} per order",
    "capex_per_gpu": "{currency} per GPU",
    "opex_per_gpu_hour": "{currency} per GPU-hour",
    "life": "e.g. 5 years",
    "residual_per_year": "0 to 1",
    "residual_curve": "list of age, share",
    "residual_per_generation": "0 to 1",
    "turnovers": "list of dates",
    "financing": "rate, term, every, …",
    "depreciation": "method, …",
    "spot_share_max": "0 to 1",
    "checkpoint_minutes": "minutes",
    "restart_minutes": "minutes",
    "checkpoint_interval_minutes": "minutes or auto",
    "gpu_hours": "reference GPU-hours",
    "workload": "run, mfu, …",
    "waste": "share on top",
    "earliest": "date",
    "deadline": "date",
    "job_gpus": "GPUs",
    "gpus": "GPUs",
    "scaling": "efficiency by size",
    "max_duration": "e.g. 4 weeks",
    "drop_cost": "{currency}",
    "repeat": "every, count",
    "storage_gb": "GB",
    "egress_gb": "GB",
    "staff_cost": "{currency}",
    "done_gpu_hours": "reference GPU-hours",
    "done_spot_gpu_hours": "reference GPU-hours",
    "dues": "list of on, amount",
    "start": "date",
    "end": "date",
    "value": "{currency} per GPU-hour",
    "at": "date and time",
    "from": "date",
    "until": "date",
    "after": "date",
    "max_committed_gpus": "GPUs",
    "max": "{currency}",
    "horizon.start": "date",
    "horizon.end": "date",
    "horizon.counted_from": "date",
    "discount_rate": "per year, 0.08 is 8 %",
    "policy.committed_gpus_max": "GPUs",
    "policy.spot_share_max": "0 to 1",
    "policy.provider_share_max": "0 to 1",
    "policy.tail_charge": "0 to 1",
    "policy.so_far.gpu_hours": "reference GPU-hours",
    "policy.so_far.spot_gpu_hours": "reference GPU-hours",
    "policy.so_far.provider_gpu_hours": "GPU-hours by provider",
    "policy.ladder.window": "e.g. 13 weeks",
    "policy.ladder.max_expiring_share": "0 to 1",
    "policy.ladder.exempt_gpus": "GPUs",
    "policy.ladder.min_tenor": "e.g. 13 weeks",
    "solver.time_limit_seconds": "seconds",
    "solver.relative_gap": "share, 0.005 is 0.5 %",
}
"""Unit, or form, of each key."""

REFERENCES = {
    ("pools", "hardware"): "hardware",
    ("offers", "pool"): "pools",
    ("campaigns", "preemption_class"): "preemption_classes",
    ("commitments", "pool"): "pools",
    ("commitments", "renewable_as"): "offers",
    ("commitments", "offer"): "offers",
    ("demand", "pool"): "pools",
    ("policy.hardware_limits", "hardware"): "hardware",
}
"""Columns whose values are ids of another table."""

CHOICES: dict[tuple[str, str], tuple[str, ...]] = {
    ("pools", "fabric"): tuple(schema.Fabric),
    ("campaigns", "coupling"): tuple(schema.Fabric),
    ("campaigns", "tenancy"): ("shared", "dedicated"),
    ("campaigns", "shape"): ("elastic", "gang"),
    ("commitments", "kind"): get_args(schema.HeldCommitment.model_fields["kind"].annotation),
    ("horizon.segments", "step"): tuple(Step),
}
"""Columns with a fixed set of values."""

_MODELS: dict[str, tuple[type[BaseModel], ...]] = {
    "hardware": (schema.Hardware,),
    "pools": (schema.Pool,),
    "offers": get_args(get_args(schema.Offer)[0]),
    "preemption_classes": (schema.PreemptionClass,),
    "campaigns": get_args(get_args(schema.Campaign)[0]),
    "commitments": (schema.HeldCommitment,),
    "backfill": (schema.BackfillBuyer,),
    "demand": (schema.DemandRow,),
    "horizon.segments": (schema.Segment,),
    "policy.hardware_limits": (schema.HardwareLimit,),
    "policy.cash_budgets": (schema.CashBudget,),
}
_FIRST = ("id", "team", "pool", "kind", "shape", "preemption_class", "price", "tenor")


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    key : str
        The key, without a unit.
    unit : str
        Unit or form; empty for names.
    note : str
        What it means, from the schema.
    is_required : bool
        Whether every row must have it.
    choices : tuple of str
        The values it may have; empty when it is free.
    refers_to : str
        The table whose ids it holds; empty when it holds none.
    """

    key: str
    unit: str
    note: str
    is_required: bool
    choices: tuple[str, ...]
    refers_to: str

    @property
    def header(self) -> str:
        """The key with its unit in brackets, as loaders accept it."""
        return f"{self.key} [{self.unit}]" if self.unit else self.key


def columns(table: str, currency: str) -> tuple[Column, ...]:
    """Return the columns of a table in the order in which they are written."""
    models = _MODELS[table]
    fields: dict[str, list[Any]] = {}
    owners: dict[str, list[str]] = {}
    for model in models:
        for name, field in model.model_fields.items():
            key = field.alias or name
            fields.setdefault(key, []).append(field)
            owners.setdefault(key, []).append(_kind(model))
    order = [key for key in _FIRST if key in fields]
    order += [key for key in fields if key not in order]
    result = []
    for key in order:
        is_common = len(owners[key]) == len(models)
        note = " ".join((fields[key][0].description or "").split())  # one line, also in CSV
        if not is_common:
            note = f"{note} Only for: {', '.join(owners[key])}.".strip()
        choices = CHOICES.get((table, key), ())
        if (table, key) == ("offers", "kind"):
            choices = tuple(_kind(model) for model in models)
        result.append(
            Column(
                key=key,
                unit=unit(key, currency),
                note=note,
                is_required=is_common and all(field.is_required() for field in fields[key]),
                choices=tuple(str(choice) for choice in choices),
                refers_to=REFERENCES.get((table, key), ""),
            )
        )
    return tuple(result)


def unit(key: str, currency: str) -> str:
    """Return the unit of a key; empty when it has none."""
    return UNITS.get(key, "").format(currency=currency)


def is_share(column: Column) -> bool:
    """Tell whether a column holds a share between 0 and 1."""
    return column.unit == "0 to 1"


def _kind(model: type[BaseModel]) -> str:
    field = model.model_fields.get("kind") or model.model_fields.get("shape")
    if field is None:
        return ""
    values: tuple[StrEnum | str, ...] = get_args(field.annotation)
    return str(values[0]) if len(values) == 1 else ""
