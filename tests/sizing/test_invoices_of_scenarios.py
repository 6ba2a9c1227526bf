"""Invoices of scenarios and plans: sides of the market, hard filters, and loaded costs."""

from __future__ import annotations

from datetime import date

import pytest

import gpuladder
from gpuladder.analysis.invoice import invoice
from gpuladder.sizing.invoice import COMPUTE_LINES, LINES


def scenario_of(content, write):
    return gpuladder.load(write(content)).scenario


def market(found, campaign, name):
    each = next(each for each in found.campaigns if each.id == campaign)
    return next(item for item in each.markets if item.market == name)


def lines(one):
    return {line.line: line.amount for line in one.lines}


def test_the_record_has_the_documented_shape(content, write):
    """Scripts that read the JSON would break."""
    record = invoice(scenario_of(content, write)).record()
    assert list(record) == ["campaigns"]
    for campaign in record["campaigns"]:
        assert list(campaign) == ["id", "markets"]
        for each in campaign["markets"]:
            assert list(each) == ["market", "lines", "total"]
            assert [line["line"] for line in each["lines"]] == list(LINES)
            for end in ("low", "high"):
                total = sum(line[end] for line in each["lines"])
                assert each["total"][end] == pytest.approx(total)


def test_on_demand_by_hand(content, write):
    """The hyperscaler's bill would not be price × hours with all that comes on top.

    7,120.4 hours at 3.00; multiplier 1.5; a tenth failed; 59 days of 5,000 GB at 0.02 and 100 GB
    out at 0.05; staff 1,000.
    """
    content["hardware"][0].pop("node_mtbf_hours")
    content["invoice"] = {
        "utilisation_multiplier": 1.5,
        "storage_per_gb_month": 0.02,
        "egress_per_gb": 0.05,
    }
    found = invoice(scenario_of(content, write))
    bill = lines(market(found, "pretrain", "hyperscaler_on_demand"))
    hours = 6 * 13e9 * 130e9 / (989e12 * 0.4 * 3600)
    assert bill["ideal_hours"].low == pytest.approx(hours * 3)
    assert bill["utilisation_multiplier"].low == pytest.approx(hours * 3 * 0.5)
    assert bill["failed_runs"].low == pytest.approx(hours * 3 * 1.5 * 0.1)
    assert bill["checkpoint_and_restart"].low == 0
    assert bill["storage"].low == pytest.approx(5000 * 0.02 * 59 * 12 / 365)
    assert bill["egress"].low == pytest.approx(5.0)
    assert bill["staff"].low == 1000
    assert bill["minimums_and_commitments"].low == 0


def test_a_commitment_signed_for_one_campaign_alone_is_paid_whole(content, write):
    """A reservation would look cheap by leaving out the hours nobody uses.

    16 GPUs, two lots, for 3 months from 5 February (89 days) at 2.00, half of it upfront.
    """
    bill = market(invoice(scenario_of(content, write)), "pretrain", "committed")
    term = 16 * 89 * 24 * 2.0
    used = sum(lines(bill)[name].low for name in COMPUTE_LINES)
    assert lines(bill)["minimums_and_commitments"].low == pytest.approx(term - used)
    assert bill.escrow.low == pytest.approx(term / 2)


def test_spot_is_barred_by_the_class_and_says_so(content, write):
    """A run that must not be stopped would be billed at spot prices."""
    found = invoice(scenario_of(content, write))
    first = next(each for each in found.campaigns if each.id == "pretrain")
    assert "spot" not in [each.market for each in first.markets]
    (refusal,) = first.refused
    assert refusal.market == "spot"
    assert "preemption class" in refusal.reason
    assert market(found, "tuning#1", "spot").offers == ("east-spot",)


def test_residency_and_racks_are_hard_filters(content, write):
    """Data would leave the region, or a rack run be billed on separate nodes."""
    content["pools"][0] |= {"residency": ["us"], "fabric": "rack"}
    content["campaigns"][0] |= {"residency": ["us"], "coupling": "rack"}
    found = invoice(scenario_of(content, write))
    first = next(each for each in found.campaigns if each.id == "pretrain")
    assert [each.market for each in first.markets] == ["hyperscaler_on_demand", "committed"]
    reasons = {each.market: each.reason for each in first.refused}
    assert "data must sit in us" in reasons["decentralised"]


def test_decentralised_bills_are_paid_in_before_the_start(content, write):
    """A run could not start for want of a deposit: all but staff goes into escrow."""
    bill = market(invoice(scenario_of(content, write)), "pretrain", "decentralised")
    assert bill.escrow.low == pytest.approx(bill.total.low - 1000)


def test_sides_without_an_offer_are_filled_from_dated_list_prices(content, write):
    """Markets the scenario has no offer in could not be compared, or look like offers."""
    found = invoice(scenario_of(content, write), today=date(2026, 12, 1))
    bill = market(found, "pretrain", "neocloud")
    assert all("/" in offer for offer in bill.offers)
    assert "list price of 2026-05-24" in bill.notes[0]
    assert [problem.code for problem in found.warnings] == ["GL-S902"]
    assert bill.total.low < bill.total.high
    content["campaigns"][0]["pools"] = ["east"]
    found = invoice(scenario_of(content, write))
    markets = next(each for each in found.campaigns if each.id == "pretrain").markets
    assert "neocloud" not in [each.market for each in markets]


def test_another_currency_takes_no_list_prices(content, write):
    """Dollars would be added to euros."""
    content["currency"] = "EUR"
    found = invoice(scenario_of(content, write))
    names = {each.market for campaign in found.campaigns for each in campaign.markets}
    assert "neocloud" not in names
    assert lines(market(found, "pretrain", "hyperscaler_on_demand"))["storage"].high == 0


def test_compute_lines_of_a_plan_equal_its_loaded_costs(content, write):
    """The invoice would be another amount than the plan it stands for."""
    result = gpuladder.solve(write(content))
    found = invoice(result.scenario, result=result)
    for row in result.tables.campaigns:
        bill = market(found, row.id, "plan")
        assert bill.compute.low == pytest.approx(row.loaded_cost, rel=1e-9)
        assert bill.compute.high == pytest.approx(row.loaded_cost, rel=1e-9)
        assert lines(bill)["utilisation_multiplier"].low == pytest.approx(row.idle_cost)
    assert found.campaigns[0].markets[0].market == "plan"


def test_rows_and_totals_are_tables(content, write):
    """A workbook sheet could not be made of the invoice."""
    found = invoice(scenario_of(content, write))
    totals = {(row.campaign, row.market): row for row in found.totals()}
    barred = totals["pretrain", "spot"]
    assert barred.total_low is None
    assert "preemption class" in barred.notes
    bill = [row for row in found.rows() if (row.campaign, row.market) == ("tuning#2", "spot")]
    total = totals["tuning#2", "spot"]
    assert sum(row.low for row in bill) == pytest.approx(total.total_low)
    assert total.per_run_low == pytest.approx(total.total_low / 5)
