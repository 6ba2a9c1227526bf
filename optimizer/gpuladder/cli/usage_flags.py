"""Options that say what a usage history does not say itself; two verbs read such files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpuladder.cli.imports import Command, table_flags, table_options

if TYPE_CHECKING:
    from gpuladder.review.usage_result import ImportedUsage

_USAGE = (
    click.option(
        "layout",
        "--format",
        type=click.Choice(("auto", "csv", "helios", "focus")),
        default="auto",
        show_default=True,
        help="csv: series by team and time; focus: a bill in FOCUS columns; auto: by the columns.",
    ),
    click.option(
        "units",
        "--unit",
        multiple=True,
        metavar="[QUANTITY=]UNIT",
        help="Of a series: gpus, gpu-hours, percent-of-capacity, percent-of-allocated, "
        "share-of-capacity, share-of-allocated.",
    ),
    click.option("--step", metavar="STEP", help="What a row stands for: hour, day, '5 minutes'."),
    click.option(
        "--repeats",
        type=click.Choice(("refuse", "first", "sum")),
        default="refuse",
        show_default=True,
        help="What several rows of one team and step are: an error, the first one, or parts.",
    ),
    click.option("--pool", metavar="POOL", help="Pool of rows that name none."),
    click.option("--currency", metavar="CODE", help="Of the prices; of a bill: rows that count."),
    click.option(
        "machines",
        "--gpus-per-unit",
        multiple=True,
        metavar="SKU=GPUS[:HARDWARE]",
        help="GPUs of one unit of a bill's SKU or commitment, e.g. p5.48xlarge=8:h100.",
    ),
    click.option("--team-tag", metavar="KEY", help="Tag of a bill's rows that names the team."),
)


def usage_flags(command: Command) -> Command:
    """Add the options that say how a usage history is to be read; ``read_usage`` takes them."""
    for option in reversed(_USAGE):
        command = option(command)
    return table_flags(command)


def read_usage(
    file: Path,
    flags: dict[str, Any],
    *,
    terms: tuple[str, ...] = (),
    contracts: Path | None = None,
    contract_quantity: str | None = None,
    demand_of: str = "need",
) -> ImportedUsage:
    """Return what a file, or the folder of an earlier import, holds."""
    from gpuladder.review.imports.usage.contracts import read_terms
    from gpuladder.review.imports.usage.focus_columns import read_machines
    from gpuladder.review.imports.usage.reading import (
        UsageOptions,
        import_usage,
        read_folder,
    )
    from gpuladder.review.imports.usage.steps import read_step
    from gpuladder.review.imports.usage.units import stated_units

    table = table_options(flags)
    step = flags["step"]
    options = UsageOptions(
        units=stated_units(flags["units"]),
        step=None if step is None else read_step(step),
        repeats=flags["repeats"],
        pool=flags["pool"],
        machines=read_machines(flags["machines"]),
        currency=flags["currency"],
        team_tag=flags["team_tag"],
        terms=read_terms(terms),
        contracts=contracts,
        hourly_contracts=None if contract_quantity is None else contract_quantity == "hourly",
    )
    if file.is_dir():
        return read_folder(file, options, table)
    return import_usage(
        file, layout=flags["layout"], options=options, table=table, demand_of=demand_of
    )
