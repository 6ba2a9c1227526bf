"""The JSON document of a run: keys, types and what it says without a plan."""

from __future__ import annotations

import dataclasses
import json
import math
from datetime import date

import pytest

from gpuladder.analysis.analyse import analyse
from gpuladder.analysis.document import result_document
from gpuladder.analysis.metrics import METRICS
from gpuladder.analysis.result import Infeasibility, Shortfall
from gpuladder.plan import Status, Termination

KEYS = [
    "schema",
    "status",
    "objective",
    "bound",
    "gap",
    "currency",
    "scenario",
    "versions",
    "seconds",
    "commitments",
    "campaigns",
    "costs",
    "metrics",
    "shadow_prices",
    "walk_away",
    "burst_or_standing",
    "baselines",
    "waterfall",
    "alternatives",
    "quantity_ranges",
    "tornado",
    "unanswered",
    "audit",
]


@pytest.fixture
def one_term(desk):
    """A plan with one order and one gang on it."""
    scenario = desk.scenario(
        campaigns=[
            {
                "id": "run",
                "preemption_class": "critical",
                "shape": "gang",
                "gpus": 8,
                "gpu_hours": 1344,
                "earliest": date(2026, 7, 6),
                "deadline": date(2026, 7, 20),
            }
        ],
        offers=[
            {"id": "od", "pool": "east", "kind": "on_demand", "price": 3.0},
            {
                "id": "burst",
                "pool": "east",
                "kind": "burst_window",
                "price": 2.0,
                "tenor": "1 weeks",
                "lot_gpus": 8,
            },
        ],
    )
    return desk.result(
        scenario,
        8 * 168 * 2.0,
        orders=[{"offer": "burst", "start": desk.week(0), "lots": 1}],
        runs=[
            {
                "campaign": "run",
                "pool": "east",
                "spot_offer": None,
                "gpus": 8,
                "start": desk.week(0),
                "hours": 168.0,
            }
        ],
    )


def test_the_document_has_the_keys_of_its_schema_in_order(one_term):
    """Scripts that read result.json would break without a new schema number."""
    document = result_document(one_term)
    assert list(document) == KEYS
    assert document["schema"] == "gpuladder.result/1"
    assert document["commitments"] == [
        {
            "offer": "burst",
            "pool": "east",
            "kind": "burst_window",
            "start": "2026-07-06",
            "end": "2026-07-13",
            "lots": 1,
            "gpus": 8,
            "cost": 2688.0,
            "tail": 0.0,
        }
    ]
    assert document["campaigns"] == [
        {
            "id": "run",
            "outcome": "planned",
            "start": "2026-07-06",
            "end": "2026-07-13",
            "pool": "east",
            "gpus": 8.0,
            "work": 1344.0,
            "spot_share": 0.0,
            "direct_cost": 2688.0,
            "idle_cost": 0.0,
            "loaded_cost": 2688.0,
        }
    ]
    assert list(document["seconds"]) == ["load", "build", "solve", "analyse", "report"]
    assert document["seconds"]["solve"] == 0.2
    assert document["seconds"]["report"] is None


def test_costs_add_up_to_the_objective(one_term):
    """A reader who adds the lines up would get another number than the headline."""
    document = result_document(one_term)
    assert sum(row["amount"] for row in document["costs"]) == pytest.approx(document["objective"])


def test_every_metric_is_there_and_documented(one_term):
    """A figure without a unit and definition would be read as something else."""
    assert list(one_term.metrics) == list(METRICS)
    assert list(result_document(one_term)["metrics"]) == list(METRICS)
    assert all(metric.unit and metric.definition for metric in METRICS.values())


def test_numbers_that_json_cannot_hold_become_null(one_term):
    """The document would be refused by every strict JSON reader."""
    broken = dataclasses.replace(one_term, metrics={**one_term.metrics, "coverage": math.nan})
    text = json.dumps(result_document(broken), allow_nan=False)
    assert json.loads(text)["metrics"]["coverage"] is None


def test_the_audit_is_carried_with_its_findings(one_term):
    """A plan that failed its audit would be published as sound."""

    class Failed:
        passed = False

        def record(self):
            return {"passed": False, "findings": [{"code": "ladder"}]}

    document = result_document(dataclasses.replace(one_term, audit=Failed()))
    assert document["audit"] == {"passed": False, "findings": [{"code": "ladder"}]}


def test_an_infeasible_scenario_says_who_is_short_of_how_much(desk):
    """ "Infeasible" alone would leave the analyst without anything to change."""
    scenario = desk.scenario()
    plan = desk.plan(scenario, None, status=Status.INFEASIBLE, termination=Termination.INFEASIBLE)
    short = Shortfall(id="big", short_gpu_hours=1000.0, fix="move the deadline by 1 week")
    result = analyse(scenario, plan, infeasible=Infeasibility(campaigns=(short,)))
    document = result_document(result)
    assert list(document) == [*KEYS, "infeasible"]
    assert document["infeasible"] == {
        "campaigns": [
            {"id": "big", "short_gpu_hours": 1000.0, "fix": "move the deadline by 1 week"}
        ],
        "limits": [],
        "conflicts": [],
        "is_integrality_only": False,
    }
    assert document["metrics"] == {}
    assert document["objective"] is None


def test_infeasible_is_left_out_when_there_is_a_plan(desk):
    """A reader would take the presence of the key for the answer no."""
    scenario = desk.scenario()
    result = analyse(scenario, desk.plan(scenario, 0.0), infeasible=Infeasibility())
    assert "infeasible" not in result_document(result)
