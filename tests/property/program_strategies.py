"""Small random scenarios that use most of the mathematics and solve in some milliseconds each.

They are tables, not scenarios, so that a test can change them and build another scenario. On demand
can be had in every pool without a quota, so that baseline demand and stable campaigns always fit;
limits and gangs may still make a scenario infeasible.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from tests.analytic.builders import day, elastic, gang, hardware, held, offer, pool, scenario

from gpuladder.scenario.schema import Scenario

Tables = dict[str, Any]
WEEKS = 4
POOLS = ("east", "west")
CLASSES = [
    {"id": "critical", "spot_share_max": 0},
    {"id": "half", "spot_share_max": 0.5, "checkpoint_minutes": 5, "restart_minutes": 10},
    {"id": "free", "spot_share_max": 1, "checkpoint_minutes": 2, "restart_minutes": 5},
]


def prices(low: float, high: float) -> st.SearchStrategy[float]:
    """Return prices with two decimals."""
    return st.integers(round(100 * low), round(100 * high)).map(lambda cents: cents / 100)


def maybe(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return a value or None; None leaves the key out."""
    return st.none() | values


def given_keys(**values: Any) -> dict[str, Any]:
    """Return the keys that have a value."""
    return {key: value for key, value in values.items() if value is not None}


@st.composite
def committed(draw: st.DrawFn, name: str) -> Tables:
    """Return a committed offer."""
    kind = draw(st.sampled_from(["burst_window", "reserved", "dedicated", "owned"]))
    keys = given_keys(
        pool=draw(st.sampled_from(POOLS)),
        lot_gpus=draw(st.sampled_from([4, 8])),
        max_lots=draw(st.integers(1, 3)),
        min_lots=draw(maybe(st.just(2))),
        start_every=draw(st.sampled_from(["1 weeks", "2 weeks", "4 weeks"])),
        lead=draw(maybe(st.just("7 days"))),
    )
    if kind == "owned":
        return offer(
            kind,
            id=name,
            capex_per_gpu=draw(prices(200, 3000)),
            opex_per_gpu_hour=draw(prices(0, 0.5)),
            life="1 years",
            residual_per_year=draw(prices(0.3, 0.9)),
            **keys,
        )
    keys |= given_keys(
        price=draw(prices(0.5, 3)),
        tenor=draw(st.sampled_from(["1 weeks", "10 days", "2 weeks", "4 weeks", "6 weeks"])),
        upfront=draw(maybe(prices(0, 1))),
        price_change_per_year=draw(maybe(prices(-0.5, 0.5))),
        usage_price=draw(maybe(prices(0.1, 1))),
    )
    if kind == "dedicated":
        keys |= {"setup_cost": draw(prices(0, 500))}
    return offer(kind, id=name, **keys)


@st.composite
def spot(draw: st.DrawFn) -> Tables:
    """Return a spot offer."""
    return offer(
        "spot",
        pool=draw(st.sampled_from(POOLS)),
        price=draw(prices(0.3, 2)),
        max_gpus=draw(st.sampled_from([4, 8, 16])),
        **given_keys(
            availability=draw(maybe(prices(0.4, 1))),
            node_mtbr_hours=draw(maybe(st.sampled_from([20, 200]))),
        ),
    )


@st.composite
def campaign(draw: st.DrawFn, name: str) -> Tables:
    """Return an elastic campaign or a gang."""
    begin = draw(st.integers(0, WEEKS - 2))
    keys = given_keys(
        earliest=day(begin),
        deadline=day(draw(st.integers(begin + 2, WEEKS))),
        preemption_class=draw(st.sampled_from(["critical", "half", "free"])),
        drop_cost=draw(maybe(prices(200, 6000))),
        pools=draw(maybe(st.just(["east"]))),
    )
    hours = draw(st.integers(200, 2400))
    if draw(st.booleans()):
        return elastic(name, hours, max_gpus=draw(st.sampled_from([12, 24])), **keys)
    return gang(name, draw(st.sampled_from([[8], [8, 16]])), hours, **keys)


@st.composite
def policies(draw: st.DrawFn) -> Tables:
    """Return a company's limits, most of them left out."""
    return given_keys(
        tail_charge=draw(maybe(st.sampled_from([0.5, 1.0]))),
        ladder=draw(
            maybe(
                st.builds(
                    lambda share, exempt: {
                        "window": "2 weeks",
                        "max_expiring_share": share,
                        "exempt_gpus": exempt,
                    },
                    st.sampled_from([0.25, 0.5]),
                    st.sampled_from([8, 16]),
                )
            )
        ),
        spot_share_max=draw(maybe(st.sampled_from([0.2, 0.6]))),
        committed_gpus_max=draw(maybe(st.sampled_from([12, 24]))),
    )


@st.composite
def tables(draw: st.DrawFn) -> Tables:
    """Return the tables of a scenario."""
    offers = [
        offer("on_demand", id=f"od-{name}", pool=name, price=draw(prices(2, 5))) for name in POOLS
    ]
    offers += [draw(committed(f"term{number}")) for number in range(draw(st.integers(0, 3)))]
    offers += [draw(spot())] if draw(st.booleans()) else []
    rows = [
        {"pool": "east", "at": day(week, weekday), "gpus": draw(st.sampled_from([0, 3, 8, 14]))}
        for week in range(WEEKS)
        for weekday in range(draw(st.integers(0, 2)))
    ]
    return {
        "weeks": WEEKS,
        "hardware": [hardware(node_mtbf_hours=2000), hardware("fast", relative_speed=1.7)],
        "pools": [pool(), pool("west", provider="beta", hardware="fast")],
        "preemption_classes": CLASSES,
        "offers": offers,
        "campaigns": [draw(campaign(f"run{n}")) for n in range(draw(st.integers(0, 3)))],
        "commitments": [held(6, end=day(2), id="held")] if draw(st.booleans()) else [],
        "backfill": [{"id": "buyer", "value": draw(prices(0.2, 1.5)), "max_gpus": 6}]
        if draw(st.booleans())
        else [],
        "demand": rows,
        "policy": draw(policies()),
        "discount_rate": draw(st.sampled_from([0.0, 0.1])),
    }


def build(given: Tables) -> Scenario:
    """Return the scenario of some tables."""
    return scenario(**given)
