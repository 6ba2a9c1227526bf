"""Reported figures as the auditor computes them, against a plan worked out by hand.

Four weeks, one lot of 8 GPUs at 2 (10,752 in all), on demand at 3, no discounting. A uses 8 GPUs in
the first week; B uses 12 in the second, 4 of them on demand; 4 are sold at 0.5 in the third.

    committed 5,376 h = A 1,344 + B 1,344 + sold 672 + idle 2,016 (week 3: 672, week 4: 1,344)
    direct: A 1,344 x 2 = 2,688; B 1,344 x 2 + 672 x 3 = 4,704
    idle 2,016 x 2 = 4,032, half to each; holding what was sold 672 x 2 = 1,344; revenue 336
    A 4,704 + B 6,720 + unallocated 1,344 - revenue 336 = 12,432 = 10,752 + 2,016 - 336
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

import pytest

from gpuladder.analysis.metrics import METRICS
from gpuladder.audit import audit
from gpuladder.audit.facts import Facts
from gpuladder.audit.figures import compute_figures
from gpuladder.audit.metrics import NOT_FIGURES
from gpuladder.audit.quantities import read_quantities
from gpuladder.plan import BackfillSale, MeteredUse, Order, Plan, Run, StableUse

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpuladder.audit.figures import Figures
    from gpuladder.scenario.schema import Scenario

WEEK = [date(2026, 7, 6), date(2026, 7, 13), date(2026, 7, 20), date(2026, 7, 27)]
END = date(2026, 8, 3)
CAMPAIGN = {"preemption_class": "critical", "earliest": WEEK[0], "deadline": END}

METRICS_BY_HAND: dict[str, float] = {
    "net_present_cost": 12_432,
    "committed_cost": 10_752,
    "metered_cost": 2_016,
    "held_cost": 0,
    "direct_cost": 7_392,
    "idle_cost_charged": 4_032,
    "loaded_cost": 11_424,
    "unallocated_cost": 1_344,
    "backfill_revenue": -336,
    "idle_cost": 4_032,
    "idle_net_cost": 4_032 + 1_344 - 336,
    "runs_completed": 2,
    "campaigns_planned": 2,
    "campaigns_partial": 0,
    "campaigns_dropped": 0,
    "cost_per_completed_run": 5_712,
    "direct_cost_per_completed_run": 3_696,
    "idle_cost_per_completed_run": 2_016,
    "spot_share": 0,
    "used_gpu_hours": 3_360,
    "on_demand_gpu_hours": 672,
    "committed_gpu_hours": 5_376,
    "committed_used_gpu_hours": 2_688,
    "backfilled_gpu_hours": 672,
    "idle_gpu_hours": 2_016,
    "coverage": 0.8,
    "utilisation": 0.5,
    "utilisation_with_backfill": 0.625,
    "on_demand_equivalent_cost": 10_080,
    "effective_savings_rate": 1 - 12_768 / 10_080,
    "lock_in_peak": 10_752,
    "lock_in_peak_months": 28 / (365.25 / 12),
    "tail_cost": 0,
    "cliff_share_after": 1,
    "cash_total": 12_432,
    "cash_in_horizon": 12_432,
    "cash_peak": 8 * 2 * 26 * 24 + 2_016 - 336,
    "accrual_total": 12_432,
    "commitments_to_sign": 1,
    "gpus_to_sign": 8,
}


@pytest.fixture(scope="module")
def scenario(small: Callable[..., Scenario]) -> Scenario:
    """Return the scenario of this page."""
    lease = {"id": "r", "pool": "east", "kind": "reserved", "lot_gpus": 8, "price": 2}
    return small(
        ({**lease, "tenor": "4 weeks"},),
        campaigns=[
            {"id": "A", "shape": "gang", "gpus": 8, "gpu_hours": 1344, **CAMPAIGN},
            {"id": "B", "shape": "elastic", "max_gpus": 12, "gpu_hours": 2016, **CAMPAIGN},
        ],
        backfill=[{"id": "buyer", "value": 0.5}],
        policy={"ladder": {"window": "4 weeks", "max_expiring_share": 1}},
    )


@pytest.fixture(scope="module")
def plan(scenario: Scenario, plan_of: Callable[..., Plan]) -> Plan:
    """Return the plan of this page, with its costs."""
    bare = plan_of(
        scenario,
        orders=(Order(offer="r", start=WEEK[0], lots=1),),
        runs=(Run(campaign="A", pool="east", spot_offer=None, gpus=8, start=WEEK[0], hours=168),),
        stable_use=(StableUse(campaign="B", pool="east", period=WEEK[1], gpus=12),),
        on_demand=(MeteredUse(offer="od", period=WEEK[1], level=0, gpus=4),),
        backfill=(BackfillSale(buyer="buyer", pool="east", period=WEEK[2], gpus=4),),
    )
    report = audit(scenario, bare)
    return bare.model_copy(update={"costs": report.cost_lines, "objective": report.objective})


@pytest.fixture(scope="module")
def figures(scenario: Scenario, plan: Plan) -> Figures:
    """Compute the figures once."""
    facts = Facts.of(scenario)
    return compute_figures(facts, read_quantities(facts, plan))


@pytest.mark.parametrize("name", METRICS_BY_HAND)
def test_metric_by_hand(name: str, figures: Figures) -> None:
    """A figure that the audit itself gets wrong would wave through the same mistake elsewhere."""
    assert figures.metrics[name] == pytest.approx(METRICS_BY_HAND[name])


def test_campaigns_by_hand(figures: Figures) -> None:
    """A wrong charge for idle capacity would blame the wrong team."""
    charged = {
        key: (item.direct_cost, item.idle_cost, item.loaded_cost, item.cost_per_run)
        for key, item in figures.campaigns.items()
    }
    assert charged["A"] == pytest.approx((2688, 2016, 4704, 4704))
    assert charged["B"] == pytest.approx((4704, 2016, 6720, 6720))


def test_dates_by_hand(figures: Figures) -> None:
    """A wrong date would have someone sign late."""
    assert figures.dated["first_sign_by"] == {"2026-07-06"}
    assert figures.dated["lock_in_peak_date"] == {"2026-07-06"}
    assert figures.dated["cash_peak_month"] == {"2026-07-01"}
    assert figures.dated["cliff_window_after"] == {"2026-07-06"}
    assert figures.dated["cliff_window_before"] == {None}


def test_every_metric_is_audited(figures: Figures) -> None:
    """A metric that nobody recomputes could be anything."""
    assert figures.metrics.keys() | figures.dated.keys() | set(NOT_FIGURES) == METRICS.keys()


@pytest.mark.parametrize(
    ("figures", "key"),
    [
        ({"metrics": {"coverage": 0.81}}, "coverage"),
        ({"coverage": 0.81}, "coverage"),
        ({"metrics": {"coverage": None}}, "coverage"),
        ({"metrics": {"coverage": "0.8"}}, "coverage"),
        ({"metrics": {"made_up": 1.0}}, "made_up"),
        ({"metrics": {"first_sign_by": "2026-07-07"}}, "first_sign_by"),
        ({"campaigns": [{"id": "A"}]}, "B"),
        ({"campaigns": [{"id": "A", "idle_cost": 2017}, {"id": "B"}]}, "A idle_cost"),
        ({"campaigns": [{"id": "A"}, {"id": "B"}, {"id": "C"}]}, "C"),
        ({"unallocated": [{"part": "all", "amount": 1345}]}, "unallocated cost by part"),
        ({"costs": [{"line": "reserved", "amount": 10753}]}, "costs reserved"),
        (
            {"gaps": [{"pool": "east", "start": "2026-07-20", "end": "2026-07-27"}]},
            "idle GPU-hours of east in no gap",
        ),
        (
            {
                "gaps": [
                    {
                        "pool": "east",
                        "start": WEEK[2],
                        "end": END,
                        "idle_gpu_hours": 2016,
                        "idle_cost": 4000,
                    }
                ]
            },
            "gap of east from 2026-07-20 idle_cost",
        ),
        (
            {"commitments": [{"offer": "r", "start": WEEK[0], "tail": 1.0}]},
            "r from 2026-07-06 tail",
        ),
        ({"commitments": [{"offer": "r", "start": WEEK[0], "end": WEEK[3]}]}, "r"),
        (
            {"commitments": [{"offer": "x", "start": WEEK[0]}, {"offer": "r", "start": WEEK[0]}]},
            "x",
        ),
    ],
)
def test_misreported_figure(
    figures: dict[str, Any], key: str, scenario: Scenario, plan: Plan
) -> None:
    """A figure that the plan does not bear out would be read out in a board meeting."""
    report = audit(scenario, plan, figures=figures)
    assert [(item.code, item.key) for item in report.findings] == [("metric", key)]


def test_identity_of_the_stated_figures(scenario: Scenario, plan: Plan) -> None:
    """Charges that do not add up to the total cost would leave money that nobody answers for."""
    stated = {"loaded_cost": 11_424.0, "unallocated_cost": 1_300.0, "backfill_revenue": -336.0}
    report = audit(scenario, plan, figures={"metrics": stated})
    assert [item.key for item in report.findings] == ["unallocated_cost", "identity"]
