"""What a bill and its contracts say of a commitment, and whether that is all of it."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from gpuladder.errors import Problem, Severity
from gpuladder.review.imports.usage.focus_columns import read_time_unit
from gpuladder.review.imports.usage.grid import spread
from gpuladder.review.usage_result import HeldRow

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpuladder.review.imports.usage.bill import UsedRow
    from gpuladder.review.imports.usage.contracts import Contract, ContractTerms, Term

SPEND = "spend"
"""Kind of what a commitment of money covers: metered capacity at a discount, nothing reserved."""
_ALIKE = 0.01
"""Share by which the quantity of a purchase may differ from what the bill shows by hour."""
_EXACT = 1e-6


@dataclass
class Held:
    """What a bill shows of one commitment."""

    id: str
    where: str
    is_spend: bool = False
    is_seen: bool = False
    """Whether it covers any row of GPUs."""
    gpu_hours: float = 0.0
    cost: float = 0.0
    by_hour: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    """GPU-hours used and unused, by hour since 1970."""
    machines: set[tuple[float, str]] = field(default_factory=set)
    """GPUs of a unit and pool of its used rows."""
    purchases: list[tuple[float, float, float, str]] = field(default_factory=list)
    """Begin and end (hours since 1970), quantity and unit of what was paid once."""

    @property
    def machine(self) -> tuple[float, str] | None:
        """GPUs of a unit and pool, when all used rows have the same."""
        return next(iter(self.machines)) if len(self.machines) == 1 else None

    def use(self, row: UsedRow, gpu_hours: float) -> None:
        """Take a row that it covers."""
        self.is_seen = True
        self.is_spend |= row.kind == SPEND
        self.cost += row.effective
        self.gpu_hours += gpu_hours
        if row.gpus is not None:
            self.machines.add((row.gpus, row.pool))
        if not math.isnan(gpu_hours):
            length = row.end - row.begin
            for hour, covered in spread(row.begin, row.end):
                self.by_hour[hour] += gpu_hours * covered / length

    def bought(self, begin: float, end: float, quantity: float, unit: str) -> None:
        """Take a purchase that was paid once."""
        self.purchases.append((begin, end, quantity, unit))

    @property
    def gpus(self) -> float | None:
        """GPUs held in each hour, when all hours between the first and the last have as many."""
        if not self.by_hour or math.isnan(self.gpu_hours):
            return None
        levels = list(self.by_hour.values())
        is_whole = max(self.by_hour) - min(self.by_hour) + 1 == len(levels)
        is_flat = max(levels) - min(levels) <= _EXACT * max(levels)
        return max(levels) if is_whole and is_flat else None

    @property
    def price(self) -> float | None:
        """Effective cost ÷ GPU-hours, used and unused ones."""
        known = self.gpu_hours and not math.isnan(self.gpu_hours + self.cost)
        return self.cost / self.gpu_hours if known else None

    def term(self) -> tuple[date, date] | None:
        """Return the term that a purchase spans, when its quantity is that of the whole span.

        Bills differ in what the charge period of a purchase is: the term, or the month in which
        it was paid. The quantity tells: GPUs × hours of the span.
        """
        gpus, machine = self.gpus, self.machine
        for begin, end, quantity, text in self.purchases:
            unit = read_time_unit(text)
            if unit is None or math.isnan(quantity) or gpus is None or machine is None:
                continue
            bought = quantity * unit.hours * (1.0 if unit.is_gpu else machine[0])
            if abs(bought - gpus * (end - begin)) <= _ALIKE * bought:
                return day_of(begin), day_of(end)
        return None


def day_of(hours: float) -> date:
    """Return the day of an instant in hours since 1970; its time of day is cut off."""
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(hours=hours)).date()


def held_rows(
    held: Mapping[str, Held],
    terms: Mapping[str, Term],
    contracts: ContractTerms | None,
    pool: str | None,
) -> tuple[tuple[HeldRow, ...], tuple[Problem, ...]]:
    """Return all commitments of a bill and its contracts, and what is not known of them.

    Parameters
    ----------
    held : mapping of str to Held
    terms : mapping of str to Term
        As stated by the user; they come before what the files say.
    contracts : ContractTerms or None
    pool : str or None
        Pool of commitments of which the files do not say one.
    """
    by_id = {} if contracts is None else contracts.by_id
    rows = [
        _row(each, terms.get(id_), by_id.get(id_), pool)
        for id_, each in held.items()
        if each.is_seen
    ]
    rows += [
        _row(Held(id_, ""), terms.get(id_), contract, pool)
        for id_, contract in by_id.items()
        if id_ not in held or not held[id_].is_seen
    ]
    ordered = tuple(sorted(rows, key=lambda row: row.id))
    warnings = tuple(
        Problem(
            code="GL-I050",
            where=row.id,
            what=f"a commitment that is not known whole: {row.lacks}",
            why="it is left out of commitments.csv, which a scenario reads",
            fix="state the term: --term ID=START..END; the machine: --gpus-per-unit ID=GPUS; the "
            "pool: --pool",
            severity=Severity.WARNING,
        )
        for row in ordered
        if row.lacks
    )
    return ordered, warnings


def _row(each: Held, stated: Term | None, contract: Contract | None, pool: str | None) -> HeldRow:
    term = each.term()
    start, end, source = (*term, "its purchase in the bill") if term else (None, None, "")
    if contract is not None:
        start, end, source = contract.start, contract.end, "its contract commitment"
    if stated is not None:
        start, end, source = stated.start, stated.end, "as stated"
    gpus, price = each.gpus, each.price
    where = [f"term: {source}"] if source else []
    if gpus is None and contract is not None and not each.by_hour:
        gpus = contract.gpus
    if price is None and contract is not None and gpus is not None:
        price = contract.price(gpus)
    where.append("GPUs and price: " + ("the bill" if each.by_hour else "its contract commitment"))
    place = each.machine[1] if each.machine else pool
    lacks = []
    if each.is_spend or (contract is not None and contract.is_spend):
        lacks.append("it is of money, not of GPUs")
    elif gpus is None:
        lacks.append(
            "its GPUs differ from hour to hour"
            if each.by_hour
            else (contract.lacks if contract is not None else "") or "its GPUs"
        )
    lacks += ["its term"] if start is None or end is None else []
    lacks += ["its price"] if price is None and not each.is_spend else []
    lacks += ["its pool"] if place is None else []
    return HeldRow(
        id=each.id,
        pool=place,
        kind="reserved",
        gpus=gpus,
        start=start,
        end=end,
        price=price,
        source="; ".join(where),
        lacks=", ".join(lacks),
    )
