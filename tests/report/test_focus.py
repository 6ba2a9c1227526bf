"""The FOCUS-shaped export against rows worked out by hand, and what it must never say."""

from __future__ import annotations

import json
from datetime import date

import pytest
from tests.analysis.conftest import MONDAY, write_plan, write_scenario
from tests.focus_checks import WRITTEN, check_export, export

from gpuladder.analysis.analyse import analyse
from gpuladder.analysis.charges import charges_of
from gpuladder.errors import ReportError, UsageError
from gpuladder.report.csv_files import csv_text
from gpuladder.report.focus import write_focus
from gpuladder.report.focus_lines import FocusVersion, Offers
from gpuladder.report.tables_focus import focus_tables

JULY, JANUARY = date(2026, 7, 1), date(2027, 1, 1)
HALF_YEAR = {"start": JULY, "end": JANUARY, "step": "month"}
MONTHS = tuple(date(2026, month, 1) for month in range(7, 13))
DAYS = (31, 31, 30, 31, 30, 31)
OD = {"id": "od", "pool": "east", "kind": "on_demand", "price": 3.0}


def elastic(name="run", gpu_hours=4 * 24 * 184, **keys):
    """Return a campaign over the half year; 4 GPUs all the time when left as it is."""
    return {
        "id": name,
        "shape": "elastic",
        "preemption_class": "critical",
        "gpu_hours": gpu_hours,
        "max_gpus": 64,
        "earliest": JULY,
        "deadline": JANUARY,
    } | keys


def leased(kind="reserved", **keys):
    """Return an offer of 8 GPUs at 1.00 for a year."""
    return {
        "id": "term",
        "pool": "east",
        "kind": kind,
        "price": 1.0,
        "tenor": "1 years",
        "lot_gpus": 8,
    } | keys


def using(gpus=4.0, name="run", months=MONTHS):
    """Return the plan's records of a campaign that uses so many GPUs in each month."""
    return [{"campaign": name, "pool": "east", "period": day, "gpus": gpus} for day in months]


def analysed(objective, *, offers=(), campaigns=(), horizon=HALF_YEAR, scenario=None, **records):
    """Return the result of a hand-written plan."""
    asked = write_scenario(
        horizon=horizon, offers=[OD, *offers], campaigns=list(campaigns), **(scenario or {})
    )
    return analyse(asked, write_plan(asked, objective, **records))


def half_used(kind="reserved", *, negotiated=(), version=FocusVersion.V1_3, **keys):
    """Return the export of 8 GPUs at 1.00 for a year from 1 July, of which 4 are used to December.

    Inside the horizon, discounted at nothing, they cost 8 × 24 × 184 = 35,328.
    """
    setup = keys.get("setup_cost", 0.0)
    result = analysed(
        8 * 24 * 184 + setup,
        offers=[leased(kind, **keys)],
        campaigns=[elastic(team="research")],
        orders=[{"offer": "term", "start": JULY, "lots": 1}],
        stable_use=using(),
    )
    return export(result, version, negotiated)


def pick(rows, **values):
    """Return the rows that have all these values."""
    return [row for row in rows if all(row[key] == value for key, value in values.items())]


