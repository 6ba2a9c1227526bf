"""The README is true: its commands and its code do what it says."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
README = (REPOSITORY / "README.md").read_text()


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(tmp_path):
    """An analyst's folder with the scenario of the README."""
    (scenario,) = blocks("yaml")
    (tmp_path / "scenario.yaml").write_text(scenario)
    return tmp_path


def run(words, folder):
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120)


def test_the_commands_work_and_the_cost_is_the_one_derived(folder):
    """The first five minutes would end in an error, or in another figure than the text has."""
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    commands = [line for line in lines if line.startswith("gpuladder ")]
    assert len(commands) >= 5
    for command in commands:
        words = [sys.executable, "-m", *shlex.split(command)]
        done = run(words, folder)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    solved = [
        json.loads(path.read_text())["objective"]
        for path in sorted(folder.glob("reports/first/*/result.json"))
    ]
    # At 5.00 the sweep costs 6,720 on demand and 5,376 in a second reservation.
    assert sorted(solved) == pytest.approx([9408, 2 * 5376])
    assert "9,408 in all" in README


def test_the_python_code_runs(folder):
    """A notebook that begins with the README's lines would fail."""
    (code,) = blocks("python")
    done = run([sys.executable, "-W", "error", "-c", code], folder)
    assert done.returncode == 0, done.stderr
    assert "standing 8 2026-06-01 2026-06-29 5376.0" in done.stdout


def test_the_two_commands_are_targets_of_the_makefile():
    """A newcomer would be told that there is no rule to make it."""
    makefile = (REPOSITORY / "Makefile").read_text()
    commands = [
        line for block in blocks("sh") for line in block.splitlines() if line.startswith("make ")
    ]
    assert commands == ["make demo", "make test"]
    for command in commands:
        assert re.search(rf"^{command.removeprefix('make ')}:", makefile, re.MULTILINE)


def test_links_lead_somewhere():
    """A reader would be sent to a page that is not there."""
    links = re.findall(r"\]\(([^)#]+)\)", README)
    local = [link for link in links if "://" not in link]
    assert [link for link in local if not (REPOSITORY / link).exists()] == []


def test_the_exit_codes_are_those_of_the_program():
    """A script written by the README would take a failure for something else."""
    from gpuladder.cli.console import Exit

    stated = {int(code) for code in re.findall(r"^\| (\d+) \|", README, re.MULTILINE)}
    assert stated == set(Exit)
