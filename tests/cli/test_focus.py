"""``report --format focus``: the plan as FOCUS-shaped files, from a saved run and no solver."""

from __future__ import annotations

import csv
import json

import pytest


@pytest.fixture
def run(gpuladder, data, tmp_path):
    """Folder of a solved and written run."""
    done = gpuladder("solve", data / "tiny.yaml", "-q", "--no-analysis")
    assert done.returncode == 0, done.stderr
    (folder,) = (path for path in (tmp_path / "reports" / "tiny").iterdir() if path.is_dir())
    return folder


def rows(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_export_goes_into_the_run_and_adds_up(gpuladder, run):
    """Finance would get no file, or another cost than the plan's 9,408."""
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    done = gpuladder("report", run, "--format", "focus")
    assert done.returncode == 0, done.stderr
    assert "not billing data" in done.stderr
    assert "billed 9,408.00 USD" in done.stdout
    charges = rows(run / "focus" / "cost_and_usage.csv")
    # 8 GPUs held for 672 hours at 1.00; 8 more by the hour for 168 at 3.00.
    assert sum(float(row["BilledCost"]) for row in charges) == pytest.approx(5376 + 4032)
    assert sum(float(row["ConsumedQuantity"] or 0) for row in charges) == pytest.approx(5376 + 1344)
    (contract,) = rows(run / "focus" / "contract_commitment.csv")
    assert contract["ContractCommitmentId"] == "standing/2026-06-01"
    assert contract["x_LifecycleStatus"] == "Proposed"
    for path, content in before.items():
        assert path.read_bytes() == content, path


def test_the_scenario_s_folder_stands_for_its_latest_run(gpuladder, run, tmp_path):
    """The file would land outside the run, or not at all."""
    assert gpuladder("report", run.parent, "--format", "focus").returncode == 0
    assert (run / "focus" / "metadata.json").is_file()


def test_a_second_export_goes_elsewhere_or_nowhere(gpuladder, run, document, tmp_path):
    """What was handed over would change under its reader."""
    assert gpuladder("report", run, "--format", "focus").returncode == 0
    before = (run / "focus" / "cost_and_usage.csv").read_bytes()
    again = gpuladder("report", run, "--format", "focus")
    assert again.returncode == 2
    assert "GL-F005" in again.stderr
    done = gpuladder(
        "report", run, "--format", "focus", "-o", "out/new", "--focus-version", "1.4", "--json"
    )
    assert done.returncode == 0, done.stderr
    about = document(done)
    assert about["focus_version"] == "1.4"
    assert about["billed"] == pytest.approx(9408)
    assert json.loads((tmp_path / "out/new/focus/metadata.json").read_text())["plan_status"] == (
        "optimal"
    )
    assert (run / "focus" / "cost_and_usage.csv").read_bytes() == before


def test_a_run_without_a_plan_has_nothing_to_export(gpuladder, data, tmp_path, document):
    """An empty file would say that the year costs nothing."""
    assert (
        gpuladder(
            "solve", data / "tiny.yaml", "--with", data / "short_of_capacity.yaml", "-q"
        ).returncode
        == 1
    )
    (home,) = (tmp_path / "reports").iterdir()
    done = gpuladder("report", home, "--format", "focus", "--json")
    assert done.returncode == 1
    assert document(done)["error"]["exit_code"] == 1
    assert not list(home.rglob("focus"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--focus-version", "1.4"), "go with --format focus"),
        (("--negotiated", "standing"), "go with --format focus"),
        (("--format", "focus", "--focus-version", "2.0"), "2.0"),
        (("--format", "focus", "--negotiated", "standign"), "standing"),
    ],
)
def test_options_that_do_not_fit_are_refused(gpuladder, run, words, said):
    """A slip would give the other file without a word."""
    done = gpuladder("report", run, *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert not (run / "focus").exists()
