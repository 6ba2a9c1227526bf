"""Price lists: one unit, no price of nothing, and every offer such that a scenario takes it."""

from __future__ import annotations

from datetime import date

import pytest

from gpuladder.cli.codes import CODES
from gpuladder.errors import UsageError
from gpuladder.review.imports.prices.layouts import read_price_columns
from gpuladder.review.imports.prices.listing import PriceOptions
from gpuladder.review.imports.prices.outliers import is_outlier, peer_medians
from gpuladder.review.imports.prices.reading import import_prices
from gpuladder.review.imports.prices.statements import (
    read_node_gpus,
    read_offer_keys,
    read_values,
)
from gpuladder.review.imports.rows import TableOptions

TODAY = date(2026, 6, 1)
SPOT = {"spot": {"max_gpus": "64"}}


@pytest.fixture
def prices(tmp_path):
    """Write a list and read it."""

    def read(text, *, layout="auto", today=TODAY, table=None, **options):
        path = tmp_path / "prices.csv"
        path.write_text(text, encoding="utf-8")
        said = PriceOptions(table=table or TableOptions(), **options)
        return import_prices(path, layout=layout, options=said, today=today)

    return read


def refusal(read, text, **more):
    with pytest.raises(UsageError) as caught:
        read(text, **more)
    assert {problem.code for problem in caught.value.problems} <= set(CODES)
    return "\n".join(problem.text for problem in caught.value.problems)


def by_id(found):
    return {row["id"]: row for row in found.offers}


PLAIN = "provider,region,hardware,kind,price\nacme,east,H100,on-demand,24\n"
STATED = {"currency": "USD", "as_of": date(2026, 5, 24)}


def test_what_a_price_is_of_has_to_be_stated(prices):
    """A node of eight taken for one GPU would be eight times too dear, without a word."""
    assert "--per" in refusal(prices, PLAIN, **STATED)
    assert "--currency" in refusal(prices, PLAIN, per="gpu", as_of=date(2026, 5, 24))
    assert "--as-of" in refusal(prices, PLAIN, per="gpu", currency="USD")


def test_a_node_price_is_divided_by_its_gpus_as_stated(prices):
    """24.00 per node of eight is 3.00 per GPU-hour; without the GPUs there is no price."""
    found = prices(PLAIN, per="node", node_gpus=read_node_gpus(["8"]), **STATED)
    assert by_id(found)["acme-east-h100-on-demand"]["price"] == 3.0
    (source,) = found.sources
    assert (source.place, source.listed, source.gpus, source.per) == (2, 24, 8, "node")
    assert "how many GPUs the node has" in refusal(prices, PLAIN, per="node", **STATED)
    per_gpu = prices(PLAIN, per="gpu", **STATED)
    assert by_id(per_gpu)["acme-east-h100-on-demand"]["price"] == 24.0


def test_published_prices_of_capacity_blocks(prices):
    """AWS Capacity Blocks of p5.48xlarge, eight H100, by node: 31.464 then 41.528 (July 2026).

    By GPU 3.933 and 5.191: a price path with both dates, and no price of the unknown region.
    """
    text = (
        "snapshot,instance_type,accelerator,accelerators,region_code,usd_per_instance_hour\n"
        "2026-01-31,p5.48xlarge,H100,8,us-east-1,31.464\n"
        "2026-03-01,p5.48xlarge,H100,8,us-east-1,31.464\n"
        "2026-07-22,p5.48xlarge,H100,8,us-east-1,41.528\n"
        "2026-03-01,p5.48xlarge,H100,8,unknown,31.464\n"
    )
    keys = read_offer_keys(["burst_window.tenor=[1 days, 14 days]"])
    found = prices(text, offer_keys=keys, today=date(2026, 8, 1))
    assert found.layout == "capacity-blocks"
    (offer,) = found.offers
    assert offer["price_path"] == [
        {"from": "2026-01-31", "price": 3.933},
        {"from": "2026-07-22", "price": 5.191},
    ]
    assert (offer["kind"], offer["lot_gpus"], offer["tenor"]) == (
        "burst_window",
        8,
        ["1 days", "14 days"],
    )
    assert offer["available_from"] == "2026-01-31"
    assert [(each.place, each.reason) for each in found.refused] == [(5, "its region is unknown")]
    assert (found.rows.kept, found.rows.dropped) == (3, 1)


