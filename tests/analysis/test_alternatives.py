"""Alternatives and ranges of quantities: toys solved by hand, and identities on all sorts.

Unless a test says otherwise demand is 16 GPUs for four weeks of 168 hours: 10,752 GPU-hours, so
that a price of 1.0 costs 10,752 and one of 1.005 costs 53.76 more, half of the slack of 1 %.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from tests.analytic.builders import day, demand, elastic, offer, pool, scenario, solved

from gpuladder.analysis.alternatives import alternatives
from gpuladder.analysis.answers import AlternativeRow, QuantityRangeRow
from gpuladder.analysis.budget import Budget
from gpuladder.audit import audit
from gpuladder.plan import Plan
from gpuladder.scenario.loading import load
from gpuladder.scenario.schema import Scenario
from gpuladder.solving import solve_scenario

CASES = Path(__file__).parents[1] / "data" / "cases"
DAYS_PER_MONTH = 365.25 / 12
CHEAP, DEAR = 10_752.0, 10_752.0 + 53.76
TERM = offer("reserved", price=1.0, tenor="4 weeks", lot_gpus=8, start_every="4 weeks")
BLOCK = offer("burst_window", price=1.005, tenor="1 weeks", lot_gpus=16)
Answer = tuple[dict[str, AlternativeRow], dict[str, QuantityRangeRow], dict[str, Plan]]


def budget(seconds: float = 60.0) -> Budget:
    """Return a budget that small scenarios never reach."""
    return Budget(stop_at=time.time() + seconds, workers=1, seconds_each=20.0, relative_gap=1e-7)


def steady(*offers: dict[str, Any], **tables: Any) -> Scenario:
    """Return the demand of the docstring above with these offers."""
    return scenario(**{"offers": list(offers), "demand": demand([16] * 4)} | tables)


def answer(asked: Scenario, slack: float = 0.01) -> Answer:
    """Return the alternatives by aim, the ranges by offer, and the plans by aim."""
    rows, ranges, plans = alternatives(asked, solved(asked), budget=budget(), slacks=(slack,))
    for plan in plans.values():
        assert audit(asked, plan).findings == ()
    return (
        {row.aim: row for row in rows},
        {row.offer: row for row in ranges},
        {key.split("@")[0]: plan for key, plan in plans.items()},
    )


def two_providers() -> Scenario:
    """Return work for 16 GPUs over four weeks: 8 on demand at 2.0 from one, the rest elsewhere.

    The other sells any number at 2.02: 5,376 GPU-hours each cost 10,752 and 10,859.52; all from the
    other costs 21,719.04, which is 107.52 or 0.4975 % more.
    """
    return scenario(
        pools=[pool("east"), pool("west", provider="other")],
        offers=[
            offer("on_demand", price=2.0, max_gpus=8),
            offer("on_demand", price=2.02, pool="west") | {"id": "on_demand_west"},
        ],
        campaigns=[elastic("jobs", 16 * 672, max_gpus=16)],
    )


def test_fewest_providers_by_hand() -> None:
    """One contract less is worth its price only if the price is right."""
    rows, _, plans = answer(two_providers())
    row = rows["fewest_providers"]
    assert (row.measure, row.measure_of_plan, row.unit) == (1.0, 2.0, "providers")
    assert row.cost == pytest.approx(21_719.04)
    assert row.extra_cost == pytest.approx(107.52)
    assert row.extra_share == pytest.approx(107.52 / 21_611.52)
    assert row.is_audited
    assert {use.offer for use in plans["fewest_providers"].on_demand} == {"on_demand_west"}


def test_dearer_than_the_slack_is_no_alternative() -> None:
    """A plan beyond the slack sold as almost as cheap breaks the one promise made."""
    rows, _, _ = answer(two_providers(), slack=0.004)
    row = rows["fewest_providers"]
    assert (row.measure, row.extra_cost) == (2.0, pytest.approx(0.0, abs=1e-4))
    assert row.note == "no plan within the slack has less"


def test_fewest_signatures_by_hand() -> None:
    """Each signature is weeks of legal work: four blocks at 1.0, or one term at 1.005."""
    rows, _, plans = answer(steady(BLOCK | {"price": 1.0}, TERM | {"price": 1.005}))
    row = rows["fewest_signatures"]
    assert (row.measure, row.measure_of_plan) == (1.0, 4.0)
    assert row.cost == pytest.approx(DEAR)
    assert [order.offer for order in plans["fewest_signatures"].orders] == ["reserved"]
    assert "1 order (reserved 16 GPUs)" in row.summary


def test_shortest_lock_in_by_hand() -> None:
    """Money tied up for a month against a week at a time: blocks are four times as short.

    The term locks 10,752 for 28 days, 10,752 x 28 days in months; the blocks 10,805.76 for 7.
    """
    rows, _, _ = answer(steady(TERM, BLOCK))
    row = rows["shortest_lock_in"]
    assert row.measure_of_plan == pytest.approx(CHEAP * 28 / DAYS_PER_MONTH)
    assert row.measure == pytest.approx(DEAR * 7 / DAYS_PER_MONTH)
    assert row.cost == pytest.approx(DEAR)


def test_latest_signatures_by_hand() -> None:
    """A decision that can wait is an option kept: on demand at 1.005 nothing is signed at all.

    The term is signed on the first day for 10,752, 28 days before the horizon ends.
    """
    rows, _, plans = answer(steady(TERM, offer("on_demand", price=1.005)))
    row = rows["latest_signatures"]
    assert row.measure_of_plan == pytest.approx(CHEAP * 28 / DAYS_PER_MONTH)
    assert (row.measure, row.cost) == (pytest.approx(0.0), pytest.approx(DEAR))
    assert plans["latest_signatures"].orders == ()
    assert "nothing is signed" in row.summary


def test_least_spot_by_hand() -> None:
    """A team that wants no reclaims must see what doing without them costs: half a per cent."""
    asked = scenario(
        offers=[offer("spot", price=1.0, max_gpus=64), offer("on_demand", price=1.005)],
        campaigns=[elastic("jobs", 10_752, preemption_class="free")],
    )
    row = answer(asked)[0]["least_spot"]
    assert row.measure_of_plan == pytest.approx(10_752)
    assert (row.measure, row.cost) == (pytest.approx(0.0, abs=1e-6), pytest.approx(DEAR))


def test_flattest_cash_by_hand() -> None:
    """A prepaid term at 1.0, or one paid by the hour at 1.005: the treasurer asks for the second.

    Eight weeks from 6 July, 21,504 GPU-hours, all paid in July when prepaid. By the hour July has
    26 days, 16 x 24 x 26 x 1.005 = 10,033.92, and August 30, 11,577.60.
    """
    prepaid = TERM | {"tenor": "8 weeks", "upfront": 1.0, "start_every": "8 weeks"}
    hourly = prepaid | {"id": "hourly", "price": 1.005, "upfront": 0.0}
    asked = scenario(weeks=8, offers=[prepaid, hourly], demand=demand([16] * 8))
    row = answer(asked)[0]["flattest_cash"]
    assert row.measure_of_plan == pytest.approx(21_504)
    assert row.measure == pytest.approx(11_577.60)
    assert row.cost == pytest.approx(21_504 * 1.005)


def test_flattest_cash_counts_a_loan_as_it_is_billed() -> None:
    """A loan would be shown as if it were repaid on the day on which the plan ends.

    Bought for 16 x 1,000 in July, or for 16 x 1,005 on 6 August and 6 September without interest.
    The eight weeks end on 31 August, when 8,040 is still owed but not billed. Running at 0.1 adds
    16 x 24 x 26 x 0.1 = 998.40 in July and, the last day included, 1,190.40 in August.
    """
    keys = {"opex_per_gpu_hour": 0.1, "life": "1 years", "lot_gpus": 16, "start_every": "8 weeks"}
    cash = offer("owned", capex_per_gpu=1_000, **keys)
    loan = {"rate": 0.0, "term": "2 months"}
    credit = cash | {"id": "credit", "capex_per_gpu": 1_005, "financing": loan}
    asked = scenario(weeks=8, offers=[cash, credit], demand=demand([16] * 8))
    row = answer(asked)[0]["flattest_cash"]
    assert row.measure_of_plan == pytest.approx(16_998.40)
    assert row.measure == pytest.approx(8_040 + 1_190.40)
    assert row.cost == pytest.approx(16_080 + 16 * 8 * 168 * 0.1)


def test_firm_and_a_matter_of_taste_by_hand() -> None:
    """A buyer who fights for a quantity the plan does not need has spent his credit.

    Two terms at 1.0 and 1.005 can replace each other within 1 %; on demand at 10.0 could only be
    bought to stand idle: the slack of 107.52 pays for 10.752 GPU-hours of it.
    """
    second = TERM | {"id": "second", "price": 1.005}
    on_demand = offer("on_demand", price=10.0)
    ranges = answer(steady(TERM, second, on_demand))[1]
    for name in ("reserved", "second"):
        assert ranges[name].least_gpu_hours == pytest.approx(0.0)
        assert ranges[name].most_gpu_hours == pytest.approx(10_752)
        assert ranges[name].reading.startswith("a matter of taste")
    assert ranges["on_demand"].most_gpu_hours == pytest.approx(10.752, rel=0.01)
    assert ranges["on_demand"].reading.startswith("firm: left out")
    alone = answer(steady(TERM, on_demand))[1]["reserved"]
    assert (alone.least_gpu_hours, alone.most_gpu_hours) == (
        pytest.approx(10_752),
        pytest.approx(10_752),
    )
    assert alone.reading.startswith("firm: within")


def test_two_equal_plans_cost_nothing_to_swap() -> None:
    """With two offers at one price the choice is free, and must not look like a finding."""
    rows, ranges, _ = answer(steady(TERM, TERM | {"id": "second"}), slack=0.0001)
    assert all(row.extra_cost == pytest.approx(0.0, abs=1.2) for row in rows.values())
    assert rows["fewest_signatures"].measure == 1.0
    for name in ("reserved", "second"):
        row = ranges[name]
        assert (row.least_gpu_hours, row.most_gpu_hours) == (
            pytest.approx(0.0),
            pytest.approx(10_752),
        )


def test_not_solved_in_time_is_not_guessed() -> None:
    """An aim that was not solved has no figure but that of the plan."""
    asked = steady(TERM, BLOCK)
    rows, ranges, plans = alternatives(asked, solved(asked), budget=budget(seconds=-1.0))
    unsolved = {row.aim for row in rows if row.cost is None}
    assert unsolved == {
        "fewest_providers",
        "shortest_lock_in",
        "fewest_signatures",
        "latest_signatures",
        "flattest_cash",
    }
    assert all(row.note == "not solved in the time given" for row in rows if row.cost is None)
    assert {row.most_gpu_hours for row in ranges} == {None}
    assert {key.split("@")[0] for key in plans} == {"least_spot"}  # there is none to have less of


def test_provider_of_a_held_commitment_counts_already() -> None:
    """Dropping a provider one is bound to anyway saves no relationship.

    A commitment is held in east; buying there too is no second provider.
    """
    held_in_east = {
        "id": "held",
        "pool": "east",
        "kind": "reserved",
        "gpus": 1,
        "start": "2026-01-05",
        "end": "2026-07-13",
        "price": 1.0,
    }
    base = two_providers()
    asked = scenario(
        pools=[item.model_dump() for item in base.pools],
        offers=[item.model_dump(by_alias=True) for item in base.offers],
        campaigns=[elastic("jobs", 8 * 672, max_gpus=8, deadline=day(4))],
        commitments=[held_in_east],
    )
    row = answer(asked)[0]["fewest_providers"]
    assert (row.measure, row.measure_of_plan) == (1.0, 1.0)


@pytest.mark.parametrize("number", [14, 22, 36])
def test_identities_on_scenarios_of_all_sorts(number: int) -> None:
    """Every alternative is a plan that stands, within the slack, and no worse in its respect."""
    asked = load(CASES / "random" / f"fuzz-{number}.yaml").scenario
    plan = solve_scenario(asked).plan
    assert plan.objective is not None
    rows, ranges, plans = alternatives(asked, plan, budget=budget(), slacks=(0.01,))
    tolerance = 1e-5 * max(abs(plan.objective), 1.0)
    for row in rows:
        assert row.is_audited
        assert row.cost is not None
        assert row.extra_cost == pytest.approx(row.cost - plan.objective, abs=tolerance)
        assert row.cost <= plan.objective + 0.01 * abs(plan.objective) + tolerance
        assert row.measure is not None
        assert row.measure_of_plan is not None
        assert row.measure <= row.measure_of_plan * (1 + 1e-5) + 1e-6
    for found in plans.values():
        assert audit(asked, found).findings == ()
    for span in ranges:
        assert span.least_gpu_hours is not None
        assert span.most_gpu_hours is not None
        assert span.least_gpu_hours <= span.gpu_hours_in_plan + 1e-3
        assert span.gpu_hours_in_plan <= span.most_gpu_hours + 1e-3
