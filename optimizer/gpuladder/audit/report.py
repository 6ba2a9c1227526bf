"""The audit: every check, in order, on one plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpuladder.audit.campaigns import campaign_findings
from gpuladder.audit.commitments import commitment_findings
from gpuladder.audit.costs import cost_findings, cost_lines
from gpuladder.audit.facts import Facts
from gpuladder.audit.findings import AuditReport, Finding
from gpuladder.audit.metrics import metric_findings
from gpuladder.audit.policy import policy_findings
from gpuladder.audit.quantities import read_quantities, record_findings
from gpuladder.audit.supply import supply_findings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gpuladder.plan import Plan
    from gpuladder.scenario.schema import Scenario


def audit(
    scenario: Scenario,
    plan: Plan,
    *,
    figures: Mapping[str, Any] | None = None,
    fingerprint: str | None = None,
) -> AuditReport:
    """Recompute every limit and cost of a plan from the scenario and the plan alone.

    Parameters
    ----------
    scenario : Scenario
        What the plan answers.
    plan : Plan
        The answer. A plan without quantities (infeasible, none found) has nothing to check but
        which scenario it is for.
    figures : mapping, optional
        The reported figures, to be computed again once the plan itself stands; their form is told
        in ``gpuladder.audit.metrics``.
    fingerprint : str, optional
        SHA-256 of the scenario; the plan must carry the same.

    Returns
    -------
    AuditReport
        Every fault found, and the costs as computed here.
    """
    facts = Facts.of(scenario)
    mismatches = tuple(_scenario_mismatch(scenario, plan, fingerprint))
    if not plan.has_quantities:
        return AuditReport(findings=mismatches, objective=None, cost_lines=())
    placed = read_quantities(facts, plan)
    lines = cost_lines(facts, placed)
    findings = (
        *mismatches,
        *record_findings(facts, plan),
        *supply_findings(facts, placed),
        *campaign_findings(facts, plan, placed),
        *commitment_findings(facts, placed),
        *policy_findings(facts, placed),
        *cost_findings(facts, plan, placed),
    )
    if figures is not None and not findings:
        findings = tuple(metric_findings(facts, plan, placed, figures))
    objective = sum(line.amount for line in lines)
    return AuditReport(findings=findings, objective=objective, cost_lines=lines)


def _scenario_mismatch(
    scenario: Scenario, plan: Plan, fingerprint: str | None
) -> Iterator[Finding]:
    pairs = [
        ("name", plan.scenario.name, scenario.name),
        ("currency", plan.currency, scenario.currency),
    ]
    if fingerprint is not None:
        pairs.append(("sha256", plan.scenario.sha256, fingerprint))
    for key, stated, actual in pairs:
        if stated != actual:
            text = f"the plan is for a scenario whose {key} is {stated!r}, not {actual!r}"
            yield Finding(code="scenario_mismatch", key=key, period=None, message=text, amount=0.0)
