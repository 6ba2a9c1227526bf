"""What must hold of any FOCUS-shaped export, read back from its CSV text.

The rules are those of the FinOps Open Cost and Usage Specification (1.3, 1.4): column handling,
null handling, numeric and date formats, and the requirements of the columns named beside each.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter, defaultdict
from datetime import UTC, date, datetime
from typing import Any

import pytest

from gpuladder.analysis.charges import charges_of
from gpuladder.analysis.result import Result
from gpuladder.report.csv_files import csv_text
from gpuladder.report.focus_lines import FocusVersion, Offers
from gpuladder.report.tables_focus import focus_tables

Row = dict[str, Any]
WRITTEN = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
NUMBERS = re.compile(r"-?\d+(\.\d+)?")
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT00:00:00Z")
NUMERIC = ("Cost", "Quantity", "UnitPrice", "RunCount", "Gpus", "Percentage")
KINDS = ("burst_window", "reserved", "dedicated", "owned")


def export(
    result: Result,
    version: FocusVersion = FocusVersion.V1_3,
    negotiated: tuple[str, ...] = (),
) -> tuple[list[Row], list[Row]]:
    """Return the rows of both files as a reader of CSV finds them: null is None, numbers float."""
    charges = charges_of(result.scenario, result.plan)
    offers = Offers.of(result.scenario, negotiated)
    first, second = focus_tables(result, charges, version, offers, WRITTEN)
    return read(csv_text(first)), read(csv_text(second))


def read(text: str) -> list[Row]:
    """Read the CSV text of an export."""
    return [
        {key: _value(key, value) for key, value in row.items()}
        for row in csv.DictReader(io.StringIO(text))
    ]


def _value(key: str, text: str) -> Any:
    if text == "":
        return None
    if key.endswith(NUMERIC):
        assert NUMBERS.fullmatch(text), f"{key}: {text} is no plain decimal number"
        return float(text)
    if key.endswith(("Start", "End", "SignBy")):
        assert MOMENT.fullmatch(text), f"{key}: {text}"
        return date.fromisoformat(text[:10])
    if key in ("x_AfterHorizon", "x_TruncatedTerm"):
        return {"true": True, "false": False}[text]
    return text


def check_export(result: Result) -> None:
    """Check everything that must hold of the export of a plan."""
    charges, contracts = export(result)
    check_form(charges, contracts)
    check_commitments(charges, contracts)
    check_money(result, charges)
    check_hours(result, charges)


def check_form(charges: list[Row], contracts: list[Row]) -> None:
    """Check what each row of its own must be."""
    for rows in (charges, contracts):
        for row in rows[:1]:
            columns = list(row)
            standard = [name for name in columns if not name.startswith("x_")]
            own = columns[len(standard) :]
            assert standard == sorted(standard)
            assert own == sorted(own)
            assert all(name.startswith("x_") and len(name) <= 50 for name in own)
            assert all(re.fullmatch("([A-Z][a-z]+)+", name) for name in standard)
    for row in charges:
        _check_row(row)
    ids = [row["ContractCommitmentId"] for row in contracts]
    assert len(set(ids)) == len(ids)
    for row in charges:
        if row["x_CommitmentId"] is not None:
            assert row["x_CommitmentId"] in ids


def _check_row(row: Row) -> None:
    is_purchase = row["ChargeCategory"] == "Purchase"
    assert row["ChargeCategory"] in ("Purchase", "Usage", "Adjustment")
    assert row["BillingPeriodStart"] <= row["ChargePeriodStart"] < row["BillingPeriodEnd"]
    assert row["ChargePeriodStart"] < row["ChargePeriodEnd"]
    if row["ChargeFrequency"] not in ("One-Time",) and row["x_CostLine"] != "owned_loan":
        assert row["ChargePeriodEnd"] <= row["BillingPeriodEnd"]
    # EffectiveCost: 0 for a purchase that covers other charges; nothing is billed for these.
    if is_purchase:
        assert row["EffectiveCost"] == 0.0
        assert row["ChargeFrequency"] != "Usage-Based"
    covered = "Unused" in _statuses(row) or ("Used" in _statuses(row) and not row["x_CostLine"])
    if covered:
        assert row["BilledCost"] == 0.0
    for cost, price in (("ListCost", "ListUnitPrice"), ("ContractedCost", "ContractedUnitPrice")):
        assert row[cost] is not None
        if row[price] is not None:
            assert row[cost] == pytest.approx(row[price] * row["PricingQuantity"], rel=1e-9)
    # ConsumedQuantity: of usage alone, and null on what is unused.
    if row["ConsumedQuantity"] is not None:
        assert row["ChargeCategory"] == "Usage"
        assert "Unused" not in _statuses(row)
    assert (row["ConsumedQuantity"] is None) == (row["ConsumedUnit"] is None)
    assert (row["PricingQuantity"] is None) == (row["PricingUnit"] is None)
    discount = {key: value for key, value in row.items() if key.startswith("CommitmentDiscount")}
    status = discount.pop("CommitmentDiscountStatus")
    assert len({value is None for value in discount.values()}) == 1
    assert (status is None) == (row["CommitmentDiscountId"] is None or is_purchase)
    assert row["CommitmentDiscountId"] is None or row["CapacityReservationId"] is None
    assert (row["PricingCategory"] == "Committed") == (status is not None)
    if row["CapacityReservationId"] is not None and row["ChargeCategory"] == "Usage":
        assert row["CapacityReservationStatus"] in ("Used", "Unused")
    if row["ContractApplied"] is not None:
        _check_applied(row)


def _check_applied(row: Row) -> None:
    (element,) = json.loads(row["ContractApplied"])["Elements"]
    assert element["ContractCommitmentId"] == row["x_CommitmentId"]
    amounts = [element[f"ContractCommitmentApplied{name}"] for name in ("Cost", "Quantity")]
    assert sum(amount is not None for amount in amounts) == 1
    unit = element["ContractCommitmentAppliedUnit"]
    assert (unit is None) == (amounts[1] is None)
    # A purchase, and what is unused, is the commitment itself.
    is_itself = row["ChargeCategory"] == "Purchase" or "Unused" in _statuses(row)
    assert row["ResourceId"] == (row["x_CommitmentId"] if is_itself else None)


def _statuses(row: Row) -> set[Any]:
    return {row["CommitmentDiscountStatus"], row["CapacityReservationStatus"]}


def check_commitments(charges: list[Row], contracts: list[Row]) -> None:
    """Check that each commitment's use costs what was paid for it, and is all of its hours."""
    paid: Counter[str] = Counter()
    spread: Counter[str] = Counter()
    hours: Counter[str] = Counter()
    bought: Counter[str] = Counter()
    begins: dict[str, date] = {}
    for row in charges:
        name = row["x_CommitmentId"]
        if name is None or row["x_CostLine"] == "usage":
            continue
        begins[name] = min(row["ChargePeriodStart"], begins.get(name, date.max))
        if row["ChargeCategory"] == "Purchase":
            paid[name] += row["BilledCost"]
            bought[name] += row["CommitmentDiscountQuantity"] or 0.0
        else:
            spread[name] += row["EffectiveCost"]
            hours[name] += row["PricingQuantity"]
    assert set(spread) == {row["ContractCommitmentId"] for row in contracts} >= set(paid)
    for row in contracts:
        name = row["ContractCommitmentId"]
        past = row["x_PrepaidCost"] or 0.0
        assert spread[name] == pytest.approx(paid[name] + past, rel=1e-9, abs=1e-4), name
        if bought[name] and not past:
            assert bought[name] == pytest.approx(hours[name], rel=1e-9, abs=1e-4)
        if row["x_Rung"] == "owned" and row["x_LifecycleStatus"] == "Proposed":
            continue  # valued at the horizon end, so its charges may end before its life
        begin = max(begins[name], row["ContractCommitmentPeriodStart"])
        whole = row["x_Gpus"] * 24 * (row["ContractCommitmentPeriodEnd"] - begin).days
        assert hours[name] == pytest.approx(whole, rel=1e-9, abs=1e-4)
        if begin == row["ContractCommitmentPeriodStart"]:
            assert whole == pytest.approx(row["ContractCommitmentQuantity"])
            assert paid[name] + past == pytest.approx(row["ContractCommitmentCost"], rel=1e-9)


