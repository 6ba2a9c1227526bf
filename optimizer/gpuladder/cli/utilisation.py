"""``gpuladder utilisation``: where reserved GPU-hours go, and what pooling would save."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from gpuladder.cli.options import common, console_of, output
from gpuladder.cli.usage_flags import read_usage, usage_flags

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpuladder.review.utilisation_result import Utilisation
    from gpuladder.scenario.schema import HeldCommitment

HOME = "utilisation"
DOCUMENT = "utilisation.json"
WORKBOOK = "utilisation.xlsx"
TABLES = "tables"


@click.command(short_help="Show where reserved GPU-hours go, and what pooling would save.")
@click.argument("source", type=click.Path(path_type=Path))
@click.option(
    "prices",
    "--price",
    multiple=True,
    metavar="[TEAM=]PRICE",
    help="Contract price per reserved GPU-hour, of all or of one team or pool.",
)
@click.option(
    "--scenario",
    type=click.Path(path_type=Path),
    metavar="SCENARIO",
    help="Scenario whose held commitments say prices, and what was reserved where SOURCE does not.",
)
@click.option(
    "hours_share",
    "--hours-share",
    type=click.FloatRange(min=0, max=1, min_open=True),
    default=0.95,
    show_default=True,
    help="Share of the hours that a reservation is to serve in full.",
)
@click.option(
    "work_share",
    "--work-share",
    type=click.FloatRange(min=0, max=1, min_open=True),
    default=0.99,
    show_default=True,
    help="Share of the GPU-hours that a reservation is to serve.",
)
@click.option(
    "--dead-below",
    type=click.FloatRange(min=0, max=1),
    default=0.05,
    show_default=True,
    help="A reservation of which a smaller share was used is dead.",
)
@click.option(
    "--lot-gpus",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Reservations come in whole lots of so many GPUs.",
)
@usage_flags
@output
@common
@click.pass_context
def utilisation(
    context: click.Context,
    /,
    source: Path,
    output: Path,
    prices: tuple[str, ...],
    scenario: Path | None,
    hours_share: float,
    work_share: float,
    dead_below: float,
    lot_gpus: int,
    **flags: Any,
) -> None:
    """Show where the reserved GPU-hours of SOURCE went, by team and pooled.

    SOURCE is a usage history (see `gpuladder import usage`), or the folder of an imported one. Of
    what was reserved, part stood empty; of what was allocated, part was not busy. Beside it: dead
    reservations, what one common reservation would need, and what teams could have lent each
    other. Money is at the contract price, which is stated or held in the scenario, never guessed.
    Where a series is missing, what it would tell is named instead.
    """
    from gpuladder.report.tables_utilisation import utilisation_text
    from gpuladder.review import utilisation as review
    from gpuladder.review.contract_prices import contract_prices, read_prices
    from gpuladder.review.held_capacity import with_held_capacity

    console = console_of(context)
    commitments, currency = _held(scenario, flags["currency"])
    stated = read_prices(prices)
    usage = read_usage(source, flags)
    history, held = with_held_capacity(usage.history, commitments)
    found_prices, doubts = contract_prices(
        history, stated, commitments, str(scenario), usage.reserved_prices
    )
    found = review.utilisation(
        history,
        prices=found_prices,
        currency=_one_currency(usage.currency, currency),
        hours_share=hours_share,
        work_share=work_share,
        dead_below=dead_below,
        lot_gpus=lot_gpus,
        source=usage.source,
        assumptions=(*usage.assumptions, *held),
        warnings=(*usage.warnings, *doubts),
    )
    console.problems(found.warnings)
    folder = write_utilisation(found, output)
    console.document({**found.record(), "rows": usage.rows.record(), "folder": str(folder)})
    console.data(f"{usage.rows.text}\n\n{utilisation_text(found)}")
    console.talk(f"Files: {quote(str(folder))}")


def _held(
    scenario: Path | None, currency: str | None
) -> tuple[Sequence[HeldCommitment], str | None]:
    """Return the commitments that a scenario holds, and the currency of the prices."""
    from gpuladder.errors import Problem, UsageError
    from gpuladder.scenario.loading import load

    if scenario is None:
        return (), currency
    loaded = load(scenario).scenario
    if currency is not None and currency != loaded.currency:
        raise UsageError(
            Problem(
                code="GL-I054",
                where="--currency",
                what=f"{currency}, and the scenario's prices are in {loaded.currency}",
                fix="leave it out",
            )
        )
    return loaded.commitments, loaded.currency


def _one_currency(of_bill: str | None, of_prices: str | None) -> str:
    from gpuladder.errors import Problem, UsageError

    if of_bill and of_prices and of_bill != of_prices:
        raise UsageError(
            Problem(
                code="GL-I047",
                where="--currency",
                what=f"prices in {of_prices} for a bill in {of_bill}",
                why="amounts of several currencies cannot be compared",
                fix=f"state prices in {of_bill}",
            )
        )
    return of_bill or of_prices or "USD"


def write_utilisation(found: Utilisation, output: Path) -> Path:
    """Write the folder of a utilisation, never over another one; return its path."""
    import json
    from datetime import UTC, datetime

    from gpuladder.report.csv_files import write_csv_files
    from gpuladder.report.run_folder import slug, write_folder
    from gpuladder.report.table_workbook import write_table_workbook
    from gpuladder.report.tables_utilisation import utilisation_tables

    now = datetime.now(UTC)

    def fill(folder: Path) -> None:
        tables = utilisation_tables(found)
        write_csv_files(tables, folder / TABLES)
        sheets = {table.name.capitalize(): table for table in tables}
        write_table_workbook(sheets, folder / WORKBOOK, name=found.source, created=now)
        text = json.dumps(found.record(), indent=1, ensure_ascii=False, allow_nan=False)
        (folder / DOCUMENT).write_text(text + "\n", encoding="utf-8", newline="\n")

    return write_folder(output / slug(Path(found.source).stem) / HOME, fill, now=now)
