"""Analysis and audit mean the same where a figure has an edge."""

from __future__ import annotations

import pytest

from gpuladder.pipeline import run
from gpuladder.scenario.schema import Scenario

HARDWARE = [{"id": "h", "memory_gb": 80, "gpus_per_node": 8, "peak_tflops": 989}]
POOLS = [
    {"id": "east", "provider": "a", "region": "r", "hardware": "h"},
    {"id": "west", "provider": "b", "region": "r", "hardware": "h"},
]


def solved(**tables):
    scenario = Scenario.model_validate(
        {
            "name": "edge",
            "hardware": HARDWARE,
            "pools": POOLS,
            "preemption_classes": [],
            "campaigns": [],
            **tables,
        }
    )
    result = run(scenario)
    assert [finding.message for finding in result.audit.findings] == []
    return result


def test_windows_run_to_the_last_expiry_of_what_is_counted():
    """A sound plan would be refused when something held begins inside the horizon.

    What is held begins after the first window's start and ends in that window: no window has a
    share of it. What is bought stands at the first window's start and ends in the second, whose
    share, of the GPUs over the last instant of the horizon (24 + 16), is 24 / 40; in the first it
    is 16 / 24.
    """
    metrics = solved(
        horizon={"start": "2027-08-01", "end": "2027-09-05", "step": "week"},
        offers=[
            {
                "id": "own",
                "pool": "west",
                "kind": "owned",
                "capex_per_gpu": 2000,
                "life": "4 months",
                "lot_gpus": 8,
                "available_until": "2027-08-01",
            }
        ],
        commitments=[
            {
                "id": "held",
                "pool": "east",
                "kind": "owned",
                "gpus": 16,
                "start": "2027-08-14",
                "end": "2027-09-24",
                "price": 1.5,
            }
        ],
        demand=[{"pool": "west", "at": "2027-08-19 00:00", "gpus": 20}],
    ).metrics
    assert (metrics["cliff_share_before"], metrics["cliff_window_before"]) == (None, None)
    assert metrics["cliff_share_after"] == pytest.approx(16 / 24)
    assert metrics["cliff_window_after"] == "2027-08-01"


def test_the_peak_month_is_one_in_which_money_moves():
    """A sound plan would be refused when every month with payments brings money in.

    Nothing is paid for what is held, and 16 GPUs are sold at 1.25 for the twelve days.
    """
    metrics = solved(
        horizon={"start": "2028-09-13", "end": "2028-09-25", "step": "day"},
        offers=[{"id": "od", "pool": "west", "kind": "on_demand", "price": 3.0}],
        commitments=[
            {
                "id": "held",
                "pool": "east",
                "kind": "owned",
                "gpus": 16,
                "start": "2028-09-01",
                "end": "2028-11-25",
                "price": 0.0,
            }
        ],
        backfill=[{"id": "sold", "value": 1.25, "max_gpus": 16}],
    ).metrics
    assert metrics["cash_peak"] == pytest.approx(-16 * 1.25 * 24 * 12)
    assert metrics["cash_peak_month"] == "2028-09-01"
