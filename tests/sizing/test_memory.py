"""Memory rules and the nodes that fit, against a published table."""

from __future__ import annotations

import pytest

from gpuladder.sizing import memory
from gpuladder.sizing.memory import PricedMemory, cheapest, fits, smallest
from gpuladder.sizing.work import Method, Recompute, Shape

# Spot prices per GPU-hour.
MARKET = (
    PricedMemory("RTX A4000", 16, 0.03),
    PricedMemory("A30", 24, 0.05),
    PricedMemory("A40", 48, 0.06),
    PricedMemory("A100 PCIe", 80, 0.09),
    PricedMemory("RTX PRO 6000", 96, 0.19),
)
TABLE = [
    (8, Method.QLORA, 1, "RTX A4000", 0.03),
    (8, Method.LORA, 1, "A40", 0.06),
    (8, Method.FULL_FINETUNE, 1, "A100 PCIe", 0.09),
    (27, Method.QLORA, 1, "A30", 0.05),
    (27, Method.LORA, 2, "A40", 0.12),
    (27, Method.FULL_FINETUNE, 4, "A100 PCIe", 0.36),
    (32, Method.QLORA, 1, "A40", 0.06),
    (32, Method.LORA, 2, "A100 PCIe", 0.18),
    (32, Method.FULL_FINETUNE, 4, "A100 PCIe", 0.36),
    (70, Method.QLORA, 1, "A100 PCIe", 0.09),
    (70, Method.LORA, 4, "A100 PCIe", 0.36),
    (70, Method.FULL_FINETUNE, 8, "RTX PRO 6000", 1.52),
]


@pytest.mark.parametrize(("billions", "method", "gpus", "hardware", "price"), TABLE)
def test_the_cheapest_node_that_fits(billions, method, gpus, hardware, price):
    """A team would rent a node too small for its fine-tune, or one dearer than it needs.

    Weights × 1.25 (4-bit: half a byte; LoRA: two bytes) or × 4, within 0.8 of the node's memory;
    nodes of 1, 2, 4 and 8; ties go to fewer GPUs.
    """
    footprint = memory.fine_tuning_footprint(method, billions * 1e9).total_gb
    best = cheapest(fits(footprint, MARKET))
    assert (best.gpus, best.hardware) == (gpus, hardware)
    assert best.price_per_hour == pytest.approx(price)


def test_the_smallest_node_may_be_a_dearer_one():
    """Smallest and cheapest would be confused: 16 GB cards are cheap in pairs."""
    market = (PricedMemory("small", 16, 0.01), PricedMemory("large", 96, 1.00))
    found = fits(20.0, market)
    assert (cheapest(found).hardware, cheapest(found).gpus) == ("small", 2)
    assert (smallest(found).hardware, smallest(found).gpus) == ("large", 1)


def test_hardware_without_a_price_still_fits_and_comes_last():
    """A kind of GPU would disappear for want of a price, or pass as free."""
    found = fits(10.0, (PricedMemory("unpriced", 96), PricedMemory("priced", 96, 2.0)))
    assert [(fit.hardware, fit.price_per_hour) for fit in found] == [
        ("priced", 2.0),
        ("unpriced", None),
    ]


def test_what_is_larger_than_every_node_fits_nowhere():
    """A run would be placed where it cannot be loaded: 8 × 96 × 0.8 = 614.4 GB."""
    assert fits(614.5, MARKET) == ()
    assert cheapest(()) is None
    assert smallest(()) is None


def test_pretraining_has_sixteen_bytes_a_parameter_and_its_activations():
    """Pretraining would be placed by the weights alone.

    7e9 parameters: 14 GB weights, 14 GB gradients, 84 GB optimiser states. Activations of
    2,048 × 4,096 × 32 values at 34 bytes: 9.127 GB.
    """
    shape = Shape(layers=32, hidden=4096, sequence=2048)
    footprint = memory.pretraining_footprint(7e9, shape)
    assert [item.gb for item in footprint.items] == pytest.approx([14, 14, 84, 9.126805504])
    assert footprint.total_gb == pytest.approx(121.126805504)


@pytest.mark.parametrize(
    ("recompute", "bytes_per_value"),
    [(Recompute.NONE, 34 + 5 * 96 * 2048 / 12288), (Recompute.SELECTIVE, 34), (Recompute.FULL, 2)],
)
def test_activations_of_gpt_3(recompute, bytes_per_value):
    """Recomputation would save another amount of memory than the paper's.

    Korthikanti et al. 2022: GPT-3 (96 layers of 12,288, 96 heads, 2,048 tokens) has 5as/h = 80, so
    114 bytes a value without recomputation.
    """
    shape = Shape(layers=96, hidden=12288, sequence=2048)
    values = 2048 * 12288 * 96
    assert 34 + 5 * 96 * 2048 / 12288 == 114
    assert memory.activation_gb(shape, heads=96, recompute=recompute) == pytest.approx(
        values * bytes_per_value / 1e9
    )


@pytest.mark.parametrize(
    ("method", "parts"),
    [
        (Method.QLORA, [35.0, 8.75]),
        (Method.LORA, [140.0, 35.0]),
        (Method.FULL_FINETUNE, [140.0, 140.0, 280.0]),
        (Method.RL, [140.0, 140.0, 280.0]),
    ],
)
def test_the_rules_of_fine_tuning_are_itemised(method, parts):
    """A reader could not see what a rule of thumb leaves room for.

    70e9 weights of 2 bytes, or half a byte: × 1.25 with adapters; × 4 are weights, gradients and
    two moments (Hugging Face Accelerate: 1 for the model, 1 for gradients, 2 for the optimiser).
    """
    items = memory.fine_tuning_footprint(method, 70e9).items
    assert [item.gb for item in items] == pytest.approx(parts)
    assert all(item.source for item in items)


def test_a_rule_agrees_with_what_was_done():
    """The rule would not hold for the run that made it known.

    Dettmers et al. 2023: 65e9 parameters tuned in one GPU of 48 GB. 65 × 0.5 × 1.25 = 40.6.
    """
    footprint = memory.fine_tuning_footprint(Method.QLORA, 65e9).total_gb
    assert footprint == pytest.approx(40.625)
    assert fits(footprint, [PricedMemory("A40", 48)], usable_share=0.9)[0].gpus == 1


def test_adapters_have_small_checkpoints():
    """A terabyte would be paid for what a hundredth of it holds.

    BLOOM: 176e9 × 14 bytes are 2,464 GB, printed as 2.3 thousand GiB. Adapters of 1 % of 70e9: 9.8.
    """
    assert memory.checkpoint_gb(Method.PRETRAINING, 176e9) == pytest.approx(2464.0)
    assert memory.checkpoint_gb(Method.PRETRAINING, 176e9) * 1e9 / 2**30 == pytest.approx(
        2295, 1e-3
    )
    assert memory.checkpoint_gb(Method.LORA, 70e9) == pytest.approx(9.8)
