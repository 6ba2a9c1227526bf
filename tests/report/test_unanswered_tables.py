"""A question of which nothing was solved in time has no table of blanks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpuladder.analysis.answers import AlternativeRow, Answers
from gpuladder.report.tables_answers import alternatives


def row(cost: float | None) -> AlternativeRow:
    return AlternativeRow(
        aim="least_spot",
        slack_share=0.01,
        cost=cost,
        extra_cost=None,
        extra_share=None,
        measure=None,
        measure_of_plan=8.0,
        unit="GPU-hours",
        summary="",
        is_audited=cost is not None,
        note="" if cost else "not solved in the time given",
    )


@pytest.mark.parametrize(("costs", "shown"), [((None, None), 0), ((None, 100.0), 2), ((), 0)])
def test_a_sheet_of_blanks_is_absent(make, costs: tuple[float | None, ...], shown: int) -> None:
    """A board would be handed a page that says nothing but that nothing was solved."""
    rows = tuple(row(cost) for cost in costs)
    result = replace(make(), answers=Answers(alternatives=rows))
    assert len(alternatives(result).rows) == shown
