"""``gpuladder sweep`` as a user runs it."""

from __future__ import annotations

import csv
import json
import os
import pty
import signal
import subprocess
import sys
import time

import pytest

# Worked out in tiny.yaml: evaluation on one reservation, 5,376; one week of 8 GPUs more for the
# sweep, 1,344 GPU-hours on demand or a second reservation, 5,376. At 5.00 that is 6,720 on demand.
PRICES = "offers.metered.price=3,5"
COSTS = [5376 + 4032, 5376 + 5376]


def test_a_sweep_is_a_table_on_stdout_and_files(gpuladder, data, tmp_path):
    """An analyst would have to run the scenario once a value and copy figures by hand."""
    done = gpuladder("sweep", data / "tiny.yaml", "--vary", PRICES)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "offers.metered.price" in lines[0]
    assert "standing (GPUs)" in lines[0]
    assert "9,408" in lines[1]
    assert "10,752" in lines[2]
    assert "standing +1 lot" in lines[2]
    (folder,) = (tmp_path / "reports" / "tiny" / "sweeps").glob("2*")
    assert str(folder.relative_to(tmp_path)) in done.stderr
    with (folder / "cells.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["cost"]) for row in rows] == pytest.approx(COSTS)
    assert [row["gpus standing"] for row in rows] == ["8", "16"]
    assert [row["offers.metered.price"] for row in rows] == ["3", "5"]
    with (folder / "changes.csv").open(newline="") as file:
        (change,) = csv.DictReader(file)
    assert (change["before"], change["after"], change["offer"], change["lots"]) == (
        "3",
        "5",
        "standing",
        "1",
    )
    assert json.loads((folder / "sweep.json").read_text())["schema"] == "gpuladder.sweep/1"


def test_json_is_one_document(gpuladder, document, data):
    """A program could not read the grid."""
    done = gpuladder("sweep", data / "tiny.yaml", "--vary", PRICES, "--json", "--workers", "1")
    found = document(done)
    assert found["axes"] == [{"key": "offers.metered.price", "values": ["3", "5"]}]
    assert [cell["cost"] for cell in found["cells"]] == pytest.approx(COSTS)
    assert [cell["values"] for cell in found["cells"]] == [
        {"offers.metered.price": "3"},
        {"offers.metered.price": "5"},
    ]


def test_a_second_sweep_takes_over_what_the_first_solved(gpuladder, document, data):
    """Whoever widens a sweep would wait for all of it again."""
    gpuladder("sweep", data / "tiny.yaml", "--vary", "offers.metered.price=5")
    found = document(gpuladder("sweep", data / "tiny.yaml", "--vary", PRICES, "--json"))
    assert [cell["is_reused"] for cell in found["cells"]] == [False, True]
    arguments = ("sweep", data / "tiny.yaml", "--vary", PRICES, "--json", "--no-cache")
    found = document(gpuladder(*arguments))
    assert [cell["is_reused"] for cell in found["cells"]] == [False, False]


@pytest.mark.parametrize(
    ("vary", "said"),
    [
        ("offers.metered.prise=3,5", "did you mean `price`?"),
        ("offers.meterd.price=3,5", "did you mean `metered`?"),
        ("offers.metered.price=3..5", "At least 2"),
        ("offers.metered.price=-3,5", "out of range"),
    ],
)
def test_a_grid_that_is_wrong_exits_2_and_leaves_nothing(gpuladder, data, tmp_path, vary, said):
    """A script would take a slip for an answer."""
    done = gpuladder("sweep", data / "tiny.yaml", "--vary", vary)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "--vary" in done.stderr
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_infeasible_cell_is_a_result(gpuladder, document, data):
    """A grid that reaches past what is possible would look like a failure."""
    vary = ("--vary", "offers.metered.max_gpus=4,64", "--vary", "offers.standing.max_lots=1,2")
    done = gpuladder("sweep", data / "tiny.yaml", *vary, "--json")
    assert done.returncode == 0, done.stderr
    cells = document(done)["cells"]
    assert [cell["status"] for cell in cells] == ["infeasible", "optimal", "optimal", "optimal"]
    assert cells[0]["cost"] is None


def test_a_cell_that_stops_at_a_limit_exits_3(gpuladder, data):
    """A figure that is not proven would be taken for one that is."""
    done = gpuladder(
        "sweep", data / "tiny.yaml", "--vary", PRICES, "--time-limit", "1e-9", "--workers", "1"
    )
    assert done.returncode == 3, done.stdout + done.stderr
    assert "9,408" not in done.stdout


def test_an_interrupt_exits_130_and_keeps_finished_cells(data, tmp_path):
    """Ctrl-C would lose an hour of solving, or leave processes behind."""
    command = [sys.executable, "-m", "gpuladder", "sweep", str(data / "tiny.yaml"), "--json"]
    command += ["--workers", "2", "--vary", "offers.metered.price=2..5:200"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.DEVNULL, **pipes)
    cells = tmp_path / "reports" / "tiny" / "sweeps" / "cells"
    until = time.monotonic() + 60
    while not list(cells.glob("*.json")) and time.monotonic() < until:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=30)
    assert process.returncode == 130, stderr
    assert "Traceback" not in stderr
    assert "leaked" not in stderr
    found = json.loads(stdout)
    statuses = [cell["status"] for cell in found["cells"]]
    assert found["is_interrupted"]
    assert {"optimal", "not_solved"} == set(statuses)
    assert len(list(cells.iterdir())) == statuses.count("optimal")


def test_a_terminal_shows_one_line_that_moves(data, tmp_path):
    """A person would sit before a silent screen for an hour, or before a thousand lines."""
    reader, writer = pty.openpty()
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "gpuladder", "sweep", str(data / "tiny.yaml"), "--json"),
            *("--vary", PRICES, "--workers", "1"),
        ],
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
    assert len(json.loads(stdout)["cells"]) == 2
    assert "\r[" in shown
    assert "0 of 2 cells" in shown
    assert "2 of 2 cells" in shown
    assert shown.count("\n") == 2  # the bar, and what came out
