"""All questions under one budget: what is asked, for how long, and what is said of the rest."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import time

import pytest

from gpuladder.analysis import explain_plan
from gpuladder.analysis.answers import INTERRUPTED, Answers
from gpuladder.analysis.answers_document import answer_sections, read_answers
from gpuladder.analysis.document import result_document
from gpuladder.analysis.explain_plan import (
    FLOOR_SECONDS,
    NO_TIME,
    QUESTIONS,
    answer_all,
    default_seconds,
)
from gpuladder.errors import NoPlanError, Problem
from gpuladder.pipeline import read_run, solve, write_run
from gpuladder.scenario.schema import Scenario
from gpuladder.solving import solve_scenario

NAMES = [question.name for question in QUESTIONS]


@pytest.fixture(scope="module")
def lumpy():
    """Evaluation needs 8 GPUs for four weeks, the sweep 8 more in the second.

    Reserved at 1.00 in lots of 8: 8 x 672 h = 5,376. On demand at 3.00 the sweep costs
    8 x 168 h x 3.00 = 4,032, less than a second reservation. In all 9,408; all on demand 20,160.
    """
    return Scenario.model_validate(
        {
            "name": "lumpy",
            "horizon": {"start": "2026-06-01", "end": "2026-06-29", "step": "week"},
            "hardware": [{"id": "gpu", "memory_gb": 80, "gpus_per_node": 8, "peak_tflops": 989}],
            "pools": [{"id": "east", "provider": "cloud", "region": "us", "hardware": "gpu"}],
            "preemption_classes": [{"id": "steady", "spot_share_max": 0}],
            "offers": [
                {"id": "metered", "pool": "east", "kind": "on_demand", "price": 3.0},
                {
                    "id": "standing",
                    "pool": "east",
                    "kind": "reserved",
                    "price": 1.0,
                    "tenor": "4 weeks",
                    "lot_gpus": 8,
                },
                {
                    "id": "block",
                    "pool": "east",
                    "kind": "burst_window",
                    "price": 3.5,
                    "tenor": "1 weeks",
                    "lot_gpus": 8,
                },
            ],
            "campaigns": [
                {
                    "id": name,
                    "shape": "elastic",
                    "preemption_class": "steady",
                    "gpu_hours": hours,
                    "max_gpus": 8,
                    "earliest": first,
                    "deadline": last,
                }
                for name, hours, first, last in (
                    ("evaluation", 5376, "2026-06-01", "2026-06-29"),
                    ("sweep", 1344, "2026-06-08", "2026-06-15"),
                )
            ],
            "policy": {"tail_charge": 1.0},
        }
    )


@pytest.fixture(scope="module")
def plan(lumpy):
    return solve_scenario(lumpy).plan


@pytest.fixture(scope="module")
def answers(lumpy, plan):
    return answer_all(lumpy, plan, seconds=60.0, workers=1)


@pytest.fixture
def asked(monkeypatch):
    """Replace the questions by ones that note their budgets."""
    noted = {}

    def replace(**asks):
        def ask(name):
            def noting(scenario, plan, budget):
                noted[name] = budget
                return asks.get(name, lambda: {})()

            return noting

        monkeypatch.setattr(
            explain_plan,
            "QUESTIONS",
            tuple(
                dataclasses.replace(each, ask=ask(each.name.replace(" ", "_").replace("-", "_")))
                for each in QUESTIONS
            ),
        )
        return noted

    return replace


def test_every_question_is_answered_where_there_is_time(answers):
    """The analyst would sign without the numbers to negotiate with."""
    empty = [
        field.name
        for field in dataclasses.fields(Answers)
        if field.name != "unanswered" and not getattr(answers, field.name)
    ]
    assert empty == []
    assert answers.unanswered == ()
    dearest = {row.baseline: row for row in answers.baselines}
    assert max(row.cost for row in dearest.values()) >= 20160 - 1e-6
    assert answers.waterfall[-1].cost_after == pytest.approx(9408)
    by_offer = {row.offer: row for row in answers.walk_away}
    # In place of the first reservation 8 GPUs on demand, all four weeks: three times its price.
    assert by_offer["standing"].walk_away_price == pytest.approx(3.0, rel=2e-3)


def test_the_answers_come_back_from_the_document_as_they_were(answers):
    """A saved run rendered again would show other figures than the first time."""
    written = json.dumps(answer_sections(answers), default=str, allow_nan=False)
    assert read_answers(json.loads(written)) == answers


def test_shadow_prices_have_the_keys_of_the_schema(answers):
    """Scripts that read result.json would not find what is documented."""
    (first, *_) = answer_sections(answers)["shadow_prices"]
    assert list(first)[:10] == [
        "limit",
        "key",
        "period",
        "unit",
        "reading",
        "fixed_plan_dual",
        "valid_from",
        "valid_to",
        "marginal_up",
        "marginal_down",
    ]


def test_a_document_without_answers_reads_as_none_asked():
    """Runs saved before there were answers could not be rendered again."""
    assert read_answers({"schema": "gpuladder.result/1", "shadow_prices": []}) == Answers()


@pytest.mark.parametrize(
    ("section", "named"),
    [
        ({"walk_away": [{"offer": "x"}]}, "walk_away"),
        ({"burst_or_standing": []}, "burst_or_standing"),
        ({"tornado": 3}, "tornado"),
        ({"baselines": [{"baseline": 1}]}, "baselines"),
    ],
)
def test_a_damaged_section_is_an_error(section, named):
    """Half an answer would be shown as a whole one."""
    with pytest.raises(ValueError, match=named):
        read_answers(section)


def test_no_time_means_no_question(lumpy, plan, asked):
    """`--no-analysis` would cost time."""
    noted = asked()
    assert answer_all(lumpy, plan, seconds=0.0) == Answers()
    assert noted == {}


def test_time_that_is_not_needed_goes_to_the_next(lumpy, plan, asked):
    """A long question at the end would get nothing of what the first ones left over."""
    noted = asked()
    before = time.time()
    answer_all(lumpy, plan, seconds=9.0)
    budgets = list(noted.values())
    assert [name.replace("_", " ") for name in noted] == [n.replace("-", " ") for n in NAMES]
    assert all(budget.workers == 1 for budget in budgets)
    stops = [budget.stop_at for budget in budgets]
    assert stops == sorted(stops)
    # Shares of 9 seconds: the first its part, the last all that is left.
    parts = [each.part for each in QUESTIONS]
    assert stops[0] - before == pytest.approx(9.0 * parts[0] / sum(parts), abs=0.5)
    assert stops[-1] - before == pytest.approx(9.0, abs=0.1)


def test_questions_that_come_too_late_are_named(lumpy, plan, asked):
    """An empty sheet would be read as "nothing to say"."""
    asked(shadow_prices=lambda: time.sleep(0.3) or {})
    answers = answer_all(lumpy, plan, seconds=0.2)
    assert [(each.question, each.why) for each in answers.unanswered] == [
        (name, NO_TIME) for name in NAMES[1:]
    ]


def test_a_question_that_fails_does_not_take_the_plan_with_it(lumpy, plan, asked):
    """One question that cannot be answered would cost the analyst the whole run."""

    def fail():
        raise NoPlanError(Problem(code="GL-R002", what="the solver could not do it"))

    noted = asked(baselines=fail)
    answers = answer_all(lumpy, plan, seconds=5.0)
    assert [each.question for each in answers.unanswered] == ["baselines"]
    assert "the solver could not do it" in answers.unanswered[0].why
    assert len(noted) == len(QUESTIONS)


def test_an_interrupt_ends_the_questions_and_keeps_what_was_answered(lumpy, plan, asked):
    """Ctrl-C during the answers would throw away the plan and every answer before it."""
    sentences = {"burst_or_standing": ("said",)}
    noted = asked(
        shadow_prices=lambda: sentences,
        baselines=lambda: os.kill(os.getpid(), signal.SIGINT) or time.sleep(5.0) or {},
    )
    before = signal.getsignal(signal.SIGINT)
    answers = answer_all(lumpy, plan, seconds=8.0)
    assert answers.burst_or_standing == ("said",)
    assert [each.why for each in answers.unanswered] == [INTERRUPTED] * (len(QUESTIONS) - 2)
    assert len(noted) == 3
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupt_within_a_solve_ends_all_questions(lumpy, plan, asked):
    """Ctrl-C would end one search of a hundred, and the user would wait for the others."""

    def interrupted_solve():
        solve_scenario(lumpy, on_progress=lambda _: os.kill(os.getpid(), signal.SIGINT))
        time.sleep(5.0)
        return {}

    noted = asked(shadow_prices=interrupted_solve)
    answers = answer_all(lumpy, plan, seconds=8.0)
    assert len(noted) == 1
    assert [each.why for each in answers.unanswered] == [INTERRUPTED] * len(QUESTIONS)


def test_the_default_is_the_time_of_the_solve_with_a_floor(plan):
    """A second's solve would be followed by minutes of answers, or by none."""

    def after(seconds):
        return default_seconds(plan.model_copy(update={"seconds": {"solve": seconds}}))

    assert after(0.2) == FLOOR_SECONDS
    assert after(90.0) == 90.0
    assert FLOOR_SECONDS <= 5.0


def test_a_saved_run_has_its_answers_without_solving_again(lumpy, tmp_path, monkeypatch):
    """`gpuladder report` would lose the negotiation sheet, or take as long as the solve."""
    result = solve(lumpy, analysis_seconds=4.0)
    assert result.answers.walk_away
    assert result.seconds["analyse"] > 0.0
    folder = write_run(result, tmp_path)
    document = json.loads((folder / "result.json").read_text())
    assert document["shadow_prices"] == result_document(result)["shadow_prices"]
    monkeypatch.setattr("gpuladder.solver.Program.solve", None)
    assert read_run(folder).answers == result.answers
