"""The calendar: what each campaign gets, where and when, and what it costs."""

from __future__ import annotations

import math
from collections import defaultdict
from datetime import date, timedelta
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.analysis.frame import TOLERANCE_GPUS, Frame, ratio
from gpuladder.analysis.result import CampaignRow, CampaignUseRow
from gpuladder.analysis.usage import total
from gpuladder.scenario.schema import Campaign, ElasticCampaign
from gpuladder.timegrid import HOURS_PER_DAY, FloatArray

if TYPE_CHECKING:
    from gpuladder.analysis.ledger import Ledger
    from gpuladder.analysis.run_cost import Attribution
    from gpuladder.plan import Run

SHARE_TOLERANCE = 1e-6

Place = tuple[str, str | None]
"""A pool, and the spot offer in it (None on stable capacity)."""


def uses_of(ledger: Ledger) -> dict[str, dict[Place, FloatArray]]:
    """Return each campaign's average GPUs by place and period: campaign → place → (T,)."""
    result: dict[str, dict[Place, FloatArray]] = defaultdict(dict)
    for pool, book in ledger.pools.items():
        for campaign, gpus in book.use.campaigns.items():
            result[campaign][pool, None] = gpus
    for (campaign, offer), gpus in ledger.use.spot.items():
        result[campaign][ledger.frame.tables.spot[offer].pool, offer] = gpus
    return result


def campaign_rows(ledger: Ledger, attribution: Attribution) -> tuple[CampaignRow, ...]:
    """Return one row per expanded campaign, in file order."""
    uses, plan = uses_of(ledger), ledger.frame.plan
    dropped = {item.campaign: item.share for item in plan.dropped}
    runs = {run.campaign: run for run in plan.runs}
    return tuple(
        _row(ledger, attribution, campaign, uses[key], dropped.get(key, 0.0), runs.get(key))
        for key, campaign in ledger.frame.tables.campaigns.items()
    )


def campaign_use_rows(ledger: Ledger, attribution: Attribution) -> tuple[CampaignUseRow, ...]:
    """Return where each campaign's GPUs come from, period by period."""
    grid, rows = ledger.frame.grid, []
    for campaign, places in uses_of(ledger).items():
        for (pool, spot), gpus in places.items():
            if spot is None:
                cost = attribution.stable[campaign, pool]
                committed = attribution.committed_hours[campaign, pool]
            else:
                cost = ledger.spot_cost[campaign, spot]
                committed = np.zeros(grid.num_periods)
            rows += [
                CampaignUseRow(
                    campaign=campaign,
                    period_start=grid.boundaries[period],
                    period_end=grid.boundaries[period + 1],
                    pool=pool,
                    spot_offer=spot,
                    gpus=float(gpus[period]),
                    gpu_hours=float(gpus[period] * grid.hours[period]),
                    committed_gpu_hours=float(committed[period]),
                    cost=float(cost[period]),
                )
                for period in np.flatnonzero(gpus > TOLERANCE_GPUS).tolist()
            ]
    return tuple(sorted(rows, key=lambda row: (row.campaign, row.period_start, row.pool)))


def runs_done(dropped_share: float) -> float:
    """Return the runs that a campaign completes: 1, 0 when dropped, the share done in between."""
    done = 1.0 - dropped_share if dropped_share > SHARE_TOLERANCE else 1.0
    return 0.0 if done <= SHARE_TOLERANCE else done


def _row(
    ledger: Ledger,
    attribution: Attribution,
    campaign: Campaign,
    places: dict[Place, FloatArray],
    dropped_share: float,
    run: Run | None,
) -> CampaignRow:
    frame, key = ledger.frame, campaign.id
    everywhere = total(places.values(), frame.grid.num_periods)
    hours = {place: float(np.dot(gpus, frame.grid.hours)) for place, gpus in places.items()}
    start, end = _dates(frame, campaign, everywhere, run)
    runs = runs_done(dropped_share)
    direct, idle = attribution.direct[key], attribution.idle[key]
    return CampaignRow(
        id=key,
        team=campaign.team,
        shape=campaign.shape,
        outcome="dropped" if runs == 0.0 else "planned" if runs == 1.0 else "partial",
        earliest=campaign.earliest,
        deadline=campaign.deadline,
        start=start,
        end=end,
        pool=_names(hours, part=0),
        spot_offer=_names({p: amount for p, amount in hours.items() if p[1] is not None}, part=1),
        gpus=float(run.gpus) if run is not None else float(everywhere.max(initial=0.0)),
        gpu_hours=sum(hours.values()),
        spot_gpu_hours=sum(amount for place, amount in hours.items() if place[1] is not None),
        committed_gpu_hours=attribution.committed_total[key],
        work=campaign.work,
        done_share=runs,
        spot_share=_spot_share(frame, campaign, hours),
        direct_cost=direct,
        idle_cost=idle,
        loaded_cost=direct + idle,
        runs=runs,
        cost_per_run=ratio(direct + idle, runs),
        drop_cost=ledger.drop_cost.get(key, 0.0),
    )


def _spot_share(frame: Frame, campaign: Campaign, hours: dict[Place, float]) -> float:
    """Return the share of the work done that is done on spot; a gang runs wholly in one place."""
    if not isinstance(campaign, ElasticCampaign):
        return float(any(spot is not None for _, spot in hours))
    work = {
        (pool, spot): amount * frame.elastic_speed(campaign, pool, spot)
        for (pool, spot), amount in hours.items()
    }
    on_spot = sum(amount for place, amount in work.items() if place[1] is not None)
    return ratio(on_spot, sum(work.values())) or 0.0


def _dates(
    frame: Frame, campaign: Campaign, gpus: FloatArray, run: Run | None
) -> tuple[date | None, date | None]:
    """Return the first day of use and the day after the last."""
    if run is not None:
        days = math.ceil(run.hours / HOURS_PER_DAY - 1e-9)
        return run.start, run.start + timedelta(days=days)
    busy = np.flatnonzero(gpus > TOLERANCE_GPUS)
    if len(busy) == 0:
        return None, None
    first, last = frame.grid.boundaries[busy[0]], frame.grid.boundaries[busy[-1] + 1]
    return max(first, campaign.earliest), min(last, campaign.deadline)


def _names(hours: dict[Place, float], part: int) -> str | None:
    """Return pools (part 0) or spot offers (part 1), the most used first, joined by ``+``."""
    sums: dict[str, float] = defaultdict(float)
    for place, amount in hours.items():
        sums[str(place[part])] += amount
    return "+".join(sorted(sums, key=lambda name: -sums[name])) or None
