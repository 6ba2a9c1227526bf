"""The shipped scenarios load, answer in time, and say where their numbers come from."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from gpuladder.audit import audit
from gpuladder.plan import Plan, Status
from gpuladder.scenario.expand import expand
from gpuladder.scenario.loading import load

if TYPE_CHECKING:
    from pathlib import Path

    from gpuladder.scenario.schema import Scenario

SHIPPED = ("quickstart.yaml", "helios", "helios-pooled", "philly", "training-year")
REPRODUCED = ("shavedice-figure-4", "shavedice-figure-9-single", "shavedice-figure-9-ladder")


def solved(path: Path) -> tuple[Scenario, Plan]:
    import gpuladder

    result = gpuladder.solve(path)
    return result.scenario, result.plan


def kinds_ordered(scenario: Scenario, plan: Plan) -> set[str]:
    committed = expand(scenario).committed
    return {committed[order.offer].kind for order in plan.orders if order.lots}


@pytest.mark.parametrize("name", SHIPPED)
def test_it_loads_without_a_warning(scenarios, name):
    """Or the first thing a new user tries is refused, or opens with doubts about itself."""
    assert load(scenarios / name).warnings == ()


@pytest.mark.parametrize("name", REPRODUCED)
def test_a_reproduction_loads(scenarios, name):
    """Or a reader of the paper cannot check the program against it."""
    load(scenarios / "reproductions" / name)


@pytest.mark.parametrize("name", SHIPPED)
def test_it_is_solved_to_its_gap_and_audited(scenarios, name):
    """Or an example that is meant to teach ends without a proven, checked answer."""
    scenario, plan = solved(scenarios / name)
    assert plan.status is Status.OPTIMAL
    assert plan.gap is not None
    assert plan.gap <= scenario.solver.relative_gap
    assert audit(scenario, plan).findings == ()


def test_the_quickstart_is_not_trivial(scenarios):
    """Or the first answer a user sees would not show what the program weighs against what."""
    scenario, plan = solved(scenarios / "quickstart.yaml")
    assert kinds_ordered(scenario, plan) == {"burst_window", "reserved"}
    tenors = {order.offer for order in plan.orders if order.offer.startswith("a100-reserved")}
    assert tenors == {"a100-reserved@1 years", "a100-reserved@3 years"}
    assert sum(use.gpus for use in plan.spot_use) > 0
    assert len(plan.runs) == 4
    assert sum(sale.gpus for sale in plan.backfill) > 0


def test_pooling_eleven_teams_never_costs_more(scenarios):
    """Or the pair of Helios scenarios would claim that sharing capacity destroys value."""
    _, apart = solved(scenarios / "helios")
    _, pooled = solved(scenarios / "helios-pooled")
    assert pooled.objective is not None
    assert apart.objective is not None
    assert pooled.objective < apart.objective


def test_philly_is_a_half_year_of_many_campaigns(scenarios):
    """Or the scenario would no longer be the real calendar it is said to be."""
    scenario = load(scenarios / "philly").scenario
    expanded = expand(scenario)
    assert expanded.grid.num_periods == 26
    assert len(expanded.campaigns) >= 40
    assert len({campaign.preemption_class for campaign in scenario.campaigns}) >= 3
    assert {campaign.shape for campaign in scenario.campaigns} == {"elastic", "gang"}


def test_the_training_year_has_what_a_lab_faces(scenarios):
    """Or the largest example would leave out the decisions it was made to show."""
    scenario = load(scenarios / "training-year").scenario
    grid = expand(scenario).grid
    assert set(grid.hours[:26]) == {168.0}
    assert set(grid.hours[26:]) <= {24.0 * days for days in (28, 30, 31)}
    assert len({pool.provider for pool in scenario.pools}) >= 3
    assert {pool.fabric.value for pool in scenario.pools} == {"node", "rack"}
    limited = [c for c in scenario.campaigns if c.shape == "gang" and c.max_duration is not None]
    assert len(limited) >= 3
    assert scenario.policy.ladder is not None
    assert scenario.backfill


def test_the_training_year_uses_every_rung(scenarios):
    """Or the largest example would show one way of buying only."""
    scenario, plan = solved(scenarios / "training-year")
    assert kinds_ordered(scenario, plan) >= {"burst_window", "reserved", "dedicated"}
    assert sum(use.gpus for use in plan.on_demand) > 0
    assert sum(use.gpus for use in plan.spot_use) > 0
    assert sum(sale.gpus for sale in plan.backfill) > 0
    assert len(plan.runs) == 7


@pytest.mark.parametrize("name", SHIPPED)
def test_it_states_its_sources(scenarios, name):
    """Or a price could not be traced to the page and the day it was read from."""
    place = scenarios / name
    text = (place if place.is_file() else place / "scenario.yaml").read_text(encoding="utf-8")
    _, _, sources = text.partition("# Sources")
    assert "data/SOURCES.md" in sources
    cited = {mark for mark in range(1, 10) if f"[{mark}]" in text.partition("# Sources")[0]}
    stated = {mark for mark in range(1, 10) if f"# [{mark}]" in sources}
    assert cited == stated
    assert cited


def test_every_data_file_has_origin_and_licence(scenarios):
    """Or data would be passed on without the attribution that its licence asks for."""
    page = (scenarios / "data" / "SOURCES.md").read_text(encoding="utf-8")
    sections = {part.split("\n", 1)[0].strip(): part for part in page.split("### ")[1:]}
    for file in sorted((scenarios / "data").glob("*.csv")):
        assert file.name in sections
        assert file.stat().st_size < 500_000
    for name in (
        "philly_jobs_2017.csv",
        "helios_earth_hourly_2020.csv",
        "shavedice_hourly_total.csv",
    ):
        for word in ("Origin", "CC BY 4.0", "Attribution", "Columns", "Changed"):
            assert word in sections[name]


@pytest.mark.parametrize(
    ("script_path", "option", "files"),
    [
        ("philly/build.py", "campaigns.csv", ("campaigns.csv",)),
        (
            "helios/build.py",
            "",
            tuple(
                f"{folder}/{table}.csv"
                for folder in ("helios", "helios-pooled")
                for table in ("pools", "offers", "commitments", "demand")
            ),
        ),
    ],
)
def test_a_build_script_makes_the_committed_tables(scenarios, tmp_path, script_path, option, files):
    """Or the tables would no longer follow from the data by the rule that is written down."""
    done = subprocess.run(
        [sys.executable, scenarios / script_path, "--output", tmp_path / option],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    base = (scenarios / script_path).parent if option else scenarios
    for name in files:
        assert (tmp_path / name).read_bytes() == (base / name).read_bytes()
