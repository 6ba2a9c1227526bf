"""A small scenario in which every limit stands, and a plan written by hand that keeps them all.

Twelve weeks from Monday 2026-01-05 (w0) to 2026-03-30. What runs on east, in GPUs by week, is
(e1 is elastic and also takes 8 spot GPUs in w2 to w5; demand in w3 is 4 half of the time, else 8)

    week  e1  e2  g1  demand  backfill | held  reserved  flex drawn  owned  on demand
    w2    12                         8 |    8        16                              0
    w3    12      16    4, 8           |    8        16           4              4, 8
    w4    12      16                   |             16           8                 4
    w5    12                         4 |             16                             0
    w6         8                       |                                            8
    w8 to w11                        4 |                                  8         0

and on west d1, which wants dedicated tenancy, uses 12 of 16 dedicated GPUs from w4 on. g2 runs on
spot: 8 GPUs at availability 0.8 take 168 / 0.8 = 210 hours. Half of e2 and all of g3 is dropped.
"""

from __future__ import annotations

import copy
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from gpuladder.audit import audit
from gpuladder.plan import (
    BackfillSale,
    Dropped,
    FlexUse,
    MeteredUse,
    Order,
    Plan,
    Run,
    ScenarioRef,
    SolveOptions,
    SpotUse,
    StableUse,
    Status,
    Termination,
)
from gpuladder.scenario.schema import Scenario

if TYPE_CHECKING:
    from collections.abc import Callable

START = date(2026, 1, 5)
WEEK = [START + timedelta(weeks=number) for number in range(13)]

HARDWARE = {"memory_gb": 80, "gpus_per_node": 8, "peak_tflops": 989}
GANG = {"shape": "gang", "preemption_class": "critical"}
ELASTIC = {"shape": "elastic", "preemption_class": "critical"}
LEASE = {"kind": "reserved", "tenor": "4 weeks", "lot_gpus": 8}

TABLES: dict[str, Any] = {
    "name": "everything",
    "horizon": {"start": WEEK[0], "end": WEEK[12], "step": "week"},
    "discount_rate": 0.1,
    "hardware": [
        {"id": "h100", **HARDWARE},
        {"id": "b200", **HARDWARE, "relative_speed": 2.0},
    ],
    "pools": [
        {"id": "east", "provider": "acme", "region": "us", "hardware": "h100"},
        {"id": "west", "provider": "bolt", "region": "eu", "hardware": "b200", "fabric": "rack"},
    ],
    "offers": [
        {"id": "od-e", "pool": "east", "kind": "on_demand", "price": 4, "max_gpus": 64},
        {
            "id": "od-w",
            "pool": "west",
            "kind": "on_demand",
            "price": 6,
            "available_from": WEEK[1],
        },
        {
            "id": "spot-e",
            "pool": "east",
            "kind": "spot",
            "price": 1,
            "max_gpus": 40,
            "availability": 0.8,
        },
        {"id": "spot-w", "pool": "west", "kind": "spot", "price": 2, "max_gpus": 40},
        {
            "id": "res",
            "pool": "east",
            **LEASE,
            "price": 2,
            "min_lots": 2,
            "max_lots": 6,
            "lead": "1 weeks",
            "start_every": "2 weeks",
            "available_until": WEEK[10],
        },
        {"id": "flex", "pool": "east", **LEASE, "price": 1, "usage_price": 0.5},
        {
            "id": "burst",
            "pool": "east",
            "kind": "burst_window",
            "tenor": "1 weeks",
            "lot_gpus": 8,
            "price": 3,
        },
        {
            "id": "ded",
            "pool": "west",
            "kind": "dedicated",
            "price": 3,
            "tenor": "8 weeks",
            "lot_gpus": 16,
            "setup_cost": 1000,
        },
        {
            "id": "own",
            "pool": "east",
            "kind": "owned",
            "capex_per_gpu": 20000,
            "opex_per_gpu_hour": 0.1,
            "life": "2 years",
            "residual_per_year": 0.5,
            "lot_gpus": 8,
            "lead": "8 weeks",
        },
    ],
    "preemption_classes": [
        {"id": "critical", "spot_share_max": 0},
        {"id": "tolerant", "spot_share_max": 0.5},
        {"id": "free", "spot_share_max": 1},
    ],
    "campaigns": [
        {
            "id": "e1",
            **ELASTIC,
            "preemption_class": "tolerant",
            "gpu_hours": 20 * 4 * 168,
            "max_gpus": 20,
            "earliest": WEEK[2],
            "deadline": WEEK[6],
        },
        {
            "id": "e2",
            **ELASTIC,
            "gpu_hours": 8 * 2 * 168,
            "max_gpus": 8,
            "earliest": WEEK[6],
            "deadline": WEEK[8],
            "pools": ["east"],
            "drop_cost": 10000,
        },
        {
            "id": "g1",
            **GANG,
            "gpus": [8, 16, 24],
            "gpu_hours": 16 * 2 * 168,
            "earliest": WEEK[2],
            "deadline": WEEK[6],
            "max_duration": "2 weeks",
            "providers": ["acme"],
        },
        {
            "id": "g2",
            **GANG,
            "preemption_class": "free",
            "gpus": [8, 16],
            "gpu_hours": 8 * 168,
            "earliest": WEEK[6],
            "deadline": WEEK[10],
            "hardware": ["h100"],
        },
        {
            "id": "g3",
            **GANG,
            "gpus": 8,
            "gpu_hours": 8 * 168,
            "earliest": WEEK[0],
            "deadline": WEEK[12],
            "drop_cost": 500,
        },
        {
            "id": "d1",
            **ELASTIC,
            "gpu_hours": 12 * 8 * 168 * 2,
            "max_gpus": 20,
            "earliest": WEEK[4],
            "deadline": WEEK[12],
            "coupling": "rack",
            "tenancy": "dedicated",
        },
    ],
    "commitments": [
        {
            "id": "h1",
            "pool": "east",
            "kind": "reserved",
            "gpus": 8,
            "start": "2025-10-06",
            "end": WEEK[4],
            "price": 2,
        }
    ],
    "backfill": [{"id": "b1", "hardware": ["h100"], "value": 0.3, "max_gpus": 8}],
    "demand": [
        {"pool": "east", "at": f"2026-01-{26 + day} {hour:02}:00", "gpus": gpus}
        for day in range(6)
        for hour, gpus in ((0, 4), (12, 8))
    ],
    "policy": {
        "ladder": {"window": "4 weeks", "max_expiring_share": 0.5, "exempt_gpus": 4},
        "spot_share_max": 0.125,
        "provider_share_max": {"acme": 0.9, "bolt": 0.5},
        "committed_gpus_max": 200,
        "hardware_limits": [{"hardware": "h100", "after": "2026-03-01", "max_committed_gpus": 8}],
        "cash_budgets": [{"from": WEEK[0], "until": WEEK[12], "max": 1_000_000}],
        "tail_charge": 0.5,
    },
}


