"""``gpuladder import prices``: a price list as the offers of a scenario."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from gpuladder.cli.imports import table_flags, table_options
from gpuladder.cli.options import common, console_of, output

if TYPE_CHECKING:
    from gpuladder.review.imports.prices.listing import PriceOptions
    from gpuladder.review.prices_result import ImportedPrices

HOME = "prices"


@click.command("prices", short_help="Read a price list as offers.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "layout",
    "--format",
    type=click.Choice(
        ("auto", "csv", "gpu-pricing", "gpu-rental-prices", "capacity-blocks", "aws-list")
    ),
    default="auto",
    show_default=True,
    help="How the list is laid out; by its columns when auto.",
)
@table_flags
@click.option(
    "price_columns",
    "--price-column",
    multiple=True,
    metavar="COLUMN[=KIND[:TENOR]]",
    help="A column of prices, e.g. ondemand=on_demand, or 'ri1y=reserved:12 months'.",
)
@click.option(
    "--per", type=click.Choice(("gpu", "node")), help="What a price is of, if not said by layout."
)
@click.option(
    "gpus_per_node",
    "--gpus-per-node",
    multiple=True,
    metavar="[SKU=]GPUS",
    help="GPUs of a node where the list does not say, of all or of one SKU.",
)
@click.option("--currency", metavar="CODE", help="Of the prices; with a column: rows that count.")
@click.option("--as-of", metavar="DATE", help="Date of the prices, where the list has none.")
@click.option(
    "values",
    "--value",
    multiple=True,
    metavar="FIELD=VALUE",
    help="A field that is the same in every row, e.g. provider=acme or kind=on_demand.",
)
@click.option(
    "offer_keys",
    "--offer",
    multiple=True,
    metavar="KIND.KEY=VALUE",
    help="A key of offers that no list has, e.g. spot.max_gpus=64 or 'reserved.lead=4 weeks'.",
)
@click.option(
    "--outlier-factor",
    type=click.FloatRange(min=1, min_open=True),
    default=5.0,
    show_default=True,
    help="Prices so many times above or below the median of their GPU and kind are refused.",
)
@output
@common
@click.pass_context
def import_prices(context: click.Context, /, file: Path, output: Path, **flags: Any) -> None:
    """Read the price list FILE as offers and pools of a scenario.

    Each price is brought to one GPU-hour. Prices of zero, and prices far from all others of the
    same GPU and kind, are refused and listed with their row. Several dates of one offer become its
    price path. Unit, currency and date are stated by the list or on the command line, never
    guessed. Writes offers.csv, pools.csv, the source of every price, and what was refused; whole or
    not at all, in a new folder below --output.
    """
    from gpuladder.report.tables_prices import prices_text
    from gpuladder.review.imports.prices.reading import import_prices as read

    console = console_of(context)
    layout = flags.pop("layout")
    found = read(file, layout=layout, options=_options(flags))
    console.problems(found.warnings)
    folder = write_prices(found, file, output)
    console.document({**found.record(), "folder": str(folder)})
    console.data(prices_text(found))
    console.talk(f"Files: {quote(str(folder))}")


def _options(flags: dict[str, Any]) -> PriceOptions:
    from gpuladder.review.imports.prices.layouts import read_price_columns
    from gpuladder.review.imports.prices.listing import PriceOptions
    from gpuladder.review.imports.prices.statements import (
        read_day,
        read_node_gpus,
        read_offer_keys,
        read_values,
    )

    as_of = flags["as_of"]
    return PriceOptions(
        table=table_options(flags),
        per=flags["per"],
        node_gpus=read_node_gpus(flags["gpus_per_node"]),
        currency=flags["currency"],
        as_of=None if as_of is None else read_day(as_of),
        prices=read_price_columns(flags["price_columns"]),
        values=read_values(flags["values"]),
        offer_keys=read_offer_keys(flags["offer_keys"]),
        outlier_factor=flags["outlier_factor"],
    )


def write_prices(found: ImportedPrices, file: Path, output: Path) -> Path:
    """Write the folder of an imported price list, never over another one; return its path."""
    import json
    from datetime import UTC, datetime

    from gpuladder.report.csv_files import write_csv_files
    from gpuladder.report.run_folder import slug, write_folder
    from gpuladder.report.tables_prices import offers_csv, prices_tables
    from gpuladder.review.prices_result import DOCUMENT

    def fill(folder: Path) -> None:
        write_csv_files(prices_tables(found), folder)
        (folder / "offers.csv").write_text(offers_csv(found), encoding="utf-8", newline="")
        text = json.dumps(found.record(), indent=1, ensure_ascii=False, allow_nan=False)
        (folder / DOCUMENT).write_text(text + "\n", encoding="utf-8", newline="\n")

    return write_folder(output / slug(file.stem) / HOME, fill, now=datetime.now(UTC))
