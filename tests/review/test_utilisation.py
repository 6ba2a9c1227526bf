"""Where reserved GPU-hours go, against numbers worked out by hand or by other means."""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from datetime import datetime
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuladder.errors import UsageError
from gpuladder.review.contract_prices import contract_prices, read_prices
from gpuladder.review.held_capacity import with_held_capacity
from gpuladder.review.usage_history import TeamHistory, UsageHistory
from gpuladder.review.utilisation import utilisation
from gpuladder.review.utilisation_pooling import level_for_hours, level_for_work, most_lent
from gpuladder.review.utilisation_result import ContractPrice
from gpuladder.scenario.schema import HeldCommitment

HELIOS = Path(__file__).parents[2] / "scenarios" / "data" / "helios_earth_hourly_2020.csv"
NAN = math.nan


def history(*teams, step_hours=1):
    """Return a history of teams given as (name, pool, quantities)."""
    made = tuple(
        TeamHistory(
            team=name,
            pool=pool,
            quantities={key: np.array(values, float) for key, values in quantities.items()},
        )
        for name, pool, quantities in teams
    )
    steps = len(next(iter(made[0].quantities.values())))
    return UsageHistory(
        start=datetime.fromisoformat("2026-01-01"), step_hours=step_hours, steps=steps, teams=made
    )


def priced(history, price):
    """Return one price for every team."""
    return {team.key: ContractPrice(value=price, source="stated") for team in history.teams}


@pytest.fixture(scope="module")
def helios():
    """Eleven real teams in May 2020, read without the importer."""
    columns = {"capacity": "capacity_gpus", "allocated": "running_gpus", "pending": "pending_gpus"}
    rows = defaultdict(lambda: defaultdict(list))
    with HELIOS.open(newline="") as file:
        for row in csv.DictReader(file):
            for key, column in columns.items():
                rows[row["vc"]][key].append(float(row[column]))
    return history(*((vc, None, quantities) for vc, quantities in sorted(rows.items())))


def test_a_reservation_splits_into_busy_stalled_and_empty():
    """Lost GPU-hours counted twice, or not at all, would be a wrong saving in a renewal.

    8 reserved over three hours, 24 GPU-hours. Allocated 8, 4, 0: empty 0 + 4 + 8 = 12, used 12.
    Busy 6, 4, 0: stalled 2 of the 12 allocated. Busy of reserved 10 / 24.
    """
    past = history(("a", None, {"capacity": [8, 8, 8], "allocated": [8, 4, 0], "busy": [6, 4, 0]}))
    row = utilisation(past, prices=priced(past, 2.0)).teams[0]
    assert (row.reserved, row.reserved_used, row.empty, row.stalled) == (24, 12, 12, 2)
    assert row.allocated_share == pytest.approx(12 / 24)
    assert row.busy_share == pytest.approx(10 / 12)
    assert row.busy_of_reserved == pytest.approx(10 / 24)
    assert row.not_busy == row.empty + row.stalled
    assert (row.reserved_cost, row.empty_cost, row.stalled_cost) == (48, 24, 4)


def test_only_allocated_says_that_busy_cannot_be_told():
    """A share taken for granted where only one series is known would be an invented figure."""
    found = utilisation(history(("a", None, {"capacity": [8, 8], "allocated": [8, 4]})))
    row = found.teams[0]
    assert row.allocated_share == pytest.approx(0.75)
    assert row.busy_share is None
    assert row.busy_of_reserved is None
    assert row.stalled is None
    assert row.empty_cost is None
    assert any("`busy`" in line for line in found.untold)
    assert any("contract price" in line for line in found.untold)


def test_only_busy_says_that_empty_cannot_be_told():
    """Reserved and not busy is known, but not whether a job held it: 16 - 6 = 10 GPU-hours."""
    found = utilisation(history(("a", None, {"capacity": [8, 8], "busy": [2, 4]})))
    row = found.teams[0]
    assert row.not_busy == 10
    assert row.empty is None
    assert row.allocated_share is None
    assert row.busy_of_reserved == pytest.approx(6 / 16)
    assert any("`allocated`" in line for line in found.untold)


def test_a_gap_is_not_a_zero():
    """Hours without data counted as idle would make a used reservation look half empty.

    Known are the first and the last hour: 4 of 4 and 2 of 4 allocated, 6 of 8.
    """
    found = utilisation(
        history(("a", None, {"capacity": [4, NAN, 4, 4], "allocated": [4, NAN, NAN, 2]}))
    )
    row = found.teams[0]
    assert (row.hours, row.gap_hours) == (2, 2)
    assert row.reserved == 8
    assert row.allocated_share == pytest.approx(6 / 8)


