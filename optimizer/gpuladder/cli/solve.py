"""``gpuladder solve``: from a scenario to an audited plan and its report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpuladder.cli.console import Console
from gpuladder.cli.options import common, console_of, output, overrides, solver_flags

if TYPE_CHECKING:
    from gpuladder.solver import Progress

SHARE_OF_TIME_BETWEEN_LINES = 0.1
"""A change is shown when the search has gone on by this share since the last line, so that early
changes are seen and a long search does not flood the terminal."""
SECONDS_BETWEEN_SIGNS_OF_LIFE = 10.0


@click.command(short_help="Find the cheapest plan, check it, and write the report.")
@click.argument("scenario", type=click.Path(path_type=Path))
@overrides
@output
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Stop the search after so many seconds; the best plan so far is kept.",
)
@click.option(
    "--gap",
    type=click.FloatRange(min=0),
    metavar="SHARE",
    help="Stop when the plan is proven this close to the best possible one, e.g. 0.005.",
)
@click.option("--threads", type=click.IntRange(min=1), metavar="N", help="Threads of the solver.")
@click.option("--seed", type=click.IntRange(min=0), metavar="N", help="Seed of the solver.")
@click.option(
    "--start-from",
    type=click.Path(path_type=Path),
    metavar="RUN",
    help="Start the search from the plan of an earlier run.",
)
@click.option(
    "--analysis-seconds",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="Time for the answers beside the plan: shadow prices, walk-away prices, baselines … "
    "By default as long as the search took, and at least a few seconds; 0 for none.",
)
@click.option("--no-analysis", is_flag=True, help="The plan alone, as with --analysis-seconds 0.")
@common
@click.pass_context
def solve(
    context: click.Context,
    scenario: Path,
    settings: tuple[str, ...],
    overlays: tuple[Path, ...],
    output: Path,
    time_limit: float | None,
    gap: float | None,
    threads: int | None,
    seed: int | None,
    start_from: Path | None,
    analysis_seconds: float | None,
    no_analysis: bool,
) -> None:
    """Find the cheapest plan for SCENARIO, check it, and write the report.

    SCENARIO is a YAML file, a folder with scenario.yaml and CSV tables, or an Excel workbook.
    The report goes to a new run folder below --output.
    """
    from gpuladder import pipeline
    from gpuladder.cli.summary import finish

    console = console_of(context)
    flags = solver_flags(time_limit=time_limit, gap=gap, threads=threads, seed=seed)
    result = pipeline.run(
        scenario,
        overlays=overlays,
        overrides=(*settings, *flags),
        start_from=None if start_from is None else pipeline.read_plan(start_from),
        analysis_seconds=0.0 if no_analysis else analysis_seconds,
        workers=None,
        listener=pipeline.Listener(
            stage=console.talk if console.shows_progress else console.detail,
            warnings=console.problems,
            note=console.talk,
            progress=_Progress(console) if console.shows_progress else None,
        ),
    )
    context.exit(finish(console, result, output))


class _Progress:
    """Writes a line when something changed, but not more often than a reader can read."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._last: Progress | None = None

    def __call__(self, progress: Progress) -> None:
        from gpuladder.cli.summary import progress_line

        if self._last is None or _is_news(progress, self._last):
            self._last = progress
            self._console.talk(progress_line(progress))


def _is_news(now: Progress, last: Progress) -> bool:
    silence = now.seconds - last.seconds
    if (now.incumbent, now.bound) == (last.incumbent, last.bound):
        return silence >= SECONDS_BETWEEN_SIGNS_OF_LIFE
    return silence >= SHARE_OF_TIME_BETWEEN_LINES * last.seconds
