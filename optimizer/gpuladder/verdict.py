"""What an answer amounts to: a plan to sign on, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gpuladder.analysis.result import Result
from gpuladder.errors import AuditError, InfeasibleError, NoPlanError, Problem, UnboundedError
from gpuladder.plan import Status, Termination


def require_plan(result: Result) -> None:
    """Raise the error that says why a result holds no plan to sign on; return when it holds one."""
    plan = result.plan
    if plan.status is Status.INFEASIBLE:
        raise InfeasibleError(infeasible_problems(result))
    if plan.termination is Termination.UNBOUNDED:
        raise UnboundedError(_UNBOUNDED)
    if not plan.has_quantities:
        raise NoPlanError(replace(_NO_PLAN, what=f"{_NO_PLAN.what} ({plan.termination.value})"))
    if result.audit is not None and not result.audit.passed:
        raise AuditError(audit_problems(result.audit.record()))


def infeasible_problems(result: Result) -> list[Problem]:
    """Return who is short of what, and the smallest fix, as problems."""
    found = result.infeasible
    problems = [
        Problem(
            code="GL-R010",
            what=f"{item.id} is short of {item.short_gpu_hours:,.0f} reference GPU-hours",
            why="no capacity on offer can do this work within the limits",
            fix=item.fix,
        )
        for item in (found.campaigns if found else ())
    ] + [
        Problem(
            code="GL-R011",
            what=f"the limit {item.limit} of {item.key} is exceeded by {item.excess:,.6g}",
            why="with everything else as it is, this limit cannot be kept",
            fix=item.fix,
        )
        for item in (found.limits if found else ())
    ]
    return problems or [_INFEASIBLE]


def audit_problems(record: Mapping[str, Any]) -> list[Problem]:
    """Return the findings of an audit's record as problems."""
    return [
        Problem(
            code="GL-A001",
            what=f"{finding['code']} {finding['key']}: {finding['message']}",
            why=f"the rule is: {finding['limit']}",
            fix="do not sign on this plan; report the finding together with the run folder",
        )
        for finding in record["findings"]
    ]


_NO_PLAN = Problem(
    code="GL-R001",
    what="the solver ended without a plan",
    why="neither a plan nor a proof that there is none was found",
    fix="raise the time limit, start from an earlier plan, or make the time grid coarser",
)
_UNBOUNDED = Problem(
    code="GL-R003",
    what="the scenario pays for buying capacity without end",
    why="some revenue or residual value exceeds what the capacity behind it costs, and nothing "
    "limits how much is bought",
    fix="limit the lots on offer, the backfill buyer or policy.committed_gpus_max, or check the "
    "prices for a unit error",
)
_INFEASIBLE = Problem(
    code="GL-R012",
    what="no plan satisfies every limit of the scenario",
    why="the solver proved it; no single campaign or limit could be named",
    fix="give campaigns a drop_cost, or relax limits one by one with --set",
)
