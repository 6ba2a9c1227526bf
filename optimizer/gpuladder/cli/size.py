"""``gpuladder size``: from what is trained to GPU-hours, memory, places and checkpoints."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpuladder.cli.options import common, console_of, overrides
from gpuladder.errors import Problem, UsageError

if TYPE_CHECKING:
    from gpuladder.sizing.sheet import Sheet
    from gpuladder.sizing.spec import Workload
    from gpuladder.sizing.steps import Step

DEFAULT_MFU = (0.35, 0.40, 0.55)
"""Between what 512 H100 reach on small models and what one well-tuned node reaches."""
_RUN_KEYS = (
    "params",
    "active_params",
    "tokens",
    "generated_tokens",
    "method",
    "sequence",
    "layers",
    "hidden",
    "micro_batch",
    "recompute",
    "communication",
    "communication_share",
    "runs",
)
"""Flags that are keys of a workload's run."""
_OF_RUN = frozenset(
    (
        *_RUN_KEYS,
        "mfu",
        "mfu_low",
        "mfu_high",
        "hardware",
        "gpus",
        "time_limit",
        "gpu_hours",
        "checkpoint_minutes",
        "restart_minutes",
        "interval_minutes",
        "node_mtbf_hours",
        "price_kind",
        "catalogue",
    )
)
_OF_SCENARIO = frozenset(("campaign", "settings", "overlays"))
_FLAGS = {"expected": "mfu", "low": "mfu-low", "high": "mfu-high"}
_LETTERS = {"K": 1e3, "M": 1e6, "B": 1e9, "G": 1e9, "T": 1e12}


def number(value: str | float) -> float:
    """Read a large number: 13e9, 13B, 2.5T."""
    text = str(value).strip()
    factor = _LETTERS.get(text[-1:].upper(), 1.0)
    try:
        found = float(text if factor == 1.0 else text[:-1]) * factor
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        msg = f"{value!r} is not a number; write 13e9 or 13B"
        raise click.BadParameter(msg)
    return found


def positive(value: str | float) -> float:
    """Read a number above 0."""
    found = number(value)
    if found <= 0.0:
        msg = f"{value!r} is not more than 0"
        raise click.BadParameter(msg)
    return found


def non_negative(value: str | float) -> float:
    """Read a number of at least 0."""
    found = number(value)
    if found < 0.0:
        msg = f"{value!r} is below 0"
        raise click.BadParameter(msg)
    return found


