"""Marginals are what the command line would say of the edited scenario, for every kind of limit."""

from __future__ import annotations

import re
import shlex
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import yaml
from tests.analytic.builders import (
    WEEK,
    day,
    demand,
    elastic,
    gang,
    hardware,
    offer,
    pool,
    scenario,
    solved,
)

from gpuladder.analysis.base import tight_base
from gpuladder.analysis.budget import Budget
from gpuladder.analysis.marginals import marginals
from gpuladder.analysis.shadow_prices import shadow_prices
from gpuladder.analysis.shadow_prices_limits import Change, Limit
from gpuladder.audit import Finding, audit
from gpuladder.plan import Status
from gpuladder.scenario.loading import load
from gpuladder.scenario.writing import plain
from gpuladder.solving import solve_scenario

if TYPE_CHECKING:
    from pathlib import Path

    from gpuladder.analysis.answers import ShadowPriceRow
    from gpuladder.scenario.schema import Scenario

GAP = 1e-9


def budget(seconds: float = 120.0, workers: int = 1) -> Budget:
    """Return a budget for small programs."""
    return Budget(
        stop_at=time.time() + seconds, workers=workers, seconds_each=20.0, relative_gap=GAP
    )


def every_limit() -> Scenario:
    """Return a small scenario in which every kind of limit stands, and most of them bind."""
    return scenario(
        weeks=6,
        hardware=[hardware(), hardware("a100", relative_speed=0.5)],
        pools=[pool(), pool("west", provider="beta", hardware="a100")],
        demand=demand([9, 12, 10, 8, 8, 8]),
        offers=[
            offer("on_demand", price=3.0, max_gpus=24),
            offer("on_demand", id="west-od", pool="west", price=1.6, max_gpus=32),
            offer("spot", price=1.0, max_gpus=10),
            offer("reserved", price=1.4, tenor="2 weeks", lot_gpus=8, max_lots=2, lead="7 days"),
            offer(
                "dedicated", pool="west", price=0.7, tenor="3 weeks", lot_gpus=4, min_lots=2,
            ),
        ],
        preemption_classes=[
            {"id": "critical", "spot_share_max": 0},
            {"id": "half", "spot_share_max": 0.4},
        ],
        campaigns=[
            elastic("sweep", 3000, preemption_class="half", max_gpus=24),
            gang("run", [8, 16], 8 * WEEK * 1.5, deadline=day(6), max_duration="2 weeks"),
        ],
        backfill=[{"id": "market", "value": 0.4, "max_gpus": 16}],
        policy={
            "ladder": {"window": "2 weeks", "max_expiring_share": 0.5, "exempt_gpus": 8},
            "spot_share_max": 0.3,
            "provider_share_max": 0.8,
            "committed_gpus_max": 24,
            "hardware_limits": [{"hardware": "h100", "after": day(3), "max_committed_gpus": 8}],
            "cash_budgets": [{"from": day(), "until": day(2), "max": 16000}],
        },
    )  # fmt: skip


KINDS = {
    "gpu_hours", "deadline", "max_duration", "lead", "stable_supply", "on_demand_quota",
    "spot_depth", "class_spot_share", "policy_spot_share", "lots_active", "order_minimum", "ladder",
    "provider_share", "committed_cap", "hardware_limit", "cash_budget", "backfill_depth",
}  # fmt: skip


def written(asked: Scenario, folder: Path) -> Path:
    """Return a scenario's YAML file."""
    path = folder / "scenario.yaml"
    path.write_text(yaml.safe_dump(plain(asked), sort_keys=False), encoding="utf-8")
    return path


def loaded(row: ShadowPriceRow, change: str, path: Path, folder: Path) -> Scenario:
    """Return the scenario as the command line reads it with the change that a row names."""
    found = re.match(r"demand of (\w+) (\d+) GPUs? (higher|lower) from (\S+) to (\S+)", change)
    if found is None:
        option, assignment = shlex.split(change)
        assert option == "--set"
        return load(path, overrides=[assignment]).scenario
    place, gpus, way, begin, end = found.groups()
    more = int(gpus) if way == "higher" else -int(gpus)
    rows = yaml.safe_load(path.read_text())["demand"]
    own = [r for r in rows if r["pool"] == place and begin <= str(r["at"])[:10] < end]
    for item in own:
        item["gpus"] += more
    if not own:
        rows.append({"pool": place, "at": begin, "gpus": more})
    overlay = folder / "overlay.yaml"
    overlay.write_text(yaml.safe_dump({"demand": rows}), encoding="utf-8")
    return load(path, overlays=[overlay]).scenario


def test_marginals_are_those_of_the_command_line(tmp_path: Path) -> None:
    """A marginal that no edit of the scenario reproduces cannot be defended in a negotiation.

    The scenario is written to a file, each change is made through the loader as a row words it, and
    the difference of the two optima is taken, undiscounted to the row's period (no discount here).
    """
    asked = every_limit()
    plan = solved(asked)
    rows = [row for row in shadow_prices(asked, plan, budget=budget()) if row.change]
    path = written(asked, tmp_path)
    kinds, compared = set(), 0
    for row in rows:
        costs = row.limit in ("stable_supply", "gpu_hours", "lead", "order_minimum")
        for change in row.change.split("; one less: "):
            is_more = change.startswith("one more: ")
            marginal = row.marginal_up if is_more else row.marginal_down
            text = change.removeprefix("one more: ").removeprefix("one less: ")
            edited = loaded(row, text, path, tmp_path)
            if marginal is None:
                assert f"one unit {'more' if is_more else 'less'}: no plan exists" in row.note
                assert solve_scenario(edited).plan.status is Status.INFEASIBLE
                continue
            again = solved(edited)  # audited
            difference = again.objective - plan.objective
            expected = difference if is_more == costs else -difference
            assert marginal == pytest.approx(expected, abs=2e-6 * plan.objective), row
            assert marginal >= 0
            kinds.add(row.limit)
            compared += 1
    assert kinds == KINDS
    assert compared > 40


