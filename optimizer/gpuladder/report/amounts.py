"""Figures and lists of names as they stand in sentences."""

from __future__ import annotations

_NAMES_SHOWN = 5
_LARGE = 1000.0
_SMALL = 0.1
_ROUNDING = 1e-9
"""Less than this is left over by arithmetic."""
_NO_DIFFERENCE = 0.0005
SAME = "the same"
"""Said of costs that differ by less than 0.05 %."""


def amount(value: float, currency: str) -> str:
    """Return money as ``1,234,567 USD``; cents below one thousand."""
    digits = 0 if abs(value) >= _LARGE else 2
    shown = f"{value:,.{digits}f}"
    # A rounded zero has no sign.
    return f"{shown.lstrip('-') if float(shown.replace(',', '')) == 0 else shown} {currency}"


def percent(value: float) -> str:
    """Return a share in per cent, with more digits where it is small."""
    shown = value * 100
    return f"{shown:.2f} %" if 0 < abs(shown) < 1 else f"{shown:.1f} %"


def less_or_more(saving: float) -> str:
    """Return a saving, as a share of what it is measured against, as ``19.3 % less``."""
    if abs(saving) < _NO_DIFFERENCE:
        return SAME
    return f"{percent(abs(saving))} {'less' if saving > 0 else 'more'}"


def quantity(value: float) -> str:
    """Return a number of GPUs or lots without needless digits, and never as 0 when it is not."""
    if _ROUNDING < abs(value) < _SMALL:
        return f"{value:.2g}"
    return f"{value:,.0f}" if abs(value - round(value)) < 1e-6 else f"{value:,.1f}"


def names(items: list[str]) -> str:
    """Return a list of names that stays short."""
    shown = [item if len(item) <= 40 else item[:39] + "…" for item in items[:_NAMES_SHOWN]]
    more = len(items) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
