"""``diff``: what changed from one saved run to another, as text, as JSON and as an exit code."""

from __future__ import annotations

import json
import re

import pytest


@pytest.fixture
def runs(gpuladder, data, tmp_path):
    """Folders of two solved runs: as it is (9,408), and with the hour on demand at 3.50.

    The week on demand then costs 1,344 × 3.50 = 4,704, still less than 5,376 for a second
    reservation: 5,376 + 4,704 = 10,080, which is 7.14 % more.
    """
    for name, words in (("a", ()), ("b", ("--set", "offers.metered.price=3.5"))):
        done = gpuladder("solve", data / "tiny.yaml", "-q", "--no-analysis", "-o", name, *words)
        assert done.returncode == 0, done.stderr
    return tmp_path / "a" / "tiny", tmp_path / "b" / "tiny"


def test_the_difference_is_told_and_gated(gpuladder, runs, document):
    """A dearer plan would pass the checks of a pull request."""
    done = gpuladder("diff", *runs)
    assert done.returncode == 0, done.stderr
    assert re.search(r"offers\.metered\.price +3\.0 +3\.5", done.stdout)
    assert "9,408 USD → 10,080 USD, +672.00 USD (+7.1%)" in done.stdout
    assert "Told apart" in done.stdout
    assert "\x1b" not in done.stdout
    done = gpuladder("diff", *runs, "--fail-over", "7%", "--json")
    assert done.returncode == 1
    found = document(done)
    assert found["schema"] == "gpuladder.diff/1"
    assert found["objective"]["change"] == pytest.approx(672)
    assert found["objective"]["reading"] == "higher"
    (gate,) = found["fail_over"]
    assert gate["tripped"] is True
    assert gate["rise_share"] == pytest.approx(672 / 9408)
    assert [row["path"] for row in found["inputs"]] == ["offers.metered.price"]
    assert found["orders"] == {"unchanged": 1, "changes": []}
    assert "GL-R020" in done.stderr
    within = gpuladder("diff", *runs, "--fail-over", "7.2%", "--fail-over", "idle_cost=0%")
    assert within.returncode == 0, within.stderr


def test_an_ambiguous_limit_is_refused(gpuladder, runs, document):
    """0.05 would be taken for the other of two readings."""
    done = gpuladder("diff", *runs, "--fail-over", "0.05", "--json")
    assert done.returncode == 2
    (problem,) = document(done)["error"]["problems"]
    assert problem["code"] == "GL-U008"


def test_a_run_without_a_plan_is_compared_and_trips(gpuladder, runs, data, tmp_path, document):
    """A change that makes the plan impossible would pass, or end in a fault."""
    short = data / "short_of_capacity.yaml"
    assert gpuladder("solve", data / "tiny.yaml", "--with", short, "-o", "c").returncode == 1
    home = tmp_path / "c" / "tiny"
    assert gpuladder("diff", runs[0], home).returncode == 0
    done = gpuladder("diff", runs[0], home, "--fail-over", "5%", "--json")
    assert done.returncode == 1
    found = document(done)
    assert found["objective"]["reading"] == "no_plan"
    assert found["shortfalls"] != []


def test_a_run_that_was_tampered_with_exits_1(gpuladder, runs):
    """Figures that the audit refuses would pass as a saving."""
    (folder,) = (path for path in runs[1].iterdir() if path.is_dir())
    plan = json.loads((folder / "plan.json").read_text())
    plan["objective"] -= 1000
    (folder / "plan.json").write_text(json.dumps(plan))
    done = gpuladder("diff", *runs)
    assert done.returncode == 1
    assert "audit refuses the second run" in " ".join(done.stdout.split())


def test_no_such_run_exits_2(gpuladder, runs, tmp_path):
    """A wrong path would look like a run in which nothing changed."""
    done = gpuladder("diff", runs[0], tmp_path / "none")
    assert done.returncode == 2
    assert "none" in done.stderr
