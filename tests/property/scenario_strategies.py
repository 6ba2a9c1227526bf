"""Scenarios with every table and key, valid in shape and without errors when checked."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from hypothesis import strategies as st

START = date(2026, 7, 6)
END = START + timedelta(weeks=26)

numbers = st.one_of(
    st.integers(1, 10_000), st.floats(0.001, 1e6, allow_nan=False, allow_infinity=False)
)
work = st.one_of(st.integers(1, 10_000), st.floats(0.1, 1e6))
shares = st.one_of(st.sampled_from([0, 0.1, 0.25, 1]), st.floats(0, 1))
some_shares = st.floats(0.01, 1)
prices = st.floats(2.0, 3.0)
spans = st.builds(
    "{} {}s".format, st.integers(1, 12), st.sampled_from(["day", "week", "month", "year"])
)
days = st.integers(0, 25).map(lambda week: str(START + timedelta(weeks=week)))
names = st.one_of(
    st.sampled_from(
        ["007", "1e3", "no", "null", "~", "true", "0x1F", "2026-07", "=1+1", "+x", "@y", "-z", "#a"]
    ),
    st.sampled_from(
        ["a, b", "a: b", "it's", 'say "so"', "Zürich", "東京", "a.b", "a@4 weeks", "x]"]
    ),
    st.text(
        st.characters(codec="utf-8", categories=("L", "N", "P", "S")), min_size=1, max_size=6
    ).filter(lambda text: text[0] not in "[{"),
)
prose = st.text(
    st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs"), include_characters="\n\t"),
    max_size=40,
)


def optional(draw: Any, row: dict[str, Any], **keys: Any) -> dict[str, Any]:
    """Return the row with some of the keys added."""
    for key, strategy in keys.items():
        if draw(st.booleans()):
            row[key] = draw(strategy)
    return row


def ids(draw: Any, low: int, high: int) -> list[str]:
    return draw(st.lists(names, min_size=low, max_size=high, unique=True))


@st.composite
def offers(draw: Any, name: str, pool: str) -> dict[str, Any]:
    kind = draw(
        st.sampled_from(["on_demand", "spot", "burst_window", "reserved", "dedicated", "owned"])
    )
    row: dict[str, Any] = {"id": name, "pool": pool, "kind": kind}
    if kind == "owned":
        row |= {"capex_per_gpu": draw(st.floats(2e4, 4e4)), "life": "4 years"}
        row |= {"opex_per_gpu_hour": draw(st.floats(0.1, 1.0))}
        worth = st.fixed_dictionaries({"age": st.just("5 months"), "share": shares})
        optional(
            draw,
            row,
            **draw(
                st.sampled_from(
                    [{"residual_per_year": shares}, {"residual_curve": st.tuples(worth).map(list)}]
                )
            ),
            residual_per_generation=shares,
            turnovers=st.lists(st.sampled_from(["2026-08-03", "2028-02-29"]), max_size=2),
            financing=st.fixed_dictionaries(
                {"rate": st.floats(0, 0.5), "term": st.sampled_from(["3 years", "6 months"])},
                optional={"every": st.just("3 months"), "down_payment": shares},
            ),
            depreciation=st.one_of(
                st.fixed_dictionaries({}, optional={"salvage_share": shares}),
                st.just({"method": "declining", "kept_per_year": 0.5}),
                st.just({"method": "by_generation", "kept_per_generation": 0.6}),
            ),
        )
    else:
        row["price"] = draw(prices)
        optional(draw, row, price_change_per_year=st.floats(-0.5, 0.5))
    if kind in ("on_demand", "spot"):
        optional(draw, row, max_gpus=numbers)
    if kind == "on_demand":
        path = [{"from": "2026-08-03", "price": 2.5}, {"from": "2026-10-05", "price": 2.25}]
        optional(draw, row, price_path=st.just(path), available_until=st.just("2026-12-01"))
    elif kind == "spot":
        row.setdefault("max_gpus", 64)
        optional(
            draw,
            row,
            availability=some_shares,
            availability_by_gpus=st.dictionaries(st.integers(1, 512), some_shares, max_size=3),
            node_mtbr_hours=numbers,
            notice_minutes=numbers,
        )
    else:
        row |= {"lot_gpus": draw(st.integers(1, 64)), "max_lots": draw(st.integers(3, 9))}
        optional(
            draw,
            row,
            min_lots=st.integers(0, 3),
            lead=spans,
            start_every=spans,
            available_from=st.just("2026-07-20"),
        )
    if kind in ("burst_window", "reserved", "dedicated"):
        row["tenor"] = draw(st.sampled_from(["4 weeks", ["13 weeks", "26 weeks"], ["12 months"]]))
        if len(row["tenor"]) == 2:
            row["price"] = draw(st.one_of(prices, st.lists(prices, min_size=2, max_size=2)))
        optional(draw, row, upfront=shares, usage_price=st.floats(0, 1))
    if kind == "dedicated":
        optional(draw, row, setup_cost=numbers)
    return row


@st.composite
def campaigns(draw: Any, name: str, classes: list[str]) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": name,
        "shape": draw(st.sampled_from(["elastic", "gang"])),
        "preemption_class": draw(st.sampled_from(classes)),
        "gpu_hours": draw(work),
        "earliest": draw(days),
        "deadline": str(END),
        "drop_cost": draw(numbers),
    }
    optional(
        draw,
        row,
        team=names,
        waste=shares,
        tenancy=st.just("dedicated"),
        coupling=st.just("rack"),
        residency=st.lists(names, min_size=1, max_size=2),
        repeat=st.just({"every": "2 days", "count": 2}),
        storage_gb=numbers,
        egress_gb=numbers,
        staff_cost=numbers,
    )
    if row["shape"] == "elastic":
        row["max_gpus"] = draw(numbers)
        return optional(
            draw,
            row,
            job_gpus=st.integers(1, 64),
            done_gpu_hours=st.just(2e6),
            done_spot_gpu_hours=numbers,
        )
    row["gpus"] = draw(st.sampled_from([8, [8, 16], [64]]))
    return optional(
        draw,
        row,
        scaling=st.dictionaries(st.sampled_from([8, 16]), some_shares),
        max_duration=spans,
    )


@st.composite
def policies(draw: Any, hardware: list[str], providers: list[str]) -> dict[str, Any]:
    return optional(
        draw,
        {},
        ladder=st.fixed_dictionaries(
            {"window": spans, "max_expiring_share": shares},
            optional={"exempt_gpus": numbers, "min_tenor": spans},
        ),
        spot_share_max=shares,
        provider_share_max=st.one_of(st.just(1), st.fixed_dictionaries({providers[0]: st.just(1)})),
        committed_gpus_max=st.integers(1000, 2000),
        hardware_limits=st.just(
            [{"hardware": hardware[0], "after": "2026-10-05", "max_committed_gpus": 1500}]
        ),
        cash_budgets=st.lists(
            st.just({"from": "2026-07-06", "until": "2026-10-05", "max": 1e9}), max_size=1
        ),
        tail_charge=shares,
        so_far=st.just(
            {"gpu_hours": 10, "spot_gpu_hours": 2.5, "provider_gpu_hours": {providers[0]: 7}}
        ),
    )


@st.composite
def scenarios(draw: Any) -> dict[str, Any]:
    """Return plain values of a scenario; every key occurs in some."""
    hardware, pools = ids(draw, 1, 2), ids(draw, 1, 3)
    classes, providers = ids(draw, 1, 2), ids(draw, 1, 2)
    content: dict[str, Any] = {
        "name": draw(names),
        "horizon": draw(
            st.sampled_from(
                [
                    {"start": str(START), "end": str(END), "step": "week"},
                    {
                        "start": str(START),
                        "end": str(END),
                        "step": "week",
                        "counted_from": "2026-04-06",
                    },
                    {
                        "start": str(START),
                        "segments": [
                            {"until": "2026-09-07", "step": "week"},
                            {"until": str(END), "step": "month"},
                        ],
                    },
                ]
            )
        ),
        "hardware": [
            optional(
                draw,
                {"id": name, "memory_gb": 80, "gpus_per_node": 8, "peak_tflops": draw(numbers)},
                relative_speed=st.floats(0.5, 2.0),
                superseded=days,
                node_mtbf_hours=numbers,
            )
            for name in hardware
        ],
        "pools": [
            optional(
                draw,
                {
                    "id": name,
                    "provider": draw(st.sampled_from(providers)),
                    "region": draw(names),
                    "hardware": draw(st.sampled_from(hardware)),
                },
                fabric=st.just("rack"),
                residency=st.lists(names, max_size=2),
            )
            for name in pools
        ],
        "offers": [draw(offers(name, draw(st.sampled_from(pools)))) for name in ids(draw, 0, 4)],
        "preemption_classes": [
            optional(
                draw,
                {"id": name, "spot_share_max": draw(shares)},
                checkpoint_minutes=numbers,
                restart_minutes=numbers,
                checkpoint_interval_minutes=st.one_of(st.just("auto"), numbers),
            )
            for name in classes
        ],
        "campaigns": [draw(campaigns(name, classes)) for name in ids(draw, 0, 3)],
        "commitments": [
            optional(
                draw,
                {
                    "id": name,
                    "pool": draw(st.sampled_from(pools)),
                    "kind": "reserved",
                    "gpus": draw(st.floats(1, 100)),
                    "start": "2026-01-05",
                    "end": "2026-10-05",
                    "price": draw(prices),
                },
                tenor=spans,
                upfront=shares,
                dues=st.just([{"on": "2026-08-03", "amount": 12.5}]),
            )
            for name in ids(draw, 0, 2)
        ],
        "backfill": [
            optional(
                draw,
                {"id": name, "value": draw(st.floats(0.1, 1)), "max_gpus": draw(numbers)},
                pools=st.lists(st.sampled_from(pools), min_size=1, max_size=2),
                hardware=st.lists(st.sampled_from(hardware), min_size=1, max_size=1),
            )
            for name in ids(draw, 0, 2)
        ],
    }
    optional(
        draw,
        content,
        description=prose,
        currency=st.just("EUR"),
        discount_rate=st.floats(0, 0.5),
        policy=policies(hardware, providers),
        solver=st.just({"time_limit_seconds": 5, "relative_gap": 1e-9, "threads": 1, "seed": 7}),
        demand=st.lists(
            st.builds(
                lambda hour, gpus: {"pool": pools[0], "at": f"2026-07-{hour}", "gpus": gpus},
                st.sampled_from(["06", "07 01:00", "08 02:30:15"]),
                st.just(0),
            ),
            unique_by=lambda row: row["at"],
            max_size=3,
        ),
    )
    for row in content["campaigns"]:
        if row["shape"] == "gang" and row["gpus"] == 8 and "repeat" not in row:
            optional(draw, row, runs_on=st.sampled_from(pools))
            row["earliest"] = str(START)
    leased = [row for row in content["offers"] if row["kind"] == "reserved"]
    for row in content["commitments"] if leased else ():
        source = draw(st.sampled_from(leased))
        if isinstance(source["tenor"], str) or len(source["tenor"]) == 1:
            optional(draw, row, offer=st.just(source["id"]))
            row["pool"] = source["pool"]
    return content
