"""A plan corrupted in each way that there is: the audit must name that fault and no other."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from gpuladder.audit import LIMITS, audit
from gpuladder.plan import (
    BackfillSale,
    Dropped,
    FlexUse,
    MeteredUse,
    Order,
    Plan,
    Run,
    SpotUse,
    StableUse,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpuladder.scenario.schema import Scenario

WEEK = [date(2026, 1, 5) + timedelta(weeks=number) for number in range(13)]
NO_LADDER: dict[str, Any] = {"policy.ladder": None}
NO_GENERATION: dict[str, Any] = {"policy.hardware_limits": []}
ANY_SPOT: dict[str, Any] = {"policy.spot_share_max": 1}
Change = "Callable[[Plan], Plan]"


@dataclass(frozen=True)
class Corruption:
    """What is done to the plan, in which variant of the scenario, and what must be found."""

    name: str
    expected: str
    change: Change
    patch: dict[str, Any] = field(default_factory=dict)


def also(table: str, *records: Any) -> Change:
    """Add records."""
    return lambda plan: plan.model_copy(update={table: (*getattr(plan, table), *records)})


def instead(table: str, which: Callable[[Any], bool], **values: Any) -> Change:
    """Change values of the records that are meant, without validation: anything can be on disk."""
    return lambda plan: plan.model_copy(
        update={
            table: tuple(
                record.model_copy(update=values) if which(record) else record
                for record in getattr(plan, table)
            )
        }
    )


def without(table: str, which: Callable[[Any], bool]) -> Change:
    """Take records out."""
    return lambda plan: plan.model_copy(
        update={table: tuple(item for item in getattr(plan, table) if not which(item))}
    )


def both(*changes: Change) -> Change:
    """Do one change after the other."""

    def change(plan: Plan) -> Plan:
        for item in changes:
            plan = item(plan)
        return plan

    return change


def at(week: int) -> Callable[[Any], bool]:
    """Mean the records of one week."""
    return lambda record: record.period == WEEK[week]


def of(key: str) -> Callable[[Any], bool]:
    """Mean the records of one campaign or offer."""
    return lambda record: key in (getattr(record, "campaign", ""), getattr(record, "offer", ""))


def order(offer: str, week: int, lots: int) -> Change:
    """Order more lots."""
    return also("orders", Order(offer=offer, start=WEEK[week], lots=lots))


def more(table: str, record: Any) -> Change:
    """Add a record's GPUs to the record that says the same, or the record where there is none."""
    identity = record.model_dump(exclude={"gpus"})

    def change(plan: Plan) -> Plan:
        same = [r for r in getattr(plan, table) if r.model_dump(exclude={"gpus"}) == identity]
        rest = tuple(r for r in getattr(plan, table) if r not in same)
        gpus = record.gpus + sum(r.gpus for r in same)
        return plan.model_copy(update={table: (*rest, record.model_copy(update={"gpus": gpus}))})

    return change


def on_demand(week: int, gpus: float, offer: str = "od-e", level: int = 0) -> Change:
    """Use more on-demand capacity."""
    return more("on_demand", MeteredUse(offer=offer, period=WEEK[week], level=level, gpus=gpus))


def ample(*weeks: int, offer: str = "od-e") -> Change:
    """Buy enough on demand that supply is not what fails, whatever runs in those weeks."""
    return both(
        *(
            on_demand(week, 50.0, offer, level)
            for week in weeks
            for level in (range(2) if week == 3 and offer == "od-e" else range(1))
        )
    )


def stable(campaign: str, week: int, gpus: float, pool: str = "east") -> Change:
    """Use more of a pool's stable capacity."""
    record = StableUse(campaign=campaign, pool=pool, period=WEEK[week], gpus=gpus)
    return more("stable_use", record)


def spot(campaign: str, week: int, gpus: float, offer: str = "spot-e") -> Change:
    """Use more spot capacity."""
    return more("spot_use", SpotUse(campaign=campaign, offer=offer, period=WEEK[week], gpus=gpus))


