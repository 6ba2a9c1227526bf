"""The steps of the worked sheet, each with its formula, its numbers and its source."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from gpuladder.sizing import checkpointing, contracts, memory, placement, scaling, work
from gpuladder.sizing.derive import checkpoint_gb, run_shape, scale_points, smallest_size
from gpuladder.sizing.sanity import short
from gpuladder.sizing.steps import Step
from gpuladder.sizing.work import Recompute

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpuladder.sizing.machine import Machine
    from gpuladder.sizing.sheet import Interruptions, Sheet
    from gpuladder.sizing.spec import Workload
    from gpuladder.sizing.work import Flops

_MINUTES = 60.0


def with_steps(
    sheet: Sheet,
    workload: Workload,
    interruptions: Interruptions,
    *,
    mean_hours: float,
    efficiency: float,
    waste: float,
    storage_per_gb_month: float | None,
    runs_per_month: float,
) -> Sheet:
    """Return the sheet with its steps written out."""
    steps = (
        *_work(sheet, workload),
        *_memory(sheet),
        *_cluster(sheet, workload, efficiency, waste),
        *_checkpoints(sheet, interruptions, mean_hours),
        *_market(
            sheet,
            workload,
            interruptions,
            storage_per_gb_month=storage_per_gb_month,
            runs_per_month=runs_per_month,
        ),
        *_cadence(sheet),
    )
    return replace(sheet, steps=steps)


def _work(sheet: Sheet, workload: Workload) -> Iterator[Step]:
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
    yield from _hours(sheet, workload)


def _hours(sheet: Sheet, workload: Workload) -> Iterator[Step]:
    low, expected, high = workload.mfu.band
    machine, place, flops = sheet.machine, sheet.place, sheet.run_flops
    price, generation = place.price_per_gpu_hour, workload.mfu.generation
    speed = "" if machine.relative_speed == 1 else f" × speed {machine.relative_speed:g}"
    runs = f" × {sheet.runs} runs" if sheet.runs > 1 else ""
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
                unit="currency",
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


def _memory(sheet: Sheet) -> Iterator[Step]:
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
            working=f"{fit.memory_gb:g} GB × {memory.USABLE_SHARE:g} ≥ {total:,.1f} GB",
            value=f"{fit.gpus}× {fit.hardware}, {price}",
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


def _cluster(sheet: Sheet, workload: Workload, efficiency: float, waste: float) -> Iterator[Step]:
    run = workload.run
    first = smallest_size(sheet.footprint.total_gb, (sheet.place,))
    if run.scaling is not None or run.communication_share is not None:
        points = scale_points(run, first)
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


def _checkpoints(sheet: Sheet, interruptions: Interruptions, mean_hours: float) -> Iterator[Step]:
    nodes = math.ceil(sheet.gpus / sheet.place.gpus_per_node)
    if math.isinf(mean_hours):
        return
    write = interruptions.write_minutes / _MINUTES
    restart = interruptions.restart_minutes / _MINUTES
    yield Step(
        section="checkpoints",
        name="mean time between interruptions of the run",
        formula="M = node hours ÷ nodes",
        working=f"{interruptions.node_mtbf_hours:,.0f} ÷ {nodes}",
        value=mean_hours,
        unit="hours",
        source=checkpointing.SERIES_SOURCE,
    )
    first_order = max(
        checkpointing.first_order_period_hours(mean_hours, write, restart) - write, 0.0
    )
    yield Step(
        section="checkpoints",
        name="best interval, first order",
        formula="sqrt(2 (M − R) C) − C",
        working=f"M {mean_hours:,.2f} h, R {restart * _MINUTES:g} min, C {write * _MINUTES:g} min",
        value=first_order * _MINUTES,
        unit="minutes",
        source=checkpointing.FIRST_ORDER_SOURCE,
    )
    yield Step(
        section="checkpoints",
        name="best interval, exact",
        formula="root of u + ln(1 − u) = −C/M, interval = u M",
        working=f"C/M = {write / mean_hours:.4g}, M {mean_hours:,.4g} h, by Newton's method",
        value=checkpointing.optimal_interval_hours(mean_hours, write) * _MINUTES,
        unit="minutes",
        source=checkpointing.DALY_SOURCE,
    )
    minutes = sheet.checkpoint_interval_minutes or 0.0
    interval = minutes / _MINUTES
    numbers = (
        f"τ {minutes:,.4g} min, M {mean_hours * _MINUTES:,.6g} min, R {restart * _MINUTES:g} min, "
        f"C {write * _MINUTES:g} min"
    )
    if interval > 0:
        yield Step(
            section="checkpoints",
            name="work lost to one interruption",
            formula="interval ÷ 2",
            working=f"{minutes:,.1f} ÷ 2",
            value=minutes / 2.0,
            unit="minutes",
            source="interruptions fall anywhere in an interval",
        )
        yield Step(
            section="checkpoints",
            name="goodput, first order",
            formula="(1 − (R + τ/2)/M) ÷ (1 + C/τ)",
            working=numbers,
            value=checkpointing.first_order_goodput(mean_hours, write, restart, interval),
            source="Kokolis et al. 2025, arXiv 2410.21680",
        )
    yield Step(
        section="checkpoints",
        name="goodput, exact",
        formula="τ ÷ (M exp(R/M) (exp((τ + C)/M) − 1))",
        working=numbers,
        value=sheet.goodput,
        source=checkpointing.DALY_SOURCE,
    )


def _market(
    sheet: Sheet,
    workload: Workload,
    interruptions: Interruptions,
    *,
    storage_per_gb_month: float | None,
    runs_per_month: float,
) -> Iterator[Step]:
    price = sheet.place.price_per_gpu_hour
    spot = sheet.place.spot_price_per_gpu_hour
    if price is None:
        return
    yield Step(
        section="market",
        name="price of a useful GPU-hour",
        formula="price ÷ (1 − lost share)",
        working=f"{price:g} ÷ {sheet.goodput:.4f}",
        value=checkpointing.effective_price(price, 1.0 - sheet.goodput),
        unit="currency",
        source="goodput is 1 less the lost share",
    )
    if spot is None or not interruptions.spot_allowed:
        return
    nodes = math.ceil(sheet.gpus / sheet.place.gpus_per_node)
    limit = checkpointing.break_even_mean_hours(
        spot,
        price,
        nodes=nodes,
        checkpoint_hours=interruptions.write_minutes / _MINUTES,
        restart_hours=interruptions.restart_minutes / _MINUTES,
        node_failures_per_hour=interruptions.failures_per_hour,
        interval_hours=None
        if interruptions.interval_minutes is None
        else interruptions.interval_minutes / _MINUTES,
    )
    yield Step(
        section="market",
        name="spot stops paying when a node is reclaimed more often than every",
        formula="spot ÷ η(failures + reclaims) = stable ÷ η(failures)",
        working=f"spot {spot:g}, stable {price:g}, {nodes} nodes",
        value="never pays" if limit is None else limit,
        unit="" if limit is None else "hours",
        source=checkpointing.DALY_SOURCE,
    )
    if storage_per_gb_month is None:
        return
    saved = sheet.gpu_hours / sheet.runs / sheet.place.relative_speed * (price - spot)
    monthly = checkpointing.storage_cost_per_month(
        checkpoint_gb(workload), storage_per_gb_month, 1.0
    )
    needed = checkpointing.break_even_runs(monthly, saved)
    verdict = "pays" if runs_per_month >= needed else "loses"
    yield Step(
        section="market",
        name="runs a month that must share the checkpoints' storage before spot saves",
        formula="storage a month ÷ saved per run",
        working=f"{monthly:,.2f} ÷ {saved:,.2f}; at {runs_per_month:.3g} runs a month spot "
        f"{verdict}, before what reclaims cost",
        value=needed,
        unit="runs",
        source=contracts.BREAK_EVEN_SOURCE,
    )


def _cadence(sheet: Sheet) -> Iterator[Step]:
    for form in sheet.forms:
        yield Step(
            section="cadence",
            name=form.form.replace("_", " "),
            formula="busy share against price ÷ on demand",
            working=form.reason,
            value="points to it" if form.fits else "does not",
            source=contracts.BREAK_EVEN_SOURCE,
        )
