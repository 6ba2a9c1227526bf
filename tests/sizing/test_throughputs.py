"""Measured throughputs of real training, row by row, within their printed rounding."""

from __future__ import annotations

from collections import defaultdict

import pytest
from tests.sizing.published import rows

from gpuladder.sizing import scaling, work
from gpuladder.sizing.work import Shape

# Layers and width of each MPT model (llm-foundry, scripts/train/yamls/pretrain).
SHAPES = {
    "125m": (12, 768),
    "350m": (24, 1024),
    "760m": (24, 1536),
    "1b": (24, 2048),
    "3b": (32, 2560),
    "7b": (32, 4096),
    "30b": (48, 7168),
    "70b": (80, 8192),
}
# The tables divide by 989.5 TFLOPS for an H100 in BF16, twice that in FP8, and 312 for an A100.
PEAKS = {"h100_80gb": 989.5, "a100_80gb": 312.0}
MOSAIC = rows("mosaic_mfu")


def flops_per_token(row):
    """Return the model FLOPs per token of a row, by the formulas of sizing."""
    layers, hidden = SHAPES[row["model"]]
    shape = Shape(layers, hidden, float(row["seq_len"]))
    return work.training_flops(float(row["num_params"]), 1.0, shape=shape).model


@pytest.mark.parametrize("row", MOSAIC, ids=range(len(MOSAIC)))
def test_mfu_of_a_measured_throughput(row):
    """GPU-hours would be wrong for long contexts or in FP8.

    The tables cut tokens and TFLOP/s to whole numbers, so the true throughput is between the
    printed one and one more; MFU is printed to 0.01. All 121 rows are reproduced, none left out.
    """
    peak = PEAKS[row["gpu"]] * (2 if row["precision"] == "amp_fp8" else 1)
    tokens, each = float(row["tokens_per_s_per_gpu"]), flops_per_token(row)
    printed = float(row["mfu_pct"])
    assert 100 * work.mfu_of_throughput(tokens, each, peak) <= printed + 0.005
    assert 100 * work.mfu_of_throughput(tokens + 1, each, peak) >= printed - 0.005
    teraflops = float(row["model_tflops_per_gpu"])
    assert tokens * each / 1e12 < teraflops + 1
    assert (tokens + 1) * each / 1e12 >= teraflops


@pytest.mark.parametrize("row", MOSAIC, ids=range(len(MOSAIC)))
def test_hardware_flops_with_full_recomputation_are_a_third_more(row):
    """Recomputation would be taken for useful work, or left out of the hardware's.

    Rows with recomputation print HFU = 4/3 MFU, the others HFU = MFU.
    """
    layers, hidden = SHAPES[row["model"]]
    params, shape = float(row["num_params"]), Shape(layers, hidden, float(row["seq_len"]))
    printed = float(row["mfu_pct"]), float(row["hfu_pct"])
    recompute = work.Recompute.FULL if printed[1] > printed[0] else work.Recompute.NONE
    flops = work.training_flops(params, 1.0, shape=shape, recompute=recompute)
    assert printed[0] * flops.hardware / flops.model == pytest.approx(
        printed[1], abs=0.005 + 0.005 * 4 / 3
    )


def gavel():
    """Return throughput by GPUs for each job, GPU and placement."""
    jobs = defaultdict(dict)
    for row in rows("gavel_throughput"):
        jobs[row["job"], row["gpu"], row["placement"]][int(row["num_gpus"])] = row
    return jobs


GAVEL = gavel()
DOES_NOT_RUN = {
    ("ResNet-50 (batch size 128)", "k80", "packed", size): "0 steps per second: it does not run"
    for size in (2, 4, 8)
}


@pytest.mark.parametrize("job", sorted(GAVEL), ids=" ".join)
def test_scaling_efficiency_of_a_measured_job(job):
    """A gang's `scaling` would be another than what was measured.

    Efficiency is printed to four digits and so are the throughputs it is the ratio of; the base is
    one GPU of the packed placement.
    """
    measured = GAVEL[job]
    base = float(GAVEL[job[0], job[1], "packed"][1]["steps_per_s"])
    rates = {size: float(row["steps_per_s"]) for size, row in measured.items()}
    points = {point.gpus: point for point in scaling.curve({**rates, 1: base})}
    for size, row in measured.items():
        if (*job, size) in DOES_NOT_RUN:
            assert rates[size] == 0
            continue
        found = rates[size] / (size * base) if size == 1 else points[size].efficiency
        slack = 0.00005 + found * 0.00005 * (1 / rates[size] + 1 / base)
        assert found == pytest.approx(float(row["scaling_efficiency"]), abs=slack)


def test_three_rows_of_gavel_are_left_out():
    """A row could be left out without anybody noticing."""
    rest = [row for row in rows("gavel_throughput") if float(row["steps_per_s"]) == 0]
    assert len(rest) == len(DOES_NOT_RUN) == 3
