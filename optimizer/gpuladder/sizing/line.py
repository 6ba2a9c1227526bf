"""One workload without a scenario: on the hardware and at the prices of the catalogue."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, Self

from pydantic import model_validator

from gpuladder.errors import Problem, Severity, UsageError
from gpuladder.fields import Day, PositiveCount, PositiveWhole, Record
from gpuladder.sizing import catalogue, derive
from gpuladder.sizing.machine import Machine, machine_of
from gpuladder.sizing.sanity import nowhere
from gpuladder.sizing.sheet import HOURS_PER_DAY, Interruptions, Sheet, size
from gpuladder.sizing.spec import Workload

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from gpuladder.sizing.catalogue import HardwareSpec, MarketRates, PriceQuote
    from gpuladder.sizing.memory import PricedMemory
    from gpuladder.sizing.placement import Verdict
    from gpuladder.sizing.sanity import Where

DEFAULT_MFU = {"low": 0.35, "expected": 0.40, "high": 0.55}
"""Between what 512 H100 reach on small models and what one well-tuned node reaches."""
NODE_MTBF_HOURS = 6334.0
"""Llama 3: 419 interruptions of 2,048 nodes in 54 days (arXiv 2407.21783, sec. 3.3.4)."""
WRITE_MINUTES, RESTART_MINUTES = 5.0, 15.0


class Question(Record):
    """A workload to be sized without a scenario."""

    workload: Workload
    gpus: PositiveWhole | None = None
    """GPUs of one run; the fewest that keep its limit when left out."""
    gpu_hours: PositiveCount | None = None
    """Stated GPU-hours, to be held against the workload's."""
    earliest: Day | None = None
    """First day of the run."""
    deadline: Day | None = None
    """Day by which it is done (exclusive)."""
    price_kind: Literal["on_demand", "spot"] = "on_demand"
    """Prices of the catalogue for the nodes that fit."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if (self.earliest is None) != (self.deadline is None):
            msg = "`earliest` and `deadline` are given together or not at all; add the other one"
            raise ValueError(msg)
        if self.earliest is not None and self.deadline is not None:
            days = (self.deadline - self.earliest).days
            if days <= 0:
                msg = (
                    f"`deadline` ({self.deadline}) is not after `earliest` ({self.earliest}); "
                    "a run needs a day at least"
                )
                raise ValueError(msg)
        return self


def size_line(
    question: Question,
    *,
    today: date,
    own: Sequence[PricedMemory] | None = None,
    where: Where = nowhere,
) -> Sheet:
    """Size a workload on hardware of the catalogue.

    The MFU is one of ``mfu.hardware``, or of the first hardware of ``placement``; other hardware is
    taken to be faster or slower by its peak, at the same MFU.

    Parameters
    ----------
    question : Question
    today : datetime.date
        Day against which prices are judged old.
    own : sequence of PricedMemory, optional
        A catalogue of the user's own, in place of the one that comes with the program.
    where : callable
        Returns where a key was written.

    Raises
    ------
    UsageError
        When hardware or a provider is not in the catalogue, or inputs contradict each other.
    """
    workload = question.workload
    place, checkpoints = workload.placement, workload.checkpoints
    named = [
        catalogue.hardware(name, where("workload", "placement", "hardware"))
        for name in place.hardware or ()
    ]
    reference = catalogue.DEFAULT_HARDWARE if not named else named[0].id
    measured = catalogue.hardware(
        workload.mfu.hardware or reference, where("workload", "mfu", "hardware")
    )
    specs = named or [measured]
    _refuse_unknown_providers(question, own, where)
    quotes = {kind: _quotes(kind, workload) for kind in ("on_demand", "spot")}
    choices = own if own is not None else catalogue.priced_memory(quotes[question.price_kind])
    if named:
        ids = {spec.id for spec in named}
        choices = [each for each in choices if _id_of(each.hardware) in ids]
    mtbf = checkpoints.node_mtbf_hours

    def machine(spec: HardwareSpec) -> Machine:
        metered = quotes["on_demand"].get(spec.id)
        spot = quotes["spot"].get(spec.id)
        found = machine_of(
            spec,
            price_per_gpu_hour=None if metered is None else metered.price_per_gpu_hour,
            spot_price_per_gpu_hour=None if spot is None else spot.price_per_gpu_hour,
            node_mtbf_hours=NODE_MTBF_HOURS if mtbf is None else mtbf,
            relative_speed=spec.peak_tflops / measured.peak_tflops,
        )
        if own is None:
            return found
        return replace(
            found,
            price_per_gpu_hour=catalogue.price_in(own, spec),
            spot_price_per_gpu_hour=None,
        )

    machines = [machine(spec) for spec in specs]
    verdict = derive.reach(workload.run, derive.run_footprint(workload.run).total_gb, machines)
    racks = [each for each, spec in zip(machines, specs, strict=True) if spec.fabric == "rack"]
    if verdict.fabric == "rack" and racks:
        machines = racks
    rates = catalogue.rate_rows()["hyperscaler"]
    warnings = _doubts(question, machines, own, where)
    if verdict.fabric == "rack" and not racks:
        warnings.append(_no_rack(machines, verdict, where))
    if own is None:
        dated: list[PriceQuote | MarketRates] = [
            *quotes["on_demand"].values(),
            *quotes["spot"].values(),
            rates,
        ]
        old = catalogue.stale(dated, today)
        warnings += [] if old is None else [old]
    window = math.inf
    if question.earliest is not None and question.deadline is not None:
        window = (question.deadline - question.earliest).days * HOURS_PER_DAY
    interval = checkpoints.interval_minutes
    return size(
        workload,
        machines,
        reference=machine(measured),
        choices=choices,
        interruptions=Interruptions(
            write_minutes=_default(checkpoints.write_minutes, WRITE_MINUTES),
            restart_minutes=_default(checkpoints.restart_minutes, RESTART_MINUTES),
            interval_minutes=None if interval == "auto" else interval,
            node_mtbf_hours=_default(mtbf, NODE_MTBF_HOURS),
            spot_allowed=workload.preemption != "never",
        ),
        gpus=question.gpus,
        window_hours=window,
        stated_gpu_hours=question.gpu_hours,
        warnings=warnings,
        where=lambda *keys: where(*keys if keys == ("gpu_hours",) else ("workload", *keys)),
        start=question.earliest,
        storage_per_gb_month=rates.storage_per_gb_month[1],
        currency=rates.currency,
    )


def _quotes(kind: catalogue.PriceKind, workload: Workload) -> dict[str, PriceQuote]:
    place = workload.placement
    return catalogue.lowest_prices(kind, verified_only=place.verified, providers=place.providers)


def _id_of(name: str) -> str:
    spec = catalogue.find_hardware(name)
    return name if spec is None else spec.id


def _default(value: float | None, default: float) -> float:
    return default if value is None else value


def _refuse_unknown_providers(
    question: Question, own: Sequence[PricedMemory] | None, where: Where
) -> None:
    """Refuse providers without a price, and filters that a catalogue of one's own cannot apply."""
    place = question.workload.placement
    if own is not None and (place.providers is not None or place.verified):
        key = "verified" if place.providers is None else "providers"
        raise UsageError(
            Problem(
                code="GL-U005",
                where=where("workload", "placement", key),
                what=f"`{key}` would count for nothing",
                why="--catalogue gives the prices, and does not say whose they are",
                fix="leave it out, or leave the catalogue out",
            )
        )
    known = sorted({quote.provider for quote in catalogue.price_rows().values()})
    for name in place.providers or ():
        if name not in known:
            raise UsageError(
                Problem(
                    code="GL-S901",
                    where=where("workload", "placement", "providers"),
                    what=f"`{name}` is not in the prices",
                    fix=f"one of: {', '.join(known)}",
                )
            )


