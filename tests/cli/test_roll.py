"""`gpuladder roll` makes a scenario that the next `gpuladder solve` reads."""

from __future__ import annotations

import pytest

SCENARIO = """
name: standing
horizon: {start: 2026-07-06, end: 2026-08-03, step: week}
hardware: [{id: h100, memory_gb: 80, gpus_per_node: 8, peak_tflops: 989}]
pools: [{id: east, provider: acme, region: r, hardware: h100}]
offers:
  - {id: metered, pool: east, kind: on_demand, price: 3}
  - {id: term, pool: east, kind: reserved, price: 1, tenor: 2 weeks, lot_gpus: 8, max_lots: 1}
preemption_classes: [{id: steady, spot_share_max: 0}]
campaigns:
  - {id: a, shape: elastic, preemption_class: steady, gpu_hours: 5376, max_gpus: 8,
     earliest: 2026-07-06, deadline: 2026-08-03}
solver: {relative_gap: 1.0e-7, threads: 1}
"""
WEEK = 8 * 168


@pytest.fixture
def run(gpuladder, tmp_path):
    """A run of four weeks of 8 GPUs, served by two terms of two weeks each."""
    (tmp_path / "s.yaml").write_text(SCENARIO)
    assert gpuladder("solve", "s.yaml", "--no-analysis", "-q").returncode == 0
    return "reports/standing"


@pytest.mark.parametrize("output", ["next.yaml", "deep/next"])
def test_what_is_written_is_solved_to_the_rest_of_the_cost(
    run, output, gpuladder, document, tmp_path
):
    """The next quarter would begin with a file that has to be repaired by hand.

    From week 1 on one week of the first term is paid for; the second, two weeks of 8 GPUs at 1, and
    the last week are left: the term of week 0 is held to week 2, so 2 x 1,344 is to be paid.
    """
    told = document(gpuladder("roll", run, "--to", "2026-07-13", "-o", output, "--json", "-q"))
    assert told["remaining_cost"] == pytest.approx(2 * WEEK)
    assert told["output"] == output
    solved = document(gpuladder("solve", output, "--no-analysis", "--json", "-q"))
    assert solved["objective"] == pytest.approx(2 * WEEK)
    assert solved["scenario"]["sha256"] == told["sha256"]
    main = tmp_path / output
    text = (main if main.is_file() else main / "scenario.yaml").read_text()
    assert text.startswith("# Rolled on to 2026-07-13")
    assert told["from_sha256"] in text
    assert [path.name for path in main.parent.glob(".*")] == []


def test_without_output_the_scenario_is_the_only_thing_on_stdout(run, gpuladder, tmp_path):
    """A pipe into a file would mix notes into the scenario."""
    done = gpuladder("roll", run, "--to", "2026-07-13")
    (tmp_path / "piped.yaml").write_text(done.stdout)
    assert gpuladder("validate", "piped.yaml").returncode == 0
    assert "a: " in done.stderr


def test_nothing_is_overwritten(run, gpuladder, tmp_path):
    """A scenario that was edited by hand would be lost."""
    (tmp_path / "next.yaml").write_text("mine")
    (tmp_path / "folder").mkdir()
    for output in ("next.yaml", "folder"):
        done = gpuladder("roll", run, "--to", "2026-07-13", "-o", output)
        assert done.returncode == 2
        assert "GL-S010" in done.stderr
    assert (tmp_path / "next.yaml").read_text() == "mine"
    assert list((tmp_path / "folder").iterdir()) == []


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("reports/standing", "--to", "2026-07-14"), "GL-V001"),
        (("reports/standing", "--to", "soon"), "GL-U001"),
        (("reports/standing",), "GL-U001"),
        (("elsewhere", "--to", "2026-07-13"), "GL-F002"),
    ],
)
def test_what_cannot_be_rolled_is_refused(run, words, code, gpuladder):
    """A typing error would give a scenario of another quarter."""
    done = gpuladder("roll", *words)
    assert done.returncode == 2
    assert code in done.stderr
    assert done.stdout == ""
