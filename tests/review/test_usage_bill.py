"""Bills in FOCUS columns: use, idle, commitments and rates, checked by hand, row by row.

The rows follow the examples of the specification's appendix on commitment discounts: a purchase has
no effective cost, used rows carry the amortised cost, unused ones too and no ConsumedQuantity.
"""

from __future__ import annotations

import csv
from datetime import date
from pathlib import Path

import pytest

from gpuladder.cli.codes import CODES
from gpuladder.errors import UsageError
from gpuladder.review.imports.rows import TableOptions
from gpuladder.review.imports.usage.contracts import read_terms
from gpuladder.review.imports.usage.focus_columns import read_machines, read_time_unit
from gpuladder.review.imports.usage.reading import UsageOptions, import_usage

COLUMNS = (
    "ChargePeriodStart",
    "ChargePeriodEnd",
    "ChargeCategory",
    "ChargeClass",
    "ChargeFrequency",
    "PricingCategory",
    "BillingCurrency",
    "BilledCost",
    "EffectiveCost",
    "ListCost",
    "ContractedCost",
    "ConsumedQuantity",
    "ConsumedUnit",
    "PricingQuantity",
    "PricingUnit",
    "CommitmentDiscountId",
    "CommitmentDiscountCategory",
    "CommitmentDiscountStatus",
    "CommitmentDiscountQuantity",
    "CommitmentDiscountUnit",
    "CapacityReservationId",
    "CapacityReservationStatus",
    "SkuId",
    "RegionId",
    "ServiceProviderName",
    "SubAccountId",
    "Tags",
)
NODE = "node-8"
POOL = "acme-cloud-east-h100"


def at(hour):
    return f"2026-02-{1 + hour // 24:02}T{hour % 24:02}:00:00Z"


def usage(hour, consumed, cost, *, hours=1, **more):
    """Return a row of usage of a machine of eight GPUs, on demand unless said otherwise."""
    return {
        "ChargePeriodStart": at(hour),
        "ChargePeriodEnd": at(hour + hours),
        "ChargeCategory": "Usage",
        "PricingCategory": "Standard",
        "BillingCurrency": "USD",
        "BilledCost": cost,
        "EffectiveCost": cost,
        "ListCost": "" if isinstance(consumed, str) else 40 * consumed,
        "ContractedCost": cost,
        "ConsumedQuantity": consumed,
        "ConsumedUnit": "Hours",
        "PricingQuantity": consumed,
        "PricingUnit": "Hours",
        "SkuId": NODE,
        "RegionId": "east",
        "ServiceProviderName": "Acme Cloud",
        "SubAccountId": "research",
    } | more


def committed(hour, quantity, cost, status="Used", **more):
    """Return a row that a reservation of machines covers."""
    return usage(
        hour,
        quantity if status == "Used" else "",
        cost,
        **{
            "PricingCategory": "Committed",
            "BilledCost": 0,
            "CommitmentDiscountId": "ri-1",
            "CommitmentDiscountCategory": "Usage",
            "CommitmentDiscountStatus": status,
            "CommitmentDiscountQuantity": quantity,
            "CommitmentDiscountUnit": "Hours",
        }
        | more,
    )


def money(category, cost, **more):
    return {
        "ChargePeriodStart": at(0),
        "ChargePeriodEnd": at(24),
        "ChargeCategory": category,
        "BillingCurrency": "USD",
        "BilledCost": cost,
        "EffectiveCost": cost,
    } | more


def purchase(end="2027-02-01T00:00:00Z", quantity="", **more):
    return money(
        "Purchase",
        100_000,
        **{
            "ChargePeriodEnd": end,
            "ChargeFrequency": "One-Time",
            "EffectiveCost": 0,
            "CommitmentDiscountId": "ri-1",
            "CommitmentDiscountCategory": "Usage",
            "CommitmentDiscountQuantity": quantity,
            "CommitmentDiscountUnit": "Hours",
        }
        | more,
    )


@pytest.fixture
def bill(tmp_path):
    """Write rows as a bill and read them."""

    def read(*rows, columns=COLUMNS, table=None, machines=(f"{NODE}=8:h100",), **options):
        path = tmp_path / "bill.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, columns, restval="", extrasaction="ignore")
            writer.writeheader()
            writer.writerows(rows)
        said = UsageOptions(machines=read_machines(machines), **options)
        return import_usage(path, options=said, table=table or TableOptions())

    return read


