"""``gpuladder validate``: everything short of solving."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpuladder.cli.console import Console, Exit, as_records
from gpuladder.cli.options import common, console_of, overrides

if TYPE_CHECKING:
    from gpuladder.model_size import Family, ModelSize


@click.command(short_help="Check scenarios and build their programs, without solving.")
@click.argument("scenarios", nargs=-1, required=True, type=click.Path(path_type=Path))
@overrides
@common
@click.pass_context
def validate(
    context: click.Context,
    scenarios: tuple[Path, ...],
    settings: tuple[str, ...],
    overlays: tuple[Path, ...],
) -> None:
    """Check SCENARIOS and build their programs, without solving.

    Prints the size of each program and how far apart its numbers lie. Exit code 2 when any
    scenario is wrong.
    """
    console = console_of(context)
    records = [_validate(console, path, settings, overlays) for path in scenarios]
    console.document({"scenarios": records})
    wrong = [record for record in records if not record["valid"]]
    context.exit(Exit.WRONG_INPUT if wrong else Exit.DONE)


def _validate(
    console: Console, path: Path, settings: tuple[str, ...], overlays: tuple[Path, ...]
) -> dict[str, Any]:
    from gpuladder.errors import ScenarioError
    from gpuladder.pipeline import program_size
    from gpuladder.scenario.loading import load

    try:
        loaded = load(path, overrides=settings, overlays=overlays)
    except ScenarioError as error:
        console.problems(error.problems)
        console.data(f"{path}: not valid")
        return {
            "path": str(path),
            "valid": False,
            "problems": as_records(error.problems),
            "size": None,
        }
    console.problems(loaded.warnings)
    size = program_size(loaded.scenario)
    console.data(f"{path}: valid\n{_size_text(size)}")
    return {
        "path": str(path),
        "valid": True,
        "problems": as_records(loaded.warnings),
        "size": size.record(),
    }


def _size_text(size: ModelSize) -> str:
    lines = [
        (
            f"  {size.num_variables:,} variables, {size.num_integers:,} of them whole numbers; "
            f"{size.num_rows:,} rows, {size.num_non_zeros:,} non-zeros"
        ),
        f"  {'rows':<22}{'count':>10}{'non-zeros':>12}   coefficients",
        *(
            f"  {family.name:<22}{family.count:>10,}{family.non_zeros:>12,}   {_span(family)}"
            for family in size.rows
        ),
        f"  {'variables':<22}{'count':>10}{'whole':>12}   costs",
        *(
            f"  {family.name:<22}{family.count:>10,}{family.integers:>12,}   {_span(family)}"
            for family in size.variables
        ),
    ]
    return "\n".join(lines)


def _span(family: Family) -> str:
    if family.smallest is None or family.largest is None:
        return "none"
    return f"{family.smallest:.3g} to {family.largest:.3g}"
