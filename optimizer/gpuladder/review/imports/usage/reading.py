"""``import_usage``: a file of measured series or a bill, as one history of use."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from gpuladder.errors import Problem, UsageError
from gpuladder.review.imports.rows import TableOptions, read_header
from gpuladder.review.imports.usage import repeats
from gpuladder.review.imports.usage.focus import import_bill
from gpuladder.review.imports.usage.focus_rows import BillOptions
from gpuladder.review.imports.usage.series import SeriesOptions, import_series
from gpuladder.review.imports.usage.units import Unit
from gpuladder.review.usage_result import DOCUMENT, NEED, SERIES_FILE, ReservedPrice

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gpuladder.review.imports.usage.contracts import Term
    from gpuladder.review.imports.usage.focus_columns import Machine
    from gpuladder.review.usage_result import ImportedUsage

LayoutName = Literal["helios", "focus", "csv"]

_HELIOS = {
    "team": "vc",
    "time": "hour",
    "capacity": "capacity_gpus",
    "allocated": "running_gpus",
    "pending": "pending_gpus",
}
"""Series by virtual cluster; what runs is allocated: nobody measured whether it was busy."""

_RECOGNISED_BY: dict[LayoutName, frozenset[str]] = {
    "helios": frozenset({"vc", "hour", "capacity_gpus", "running_gpus"}),
    "focus": frozenset({"chargeperiodstart", "chargeperiodend", "chargecategory"}),
    "csv": frozenset(),
}
JOBS_FILE = "history.csv"
"""Of the folder of imported jobs: GPUs that each team's jobs held."""
LAYOUTS: tuple[LayoutName, ...] = tuple(_RECOGNISED_BY)


@dataclass(frozen=True, kw_only=True)
class UsageOptions:
    """What the user says about a file of usage.

    Attributes
    ----------
    units : mapping of str to Unit
        Unit by quantity; ``""`` for all others. For series.
    step : int or None
        Seconds from one row of a team to the next; by the first rows when None. For series.
    repeats : str
        What several rows of one team and step are, one of ``repeats.REPEATS``. For series.
    pool : str or None
        Pool of rows that name none.
    machines, currency, team_tag, terms, contracts, hourly_contracts
        For bills; see ``BillOptions``.
    """

    units: Mapping[str, Unit] = field(default_factory=dict)
    step: int | None = None
    repeats: str = repeats.REFUSE
    pool: str | None = None
    machines: Mapping[str, Machine] = field(default_factory=dict)
    currency: str | None = None
    team_tag: str | None = None
    terms: Mapping[str, Term] = field(default_factory=dict)
    contracts: Path | None = None
    hourly_contracts: bool | None = None


def import_usage(
    path: str | Path,
    *,
    layout: LayoutName | Literal["auto"] = "auto",
    options: UsageOptions | None = None,
    table: TableOptions | None = None,
    demand_of: str = NEED,
) -> ImportedUsage:
    """Read a usage history.

    Parameters
    ----------
    path : str or pathlib.Path
        CSV or Parquet: series of GPUs by team and time, or a bill in FOCUS columns.
    layout : {"auto", "helios", "focus", "csv"}
        How it is laid out; by its columns when ``auto``.
    options : UsageOptions, optional
        What the file does not say.
    table : TableOptions, optional
        How the file is written: names of columns, decimal sign, zone.
    demand_of : {"need", "allocated", "busy"}
        What the demand of a scenario is made of; see ``usage_result.DEMANDS``.

    Returns
    -------
    ImportedUsage

    Raises
    ------
    UsageError
        When the file cannot be read, or something that it does not say was not stated.
    """
    path = Path(path)
    said, table = options or UsageOptions(), table or TableOptions()
    header = read_header(path, table)
    form = _recognised(header) if layout == "auto" else layout
    _refuse_unread(form, said)
    if form == "focus":
        bill = BillOptions(
            table=_in_utc(table),
            machines=said.machines,
            currency=said.currency,
            pool=said.pool,
            team_tag=said.team_tag,
            terms=said.terms,
            contracts=said.contracts,
            hourly_contracts=said.hourly_contracts,
        )
        return import_bill(path, bill, demand_of=demand_of)
    zone = "UTC"
    if form == "helios":
        zone = "as written" if table.clock.timezone is None else zone
        known = {name: column for name, column in _HELIOS.items() if column in header}
        table = _in_utc(replace(table, columns={**known, **table.columns}))
    series = SeriesOptions(
        table=table,
        units=said.units,
        step=said.step,
        repeats=said.repeats,
        pool=said.pool,
        zone=zone,
    )
    return import_series(path, series, layout=form, demand_of=demand_of)


def read_folder(folder: Path, options: UsageOptions, table: TableOptions) -> ImportedUsage:
    """Read the usage history of an earlier import back, with its source and a bill's prices.

    Raises
    ------
    UsageError
        When the folder has none, or a file of it is damaged.
    """
    file, document = folder / SERIES_FILE, folder / DOCUMENT
    if (folder / JOBS_FILE).is_file():
        file = folder / JOBS_FILE
        table = replace(table, columns={"allocated": "gpus", **table.columns})
        options = replace(options, units={"allocated": Unit.GPUS, **options.units})
    if not file.is_file():
        raise _no_folder(folder, f"there is neither {SERIES_FILE} nor {JOBS_FILE} in the folder")
    found = import_usage(file, layout="csv", options=options, table=_in_utc(table))
    if not document.is_file():
        return replace(found, source=folder.name)
    try:
        content = json.loads(document.read_text(encoding="utf-8"))
        prices = tuple(ReservedPrice(**each) for each in content["reserved_prices"])
        source, currency = str(content["source"]), content["currency"]
        past = replace(found.history, zone=str(content["window"]["zone"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _no_folder(folder, f"{DOCUMENT} is damaged: {error}") from error
    return replace(found, source=source, currency=currency, reserved_prices=prices, history=past)


def _no_folder(folder: Path, what: str) -> UsageError:
    return UsageError(
        Problem(
            code="GL-I055",
            where=str(folder),
            what=what,
            fix="name a file, or a folder that `gpuladder import` wrote",
        )
    )


def _refuse_unread(form: LayoutName, said: UsageOptions) -> None:
    """Refuse statements that would count for nothing in a file of this layout."""
    of_series = {
        "--unit": said.units,
        "--step": said.step,
        "--repeats": said.repeats != repeats.REFUSE,
    }
    of_bills = {
        "--gpus-per-unit": said.machines,
        "--team-tag": said.team_tag,
        "--term": said.terms,
        "--contracts": said.contracts,
        "--contract-quantity": said.hourly_contracts is not None,
    }
    unread, kind = (of_series, "bills") if form == "focus" else (of_bills, "series")
    problems = [
        Problem(
            code="GL-I049",
            where=flag,
            what=f"it is not read for {kind}, and the file is one of layout `{form}`",
            fix="leave it out, or state another --format",
        )
        for flag, value in unread.items()
        if value
    ]
    if problems:
        raise UsageError(problems)


def _recognised(header: Sequence[str]) -> LayoutName:
    known = {name.casefold() for name in header}
    return next(name for name, columns in _RECOGNISED_BY.items() if columns <= known)


def _in_utc(table: TableOptions) -> TableOptions:
    """Return the options with UTC for times without an offset, unless another zone was stated."""
    if table.clock.timezone is not None:
        return table
    return replace(table, clock=replace(table.clock, timezone="UTC"))