def test_metered_gpus_do_not_fill_the_reservation():
    """GPUs bought by the hour counted as use of the reservation would hide that it stood empty.

    Of 10 allocated 6 are metered, so 4 of 8 reserved are used.
    """
    row = utilisation(
        history(("a", None, {"capacity": [8], "allocated": [10], "metered": [6]}))
    ).teams[0]
    assert (row.reserved_used, row.empty, row.beyond) == (4, 4, 0)


def test_what_is_beyond_the_reservation_is_told_apart():
    """12 allocated of 8 reserved: used 8, empty 0, and 4 that the reservation cannot explain."""
    row = utilisation(history(("a", None, {"capacity": [8], "allocated": [12]}))).teams[0]
    assert (row.reserved_used, row.empty, row.beyond) == (8, 0, 4)
    assert row.allocated_share == 1.0


def test_dormant_jobs_are_part_of_the_stalled():
    """A finished job's GPUs are lost once, as part of the stalled: 8 - 3 = 5, of them 4."""
    past = history(("a", None, {"capacity": [8], "allocated": [8], "busy": [3], "dormant": [4]}))
    row = utilisation(past, prices=priced(past, 3.0)).teams[0]
    assert (row.stalled, row.dormant) == (5, 4)
    assert (row.stalled_cost, row.dormant_cost) == (15, 12)


def test_daily_steps_count_as_24_hours():
    """A day read as an hour would make money 24 times too small: 8 GPUs over 2 days is 384."""
    row = utilisation(
        history(("a", None, {"capacity": [8, 8], "allocated": [8, 2]}), step_hours=24)
    ).teams[0]
    assert (row.reserved, row.empty, row.hours) == (384, 144, 48)


def test_contradicting_series_are_named():
    """Busy above allocated means that a column was read as what it is not."""
    found = utilisation(history(("a", None, {"allocated": [4, 4], "busy": [5, 4]})))
    assert [problem.code for problem in found.warnings] == ["GL-I041"]
    assert "1 of 2 steps" in found.warnings[0].what


def test_pools_add_up_their_teams_and_never_mix():
    """A sum over teams of which one is not known would be too small without a word."""
    found = utilisation(
        history(
            ("a", "x", {"capacity": [8], "allocated": [4]}),
            ("b", "x", {"capacity": [4], "allocated": [4]}),
            ("c", "y", {"capacity": [2], "allocated": [NAN]}),
        )
    )
    assert [row.pool for row in found.pools] == ["x", "y", "all"]
    x, y, everything = found.pools
    assert (x.reserved, x.empty) == (12, 4)
    assert y.empty is None
    assert (everything.reserved, everything.empty) == (14, None)
    assert {row.pool for row in found.pooling} == {"x"}, "one team alone has nothing to pool with"


def test_pooling_by_hand():
    """Two teams that peak in turn need half as much together; worked out on paper.

    Needs 4, 0, 2, 2 and 0, 4, 2, 0; together 4, 4, 4, 2. Peak: 4 + 4 against 4. In three of four
    hours: 2 + 2 against 4, nothing saved but a loss (quantiles do not add up). Of GPU-hours 75 %:
    alone 6 of 8 at level 2 (2 + 0 + 2 + 2) and 4.5 of 6 at 2.5 (2.5 + 2 = 4.5), whole GPUs 2 + 3;
    together 10.5 of 14 at (10.5 - 2) / 3 = 2.83, whole GPUs 3.
    """
    past = history(
        ("a", None, {"capacity": [4] * 4, "allocated": [3, 0, 2, 2], "pending": [1, 0, 0, 0]}),
        ("b", None, {"capacity": [4] * 4, "allocated": [0, 4, 2, 0], "pending": [0, 0, 0, 0]}),
    )
    found = utilisation(past, prices=priced(past, 0.5), hours_share=0.75, work_share=0.75)
    rows = {row.standard: (row.alone, row.pooled, row.saved) for row in found.pooling}
    assert rows == {"peak": (8, 4, 4), "hours": (4, 4, 0), "work": (5, 3, 2)}
    peak = found.pooling[0]
    assert (peak.held, peak.released, peak.saved_cost) == (8, 4, 4 * 4 * 0.5)


