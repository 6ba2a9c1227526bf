"""Reproduce Figures 4 and 9 of "Shaved Ice" (ICPE 2025) from scenario files.

The paper commits to a constant level of compute at price 1 and buys what exceeds it on demand at
2.1. Demand is normalised so that the window's maximum is 100; the level is the cheapest of a grid
of 100 levels from the window's minimum *m* to its maximum *M*; a window's last hour is left out.

* Figure 4: two weeks, 2024-01-07 to 01-20: level 77.44353, cost 29,326.44.
* Figure 9: four weeks, 2023-12-03 to 12-30. One level for all four: 72.38302, cost 55,647.1.
  A ladder with a level for each week: 75.27263, 77.95273, 75.25479, 65.57333; cost 55,183.8,
  which is 0.9916742 of the single level's.

How the paper's grid becomes lots, exactly: level *k* of the grid is ``m + k (M - m) / 99``. Demand
is multiplied by 99, so that *m* is one lot of ``99 m`` units (offer ``base``) and a step of the
grid is a lot of ``M - m`` units (offer ``grid``, 99 lots at most). In the ladder every week has its
own *m* and *M* and its own two offers. Prices are the paper's, 1 and 2.1; its normalised levels and
costs are the model's times ``100 / (99 M)`` with the window's *M*. The model's periods are whole
days, so the hour that the paper leaves out is left out of the demand rows and of the price: in its
period of *h* hours all prices are multiplied by ``(h - 1) / h``.

    python scenarios/reproductions/shavedice.py           solve the scenario files, compare
    python scenarios/reproductions/shavedice.py --write   write the scenario files again

The first exits 1 on a mismatch.
"""

from __future__ import annotations

import csv
import sys
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from gpuladder import solve

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
HOURS = HERE.parent / "data" / "shavedice_hourly_total.csv"
STEPS = 99
"""Steps between the 100 levels of a grid."""
PREMIUM = 2.1


@dataclass(frozen=True)
class Window:
    """One window of the paper, decided with one level or one a week."""

    name: str
    title: str
    start: date
    days: int
    tranche_days: int
    """Days for which one level is held: the whole window, or a week of it."""
    levels: tuple[float, ...]
    """The paper's levels."""
    cost: float
    """The paper's cost."""
    digits: int
    """Decimals of the cost as printed."""

    @property
    def starts(self) -> list[date]:
        """First day of every tranche."""
        number = self.days // self.tranche_days
        return [self.start + timedelta(days=self.tranche_days * k) for k in range(number)]


WINDOWS = (
    Window(
        "shavedice-figure-4",
        "Figure 4 of Shaved Ice, two weeks with one level.",
        date(2024, 1, 7),
        14,
        14,
        (77.44353,),
        29326.44,
        2,
    ),
    Window(
        "shavedice-figure-9-single",
        "Figure 9 of Shaved Ice, four weeks with one level.",
        date(2023, 12, 3),
        28,
        28,
        (72.38302,),
        55647.1,
        1,
    ),
    Window(
        "shavedice-figure-9-ladder",
        "Figure 9 of Shaved Ice, four weeks with a level for each.",
        date(2023, 12, 3),
        28,
        7,
        (75.27263, 77.95273, 75.25479, 65.57333),
        55183.8,
        1,
    ),
)
LADDER_RATIO = 0.9916742


def read_hours() -> dict[str, int]:
    """Return the published total usage by hour, ``YYYY-MM-DDTHH:MM``."""
    with HOURS.open(newline="", encoding="utf-8") as file:
        return {
            row["hour_utc"].removesuffix("Z"): int(row["total_norm_usage"])
            for row in csv.DictReader(file)
        }


def hours_between(hours: dict[str, int], start: date, days: int) -> list[tuple[str, int]]:
    """Return the hours of some days, in order."""
    end = start + timedelta(days=days)
    return sorted((at, usage) for at, usage in hours.items() if f"{start}" <= at < f"{end}")


def grid_of(hours: dict[str, int], window: Window) -> list[tuple[int, int]]:
    """Return minimum and maximum usage of every tranche, its last hour included.

    The paper makes a grid for the window of which it decides the level; where that hour is left
    out of the cost it is neither the minimum nor the maximum.
    """
    usages = [
        [usage for _, usage in hours_between(hours, start, window.tranche_days)]
        for start in window.starts
    ]
    return [(min(usage), max(usage)) for usage in usages]


def normal_of_unit(hours: dict[str, int], window: Window) -> float:
    """Return what one unit of the model is in the paper's normalised demand."""
    maximum = max(usage for _, usage in hours_between(hours, window.start, window.days))
    return 100 / (STEPS * maximum)


