"""Sweeps: the grid as it is written, cells that are kept, and answers that can be worked out."""

from __future__ import annotations

import json
from datetime import date

import pytest

from gpuladder.analysis.sweep import sweep
from gpuladder.analysis.sweep_grid import read_axes
from gpuladder.errors import ReportError, ScenarioError, UsageError
from gpuladder.pipeline import solve

HOURS = 26 * 7 * 24
"""Hours of the horizon: 26 weeks."""


@pytest.fixture
def steady(desk):
    """One campaign that keeps 8 GPUs busy all 26 weeks, at 3.00 on demand or reserved at ``price``.

    The reservation lasts as long as the horizon, so it is bought where its price is below that of
    on demand: the cost is 8 x 4,368 h x the lower of the two.
    """

    def write(price=1.0, **changes):
        reserved = {
            "id": "standing",
            "pool": "east",
            "kind": "reserved",
            "price": price,
            "tenor": "26 weeks",
            "lot_gpus": 8,
        }
        campaign = {
            "id": "steady",
            "shape": "elastic",
            "preemption_class": "critical",
            "gpu_hours": 8 * HOURS,
            "max_gpus": 8,
            "earliest": desk.week(0),
            "deadline": desk.week(26),
        }
        on_demand = {"id": "od", "pool": "east", "kind": "on_demand", "price": 3.0}
        content = {"offers": [on_demand, reserved], "campaigns": [campaign], **changes}
        return desk.scenario(**content)

    return write


def values(*texts):
    return [axis.values for axis in read_axes(texts)]


def test_a_list_of_values_is_read_as_it_stands():
    """The cells solved would not be those asked for."""
    assert values("offers.od.price=2,2.5, 3") == [("2", "2.5", "3")]
    assert values("campaigns.run.gpus=[64,128],[64]") == [("[64,128]", "[64]")]
    assert values("campaigns.run.repeat={every: 4 weeks, count: 3}") == [
        ("{every: 4 weeks, count: 3}",)
    ]


def test_a_range_has_both_ends_and_even_steps():
    """A break-even between two cells would be looked for in the wrong place."""
    assert values("a=1..3:5") == [("1", "1.5", "2", "2.5", "3")]
    assert values("a=0..0.3:4") == [("0", "0.1", "0.2", "0.3")]
    assert values("a=-0.2..0.2:3,9") == [("-0.2", "0", "0.2", "9")]
    assert values("a=2026-01-01..2026-01-15:3") == [("2026-01-01", "2026-01-08", "2026-01-15")]


def test_values_may_be_given_by_key():
    """A notebook would have to write texts for the numbers it has."""
    axes = read_axes({"a": [1, 2.5, date(2026, 1, 1)], "b": "0..1:2"})
    assert [(axis.key, axis.values) for axis in axes] == [
        ("a", ("1", "2.5", "2026-01-01")),
        ("b", ("0", "1")),
    ]


@pytest.mark.parametrize(
    "texts",
    [
        (),
        ("price",),
        ("=1,2",),
        ("a=",),
        ("a=1,,2",),
        ("a=1,2,1",),
        ("a=1..3",),
        ("a=1..3:1",),
        ("a=low..high:3",),
        ("a=2026-01-01..2026-01-02:3",),
        ("a=0..inf:3",),
        ("a=1..2:20000",),
        ("a=0..1:200", "b=0..1:200"),
        ("a=1", "a=2"),
        ("solver.threads=1,2",),
    ],
)
def test_a_grid_that_cannot_be_meant_is_refused(texts):
    """A slip would start a thousand solves, or none, without a word."""
    with pytest.raises(UsageError) as caught:
        read_axes(texts)
    assert all(problem.fix for problem in caught.value.problems)


def test_every_cell_is_the_answer_of_its_own_scenario(steady):
    """A cell would show a figure that solving its scenario does not give."""
    found = sweep(steady(), ["offers.od.price=0.5,3", "offers.standing.price=1,2"], workers=1)
    assert [cell.values for cell in found.cells] == [
        ("0.5", "1"),
        ("0.5", "2"),
        ("3", "1"),
        ("3", "2"),
    ]
    costs = [8 * HOURS * price for price in (0.5, 0.5, 1.0, 2.0)]
    assert [cell.cost for cell in found.cells] == pytest.approx(costs)
    assert {cell.status for cell in found.cells} == {"optimal"}
    assert [[(x.offer, x.lots, x.gpus) for x in cell.commitments] for cell in found.cells] == [
        [],
        [],
        [("standing", 1, 8)],
        [("standing", 1, 8)],
    ]
    for cell in found.cells:
        settings = [f"{a.key}={v}" for a, v in zip(found.axes, cell.values, strict=True)]
        assert cell.cost == pytest.approx(solve(steady(), overrides=settings).plan.objective)