def test_lots_round_every_reservation_up():
    """A reservation is signed in whole nodes: 9 and 3 alone are 16 + 8, together 12 are 16."""
    found = utilisation(
        history(("a", None, {"allocated": [9]}), ("b", None, {"allocated": [3]})), lot_gpus=8
    )
    assert (found.pooling[0].alone, found.pooling[0].pooled) == (24, 16)


def test_lending_by_hand():
    """Waiting work is served by others' empty GPUs alone, and no GPU is lent twice.

    a waits for 3 with 2 empty of its own, b has 1 empty: a can borrow 1, not 3.
    """
    found = utilisation(
        history(
            ("a", None, {"capacity": [8], "allocated": [6], "pending": [3]}),
            ("b", None, {"capacity": [4], "allocated": [3], "pending": [0]}),
        )
    )
    served = {row.team: row.served for row in found.lending}
    assert served == {"a": 1, "b": 0, "all": 1}


def test_prices_of_reservations_weigh_by_gpu_hours():
    """Pooled money at a plain mean of prices would let a small dear reservation count too much.

    8 GPUs at 1.00 and 24 at 2.00: (8 + 48) / 32 = 1.75.
    """
    past = history(
        ("a", None, {"capacity": [8], "allocated": [0]}),
        ("b", None, {"capacity": [24], "allocated": [0]}),
    )
    prices = {
        ("a", None): ContractPrice(value=1.0, source="stated"),
        ("b", None): ContractPrice(value=2.0, source="stated"),
    }
    found = utilisation(past, prices=prices)
    assert found.pooling[0].price == pytest.approx(1.75)
    assert found.pools[0].reserved_cost == pytest.approx(8 + 48)


NEEDS = st.lists(st.integers(0, 30), min_size=1, max_size=12).filter(any)


@given(NEEDS, st.integers(1, 20))
def test_levels_are_the_least_that_serve(values, twentieths):
    """One GPU less than the level would miss the standard, else a reservation is too large."""
    need, share = np.array(values, float), twentieths / 20
    level = level_for_hours(need, share)
    assert (need <= level).mean() >= share - 1e-12
    assert level == min(need) or (need < level).mean() < share
    work = level_for_work(need, share)
    assert np.minimum(need, work).sum() == pytest.approx(share * need.sum())


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=3))
def test_most_lent_is_the_best_of_all_ways_to_lend(teams):
    """Against every way in which two or three teams can lend each other whole GPUs."""
    waiting, idle = [w for w, _ in teams], [i for _, i in teams]
    pairs = [(a, b) for a in range(len(teams)) for b in range(len(teams)) if a != b]
    best = 0
    for flow in product(*(range(min(waiting[a], idle[b]) + 1) for a, b in pairs)):
        taken = [0] * len(teams)
        given_away = [0] * len(teams)
        for amount, (a, b) in zip(flow, pairs, strict=True):
            taken[a] += amount
            given_away[b] += amount
        if all(t <= w for t, w in zip(taken, waiting, strict=True)) and all(
            g <= i for g, i in zip(given_away, idle, strict=True)
        ):
            best = max(best, sum(flow))
    lent = most_lent(np.array(waiting, float)[:, None], np.array(idle, float)[:, None])
    assert lent[0] == best


def test_helios_shares_are_the_published_ones(helios):
    """The use of eleven real reservations, against the one-minute samples of the publisher.

    Published with the traces: mean running over capacity of 44,640 one-minute samples each. The
    hourly series has two decimals, so the shares agree to 0.0001.
    """
    published = {
        "vc3sl": 0.6273,
        "vc6YE": 0.9026,
        "vc8Sj": 0.4985,
        "vcJLV": 0.7218,
        "vcJkd": 0.0085,
        "vcLJZ": 0.8719,
        "vcSoL": 0.4760,
        "vcTJs": 0.7298,
        "vcgkz": 0.9099,
        "vcira": 0.0210,
        "vcvlY": 0.6739,
    }
    found = utilisation(helios)
    assert {row.team: round(row.allocated_share, 4) for row in found.teams} == pytest.approx(
        published, abs=1.01e-4
    )
    assert [row.team for row in found.dead] == ["vcJkd", "vcira"]
    waiting = {row.team: row.pending / row.hours for row in found.teams}
    assert waiting["vc6YE"] == pytest.approx(19.90, abs=0.005)


