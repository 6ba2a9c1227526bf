"""The tables of a result."""

import dataclasses
from datetime import date

import pytest

from gpuladder.report.styles import number_format
from gpuladder.report.table import Format, column_total
from gpuladder.report.tables import all_tables
from gpuladder.scenario.schema import Scenario


def table(result, name):
    return next(table for table in all_tables(result) if table.name == name)


def total(result, name, key):
    found = table(result, name)
    return column_total(found, found.position(key))


def test_names_of_tables_and_headers_are_unique(result) -> None:
    """One CSV file would overwrite another, or Excel would refuse a table with twin headers."""
    tables = all_tables(result)
    assert len({item.name for item in tables}) == len(tables)
    for item in tables:
        headers = [column.header.lower() for column in item.columns]
        assert len(set(headers)) == len(headers), item.name


def test_cost_lines_add_up_to_the_objective(result) -> None:
    """The total under the cost table would not be the cost that the plan minimises."""
    assert total(result, "costs", "amount") == pytest.approx(1234.567 + 98765.4321 - 321.09)


def test_lines_of_nothing_are_left_out(result) -> None:
    """Readers would look for spot in a plan that has none."""
    assert "Spot" not in table(result, "costs").values("line")


def test_quarters_add_up_to_the_lines(result) -> None:
    """The cost by quarter would tell another story than the cost by line."""
    assert total(result, "cost_by_quarter", "total") == pytest.approx(
        total(result, "costs", "amount")
    )


def test_cash_and_accrual_are_summed_by_month(result) -> None:
    """Held and new payments would be mixed up in the treasurer's plan.

    Each of six months has two lines that pay 100 × its index and use 250.
    """
    cash = table(result, "cash_accrual")
    assert cash.values("month_start")[2] == date(2026, 3, 1)
    assert cash.values("new_cash") == (0.0, 100.0, 200.0, 300.0, 400.0, 500.0)
    assert cash.values("held_cash") == cash.values("new_cash")
    assert cash.values("cash") == (0.0, 200.0, 400.0, 600.0, 800.0, 1000.0)
    assert set(cash.values("accrual")) == {500.0}
    # 0 − 500, then 200 − 500 more, …
    assert cash.values("paid_ahead") == (-500.0, -800.0, -900.0, -800.0, -500.0, 0.0)


def test_capacity_of_all_pools_is_the_sum_of_the_pools(result) -> None:
    """The chart on the first page would show capacity that no pool has.

    Two pools with 16 held GPUs each; in use are 20 of campaigns and 2.5 of demand in the first
    period of each.
    """
    found = table(result, "capacity_total")
    assert len(found.rows) == 20
    assert found.values("held_gpus")[0] == 32.0
    assert found.values("in_use_gpus")[0] == 2 * (20.0 + 2.5)


def test_what_to_sign_begins_with_the_first_to_sign(make) -> None:
    """The first signature could be missed at the bottom of the list."""
    dates = table(make(orders=4), "commitments").values("sign_by")
    assert list(dates) == sorted(dates)


def test_inputs_show_what_was_read_and_nothing_else(result) -> None:
    """The inputs sheet would hide a key that was set, or drown it in defaults."""
    offers = table(result, "inputs_offers")
    keys = [column.key for column in offers.columns]
    assert {"id", "kind", "pool", "price", "tenor", "lot_gpus"} <= set(keys)
    assert "setup_cost" not in keys
    assert offers.values("tenor") == (None, "6 months, 1 years")
    assert offers.values("price") == (4.0, "2.5, 1.9")
    held = table(result, "inputs_commitments")
    assert held.values("end") == (date(2026, 3, 6),)
    assert len(table(result, "inputs_demand").rows) == 140


def test_settings_show_every_limit_that_is_set(result) -> None:
    """A reader could not tell under which policy the plan was made."""
    settings = dict(table(result, "inputs_settings").rows)
    assert settings["policy.ladder.max_expiring_share"] == 0.5
    assert settings["discount_rate"] == 0.08
    assert "policy.committed_gpus_max" not in settings


def test_audit_findings_are_rows(make, failed_audit) -> None:
    """A failed audit would look like a clean one."""
    found = table(make(audit=failed_audit), "audit")
    assert found.rows == (
        ("ladder", "2026-04-05", "2026-04-05", 16.0, "48 GPUs expire where 32 may"),
    )
    assert "do not sign" in found.note


def test_no_plan_still_says_who_is_short(infeasible) -> None:
    """An infeasible scenario would leave the analyst with nothing to go on."""
    found = table(infeasible, "infeasible_campaigns")
    assert found.rows == (("pretrain", 321.5, "Deadline 9 days later."),)


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        (Format.MONEY, [1234567.891], "#,##0;-#,##0;–"),
        (Format.MONEY, [12.5], "#,##0.00;-#,##0.00;–"),
        (Format.QUANTITY, [8.0, 16.0], "#,##0;-#,##0;–"),
        (Format.QUANTITY, [8.5], "#,##0.0;-#,##0.0;–"),
        (Format.SHARE, [0.123], "0.0%"),
        (Format.QUANTITY, [96768.0000001, 16948.7], "#,##0;-#,##0;–"),
        (Format.QUANTITY, [float("nan"), float("inf"), 8.0], "#,##0;-#,##0;–"),
        (Format.NUMBER, [2.7447, 6.88], "#,##0.0#####"),
        (Format.NUMBER, [], "#,##0"),
        (Format.NUMBER, [0.0], "#,##0"),
    ],
)
def test_numbers_are_shown_without_needless_digits(kind, values, expected) -> None:
    """A page of seventeen-digit numbers cannot be read."""
    assert number_format(kind, values) == expected


def test_nested_inputs_are_written_out(make) -> None:
    """Repeats, price paths and budgets would be missing from the inputs, or be unreadable.

    A campaign of two repeats, an offer with two dated prices, and limits by provider and span.
    """
    result = make()
    content = result.scenario.model_dump(mode="json", by_alias=True, exclude_unset=True)
    content["campaigns"][0]["repeat"] = {"every": "4 weeks", "count": 2}
    content["offers"][0]["price_path"] = [
        {"from": "2026-02-01", "price": 3.5},
        {"from": "2026-03-01", "price": 3.0},
    ]
    content["policy"]["provider_share_max"] = {"aws": 0.9}
    content["policy"]["cash_budgets"] = [{"from": "2026-01-05", "until": "2026-02-05", "max": 9.0}]
    changed = dataclasses.replace(result, scenario=Scenario.model_validate(content))
    assert table(changed, "inputs_campaigns").values("repeat")[0] == "every: 4 weeks, count: 2"
    assert table(changed, "inputs_offers").values("price_path")[0] == (
        "from: 2026-02-01, price: 3.5; from: 2026-03-01, price: 3.0"
    )
    settings = dict(table(changed, "inputs_settings").rows)
    assert settings["policy.provider_share_max"] == "aws: 0.9"
    assert settings["policy.cash_budgets[1].until"] == date(2026, 2, 5)
    assert settings["policy.cash_budgets[1].max"] == 9.0
