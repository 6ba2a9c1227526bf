"""The FOCUS-shaped export: two CSV files, what their columns mean, and what they are not.

<parent>/focus/cost_and_usage.csv, contract_commitment.csv, columns.csv, metadata.json
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from gpuladder.report.csv_files import write_csv_files
from gpuladder.report.focus_lines import FocusVersion, Offers, stamp
from gpuladder.report.run_folder import write_named_folder
from gpuladder.report.tables_focus import focus_tables
from gpuladder.version import __version__

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path
    from typing import Any

    from gpuladder.analysis.charge_rows import Charges
    from gpuladder.analysis.result import Result

FOLDER = "focus"
METADATA = "metadata.json"
SCHEMA = "gpuladder.focus/1"
SHAPE = "FOCUS-shaped forecasts of a plan, not billing data"


def write_focus(
    result: Result,
    charges: Charges,
    parent: Path,
    *,
    version: FocusVersion,
    offers: Offers,
    written: datetime,
) -> tuple[Path, dict[str, Any]]:
    """Write the export as the new folder ``focus`` below a parent; return it and its metadata.

    Parameters
    ----------
    result : Result
        With a plan.
    charges : Charges
        What that plan would be billed for.
    parent : Path
        Made when missing.
    version : FocusVersion
        Columns of which version.
    offers : Offers
        Which commitments are negotiated.
    written : datetime
        Moment of writing, UTC.

    Raises
    ------
    ReportError
        When the folder is there already, or cannot be written; nothing is left behind then.
    """
    tables = focus_tables(result, charges, version, offers, written)
    about = {
        "schema": SCHEMA,
        "shape": SHAPE,
        "focus_version": version.value,
        "generator": f"gpuladder {__version__}",
        "written": stamp(written),
        "scenario": {"name": result.plan.scenario.name, "sha256": result.plan.scenario.sha256},
        "plan_status": result.plan.status.value,
        "gap": result.plan.gap,
        "currency": charges.currency,
        "horizon": {
            "start": charges.horizon_start.isoformat(),
            "end": charges.horizon_end.isoformat(),
        },
        "datasets": [
            {"id": table.title, "file": f"{table.name}.csv", "rows": len(table.rows)}
            for table in tables
        ],
        "billed": math.fsum(row.billed for row in charges.rows),
        "effective": math.fsum(row.effective for row in charges.rows),
    }

    def fill(folder: Path) -> None:
        write_csv_files(tables, folder)
        text = json.dumps(about, indent=1, ensure_ascii=False, allow_nan=False)
        (folder / METADATA).write_text(text + "\n", encoding="utf-8", newline="\n")

    return write_named_folder(parent, FOLDER, fill), about
