"""Programs for the tests of the solver: one to check by head, one rich, one too hard to prove."""

from __future__ import annotations

import random

import numpy as np
from tests.analytic.builders import WEEK, day, elastic, gang, held, offer, pool, scenario

from gpuladder.compiled import Block, CompiledModel
from gpuladder.plan import SolveOptions
from gpuladder.program import make_program_data
from gpuladder.scenario.schema import Scenario
from gpuladder.solver import Program
from gpuladder_models.build import build_model

WEEKS = 39
EXACT = SolveOptions(time_limit_seconds=60, relative_gap=1e-9, threads=1, seed=0)


def program_of(asked: Scenario) -> Program:
    """Return the loaded program of a scenario."""
    return Program(build_model(make_program_data(asked)))


def knapsack(capacity: float = 9.0) -> CompiledModel:
    """Return: most of 5x + 4y + 3z with 2x + 3y + z ≤ capacity, whole numbers up to 2.

    With 9: x = 2, y = 1, z = 2 uses all of it for 20. With 8.5 it is 17, and as a linear program
    16 + 4 × 2.5 / 3.
    """
    return CompiledModel(
        column_blocks={"amount": Block(0, (0, 1, 2))},
        row_blocks={"room": Block(0, (0,))},
        cost=np.array([-5.0, -4.0, -3.0]),
        column_lower=np.zeros(3),
        column_upper=np.full(3, 2.0),
        is_integer=np.ones(3, np.bool_),
        row_lower=np.array([-np.inf]),
        row_upper=np.array([capacity]),
        starts=np.array([0, 3], np.int32),
        columns=np.arange(3, dtype=np.int32),
        values=np.array([2.0, 3.0, 1.0]),
    )


def sparse_calendar(price: float = 1.9) -> Scenario:
    """Return a scenario with orders, placed orders, gangs on both kinds of place, and drops."""
    return scenario(
        weeks=8,
        pools=[pool(), pool("west")],
        offers=[
            offer("on_demand", price=3.0),
            offer("reserved", price=price, tenor="4 weeks", lot_gpus=8),
            offer("dedicated", price=1.5, tenor="6 weeks", lot_gpus=16, setup_cost=900),
            offer("spot", price=1.0, max_gpus=8, available_until=day(3)),
        ],
        campaigns=[
            gang("a", 16, 16 * WEEK * 2, deadline=day(6)),
            gang("b", 8, 8 * WEEK * 2, deadline=day(8), preemption_class="free"),
            gang("c", 8, 8 * WEEK * 2, deadline=day(8), preemption_class="free"),
            gang("d", 8, 8 * WEEK, drop_cost=10.0),
            elastic("e", 4000, deadline=day(7), drop_cost=3500.0),
        ],
        commitments=[held(8, end=day(2))],
    )


def hard_scenario(*, seconds: float, gangs: int = 24) -> Scenario:
    """Return many gangs with wide windows that share terms of four lengths."""
    rng = random.Random(1)
    campaigns = []
    for number in range(gangs):
        weeks = rng.randint(2, 6)
        begin = rng.randint(0, WEEKS // 2)
        end = min(WEEKS, begin + weeks + rng.randint(6, 14))
        work = 64 * 168 * weeks * rng.uniform(0.5, 1.0)
        campaigns.append(
            gang(f"run{number}", [32, 64], work, earliest=day(begin), deadline=day(end))
        )
    terms = [
        offer("reserved", id=f"r{weeks}", price=price, tenor=f"{weeks} weeks", lot_gpus=16)
        for weeks, price in ((4, 2.2), (9, 1.9), (13, 1.7), (26, 1.3))
    ]
    return scenario(
        weeks=WEEKS,
        offers=[offer("on_demand", price=3.0), *terms],
        campaigns=campaigns,
        solver={"time_limit_seconds": seconds, "relative_gap": 1e-6, "threads": 1},
    )
