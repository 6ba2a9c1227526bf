"""How the workbook looks: colours, number formats and cell styles, each defined once.

The colours follow the *viridis* scale: they differ in lightness first, so they stay apart in
greyscale print and for readers who do not tell red from green.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gpuladder.report.table import Cell, Format

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xlsxwriter.format import Format as CellFormat
    from xlsxwriter.workbook import Workbook

INK = "#1F2937"
MUTED = "#6B7280"
RULE = "#D1D5DB"
SHADE = "#F3F4F6"
HEADER_FILL = "#1F3A5F"

KIND_COLOURS = {
    "held": "#440154",
    "owned": "#472D7B",
    "dedicated": "#3B528B",
    "reserved": "#2C728E",
    "burst_window": "#21918C",
    "flex": "#28AE80",
    "on_demand": "#5EC962",
    "spot": "#C8E020",
}
"""Fill of each kind of capacity, from committed longest (dark) to given up soonest (light)."""

WINDOW_FILL = "#E5E7EB"
OTHER_FILL = "#9CA3AF"

FONT = "Calibri"
_SMALL_MONEY = 10_000.0
_LARGE_ALONE = 100.0
_LARGE_NUMBER = 1_000.0
_LARGE_QUANTITY = 10_000.0
_ROUNDING = 1e-6
_DARK_LIMIT = 140.0


def number_format(kind: Format, values: Iterable[Cell]) -> str:
    """Return the spreadsheet number format that shows a column's values without needless digits.

    Money below 10,000 is shown with cents; a quantity column of whole numbers without decimals;
    a zero of either as a dash, so that the eye finds what is there.
    """
    fixed = {
        Format.TEXT: "General",
        Format.DATE: "yyyy-mm-dd",
        Format.MOMENT: "yyyy-mm-dd hh:mm",
        Format.PRICE: "#,##0.00##",
        Format.COUNT: "#,##0",
        Format.SHARE: "0.0%",
    }
    if kind in fixed:
        return fixed[kind]
    numbers = [
        value
        for value in values
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    ]
    if kind is Format.MONEY:
        large = any(abs(value) >= _SMALL_MONEY for value in numbers)
        return _with_dash("#,##0" if large else "#,##0.00")
    is_whole = all(abs(value - round(value)) < _ROUNDING for value in numbers)
    if kind is Format.QUANTITY:
        is_whole = is_whole or any(abs(value) >= _LARGE_QUANTITY for value in numbers)
        return _with_dash("#,##0" if is_whole else "#,##0.0")
    if is_whole:
        return "#,##0"
    smallest = min(abs(value) for value in numbers if value)
    return "#,##0.00" if smallest >= _LARGE_NUMBER else "#,##0.0#####"


def format_of_one(value: Cell) -> str:
    """Return the number format of one value among others of very different size."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return "General"
    if abs(value) >= _LARGE_ALONE:
        return "#,##0"
    return "#,##0.00" if abs(value) >= 1.0 or not value else "0.0###"


def _with_dash(shown: str) -> str:
    """Return a number format that shows nothing of something as a dash."""
    return f"{shown};-{shown};–"


def text_colour(fill: str) -> str:
    """Return the colour, dark or white, that can be read on a fill given as ``#RRGGBB``."""
    red, green, blue = (int(fill[i : i + 2], 16) for i in (1, 3, 5))
    # Perceived lightness, ITU-R BT.601.
    lightness = 0.299 * red + 0.587 * green + 0.114 * blue
    return INK if lightness > _DARK_LIMIT else "#FFFFFF"


class Styles:
    """The cell formats of one workbook, made when first asked for."""

    def __init__(self, workbook: Workbook) -> None:
        self._workbook = workbook
        self._made: dict[tuple[tuple[str, Any], ...], CellFormat] = {}

    def make(self, **properties: Any) -> CellFormat:
        """Return the cell format with these properties, in the workbook's font."""
        wanted = {"font_name": FONT, "font_size": 10, "font_color": INK, "valign": "top"}
        wanted |= properties
        key = tuple(sorted(wanted.items()))
        if key not in self._made:
            self._made[key] = self._workbook.add_format(wanted)
        return self._made[key]

    @property
    def title(self) -> CellFormat:
        """Title of a sheet."""
        return self.make(bold=True, font_size=16, font_color=HEADER_FILL, valign="vcenter")

    @property
    def note(self) -> CellFormat:
        """Explanation under a title."""
        return self.make(font_color=MUTED, text_wrap=True, italic=True)

    @property
    def legend(self) -> CellFormat:
        """Explanation on one line."""
        return self.make(font_color=MUTED, italic=True)

    @property
    def heading(self) -> CellFormat:
        """Heading of a block inside a sheet."""
        return self.make(bold=True, font_size=12, font_color=HEADER_FILL, bottom=1)

    @property
    def header(self) -> CellFormat:
        """Header cell of a table."""
        return self.make(
            bold=True,
            font_color="#FFFFFF",
            bg_color=HEADER_FILL,
            text_wrap=True,
            valign="vcenter",
            border=1,
            border_color=RULE,
            indent=1,
        )

    @property
    def number_header(self) -> CellFormat:
        """Header cell over numbers."""
        return self.make(
            bold=True,
            font_color="#FFFFFF",
            bg_color=HEADER_FILL,
            text_wrap=True,
            valign="vcenter",
            align="center",
            border=1,
            border_color=RULE,
        )

    @property
    def paragraph(self) -> CellFormat:
        """Running text."""
        return self.make(font_size=11, text_wrap=True)

    def cell(self, shown: str, *, wrap: bool = False, left: bool = False) -> CellFormat:
        """Return the body cell of a table with a number format."""
        # In the middle: text at the top of its cell touches the rule of the row above on paper.
        properties: dict[str, Any] = {"bottom": 4, "bottom_color": RULE, "valign": "vcenter"}
        if shown != "General":
            properties["num_format"] = shown
        # Indented on either side, so that a number and the text beside it stay apart.
        properties |= {"align": "left" if left else "right", "indent": 1}
        if wrap:
            properties["text_wrap"] = True
        return self.make(**properties)

    def total(self, shown: str) -> CellFormat:
        """Return the cell of a totals row with a number format."""
        return self.make(
            bold=True,
            top=1,
            bottom=6,
            num_format=shown,
            valign="vcenter",
            align="right",
            indent=1,
        )

    @property
    def total_label(self) -> CellFormat:
        """The word in a totals row."""
        return self.make(bold=True, top=1, bottom=6, align="left", indent=1, valign="vcenter")

    def bar(self, fill: str) -> CellFormat:
        """Return the filled cell of a calendar."""
        return self.make(
            bg_color=fill,
            font_color=text_colour(fill),
            font_size=8,
            align="center",
            valign="vcenter",
            num_format="#,##0",
            shrink=True,
        )
