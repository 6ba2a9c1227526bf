"""A workload on the line: every key of the seven lines counts, or its owner is told."""

from __future__ import annotations

import re
from datetime import date, timedelta

import pytest

from gpuladder.cli.size_flags import OPTIONS
from gpuladder.errors import UsageError
from gpuladder.sizing import catalogue, spec
from gpuladder.sizing.line import DEFAULT_MFU, Question, size_line
from gpuladder.sizing.memory import PricedMemory
from gpuladder.sizing.work import Method

TODAY = date(2026, 6, 1)
METHODS = [method.value for method in Method]
FINE_TUNES = [name for name in METHODS if name != "pretraining"]
BASE = {"run": {"params": 13e9, "tokens": 2e9}, "mfu": 0.4}
SHAPE = {"layers": 40, "hidden": 5120}


def sized(workload, **question):
    return size_line(Question.model_validate({"workload": workload, **question}), today=TODAY)


def laid_over(base, change):
    """Return nested mappings with others laid over them."""
    both = isinstance(base, dict) and isinstance(change, dict)
    if not both:
        return change
    return {**base, **{key: laid_over(base.get(key), value) for key, value in change.items()}}


def answers(sheet):
    """Return all that a sheet says but its warnings."""
    return [
        (step.section, step.name, step.working, step.value, step.source) for step in sheet.steps
    ], {key: value for key, value in sheet.record().items() if key != "warnings"}


CHANGES = {
    "run.active_params": {"run": {"active_params": 3e9}},
    "run.generated_tokens": {"run": {"generated_tokens": 1e9}},
    "run.layers": {"run": SHAPE},
    "run.hidden": {"run": {"layers": 20, "hidden": 7240}},
    "run.heads": {"run": {**SHAPE, "heads": 64}},
    "run.sequence": {"run": {"sequence": 512}},
    "run.micro_batch": {"run": {"micro_batch": 2}},
    "run.recompute": {"run": {"recompute": "none"}},
    "run.recompute (full)": {"run": {"recompute": "full"}},
    "run.weight_bytes": {"run": {"weight_bytes": 1}},
    "run.usable_share": {"run": {"usable_share": 0.9}},
    "run.communication": {"run": {"communication": "constant"}},
    "run.scaling": {"run": {"scaling": {8: 1.0, 16: 1.5}}},
    "run.scaling (one size)": {"run": {"scaling": {8: 1.0}}},
    "run.communication_share": {"run": {"communication_share": 0.1}},
    "run.runs": {"run": {"runs": 3}},
    "cadence": {"cadence": {"every": "4 weeks", "count": 2}},
    "time_limit": {"time_limit": "3 days"},
    "preemption": {"preemption": "never"},
    "checkpoints.interval_minutes": {"checkpoints": {"interval_minutes": 60}},
    "checkpoints.write_minutes": {"checkpoints": {"write_minutes": 6}},
    "checkpoints.restart_minutes": {"checkpoints": {"restart_minutes": 16}},
    "checkpoints.node_mtbf_hours": {"checkpoints": {"node_mtbf_hours": 1000}},
    "checkpoints.size_gb": {"checkpoints": {"size_gb": 100}},
    "checkpoints.kept": {"checkpoints": {"kept": 2}},
    "mfu.low": {"mfu": {"low": 0.3, "expected": 0.4}},
    "mfu.high": {"mfu": {"high": 0.5, "expected": 0.4}},
    "mfu.generation": {"mfu": {"generation": 0.1, "expected": 0.4}},
    "mfu.hardware": {"mfu": {"hardware": "a100", "expected": 0.4}},
    "placement.hardware": {"placement": {"hardware": ["a100"]}},
    "placement.providers": {"placement": {"providers": ["aws"]}},
    "placement.residency": {"placement": {"residency": ["eu"]}},
    "placement.verified": {"placement": {"verified": True}},
}
"""One change for each key of a workload, to something that is not its default."""