def patched(patch: dict[str, Any]) -> Scenario:
    """Return the scenario with keys set, such as ``{"offers.spot-e.max_gpus": 10}``."""
    tables = copy.deepcopy(TABLES)
    for path, value in patch.items():
        *parents, key = path.split(".")
        place = tables
        for parent in parents:
            place = (
                next(r for r in place if r["id"] == parent)
                if isinstance(place, list)
                else place[parent]
            )
        place[key] = value
    return Scenario.model_validate(tables)


def recosted(scenario: Scenario, plan: Plan) -> Plan:
    """Return the plan with costs and objective that follow from its quantities."""
    report = audit(scenario, plan)
    return plan.model_copy(
        update={
            "costs": report.cost_lines,
            "objective": report.objective,
            "bound": report.objective,
            "gap": 0.0,
        }
    )


def make_plan() -> Plan:
    """Return the plan of the table above, without costs."""
    return Plan(
        scenario=ScenarioRef(name="everything", sha256="abc"),
        currency="USD",
        status=Status.OPTIMAL,
        termination=Termination.GAP_REACHED,
        objective=0.0,
        bound=0.0,
        gap=0.0,
        options=SolveOptions(time_limit_seconds=60, relative_gap=0.005, threads=1, seed=0),
        versions={},
        seconds={},
        orders=(
            Order(offer="res", start=WEEK[2], lots=2),
            Order(offer="flex", start=WEEK[2], lots=1),
            Order(offer="ded", start=WEEK[4], lots=1),
            Order(offer="own", start=WEEK[8], lots=1),
        ),
        on_demand=(
            MeteredUse(offer="od-e", period=WEEK[3], level=0, gpus=4),
            MeteredUse(offer="od-e", period=WEEK[3], level=1, gpus=8),
            MeteredUse(offer="od-e", period=WEEK[4], level=0, gpus=4),
            MeteredUse(offer="od-e", period=WEEK[6], level=0, gpus=8),
        ),
        drawn=(
            FlexUse(offer="flex", period=WEEK[3], gpus=4),
            FlexUse(offer="flex", period=WEEK[4], gpus=8),
        ),
        stable_use=(
            *(StableUse(campaign="e1", pool="east", period=WEEK[w], gpus=12) for w in range(2, 6)),
            StableUse(campaign="e2", pool="east", period=WEEK[6], gpus=8),
            *(StableUse(campaign="d1", pool="west", period=WEEK[w], gpus=12) for w in range(4, 12)),
        ),
        spot_use=tuple(
            SpotUse(campaign="e1", offer="spot-e", period=WEEK[w], gpus=8) for w in range(2, 6)
        ),
        runs=(
            Run(campaign="g1", pool="east", spot_offer=None, gpus=16, start=WEEK[3], hours=336),
            Run(campaign="g2", pool="east", spot_offer="spot-e", gpus=8, start=WEEK[6], hours=210),
        ),
        dropped=(Dropped(campaign="e2", share=0.5), Dropped(campaign="g3", share=1.0)),
        backfill=(
            BackfillSale(buyer="b1", pool="east", period=WEEK[2], gpus=8),
            BackfillSale(buyer="b1", pool="east", period=WEEK[5], gpus=4),
            *(BackfillSale(buyer="b1", pool="east", period=WEEK[w], gpus=4) for w in range(8, 12)),
        ),
    )


@pytest.fixture(scope="session")
def scenario_with() -> Callable[[dict[str, Any]], Scenario]:
    """Build the scenario with a patch; every mutation starts from a plan valid under its patch."""
    return patched


@pytest.fixture(scope="session")
def priced() -> Callable[[Scenario, Plan], Plan]:
    """Price a plan again, so that a corrupted quantity is the only fault left."""
    return recosted


@pytest.fixture(scope="session")
def plan() -> Plan:
    """Share the valid plan; it is frozen."""
    return make_plan()
