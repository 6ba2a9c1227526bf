"""Fixed-plan duals by hand: their value, both ends of their range, how far they hold."""

from __future__ import annotations

import time
from datetime import date
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.analytic.builders import (
    WEEK,
    day,
    demand,
    elastic,
    hardware,
    held,
    offer,
    pool,
    scenario,
    solved,
)

from gpuladder.analysis.budget import Budget
from gpuladder.analysis.shadow_prices import shadow_prices
from gpuladder.analysis.shadow_prices_duals import fixed_plan
from gpuladder.errors import AuditError
from gpuladder.program import make_program_data
from gpuladder.solver import Program
from gpuladder_models.build import build_model

if TYPE_CHECKING:
    from gpuladder.analysis.answers import ShadowPriceRow
    from gpuladder.scenario.schema import Scenario

Rows = dict[tuple[str, str, date | None], "ShadowPriceRow"]
FIRST = date(2026, 7, 6)
SINGLE = [hardware(gpus_per_node=1)]
"""Hardware of which a node is one GPU, so that a node and a GPU are the same unit."""


def budget(seconds: float = 60.0) -> Budget:
    """Return a budget for small programs, in this process."""
    return Budget(stop_at=time.time() + seconds, workers=1, seconds_each=20.0, relative_gap=1e-9)


def rows_of(asked: Scenario, seconds: float = 60.0) -> Rows:
    """Return the shadow prices of the optimal plan by limit, key and period."""
    rows = shadow_prices(asked, solved(asked), budget=budget(seconds))
    found = {(row.limit, row.key, row.period): row for row in rows}
    assert len(found) == len(rows)
    return found


def lumpy(gpus: float, **tables: object) -> Scenario:
    """Return a week of demand, lots of 8 at 1.0 a week and GPU against 3.0 on demand."""
    return scenario(
        weeks=1,
        hardware=SINGLE,
        demand=demand([gpus]),
        offers=[
            offer("on_demand", price=3.0 / WEEK),
            offer("reserved", price=1.0 / WEEK, tenor="1 weeks", lot_gpus=8),
        ],
        **tables,
    )


def test_lumpy_lot_has_a_dual_that_is_not_its_marginal() -> None:
    """A buyer would pay 3.0 for a GPU that another lot gives for 2.0.

    At 10 the plan is one lot and 2 on demand, 8 + 6 = 14. Lot fixed, one GPU more or less is on
    demand: 3.0, for any demand from 8 on. Decided anew, 11 cost 16 with two lots: 2.0 more; 9 cost
    8 + 3 = 11: 3.0 less.
    """
    row = rows_of(lumpy(10))["stable_supply", "east", FIRST]
    assert row.unit == "GPU"
    assert row.fixed_plan_dual == pytest.approx(3.0)
    assert (row.dual_low, row.dual_high) == pytest.approx((3.0, 3.0))
    assert row.valid_from == pytest.approx(8.0)
    assert row.valid_to is None
    assert (row.marginal_up, row.marginal_down) == pytest.approx((2.0, 3.0))
    assert row.marginal_error == pytest.approx(0.0, abs=1e-6)
    assert "degenerate" not in row.note


def test_degenerate_dual_is_said_to_be_one_of_several() -> None:
    """Whatever number the solver stopped at would be taken for the price of a GPU.

    At 16 two lots serve all: 16. One GPU more is on demand, 3.0; one less saves nothing, the lots
    being there: any dual from 0 to 3 is optimal. Decided anew 17 cost 19, and 15 still two lots.
    """
    row = rows_of(lumpy(16))["stable_supply", "east", FIRST]
    assert (row.dual_low, row.dual_high) == pytest.approx((0.0, 3.0))
    assert row.fixed_plan_dual == pytest.approx(3.0)
    assert "one of several" in row.note
    assert row.valid_from == pytest.approx(16.0)
    assert (row.marginal_up, row.marginal_down) == pytest.approx((3.0, 0.0))
    assert row.reading.startswith(
        "One more GPU of east in the week of 6 July 2026 is worth 0 USD and one more of demand "
        "there costs 3.00 USD with lots and runs as planned"
    )


