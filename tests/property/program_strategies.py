"""Small random scenarios that use most of the mathematics and solve in some milliseconds each.

They are tables, not scenarios, so that a test can change them and build another scenario. On demand
can be had in every pool without a quota, so that baseline demand and stable campaigns always fit;
limits and gangs may still make a scenario infeasible. The rows come from a seeded generator and not
from strategies of their own: drawn one by one they would be near the simplest most of the time, and
spot, flex reservations and ladders would hardly ever meet.
"""

from __future__ import annotations

import random
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
LADDERS = [
    {"window": "2 weeks", "max_expiring_share": share, "exempt_gpus": exempt}
    for share in (0.25, 0.5)
    for exempt in (8, 16)
]


class Rows:
    """Makes random rows from one seed."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def price(self, low: float, high: float) -> float:
        """Return a price with two decimals."""
        return round(self.rng.uniform(low, high), 2)

    def sometimes(self, share: float, **keys: Any) -> Tables:
        """Return the keys in a share of all cases."""
        return keys if self.rng.random() < share else {}

    def committed(self, name: str) -> Tables:
        """Return a committed offer."""
        kind = self.rng.choice(["burst_window", "reserved", "reserved", "dedicated", "owned"])
        keys = {
            "pool": self.rng.choice(POOLS),
            "lot_gpus": self.rng.choice([4, 8]),
            "max_lots": self.rng.randint(1, 3),
            "start_every": self.rng.choice(["1 weeks", "2 weeks", "4 weeks"]),
            **self.sometimes(0.3, min_lots=2),
            **self.sometimes(0.2, lead="7 days"),
        }
        if kind == "owned":
            return offer(
                kind,
                id=name,
                capex_per_gpu=self.price(2000, 20_000),
                opex_per_gpu_hour=self.price(0, 0.5),
                life=self.rng.choice(["1 years", "1 years", "20 days"]),
                **self.worth(),
                **self.sometimes(0.5, financing=self.loan()),
                **keys,
            )
        keys |= {
            "price": self.price(0.5, 2.5),
            "tenor": self.rng.choice(["1 weeks", "10 days", "2 weeks", "4 weeks", "6 weeks"]),
            **self.sometimes(0.3, upfront=self.price(0, 1)),
            **self.sometimes(0.3, price_change_per_year=self.price(-0.5, 0.5)),
            **self.sometimes(0.3, usage_price=self.price(0.1, 0.5)),
        }
        if kind == "dedicated":
            keys |= {"setup_cost": self.price(0, 300)}
        return offer(kind, id=name, **keys)

    def worth(self) -> Tables:
        """Return what bought hardware keeps of its value."""
        share = self.price(0.3, 0.9)
        by_age = self.rng.choice(
            [
                {"residual_per_year": share},
                {"residual_curve": [{"age": "2 weeks", "share": share}]},
                {},
            ]
        )
        shipped = {"residual_per_generation": 0.8, "turnovers": [day(self.rng.randint(0, WEEKS))]}
        return by_age | self.sometimes(0.3, **shipped)

    def loan(self) -> Tables:
        """Return a loan that the horizon may cut."""
        return {
            "rate": self.price(0, 0.4),
            "every": self.rng.choice(["1 weeks", "2 weeks"]),
            "term": self.rng.choice(["2 weeks", "6 weeks", "52 weeks"]),
            **self.sometimes(0.3, down_payment=self.price(0, 1)),
        }

    def spot(self) -> Tables:
        """Return a spot offer."""
        return offer(
            "spot",
            pool=self.rng.choice(POOLS),
            price=self.price(0.3, 1.5),
            max_gpus=self.rng.choice([6, 8, 16]),
            **self.sometimes(0.5, availability=self.price(0.4, 1)),
            **self.sometimes(0.5, node_mtbr_hours=self.rng.choice([20, 200])),
        )

    def campaign(self, name: str) -> Tables:
        """Return an elastic campaign or a gang."""
        begin = self.rng.randint(0, WEEKS - 2)
        hours = self.rng.randint(200, 2400)
        keys = {
            "earliest": day(begin),
            "deadline": day(self.rng.randint(begin + 2, WEEKS)),
            "preemption_class": self.rng.choice(["critical", "half", "free"]),
            **self.sometimes(0.4, drop_cost=round(hours * self.price(1, 4), 2)),
            **self.sometimes(0.3, pools=["east"]),
        }
        if self.rng.random() < 0.5:
            return elastic(name, hours, max_gpus=self.rng.choice([12, 24]), **keys)
        return gang(name, self.rng.choice([[8], [8, 16]]), hours, **keys)

    def tables(self) -> Tables:
        """Return the tables of a scenario."""
        rng = self.rng
        offers = [offer("on_demand", id=f"od-{p}", pool=p, price=self.price(2, 5)) for p in POOLS]
        offers += [self.committed(f"term{number}") for number in range(rng.randint(0, 3))]
        offers += [self.spot()] if rng.random() < 0.6 else []
        return {
            "weeks": WEEKS,
            "hardware": [hardware(node_mtbf_hours=2000), hardware("fast", relative_speed=1.7)],
            "pools": [pool(), pool("west", provider="beta", hardware="fast")],
            "preemption_classes": CLASSES,
            "offers": offers,
            "campaigns": [self.campaign(f"run{n}") for n in range(rng.randint(0, 3))],
            "commitments": [held(6, end=day(2))] if rng.random() < 0.3 else [],
            "backfill": [{"id": "buyer", "value": self.price(0.2, 1.5), "max_gpus": 6}]
            if rng.random() < 0.4
            else [],
            "demand": [
                {"pool": "east", "at": day(week, weekday), "gpus": rng.choice([0, 3, 8, 14])}
                for week in range(WEEKS)
                for weekday in range(rng.randint(0, 2))
            ],
            "policy": {
                **self.sometimes(0.3, tail_charge=rng.choice([0.5, 1.0])),
                **self.sometimes(0.3, ladder=rng.choice(LADDERS)),
                **self.sometimes(0.3, spot_share_max=rng.choice([0.2, 0.6])),
                **self.sometimes(0.3, committed_gpus_max=rng.choice([12, 24])),
            },
            "discount_rate": rng.choice([0.0, 0.1]),
        }


SEEDS = st.integers(0, 2**32)


def tables() -> st.SearchStrategy[Tables]:
    """Return the tables of scenarios."""
    return SEEDS.map(lambda seed: Rows(seed).tables())


def more_offers() -> st.SearchStrategy[Tables]:
    """Return offers to be added to a scenario."""
    return SEEDS.map(
        lambda seed: (
            (Rows(seed).spot() if seed % 4 == 0 else Rows(seed).committed("added"))
            | {"id": "added"}
        )
    )


def build(given: Tables) -> Scenario:
    """Return the scenario of some tables."""
    return scenario(**given)