def test_a_half_prepaid_reservation_is_billed_spread_and_told_idle_month_by_month():
    """Finance would book the prepayment to July, or twice, or nobody would see the idle half."""
    rows, _ = half_used(upfront=0.5)
    # A year is 8,760 hours: 8 × 8,760 × 1.00 = 70,080, half of it on the first day.
    (first,) = pick(rows, ChargeFrequency="One-Time")
    assert first["BilledCost"] == first["ListCost"] == pytest.approx(35_040)
    assert (first["ChargePeriodStart"], first["ChargePeriodEnd"]) == (JULY, date(2027, 7, 1))
    assert first["PricingQuantity"] == pytest.approx(35_040)  # the GPU-hours that it pays for
    months = pick(rows, ChargeFrequency="Recurring")
    assert len(months) == 12
    assert months[0]["BilledCost"] == pytest.approx(8 * 24 * 31 / 2)
    used = pick(rows, CommitmentDiscountStatus="Used")
    assert [row["ChargePeriodStart"] for row in used] == list(MONTHS)
    assert [row["ConsumedQuantity"] for row in used] == pytest.approx([96 * n for n in DAYS])
    assert [row["EffectiveCost"] for row in used] == pytest.approx([96 * n for n in DAYS])
    assert [row["ListCost"] for row in used] == pytest.approx([3 * 96 * n for n in DAYS])
    idle = pick(rows, CommitmentDiscountStatus="Unused", x_AfterHorizon=False)
    assert [row["EffectiveCost"] for row in idle] == pytest.approx([96 * n for n in DAYS])
    assert {row["x_Campaign"] for row in used} == {"run"}
    assert {row["x_Team"] for row in used} == {"research"}
    # One run, by its hours: 31 of 184 days of it in July.
    assert used[0]["x_RunCount"] == pytest.approx(31 / 184)


def test_what_the_horizon_cuts_is_there_to_its_end_and_said_to_be():
    """The last half of a signed year would be missing, or be taken for planned idleness."""
    rows, (contract,) = half_used()
    tail = pick(rows, CommitmentDiscountStatus="Unused", x_AfterHorizon=True)
    assert [row["ChargePeriodStart"].month for row in tail] == [1, 2, 3, 4, 5, 6]
    assert sum(row["EffectiveCost"] for row in tail) == pytest.approx(8 * 24 * 181)
    assert {row["x_TruncatedTerm"] for row in rows if row["x_CommitmentId"]} == {True}
    assert contract["x_TruncatedTerm"] is True
    assert contract["ContractCommitmentPeriodEnd"] == date(2027, 7, 1)
    assert contract["ContractCommitmentCost"] == pytest.approx(8 * 8760)
    assert contract["ContractCommitmentQuantity"] == pytest.approx(8 * 8760)
    assert contract["x_LifecycleStatus"] == "Proposed"
    assert contract["x_RecordType"] == rows[0]["x_RecordType"] == "Forecast"


def test_the_month_of_the_horizon_end_is_cut_there():
    """Idle hours of days that nobody planned would be blamed on the plan."""
    end = date(2026, 7, 16)
    result = analysed(
        8 * 24 * 15,
        offers=[leased(tenor="1 months")],
        horizon={"start": JULY, "end": end, "step": "week"},
        orders=[{"offer": "term", "start": JULY, "lots": 1}],
    )
    rows, _ = export(result)
    idle = pick(rows, CommitmentDiscountStatus="Unused")
    assert [(row["ChargePeriodStart"], row["ChargePeriodEnd"]) for row in idle] == [
        (JULY, end),
        (end, date(2026, 8, 1)),
    ]
    assert [row["PricingQuantity"] for row in idle] == pytest.approx([8 * 24 * 15, 8 * 24 * 16])
    assert [row["x_AfterHorizon"] for row in idle] == [False, True]


def test_a_week_in_two_months_is_split_by_its_days():
    """July would be billed for August's use."""
    week = date(2026, 7, 27)  # a Monday: five days in July, two in August
    result = analysed(
        8 * 168 * 3.0,
        campaigns=[elastic(gpu_hours=8 * 168, earliest=week, deadline=date(2026, 8, 3))],
        horizon={"start": MONDAY, "end": date(2026, 9, 7), "step": "week"},
        stable_use=[{"campaign": "run", "pool": "east", "period": week, "gpus": 8.0}],
        on_demand=[{"offer": "od", "period": week, "level": 0, "gpus": 8.0}],
    )
    rows, contracts = export(result)
    assert contracts == []
    assert [row["ConsumedQuantity"] for row in rows] == pytest.approx([8 * 24 * 5, 8 * 24 * 2])
    assert [row["BilledCost"] for row in rows] == pytest.approx([24 * 120, 24 * 48])
    assert {row["PricingCategory"] for row in rows} == {"Standard"}
    assert {row["ListUnitPrice"] for row in rows} == {3.0}