@click.command(short_help="Size a workload: FLOPs, GPU-hours, memory, places, checkpoints.")
@click.argument("scenario", required=False, type=click.Path(path_type=Path))
@click.option("--campaign", metavar="ID", help="Only this campaign of the scenario.")
@click.option("--params", type=positive, help="Parameters of the model, e.g. 13e9 or 13B.")
@click.option("--active-params", type=positive, help="Parameters a token passes through.")
@click.option("--tokens", type=positive, help="Tokens trained on, e.g. 2e12 or 2T.")
@click.option("--generated-tokens", type=non_negative, help="Tokens of rollouts (rl).")
@click.option(
    "--method",
    type=click.Choice(["pretraining", "full_finetune", "lora", "qlora", "rl"]),
    default="pretraining",
    show_default=True,
)
@click.option("--sequence", type=positive, help="Context in tokens; adds the attention term.")
@click.option("--layers", type=positive, help="Layers of the model, with --hidden.")
@click.option("--hidden", type=positive, help="Width of the model, with --layers.")
@click.option("--micro-batch", type=positive, help="Sequences in memory at once.")
@click.option("--recompute", type=click.Choice(["none", "selective", "full"]))
@click.option("--communication", type=click.Choice(["periodic", "constant"]))
@click.option(
    "--communication-share", type=non_negative, help="Share of a step that does not shrink."
)
@click.option("--runs", type=click.IntRange(min=1), help="Runs of this size.")
@click.option("--mfu", type=positive, help="Expected share of peak; 0.4 when left out.")
@click.option("--mfu-low", type=positive)
@click.option("--mfu-high", type=positive)
@click.option("--hardware", metavar="NAME", help="Hardware of the catalogue; h100 when left out.")
@click.option("--gpus", type=click.IntRange(min=1), help="GPUs of one run.")
@click.option("--time-limit", metavar="SPAN", help="Time-to-train limit, e.g. '21 days'.")
@click.option("--gpu-hours", type=positive, help="Stated GPU-hours, to be checked.")
@click.option("--checkpoint-minutes", type=non_negative, default=5.0, show_default=True)
@click.option("--restart-minutes", type=non_negative, default=15.0, show_default=True)
@click.option("--interval-minutes", type=positive)
@click.option(
    "--node-mtbf-hours",
    type=positive,
    default=6334.0,
    show_default=True,
    help="Hours between failures of a node (Llama 3: 419 on 2,048 nodes in 54 days).",
)
@click.option(
    "--price-kind",
    type=click.Choice(["on_demand", "spot"]),
    default="on_demand",
    show_default=True,
    help="Prices of the catalogue for the nodes that fit.",
)
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

    Prints the worked sheet: every step with its formula, its numbers and its source.
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
    if scenario is None:
        sheets = (_size_flags(flags),)
    else:
        from gpuladder.analysis.sizing import size_scenario
        from gpuladder.scenario.loading import load

        loaded = load(scenario, overrides=settings, overlays=overlays)
        sheets = size_scenario(loaded.scenario, campaign)
    for sheet in sheets:
        console.problems(sheet.warnings)
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
    from gpuladder.sizing.machine import machine_of
    from gpuladder.sizing.sheet import Interruptions
    from gpuladder.sizing.sheet import size as size_workload

    spec = catalogue.hardware(flags["hardware"] or catalogue.DEFAULT_HARDWARE)
    metered = catalogue.lowest_prices("on_demand")
    spot = catalogue.lowest_prices("spot")
    quotes = spot if flags["price_kind"] == "spot" else metered
    if flags["catalogue"] is None:
        choices = catalogue.priced_memory(quotes)
        warning = catalogue.stale(
            [*metered.values(), *spot.values(), catalogue.rate_rows()["hyperscaler"]],
            datetime.now(tz=UTC).date(),
        )
        price = metered[spec.id].price_per_gpu_hour if spec.id in metered else None
        spot_price = spot[spec.id].price_per_gpu_hour if spec.id in spot else None
    else:
        choices, warning = catalogue.read_priced_memory(flags["catalogue"]), None
        price, spot_price = catalogue.price_in(choices, spec), None
    return size_workload(
        _workload(flags),
        [
            machine_of(
                spec,
                price_per_gpu_hour=price,
                spot_price_per_gpu_hour=spot_price,
                node_mtbf_hours=flags["node_mtbf_hours"],
            )
        ],
        choices=choices,
        interruptions=Interruptions(
            write_minutes=flags["checkpoint_minutes"],
            restart_minutes=flags["restart_minutes"],
            interval_minutes=flags["interval_minutes"],
        ),
        gpus=flags["gpus"],
        stated_gpu_hours=flags["gpu_hours"],
        warnings=() if warning is None else (warning,),
        storage_per_gb_month=catalogue.rate_rows()["hyperscaler"].storage_per_gb_month[1],
    )


def _flag(location: tuple[int | str, ...]) -> str:
    name = str(location[-1]) if location else "run"
    return f"--{_FLAGS.get(name, name.replace('_', '-'))}"


def _workload(flags: dict[str, Any]) -> Workload:
    from pydantic import ValidationError

    from gpuladder.sizing.spec import Workload

    run = {key: flags[key] for key in _RUN_KEYS if flags[key] is not None}
    low, expected, high = flags["mfu_low"], flags["mfu"], flags["mfu_high"]
    if expected is None and low is None and high is None:
        low, expected, high = DEFAULT_MFU
    band = {"low": low, "expected": DEFAULT_MFU[1] if expected is None else expected, "high": high}
    content: dict[str, Any] = {"run": run, "mfu": {k: v for k, v in band.items() if v is not None}}
    if flags["time_limit"] is not None:
        content["time_limit"] = flags["time_limit"]
    try:
        return Workload.model_validate(content)
    except ValidationError as error:
        raise UsageError(
            [
                Problem(
                    code="GL-U005",
                    where=_flag(item["loc"]),
                    what=str(item["msg"]),
                    fix="see `gpuladder size --help`",
                )
                for item in error.errors(include_url=False)
            ]
        ) from error
