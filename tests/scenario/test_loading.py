"""What is wrong is said all at once, at its place, in words that help."""

from __future__ import annotations

import pytest
import yaml

from gpuladder.errors import ScenarioError, Severity
from gpuladder.scenario.loading import load


def only(problems):
    assert len(problems) == 1, [p.text for p in problems]
    return problems[0]


def place(problem):
    """Return the line and the key of a problem's place."""
    line, _, key = problem.where.partition(" ")
    return int(line.rpartition(":")[2]), key


@pytest.mark.parametrize(
    ("table", "key", "value", "code", "words"),
    [
        ("offers", "pricee", 3, "GL-S101", ["did you mean `price`", "on_demand offer"]),
        ("offers", "tenor", "4 weeks", "GL-S101", ["belongs to", "reserved"]),
        ("pools", "providor", "x", "GL-S101", ["did you mean `provider`"]),
        ("campaigns", "gpus", 8, "GL-S101", ["elastic campaign", "gang"]),
        ("offers", "price", "3,5", "GL-S103", ["decimals with a point"]),
        ("offers", "price", "free", "GL-S103", ["a number"]),
        ("offers", "price", True, "GL-S103", ["not true"]),
        ("offers", "price", 0, "GL-S104", ["greater than 0", "bought without end"]),
        ("offers", "price", -2, "GL-S104", ["-2"]),
        ("offers", "price", float("nan"), "GL-S108", ["finite"]),
        ("offers", "price", float("inf"), "GL-S108", ["finite"]),
        ("offers", "max_gpus", 1e200, "GL-S104", ["number of digits"]),
        ("hardware", "gpus_per_node", 10**20, "GL-S104", ["number of digits"]),
        ("offers", "price_change_per_year", -15, "GL-S104", ["-0.15"]),
        ("offers", "max_gpus", -1, "GL-S104", ["at least 0"]),
        ("offers", "available_from", "06/07/2026", "GL-S105", ["2026-07-06"]),
        ("offers", "available_from", 20260706, "GL-S105", ["2026-07-06"]),
        ("offers", "available_from", "2026-02-30", "GL-S105", ["day is out of range"]),
        ("offers", "available_from", "1026-02-03", "GL-S105", ["1950"]),
        ("offers", "kind", "ondemand", "GL-S107", ["did you mean `on_demand`"]),
        ("offers", "kind", None, "GL-S102", ["`kind` is missing"]),
        ("offers", "pool", None, "GL-S102", ["`pool` is missing"]),
        ("offers", "pool", ["east"], "GL-S103", ["a text is needed"]),
        ("offers", "kind", "spend", "GL-S106", ["not yet supported"]),
        (
            "campaigns",
            "workload",
            {"run": {"params": 7e9, "tokens": -1}, "mfu": 0.4},
            "GL-S104",
            ["greater than 0"],
        ),
        (
            "campaigns",
            "workload",
            {"run": {"params": 7e9, "tokns": 2e9, "tokens": 2e9}, "mfu": 0.4},
            "GL-S101",
            ["did you mean `tokens`"],
        ),
        ("campaigns", "repeat", {"every": "4 weeks"}, "GL-S102", ["`count`"]),
        ("campaigns", "repeat", {"every": "0 weeks", "count": 2}, "GL-S105", ["no time at all"]),
        (
            "campaigns",
            "repeat",
            {"evry": "4 weeks", "every": "4 weeks", "count": 2},
            "GL-S101",
            ["`every`"],
        ),
        ("campaigns", "pools", "east", "GL-S103", ["write [east]"]),
        ("campaigns", "gpu_hours", 0, "GL-S104", []),
        ("preemption_classes", "spot_share_max", 40, "GL-S104", ["40 % is 0.4"]),
        ("preemption_classes", "spot_share_max", "40%", "GL-S103", ["between 0 and 1"]),
        ("preemption_classes", "checkpoint_interval_minutes", "often", "GL-S103", ["auto"]),
        ("hardware", "gpus_per_node", 7.5, "GL-S103", ["whole number"]),
        ("pools", "region", "", "GL-S103", ["not empty"]),
        ("pools", "region", " us ", "GL-S103", ["blanks"]),
        ("pools", "fabric", "racks", "GL-S107", ["did you mean `rack`"]),
    ],
)
def test_a_wrong_value_is_said_once_in_words(table, key, value, code, words, raw, found):
    """A user would have to guess what the program wanted."""
    raw[table][0][key] = value
    problem = only([p for p in found(raw) if p.severity is Severity.ERROR])
    assert problem.code == code
    assert [word for word in words if word not in problem.text] == [], problem.text
    assert problem.where.split(" ", 1)[1].startswith(table)