def test_spot_is_dynamic_and_listed_at_the_on_demand_price():
    """The saving of spot would not be seen, or spot be taken for a stable price."""
    spot = {"id": "sp", "pool": "east", "kind": "spot", "price": 1.0, "max_gpus": 8}
    asked = write_scenario(
        horizon=HALF_YEAR,
        offers=[OD, spot],
        preemption_classes=[{"id": "critical", "spot_share_max": 1}],
        campaigns=[elastic(gpu_hours=8 * 24 * 31)],
    )
    use = [{"campaign": "run", "offer": "sp", "period": JULY, "gpus": 8.0}]
    rows, _ = export(analyse(asked, write_plan(asked, 8 * 24 * 31 * 1.0, spot_use=use)))
    (row,) = rows
    assert row["PricingCategory"] == "Dynamic"
    assert row["BilledCost"] == row["EffectiveCost"] == pytest.approx(5952)
    assert row["ListCost"] == row["ContractedCost"] == pytest.approx(3 * 5952)


def test_a_contract_is_no_commitment_discount_and_its_setup_is_spread_with_it():
    """A privately negotiated cluster would pass for a public discount, its set-up for a month's."""
    rows, (contract,) = half_used("dedicated", setup_cost=8760.0)
    assert {row["CommitmentDiscountId"] for row in rows} == {None}
    assert {row["CapacityReservationId"] for row in rows} == {"term/2026-07-01"}
    (setup,) = pick(rows, x_CostLine="setup")
    assert (setup["BilledCost"], setup["PricingQuantity"], setup["PricingUnit"]) == (
        8760.0,
        1.0,
        "Units",
    )
    # 8,760 over 70,080 GPU-hours is 0.125 on top of 1.00.
    used = pick(rows, CapacityReservationStatus="Used")
    assert used[0]["EffectiveCost"] == pytest.approx(96 * 31 * 1.125)
    assert used[0]["ContractedCost"] == pytest.approx(96 * 31 * 1.0)
    assert used[0]["ListCost"] == pytest.approx(96 * 31 * 3.0)
    assert used[0]["PricingCategory"] == "Standard"
    assert contract["ContractCommitmentCost"] == pytest.approx(70_080 + 8760)
    assert contract["x_UpfrontCost"] == 8760.0


def test_a_reserved_offer_can_be_told_to_be_negotiated():
    """A private price would be shown as a public one."""
    public, _ = half_used()
    private, _ = half_used(negotiated=("term",))
    assert {row["CommitmentDiscountId"] for row in public} == {"term/2026-07-01"}
    assert {row["CommitmentDiscountId"] for row in private} == {None}
    assert sum(row["BilledCost"] for row in public) == sum(row["BilledCost"] for row in private)
    with pytest.raises(UsageError) as caught:
        half_used(negotiated=("tern",))
    (problem,) = caught.value.problems
    assert problem.code == "GL-U007"
    assert "term" in problem.fix


def test_a_flex_reservation_charges_for_use_apart_and_counts_hours_once():
    """GPU-hours would double with every fee for them."""
    hours = 4 * 24 * 184
    result = analysed(
        8 * 24 * 184 * 0.5 + 0.25 * hours,
        offers=[leased(price=0.5, usage_price=0.25)],
        campaigns=[elastic()],
        orders=[{"offer": "term", "start": JULY, "lots": 1}],
        stable_use=using(),
        drawn=[{"offer": "term", "period": day, "gpus": 4.0} for day in MONTHS],
    )
    rows, (contract,) = export(result)
    fees = pick(rows, x_CostLine="usage")
    assert sum(row["BilledCost"] for row in fees) == pytest.approx(0.25 * hours)
    assert {row["ContractApplied"] for row in fees} == {None}
    assert {row["CapacityReservationStatus"] for row in fees} == {"Used"}
    assert sum(row["ConsumedQuantity"] or 0.0 for row in rows) == pytest.approx(hours)
    assert contract["x_Rung"] == "flex"
    assert contract["ContractCommitmentCost"] == pytest.approx(0.5 * 8 * 8760)


