"""Every campaign's work done, where, when and how it may be done."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpuladder.audit.facts import Facts, hour_of
from gpuladder.audit.findings import (
    ABSOLUTE_TOLERANCE_GPUS,
    QUANTITY_TOLERANCE,
    RELATIVE_TOLERANCE,
    Finding,
    exceeds,
    number,
)
from gpuladder.scenario.schema import Campaign, ElasticCampaign, GangCampaign

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from gpuladder.audit.quantities import Quantities
    from gpuladder.plan import Plan, Run
    from gpuladder.timegrid import FloatArray

_HOURS_TOLERANCE = 1e-6


def campaign_findings(facts: Facts, plan: Plan, placed: Quantities) -> Iterator[Finding]:
    """Check every campaign: who uses what, how much, and whether the work is done."""
    yield from _eligibility(facts, placed)
    for campaign in facts.tables.campaigns.values():
        if isinstance(campaign, ElasticCampaign):
            yield from _elastic_width(facts, placed, campaign)
            yield from _elastic_work(facts, placed, campaign)
            yield from _class_spot_share(facts, placed, campaign)
        else:
            yield from _gang_choice(plan, placed, campaign)
    for run, _ in placed.runs:
        yield from _run_mode(facts, run)


def spot_share_base(campaign: Campaign, dropped_share: float) -> float:
    """Return the work whose spot share is limited: what is done, dropped work left out."""
    return campaign.work * (1.0 - min(max(dropped_share, 0.0), 1.0))


def elastic_spot_room(campaign: ElasticCampaign, share: float, dropped_share: float) -> float:
    """Return the work that may still be done on spot, what was done before the horizon counted."""
    done = spot_share_base(campaign, dropped_share) + campaign.done_gpu_hours
    return share * done - campaign.done_spot_gpu_hours


def elastic_stable_work(facts: Facts, plan: Quantities, campaign: ElasticCampaign) -> float:
    """Return the work an elastic campaign does on stable capacity, reference GPU-hours."""
    return sum(
        float(np.dot(gpus, facts.hours)) * facts.elastic_speed(campaign, pool, None)
        for (name, pool), gpus in plan.stable.items()
        if name == campaign.id
    )


def elastic_spot_work(facts: Facts, plan: Quantities, campaign: ElasticCampaign) -> float:
    """Return the work an elastic campaign does on spot, reference GPU-hours."""
    return sum(
        float(np.dot(gpus, facts.hours))
        * facts.elastic_speed(campaign, facts.tables.spot[offer].pool, offer)
        for (name, offer), gpus in plan.spot.items()
        if name == campaign.id
    )


def dropped_share(plan: Quantities, campaign: Campaign) -> float:
    """Return the share of a campaign's work not done; 0 where dropping is not on offer."""
    return 0.0 if campaign.drop_cost is None else plan.dropped.get(campaign.id, 0.0)


def _eligibility(facts: Facts, plan: Quantities) -> Iterator[Finding]:
    campaigns = facts.tables.campaigns
    for (name, pool), gpus in plan.stable.items():
        campaign = campaigns[name]
        if not facts.admits(campaign, pool):
            yield _fault("eligibility", name, f"{name} may not run in {pool}", float(gpus.max()))
        yield from _outside_window(facts, campaign, pool, gpus)
    for (name, offer), gpus in plan.spot.items():
        campaign = campaigns[name]
        reason = _spot_refusal(facts, campaign, offer)
        if reason:
            yield _fault("eligibility", name, reason, float(gpus.max()))
        yield from _outside_window(facts, campaign, offer, gpus)


def _spot_refusal(facts: Facts, campaign: Campaign, offer: str) -> str:
    """Return why a campaign may not use a spot offer at all; empty when it may."""
    pool = facts.tables.spot[offer].pool
    most = campaign.spot_share_max(facts.class_of(campaign))
    if not facts.admits(campaign, pool):
        return f"{campaign.id} may not run in {pool}, the pool of spot offer {offer}"
    if campaign.tenancy == "dedicated":
        return f"{campaign.id} needs dedicated tenancy, but runs on spot offer {offer}"
    if most <= 0.0:
        return f"{campaign.id} is of class {campaign.preemption_class}, which never runs on spot"
    if isinstance(campaign, GangCampaign) and most < 1.0:
        return (
            f"{campaign.id} runs whole on spot offer {offer}, but its class allows "
            f"{number(most)} of its work there"
        )
    return ""