def refusal(read, *rows, **more):
    with pytest.raises(UsageError) as caught:
        read(*rows, **more)
    assert {problem.code for problem in caught.value.problems} <= set(CODES)
    return "\n".join(problem.text for problem in caught.value.problems)


def series(found, name, team=0):
    return found.history.teams[team].quantities[name].tolist()


def test_machine_hours_become_gpu_hours_by_the_stated_map(bill):
    """Machines counted as GPUs would make demand eight times too small.

    Two machine-hours in one hour are 16 GPUs; the next hour has none; then a quarter of an hour of
    one machine, 2 GPU-hours.
    """
    found = bill(usage(0, 2, 80), usage(2, 0.25, 10))
    assert found.layout == "focus"
    assert series(found, "allocated") == [16, 0, 2]
    assert series(found, "metered") == [16, 0, 2]
    assert series(found, "capacity") == [0, 0, 0]
    assert [(row.pool, row.at.hour, row.gpus) for row in found.demand()] == [
        (POOL, 0, 16),
        (POOL, 1, 0),
        (POOL, 2, 2),
    ]


def test_gpu_hours_are_not_multiplied_again(bill):
    """A bill that counts GPU-hours already must not be multiplied by the GPUs of a machine."""
    gpu_unit = {"ConsumedUnit": "GPU-Hours"}
    assert series(bill(usage(0, 8, 40, **gpu_unit)), "allocated") == [8]
    unmapped = bill(usage(0, 8, 40, **gpu_unit), machines=())
    assert series(unmapped, "allocated") == [8]


def test_unused_rows_are_idle_and_never_use(bill):
    """Idle counted as use would hide it; left out, the reservation would look fully used.

    Two machines reserved: one used and one not, then both used: capacity 16 and 16, allocated 8 and
    16. Used 24 GPU-hours cost 45, so 1.875; with the 15 of the unused, 60 / 24 = 2.50.
    """
    found = bill(committed(0, 1, 15), committed(0, 1, 15, "Unused"), committed(1, 2, 30))
    assert series(found, "capacity") == [16, 16]
    assert series(found, "allocated") == [8, 16]
    assert series(found, "metered") == [0, 0]
    (rate,) = found.rates
    assert (rate.kind, rate.gpu_hours, rate.unused_gpu_hours) == ("reserved", 24, 8)
    assert rate.rate == pytest.approx(1.875)
    assert rate.loaded_rate == pytest.approx(2.5)
    assert rate.list_rate == pytest.approx(3 * 40 / 24)
    assert found.reserved_prices[0].price == pytest.approx(60 / 32)


def test_an_unused_row_of_another_sku_takes_its_commitments_machine(bill):
    """Providers bill the unused part under the commitment's own SKU; it would be lost otherwise."""
    other = {"SkuId": "reservation-of-nodes"}
    found = bill(committed(0, 1, 15, "Unused", **other), committed(1, 1, 15), committed(0, 1, 15))
    assert series(found, "capacity") == [16, 8]
    lost = bill(committed(0, 1, 15, "Unused", **other), usage(1, 1, 40))
    assert lost.rows.dropped == 1
    assert series(lost, "capacity") == [0]


def test_an_empty_capacity_reservation_is_idle(bill):
    """An on-demand reservation bills while nobody uses it; that is capacity, not use."""
    reserved = {"CapacityReservationId": "cr-1"}
    found = bill(
        usage(0, "", 40, CapacityReservationStatus="Unused", PricingQuantity=1, **reserved),
        usage(1, 1, 40, CapacityReservationStatus="Used", **reserved),
    )
    assert series(found, "capacity") == [8, 8]
    assert series(found, "allocated") == [0, 8]
    assert series(found, "metered") == [0, 0]


def test_a_commitment_of_money_reserves_no_gpus(bill):
    """A savings plan lowers a price; read as a reservation it would always look fully used.

    Its unused part is known in money alone.
    """
    plan = {
        "CommitmentDiscountId": "sp-1",
        "CommitmentDiscountCategory": "Spend",
        "CommitmentDiscountUnit": "USD",
    }
    found = bill(
        committed(0, 1, 20, CommitmentDiscountQuantity=20, **{**plan}),
        committed(1, 20, 20, "Unused", **plan),
    )
    assert series(found, "capacity") == [0]
    assert series(found, "metered") == [8]
    (rate,) = found.rates
    assert (rate.kind, rate.unused_gpu_hours, rate.unused_cost) == ("spend", None, 20)
    assert found.commitments[0].lacks.startswith("it is of money")


