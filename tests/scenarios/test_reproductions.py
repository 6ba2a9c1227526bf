"""Answers that others computed from real demand come out of the program too."""

from __future__ import annotations

import pytest


def test_the_two_instrument_optimum_of_twenty_real_series(script):
    """Or the program would reserve too much or too little where plain arithmetic knows better."""
    outcomes = list(script("reproductions/newsvendor.py").reproduce())
    assert len(outcomes) == 20
    assert [f"{o.expected.team}: {o.gpus} {o.cost}" for o in outcomes if not o.agrees] == []


def test_the_expected_answers_follow_from_the_data(script):
    """Or program and file could agree on an answer that the demand does not give."""
    module = script("reproductions/newsvendor.py")
    series = module.read_series()
    for expected in module.read_expected():
        demand = list(series[expected.source, expected.team].values())

        def cost(level: int, demand: list[float] = demand) -> float:
            excess = sum(max(gpus - level, 0.0) for gpus in demand)
            return module.RESERVED * level * len(demand) + module.ON_DEMAND * excess

        levels = range(0, int(max(demand)) + 2 * module.LOT_GPUS, module.LOT_GPUS)
        assert min(map(cost, levels)) == pytest.approx(expected.cost, abs=module.CENT)


def test_the_published_levels_costs_and_ladder_ratio(script):
    """Or the program would disagree with the paper whose data and method it can be held against."""
    readings = list(script("reproductions/shavedice.py").reproduce())
    assert len(readings) == 10
    assert [f"{r.what}: {r.got} for {r.expected}" for r in readings if not r.agrees] == []


def test_the_paper_s_scenario_files_follow_from_its_data(script, scenarios, tmp_path):
    """Or the files would not be the published windows on the published grid."""
    module = script("reproductions/shavedice.py")
    module.write_files(tmp_path)
    for window in module.WINDOWS:
        for name in ("scenario.yaml", "demand.csv"):
            made = tmp_path / window.name / name
            kept = scenarios / "reproductions" / window.name / name
            assert made.read_bytes() == kept.read_bytes()


def test_a_wrong_answer_is_called_wrong(script):
    """Or the scripts would end well whatever the program answers."""
    newsvendor = script("reproductions/newsvendor.py")
    expected = newsvendor.Expected("philly", "POOL", 232.0, 1_169_696.79)
    assert newsvendor.Outcome(expected, 232, 1_169_696.79).agrees
    assert not newsvendor.Outcome(expected, 240, 1_169_696.79).agrees
    assert not newsvendor.Outcome(expected, 232, 1_169_696.99).agrees
    assert not newsvendor.Outcome(expected, 232, float("nan")).agrees
    shavedice = script("reproductions/shavedice.py")
    assert shavedice.Reading("ratio", 0.9916742, 0.99167424, 7).agrees
    assert not shavedice.Reading("ratio", 0.9916742, 0.9916744, 7).agrees