def _outside_window(
    facts: Facts, campaign: Campaign, place: str, gpus: FloatArray
) -> Iterator[Finding]:
    open_share = facts.share(campaign.earliest, campaign.deadline)
    for period in np.flatnonzero((open_share <= 0.0) & (gpus > ABSOLUTE_TOLERANCE_GPUS)).tolist():
        day = facts.grid.boundaries[period]
        text = (
            f"{campaign.id} uses {number(gpus[period])} GPUs of {place} in the period from {day}, "
            f"outside {campaign.earliest} to {campaign.deadline}"
        )
        yield _fault("eligibility", campaign.id, text, float(gpus[period]), day)


def _elastic_width(facts: Facts, plan: Quantities, campaign: ElasticCampaign) -> Iterator[Finding]:
    used = np.zeros(facts.num_periods)
    for table in (plan.stable, plan.spot):
        for (name, _), gpus in table.items():
            if name == campaign.id:
                used += gpus
    open_share = facts.share(campaign.earliest, campaign.deadline)
    most = campaign.max_gpus * open_share
    for period in np.flatnonzero(open_share > 0.0).tolist():
        scale = abs(used[period]) + most[period]
        if exceeds(used[period], most[period], scale, ABSOLUTE_TOLERANCE_GPUS):
            day = facts.grid.boundaries[period]
            text = (
                f"{campaign.id} uses {number(used[period])} GPUs in the period from {day}, "
                f"but can use {number(most[period])}"
            )
            excess = float(used[period] - most[period])
            yield _fault("elastic_width", campaign.id, text, excess, day)


def _elastic_work(facts: Facts, plan: Quantities, campaign: ElasticCampaign) -> Iterator[Finding]:
    stated = plan.dropped.get(campaign.id, 0.0)
    if campaign.drop_cost is None and stated > QUANTITY_TOLERANCE:
        text = f"{campaign.id} is mandatory, but {number(stated)} of it is dropped"
        yield _fault("elastic_work", campaign.id, text, stated * campaign.work)
    if stated > 1.0 + QUANTITY_TOLERANCE:
        text = f"{campaign.id}: {number(stated)} of it is dropped, more than all of it"
        yield _fault("elastic_work", campaign.id, text, (stated - 1.0) * campaign.work)
    done = elastic_stable_work(facts, plan, campaign) + elastic_spot_work(facts, plan, campaign)
    need = campaign.work * max(1.0 - stated, 0.0)
    if exceeds(need, done, abs(need) + done, _allowed_work(facts)):
        text = (
            f"{campaign.id}: {number(done)} of {number(need)} reference GPU-hours of work are done"
        )
        yield _fault("elastic_work", campaign.id, text, need - done)


def _class_spot_share(
    facts: Facts, plan: Quantities, campaign: ElasticCampaign
) -> Iterator[Finding]:
    share = campaign.spot_share_max(facts.class_of(campaign))
    if share <= 0.0:
        return
    spot = elastic_spot_work(facts, plan, campaign)
    base = spot_share_base(campaign, dropped_share(plan, campaign)) + campaign.done_gpu_hours
    most = elastic_spot_room(campaign, share, dropped_share(plan, campaign))
    if exceeds(spot, most, spot + abs(most), _allowed_work(facts)):
        before = campaign.done_spot_gpu_hours
        already = f" and {number(before)} were done before the horizon" if before else ""
        text = (
            f"{campaign.id}: {number(spot)} reference GPU-hours on spot, but its class allows "
            f"{number(share)} of {number(base)}{already}, which leaves {number(most)}"
        )
        yield _fault("class_spot_share", campaign.id, text, spot - most)