def test_two_prices_of_a_row_are_two_offers(prices):
    """AWS p4d.24xlarge, us-east-1, January 2026: 21.957642 on demand, 13.921094 for a year.

    A row without the second price is one offer, and not one at zero.
    """
    text = (
        "as_of,instance_type,gpu,gpus,region,usd_hour_on_demand,usd_hour_ri_1y_standard_no_upfront\n"
        "2026-01-21,p4d.24xlarge,NVIDIA A100,8,us-east-1,21.957642,13.921094\n"
        "2026-01-21,p5.48xlarge,NVIDIA H100,8,us-east-1,55.04,\n"
        "2026-01-21,g6f.large,NVIDIA L4,0,us-east-1,0.2,\n"
    )
    found = prices(text)
    assert {row["id"]: row["price"] for row in found.offers} == {
        "aws-us-east-1-nvidia-a100-p4d.24xlarge-on-demand": 2.744705,
        "aws-us-east-1-nvidia-a100-p4d.24xlarge-reserved-1-years": 1.740137,
        "aws-us-east-1-nvidia-h100-p5.48xlarge-on-demand": 6.88,
    }
    reserved = next(row for row in found.offers if row["kind"] == "reserved")
    assert (reserved["tenor"], reserved["lot_gpus"]) == ("1 years", 8)
    assert (found.rows.kept, found.rows.dropped) == (2, 1)


def test_prices_of_zero_are_refused_with_their_rows(prices):
    """Reserved-capacity SKUs are listed at 0.0; a free GPU would take over every plan."""
    text = (
        "instance_type,region,usd_hour_on_demand\ng4dn.12xlarge,af-south-1,0.0\n"
        "g4dn.12xlarge,us-west-1,0.0\n"
    )
    message = refusal(prices, text, as_of=date(2025, 3, 2))
    assert "line 2, aws af-south-1 g4dn.12xlarge on_demand: 0" in message
    assert "line 3, aws us-west-1" in message
    some = prices(
        f"{text}p5.48xlarge,us-east-1,98.32\n",
        as_of=date(2025, 3, 2),
        node_gpus=read_node_gpus(["p5.48xlarge=8"]),
    )
    assert [each.place for each in some.refused] == [2, 3]
    assert [row["price"] for row in some.offers] == [12.29]
    assert "GL-I052" in {warning.code for warning in some.warnings}


def test_spells_become_a_price_path(prices):
    """Prices that moved while nobody looked: each spell from its first day, the end when it left.

    lambda's B200 is no longer listed after 10 July, so it cannot be used from the 11th on.
    """
    text = (
        "provider,gpu,vram_gb,kind,min_gpus,usd_gpu_hour,first_day,last_day\n"
        "lambda,h100,80,on-demand,1,2.49,2026-07-05,2026-07-19\n"
        "lambda,h100,80,on-demand,1,2.99,2026-07-20,2026-08-22\n"
        "lambda,b200,180,secure,8,4.99,2026-07-05,2026-07-10\n"
        "runner,h100,80,serverless,1,6.5,2026-07-05,2026-08-22\n"
        "lambda,h100,80,spot,1,1.49,2026-07-05,2026-08-22\n"
    )
    found = prices(text, offer_keys=SPOT, today=date(2026, 8, 23))
    assert found.layout == "gpu-rental-prices"
    offers = by_id(found)
    assert offers["lambda-h100-80gb-on-demand"]["price_path"] == [
        {"from": "2026-07-05", "price": 2.49},
        {"from": "2026-07-20", "price": 2.99},
    ]
    assert offers["lambda-b200-180gb-on-demand-min-8"]["available_until"] == "2026-07-11"
    assert "available_until" not in offers["lambda-h100-80gb-spot"]
    assert offers["lambda-h100-80gb-spot"]["max_gpus"] == 64
    assert [each.reason for each in found.refused] == ["nothing to train on: serverless"]


