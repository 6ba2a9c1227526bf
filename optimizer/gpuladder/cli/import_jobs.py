"""``gpuladder import jobs``: a file of jobs as demand, a history and a calendar of campaigns."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from gpuladder.cli.imports import Command, table_flags, table_options
from gpuladder.cli.options import common, console_of, output
from gpuladder.errors import Problem, UsageError

if TYPE_CHECKING:
    from datetime import date

    from gpuladder.review.calendar import CalendarRule
    from gpuladder.review.imports.clock import Clock
    from gpuladder.review.imports.job_rows import JobOptions
    from gpuladder.review.starter import Starter

_HARDWARE = "h100"
_NODE_GPUS = 8

_RULE: tuple[tuple[str, str, Any, Any, str, str], ...] = (
    (
        "--gap",
        "gap_hours",
        float,
        48.0,
        "HOURS",
        "Jobs of a team belong to one campaign until it has started none for so long.",
    ),
    (
        "--longest",
        "longest_days",
        float,
        28.0,
        "DAYS",
        "A job that starts so long after its campaign's first begins a new campaign.",
    ),
    (
        "--campaign-gpu-hours",
        "campaign_gpu_hours",
        float,
        200.0,
        "N",
        "Smaller groups of jobs stay hourly demand; inf leaves all jobs there.",
    ),
    (
        "--gang-gpus",
        "gang_gpus",
        int,
        8,
        "N",
        "Least GPUs of a job that is a run of its own; it also fills whole nodes.",
    ),
    (
        "--gang-gpu-hours",
        "gang_gpu_hours",
        float,
        2500.0,
        "N",
        "Least GPU-hours of such a run, all its attempts together.",
    ),
    (
        "--slack",
        "slack_days",
        int,
        14,
        "DAYS",
        "From the last end to the deadline: an assumption, no history has deadlines.",
    ),
    (
        "--repeat-least",
        "repeat_least",
        int,
        3,
        "N",
        "Campaigns in step that count as a repetition; 0 looks for none.",
    ),
    ("--repeat-days", "repeat_days", float, 1.0, "DAYS", "By which each may be off the step."),
    (
        "--repeat-share",
        "repeat_share",
        float,
        0.25,
        "SHARE",
        "By which the size of each may differ from their mean.",
    ),
)
"""Flag, parameter of the rule, type, default, unit and help."""


def _rule_flags(command: Command) -> Command:
    for flag, name, kind, default, unit, text in reversed(_RULE):
        command = click.option(
            name, flag, type=kind, default=default, show_default=True, metavar=unit, help=text
        )(command)
    return command


@click.command("jobs", short_help="Read jobs: sacct, a trace, or any CSV or Parquet file.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "layout",
    "--format",
    type=click.Choice(("auto", "sacct", "csv", "philly")),
    default="auto",
    show_default=True,
    help="sacct: what `sacct --parsable2` writes; auto: by the columns.",
)
@click.option("--team", metavar="NAME", help="One team for all jobs; without it a column says it.")
@click.option(
    "only",
    "--only",
    multiple=True,
    metavar="COLUMN=VALUE",
    help="Only rows with this value, e.g. Partition=h100; several of one column: any of them.",
)
@click.option("since", "--from", metavar="DATE", help="Only jobs that start on or after it.")
@click.option("until", "--until", metavar="DATE", help="Only jobs that start before it.")
@click.option("as_of", "--as-of", metavar="TIME", help="Until when running jobs are counted.")
@click.option(
    "longest_job_days",
    "--longest-job",
    type=float,
    default=366.0,
    show_default=True,
    metavar="DAYS",
    help="Longer jobs are taken for a slip, and dropped.",
)
@click.option(
    "wasted",
    "--waste-state",
    multiple=True,
    metavar="STATE",
    help="A state of jobs whose GPU-hours are waste, in place of the usual ones (FAILED, "
    "CANCELLED, NODE_FAIL, OUT_OF_MEMORY, …); may be given several times.",
)
@_rule_flags
@click.option(
    "--preemption-class",
    default="imported",
    show_default=True,
    metavar="ID",
    help="Class of all campaigns.",
)
@click.option(
    "--horizon-start",
    metavar="DATE",
    help="Move the calendar by whole weeks, to begin in the first one from this date on.",
)
@click.option("--pool", metavar="ID", help="Write a scenario.yaml with this pool, too.")
@click.option(
    "--hardware",
    metavar="NAME",
    help=f"What its GPUs are, from the catalogue; {_HARDWARE} when left out.",
)
@click.option(
    "--node-gpus",
    type=int,
    metavar="N",
    help=f"GPUs of a node; those of the hardware, or {_NODE_GPUS}.",
)
@click.option(
    "--offers",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Its offers, a table as in a scenario; without it the catalogue's on-demand price.",
)
@table_flags
@output
@common
@click.pass_context
def import_jobs(
    context: click.Context,
    /,
    file: Path,
    layout: Any,
    pool: str | None,
    hardware: str | None,
    offers: Path | None,
    output: Path,
    **flags: Any,
) -> None:
    """Read jobs from FILE: who held how many GPUs when, and the calendar that this makes.

    Out come campaigns.csv and demand.csv for a scenario (demand is what is in no campaign),
    history.csv with every team's GPUs by the hour, calendar.csv with what each campaign was made
    from, and calendar.png to judge it by; whole or not at all, in a new folder below --output.
    Every GPU-hour is in the work and waste of a campaign or in the demand. Times are in UTC.
    """
    from gpuladder.report.jobs_folder import CHART, SCENARIO, write_jobs
    from gpuladder.report.tables_jobs import job_text
    from gpuladder.review.calendar_document import job_document
    from gpuladder.review.imports.jobs import import_jobs as read_jobs

    console = console_of(context)
    if hardware is None and pool is not None:
        hardware = _HARDWARE
    table = table_options(flags)
    around = _starter(pool, hardware, offers)
    history = read_jobs(
        file,
        layout=layout,
        rule=_calendar_rule(flags, hardware),
        options=_job_options(flags, table.clock),
        table=table,
    )
    console.talk(history.rows.text)
    folder, warnings = write_jobs(history, output, around)
    console.problems(warnings)
    console.document({**job_document(history), "folder": str(folder)})
    console.data(job_text(history))
    then = (
        f"gpuladder validate {quote(str(folder / SCENARIO))}"
        if around
        else "--pool ID to have a scenario around these tables"
    )
    console.talk(f"Files: {quote(str(folder))}. Next: look at {CHART}, then {then}")


def _starter(pool: str | None, hardware: str | None, offers: Path | None) -> Starter | None:
    from gpuladder.review.starter import starter

    if pool is not None:
        return starter(pool, hardware or _HARDWARE, offers)
    if offers is not None:
        raise UsageError(
            Problem(
                code="GL-I014",
                where="--offers",
                what="offers without a pool",
                fix="name the pool of the hourly demand with --pool",
            )
        )
    return None


def _calendar_rule(flags: dict[str, Any], hardware: str | None) -> CalendarRule:
    from gpuladder.review.calendar import WASTED_STATES, CalendarRule
    from gpuladder.sizing import catalogue

    node, start = flags["node_gpus"], flags["horizon_start"]
    if node is None:
        node = _NODE_GPUS if hardware is None else catalogue.hardware(hardware).gpus_per_node
    wasted = frozenset(state.upper() for state in flags["wasted"])
    return CalendarRule(
        **{name: flags[name] for _, name, *_ in _RULE},
        node_gpus=node,
        preemption_class=flags["preemption_class"],
        wasted_states=wasted or WASTED_STATES,
        horizon_start=None if start is None else _day(start),
    )


def _job_options(flags: dict[str, Any], clock: Clock) -> JobOptions:
    from gpuladder.review.imports.clock import moment
    from gpuladder.review.imports.job_rows import JobOptions, only_columns

    def when(name: str, flag: str) -> float | None:
        return None if flags[name] is None else moment(flags[name], clock, flag)

    return JobOptions(
        as_of=when("as_of", "--as-of"),
        since=when("since", "--from"),
        until=when("until", "--until"),
        only=only_columns(flags["only"]),
        team=flags["team"],
        longest_job_days=flags["longest_job_days"],
    )


def _day(text: str) -> date:
    from datetime import date

    try:
        return date.fromisoformat(text.strip())
    except ValueError as error:
        raise UsageError(
            Problem(
                code="GL-I008",
                where="--horizon-start",
                what=f"not a date: {text!r}",
                fix='write it as "2026-07-06"',
            )
        ) from error
