"""Failure, checkpoint and MFU figures of real runs, within their printed rounding."""

from __future__ import annotations

import math

import pytest
from tests.sizing.published import rows

from gpuladder.sizing import catalogue, checkpointing, memory, work

FACTS = {(row["system"], row["gpus"], row["metric"]): row for row in rows("reliability_facts")}
H100, A100, V100 = 989.0, 312.0, 125.0


def meta_job_hours(gpus):
    """Mean time to failure of a job at RSC-1's 6.5 failures per 1,000 node-days, 8 GPUs a node."""
    rate = checkpointing.node_rate_per_hour(6.5)
    return checkpointing.mean_hours_of_job(gpus / 8, rate)


REPRODUCED = {
    # 147 TFLOP/s per GPU (Epoch AI's note) for 4.3e23 FLOP on 1,024 GPUs.
    ("OPT-175B", "1024", "ideal_training_days"): (
        lambda: work.gpu_hours(4.3e23, 147.0, 1.0) / 1024 / 24,
        0.5,
    ),
    # Thousand GiB, as the chronicle counts: 14 bytes × 176e9.
    ("BLOOM-176B", "384", "checkpoint_size"): (
        lambda: memory.checkpoint_gib(176e9, 14) / 1000,
        0.05,
    ),
    # 12 minutes of evaluation every 1,000 iterations of 105 s, no failures.
    ("BLOOM-176B", "384", "eval_overhead"): (
        lambda: 100 * (1 - checkpointing.goodput(math.inf, 0.2, 0, 1000 * 105 / 3600)),
        0.05,
    ),
    # TFLOP/s are printed in tens: 5 of 989 are half a point on top of the rounding of the share.
    ("Llama 3 405B", "8192", "mfu"): (
        lambda: 100 * work.mfu_of_throughput(1, 430e12, H100),
        0.5 + 100 * 5 / H100,
    ),
    ("Llama 3 405B", "16384", "mfu"): (
        lambda: 100 * work.mfu_of_throughput(1, 400e12, H100),
        0.5 + 100 * 5 / H100,
    ),
    ("Llama 3 405B", "16384", "mfu_long_context"): (
        lambda: 100 * work.mfu_of_throughput(1, 380e12, H100),
        0.5 + 100 * 5 / H100,
    ),
    ("Meta RSC", "16384", "mttf_projected"): (lambda: meta_job_hours(16384), 0.05),
    ("Meta RSC", "131072", "mttf_projected"): (lambda: meta_job_hours(131072), 0.005),
    # About 205 failures in four months.
    ("Crusoe cluster", "1600", "system_mtti"): (
        lambda: checkpointing.mean_hours_observed(205, 365 / 3),
        0.5,
    ),
    # 3.14e23 FLOP at the MFU of 0.1968 in Epoch AI's table.
    ("GPT-3 175B", "10000", "training_days"): (
        lambda: work.gpu_hours(3.14e23, V100, 0.1968) / 10000 / 24,
        0.05,
    ),
}
OBSERVED = "observed, not worked out from anything in the row"
NO_WORK = "neither FLOP nor throughput in the row"
NOT_REPRODUCED = {
    ("OPT-175B", "1024", "actual_days"): OBSERVED,
    ("OPT-175B", "992", "manual_restarts_hw"): OBSERVED,
    ("OPT-175B", "992", "automatic_restarts_hw"): OBSERVED,
    ("OPT-175B", "992", "hosts_cycled"): OBSERVED,
    ("OPT-175B", "1024", "restarts_total_12xx"): OBSERVED,
    ("OPT-175B", "1024", "machines_down_per_day"): OBSERVED,
    ("OPT-175B", "1024", "buffer_nodes"): OBSERVED,
    ("OPT-175B", "1024", "longest_runs_days"): OBSERVED,
    ("OPT-175B", "1024", "checkpoint_size"): "992 files of about 1.7 GB are 1.69 TB, 1.6 printed",
    ("OPT-175B", "1024", "training_flop"): "tokens are not in the row; it is an input above",
    ("BLOOM-176B", "384", "nodes_in_use"): OBSERVED,
    ("BLOOM-176B", "384", "failure_interval_days"): OBSERVED,
    ("BLOOM-176B", "384", "checkpoint_save_seconds"): OBSERVED,
    ("BLOOM-176B", "384", "iteration_seconds"): OBSERVED,
    ("BLOOM-176B", "384", "checkpoint_interval_iterations"): "three settings, not a figure",
    ("BLOOM-176B", "384", "tflops_per_gpu"): "tokens per iteration are not in the row",
    ("BLOOM-176B", "384", "throughput_drop_slow_gpu"): "149 to 140 is 6 %, 5 printed",
    ("BLOOM-176B", "384", "training_days"): OBSERVED,
    ("Llama 3 405B", "16384", "unexpected_interruptions"): OBSERVED,
    ("Llama 3 405B", "16384", "planned_interruptions"): OBSERVED,
    ("Llama 3 405B", "16384", "window_days"): OBSERVED,
    ("Llama 3 405B", "16384", "effective_training_time"): "a bound, higher than 90 %",
    ("Llama 3 405B", "16384", "manual_interventions"): OBSERVED,
    ("Llama 3 405B", "16384", "hardware_share_of_interruptions"): OBSERVED,
    ("Meta production", "32768", "unexpected_interruptions_classified"): OBSERVED,
    ("Meta RSC-1", "16384", "failures_per_1000_node_days"): OBSERVED,
    ("Meta RSC-2", "8192", "failures_per_1000_node_days"): OBSERVED,
    ("Meta RSC", "1024", "mttf_measured"): "measured: small jobs fail 3.7 times more than hardware",
    ("Meta RSC-1", "", "jobs_failed_share"): OBSERVED,
    ("Meta RSC-1", "", "jobs_preempted_share"): OBSERVED,
    ("Meta RSC-1", "", "jobs_requeued_share"): OBSERVED,
    ("MegaScale run", "10000", "restarts"): OBSERVED,
    ("MegaScale run", "10000", "faults_auto_fixed"): OBSERVED,
    ("MegaScale run", "10000", "detect_and_diagnose_minutes"): OBSERVED,
    ("MegaScale run", "10000", "catch_up_minutes"): OBSERVED,
    ("ByteDance fleet", "", "incidents"): OBSERVED,
    ("Falcon-180B", "4096", "mfu"): NO_WORK,
    ("PaLM 540B", "6144", "mfu"): NO_WORK,
    ("Megatron-Turing 530B", "4480", "mfu"): NO_WORK,
    ("Gopher 280B", "4096", "mfu"): NO_WORK,
    ("Nemotron-4 340B", "6144", "mfu"): NO_WORK,
    ("DeepSeek-V3", "2048", "gpu_hours"): "trained in FP8, its MFU is not in the row",
}


