"""Each check speaks up on its own mistake, at its place, and only then."""

from __future__ import annotations

from typing import Any

import pytest

from gpuladder.scenario.codes import CODES

SPOT = {"id": "spot", "pool": "east", "kind": "spot", "price": 1.2, "max_gpus": 64}
RACK_HARDWARE = {"id": "gb200", "memory_gb": 186, "gpus_per_node": 4, "peak_tflops": 2450}
RACK = {"id": "rack", "provider": "acme", "region": "us", "hardware": "gb200", "fabric": "rack"}
WEST = {"id": "west", "provider": "beta", "region": "eu", "hardware": "h100"}
WEST_OD = {"id": "west-od", "pool": "west", "kind": "on_demand", "price": 3.1}
GANG = {
    "id": "train",
    "shape": "gang",
    "preemption_class": "critical",
    "gpu_hours": 1000,
    "gpus": 16,
    "earliest": "2026-07-13",
    "deadline": "2026-08-10",
}
HELD = {
    "id": "held",
    "pool": "east",
    "kind": "reserved",
    "gpus": 40,
    "start": "2026-01-05",
    "end": "2026-10-05",
    "price": 2.0,
}
OWNED = {
    "id": "own",
    "pool": "east",
    "kind": "owned",
    "capex_per_gpu": 30000,
    "opex_per_gpu_hour": 0.5,
    "life": "5 years",
    "lot_gpus": 8,
    "max_lots": 1,
}
AGE = {"age": "2 years", "share": 0.6}
LADDER = {"window": "13 weeks", "max_expiring_share": 0.5}


def offer(raw: dict[str, Any], index: int = 1, **changes: Any) -> None:
    raw["offers"][index].update(changes)


def owned(raw: dict[str, Any], **changes: Any) -> None:
    kept = {key: value for key, value in {**OWNED, **changes}.items() if value is not None}
    raw["offers"].append(kept)


def campaign(raw: dict[str, Any], **changes: Any) -> None:
    raw["campaigns"][0].update(changes)


def gang(raw: dict[str, Any], **changes: Any) -> None:
    raw["campaigns"] = [{**GANG, **changes}]


def add(raw: dict[str, Any], table: str, *rows: dict[str, Any]) -> None:
    raw.setdefault(table, []).extend({**row} for row in rows)


def second_pool(raw: dict[str, Any]) -> None:
    add(raw, "pools", WEST)
    add(raw, "offers", WEST_OD)


def demand(raw: dict[str, Any], days: list[str], **changes: Any) -> None:
    add(raw, "demand", *({"pool": "east", "at": day, "gpus": 8, **changes} for day in days))


def every_week() -> list[str]:
    from datetime import date, timedelta

    return [str(date(2026, 7, 6) + timedelta(weeks=week)) for week in range(26)]


