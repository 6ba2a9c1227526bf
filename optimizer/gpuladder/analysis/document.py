"""The result as the one JSON document of a run, ``gpuladder.result/1``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date
from enum import Enum
from typing import TYPE_CHECKING

from gpuladder.analysis.answers_document import answer_sections
from gpuladder.plan import Status, Termination

if TYPE_CHECKING:
    from gpuladder.analysis.result import CampaignRow, CommitmentRow, Result

SCHEMA = "gpuladder.result/1"
STAGES = ("load", "build", "solve", "analyse", "report")
"""Keys of ``seconds``; a stage that did not run is null."""


def result_document(result: Result) -> dict[str, object]:
    """Return the result as values that JSON can hold, keys in the order of the schema.

    Numbers that JSON cannot hold become null. ``infeasible`` is there only without a feasible plan.
    """
    plan = result.plan
    document: dict[str, object] = {
        "schema": SCHEMA,
        "status": plan.status.value,
        "objective": plan.objective,
        "bound": plan.bound,
        "gap": plan.gap,
        "currency": plan.currency,
        "scenario": {"name": plan.scenario.name, "sha256": plan.scenario.sha256},
        "versions": dict(sorted(plan.versions.items())),
        "seconds": {stage: result.seconds.get(stage) for stage in STAGES},
        "commitments": [_commitment(row) for row in result.tables.commitments],
        "campaigns": [_campaign(row) for row in result.tables.campaigns],
        "costs": [{"line": row.line, "amount": row.amount} for row in result.tables.costs],
        "metrics": dict(result.metrics),
        **answer_sections(result.answers),
        "audit": None if result.audit is None else result.audit.record(),
    }
    if plan.status is Status.INFEASIBLE:
        document["infeasible"] = _infeasible(result)
    if plan.termination is Termination.UNBOUNDED:
        document["unbounded"] = [
            {"offer": row.offer, "start": row.start, "buyers": row.buyers}
            for row in result.unbounded
        ]
    return {key: plain_value(value) for key, value in document.items()}


def _commitment(row: CommitmentRow) -> dict[str, object]:
    return {
        "offer": row.offer,
        "pool": row.pool,
        "kind": row.kind,
        "start": row.start,
        "end": row.end,
        "lots": row.lots,
        "gpus": row.gpus,
        "cost": row.cost,
        "tail": row.tail,
    }


def _campaign(row: CampaignRow) -> dict[str, object]:
    return {
        "id": row.id,
        "outcome": row.outcome,
        "start": row.start,
        "end": row.end,
        "pool": row.pool,
        "gpus": row.gpus,
        "work": row.work,
        "spot_share": row.spot_share,
        "direct_cost": row.direct_cost,
        "idle_cost": row.idle_cost,
        "loaded_cost": row.loaded_cost,
    }


def _infeasible(result: Result) -> dict[str, object]:
    found = result.infeasible
    return {
        "campaigns": [
            {"id": row.id, "short_gpu_hours": row.short_gpu_hours, "fix": row.fix}
            for row in (found.campaigns if found else ())
        ],
        "limits": [
            {"limit": row.limit, "key": row.key, "excess": row.excess, "fix": row.fix}
            for row in (found.limits if found else ())
        ],
        "conflicts": [
            {
                "conflict": row.conflict,
                "limit": row.limit,
                "key": row.key,
                "reading": row.reading,
            }
            for row in (found.conflicts if found else ())
        ],
        "is_integrality_only": found.is_integrality_only if found else False,
    }


def plain_value(value: object) -> object:
    """Return a value in types of JSON: ISO dates, finite numbers, lists and dictionaries."""
    if isinstance(value, Mapping):
        return {str(key): plain_value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_value(item) for item in value]
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Enum):
        return plain_value(value.value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value