def run(campaign: str, **values: Any) -> Change:
    """Change the mode of a gang."""
    return instead("runs", of(campaign), **values)


def shift(week: int, gpus: float) -> Change:
    """Move e1's work from stable capacity to spot."""
    return both(
        instead("stable_use", lambda r: of("e1")(r) and at(week)(r), gpus=12 - gpus),
        instead("spot_use", at(week), gpus=8 + gpus),
    )


NOTHING = MeteredUse(offer="od-e", period=WEEK[10], level=0, gpus=0.0)
SECOND_MODE = Run(campaign="g1", pool="east", spot_offer=None, gpus=16, start=WEEK[2], hours=336)

LIMITS_BROKEN = [
    Corruption("less-on-demand", "stable_supply", instead("on_demand", at(4), gpus=3.0)),
    Corruption(
        "short-at-the-peak-only",
        "stable_supply",
        instead("on_demand", lambda r: r.level == 1, gpus=7.9),
    ),
    Corruption(
        "a-lot-less",
        "stable_supply",
        instead("orders", of("res"), lots=1),
        {"offers.res.min_lots": 1},
    ),
    Corruption(
        "backfill-of-on-demand",
        "backfill_supply",
        both(instead("backfill", at(5), gpus=17.0), on_demand(5, 13.0)),
        {"backfill.b1.max_gpus": 20},
    ),
    Corruption("backfill-too-deep", "backfill_depth", instead("backfill", at(2), gpus=8.5)),
    Corruption(
        "draw-above-held",
        "draw_limit",
        both(instead("drawn", at(4), gpus=9.0), instead("on_demand", at(4), gpus=3.0)),
    ),
    Corruption(
        "draw-for-nobody",
        "draw_use",
        both(
            also("drawn", FlexUse(offer="flex", period=WEEK[5], gpus=14.0)),
            order("flex", 3, 1),
        ),
        NO_LADDER,
    ),
    Corruption(
        "dedicated-on-shared",
        "dedicated_supply",
        both(stable("d1", 6, 5.0, "west"), on_demand(6, 1.0, "od-w")),
    ),
    Corruption(
        "tenant-s-machines-sold",
        "backfill_tenancy",
        both(
            also("backfill", BackfillSale(buyer="b1", pool="west", period=WEEK[6], gpus=8.0)),
            on_demand(6, 4.0, "od-w"),
        ),
        {"backfill.b1.hardware": ["h100", "b200"]},
    ),
    Corruption("hours-nobody-uses", "metered_use", on_demand(10, 1.0)),
    Corruption("over-quota", "on_demand_quota", on_demand(3, 57.0, level=1)),
    Corruption(
        "over-depth",
        "spot_depth",
        spot("e1", 3, 0.1),
        ANY_SPOT | {"offers.spot-e.max_gpus": 10, "campaigns.e1.max_gpus": 21},
    ),
    Corruption("too-wide", "elastic_width", stable("e1", 2, 1.0)),
    Corruption("short-of-work", "elastic_work", instead("stable_use", at(2), gpus=11.0)),
    Corruption(
        "dropped-though-mandatory",
        "elastic_work",
        also("dropped", Dropped(campaign="e1", share=0.25)),
        ANY_SPOT,
    ),
    Corruption(
        "more-than-all-dropped", "elastic_work", instead("dropped", of("e2"), share=1.5), ANY_SPOT
    ),
    Corruption(
        "spot-above-class",
        "class_spot_share",
        both(*(shift(week, 2.1) for week in range(2, 6))),
        ANY_SPOT,
    ),
    Corruption("spot-above-policy", "policy_spot_share", shift(3, 1.0)),
    Corruption("gang-forgotten", "gang_choice", without("runs", of("g1"))),
    Corruption("drop-forgotten", "gang_choice", without("dropped", of("g3"))),
    Corruption("gang-twice", "gang_choice", both(also("runs", SECOND_MODE), ample(2, 3))),
    Corruption(
        "gang-dropped-though-mandatory",
        "gang_choice",
        both(without("runs", of("g1")), also("dropped", Dropped(campaign="g1", share=1.0))),
        ANY_SPOT,
    ),
    Corruption("too-many-lots", "lots_active", order("res", 8, 7), NO_LADDER | NO_GENERATION),
    Corruption("below-minimum", "order_minimum", order("res", 8, 1), NO_LADDER | NO_GENERATION),
    Corruption("expiry-cliff", "ladder", order("res", 4, 2)),
    Corruption("cliff-past-the-end", "ladder", instead("orders", of("own"), lots=4), NO_GENERATION),
    Corruption(
        "provider-too-large",
        "provider_share",
        on_demand(8, 8.0, "od-w"),
        {"policy.provider_share_max": {"bolt": 0.37}},
    ),
    Corruption(
        "committed-too-much",
        "committed_cap",
        order("flex", 4, 1),
        NO_LADDER | {"policy.committed_gpus_max": 40},
    ),
    Corruption("old-generation", "hardware_limit", order("burst", 10, 1)),
    Corruption(
        "over-budget",
        "cash_budget",
        on_demand(2, 0.1),
        {"policy.cash_budgets": [{"from": WEEK[0], "until": WEEK[4], "max": 31248}]},
    ),
]

