"""YAML is read by the rules of version 1.2, safely, and with line numbers."""

from __future__ import annotations

import time

import pytest

from gpuladder.errors import ScenarioError
from gpuladder.scenario import yaml_reader
from gpuladder.scenario.yaml_reader import read_flow, read_yaml


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("Yes", "Yes"),
        ("2026-07-06", "2026-07-06"),
        ("12:30:45", "12:30:45"),
        ("1_000", "1_000"),
        ("0o17", 15),
        ("0x1F", 31),
        ("010", 10),
        ("+12", 12),
        ("-1.5e3", -1500.0),
        (".5", 0.5),
        ("true", True),
        ("FALSE", False),
        ("~", None),
        ("null", None),
        ('"true"', "true"),
        ("!!str 5", "5"),
        ("!!float 5", 5.0),
    ],
)
def test_plain_scalars_follow_the_core_schema(text, value):
    """Norway's pool `no` would become false, and dates would change type, under YAML 1.1."""
    result = read_flow(text, "here")
    assert result == value
    assert type(result) is type(value)


def test_names_stay_as_they_were_written():
    """An id `007` would become 7 and no longer match the provider's own name."""
    row = read_yaml("{id: 007, pool: 1e3, provider: true, pools: [010, 0x1], max_gpus: 010}", "f")
    assert row == {
        "id": "007",
        "pool": "1e3",
        "provider": "true",
        "pools": ["010", "0x1"],
        "max_gpus": 10,
    }


def test_every_value_knows_its_line():
    """A message could not point at the line to be mended."""
    tree = read_yaml("a: 1\nb:\n  - x: 1\n    y: 2\n  - x: 3\n", "f.yaml")
    assert tree.places["b"] == "f.yaml:2"
    assert tree["b"].places == ["f.yaml:3", "f.yaml:5"]
    assert tree["b"][0].places["y"] == "f.yaml:4"


def test_all_duplicate_keys_are_refused_with_both_places():
    """The second price would silently win over the first."""
    with pytest.raises(ScenarioError) as caught:
        read_yaml("a: 1\na: 2\nb: {c: 1, c: 2}\n", "f.yaml")
    assert [(p.code, p.where) for p in caught.value.problems] == [
        ("GL-S003", "f.yaml:2"),
        ("GL-S003", "f.yaml:3"),
    ]
    assert "f.yaml:1" in caught.value.problems[0].why


def test_aliases_are_copies():
    """An override of one row would change every row that shares its anchor."""
    tree = read_yaml("a: &x {k: 1}\nb: *x\n", "f")
    tree["a"]["k"] = 2
    assert tree["b"]["k"] == 1


def test_merge_keys_are_not_special():
    """A `<<` would pull in keys without a line of their own; it is refused as an unknown key."""
    assert "<<" in read_yaml("a: &x {k: 1}\nb: {<<: *x}\n", "f")["b"]


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12)
)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("!!python/object/apply:os.system [echo]", id="python tag"),
        pytest.param("a: !custom 1", id="own tag"),
        pytest.param("a: &a [*a]", id="its own parent"),
        pytest.param(BOMB, id="unfolding aliases"),
        pytest.param("[" * 50_000, id="deep flow"),
        pytest.param("- " * 20_000 + "x", id="deep blocks"),
        pytest.param("{[1]: 2}", id="key is a list"),
        pytest.param("a: 1\n---\nb: 2", id="two documents"),
        pytest.param("a: *nowhere", id="unknown alias"),
        pytest.param("a: 'open", id="open quote"),
        pytest.param("\ta: 1", id="tab"),
        pytest.param("a: \x07", id="control character"),
        pytest.param("!!int abc", id="tagged nonsense"),
    ],
)
@pytest.mark.parametrize("loader", ["fast", "plain"])
def test_hostile_text_is_refused_quickly(text, loader, monkeypatch):
    """A scenario from elsewhere could run code, eat the memory or end in a traceback."""
    if loader == "plain":
        monkeypatch.setattr(yaml_reader, "_CoreLoader", yaml_reader.core_loader(fast=False))
    begin = time.process_time()
    with pytest.raises(ScenarioError):
        read_yaml(text, "f.yaml")
    assert time.process_time() - begin < 3


def test_both_loaders_agree(monkeypatch):
    """Without the C library a scenario would mean something else."""
    text = "a: [no, 0o17, 1.5, ~, '5', 2026-01-01]\nid: 007\n"
    fast = read_yaml(text, "f")
    monkeypatch.setattr(yaml_reader, "_CoreLoader", yaml_reader.core_loader(fast=False))
    assert read_yaml(text, "f") == fast


def test_a_year_of_hourly_demand_is_read_at_once():
    """Waiting for the file would take longer than solving."""
    text = "demand:\n" + "".join(
        f"- pool: east\n  at: '2026-07-06 {hour % 24:02}:00:00'\n  gpus: {hour % 97}\n"
        for hour in range(8760)
    )
    begin = time.process_time()
    assert len(read_yaml(text, "f")["demand"]) == 8760
    assert time.process_time() - begin < 2