def test_duals_are_undiscounted_to_their_own_date() -> None:
    """A GPU next spring would look cheaper than it is by the discount.

    At 100 % a year, on demand 3.0 an hour: a GPU-week costs 504 in the middle of its own week.
    """
    asked = scenario(
        weeks=30,
        discount_rate=1.0,
        demand=demand([5] * 30),
        offers=[offer("on_demand", price=3.0)],
    )
    last = date.fromisoformat(day(29))
    row = rows_of(asked, seconds=3.0)["stable_supply", "east", last]
    assert row.fixed_plan_dual is not None
    assert row.fixed_plan_dual / (8 if "node" in row.unit else 1) == pytest.approx(504.0)


def test_worth_of_spot_depth_and_how_far_it_holds() -> None:
    """The market's depth would be bought beyond what there is work for.

    1,000 GPU-hours in a week, spot at 1.0 two GPUs deep, on demand 3.0: one spot GPU more saves 168
    × 2.0, up to 1,000 / 168 GPUs. One more hour of work costs 3.0 from 336 hours on.
    """
    asked = scenario(
        weeks=1,
        hardware=SINGLE,
        offers=[offer("on_demand", price=3.0), offer("spot", price=1.0, max_gpus=2)],
        campaigns=[elastic("sweep", 1000, deadline=day(1), preemption_class="free")],
    )
    rows = rows_of(asked)
    depth = rows["spot_depth", "spot", None]
    assert depth.fixed_plan_dual == pytest.approx(WEEK * 2.0)
    assert (depth.valid_from, depth.valid_to) == pytest.approx((0.0, 1000 / WEEK))
    assert (depth.marginal_up, depth.marginal_down) == pytest.approx((WEEK * 2.0, WEEK * 2.0))
    assert (
        depth.change
        == "one more: --set offers.spot.max_gpus=3; one less: --set offers.spot.max_gpus=1"
    )
    work = rows["elastic_work", "sweep", None]
    assert work.fixed_plan_dual == pytest.approx(3.0)
    assert work.valid_from == pytest.approx(2 * WEEK)
    assert work.reading.startswith("One more reference GPU-hour of work in sweep costs 3.00 USD")


def test_demand_levels_of_a_period_are_one_gpu() -> None:
    """A GPU would be valued for one hour of the week instead of all of it.

    Demand is 4 for three quarters of the week and 12 for the rest, one lot of 8 at a price of 1.0,
    on demand 3.0. With the lot fixed, one GPU of demand more is on demand at the peak alone: a
    quarter of a week at 3.0 (at the base the lot has 4 to spare).
    """
    levels = [4, 4, 4, 12]
    rows = [
        {"pool": "east", "at": f"2026-07-0{6 + 2 * (k // 2)}T0{k}:00", "gpus": gpus}
        for k, gpus in enumerate(levels)
    ]
    asked = scenario(
        weeks=1,
        hardware=SINGLE,
        demand=rows,
        commitments=[held(8)],
        offers=[offer("on_demand", price=3.0)],
    )
    row = rows_of(asked)["stable_supply", "east", FIRST]
    assert row.fixed_plan_dual == pytest.approx(0.25 * WEEK * 3.0)
    assert (row.valid_from, row.valid_to) == pytest.approx((6.0 - 4.0, 6.0 + 4.0))


def test_limit_of_whole_lots_refers_to_its_marginal() -> None:
    """A ladder that costs money would be reported as free.

    Two weeks' demand of 16, terms of one week at 1.0, on demand 3.0, 8 GPUs exempt of expiry per
    window of a week: one lot a week. With lots fixed nothing changes; decided anew, a node (8) more
    gives another lot a week: 8 × 2 × 168 × 2.0 saved, as one less costs.
    """
    asked = scenario(
        weeks=2,
        demand=demand([16, 16]),
        offers=[
            offer("on_demand", price=3.0),
            offer("reserved", price=1.0, tenor="1 weeks", lot_gpus=8),
        ],
        policy={
            "ladder": {"window": "1 weeks", "max_expiring_share": 0.0, "exempt_gpus": 8},
        },
    )
    row = rows_of(asked)["ladder", "exempt_gpus", None]
    assert (row.fixed_plan_dual, row.dual_low, row.dual_high) == (0.0, 0.0, None)
    assert "see the marginals" in row.note
    assert row.unit == "8 GPUs (a node)"
    saved = 8 * 2 * WEEK * 2.0
    assert (row.marginal_up, row.marginal_down) == pytest.approx((saved, saved))
    assert row.reading.endswith(
        "decided anew, one more saves 5,376 USD and one less costs 5,376 USD."
    )


