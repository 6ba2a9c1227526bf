"""Memory that a run needs, and the nodes it fits into. GB are 10⁹ bytes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpuladder.sizing.work import Method, Recompute, Shape

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

BYTES_PER_GB = 1e9
BYTES_PER_GIB = 2.0**30
WEIGHT_BYTES = 2.0
QUANTISED_BYTES = 0.5
ADAPTER_FACTOR = 1.25
FULL_FINETUNE_FACTOR = 4.0
OPTIMISER_BYTES = 12.0
CHECKPOINT_BYTES = 14.0
"""Per parameter: single-precision weights, momentum and variance, and 16-bit weights."""
CHECKPOINT_SOURCE = "BigScience BLOOM-176B, tr11 chronicles: 8 + 4 + 2 bytes a parameter, 2.3 TiB"
ADAPTER_SHARE = 0.01
"""Adapters over all parameters, for the size of checkpoints."""
ADAPTER_SHARE_SOURCE = (
    "Assumed: PEFT's examples train 0.1 to 0.2 % of all parameters; rank 64 on every linear layer "
    "of a 70B Llama is 64 × 161,792 × 80, 1.2 %"
)
USABLE_SHARE = 0.8
NODE_SIZES = (1, 2, 4, 8)
ADAPTER_SOURCE = (
    "Rule of thumb: weights × 1.25 with adapters; Dettmers et al. 2023 (QLoRA), arXiv 2305.14314, "
    "tune 65B in one GPU of 48 GB (the rule: 40.6 GB)"
)
FULL_SOURCE = (
    "Rule of thumb: weights × 4 with Adam: 1 model, 1 gradients, 2 optimiser "
    "(Hugging Face Accelerate, model memory estimator)"
)
STATE_SOURCE = "Rajbhandari et al. 2020 (ZeRO), arXiv 1910.02054, sec. 3.1: 2 + 2 + 12 bytes"
ACTIVATION_SOURCE = "Korthikanti et al. 2022, arXiv 2205.05198, eq. 2 and table 2"
ADAPTER_METHODS = (Method.LORA, Method.QLORA)
_SLACK = 1.0 + 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryItem:
    """One part of a footprint."""

    name: str
    gb: float
    formula: str
    working: str
    source: str


@dataclass(frozen=True, slots=True)
class Footprint:
    """What one copy of a run occupies, part by part."""

    items: tuple[MemoryItem, ...]

    @property
    def total_gb(self) -> float:
        """All parts together, GB."""
        return math.fsum(item.gb for item in self.items)


def fine_tuning_footprint(
    method: Method, params: float, weight_bytes: float = WEIGHT_BYTES
) -> Footprint:
    """Return the footprint of a fine-tune by the rules of thumb.

    QLoRA: 4-bit weights × 1.25; LoRA: weights × 1.25; full: weights × 4. Activations of long
    contexts are not in them (see ``activation_room_gb``).

    Parameters
    ----------
    method : Method
        QLoRA, LoRA, full fine-tune, or reinforcement learning, which trains like a full one.
    params : float
        All parameters, routed or not.
    weight_bytes : float
        Bytes per weight, 2 in BF16; QLoRA always has half a byte.
    """
    size = QUANTISED_BYTES if method is Method.QLORA else weight_bytes
    parts: tuple[tuple[str, float], ...] = (
        ("weights", 1.0),
        ("gradients", 1.0),
        ("optimiser states, two moments as wide as the weights", FULL_FINETUNE_FACTOR - 2.0),
    )
    source = FULL_SOURCE
    if method in ADAPTER_METHODS:
        frozen = "weights, frozen" + (", 4 bits each" if method is Method.QLORA else "")
        rest = "adapters, their gradients and states, and working memory"
        parts = (frozen, 1.0), (rest, ADAPTER_FACTOR - 1.0)
        source = ADAPTER_SOURCE
    return Footprint(
        tuple(
            MemoryItem(
                name=name,
                gb=params * size * factor / BYTES_PER_GB,
                formula="N × bytes" if factor == 1.0 else "N × bytes × factor",
                working=f"{params:.4g} × {size:g}" + ("" if factor == 1.0 else f" × {factor:g}"),
                source=source,
            )
            for name, factor in parts
        )
    )


def activation_room_gb(method: Method, params: float, weight_bytes: float = WEIGHT_BYTES) -> float:
    """Return what the rule of a fine-tune leaves for activations at most, GB.

    A quarter of the weights with adapters; nothing for a full fine-tune, whose four parts are
    spoken for.
    """
    if method not in ADAPTER_METHODS:
        return 0.0
    return fine_tuning_footprint(method, params, weight_bytes).items[-1].gb


def pretraining_footprint(
    params: float,
    shape: Shape,
    *,
    micro_batch: float = 1.0,
    heads: float | None = None,
    recompute: Recompute = Recompute.SELECTIVE,
    weight_bytes: float = WEIGHT_BYTES,
    guessed: bool = False,
) -> Footprint:
    """Return the footprint of one model copy in mixed-precision training with Adam.

    Weights and gradients at ``weight_bytes``; optimiser states 12 bytes: single-precision weights,
    momentum and variance (Rajbhandari et al. 2020, arXiv 1910.02054); activations of one
    micro-batch (see ``activation_gb``).
    """
    parts = (
        ("weights", weight_bytes),
        ("gradients", weight_bytes),
        ("optimiser states", OPTIMISER_BYTES),
    )
    states = [
        MemoryItem(
            name=name,
            gb=params * size / BYTES_PER_GB,
            formula="N × bytes",
            working=f"{params:.4g} × {size:g}",
            source=STATE_SOURCE,
        )
        for name, size in parts
    ]
    formula = {
        Recompute.NONE: "s b d L (34 + 5 a s / d)",
        Recompute.SELECTIVE: "34 s b d L",
        Recompute.FULL: "2 s b d L",
    }[recompute]
    number = shape.hidden / 128.0 if heads is None else heads
    activations = MemoryItem(
        name=f"activations ({recompute.value} recomputation)",
        gb=activation_gb(shape, micro_batch=micro_batch, heads=heads, recompute=recompute),
        formula=formula,
        working=(
            f"s {shape.sequence:g}, b {micro_batch:g}, d {shape.hidden:.6g}, L {shape.layers:.6g}"
            + (f", a {number:.6g}" if recompute is Recompute.NONE else "")
            + (" (shape guessed from the parameters)" if guessed else "")
        ),
        source=ACTIVATION_SOURCE,
    )
    return Footprint((*states, activations))


def activation_gb(
    shape: Shape,
    *,
    micro_batch: float = 1.0,
    heads: float | None = None,
    recompute: Recompute = Recompute.NONE,
) -> float:
    """Return the 16-bit activations of one micro-batch, GB.

    Korthikanti et al. 2022 (arXiv 2205.05198): ``s b d L (34 + 5 a s / d)`` bytes when all are
    kept; ``34 s b d L`` when attention is computed again; ``2 s b d L`` when only the layers'
    inputs are kept. Heads are 128 wide when not given.
    """
    number = shape.hidden / 128.0 if heads is None else heads
    per_value = {
        Recompute.NONE: 34.0 + 5.0 * number * shape.sequence / shape.hidden,
        Recompute.SELECTIVE: 34.0,
        Recompute.FULL: 2.0,
    }[recompute]
    values = shape.sequence * micro_batch * shape.hidden * shape.layers
    return values * per_value / BYTES_PER_GB


def checkpoint_gb(method: Method, params: float) -> float:
    """Return the size of a checkpoint from which a run can go on, GB.

    14 bytes per parameter that is trained: all of them, or those of the adapters (``ADAPTER_SHARE``
    of all).
    """
    share = ADAPTER_SHARE if method in ADAPTER_METHODS else 1.0
    return params * share * CHECKPOINT_BYTES / BYTES_PER_GB


def checkpoint_gib(params: float, bytes_per_parameter: float = CHECKPOINT_BYTES) -> float:
    """Return the size of a full training checkpoint, GiB (2³⁰ bytes).

    14 bytes per parameter: single-precision weights, momentum and variance, and 16-bit weights
    (BigScience BLOOM-176B, tr11 chronicles).
    """
    return params * bytes_per_parameter / BYTES_PER_GIB


@dataclass(frozen=True, slots=True)
class PricedMemory:
    """One kind of GPU on offer: what it holds, and what an hour of it costs if that is known."""

    hardware: str
    memory_gb: float
    price_per_gpu_hour: float | None = None
    gpus_per_node: int | None = None
    """Largest node there is; not known when left out."""


@dataclass(frozen=True, slots=True)
class Fit:
    """The smallest node of one kind of GPU that holds a footprint."""

    hardware: str
    gpus: int
    price_per_hour: float | None
    """Of the whole node, currency per hour; None when no price is known."""
    memory_gb: float
    """Of the whole node."""


def node_memory_gb(memory_gb: float, gpus: int, usable_share: float = USABLE_SHARE) -> float:
    """Return the memory of a node that a run can use, GB."""
    return memory_gb * gpus * usable_share


def holds(available_gb: float, footprint_gb: float) -> bool:
    """Tell whether a footprint fits; equal sizes do."""
    return footprint_gb <= available_gb * _SLACK


def fits(
    footprint_gb: float,
    choices: Iterable[PricedMemory],
    *,
    sizes: Sequence[int] = NODE_SIZES,
    usable_share: float = USABLE_SHARE,
) -> tuple[Fit, ...]:
    """Return for each kind of GPU its smallest node that holds the footprint, cheapest first.

    No node is larger than its kind comes in. Ties go to the node with fewer GPUs; nodes without a
    known price come last. A kind of GPU whose largest node is too small is left out.
    """
    found = []
    for choice in choices:
        largest = max(sizes) if choice.gpus_per_node is None else choice.gpus_per_node
        for gpus in sorted(
            {*(size for size in sizes if size <= largest), min(largest, max(sizes))}
        ):
            if holds(node_memory_gb(choice.memory_gb, gpus, usable_share), footprint_gb):
                price = choice.price_per_gpu_hour
                hourly = None if price is None else price * gpus
                found.append(Fit(choice.hardware, gpus, hourly, choice.memory_gb * gpus))
                break
    return tuple(sorted(found, key=_by_price))


def cheapest(found: Sequence[Fit]) -> Fit | None:
    """Return the node that costs least per hour; None when none fits."""
    return min(found, key=_by_price, default=None)


def smallest(found: Sequence[Fit]) -> Fit | None:
    """Return the node with the fewest GPUs and then the least memory; None when none fits."""
    return min(found, key=lambda fit: (fit.gpus, fit.memory_gb, fit.hardware), default=None)


def _by_price(fit: Fit) -> tuple[float, int, float, str]:
    price = math.inf if fit.price_per_hour is None else round(fit.price_per_hour, 9)
    return (price, fit.gpus, fit.memory_gb, fit.hardware)
