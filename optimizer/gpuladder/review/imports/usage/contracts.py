"""Contract commitments (FOCUS 1.3): what was signed, its term, its quantity and its cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.errors import Problem, UsageError
from gpuladder.review.imports.columns import Field
from gpuladder.review.imports.rows import open_table
from gpuladder.review.imports.usage.focus_columns import NULLS, read_time_unit
from gpuladder.review.imports.usage.held import day_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from gpuladder.review.imports.dropped import RowCount
    from gpuladder.review.imports.rows import Rows, Table, TableOptions
    from gpuladder.review.imports.usage.focus_columns import Machine

HOUR = 3600.0
_FIELDS = (
    ("id", "ContractCommitmentId", True),
    ("category", "ContractCommitmentCategory", True),
    ("quantity", "ContractCommitmentQuantity", True),
    ("unit", "ContractCommitmentUnit", True),
    ("cost", "ContractCommitmentCost", False),
    ("start", "ContractCommitmentPeriodStart", True),
    ("end", "ContractCommitmentPeriodEnd", True),
    ("currency", "BillingCurrency", False),
    # New in 1.4: says whether the quantity is one of each hour or of the whole term.
    ("interval", "ContractCommitmentFulfillmentInterval", False),
)
FIELDS = tuple(
    Field(name=name, meaning=f"`{column}` of FOCUS", also=(column,), required=required)
    for name, column, required in _FIELDS
)


@dataclass(frozen=True, slots=True)
class Term:
    """From when to when a commitment runs; the end is exclusive."""

    start: date
    end: date


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """One contract commitment.

    Attributes
    ----------
    gpus : float or None
        Held throughout the term.
    cost : float or None
        Of the whole term, in the bill's currency.
    lacks : str
        Why its GPUs are not known.
    """

    start: date
    end: date
    hours: float
    gpus: float | None
    cost: float | None
    is_spend: bool
    lacks: str = ""

    def price(self, gpus: float) -> float | None:
        """Return the cost of a GPU-hour, used or not."""
        return None if self.cost is None or not gpus else self.cost / (gpus * self.hours)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractTerms:
    """The contract commitments of a file, by id."""

    by_id: dict[str, Contract]
    rows: RowCount


def read_terms(texts: Iterable[str]) -> dict[str, Term]:
    """Return terms by commitment from ``ID=START..END``.

    Raises
    ------
    UsageError
        When one is no such statement, or ends before it begins.
    """
    found: dict[str, Term] = {}
    for text in texts:
        name, sign, span = text.rpartition("=")
        begin, dots, end = span.partition("..")
        try:
            term = Term(date.fromisoformat(begin.strip()), date.fromisoformat(end.strip()))
        except ValueError:
            term = None
        if not (sign and dots and name.strip()) or term is None or term.end <= term.start:
            raise UsageError(
                Problem(
                    code="GL-I049",
                    where="--term",
                    what=f"not a commitment and its term: {text!r}",
                    fix="write it as ID=2026-01-01..2027-01-01; the end is the day after the last",
                )
            )
        found[name.strip()] = term
    return found


def contract_rows(
    path: Path,
    options: TableOptions,
    machines: Mapping[str, Machine],
    *,
    currency: str | None,
    hourly: bool | None,
) -> ContractTerms:
    """Read a file of ContractCommitment rows.

    Parameters
    ----------
    path : pathlib.Path
    options : TableOptions
    machines : mapping of str to Machine
        What one unit is, by contract commitment.
    currency : str or None
        Of the bill; costs in another one are not known.
    hourly : bool or None
        Whether the quantity is one of each hour; where nobody said and the file does not, the GPUs
        are not known.

    Raises
    ------
    UsageError
        When it cannot be read.
    """
    by_id: dict[str, Contract] = {}
    with open_table(path, FIELDS, options) as table:
        for rows in table:
            _take(table, rows, by_id, machines, currency, hourly=hourly)
        return ContractTerms(by_id=by_id, rows=table.ledger.result(len(by_id)))


def _take(
    table: Table,
    rows: Rows,
    by_id: dict[str, Contract],
    machines: Mapping[str, Machine],
    currency: str | None,
    *,
    hourly: bool | None,
) -> None:
    start, end = rows.times("start").utc, rows.times("end").utc
    quantity = rows.figures("quantity", may_be_empty=True)
    cost = (
        rows.figures("cost", may_be_empty=True) if table.has("cost") else np.full(len(rows), np.nan)
    )
    rows.drop(end <= start, "its period ends before it begins", "start", "end")
    rows.drop(np.array([not text for text in rows.texts("id")]), "no id", "id")
    seen = set(by_id)
    again = []
    for text, is_alive in zip(rows.texts("id"), rows.alive, strict=True):
        again.append(bool(is_alive) and text in seen)
        if is_alive:
            seen.add(text)
    rows.drop(np.array(again), "a second row of its id: the first one counts", "id")
    for index in np.flatnonzero(rows.alive):
        words = {
            name: "" if (cell := rows.texts(name)[index]).casefold() in NULLS else cell
            for name in ("id", "category", "unit", "currency", "interval")
            if table.has(name)
        }
        hours = (end[index] - start[index]) / HOUR
        gpus, lacks = _gpus(words, float(quantity[index]), hours, machines, hourly=hourly)
        own = words.get("currency") or currency
        by_id[words["id"]] = Contract(
            start=day_of(start[index] / HOUR),
            end=day_of(end[index] / HOUR),
            hours=hours,
            gpus=gpus,
            cost=None if math.isnan(cost[index]) or own != currency else float(cost[index]),
            is_spend=words["category"].casefold() == "spend",
            lacks=lacks,
        )


def _gpus(
    text: Mapping[str, str],
    quantity: float,
    hours: float,
    machines: Mapping[str, Machine],
    *,
    hourly: bool | None,
) -> tuple[float | None, str]:
    """Return the GPUs of a contract, or None and what is not known."""
    unit = read_time_unit(text["unit"])
    if math.isnan(quantity) or unit is None:
        return None, f"its GPUs: {text['unit'] or 'no unit'} is no time"
    machine = machines.get(text["id"])
    if not unit.is_gpu and machine is None:
        return None, f"its GPUs: a unit is {text['unit']}"
    interval = text.get("interval", "").casefold()
    if hourly is None and interval in ("hourly", "total term"):
        hourly = interval == "hourly"
    if hourly is None:
        return None, (
            "its GPUs: whether its quantity is one of each hour or of the whole term "
            "(--contract-quantity)"
        )
    gpu_hours = quantity * unit.hours * (1.0 if unit.is_gpu or machine is None else machine.gpus)
    return gpu_hours / (1.0 if hourly else hours), ""
