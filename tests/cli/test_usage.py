"""Wrong use of the command line, help, and what every verb has in common."""

from __future__ import annotations

import os
import resource
import subprocess
import sys

import pytest

VERBS = ("new", "validate", "solve", "audit", "report", "explain", "schema", "doctor")


def test_help_lists_every_verb(gpuladder):
    """A user could not find out what the program does."""
    done = gpuladder("--help")
    assert done.returncode == 0
    assert done.stderr == ""
    for verb in VERBS:
        assert f"\n  {verb} " in done.stdout


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself(gpuladder, verb):
    """A user could not find out what a verb takes."""
    done = gpuladder(verb, "--help")
    assert done.returncode == 0
    for option in ("--json", "--quiet", "--verbose", "--no-color", "--debug"):
        assert option in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [(), ("sovle",), ("solve",), ("solve", "x.yaml", "--gap", "-1"), ("--nope",)],
    ids=["nothing", "unknown verb", "no scenario", "gap below 0", "unknown option"],
)
def test_wrong_usage_exits_2(gpuladder, arguments):
    """A script would take a typing error for an answer."""
    done = gpuladder(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "error[GL-U001]" in done.stderr
    assert "fix:" in done.stderr
    assert "Traceback" not in done.stderr


def test_wrong_usage_with_json_is_one_document(gpuladder, document):
    """A program that reads our output would choke on the one answer that matters to it."""
    done = gpuladder("solve", "--json", "--no-such-option", "x.yaml")
    assert done.returncode == 2
    error = document(done)["error"]
    assert error["exit_code"] == 2
    assert error["problems"][0]["severity"] == "error"


def test_options_of_all_verbs_may_stand_before_the_verb(gpuladder, document):
    """`gpuladder --json schema` would be refused though both words are right."""
    assert document(gpuladder("--json", "schema"))["title"] == "Scenario"


def test_a_missing_scenario_exits_2_and_names_it(gpuladder):
    """A wrong path would end in a traceback."""
    done = gpuladder("solve", "nowhere.yaml")
    assert done.returncode == 2
    assert "nowhere.yaml" in done.stderr
    assert "Traceback" not in done.stderr


def test_help_is_instant():
    """Every look at the help would take too long: 0.3 s of CPU time is the limit."""

    def cpu_seconds():
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-m", "gpuladder", "--help"], stdout=subprocess.DEVNULL, check=True
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)

    assert min(cpu_seconds() for _ in range(3)) < 0.3


def test_a_reader_that_goes_away_is_no_fault():
    """`gpuladder schema | head -1` would print a traceback."""
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = subprocess.run(
        [sys.executable, "-m", "gpuladder", "schema"],
        stdout=write_end,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(write_end)
    assert done.returncode == 0
    assert done.stderr == ""


def test_the_schema_is_a_json_schema_that_refuses_unknown_keys(gpuladder, document):
    """An editor would not underline a misspelt key."""
    plain, as_json = gpuladder("schema"), gpuladder("schema", "--json")
    schema = document(as_json)
    assert plain.stdout == as_json.stdout
    assert schema["additionalProperties"] is False
    assert {"name", "horizon", "offers", "campaigns"} <= set(schema["required"])


def test_doctor_says_that_the_solver_works(gpuladder, document):
    """A broken installation would be found out in the middle of a negotiation."""
    done = gpuladder("doctor", "--json")
    assert done.returncode == 0, done.stderr
    found = document(done)
    assert found["solver"]["healthy"] is True
    assert set(found["facts"]) >= {"gpuladder", "python", "highspy", "pyomo"}
