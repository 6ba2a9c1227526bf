"""Compare the reported figures with the same figures computed again.

``figures`` may hold, each optional:

* ``metrics``: name to value;
* ``campaigns``: rows with ``id`` and any of the figures of one campaign;
* ``unallocated``: rows with ``part`` and ``amount``;
* ``gaps``: rows with ``pool``, ``start``, ``end`` and what stood idle;
* ``commitments``: rows with ``offer``, ``start`` and any of ``end``, ``lots``, ``gpus``, ``cost``,
  ``tail``;
* ``costs``: rows with ``line`` and ``amount``.

A mapping without any of these keys is taken for the metrics themselves. What is text (names,
reasons) is not a figure and is not compared; dates are.
"""

from __future__ import annotations

import math
from datetime import date
from typing import TYPE_CHECKING, Any

from gpuladder.audit.books import lot_value
from gpuladder.audit.costs import cost_lines
from gpuladder.audit.exposure import tail
from gpuladder.audit.figures import Figures, compute_figures
from gpuladder.audit.findings import MONEY_TOLERANCE, RELATIVE_TOLERANCE, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gpuladder.audit.facts import Facts
    from gpuladder.audit.quantities import Quantities
    from gpuladder.plan import Plan

TABLES = ("metrics", "campaigns", "unallocated", "gaps", "commitments", "costs")
NOT_FIGURES = ("effective_savings_base",)
"""Metrics that are words."""

_GPU_HOURS_TOLERANCE = 0.05
"""GPU-hours: what 1e-6 GPUs of a solver's tolerance add up to over pools and years."""

_MONEY_WORDS = ("cost", "cash", "accrual", "revenue", "lock_in_peak", "amount", "tail")

_CAMPAIGN_FIGURES = (
    "gpu_hours",
    "spot_gpu_hours",
    "committed_gpu_hours",
    "work",
    "done_share",
    "spot_share",
    "direct_cost",
    "idle_cost",
    "loaded_cost",
    "runs",
    "cost_per_run",
    "drop_cost",
    "outcome",
)


def metric_findings(
    facts: Facts, plan: Plan, placed: Quantities, reported: Mapping[str, Any]
) -> Iterator[Finding]:
    """Find every reported figure that the scenario and the plan do not bear out."""
    has_tables = any(name in reported for name in TABLES)
    tables: Mapping[str, Any] = reported if has_tables else {"metrics": reported}
    figures = compute_figures(facts, placed)
    metrics = tables.get("metrics", {})
    yield from _metrics(metrics, figures)
    yield from _campaigns(tables.get("campaigns", ()), figures)
    yield from _gaps(facts, tables.get("gaps", ()), figures)
    yield from _commitments(facts, placed, tables.get("commitments", ()))
    computed = {line.line: line.amount for line in cost_lines(facts, placed)}
    for row in tables.get("costs", ()):
        line = row["line"]
        yield from _compare(f"costs {line}", row["amount"], computed.get(line))
    yield from _identity(tables, plan, figures)


def _metrics(metrics: Mapping[str, Any], figures: Figures) -> Iterator[Finding]:
    for name, stated in metrics.items():
        if name in figures.dated:
            right = figures.dated[name]
            if stated not in right:
                expected = " or ".join(sorted(str(day) for day in right))
                yield _fault(name, f"{name} is reported as {stated}, but it is {expected}")
        elif name in figures.metrics:
            yield from _compare(name, stated, figures.metrics[name])
        elif name not in NOT_FIGURES:
            yield _fault(name, f"{name} is reported, but the audit knows no such figure")


def _campaigns(rows: Any, figures: Figures) -> Iterator[Finding]:
    seen = {str(row["id"]) for row in rows}
    for row in rows:
        own = figures.campaigns.get(str(row["id"]))
        if own is None:
            yield _fault(str(row["id"]), f"{row['id']} is reported, but is no campaign")
            continue
        for name in _CAMPAIGN_FIGURES:
            if name in row:
                yield from _compare(f"{row['id']} {name}", row[name], getattr(own, name))
    if rows:
        for key in figures.campaigns.keys() - seen:
            yield _fault(key, f"campaign {key} is missing from the report")


