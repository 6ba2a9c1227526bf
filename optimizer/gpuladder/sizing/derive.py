"""From a workload to the numbers a campaign needs: GPU-hours, reach, sizes and efficiencies."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpuladder.sizing import memory, scaling
from gpuladder.sizing.memory import (
    USABLE_SHARE,
    Footprint,
    activation_gb,
    fine_tuning_footprint,
    holds,
    pretraining_footprint,
)
from gpuladder.sizing.placement import Communication, Verdict, fabric
from gpuladder.sizing.work import (
    Flops,
    Method,
    Shape,
    estimated_shape,
    gpu_hours,
    training_flops,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpuladder.sizing.machine import Machine
    from gpuladder.sizing.spec import MfuBand, Run, Workload

ASSUMED_SEQUENCE = 2048.0
"""Context for the memory of activations when none is given."""
MOST_SIZES = 4
"""Sizes of a gang that are offered to the program."""
_MOST_DOUBLINGS = 12
_MOST_NODES = 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class Hours:
    """GPU-hours over the band of MFU, on the reference hardware."""

    fewest: float
    expected: float
    most: float

    def times(self, factor: float) -> Hours:
        """Return the band multiplied."""
        return Hours(
            fewest=self.fewest * factor,
            expected=self.expected * factor,
            most=self.most * factor,
        )


def run_shape(run: Run) -> Shape | None:
    """Return the shape for the attention term; None when no context length is given.

    A shape that is not stated is guessed from the parameters that a token passes through: experts
    make a model heavier, not deeper or wider where tokens meet.
    """
    if run.sequence is None:
        return None
    if run.layers is None or run.hidden is None:
        return estimated_shape(run.active, run.sequence)
    return Shape(run.layers, run.hidden, run.sequence)


def run_flops(run: Run) -> Flops:
    """Return the work of one run."""
    return training_flops(
        run.active,
        run.tokens,
        method=run.method,
        shape=run_shape(run),
        recompute=run.recompute,
        generated_tokens=run.generated_tokens,
    )


def run_footprint(run: Run) -> Footprint:
    """Return the memory of one copy of a run: itemised for pretraining, by rule for the rest."""
    if run.method is not Method.PRETRAINING:
        return fine_tuning_footprint(run.method, run.params, run.weight_bytes)
    return pretraining_footprint(
        run.params,
        memory_shape(run),
        micro_batch=run.micro_batch,
        heads=run.heads,
        guessed=run.layers is None or run.hidden is None,
        recompute=run.recompute,
        weight_bytes=run.weight_bytes,
    )


def memory_shape(run: Run) -> Shape:
    """Return the shape whose activations are in memory: stated, else guessed or assumed."""
    sequence = ASSUMED_SEQUENCE if run.sequence is None else run.sequence
    if run.layers is None or run.hidden is None:
        return estimated_shape(run.active, sequence)
    return Shape(run.layers, run.hidden, sequence)


def run_activations_gb(run: Run) -> float:
    """Return the activations of one micro-batch, GB: not in the rules of thumb of fine-tuning."""
    return activation_gb(
        memory_shape(run),
        micro_batch=run.micro_batch,
        heads=run.heads,
        recompute=run.recompute,
    )


def checkpoint_gb(workload: Workload) -> float:
    """Return the size of all checkpoints kept at once: as stated, or by what is trained, GB."""
    size = workload.checkpoints.size_gb
    if size is None:
        size = memory.checkpoint_gb(workload.run.method, workload.run.params)
    return size * workload.checkpoints.kept


def run_hours(flops: Flops, band: MfuBand, machine: Machine) -> Hours:
    """Return the reference GPU-hours of one run over the band of MFU measured on a machine.

    Hours on the machine times its relative speed. Rollouts have an MFU of their own where one is
    given; it does not move with the band.
    """

    def hours(share: float) -> float:
        generation = share if band.generation is None else band.generation
        on_machine = gpu_hours(flops.training, machine.peak_tflops, share)
        if flops.generation:
            on_machine += gpu_hours(flops.generation, machine.peak_tflops, generation)
        return on_machine * machine.relative_speed

    low, expected, high = band.band
    return Hours(fewest=hours(high), expected=hours(expected), most=hours(low))


def reach(run: Run, footprint_gb: float, machines: Sequence[Machine]) -> Verdict:
    """Decide node or rack on the largest node at hand."""
    largest = max(machines, key=lambda machine: machine.usable_node_gb(run.usable_share))
    name = f"a node of {largest.gpus_per_node} {largest.id}"
    room = largest.usable_node_gb(run.usable_share)
    return fabric(footprint_gb, room, run.communication, name)


def admissible_machines(
    run: Run, footprint_gb: float, verdict: Verdict, machines: Sequence[Machine]
) -> tuple[Machine, ...]:
    """Return the machines on which a run can be placed.

    Where the pieces talk constantly and one kind of node holds them all, smaller nodes would make
    them leave the node, so they are not admissible. Otherwise more nodes make up for small ones.
    """
    if run.communication is Communication.CONSTANT and verdict.fabric == "node":
        return tuple(
            each for each in machines if holds(each.usable_node_gb(run.usable_share), footprint_gb)
        )
    return tuple(machines)


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeChoice:
    """One size of a run that can be chosen."""

    gpus: int
    efficiency: float
    run_hours: float
    """Length of one run on the fastest machine, without interruptions."""


def smallest_size(
    footprint_gb: float, machines: Sequence[Machine], usable_share: float = USABLE_SHARE
) -> int:
    """Return the fewest GPUs, in whole nodes of every machine, that hold a footprint in shards."""
    step = math.lcm(*(machine.gpus_per_node for machine in machines))
    each = min(machine.memory_gb for machine in machines) * usable_share
    nodes = math.ceil(min(footprint_gb / each / step, _MOST_NODES) - 1e-9)
    return max(nodes, 1) * step


def scale_points(run: Run, first: int) -> tuple[scaling.ScalePoint, ...]:
    """Return the scaling curve of a run, in doublings from ``first`` unless it was measured."""
    if run.scaling is not None:
        return scaling.curve(run.scaling)
    sizes = [first * 2**power for power in range(_MOST_DOUBLINGS)]
    share = 0.0 if run.communication_share is None else run.communication_share
    return scaling.curve(scaling.amdahl_throughput(sizes, share))


def sizes_by_doubling(
    workload: Workload,
    machines: Sequence[Machine],
    *,
    footprint_gb: float,
    work_hours: float,
    limit_hours: float,
) -> tuple[tuple[SizeChoice, ...], SizeChoice]:
    """Return the sizes that hold the run and keep its time limit, and the fastest that pays.

    Parameters
    ----------
    workload : Workload
    machines : sequence of Machine
        Admissible ones.
    footprint_gb : float
        Memory of one copy.
    work_hours : float
        Reference GPU-hours of one run, failed runs included.
    limit_hours : float
        Longest a run may take; infinite when there is no limit.

    Returns
    -------
    choices : tuple of SizeChoice
        The smallest ones that keep the limit, at most ``MOST_SIZES``; empty when none does.
    fastest : SizeChoice
        The largest size that pays, whether it keeps the limit or not.
    """
    step = math.lcm(*(machine.gpus_per_node for machine in machines))
    first = smallest_size(footprint_gb, machines, workload.run.usable_share)
    points = scale_points(workload.run, first)
    last = scaling.last_paying(points).gpus
    speed = max(machine.relative_speed for machine in machines)
    wanted = [p.gpus for p in points if first <= p.gpus <= max(last, first) and p.gpus % step == 0]
    efficiency = scaling.gang_scaling(points, wanted or [first])
    choices = [
        SizeChoice(
            gpus=size,
            efficiency=share,
            run_hours=work_hours / (size * speed * share),
        )
        for size, share in efficiency.items()
    ]
    within = [choice for choice in choices if choice.run_hours <= limit_hours * (1.0 + 1e-9)]
    return tuple(within[:MOST_SIZES]), choices[-1]