def test_every_key_of_a_workload_is_changed_below():
    """A key could be added that nothing reads, and no test would find it."""
    records = {
        "run": spec.Run,
        "checkpoints": spec.Checkpoints,
        "mfu": spec.MfuBand,
        "placement": spec.Placement,
    }
    keys = {f"{line}.{name}" for line, record in records.items() for name in record.model_fields}
    keys |= {name for name in spec.Workload.model_fields if name not in records}
    needed = {"run.method", "run.params", "run.tokens", "mfu.expected"}
    assert keys - needed == {name.partition(" ")[0] for name in CHANGES}


@pytest.mark.parametrize("context", [{}, {"run": {"sequence": 4096}}], ids=["short", "context"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", CHANGES)
def test_a_key_moves_the_sheet_or_its_owner_is_told(name, method, context):
    """A line could be written that changes nothing, and its owner would think it counted."""
    base = laid_over(laid_over(BASE, {"run": {"method": method}}), context)
    if method == "rl":
        base = laid_over(base, {"run": {"generated_tokens": 2e9}})
    if name == "run.heads":
        base = laid_over(base, {"run": SHAPE})
    before = sized(base)
    after = sized(laid_over(base, CHANGES[name]))
    said = {problem.what for problem in after.warnings} - {item.what for item in before.warnings}
    if answers(before) == answers(after):
        key = name.partition(" ")[0].rpartition(".")[2]
        assert any(f"{key}`" in what for what in said), said


@pytest.mark.parametrize("method", FINE_TUNES)
@pytest.mark.parametrize(
    ("keys", "named"),
    [
        ({"micro_batch": 64}, "micro_batch"),
        ({"micro_batch": 64, "sequence": 2048}, "micro_batch"),
        ({"heads": 40}, "heads"),
        ({"heads": 40, "sequence": 2048}, "heads"),
        ({"recompute": "full"}, "recompute"),
        (SHAPE, "layers"),
    ],
)
def test_keys_that_a_rule_of_thumb_does_not_read(method, keys, named):
    """A batch of 64 would be asked for, and the memory be that of any other."""
    run = {"method": method, "params": 13e9, "tokens": 2e9, "generated_tokens": 0, **keys}
    (found,) = (
        problem for problem in sized({"run": run, "mfu": 0.4}).warnings if problem.code == "GL-S918"
    )
    assert f"`{named}`" in found.what
    assert "rule of thumb" in found.why
    assert " GB" in found.why


def test_the_arithmetic_of_a_batch_beside_a_rule():
    """The warning would not say how much memory is missing.

    LoRA of 13e9: 26 GB of weights × 1.25 are 32.5. Activations of 8 × 2,048 tokens, 40 layers of
    5,120 at 34 bytes: 8 × 2048 × 5120 × 40 × 34 = 114.1 GB.
    """
    run = {"method": "lora", "params": 13e9, "tokens": 2e9, "micro_batch": 8, "sequence": 2048}
    found = {item.code: item for item in sized({"run": run | SHAPE, "mfu": 0.4}).warnings}
    assert "32.5 GB whatever the batch; its activations alone are 114.1 GB" in found["GL-S918"].why
    assert "leaves 6.5 for them" in found["GL-S920"].what
    run["recompute"] = "full"  # 2 bytes in place of 34: 6.7 GB, about what the rule leaves
    run["micro_batch"] = 1
    assert "GL-S920" not in {item.code for item in sized({"run": run | SHAPE, "mfu": 0.4}).warnings}


def test_weights_of_qlora_have_four_bits():
    """Bytes per weight would be stated and not read: 13e9 × 0.5 × 1.25 are 8.1 GB, at one 16.2."""
    run = {"method": "qlora", "params": 13e9, "tokens": 2e9, "weight_bytes": 1}
    sheet = sized({"run": run, "mfu": 0.4})
    (found,) = (problem for problem in sheet.warnings if problem.code == "GL-S918")
    assert "are 8.1 GB; at 1 bytes they would be 16.2" in found.why
    assert sheet.footprint.total_gb == pytest.approx(8.125)
    run["weight_bytes"] = 0.5
    assert not [p for p in sized({"run": run, "mfu": 0.4}).warnings if p.code == "GL-S918"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"run": {**SHAPE, "heads": 4000}}, "5,120 wide ÷ 4,000 heads are 1.28 a head"),
        ({"run": {"tokens": 200_000, "sequence": 262_144}}, "more than all 200,000 tokens"),
        ({"run": {"scaling": {8: 1.0, 16: 2.5}}}, "1.25 times as much each as 8"),
        ({"run": {"scaling": {8: 8.0, 16: 7.0}}}, "16 GPUs do 7, less than 8, which do 8"),
        ({"run": {"scaling": {16: 1.0, 32: 1.5}}}, "measured on 16 to 32 GPUs; the run has 8"),
        ({"checkpoints": {"size_gb": 20}}, "1.54 bytes for each of 13B parameters"),
        ({"checkpoints": {"size_gb": 1000}}, "76.9 bytes for each of 13B parameters"),
        ({"run": {"weight_bytes": 16}}, "128 bits a weight"),
        ({"run": {"active_params": 37}}, "a model of 37 parameters"),
    ],
)
def test_inputs_that_contradict_each_other(change, words):
    """A run would be sized by one of two lines that cannot both be meant."""
    found = [problem.what for problem in sized(laid_over(BASE, change), gpus=8).warnings]
    assert any(words in what for what in found), found


