"""The worked sheet: answers that follow from the workload, every step with a source."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from gpuladder.errors import UsageError
from gpuladder.sizing import Interruptions, Workload, hardware, machine_of, size
from gpuladder.sizing.memory import PricedMemory, fits

H100 = machine_of(hardware("h100"), price_per_gpu_hour=3.0, spot_price_per_gpu_hour=1.2)
KEYS = [
    "gpu_hours",
    "train_flops",
    "memory_gb",
    "fabric",
    "fabric_reason",
    "fits",
    "goodput",
    "checkpoint_interval_minutes",
    "warnings",
]


def workload(mfu=0.4, **keys):
    run = {"params": 13e9, "tokens": 2e9} | keys.pop("run", {})
    return Workload.model_validate({"run": run, "mfu": mfu, **keys})


def step(sheet, name):
    return next(each for each in sheet.steps if name in each.name)


def test_thirteen_billion_on_two_billion_tokens():
    """The first number of every budget would be wrong: 6 × 13e9 × 2e9 ÷ (989e12 × 0.4 × 3,600)."""
    sheet = size(workload(), [H100])
    assert sheet.train_flops == 1.56e20
    assert sheet.gpu_hours == pytest.approx(1.56e20 / (989e12 * 0.4 * 3600))
    assert round(sheet.gpu_hours) == 110


def test_the_record_has_the_documented_keys():
    """Scripts that read the JSON would break."""
    found = size(workload(), [H100], choices=[PricedMemory("X", 80, 1.5)]).record()
    assert list(found) == KEYS
    assert found["fits"] == [{"hardware": "X", "gpus": 4, "price_per_hour": 6.0}]


def test_the_band_of_mfu_and_its_cost():
    """A budget would show one figure where the bill may be 1.57 times another."""
    sheet = size(workload({"low": 0.35, "expected": 0.45, "high": 0.55}), [H100])
    assert sheet.hours.most / sheet.hours.fewest == pytest.approx(0.55 / 0.35)
    assert step(sheet, "bill at the low").value == pytest.approx(1.57, abs=0.005)
    low = step(sheet, "compute at the low")
    assert low.value == pytest.approx(3.0 * sheet.hours.most)


def test_every_step_has_a_formula_and_a_source():
    """A reader could not check the sheet."""
    sheet = size(
        workload(
            run={"sequence": 8192, "communication_share": 0.05},
            cadence={"every": "4 weeks", "count": 6},
        ),
        [H100],
        interruptions=Interruptions(node_mtbf_hours=6000),
        storage_per_gb_month=0.023,
    )
    sections = {each.section for each in sheet.steps}
    assert sections == {
        "work",
        "memory",
        "placement",
        "cluster",
        "checkpoints",
        "market",
        "cadence",
    }
    for each in sheet.steps:
        assert each.formula
        assert each.working
        assert each.source


def test_stated_hours_that_contradict_the_workload_stop_the_sheet():
    """30,000 hours would be accepted for a run of 110."""
    with pytest.raises(UsageError, match="is 110 GPU-hours; 30,000 was given"):
        size(workload(), [H100], stated_gpu_hours=30_000)


def test_the_smallest_cluster_that_keeps_the_limit():
    """A run would be planned on a cluster that finishes too late.

    13e9 × 260e9 tokens are 14,240 GPU-hours at 40 %: 30 days (720 h) need 19.8 GPUs, so 32 in
    doublings of whole nodes.
    """
    sheet = size(workload(run={"tokens": 260e9}, time_limit="30 days"), [H100])
    assert sheet.gpus == 32
    assert sheet.run_hours == pytest.approx(sheet.gpu_hours / 32)


def test_a_limit_that_no_paying_size_keeps_is_said():
    """A time-to-train limit would be promised that no cluster keeps."""
    sheet = size(
        workload(run={"tokens": 2e13, "communication_share": 0.2}, time_limit="2 days"), [H100]
    )
    assert any(problem.code == "GL-S909" for problem in sheet.warnings)


def test_a_large_run_that_talks_constantly_needs_a_rack():
    """Tensor-parallel training of what no node holds would be placed on an ordinary network."""
    tight = size(workload(run={"params": 70e9, "communication": "constant"}), [H100])
    loose = size(workload(run={"params": 70e9}), [H100])
    assert (tight.verdict.fabric, loose.verdict.fabric) == ("rack", "node")
    assert loose.verdict.decided_by == "communication"


def test_checkpoints_of_a_cluster_that_fails():
    """Goodput would not be the plan's: Daly's optimum for 8 nodes of 800 hours, M = 100 h."""
    from gpuladder.sizing import checkpointing

    sheet = size(
        workload(),
        [H100],
        gpus=64,
        interruptions=Interruptions(write_minutes=6, restart_minutes=30, node_mtbf_hours=800),
    )
    best = checkpointing.optimal_interval_hours(100, 0.1)
    assert sheet.checkpoint_interval_minutes == pytest.approx(60 * best)
    assert sheet.goodput == pytest.approx(checkpointing.goodput(100, 0.1, 0.5, best))


def test_rollouts_have_an_mfu_of_their_own():
    """Generation, which reaches far less of peak, would be sized like training.

    8e19 FLOP of rollouts at 10 % and 4.8e19 of training at 40 % of 989 TFLOPS.
    """
    sheet = size(
        workload(
            {"expected": 0.4, "generation": 0.1},
            run={"params": 8e9, "tokens": 1e9, "generated_tokens": 5e9, "method": "rl"},
        ),
        [H100],
    )
    hour = 989e12 * 3600
    assert sheet.gpu_hours == pytest.approx(4.8e19 / (hour * 0.4) + 8e19 / (hour * 0.1))


@pytest.mark.parametrize(
    "run",
    [
        {"active_params": 20e9},
        {"layers": 40},
        {"scaling": {8: 1.0}, "communication_share": 0.1},
        {"tokens": 0},
        {"communication_share": 1.0},
    ],
)
def test_lines_that_contradict_each_other_are_refused(run):
    """A spec would be sized although two of its lines cannot both be true."""
    with pytest.raises(ValueError, match=r"run"):
        workload(run=run)


def test_a_run_that_is_interrupted_before_it_starts_is_refused():
    """A run that never advances would be given a length: a thousand nodes that fail hourly."""
    with pytest.raises(UsageError, match="GL-S912"):
        size(
            workload(),
            [H100],
            gpus=8000,
            interruptions=Interruptions(restart_minutes=30, node_mtbf_hours=1),
        )


def test_experts_do_not_make_attention_wider():
    """A mixture of experts would be guessed as deep and wide as a dense model of all its weights.

    N = 12 L d² with d = 128 L: 37e9 active are 57.3 layers of 7,337; attention 12 L d s D.
    """
    run = {"params": 671e9, "active_params": 37e9, "tokens": 1e12, "sequence": 4096}
    sheet = size(Workload.model_validate({"run": run, "mfu": 0.4}), [H100])
    layers = (37e9 / (12 * 128**2)) ** (1 / 3)
    assert sheet.run_flops.attention == pytest.approx(12 * layers * 128 * layers * 4096 * 1e12)
    working = next(step.working for step in sheet.steps if step.name.startswith("products between"))
    assert "guessed from N_active" in working
    assert "shape guessed" in sheet.footprint.items[-1].working


def test_gpus_that_do_not_hold_the_model_are_said():
    """Eight GPUs would be sized for a run of 400 billion parameters."""
    workload = Workload.model_validate({"run": {"params": 400e9, "tokens": 2e9}, "mfu": 0.4})
    found = size(workload, [H100], gpus=8).warnings
    assert [problem.code for problem in found] == ["GL-S914"]
    assert "8 × h100 of 80 GB at 0.8 usable hold 512" in found[0].what


def arithmetic(working):
    """Work out what a step prints: numbers, letters for thousands, × ÷ + and powers of ten."""
    text = working.split(", on ")[0].split(" (L and d")[0].replace(",", "")
    for letter, power in (("T", "e12"), ("B", "e9"), ("M", "e6"), ("K", "e3")):
        text = re.sub(rf"(?<=\d){letter}\b", power, text)
    text = re.sub(r"\s+of [a-z0-9-]+", "", text).replace("×", "*").replace("÷", "/")
    assert re.fullmatch(r"[\d.e+*/() -]+", re.sub(r" \d+ runs", " 1", text)), text
    return eval(text, {"__builtins__": {}})


def test_the_working_of_a_step_gives_its_value():
    """A reader who works a step out on paper would get another number than the sheet."""
    run = {
        "method": "rl",
        "params": 13e9,
        "tokens": 2e9,
        "generated_tokens": 6e9,
        "sequence": 4096,
        "layers": 40,
        "hidden": 5120,
        "recompute": "full",
    }
    band = {"low": 0.35, "expected": 0.4, "high": 0.5, "generation": 0.1}
    workload = Workload.model_validate({"run": run, "mfu": band})
    sheet = size(
        workload,
        [replace(H100, price_per_gpu_hour=3.0, relative_speed=1.0)],
        interruptions=Interruptions(node_mtbf_hours=6334),
        waste=0.1,
    )
    worked = [
        each
        for each in sheet.steps
        if each.section in ("work", "cluster") and each.working[0] in "(0123456789"
    ]
    assert len(worked) >= 9
    for step in worked:
        assert arithmetic(step.working) == pytest.approx(step.value, rel=2e-3), step.name


def test_no_node_is_larger_than_its_kind_comes_in():
    """A node of eight would be offered of a chip that comes alone."""
    choices = [PricedMemory("gh200", 96, 1.0, 1), PricedMemory("six", 80, 1.0, 6)]
    assert [(fit.hardware, fit.gpus) for fit in fits(300.0, choices)] == [("six", 6)]
    assert [(fit.hardware, fit.gpus) for fit in fits(70.0, choices)] == [("gh200", 1), ("six", 2)]
