"""Small scenarios to be solved by hand, and how to read the plan that comes back.

The horizon starts on Monday 6 July 2026 in weeks of 168 hours, unless a test says otherwise; there
is one pool ``east`` of nodes of 8 GPUs of speed 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date, timedelta
from typing import Any

from gpuladder.audit import audit
from gpuladder.plan import Plan, Status
from gpuladder.scenario.schema import Scenario
from gpuladder.solving import solve_scenario

START = date(2026, 7, 6)
WEEK = 168.0  # hours

Row = dict[str, Any]
Test = Callable[..., None]


def equations(*numbers: str) -> Callable[[Test], Test]:
    """Mark a test as one that would fail if these equations of FORMULATION.md were not there."""

    def mark(test: Test) -> Test:
        test.equations = numbers  # type: ignore[attr-defined]
        return test

    return mark


def day(weeks: int = 0, days: int = 0) -> str:
    """Return the ISO date so long after the horizon start."""
    return str(START + timedelta(weeks=weeks, days=days))


def hardware(name: str = "h100", **keys: Any) -> Row:
    """Return a row of hardware: nodes of 8 GPUs of speed 1."""
    return {"id": name, "memory_gb": 80, "gpus_per_node": 8, "peak_tflops": 989} | keys


def pool(name: str = "east", **keys: Any) -> Row:
    """Return a row of pools."""
    return {"id": name, "provider": "acme", "region": "r", "hardware": "h100"} | keys


def offer(kind: str, **keys: Any) -> Row:
    """Return an offer named after its kind, in the pool ``east``."""
    return {"id": kind, "pool": "east", "kind": kind} | keys


def elastic(name: str, gpu_hours: float, **keys: Any) -> Row:
    """Return an elastic campaign of at most 1000 GPUs over the first four weeks."""
    return {
        "id": name,
        "shape": "elastic",
        "preemption_class": "critical",
        "gpu_hours": gpu_hours,
        "max_gpus": 1000,
        "earliest": day(),
        "deadline": day(4),
    } | keys


def gang(name: str, gpus: int | list[int], gpu_hours: float, **keys: Any) -> Row:
    """Return a gang of the first four weeks."""
    return {
        "id": name,
        "shape": "gang",
        "preemption_class": "critical",
        "gpus": gpus,
        "gpu_hours": gpu_hours,
        "earliest": day(),
        "deadline": day(4),
    } | keys


def held(gpus: float, kind: str = "reserved", **keys: Any) -> Row:
    """Return a held commitment in ``east`` that was signed before and ends after the horizon."""
    return {
        "id": f"held-{kind}",
        "pool": "east",
        "kind": kind,
        "gpus": gpus,
        "start": "2026-01-05",
        "end": "2028-01-03",
        "price": 1.0,
    } | keys


def demand(gpus: Iterable[float], first_week: int = 0, pool: str = "east") -> list[Row]:
    """Return one demand row a week, from a week on."""
    return [
        {"pool": pool, "at": day(first_week + number), "gpus": level}
        for number, level in enumerate(gpus)
    ]


def scenario(*, weeks: int = 4, **tables: Any) -> Scenario:
    """Return a checked scenario; ``tables`` replace its tables and keys."""
    document = {
        "name": "by hand",
        "horizon": {"start": day(), "end": day(weeks), "step": "week"},
        "hardware": [hardware()],
        "pools": [pool()],
        "offers": [],
        "preemption_classes": [
            {"id": "critical", "spot_share_max": 0},
            {"id": "free", "spot_share_max": 1},
        ],
        "campaigns": [],
        "solver": {"relative_gap": 1e-7, "threads": 1, "time_limit_seconds": 60},
    }
    return Scenario.model_validate(document | tables)


def solved(asked: Scenario) -> Plan:
    """Return the optimal plan, which has passed the audit and whose cost lines add up."""
    plan = solve_scenario(asked).plan
    assert plan.status is Status.OPTIMAL, plan.termination
    assert audit(asked, plan).findings == ()
    return plan


def is_infeasible(asked: Scenario) -> bool:
    """Tell whether a scenario is proven to have no plan."""
    return solve_scenario(asked).plan.status is Status.INFEASIBLE


def orders(plan: Plan) -> dict[tuple[str, str], int]:
    """Return the lots of each offer and start."""
    return {(order.offer, str(order.start)): order.lots for order in plan.orders}


def lines(plan: Plan) -> dict[str, float]:
    """Return the cost lines by name."""
    return {item.line: item.amount for item in plan.costs}


def runs(plan: Plan) -> dict[str, tuple[str, int, str, float]]:
    """Return the place, size, start and hours of each gang that runs."""
    return {
        run.campaign: (run.spot_offer or run.pool, run.gpus, str(run.start), run.hours)
        for run in plan.runs
    }


def dropped(plan: Plan) -> dict[str, float]:
    """Return the dropped share of each campaign that is not done in full."""
    return {item.campaign: item.share for item in plan.dropped}


def spot_gpus(plan: Plan, campaign: str) -> float:
    """Return the spot GPUs of an elastic campaign, added up over weeks and offers."""
    return sum(use.gpus for use in plan.spot_use if use.campaign == campaign)


def stable_gpus(plan: Plan, campaign: str, pool: str | None = None) -> float:
    """Return the stable GPUs of an elastic campaign, added up over weeks and pools."""
    return sum(
        use.gpus for use in plan.stable_use if use.campaign == campaign and pool in (None, use.pool)
    )
