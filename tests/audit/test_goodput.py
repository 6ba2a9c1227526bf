"""Goodput as the auditor computes it, against hand values and a plain scan."""

from __future__ import annotations

import math

import pytest

from gpuladder.audit.goodput import goodput


def test_hand_value() -> None:
    """A wrong goodput would make every run on unreliable nodes too short.

    M = 40 h, C = 0.1 h, R = 0.2 h, interval 1 h: exp(0.2/40) = 1.00501252 and
    exp(1.1/40) - 1 = 0.02788160, so goodput is 1 / (40 x 1.00501252 x 0.02788160) = 0.892176.
    """
    assert goodput(1, 1 / 40, 0.1, 0.2, 1.0) == pytest.approx(0.892176, abs=5e-7)


def test_without_failures() -> None:
    """Reliable nodes lose only the time to write checkpoints: 1 / 1.1, and nothing when auto."""
    assert goodput(4, 0.0, 0.1, 0.2, 1.0) == pytest.approx(1 / 1.1)
    assert goodput(4, 0.0, 0.1, 0.2, "auto") == 1.0


def test_failures_grow_with_nodes() -> None:
    """A job of ten nodes fails as often as one node that fails ten times as often."""
    assert goodput(10, 0.001, 0.1, 0.2, 1.0) == pytest.approx(goodput(1, 0.01, 0.1, 0.2, 1.0))


@pytest.mark.parametrize(
    ("mean", "write", "restart"),
    [(40.0, 0.1, 0.2), (3000.0, 0.05, 0.13), (0.5, 0.1, 0.2), (1e9, 0.1, 0.2), (8.0, 1e-9, 0.0)],
)
def test_auto_is_the_best_interval(mean: float, write: float, restart: float) -> None:
    """An interval that is not the best would understate what a campaign can do."""
    best = goodput(1, 1 / mean, write, restart, "auto")
    scan = [math.exp(math.log(mean) * i / 400 + math.log(1e-6) * (1 - i / 400)) for i in range(440)]
    found = max(goodput(1, 1 / mean, write, restart, interval) for interval in scan)
    assert found <= best * (1 + 1e-12)
    assert best == pytest.approx(found, rel=2e-3)


def test_free_checkpoints() -> None:
    """With free checkpoints only the restarts are lost: exp(-R/M)."""
    assert goodput(1, 1 / 40, 0.0, 0.2, "auto") == pytest.approx(math.exp(-0.2 / 40))


@pytest.mark.parametrize("nodes", [1.0, 1e3, 1e6])
def test_extremes_stay_shares(nodes: float) -> None:
    """Huge jobs on hopeless nodes make no progress; that must not crash the audit."""
    assert 0.0 <= goodput(nodes, 0.1, 0.1, 0.2, "auto") <= 1.0
    assert 0.0 <= goodput(nodes, 0.1, 0.1, 0.2, 1.0) <= 1.0
