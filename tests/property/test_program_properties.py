"""What must hold of every answer, whatever the scenario."""

from __future__ import annotations

import copy
import math
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.analytic.builders import day
from tests.property.program_strategies import Tables, build, more_offers, tables

from gpuladder.audit import audit
from gpuladder.compiled import compile_model
from gpuladder.plan import Plan, SolveOptions, Status
from gpuladder.program import make_program_data
from gpuladder.scenario.fingerprint import fingerprint
from gpuladder.solver import Program
from gpuladder.solving import solve_scenario
from gpuladder_models.build import build_model

steady = settings(
    max_examples=30,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],  # a smaller seed is no simpler scenario
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def plan_of(asked: Tables) -> Plan:
    """Return the plan of some tables, proven or proven impossible."""
    plan = solve_scenario(build(asked)).plan
    assert plan.status in (Status.OPTIMAL, Status.INFEASIBLE)
    return plan


def cost_of(asked: Tables) -> float:
    """Return the least cost of some tables; infinite where there is no plan."""
    objective = plan_of(asked).objective
    return math.inf if objective is None else objective


def slack(cost: float) -> float:
    """Return what a proven gap and the solver's tolerances can account for."""
    return 1e-3 + 1e-6 * abs(cost) if math.isfinite(cost) else 0.0


def changed(asked: Tables, **keys: Any) -> Tables:
    """Return some tables with others in place of theirs."""
    return copy.deepcopy(asked) | keys


@steady
@given(tables())
def test_answer_adds_up_and_passes_the_audit(asked: Tables) -> None:
    """A figure of the report would not reconcile, or the plan would break a limit."""
    plan = plan_of(asked)
    if plan.objective is None:
        return
    scenario = build(asked)
    assert sum(line.amount for line in plan.costs) == pytest.approx(
        plan.objective, rel=1e-9, abs=1e-6
    )
    report = audit(scenario, plan, fingerprint=fingerprint(scenario))
    assert report.findings == ()
    assert report.objective == pytest.approx(plan.objective, rel=1e-6, abs=1e-4)
    assert plan.bound <= plan.objective


@steady
@given(tables(), more_offers())
def test_one_more_offer_never_costs_more(asked: Tables, added: Tables) -> None:
    """An offer that nobody has to take would make the plan dearer."""
    less = cost_of(asked)
    more = cost_of(changed(asked, offers=[*asked["offers"], added]))
    assert more <= less + slack(less)


def _fewer_lots(asked: Tables) -> Tables:
    rows = [
        row | ({"max_lots": row["max_lots"] - 1} if "max_lots" in row else {})
        for row in asked["offers"]
    ]
    return changed(asked, offers=rows)


def _quota(asked: Tables) -> Tables:
    rows = [
        row | ({"max_gpus": 16} if row["kind"] == "on_demand" else {}) for row in asked["offers"]
    ]
    return changed(asked, offers=rows)


def _half_the_spot(asked: Tables) -> Tables:
    rows = [
        row | ({"max_gpus": row["max_gpus"] / 2} if row["kind"] == "spot" else {})
        for row in asked["offers"]
    ]
    return changed(asked, offers=rows)


def _more_demand(asked: Tables) -> Tables:
    return changed(asked, demand=[row | {"gpus": row["gpus"] + 2} for row in asked["demand"]])


def _more_work(asked: Tables) -> Tables:
    return changed(asked, campaigns=[row | {"waste": 0.2} for row in asked["campaigns"]])


def _later_start(asked: Tables) -> Tables:
    return changed(
        asked,
        campaigns=[row | {"earliest": max(row["earliest"], day(1))} for row in asked["campaigns"]],
    )


def _no_buyer(asked: Tables) -> Tables:
    return changed(asked, backfill=[])


def _with_policy(**keys: Any):
    def tightened(asked: Tables) -> Tables:
        return changed(asked, policy=asked["policy"] | keys)

    return tightened