DATES_AND_MODES = [
    Corruption("before-lead", "order_start", order("res", 0, 2), NO_LADDER),
    Corruption("between-starts", "order_start", order("res", 3, 2), NO_LADDER),
    Corruption(
        "between-boundaries",
        "order_start",
        also("orders", Order(offer="burst", start=date(2026, 1, 7), lots=1)),
    ),
    Corruption(
        "after-the-offer",
        "order_start",
        order("burst", 3, 1),
        {"offers.burst.available_until": WEEK[2]},
    ),
    Corruption(
        "before-the-offer",
        "order_start",
        order("burst", 1, 1),
        {"offers.burst.available_from": WEEK[2]},
    ),
    Corruption("before-earliest", "run_mode", both(run("g1", start=WEEK[1]), ample(1, 2))),
    Corruption("past-deadline", "run_mode", both(run("g1", start=WEEK[5]), ample(5, 6))),
    Corruption(
        "past-the-horizon",
        "run_mode",
        both(run("g1", start=WEEK[11]), ample(11)),
        {"campaigns.g1.deadline": date(2026, 6, 1)},
    ),
    Corruption("mid-week", "run_mode", both(run("g1", start=date(2026, 1, 27)), ample(5))),
    Corruption("size-not-listed", "run_mode", both(run("g1", gpus=32, hours=168.0), ample(3))),
    Corruption(
        "part-of-a-node",
        "run_mode",
        both(run("g1", gpus=12, hours=448.0), ample(5)),
        {"campaigns.g1.gpus": [12, 16], "campaigns.g1.max_duration": "3 weeks"},
    ),
    Corruption("too-short", "run_mode", run("g1", hours=300.0)),
    Corruption(
        "too-long", "run_mode", both(run("g1", gpus=8, start=WEEK[2], hours=672.0), ample(2, 5))
    ),
    Corruption(
        "wrong-pool", "run_mode", both(run("g1", pool="west", hours=168.0), ample(3, offer="od-w"))
    ),
    Corruption(
        "spot-of-another-pool",
        "run_mode",
        run("g2", spot_offer="spot-w"),
        {"campaigns.g2.hardware": None},
    ),
]