def test_dual_where_no_more_can_be_had_is_that_of_less() -> None:
    """A number would be given for a GPU that cannot be bought at any price."""
    asked = scenario(
        weeks=1,
        hardware=SINGLE,
        demand=demand([4]),
        offers=[offer("on_demand", price=3.0, max_gpus=4)],
    )
    row = rows_of(asked)["stable_supply", "east", FIRST]
    assert (row.fixed_plan_dual, row.dual_low) == pytest.approx((504.0, 504.0))
    assert row.dual_high is None
    assert "has more of it" in row.note
    assert row.marginal_up is None
    assert "one unit more: no plan exists" in row.note


def test_slopes_are_the_change_of_the_solved_program() -> None:
    """A slope read off the basis could be that of another right-hand side.

    Every row of a program with lots, spot and shares is moved by a small step both ways and the
    program with the same lots solved again; the change of its cost over the step is the slope.
    """
    asked = scenario(
        weeks=3,
        pools=[pool(), pool("west", provider="beta")],
        demand=demand([10, 16, 20]),
        offers=[
            offer("on_demand", price=3.0, max_gpus=30),
            offer("on_demand", id="other", pool="west", price=3.5),
            offer("reserved", price=1.0, tenor="2 weeks", lot_gpus=8),
            offer("spot", price=1.2, max_gpus=3),
        ],
        preemption_classes=[{"id": "half", "spot_share_max": 0.5}],
        campaigns=[elastic("sweep", 2500, deadline=day(3), preemption_class="half", max_gpus=9)],
        policy={"provider_share_max": 0.9, "committed_gpus_max": 24},
    )
    plan = solved(asked)
    data = make_program_data(asked)
    program = Program(build_model(data))
    compiled, step = program.compiled, 1e-3
    with fixed_plan(data, program, plan) as fixed:
        moving = [row for row in range(compiled.num_rows) if fixed.slacks[row] < 1e-6]
        found = fixed.slopes([(np.array([row]), np.ones(1)) for row in moving])
        for row, slopes in zip(moving, found, strict=True):
            assert slopes is not None
            for side, sign in ((slopes.more, 1.0), (slopes.less, -1.0)):
                low, high = compiled.row_lower[[row]], compiled.row_upper[[row]]
                program.set_rows([row], low + sign * step, high + sign * step)
                moved = program.solve(plan.options)
                program.set_rows([row], low, high)
                if moved.objective is None:
                    assert side.slope is None
                    continue
                assert side.slope is not None
                change = sign * (moved.objective - fixed.objective) / step
                assert side.slope == pytest.approx(change, abs=1e-3, rel=1e-5)
                assert side.reach >= step
    assert len(moving) > 10


def test_duals_that_do_not_add_up_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wrong duals of the solver would be passed on as prices."""
    asked = lumpy(10)
    plan = solved(asked)
    plain = Program.solve

    def tampered(self, *args, **keys):
        outcome = plain(self, *args, **keys)
        if outcome.row_duals is not None:
            outcome.row_duals[:] *= 1.01
        return outcome

    monkeypatch.setattr(Program, "solve", tampered)
    with pytest.raises(AuditError, match="the duals are worth"):
        shadow_prices(asked, plan, budget=budget())


def test_plan_of_another_scenario_is_refused() -> None:
    """Prices would be read off a plan that the scenario does not allow."""
    plan = solved(lumpy(10))
    other = scenario(
        weeks=1,
        hardware=SINGLE,
        demand=demand([99]),
        offers=[offer("on_demand", price=1.0, max_gpus=1)],
    )
    with pytest.raises(AuditError, match="do not fit"):
        shadow_prices(other, plan, budget=budget())


def test_nothing_is_guessed_when_there_is_no_time() -> None:
    """Figures nobody solved for would look like answers."""
    for row in rows_of(lumpy(10), seconds=-1.0).values():
        assert (row.marginal_up, row.marginal_down, row.marginal_error) == (None, None, None)
        assert row.fixed_plan_dual is None
        assert "time" in row.note