def _doubts(
    question: Question,
    machines: Sequence[Machine],
    own: Sequence[PricedMemory] | None,
    where: Where,
) -> list[Problem]:
    """Return what the catalogue cannot say, and prices that the run may not use."""
    found, place = [], question.workload.placement

    def doubt(code: str, key: tuple[str, ...], what: str, why: str, fix: str) -> None:
        found.append(
            Problem(
                code=code,
                where=where(*key),
                what=what,
                why=why,
                fix=fix,
                severity=Severity.WARNING,
            )
        )

    if place.residency is not None:
        doubt(
            "GL-S918",
            ("workload", "placement", "residency"),
            f"`residency` is {', '.join(place.residency)}",
            "the catalogue does not say where machines stand: nothing is filtered by it",
            "size a scenario, whose pools have `residency`",
        )
    if question.price_kind == "spot" and question.workload.preemption == "never":
        doubt(
            "GL-S917",
            ("price_kind",),
            "nodes are priced on spot, and the run must not be stopped",
            "spot may be taken back in the middle of it",
            "leave one of the two out",
        )
    unpriced = [each.id for each in machines if each.price_per_gpu_hour is None]
    stated = place.hardware or question.workload.mfu.hardware
    if unpriced and (own is None or stated):
        asked = "the catalogue given" if own is not None else "the catalogue"
        whose = f" of {', '.join(place.providers)}" if place.providers else ""
        doubt(
            "GL-S901",
            ("workload", "placement", "hardware"),
            f"no price on demand for {', '.join(unpriced)}{whose} in {asked}",
            "its bill is left out",
            "give prices of your own with --catalogue, or take other providers",
        )
    return found


def _no_rack(machines: Sequence[Machine], verdict: Verdict, where: Where) -> Problem:
    """Return the warning that no hardware of a run has links that reach as far as it needs."""
    return Problem(
        code="GL-S914",
        where=where("workload", "run", "communication"),
        what=f"the run needs a rack, and links of {', '.join(each.id for each in machines)} end "
        "at the node",
        why=verdict.reason,
        fix="place it on hardware whose links span a rack, on larger nodes, or let its pieces talk "
        "between steps alone (`communication: periodic`)",
        severity=Severity.WARNING,
    )
