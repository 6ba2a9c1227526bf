"""Reproduce a two-instrument optimum that was computed without this program, on 20 real series.

With only on-demand and one reservation that lasts exactly the window, the cheapest constant level
of a demand series is the newsvendor's quantile: reserve up to the level that is needed more than
``reserved / on demand`` of the time. ``../data/newsvendor_expected.csv`` holds that answer for
eight Philly and twelve Helios series (single teams, and ``POOL``, all of them together), found by
trying every level in plain code, in steps of 8 GPUs (``c_opt_mult8``, ``cost_mult8``).

Here each series becomes a scenario: one pool, hourly ``demand``, an on-demand offer and a reserved
offer in lots of 8 that may start on the first day only and ends with the horizon. The plan must
reserve the same GPUs at the same cost, to the cent in which the expected costs are given.

    python scenarios/reproductions/newsvendor.py [SET[/TEAM] ...]

It exits 1 on a mismatch.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuladder import solve
from gpuladder.scenario.schema import Scenario

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

DATA = Path(__file__).parent.parent / "data"

# p4d.24xlarge, us-east-1, 2026-01-21, US dollars per node-hour; eight GPUs a node.
ON_DEMAND = 21.957642 / 8
RESERVED = 13.921094 / 8
LOT_GPUS = 8
CENT = 0.0051
"""The expected costs are rounded to the cent."""

Series = dict[str, float]
"""GPUs by hour, ``YYYY-MM-DD HH:MM``."""


@dataclass(frozen=True)
class Expected:
    """One row of the independent answer."""

    source: str
    team: str
    gpus: float
    cost: float


@dataclass(frozen=True)
class Outcome:
    """The expected and the found answer of one series."""

    expected: Expected
    gpus: int
    cost: float

    @property
    def agrees(self) -> bool:
        """Tell whether both are the same."""
        return (
            abs(self.cost - self.expected.cost) <= CENT
            and abs(self.gpus - self.expected.gpus) < 1e-6
        )


def read_rows(name: str) -> list[dict[str, str]]:
    """Return the rows of a data file."""
    with (DATA / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def read_expected() -> list[Expected]:
    """Return the independent answers."""
    return [
        Expected(row["set"], row["team"], float(row["c_opt_mult8"]), float(row["cost_mult8"]))
        for row in read_rows("newsvendor_expected.csv")
    ]


def read_series() -> dict[tuple[str, str], Series]:
    """Return the demand series by set and team; ``POOL`` adds up the teams of its set."""
    series: dict[tuple[str, str], Series] = defaultdict(dict)
    for row in read_rows("philly_hourly_gpus_2017.csv"):
        hour = row.pop("hour")
        for team, used in row.items():
            series["philly", team][hour] = float(used)
    for row in read_rows("helios_earth_hourly_2020.csv"):
        gpus = float(row["running_gpus"]) + float(row["pending_gpus"])
        series["helios_earth", row["vc"]][row["hour"]] = gpus
    for source in ("philly", "helios_earth"):
        total: Series = defaultdict(float)
        for (member, _), hours in list(series.items()):
            if member == source:
                for hour, gpus in hours.items():
                    total[hour] += gpus
        series[source, "POOL"] = total
    return dict(series)


def scenario_of(name: str, series: Series) -> Scenario:
    """Return the scenario of one series: two instruments, one window."""
    days = sorted({hour[:10] for hour in series})
    start = date.fromisoformat(days[0])
    end = date.fromisoformat(days[-1]) + timedelta(days=1)
    content: dict[str, Any] = {
        "name": name,
        "horizon": {"start": start, "end": end, "step": "week"},
        "hardware": [{"id": "A100", "memory_gb": 40, "gpus_per_node": 8, "peak_tflops": 312}],
        "pools": [{"id": "team", "provider": "aws", "region": "us-east-1", "hardware": "A100"}],
        "offers": [
            {"id": "on-demand", "pool": "team", "kind": "on_demand", "price": ON_DEMAND},
            {
                "id": "reserved",
                "pool": "team",
                "kind": "reserved",
                "price": RESERVED,
                "tenor": f"{(end - start).days} days",
                "lot_gpus": LOT_GPUS,
                "available_until": start,
            },
        ],
        "preemption_classes": [],
        "campaigns": [],
        "demand": [{"pool": "team", "at": hour, "gpus": gpus} for hour, gpus in series.items()],
        "solver": {"relative_gap": 1e-9},
    }
    return Scenario.model_validate(content)


def reproduce(wanted: Iterable[str] = ()) -> Iterator[Outcome]:
    """Solve the wanted series (``philly``, ``philly/POOL``; all when none is named)."""
    names = set(wanted)
    series = read_series()
    for expected in read_expected():
        name = f"{expected.source}/{expected.team}"
        if names and not names & {name, expected.source}:
            continue
        plan = solve(scenario_of(name, series[expected.source, expected.team])).plan
        yield Outcome(
            expected,
            gpus=LOT_GPUS * sum(order.lots for order in plan.orders),
            cost=float("nan") if plan.objective is None else plan.objective,
        )


def main(arguments: list[str]) -> int:
    """Print expected against found; return 1 when any differ."""
    say = sys.stdout.write
    say(f"{'series':24}{'GPUs':>8}{'expected':>10}{'cost, USD':>16}{'expected':>16}\n")
    found = 0
    failed = 0
    for outcome in reproduce(arguments):
        expected = outcome.expected
        found += 1
        failed += not outcome.agrees
        mark = "" if outcome.agrees else "  DIFFERS"
        say(
            f"{expected.source + '/' + expected.team:24}{outcome.gpus:8}{expected.gpus:10.0f}"
            f"{outcome.cost:16.2f}{expected.cost:16.2f}{mark}\n"
        )
    say(f"{found - failed} of {found} agree\n")
    return 1 if failed or not found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
