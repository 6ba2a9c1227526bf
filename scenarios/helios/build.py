"""Write the tables of helios and helios-pooled from ``../data/helios_earth_hourly_2020.csv``.

The rule:

1. Demand. In each hour a team (virtual cluster) needs the GPUs that ran and the GPUs that its jobs
   waited for: ``running_gpus + pending_gpus``. ``helios-pooled`` adds up the teams hour by hour.
2. Held. Each team's reservation (``capacity_gpus``) is held at the 1-year rate. The source does not
   say when it was signed; every one is taken to end on ``HELD_END``, ten days into the month, so
   that the first ten days show what is held and the other three weeks have to be decided.
3. Blocks. Capacity Blocks cannot be had in any number: at most a quarter of what the team held, in
   whole nodes, and at least one node, for each length of block.
4. Pools and offers are the same for every team: only ids and the number of blocks differ. Spot is
   one market for all of them, in a pool of its own that no team reserves (``shared``).

Run it as ``python scenarios/helios/build.py``; it needs nothing but Python.
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

HERE = Path(__file__).parent
HOURS = HERE.parent / "data" / "helios_earth_hourly_2020.csv"

HELD_START = "2019-05-11"
HELD_END = "2020-05-11"
NODE_GPUS = 8
POOLED = "earth"
SHARED = "shared"
SPOT_OFFER = {
    "id": "spot",
    "pool": SHARED,
    "kind": "spot",
    "price": "0.905753",
    "max_gpus": "64",
    "availability": "0.9",
    "node_mtbr_hours": "5840",
    "notice_minutes": "2",
}

# US dollars per GPU-hour of p4d.24xlarge (8 GPUs) in us-east-1; sources in scenario.yaml.
ON_DEMAND = "2.744705"
RESERVED = "1.740137"
BLOCK = "1.475"

OFFER_COLUMNS = (
    "id",
    "pool",
    "kind",
    "price",
    "tenor",
    "lot_gpus",
    "max_lots",
    "lead",
    "max_gpus",
    "availability",
    "node_mtbr_hours",
    "notice_minutes",
)


def read_hours(path: Path) -> tuple[dict[str, dict[str, float]], dict[str, int]]:
    """Return GPUs needed by team and hour, and GPUs reserved by team."""
    needed: dict[str, dict[str, float]] = defaultdict(dict)
    reserved: dict[str, int] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            gpus = float(row["running_gpus"]) + float(row["pending_gpus"])
            needed[row["vc"]][row["hour"]] = round(gpus, 2)
            reserved[row["vc"]] = int(float(row["capacity_gpus"]))
    return dict(needed), reserved


def pooled(
    needed: dict[str, dict[str, float]], reserved: dict[str, int]
) -> tuple[dict[str, dict[str, float]], dict[str, int]]:
    """Return the same with all teams in one pool."""
    total: dict[str, float] = defaultdict(float)
    for hours in needed.values():
        for hour, gpus in hours.items():
            total[hour] += gpus
    return {POOLED: {h: round(g, 2) for h, g in total.items()}}, {POOLED: sum(reserved.values())}


def offers(pool: str, reserved_gpus: int) -> list[dict[str, str]]:
    """Return the offers of one pool."""
    blocks = max(1, reserved_gpus // NODE_GPUS // 4)
    lot = {"lot_gpus": str(NODE_GPUS)}
    return [
        {"id": f"{pool}-on-demand", "kind": "on_demand", "price": ON_DEMAND},
        {
            "id": f"{pool}-block",
            "kind": "burst_window",
            "price": BLOCK,
            "tenor": "[7 days, 14 days]",
            "max_lots": str(blocks),
            "lead": "1 days",
            **lot,
        },
        {
            "id": f"{pool}-reserved",
            "kind": "reserved",
            "price": RESERVED,
            "tenor": "1 years",
            **lot,
        },
    ]


def write(path: Path, columns: Iterable[str], rows: Iterable[dict[str, str]]) -> None:
    """Write a table."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(columns), restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def write_tables(
    folder: Path, needed: dict[str, dict[str, float]], reserved: dict[str, int]
) -> None:
    """Write pools, offers, commitments and demand of one scenario."""
    teams = sorted(needed)
    place = {"provider": "aws", "region": "us-east-1", "hardware": "A100"}
    write(
        folder / "pools.csv", ("id", *place), ({"id": pool, **place} for pool in (*teams, SHARED))
    )
    write(
        folder / "offers.csv",
        OFFER_COLUMNS,
        (
            *({"pool": team, **offer} for team in teams for offer in offers(team, reserved[team])),
            SPOT_OFFER,
        ),
    )
    write(
        folder / "commitments.csv",
        ("id", "pool", "kind", "gpus", "start", "end", "price", "tenor", "renewable_as"),
        (
            {
                "id": f"{team}-held",
                "pool": team,
                "kind": "reserved",
                "gpus": str(reserved[team]),
                "start": HELD_START,
                "end": HELD_END,
                "price": RESERVED,
                "tenor": "1 years",
                "renewable_as": f"{team}-reserved",
            }
            for team in teams
        ),
    )
    write(
        folder / "demand.csv",
        ("pool", "at", "gpus"),
        (
            {"pool": team, "at": hour, "gpus": f"{gpus:g}"}
            for team in teams
            for hour, gpus in sorted(needed[team].items())
        ),
    )


def main() -> None:
    """Write both scenarios' tables."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument(
        "--output", type=Path, default=HERE.parent, help="folder that holds both scenarios' folders"
    )
    output: Path = parser.parse_args().output
    needed, reserved = read_hours(HOURS)
    for name, tables in (
        ("helios", (needed, reserved)),
        ("helios-pooled", pooled(needed, reserved)),
    ):
        folder = output / name
        folder.mkdir(exist_ok=True)
        write_tables(folder, *tables)


if __name__ == "__main__":
    main()