def test_the_place_is_file_line_and_key(refused):
    """The mistake would have to be searched for."""
    problem = only(
        refused(
            "name: x\n"
            "horizon: {start: 2026-07-06, end: 2027-01-04, step: week}\n"
            "hardware: []\npools: []\npreemption_classes: []\ncampaigns: []\n"
            "offers:\n"
            "  - id: od\n"
            "    pool: east\n"
            "    kind: on_demand\n"
            "    prize: 3\n"
            "policy: {}\n"
        )[:1]
    )
    assert place(problem) == (11, "offers.od.prize")


def test_all_problems_are_reported_at_once_errors_first(raw, found):
    """Mending one mistake a run would take a run each."""
    raw["policy"] = {"tail_charge": 50, "ladderr": {}}
    raw["horizon"]["step"] = "fortnight"
    raw["offers"][0]["price"] = -3
    raw["offers"].append({"id": "x", "pool": "nowhere", "kind": "on_demand", "price": 3})
    raw["campaigns"][0]["deadline"] = "2026-07-01"
    raw["offers"][1]["price"] = [1, 2]
    raw["futures"] = [{"id": "a", "probability": 1}]
    raw["hardwear"] = []
    raw["pools"].append({"id": "west", "provider": "b", "region": "c", "hardware": "h100"})
    problems = found(raw)
    assert {p.code for p in problems} == {
        "GL-S101",
        "GL-S104",
        "GL-S106",
        "GL-S107",
        "GL-S201",
        "GL-S301",
        "GL-S502",
    }
    severities = [p.severity for p in problems]
    assert severities == sorted(severities, key=[Severity.ERROR, Severity.WARNING].index)


def test_a_wrong_row_is_not_called_unknown_elsewhere(raw, found):
    """One mistake in a pool would be reported again at each of its offers and campaigns."""
    raw["pools"][0]["fabric"] = "copper"
    raw["campaigns"][0]["pools"] = ["east"]
    assert only(found(raw)).code == "GL-S107"


def test_missing_sections_are_named(refused):
    """A new user would not learn what a scenario needs."""
    problems = refused("name: x\n")
    missing = {p.what.split("`")[1] for p in problems if p.code == "GL-S102"}
    assert missing == {"horizon", "hardware", "pools", "offers", "preemption_classes", "campaigns"}


@pytest.mark.parametrize("key", ["futures", "decide_by", "risk_weight", "risk_level"])
def test_uncertain_futures_are_planned_not_unknown(key, raw, found):
    """A user would look for a typing mistake where there is none."""
    raw[key] = 0.5
    problem = only(found(raw))
    assert (problem.code, "not yet supported" in problem.what) == ("GL-S106", True)


def test_a_key_without_a_value_is_left_out(raw, found):
    """A template with unused keys would not load."""
    raw["policy"] = None
    raw["offers"][1]["lead"] = None
    raw["campaigns"][0]["team"] = None
    assert found(raw) == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (b"", "GL-S002"),
        (b"[1, 2]", "GL-S002"),
        (b"just text", "GL-S002"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "GL-S007"),
        ("name: Zürich".encode("latin-1"), "GL-S007"),
        ("name: x".encode("utf-16"), "GL-S007"),
    ],
)
def test_what_is_no_scenario_is_refused_in_words(text, code, refused):
    """A wrong file would end in a traceback."""
    assert refused(text)[0].code == code


def test_a_byte_order_mark_and_windows_line_ends_are_read(raw, tmp_path):
    """Files saved by Windows editors would be refused."""
    text = yaml.safe_dump(raw).replace("\n", "\r\n")
    (tmp_path / "s.yaml").write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert load(tmp_path / "s.yaml").scenario.name == "minimal"


@pytest.mark.parametrize("name", ["nothing.yaml", "table.csv", "old.xls", "notes.txt"])
def test_what_cannot_be_a_scenario_is_named(name, tmp_path):
    """A user would not learn which files are read."""
    if not name.startswith("nothing"):
        (tmp_path / name).write_text("x")
    with pytest.raises(ScenarioError) as caught:
        load(tmp_path / name)
    assert only(caught.value.problems).code == "GL-S001"
    assert caught.value.exit_code == 2


def test_the_place_of_any_value_can_be_asked_for(raw, tmp_path):
    """A report could not cite the line a number came from."""
    path = tmp_path / "s.yaml"
    path.write_text(yaml.safe_dump(raw, sort_keys=False))
    loaded = load(path)
    lines = path.read_text().splitlines()
    line, key = loaded.locations.where(("offers", 1, "lot_gpus")).split(" ")
    assert key == "offers.res.lot_gpus"
    assert "lot_gpus: 8" in lines[int(line.rpartition(":")[2]) - 1]
