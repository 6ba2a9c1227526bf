"""The steps of the worked sheet, each with its formula, its numbers and its source."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from gpuladder.sizing import checkpointing, memory, placement, scaling, work
from gpuladder.sizing.derive import run_activations_gb, run_shape
from gpuladder.sizing.sanity import counted, short
from gpuladder.sizing.sheet_market import cadence_steps, checkpoint_steps, market_steps
from gpuladder.sizing.steps import Step
from gpuladder.sizing.work import Method, Recompute

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gpuladder.sizing.machine import Machine
    from gpuladder.sizing.sheet import Interruptions, Sheet
    from gpuladder.sizing.spec import Workload
    from gpuladder.sizing.work import Flops


def with_steps(
    sheet: Sheet,
    workload: Workload,
    interruptions: Interruptions,
    *,
    mean_hours: float,
    efficiency: float,
    points: Sequence[scaling.ScalePoint],
    waste: float,
    limit_hours: float,
    storage_per_gb_month: float | None,
    runs_per_month: float,
    currency: str,
) -> Sheet:
    """Return the sheet with its steps written out."""
    steps = (
        *_work(sheet, workload, currency),
        *_memory(sheet, workload),
        *_cluster(sheet, workload, points, efficiency, waste),
        *_limit(sheet, limit_hours),
        *checkpoint_steps(sheet, workload, interruptions, mean_hours),
        *market_steps(
            sheet,
            workload,
            interruptions,
            storage_per_gb_month=storage_per_gb_month,
            runs_per_month=runs_per_month,
            currency=currency,
        ),
        *cadence_steps(sheet, workload),
    )
    return replace(sheet, steps=steps)


def _work(sheet: Sheet, workload: Workload, currency: str) -> Iterator[Step]:
    run, flops = workload.run, sheet.run_flops
    each = work.parameter_flops_per_token(run.method)
    active = "N_active" if run.active_params is not None else "N"
    shape, layers = run_shape(run), ""
    if shape is not None:
        layers = f"{shape.layers:.6g} × {shape.hidden:.6g} × {shape.sequence:g}"
    guessed = f" (L and d guessed from {active})" if run.layers is None else ""
    yield Step(
        section="work",
        name="products with the weights, one run",
        formula=f"{each:g} {active} D",
        working=f"{each:g} × {short(run.active)} × {short(run.tokens)}",
        value=flops.parameters,
        unit="FLOP",
        source=work.LORA_SOURCE if each < 6 else work.PARAMETER_SOURCE,
    )
    if flops.attention:
        yield Step(
            section="work",
            name="products between tokens, one run",
            formula="12 L d s D",
            working=f"12 × {layers} × {short(run.tokens)}{guessed}",
            value=flops.attention,
            unit="FLOP",
            source=work.ATTENTION_SOURCE,
        )
    if flops.generation:
        yield Step(
            section="work",
            name="rollouts, one run",
            formula=f"(2 {active} + 2 L d s) per token"
            if flops.attention
            else f"2 {active} per token",
            working=f"(2 × {short(run.active)} + 2 × {layers}) × "
            f"{short(run.generated_tokens)}{guessed}"
            if flops.attention
            else f"2 × {short(run.active)} × {short(run.generated_tokens)}",
            value=flops.generation,
            unit="FLOP",
            source=work.PARAMETER_SOURCE,
        )
    if flops.recomputation and run.recompute is not Recompute.NONE:
        yield Step(
            section="work",
            name="computed twice to save memory (hardware FLOPs, not in the hours)",
            formula="2 N D + 4 L d s D" if run.recompute is Recompute.FULL else "4 L d s D",
            working=(
                f"2 × {short(run.active)} × {short(run.tokens)} + "
                if run.recompute is Recompute.FULL
                else ""
            )
            + (f"4 × {layers} × {short(run.tokens)}{guessed}" if flops.attention else "no context"),
            value=flops.recomputation,
            unit="FLOP",
            source=work.RECOMPUTATION_SOURCE,
        )
        expected = workload.mfu.expected
        yield Step(
            section="work",
            name="hardware FLOPs utilisation at the expected MFU",
            formula="HFU = MFU × hardware FLOPs ÷ model FLOPs, of training",
            working=f"{expected:g} × {flops.training + flops.recomputation:.4g} ÷ "
            f"{flops.training:.4g}",
            value=expected * (1.0 + flops.recomputation / flops.training),
            source=work.RECOMPUTATION_SOURCE,
        )
    yield from _hours(sheet, workload, currency)


def _hours(sheet: Sheet, workload: Workload, currency: str) -> Iterator[Step]:
    yield Step(
        section="work",
        name=f"peak of {sheet.machine.id}, dense BF16",
        formula="without sparsity",
        working=f"nodes of {sheet.machine.gpus_per_node} × {sheet.machine.memory_gb:g} GB",
        value=sheet.machine.peak_tflops,
        unit="TFLOPS",
        source=sheet.machine.source,
    )
    low, expected, high = workload.mfu.band
    machine, place, flops = sheet.machine, sheet.place, sheet.run_flops
    price, generation = place.price_per_gpu_hour, workload.mfu.generation
    speed = "" if machine.relative_speed == 1 else f" × speed {machine.relative_speed:g}"
    runs = f" × {counted(sheet.runs, 'run')}" if sheet.runs > 1 else ""
    band = (
        ("low MFU", low, sheet.hours.most),
        ("expected MFU", expected, sheet.hours.expected),
        ("high MFU", high, sheet.hours.fewest),
    )
    for name, share, hours in band if low < high else (band[1],):
        yield Step(
            section="work",
            name=f"GPU-hours at the {name}",
            formula="FLOPs ÷ (peak × MFU)",
            working=_division(flops, machine, share, generation) + runs + speed,
            value=hours,
            unit="GPU-hours",
            source=work.MFU_SOURCE,
        )
        if price is not None:
            yield Step(
                section="work",
                name=f"compute at the {name}",
                formula="GPU-hours × price",
                working=f"{hours / place.relative_speed:,.1f} × {price:g}, on {place.id}",
                value=hours / place.relative_speed * price,
                unit=currency,
                source="price of the catalogue or of the scenario",
            )
    if low < high:
        yield Step(
            section="work",
            name="bill at the low MFU over the bill at the high one",
            formula="MFU high ÷ MFU low",
            working=f"{high:g} ÷ {low:g}",
            value=work.bill_ratio(low, high),
            source="MFU divides the bill; utilisation (busy ÷ allocated) is another loss",
        )


def _division(flops: Flops, machine: Machine, share: float, generation: float | None) -> str:
    """Return the working of GPU-hours; rollouts may have an MFU of their own."""
    peak = f"{machine.peak_tflops:g}e12 of {machine.id}"
    if generation is None or not flops.generation:
        return f"{flops.model:.4g} ÷ ({peak} × {share:g} × 3,600)"
    return (
        f"{flops.training:.4g} ÷ ({peak} × {share:g} × 3,600) + "
        f"{flops.generation:.4g} ÷ ({peak} × {generation:g} × 3,600)"
    )


def _memory(sheet: Sheet, workload: Workload) -> Iterator[Step]:
    run = workload.run
    for item in sheet.footprint.items:
        yield Step(
            section="memory",
            name=item.name,
            formula=item.formula,
            working=item.working,
            value=item.gb,
            unit="GB",
            source=item.source,
        )
    total = sheet.footprint.total_gb
    yield Step(
        section="memory",
        name="footprint of one copy",
        formula="sum",
        working=" + ".join(f"{item.gb:,.1f}" for item in sheet.footprint.items),
        value=total,
        unit="GB",
        source="the lines above",
    )
    if run.method not in (Method.PRETRAINING, *memory.ADAPTER_METHODS):
        states = run.weight_bytes * 2.0 + memory.OPTIMISER_BYTES
        yield Step(
            section="memory",
            name="if optimiser states are in single precision (mixed precision), not counted",
            formula="N × bytes",
            working=f"{run.params:.4g} × {states:g}",
            value=run.params * states / memory.BYTES_PER_GB,
            unit="GB",
            source=memory.STATE_SOURCE,
        )
    if run.method is not Method.PRETRAINING and run.sequence is not None:
        room = memory.activation_room_gb(run.method, run.params, run.weight_bytes)
        yield Step(
            section="memory",
            name=f"activations of a micro-batch ({run.recompute.value} recomputation), not counted",
            formula="against what the rule leaves for them at most",
            working=f"s {run.sequence:g}, b {run.micro_batch:g}; the rule leaves {room:,.1f} GB",
            value=run_activations_gb(run),
            unit="GB",
            source=memory.ACTIVATION_SOURCE,
        )
    for name, fit in (
        ("smallest node that fits", memory.smallest(sheet.fits)),
        ("cheapest node that fits", memory.cheapest(sheet.fits)),
    ):
        if fit is None:
            continue
        price = "no price" if fit.price_per_hour is None else f"{fit.price_per_hour:,.2f} per hour"
        yield Step(
            section="memory",
            name=name,
            formula="memory × GPUs × usable share ≥ footprint",
            working=f"{fit.memory_gb:g} GB × {run.usable_share:g} ≥ {total:,.1f} GB",
            value=f"{fit.gpus}× {fit.hardware}, {price}",
            source="nodes of 1, 2, 4 and 8; ties go to fewer GPUs",
        )
    if not sheet.fits:
        yield Step(
            section="memory",
            name="smallest node that fits",
            formula="memory × GPUs × usable share ≥ footprint",
            working=f"no node has {total:,.1f} ÷ {run.usable_share:g} = "
            f"{total / run.usable_share:,.1f} GB",
            value="none: one copy is spread over nodes",
            source="nodes of 1, 2, 4 and 8; ties go to fewer GPUs",
        )
    yield Step(
        section="placement",
        name="node or rack",
        formula="rack only if footprint > node AND pieces talk constantly",
        working=sheet.verdict.reason,
        value=sheet.verdict.fabric,
        source=placement.SOURCE,
    )
    for place in sheet.places:
        yield Step(
            section="placement",
            name=f"pool {place.place}",
            formula="all filters hold",
            working=place.reason,
            value="admissible" if place.admissible else "not admissible",
            source="the campaign's filters and the tests above",
        )
        for kind, usable, reason in place.kinds:
            yield Step(
                section="placement",
                name=f"{kind} in pool {place.place}",
                formula="on offer, and not barred",
                working=reason,
                value="admissible" if usable else "not admissible",
                source="the offers of the scenario and the preemption class",
            )


def _cluster(
    sheet: Sheet,
    workload: Workload,
    points: Sequence[scaling.ScalePoint],
    efficiency: float,
    waste: float,
) -> Iterator[Step]:
    run = workload.run
    if run.scaling is not None or run.communication_share is not None:
        last = scaling.last_paying(points)
        following = next((point for point in points if point.gpus > last.gpus), None)
        after = (
            "the curve ends there"
            if following is None
            else f"devices up to {following.gpus:,} add {following.marginal_share:.2f} of one each"
        )
        yield Step(
            section="cluster",
            name="largest size at which a further device pays",
            formula=f"added throughput per device ≥ {scaling.PAYING_SHARE:g} of the first size's",
            working=after,
            value=float(last.gpus),
            unit="GPUs",
            source="measured points" if run.scaling is not None else scaling.AMDAHL_SOURCE,
        )
    yield Step(
        section="cluster",
        name="length of one run",
        formula="GPU-hours × (1 + failed share) ÷ (GPUs × speed × efficiency × goodput) ÷ 24",
        working=f"{sheet.gpu_hours / sheet.runs:,.1f} × {1 + waste:g} ÷ ({sheet.gpus:,} × "
        f"{sheet.place.relative_speed:g} × {efficiency:.4g} × {sheet.goodput:.4f}) ÷ 24, "
        f"on {sheet.place.id}",
        value=sheet.run_hours / checkpointing.HOURS_PER_DAY,
        unit="days",
        source="the steps above",
    )


def _limit(sheet: Sheet, limit_hours: float) -> Iterator[Step]:
    """Yield the time a run has, where it is limited."""
    if math.isinf(limit_hours):
        return
    days = sheet.run_hours / checkpointing.HOURS_PER_DAY
    limit = limit_hours / checkpointing.HOURS_PER_DAY
    yield Step(
        section="cluster",
        name="time that one run has",
        formula="the shorter of its time limit and its window",
        working=f"takes {days:,.4g} of {limit:,.4g} days: {'kept' if days <= limit else 'missed'}",
        value=limit,
        unit="days",
        source="the time limit, and the days from the earliest start to the deadline",
    )