def test_bought_hardware_is_valued_when_the_horizon_ends():
    """Its residual value would be taken for money that comes in, or be forgotten."""
    owned = {
        "id": "own",
        "pool": "east",
        "kind": "owned",
        "capex_per_gpu": 10_000.0,
        "opex_per_gpu_hour": 0.5,
        "life": "3 years",
        "residual_per_year": 0.64,
        "lot_gpus": 8,
    }
    kept = 80_000 * 0.64 ** (184 / 365)
    opex = 8 * 24 * 184 * 0.5
    result = analysed(
        80_000 + opex - kept,
        offers=[owned],
        orders=[{"offer": "own", "start": JULY, "lots": 1}],
    )
    rows, (contract,) = export(result)
    (price,) = pick(rows, x_CostLine="owned_capex")
    assert (price["BilledCost"], price["PricingQuantity"], price["PricingUnit"]) == (
        80_000,
        8,
        "GPUs",
    )
    (value,) = pick(rows, x_CostLine="owned_residual")
    assert value["BilledCost"] == pytest.approx(-kept)
    assert (value["ChargePeriodStart"], value["x_AfterHorizon"]) == (JANUARY, False)
    idle = pick(rows, CapacityReservationStatus="Unused")
    assert [row["ChargePeriodStart"] for row in idle] == list(MONTHS)
    assert sum(row["EffectiveCost"] for row in idle) == pytest.approx(80_000 + opex - kept)
    assert contract["ContractCommitmentCost"] == 80_000
    assert contract["x_UnitPrice"] is None


def test_held_commitments_are_active_and_start_with_the_horizon():
    """What is signed already would look like a proposal, or its past be billed again."""
    held = [
        {"id": "now", "start": "2026-01-01", "end": "2026-08-01"},
        {"id": "later", "start": "2026-09-01", "end": "2026-10-01"},
    ]
    common = {"pool": "east", "kind": "reserved", "gpus": 8, "price": 2.0}
    result = analysed(0.0, scenario={"commitments": [row | common for row in held]})
    rows, contracts = export(result)
    assert {row["ContractCommitmentId"]: row["x_LifecycleStatus"] for row in contracts} == {
        "now": "Active",
        "later": "Pending",
    }
    # The whole term of the one is 212 days, of which 31 are left.
    whole = next(row for row in contracts if row["ContractCommitmentId"] == "now")
    assert whole["ContractCommitmentCost"] == pytest.approx(8 * 24 * 212 * 2.0)
    billed = sum(row["BilledCost"] for row in pick(rows, x_CommitmentId="now"))
    assert billed == pytest.approx(8 * 24 * 31 * 2.0)
    assert {row["x_CostLine"] for row in rows if row["BilledCost"]} == {"held"}


def test_use_without_an_on_demand_price_says_so_and_saves_nothing():
    """A saving would be shown against a list price that nobody quotes."""
    asked = write_scenario(
        horizon=HALF_YEAR, offers=[leased()], campaigns=[elastic()], commitments=[]
    )
    order = [{"offer": "term", "start": JULY, "lots": 1}]
    plan = write_plan(asked, 8 * 24 * 184, orders=order, stable_use=using())
    rows, _ = export(analyse(asked, plan))
    for row in pick(rows, CommitmentDiscountStatus="Used"):
        assert row["ListUnitPrice"] is None
        assert row["ListCost"] == row["ContractedCost"] == row["EffectiveCost"]