def test_the_structure_changes_where_the_break_even_lies(steady):
    """The price to hold out for would be read off the wrong row: it is 3.00, by hand."""
    found = sweep(steady(), {"offers.standing.price": "2..4:5"}, workers=1)
    changed = [(cell.values[0], cell.changes) for cell in found.cells if cell.changes]
    (value, (change,)) = changed[0]
    assert len(changed) == 1
    # At 3.0 exactly both cost the same: either may be shown.
    assert value in ("3", "3.5")
    assert change.key == "offers.standing.price"
    assert change.lots == {"standing": -1}
    assert change.text == "standing −1 lot"


def test_spot_that_begins_is_a_change_of_structure(steady, desk):
    """Work that moves to reclaimable capacity would go unnoticed while the lots stay."""
    spot = {"id": "cheap", "pool": "east", "kind": "spot", "price": 0.2, "max_gpus": 8}
    scenario = steady()
    offers = [*scenario.model_dump(mode="json", by_alias=True)["offers"], spot]
    found = sweep(
        steady(offers=offers),
        {"preemption_classes.critical.spot_share_max": [0, 1]},
        workers=1,
    )
    assert [cell.spot_share for cell in found.cells] == pytest.approx([0.0, 1.0])
    assert found.cells[1].changes[0].spot == "begins"


def test_an_infeasible_cell_is_an_answer(steady):
    """The corner of the grid in which there is no plan would end the whole sweep."""
    found = sweep(
        steady(),
        {"offers.od.max_gpus": [4, 8], "offers.standing.max_lots": [0, 1]},
        workers=1,
    )
    assert [cell.status for cell in found.cells] == [
        "infeasible",
        "optimal",
        "optimal",
        "optimal",
    ]
    assert found.cells[0].cost is None
    # Nothing is said of a change where there is nothing to compare with.
    assert found.cells[1].changes == ()


def test_all_that_is_wrong_is_said_before_anything_is_solved(steady, tmp_path):
    """An hour of solving would end in the complaint about the last cell."""
    with pytest.raises(ScenarioError) as caught:
        sweep(
            steady(),
            {"offers.od.price": [3, -1, "dear"], "offers.standing.lot_gpus": [8, 0]},
            cache=tmp_path,
        )
    places = [problem.where for problem in caught.value.problems]
    assert len(places) == 3
    assert all(place.startswith("cell ") for place in places)
    assert "--vary offers.od.price" in places[1]
    assert list(tmp_path.iterdir()) == []


def test_a_key_that_is_wrong_in_all_cells_is_said_once_with_a_guess(steady):
    """The same complaint would be read once a cell, without the way out."""
    with pytest.raises(ScenarioError) as caught:
        sweep(steady(), {"offers.od.prise": [1, 2, 3]})
    (problem,) = caught.value.problems
    assert problem.where == "--vary offers.od.prise"
    assert "did you mean `price`?" in problem.what
    with pytest.raises(ScenarioError) as caught:
        sweep(steady(), {"offers.standin.price": [1, 2, 3]})
    assert "did you mean `standing`?" in caught.value.problems[0].what


def test_wrong_cells_may_be_skipped(steady):
    """A corner of the grid that makes no sense would keep the rest from being solved."""
    found = sweep(steady(), {"offers.od.price": [-1, 3]}, skip_wrong=True, workers=1)
    assert [cell.status for cell in found.cells] == ["wrong", "optimal"]
    assert "out of range" in found.cells[0].note
    with pytest.raises(ScenarioError):
        sweep(steady(), {"offers.od.price": [-1, 0]}, skip_wrong=True, workers=1)