@pytest.mark.parametrize("key", sorted(REPRODUCED), ids=" ".join)
def test_a_published_figure_comes_out(key):
    """A formula would miss what a real run reported."""
    formula, rounding = REPRODUCED[key]
    assert formula() == pytest.approx(float(FACTS[key]["value"]), abs=rounding)


def test_every_fact_is_reproduced_or_has_a_reason():
    """A published row could be left out without anybody noticing."""
    assert set(REPRODUCED) | set(NOT_REPRODUCED) == set(FACTS)
    assert not set(REPRODUCED) & set(NOT_REPRODUCED)


def test_rates_by_cause_add_up_to_the_rate_of_the_system():
    """Failures by cause would not be comparable with the failure rate a plan uses.

    Llama 3, table 5: 419 interruptions of 2,048 nodes in 54 days by cause. The first row is left
    out: the paper prints 30.1 % for 148 of 419, which is 35.3 %.
    """
    causes = rows("llama3_table5")

    def rate(count):
        return checkpointing.failures_per_1000_node_days(count, 2048, 54)

    total = rate(419)
    assert sum(rate(float(row["interruptions"])) for row in causes) == pytest.approx(total)
    for row in causes[1:]:
        share = 100 * rate(float(row["interruptions"])) / total
        assert share == pytest.approx(float(row["printed_pct"]), abs=0.05), row["component"]
    assert 100 * rate(148) / total == pytest.approx(35.3, abs=0.05)


LOG_ONLY = "an entry of a log: no interval, rate or price in the row from which hours follow"
TIMELINE_NOT_REPRODUCED = {
    ("2022-03-11", "launch"): LOG_ONLY,
    ("2022-03-18", "full batch size reached"): "tokens per iteration are not in the row",
    ("2022-03-22", "site maintenance"): "the interval's change, without hours lost",
    ("2022-04-28", "one slow GPU"): "a throughput observed; 149 to 140 is 6 %",
    ("2022-04-30", "hang at evaluation"): LOG_ONLY,
    ("2022-05-09", "hang at evaluation again"): LOG_ONLY,
    ("2022-05-18", "hang at evaluation again"): LOG_ONLY,
    ("2022-06-28", "first pass over all data finished"): LOG_ONLY,
    ("2022-07-04", "allocation of 52 nodes expired"): "a conversion's length, observed",
}
TIMELINE_REPRODUCED = {
    # Almost a whole interval of 250 iterations, each of 105 s (see the facts).
    ("2022-03-21", "GPU crash"): (250 * 105 / 3600, 0.05),
    # At most a whole interval of 100; printed in whole hours.
    ("2022-04", "weekly GPU failures"): (100 * 105 / 3600, 0.5),
}
SECOND_HAND = (
    "reported second-hand without a source of its own: no price of the catalogue rests on it"
)


def test_every_event_of_a_long_run_is_reproduced_or_has_a_reason():
    """Hours lost in a real run could be left out without anybody noticing."""
    events = {(row["date"], row["event"]): row for row in rows("bloom_timeline")}
    assert set(TIMELINE_REPRODUCED) | set(TIMELINE_NOT_REPRODUCED) == set(events)
    assert not set(TIMELINE_REPRODUCED) & set(TIMELINE_NOT_REPRODUCED)
    for key, (hours, rounding) in TIMELINE_REPRODUCED.items():
        assert hours == pytest.approx(float(events[key]["hours_lost_about"]), abs=rounding)


def test_second_hand_prices_are_listed_and_not_used():
    """A price that nobody can check could slip into the catalogue."""
    points = rows("h100_market_points_secondary")
    reasons = {(row["when"], row["contract"]): SECOND_HAND for row in points}
    assert len(reasons) == len(points) == 7
    shipped = [quote for quote in catalogue.price_rows().values() if quote.hardware == "h100"]
    assert shipped
    assert not any("second-hand" in quote.source for quote in shipped)