def test_offers_that_a_scenario_would_refuse_say_what_they_lack(prices):
    """No list says how deep a spot market is; an invented depth would be an invented plan."""
    text = PLAIN + "acme,east,H100,spot,12\nacme,east,H100,reserved,10\n"
    found = prices(text, per="gpu", **STATED)
    reasons = {each.place: each.reason for each in found.refused}
    assert "--offer spot.max_gpus=…" in reasons[3]
    assert "lot_gpus, tenor" in reasons[4]
    keys = read_offer_keys(["spot.max_gpus=64", "reserved.tenor=1 years", "reserved.lot_gpus=8"])
    assert len(prices(text, per="gpu", offer_keys=keys, **STATED).offers) == 3


def test_a_price_far_from_all_others_is_refused(prices):
    """Among four prices of one GPU near 2, one of 16 is the price of a node.

    The others of 16.0 are 2.0, 2.2, 1.8 and 2.1: median 2.05, 7.8 times.
    """
    rows = "".join(
        f"p{number},east,H100,on_demand,{price}\n"
        for number, price in enumerate((2.0, 2.2, 1.8, 16.0, 2.1))
    )
    text = f"provider,region,hardware,kind,price\n{rows}"
    found = prices(text, per="gpu", **STATED)
    (refused,) = found.refused
    assert (refused.place, refused.listed) == (5, "16")
    assert "2.05 is the median of the 4 others" in refused.detail
    assert len(prices(text, per="gpu", outlier_factor=10, **STATED).offers) == 5


def test_medians_leave_the_price_itself_out():
    """A price compared with itself would pull the median towards it; too few say nothing."""
    assert peer_medians([1.0, 2.0, 4.0, 9.0, 9.0]) == [6.5, 6.5, 5.5, 3.0, 3.0]
    assert peer_medians([1.0, 100.0, 1.0]) == [None] * 3
    assert [is_outlier(price, 2.0) for price in (0.4, 0.41, 9.9, 10.0)] == [
        True,
        False,
        False,
        True,
    ]


def test_a_whole_list_in_another_unit_is_doubted(prices):
    """Every price a node's, read as a GPU's, has no outlier; the catalogue knows H100 better."""
    found = prices(PLAIN, per="gpu", **STATED)
    assert any(each.where == "h100" and "catalogue" in each.what for each in found.warnings)
    right = prices(PLAIN, per="node", node_gpus=read_node_gpus(["8"]), **STATED)
    assert not any("catalogue" in each.what for each in right.warnings)


def test_old_prices_are_doubted(prices):
    """A plan on prices of last year would be signed on what nobody offers any more."""
    codes = {
        days: {each.code for each in prices(PLAIN, per="gpu", today=day, **STATED).warnings}
        for days, day in ((90, date(2026, 8, 22)), (91, date(2026, 8, 23)))
    }
    assert "GL-I053" not in codes[90]
    assert "GL-I053" in codes[91]


def test_the_lower_of_two_prices_of_one_day_counts(prices):
    """A buyer takes the cheaper one; that there were two is said."""
    found = prices(PLAIN + "acme,east,H100,on-demand,20\n", per="gpu", **STATED)
    assert [row["price"] for row in found.offers] == [20]
    assert [each.place for each in found.refused] == [2]
    assert (found.rows.kept, found.rows.dropped) == (1, 1)