def scenario_text(hours: dict[str, int], window: Window) -> str:
    """Return the scenario file of a window."""
    last = window.starts[-1]
    tranche_hours = 24 * window.tranche_days
    short = (tranche_hours - 1) / tranche_hours
    lines = [
        f"# {window.title} Written by ../shavedice.py, which explains it.",
        f"name: {window.name}",
        f"description: {window.title}",
        (
            f"horizon: {{start: {window.start}, end: {window.start + timedelta(days=window.days)}, "
            f"step: {'week' if window.tranche_days == 7 else 'month'}}}"
        ),
        "hardware:",
        "  - {id: vm, memory_gb: 1, gpus_per_node: 1, peak_tflops: 1}",
        "pools:",
        "  - {id: cloud, provider: cloud, region: all, hardware: vm}",
        "offers:",
    ]
    step = f"[{{from: {last}, price: {PREMIUM * short!r}}}]"
    path = f", price_path: {step}" if last != window.start else ""
    first = short if last == window.start else 1.0
    lines.append(
        f"  - {{id: on-demand, pool: cloud, kind: on_demand, price: {PREMIUM * first!r}{path}}}"
    )
    for number, (start, (low, high)) in enumerate(
        zip(window.starts, grid_of(hours, window), strict=True), start=1
    ):
        held = short if start == last else 1.0
        common = (
            f"pool: cloud, kind: reserved, price: {held!r}, tenor: {window.tranche_days} days, "
            f"available_from: {start}, available_until: {start}"
        )
        lines.append(f"  - {{id: base-{number}, {common}, lot_gpus: {STEPS * low}, max_lots: 1}}")
        lines.append(
            f"  - {{id: grid-{number}, {common}, lot_gpus: {high - low}, max_lots: {STEPS}}}"
        )
    lines += ["preemption_classes: []", "campaigns: []", "solver: {relative_gap: 1e-9}"]
    return "\n".join(lines) + "\n"


def write_files(folder: Path = HERE) -> None:
    """Write the scenario files of all windows."""
    hours = read_hours()
    for window in WINDOWS:
        place = folder / window.name
        place.mkdir(exist_ok=True)
        (place / "scenario.yaml").write_text(scenario_text(hours, window), encoding="utf-8")
        with (place / "demand.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("pool", "at", "gpus"))
            for at, usage in hours_between(hours, window.start, window.days)[:-1]:
                writer.writerow(("cloud", at, STEPS * usage))


@dataclass(frozen=True)
class Reading:
    """One published number beside the one found."""

    what: str
    expected: float
    got: float
    digits: int

    @property
    def agrees(self) -> bool:
        """Tell whether they agree to the last printed digit."""
        return abs(self.got - self.expected) <= 0.5001 * 10.0**-self.digits


def reproduce() -> Iterator[Reading]:
    """Solve the scenario files; yield every published number beside the one found."""
    hours = read_hours()
    costs: dict[str, float] = {}
    for window in WINDOWS:
        result = solve(HERE / window.name)
        plan, scenario = result.plan, result.scenario
        normal = normal_of_unit(hours, window)
        lots = {order.offer: order.lots for order in plan.orders}
        lot_gpus = {offer.id: getattr(offer, "lot_gpus", 0) for offer in scenario.offers}
        for number, expected in enumerate(window.levels, start=1):
            units = sum(
                lots.get(offer, 0) * lot_gpus[offer]
                for offer in (f"base-{number}", f"grid-{number}")
            )
            yield Reading(f"{window.name} level {number}", expected, units * normal, 5)
        costs[window.name] = normal * (float("nan") if plan.objective is None else plan.objective)
        yield Reading(f"{window.name} cost", window.cost, costs[window.name], window.digits)
    ratio = costs["shavedice-figure-9-ladder"] / costs["shavedice-figure-9-single"]
    yield Reading("figure 9, ladder over single", LADDER_RATIO, ratio, 7)


def main(arguments: list[str]) -> int:
    """Print expected against found; return 1 when any differ."""
    if arguments == ["--write"]:
        write_files()
        return 0
    if arguments:
        sys.stderr.write(str(__doc__))
        return 2
    failed = 0
    for reading in reproduce():
        failed += not reading.agrees
        mark = "" if reading.agrees else "  DIFFERS"
        sys.stdout.write(
            f"{reading.what:36}{reading.expected:16.{reading.digits}f}"
            f"{reading.got:16.{reading.digits}f}{mark}\n"
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
