"""Every published calculation that sizing covers, within its printed tolerance."""

from __future__ import annotations

import json
import math

import pytest
from tests.sizing.published import rows

from gpuladder.sizing import checkpointing, contracts, memory, work
from gpuladder.sizing.invoice import Amount, Bill, bill_lines, compute_cost
from gpuladder.sizing.work import Method

HOUR = 3600.0


def periods(given):
    """Return the checkpoint periods of Aupy et al. 2013, seconds; repair is downtime + recovery."""
    mean = given["mtbf_s"] / HOUR
    write = given["checkpoint_s"] / HOUR
    repair = (given["downtime_s"] + given["recovery_s"]) / HOUR
    found = {
        "young": checkpointing.young_period_hours(mean, write),
        "daly": checkpointing.daly_period_hours(mean, write, repair),
        "first_order": checkpointing.first_order_period_hours(mean, write, repair),
        "exact_optimum": checkpointing.optimal_interval_hours(mean, write) + write,
    }
    return {key: hours * HOUR for key, hours in found.items()}


def steps_between_checkpoints(given):
    mean, repair = given["mtbi_s"] / HOUR, given["mttr_s"] / HOUR
    write = given["checkpoint_s"] / HOUR
    interval = checkpointing.daly_period_hours(mean, write, repair) - write
    return {"steps": interval * HOUR / given["step_s"]}


def mean_time_of_job(given):
    rate = checkpointing.node_rate_per_hour(given["failures_per_1000_node_days"])
    hours = checkpointing.mean_hours_of_job(given["gpus"] / given["gpus_per_node"], rate)
    return {"mttf_hours": hours, "series_model_hours": hours}


def observed_interruptions(given):
    hours = checkpointing.mean_hours_observed(given["interruptions"], given["days"])
    nodes = given["gpus"] / 8
    return {
        "mtbf_hours": hours,
        "failures_per_1000_node_days": checkpointing.failures_per_1000_node_days(
            given["interruptions"], nodes, given["days"]
        ),
        "gpu_years_per_interruption": hours / 24 / 365.25 * given["gpus"],
    }


def calendar_over_ideal(given):
    from datetime import date

    days = (date.fromisoformat(given["end"]) - date.fromisoformat(given["start"])).days
    return {
        "calendar_days": days,
        "multiplier": work.utilisation_multiplier(days * 24, given["ideal_days"] * 24),
    }


def mfu_of_a_run(given):
    hours = given["days"] * 24 * given["gpus"]
    return {"mfu": work.mfu(given["flop"], hours, given["peak_flops"] / 1e12)}


def price_path(given):
    one, three = given["one_year_rate"], given["three_year_rate"]
    ratio = contracts.annual_price_ratio(one, three, 3)
    return {
        "average_rate_years_2_3": contracts.forward_rate(one, 1, three, 3),
        "annual_ratio": ratio,
        "year2": one * ratio,
        "year3": one * ratio**2,
    }


def break_even(given):
    block = contracts.break_even_utilisation(given["capacity_block"], given["on_demand"])
    reserve = contracts.break_even_utilisation(given["ri_1y_no_upfront"], given["on_demand"])
    return {
        "ri_breakeven_utilisation": reserve,
        "capacity_block_vs_od": block,
        "capacity_block_below_ri": block < reserve,
    }


def hyperscaler_table(given):
    bill = Bill(
        ideal_hours=Amount(given["ideal_hours"], given["ideal_hours"]),
        price=given["rate"],
        utilisation_multiplier=Amount(*[given["utilisation_multiplier"]] * 2),
        waste=given["failed_run_pct"] / 100,
        storage=Amount(*given["storage_egress"]),
        staff=Amount(*[given["human"]] * 2),
    )
    lines = {line.line: line.amount for line in bill_lines(bill)}
    return {
        "hours": given["ideal_hours"] * given["utilisation_multiplier"],
        "compute": lines["ideal_hours"].low + lines["utilisation_multiplier"].low,
        "failed": lines["failed_runs"].low,
        "total_range": [
            math.fsum(amount.low for amount in lines.values()),
            math.fsum(amount.high for amount in lines.values()),
        ],
    }


def sanity_of_hours(given):
    flops = work.training_flops(given["parameters"], given["tokens"]).model
    return {"h100_hours": work.gpu_hours(flops, given["h100_peak"] / 1e12, given["mfu"])}


def one_spot_run(given):
    spot = compute_cost(given["hours"], 1, given["spot_rate"])
    metered = compute_cost(given["hours"], 1, given["od_rate"])
    storage = checkpointing.storage_cost_per_month(
        given["storage_gb"], given["storage_per_gb_month"]
    )
    return {
        "spot_run": spot,
        "od_run": metered,
        "saved": metered - spot,
        "storage": storage,
        "spot_plus_storage": spot + storage,
        "discount": 1 - spot / metered,
    }