def test_helios_pooling_by_plain_counting(helios):
    """The pooled saving of real teams, found again by trying one GPU after the other."""
    needs = {
        team.team: team.quantities["allocated"] + team.quantities["pending"]
        for team in helios.teams
    }

    def least(need, serves):
        return next(level for level in range(2000) if serves(np.asarray(need), level))

    def in_hours(need, level):
        return (need <= level + 1e-9).sum() >= 0.95 * len(need) - 1e-9

    def in_work(need, level):
        return np.minimum(need, level).sum() >= 0.99 * need.sum() - 1e-6

    def in_full(need, level):
        return (need <= level + 1e-9).all()

    together = np.sum(list(needs.values()), axis=0)
    rows = {row.standard: row for row in utilisation(helios).pooling}
    for standard, serves in (("peak", in_full), ("hours", in_hours), ("work", in_work)):
        assert rows[standard].alone == sum(least(need, serves) for need in needs.values())
        assert rows[standard].pooled == least(together, serves)
    # Peaks of the sum and sum of peaks, from the file by spreadsheet: 682.96 and 958.67 GPUs, the
    # latter in whole GPUs for each team.
    assert rows["peak"].pooled == 683
    assert rows["peak"].held == 624


@pytest.mark.parametrize("text", ["free", "0", "-1", "inf", "=2", "nan"])
def test_prices_that_are_none_are_refused(text):
    """A reservation for nothing would make every loss free."""
    with pytest.raises(UsageError, match="GL-I054"):
        read_prices([text])


def held(**changes):
    fields = {
        "id": "east-1",
        "pool": "east",
        "kind": "reserved",
        "gpus": 8,
        "start": "2025-01-01",
        "end": "2026-06-01",
        "price": 2.0,
    }
    return HeldCommitment.model_validate(fields | changes)


def test_prices_come_from_the_commitments_held_at_the_time():
    """A price that ended before the history began is not the price of that history.

    8 GPUs at 2.00 and 24 at 1.00, both throughout: (16 + 24) / 32 = 1.25.
    """
    past = history(("a", "east", {"capacity": [8, 8]}), ("b", "west", {"capacity": [8, 8]}))
    both = (held(), held(id="east-2", gpus=24, price=1.0), held(id="old", end="2025-06-01"))
    old = held(id="west-1", pool="west", end="2025-06-01")
    prices, doubts = contract_prices(past, {}, (*both, old), "s.yaml")
    assert prices[("a", "east")].value == pytest.approx(1.25)
    assert ("b", "west") not in prices
    assert [doubt.code for doubt in doubts] == ["GL-I054"]
    stated, _ = contract_prices(past, {"west": 3.0}, both, "s.yaml")
    assert stated[("b", "west")] == ContractPrice(value=3.0, source="as stated")


def test_a_price_for_nobody_is_refused():
    """A typing error in a team's name would leave it without money, unseen."""
    past = history(("vision", None, {"capacity": [8]}))
    with pytest.raises(UsageError, match="did you mean `vision`"):
        contract_prices(past, {"visoin": 2.0})


def test_what_a_scenario_holds_is_capacity_where_the_history_has_none():
    """Jobs say what was held by them, not what was reserved; the contract does, while it runs.

    8 GPUs end after the first of two days: 8 × 24 reserved of the 4 × 48 allocated.
    """
    past = history(("a", "east", {"allocated": [4, 4]}), step_hours=24)
    filled, notes = with_held_capacity(past, (held(end="2026-01-02"), held(id="w", pool="west")))
    row = utilisation(filled).teams[0]
    assert (row.reserved, row.reserved_used, row.beyond) == (192, 96, 96)
    assert notes == ("`capacity` of a is what the scenario holds in pool east: east-1",)


def test_what_several_teams_share_is_nobodys_capacity():
    """A reservation given in full to each of two teams would be counted twice."""
    past = history(("a", "east", {"allocated": [4]}), ("b", "east", {"allocated": [4]}))
    filled, notes = with_held_capacity(past, (held(),))
    assert [team.given("capacity") for team in filled.teams] == [None, None]
    assert notes == ()


def test_gaps_and_teams_that_never_meet_are_said():
    """A pool of which no common hour is known would otherwise just not be there."""
    past = history(
        ("a", None, {"capacity": [8, NAN], "allocated": [4, NAN]}),
        ("b", None, {"capacity": [NAN, 8], "allocated": [NAN, 4]}),
    )
    found = utilisation(past)
    assert found.pooling == ()
    assert any("no hour in which all its teams are known" in line for line in found.untold)
    assert any("2 of 4 hours of all teams are not known" in line for line in found.untold)