def test_idle_of_an_unknown_quantity_is_doubted(bill):
    """Normalised hours are of no machine in particular; without them capacity is too small."""
    found = bill(
        committed(0, 1, 15),
        committed(0, 64, 15, "Unused", CommitmentDiscountUnit="Normalized Hours"),
    )
    assert series(found, "capacity") == [8]
    assert found.rates[0].unused_gpu_hours is None
    assert found.rates[0].unused_cost == 15
    assert (found.warnings[0].code, found.warnings[0].where) == ("GL-I056", "ri-1")
    assert found.whole_commitments == ()


def test_a_purchase_is_never_usage(bill):
    """100,000 paid in advance would make the first hour's rate absurd."""
    found = bill(purchase(), committed(0, 1, 15))
    assert series(found, "allocated") == [8]
    assert found.rates[0].effective_cost == 15
    sorts = {row.sort: row for row in found.charges}
    assert (sorts["purchase"].billed_cost, sorts["purchase"].effective_cost) == (100_000, 0)


def test_taxes_credits_refunds_and_corrections_are_money_alone(bill):
    """A refund taken for usage would lower demand and rates; every one of them is counted apart."""
    found = bill(
        usage(0, 1, 40),
        money("Tax", 12),
        money("Credit", -5),
        money("Adjustment", 3),
        usage(0, -1, -40),
        usage(0, 1, 40, ChargeClass="Correction"),
        money("Rebate", 1),
    )
    assert series(found, "allocated") == [8]
    assert found.rates[0].rate == pytest.approx(5)
    assert (found.rows.kept, found.rows.dropped) == (1, 6)
    costs = {row.sort: row.effective_cost for row in found.charges}
    assert costs == {
        "usage on_demand": 40,
        "tax": 12,
        "credit": -5,
        "adjustment": 3,
        "refund": -40,
        "correction": 40,
        "other": 1,
    }
    assert sum(costs.values()) == pytest.approx(40 + 12 - 5 + 3 - 40 + 40 + 1)


def test_a_missing_quantity_is_not_zero(bill):
    """A null taken for zero would give away a machine's cost without its hours."""
    found = bill(usage(0, 1, 40), usage(1, "null", 40), usage(2, "", 40))
    assert series(found, "allocated") == [8]
    assert found.rows.dropped == 2
    assert {row.sort: row.rows for row in found.charges}["no quantity"] == 2


def test_without_consumed_quantity_the_priced_one_counts_and_it_says_so(bill):
    """Some exports have no ConsumedQuantity; the report must say what was taken in its place."""
    columns = tuple(name for name in COLUMNS if not name.startswith("Consumed"))
    found = bill(usage(0, 1, 40), columns=columns)
    assert series(found, "allocated") == [8]
    assert "PricingQuantity" in found.assumptions[0]


def test_several_currencies_are_refused_or_chosen(bill):
    """Dollars and euros added up are neither."""
    rows = (usage(0, 1, 40), usage(0, 2, 36, BillingCurrency="EUR"))
    assert "several currencies: EUR, USD" in refusal(bill, *rows)
    found = bill(*rows, currency="EUR")
    assert (found.currency, series(found, "allocated")) == ("EUR", [16])
    assert found.rows.dropped == 1


def test_a_bill_without_known_gpus_says_which_machines_it_has(bill):
    """The analyst needs the list of machines to state what they are."""
    message = refusal(bill, usage(0, 1, 40), usage(0, 100, 9, ConsumedUnit="GB-Hours"), machines=())
    assert "node-8 (1 rows in Hours, 40.00 USD)" in message
    assert "9.00" not in message


def test_other_machines_billed_by_time_are_named(bill):
    """A GPU type that was forgotten in the map must not vanish without a word."""
    found = bill(usage(0, 1, 40), usage(0, 3, 99, SkuId="other"))
    assert [warning.code for warning in found.warnings] == ["GL-I048"]
    assert "other (1 rows in Hours, 99.00 USD)" in found.warnings[0].what