# fault: (name, code, severity, key, words of the message, what to change)
FAULTS: list[tuple[str, str, str, str, tuple[str, ...], Any]] = [
    # Per cent.
    (
        "a discount rate in per cent",
        "GL-S110",
        "warning",
        "discount_rate",
        ("800 %", "0.08"),
        lambda raw: raw.update(discount_rate=8),
    ),
    (
        "a price change in per cent",
        "GL-S110",
        "warning",
        "offers.od.price_change_per_year",
        ("0.05",),
        lambda raw: offer(raw, 0, price_change_per_year=5),
    ),
    (
        "waste in per cent",
        "GL-S110",
        "warning",
        "campaigns.train.waste",
        ("0.1",),
        lambda raw: campaign(raw, waste=10),
    ),
    (
        "a gap in per cent",
        "GL-S110",
        "warning",
        "solver.relative_gap",
        ("0.005",),
        lambda raw: raw.update(solver={"relative_gap": 0.5}),
    ),
    # Names.
    (
        "offer in an unknown pool",
        "GL-S201",
        "error",
        "offers.res.pool",
        ("`esat`", "did you mean `east`"),
        lambda raw: offer(raw, pool="esat"),
    ),
    (
        "pool of unknown hardware",
        "GL-S201",
        "error",
        "pools.east.hardware",
        ("`h200`",),
        lambda raw: raw["pools"][0].update(hardware="h200"),
    ),
    (
        "campaign of an unknown class",
        "GL-S201",
        "error",
        "campaigns.train.preemption_class",
        ("`critcal`",),
        lambda raw: campaign(raw, preemption_class="critcal"),
    ),
    (
        "filter on an unknown provider",
        "GL-S201",
        "error",
        "campaigns.train.providers",
        ("`amce`",),
        lambda raw: campaign(raw, providers=["acme", "amce"]),
    ),
    (
        "filter on an unknown pool",
        "GL-S201",
        "error",
        "campaigns.train.pools",
        ("`wets`",),
        lambda raw: campaign(raw, pools=["east", "wets"]),
    ),
    (
        "filter on unknown hardware",
        "GL-S201",
        "error",
        "campaigns.train.hardware",
        ("`a100`",),
        lambda raw: campaign(raw, hardware=["h100", "a100"]),
    ),
    (
        "renewal under an unknown offer",
        "GL-S201",
        "error",
        "commitments.held.renewable_as",
        ("`rse`",),
        lambda raw: add(raw, "commitments", {**HELD, "renewable_as": "rse"}),
    ),
    (
        "demand of an unknown pool",
        "GL-S201",
        "error",
        "demand[1].pool",
        ("26 rows",),
        lambda raw: demand(raw, every_week(), pool="esat"),
    ),
    (
        "backfill of an unknown pool",
        "GL-S201",
        "error",
        "backfill.sell.pools",
        ("`esat`",),
        lambda raw: add(raw, "backfill", {"id": "sell", "pools": ["esat"], "value": 0.5}),
    ),
    (
        "share of an unknown provider",
        "GL-S201",
        "error",
        "policy.provider_share_max.amce",
        ("`acme`",),
        lambda raw: raw.update(policy={"provider_share_max": {"amce": 0.5}}),
    ),
    (
        "limit on unknown hardware",
        "GL-S201",
        "error",
        "policy.hardware_limits",
        ("`a100`",),
        lambda raw: raw.update(
            policy={
                "hardware_limits": [
                    {"hardware": "a100", "after": "2026-10-01", "max_committed_gpus": 8}
                ]
            }
        ),
    ),
    (
        "one residency tag that no pool has",
        "GL-S202",
        "warning",
        "campaigns.train.residency",
        ("`uk`",),
        lambda raw: (
            raw["pools"][0].update(residency=["us"]),
            campaign(raw, residency=["us", "uk"]),
        ),
    ),
    # Twice.
    (
        "an id used twice",
        "GL-S211",
        "error",
        "offers.od.id",
        ("used twice",),
        lambda raw: add(raw, "offers", {**raw["offers"][0], "price": 3.5}),
    ),
    (
        "a row written twice",
        "GL-S211",
        "error",
        "offers.od.id",
        ("written twice",),
        lambda raw: add(raw, "offers", raw["offers"][0]),
    ),
    (
        "a tenor listed twice",
        "GL-S212",
        "error",
        "offers.res.tenor",
        ("13 weeks",),
        lambda raw: offer(raw, tenor=["13 weeks", "13 weeks"]),
    ),
    (
        "an id that a tenor list makes",
        "GL-S212",
        "error",
        "offers.res.id",
        ("`res@13 weeks`",),
        lambda raw: (
            offer(raw, tenor=["13 weeks", "26 weeks"]),
            add(raw, "offers", {**raw["offers"][0], "id": "res@13 weeks", "price": 3.5}),
        ),
    ),
    (
        "an id that a repeat makes",
        "GL-S212",
        "error",
        "campaigns.train.id",
        ("`train#2`",),
        lambda raw: (
            campaign(raw, repeat={"every": "4 weeks", "count": 2}),
            add(raw, "campaigns", {**raw["campaigns"][0], "id": "train#2", "repeat": None}),
        ),
    ),
    (
        "the same offer under another id",
        "GL-S213",
        "warning",
        "offers.res2",
        ("`res`",),
        lambda raw: add(raw, "offers", {**raw["offers"][1], "id": "res2"}),
    ),
    (
        "a budget written twice",
        "GL-S213",
        "warning",
        "policy.cash_budgets[2]",
        (),
        lambda raw: raw.update(
            policy={"cash_budgets": [{"from": "2026-07-06", "until": "2026-10-05", "max": 9}] * 2}
        ),
    ),
    (
        "two demand rows at one time",
        "GL-S214",
        "error",
        "demand[27].at",
        ("2026-07-06", "twice"),
        lambda raw: demand(raw, [*every_week(), "2026-07-06"]),
    ),
    # Dates.
    (
        "the horizon ends before it starts",
        "GL-S301",
        "error",
        "horizon.end",
        ("2026-07-01",),
        lambda raw: raw["horizon"].update(end="2026-07-01"),
    ),
    (
        "a horizon without an end",
        "GL-S102",
        "error",
        "horizon",
        ("`end`",),
        lambda raw: raw["horizon"].pop("end"),
    ),
    (
        "segments out of order",
        "GL-S301",
        "error",
        "horizon.segments[2].until",
        (),
        lambda raw: raw.update(
            horizon={
                "start": "2026-07-06",
                "segments": [
                    {"until": "2027-01-04", "step": "week"},
                    {"until": "2026-10-05", "step": "month"},
                ],
            }
        ),
    ),
    (
        "periods without number",
        "GL-S305",
        "error",
        "horizon",
        (),
        lambda raw: raw["horizon"].update(start="2026-07-06", end="2126-07-06", step="day"),
    ),
    (
        "a deadline before the earliest date",
        "GL-S301",
        "error",
        "campaigns.train.deadline",
        ("2026-07-13",),
        lambda raw: campaign(raw, deadline="2026-07-10"),
    ),
    (
        "a commitment that ends before it starts",
        "GL-S301",
        "error",
        "commitments.held.end",
        (),
        lambda raw: add(raw, "commitments", {**HELD, "end": "2025-10-05"}),
    ),
    (
        "availability that ends before it begins",
        "GL-S301",
        "error",
        "offers.res.available_until",
        (),
        lambda raw: offer(raw, available_from="2026-08-03", available_until="2026-08-01"),
    ),
    (
        "a price path out of order",
        "GL-S301",
        "error",
        "offers.od.price_path[2].from",
        (),
        lambda raw: offer(
            raw,
            0,
            price_path=[
                {"from": "2026-09-07", "price": 2.9},
                {"from": "2026-08-03", "price": 2.8},
            ],
        ),
    ),
    (
        "a budget that ends before it begins",
        "GL-S301",
        "error",
        "policy.cash_budgets",
        (),
        lambda raw: raw.update(
            policy={"cash_budgets": [{"from": "2026-10-05", "until": "2026-07-06", "max": 9e6}]}
        ),
    ),
    (
        "a campaign after the horizon",
        "GL-S302",
        "error",
        "campaigns.train.earliest",
        ("outside",),
        lambda raw: campaign(raw, earliest="2027-02-01", deadline="2027-03-01"),
    ),
    (
        "repeats beyond the horizon",
        "GL-S302",
        "error",
        "campaigns.train",
        ("`train#8`", "1 more repeat"),
        lambda raw: campaign(raw, repeat={"every": "4 weeks", "count": 9}),
    ),
    (
        "repeats for centuries",
        "GL-S302",
        "error",
        "campaigns.train.repeat",
        (),
        lambda raw: campaign(raw, repeat={"every": "90 years", "count": 900}),
    ),
    (
        "a window partly outside",
        "GL-S303",
        "warning",
        "campaigns.train.deadline",
        ("2027-01-04",),
        lambda raw: campaign(raw, earliest="2026-12-07", deadline="2027-02-01"),
    ),
    # Places.
    (
        "no rack to run in",
        "GL-S401",
        "error",
        "campaigns.train.coupling",
        ("`coupling: rack`", "east"),
        lambda raw: campaign(raw, coupling="rack"),
    ),
    (
        "no dedicated capacity",
        "GL-S401",
        "error",
        "campaigns.train",
        ("dedicated or owned",),
        lambda raw: campaign(raw, tenancy="dedicated"),
    ),
    (
        "a residency that no pool has, with a drop cost",
        "GL-S401",
        "warning",
        "campaigns.train.hardware",
        ("dropped", "500"),
        lambda raw: (
            second_pool(raw),
            add(raw, "hardware", RACK_HARDWARE),
            add(raw, "pools", RACK),
            add(
                raw,
                "campaigns",
                {
                    **raw["campaigns"][0],
                    "pools": ["east"],
                    "hardware": ["gb200"],
                    "drop_cost": 500,
                },
            ),
            raw["campaigns"][0].update(id="other"),
        ),
    ),
    (
        "capacity that comes too late",
        "GL-S401",
        "error",
        "campaigns.train",
        ("no capacity", "2026-08-10"),
        lambda raw: (raw["offers"].pop(0), offer(raw, 0, lead="13 weeks")),
    ),
    (
        "more work than its GPUs can do",
        "GL-S402",
        "error",
        "campaigns.train.gpu_hours",
        ("43,008", "raise `max_gpus`"),
        lambda raw: campaign(raw, gpu_hours=43_100),
    ),
    (
        "gang in parts of nodes",
        "GL-S403",
        "error",
        "campaigns.train.gpus",
        ("12", "multiples of 8"),
        lambda raw: gang(raw, gpus=[12, 20]),
    ),
    (
        "one size in parts of nodes",
        "GL-S406",
        "warning",
        "campaigns.train.gpus",
        ("12",),
        lambda raw: gang(raw, gpus=[12, 16]),
    ),
    (
        "gang larger than any pool",
        "GL-S404",
        "error",
        "campaigns.train.gpus",
        ("256", "`east`", "164"),
        lambda raw: (gang(raw, gpus=[256, 512]), offer(raw, 0, max_gpus=100)),
    ),
    (
        "gang that takes too long",
        "GL-S405",
        "error",
        "campaigns.train",
        ("41.7 days",),
        lambda raw: gang(raw, gpu_hours=16_000),
    ),
    (
        "gang beyond its time to train",
        "GL-S405",
        "error",
        "campaigns.train",
        ("10 days",),
        lambda raw: gang(raw, gpu_hours=5_000, max_duration="10 days"),
    ),
    (
        "scaling for a size that is not there",
        "GL-S407",
        "warning",
        "campaigns.train.scaling",
        ("32",),
        lambda raw: gang(raw, scaling={32: 0.9}),
    ),
    (
        "a job larger than the campaign",
        "GL-S407",
        "warning",
        "campaigns.train.job_gpus",
        ("128",),
        lambda raw: campaign(raw, job_gpus=128),
    ),
    (
        "a job in parts of nodes",
        "GL-S406",
        "warning",
        "campaigns.train.job_gpus",
        ("12",),
        lambda raw: campaign(raw, job_gpus=12),
    ),
    (
        "spot allowed and not on offer",
        "GL-S408",
        "warning",
        "preemption_classes.critical.spot_share_max",
        (),
        lambda raw: raw["preemption_classes"][0].update(spot_share_max=0.5),
    ),
    # Prices.
    (
        "an offer without a price",
        "GL-S501",
        "error",
        "offers.od",
        (),
        lambda raw: raw["offers"][0].pop("price"),
    ),
    (
        "a price path that begins late",
        "GL-S501",
        "error",
        "offers.od.price_path",
        ("2026-07-06", "2026-08-03"),
        lambda raw: (
            raw["offers"][0].pop("price"),
            offer(raw, 0, price_path=[{"from": "2026-08-03", "price": 2.9}]),
        ),
    ),
    (
        "two prices for three tenors",
        "GL-S502",
        "error",
        "offers.res.price",
        ("2 prices for 3 tenors",),
        lambda raw: offer(raw, price=[2.0, 1.9], tenor=["13 weeks", "26 weeks", "52 weeks"]),
    ),
    (
        "hardware that never loses value",
        "GL-S503",
        "error",
        "offers.own.residual_per_year",
        (),
        lambda raw: add(raw, "offers", {**OWNED, "opex_per_gpu_hour": 0, "residual_per_year": 1}),
    ),
    (
        "hardware that loses nothing until it is valued",
        "GL-S503",
        "error",
        "offers.own.residual_curve",
        ("keeps its whole value",),
        lambda raw: owned(raw, opex_per_gpu_hour=0, residual_curve=[AGE | {"share": 1}]),
    ),
    (
        "two values of the same hardware",
        "GL-S512",
        "error",
        "offers.own.residual_curve",
        ("both",),
        lambda raw: owned(raw, residual_per_year=0.6, residual_curve=[AGE]),
    ),
    (
        "hardware that gains value with age",
        "GL-S513",
        "warning",
        "offers.own.residual_curve",
        ("30% of its price at 1 years", "60% at 2 years"),
        lambda raw: owned(
            raw,
            residual_per_year=None,
            residual_curve=[{"age": "1 years", "share": 0.3}, AGE, {"age": "9 years", "share": 0}],
        ),
    ),
    (
        "one age twice in a residual curve",
        "GL-S513",
        "error",
        "offers.own.residual_curve",
        ("12 months", "1 years"),
        lambda raw: owned(
            raw,
            residual_curve=[{"age": "1 years", "share": 0.6}, {"age": "12 months", "share": 0.5}],
        ),
    ),
    (
        "a loan that does not end on a payment",
        "GL-S514",
        "error",
        "offers.own.financing.every",
        ("not a whole number",),
        lambda raw: owned(raw, financing={"rate": 0.1, "term": "1 years", "every": "5 weeks"}),
    ),
    (
        "payments further apart than the loan is long",
        "GL-S514",
        "error",
        "offers.own.financing.every",
        ("6 months", "1 years"),
        lambda raw: owned(raw, financing={"rate": 0.1, "term": "6 months", "every": "1 years"}),
    ),
    (
        "a loan paid back every day",
        "GL-S514",
        "error",
        "offers.own.financing.every",
        ("1400 payments",),
        lambda raw: owned(raw, financing={"rate": 0.1, "term": "200 weeks", "every": "1 days"}),
    ),
    (
        "a loan longer than the life",
        "GL-S515",
        "warning",
        "offers.own.financing.term",
        ("6 years", "5 years"),
        lambda raw: owned(raw, financing={"rate": 0.1, "term": "6 years"}),
    ),
    (
        "interest in per cent",
        "GL-S110",
        "warning",
        "offers.own.financing.rate",
        ("0.09",),
        lambda raw: owned(raw, financing={"rate": 9, "term": "3 years"}),
    ),
    (
        "interest that nobody means",
        "GL-S104",
        "error",
        "offers.own.financing.rate",
        ("at most 10", "12 % is 0.12"),
        lambda raw: owned(raw, financing={"rate": 12, "term": "3 years"}),
    ),
    (
        "a misspelt term of a loan",
        "GL-S101",
        "error",
        "offers.own.financing.downpayment",
        ("did you mean `down_payment`",),
        lambda raw: owned(raw, financing={"rate": 0.1, "term": "3 years", "downpayment": 0.2}),
    ),
    (
        "a loan on a reservation",
        "GL-S101",
        "error",
        "offers.res.financing",
        ("belongs to: owned",),
        lambda raw: offer(raw, financing={"rate": 0.1, "term": "3 years"}),
    ),
    (
        "a share of another depreciation method",
        "GL-S516",
        "error",
        "offers.own.depreciation.kept_per_year",
        ("straight_line", "declining"),
        lambda raw: owned(raw, depreciation={"kept_per_year": 0.5}),
    ),
    (
        "a depreciation method without its share",
        "GL-S516",
        "error",
        "offers.own.depreciation",
        ("`kept_per_year`", "`residual_per_year`"),
        lambda raw: owned(raw, depreciation={"method": "declining"}),
    ),
    (
        "a depreciation method that is none",
        "GL-S107",
        "error",
        "offers.own.depreciation.method",
        ("straight_line",),
        lambda raw: owned(raw, depreciation={"method": "linear"}),
    ),
    (
        "a residual curve that ends before the horizon",
        "GL-S517",
        "warning",
        "offers.own.residual_curve",
        ("2027-01-04", "3 months", "80%"),
        lambda raw: owned(raw, residual_curve=[{"age": "3 months", "share": 0.8}]),
    ),
    (
        "value by generation of hardware that is never superseded",
        "GL-S518",
        "warning",
        "offers.own.residual_per_generation",
        ("`h100`", "`superseded`"),
        lambda raw: owned(raw, residual_per_generation=0.7),
    ),
    (
        "value by generation after the last successor",
        "GL-S518",
        "warning",
        "offers.own.depreciation",
        ("last on 2026-08-01", "from 2026-09-01 on"),
        lambda raw: owned(
            raw,
            depreciation={"method": "by_generation", "kept_per_generation": 0.7},
            available_from="2026-09-01",
            turnovers=["2026-08-01", "2025-06-01"],
        ),
    ),
    (
        "successors that do nothing",
        "GL-S518",
        "warning",
        "offers.own.turnovers",
        ("nothing says",),
        lambda raw: owned(raw, turnovers=["2026-10-01"]),
    ),
    (
        "a commitment above on demand",
        "GL-S504",
        "warning",
        "offers.res.price",
        ("3.5", "`od`"),
        lambda raw: offer(raw, price=3.5),
    ),
    (
        "a flex reservation above on demand",
        "GL-S504",
        "warning",
        "offers.res.price",
        ("3.5",),
        lambda raw: offer(raw, price=1.5, usage_price=2.0),
    ),
    (
        "a buyer above on demand",
        "GL-S505",
        "warning",
        "backfill.sell.value",
        ("3.4",),
        lambda raw: add(raw, "backfill", {"id": "sell", "value": 3.4, "max_gpus": 8}),
    ),
    (
        "money out of nothing",
        "GL-S506",
        "error",
        "offers.res.max_lots",
        ("`sell`", "2.1"),
        lambda raw: (
            raw["offers"][1].pop("max_lots"),
            add(raw, "backfill", {"id": "sell", "value": 2.1}),
        ),
    ),
    (
        "orders larger than all lots",
        "GL-S507",
        "error",
        "offers.res.min_lots",
        (),
        lambda raw: offer(raw, min_lots=9),
    ),
    (
        "lots in parts of nodes",
        "GL-S508",
        "warning",
        "offers.res.lot_gpus",
        (),
        lambda raw: offer(raw, lot_gpus=4),
    ),
    (
        "an offer that can never start",
        "GL-S509",
        "warning",
        "offers.res",
        ("52 weeks",),
        lambda raw: offer(raw, lead="52 weeks"),
    ),
    (
        "a metered offer of last year",
        "GL-S509",
        "warning",
        "offers.spot",
        (),
        lambda raw: add(raw, "offers", {**SPOT, "available_until": "2026-01-01"}),
    ),
    (
        "a pool that nobody can use",
        "GL-S510",
        "warning",
        "offers.west-od.pool",
        ("`west`",),
        lambda raw: (second_pool(raw), campaign(raw, pools=["east"])),
    ),
    (
        "a price per node",
        "GL-S511",
        "warning",
        "offers.west-od.price",
        ("per node of 8 GPUs", "factor 8"),
        lambda raw: (second_pool(raw), offer(raw, 2, price=24.8)),
    ),
    (
        "a price per month",
        "GL-S511",
        "warning",
        "offers.west-od.price",
        ("per month",),
        lambda raw: (second_pool(raw), offer(raw, 2, price=2190)),
    ),
    (
        "a price of a GPU divided by its node",
        "GL-S511",
        "warning",
        "offers.west-od.price",
        ("less", "8"),
        lambda raw: (second_pool(raw), offer(raw, 2, price=0.39)),
    ),
    (
        "a lone price per node",
        "GL-S511",
        "warning",
        "offers.od.price",
        ("12.25",),
        lambda raw: (raw["offers"].pop(1), offer(raw, 0, price=98.0)),
    ),
    # Expiries and limits.
    (
        "a term of 12 months against 13 weeks",
        "GL-S601",
        "warning",
        "offers.res",
        ("1 day after", "13 weeks"),
        lambda raw: (offer(raw, tenor="12 months"), raw.update(policy={"ladder": LADDER})),
    ),
    (
        "a held commitment that lapses before the review",
        "GL-S601",
        "warning",
        "commitments.held.end",
        ("3 days before",),
        lambda raw: (
            add(raw, "commitments", {**HELD, "end": "2026-10-02"}),
            raw.update(policy={"ladder": LADDER}),
        ),
    ),
    (
        "a term of weeks on a grid of months",
        "GL-S601",
        "warning",
        "offers.res",
        ("1 day before", "periods"),
        lambda raw: (
            raw["horizon"].update(start="2026-07-01", end="2027-07-01", step="month"),
            offer(raw, tenor="13 weeks"),
        ),
    ),
    (
        "more held than allowed",
        "GL-S701",
        "error",
        "policy.committed_gpus_max",
        ("40", "2026-07-06"),
        lambda raw: (
            add(raw, "commitments", HELD),
            raw.update(policy={"committed_gpus_max": 32}),
        ),
    ),
    (
        "more held of a generation than allowed",
        "GL-S701",
        "error",
        "policy.hardware_limits[1].max_committed_gpus",
        ("40", "2026-09-07"),
        lambda raw: (
            add(raw, "commitments", HELD),
            raw.update(
                policy={
                    "hardware_limits": [
                        {"hardware": "h100", "after": "2026-09-01", "max_committed_gpus": 8}
                    ]
                }
            ),
        ),
    ),
    (
        "a window shorter than a period",
        "GL-S702",
        "warning",
        "policy.ladder.window",
        (),
        lambda raw: (
            raw["horizon"].update(start="2026-07-01", end="2027-07-01", step="month"),
            offer(raw, tenor="3 months"),
            raw.update(policy={"ladder": {**LADDER, "window": "2 weeks"}}),
        ),
    ),
    (
        "shares that cannot add up",
        "GL-S703",
        "error",
        "policy.provider_share_max",
        ("0.5",),
        lambda raw: (second_pool(raw), raw.update(policy={"provider_share_max": 0.4})),
    ),
    (
        "a ladder for terms that nobody offers",
        "GL-S704",
        "warning",
        "policy.ladder",
        ("2 years",),
        lambda raw: raw.update(policy={"ladder": {**LADDER, "min_tenor": "2 years"}}),
    ),
    (
        "a budget of last year",
        "GL-S704",
        "warning",
        "policy.cash_budgets",
        (),
        lambda raw: raw.update(
            policy={"cash_budgets": [{"from": "2025-07-06", "until": "2026-01-01", "max": 9}]}
        ),
    ),
    (
        "a budget after the last term",
        "GL-S704",
        "warning",
        "policy.cash_budgets",
        ("2027-03-29",),  # thirteen weeks from the last Monday of the horizon
        lambda raw: raw.update(
            policy={"cash_budgets": [{"from": "2027-03-29", "until": "2028-01-01", "max": 9}]}
        ),
    ),
    (
        "starts too far apart for the lead",
        "GL-S509",
        "warning",
        "offers",
        ("every 26 weeks", "`start_every`", "its lead is 1 week"),
        lambda raw: offer(raw, start_every="26 weeks", lead="1 week"),
    ),
    (
        "work in the wrong unit",
        "GL-S410",
        "error",
        "campaigns.train.gpu_hours",
        ("1e-06", "0.1"),
        lambda raw: campaign(raw, gpu_hours=1e-6),
    ),
    (
        "a metered offer of more GPUs than there are",
        "GL-S111",
        "error",
        "offers.od.max_gpus",
        ("1e+14", "1e+09"),
        lambda raw: offer(raw, 0, max_gpus=1e14),
    ),
    (
        "demand of more GPUs than there are",
        "GL-S111",
        "error",
        "demand[4].gpus",
        ("2e+09",),
        lambda raw: (demand(raw, every_week()), raw["demand"][3].update(gpus=2e9)),
    ),
    (
        "a size of more GPUs than there are",
        "GL-S111",
        "error",
        "campaigns.train.gpus",
        ("8e+13",),
        lambda raw: gang(raw, gpus=[16, 80_000_000_000_000]),
    ),
    (
        "a limit of more GPUs than there are",
        "GL-S111",
        "error",
        "policy.committed_gpus_max",
        ("leave the key out",),
        lambda raw: raw.update(policy={"committed_gpus_max": 1e12}),
    ),
    # What is carried over.
    (
        "windows counted from a later date",
        "GL-S602",
        "error",
        "horizon.counted_from",
        ("2026-08-03", "2026-07-06"),
        lambda raw: raw["horizon"].update(counted_from="2026-08-03"),
    ),
    (
        "more done on spot than at all",
        "GL-S602",
        "error",
        "campaigns.train.done_spot_gpu_hours",
        ("20", "10"),
        lambda raw: campaign(raw, done_gpu_hours=10, done_spot_gpu_hours=20),
    ),
    (
        "a run on a misspelt pool",
        "GL-S201",
        "error",
        "campaigns.train.runs_on",
        ("did you mean `east`",),
        lambda raw: gang(raw, runs_on="eest"),
    ),
    (
        "a run under way on spot that may not run on spot",
        "GL-S602",
        "error",
        "campaigns.train.runs_on",
        ("`spot`",),
        lambda raw: (
            gang(raw, runs_on="spot", earliest="2026-07-06"),
            add(raw, "offers", SPOT),
        ),
    ),
    (
        "a run under way of either size",
        "GL-S602",
        "error",
        "campaigns.train.gpus",
        ("one size",),
        lambda raw: gang(raw, runs_on="east", gpus=[16, 32], earliest="2026-07-06"),
    ),
    (
        "a run under way that begins next week",
        "GL-S602",
        "error",
        "campaigns.train.earliest",
        ("2026-07-13",),
        lambda raw: gang(raw, runs_on="east"),
    ),
    (
        "more on spot so far than at all",
        "GL-S602",
        "error",
        "policy.so_far.spot_gpu_hours",
        ("20", "10"),
        lambda raw: raw.update(policy={"so_far": {"gpu_hours": 10, "spot_gpu_hours": 20}}),
    ),
    (
        "GPU-hours so far of a misspelt provider",
        "GL-S201",
        "error",
        "policy.so_far.provider_gpu_hours.acne",
        ("did you mean `acme`",),
        lambda raw: raw.update(policy={"so_far": {"provider_gpu_hours": {"acne": 1}}}),
    ),
    (
        "a payment due after the term",
        "GL-S602",
        "error",
        "commitments.held.dues[1].on",
        ("2026-10-05", "2027-01-04"),
        lambda raw: add(raw, "commitments", {**HELD, "dues": [{"on": "2027-01-04", "amount": 5}]}),
    ),
    (
        "a commitment under a misspelt offer",
        "GL-S201",
        "error",
        "commitments.held.offer",
        ("did you mean `res`",),
        lambda raw: add(raw, "commitments", {**HELD, "offer": "rex"}),
    ),
    (
        "a commitment under an offer of another kind",
        "GL-S602",
        "error",
        "commitments.held.offer",
        ("dedicated",),
        lambda raw: add(raw, "commitments", {**HELD, "kind": "dedicated", "offer": "res"}),
    ),
    (
        "a commitment that ends when its offer's term does not",
        "GL-S602",
        "warning",
        "commitments.held.end",
        ("2026-10-05", "2026-04-06"),
        lambda raw: add(raw, "commitments", {**HELD, "offer": "res"}),
    ),
    # Demand.
    (
        "demand of last year",
        "GL-S801",
        "warning",
        "demand[1].at",
        ("1 demand row", "2025-07-07"),
        lambda raw: demand(raw, ["2025-07-07", *every_week()]),
    ),
    (
        "a hole in the demand",
        "GL-S802",
        "warning",
        "demand",
        ("2 of 26", "2026-07-13"),
        lambda raw: demand(raw, every_week()[:1] + every_week()[3:]),
    ),
    (
        "busy hours written more often than idle ones",
        "GL-S804",
        "warning",
        "demand[26].at",
        # Two of four rows are at 64, for 6 hours each; the others stand for 150: 1/2 against 1/26.
        ("1 of 26", "2026-12-28", "46%"),
        lambda raw: (
            demand(raw, every_week()[:-1]),
            demand(raw, ["2026-12-28 00:00", "2026-12-28 06:00"], gpus=64),
            demand(raw, ["2026-12-28 12:00", "2027-01-03 18:00"]),
        ),
    ),
    (
        "demand without capacity",
        "GL-S803",
        "error",
        "demand[1].pool",
        ("`west`",),
        lambda raw: (add(raw, "pools", WEST), demand(raw, every_week(), pool="west")),
    ),
]

