"""A kind of GPU as sizing sees it, whether from the catalogue or from a scenario."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpuladder.sizing.memory import USABLE_SHARE, node_memory_gb

if TYPE_CHECKING:
    from gpuladder.sizing.catalogue import HardwareSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """One kind of GPU and the nodes it comes in."""

    id: str
    memory_gb: float
    """Of one GPU."""
    gpus_per_node: int
    peak_tflops: float
    """Dense BF16, of one GPU."""
    relative_speed: float = 1.0
    """Work of one GPU-hour against the reference hardware's 1."""
    node_mtbf_hours: float | None = None
    """Mean time between hardware failures of one node, hours; None when there are none."""
    price_per_gpu_hour: float | None = None
    spot_price_per_gpu_hour: float | None = None
    source: str = "as given"
    """Who says what its memory, its peak and its nodes are."""

    def usable_node_gb(self, usable_share: float = USABLE_SHARE) -> float:
        """Return the memory of a node that a run can use, GB."""
        return node_memory_gb(self.memory_gb, self.gpus_per_node, usable_share)


def machine_of(
    spec: HardwareSpec,
    *,
    price_per_gpu_hour: float | None = None,
    spot_price_per_gpu_hour: float | None = None,
    node_mtbf_hours: float | None = None,
    relative_speed: float = 1.0,
) -> Machine:
    """Return a kind of GPU of the catalogue, as the reference hardware if nothing else is said."""
    return Machine(
        id=spec.id,
        memory_gb=spec.memory_gb,
        gpus_per_node=spec.gpus_per_node,
        peak_tflops=spec.peak_tflops,
        relative_speed=relative_speed,
        source=spec.source if spec.verified else f"not verified in all: {spec.source}",
        node_mtbf_hours=node_mtbf_hours,
        price_per_gpu_hour=price_per_gpu_hour,
        spot_price_per_gpu_hour=spot_price_per_gpu_hour,
    )
