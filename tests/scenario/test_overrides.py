"""Single keys set from the command line, and files laid over a scenario."""

from __future__ import annotations

import pytest
import yaml

from gpuladder.errors import ScenarioError
from gpuladder.scenario.loading import load


@pytest.fixture
def base(raw, tmp_path):
    raw["offers"].append({**raw["offers"][0], "id": "od.west", "price": 3.3})
    raw["offers"].append({**raw["offers"][0], "id": "od.west@2", "price": 3.4})
    path = tmp_path / "s.yaml"
    path.write_text(yaml.safe_dump(raw, sort_keys=False))
    return path


def offers(loaded):
    return {offer.id: offer for offer in loaded.scenario.offers}


def problems(base, *assignments, overlays=()):
    with pytest.raises(ScenarioError) as caught:
        load(base, overrides=assignments, overlays=overlays)
    return caught.value.problems


def test_a_key_of_a_row_is_set_by_its_id(base):
    """A what-if on one price would need another file."""
    loaded = load(base, overrides=["offers.od.price=2.5", "offers.res.max_lots = 4"])
    assert offers(loaded)["od"].price == 2.5
    assert offers(loaded)["res"].max_lots == 4


def test_the_longest_id_counts_when_ids_contain_dots(base):
    """`od.west` would be taken for a key of `od`."""
    loaded = load(base, overrides=["offers.od.west.price=2.6", "offers.od.west@2.price=2.7"])
    assert [offers(loaded)[key].price for key in ("od", "od.west", "od.west@2")] == [3.0, 2.6, 2.7]


def test_sections_are_made_and_values_are_yaml(base):
    """Limits that the file does not have could not be tried."""
    loaded = load(
        base,
        overrides=[
            "policy.ladder={window: 13 weeks, max_expiring_share: 0.5}",
            "policy.ladder.exempt_gpus=8",
            "policy.tail_charge=0.5",
            "solver.relative_gap=1e-6",
            "description=a = b",
            "offers.res.tenor=[13 weeks, 26 weeks]",
            "campaigns.train.max_gpus=96",
        ],
    )
    scenario = loaded.scenario
    assert scenario.policy.ladder is not None
    assert (scenario.policy.ladder.exempt_gpus, scenario.policy.tail_charge) == (8, 0.5)
    assert scenario.solver.relative_gap == 1e-6
    assert scenario.description == "a = b"
    assert len(offers(loaded)["res"].tenor) == 2


def test_null_takes_a_key_away(base):
    """A limit could not be lifted for one run."""
    loaded = load(base, overrides=["offers.res.max_lots=null", "offers.od.price_change_per_year="])
    assert offers(loaded)["res"].max_lots is None


def test_later_assignments_win(base):
    """The order on the line would not count."""
    loaded = load(base, overrides=["offers.od.price=2.5", "offers.od.price=2.6"])
    assert offers(loaded)["od"].price == 2.6


@pytest.mark.parametrize(
    ("assignment", "word"),
    [
        ("offers.od.price", "not an assignment"),
        ("=3", "not an assignment"),
        ("offers.nobody.price=3", "ids: od, res"),
        ("offers.od=3", "whole row"),
        ("name.x=3", "no keys"),
        ("backfill.x.value=3", "no row"),
        ("policy.tail_charge=[", "not valid YAML"),
    ],
)
def test_what_does_not_fit_is_said_with_the_option(assignment, word, base):
    """A misspelt what-if would silently be the base case."""
    (problem,) = problems(base, assignment)
    assert word in problem.text
    assert problem.where.startswith("--set")


def test_a_wrong_value_points_at_the_option(base):
    """The message would point at a line of the file that is right."""
    (problem,) = problems(base, "policy.tail_charge=50")
    assert (problem.code, problem.where) == ("GL-S104", "--set policy.tail_charge")


def test_an_unknown_key_is_refused_with_a_guess(base):
    """`solver.relative_gp` would silently change nothing."""
    (problem,) = problems(base, "solver.relative_gp=0.1")
    assert "did you mean `relative_gap`" in problem.what


def test_an_overlay_updates_adds_and_removes_rows(base, tmp_path):
    """An optimistic case would have to repeat the whole scenario."""
    overlay = tmp_path / "o.yaml"
    overlay.write_text(
        "policy: {tail_charge: 0.5}\n"
        "offers:\n"
        "  - {id: od, price: 2.5}\n"
        "  - {id: od.west, remove: true}\n"
        "  - {id: new, pool: east, kind: on_demand, price: 2.9}\n"
    )
    loaded = load(base, overlays=[overlay])
    assert list(offers(loaded)) == ["od", "res", "od.west@2", "new"]
    assert offers(loaded)["od"].price == 2.5
    assert offers(loaded)["res"].price == 2.0
    assert loaded.scenario.policy.tail_charge == 0.5
    assert loaded.locations.place(("offers", 0, "price")).endswith("o.yaml:3")
    assert loaded.locations.place(("offers", 0, "pool")).endswith("s.yaml:18")


def test_overlays_come_in_order_and_assignments_last(base, tmp_path):
    """Which of two cases counts would be chance."""
    for name, price in (("a", 2.1), ("b", 2.2)):
        (tmp_path / f"{name}.yaml").write_text(f"offers: [{{id: od, price: {price}}}]\n")
    files = [tmp_path / "a.yaml", tmp_path / "b.yaml"]
    assert offers(load(base, overlays=files))["od"].price == 2.2
    assert offers(load(base, overlays=files, overrides=["offers.od.price=2.3"]))["od"].price == 2.3


def test_demand_is_replaced_as_a_whole(base, tmp_path):
    """Two histories would be mixed row by row."""
    (tmp_path / "d.csv").write_text("pool,at,gpus\neast,2026-07-06,8\n")
    (tmp_path / "o.yaml").write_text("demand: d.csv\n")
    loaded = load(base, overlays=[tmp_path / "o.yaml"])
    assert [row.gpus for row in loaded.scenario.demand] == [8]


def test_a_wrong_overlay_is_refused_at_its_own_line(base, tmp_path):
    """The mistake would be looked for in the scenario."""
    overlay = tmp_path / "o.yaml"
    overlay.write_text("offers:\n  - {id: gone, remove: true}\n")
    assert problems(base, overlays=[overlay])[0].where.endswith("o.yaml:2")
    overlay.write_text("- 1\n")
    assert problems(base, overlays=[overlay])[0].code == "GL-S008"
    overlay.write_text("policy:\n  tail_charge: 3\n")
    (problem,) = problems(base, overlays=[overlay])
    assert problem.where.endswith("o.yaml:2 policy.tail_charge")