def test_a_usual_workload_raises_no_doubt():
    """Warnings would cry wolf, and nobody would read the next one."""
    run = {
        "params": 13e9,
        "tokens": 260e9,
        "sequence": 4096,
        **SHAPE,
        "heads": 40,
        "recompute": "none",
        "scaling": {32: 32, 64: 60, 128: 110},
    }
    sheet = sized(
        {"run": run, "mfu": DEFAULT_MFU, "checkpoints": {"size_gb": 182}, "time_limit": "30 days"}
    )
    assert [problem.code for problem in sheet.warnings] == ["GL-S902"]


@pytest.mark.parametrize(
    ("workload", "question", "words"),
    [
        ({"time_limit": "5 days"}, {}, "takes 74.6 days on 8 GPUs, interruptions included; it has"),
        ({"time_limit": "80 days"}, {"earliest": "2026-01-01", "deadline": "2026-02-01"}, "has 31"),
        ({"cadence": {"every": "4 weeks", "count": 3}}, {}, "and one starts every 28"),
    ],
)
def test_a_stated_size_that_takes_too_long(workload, question, words):
    """A run would be planned on GPUs that do not finish it in time.

    6 × 13e9 × 260e9 FLOP at 40 % of 989 TFLOPS are 14,240 hours; on 8 GPUs 74.17 days, and a node
    that fails every 6,334 hours loses 0.5 %: 74.6.
    """
    base = laid_over(BASE, {"run": {"tokens": 260e9}})
    found = [p for p in sized(base | workload, gpus=8, **question).warnings if p.code == "GL-S919"]
    assert len(found) == 1
    assert words in found[0].what


def test_the_size_keeps_its_limit_with_interruptions():
    """A size would be chosen that keeps the limit only while nothing fails.

    14,240 hours on 32 GPUs are 18.54 days without failures; with a node that fails every 50 hours,
    goodput is below 0.9, so that 32 miss 19 days and 64 keep them.
    """
    base = laid_over(BASE, {"run": {"tokens": 260e9}, "time_limit": "19 days"})
    assert sized(base).gpus == 32
    often = sized(laid_over(base, {"checkpoints": {"node_mtbf_hours": 50}}))
    assert often.gpus == 64
    assert often.run_hours <= 19 * 24


def test_a_part_of_a_node_is_said():
    """Twelve GPUs would be sized, and sixteen be paid."""
    found = [problem.what for problem in sized(BASE, gpus=12).warnings]
    assert "12 GPUs are 1.5 nodes of 8 h100" in found


def test_hardware_of_the_mfu_and_of_the_place_are_two():
    """Hours would be those of hardware on which the MFU was not measured.

    MFU of 40 % on A100 (312 TFLOPS): 1.56e20 ÷ (312e12 × 0.4 × 3,600) are 347.2 hours of an A100;
    on an H100 of 989 TFLOPS, at the same MFU, 109.5.
    """
    workload = laid_over(
        BASE,
        {
            "mfu": {"expected": 0.4, "hardware": "a100"},
            "placement": {"hardware": ["h100"], "providers": ["aws"]},
        },
    )
    sheet = sized(workload)
    assert sheet.gpu_hours == pytest.approx(1.56e20 / (312e12 * 0.4 * 3600))
    assert (sheet.machine.id, sheet.place.id) == ("a100-80", "h100")
    bill = next(step for step in sheet.steps if step.name == "compute at the expected MFU")
    price = catalogue.price("h100/aws/on_demand").price_per_gpu_hour
    assert bill.value == pytest.approx(1.56e20 / (989e12 * 0.4 * 3600) * price)
    assert [(fit.hardware, fit.price_per_hour) for fit in sheet.fits] == [("h100", 4 * price)]