TIGHTENED = {
    "fewer lots": _fewer_lots,
    "a quota": _quota,
    "less spot": _half_the_spot,
    "more demand": _more_demand,
    "more work": _more_work,
    "a later start": _later_start,
    "no buyer": _no_buyer,
    "a cap on what is committed": _with_policy(committed_gpus_max=8),
    "less spot in all": _with_policy(spot_share_max=0.1),
    "a narrower ladder": _with_policy(
        ladder={"window": "2 weeks", "max_expiring_share": 0.25, "exempt_gpus": 8}
    ),
    "a limit on each provider": _with_policy(provider_share_max=0.8),
    "a limit on a generation": _with_policy(
        hardware_limits=[{"hardware": "h100", "after": day(1), "max_committed_gpus": 8}]
    ),
    "a budget": _with_policy(cash_budgets=[{"from": day(), "until": day(2), "max": 4000}]),
    "a charge for the tail": _with_policy(tail_charge=1.0),
}


@pytest.mark.parametrize("name", TIGHTENED)
@settings(steady, max_examples=8)
@given(asked=tables())
def test_tighter_limit_never_costs_less(name: str, asked: Tables) -> None:
    """The worth of a limit would come out negative."""
    less = cost_of(asked)
    more = cost_of(TIGHTENED[name](asked))
    assert more >= less - slack(less)


MONEY = {
    "price",
    "usage_price",
    "setup_cost",
    "capex_per_gpu",
    "opex_per_gpu_hour",
    "drop_cost",
    "value",
    "max",
}


def times(asked: Any, factor: float) -> Any:
    """Return some tables with all money multiplied."""
    if isinstance(asked, dict):
        return {
            key: value * factor
            if key in MONEY and isinstance(value, int | float)
            else times(value, factor)
            for key, value in asked.items()
        }
    if isinstance(asked, list):
        return [times(value, factor) for value in asked]
    return asked


@steady
@given(tables(), st.sampled_from([0.25, 3.0, 137.0]), st.booleans())
def test_all_prices_times_k_cost_k_times_as_much(
    asked: Tables, factor: float, has_budget: bool
) -> None:
    """The plan would depend on the currency that prices are written in."""
    if has_budget:
        budget = {"from": day(), "until": day(2), "max": 5000}
        asked = changed(asked, policy=asked["policy"] | {"cash_budgets": [budget]})
    cost, scaled = cost_of(asked), cost_of(times(asked, factor))
    if math.isinf(cost):
        assert math.isinf(scaled)
    else:
        assert scaled == pytest.approx(factor * cost, rel=1e-5, abs=1e-3 * max(factor, 1))


@steady
@given(tables(), st.integers(0, 2**16))
def test_order_of_rows_does_not_matter(asked: Tables, seed: int) -> None:
    """A sorted spreadsheet would give another answer than an unsorted one."""
    shuffled = copy.deepcopy(asked)
    rng = random.Random(seed)
    for rows in shuffled.values():
        if isinstance(rows, list):
            rng.shuffle(rows)
    cost, other = cost_of(asked), cost_of(shuffled)
    assert other == pytest.approx(cost, rel=1e-6, abs=1e-3) or cost == other


@steady
@given(tables())
def test_relaxation_is_never_dearer(asked: Tables) -> None:
    """The proven floor of the cost would lie above the cost."""
    data = make_program_data(build(asked))
    compiled = compile_model(build_model(data))
    options = SolveOptions(time_limit_seconds=60, relative_gap=1e-7, threads=1, seed=0)
    relaxed = Program(replace(compiled, is_integer=np.zeros(compiled.num_columns, np.bool_))).solve(
        options
    )
    cost = cost_of(asked)
    if relaxed.objective is None:
        assert math.isinf(cost)
    else:
        assert relaxed.objective <= cost + slack(cost)


@settings(steady, max_examples=15)
@given(tables())
def test_same_scenario_gives_the_same_plan(asked: Tables) -> None:
    """Two colleagues with the same file would sign different contracts."""
    first, second = (plan_of(asked).model_copy(update={"seconds": {}}) for _ in range(2))
    assert first == second


@settings(steady, max_examples=15)
@given(tables())
def test_earlier_plan_as_start_gives_the_same_cost(asked: Tables) -> None:
    """A start meant to save time would change the answer."""
    earlier = plan_of(asked)
    if earlier.objective is None:
        return
    plan = solve_scenario(build(asked), start_from=earlier).plan
    assert plan.objective == pytest.approx(earlier.objective, rel=1e-6, abs=1e-3)
