"""Sheets on paper: size, footer, and wide ones in blocks of columns that can be read."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from gpuladder.report.table import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xlsxwriter.worksheet import Worksheet

LEAST_SCALE = 0.6
"""Print in a smaller size than this is not read: 6 points for cells of 10."""

_BLOCK_SCALE = 0.7
_PAPER_A4 = 9
_FOOTER_NAME = 80

# A4 on its side, less margins of 0.4 inches, at 96 pixels an inch.
_PAGE_PIXELS = (297.0 / 25.4 - 0.8) * 96.0
# Programs differ in how wide they print a column; one that is too wide gets a page of its own.
_SAFETY = 0.9
_CHARACTER_PIXELS, _CELL_PIXELS = 7, 5


def print_setup(
    sheet: Worksheet,
    scenario_name: str,
    last_row: int,
    last_column: int,
    *,
    portrait: bool = False,
) -> None:
    """Set a sheet up for paper: A4, one page wide, print area, footer with page numbers."""
    if portrait:
        sheet.set_portrait()
    else:
        sheet.set_landscape()
    sheet.set_paper(_PAPER_A4)
    sheet.set_margins(left=0.4, right=0.4, top=0.5, bottom=0.6)
    sheet.fit_to_pages(1, 0)
    sheet.print_area(0, 0, last_row, last_column)
    name = scenario_name if len(scenario_name) <= _FOOTER_NAME else scenario_name[:79] + "…"
    escaped = str(plain(name) or "").replace("&", "&&").replace("\n", " ")
    # The blank keeps a name that begins with digits from being read as part of the font size.
    sheet.set_footer(f"&L&8 {escaped} · &A&R&8 &P / &N")
    sheet.hide_gridlines(2)


def pixels(width: float) -> int:
    """Return the width in pixels of a column whose width is given in characters."""
    return int(width * _CHARACTER_PIXELS) + _CELL_PIXELS


def page_breaks(widths: Sequence[float]) -> tuple[int, ...]:
    """Return the columns at which a new page begins; none when all fit on one and can be read.

    The first column stands on every page. Blocks are about equally wide.

    Parameters
    ----------
    widths : sequence of float
        Width of each column in characters.
    """
    sizes = [pixels(width) for width in widths]
    room = _PAGE_PIXELS / LEAST_SCALE
    if len(sizes) <= 2 or sum(sizes) <= room:
        return ()
    first, rest = sizes[0], sizes[1:]
    for count in range(2, len(rest) + 1):
        breaks = _cut(rest, count)
        if first + max(_blocks(rest, breaks)) <= room:
            return tuple(column + 1 for column in breaks)
    return tuple(range(2, len(sizes)))


def first_page(widths: list[float]) -> list[float]:
    """Return the widths of the columns on the first page, over which a title and a note stand."""
    breaks = page_breaks(widths)
    return widths[: breaks[0]] if breaks else widths


def print_in_blocks(sheet: Worksheet, widths: Sequence[float]) -> None:
    """Print a sheet in blocks of columns, as large as the widest of them allows, if it is wide."""
    breaks = page_breaks(widths)
    if not breaks:
        return
    sizes = [pixels(width) for width in widths]
    block = sizes[0] + max(_blocks(sizes[1:], [column - 1 for column in breaks]))
    scale = min(_BLOCK_SCALE, _PAGE_PIXELS * _SAFETY / block)
    sheet.set_print_scale(int(100 * scale))
    sheet.set_v_pagebreaks(list(breaks))
    sheet.repeat_columns(0)


def _cut(sizes: Sequence[int], count: int) -> list[int]:
    """Return where to begin each block but the first, so that they are about equally wide."""
    ends = list(accumulate(sizes))
    aims = [ends[-1] * number / count for number in range(1, count)]
    nearest = {min(range(1, len(ends)), key=lambda i: abs(ends[i - 1] - aim)) for aim in aims}
    return sorted(nearest)


def _blocks(sizes: Sequence[int], breaks: Sequence[int]) -> list[int]:
    edges = [0, *breaks, len(sizes)]
    return [sum(sizes[begin:end]) for begin, end in pairwise(edges)]
