"""``gpuladder solve``: exit codes, streams, files, and the ways to change a scenario."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from datetime import date, timedelta

import pytest

RUN_FILES = {
    "plan.json",
    "result.json",
    "scenario.resolved.yaml",
    "tables",
    "report.xlsx",
    "solver.log",
}


def run_folders(parent):
    return sorted(path for path in parent.glob("*/*") if path.is_dir())


@pytest.fixture(scope="module")
def hard(tmp_path_factory):
    """A scenario whose first plan takes no time, and whose last per mille takes for ever.

    Forty gangs choose among three pools, two sizes and twenty weeks each, so that no proof is near.
    """
    start = date(2026, 6, 1)
    pools = ("east", "west", "north")
    offers = [
        offer
        for place, pool in enumerate(pools)
        for offer in (
            {
                "id": f"{pool}-metered",
                "pool": pool,
                "kind": "on_demand",
                "price": 3.0 + 0.13 * place,
                "max_gpus": 2048,
            },
            {
                "id": f"{pool}-standing",
                "pool": pool,
                "kind": "reserved",
                "price": 1.9 + 0.07 * place,
                "tenor": "8 weeks",
                "lot_gpus": 8,
            },
        )
    ]
    campaigns = [
        {
            "id": f"run-{number}",
            "shape": "gang",
            "preemption_class": "steady",
            "gpus": [16 + 8 * (number % 5), 40 + 8 * (number % 7)],
            "gpu_hours": 9000 + number * 731 % 13000,
            "earliest": str(start + timedelta(weeks=number * 7 % 20)),
            "deadline": str(start + timedelta(weeks=number * 7 % 20 + 20)),
        }
        for number in range(40)
    ]
    scenario = {
        "name": "hard",
        "horizon": {"start": str(start), "end": str(start + timedelta(weeks=40)), "step": "week"},
        "hardware": [{"id": "gpu", "memory_gb": 80, "gpus_per_node": 8, "peak_tflops": 989}],
        "pools": [{"id": p, "provider": p, "region": "r", "hardware": "gpu"} for p in pools],
        "preemption_classes": [{"id": "steady", "spot_share_max": 0}],
        "offers": offers,
        "campaigns": campaigns,
    }
    path = tmp_path_factory.mktemp("hard") / "hard.yaml"
    path.write_text(json.dumps(scenario))
    return path


def test_a_solved_scenario_exits_0_and_writes_the_run(gpuladder, data, tmp_path):
    """The analyst would have no plan, or no files to send round."""
    done = gpuladder("solve", data / "tiny.yaml")
    assert done.returncode == 0, done.stderr
    (folder,) = run_folders(tmp_path / "reports")
    assert {path.name for path in folder.iterdir()} == RUN_FILES
    assert "9,408" in done.stdout
    last = done.stderr.strip().splitlines()[-1]
    assert "report.xlsx" in last
    assert f"reports/tiny/{folder.name}" in last


def test_json_is_one_document_with_the_cost_worked_out_by_hand(gpuladder, data, document):
    """A script would read a wrong cost, or text between braces."""
    done = gpuladder("solve", data / "tiny.yaml", "--json", "-v")
    result = document(done)
    assert result["schema"] == "gpuladder.result/1"
    assert result["status"] == "optimal"
    assert result["objective"] == pytest.approx(9408, rel=1e-9)
    assert sum(line["amount"] for line in result["costs"]) == pytest.approx(9408, rel=1e-9)
    assert [(row["offer"], row["gpus"]) for row in result["commitments"]] == [("standing", 8)]
    assert result["audit"] == {"passed": True, "findings": []}


def test_json_and_the_file_say_the_same(gpuladder, data, document, tmp_path):
    """The piped and the filed answer would differ, and nobody would know which to trust."""
    done = gpuladder("solve", data / "tiny.yaml", "--json")
    (folder,) = run_folders(tmp_path / "reports")
    assert json.loads((folder / "result.json").read_text()) == document(done)


def test_answers_come_with_the_plan_unless_refused(gpuladder, data, document):
    """The numbers to negotiate with would be missing, or would cost time that nobody gave."""
    words = ("solve", data / "tiny.yaml", "--json")
    asked = document(gpuladder(*words, "--analysis-seconds", "20"))
    # In place of the reservation 8 GPUs on demand, all four weeks: three times its price.
    prices = {row["offer"]: row["walk_away_price"] for row in asked["walk_away"]}
    assert prices["standing"] == pytest.approx(3.0, rel=2e-3)
    (supply, *_) = (row for row in asked["shadow_prices"] if row["limit"] == "stable_supply")
    assert supply["reading"].endswith(".")
    for refusal in (("--no-analysis",), ("--analysis-seconds", "0")):
        plain = document(gpuladder(*words, *refusal))
        assert plain["objective"] == asked["objective"]
        assert plain["walk_away"] == plain["shadow_prices"] == plain["unanswered"] == []


def test_quiet_says_nothing_on_stderr(gpuladder, data):
    """A nightly job would send mail every night."""
    done = gpuladder("solve", data / "tiny.yaml", "--quiet")
    assert done.returncode == 0
    assert done.stderr == ""
    assert "9,408" in done.stdout


def test_without_a_terminal_there_is_no_progress_and_no_colour(gpuladder, data):
    """Log files would fill with counters and escape codes."""
    done = gpuladder("solve", data / "tiny.yaml", "-v")
    assert "\x1b" not in done.stdout + done.stderr
    assert "bound" not in done.stderr


def test_a_run_is_never_overwritten(gpuladder, data, tmp_path):
    """Last quarter's signed-off plan would be gone."""
    gpuladder("solve", data / "tiny.yaml", "-o", "out")
    first = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*.json")}
    gpuladder("solve", data / "tiny.yaml", "-o", "out")
    assert len(run_folders(tmp_path / "out")) == 2
    assert {path: path.read_bytes() for path in first} == first