def test_finished_cells_are_not_solved_again(steady, tmp_path, monkeypatch):
    """After an interruption a night's work would be done once more."""
    first = sweep(steady(), {"offers.od.price": [2, 3]}, cache=tmp_path, workers=1)
    monkeypatch.setattr("gpuladder.analysis.sweep_cells.solve_scenario", None)
    again = sweep(steady(), {"offers.od.price": [3, 2]}, cache=tmp_path, workers=1)
    assert [cell.is_reused for cell in first.cells] == [False, False]
    assert [cell.is_reused for cell in again.cells] == [True, True]
    assert [cell.cost for cell in again.cells] == [cell.cost for cell in reversed(first.cells)]
    assert again.cells[0].commitments == first.cells[1].commitments


@pytest.mark.parametrize(
    "change", ["offers.od.price=4", "solver.relative_gap=0.1", "solver.time_limit_seconds=7"]
)
def test_another_question_is_not_answered_from_the_cache(steady, tmp_path, change):
    """A figure of last week's scenario would stand in today's table."""
    vary = {"offers.standing.price": [1]}
    sweep(steady(), vary, cache=tmp_path, workers=1)
    again = sweep(steady(), vary, cache=tmp_path, workers=1, overrides=[change])
    assert not again.cells[0].is_reused


def test_another_version_is_not_answered_from_the_cache(steady, tmp_path, monkeypatch):
    """An error that an update mended would live on in the cache."""
    vary = {"offers.standing.price": [1]}
    sweep(steady(), vary, cache=tmp_path, workers=1)
    monkeypatch.setattr("gpuladder.analysis.sweep_cells.versions", lambda: {"gpuladder": "999"})
    assert not sweep(steady(), vary, cache=tmp_path, workers=1).cells[0].is_reused


@pytest.mark.parametrize("damage", ["", "{", '{"schema": "gpuladder.cell/1"}', "[]"])
def test_a_damaged_cell_is_solved_again(steady, tmp_path, damage):
    """A disk that was full would spoil the sweep for good."""
    vary = {"offers.standing.price": [1]}
    cost = sweep(steady(), vary, cache=tmp_path, workers=1).cells[0].cost
    (path,) = tmp_path.iterdir()
    path.write_text(damage)
    again = sweep(steady(), vary, cache=tmp_path, workers=1).cells[0]
    assert (again.is_reused, again.cost) == (False, cost)
    assert json.loads(path.read_text())["name"] == path.stem


def test_a_cell_is_kept_whole_or_not_at_all(steady, tmp_path, monkeypatch):
    """Half a file would be taken for an answer, or litter the folder."""

    def full(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gpuladder.analysis.sweep_cells.os.fsync", full)
    with pytest.raises(ReportError, match="No space left"):
        sweep(steady(), {"offers.standing.price": [1]}, cache=tmp_path, workers=1)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_keeps_what_is_finished(steady, tmp_path):
    """Ctrl-C would throw away an hour of solving."""

    def interrupt(done, _total):
        if done == 2:
            raise KeyboardInterrupt

    vary = {"offers.standing.price": [1, 2, 2.5, 2.8]}
    found = sweep(steady(), vary, cache=tmp_path, workers=1, on_progress=interrupt)
    assert found.is_interrupted
    assert [cell.status for cell in found.cells] == [*["optimal"] * 2, *["not_solved"] * 2]
    again = sweep(steady(), vary, cache=tmp_path, workers=1)
    assert [cell.is_reused for cell in again.cells] == [True, True, False, False]
    whole = sweep(steady(), vary, workers=1)
    assert [cell.cost for cell in again.cells] == [cell.cost for cell in whole.cells]


def test_equal_cells_are_solved_once(steady):
    """Time would be spent on what is known: here 1 and 1.0 are the same price."""
    told = []
    found = sweep(
        steady(),
        {"offers.standing.price": ["1", "1.0"]},
        workers=1,
        on_progress=lambda done, total: told.append((done, total)),
    )
    assert told == [(0, 1), (1, 1)]
    assert found.cells[0].cost == found.cells[1].cost


def test_the_number_of_workers_changes_nothing(steady):
    """Two people with the same file would argue over two tables."""
    vary = ["offers.od.price=0.5,3", "offers.standing.price=1,2"]
    one, two = (sweep(steady(), vary, workers=workers).record() for workers in (1, 2))
    for record in (one, two):
        for cell in record["cells"]:
            del cell["seconds"]
    assert one == two
