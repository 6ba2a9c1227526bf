"""Options that several verbs share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from gpuladder.cli.console import Console

Command = TypeVar("Command", bound=Callable[..., Any])

_COMMON = (
    ("as_json", ("--json",), "Print exactly one JSON document on stdout."),
    ("quiet", ("-q", "--quiet"), "No talk and no warnings."),
    ("verbose", ("-v", "--verbose"), "More talk."),
    ("no_colour", ("--no-color",), "No colours."),
    ("debug", ("--debug",), "Show the traceback of a fault of the program's own."),
)


def console_of(context: click.Context) -> Console:
    """Return the console that the command line was started with."""
    return context.ensure_object(Console)


def _remember(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if not value:
        return
    console = console_of(context)
    if parameter.name == "no_colour":
        console.colour = False
    else:
        setattr(console, str(parameter.name), True)


def common(command: Command) -> Command:
    """Add the options that every verb has; they may stand before or after the verb."""
    for name, flags, help_text in reversed(_COMMON):
        command = click.option(
            name,
            *flags,
            is_flag=True,
            expose_value=False,
            callback=_remember,
            help=help_text,
        )(command)
    return command


def overrides(command: Command) -> Command:
    """Add ``--set`` and ``--with``."""
    command = click.option(
        "overlays",
        "--with",
        multiple=True,
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Lay a YAML file of overrides over the scenario; may be given several times.",
    )(command)
    return click.option(
        "settings",
        "--set",
        multiple=True,
        metavar="KEY=VALUE",
        help="Set one key, e.g. policy.tail_charge=0.5; may be given several times.",
    )(command)


def output(command: Command) -> Command:
    """Add ``--output``."""
    return click.option(
        "output",
        "-o",
        "--output",
        type=click.Path(path_type=Path, file_okay=False),
        default=Path("reports"),
        show_default=True,
        metavar="DIR",
        help="Folder for run folders; a run never overwrites another.",
    )(command)


def solver_flags(
    *,
    time_limit: float | None = None,
    gap: float | None = None,
    threads: int | None = None,
    seed: int | None = None,
) -> tuple[str, ...]:
    """Return the overrides that the options of the solver stand for, those that were given."""
    from gpuladder.scenario.overrides import FlagOverride

    given = (
        ("--time-limit", "time_limit_seconds", time_limit),
        ("--gap", "relative_gap", gap),
        ("--threads", "threads", threads),
        ("--seed", "seed", seed),
    )
    return tuple(
        FlagOverride(flag, f"solver.{key}={value}")
        for flag, key, value in given
        if value is not None
    )
