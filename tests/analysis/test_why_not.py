"""Why there is no plan: the shortfall is right, and each fix works when it is applied."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from tests.analysis.conftest import write_plan

from gpuladder.analysis.result import Infeasibility, Result, Shortfall
from gpuladder.analysis.why_not import why_infeasible
from gpuladder.plan import Status, Termination
from gpuladder.scenario.schema import Scenario
from gpuladder.solving import solve_scenario
from gpuladder.verdict import infeasible_problems

BASE = {
    "name": "short",
    "horizon": {"start": "2026-07-06", "end": "2026-09-14", "step": "week"},
    "hardware": [{"id": "h100", "memory_gb": 80, "gpus_per_node": 8, "peak_tflops": 989}],
    "pools": [{"id": "east", "provider": "a", "region": "us", "hardware": "h100"}],
    "preemption_classes": [{"id": "critical", "spot_share_max": 0}],
    "offers": [
        {"id": "od", "pool": "east", "kind": "on_demand", "price": 3.0, "max_gpus": 16},
    ],
    "campaigns": [
        {
            "id": "big",
            "preemption_class": "critical",
            "shape": "elastic",
            "max_gpus": 512,
            "gpu_hours": 16 * 24 * 28 + 1000,
            "earliest": "2026-07-06",
            "deadline": "2026-08-03",
        }
    ],
}


def scenario(**changes: object) -> Scenario:
    """Return the base scenario with some tables replaced."""
    return Scenario.model_validate({**BASE, **changes})


def test_shortfall_of_a_campaign_by_hand() -> None:
    """A wrong shortfall sends the buyer to the market for the wrong quantity.

    16 GPUs for 28 days are 10,752 GPU-hours; 11,752 are asked for: 1,000 short.
    """
    found = why_infeasible(scenario())
    assert [item.id for item in found.campaigns] == ["big"]
    assert found.campaigns[0].short_gpu_hours == pytest.approx(1000)


@pytest.mark.parametrize(
    ("hours", "words"),
    [(0.04, "0.04"), (0.5, "0.5"), (321.5, "321.5"), (1000.0, "1,000"), (12345.6, "12,346")],
)
def test_a_small_shortfall_is_not_called_nothing(hours: float, words: str) -> None:
    """A campaign would be said to be short of 0 GPU-hours, and nobody would know what to mend."""
    short = Infeasibility(campaigns=(Shortfall(id="big", short_gpu_hours=hours, fix=""),))
    wanted = scenario()
    plan = write_plan(wanted, None, status=Status.INFEASIBLE, termination=Termination.INFEASIBLE)
    result = Result(scenario=wanted, plan=plan, infeasible=short)
    assert infeasible_problems(result)[0].what == f"big is short of {words} reference GPU-hours"


def test_quota_fix_is_the_smallest_and_works() -> None:
    """A fix that does not work when it is made costs a day of negotiation.

    11,752 GPU-hours in 672 hours need 17.488 GPUs: 1.488 more than the quota, 18 whole ones.
    """
    found = why_infeasible(scenario())
    (limit,) = found.limits
    assert (limit.limit, limit.key) == ("on_demand_quota", "od")
    assert limit.excess == pytest.approx(11752 / 672 - 16)
    assert "offers.od.max_gpus to 18" in limit.fix
    for quota, status in ((17.4, Status.INFEASIBLE), (18, Status.OPTIMAL)):
        offers = [{**BASE["offers"][0], "max_gpus": quota}]
        assert solve_scenario(scenario(offers=offers)).plan.status is status


def test_deadline_fix_works_and_a_day_less_does_not() -> None:
    """A deadline moved by too little leaves the run short; by too much delays it for nothing.

    A gang of 16 GPUs with 16 x 24 x 31 GPU-hours needs 31 days from the first boundary; 28 are
    there, so the deadline has to move by 3 days.
    """
    run = {
        "id": "run",
        "preemption_class": "critical",
        "shape": "gang",
        "gpus": 16,
        "gpu_hours": 16 * 24 * 31,
        "earliest": "2026-07-06",
        "deadline": "2026-08-03",
    }
    short = scenario(campaigns=[run])
    (found,) = why_infeasible(short).campaigns
    assert found.short_gpu_hours == pytest.approx(16 * 24 * 31)
    days = int(re.search(r"by (\d+) days", found.fix).group(1))
    assert days == 3
    (campaign,) = short.campaigns
    for extra, status in ((days - 1, Status.INFEASIBLE), (days, Status.OPTIMAL)):
        moved = campaign.model_copy(update={"deadline": campaign.deadline + timedelta(days=extra)})
        assert (
            solve_scenario(short.model_copy(update={"campaigns": (moved,)})).plan.status is status
        )


def test_independent_conflicts_are_all_shown() -> None:
    """Fixing one of two conflicts and meeting the other a day later is what this list prevents."""
    pools = [*BASE["pools"], {**BASE["pools"][0], "id": "west"}]
    offers = [*BASE["offers"], {**BASE["offers"][0], "id": "od-west", "pool": "west"}]
    first = {**BASE["campaigns"][0], "pools": ["east"]}
    second = {**first, "id": "other", "pools": ["west"], "gpu_hours": 16 * 24 * 28 + 500}
    found = why_infeasible(scenario(pools=pools, offers=offers, campaigns=[first, second]))
    short = {item.id: item.short_gpu_hours for item in found.campaigns}
    assert short == pytest.approx({"big": 1000, "other": 500})
    assert {item.key for item in found.limits} == {"od", "od-west"}


def test_company_limit_in_the_way_is_named() -> None:
    """A company that blocks its own plan must learn which of its limits does, and by how much.

    Without on-demand the campaign needs 11,752 / 672 = 17.49 committed GPUs: three lots of 8, 24
    GPUs, where 16 are allowed.
    """
    offers = [
        {
            "id": "r4",
            "pool": "east",
            "kind": "reserved",
            "price": 2.0,
            "tenor": "4 weeks",
            "lot_gpus": 8,
        }
    ]
    found = why_infeasible(scenario(offers=offers, policy={"committed_gpus_max": 16}))
    limits = {item.limit: item.excess for item in found.limits}
    assert limits == pytest.approx({"committed_cap": 8})


def test_unserved_demand_is_counted_in_gpu_hours() -> None:
    """Baseline demand that cannot be served is a shortage like any other: 8 GPUs for a week."""
    days = [f"2026-07-{day:02d}" for day in range(6, 13)]
    demand = [{"pool": "east", "at": day, "gpus": 24} for day in days]
    found = why_infeasible(scenario(campaigns=[], demand=demand))
    (item,) = found.campaigns
    assert item.id == "demand of east"
    assert item.short_gpu_hours == pytest.approx(8 * 24 * 7)
