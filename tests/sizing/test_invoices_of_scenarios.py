"""Invoices of scenarios and plans: sides of the market, hard filters, and loaded costs."""

from __future__ import annotations

from datetime import date

import pytest

import gpuladder
from gpuladder.analysis.invoice import invoice
from gpuladder.errors import ScenarioError
from gpuladder.sizing.catalogue import price
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
    out at 0.05; staff 1,000. Its checkpoint is 14 bytes for each of 13e9 parameters: 182 GB.
    """
    content["hardware"][0].pop("node_mtbf_hours")
    content["campaigns"][0]["workload"]["mfu"] = 0.4
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
    assert bill["storage"].low == pytest.approx(5182 * 0.02 * 59 * 12 / 365)
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


def test_a_slower_run_takes_more_terms(content, write):
    """The dear end of a bill would leave out the term that a low MFU makes necessary.

    7,120 hours at 40 % MFU, 10,171 at 28 %: with a tenth failed 11,188 on 16 GPUs are 29.1 days
    or five weeks; at 50 % MFU 5,696, and with a tenth failed 16.3 days or three weeks. At 2.00 a
    week of 16 GPUs is 5,376, half of the first one upfront; 0.10 more for each hour that is used.
    """
    content["hardware"][0].pop("node_mtbf_hours")
    content["campaigns"][0]["workload"]["mfu"] = {"low": 0.28, "expected": 0.4, "high": 0.5}
    content["offers"][3] |= {"tenor": "7 days", "usage_price": 0.1}
    bill = market(invoice(scenario_of(content, write)), "pretrain", "committed")
    rest = lines(bill)["minimums_and_commitments"]
    flops_hours = 6 * 13e9 * 130e9 / (989e12 * 3600)
    for weeks, mfu, compute, unused in (
        (3, 0.5, bill.compute.low, rest.low),
        (5, 0.28, bill.compute.high, rest.high),
    ):
        used = flops_hours / mfu * 1.1
        assert compute + unused == pytest.approx(weeks * 5376 + 0.1 * used)
    assert bill.escrow.low == bill.escrow.high == pytest.approx(5376 / 2)


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


def test_a_deposit_is_a_share_in_every_currency(content, write):
    """A bill in euros would look as if nothing had to be paid in before the start."""
    content["currency"] = "EUR"
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
    assert [problem.code for problem in found.warnings] == ["GL-S913"]
    bill = market(found, "pretrain", "hyperscaler_on_demand")
    assert {"line": "storage", "low": None, "high": None} in bill.record()["lines"]
    assert {"line": "staff", "low": 1000.0, "high": 1000.0} in bill.record()["lines"]
    content["invoice"] = {"storage_per_gb_month": 0.02, "egress_per_gb": 0.05}
    assert invoice(scenario_of(content, write)).warnings == ()


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


def test_the_share_that_must_be_firm_is_billed_at_a_firm_price(content, write):
    """Half of the work may be on spot; billing all of it there would halve the budget wrongly.

    No interruptions, no multiplier: hours H on H100 (relative speed 1). All spot costs 1.20 H, and
    the cheapest firm price per use is 1.5 on hardware of speed 0.4: 3.75 H; or 3.00 H. So
    0.5 × 1.20 H + 0.5 × 3.00 H = 2.10 H.
    """
    content["hardware"][0].pop("node_mtbf_hours")
    content["offers"][2].pop("node_mtbr_hours")
    content["preemption_classes"][1] |= {"checkpoint_minutes": 0, "restart_minutes": 0}
    scenario = scenario_of(content, write)
    hours = next(each for each in scenario.campaigns if each.id == "tuning").gpu_hours
    bill = market(invoice(scenario), "tuning#1", "spot")
    assert bill.compute.low == pytest.approx(2.10 * hours)
    assert "50% of the work is firm by its class, on east-od" in bill.notes[0]


def test_no_spot_bill_where_the_firm_share_has_no_offer(content, write):
    """A bill for half of the work would be read as the whole."""
    content["currency"] = "EUR"  # no list prices
    content["offers"] = [each for each in content["offers"] if each["kind"] != "on_demand"]
    found = invoice(scenario_of(content, write))
    assert "50% of the work must be firm" in refusals(found, "tuning#1")["spot"]


def test_a_band_of_mfu_is_a_band_of_hours(content, write):
    """The budget would hide what is least certain: 40 % expected, 35 % to 50 % possible."""
    found = lines(market(invoice(scenario_of(content, write)), "pretrain", "hyperscaler_on_demand"))
    hours = 6 * 13e9 * 130e9 / (989e12 * 3600)
    assert found["ideal_hours"].low == pytest.approx(hours / 0.50 * 3)
    assert found["ideal_hours"].high == pytest.approx(hours / 0.35 * 3)


def test_offers_that_are_barred_are_named_beside_a_side_that_is_served(content, write):
    """A reader would think the cheaper offer was forgotten."""
    content["pools"].append({"id": "eu", "provider": "aws", "region": "eu", "hardware": "H100"})
    content["offers"].append(
        {"id": "eu-od", "pool": "eu", "kind": "on_demand", "price": 2.0, "max_gpus": 512}
    )
    content["campaigns"][0]["pools"] = ["east"]
    found = invoice(scenario_of(content, write))
    assert market(found, "pretrain", "hyperscaler_on_demand").offers == ("east-od",)
    assert "eu-od" in refusals(found, "pretrain")["hyperscaler_on_demand"]


def refusals(found, campaign):
    each = next(each for each in found.campaigns if each.id == campaign)
    return {refusal.market: refusal.reason for refusal in each.refused}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"available_from": "2026-05-01"}, "it can be used from 2026-05-01"),
        ({"available_until": "2026-02-05"}, "it can be used until 2026-02-05"),
        ({"max_gpus": 8}, "a run needs 16 GPUs, and it has 8"),
        ({"available_from": "2026-04-04"}, "and there are 1.0"),
    ],
)
def test_an_offer_that_cannot_be_had_is_not_billed(change, reason, content, write):
    """The cheapest bill would be one that nobody can get: not yet, no longer, or not enough."""
    content["offers"].append(dict(content["offers"][0]) | {"id": "cheap", "price": 0.1} | change)
    found = invoice(scenario_of(content, write))
    assert market(found, "pretrain", "hyperscaler_on_demand").offers == ("east-od",)
    content["offers"] = [{**content["offers"][-1], "id": "only"}]
    for campaign in content["campaigns"]:
        campaign["drop_cost"] = 1e6
    found = invoice(scenario_of(content, write))
    assert reason in refusals(found, "pretrain")["hyperscaler_on_demand"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"lead": "4 months"}, "the first can start on 2026-05-05"),
        ({"available_from": "2026-04-05"}, "the first can start on 2026-04-05"),
        ({"max_lots": 1}, "a run needs 16 GPUs, and it has 8"),
        ({"tenor": "2 weeks", "available_until": "2026-01-10"}, "the last on 2026-01-10"),
    ],
)
def test_a_commitment_that_cannot_be_signed_is_not_billed(change, reason, content, write):
    """A campaign would be billed under a term that starts after it, or with lots there are not."""
    content["offers"][3] |= change
    found = invoice(scenario_of(content, write))
    assert reason in refusals(found, "pretrain")["committed"]


def test_a_quota_bounds_small_jobs_by_their_hours(content, write):
    """30,000 GPU-hours would be billed on 8 GPUs that give 10,000 in the time there is."""
    content["campaigns"] = [
        {
            "id": "jobs",
            "shape": "elastic",
            "preemption_class": "steady",
            "max_gpus": 64,
            "gpu_hours": 30000,
            "earliest": "2026-02-05",
            "deadline": "2026-04-05",
        }
    ]
    content["offers"][0]["max_gpus"] = 8
    content["hardware"][0].pop("node_mtbf_hours")
    found = invoice(scenario_of(content, write))
    assert "8 GPUs for 59 days are 11,328" in refusals(found, "jobs")["hyperscaler_on_demand"]


def test_a_list_price_is_of_a_size_that_keeps_the_limit(content, write):
    """List prices would undercut the scenario's offers with a run that comes too late.

    15,360 GPU-hours are 10 days on 64 GPUs; on 128 at 0.6 they are 25,600 in 8.3 days. Where
    neither keeps the limit, no list price is billed.
    """
    content["hardware"] = content["hardware"][:1]
    content["hardware"][0].pop("node_mtbf_hours")
    content["pools"], content["offers"] = content["pools"][:1], content["offers"][:1]
    gang = {
        "id": "run",
        "shape": "gang",
        "preemption_class": "steady",
        "gpus": [64, 128],
        "scaling": {64: 1.0, 128: 0.6},
        "gpu_hours": 15360,
        "earliest": "2026-02-05",
        "deadline": "2026-03-05",
        "max_duration": "9 days",
        "drop_cost": 1e6,
    }
    content["campaigns"] = [gang]
    bill = market(invoice(scenario_of(content, write)), "run", "neocloud")
    listed = price("h100/dataoorts/on_demand").price_per_gpu_hour
    assert lines(bill)["ideal_hours"].low == pytest.approx(25_600 * listed)
    gang["max_duration"] = "8 days"
    (found,) = invoice(scenario_of(content, write)).campaigns
    assert found.markets == ()


def test_a_list_price_is_of_the_memory_that_the_scenario_states(content, write):
    """An A100 of 40 GB would be billed at the list price of one with 80."""
    content["hardware"][1]["memory_gb"] = 40
    content["campaigns"][0]["hardware"] = ["A100"]
    found = market(invoice(scenario_of(content, write)), "pretrain", "neocloud")
    assert {offer.partition("/")[0] for offer in found.offers} == {"a100-40"}


def test_the_efficiency_of_a_gang_s_size_is_not_called_a_restart(content, write):
    """Hours lost to scaling would be blamed on checkpoints: nothing interrupts this run."""
    content["hardware"][0].pop("node_mtbf_hours")
    gang = content["campaigns"][0]
    gang |= {"gpus": 64, "scaling": {64: 0.5}, "hardware": ["H100"], "waste": 0.0}
    gang["workload"]["time_limit"] = "50 days"
    result = gpuladder.solve(write(content))
    bill = lines(market(invoice(result.scenario, result=result), "pretrain", "plan"))
    assert bill["checkpoint_and_restart"].low == pytest.approx(0, abs=1e-6)
    (row,) = (row for row in result.tables.campaigns if row.id == "pretrain")
    assert bill["ideal_hours"].low == pytest.approx(row.direct_cost)


def test_what_a_plan_wants_before_its_start(content, write):
    """A plan would look as if nothing were due: half of its reservation is, and the credit.

    Reserved at 2.00, 89 days from 5 February, half of it upfront; on demand costs 30.
    """
    content["offers"] = [
        {**content["offers"][0], "price": 30.0},
        content["offers"][3],
    ]
    content["campaigns"] = content["campaigns"][:1]
    content["invoice"] = {"utilisation_multiplier": 1.5}
    result = gpuladder.solve(write(content))
    (order,) = result.plan.orders
    bill = market(invoice(result.scenario, result=result), "pretrain", "plan")
    days = {2: 89, 3: 92}[order.start.month]
    assert bill.escrow.low == pytest.approx(order.lots * 8 * days * 24 * 2.0 / 2)
    assert "stands for the stated multiplier of 1.5" in bill.notes[1]
    content["invoice"]["providers"] = [{"provider": "aws", "minimum_credit": 1_000_000}]
    result = gpuladder.solve(write(content))
    bill = market(invoice(result.scenario, result=result), "pretrain", "plan")
    assert bill.escrow.low == 1_000_000
    assert bill.compute.low + lines(bill)["minimums_and_commitments"].low == pytest.approx(1e6)


def test_bought_hardware_is_billed_for_what_it_loses_and_its_interest(content, write):
    """The bill of own machines would leave out the bank, or ask for the whole price at the start.

    16 GPUs at 10,000 for the 59 days from 5 February: a year at 0.6 leaves 0.6^(59/365), one
    payment at 20 % a year grows by 1.2^(59/365), running costs 0.1. A tenth is paid down.
    """
    content["offers"].append(
        {
            "id": "own",
            "pool": "east",
            "kind": "owned",
            "capex_per_gpu": 10_000,
            "opex_per_gpu_hour": 0.1,
            "life": "3 years",
            "residual_per_year": 0.6,
            "lot_gpus": 8,
            "financing": {"rate": 0.2, "term": "1 years", "every": "1 years", "down_payment": 0.1},
        }
    )
    bill = market(invoice(scenario_of(content, write)), "pretrain", "owned")
    part = 59 / 365
    lost = 10_000 * (1 - 0.6**part) + 9_000 * (1.2**part - 1) + 0.1 * 59 * 24
    paid = sum(lines(bill)[name].low for name in COMPUTE_LINES)
    paid += lines(bill)["minimums_and_commitments"].low
    assert paid == pytest.approx(16 * lost)
    assert bill.escrow.low == pytest.approx(16 * 1_000)


def test_a_multiplier_below_one_is_refused(content, write):
    """60 % busy written as 0.6 would make the bill smaller than its ideal hours."""
    content["invoice"] = {"utilisation_multiplier": 0.6}
    with pytest.raises(ScenarioError, match=r"for 60% busy write 1\.667"):
        gpuladder.load(write(content))


def test_terms_stated_as_nothing_count(content, write):
    """A provider that wants no deposit would be billed one by the list."""
    content["invoice"] = {
        "providers": [{"provider": "vast-ai", "escrow_share": 0, "minimum_credit": 0}]
    }
    bill = market(invoice(scenario_of(content, write)), "pretrain", "decentralised")
    assert bill.escrow.high == 0


def test_old_list_rates_are_doubted_too(content, write):
    """Storage would be billed at a rate of years ago without a word."""
    content["campaigns"] = content["campaigns"][:1]
    content["campaigns"][0]["pools"] = ["east"]
    found = invoice(scenario_of(content, write), today=date(2030, 1, 1))
    assert [problem.code for problem in found.warnings] == ["GL-S902"]