def test_a_charge_over_a_day_is_even_over_it(bill):
    """A daily row is 24 hours of its mean: 48 machine-hours are two machines, 16 GPUs."""
    found = bill(usage(0, 48, 960, hours=24))
    assert series(found, "allocated") == [16] * 24
    assert any("more than an hour" in line for line in found.assumptions)


def test_use_charged_over_more_than_a_month_is_left_out(bill):
    """A misread year would spread a machine's hours over ten of them."""
    found = bill(usage(0, 1, 40), usage(0, 9, 99, ChargePeriodEnd="2036-02-01T00:00:00Z"))
    assert series(found, "allocated") == [8]
    assert {row.sort: row.effective_cost for row in found.charges}["too long"] == 99


@pytest.mark.parametrize(
    ("text", "hours", "is_gpu"),
    [
        ("Hours", 1, False),
        ("hrs", 1, False),
        ("Instance-Hours", 1, False),
        ("GPU Hours", 1, True),
        ("100 Hours", 100, False),
        ("Seconds", 1 / 3600, False),
        ("Days", 24, False),
    ],
)
def test_units_of_time(text, hours, is_gpu):
    """Seconds read as hours would be 3,600 times too much."""
    unit = read_time_unit(text)
    assert (unit.hours, unit.is_gpu) == (pytest.approx(hours), is_gpu)


@pytest.mark.parametrize("text", ["GB-Hours", "Normalized Hours", "Requests", "USD", ""])
def test_units_that_are_no_machine_time(text):
    """Storage, normalised hours and requests are not machines."""
    assert read_time_unit(text) is None


def test_teams_by_sub_account_or_tag(bill):
    """Shared accounts tell teams by tag; a row without it is nobody's, and it is said."""
    rows = (
        usage(0, 1, 40, Tags='{"team": "vision"}'),
        usage(0, 2, 80, Tags='{"team": "speech"}'),
        usage(0, 3, 120, Tags="not json"),
    )
    assert [team.team for team in bill(*rows).history.teams] == ["research"]
    tagged = bill(*rows, team_tag="team")
    teams = {team.team: team.quantities["allocated"].tolist() for team in tagged.history.teams}
    assert teams == {"vision": [8], "speech": [16], "unassigned": [24]}
    assert any("1 rows name no team" in line for line in tagged.assumptions)


def test_the_provider_of_older_bills_is_read(bill):
    """Before FOCUS 1.3 the provider stood in another column."""
    columns = ("ProviderName", *(name for name in COLUMNS if name != "ServiceProviderName"))
    found = bill(usage(0, 1, 40, ProviderName="Old Cloud"), columns=columns)
    assert found.history.teams[0].pool == "old-cloud-east-h100"


def test_the_term_of_a_purchase_is_taken_when_its_quantity_fits(bill):
    """Two machines for 8,760 hours are 17,520 machine-hours: the period is the term."""
    rows = (committed(0, 1, 15), committed(0, 1, 15, "Unused"), committed(1, 2, 30))
    (held,) = bill(purchase(quantity=17_520), *rows).whole_commitments
    assert (held.id, held.gpus, held.start, held.end) == (
        "ri-1",
        16,
        date(2026, 2, 1),
        date(2027, 2, 1),
    )
    assert held.price == pytest.approx(60 / 32)
    assert held.pool == POOL


def test_the_month_of_a_payment_is_not_taken_for_the_term(bill):
    """The same purchase with the month as its period: 672 hours do not hold 17,520."""
    rows = (committed(0, 2, 30), committed(1, 2, 30))
    month = purchase(end="2026-03-01T00:00:00Z", quantity=17_520)
    found = bill(month, *rows)
    assert found.whole_commitments == ()
    assert "its term" in found.commitments[0].lacks
    assert [warning.code for warning in found.warnings] == ["GL-I050"]
    stated = bill(month, *rows, terms=read_terms(["ri-1=2026-02-01..2029-02-01"]))
    assert stated.whole_commitments[0].end == date(2029, 2, 1)


CONTRACTS = (
    "ContractCommitmentId,ContractCommitmentCategory,ContractCommitmentQuantity,"
    "ContractCommitmentUnit,ContractCommitmentCost,ContractCommitmentPeriodStart,"
    "ContractCommitmentPeriodEnd,BillingCurrency\n"
)


