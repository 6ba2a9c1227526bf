"""``gpuladder plot``."""

from __future__ import annotations


def test_pictures_of_a_run(gpuladder, data, document, tmp_path):
    """A person who wants one picture for a slide would have to open the workbook."""
    done = gpuladder("solve", data / "tiny.yaml", "--no-analysis", "-o", tmp_path / "runs")
    assert done.returncode == 0, done.stderr
    (home,) = (tmp_path / "runs").iterdir()
    listed = document(gpuladder("plot", home, "--json"))["plots"]
    shown = {each["name"]: each["has_content"] for each in listed}
    assert shown["capacity"]
    assert not shown["waterfall"]
    done = gpuladder("plot", home, "capacity", "--format", "svg")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "capacity.svg"
    assert (tmp_path / "capacity.svg").read_text().lstrip().startswith("<?xml")
    again = gpuladder("plot", home, "capacity", "-o", "capacity.svg")
    assert again.returncode == 2
    assert "already" in again.stderr
    nothing = gpuladder("plot", home, "waterfall")
    assert nothing.returncode == 2
    assert "--analysis-seconds" in nothing.stderr
