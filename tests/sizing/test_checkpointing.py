"""What interruptions cost and when spot stops paying, by hand."""

from __future__ import annotations

import math

import pytest

from gpuladder.sizing import checkpointing as c
from gpuladder.sizing import contracts


def test_interruptions_every_two_hours_lose_an_eighth():
    """Work lost to interruptions would be over- or understated: 15 of 120 minutes."""
    assert 60 * c.lost_hours(0.5) == 15
    assert c.lost_share(0.5, 2.0) == 0.125


def test_cheap_capacity_with_work_done_twice_costs_more_than_its_price():
    """Spot would be compared at its list price: 0.4 with 10 % redone is 0.444."""
    assert c.effective_price(0.4, 0.10) == pytest.approx(0.444, abs=0.0005)


def test_spot_loses_to_its_own_storage_for_one_run_a_month():
    """A month of checkpoint storage would be left out of the saving.

    Twelve hours at 0.89 are 10.68, at 0.55 6.60: 4.08 saved a run, against 20.00 a month for
    250 GB at 0.08. It takes 4.9 runs a month.
    """
    saved = 12 * 0.89 - 12 * 0.55
    storage = c.storage_cost_per_month(250, 0.08)
    assert saved == pytest.approx(4.08)
    assert storage == pytest.approx(20.00)
    needed = c.break_even_runs(storage, saved)
    assert needed == pytest.approx(4.90, abs=0.005)
    assert needed > 1
    assert c.break_even_runs(20.0, 0.0) == math.inf


def test_spot_stops_paying_where_useful_hours_cost_the_same():
    """Spot would be advised at a reclaim rate at which it loses."""
    shared = {"nodes": 4, "checkpoint_hours": 0.05, "restart_hours": 0.25}
    limit = c.break_even_mean_hours(1.2, 3.0, node_failures_per_hour=1 / 6000, **shared)
    stable = c.goodput(6000 / 4, 0.05, 0.25)

    def spot(node_hours):
        return c.goodput(1 / (4 * (1 / 6000 + 1 / node_hours)), 0.05, 0.25)

    assert 1.2 / spot(limit) == pytest.approx(3.0 / stable, rel=1e-6)
    assert 1.2 / spot(limit * 2) < 3.0 / stable < 1.2 / spot(limit / 2)


def test_spot_as_dear_as_stable_capacity_never_pays():
    """A break-even would be invented where there is none."""
    assert c.break_even_mean_hours(3, 3, nodes=1, checkpoint_hours=0.1, restart_hours=0.1) is None


def test_goodput_without_interruptions():
    """A quiet cluster would be charged for interruptions: η is 1, or τ/(τ + C)."""
    assert c.goodput(math.inf, 0.1, 1.0) == 1.0
    assert c.goodput(math.inf, 0.1, 1.0, 0.9) == pytest.approx(0.9)


def test_the_exact_interval_beats_its_neighbours_and_the_first_order_one():
    """Checkpoints would be written too often or too seldom on a large cluster."""
    mean, write, restart = 3.0, 0.1, 0.25
    best = c.optimal_interval_hours(mean, write)
    top = c.goodput(mean, write, restart, best)
    first_order = c.first_order_period_hours(mean, write, restart) - write
    for other in (0.9 * best, 1.1 * best, first_order):
        assert c.goodput(mean, write, restart, other) < top


def test_censored_lifetimes_count_as_exposure():
    """Machines still running would be left out, and spot look worse than it is.

    Three machines ran 10, 20 and 30 hours, one was reclaimed: 60 hours a reclaim.
    """
    assert c.censored_mean_hours([10, 20, 30], 1) == 60
    assert c.censored_mean_hours([10, 20, 30], 0) == math.inf


def test_the_cadence_points_to_a_contract_form():
    """A standing reserve would be advised for runs with long gaps, or blocks for steady work."""
    monthly = contracts.duty_share(10 * 24, 30)
    assert monthly == pytest.approx(1 / 3)
    forms = {f.form: f.fits for f in contracts.contract_forms(monthly, 240, reserved_ratio=0.6)}
    assert forms == {"reserved": False, "burst_window": True, "on_demand": False, "spot": False}
    steady = contracts.duty_share(28 * 24, 30)
    forms = {f.form: f.fits for f in contracts.contract_forms(steady, 672, reserved_ratio=0.6)}
    assert forms["reserved"]
    assert not forms["burst_window"]
    short = {f.form: f.fits for f in contracts.contract_forms(0.1, 12, spot_allowed=True)}
    assert short == {"reserved": False, "burst_window": False, "on_demand": True, "spot": True}
