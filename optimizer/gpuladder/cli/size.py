"""``gpuladder size``: from what is trained to GPU-hours, memory, places and checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpuladder.cli.options import common, console_of, overrides
from gpuladder.cli.size_flags import OPTIONS, line_options, name_of, question_of
from gpuladder.errors import Problem, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gpuladder.sizing.sheet import Sheet
    from gpuladder.sizing.steps import Step

_OF_RUN = frozenset((*(name_of(flag) for flag, *_rest in OPTIONS), "catalogue"))
_OF_SCENARIO = frozenset(("campaign", "settings", "overlays"))


@click.command(short_help="Size a workload: FLOPs, GPU-hours, memory, places, checkpoints.")
@click.argument("scenario", required=False, type=click.Path(path_type=Path))
@click.option("--campaign", metavar="ID", help="Only this campaign of the scenario.")
@line_options
@click.option(
    "--catalogue",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="CSV with hardware, memory_gb, price_per_gpu_hour, instead of the catalogue.",
)
@overrides
@common
@click.pass_context
def size(
    context: click.Context,
    /,
    scenario: Path | None,
    campaign: str | None,
    settings: tuple[str, ...],
    overlays: tuple[Path, ...],
    **flags: Any,
) -> None:
    """Size the workloads of SCENARIO, or one workload given by --params and --tokens.

    Prints the worked sheet: every step with its formula, its numbers and its source. The numbers of
    the options are those of the seven lines of a workload: run, cadence, time limit, preemption,
    checkpoints, MFU, placement and timing.
    """
    console = console_of(context)
    has_run = flags["params"] is not None or flags["tokens"] is not None
    if (scenario is None) != has_run:
        raise UsageError(
            Problem(
                code="GL-U004",
                what="nothing to size"
                if scenario is None
                else "a scenario and a run of its own were both given",
                fix="give a SCENARIO, or --params and --tokens",
            )
        )
    _refuse_unread(context, of_scenario=scenario is not None)
    sheets: tuple[Sheet, ...]
    before: tuple[Problem, ...] = ()
    if scenario is None:
        sheets = (_size_flags(flags),)
    else:
        from gpuladder.analysis.sizing import size_scenario
        from gpuladder.scenario.loading import load

        loaded = load(scenario, overrides=settings, overlays=overlays)
        before = loaded.warnings
        sheets = size_scenario(loaded.scenario, campaign, before)
    console.problems(_once((*before, *(each for sheet in sheets for each in sheet.warnings))))
    records = [sheet.record() for sheet in sheets]
    if len(sheets) == 1:
        console.document(records[0])
    else:
        console.document(
            {
                "campaigns": [
                    {"id": sheet.id, **record}
                    for sheet, record in zip(sheets, records, strict=True)
                ]
            }
        )
    console.data("\n\n".join(sheet_text(sheet) for sheet in sheets))


def _once(problems: Iterable[Problem]) -> list[Problem]:
    """Return each problem once, as it was first found: what is said twice is the same."""
    found: dict[tuple[str, str], Problem] = {}
    for each in problems:
        found.setdefault((each.code, each.what), each)
    return list(found.values())


def _refuse_unread(context: click.Context, *, of_scenario: bool) -> None:
    """Refuse flags that would count for nothing beside the others."""
    given = {
        name
        for name in context.params
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    }
    if of_scenario:
        unread, why = given & _OF_RUN, "the scenario says it"
        fix = "leave it out, or change the scenario with `--set`"
    else:
        unread, why = given & _OF_SCENARIO, "there is no scenario"
        fix = "leave it out, or give a SCENARIO instead of --params and --tokens"
        if {"catalogue", "price_kind"} <= given:
            unread, why = {*unread, "price_kind"}, "--catalogue gives the prices"
            fix = "leave it out"
    if unread:
        names = {param.name: param.opts[0] for param in context.command.params}
        raise UsageError(
            Problem(
                code="GL-U005",
                what=f"{', '.join(sorted(names[name] for name in unread))} would count for nothing",
                why=why,
                fix=fix,
            )
        )


def sheet_text(sheet: Sheet) -> str:
    """Return the worked sheet as a reader sees it."""
    lines = [f"{sheet.id}: {sheet.gpu_hours:,.0f} GPU-hours on {sheet.machine.id}"]
    section = ""
    for step in sheet.steps:
        if step.section != section:
            section = step.section
            lines.append(f"\n{section}")
        lines.append(f"  {step.name}: {_value(step)}")
        lines.append(f"      {step.formula}: {step.working}")
        lines.append(f"      source: {step.source}")
    if sheet.fits:
        lines.append("\nnodes that fit, cheapest first")
        for fit in sheet.fits:
            hourly = fit.price_per_hour
            price = "no price" if hourly is None else f"{hourly:,.2f} per hour"
            lines.append(f"  {fit.gpus}× {fit.hardware}: {price}")
    return "\n".join(lines)


def _value(step: Step) -> str:
    if isinstance(step.value, str):
        return step.value
    number = step.value
    text = f"{number:.4g}" if number >= 1e9 or number < 10 else f"{number:,.1f}"
    return f"{text} {step.unit}".strip()


def _size_flags(flags: dict[str, Any]) -> Sheet:
    from datetime import UTC, datetime

    from gpuladder.sizing import catalogue
    from gpuladder.sizing.line import size_line

    missing = next((flag for flag in ("params", "tokens") if flags[flag] is None), None)
    if missing is not None:
        raise UsageError(
            Problem(
                code="GL-U004",
                what=f"--{missing} is missing",
                fix="give a SCENARIO, or --params and --tokens",
            )
        )
    question, where = question_of(flags)
    path = flags["catalogue"]
    return size_line(
        question,
        today=datetime.now(tz=UTC).date(),
        own=None if path is None else catalogue.read_priced_memory(path),
        where=where,
    )
