"""FLOPs of training and generation, and GPU-hours, by hand."""

from __future__ import annotations

import pytest

from gpuladder.sizing import work
from gpuladder.sizing.work import Method, Recompute, Shape

SHAPE = Shape(layers=10, hidden=100, sequence=1000)


@pytest.mark.parametrize(
    ("method", "each"),
    [
        (Method.PRETRAINING, 6),
        (Method.FULL_FINETUNE, 6),
        (Method.RL, 6),
        (Method.LORA, 4),
        (Method.QLORA, 4),
    ],
)
def test_flops_per_token_and_parameter(method, each):
    """A fine-tune with frozen weights would be billed like a full one, or the reverse."""
    assert work.training_flops(7e9, 2e9, method=method).model == each * 7e9 * 2e9


def test_a_mixture_of_experts_pays_for_its_active_parameters():
    """Experts that a token never meets would be billed: 37e9 active, 14.8e12 tokens, 3.29e24."""
    assert work.training_flops(37e9, 14.8e12).model == pytest.approx(3.2856e24)


def test_attention_grows_with_the_square_of_the_context():
    """Long contexts would cost what short ones do.

    12 L d s per token: 12 × 10 × 100 × 1,000 = 1.2e7; a sequence is s tokens, so twice the context
    is four times the work a sequence.
    """
    short = work.training_flops(1e6, 1000.0, shape=SHAPE).attention
    long = work.training_flops(1e6, 2000.0, shape=Shape(10, 100, 2000)).attention
    assert short == 1.2e7 * 1000
    assert long == 4 * short


def test_recomputation_is_hardware_work_and_not_model_work():
    """The hours of a run would grow by what MFU leaves out already.

    Full: one more forward pass, 2 × 1e6 + 4 L d s = 6e6 a token; selective: the 4e6 of attention.
    """
    full = work.training_flops(1e6, 10.0, shape=SHAPE, recompute=Recompute.FULL)
    some = work.training_flops(1e6, 10.0, shape=SHAPE, recompute=Recompute.SELECTIVE)
    none = work.training_flops(1e6, 10.0, shape=SHAPE)
    assert full.recomputation == 10 * 6e6
    assert some.recomputation == 10 * 4e6
    assert none.recomputation == 0
    assert full.model == some.model == none.model
    assert full.hardware == full.model + 6e7


def test_rollouts_cost_a_forward_pass_a_token():
    """Reinforcement learning would be sized without its generation: 2 × 8e9 × 5e9 = 8e19."""
    flops = work.training_flops(8e9, 1e9, method=Method.RL, generated_tokens=5e9)
    assert flops.generation == 8e19
    assert flops.training == 4.8e19
    assert flops.model == 1.28e20


def test_doubling_mfu_halves_the_hours():
    """The band of cost would not follow the band of MFU."""
    assert work.gpu_hours(1e21, 989, 0.5) == pytest.approx(work.gpu_hours(1e21, 989, 0.25) / 2)
    assert work.bill_ratio(0.35, 0.55) == pytest.approx(1.57, abs=0.005)


def test_hours_and_mfu_are_each_other_s_inverse():
    """A measured run would not give the MFU that sizes it."""
    hours = work.gpu_hours(4.3e23, 312, 0.47)
    assert work.mfu(4.3e23, hours, 312) == pytest.approx(0.47)


def test_an_estimated_shape_has_its_parameters():
    """A model known by its size alone would get another size: N = 12 L d², d = 128 L."""
    shape = work.estimated_shape(13e9, 2048)
    assert 12 * shape.layers * shape.hidden**2 == pytest.approx(13e9)
    assert shape.hidden == pytest.approx(128 * shape.layers)
