"""Pictures of a result outside the workbook: matplotlib figures by name, as PNG or SVG.

    from gpuladder.report.plots import figure

    figure(result, "ladder").savefig("ladder.svg")

Figures are made without any global state of matplotlib, which is imported when the first one is
asked for. Colours, words and numbers are those of the workbook.
"""

from __future__ import annotations

import difflib
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from gpuladder.errors import Problem, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

    from gpuladder.analysis.result import Result

PLOTS = {
    "capacity": "capacity by kind against what uses it, over time",
    "ladder": "GPUs whose terms end, by quarter, before and after",
    "calendar": "campaigns over the terms that serve them",
    "waterfall": "from the cheapest structure in use to the plan, step by step",
    "idle": "idle committed GPUs of each pool over time",
}
"""What each picture shows, by name."""

_HOMES = {
    "capacity": "capacity",
    "ladder": "expiries",
    "calendar": "timeline",
    "waterfall": "savings",
    "idle": "idle",
}
FORMATS = ("png", "svg")


def figure(result: Result, name: str) -> Figure:
    """Return one picture of a result.

    Raises
    ------
    UsageError
        When there is no picture of that name, or the result has nothing to show on it.
    """
    if name not in PLOTS:
        near = difflib.get_close_matches(name, PLOTS, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise UsageError(
            Problem(
                code="GL-U010",
                what=f"there is no plot {name!r}",
                fix=f"{hint}the plots are {', '.join(PLOTS)}",
            )
        )
    draw: Callable[[Result], Figure | None] = import_module(
        f"gpuladder.report.plots.{_HOMES[name]}"
    ).draw
    found = draw(result)
    if found is None:
        raise UsageError(
            Problem(
                code="GL-U011",
                what=f"nothing to show on the plot {name!r}",
                why=_why_nothing(result, name),
                fix="solve the scenario again with more --analysis-seconds"
                if name == "waterfall" and result.plan.has_quantities
                else "choose another plot",
            )
        )
    return found


def has_content(result: Result, name: str) -> bool:
    """Tell whether a result has anything to show on a picture."""
    try:
        figure(result, name)
    except UsageError:
        return False
    return True


def path_of(name: str, output: Path | None, form: str | None) -> Path:
    """Return the file of a picture: as named, with the ending of its form.

    Raises
    ------
    UsageError
        When the ending is none of ``FORMATS``, or another one than the form that is asked for.
    """
    path = output or Path(f"{name}.{form or FORMATS[0]}")
    ending = path.suffix.removeprefix(".").lower()
    if not ending and form is not None:
        return path.with_name(f"{path.name}.{form}")
    if ending not in FORMATS or form not in (None, ending):
        raise UsageError(
            Problem(
                code="GL-U010",
                where=str(path),
                what=f"a picture is a file that ends in .{form or ' or .'.join(FORMATS)}",
                fix=f"--output {path.with_suffix(f'.{form or FORMATS[0]}')}",
            )
        )
    return path


def save(picture: Figure, path: Path) -> None:
    """Write a figure as the format of the file's ending; the same figure gives the same bytes.

    Raises
    ------
    OSError
        When the file cannot be written.
    """
    import matplotlib as mpl

    form = path.suffix.removeprefix(".").lower()
    metadata = {"Date": None} if form == "svg" else {"Software": None}
    with mpl.rc_context({"svg.hashsalt": "gpuladder", "svg.fonttype": "none"}):
        picture.savefig(path, format=form, dpi=144, metadata=metadata)


def _why_nothing(result: Result, name: str) -> str:
    if not result.plan.has_quantities:
        return "the run has no plan"
    return {
        "waterfall": "the structures in use were not solved in the time for analysis",
        "idle": "no committed capacity is idle in any period",
        "ladder": "no commitment is held or bought",
    }.get(name, "the plan holds and uses nothing")
