"""Tables as a workbook of their own: one sheet each, none without rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import xlsxwriter
from xlsxwriter.exceptions import FileCreateError

from gpuladder.report.sheets import write_sheet
from gpuladder.report.styles import Styles

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from pathlib import Path

    from gpuladder.report.table import Table


def write_table_workbook(
    sheets: Mapping[str, Table], path: Path, *, name: str, created: datetime
) -> None:
    """Write tables as the sheets of a workbook.

    Parameters
    ----------
    sheets : mapping of str to Table
        Tables by the name of their sheet, in order; those without rows are left out.
    path : Path
        File to write.
    name : str
        Of what the tables are about, in the printed footer.
    created : datetime
        Creation time in the document's properties, UTC.

    Raises
    ------
    OSError
        When the file cannot be written.
    """
    workbook = xlsxwriter.Workbook(
        str(path),
        {
            "in_memory": True,
            "strings_to_formulas": False,
            "strings_to_urls": False,
            "strings_to_numbers": False,
            "remove_timezone": True,
        },
    )
    workbook.set_properties({"created": created})
    styles = Styles(workbook)
    for title, table in sheets.items():
        if table.rows:
            write_sheet(workbook.add_worksheet(title), styles, table, name)
    try:
        workbook.close()
    except FileCreateError as error:
        raise OSError(str(error.args[0] if error.args else error)) from error
