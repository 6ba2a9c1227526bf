"""The solver against exhaustive enumeration, in plain Python, of every combination of whole lots.

Tiny instances: up to three offers in one pool, four weeks, 0 to 2 lots per start, demand and on
demand. Everything here is written from the meaning of the keys: day by day, without arrays, without
the program.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from tests.analytic.builders import day, offer, scenario

from gpuladder.plan import Status
from gpuladder.solving import solve_scenario

WEEKS = 4
DAYS = 7 * WEEKS
HOURS = 24.0
MOST = 2
MOST_ORDERS = 7


@dataclass(frozen=True)
class Lot:
    """One start of one offer; all dates are days from the horizon start."""

    row: dict[str, Any]
    start: int
    days: int

    @property
    def end(self) -> int:
        """Day after the last day of the term."""
        return self.start + self.days


def make_case(seed: int) -> dict[str, Any]:
    """Return the tables of a random instance, small enough to enumerate."""
    rng = random.Random(seed)
    offers = [offer("on_demand", price=round(rng.uniform(2, 4), 2))]
    if rng.random() < 0.3:
        offers[0]["price_change_per_year"] = -0.6
    for number in range(rng.randint(1, 3)):
        kind = rng.choice(["burst_window", "reserved", "dedicated", "owned"])
        if kind == "owned":
            offers.append(bought(f"o{number}", rng))
            continue
        keys: dict[str, Any] = {
            "price": round(rng.uniform(0.8, 3), 2),
            "tenor": f"{rng.choice([7, 10, 14, 21, 28, 42])} days",
            "lot_gpus": rng.choice([4, 8]),
            "max_lots": MOST,
            "upfront": rng.choice([0.0, 0.4, 1.0]),
            "start_every": rng.choice(["1 weeks", "2 weeks", "4 weeks"]),
            "lead": rng.choice(["0 days", "0 days", "5 days"]),
        }
        if kind != "burst_window" and rng.random() < 0.4:
            keys["min_lots"] = 2
        if kind == "dedicated":
            keys["setup_cost"] = rng.choice([0, 200, 1500])
        if rng.random() < 0.3:
            keys["price_change_per_year"] = -0.5
        offers.append(offer(kind, id=f"o{number}", **keys))
    demand = [
        {"pool": "east", "at": day(week, weekday), "gpus": rng.choice([0, 4, 8, 13, 20])}
        for week in range(WEEKS)
        for weekday in range(rng.choice([1, 3]))
    ]
    policy: dict[str, Any] = {"tail_charge": rng.choice([0, 0, 0.5])}
    if rng.random() < 0.4:
        policy["committed_gpus_max"] = rng.choice([8, 12, 16])
    if rng.random() < 0.5:
        policy["ladder"] = {
            "window": "2 weeks",
            "max_expiring_share": rng.choice([0.0, 0.25, 0.5]),
            "exempt_gpus": rng.choice([0, 4, 8]),
        }
    return {
        "offers": offers,
        "demand": demand,
        "policy": policy,
        "discount_rate": rng.choice([0.0, 0.2]),
    }


def bought(name: str, rng: random.Random) -> dict[str, Any]:
    """Return an offer of hardware that costs about as much as renting, often on credit."""
    keys: dict[str, Any] = {
        "capex_per_gpu": rng.choice([900, 1500, 2500]),
        "opex_per_gpu_hour": round(rng.uniform(0, 0.5), 2),
        "life": f"{rng.choice([14, 28, 365])} days",
        "residual_per_year": rng.choice([0.0, 0.3, 0.6]),
        "lot_gpus": rng.choice([4, 8]),
        "max_lots": MOST,
        "start_every": rng.choice(["2 weeks", "4 weeks"]),
        "lead": "0 days",
    }
    if rng.random() < 0.7:
        keys["financing"] = {
            "rate": rng.choice([0.0, 0.2, 2.0]),
            "term": f"{rng.choice([10, 20, 100])} days",
            "every": rng.choice(["5 days", "10 days"]),
            "down_payment": rng.choice([0.0, 0.25]),
        }
    return offer("owned", id=name, **keys)


def lots_of(case: dict[str, Any]) -> list[Lot]:
    """Return every start of every committed offer."""
    found = []
    for row in case["offers"][1:]:
        length = row["life" if row["kind"] == "owned" else "tenor"]
        lead, tenor = (int(text.split()[0]) for text in (row["lead"], length))
        every = 7 * int(row["start_every"].split()[0])
        found += [Lot(row, start, tenor) for start in range(0, DAYS, every) if start >= lead]
    return found


def price(row: dict[str, Any], start: int) -> float:
    """Return the price of an offer on a day."""
    return row["price"] * (1 + row.get("price_change_per_year", 0.0)) ** (start / 365)


def is_allowed(case: dict[str, Any], lots: list[Lot], counts: tuple[int, ...]) -> bool:
    """Tell whether a combination keeps to lots on sale, minimum, cap and ladder."""
    taken = [(lot, count) for lot, count in zip(lots, counts, strict=True) if count]
    if any(count < lot.row.get("min_lots", 0) for lot, count in taken):
        return False
    for week in range(WEEKS):
        active: dict[str, int] = {}
        gpus = 0.0
        for lot, count in taken:
            days = len(set(range(lot.start, lot.end)) & set(range(7 * week, 7 * week + 7)))
            if days:
                active[lot.row["id"]] = active.get(lot.row["id"], 0) + count
                gpus += count * lot.row["lot_gpus"] * days / 7
        if any(number > MOST for number in active.values()):
            return False
        if gpus > case["policy"].get("committed_gpus_max", 1e9) + 1e-9:
            return False
    ladder = case["policy"].get("ladder")
    if not ladder:
        return True
    counted = [(lot, count * lot.row["lot_gpus"]) for lot, count in taken if lot.days >= 14]
    for begin in range(0, DAYS + 42 + 14, 14):
        expiring = sum(gpus for lot, gpus in counted if begin < lot.end <= begin + 14)
        instant = min(begin, DAYS - 0.5)  # past the end: over the last instant of the horizon
        standing = sum(gpus for lot, gpus in counted if lot.start <= instant < lot.end)
        if expiring > ladder["max_expiring_share"] * standing + ladder["exempt_gpus"] + 1e-9:
            return False
    return True


def cost(case: dict[str, Any], lots: list[Lot], counts: tuple[int, ...]) -> float:
    """Return the net present cost of a combination, on demand filling what is missing."""

    def factor(days: float) -> float:
        return (1 + case["discount_rate"]) ** (-days / 365)

    total = 0.0
    firm = [0.0] * WEEKS
    for lot, count in zip(lots, counts, strict=True):
        if not count:
            continue
        if lot.row["kind"] == "owned":
            total += count * lot.row["lot_gpus"] * owning(lot, factor)
            for one in range(lot.start, min(lot.end, DAYS)):
                firm[one // 7] += count * lot.row["lot_gpus"] / 7
            continue
        rate = count * lot.row["lot_gpus"] * price(lot.row, lot.start)
        inside = range(lot.start, min(lot.end, DAYS))
        total += rate * lot.row["upfront"] * HOURS * len(inside) * factor(lot.start)
        for one in inside:
            middle = 7 * (one // 7) + 3.5
            total += rate * (1 - lot.row["upfront"]) * HOURS * factor(middle)
            firm[one // 7] += count * lot.row["lot_gpus"] / 7
        after = max(lot.end - DAYS, 0)
        total += case["policy"]["tail_charge"] * rate * HOURS * after * factor(DAYS)
        total += lot.row.get("setup_cost", 0) * factor(lot.start)
    for week in range(WEEKS):
        first, after = day(week), day(week + 1)
        rows = [row["gpus"] for row in case["demand"] if first <= row["at"] < after]
        missing = sum(max(level - firm[week], 0) for level in rows) / len(rows)
        metered = price(case["offers"][0], 7 * week)
        total += missing * 7 * HOURS * metered * factor(7 * week + 3.5)
    return total


def owning(lot: Lot, factor: Callable[[float], float]) -> float:
    """Return the net present cost of one GPU that is bought, its debt kept day by day."""
    capex, sold = lot.row["capex_per_gpu"], min(lot.end, DAYS)
    total = -capex * lot.row["residual_per_year"] ** ((sold - lot.start) / 365) * factor(sold)
    for one in range(lot.start, sold):
        total += 24 * lot.row["opex_per_gpu_hour"] * factor(7 * (one // 7) + 3.5)
    loan = lot.row.get("financing")
    if not loan:
        return total + capex * factor(lot.start)
    every, term = (int(loan[key].split()[0]) for key in ("every", "term"))
    daily = (1 + loan["rate"]) ** (1 / 365)
    debt = capex * (1 - loan["down_payment"])
    payment = debt / sum(daily**-due for due in range(every, term + 1, every))
    total += capex * loan["down_payment"] * factor(lot.start)
    for age in range(1, sold - lot.start + 1):
        debt *= daily
        if lot.start + age == sold:
            total += debt * factor(sold)
        elif age % every == 0 and age <= term:
            total += payment * factor(lot.start + age)
            debt -= payment
    return total


def small_cases(number: int) -> list[int]:
    """Return seeds of instances with few enough orders."""
    fitting = (seed for seed in itertools.count() if len(lots_of(make_case(seed))) <= MOST_ORDERS)
    return list(itertools.islice(fitting, number))


@pytest.mark.parametrize("seed", small_cases(40))
def test_no_combination_of_lots_is_cheaper(seed: int) -> None:
    """A plan called optimal would be dearer than one that can be found by trying them all."""
    case = make_case(seed)
    lots = lots_of(case)
    best = min(
        (
            (cost(case, lots, counts), counts)
            for counts in itertools.product(range(MOST + 1), repeat=len(lots))
            if is_allowed(case, lots, counts)
        ),
    )
    plan = solve_scenario(scenario(weeks=WEEKS, **case)).plan
    assert plan.status is Status.OPTIMAL
    assert plan.objective == pytest.approx(best[0], rel=1e-6)
    chosen = {(order.offer, str(order.start)): order.lots for order in plan.orders}
    counts = tuple(chosen.pop((lot.row["id"], day(0, lot.start)), 0) for lot in lots)
    assert chosen == {}
    assert is_allowed(case, lots, counts)
    assert cost(case, lots, counts) == pytest.approx(best[0], rel=1e-6)


def test_instances_differ_enough_to_mean_something() -> None:
    """The enumeration would agree because nothing is ever bought, or no limit ever binds."""
    cases = [make_case(seed) for seed in small_cases(40)]
    kinds = {row["kind"] for case in cases for row in case["offers"]}
    assert kinds == {"on_demand", "burst_window", "reserved", "dedicated", "owned"}
    plans = [solve_scenario(scenario(weeks=WEEKS, **case)).plan for case in cases]
    assert sum(bool(plan.orders) for plan in plans) >= 20
    on_credit = [
        {row["id"] for row in case["offers"] if "financing" in row}
        & {order.offer for order in plan.orders}
        for case, plan in zip(cases, plans, strict=True)
    ]
    assert sum(bool(names) for names in on_credit) >= 3
    assert sum("ladder" in case["policy"] for case in cases) >= 10
    assert sum("committed_gpus_max" in case["policy"] for case in cases) >= 8
