"""Tables that let a reader check the answer: audit, warnings, infeasibility and provenance."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING

from gpuladder.analysis.document import STAGES
from gpuladder.report.fields import count, number, tabulate, text
from gpuladder.report.labels import title
from gpuladder.report.table import Cell, Column, Format, Table

if TYPE_CHECKING:
    from gpuladder.analysis.result import Result
    from gpuladder.errors import Problem

_FINDINGS = (
    text("code", "Limit", read=lambda finding: _fact(finding, "code")),
    text("key", "About", read=lambda finding: _fact(finding, "key")),
    text("period", "Period", read=lambda finding: _fact(finding, "period")),
    number(
        "amount",
        "Off by",
        "",
        "In the limit's own unit.",
        read=lambda finding: _fact(finding, "amount"),
    ),
    text("message", "Finding", read=lambda finding: _fact(finding, "message")),
)

_WARNINGS = (
    text("severity", "Severity", read=lambda problem: problem.severity.value),
    text("code", "Code"),
    text("where", "Where"),
    text("what", "What"),
    text("why", "Why it matters"),
    text("fix", "What to do"),
)

_SHORT = (
    text("id", "Campaign"),
    number("short_gpu_hours", "Short of", "reference GPU-hours"),
    text("fix", "Smallest fix"),
)

_EXCESS = (
    text("limit", "Limit", read=lambda row: title(row.limit)),
    text("key", "About"),
    number("excess", "Exceeded by", "", "In the limit's own unit."),
    text("fix", "Smallest fix"),
)

_CONFLICTS = (
    count("conflict", "Conflict", "Sets with different numbers have no limit in common."),
    text("limit", "Limit", read=lambda row: title(row.limit)),
    text("key", "About"),
    text("reading", "What it asks for"),
)

_PAIRS = (
    Column(key="fact", title="Fact"),
    Column(key="value", title="Value", format=Format.ANY, width=70),
)


def audit(result: Result) -> Table:
    """Return the audit's findings; no rows when it found nothing or was not done."""
    return tabulate(
        "audit",
        "Audit: what does not stand",
        _FINDINGS,
        findings_of(result),
        currency=result.scenario.currency,
        note=audit_sentence(result),
    )


def audit_sentence(result: Result) -> str:
    """Return what the audit says, in one sentence."""
    if result.audit is None:
        return "The plan was not audited."
    if result.audit.passed:
        return (
            "An independent audit recomputed every limit, quantity and cost line from the scenario "
            "and the plan alone, and found nothing."
        )
    number_found = len(findings_of(result))
    noun = "finding" if number_found == 1 else "findings"
    return f"The audit has {number_found} {noun}: do not sign on this plan."


def findings_of(result: Result) -> list[object]:
    """Return the audit's findings, one mapping each; none when it was not done."""
    found = result.audit.record().get("findings") if result.audit is not None else None
    return list(found) if isinstance(found, list | tuple) else []


def warnings(result: Result) -> Table:
    """Return what is doubtful in the scenario."""
    rows: tuple[Problem, ...] = result.warnings
    return tabulate(
        "warnings",
        "Warnings about the input",
        _WARNINGS,
        rows,
        currency=result.scenario.currency,
    )


def short_campaigns(result: Result) -> Table:
    """Return who is short of how much when no plan exists."""
    rows = result.infeasible.campaigns if result.infeasible else ()
    return tabulate(
        "infeasible_campaigns",
        "Campaigns that cannot be served",
        _SHORT,
        rows,
        currency=result.scenario.currency,
        note="Needed less what each could have, with the smallest change that helps.",
    )


def exceeded_limits(result: Result) -> Table:
    """Return the limits that cannot be kept when no plan exists."""
    rows = result.infeasible.limits if result.infeasible else ()
    return tabulate(
        "infeasible_limits",
        "Limits that cannot be kept",
        _EXCESS,
        rows,
        currency=result.scenario.currency,
    )


def conflicts(result: Result) -> Table:
    """Return the smallest sets of limits that cannot all be kept when no plan exists."""
    found = result.infeasible
    return tabulate(
        "infeasible_conflicts",
        "Limits that stand against each other",
        _CONFLICTS,
        found.conflicts if found else (),
        currency=result.scenario.currency,
        note="The limits of one number are impossible together, whatever the rest of the scenario "
        "says; let one of them give way. It is not said by how much: see the other sheets.",
    )


def provenance(result: Result) -> Table:
    """Return where the answer comes from: input, options, versions, proof and times."""
    plan = result.plan
    rows: list[tuple[Cell, ...]] = [
        ("scenario", plan.scenario.name),
        ("scenario sha256", plan.scenario.sha256),
        ("plan format", plan.schema_id),
        ("status", plan.status.value),
        ("ended by", plan.termination.value),
        (f"objective ({plan.currency})", plan.objective),
        (f"proven floor ({plan.currency})", plan.bound),
        ("gap", plan.gap),
    ]
    options = plan.options
    rows += [
        ("time limit (seconds)", options.time_limit_seconds),
        ("gap asked for", options.relative_gap),
        ("threads", options.threads),
        ("seed", options.seed),
    ]
    rows += [(f"version of {name}", version) for name, version in plan.versions.items()]
    seconds = {**plan.seconds, **result.seconds}
    stages = [stage for stage in STAGES if stage in seconds]
    rows += [(f"seconds to {stage}", round(seconds[stage], 3)) for stage in stages]
    return Table(
        name="provenance",
        title="Provenance",
        columns=_PAIRS,
        rows=tuple(row for row in rows if row[1] is not None),
        note="The same scenario, versions and options give the same plan.",
    )


def _fact(finding: object, key: str) -> Cell:
    value = finding.get(key) if isinstance(finding, Mapping) else None
    return value if isinstance(value, str | int | float | date | None) else str(value)