def test_idle_capacity_that_is_sold_is_used_and_its_revenue_is_no_usage():
    """The provider's bill would shrink by what somebody else pays."""
    result = analysed(
        8 * 24 * 184 - 8 * 24 * 31 * 0.5,
        offers=[leased()],
        scenario={"backfill": [{"id": "buyer", "value": 0.5}]},
        orders=[{"offer": "term", "start": JULY, "lots": 1}],
        backfill=[{"buyer": "buyer", "pool": "east", "period": JULY, "gpus": 8.0}],
    )
    rows, _ = export(result)
    (sold,) = pick(rows, x_UsedBy="backfill", ChargeCategory="Usage")
    assert (sold["CommitmentDiscountStatus"], sold["x_BackfillBuyer"]) == ("Used", "buyer")
    (revenue,) = pick(rows, ChargeCategory="Adjustment")
    assert revenue["BilledCost"] == revenue["EffectiveCost"] == pytest.approx(-8 * 24 * 31 * 0.5)
    assert revenue["PricingQuantity"] is None
    assert revenue["ConsumedQuantity"] is None


@pytest.mark.parametrize(
    ("upfront", "model", "interval", "share"),
    [
        (0.0, "No Upfront", "Monthly", 0.0),
        (0.4, "Partial Upfront", "Monthly", 0.4),
        (1.0, "All Upfront", "One-Time", 1.0),
    ],
)
def test_version_1_4_says_what_kind_of_contract_it_is(upfront, model, interval, share):
    """A reader of 1.4 would not find its columns, or a proposal as a signed contract."""
    _, (contract,) = half_used(upfront=upfront, version=FocusVersion.V1_4)
    wanted = {
        "LifecycleStatus": "Proposed",
        "Model": "Continuous",
        "BenefitCategory": "Discount",
        "OfferCategory": "Public",
        "DiscountPercentage": pytest.approx(2 / 3),  # 1.00 against 3.00 on demand
        "DurationType": "1 Year",
        "FulfillmentInterval": "Hourly",
        "PaymentModel": model,
        "PaymentInterval": interval,
        "PaymentUpfrontPercentage": pytest.approx(share),
        "Created": "2026-01-05T09:30:00Z",
    }
    assert {key: contract[f"ContractCommitment{key}"] for key in wanted} == wanted
    scope = json.loads(contract["ContractCommitmentApplicability"])
    assert scope["Inclusions"] == [{"Dimension": "x_Pool", "Operator": "In", "Values": ["east"]}]
    assert "x_LifecycleStatus" not in contract


def test_names_that_would_run_or_break_the_file_are_text():
    """Opened in a spreadsheet, a campaign's name would run as a formula."""
    name = '=HYPERLINK("x"),"{[;'
    result = analysed(
        8 * 24 * 184,
        offers=[leased(id="-1+cmd|' /C calc'!A0")],
        campaigns=[elastic(name)],
        orders=[{"offer": "-1+cmd|' /C calc'!A0", "start": JULY, "lots": 1}],
        stable_use=using(name=name),
    )
    charges = charges_of(result.scenario, result.plan)
    for table in focus_tables(result, charges, FocusVersion.V1_3, Offers(), WRITTEN):
        for line in csv_text(table).splitlines():
            assert not line.startswith(("=", "-1+"))
            assert ",=HYPER" not in line
            assert ',"=HYPER' not in line
            assert ",-1+cmd" not in line
    rows, _ = export(result)
    applied = json.loads(rows[0]["ContractApplied"])
    assert applied["Elements"][0]["ContractId"] == "-1+cmd|' /C calc'!A0/2026-07-01"


def test_two_commitments_of_one_name_stay_two():
    """Their charges would be added up under one contract."""
    held = {
        "id": "term/2026-07-01",
        "pool": "east",
        "kind": "reserved",
        "gpus": 4,
        "start": "2026-01-01",
        "end": "2026-08-01",
        "price": 2.0,
    }
    result = analysed(
        8 * 24 * 184,
        offers=[leased()],
        scenario={"commitments": [held]},
        orders=[{"offer": "term", "start": JULY, "lots": 1}],
    )
    _, contracts = export(result)
    names = [row["ContractCommitmentId"] for row in contracts]
    assert names == ["term/2026-07-01", "term/2026-07-01#2"]


