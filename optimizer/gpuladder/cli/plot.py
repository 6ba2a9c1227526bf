"""``gpuladder plot``: one picture of a saved run."""

from __future__ import annotations

from pathlib import Path

import click

from gpuladder.cli.options import common, console_of


@click.command(short_help="Draw a picture of a saved run, as PNG or SVG.")
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("name", required=False)
@click.option(
    "form",
    "--format",
    type=click.Choice(["png", "svg"]),
    help="Form of the picture. [default: the ending of --output, else png]",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="File to write; never over another. [default: NAME.png here]",
)
@common
@click.pass_context
def plot(
    context: click.Context, run: Path, name: str | None, form: str | None, output: Path | None
) -> None:
    """Draw the picture NAME of RUN, the folder that `gpuladder solve` wrote.

    Without NAME, list the pictures and whether the run has anything to show on them.
    """
    from gpuladder.pipeline import read_run
    from gpuladder.report.new_file import write_new_file
    from gpuladder.report.plots import PLOTS, figure, has_content, path_of, save

    console = console_of(context)
    result = read_run(run)
    if name is None:
        rows = [(each, what, has_content(result, each)) for each, what in PLOTS.items()]
        console.document({"plots": [{"name": n, "shows": w, "has_content": h} for n, w, h in rows]})
        console.data(
            "\n".join(f"{n:<12}{w}{'' if h else ' (nothing to show)'}" for n, w, h in rows)
        )
        return
    picture = figure(result, name)
    path = path_of(name, output, form)
    write_new_file(path, lambda draft: save(picture, draft))
    console.document({"plot": name, "file": str(path)})
    console.data(str(path))
