"""``gpuladder diff``: what changed from one saved run to another, without a solver."""

from __future__ import annotations

import sys
from pathlib import Path
from shutil import get_terminal_size

import click

from gpuladder.cli.console import Exit
from gpuladder.cli.options import common, console_of


@click.command(short_help="Show what changed from one saved run to another.")
@click.argument("run_a", type=click.Path(path_type=Path))
@click.argument("run_b", type=click.Path(path_type=Path))
@click.option(
    "limits",
    "--fail-over",
    multiple=True,
    metavar="[METRIC=]N%",
    help="Exit code 1 when the net present cost, or METRIC, of RUN_B is more than N per cent above "
    "that of RUN_A; may be given several times.",
)
@common
@click.pass_context
def diff(context: click.Context, run_a: Path, run_b: Path, limits: tuple[str, ...]) -> None:
    """Show what differs from RUN_A to RUN_B: inputs, plan, costs, figures and shadow prices.

    Both are folders that `gpuladder solve` wrote, or folders of a scenario's runs, of which the
    latest counts. A difference that the proven gaps could make is said to be one, and figures in
    other currencies or over other horizons are not subtracted.

    --fail-over looks at the plans in hand, relative to RUN_A, and is tripped too where a figure
    cannot be compared. Exit code 1 also when the audit refuses one of the runs.
    """
    from gpuladder import pipeline
    from gpuladder.report.tables_diff import diff_text
    from gpuladder.review.diff import diff as compare
    from gpuladder.review.diff_document import diff_document
    from gpuladder.review.gates import gate_problems, read_limits

    console = console_of(context)
    wanted = read_limits(limits)
    found = compare(pipeline.read_run(run_a), pipeline.read_run(run_b), wanted)
    console.document(diff_document(found))
    console.data(
        diff_text(
            found, width=get_terminal_size().columns, colour=console.colours(sys.stdout)
        ).rstrip()
    )
    console.problems(gate_problems(found))
    is_sound = found.before.is_audited and found.after.is_audited
    context.exit(Exit.DONE if is_sound and not found.is_tripped else Exit.ANSWER_IS_NO)