def memory_rules(given):
    params = given["parameters_b"] * 1e9
    found = {
        key: memory.fine_tuning_footprint(method, params, given["bytes"]).total_gb
        for key, method in (("lora_gb", Method.LORA), ("full_finetune_gb", Method.FULL_FINETUNE))
    }
    return {"weights_gb": params * given["bytes"] / memory.BYTES_PER_GB, **found}


def lost_work(given):
    interval, mean = given["interval_min"] / 60, given["mtbi_min"] / 60
    return {
        "loss_min": checkpointing.lost_hours(interval) * 60,
        "fraction": checkpointing.lost_share(interval, mean),
    }


def equivalent_gpus(given):
    busy = work.busy_gpus(given["gpus"], given["util_before"])
    return {"effective": busy, "needed_after": work.gpus_needed(busy, given["util_after"])}


def expected_training_time(given):
    rate = given["nodes"] * given["failures_per_node_day"] / 24
    return {
        "etr": checkpointing.first_order_goodput(
            1 / rate,
            given["checkpoint_s"] / HOUR,
            given["restart_s"] / HOUR,
            given["interval_s"] / HOUR,
        )
    }


FORMULAS = {
    "aws_odcr_billing": lambda g: {"total": contracts.reservation_cost(g["rate"], g["hours"])},
    "aupy_1024": periods,
    "aupy_4096": periods,
    "aupy_8192": periods,
    "aupy_32768": periods,
    "aupy_131072": periods,
    "young_daly_blog": steps_between_checkpoints,
    "meta_mttf_16384": mean_time_of_job,
    "meta_mttf_1024_counterexample": mean_time_of_job,
    "llama3_mtbf": observed_interruptions,
    "opt_ideal_vs_real": calendar_over_ideal,
    "opt_mfu": mfu_of_a_run,
    "bloom_eta": lambda g: {
        "days": work.remaining_days(g["iterations_left"], g["seconds_per_iteration"])
    },
    "bloom_ckpt_bytes": lambda g: {
        "GiB": memory.checkpoint_gib(g["parameters"], g["bytes_per_parameter"])
    },
    "h100_forward_price": price_path,
    "p4d_breakeven_2026": break_even,
    "article1_table_hyperscaler": hyperscaler_table,
    "article1_sanity_flops": sanity_of_hours,
    "article2_spot_run": one_spot_run,
    "article2_memory_rule": memory_rules,
    "article4_effective_spot": lambda g: {
        "effective": checkpointing.effective_price(g["price_fraction"], g["lost_fraction"])
    },
    "article4_lost_work": lost_work,
    "article4_utilisation": equivalent_gpus,
    "article0_mfu": lambda g: {"ratio": work.bill_ratio(g["mfu_a"], g["mfu_b"])},
    "stas_mfu": lambda g: {
        key: work.mfu_of_throughput(1.0, achieved * 1e12, peak)
        for key, (achieved, peak) in g.items()
    },
    "etr_formula": expected_training_time,
}
NOT_REPRODUCED = {
    "aws_sp_1": "settlement of a commitment in money: no part of sizing",
    "aws_sp_2": "settlement of a commitment in money: no part of sizing",
    "aws_sp_3": "settlement of a commitment in money: no part of sizing",
    "llama3_table5_sum": "a check of the table's own sum; its rows are held below in reliability",
    "aws_p5_cut": "an announced price cut: price data, nothing is worked out from it",
    "online_ratio": "competitive ratio of an online buying policy: not a size",
}
KEYS_NOT_REPRODUCED = {
    ("meta_mttf_1024_counterexample", "measured_mttf_hours"): "measured; shows the model's limit",
    ("article1_table_hyperscaler", "printed_total"): "printed as 250,000; its lines add to less",
    ("article1_sanity_flops", "stated_hours"): "the input that is contradicted",
    ("article4_utilisation", "printed"): "words",
    ("article0_mfu", "printed"): "1.571 rounded to 1.6",
}
EXAMPLES = {row["id"]: row for row in rows("worked_examples")}


@pytest.mark.parametrize("name", sorted(FORMULAS))
def test_a_published_calculation_comes_out(name):
    """A formula would differ from the source it names."""
    row = EXAMPLES[name]
    expected = json.loads(row["expected"])
    found = FORMULAS[name](json.loads(row["inputs"]))
    for key, value in expected.items():
        if (name, key) not in KEYS_NOT_REPRODUCED:
            # A tolerance of 0 says exact; the sums are of floats.
            tolerance = max(float(row["tolerance"]), 1e-9)
            assert found[key] == pytest.approx(value, abs=tolerance), key


def test_every_row_is_reproduced_or_has_a_reason():
    """A published row could be left out without anybody noticing."""
    assert set(FORMULAS) | set(NOT_REPRODUCED) == set(EXAMPLES)
    assert not set(FORMULAS) & set(NOT_REPRODUCED)
    assert all(len(reason) > 10 for reason in NOT_REPRODUCED.values())
