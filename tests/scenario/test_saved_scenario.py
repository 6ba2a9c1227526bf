"""The scenario saved with a run."""

from pathlib import Path

import pytest

from gpuladder.scenario.fingerprint import fingerprint
from gpuladder.scenario.loading import load
from gpuladder.scenario.writing import dump_yaml


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "yes",
        "~",
        "1e3",
        "2026-01-01",
        "a: b # c",
        "'single' \"double\" \\ back",
        "שלום 🚀",
        "no\u00a0break",
        "two\nlines",
        "- x",
        "{a: 1}",
        "%TAG !",
    ],
)
def test_loads_to_the_same_scenario(tmp_path: Path, text: str) -> None:
    """A saved run would be audited against another scenario than the one solved."""
    source = Path(__file__).parents[2] / "scenarios" / "quickstart.yaml"
    scenario = load(source).scenario.model_copy(update={"description": text})
    path = tmp_path / "scenario.resolved.yaml"
    path.write_text(dump_yaml(scenario), encoding="utf-8", newline="\n")
    again = load(path).scenario
    assert again == scenario
    assert fingerprint(again) == fingerprint(scenario)


def test_the_shipped_scenarios_come_back(tmp_path: Path) -> None:
    """A key that is lost on the way would change the plan of a saved run."""
    source = Path(__file__).parents[2] / "scenarios" / "quickstart.yaml"
    scenario = load(source).scenario
    path = tmp_path / "scenario.resolved.yaml"
    path.write_text(dump_yaml(scenario), encoding="utf-8", newline="\n")
    assert fingerprint(load(path).scenario) == fingerprint(scenario)
