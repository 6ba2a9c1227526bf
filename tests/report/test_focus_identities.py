"""The FOCUS-shaped export of any plan adds up: to itself, and to the plan's own tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from tests.analysis.test_identities import CASES, NAMES
from tests.focus_checks import check_export
from tests.property.program_strategies import Tables, build, tables

from gpuladder.analysis.analyse import analyse
from gpuladder.scenario.loading import load
from gpuladder.solving import solve_scenario

SHIPPED = Path(__file__).parents[2] / "scenarios"
LOOSE = ("solver.relative_gap=0.5", "solver.threads=1")


@pytest.mark.parametrize("name", NAMES)
def test_cases_of_every_kind_add_up(name):
    """A bill set against the forecast would differ by what the export lost or counted twice."""
    scenario = load(CASES / f"{name}.yaml").scenario
    check_export(analyse(scenario, solve_scenario(scenario).plan))


@pytest.mark.parametrize(
    "name",
    [
        "quickstart.yaml",
        "helios",
        "helios-pooled",
        "philly",
        "training-year",
        "reproductions/shavedice-figure-4",
        "reproductions/shavedice-figure-9-ladder",
        "reproductions/shavedice-figure-9-single",
    ],
)
def test_shipped_scenarios_add_up(name):
    """The export would be wrong for real horizons, demand and held commitments.

    Any plan will do, so the search may stop at a wide gap.
    """
    scenario = load(SHIPPED / name, overrides=LOOSE).scenario
    check_export(analyse(scenario, solve_scenario(scenario).plan))


@settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(tables())
def test_random_scenarios_add_up(asked: Tables) -> None:
    """Some mixture of kinds, terms and users would lose money or hours on its way into the file."""
    scenario = build(asked)
    plan = solve_scenario(scenario).plan
    if plan.has_quantities:
        check_export(analyse(scenario, plan))
