"""``new``, ``validate``, ``audit``, ``report`` and ``explain``."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gpuladder.cli.topics import all_topics

SOURCES = Path(__file__).parents[2] / "optimizer"


@pytest.fixture
def run(gpuladder, data, tmp_path):
    """Folder of a solved and written run."""
    done = gpuladder("solve", data / "tiny.yaml", "-q")
    assert done.returncode == 0, done.stderr
    (folder,) = (path for path in (tmp_path / "reports" / "tiny").iterdir() if path.is_dir())
    return folder


def files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("form", "name"), [("yaml", "q3.yaml"), ("csv", "q3"), ("xlsx", "q3.xlsx")]
)
def test_a_new_scenario_is_valid_as_it_is(gpuladder, tmp_path, form, name):
    """A newcomer's first step would end in an error that is not theirs."""
    done = gpuladder("new", "q3", "--form", form)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == name
    assert (tmp_path / name).exists()
    assert gpuladder("validate", name).returncode == 0


def test_new_writes_where_it_is_told(gpuladder, tmp_path):
    """The one verb that writes files would know no --output, unlike all others."""
    for option, folder in (("-o", "here"), ("--output", "far/away")):
        done = gpuladder("new", "q3", option, folder)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / folder / "q3.yaml").is_file()
    assert gpuladder("new", "q3", "--form", "csv", "-o", "csv").returncode == 0
    assert (tmp_path / "csv" / "q3" / "scenario.yaml").is_file()
    assert gpuladder("new", "q3", "--form", "xlsx", "-o", "made/new").returncode == 0
    assert (tmp_path / "made" / "new" / "q3.xlsx").is_file()


def test_new_never_overwrites(gpuladder, tmp_path):
    """A scenario that took a week to write would be gone."""
    gpuladder("new", "q3")
    before = files(tmp_path)
    done = gpuladder("new", "q3")
    assert done.returncode == 2
    assert "q3.yaml" in done.stderr
    assert files(tmp_path) == before


def test_validate_prints_the_size_of_the_program(gpuladder, data, document):
    """The analyst would learn only at the time limit that the scenario is too large."""
    done = gpuladder("validate", data / "tiny.yaml", "--json")
    assert done.returncode == 0, done.stderr
    (record,) = document(done)["scenarios"]
    size = record["size"]
    assert record["valid"] is True
    # One reservation may start in each of four weeks: four whole numbers.
    assert size["integers"] == 4
    rows = {family["name"]: family for family in size["row_families"]}
    assert rows["elastic_work"]["count"] == 2
    assert size["rows"] == sum(family["count"] for family in rows.values())
    assert size["non_zeros"] == sum(family["non_zeros"] for family in rows.values())
    # A GPU-week of 168 hours is the only coefficient of a campaign's work.
    assert rows["elastic_work"]["smallest"] == rows["elastic_work"]["largest"] == 168


def test_validate_checks_all_files_and_exits_2_if_any_is_wrong(gpuladder, data, document):
    """A wrong file behind a right one would go unseen."""
    done = gpuladder("validate", data / "tiny.yaml", data / "wrong.yaml", "--json")
    assert done.returncode == 2
    records = document(done)["scenarios"]
    assert [record["valid"] for record in records] == [True, False]
    assert len(records[1]["problems"]) >= 3


def test_validate_writes_nothing(gpuladder, data, tmp_path):
    """A check before a commit would litter the repository."""
    gpuladder("validate", data / "tiny.yaml")
    assert list(tmp_path.iterdir()) == []


def test_a_sound_run_passes_its_audit(gpuladder, run, document):
    """A sound plan would be held up."""
    done = gpuladder("audit", run, "--json")
    assert done.returncode == 0, done.stderr
    assert document(done) == {"passed": True, "findings": []}


def test_a_run_that_was_tampered_with_exits_1(gpuladder, run, document):
    """A plan could be edited after it was approved."""
    plan = json.loads((run / "plan.json").read_text())
    plan["orders"][0]["lots"] += 1
    (run / "plan.json").write_text(json.dumps(plan))
    done = gpuladder("audit", run, "--json")
    assert done.returncode == 1
    codes = {finding["code"] for finding in document(done)["findings"]}
    assert "cost_line" in codes
    assert "error[GL-A001]" in done.stderr


def test_a_tampered_plan_is_not_rendered_as_one(gpuladder, run):
    """A refused plan would look like a recommendation."""
    plan = json.loads((run / "plan.json").read_text())
    plan["orders"][0]["lots"] -= 1
    (run / "plan.json").write_text(json.dumps(plan))
    done = gpuladder("report", run, "-o", "again")
    assert done.returncode == 1
    assert "no plan to sign on" in done.stdout


@pytest.mark.parametrize("verb", ["audit", "report"])
def test_a_folder_that_is_no_run_exits_2(gpuladder, tmp_path, verb):
    """A wrong path would end in a traceback."""
    done = gpuladder(verb, tmp_path)
    assert done.returncode == 2
    assert "plan.json" in done.stderr
    assert "Traceback" not in done.stderr


def test_report_renders_a_saved_run_again_and_leaves_it_alone(gpuladder, run, document, tmp_path):
    """A better report of an old plan would need the old solve again, or would spoil its files."""
    before = files(run)
    done = gpuladder("report", run, "-o", "again", "--json")
    assert done.returncode == 0, done.stderr
    assert files(run) == before
    (folder,) = (path for path in (tmp_path / "again" / "tiny").iterdir() if path.is_dir())
    assert (folder / "report.xlsx").is_file()
    again, first = document(done), json.loads((run / "result.json").read_text())
    for key in (
        "objective",
        "commitments",
        "campaigns",
        "costs",
        "metrics",
        "walk_away",
        "waterfall",
    ):
        assert again[key] == first[key]


@pytest.mark.parametrize(
    ("topic", "expected"),
    [("GL-S101", "unknown key"), ("ladder", "C"), ("coverage", "share"), ("130", "interrupted")],
)
def test_explain_explains(gpuladder, topic, expected):
    """A code in a message would be a dead end."""
    done = gpuladder("explain", topic)
    assert done.returncode == 0, done.stderr
    assert expected.lower() in done.stdout.lower()


def test_explain_guesses_what_was_meant(gpuladder):
    """A misspelt topic would be a dead end."""
    done = gpuladder("explain", "stable_suply")
    assert done.returncode == 2
    assert "stable_supply" in done.stderr


def test_every_code_that_is_used_is_explained():
    """A user would be sent to `gpuladder explain` for nothing."""
    used = {
        code
        for path in SOURCES.rglob("*.py")
        for code in re.findall(r'code="(GL-[A-Z]\d+)"|"(GL-[A-Z]\d+)"', path.read_text())
        for code in code
        if code
    }
    assert used <= {topic.name for topic in all_topics()}