def test_set_changes_one_key(gpuladder, data, document):
    """A what-if from the command line would answer the old question."""
    # At 4.00 a GPU-hour the sweep costs 5376 on demand, as much as a second reservation.
    dear = gpuladder("solve", data / "tiny.yaml", "--json", "--set", "offers.metered.price=4")
    assert document(dear)["objective"] == pytest.approx(5376 + 5376)
    cheap = gpuladder("solve", data / "tiny.yaml", "--json", "--set", "offers.metered.price=0.5")
    assert document(cheap)["objective"] == pytest.approx(0.5 * (5376 + 1344))


def test_with_lays_a_file_over_and_set_comes_last(gpuladder, data, document, tmp_path):
    """Two overrides of one key would be applied in an order that nobody stated."""
    overlay = tmp_path / "optimistic.yaml"
    overlay.write_text("offers:\n  - {id: metered, price: 2}\n  - {id: standing, price: 0.9}\n")
    done = gpuladder(
        "solve", data / "tiny.yaml", "--json", "--with", overlay, "--set", "offers.metered.price=1"
    )
    assert document(done)["objective"] == pytest.approx(0.9 * 5376 + 1344)


def test_solver_flags_reach_the_solver(gpuladder, data, tmp_path):
    """A tighter gap would be asked for and not be looked for."""
    gpuladder(
        "solve", data / "tiny.yaml",
        "--time-limit", "9", "--gap", "0.002", "--threads", "1", "--seed", "7",
    )  # fmt: skip
    (folder,) = run_folders(tmp_path / "reports")
    assert json.loads((folder / "plan.json").read_text())["options"] == {
        "time_limit_seconds": 9.0,
        "relative_gap": 0.002,
        "threads": 1,
        "seed": 7,
    }


def test_an_infeasible_scenario_exits_1_and_says_who_is_short(gpuladder, data, document):
    """Infeasible would look like a plan that costs nothing."""
    words = ("solve", data / "tiny.yaml", "--with", data / "short_of_capacity.yaml")
    done = gpuladder(*words, "--json")
    result = document(done)
    assert done.returncode == 1
    assert result["status"] == "infeasible"
    assert result["objective"] is None
    # In the second week 8 + 8 GPUs are needed and 8 + 4 there: short of 4 x 168 GPU-hours.
    short = sum(row["short_gpu_hours"] for row in result["infeasible"]["campaigns"])
    assert short == pytest.approx(672, rel=1e-5)
    assert "error[GL-R010]" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_wrong_scenario_exits_2_with_all_problems_at_once(gpuladder, data, document, tmp_path):
    """The analyst would mend one error a run."""
    done = gpuladder("solve", data / "wrong.yaml", "--json")
    assert done.returncode == 2
    problems = document(done)["error"]["problems"]
    places = " ".join(problem["where"] for problem in problems)
    for key in ("discount_rat", "offers.metered.pool", "campaigns.evaluation"):
        assert key in places
    assert "did you mean" in done.stderr
    assert not (tmp_path / "reports").exists()


@pytest.mark.parametrize(
    "setting", ["offers.nope.price=1", "no assignment", "policy.tail_charge=x"]
)
def test_a_wrong_override_exits_2(gpuladder, data, setting):
    """A what-if with a typing error would answer the old question."""
    done = gpuladder("solve", data / "tiny.yaml", "--set", setting)
    assert done.returncode == 2
    assert "error[GL-S" in done.stderr