QUIET: list[tuple[str, Any]] = [
    ("a gang at the edge of its window", lambda raw: gang(raw, gpu_hours=16 * 24 * 28)),
    ("a gang at the edge of the lots", lambda raw: (gang(raw, gpus=64), raw["offers"].pop(0))),
    ("an elastic campaign that just fits", lambda raw: campaign(raw, gpu_hours=64 * 24 * 28)),
    ("deep spot discounts", lambda raw: add(raw, "offers", {**SPOT, "price": 0.45})),
    ("cheap long terms", lambda raw: offer(raw, price=1.1, tenor="156 weeks")),
    ("owned hardware", lambda raw: add(raw, "offers", OWNED)),
    (
        "owned hardware on credit, by curve and by generation",
        lambda raw: owned(
            raw,
            financing={"rate": 0.09, "term": "5 years", "every": "3 months", "down_payment": 0.2},
            residual_curve=[AGE, {"age": "5 years", "share": 0}],
            residual_per_generation=0.8,
            turnovers=["2027-03-01"],
            depreciation={"method": "by_generation"},
        ),
    ),
    (
        "a dear loan on hardware that keeps its value",
        lambda raw: owned(
            raw,
            opex_per_gpu_hour=0,
            residual_per_year=1,
            financing={"rate": 0.1, "term": "5 years"},
        ),
    ),
    ("a name that looks like a boolean", lambda raw: raw["pools"][0].update(region="no")),
    (
        "a buyer with a limit",
        lambda raw: add(raw, "backfill", {"id": "sell", "value": 2.1, "max_gpus": 8}),
    ),
    (
        "a buyer without a limit below every price",
        lambda raw: (
            raw["offers"][1].pop("max_lots"),
            add(raw, "backfill", {"id": "sell", "value": 1.9}),
        ),
    ),
    (
        "terms that are multiples of the window",
        lambda raw: (
            offer(raw, tenor=["13 weeks", "364 days"]),
            raw.update(policy={"ladder": LADDER}),
        ),
    ),
    (
        "a burst far shorter than a window",
        lambda raw: (
            add(
                raw,
                "offers",
                {**raw["offers"][1], "id": "b", "kind": "burst_window", "tenor": "10 days"},
            ),
            raw.update(policy={"ladder": LADDER}),
        ),
    ),
    (
        "a held commitment renewed under one tenor of a list",
        lambda raw: (
            offer(raw, tenor=["13 weeks", "26 weeks"]),
            add(raw, "commitments", {**HELD, "renewable_as": "res@26 weeks"}),
        ),
    ),
    ("what is held for nothing", lambda raw: add(raw, "commitments", {**HELD, "price": 0})),
    (
        "two held tranches alike",
        lambda raw: add(raw, "commitments", HELD, {**HELD, "id": "held-2"}),
    ),
    (
        "limits that what is held keeps",
        lambda raw: (
            add(raw, "commitments", HELD),
            raw.update(
                policy={
                    "committed_gpus_max": 40,
                    "hardware_limits": [
                        {"hardware": "h100", "after": "2026-10-05", "max_committed_gpus": 0}
                    ],
                }
            ),
        ),
    ),
    (
        "a budget after the horizon that terms reach",
        lambda raw: raw.update(
            policy={"cash_budgets": [{"from": "2027-03-28", "until": "2028-01-01", "max": 9}]}
        ),
    ),
    ("as little work as counts", lambda raw: campaign(raw, gpu_hours=0.1)),
    ("as many GPUs as count", lambda raw: offer(raw, 0, max_gpus=1e9)),
    (
        "uneven rows at one level",
        lambda raw: (demand(raw, every_week()), demand(raw, ["2026-07-07", "2026-07-08"])),
    ),
    (
        "weekly rows in months",
        lambda raw: (
            raw["horizon"].update(start="2026-07-01", end="2027-01-01", step="month"),
            offer(raw, tenor="3 months"),
            demand(raw, every_week()[::2]),
            demand(raw, every_week()[1::2], gpus=16),
        ),
    ),
    ("daily demand", lambda raw: demand(raw, every_week())),
    (
        "what is carried over from before",
        lambda raw: (
            raw["horizon"].update(counted_from="2026-04-06"),
            gang(raw, runs_on="east", earliest="2026-07-06"),
            add(
                raw,
                "commitments",
                {
                    **HELD,
                    "start": "2026-08-03",
                    "end": "2026-11-02",
                    "offer": "res",
                    "upfront": 0.5,
                    "dues": [{"on": "2026-08-03", "amount": 100}],
                },
            ),
            raw.update(
                policy={
                    "spot_share_max": 0.5,
                    "so_far": {
                        "gpu_hours": 10,
                        "spot_gpu_hours": 5,
                        "provider_gpu_hours": {"acme": 20},
                    },
                }
            ),
        ),
    ),
    (
        "a rack in its own nodes of four",
        lambda raw: (
            add(raw, "hardware", RACK_HARDWARE),
            add(raw, "pools", RACK),
            add(raw, "offers", {**WEST_OD, "pool": "rack", "price": 9.0}),
            gang(raw, coupling="rack", gpus=36),
            add(raw, "campaigns", {**GANG, "id": "other"}),
        ),
    ),
]


def test_the_minimal_scenario_is_clean(raw, found):
    """Every other test here would prove nothing."""
    assert found(raw) == []


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault[0])
def test_a_fault_is_found_alone(fault, raw, found):
    """A mistake would go unseen, or be drowned by false alarms."""
    _, code, severity, key, words, spoil = fault
    spoil(raw)
    problems = found(raw)
    assert [(p.code, str(p.severity)) for p in problems] == [(code, severity)], [
        p.text for p in problems
    ]
    problem = problems[0]
    assert "scenario.yaml:" in problem.where
    assert problem.where.split(" ", 1)[1].startswith(key), problem.where
    assert [word for word in words if word not in problem.text] == [], problem.text
    assert problem.fix or problem.why


@pytest.mark.parametrize("case", QUIET, ids=lambda case: case[0])
def test_what_is_meant_is_not_doubted(case, raw, found):
    """A correct scenario would be refused, or nobody would read the warnings any more."""
    case[1](raw)
    assert [p.text for p in found(raw)] == []


def test_every_code_is_explained():
    """A user who looks a code up would find nothing."""
    assert {fault[1] for fault in FAULTS} <= set(CODES)
    assert all(code.title and code.explanation for code in CODES.values())
