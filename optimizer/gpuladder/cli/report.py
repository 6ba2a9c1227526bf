"""``gpuladder report``: render a saved run again, without a solver."""

from __future__ import annotations

from pathlib import Path

import click

from gpuladder.cli.console import Exit
from gpuladder.cli.options import common, console_of, output


@click.command(short_help="Render a saved run again, without a solver.")
@click.argument("run", type=click.Path(path_type=Path))
@output
@common
@click.pass_context
def report(context: click.Context, run: Path, output: Path) -> None:
    """Render a saved run again, with today's report, into a new run folder.

    RUN is the folder that `gpuladder solve` wrote; it is left as it is. Exit code 1 when the audit
    refuses its plan.
    """
    from gpuladder import pipeline
    from gpuladder.cli.summary import finish

    console = console_of(context)
    result = pipeline.read_run(run)
    finish(console, result, output)
    refused = result.audit is not None and not result.audit.passed
    context.exit(Exit.ANSWER_IS_NO if refused else Exit.DONE)
