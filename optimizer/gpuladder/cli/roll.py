"""``gpuladder roll``: the scenario of the next decision, made from a plan."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpuladder.cli.options import common, console_of

if TYPE_CHECKING:
    from datetime import datetime


@click.command(short_help="Make the next quarter's scenario from a plan.")
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--to",
    required=True,
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DATE",
    help="First day of the new horizon: one on which a period of the plan begins.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where to write it: one file when it ends in .yaml, else a folder with scenario.yaml and "
    "CSV tables. Standard output when left out. Nothing is overwritten.",
)
@common
@click.pass_context
def roll(context: click.Context, run: Path, to: datetime, output: Path | None) -> None:
    """Make the scenario of the next decision from the plan in RUN.

    RUN is the folder that `gpuladder solve` wrote. What the plan signs before DATE is held, what it
    does before DATE is done, and all prices, limits and dates stay what they are. Planned again
    with nothing changed it costs what the plan costs from DATE on. A run without a plan, or with
    one that does not stand up to the audit, is refused.
    """
    from gpuladder import pipeline
    from gpuladder.review.rolling import roll as roll_on
    from gpuladder.review.rolling.writing import roll_document, roll_text, write_rolled
    from gpuladder.verdict import require_plan

    console = console_of(context)
    result = pipeline.read_run(run)
    require_plan(result)
    rolled = roll_on(result.scenario, result.plan, to.date())
    console.problems(rolled.warnings)
    for note in rolled.notes:
        console.talk(f"{note.subject}: {note.text}")
    if output is None:
        console.data(roll_text(rolled).rstrip("\n"))
    else:
        write_rolled(rolled, output)
        console.talk(
            f"From {rolled.to} on the plan costs {rolled.remaining_cost:,.2f} "
            f"{rolled.scenario.currency}. Next: gpuladder solve {output}"
        )
    console.document(roll_document(rolled, output))
