"""Limits as keys of the scenario: each with the edit that makes it one unit more and one less.

Every change is one that an analyst could make, so a marginal is the difference between two runs of
the command line.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.analysis.marginals_changes import (
    POINT,
    WORK_UNIT,
    direction,
    family_direction,
    gpus_limit,
    set_key,
    share_limit,
)
from gpuladder.analysis.marginals_policies import policy_limits, work_done
from gpuladder.analysis.shadow_prices_limits import Limit, Rows
from gpuladder.scenario.schema import (
    Campaign,
    CommittedOffer,
    ElasticCampaign,
    GangCampaign,
    LeasedOffer,
    OnDemandOffer,
    SpotOffer,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpuladder.compiled import FloatArray
    from gpuladder_models.data import IntArray


def key_limits(rows: Rows) -> list[Limit]:
    """Return every limit that is one key of the scenario, with its change up and down."""
    return [
        *policy_limits(rows),
        *_campaigns(rows),
        *_classes(rows),
        *_offers(rows),
        *_buyers(rows),
    ]


def _instances(rows: Rows, campaign: Campaign) -> list[int]:
    """Return the elastic instances of a campaign, its repetitions included."""
    names, elastic = rows.data.labels.campaigns, rows.data.elastic
    own = {campaign.id}
    if campaign.repeat is not None:
        own = {f"{campaign.id}#{number + 1}" for number in range(campaign.repeat.count)}
    return [c for c, k in enumerate(elastic.campaign.tolist()) if names[k] in own]


def _campaigns(rows: Rows) -> Iterator[Limit]:
    done = work_done(rows)
    for item in rows.scenario.campaigns:
        name, step = f"campaigns.{item.id}", WORK_UNIT * item.gpu_hours
        own = _instances(rows, item)
        each = " of each run" if item.repeat is not None else ""
        found = [(at, WORK_UNIT * done[c]) for at, c in rows.of("elastic_work") if c in own]
        shares = rows.data.elastic.spot_share
        found += [
            (at, WORK_UNIT * done[c] * shares[c])
            for at, c in rows.of("class_spot_share")
            if c in own
        ]
        spot = rows.scenario.policy.spot_share_max or 0.0
        total = WORK_UNIT * float(done[own].sum())
        found += [(at, spot * total) for at, _ in rows.of("policy_spot_share") if spot * total]
        if isinstance(item, GangCampaign):
            found = []
        yield Limit(
            limit="gpu_hours",
            key=item.id,
            unit=f"1 % ({step:,.0f} GPU-hours{each})",
            thing=f"per cent ({step:,.0f} GPU-hours) of work in {item.id}{each}",
            value=item.gpu_hours,
            step=step,
            more=set_key(f"{name}.gpu_hours", item.gpu_hours + step),
            less=set_key(f"{name}.gpu_hours", item.gpu_hours - step),
            **direction(found),
        )
        day = timedelta(days=1)
        is_short = item.deadline - item.earliest <= day
        yield Limit(
            limit="deadline",
            key=item.id,
            unit="day",
            thing=f"day until the deadline of {item.id}",
            more=set_key(f"{name}.deadline", str(item.deadline + day)),
            less=None if is_short else set_key(f"{name}.deadline", str(item.deadline - day)),
        )
        if isinstance(item, GangCampaign) and item.max_duration is not None:
            days = item.max_duration.days(item.earliest)
            calendar = item.max_duration.unit in ("month", "year")
            yield Limit(
                limit="max_duration",
                key=item.id,
                unit="day",
                value=float(days),
                thing=f"day of time to train for {item.id}",
                more=set_key(f"{name}.max_duration", f"{days + 1} days"),
                less=set_key(f"{name}.max_duration", f"{days - 1} days") if days > 1 else None,
                note=f"counted as {days} days whatever the start" if calendar else "",
            )


def _classes(rows: Rows) -> Iterator[Limit]:
    done = work_done(rows)
    for item in rows.scenario.preemption_classes:
        users = [
            c
            for c in rows.scenario.campaigns
            if c.preemption_class == item.id and c.tenancy == "shared"
        ]
        if not users:
            continue
        own = {
            c: POINT * (float(done[c]) + user.done_gpu_hours)
            for user in users
            if isinstance(user, ElasticCampaign)
            for c in _instances(rows, user)
        }
        yield share_limit(
            "class_spot_share",
            f"class {item.id}",
            f"preemption_classes.{item.id}.spot_share_max",
            item.spot_share_max,
            f"point of spot for the class {item.id}",
            family_direction(rows, "class_spot_share", own),
            is_policy=False,
        )


def _offers(rows: Rows) -> Iterator[Limit]:
    data = rows.data
    for item in rows.scenario.offers:
        name, gpus = f"offers.{item.id}", rows.node([item.pool])
        if isinstance(item, OnDemandOffer) and item.max_gpus:
            number = data.labels.on_demand.index(item.id)
            uses = np.flatnonzero(data.on_demand.offer == number)
            part = data.on_demand.quota[uses] * (gpus / item.max_gpus)
            yield gpus_limit(
                "on_demand_quota",
                item.id,
                f"{name}.max_gpus",
                item.max_gpus,
                gpus,
                f"of quota on {item.id}",
                family_direction(rows, "on_demand_quota", _pairs(uses, part)),
            )
        elif isinstance(item, SpotOffer) and item.max_gpus:
            number = data.labels.spot.index(item.id)
            cells = np.flatnonzero(data.spot.offer == number)
            part = data.spot.depth[cells] * (gpus / item.max_gpus)
            yield gpus_limit(
                "spot_depth",
                item.id,
                f"{name}.max_gpus",
                item.max_gpus,
                gpus,
                f"of depth of {item.id}",
                family_direction(rows, "spot_depth", _pairs(cells, part)),
            )
        elif isinstance(item, CommittedOffer):
            yield from _orders(rows, item)


def _orders(rows: Rows, item: CommittedOffer) -> Iterator[Limit]:
    data, name = rows.data, f"offers.{item.id}"
    own = {item.id}
    if isinstance(item, LeasedOffer) and len(item.tenor) > 1:
        own = {f"{item.id}@{tenor}" for tenor in item.tenor}
    lot = "lot" if item.lot_gpus == 1 else f"lot ({item.lot_gpus} GPUs)"
    each = " of each tenor" if len(own) > 1 else ""
    unit = f"{item.lot_gpus} GPUs (a lot)"
    if item.max_lots is not None:
        active = [
            key
            for _, key in rows.of("lots_active")
            if data.labels.committed[data.lots_active.offer[key]] in own
        ]
        yield Limit(
            limit="lots_active",
            key=item.id,
            unit=unit,
            thing=f"{lot} of {item.id}{each} on sale",
            value=float(item.max_lots),
            more=set_key(f"{name}.max_lots", item.max_lots + 1),
            less=set_key(f"{name}.max_lots", item.max_lots - 1) if item.max_lots else None,
            **family_direction(rows, "lots_active", dict.fromkeys(active, 1.0)),
        )
    if item.min_lots > 1:
        yield Limit(
            limit="order_minimum",
            key=item.id,
            unit=unit,
            value=float(item.min_lots),
            thing=f"{lot} that an order of {item.id} must have",
            more=set_key(f"{name}.min_lots", item.min_lots + 1),
            less=set_key(f"{name}.min_lots", item.min_lots - 1),
        )
    days = item.lead.days(rows.context.grid.start)
    if days > 0 or _is_bought(rows, own):
        yield Limit(
            limit="lead",
            key=item.id,
            unit="7 days",
            thing=f"week of lead of {item.id}",
            value=float(days),
            step=7.0,
            more=set_key(f"{name}.lead", f"{days + 7} days"),
            less=set_key(f"{name}.lead", f"{max(days - 7, 0)} days") if days else None,
            note="" if days == 0 or days >= 7 else "one unit less is no lead at all",
        )


def _is_bought(rows: Rows, offers: set[str]) -> bool:
    names, orders = rows.data.labels.committed, rows.data.orders
    bought = np.flatnonzero(rows.values("lots") > 0.5)
    return any(names[orders.offer[j]] in offers for j in bought.tolist())


def _buyers(rows: Rows) -> Iterator[Limit]:
    data = rows.data
    for number, buyer in enumerate(rows.scenario.backfill):
        if buyer.max_gpus is None:
            continue
        pools = [
            pool.id
            for pool in rows.scenario.pools
            if (buyer.pools is None or pool.id in buyer.pools)
            and (buyer.hardware is None or pool.hardware in buyer.hardware)
        ]
        gpus = rows.node(pools)
        own = dict.fromkeys(np.flatnonzero(data.backfill.depth_buyer == number).tolist(), gpus)
        yield gpus_limit(
            "backfill_depth",
            buyer.id,
            f"backfill.{buyer.id}.max_gpus",
            buyer.max_gpus,
            gpus,
            f"that {buyer.id} takes",
            family_direction(rows, "backfill_depth", own),
        )


def _pairs(indices: IntArray, values: FloatArray) -> dict[int, float]:
    return dict(zip(indices.tolist(), values.tolist(), strict=True))
