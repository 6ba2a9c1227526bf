"""The steps of the worked sheet about checkpoints, prices and how often a run takes place."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gpuladder.sizing import checkpointing, contracts, memory
from gpuladder.sizing.derive import checkpoint_gb
from gpuladder.sizing.sanity import counted, short
from gpuladder.sizing.steps import Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpuladder.sizing.sheet import Interruptions, Sheet
    from gpuladder.sizing.spec import Workload

_MINUTES = 60.0


def checkpoint_steps(
    sheet: Sheet, workload: Workload, interruptions: Interruptions, mean_hours: float
) -> Iterator[Step]:
    """Yield what is kept, how often the run is interrupted, and what that costs it."""
    yield _kept(workload)
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


def market_steps(
    sheet: Sheet,
    workload: Workload,
    interruptions: Interruptions,
    *,
    storage_per_gb_month: float | None,
    runs_per_month: float,
    currency: str,
) -> Iterator[Step]:
    """Yield the price of a useful hour, and when spot stops paying for one."""
    price = sheet.place.price_per_gpu_hour
    spot = sheet.place.spot_price_per_gpu_hour
    kept = checkpoint_gb(workload)
    monthly: float | None = None
    if storage_per_gb_month is not None:
        monthly = checkpointing.storage_cost_per_month(kept, storage_per_gb_month)
        yield Step(
            section="market",
            name="keeping the checkpoints, a month",
            formula="GB × price a month",
            working=f"{kept:,.6g} × {storage_per_gb_month:g}",
            value=monthly,
            unit=currency,
            source="storage price of the catalogue or of the scenario",
        )
    if price is None:
        return
    yield Step(
        section="market",
        name="price of a useful GPU-hour",
        formula="price ÷ (1 − lost share)",
        working=f"{price:g} ÷ {sheet.goodput:.4f}",
        value=checkpointing.effective_price(price, 1.0 - sheet.goodput),
        unit=currency,
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
    rate = f": {checkpointing.HOURS_PER_DAY / limit:.3g} times a day" if limit else ""
    yield Step(
        section="market",
        name="spot stops paying when a node is reclaimed more often than every",
        formula="spot ÷ η(failures + reclaims) = stable ÷ η(failures)",
        working=f"spot {spot:g}, stable {price:g}, {counted(nodes, 'node')}{rate}",
        value=limit or ("never pays" if limit is None else "pays however often"),
        unit="hours" if limit else "",
        source=checkpointing.DALY_SOURCE,
    )
    if monthly is None:
        return
    saved = sheet.gpu_hours / sheet.runs / sheet.place.relative_speed * (price - spot)
    needed = checkpointing.break_even_runs(monthly, saved)
    verdict = "pays" if runs_per_month >= needed else "loses"
    yield Step(
        section="market",
        name="runs a month that must share the checkpoints' storage before spot saves",
        formula="storage a month ÷ saved per run",
        working=f"{monthly:,.2f} ÷ {saved:,.2f}; at {runs_per_month:.3g} runs a month spot "
        f"{verdict}, before what reclaims cost",
        value=needed if math.isfinite(needed) else "spot saves nothing",
        unit="runs" if math.isfinite(needed) else "",
        source=contracts.BREAK_EVEN_SOURCE,
    )


def cadence_steps(sheet: Sheet, workload: Workload) -> Iterator[Step]:
    """Yield the work of all times, and the contract forms that the rhythm points to."""
    cadence = workload.cadence
    if cadence is not None:
        yield Step(
            section="cadence",
            name=f"GPU-hours of all {counted(cadence.count, 'time')}, one every {cadence.every}",
            formula="GPU-hours × times",
            working=f"{sheet.gpu_hours:,.1f} × {cadence.count:,}",
            value=sheet.gpu_hours * cadence.count,
            unit="GPU-hours",
            source="the cadence",
        )
    for form in sheet.forms:
        yield Step(
            section="cadence",
            name=form.form.replace("_", " "),
            formula="busy share against price ÷ on demand",
            working=form.reason,
            value="points to it" if form.fits else "does not",
            source=contracts.BREAK_EVEN_SOURCE,
        )


def _kept(workload: Workload) -> Step:
    """Return the size of the checkpoints that are kept."""
    run, stated = workload.run, workload.checkpoints
    kept = f" × {stated.kept:g} kept" if stated.kept != 1 else ""
    formula, source = "as stated", "the workload"
    if stated.size_gb is not None:
        working = f"{stated.size_gb:,.6g}{kept}"
    else:
        each = f"{short(run.params)} × {memory.CHECKPOINT_BYTES:g}"
        formula, source = "N × 14 bytes", memory.CHECKPOINT_SOURCE
        if run.method in memory.ADAPTER_METHODS:
            each = f"{short(run.params)} × {memory.ADAPTER_SHARE:g} × {memory.CHECKPOINT_BYTES:g}"
            formula, source = "N × adapters' share × 14 bytes", memory.ADAPTER_SHARE_SOURCE
        working = each + kept
    return Step(
        section="checkpoints",
        name="checkpoints kept at once",
        formula=formula,
        working=working,
        value=checkpoint_gb(workload),
        unit="GB",
        source=source,
    )
