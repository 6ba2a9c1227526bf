"""Training and generation work in floating-point operations, and the GPU-hours it takes.

Model FLOPs are what the mathematics of the model needs; hardware FLOPs add what is computed twice
to save memory. Model FLOPs utilisation (MFU) is model FLOPs per second over peak FLOPs per second:
how well a busy GPU works. Utilisation is busy over allocated GPU-hours: how well a cluster is
filled. They are different losses, and each is counted once.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

SECONDS_PER_HOUR = 3600.0
FLOPS_PER_TERAFLOP = 1e12
HOURS_PER_DAY = 24.0
PARAMETER_SOURCE = (
    "Kaplan et al. 2020, arXiv 2001.08361, sec. 2.1: forward 2 N, backward twice that"
)
ATTENTION_SOURCE = "Chowdhery et al. 2022 (PaLM), arXiv 2204.02311, app. B: 12 L d s per token"
RECOMPUTATION_SOURCE = "Korthikanti et al. 2022, arXiv 2205.05198: one more forward pass"
LORA_SOURCE = "Hu et al. 2021 (LoRA), arXiv 2106.09685: frozen weights need no weight gradient"
MFU_SOURCE = "Chowdhery et al. 2022 (PaLM), arXiv 2204.02311, app. B"


class Method(StrEnum):
    """What is done with the model."""

    PRETRAINING = "pretraining"
    FULL_FINETUNE = "full_finetune"
    LORA = "lora"
    QLORA = "qlora"
    RL = "rl"


class Recompute(StrEnum):
    """Which activations are computed a second time in the backward pass instead of being kept."""

    NONE = "none"
    SELECTIVE = "selective"
    FULL = "full"


_PARAMETER_FLOPS = {Method.LORA: 4.0, Method.QLORA: 4.0}
_FULL_PARAMETER_FLOPS = 6.0


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of a transformer: ``layers`` of width ``hidden``, over ``sequence`` tokens."""

    layers: float
    hidden: float
    sequence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Flops:
    """Floating-point operations of a run, by what they are spent on."""

    parameters: float
    """Products with the model's weights, forward and backward."""
    attention: float
    """Products between tokens: grows with the square of the sequence."""
    recomputation: float
    """Done twice to save memory: hardware FLOPs, not model FLOPs."""
    generation: float
    """Rollouts of reinforcement learning, forward only."""

    @property
    def training(self) -> float:
        """Model FLOPs of training alone."""
        return self.parameters + self.attention

    @property
    def model(self) -> float:
        """Model FLOPs of training and generation."""
        return self.training + self.generation

    @property
    def hardware(self) -> float:
        """Model FLOPs and what is computed twice."""
        return self.model + self.recomputation


def parameter_flops_per_token(method: Method) -> float:
    """Return the training FLOPs per token and active parameter: 6, or 4 where weights are frozen.

    Forward 2, gradients of activations 2, gradients of weights 2 (Kaplan et al. 2020, arXiv
    2001.08361). Adapters (Hu et al. 2021, arXiv 2106.09685) leave the last 2 out.
    """
    return _PARAMETER_FLOPS.get(method, _FULL_PARAMETER_FLOPS)


def attention_flops_per_token(shape: Shape) -> float:
    """Return the training FLOPs per token between tokens: ``12 L d s``.

    Forward 4, backward 8 times layers, width and sequence (Chowdhery et al. 2022, arXiv
    2204.02311, app. B). Causal masks are not taken off, as in published MFU figures.
    """
    return 12.0 * shape.layers * shape.hidden * shape.sequence


def training_flops(
    active_params: float,
    tokens: float,
    *,
    method: Method = Method.PRETRAINING,
    shape: Shape | None = None,
    recompute: Recompute = Recompute.NONE,
    generated_tokens: float = 0.0,
) -> Flops:
    """Return the work of a run.

    Parameters
    ----------
    active_params : float
        Parameters that a token passes through: all of a dense model, the routed part of a mixture
        of experts.
    tokens : float
        Tokens trained on, all epochs.
    method : Method
    shape : Shape, optional
        Needed for the attention term; without it the term is left out.
    recompute : Recompute
    generated_tokens : float
        Tokens of rollouts, at ``2 N`` and half the attention of a full sequence each.

    Returns
    -------
    Flops
    """
    forward_attention = 0.0 if shape is None else attention_flops_per_token(shape) / 3.0
    repeated = {
        Recompute.NONE: 0.0,
        Recompute.SELECTIVE: forward_attention,
        Recompute.FULL: 2.0 * active_params + forward_attention,
    }[recompute]
    return Flops(
        parameters=parameter_flops_per_token(method) * active_params * tokens,
        attention=3.0 * forward_attention * tokens,
        recomputation=repeated * tokens,
        generation=(2.0 * active_params + forward_attention / 2.0) * generated_tokens,
    )


def gpu_hours(model_flops: float, peak_tflops: float, mfu: float) -> float:
    """Return the GPU-hours of so much work: ``FLOPs ÷ (peak × MFU)``.

    >>> round(gpu_hours(6 * 13e9 * 2e9, 989, 0.40), 1)
    109.5
    """
    return model_flops / FLOPS_PER_TERAFLOP / peak_tflops / mfu / SECONDS_PER_HOUR


def mfu(model_flops: float, gpu_hours_used: float, peak_tflops: float) -> float:
    """Return the share of peak that model FLOPs made of so many GPU-hours."""
    return gpu_hours(model_flops, peak_tflops, 1.0) / gpu_hours_used


def mfu_of_throughput(
    tokens_per_second_per_gpu: float, flops_per_token: float, peak_tflops: float
) -> float:
    """Return the share of peak from a measured throughput.

    With model FLOPs per token it is the MFU, with hardware FLOPs per token the HFU.
    """
    return tokens_per_second_per_gpu * flops_per_token / (peak_tflops * FLOPS_PER_TERAFLOP)


def bill_ratio(mfu_low: float, mfu_high: float) -> float:
    """Return how many times the bill at the lower MFU is that at the higher.

    >>> round(bill_ratio(0.35, 0.55), 2)
    1.57
    """
    return mfu_high / mfu_low


def busy_gpus(gpus: float, utilisation: float) -> float:
    """Return the GPUs' worth of work of a cluster that is busy for a share of its hours."""
    return gpus * utilisation


def gpus_needed(busy: float, utilisation: float) -> float:
    """Return the GPUs to allocate for so many busy ones."""
    return busy / utilisation


def utilisation_multiplier(allocated_hours: float, ideal_hours: float) -> float:
    """Return allocated over ideal hours: what the calendar adds to uninterrupted training."""
    return allocated_hours / ideal_hours


def remaining_days(iterations: float, seconds_per_iteration: float) -> float:
    """Return the days that the iterations still to come take."""
    return iterations * seconds_per_iteration / SECONDS_PER_HOUR / HOURS_PER_DAY


def estimated_shape(params: float, sequence: float) -> Shape:
    """Return a plausible shape where only the number of parameters is known.

    ``N ≈ 12 L d²`` (Kaplan et al. 2020, arXiv 2001.08361) with ``d = 128 L``, the proportion of
    GPT-3 and Llama models between 7 and 180 billion parameters.
    """
    layers = (params / (12.0 * 128.0**2)) ** (1.0 / 3.0)
    return Shape(layers=layers, hidden=128.0 * layers, sequence=sequence)
