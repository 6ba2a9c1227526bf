"""Worked sheets of a scenario's workloads, among its own hardware, pools and prices."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gpuladder.economics import price_at
from gpuladder.errors import Problem, UsageError
from gpuladder.scenario.expand import expand
from gpuladder.scenario.schema import (
    Campaign,
    DedicatedOffer,
    ElasticCampaign,
    OnDemandOffer,
    Pool,
    PreemptionClass,
    ReservedOffer,
    Scenario,
    SpotOffer,
)
from gpuladder.scenario.workloads import machine, reference_of, refusal
from gpuladder.sizing.contracts import RESERVED_RATIO, break_even_utilisation
from gpuladder.sizing.memory import PricedMemory
from gpuladder.sizing.sheet import Interruptions, PlaceVerdict, Sheet, size
from gpuladder.sizing.spec import Cadence

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gpuladder.scenario.expand import Expanded
    from gpuladder.sizing.machine import Machine
    from gpuladder.sizing.spec import Workload

HOURS_PER_DAY = 24.0


def size_scenario(
    scenario: Scenario, campaign: str | None = None, warnings: Sequence[Problem] = ()
) -> tuple[Sheet, ...]:
    """Return the worked sheet of every campaign that states a workload, in file order.

    Parameters
    ----------
    scenario : Scenario
    campaign : str, optional
        Only this one.
    warnings : sequence of Problem
        Found while the scenario was read; those about a campaign are on its sheet too.

    Raises
    ------
    UsageError
        When there is no workload to size, or no such campaign.
    """
    chosen = [each for each in scenario.campaigns if campaign in (None, each.id)]
    if not chosen and campaign is not None:
        known = ", ".join(each.id for each in scenario.campaigns)
        raise UsageError(
            Problem(
                code="GL-U004", what=f"there is no campaign `{campaign}`", fix=f"one of: {known}"
            )
        )
    expanded = expand(scenario)
    sheets = [
        _with(_sheet(scenario, expanded, each, each.workload), warnings)
        for each in chosen
        if each.workload is not None
    ]
    if not sheets:
        raise UsageError(
            Problem(
                code="GL-U004",
                what="no campaign states a `workload`",
                why="stated GPU-hours leave nothing to size",
                fix="give a campaign a `workload`, or use `gpuladder size --params … --tokens …`",
            )
        )
    return tuple(sheets)


def _with(sheet: Sheet, warnings: Sequence[Problem]) -> Sheet:
    """Return a sheet with what was said of its campaign while the scenario was read."""
    own = [each for each in warnings if f" campaigns.{sheet.id}." in f" {each.where}."]
    found = {(each.code, each.what): each for each in (*sheet.warnings, *own)}
    return replace(sheet, warnings=tuple(found.values()))


def _sheet(scenario: Scenario, expanded: Expanded, campaign: Campaign, workload: Workload) -> Sheet:
    pools = [pool for pool in scenario.pools if refusal(campaign, pool) is None]
    kinds = {kind.id: kind for kind in scenario.hardware}
    used = list(dict.fromkeys(pool.hardware for pool in pools or scenario.pools))
    machines = [priced_machine(scenario, expanded, campaign, name) for name in used]
    reference = reference_of(workload, scenario.hardware)
    each_class = {item.id: item for item in scenario.preemption_classes}[campaign.preemption_class]
    window = (campaign.deadline - campaign.earliest).days * HOURS_PER_DAY
    spreads = isinstance(campaign, ElasticCampaign)
    if spreads and workload.time_limit is not None:  # only a gang has a limit, which is said
        workload = workload.model_copy(update={"time_limit": None})
    if workload.cadence is None and campaign.repeat is not None:
        repeat = campaign.repeat
        cadence = Cadence(every=repeat.every, count=repeat.count)
        workload = workload.model_copy(update={"cadence": cadence})
    terms = scenario.invoice
    storage = None if terms is None else terms.storage_per_gb_month
    return size(
        workload,
        machines,
        reference=None
        if reference is None
        else priced_machine(scenario, expanded, campaign, reference.id),
        choices=[
            PricedMemory(
                name,
                kinds[name].memory_gb,
                _price(scenario, expanded, campaign, name),
                kinds[name].gpus_per_node,
            )
            for name in used
        ],
        interruptions=interruptions(campaign, workload, each_class),
        name=campaign.id,
        gpus=_gpus(campaign, machines),
        spreads=spreads,
        waste=campaign.waste,
        window_hours=window,
        stated_gpu_hours=campaign.gpu_hours,
        places=[_verdict(scenario, campaign, pool, each_class) for pool in scenario.pools],
        start=campaign.earliest,
        once_in_days=float((expanded.grid.end - expanded.grid.start).days),
        storage_per_gb_month=None if storage is None else storage.high,
        reserved_ratio=_reserved_ratio(scenario, expanded, campaign, pools),
        currency=scenario.currency,
    )


def interruptions(campaign: Campaign, workload: Workload, each: PreemptionClass) -> Interruptions:
    """Return how a campaign is interrupted: by its class, and what its workload adds."""
    stated = each.checkpoint_interval_minutes
    return Interruptions(
        write_minutes=each.checkpoint_minutes,
        restart_minutes=each.restart_minutes,
        interval_minutes=None if stated == "auto" else stated,
        node_mtbf_hours=workload.checkpoints.node_mtbf_hours,
        spot_allowed=campaign.spot_share_max(each) > 0,
    )


def priced_machine(
    scenario: Scenario, expanded: Expanded, campaign: Campaign, name: str
) -> Machine:
    """Return a kind of hardware with the lowest metered prices on the campaign's first day.

    Only of pools in which the campaign may run.
    """
    kind = next(kind for kind in scenario.hardware if kind.id == name)
    return replace(
        machine(kind),
        price_per_gpu_hour=_price(scenario, expanded, campaign, name),
        spot_price_per_gpu_hour=_lowest(scenario, expanded, campaign, name, expanded.spot.values()),
    )


def _reserved_ratio(
    scenario: Scenario, expanded: Expanded, campaign: Campaign, pools: list[Pool]
) -> float:
    """Return the best reserved price over on demand in a pool; the usual one without both."""
    ratios = []
    start, day = scenario.horizon.start, campaign.earliest
    for pool in pools:
        metered = [each for each in expanded.on_demand.values() if each.pool == pool.id]
        held = [
            each
            for each in expanded.committed.values()
            if each.pool == pool.id and isinstance(each, ReservedOffer | DedicatedOffer)
        ]
        try:
            ratios += [
                break_even_utilisation(price_at(long, day, start), price_at(short, day, start))
                for long in held
                for short in metered
            ]
        except ValueError:  # no price on that day
            continue
    return min(ratios, default=RESERVED_RATIO)


def _price(
    scenario: Scenario, expanded: Expanded, campaign: Campaign, hardware: str
) -> float | None:
    return _lowest(scenario, expanded, campaign, hardware, expanded.on_demand.values())


def _lowest(
    scenario: Scenario,
    expanded: Expanded,
    campaign: Campaign,
    hardware: str,
    offers: Iterable[OnDemandOffer | SpotOffer],
) -> float | None:
    found = []
    for offer in offers:
        pool = expanded.pools[offer.pool]
        day = campaign.earliest
        gone = offer.available_until is not None and day >= offer.available_until
        if offer.available_from is not None and day < offer.available_from:
            gone = True
        if pool.hardware == hardware and not gone and refusal(campaign, pool) is None:
            try:
                found.append(price_at(offer, campaign.earliest, scenario.horizon.start))
            except ValueError:  # no price on that day
                continue
    return min(found, default=None)


def _verdict(
    scenario: Scenario, campaign: Campaign, pool: Pool, each: PreemptionClass
) -> PlaceVerdict:
    reason = refusal(campaign, pool)
    if reason is not None:
        return PlaceVerdict(place=pool.id, admissible=False, reason=reason)
    kinds = [offer.kind for offer in scenario.offers if offer.pool == pool.id]
    kinds += [held.kind for held in scenario.commitments if held.pool == pool.id]
    verdicts = [(kind, _barred(campaign, each, kind)) for kind in dict.fromkeys(kinds)]
    return PlaceVerdict(
        place=pool.id,
        admissible=True,
        reason="passes every filter",
        kinds=tuple(
            (kind.replace("_", " "), why is None, why or "nothing bars it")
            for kind, why in verdicts
        ),
    )


def _barred(campaign: Campaign, each: PreemptionClass, kind: str) -> str | None:
    """Return why a campaign may not use a kind of contract, or None when it may."""
    if campaign.tenancy == "dedicated" and kind not in ("dedicated", "owned"):
        return "it needs dedicated tenancy"
    if kind == "spot" and campaign.spot_share_max(each) <= 0.0:
        own = campaign.workload
        if own is not None and own.preemption == "never":
            return "its workload must not be stopped"
        return f"class `{each.id}` keeps all of it off spot"
    return None


def _gpus(campaign: Campaign, machines: list[Machine]) -> tuple[int, ...]:
    """Return the sizes of one run, smallest first."""
    if isinstance(campaign, ElasticCampaign):
        return (campaign.job_gpus or min(each.gpus_per_node for each in machines),)
    return tuple(sorted(campaign.gpus))
