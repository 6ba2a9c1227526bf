"""``gpuladder import usage``: series of GPUs, or a cloud bill, as demand and a usage history."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from gpuladder.cli.options import common, console_of, output
from gpuladder.cli.usage_flags import read_usage, usage_flags

if TYPE_CHECKING:
    from gpuladder.review.usage_result import ImportedUsage

HOME = "usage"


@click.command("usage", short_help="Read series of GPUs in use, or a cloud bill.")
@click.argument("file", type=click.Path(path_type=Path))
@usage_flags
@click.option(
    "terms",
    "--term",
    multiple=True,
    metavar="ID=START..END",
    help="Term of a commitment of a bill, e.g. ri-1=2026-01-01..2027-01-01.",
)
@click.option(
    "--contracts",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="ContractCommitment rows of a bill (FOCUS 1.3).",
)
@click.option(
    "--contract-quantity",
    type=click.Choice(("hourly", "total")),
    help="Whether their quantity is one of each hour, or of the whole term.",
)
@click.option(
    "demand_of",
    "--demand",
    type=click.Choice(("need", "allocated", "busy")),
    default="need",
    show_default=True,
    help="What demand.csv is made of; need: allocated and waiting.",
)
@output
@common
@click.pass_context
def import_usage(
    context: click.Context,
    /,
    file: Path,
    output: Path,
    terms: tuple[str, ...],
    contracts: Path | None,
    contract_quantity: str | None,
    demand_of: str,
    **flags: Any,
) -> None:
    """Read what was reserved, allocated and busy from FILE, or what was billed.

    FILE holds series of GPUs by team and hour or day, or the rows of a bill in FOCUS columns. Out
    come demand.csv and commitments.csv for a scenario, usage.csv for `gpuladder utilisation`, what
    a GPU-hour really cost, and every row that was dropped, with its reason; whole or not at all,
    in a new folder below --output. Units are stated, never guessed; a gap is not a zero.
    """
    from gpuladder.report.tables_usage import usage_text

    console = console_of(context)
    found = read_usage(
        file,
        flags,
        terms=terms,
        contracts=contracts,
        contract_quantity=contract_quantity,
        demand_of=demand_of,
    )
    console.problems(found.warnings)
    folder = write_usage(found, file, output)
    console.document({**found.record(), "folder": str(folder)})
    console.data(usage_text(found))
    console.talk(f"Files: {quote(str(folder))}. Next: gpuladder utilisation {quote(str(folder))}")


def write_usage(found: ImportedUsage, file: Path, output: Path) -> Path:
    """Write the folder of an imported history, never over another one; return its path."""
    import json
    from datetime import UTC, datetime

    from gpuladder.report.csv_files import write_csv_files
    from gpuladder.report.run_folder import slug, write_folder
    from gpuladder.report.tables_usage import usage_tables
    from gpuladder.review.usage_result import DOCUMENT

    def fill(folder: Path) -> None:
        write_csv_files(usage_tables(found), folder)
        text = json.dumps(found.record(), indent=1, ensure_ascii=False, allow_nan=False)
        (folder / DOCUMENT).write_text(text + "\n", encoding="utf-8", newline="\n")

    return write_folder(output / slug(file.stem) / HOME, fill, now=datetime.now(UTC))
