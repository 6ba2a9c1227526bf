"""What differs between two runs as the one JSON document ``gpuladder.diff/1``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from gpuladder.analysis.document import plain_value

if TYPE_CHECKING:
    from gpuladder.review.diff_result import (
        CampaignChange,
        Diff,
        Figure,
        MetricChange,
        OrderChange,
        PriceChange,
    )

SCHEMA = "gpuladder.diff/1"


def diff_document(found: Diff) -> dict[str, object]:
    """Return the differences as values that JSON can hold, keys in the order of the schema."""
    document: dict[str, object] = {
        "schema": SCHEMA,
        "before": asdict(found.before),
        "after": asdict(found.after),
        "same_scenario": found.is_same_scenario,
        "money_comparable": found.is_money_comparable,
        "remarks": found.remarks,
        "objective": {**_figure(found.objective), "reading": found.reading},
        "inputs": [asdict(row) for row in found.inputs],
        "demand": [asdict(row) for row in found.demand],
        "orders": {
            "unchanged": found.orders_unchanged,
            "changes": [_order(row) for row in found.orders],
        },
        "campaigns": {
            "unchanged": found.campaigns_unchanged,
            "changes": [_campaign(row) for row in found.campaigns],
        },
        "costs": [{"line": row.line, **_figure(row.amount)} for row in found.costs],
        "metrics": [_metric(row) for row in found.metrics],
        "shadow_prices": {
            "asked": dict(zip(("before", "after"), found.shadow_prices_asked, strict=True)),
            "changes": [_price(row) for row in found.shadow_prices],
        },
        "shortfalls": [
            {"what": row.what, "key": row.key, **_figure(row.amount)} for row in found.shortfalls
        ],
        "fail_over": [
            {
                "metric": gate.metric,
                "allowed_share": gate.allowed_share,
                "before": gate.value.before,
                "after": gate.value.after,
                "rise_share": gate.rise_share,
                "tripped": gate.is_tripped,
                "why": gate.why,
            }
            for gate in found.gates
        ],
        "tripped": found.is_tripped,
    }
    return {key: plain_value(value) for key, value in document.items()}


def _figure(figure: Figure) -> dict[str, object]:
    return asdict(figure)


def _order(row: OrderChange) -> dict[str, object]:
    return {
        "offer": row.offer,
        "pool": row.pool,
        "kind": row.order_kind,
        "change": row.kind,
        "differs": row.differs,
        "before": row.before and asdict(row.before),
        "after": row.after and asdict(row.after),
    }


def _campaign(row: CampaignChange) -> dict[str, object]:
    return {
        "id": row.id,
        "change": row.kind,
        "differs": row.differs,
        "before": row.before and asdict(row.before),
        "after": row.after and asdict(row.after),
    }


def _metric(row: MetricChange) -> dict[str, object]:
    values: dict[str, object] = {"before": row.before, "after": row.after}
    values |= {"change": None, "change_share": None}
    return {
        "metric": row.metric,
        "unit": row.unit,
        **(values if row.value is None else _figure(row.value)),
    }


def _price(row: PriceChange) -> dict[str, object]:
    return {
        "limit": row.limit,
        "key": row.key,
        "period": row.period,
        "change": row.kind,
        "unit_before": row.unit_before,
        "unit_after": row.unit_after,
        "fixed_plan_dual": _figure(row.fixed_plan_dual),
        "marginal_up": _figure(row.marginal_up),
        "marginal_down": _figure(row.marginal_down),
    }