def test_filters_of_a_place_count():
    """Machines that nobody verified, or another provider's price, would make a node cheap."""
    free = {fit.hardware: fit.price_per_hour for fit in sized(BASE).fits}
    checked = {
        fit.hardware: fit.price_per_hour
        for fit in sized(laid_over(BASE, {"placement": {"verified": True}})).fits
    }
    lowest = catalogue.lowest_prices("on_demand", verified_only=True)
    assert checked["a100-80"] == 4 * lowest["a100-80"].price_per_gpu_hour
    assert checked["a100-80"] > free["a100-80"]
    with pytest.raises(UsageError, match=r"`nobody` is not in the prices"):
        sized(laid_over(BASE, {"placement": {"providers": ["nobody"]}}))
    unpriced = sized(laid_over(BASE, {"placement": {"providers": ["aws"], "hardware": ["gh200"]}}))
    assert any("no price on demand for gh200 of aws" in item.what for item in unpriced.warnings)


def test_a_run_that_needs_a_rack_is_not_sized_on_nodes_without_a_word():
    """Tensor-parallel training would be priced on hardware whose links end at the node.

    70e9 × 16 bytes and activations exceed 8 × 80 × 0.8 = 512 GB, and talk all the time; links of
    GB200 span a rack.
    """
    run = {"run": {"params": 70e9, "tokens": 1e12, "communication": "constant"}}
    alone = sized(laid_over(BASE, run))
    (found,) = (problem for problem in alone.warnings if problem.code == "GL-S914")
    assert "links of h100 end at the node" in found.what
    assert "decided by both tests" in found.why
    both = sized(laid_over(BASE, run | {"placement": {"hardware": ["h100", "gb200"]}}))
    assert both.place.id == "gb200"
    assert "GL-S914" not in {problem.code for problem in both.warnings}


def test_a_catalogue_of_ones_own_has_no_providers():
    """A filter would be stated that the prices given cannot be held against."""
    question = Question.model_validate(
        {"workload": laid_over(BASE, {"placement": {"verified": True}})}
    )
    with pytest.raises(UsageError, match="would count for nothing"):
        size_line(question, today=TODAY, own=[PricedMemory("h100", 80, 7.0)])


def test_stale_prices_are_said_and_fresh_ones_are_not():
    """A budget would rest on last year's prices without a word."""
    question = Question.model_validate({"workload": BASE})
    newest = max(row.as_of for row in catalogue.price_rows().values())
    codes = [item.code for item in size_line(question, today=newest + timedelta(200)).warnings]
    assert codes == ["GL-S902"]
    own = size_line(question, today=newest + timedelta(200), own=[PricedMemory("h100", 80, 7.0)])
    assert own.warnings == ()


def test_every_line_of_a_workload_has_its_flags():
    """A line of the spec could be written in a file and not on the line."""
    flags = {key for _flag, key, *_rest in OPTIONS}
    keys = {("workload", name) for name in ("time_limit", "preemption")}
    for line, record in (
        ("run", spec.Run),
        ("cadence", spec.Cadence),
        ("checkpoints", spec.Checkpoints),
        ("mfu", spec.MfuBand),
        ("placement", spec.Placement),
    ):
        keys |= {("workload", line, name) for name in record.model_fields}
    keys.remove(("workload", "placement", "residency"))  # the catalogue knows no places
    assert (
        keys | {("earliest",), ("deadline",), ("gpus",), ("gpu_hours",), ("price_kind",)} == flags
    )
    numbers = [re.match(r"\((\d)\)", help_text) for _flag, _key, help_text, _more in OPTIONS]
    lines = [int(found[1]) for found in numbers if found]
    assert lines == sorted(lines)
    assert set(lines) == set(range(1, 8))