def check_money(result: Result, charges: list[Row]) -> None:
    """Check that billed is the cash table by month and line, and effective the accrual by month."""
    billed: Counter[Any] = Counter()
    effective: Counter[date] = Counter()
    for row in charges:
        billed[row["BillingPeriodStart"], row["x_CostLine"]] += row["BilledCost"]
        effective[row["BillingPeriodStart"]] += row["EffectiveCost"]
    cash: Counter[Any] = Counter()
    accrual: Counter[date] = Counter()
    for item in result.tables.cash:
        cash[item.month_start, item.line] += item.cash
        accrual[item.month_start] += item.accrual
    scale = max((abs(value) for value in cash.values()), default=1.0)
    for found, known in ((billed, cash), (effective, accrual)):
        for key in set(found) | set(known):
            assert found[key] == pytest.approx(known[key], abs=1e-8 * scale + 1e-5), key
    inside = [row for row in charges if not row["x_AfterHorizon"]]
    for column, metric in (("BilledCost", "cash"), ("EffectiveCost", "accrual")):
        total = sum(row[column] for row in inside)
        assert total == pytest.approx(
            result.metrics[f"{metric}_in_horizon"], abs=1e-8 * scale + 1e-5
        )


def check_hours(result: Result, charges: list[Row]) -> None:
    """Check that GPU-hours are those of the capacity table, by pool, and each counted once."""
    known: dict[str, Counter[str]] = defaultdict(Counter)
    for row in result.tables.capacity:
        for name in ("on_demand", "spot", "flex", "idle", "backfill", "held", *KINDS):
            known[row.pool][name] += row.hours * getattr(row, f"{name}_gpus")
        known[row.pool]["consumed"] += row.hours * (
            row.committed_used_gpus + row.backfill_gpus + row.on_demand_gpus + row.spot_gpus
        )
    held = {row.id for row in result.tables.held}
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for row in charges:
        if row["x_AfterHorizon"] or row["ChargeCategory"] != "Usage":
            continue
        pool = found[row["x_Pool"]]
        pool["consumed"] += row["ConsumedQuantity"] or 0.0
        if row["x_CostLine"] == "usage":
            continue
        is_held = row["x_CommitmentId"] in held and row["x_Rung"] != "flex"
        pool["held" if is_held else row["x_Rung"]] += row["PricingQuantity"]
        if "Unused" in _statuses(row):
            pool["idle"] += row["PricingQuantity"]
        if row["x_UsedBy"] == "backfill":
            pool["backfill"] += row["PricingQuantity"]
    for pool_id, hours in known.items():
        for name, value in hours.items():
            assert found[pool_id][name] == pytest.approx(value, rel=1e-6, abs=1e-2), (pool_id, name)
    runs = sum(row["x_RunCount"] or 0.0 for row in charges)
    assert runs == pytest.approx(result.metrics["runs_completed"], abs=1e-5)
