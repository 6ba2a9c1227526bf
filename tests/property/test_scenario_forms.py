"""One scenario, three forms: what is written in any of them loads to the same."""

from __future__ import annotations

import copy
import tempfile
from pathlib import Path

import yaml
from hypothesis import HealthCheck, assume, event, given, settings
from tests.property.scenario_strategies import scenarios

from gpuladder.errors import ScenarioError
from gpuladder.scenario.fingerprint import fingerprint
from gpuladder.scenario.loading import load
from gpuladder.scenario.workbook_writer import dump_workbook
from gpuladder.scenario.writing import dump_folder, dump_yaml

FEW = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def loaded(path: Path, content: dict):
    """Load plain values; drop the example when a cross-check refuses it."""
    path.write_text(yaml.safe_dump(content, allow_unicode=True, sort_keys=False), encoding="utf-8")
    try:
        return load(path).scenario
    except ScenarioError as error:
        shapes = [p.text for p in error.problems if p.code < "GL-S200"]
        assert not shapes, shapes
        event("refused by a cross-check")
        assume(False)
        raise


@FEW
@given(scenarios())
def test_all_three_forms_load_to_the_same_scenario(content):
    """A team on Excel and a team on YAML would plan different things."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        scenario = loaded(folder / "s.yaml", content)
        (folder / "again.yaml").write_text(dump_yaml(scenario), encoding="utf-8")
        dump_folder(scenario, folder / "plain")
        dump_folder(scenario, folder / "units", with_units=True)
        dump_workbook(scenario, folder / "book.xlsx")
        dump_workbook(scenario, folder / "full.xlsx", all_columns=True)
        for form in ("again.yaml", "plain", "units", "book.xlsx", "full.xlsx"):
            again = load(folder / form).scenario
            assert again == scenario, form
            assert fingerprint(again) == fingerprint(scenario), form


def turned(content):
    """Return the same content with the keys of every mapping in reverse."""
    if isinstance(content, dict):
        return {key: turned(content[key]) for key in reversed(content)}
    if isinstance(content, list):
        return [turned(item) for item in content]
    return content


@FEW
@given(scenarios())
def test_the_fingerprint_depends_on_what_is_said_alone(content):
    """A reordered file would look like another scenario, or a changed one like the same."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        scenario = loaded(folder / "s.yaml", content)
        again = loaded(folder / "t.yaml", turned(content))
        changed = copy.deepcopy(content)
        changed["hardware"][0]["memory_gb"] += 1
        other = loaded(folder / "u.yaml", changed)
        assert fingerprint(again) == fingerprint(scenario)
        assert fingerprint(other) != fingerprint(scenario)
