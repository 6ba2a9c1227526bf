"""Hand-made results: the smallest that has everything, and the corners of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import date, timedelta
from itertools import pairwise
from typing import Any

import pytest

from gpuladder.analysis.metrics import METRICS
from gpuladder.analysis.result import (
    CampaignRow,
    CampaignUseRow,
    CapacityRow,
    CashRow,
    CommitmentRow,
    CostRow,
    ExpiryRow,
    GapRow,
    HeldRow,
    Infeasibility,
    LadderRow,
    LockInRow,
    PoolRow,
    QuarterCostRow,
    Result,
    Shortfall,
    Tables,
    UnallocatedRow,
)
from gpuladder.plan import Plan, ScenarioRef, SolveOptions, Status, Termination
from gpuladder.scenario.expand import time_grid
from gpuladder.scenario.fingerprint import fingerprint
from gpuladder.scenario.schema import Scenario

START = date(2026, 1, 5)


@dataclasses.dataclass(frozen=True)
class CleanAudit:
    """An audit that found nothing."""

    passed: bool = True

    def record(self) -> dict[str, object]:
        return {"passed": True, "findings": []}


@dataclasses.dataclass(frozen=True)
class FailedAudit:
    """An audit with one finding."""

    passed: bool = False

    def record(self) -> dict[str, object]:
        finding = {
            "code": "ladder",
            "limit": "no more GPUs expire in one window than the ladder allows",
            "key": "2026-04-05",
            "period": "2026-04-05",
            "message": "48 GPUs expire where 32 may",
            "amount": 16.0,
        }
        return {"passed": False, "findings": [finding]}


def make_scenario(
    name: str, campaigns: tuple[str, ...], weeks: int, *, with_demand: bool
) -> Scenario:
    end = START + timedelta(weeks=weeks)
    return Scenario.model_validate(
        {
            "name": name,
            "description": "Two pools, one reservation, one block.",
            "horizon": {"start": START, "end": end, "step": "week"},
            "discount_rate": 0.08,
            "hardware": [{"id": "H100", "memory_gb": 80, "gpus_per_node": 8, "peak_tflops": 989.0}],
            "pools": [
                {"id": "east", "provider": "aws", "region": "us-east-2", "hardware": "H100"},
                {"id": "west", "provider": "gcp", "region": "us-west1", "hardware": "H100"},
            ],
            "offers": [
                {"id": "east-od", "pool": "east", "kind": "on_demand", "price": 4.0},
                {
                    "id": "east-res",
                    "pool": "east",
                    "kind": "reserved",
                    "price": [2.5, 1.9],
                    "tenor": ["6 months", "1 years"],
                    "lot_gpus": 8,
                },
            ],
            "preemption_classes": [{"id": "steady", "spot_share_max": 0}],
            "campaigns": [
                {
                    "id": campaign,
                    "shape": "elastic",
                    "preemption_class": "steady",
                    "gpu_hours": 1000,
                    "max_gpus": 64,
                    "earliest": START,
                    "deadline": end,
                }
                for campaign in campaigns
                if campaign.isprintable() and len(campaign) <= 200 and campaign[0] != "{"
            ],
            "commitments": [
                {
                    "id": "held-2025",
                    "pool": "east",
                    "kind": "reserved",
                    "gpus": 16,
                    "start": START - timedelta(days=200),
                    "end": START + timedelta(days=60),
                    "price": 2.2,
                }
            ],
            "demand": [
                {"pool": "east", "at": START + timedelta(days=day), "gpus": day + 0.5}
                for day in range(weeks * 7 if with_demand else 0)
            ],
            "policy": {"ladder": {"window": "3 months", "max_expiring_share": 0.5}},
        }
    )


def make_plan(scenario: Scenario, status: Status, objective: float | None) -> Plan:
    return Plan(
        scenario=ScenarioRef(name=scenario.name, sha256=fingerprint(scenario)),
        currency=scenario.currency,
        status=status,
        termination=Termination.GAP_REACHED if status is Status.OPTIMAL else Termination.INFEASIBLE,
        objective=objective,
        bound=None if objective is None else objective * 0.997,
        gap=None if objective is None else 0.003,
        options=SolveOptions(time_limit_seconds=60, relative_gap=0.005, threads=2, seed=0),
        versions={"gpuladder": "0.1.0", "highs": "1.11.0"},
        seconds={"build": 0.12, "solve": 1.5},
    )


def commitment(offer: str, start: date, days: int, gpus: int, cost: float) -> CommitmentRow:
    return CommitmentRow(
        offer=offer,
        pool="east",
        provider="aws",
        hardware="H100",
        kind="reserved",
        start=start,
        end=start + timedelta(days=days),
        sign_by=max(START, start - timedelta(days=7)),
        lots=gpus // 8,
        gpus=gpus,
        price=1.9,
        cost=cost,
        usage_cost=0.0,
        cost_undiscounted=cost * 1.03,
        tail=cost / 3,
        upfront=0.0,
        break_even_utilisation=0.475,
        utilisation=0.91,
        rationale="Own work uses 91 % of it; it pays from 47.5 % on.",
    )


def campaign(name: str, index: int, weeks: int, direct: float) -> CampaignRow:
    start = START + timedelta(weeks=index % max(weeks - 2, 1))
    return CampaignRow(
        id=name,
        team="research",
        shape="elastic",
        outcome="planned",
        earliest=START,
        deadline=START + timedelta(weeks=weeks),
        start=start,
        end=start + timedelta(weeks=2),
        pool="east",
        spot_offer=None,
        gpus=32.0,
        gpu_hours=1000.0,
        spot_gpu_hours=0.0,
        committed_gpu_hours=800.0,
        work=1000.0,
        done_share=1.0,
        spot_share=0.0,
        direct_cost=direct,
        idle_cost=direct / 10,
        loaded_cost=direct * 1.1,
        runs=1.0,
        cost_per_run=direct * 1.1,
        drop_cost=0.0,
    )


def campaign_use(row: CampaignRow) -> list[CampaignUseRow]:
    assert row.start is not None
    return [
        CampaignUseRow(
            campaign=row.id,
            period_start=row.start + timedelta(weeks=week),
            period_end=row.start + timedelta(weeks=week + 1),
            pool="east",
            spot_offer=None,
            gpus=500 / 168,
            gpu_hours=500.0,
            committed_gpu_hours=400.0,
            cost=row.direct_cost / 2,
        )
        for week in range(2)
    ]


def capacity(scenario: Scenario, pool: str, campaigns: int) -> list[CapacityRow]:
    boundaries = time_grid(scenario).boundaries
    return [
        CapacityRow(
            pool=pool,
            period_start=begin,
            period_end=end,
            hours=(end - begin).days * 24.0,
            held_gpus=16.0 if index < 8 else 0.0,
            burst_window_gpus=0.0,
            reserved_gpus=0.0 if index < 2 else 48.0,
            dedicated_gpus=0.0,
            owned_gpus=0.0,
            flex_gpus=0.0,
            drawn_gpus=0.0,
            on_demand_gpus=1.0 / 3.0 * (index % 5),
            spot_gpus=4.0 if index % 3 else 0.0,
            demand_gpus=2.5,
            demand_peak_gpus=6.5,
            campaign_gpus=0.0 if not campaigns else 20.0 + index % 7,
            backfill_gpus=1.0,
            committed_used_gpus=20.0,
            idle_gpus=3.0,
        )
        for index, (begin, end) in enumerate(pairwise(boundaries))
    ]


def make_result(
    name: str = "small",
    campaigns: tuple[str, ...] = ("evals", "pretrain"),
    *,
    weeks: int = 20,
    orders: int = 2,
    with_demand: bool = True,
    **changes: Any,
) -> Result:
    """Return a result whose tables are made up but hang together."""
    scenario = make_scenario(name, campaigns, weeks, with_demand=with_demand)
    rows = tuple(campaign(name, i, weeks, 1000.1 * (i + 1)) for i, name in enumerate(campaigns))
    costs = (
        CostRow(line="on_demand", amount=1234.567),
        CostRow(line="reserved", amount=98765.4321),
        CostRow(line="spot", amount=0.0),
        CostRow(line="backfill_revenue", amount=-321.09),
    )
    objective = sum(row.amount for row in costs)
    metrics: dict[str, float | int | str | None] = dict.fromkeys(METRICS)
    metrics |= {
        "net_present_cost": objective,
        "committed_cost": 98765.4321,
        "runs_completed": float(len(rows)),
        "cost_per_completed_run": 1650.165,
        "committed_gpu_hours": 50000.0,
        "idle_gpu_hours": 4321.5,
        "idle_cost": 8111.25,
        "backfill_revenue": -321.09,
        "utilisation": 0.8765,
        "effective_savings_rate": 0.3123,
        "on_demand_equivalent_cost": 145000.0,
        "effective_savings_base": "east-od at 4 USD",
        "lock_in_peak": 150000.0,
        "lock_in_peak_date": "2026-02-02",
        "tail_cost": 33000.0,
        "cliff_share_before": 1.0,
        "cliff_share_after": 0.42,
        "cliff_window_after": "2026-04-05",
        "commitments_to_sign": orders,
        "gpus_to_sign": 24 * orders,
    }
    quarters = [date(2026, 1, 1), date(2026, 4, 1)]
    months = [date(2026, month, 1) for month in range(1, 7)]
    tables = Tables(
        commitments=tuple(
            commitment(f"east-res@{i}", START + timedelta(weeks=2 * i), 182, 24, 49382.71605)
            for i in range(orders)
        ),
        held=(
            HeldRow(
                id="held-2025",
                pool="east",
                kind="reserved",
                gpus=16.0,
                start=START - timedelta(days=200),
                end=START + timedelta(days=60),
                price=2.2,
                cost=50688.0,
                cost_undiscounted=50700.0,
                idle_gpu_hours=120.0,
                idle_cost=264.0,
                tail=0.0,
                renewable_as=None,
            ),
        ),
        campaigns=rows,
        campaign_use=tuple(use for row in rows for use in campaign_use(row)),
        capacity=tuple(
            row for pool in ("east", "west") for row in capacity(scenario, pool, len(rows))
        ),
        gaps=(
            GapRow(
                pool="east",
                start=START,
                end=START + timedelta(weeks=3),
                idle_gpu_hours=1512.0,
                idle_cost=2872.8,
                held_idle_cost=264.0,
                backfilled_gpu_hours=504.0,
                backfilled_cost=957.6,
                backfill_revenue=-321.09,
                net_cost=3509.31,
            ),
        ),
        pools=(
            PoolRow(
                pool="east",
                used_gpu_hours=60000.0,
                committed_gpu_hours=50000.0,
                committed_used_gpu_hours=43825.0,
                backfilled_gpu_hours=504.0,
                idle_gpu_hours=4321.5,
                coverage=0.73,
                utilisation=0.8765,
                utilisation_with_backfill=0.89,
                cost=100000.0,
                held_cost=50688.0,
                on_demand_cost=145000.0,
                effective_savings_rate=0.3123,
                savings_base="east-od at 4 USD",
            ),
        ),
        costs=costs,
        unallocated=(UnallocatedRow(part="demand", amount=90000.0),),
        quarters=tuple(
            QuarterCostRow(
                quarter_start=quarter,
                line=row.line,
                present_value=row.amount / 2,
                cash=row.amount,
                accrual=row.amount,
            )
            for quarter in quarters
            for row in costs
        ),
        cash=tuple(
            CashRow(month_start=month, line=line, cash=100.0 * i, accrual=250.0)
            for i, month in enumerate(months)
            for line in ("reserved", "held")
        ),
        lock_in=tuple(
            LockInRow(
                at=quarter,
                quarter_start=True,
                new_obligation=100000.0,
                held_obligation=50000.0,
                obligation=150000.0,
                loans=0.0,
                unpaid=150000.0,
                after_horizon=33000.0,
                average_months=4.4,
            )
            for quarter in quarters
        ),
        ladder=tuple(
            LadderRow(
                window_start=quarter,
                window_end=quarter + timedelta(days=90),
                committed_before=16.0,
                expiring_before=16.0,
                share_before=1.0,
                committed_after=64.0,
                expiring_after=24.0,
                share_after=0.375,
                allowed_gpus=32.0,
            )
            for quarter in quarters
        ),
        expiries=tuple(
            ExpiryRow(quarter_start=quarter, held_gpus=16.0, new_gpus=24.0, total_gpus=40.0)
            for quarter in quarters
        ),
    )
    result = Result(
        scenario=scenario,
        plan=make_plan(scenario, Status.OPTIMAL, objective),
        audit=CleanAudit(),
        metrics=metrics,
        tables=tables,
        seconds={"load": 0.01, "analyse": 0.2},
    )
    return dataclasses.replace(result, **changes)


def make_infeasible() -> Result:
    """Return a result that proves there is no plan."""
    scenario = make_scenario("too much", ("pretrain",), 20, with_demand=False)
    return Result(
        scenario=scenario,
        plan=make_plan(scenario, Status.INFEASIBLE, None),
        infeasible=Infeasibility(
            campaigns=(
                Shortfall(id="pretrain", short_gpu_hours=321.5, fix="Deadline 9 days later."),
            )
        ),
    )


@pytest.fixture
def result() -> Result:
    """A result with a row in every table."""
    return make_result()


@pytest.fixture
def infeasible() -> Result:
    """A result without a plan."""
    return make_infeasible()


@pytest.fixture
def failed_audit() -> FailedAudit:
    """An audit with one finding."""
    return FailedAudit()


@pytest.fixture
def make() -> Callable[..., Result]:
    """The maker of results, for the corners."""
    return make_result