def test_an_output_that_is_a_file_exits_2(gpuladder, data, tmp_path):
    """A long solve would end in a traceback with nothing written."""
    (tmp_path / "taken").write_text("")
    done = gpuladder("solve", data / "tiny.yaml", "-o", "taken")
    assert done.returncode == 2
    assert "taken" in done.stderr


def test_a_time_limit_exits_3_with_a_plan_and_its_gap(gpuladder, hard, document, tmp_path):
    """A deadline would leave the analyst without a plan, or with one that claims to be the best."""
    done = gpuladder("solve", hard, "--json", "--gap", "0", "--time-limit", "3", "--no-analysis")
    result = document(done)
    assert done.returncode == 3, done.stderr
    assert result["status"] == "feasible"
    assert result["gap"] > 0
    assert result["bound"] < result["objective"]
    assert result["audit"]["passed"] is True
    (folder,) = run_folders(tmp_path / "reports")
    assert {path.name for path in folder.iterdir()} == RUN_FILES
    assert f"--start-from reports/hard/{folder.name}" in done.stderr


def test_a_limit_too_short_for_any_plan_exits_4(gpuladder, hard, document):
    """No plan would be taken for a plan, or for a proof that there is none."""
    done = gpuladder("solve", hard, "--json", "--time-limit", "1e-6")
    result = document(done)
    assert done.returncode == 4
    assert result["status"] == "no_plan"
    assert result["objective"] is None


def test_a_start_from_an_earlier_run_is_never_worse(gpuladder, hard, document, tmp_path):
    """Going on from last night's plan would end with a dearer one."""
    words = ("solve", hard, "--json", "--no-analysis", "--gap", "0")
    first = gpuladder(*words, "--time-limit", "3", "-o", "first")
    again = gpuladder(*words, "--time-limit", "2", "--start-from", "first/hard")
    assert again.returncode in (0, 3), again.stderr
    before, after = document(first)["objective"], document(again)["objective"]
    assert after <= before * (1 + 1e-9)


def test_what_fits_of_an_earlier_run_is_told_in_one_line(gpuladder, data):
    """The wrong run folder would be named without any sign of it."""
    first = gpuladder("solve", data / "tiny.yaml", "--no-analysis", "-o", "first")
    assert first.returncode == 0, first.stderr
    words = ("--no-analysis", "--start-from", "first/tiny", "--set", "name=other")
    same = gpuladder("solve", data / "tiny.yaml", *words)
    assert sum("earlier plan" in line for line in same.stderr.splitlines()) == 1
    assert "earlier plan" not in gpuladder("solve", data / "tiny.yaml", *words, "-q").stderr


def test_an_interrupt_exits_130_with_the_best_plan_so_far(hard, tmp_path):
    """Ctrl-C after an hour would throw the hour away."""
    process = subprocess.Popen(
        [sys.executable, "-m", "gpuladder", "solve", str(hard), "--gap", "0", "-v"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        for line in process.stderr:
            if "solving" in line:
                break
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(4)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130, stderr
    (folder,) = run_folders(tmp_path / "reports")
    result = json.loads((folder / "result.json").read_text())
    assert result["status"] == "feasible"
    assert result["audit"]["passed"] is True
    assert "Interrupted" in stderr
    assert "Traceback" not in stderr
    assert "net present cost" in stdout


def test_an_interrupt_of_the_answers_keeps_the_plan_and_what_was_answered(hard, tmp_path):
    """Ctrl-C after enough answers would throw the plan away, or leave processes behind."""
    words = ("--gap", "0.5", "--analysis-seconds", "300", "-v")
    process = subprocess.Popen(
        [sys.executable, "-m", "gpuladder", "solve", str(hard), *words],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        for line in process.stderr:
            if "answering" in line or "solving the plan on" in line:
                break
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(3)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130, stderr
    (folder,) = run_folders(tmp_path / "reports")
    result = json.loads((folder / "result.json").read_text())
    assert result["status"] == "optimal"
    assert {row["why"] for row in result["unanswered"]} == {"interrupted"}
    assert "the plan stands" in stderr
    assert "Traceback" not in stderr
    assert "leaked" not in stderr


@pytest.mark.parametrize("verb", [("solve",), ("sweep", "--vary", "policy.tail_charge=0,1")])
def test_a_doubt_about_an_option_names_the_option(gpuladder, data, verb):
    """A user would look for a --set that was never written."""
    done = gpuladder(verb[0], data / "tiny.yaml", *verb[1:], "--gap", "2")
    assert "GL-S110" in done.stderr
    assert "--gap solver.relative_gap" in done.stderr
    assert "--set" not in done.stderr
