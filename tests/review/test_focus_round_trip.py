"""A plan exported as a bill and read back as one: the same commitments, hours and costs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.analysis.test_identities import CASES, NAMES
from tests.focus_checks import WRITTEN

from gpuladder.analysis.analyse import analyse
from gpuladder.analysis.charge_rows import Part
from gpuladder.analysis.charges import charges_of
from gpuladder.report.focus import write_focus
from gpuladder.report.focus_lines import FocusVersion, Offers
from gpuladder.review.imports.rows import TableOptions
from gpuladder.review.imports.usage.reading import UsageOptions, import_usage
from gpuladder.scenario.loading import load
from gpuladder.solving import solve_scenario

QUICKSTART = Path(__file__).parents[2] / "scenarios" / "quickstart.yaml"
COLUMNS = TableOptions(columns={"pool": "x_Pool"})
SOURCES = [*((CASES / f"{name}.yaml", ()) for name in NAMES)]
SOURCES.append((QUICKSTART, ("solver.relative_gap=0.5", "solver.threads=1")))


@pytest.fixture(scope="module", params=SOURCES, ids=lambda source: source[0].stem)
def plan(request):
    """A solved scenario, with what its plan would be billed for."""
    path, overrides = request.param
    scenario = load(path, overrides=overrides).scenario
    result = analyse(scenario, solve_scenario(scenario).plan)
    return result, charges_of(scenario, result.plan)


def read_back(result, charges, folder, version=FocusVersion.V1_3):
    """Export a plan and import the files."""
    if not any(row.part in (Part.USED, Part.UNUSED, Part.METERED) for row in charges.rows):
        pytest.skip("a plan that buys nothing")
    home, _ = write_focus(
        result, charges, folder, version=version, offers=Offers(), written=WRITTEN
    )
    contracts = home / "contract_commitment.csv" if charges.terms else None
    options = UsageOptions(
        contracts=contracts,
        hourly_contracts=None if contracts is None else False,
        team_tag="team",
    )
    return import_usage(home / "cost_and_usage.csv", options=options, table=COLUMNS)


@pytest.mark.parametrize("version", list(FocusVersion))
def test_commitments_come_back_with_gpus_term_price_and_pool(plan, version, tmp_path):
    """Next quarter's scenario would hold other contracts than the ones signed."""
    result, charges = plan
    found = read_back(result, charges, tmp_path, version)
    held = {row.id: row for row in found.commitments}
    assert set(held) == {term.id for term in charges.terms}
    for term in charges.terms:
        rows = [row for row in charges.rows if row.term == term.id]
        spread = [row for row in rows if row.part in (Part.USED, Part.UNUSED)]
        hours = sum(row.quantity for row in spread)
        row = held[term.id]
        assert row.lacks == ""
        assert (row.start, row.end, row.pool) == (term.start, term.end, term.pool)
        assert row.gpus == pytest.approx(term.gpus)
        assert row.price == pytest.approx(
            sum(row.effective for row in spread) / hours, rel=1e-9, abs=1e-9
        )


def test_hours_and_money_come_back(plan, tmp_path):
    """A bill that follows the plan to the cent would be read as another one."""
    result, charges = plan
    found = read_back(result, charges, tmp_path)
    assert found.rows.read == len(charges.rows)
    assert found.currency == result.scenario.currency
    for column, name in (("billed", "billed_cost"), ("effective", "effective_cost")):
        total = sum(getattr(row, column) for row in charges.rows)
        read = sum(getattr(row, name) or 0.0 for row in found.charges)
        assert read == pytest.approx(total, rel=1e-9, abs=1e-6)
    used = sum(row.gpu_hours for row in found.rates)
    metrics = result.metrics
    assert used == pytest.approx(
        metrics["used_gpu_hours"] + metrics["backfilled_gpu_hours"], rel=1e-6, abs=1e-2
    )
    on_spot = sum(row.gpu_hours for row in found.rates if row.kind == "spot")
    assert on_spot == pytest.approx(metrics["spot_gpu_hours"], rel=1e-6, abs=1e-2)
    unused = sum(row.unused_gpu_hours or 0.0 for row in found.rates)
    tail = sum(
        row.quantity for row in charges.rows if row.part is Part.UNUSED and row.is_after_horizon
    )
    assert unused - tail == pytest.approx(metrics["idle_gpu_hours"], rel=1e-6, abs=1e-2)


def test_teams_come_back_by_their_tag(tmp_path):
    """The report of who uses what would have one team, `unassigned`."""
    scenario = load(QUICKSTART, overrides=SOURCES[-1][1]).scenario
    result = analyse(scenario, solve_scenario(scenario).plan)
    charges = charges_of(scenario, result.plan)
    found = read_back(result, charges, tmp_path)
    teams = {team.team for team in found.history.teams}
    assert {"research", "product"} <= teams
    # An untagged campaign is nobody's, and so is what nobody uses.
    bare = replace(charges, rows=tuple(replace(row, use=None) for row in charges.rows))
    none = read_back(result, bare, tmp_path / "bare")
    assert {team.team for team in none.history.teams} == {"unassigned"}
