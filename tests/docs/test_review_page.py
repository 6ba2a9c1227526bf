"""The page on histories says what the program does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpuladder.cli.import_jobs import import_jobs
from gpuladder.review.calendar import WASTED_STATES, CalendarRule
from gpuladder.review.imports.job_layouts import LAYOUTS

PAGE = Path(__file__).parents[2] / "optimizer" / "gpuladder" / "review" / "REVIEW.md"
SECTION = (
    PAGE.read_text(encoding="utf-8").split("## From jobs to a calendar\n")[1].split("\n## ")[0]
)
FLAGS = {option.name: option for option in import_jobs.params}


@pytest.mark.parametrize(
    "name",
    [
        "gap_hours",
        "longest_days",
        "gang_gpus",
        "gang_gpu_hours",
        "campaign_gpu_hours",
        "slack_days",
        "repeat_least",
        "repeat_days",
        "repeat_share",
    ],
)
def test_each_number_of_the_rule_is_a_flag_with_the_default_that_is_printed(name):
    """Or an analyst would defend a calendar by a rule that did not make it."""
    option = FLAGS[name]
    default = getattr(CalendarRule(), name)
    assert option.default == default
    shown = {f"{default:,g}", f"{default:.0%}".replace("%", " %")}
    (printed,) = re.findall(rf"`{option.opts[0]}`[^()`]*\(([^)]*)\)", SECTION)[:1]
    assert printed in shown


def test_each_flag_that_the_page_names_is_there():
    """Or the page would ask for something that is refused."""
    flags = {flag for option in FLAGS.values() for flag in option.opts}
    assert set(re.findall(r"`(--[a-z-]+)", SECTION)) <= flags


def test_the_wasted_states_are_those_that_are_printed():
    """Or the waste of a calendar could not be followed."""
    (sentence,) = re.findall(r"Wasted are ([A-Z_, a-z\n]+)\n", SECTION)
    assert set(re.findall(r"[A-Z_]{4,}", sentence)) == WASTED_STATES


def test_the_columns_of_each_layout_are_those_that_are_printed():
    """Or a file written by the page would not be read."""
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", SECTION, re.MULTILINE))
    for name, layout in LAYOUTS.items():
        for field in layout.fields:
            if field.required:
                known = {field.name, *field.also}
                assert any(word in rows[name] for word in known), (name, field.name)
