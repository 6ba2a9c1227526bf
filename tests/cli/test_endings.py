"""Endings that a user should never see, and what a terminal shows."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from gpuladder.cli import main as entry
from gpuladder.cli.summary import verdict
from gpuladder.pipeline import run
from gpuladder.plan import Status, Termination


def broken(*_arguments, **_options):
    msg = "a wheel came off"
    raise RuntimeError(msg)


@pytest.fixture
def fault(monkeypatch):
    """Let the schema verb meet a fault of the program's own."""
    monkeypatch.setattr("gpuladder.scenario.schema.Scenario.model_json_schema", broken)


def test_a_fault_of_ours_exits_70_in_two_lines(fault, capsys):
    """A user would be shown forty lines of our source for a mistake that is not theirs."""
    assert entry.main(["schema"]) == 70
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "RuntimeError: a wheel came off" in captured.err
    assert "--debug" in captured.err
    assert "Traceback" not in captured.err


def test_debug_shows_the_traceback(fault, capsys):
    """Nobody could mend the fault that was reported."""
    assert entry.main(["schema", "--debug"]) == 70
    assert "Traceback" in capsys.readouterr().err


def test_a_fault_of_ours_is_one_json_document_too(fault, capsys):
    """A program that reads our output would choke exactly when something is wrong."""
    assert entry.main(["schema", "--json"]) == 70
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["exit_code"] == 70
    assert error["problems"][0]["code"] == "GL-X070"


def test_an_interrupt_outside_the_search_exits_130(monkeypatch, capsys):
    """Ctrl-C while a large file is read would look like a crash."""

    def interrupted(*_arguments, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr("gpuladder.scenario.schema.Scenario.model_json_schema", interrupted)
    assert entry.main(["schema"]) == 130
    assert "Traceback" not in capsys.readouterr().err


INTERRUPTED_IMPORT = """
import runpy, sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "gpuladder.cli.main":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupt())
sys.argv = ["gpuladder", "--help"]
runpy.run_module("gpuladder", run_name="__main__")
"""


def test_an_interrupt_in_the_first_moments_is_quiet():
    """Ctrl-C right after a typing error would print a traceback of imports."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_IMPORT], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_the_installed_program_starts_where_an_interrupt_is_caught():
    """Ctrl-C would print a traceback for all who installed the program."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert project["project"]["scripts"] == {"gpuladder": "gpuladder.__main__:main"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize(
    "words", [("schema",), ("schema", "--json"), ("--help",), ("--version",), ("solve", "--json")]
)
def test_a_full_disk_is_one_clear_error(words, data, tmp_path):
    """Output that is not there would be taken for an answer, or end in a traceback."""
    scenario = [str(data / "tiny.yaml")] if "solve" in words else []
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "gpuladder", *words, *scenario],
            cwd=tmp_path,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
        )
    assert done.returncode == 2
    assert done.stderr.count("error[") == 1
    assert "error[GL-U003]" in done.stderr
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.parametrize(
    ("status", "termination", "code"),
    [
        (Status.OPTIMAL, Termination.GAP_REACHED, 0),
        (Status.OPTIMAL, Termination.TIME_LIMIT, 0),
        (Status.OPTIMAL, Termination.INTERRUPTED, 130),
        (Status.FEASIBLE, Termination.TIME_LIMIT, 3),
        (Status.FEASIBLE, Termination.SOLVER_ERROR, 3),
        (Status.FEASIBLE, Termination.INTERRUPTED, 130),
        (Status.INFEASIBLE, Termination.INFEASIBLE, 1),
        (Status.NO_PLAN, Termination.UNBOUNDED, 1),
        (Status.NO_PLAN, Termination.TIME_LIMIT, 4),
        (Status.NO_PLAN, Termination.SOLVER_ERROR, 4),
        (Status.NO_PLAN, Termination.INTERRUPTED, 130),
    ],
)
def test_every_ending_of_the_search_has_its_exit_code(data, status, termination, code):
    """A script would go on with a plan that is not there, or stop for one that is."""
    result = run(data / "tiny.yaml")
    plan = result.plan.model_copy(update={"status": status, "termination": termination})
    ended = type(result)(scenario=result.scenario, plan=plan, audit=result.audit)
    assert verdict(ended)[0] == code


def test_a_terminal_shows_progress_and_stdout_stays_data(data, tmp_path):
    """A person would sit before a silent screen, or find counters in the piped answer."""
    reader, writer = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "gpuladder", "solve", str(data / "tiny.yaml"), "--json"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=writer,
        text=True,
    )
    os.close(writer)
    stdout, _ = process.communicate(timeout=60)
    shown = os.read(reader, 100_000).decode()
    os.close(reader)
    assert process.returncode == 0
    assert json.loads(stdout)["status"] == "optimal"
    assert "gap" in shown
    assert "report.xlsx" in shown


def test_colours_can_be_refused(data, tmp_path):
    """Escape codes would litter the screens of those who asked for none."""
    shown = {}
    for name, value in (("TERM", "xterm"), ("NO_COLOR", "1")):
        reader, writer = pty.openpty()
        subprocess.run(
            [sys.executable, "-m", "gpuladder", "solve", str(data / "wrong.yaml")],
            cwd=tmp_path,
            env={key: old for key, old in os.environ.items() if key != "NO_COLOR"} | {name: value},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=writer,
            timeout=60,
        )
        os.close(writer)
        shown[name] = os.read(reader, 100_000).decode()
        os.close(reader)
    assert "\x1b[" in shown["TERM"]
    assert "\x1b[" not in shown["NO_COLOR"]