def write(result, parent):
    """Write the export of a result below a folder."""
    charges = charges_of(result.scenario, result.plan)
    return write_focus(
        result, charges, parent, version=FocusVersion.V1_3, offers=Offers(), written=WRITTEN
    )


def test_the_folder_says_what_it_is_and_is_never_overwritten(tmp_path):
    """A forecast would be loaded as a bill, or replace the one that was reported on."""
    result = analysed(0.0)
    folder, about = write(result, tmp_path / "run")
    names = {path.name for path in folder.iterdir()}
    assert names == {
        "cost_and_usage.csv",
        "contract_commitment.csv",
        "columns.csv",
        "metadata.json",
    }
    assert json.loads((folder / "metadata.json").read_text()) == about
    assert "not billing data" in about["shape"]
    assert about["focus_version"] == "1.3"
    before = (folder / "cost_and_usage.csv").read_bytes()
    with pytest.raises(ReportError) as caught:
        write(result, tmp_path / "run")
    assert caught.value.problems[0].code == "GL-F005"
    assert (folder / "cost_and_usage.csv").read_bytes() == before
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["focus"]


def test_what_was_prepaid_before_the_horizon_is_spread_and_not_billed_again():
    """Last year's prepayment would be paid twice, or use of it would look free."""
    flex = leased(id="flex", price=0.5, usage_price=0.25)
    held = [
        {"id": "half", "start": "2026-07-01", "price": 2.0, "upfront": 0.5, "kind": "reserved"},
        {"id": "cluster", "start": "2026-01-01", "price": 1.0, "kind": "dedicated"}
        | {"dues": [{"on": "2026-08-01", "amount": 480.0}, {"on": "2027-03-01", "amount": 960.0}]},
        {"id": "drawn", "start": "2026-01-01", "price": 0.5, "kind": "reserved", "offer": "flex"},
    ]
    common = {"pool": "east", "gpus": 8, "end": "2027-02-01"}
    # From 6 July, in the middle of a month, to the end of the year: 179 days.
    horizon = {"start": date(2026, 7, 6), "end": JANUARY, "step": "month"}
    august = date(2026, 8, 6)
    result = analysed(
        0.25 * 4 * 24 * 31,
        offers=[flex],
        horizon=horizon,
        scenario={"commitments": [row | common for row in held]},
        campaigns=[elastic(gpu_hours=4 * 24 * 31, earliest=august)],
        stable_use=using(months=[august]),
        drawn=[{"offer": "flex", "period": august, "gpus": 4.0}],
    )
    rows, contracts = export(result)
    check_export(result)
    terms = {row["ContractCommitmentId"]: row for row in contracts}
    days = 179 + 31  # to 1 February 2027
    # Half of it was paid on 1 July; of that, what is left from 6 July on is spread.
    billed = sum(row["BilledCost"] for row in pick(rows, x_CommitmentId="half"))
    assert billed == pytest.approx(8 * 24 * days * 2.0 / 2)
    assert terms["half"]["x_PrepaidCost"] == pytest.approx(8 * 24 * days * 2.0 / 2)
    assert sum(row["EffectiveCost"] for row in pick(rows, x_CommitmentId="half")) == pytest.approx(
        8 * 24 * days * 2.0
    )
    dues = pick(rows, x_CommitmentId="cluster", ChargeFrequency="One-Time")
    assert [(row["BilledCost"], row["PricingUnit"], row["x_AfterHorizon"]) for row in dues] == [
        (480.0, "Units", False),
        (960.0, "Units", True),
    ]
    assert terms["cluster"]["ContractCommitmentCost"] == pytest.approx(8 * 24 * 396 + 1440)
    assert terms["drawn"]["x_Rung"] == "flex"
    (used,) = pick(rows, x_CommitmentId="drawn", CapacityReservationStatus="Used", x_CostLine=None)[
        :1
    ]
    assert used["ConsumedQuantity"] == pytest.approx(4 * 24 * 26)  # 6 to 31 August
    assert result.metrics["cash_total"] == pytest.approx(sum(row["BilledCost"] for row in rows))
