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
        raise UnboundedError(unbounded_problems(result))
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
            what=f"{item.id} is short of {item.reading} reference GPU-hours",
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
    if found is not None and found.is_integrality_only:
        problems.insert(0, _WHOLE_NUMBERS)
    conflicts: dict[int, list[str]] = {}
    for row in found.conflicts if found else ():
        conflicts.setdefault(row.conflict, []).append(row.reading)
    problems += [
        Problem(
            code="GL-R014",
            what=f"these cannot all be kept: {'; '.join(members)}",
            why="they are impossible together, whatever the rest of the scenario says, and each "
            "of them is needed for that",
            fix="let one of them give way",
        )
        for members in conflicts.values()
    ]
    return problems or [_INFEASIBLE]


def unbounded_problems(result: Result) -> list[Problem]:
    """Return which offers pay without end, and who pays for them, as problems."""
    problems = []
    for row in result.unbounded:
        payers = " and ".join(f"the buyer `{buyer}`" for buyer in row.buyers)
        pays = f"{payers} pays more for it" if payers else "what it is worth afterwards is more"
        what = f"buying `{row.offer}` from {row.start} pays without end: {pays} than it costs"
        problems.append(replace(_UNBOUNDED, what=what))
    return problems or [_UNBOUNDED]


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
_WHOLE_NUMBERS = Problem(
    code="GL-R013",
    what="with parts of lots, nodes and runs there would be a plan; with whole ones there is none",
    why="no limit is in the way by itself: it is the sizes that do not fit together",
    fix="offer smaller lots, allow more sizes of a run, or let a limit below give way",
)
_INFEASIBLE = Problem(
    code="GL-R012",
    what="no plan satisfies every limit of the scenario",
    why="the solver proved it; no single campaign or limit could be named",
    fix="give campaigns a drop_cost, or relax limits one by one with --set",
)
