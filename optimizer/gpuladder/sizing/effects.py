"""Keys of a workload that count for nothing, and lines of it that contradict each other."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from gpuladder.errors import Problem, Severity
from gpuladder.sizing import memory
from gpuladder.sizing.derive import run_activations_gb, run_footprint
from gpuladder.sizing.sanity import FAR, nowhere, short
from gpuladder.sizing.scaling import curve
from gpuladder.sizing.spec import Run
from gpuladder.sizing.work import Method, Recompute

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpuladder.sizing.sanity import Where
    from gpuladder.sizing.spec import Workload

_NARROWEST_HEAD, _WIDEST_HEAD = 16.0, 1024.0
_MOST_CHECKPOINT_BYTES = 3.0 * memory.CHECKPOINT_BYTES
_LEAST_CHECKPOINT_BYTES = 2.0
_SUPERLINEAR = 1.1
_NOTABLE = 0.1
"""Activations below this share of a footprint are within what a rule of thumb can be wrong by."""


def unread(run: Run, where: Where = nowhere) -> Iterator[Problem]:
    """Yield keys of a run that count for nothing beside its others, each with the arithmetic.

    A key counts as stated when it is not the default.
    """

    def idle(key: str, what: str, why: str, fix: str = "leave it out") -> Problem:
        return Problem(
            code="GL-S918",
            where=where("run", key),
            what=what,
            why=why,
            fix=fix,
            severity=Severity.WARNING,
        )

    method = run.method.value
    if run.method is not Method.PRETRAINING:
        total = run_footprint(run).total_gb
        rule = f"the footprint of {method} is a rule of thumb, {total:,.1f} GB"
        alone = f"{run_activations_gb(run):,.1f} GB"
        if run.micro_batch != Run.model_fields["micro_batch"].default:
            yield idle(
                "micro_batch",
                f"`micro_batch` is {run.micro_batch:,}, and `method` is {method}",
                f"{rule} whatever the batch; its activations alone are {alone}",
                "leave it out, or lower `usable_share` to keep room for them",
            )
        if run.heads is not None:
            yield idle(
                "heads",
                f"`heads` is {run.heads:,}, and `method` is {method}",
                f"{rule} whatever the heads, and FLOPs do not depend on them",
            )
        if run.recompute is not Run.model_fields["recompute"].default and run.sequence is None:
            yield idle(
                "recompute",
                f"`recompute` is {run.recompute.value}, and `method` is {method}",
                f"{rule} whatever is computed again, and GPU-hours count model FLOPs alone",
                "give `sequence` to have activations held against the rule, or leave it out",
            )
        if run.layers is not None and run.sequence is None:
            yield idle(
                "layers",
                f"`layers` and `hidden` are {run.layers:,} and {run.hidden:,}, without `sequence`",
                f"attention is left out without a context, and {rule} whatever the shape",
                "give `sequence`, or leave them out",
            )
    elif run.heads is not None and run.recompute is not Recompute.NONE:
        yield idle(
            "heads",
            f"`heads` is {run.heads:,}, and `recompute` is {run.recompute.value}",
            "heads count in the memory of attention alone, which is computed again, not kept",
            "write `recompute: none`, or leave it out",
        )
    quantised = memory.QUANTISED_BYTES
    if run.method is Method.QLORA and run.weight_bytes not in (memory.WEIGHT_BYTES, quantised):
        used = run.params * quantised * memory.ADAPTER_FACTOR / memory.BYTES_PER_GB
        stated = used * run.weight_bytes / quantised
        yield idle(
            "weight_bytes",
            f"`weight_bytes` is {run.weight_bytes:g}, and `method` is qlora",
            f"QLoRA holds its weights in 4 bits: {short(run.params)} × {quantised:g} × "
            f"{memory.ADAPTER_FACTOR:g} are {used:,.1f} GB; at {run.weight_bytes:g} bytes they "
            f"would be {stated:,.1f}",
            "leave it out, or write `method: lora`",
        )
    if run.scaling is not None and len(run.scaling) == 1:
        (size,) = run.scaling
        yield idle(
            "scaling",
            f"`scaling` has one size, {size:,} GPUs",
            "throughput at one size says nothing of another: each would be as efficient",
            "measure a second size, or give `communication_share`",
        )


def contradictions(workload: Workload, where: Where = nowhere) -> Iterator[Problem]:
    """Yield lines of a workload that cannot both be meant, each with the arithmetic."""

    def doubt(keys: tuple[str, ...], what: str, why: str, fix: str) -> Problem:
        return Problem(
            code="GL-S917",
            where=where(*keys),
            what=what,
            why=why,
            fix=fix,
            severity=Severity.WARNING,
        )

    run = workload.run
    if run.layers is not None and run.hidden is not None:
        shaped = 12.0 * run.layers * run.hidden**2
        if not run.active / FAR <= shaped <= run.params * FAR:
            yield doubt(
                ("run", "layers"),
                f"12 × {run.layers:,} layers × {run.hidden:,}² are {short(shaped)} parameters; "
                f"{short(run.active)} was given",
                "attention and activations follow the shape, all else the parameters",
                "correct `layers` and `hidden`, or `params`",
            )
        if run.heads is not None:
            width = run.hidden / run.heads
            if not _NARROWEST_HEAD <= width <= _WIDEST_HEAD:
                yield doubt(
                    ("run", "heads"),
                    f"{run.hidden:,} wide ÷ {run.heads:,} heads are {width:,.4g} a head",
                    f"heads are {_NARROWEST_HEAD:g} to {_WIDEST_HEAD:,.0f} wide, mostly 128",
                    "correct `heads` or `hidden`",
                )
    if run.sequence is not None and run.tokens < run.micro_batch * run.sequence:
        yield doubt(
            ("run", "sequence"),
            f"one micro-batch of {run.micro_batch:,} × {run.sequence:,} tokens is more than all "
            f"{run.tokens:,.6g} tokens of the run",
            "the run would be over before its first step",
            "correct `tokens`, `sequence` or `micro_batch`",
        )
    learns = run.method is Method.RL
    if run.generated_tokens > 0 and not learns:
        yield doubt(
            ("run", "generated_tokens"),
            f"`generated_tokens` is {short(run.generated_tokens)} and `method` is "
            f"{run.method.value}",
            "rollouts are counted, and only reinforcement learning has them",
            "write `method: rl`, or leave the tokens out",
        )
    if learns and run.generated_tokens == 0:
        yield doubt(
            ("run",),
            "`method` is rl, and no `generated_tokens` are given",
            "rollouts are most of such a run's time and are left out",
            "give the tokens that are generated in one run",
        )
    generation = workload.mfu.generation
    if generation is not None and run.generated_tokens == 0:
        yield doubt(
            ("mfu", "generation"),
            f"`mfu.generation` is {generation:g}, and nothing is generated",
            "it counts for nothing",
            "give `generated_tokens`, or leave it out",
        )
    yield from _curve(run, where)
    yield from _checkpoint(workload, where)


def unruled_activations(run: Run, where: Where = nowhere) -> Iterator[Problem]:
    """Yield activations of a fine-tune's context that its rule of thumb has no room for."""
    if run.method is Method.PRETRAINING or run.sequence is None:
        return
    total = run_footprint(run).total_gb
    room = memory.activation_room_gb(run.method, run.params, run.weight_bytes)
    needed = run_activations_gb(run)
    if needed <= max(room, _NOTABLE * total):
        return
    yield Problem(
        code="GL-S920",
        where=where("run", "sequence"),
        what=f"activations of {run.micro_batch:,} × {run.sequence:,} tokens are {needed:,.1f} GB "
        f"with `recompute: {run.recompute.value}`; the rule of thumb of {run.method.value}, "
        f"{total:,.1f} GB, leaves {room:,.1f} for them",
        why=f"one copy would need up to {total + needed - room:,.1f} GB, and nodes are chosen by "
        f"{total:,.1f}",
        fix="write `recompute: full` if all is computed again, or take a larger node",
        severity=Severity.WARNING,
    )


