"""The equations as FORMULATION.md writes them: the page ships in the wheel, beside this file."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parent
_PLACES = (_PACKAGE / "FORMULATION.md", _PACKAGE.parent / "FORMULATION.md")
"""In an installed wheel, and in the repository."""
_ROW = re.compile(r"^\| ([VCO]\d+) \| `\w+` \| (.+?) \|", re.MULTILINE)


@cache
def equations() -> dict[str, str]:
    """Return the text of each numbered row of the page: ``C4`` to its equation.

    Raises
    ------
    FileNotFoundError
        When the page is neither in the package nor beside it.
    """
    page = next((place for place in _PLACES if place.is_file()), None)
    if page is None:
        msg = f"FORMULATION.md is missing from the installation in {_PACKAGE}"
        raise FileNotFoundError(msg)
    text = page.read_text(encoding="utf-8")
    return {number: row.replace("`", "").strip() for number, row in _ROW.findall(text)}
