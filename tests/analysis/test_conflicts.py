"""Conflict sets and what pays without end: named by hand-made scenarios, and tried."""

from __future__ import annotations

import json

import pytest

from gpuladder.analysis.conflicts import explain_infeasible
from gpuladder.analysis.result import ConflictRow
from gpuladder.analysis.unbounded import why_unbounded
from gpuladder.errors import InfeasibleError, UnboundedError
from gpuladder.pipeline import read_run, run, solve, write_run
from gpuladder.plan import Status, Termination
from gpuladder.scenario.schema import Scenario
from gpuladder.solving import solve_scenario
from gpuladder.verdict import require_plan


def scenario(**changes: object) -> Scenario:
    """Return 4 weeks in which 16 GPUs on demand are for sale and a campaign needs 17.5.

    16 x 672 h = 10,752 GPU-hours are there; 11,752 are asked for.
    """
    base = {
        "name": "conflict",
        "horizon": {"start": "2026-07-06", "end": "2026-08-03", "step": "week"},
        "hardware": [{"id": "h100", "memory_gb": 80, "gpus_per_node": 8, "peak_tflops": 989}],
        "pools": [
            {"id": pool, "provider": pool, "region": "us", "hardware": "h100"}
            for pool in ("east", "west")
        ],
        "preemption_classes": [{"id": "critical", "spot_share_max": 0}],
        "offers": [metered("east"), metered("west")],
        "campaigns": [campaign("big", "east", 11752)],
    }
    return Scenario.model_validate({**base, **changes})


def metered(pool: str) -> dict[str, object]:
    return {"id": f"od-{pool}", "pool": pool, "kind": "on_demand", "price": 3.0, "max_gpus": 16}


def lots(**terms: object) -> dict[str, object]:
    return {
        "id": "standing",
        "pool": "east",
        "kind": "reserved",
        "price": 1.0,
        "tenor": "4 weeks",
        "lot_gpus": 8,
        **terms,
    }


def campaign(name: str, pool: str, gpu_hours: float) -> dict[str, object]:
    return {
        "id": name,
        "preemption_class": "critical",
        "shape": "elastic",
        "max_gpus": 512,
        "gpu_hours": gpu_hours,
        "earliest": "2026-07-06",
        "deadline": "2026-08-03",
        "pools": [pool],
    }


def demand(gpus: float) -> list[dict[str, object]]:
    days = [f"2026-07-{day:02d}" for day in range(6, 32)] + ["2026-08-01", "2026-08-02"]
    return [{"pool": "east", "at": day, "gpus": gpus} for day in days]


def by_number(rows: tuple[ConflictRow, ...]) -> dict[int, set[tuple[str, str]]]:
    found: dict[int, set[tuple[str, str]]] = {}
    for row in rows:
        found.setdefault(row.conflict, set()).add((row.limit, row.key))
    return found


def test_the_limits_that_stand_against_each_other_are_named() -> None:
    """The analyst would know who is short, and not which of thirty limits is the cause.

    The campaign's work, the quota of the only offer, and that use has to be supplied.
    """
    found = explain_infeasible(scenario())
    assert found.is_integrality_only is False
    assert by_number(found.conflicts) == {
        1: {("elastic_work", "big"), ("on_demand_quota", "od-east"), ("stable_supply", "east")}
    }
    readings = {row.limit: row.reading for row in found.conflicts}
    assert readings["elastic_work"] == (
        "an elastic campaign's work: big, 11,752 reference GPU-hours"
    )
    assert readings["on_demand_quota"] == (
        "on-demand quota: od-east, 16 GPUs, from 6 July 2026 to 2 August 2026"
    )


def test_without_any_one_of_them_there_is_no_conflict_left() -> None:
    """A set with a limit that has no part in it would send the analyst to the wrong table."""
    with_less_work = scenario(campaigns=[campaign("big", "east", 10752)])
    with_more_quota = scenario(offers=[{**metered("east"), "max_gpus": 18}, metered("west")])
    for changed in (with_less_work, with_more_quota):
        assert solve_scenario(changed).plan.status is Status.OPTIMAL


def test_independent_conflicts_are_all_named() -> None:
    """The second conflict would come up only when the first one has been negotiated away."""
    both = scenario(campaigns=[campaign("big", "east", 11752), campaign("other", "west", 12000)])
    found = by_number(explain_infeasible(both).conflicts)
    keys = [{key for _, key in members} for members in found.values()]
    assert sorted(keys, key=str) == sorted(
        [{"big", "od-east", "east"}, {"other", "od-west", "west"}], key=str
    )


