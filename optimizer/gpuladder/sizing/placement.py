"""Node or rack: how far the links of a run must reach, and which test decided."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from gpuladder.sizing.memory import holds

Reach = Literal["node", "rack"]
SOURCE = "Both tests must hold: more than one node's memory, and pieces that talk constantly"


class Communication(StrEnum):
    """How the pieces of one run talk to each other."""

    CONSTANT = "constant"
    """In every layer: tensor or expert parallelism."""
    PERIODIC = "periodic"
    """At the end of steps: data or pipeline parallelism, independent jobs."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How far a run's links must reach, which test decided it, and why in words."""

    fabric: Reach
    decided_by: Literal["memory", "communication", "both"]
    reason: str


def fabric(
    footprint_gb: float, node_usable_gb: float, communication: Communication, node: str = "a node"
) -> Verdict:
    """Decide between node and rack.

    A run crosses the node only if its footprint exceeds one node's usable memory and its pieces
    must talk constantly. Either alone leaves it on nodes joined by an ordinary network.

    Parameters
    ----------
    footprint_gb : float
        Memory of one copy of the run, GB.
    node_usable_gb : float
        Usable memory of the largest node at hand, GB.
    communication : Communication
    node : str
        The node's name, for the reason.
    """
    talk = "constantly" if communication is Communication.CONSTANT else "only between steps"
    if holds(node_usable_gb, footprint_gb):
        return Verdict(
            "node",
            "memory",
            f"decided by memory: {footprint_gb:,.1f} GB fit into the {node_usable_gb:,.1f} GB "
            f"usable of {node}, so its pieces, which talk {talk}, never leave it",
        )
    if communication is Communication.PERIODIC:
        return Verdict(
            "node",
            "communication",
            f"decided by communication: {footprint_gb:,.1f} GB exceed the {node_usable_gb:,.1f} GB "
            f"usable of {node}, but its pieces talk {talk}, which a network between nodes carries",
        )
    return Verdict(
        "rack",
        "both",
        f"decided by both tests: {footprint_gb:,.1f} GB exceed the {node_usable_gb:,.1f} GB usable "
        f"of {node}, and its pieces talk {talk}",
    )


def admits(pool_fabric: Reach, needed: Reach) -> bool:
    """Tell whether a pool's links reach far enough."""
    return needed == "node" or pool_fabric == "rack"
