"""``gpuladder report``: render a saved run again, without a solver."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

from gpuladder.cli.console import Console, Exit
from gpuladder.cli.options import common, console_of

if TYPE_CHECKING:
    from typing import Any

    from gpuladder.analysis.result import Result

REPORT, FOCUS = "report", "focus"


@click.command(short_help="Render a saved run again, without a solver.")
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "form",
    "--format",
    type=click.Choice([REPORT, FOCUS]),
    default=REPORT,
    show_default=True,
    help="The whole report as a new run folder; or the plan as FOCUS-shaped CSV files.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Folder for the new run folder [default: reports], or for the folder focus [default: in "
    "RUN itself]. Nothing is ever overwritten.",
)
@click.option(
    "--focus-version",
    type=click.Choice(["1.3", "1.4"]),
    help="Version of the FOCUS columns. [default: 1.3]",
)
@click.option(
    "--negotiated",
    multiple=True,
    metavar="ID",
    help="Offer or held commitment that is no public offer, for FOCUS; may be given several times.",
)
@common
@click.pass_context
def report(
    context: click.Context,
    run: Path,
    form: str,
    output: Path | None,
    focus_version: str | None,
    negotiated: tuple[str, ...],
) -> None:
    """Render a saved run again, with today's report, into a new run folder.

    RUN is the folder that `gpuladder solve` wrote; its files are left as they are. Exit code 1 when
    the audit refuses its plan.

    With --format focus the plan is written as FOCUS-shaped CSV files, charge by charge and month by
    month: forecasts, not billing data. Exit code 1 when there is no plan to write.
    """
    from gpuladder import pipeline
    from gpuladder.cli.summary import finish
    from gpuladder.report.run_folder import find_run

    console = console_of(context)
    if form != FOCUS and (focus_version is not None or negotiated):
        msg = "--focus-version and --negotiated go with --format focus"
        raise click.UsageError(msg)
    result = pipeline.read_run(run)
    if form == FOCUS:
        folder, about = pipeline.write_focus(
            result,
            output or find_run(run),
            version=focus_version or "1.3",
            negotiated=negotiated,
        )
        console.document({"folder": str(folder), **about})
        _tell(console, result, folder, about)
        context.exit(Exit.DONE)
    finish(console, result, output or Path("reports"))
    refused = result.audit is not None and not result.audit.passed
    context.exit(Exit.ANSWER_IS_NO if refused else Exit.DONE)


def _tell(console: Console, result: Result, folder: Path, about: dict[str, Any]) -> None:
    """Say what was written, and what it is not."""
    from gpuladder.plan import Status

    for item in about["datasets"]:
        console.data(f"{folder / item['file']}: {item['rows']:,} rows ({item['id']})")
    sums = (f"{key} {about[key]:,.2f} {about['currency']}" for key in ("billed", "effective"))
    console.data(f"Sums, undiscounted and over full terms: {', '.join(sums)}")
    if result.plan.status is not Status.OPTIMAL:
        console.talk("The plan is not proven to be within the gap asked for.")
    console.talk(
        f"{about['shape']}; FOCUS {about['focus_version']} columns. Files: {quote(str(folder))}"
    )
