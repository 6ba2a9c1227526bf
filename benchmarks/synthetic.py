"""A scenario of any size, the same for the same seed: pools × weeks × campaigns × hourly demand.

It is written as a folder of CSV files, so that reading it is part of what is measured. Elastic
campaigns may run in four of the pools and on their spot offers; half of the pools also serve an
hourly usage history, whose every hour of a week is a demand level of its own.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

START = date(2026, 1, 5)
HOURS_PER_WEEK = 168
PLACES = 4  # pools in which an elastic campaign may run
SCENARIO = """\
name: synthetic
horizon: {{start: {start}, end: {end}, step: week}}
discount_rate: 0.08
hardware:
  - {{id: H100, memory_gb: 80, gpus_per_node: 8, peak_tflops: 989, node_mtbf_hours: 6334}}
preemption_classes:
  - {{id: steady, spot_share_max: 0, checkpoint_minutes: 4, restart_minutes: 20}}
  - {{id: tolerant, spot_share_max: 0.7, checkpoint_minutes: 2, restart_minutes: 10}}
policy:
  ladder: {{window: 3 months, max_expiring_share: 0.6, exempt_gpus: {exempt}}}
  spot_share_max: 0.4
  tail_charge: 0.25
solver: {{time_limit_seconds: 300, relative_gap: 0.01, threads: 1, seed: 0}}
"""


@dataclass(frozen=True, slots=True)
class Size:
    """How much of everything a synthetic scenario has."""

    pools: int
    weeks: int
    campaigns: int
    """Elastic campaigns."""
    gangs: int


MEDIUM = Size(pools=8, weeks=52, campaigns=130, gangs=4)  # about 50,000 variables
LARGE = Size(pools=48, weeks=52, campaigns=600, gangs=8)  # about 300,000 variables


def write_scenario(folder: Path, size: Size, seed: int = 0) -> Path:
    """Write a scenario of the given size into ``folder`` and return the folder."""
    random = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    text = SCENARIO.format(start=START, end=_day(size.weeks * 7), exempt=64 * size.pools)
    (folder / "scenario.yaml").write_text(text, encoding="utf-8")
    pools = [f"pool-{number:02}" for number in range(size.pools)]
    _write(
        folder / "pools.csv",
        ("id", "provider", "region", "hardware"),
        ((pool, f"provider-{number % 5}", "us", "H100") for number, pool in enumerate(pools)),
    )
    _write(
        folder / "offers.csv",
        ("id", "pool", "kind", "price", "tenor", "lot_gpus", "max_lots", "lead", "max_gpus",
         "availability", "node_mtbr_hours"),
        (row for pool in pools for row in _offers(pool, random)),
    )  # fmt: skip
    _write(
        folder / "demand.csv",
        ("pool", "at", "gpus"),
        (row for pool in pools[::2] for row in _demand(pool, size.weeks, random)),
    )
    _write(
        folder / "campaigns.csv",
        ("id", "shape", "preemption_class", "gpu_hours", "earliest", "deadline", "max_gpus",
         "gpus", "pools"),
        _campaigns(size, pools, random),
    )  # fmt: skip
    return folder


def _offers(pool: str, random: np.random.Generator) -> Iterable[tuple[object, ...]]:
    price = round(float(random.uniform(3.0, 5.0)), 3)
    yield (f"{pool}-on-demand", pool, "on_demand", price, "", "", "", "", "", "", "")
    yield (
        f"{pool}-spot", pool, "spot", round(price * 0.45, 3), "", "", "", "", 128, 0.85, 2000,
    )  # fmt: skip
    yield (
        f"{pool}-block", pool, "burst_window", round(price * 0.8, 3),
        "[14 days, 28 days]", 8, 24, "7 days", "", "", "",
    )  # fmt: skip
    yield (
        f"{pool}-reserved", pool, "reserved", round(price * 0.6, 3),
        "1 years", 8, 64, "", "", "", "",
    )  # fmt: skip


def _demand(pool: str, weeks: int, random: np.random.Generator) -> Iterable[tuple[str, str, float]]:
    hours = np.arange(weeks * HOURS_PER_WEEK)
    daily = 1.0 + 0.3 * np.sin(2 * np.pi * hours / 24)
    gpus = float(random.uniform(60, 200)) * daily + random.normal(0, 12, len(hours))
    midnight = datetime(START.year, START.month, START.day)  # noqa: DTZ001 (no time zones here)
    for hour, value in zip(hours.tolist(), np.maximum(gpus, 1).tolist(), strict=True):
        yield (pool, f"{midnight + timedelta(hours=hour):%Y-%m-%d %H:%M}", round(value, 3))


def _campaigns(
    size: Size, pools: Sequence[str], random: np.random.Generator
) -> Iterable[tuple[object, ...]]:
    for number in range(size.campaigns + size.gangs):
        is_gang = number >= size.campaigns
        length = int(random.integers(size.weeks // 4, size.weeks // 2 + 1))
        begin = int(random.integers(0, size.weeks - length + 1))
        chosen = sorted(random.choice(size.pools, 2 if is_gang else PLACES, replace=False).tolist())
        gpus = 8 * int(random.integers(2, 9))
        busy = float(random.uniform(0.1, 0.4))
        yield (
            f"{'gang' if is_gang else 'elastic'}-{number:04}",
            "gang" if is_gang else "elastic",
            "tolerant" if number % 2 and not is_gang else "steady",
            round(gpus * length * HOURS_PER_WEEK * busy, 1),
            _day(begin * 7),
            _day((begin + length) * 7),
            "" if is_gang else gpus,
            gpus if is_gang else "",
            "[" + ", ".join(pools[place] for place in chosen) + "]",
        )


def _day(offset: int) -> str:
    return str(START + timedelta(days=offset))


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