def _curve(run: Run, where: Where) -> Iterator[Problem]:
    """Yield measured points that no cluster shows: more work from each of more GPUs, or less."""
    if run.scaling is None:
        return
    points = curve(run.scaling)
    for before, point in itertools.pairwise(points):
        if point.throughput < before.throughput:
            what = (
                f"{point.gpus:,} GPUs do {point.throughput:g}, less than {before.gpus:,}, which do "
                f"{before.throughput:g}"
            )
        elif point.efficiency > _SUPERLINEAR:
            what = (
                f"{point.gpus:,} GPUs do {point.throughput:g}: {point.efficiency:.3g} times as "
                f"much each as {points[0].gpus:,}, which do {points[0].throughput:g}"
            )
        else:
            continue
        yield Problem(
            code="GL-S917",
            where=where("run", "scaling"),
            what=what,
            why="throughput grows with a cluster, and never faster than it; it is of the whole "
            "cluster, not of one GPU",
            fix="give the throughput of the whole cluster at each size",
            severity=Severity.WARNING,
        )


def _checkpoint(workload: Workload, where: Where) -> Iterator[Problem]:
    """Yield a checkpoint that is too small to go on from, or too large for its model."""
    size, run = workload.checkpoints.size_gb, workload.run
    if size is None:
        return
    usual = memory.checkpoint_gb(run.method, run.params)
    most = run.params * _MOST_CHECKPOINT_BYTES / memory.BYTES_PER_GB
    least = run.params * _LEAST_CHECKPOINT_BYTES / memory.BYTES_PER_GB
    if run.method in memory.ADAPTER_METHODS:
        least = 0.0
    if least <= size <= most:
        return
    each = size * memory.BYTES_PER_GB / run.params
    yield Problem(
        code="GL-S917",
        where=where("checkpoints", "size_gb"),
        what=f"`size_gb` is {size:,.6g}: {each:.3g} bytes for each of {short(run.params)} "
        "parameters",
        why="training goes on from weights, momentum and variance: "
        f"{memory.CHECKPOINT_BYTES:g} bytes each, {usual:,.6g} GB in all",
        fix="correct `size_gb` or `params`, or leave `size_gb` out",
        severity=Severity.WARNING,
    )
