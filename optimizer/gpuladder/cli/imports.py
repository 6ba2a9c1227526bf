"""``gpuladder import``: what was used and what was paid, read from other people's files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from gpuladder.review.imports.rows import TableOptions

Command = TypeVar("Command", bound=Callable[..., Any])

_DELIMITERS = {"comma": ",", "semicolon": ";", "pipe": "|", "tab": "\t"}


@click.group("import", short_help="Read a history of jobs, usage or prices from a file.")
def import_() -> None:
    """Read a history from a file that another program wrote.

    CSV, other delimited text (plain or gzipped) and Parquet are known by their content. Every row
    is kept, or dropped for a reason that is counted and shown.
    """


_TABLE = (
    click.option(
        "columns",
        "--column",
        multiple=True,
        metavar="FIELD=COLUMN",
        help="What the file calls a field, e.g. gpus=num_gpus; may be given several times.",
    ),
    click.option(
        "column_map",
        "--column-map",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="The same as a YAML file: one line `field: column` for each field.",
    ),
    click.option(
        "delimiter",
        "--delimiter",
        type=click.Choice(tuple(_DELIMITERS)),
        help="Between columns; the one that the header holds most of when left out.",
    ),
    click.option(
        "decimal",
        "--decimal",
        type=click.Choice((".", ",")),
        default=".",
        show_default=True,
        help="Sign before decimals. Nothing may stand between thousands.",
    ),
    click.option(
        "timezone",
        "--timezone",
        metavar="ZONE",
        help="Zone of times without an offset, e.g. Europe/Berlin; UTC takes them as they stand.",
    ),
    click.option(
        "time_format",
        "--time-format",
        default="iso",
        show_default=True,
        metavar="FORMAT",
        help="iso, epoch_s, epoch_ms, or a pattern such as '%d.%m.%Y %H:%M'.",
    ),
)


def table_flags(command: Command) -> Command:
    """Add the options that say how a file is written; ``table_options`` reads them."""
    for option in reversed(_TABLE):
        command = option(command)
    return command


def table_options(flags: dict[str, Any]) -> TableOptions:
    """Return what the options of ``table_flags`` say, and take them out of the flags."""
    from gpuladder.review.imports.clock import Clock
    from gpuladder.review.imports.columns import column_map
    from gpuladder.review.imports.rows import TableOptions

    delimiter = flags.pop("delimiter")
    return TableOptions(
        columns=column_map(flags.pop("columns"), flags.pop("column_map")),
        delimiter=None if delimiter is None else _DELIMITERS[delimiter],
        decimal=flags.pop("decimal"),
        clock=Clock(timezone=flags.pop("timezone"), time_format=flags.pop("time_format")),
    )