ELIGIBILITY = [
    Corruption(
        "pool-filtered-out",
        "eligibility",
        both(stable("e2", 7, 0.5, "west"), ample(7, offer="od-w")),
    ),
    Corruption("after-deadline", "eligibility", both(stable("e1", 6, 1.0), ample(6))),
    Corruption("spot-for-critical", "eligibility", spot("e2", 7, 1.0), ANY_SPOT),
    Corruption(
        "spot-for-dedicated",
        "eligibility",
        spot("d1", 7, 1.0, "spot-w"),
        ANY_SPOT | {"campaigns.d1.preemption_class": "free"},
    ),
    Corruption(
        "critical-gang-on-spot",
        "eligibility",
        run("g1", spot_offer="spot-e", hours=420.0),
        ANY_SPOT | {"campaigns.g1.max_duration": "3 weeks"},
    ),
    Corruption(
        "gang-of-a-half-tolerant-class",
        "eligibility",
        run("g1", spot_offer="spot-e", hours=420.0),
        ANY_SPOT
        | {"campaigns.g1.max_duration": "3 weeks", "campaigns.g1.preemption_class": "tolerant"},
    ),
    Corruption("on-demand-before-it-is-sold", "eligibility", on_demand(0, 1.0, "od-w")),
    Corruption(
        "buyer-of-other-hardware",
        "eligibility",
        also("backfill", BackfillSale(buyer="b1", pool="west", period=WEEK[6], gpus=1.0)),
    ),
]

RECORDS = [
    Corruption(
        "unknown-offer", "unknown_id", also("orders", Order(offer="no", start=WEEK[2], lots=1))
    ),
    Corruption("unknown-campaign", "unknown_id", also("dropped", Dropped(campaign="no", share=1))),
    Corruption("unknown-level", "unknown_id", on_demand(2, 1.0, level=1)),
    Corruption(
        "unknown-period",
        "unknown_id",
        also("drawn", FlexUse(offer="flex", period=date(2026, 1, 20), gpus=1)),
    ),
    Corruption(
        "draw-on-a-plain-lease",
        "unknown_id",
        also("drawn", FlexUse(offer="res", period=WEEK[3], gpus=1)),
    ),
    Corruption("half-a-lot", "not_whole", instead("orders", of("res"), lots=2.5), NO_LADDER),
    Corruption("negative-gpus", "negative", on_demand(10, -1.0)),
    Corruption("not-a-number", "negative", on_demand(10, math.nan)),
    Corruption("told-twice", "duplicate", also("on_demand", *[NOTHING, NOTHING])),
    Corruption("order-told-twice", "duplicate", order("own", 8, 0)),
]

STRUCTURE = LIMITS_BROKEN + DATES_AND_MODES + ELIGIBILITY + RECORDS


@pytest.mark.parametrize("case", STRUCTURE, ids=lambda case: case.name)
def test_corrupted_quantity(
    case: Corruption,
    scenario_with: Callable[[dict[str, Any]], Scenario],
    priced: Callable[[Scenario, Plan], Plan],
    plan: Plan,
) -> None:
    """A plan that breaks one rule would be signed if the audit did not name exactly that rule."""
    scenario = scenario_with(case.patch)
    assert audit(scenario, priced(scenario, plan)).findings == ()
    report = audit(scenario, priced(scenario, case.change(plan)))
    # Some corruptions are given ample on-demand capacity, so that supply is not at fault as well.
    codes = {finding.code for finding in report.findings} - {"metered_use"}
    assert codes == {case.expected} - {"metered_use"}
    assert not report.passed


def test_hours_that_nobody_uses_are_found(
    scenario_with: Callable[[dict[str, Any]], Scenario],
    priced: Callable[[Scenario, Plan], Plan],
    plan: Plan,
) -> None:
    """On-demand hours bought to dilute a provider's share would be signed for and never used."""
    scenario = scenario_with({})
    report = audit(scenario, priced(scenario, on_demand(10, 1.0)(plan)))
    assert {finding.code for finding in report.findings} == {"metered_use"}


def test_every_code_has_a_corruption() -> None:
    """A rule without a corrupted plan could stop being checked and nobody would notice."""
    elsewhere = {"cost_line", "objective", "bound", "scenario_mismatch", "metric"}
    assert {case.expected for case in STRUCTURE} | elsewhere == set(LIMITS)
