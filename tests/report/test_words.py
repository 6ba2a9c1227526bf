"""Sentences made from the numbers of a result."""

import dataclasses

import pytest

from gpuladder.plan import Status, Termination
from gpuladder.report.amounts import quantity
from gpuladder.report.words import amount, headline, percent, sentences


def replaced_plan(result, **changes):
    return dataclasses.replace(result, plan=result.plan.model_copy(update=changes))


@pytest.mark.parametrize(
    ("value", "expected"),
    [(8.0, "8"), (12.25, "12.2"), (0.04, "0.04"), (0.000012, "1.2e-05"), (1e-12, "0")],
)
def test_something_is_never_shown_as_nothing(value: float, expected: str) -> None:
    """A limit would be said to be exceeded by 0."""
    assert quantity(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1234567.8, "1,234,568 USD"),
        (12.345, "12.35 USD"),
        (-40904.2, "-40,904 USD"),
        (-0.0001, "0.00 USD"),
    ],
)
def test_money_is_readable(value: float, expected: str) -> None:
    """A board would read seventeen digits, or a cost of minus nothing."""
    assert amount(value, "USD") == expected


@pytest.mark.parametrize(
    ("value", "expected"), [(0.5, "50.0 %"), (0.0019, "0.19 %"), (0.0, "0.0 %"), (-0.25, "-25.0 %")]
)
def test_small_shares_keep_their_digits(value: float, expected: str) -> None:
    """A gap of 0.19 % would be shown as 0.2 %, or as none at all."""
    assert percent(value) == expected


def test_a_plan_stopped_early_does_not_claim_a_proof(result) -> None:
    """Somebody would take the best plan so far for the best there is."""
    stopped = replaced_plan(
        result, status=Status.FEASIBLE, termination=Termination.TIME_LIMIT, gap=0.04
    )
    text = " ".join(sentences(stopped))
    assert "the time limit was reached" in text
    assert "up to 4.0 % cheaper is not ruled out" in text
    assert "proven to be within" not in text


def test_a_plan_without_a_bound_says_so(result) -> None:
    """A missing proof would pass in silence."""
    text = " ".join(sentences(replaced_plan(result, gap=None, bound=None)))
    assert "how close to the cheapest possible is not proven" in text


def test_no_plan_says_why(result) -> None:
    """The user would not know whether to wait longer or to change the scenario."""
    ended = replaced_plan(
        result, status=Status.NO_PLAN, termination=Termination.TIME_LIMIT, objective=None
    )
    assert headline(ended) == (
        "The solver has no plan, and no proof that there is none: the time limit was reached."
    )


def test_one_commitment_is_one(make) -> None:
    """The first sentence of the report would be wrong English, and look careless."""
    assert headline(make(orders=1)) == "Sign 1 commitment for 24 GPUs, by 2026-01-05."


def test_dropped_campaigns_are_named(make) -> None:
    """A team would learn from the calendar that its run was left out."""
    result = make(campaigns=tuple(f"c{i}" for i in range(9)))
    outcomes = ["dropped"] * 7 + ["partial", "planned"]
    rows = tuple(
        dataclasses.replace(row, outcome=outcome)
        for row, outcome in zip(result.tables.campaigns, outcomes, strict=True)
    )
    changed = dataclasses.replace(result, tables=dataclasses.replace(result.tables, campaigns=rows))
    text = " ".join(sentences(changed))
    assert "1 of 9 campaigns are done in full" in text
    assert "Done in part: c7" in text
    assert "Dropped: c0, c1, c2, c3, c4 and 2 more" in text


def test_a_plan_dearer_than_on_demand_says_so(make) -> None:
    """A loss would be presented as a saving."""
    result = make()
    worse = dataclasses.replace(result, metrics={**result.metrics, "effective_savings_rate": -0.1})
    assert any(
        "this plan, with what is already held, costs 10.0 % more" in text
        for text in sentences(worse)
    )


def test_an_audit_that_was_not_done_is_not_passed_over(make) -> None:
    """An unaudited plan would look like an audited one."""
    assert "The plan was not audited." in sentences(make(audit=None))


@pytest.mark.parametrize(
    ("rate", "expected"),
    [(0.0004, "costs the same."), (-0.0004, "costs the same."), (-0.0006, "costs 0.06 % more.")],
)
def test_a_difference_of_nothing_is_none(result, rate: float, expected: str) -> None:
    """A plan that costs a little more would be praised for costing 0.0 % less."""
    metrics = {**result.metrics, "effective_savings_rate": rate}
    said = sentences(dataclasses.replace(result, metrics=metrics))
    assert next(text for text in said if "on-demand list prices" in text).endswith(expected)


def test_commitments_that_never_run_together_are_not_added_up(make) -> None:
    """A buyer would ask for capacity that is never there at once.

    The second starts on the day that the first ends.
    """
    result = make(orders=2)
    first, second = result.tables.commitments
    second = dataclasses.replace(
        second, start=first.end, end=first.end + (first.end - first.start), gpus=16
    )
    tables = dataclasses.replace(result.tables, commitments=(first, second))
    assert headline(dataclasses.replace(result, tables=tables)) == (
        "Sign 2 commitments, together at most 24 GPUs at a time, the first by 2026-01-05."
    )


def test_backfill_is_set_against_what_its_hours_cost(result) -> None:
    """Revenue below the cost of the hours sold would pass for a gain.

    Idle 8,111.25 and net idle cost 9,000 with 321.09 of revenue: the hours sold cost 1,209.84.
    """
    metrics = {**result.metrics, "idle_net_cost": 9000.0}
    said = " ".join(sentences(dataclasses.replace(result, metrics=metrics)))
    assert (
        "backfill brings in 321.09 USD against 1,210 USD for holding those hours: net -888.75 USD"
    ) in said
