"""``gpuladder audit``: check a saved run again, without a solver."""

from __future__ import annotations

from pathlib import Path

import click

from gpuladder.cli.console import Exit
from gpuladder.cli.options import common, console_of


@click.command(short_help="Check a saved run again, without a solver.")
@click.argument("run", type=click.Path(path_type=Path))
@common
@click.pass_context
def audit(context: click.Context, run: Path) -> None:
    """Check the plan of a saved run against its scenario, limit by limit and cent by cent.

    RUN is the folder that `gpuladder solve` wrote. Exit code 1 when anything is found.
    """
    from gpuladder.pipeline import audit_run
    from gpuladder.verdict import audit_problems

    console = console_of(context)
    report = audit_run(run)
    console.problems(audit_problems(report.record()))
    console.document(report.record())
    if not report.passed:
        console.data(f"The plan does not stand: findings: {len(report.findings)}.")
        context.exit(Exit.ANSWER_IS_NO)
    if report.objective is None:
        console.data("There is no plan in this run, and nothing that speaks against that.")
    else:
        console.data(f"The plan stands: net present cost {report.objective:,.2f}, nothing found.")