def test_contract_commitments_give_term_gpus_and_price(bill, tmp_path):
    """64 GPUs for the 8,760 hours of 2026 at 1,121,280: 2.00 per GPU-hour.

    The quantity is 560,640 GPU-hours of the whole term; as one of each hour it would be absurd, so
    it counts only once that is stated.
    """
    contracts = tmp_path / "contracts.csv"
    row = "cc-1,Usage,560640,GPU-Hours,1121280,2026-01-01T00:00:00Z,2027-01-01T00:00:00Z,USD\n"
    contracts.write_text(CONTRACTS + row, encoding="utf-8")
    rows = (usage(0, 1, 40),)
    unsaid = bill(*rows, contracts=contracts, pool="east")
    assert unsaid.whole_commitments == ()
    assert "--contract-quantity" in unsaid.commitments[0].lacks
    found = bill(*rows, contracts=contracts, pool="east", hourly_contracts=False)
    (held,) = found.whole_commitments
    assert (held.pool, held.gpus, held.start, held.end) == (
        "east",
        pytest.approx(64),
        date(2026, 1, 1),
        date(2027, 1, 1),
    )
    assert held.price == pytest.approx(2.0)
    assert found.contract_rows.kept == 1


def test_contracts_say_the_term_of_a_bills_commitment(bill, tmp_path):
    """The bill knows GPUs and price, the contract the term; a row of money stays out."""
    contracts = tmp_path / "contracts.csv"
    period = "2026-02-01T00:00:00Z,2028-02-01T00:00:00Z"
    contracts.write_text(
        f"{CONTRACTS}ri-1,Usage,1,Instance-Hours,,{period},USD\n"
        f"ea-1,Spend,1000000,USD,1000000,{period},USD\n",
        encoding="utf-8",
    )
    found = bill(committed(0, 1, 15), committed(1, 1, 15), contracts=contracts)
    (held,) = found.whole_commitments
    assert (held.id, held.gpus, held.end) == ("ri-1", 8, date(2028, 2, 1))
    assert held.price == pytest.approx(30 / 16)
    assert {row.id: bool(row.lacks) for row in found.commitments} == {"ri-1": False, "ea-1": True}


@pytest.mark.parametrize("text", ["node-8", "node-8=", "node-8=0", "node-8=x", "=8"])
def test_machines_stated_wrongly_are_refused(text):
    """A map that does not parse must not be guessed at."""
    with pytest.raises(UsageError, match="GL-I049"):
        read_machines([text])


def test_parquet_bills_read_like_csv(bill, tmp_path):
    """Exports come as Parquet, with real times, numbers and nulls."""
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    rows = (committed(0, 1, 15), committed(0, 1, 15, "Unused"), usage(1, 1, 40), money("Tax", 3))
    expected = bill(*rows)
    frame = pd.read_csv(tmp_path / "bill.csv")
    for name in ("ChargePeriodStart", "ChargePeriodEnd"):
        frame[name] = pd.to_datetime(frame[name])
    path = Path(tmp_path / "bill.parquet")
    frame.to_parquet(path)
    found = import_usage(path, options=UsageOptions(machines=read_machines([f"{NODE}=8:h100"])))
    assert found.rates == expected.rates
    assert found.charges == expected.charges
    assert found.rows.kept == expected.rows.kept


def test_a_capacity_reservation_that_was_bought_has_the_term_of_its_purchase(bill):
    """A block of capacity paid in one piece would be taken for a fee, and its term be unknown."""
    hours = 8 * 24  # eight GPUs for a day at 2.00
    place = {"CapacityReservationId": "cb-1", "PricingUnit": "GPU-Hours", "SkuId": "block"}
    used = usage(
        0,
        hours,
        2 * hours,
        hours=24,
        ConsumedUnit="GPU-Hours",
        CapacityReservationStatus="Used",
        **place,
    ) | {"BilledCost": 0}
    bought = money("Purchase", 0, ChargeFrequency="One-Time", PricingQuantity=hours, **place)
    bought |= {"BilledCost": 2 * hours}
    found = bill(bought, used)
    (held,) = found.whole_commitments
    assert (held.id, held.gpus, held.price) == ("cb-1", pytest.approx(8), pytest.approx(2.0))
    assert (held.start, held.end) == (date(2026, 2, 1), date(2026, 2, 2))
    assert {row.counted_as for row in found.charges} == {"commitment bought", "usage"}
