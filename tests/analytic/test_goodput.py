"""Goodput by hand, against published numbers and the limits of the formula."""

from __future__ import annotations

import math

import pytest

from gpuladder.economics import goodput
from gpuladder.scenario.schema import PreemptionClass
from gpuladder.sizing.checkpointing import optimal_interval_hours


def tolerance(**keys: object) -> PreemptionClass:
    """Return a preemption class."""
    return PreemptionClass.model_validate({"id": "c", "spot_share_max": 1} | keys)


def daly(interval: float, mean: float, write: float, restart: float) -> float:
    """Return Daly's goodput, all in hours, as in the paper."""
    return interval / (mean * math.exp(restart / mean) * (math.exp((interval + write) / mean) - 1))


@pytest.mark.parametrize(
    ("mean_hours", "minutes"), [(24, 117), (6, 57), (0.25, 9.1)], ids=["24 h", "6 h", "15 min"]
)
def test_best_interval_agrees_with_the_paper(mean_hours: float, minutes: float) -> None:
    """Checkpoints would be planned too often or too seldom.

    Writing takes C = 5 minutes. One interruption in M = 24 h: every 117 minutes; in 6 h: 57; in 15
    minutes: 9.1. The paper's estimate is √(2CM) · (1 + √(C/2M) / 3 + (C/2M) / 9) − C; the exact
    optimum, found here, lies within half a per cent of it.
    """
    mean, ratio = 60 * mean_hours, 5 / (120 * mean_hours)
    estimate = math.sqrt(2 * 5 * mean) * (1 + math.sqrt(ratio) / 3 + ratio / 9) - 5
    assert estimate == pytest.approx(minutes, abs=0.5 if minutes > 10 else 0.05)
    found = 60 * optimal_interval_hours(mean_hours, 5 / 60)
    assert found == pytest.approx(estimate, rel=0.005)


@pytest.mark.parametrize("mean_hours", [0.25, 6.0, 24.0, 5000.0])
def test_no_interval_beats_the_best_one(mean_hours: float) -> None:
    """An interval that is only nearly the best would cost GPU-hours on every run."""
    best = optimal_interval_hours(mean_hours, 5 / 60)
    top = daly(best, mean_hours, 5 / 60, 0.1)
    for factor in (0.5, 0.9, 0.99, 1.01, 1.1, 2.0):
        assert daly(best * factor, mean_hours, 5 / 60, 0.1) < top


def test_goodput_is_the_paper_s_formula() -> None:
    """Lost hours would be under- or overstated.

    C = 6 min, R = 12 min, τ = 60 min, one interruption in 40 h.
    """
    fixed = tolerance(checkpoint_minutes=6, restart_minutes=12, checkpoint_interval_minutes=60)
    assert goodput(fixed, 1 / 40) == pytest.approx(daly(1.0, 40.0, 0.1, 0.2), rel=1e-12)


def test_free_interval_uses_the_best_one() -> None:
    """``auto`` would not be the best interval."""
    free = tolerance(checkpoint_minutes=6, restart_minutes=12)
    best = optimal_interval_hours(40.0, 0.1)
    assert goodput(free, 1 / 40) == pytest.approx(daly(best, 40.0, 0.1, 0.2), rel=1e-12)


def test_without_interruptions_only_checkpoints_cost() -> None:
    """A run that is never interrupted would still be stretched, or its checkpoints be free."""
    fixed = tolerance(checkpoint_minutes=6, checkpoint_interval_minutes=60)
    assert goodput(fixed, 0.0) == pytest.approx(1 / 1.1)
    assert goodput(tolerance(checkpoint_minutes=6, restart_minutes=12), 0.0) == 1.0


def test_free_checkpoints_leave_the_restarts() -> None:
    """A class that writes nothing would divide by zero, or lose nothing to restarts.

    The limit of the formula for τ → 0 with C = 0 is e^(−R/M).
    """
    free = tolerance(restart_minutes=12)
    assert goodput(free, 1 / 40) == pytest.approx(math.exp(-0.2 / 40))
    assert goodput(free, 1 / 40) == pytest.approx(daly(1e-7, 40.0, 0.0, 0.2), rel=1e-6)


def test_hopeless_job_makes_no_progress() -> None:
    """A job that is interrupted long before it can write would overflow."""
    slow = tolerance(checkpoint_minutes=60, restart_minutes=60, checkpoint_interval_minutes=60)
    assert goodput(slow, 1000.0) == 0.0
