"""What is written can be read, by people and by programs, and nothing is overwritten."""

from __future__ import annotations

import json
import re

import openpyxl
import pytest
import yaml

from gpuladder.errors import UsageError
from gpuladder.scenario.columns import columns
from gpuladder.scenario.fingerprint import fingerprint, json_schema
from gpuladder.scenario.loading import load
from gpuladder.scenario.source import TABLES
from gpuladder.scenario.templates import write_template
from gpuladder.scenario.workbook_writer import dump_workbook
from gpuladder.scenario.writing import dump_folder, dump_yaml

FORMS = ("yaml", "csv", "xlsx")


@pytest.fixture
def scenario(raw, tmp_path):
    path = tmp_path / "s.yaml"
    path.write_text(yaml.safe_dump(raw))
    return load(path).scenario


@pytest.mark.parametrize("form", FORMS)
def test_the_template_loads_without_a_doubt(form, tmp_path):
    """The first thing a new user sees would be a warning about our own file."""
    path = write_template("first steps", form, tmp_path)
    loaded = load(path)
    assert loaded.warnings == ()
    assert loaded.scenario.name == "first steps"


def test_the_template_says_the_same_in_every_form(tmp_path):
    """A tutorial written for one form would not fit another."""
    prints = {fingerprint(load(write_template("t", form, tmp_path)).scenario) for form in FORMS}
    assert len(prints) == 1


def test_the_template_shows_every_table_and_offer_kind(tmp_path):
    """A user would not learn what can be said."""
    scenario = load(write_template("t", "yaml", tmp_path)).scenario
    assert all(getattr(scenario, table) for table in TABLES)
    assert {offer.kind for offer in scenario.offers} == {
        "on_demand",
        "spot",
        "burst_window",
        "reserved",
        "dedicated",
        "owned",
    }
    assert {campaign.shape for campaign in scenario.campaigns} == {"elastic", "gang"}


@pytest.mark.parametrize("form", FORMS)
def test_the_template_never_overwrites(form, tmp_path):
    """An afternoon's work would be replaced by an example."""
    path = write_template("t", form, tmp_path)
    before = path.stat().st_mtime_ns
    with pytest.raises(UsageError) as caught:
        write_template("t", form, tmp_path)
    assert caught.value.exit_code == 2
    assert path.stat().st_mtime_ns == before


@pytest.mark.parametrize("name", ["../up", "/abs", "", ".", "a/b", "x "])
def test_a_template_stays_in_its_folder(name, tmp_path):
    """A slip in the name would write somewhere else."""
    with pytest.raises(UsageError):
        write_template(name, "yaml", tmp_path)


def test_the_csv_template_explains_every_column(tmp_path):
    """CSV has no room for comments; the main file has to say what a column means."""
    folder = write_template("t", "csv", tmp_path)
    text = (folder / "scenario.yaml").read_text()
    for table in TABLES:
        for column in columns(table, "USD"):
            assert f"#   {column.header}" in text
        assert (folder / f"{table}.csv").read_text().startswith(columns(table, "USD")[0].header)


def test_the_workbook_template_helps_to_fill_it_in(tmp_path):
    """Kinds and ids would be typed, and mistyped, by hand."""
    book = openpyxl.load_workbook(write_template("t", "xlsx", tmp_path))
    offers = book["offers"]
    headers = {cell.value.split(" [")[0]: cell for cell in offers[1]}
    lists = {
        str(rule.sqref).split(":")[0]: rule.formula1
        for rule in offers.data_validations.dataValidation
        if rule.type == "list"
    }
    letter = headers["kind"].column_letter
    assert "burst_window" in lists[f"{letter}2"]
    assert lists[f"{headers['pool'].column_letter}2"].startswith("'pools'!")
    assert offers.freeze_panes == "B2"
    assert headers["price"].value == "price [USD per GPU-hour]"
    assert "Only for: spot" in headers["availability"].comment.text
    assert "notes" in book.sheetnames


def test_text_in_a_workbook_never_becomes_a_formula(raw, tmp_path):
    """A pool called `=cmd|…` from elsewhere would run when the workbook is opened."""
    for name in ("=1+1", "+1", "-1", "@x", "http://example.org"):
        raw["offers"].append({"id": name, "pool": "east", "kind": "on_demand", "price": 3.2})
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(raw))
    dump_workbook(load(tmp_path / "s.yaml").scenario, tmp_path / "s.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "s.xlsx")["offers"]
    assert {cell.data_type for cell in sheet["A"]} == {"s"}
    assert all(cell.hyperlink is None for cell in sheet["A"])


def test_nothing_is_overwritten(scenario, tmp_path):
    """A second export would silently replace the first."""
    dump_folder(scenario, tmp_path / "f")
    dump_workbook(scenario, tmp_path / "b.xlsx")
    with pytest.raises(UsageError):
        dump_folder(scenario, tmp_path / "f")
    with pytest.raises(UsageError):
        dump_workbook(scenario, tmp_path / "b.xlsx")


def test_the_written_yaml_is_read_by_any_yaml_reader(scenario):
    """Another tool would read other dates, or other names, from a saved run."""
    content = yaml.safe_load(dump_yaml(scenario))
    assert content["horizon"]["start"] == "2026-07-06"
    assert content["offers"][1]["lot_gpus"] == 8
    assert list(content["offers"][1])[:3] == ["id", "pool", "kind"]


def test_defaults_spelt_out_make_no_other_scenario(raw, found, tmp_path):
    """Two runs of the same scenario would not be recognised as such."""
    prints = []
    for number, change in enumerate(({}, {"upfront": 0, "lead": "0 days", "tenor": ["13 weeks"]})):
        raw["offers"][1].update(change)
        path = tmp_path / f"{number}.yaml"
        path.write_text(yaml.safe_dump(raw))
        prints.append(fingerprint(load(path).scenario))
    assert prints[0] == prints[1]
    assert re.fullmatch(r"[0-9a-f]{64}", prints[0])


def test_the_json_schema_covers_every_key(tmp_path):
    """An editor would mark right keys as wrong."""
    schema = json_schema()
    assert schema["$defs"]["Financing"]["properties"]["every"]["default"] == "1 months"
    text = json.dumps(schema)
    assert schema["$schema"].startswith("https://json-schema.org/")
    assert set(TABLES) < set(schema["properties"])
    for table in TABLES:
        for column in columns(table, "USD"):
            assert f'"{column.key}"' in text
    assert '"from"' in text
    assert '"from_date"' not in text