def _gaps(facts: Facts, rows: Any, figures: Figures) -> Iterator[Finding]:
    idle_hours = {pool: book.idle_hours.copy() for pool, book in figures.books.items()}
    for row in rows:
        pool, book = row["pool"], figures.books[row["pool"]]
        begin, end = _day(row["start"]), _day(row["end"])
        inside = [i for i, day in enumerate(facts.grid.boundaries[:-1]) if begin <= day < end]
        label = f"gap of {pool} from {begin}"
        values = {
            "idle_gpu_hours": book.idle_hours,
            "idle_cost": book.idle_cost,
            "held_idle_cost": book.held_idle_cost,
            "backfilled_gpu_hours": book.sold_hours,
            "backfilled_cost": book.sold_cost,
        }
        for name, by_period in values.items():
            if name in row:
                yield from _compare(f"{label} {name}", row[name], float(by_period[inside].sum()))
        idle_hours[pool][inside] = 0.0
    if rows:
        for pool, left in idle_hours.items():
            yield from _compare(f"idle GPU-hours of {pool} in no gap", 0.0, float(left.sum()))


def _commitments(facts: Facts, plan: Quantities, rows: Any) -> Iterator[Finding]:
    lots = {(lot.offer.id, lot.start): lot for lot in plan.lots}
    for row in rows:
        key = (row["offer"], _day(row["start"]))
        lot = lots.get(key)
        if lot is None:
            yield _fault(key[0], f"{key[0]} from {key[1]} is reported, but not in the plan")
            continue
        values = {
            "lots": lot.lots,
            "gpus": lot.gpus,
            "cost": float(lot_value(facts, lot).sum()),
            "tail": tail(facts, lot),
        }
        for name, value in values.items():
            if name in row:
                yield from _compare(f"{key[0]} from {key[1]} {name}", row[name], value)
        if "end" in row and _day(row["end"]) != lot.end:
            text = f"{key[0]} from {key[1]} is reported to end on {row['end']}, not {lot.end}"
            yield _fault(key[0], text)
    if rows:
        stated = {(row["offer"], _day(row["start"])) for row in rows}
        for offer, start in lots.keys() - stated:
            yield _fault(offer, f"{offer} from {start} is in the plan, but not reported")


def _identity(tables: Mapping[str, Any], plan: Plan, figures: Figures) -> Iterator[Finding]:
    """Check loaded costs + unallocated + revenue = objective on the stated figures themselves."""
    metrics, rows = tables.get("metrics", {}), tables.get("campaigns", ())
    parts = tables.get("unallocated", ())
    if parts:
        total = sum(float(row["amount"]) for row in parts)
        yield from _compare("unallocated cost by part", total, figures.metrics["unallocated_cost"])
    needed = ("loaded_cost", "unallocated_cost", "backfill_revenue")
    if plan.objective is None or not all(_is_number(metrics.get(name)) for name in needed):
        return
    loaded = float(metrics["loaded_cost"])
    if rows and all("loaded_cost" in row for row in rows):
        loaded = sum(float(row["loaded_cost"]) for row in rows)
    total = loaded + float(metrics["unallocated_cost"]) + float(metrics["backfill_revenue"])
    scale = max(abs(plan.objective), 1.0)
    if not abs(total - plan.objective) <= RELATIVE_TOLERANCE * scale + MONEY_TOLERANCE:
        text = (
            f"loaded costs, unallocated and revenue add up to {total:,.2f}, not to the objective "
            f"{plan.objective:,.2f}"
        )
        yield _fault("identity", text, abs(total - plan.objective))


def _compare(key: str, stated: Any, computed: Any) -> Iterator[Finding]:
    if isinstance(computed, str) or computed is None or stated is None:
        if stated != computed:
            yield _fault(key, f"{key} is reported as {stated}, but it is {computed}")
        return
    allowed = max(RELATIVE_TOLERANCE * abs(computed), _allowance(key))
    if not _is_number(stated) or not abs(stated - computed) <= allowed:
        difference = abs(float(stated) - float(computed)) if _is_number(stated) else math.nan
        text = f"{key} is reported as {stated}, but it is {computed:.10g}"
        yield _fault(key, text, difference)


def _allowance(key: str) -> float:
    """Return the absolute tolerance of a figure by its unit, told by its name."""
    if key.endswith("gpu_hours") or key.endswith("in no gap"):
        return _GPU_HOURS_TOLERANCE
    return MONEY_TOLERANCE if any(word in key for word in _MONEY_WORDS) else RELATIVE_TOLERANCE


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _day(value: Any) -> date:
    return value if isinstance(value, date) else date.fromisoformat(str(value))


def _fault(key: str, text: str, amount: float = 0.0) -> Finding:
    return Finding(code="metric", key=key, period=None, message=text, amount=amount)