def test_grades_of_service_are_offers_of_their_own(prices):
    """A host's machine and a data centre's are not the same offer at two prices."""
    text = (
        "collected_at,provider,gpu_model,vram_gb,tier,is_spot,usd_gpu_hour\n"
        "2026-05-24,pod,NVIDIA A100 SXM,80,secure,False,1.49\n"
        "2026-05-24,pod,NVIDIA A100 SXM,80,community,False,1.39\n"
        "2026-05-24,pod,NVIDIA A100 SXM,80,on-demand,False,1.59\n"
    )
    assert sorted(by_id(prices(text))) == [
        "pod-nvidia-a100-sxm-80gb-on-demand",
        "pod-nvidia-a100-sxm-80gb-on-demand-community",
        "pod-nvidia-a100-sxm-80gb-on-demand-secure",
    ]


def test_several_currencies_are_refused_or_chosen(prices):
    """Yuan beside dollars in one scenario would be seven times off."""
    text = PLAIN.replace("price\n", "price,currency\n").replace("24\n", "24,USD\n")
    text += "acme,west,H100,on-demand,170,CNY\n"
    day = {"as_of": date(2026, 5, 24), "per": "gpu"}
    assert "several currencies: CNY, USD" in refusal(prices, text, **day)
    found = prices(text, currency="CNY", **day)
    assert (found.currency, [row["price"] for row in found.offers]) == ("CNY", [170])


def test_odd_rows_are_refused_or_dropped_each_for_a_reason(prices):
    """One odd row must neither end the import nor slip through."""
    text = PLAIN + (
        "acme,east,H100,on-demand,-3\n"
        'acme,east,H100,on-demand,"2,50"\n'
        "acme,east,H100,maybe,3\n"
        "acme,east,,on-demand,3\n"
        "acme,east,H100,on-demand,\n"
        "acme,east,H100,on-demand,null\n"
    )
    found = prices(text, per="gpu", **STATED)
    assert (found.rows.read, found.rows.kept, found.rows.dropped) == (7, 1, 6)
    assert [each.place for each in found.refused] == [3, 5, 6]


def test_columns_of_prices_can_be_named(prices):
    """A sheet of one's own has its own column names; a term belongs to its column."""
    text = "gpu,list,committed\nB200,6,4\n"
    columns = read_price_columns(["list=on_demand", "committed=reserved:12 months"])
    found = prices(
        text,
        per="gpu",
        prices=columns,
        values=read_values(["provider=acme"]),
        offer_keys=read_offer_keys(["reserved.lot_gpus=8"]),
        **STATED,
    )
    assert {row["id"]: row["price"] for row in found.offers} == {
        "acme-b200-on-demand": 6,
        "acme-b200-reserved-12-months": 4,
    }


def test_a_list_without_prices_says_how_to_name_them(prices):
    """The analyst has to know which option names the column."""
    text = PLAIN.replace("price", "cost")
    assert "--price-column" in refusal(prices, text, per="gpu", **STATED)


def test_reserved_terms_by_years_and_payment(prices):
    """Lists of reservations have a row for each term and way to pay; paid in advance is upfront."""
    text = (
        "instance_type,gpus,region,term_years,payment,effective_hour\n"
        "p2.16xlarge,16,us-east-1,1,allUpfront,9.12\np2.16xlarge,16,us-east-1,3,noUpfront,7.2\n"
    )
    found = prices(
        text,
        per="node",
        prices=read_price_columns(["effective_hour=reserved"]),
        values=read_values(["provider=aws"]),
        **STATED,
    )
    terms = {(row["tenor"], row["upfront"], row["price"]) for row in found.offers}
    assert terms == {("1 years", 1.0, 0.57), ("3 years", 0.0, 0.45)}


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (read_node_gpus, "0"),
        (read_node_gpus, "=8"),
        (read_values, "colour=red"),
        (read_values, "gpus=eight"),
        (read_offer_keys, "spot.depth=8"),
        (read_offer_keys, "lease.price=8"),
        (read_price_columns, "x=maybe"),
    ],
)
def test_statements_written_wrongly_are_refused(read, text):
    """A statement that nothing reads would count for nothing, without a word."""
    with pytest.raises(UsageError, match="GL-I051"):
        read([text])