def _gang_choice(plan: Plan, placed: Quantities, gang: GangCampaign) -> Iterator[Finding]:
    modes = {
        (run.pool, run.spot_offer, run.gpus, run.start)
        for run in plan.runs
        if run.campaign == gang.id
    }
    dropped = placed.dropped.get(gang.id, 0.0)
    if gang.drop_cost is None and dropped > QUANTITY_TOLERANCE:
        text = f"{gang.id} is mandatory, but it is dropped"
        yield _fault("gang_choice", gang.id, text, dropped)
    elif abs(len(modes) + round(dropped) - 1) > QUANTITY_TOLERANCE:
        text = (
            f"{gang.id} runs in {len(modes)} modes and {number(dropped)} of it is dropped; "
            "it must run in exactly one mode or be dropped whole"
        )
        yield _fault("gang_choice", gang.id, text, abs(len(modes) + dropped - 1.0))


def _run_mode(facts: Facts, run: Run) -> Iterator[Finding]:
    gang = facts.tables.campaigns[run.campaign]
    if not isinstance(gang, GangCampaign):
        return
    if run.spot_offer is not None:
        reason = _spot_refusal(facts, gang, run.spot_offer)
        if reason:
            yield _fault("eligibility", gang.id, reason, float(run.gpus), run.start)
            return
    reasons = [*_place_refusals(facts, gang, run), *_time_refusals(facts, gang, run)]
    if reasons:
        text = f"{gang.id} on {run.gpus} GPUs from {run.start}: " + "; ".join(reasons)
        yield _fault("run_mode", gang.id, text, 0.0, run.start)


def _place_refusals(facts: Facts, gang: GangCampaign, run: Run) -> Iterator[str]:
    tables = facts.tables
    if gang.runs_on not in (None, run.spot_offer or run.pool):
        yield f"it runs on {gang.runs_on} already, and goes on there"
    if not facts.admits(gang, run.pool):
        yield f"it may not run in {run.pool}"
    if run.spot_offer is not None and tables.spot[run.spot_offer].pool != run.pool:
        yield f"spot offer {run.spot_offer} is not of {run.pool}"
    if run.gpus not in gang.gpus:
        yield f"its sizes are {', '.join(str(size) for size in gang.gpus)}"
        return
    node = facts.hardware_of(run.pool).gpus_per_node
    if run.gpus % node:
        yield f"nodes of {run.pool} have {node} GPUs"
        return
    due = facts.gang_hours(gang, run.pool, run.gpus, run.spot_offer)
    if not abs(run.hours - due) <= RELATIVE_TOLERANCE * due + _HOURS_TOLERANCE:
        yield f"it takes {number(due)} hours, not {number(run.hours)}"


def _time_refusals(facts: Facts, gang: GangCampaign, run: Run) -> Iterator[str]:
    finish = hour_of(facts, run.start) + run.hours
    slack = RELATIVE_TOLERANCE * run.hours + _HOURS_TOLERANCE
    if run.start not in facts.period_of:
        yield "no period of the grid begins then"
    if gang.runs_on is not None and run.start != facts.grid.start:
        yield f"it runs already, and cannot pause until {run.start}"
    if run.start < gang.earliest:
        yield f"its earliest start is {gang.earliest}"
    if finish > hour_of(facts, gang.deadline) + slack:
        late = finish - hour_of(facts, gang.deadline)
        yield f"it ends {number(late)} hours after its deadline {gang.deadline}"
    if finish > hour_of(facts, facts.grid.end) + slack:
        yield f"it ends after the horizon end {facts.grid.end}"
    if gang.max_duration is not None:
        most = gang.max_duration.days(run.start) * 24.0
        if run.hours > most + slack:
            yield f"it takes {number(run.hours)} hours, more than {gang.max_duration}"


def _allowed_work(facts: Facts) -> float:
    """Return the work forgiven in a row of GPU-hours."""
    return ABSOLUTE_TOLERANCE_GPUS * float(facts.hours.sum())


def _fault(code: str, key: str, text: str, amount: float, day: date | None = None) -> Finding:
    return Finding(code=code, key=key, period=day, message=text, amount=amount)
