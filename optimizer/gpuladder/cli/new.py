"""``gpuladder new``: a commented scenario to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

import click

from gpuladder.cli.options import common, console_of

Form = Literal["yaml", "csv", "xlsx"]
FORMS: tuple[Form, ...] = get_args(Form)


@click.command(short_help="Write a commented scenario to start from.")
@click.argument("name")
@click.option(
    "--form",
    type=click.Choice(FORMS),
    default="yaml",
    show_default=True,
    help="One YAML file, a folder with CSV tables, or an Excel workbook.",
)
@click.option(
    "output",
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    metavar="DIR",
    help="Folder to write it in; made when missing, the current one by default.",
)
@common
@click.pass_context
def new(context: click.Context, name: str, form: Form, output: Path) -> None:
    """Write a commented scenario called NAME to start from; never over an existing file."""
    from gpuladder.scenario.templates import write_template

    console = console_of(context)
    path = write_template(name, form, output)
    console.document({"path": str(path)})
    console.data(str(path))
    console.talk(f"Next: edit it, then gpuladder validate {path}")
