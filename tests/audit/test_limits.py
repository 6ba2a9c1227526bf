"""Plans at the very edge of a limit: the audit must let them pass, and stop the next one."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

import pytest

from gpuladder.audit import audit
from gpuladder.plan import MeteredUse, Order, Plan, Run, SpotUse, StableUse, Status

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gpuladder.scenario.schema import Scenario

    Small = Callable[..., Scenario]
    PlanOf = Callable[..., Plan]
    Faults = Callable[[Scenario, Plan], list[tuple[str, str]]]

START, END = date(2026, 7, 6), date(2026, 8, 3)
LEASE = {"id": "r", "pool": "east", "kind": "reserved", "lot_gpus": 8, "price": 1}
WINDOW = {"earliest": START, "deadline": END, "preemption_class": "critical"}


def _week(number: int) -> date:
    return START + timedelta(weeks=number)


def _on_demand(gpus: float, *weeks: int) -> tuple[MeteredUse, ...]:
    return tuple(MeteredUse(offer="od", period=_week(w), level=0, gpus=gpus) for w in weeks)


def test_run_that_fills_its_window_exactly(small: Small, plan_of: PlanOf, faults: Faults) -> None:
    """A run that ends on the stroke of its deadline is on time; one hour more is late.

    8 GPUs, 8 x 168 x 2 GPU-hours of work and a waste of a half: three weeks from the first Monday.
    """
    gang = {
        "id": "g",
        "shape": "gang",
        "gpus": 8,
        "gpu_hours": 8 * 168 * 2,
        "waste": 0.5,
        "max_duration": "3 weeks",
        **WINDOW,
        "deadline": _week(3),
    }
    scenario = small(campaigns=[gang])
    run = Run(campaign="g", pool="east", spot_offer=None, gpus=8, start=START, hours=504)
    plan = plan_of(scenario, runs=(run,), on_demand=_on_demand(8, 0, 1, 2))
    assert faults(scenario, plan) == []
    late = small(campaigns=[{**gang, "deadline": _week(3) - timedelta(days=1)}])
    assert faults(late, plan) == [("run_mode", "g")]


def test_scaling_and_failures_lengthen_a_run(small: Small, plan_of: PlanOf, faults: Faults) -> None:
    """A run planned too short would be cut off before it is done.

    16 GPUs are two nodes that fail every 100 h each, so M = 50 h. With C = 0.1 h, R = 0.2 h and an
    interval of 1 h goodput is 1 / (50 exp(0.004) (exp(0.022) - 1)) = 0.89557; at an efficiency of
    0.9 the work of 16 x 100 GPU-hours takes 100 / (0.9 x 0.89557) = 124.07 h.
    """
    gang = {
        "id": "g",
        "shape": "gang",
        "gpus": [8, 16],
        "scaling": {16: 0.9},
        "gpu_hours": 1600,
        **WINDOW,
    }
    scenario = small(
        campaigns=[gang],
        hardware=[
            {
                "id": "h100",
                "memory_gb": 80,
                "gpus_per_node": 8,
                "peak_tflops": 989,
                "node_mtbf_hours": 100,
            }
        ],
        preemption_classes=[
            {
                "id": "critical",
                "spot_share_max": 0,
                "checkpoint_minutes": 6,
                "restart_minutes": 12,
                "checkpoint_interval_minutes": 60,
            }
        ],
    )
    goodput = 1 / (50 * 1.004008011 * 0.022243785)
    hours = 100 / (0.9 * goodput)
    assert hours == pytest.approx(124.07, abs=0.005)

    def planned(duration: float) -> Plan:
        run = Run(campaign="g", pool="east", spot_offer=None, gpus=16, start=START, hours=duration)
        return plan_of(scenario, runs=(run,), on_demand=_on_demand(16 * duration / 168, 0))

    assert faults(scenario, planned(hours)) == []
    assert faults(scenario, planned(hours * 0.999)) == [("run_mode", "g")]


def test_window_that_covers_part_of_a_week(small: Small, plan_of: PlanOf, faults: Faults) -> None:
    """A campaign that may run for three days of a week may use three sevenths of its GPUs."""
    sweep = {
        "id": "e",
        "shape": "elastic",
        "gpu_hours": 14 * 72,
        "max_gpus": 14,
        **WINDOW,
        "earliest": START + timedelta(days=4),
        "deadline": _week(1),
    }
    scenario = small(campaigns=[sweep])

    def planned(gpus: float) -> Plan:
        use = (StableUse(campaign="e", pool="east", period=START, gpus=gpus),)
        return plan_of(scenario, stable_use=use, on_demand=_on_demand(gpus, 0))

    assert faults(scenario, planned(6.0)) == []
    assert faults(scenario, planned(6.01)) == [("elastic_width", "e")]
    assert faults(scenario, planned(5.99)) == [("elastic_work", "e")]


def test_spot_work_is_limited_by_work_not_by_hours(
    small: Small, plan_of: PlanOf, faults: Faults
) -> None:
    """Spot hours do less work when nodes are reclaimed; the share is of work that gets done.

    Goodput on spot is 0.892176 (M = 40 h) and 1/1.1 on stable capacity. Of 1000 GPU-hours of work
    400 may be on spot: 400 / 0.892176 / 168 = 2.668715 GPUs over a week, and 600 x 1.1 / 168.
    """
    spot = {"id": "s", "pool": "east", "kind": "spot", "price": 1, "max_gpus": 9}
    spot |= {"node_mtbr_hours": 40}
    tolerant = {
        "id": "tolerant",
        "spot_share_max": 0.4,
        "checkpoint_minutes": 6,
        "restart_minutes": 12,
        "checkpoint_interval_minutes": 60,
    }
    sweep = {"id": "e", "shape": "elastic", "gpu_hours": 1000, "max_gpus": 99, **WINDOW}
    sweep |= {"preemption_class": "tolerant"}
    scenario = small((spot,), campaigns=[sweep], preemption_classes=[tolerant])

    def planned(spot_gpus: float) -> Plan:
        stable = 600 * 1.1 / 168
        return plan_of(
            scenario,
            stable_use=(StableUse(campaign="e", pool="east", period=START, gpus=stable),),
            spot_use=(SpotUse(campaign="e", offer="s", period=START, gpus=spot_gpus),),
            on_demand=_on_demand(stable, 0),
        )

    edge = 400 / 0.8921764 / 168
    assert faults(scenario, planned(edge * (1 + 1e-7))) == []
    assert faults(scenario, planned(edge * 1.001)) == [("class_spot_share", "e")]


def test_term_that_ends_inside_a_period(small: Small, plan_of: PlanOf, faults: Faults) -> None:
    """Ten days of capacity are three sevenths of the second week, and no more."""
    scenario = small(
        ({**LEASE, "tenor": "10 days"},),
        demand=[{"pool": "east", "at": _week(1), "gpus": 8}],
    )
    orders = (Order(offer="r", start=START, lots=1),)
    missing = 8 * 4 / 7
    enough = plan_of(scenario, orders=orders, on_demand=_on_demand(missing, 1))
    short = plan_of(scenario, orders=orders, on_demand=_on_demand(missing - 0.01, 1))
    assert faults(scenario, enough) == []
    assert faults(scenario, short) == [("stable_supply", "east")]


def test_monthly_starts_move_to_the_next_boundary(
    small: Small, plan_of: PlanOf, faults: Faults
) -> None:
    """A contract that starts on the 6th of a month starts on the Monday after it.

    From 6 July a month on is 6 August, a Thursday; the next boundary is 10 August.
    """
    offer = {**LEASE, "tenor": "1 weeks", "start_every": "1 months"}
    horizon = {"start": START, "end": _week(8), "step": "week"}
    scenario = small((offer,), horizon=horizon)

    def planned(start: date) -> Plan:
        return plan_of(scenario, orders=(Order(offer="r", start=start, lots=1),))

    assert faults(scenario, planned(date(2026, 8, 10))) == []
    assert faults(scenario, planned(date(2026, 8, 3))) == [("order_start", "r")]
    assert faults(scenario, planned(date(2026, 8, 17))) == [("order_start", "r")]


def test_lots_are_counted_while_they_are_active(
    small: Small, plan_of: PlanOf, faults: Faults
) -> None:
    """Two terms back to back need one lot on offer; when they overlap by a day they need two."""
    short = {**LEASE, "tenor": "1 weeks", "max_lots": 1}
    longer = {**short, "tenor": "8 days"}
    orders = tuple(Order(offer="r", start=_week(w), lots=1) for w in (0, 1))
    for offer, expected in ((short, []), (longer, [("lots_active", "r")])):
        scenario = small((offer,))
        assert faults(scenario, plan_of(scenario, orders=orders)) == expected


LADDER: dict[str, Any] = {"window": "2 weeks", "max_expiring_share": 0.5}


@pytest.mark.parametrize(
    ("tenors", "ladder", "expected"),
    [
        (("2 weeks", "6 weeks"), LADDER, [("ladder", "ladder")]),
        (("2 weeks", "6 weeks"), {**LADDER, "exempt_gpus": 4}, []),
        (("2 weeks", "1 weeks"), LADDER, [("ladder", "ladder")]),
        (("1 weeks", "1 weeks"), LADDER, []),
        (("4 weeks", "8 weeks"), {**LADDER, "exempt_gpus": 0}, []),
    ],
    ids=[
        "the-last-term-ends-beyond",
        "exempt",
        "short-terms-do-not-count",
        "nothing-counts",
        "stands-over-the-last-instant",
    ],
)
def test_ladder_windows(
    tenors: tuple[str, str],
    ladder: dict[str, Any],
    expected: list[tuple[str, str]],
    small: Small,
    plan_of: PlanOf,
    faults: Faults,
) -> None:
    """Expiries past the horizon are measured against what stands at its end.

    One lot of 8 of each tenor. 2 and 6 weeks: in the first window 8 of 16 expire, half; 6 weeks end
    past the horizon, where 8 stand and 8 expire, so 4 must be exempt. 1 week is shorter than a
    window and counts nowhere, neither as expiring nor as standing: then 8 of 8 expire. 4 and 8
    weeks: the lot that ends with the horizon still stands over its last instant, so 8 of 16 expire
    in the last window of the horizon and 8 of 16 beyond it.
    """
    offers = tuple({**LEASE, "id": f"r{i}", "tenor": tenor} for i, tenor in enumerate(tenors))
    scenario = small(offers, policy={"ladder": ladder})
    orders = tuple(Order(offer=f"r{i}", start=START, lots=1) for i in range(2))
    assert faults(scenario, plan_of(scenario, orders=orders)) == expected


def test_cash_budget_counts_the_whole_prepayment(
    small: Small, plan_of: PlanOf, faults: Faults
) -> None:
    """A year prepaid is paid this month, however much of it lies past the horizon.

    8 GPUs at 1 for 52 weeks, half prepaid: 0.5 x 8 x 8736 = 34,944 at once, and 0.5 x 8 x 168 = 672
    in the first week.
    """
    offer = {**LEASE, "tenor": "52 weeks", "upfront": 0.5}
    for most, expected in ((35_616, []), (35_615, [("cash_budget", "2026-07-06/2026-07-13")])):
        budget = {"from": START, "until": _week(1), "max": most}
        scenario = small((offer,), policy={"cash_budgets": [budget]})
        plan = plan_of(scenario, orders=(Order(offer="r", start=START, lots=1),))
        assert faults(scenario, plan) == expected


def test_plan_without_an_answer(small: Small, plan_of: PlanOf) -> None:
    """There is nothing to hold against a run that found no plan, but the wrong scenario."""
    scenario = small()
    plan = plan_of(scenario, status=Status.INFEASIBLE, objective=None)
    report = audit(scenario, plan)
    assert (report.passed, report.objective, report.cost_lines) == (True, None, ())
    other = audit(scenario, plan.model_copy(update={"currency": "EUR"}))
    assert [item.code for item in other.findings] == ["scenario_mismatch"]


def test_messages_tell_the_numbers(small: Small, plan_of: PlanOf) -> None:
    """A finding without its numbers sends the analyst searching."""
    scenario = small(demand=[{"pool": "east", "at": START, "gpus": 12.5}])
    report = audit(scenario, plan_of(scenario, on_demand=_on_demand(10, 0)))
    finding = report.findings[0]
    assert (finding.code, finding.key, finding.period) == ("stable_supply", "east", START)
    assert finding.amount == pytest.approx(2.5)
    for part in ("12.5 stable GPUs needed", "10 there", "from 2026-07-06"):
        assert part in finding.message
    assert report.record()["passed"] is False
