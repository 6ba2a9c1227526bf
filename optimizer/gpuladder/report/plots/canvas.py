"""What all pictures share: size, fonts, axes, labels that fit."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from gpuladder.report.styles import INK, MUTED, RULE
from gpuladder.report.table import clean_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gpuladder.analysis.result import Result

WIDTH_INCHES, HEIGHT_INCHES = 11.0, 5.2
_NAME_LETTERS = 34
_OTHER = "\N{WHITE SQUARE}"


def blank(height: float = HEIGHT_INCHES) -> tuple[Figure, Axes]:
    """Return an empty figure of the usual width, inches, and its axes."""
    from matplotlib.figure import Figure

    picture = Figure(figsize=(WIDTH_INCHES, height), layout="constrained")
    return picture, picture.subplots()


def name(text: str, letters: int = _NAME_LETTERS) -> str:
    """Return a name as a label: one line, cut where it is long, signs without a glyph replaced.

    The font that ships with matplotlib has no emoji; a sign that cannot be drawn is a square.
    Dollar signs would begin a formula.
    """
    line = " ".join(clean_text(text).split())
    drawn = "".join(letter if _is_drawn(letter) else _OTHER for letter in line)
    short = drawn if len(drawn) <= letters else f"{drawn[: letters - 1]}…"
    return short.replace("$", r"\$")


def _is_drawn(letter: str) -> bool:
    if ord(letter) < 0x250:
        return True
    from matplotlib.font_manager import findfont, get_font

    return ord(letter) in get_font(findfont("DejaVu Sans")).get_charmap() and unicodedata.category(
        letter
    ) not in ("Cf", "Cs")


def dress(axes: Axes, title: str, unit: str, *, grid: str = "y") -> None:
    """Give axes a title, a unit and a quiet frame."""
    axes.set_title(title, loc="left", fontsize=12, fontweight="bold", color=INK, pad=10)
    axes.set_ylabel(unit, fontsize=9, color=MUTED)
    axes.tick_params(labelsize=8.5, colors=INK, length=3)
    axes.grid(axis=grid, color=RULE, linewidth=0.6)  # type: ignore[arg-type]
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(RULE)


def thousands(axes: Axes, which: str = "y") -> None:
    """Write the numbers of an axis with separators."""
    from matplotlib.ticker import FuncFormatter

    axis = axes.yaxis if which == "y" else axes.xaxis
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))


def dates(axes: Axes) -> None:
    """Write the x axis as dates, as many as fit."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator(minticks=4, maxticks=12)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]


def legend_right(axes: Axes) -> None:
    """Put the legend beside the data, never over it."""
    axes.legend(
        loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=9, borderaxespad=0.0
    )


def caption(picture: Figure, result: Result, text: str) -> None:
    """Say below the picture which plan it shows and how it is to be read."""
    plan = result.plan
    gap = "" if plan.gap is None else f", proven within {plan.gap:.2%} of the cheapest"
    line = f"{name(result.scenario.name, 60)}: {plan.status.value}{gap}. {text}"
    picture.supxlabel(line, x=0.01, ha="left", fontsize=8, color=MUTED)


def numbers(days: Sequence[date]) -> list[float]:
    """Return dates as matplotlib counts them."""
    from matplotlib.dates import date2num

    return [float(date2num(day)) for day in days]  # type: ignore[no-untyped-call]
