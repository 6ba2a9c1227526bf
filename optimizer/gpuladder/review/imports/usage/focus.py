"""Cloud bills in FOCUS columns: what was used, what was committed, and what it really cost.

Every row is of one sort, and the sorts' money adds up to the bill's. Used rows are usage; unused
ones are idle capacity; a purchase is neither, its cost comes back as the effective cost of the rows
that it covers. Taxes, credits, adjustments, refunds and corrections of earlier bills are money
alone. A quantity that a row does not give is not known, which is not zero.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.errors import Problem, Severity, UsageError
from gpuladder.review.imports import problems
from gpuladder.review.imports.rows import open_table
from gpuladder.review.imports.usage import focus_columns as focus
from gpuladder.review.imports.usage.bill import Bill
from gpuladder.review.imports.usage.contracts import contract_rows
from gpuladder.review.imports.usage.focus_rows import NO_TEAM, BillChunk, each
from gpuladder.review.usage_result import ImportedUsage

if TYPE_CHECKING:
    from pathlib import Path

    from gpuladder.review.imports.rows import BoolArray, IntArray, Table
    from gpuladder.review.imports.usage.contracts import ContractTerms
    from gpuladder.review.imports.usage.focus_rows import BillOptions

_SHOWN_SKUS = 8
_LONGEST_HOURS = 32 * 24.0


def import_bill(path: Path, options: BillOptions, *, demand_of: str) -> ImportedUsage:
    """Read a bill in FOCUS columns.

    Parameters
    ----------
    path : pathlib.Path
        CSV or Parquet: CostAndUsage rows.
    options : BillOptions
    demand_of : str
        One of ``usage_result.DEMANDS``.

    Raises
    ------
    UsageError
        When it cannot be read, has several currencies of which none was chosen, or none of its
        rows is known to be of GPUs.
    """
    with open_table(path, focus.FIELDS, options.table) as table:
        reader = _Reader(table, options)
        for rows in table:
            reader.take(BillChunk(table, rows, options))
        reader.resolve()
        counts = table.ledger.result(reader.kept)
    if not reader.bill.has_usage:
        if reader.skus:
            raise _no_gpus(path, reader)
        raise problems.nothing_left(str(path), counts.text)
    terms: ContractTerms | None = None
    if options.contracts is not None:
        terms = contract_rows(
            options.contracts,
            replace(options.table, columns={}),
            options.machines,
            currency=reader.currency,
            hourly=options.hourly_contracts,
        )
    held, warnings = reader.bill.commitments(options.terms, terms, options.pool)
    return ImportedUsage(
        source=path.name,
        layout="focus",
        history=reader.bill.tracks.history(zone="UTC", is_complete=True),
        rows=counts,
        contract_rows=None if terms is None else terms.rows,
        demand_of=demand_of,
        currency=reader.currency,
        commitments=held,
        reserved_prices=reader.bill.reserved_prices(),
        rates=reader.bill.rates(),
        charges=reader.bill.charges(),
        assumptions=tuple(reader.assumptions()),
        warnings=(*reader.warnings(), *warnings),
    )


class _Reader:
    """Sorts the rows of one bill."""

    def __init__(self, table: Table, options: BillOptions) -> None:
        self.kept = 0
        self.bill = Bill(table.where)
        self.currency = options.currency
        self.skus: dict[str, tuple[int, float, str]] = {}
        """What is billed by time and not known to be of GPUs: rows, effective cost and unit."""
        self._table = table
        self._options = options
        self._long = 0
        self._lacks_team = 0

    def take(self, chunk: BillChunk) -> None:
        """Sort one chunk."""
        rows = chunk.rows
        self._check_currency(chunk)
        effective = chunk.numbers["effective_cost"]
        rows.drop(np.isnan(effective), "no effective cost", "effective_cost")
        rows.drop(chunk.end <= chunk.begin, "a charge that ends before it begins", "start", "end")
        self._set_money_aside(chunk)
        self._take_purchases(chunk)
        self._take_usage(chunk)
        self.bill.flush()

    def resolve(self) -> None:
        """Settle unused rows whose machine is known by the used rows of their commitment."""
        kept, lost = self.bill.resolve()
        self.kept += kept
        self._table.ledger.drop("unused, of a commitment that is not known to be of GPUs", lost)

    def assumptions(self) -> list[str]:
        """Say how the bill was read."""
        has_consumed = self._table.has("consumed")
        lines = [
            "GPU-hours used are ConsumedQuantity × GPUs per unit"
            if has_consumed
            else "GPU-hours used are PricingQuantity × GPUs per unit: there is no ConsumedQuantity"
        ]
        lines += [
            f"a unit of `{sku}` is {machine.gpus:g} GPUs of {machine.hardware}, as stated"
            for sku, machine in sorted(self._options.machines.items())
        ]
        if self._long:
            lines.append(
                f"{self._long:,} rows cover more than an hour and are taken as even over it: peaks "
                "within them are not seen"
            )
        if self._lacks_team:
            lines.append(f"{self._lacks_team:,} rows name no team: `{NO_TEAM}`")
        lines.append("an hour without a row is an hour without use: a bill lists what was used")
        return lines

    def warnings(self) -> tuple[Problem, ...]:
        """Warn of machines that may be GPUs, and of idle ones of which no quantity is known."""
        found = []
        if self.skus:
            found.append(
                Problem(
                    code="GL-I048",
                    where=self._table.where,
                    what="left out, because nothing says that they are GPUs: "
                    f"{self.billed_by_time}",
                    why="use and idle of GPUs among them would be missing",
                    fix="state what a unit is: --gpus-per-unit SKU=8; others can stay out",
                    severity=Severity.WARNING,
                )
            )
        found += [
            Problem(
                code="GL-I056",
                where=commitment,
                what=f"its unused part is known in money alone: {cost:,.2f} {self.currency}",
                why="the capacity lacks it, so that the reservation looks better used than it was",
                fix="its quantity is in no unit of time, or missing; ask for a bill that has it",
                severity=Severity.WARNING,
            )
            for commitment, cost in sorted(self.bill.unmeasured.items())
        ]
        return tuple(found)

    @property
    def billed_by_time(self) -> str:
        """The dearest SKUs that are billed by time and not known to be of GPUs."""
        dearest = sorted(self.skus.items(), key=lambda item: (-item[1][1], item[0]))
        shown = "; ".join(
            f"{sku} ({count:,} rows in {unit}, {cost:,.2f} {self.currency})"
            for sku, (count, cost, unit) in dearest[:_SHOWN_SKUS]
        )
        left = len(dearest) - _SHOWN_SKUS
        return f"{shown}; and {left} more SKUs" if left > 0 else shown

    def _check_currency(self, chunk: BillChunk) -> None:
        chunk.rows.drop(~chunk.filled("currency"), "no currency", "currency")
        currencies = chunk.texts["currency"]
        found = sorted(set(currencies) - {""})
        if self.currency is None and found:
            self.currency = found[0]
        others = [text for text in found if text != self.currency]
        if others and self._options.currency is None:
            raise UsageError(
                Problem(
                    code="GL-I047",
                    where=self._table.where,
                    what=f"several currencies: {', '.join([str(self.currency), *others])}",
                    why="costs of several currencies cannot be added up",
                    fix=f"say which rows count: --currency {self.currency}",
                )
            )
        for text in others:
            other = each(one == text for one in currencies)
            chunk.rows.drop(other, f"in {text}, not in {self.currency}", "currency")

    def _set_money_aside(self, chunk: BillChunk) -> None:
        """Drop what is money and no usage, its money kept by sort."""
        numbers = chunk.numbers
        negative = (
            (numbers["effective_cost"] < 0)
            | (numbers["billed_cost"] < 0)
            | (chunk.used_quantity < 0)
            | (numbers["commitment_quantity"] < 0)
        )
        is_purchase = chunk.is_of("category", "purchase")
        for sort, where, reason in (
            ("other", ~chunk.is_of("category", *focus.CATEGORIES), "no ChargeCategory of FOCUS"),
            ("tax", chunk.is_of("category", "tax"), "a tax: money, no usage"),
            ("credit", chunk.is_of("category", "credit"), "a credit: money, no usage"),
            ("adjustment", chunk.is_of("category", "adjustment"), "an adjustment: money, no usage"),
            ("correction", chunk.is_of("class", "correction"), "a correction of an earlier bill"),
            ("refund", negative, "a refund: a negative cost or quantity"),
            (
                "other purchase",
                is_purchase & ~chunk.filled("commitment") & ~chunk.filled("reservation"),
                "a purchase that is no commitment",
            ),
        ):
            self._leave_out(chunk, where, sort, reason, "category", "effective_cost")

    def _take_purchases(self, chunk: BillChunk) -> None:
        """Take purchases of commitments: terms perhaps, never usage."""
        bought = chunk.rows.alive & chunk.is_of("category", "purchase")
        for index in map(int, np.flatnonzero(bought)):
            self.kept += 1
            self.bill.purchase(
                {name: values[index] for name, values in chunk.texts.items()},
                {name: float(values[index]) for name, values in chunk.numbers.items()},
                float(chunk.begin[index]),
                float(chunk.end[index]),
            )

    def _take_usage(self, chunk: BillChunk) -> None:
        usage = np.flatnonzero(chunk.rows.alive & chunk.is_of("category", "usage"))
        unused = chunk.is_unused
        not_gpus, lacking = np.zeros_like(unused), np.zeros_like(unused)
        endless = chunk.end - chunk.begin > _LONGEST_HOURS
        for index in map(int, usage[~endless[usage]]):
            machine = chunk.machine(index)
            if machine is None and not (unused[index] and chunk.texts["commitment"][index]):
                not_gpus[index] = True
                continue
            row = chunk.row(index, machine)
            self._lacks_team += row.team == NO_TEAM
            if machine is None:
                self.bill.wait(row)
            elif np.isnan(row.units) and not unused[index]:
                lacking[index] = True
            else:
                self.kept += 1
                self._long += row.end - row.begin > 1
                self.bill.use(row)
        reason = "use charged over more than a month: of which hours, nothing says"
        self._leave_out(
            chunk, endless & chunk.is_of("category", "usage"), "too long", reason, "start", "end"
        )
        self._remember_skus(chunk, np.flatnonzero(not_gpus))
        reason = "not known to be of GPUs: its SKU has no --gpus-per-unit"
        self._leave_out(chunk, not_gpus, "not GPUs", reason, "sku")
        reason = "a GPU's row without a quantity of time: not known is not zero"
        self._leave_out(chunk, lacking, "no quantity", reason, "sku", "consumed", "consumed_unit")

    def _leave_out(
        self, chunk: BillChunk, where: BoolArray, sort: str, reason: str, *names: str
    ) -> None:
        hit = where & chunk.rows.alive
        if hit.any():
            billed, effective = chunk.numbers["billed_cost"], chunk.numbers["effective_cost"]
            self.bill.charge(
                sort,
                "left out",
                float(billed[hit].sum()),
                float(effective[hit].sum()),
                rows=int(hit.sum()),
            )
        chunk.rows.drop(where, reason, *filter(self._table.has, names))

    def _remember_skus(self, chunk: BillChunk, rows: IntArray) -> None:
        units = chunk.units()
        for index in rows:
            sku = chunk.texts["sku"][index]
            if sku and focus.read_time_unit(units[index]) is not None:
                count, cost, _ = self.skus.get(sku, (0, 0.0, ""))
                cost += float(chunk.numbers["effective_cost"][index])
                self.skus[sku] = (count + 1, cost, units[index])


def _no_gpus(path: Path, reader: _Reader) -> UsageError:
    return UsageError(
        Problem(
            code="GL-I048",
            where=str(path),
            what="no row is known to be of GPUs",
            why=f"a bill counts machines, not GPUs; by time it bills: {reader.billed_by_time}",
            fix="state what a unit is: --gpus-per-unit SKU=8",
        )
    )