def quota_of_two_weeks(gpus: float) -> Scenario:
    """Return demand of 8 and 14 with a quota at 1.0, 6 more at 3.0 and the rest at 5.0."""
    return scenario(
        weeks=2,
        hardware=[hardware(gpus_per_node=1)],
        offers=[
            offer("on_demand", price=1.0, max_gpus=gpus),
            offer("on_demand", id="dear", price=3.0, max_gpus=6),
            offer("on_demand", id="dearest", price=5.0),
        ],
        demand=demand([8, 14]),
    )


def test_limit_dropped_saves_no_more_than_its_marginals_imply() -> None:
    """A worth that grows as it is used up would promise savings that never come.

    With continuous quantities the cost is convex in a limit. At a quota of 5: week 1 has 3 at 3.0,
    week 2 6 at 3.0 and 3 at 5.0, so one GPU more saves 168 × (2.0 + 4.0). Four more save at most
    four times that, and four less cost at least four times one less.
    """
    asked = quota_of_two_weeks(5)
    plan = solved(asked)
    (row,) = (
        row
        for row in shadow_prices(asked, plan, budget=budget())
        if (row.limit, row.key, row.period) == ("on_demand_quota", "on_demand", None)
    )
    assert row.marginal_up == pytest.approx(WEEK * (2.0 + 4.0))
    assert row.marginal_down == pytest.approx(WEEK * (2.0 + 4.0))
    for gpus in (9, 1):
        saving = plan.objective - solved(quota_of_two_weeks(gpus)).objective
        assert saving <= (gpus - 5) * row.marginal_up + 1e-6


def test_marginals_do_not_depend_on_the_number_of_processes() -> None:
    """The same question would get another answer on another machine."""
    asked = quota_of_two_weeks(5)
    plan = solved(asked)
    one, two = (shadow_prices(asked, plan, budget=budget(workers=n)) for n in (1, 2))
    assert one == two


QUOTA = Limit(
    limit="on_demand_quota",
    key="on_demand",
    unit="GPU",
    thing="GPU of quota",
    more=Change("--set offers.on_demand.max_gpus=6", ("offers.on_demand.max_gpus=6",)),
    less=Change("--set offers.on_demand.max_gpus=-1", ("offers.on_demand.max_gpus=-1",)),
)


def test_a_wide_gap_gives_no_marginal() -> None:
    """Noise of two loose solves would be sold as the worth of a node.

    The base is only known to lie between half its cost and its cost, so one unit more may save
    anything up to 1,008 and nothing that is proven.
    """
    asked = quota_of_two_weeks(5)
    plan = solved(asked)
    loose = plan.model_copy(update={"bound": plan.objective * 0.5, "gap": 0.5})
    found = marginals(asked, loose, [QUOTA], budget=budget())[QUOTA.name]
    assert found.up.value is None
    assert "one unit more: between 0 and 1,008, not proven closer" in found.up.note


def test_a_change_that_is_no_scenario_is_said_to_be_none() -> None:
    """A figure would be reported for a scenario that the command line refuses."""
    asked = quota_of_two_weeks(5)
    found = marginals(asked, solved(asked), [QUOTA], budget=budget())[QUOTA.name]
    assert found.down.value is None
    assert found.down.note.startswith("one unit less: refused as a scenario")
    assert found.up.value == pytest.approx(WEEK * (2.0 + 4.0))


def test_base_is_solved_until_differences_mean_something() -> None:
    """Differences would be taken from a plan that is half a per cent too dear."""
    asked = quota_of_two_weeks(5)
    plan = solved(asked)
    loose = plan.model_copy(update={"bound": plan.objective * 0.5, "gap": 0.5})
    late = tight_base(asked, loose, budget(seconds=-1.0)).plan
    assert (late.objective, late.bound) == (loose.objective, loose.bound)
    tight = tight_base(asked, loose, budget()).plan
    assert tight.gap == pytest.approx(0.0, abs=GAP)
    assert tight.objective == pytest.approx(plan.objective)


def test_a_plan_that_fails_the_audit_gives_no_marginal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong answer of the solver would become the worth of a node."""
    asked = quota_of_two_weeks(5)
    plan = solved(asked)
    finding = Finding(code="stable_supply", key="east", period=None, message="short", amount=1.0)
    report = audit(asked, plan)
    monkeypatch.setattr(
        "gpuladder.analysis.marginals.audit", lambda *_: replace(report, findings=(finding,))
    )
    found = marginals(asked, plan, [QUOTA], budget=budget())[QUOTA.name]
    assert found.up.value is None
    assert found.up.note.endswith("does not stand up to the audit: short")