def test_whole_lots_alone_in_the_way_are_said_to_be_that() -> None:
    """An empty conflict would be read as "nothing is in the way".

    A need of 12 GPUs, lots of 8, and at most 12 committed: one and a half lots would do.
    """
    lumpy = scenario(
        offers=[lots()], campaigns=[], demand=demand(12), policy={"committed_gpus_max": 12}
    )
    found = explain_infeasible(lumpy)
    assert found.is_integrality_only is True
    assert found.conflicts == ()
    with pytest.raises(InfeasibleError, match="with parts of lots") as raised:
        solve(lumpy)
    codes = [problem.code for problem in raised.value.problems]
    assert codes[0] == "GL-R013"
    assert "GL-R012" not in codes


def test_a_gang_wider_than_what_is_for_sale_is_named() -> None:
    """A run that fits nowhere would be looked for among the campaigns that do.

    It needs 16 GPUs at once, and 8 are for sale.
    """
    run_of_16 = {
        "id": "run",
        "preemption_class": "critical",
        "shape": "gang",
        "gpus": 16,
        "gpu_hours": 16 * 24 * 14,
        "earliest": "2026-07-06",
        "deadline": "2026-07-27",
        "pools": ["east"],
    }
    offers = [{**metered("east"), "max_gpus": 8}]
    (members,) = by_number(
        explain_infeasible(scenario(offers=offers, campaigns=[run_of_16])).conflicts
    ).values()
    assert {("gang_choice", "run"), ("on_demand_quota", "od-east")} <= members


def test_conflicts_reach_the_error_the_document_and_a_saved_run(tmp_path) -> None:
    """The one sentence that explains the no would be left in memory."""
    result = run(scenario())
    with pytest.raises(InfeasibleError, match="these cannot all be kept"):
        require_plan(result)
    folder = write_run(result, tmp_path)
    saved = json.loads((folder / "result.json").read_text())["infeasible"]
    assert {row["key"] for row in saved["conflicts"]} == {"big", "east", "od-east"}
    assert saved["is_integrality_only"] is False
    assert read_run(folder).infeasible == result.infeasible
    table = (folder / "tables" / "infeasible_conflicts.csv").read_text()
    assert "on-demand quota: od-east" in table


BUYER = {"id": "market", "value": 2.0}


def pays_without_end(**changes: object) -> Scenario:
    """Return a scenario whose lots cost 1.00 and are sold on at 2.00, both without limit.

    The limit on one provider's share keeps the check of the scenario quiet: it might bound it.
    """
    return scenario(
        offers=[metered("east"), lots(), lots(id="west-standing", pool="west", price=2.5)],
        campaigns=[],
        backfill=[BUYER],
        policy={"provider_share_max": 1.0},
        **changes,
    )


def test_the_pair_that_pays_without_end_is_named(tmp_path) -> None:
    """The analyst would look through forty offers for the one with a price in the wrong unit."""
    asked = pays_without_end()
    assert solve_scenario(asked).plan.termination is Termination.UNBOUNDED
    (row,) = why_unbounded(asked)
    assert (row.offer, row.buyers) == ("standing", ("market",))
    with pytest.raises(UnboundedError, match="buying `standing` from 2026-07-06 pays without end"):
        solve(asked)
    result = run(asked)
    folder = write_run(result, tmp_path)
    assert read_run(folder).unbounded == result.unbounded == (row,)


def test_a_limit_on_either_ends_it() -> None:
    """The pair would be named, and the advice given with it would not help."""
    for changes in ({"max_lots": 3}, {"price": 2.1}):
        offers = [metered("east"), lots(**changes)]
        bounded = scenario(offers=offers, campaigns=[], backfill=[BUYER])
        assert solve_scenario(bounded).plan.status is Status.OPTIMAL


def test_hardware_that_is_worth_more_afterwards_needs_no_buyer() -> None:
    """A value kept that outgrows the price, a mistake in one rate, would be blamed on a buyer.

    Bought and kept at 100 a GPU, while money itself loses 1 % a year.
    """
    owned = {
        "id": "own",
        "pool": "east",
        "kind": "owned",
        "lot_gpus": 8,
        "capex_per_gpu": 100.0,
        "opex_per_gpu_hour": 0.0,
        "residual_per_year": 1.0,
        "life": "5 years",
    }
    (row,) = why_unbounded(scenario(offers=[owned], campaigns=[], discount_rate=-0.01))
    assert (row.offer, row.buyers) == ("own", ())
