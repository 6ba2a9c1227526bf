"""The inputs whose effect on the cost is tried, each with how it is moved by a share of itself.

========================================  =========================================================
key                                       what is moved
========================================  =========================================================
``offers.ID.price``                       the offer's prices: of all tenors, of the whole path, and
                                          per use; owned: ``capex_per_gpu``, and its opex with it
``offers[KIND].price``                    the same of all offers of a kind
``campaigns[*].gpu_hours``                the work of all campaigns
``campaigns.ID.gpu_hours``                of one that has a tenth of all work or more
``demand[*].gpus``                        baseline demand, every row
``campaigns[*].deadline``                 the days from ``earliest`` to ``deadline``, of all
``campaigns.ID.deadline``                 of one that has a tenth of all work or more
``offers[spot].max_gpus``                 the depth of all spot offers
``offers[spot].availability``             their availability, at every size
``offers[spot].node_mtbr_hours``          mean time between their reclaims
``hardware[*].node_mtbf_hours``           mean time between hardware failures
``backfill[*].value``                     what buyers of idle capacity pay
``discount_rate``                         the yearly rate
``policy.tail_charge``                    the share of cost past the horizon that counts
========================================  =========================================================

A group with one member goes by the member's own key. What the scenario does not have, or has at
zero, is not moved; neither is a share past its range (an availability of 0.95 has no +10 %).

The order in which they are tried follows a rough first-order estimate of what each moves: its share
of the cost where that is known, a rule of thumb where it is not. Estimates never show in an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from gpuladder.analysis.walk_away_prices import Market, Purchase
from gpuladder.scenario.schema import (
    LeasedOffer,
    Offer,
    OwnedOffer,
    PricedOffer,
    Scenario,
    SpotOffer,
)

if TYPE_CHECKING:
    from gpuladder.plan import Plan
    from gpuladder.scenario.schema import Campaign

LARGE_SHARE = 0.1
"""Campaigns with at least this share of all work are moved one by one too."""
DEADLINE_SHARE = 0.1
RECLAIM_SHARE = 0.05
FAILURE_SHARE = 0.02
"""Rules of thumb, for the order alone: share of the spend that moves with an input as a whole."""

Change = Callable[[Scenario, float], Scenario | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """One input, or several that move together."""

    key: str
    change: Change
    """Gives the scenario with the input times a factor; None where that is out of range or no
    change at all."""
    estimate: float
    """About how much cost moves with the whole of it, for the order; never negative."""


def inputs_of(scenario: Scenario, plan: Plan) -> tuple[Input, ...]:
    """Return the inputs of a scenario, those that seem to matter most first.

    Parameters
    ----------
    scenario : Scenario
        A checked scenario.
    plan : Plan
        Its plan, with quantities.
    """
    spends = _spends(scenario, Market(scenario).purchases(plan))
    lines = {line.line: line.amount for line in plan.costs}
    found = [
        *_prices(scenario, spends),
        *_campaigns(scenario, _money(spends)),
        *_demand(scenario, _money(spends)),
        *_spot(scenario, spends),
        *_rest(scenario, plan, lines, _money(spends)),
    ]
    return tuple(sorted(found, key=lambda item: -item.estimate))


def _spends(scenario: Scenario, bought: Mapping[str, Purchase]) -> dict[str, Purchase]:
    """Return purchases by the ids of the scenario, all tenors of an offer together."""
    spends: dict[str, Purchase] = {offer.id: Purchase() for offer in scenario.offers}
    for name, purchase in bought.items():
        own = name if name in spends else name.rpartition("@")[0]
        before = spends[own]
        spends[own] = Purchase(
            money=before.money + purchase.money,
            gpu_hours=before.gpu_hours + purchase.gpu_hours,
        )
    return spends


def _money(spends: Mapping[str, Purchase]) -> float:
    return sum(purchase.money for purchase in spends.values())


def _prices(scenario: Scenario, spends: Mapping[str, Purchase]) -> Iterator[Input]:
    kinds: dict[str, list[Offer]] = {}
    for offer in scenario.offers:
        kinds.setdefault(offer.kind, []).append(offer)
        yield Input(
            key=_price_key(offer),
            change=partial(_with_prices, frozenset({offer.id})),
            estimate=spends[offer.id].money,
        )
    for kind, own in kinds.items():
        if len(own) > 1:
            word = "capex_per_gpu" if kind == "owned" else "price"
            yield Input(
                key=f"offers[{kind}].{word}",
                change=partial(_with_prices, frozenset(offer.id for offer in own)),
                estimate=sum(spends[offer.id].money for offer in own),
            )


def _price_key(offer: Offer) -> str:
    return f"offers.{offer.id}.{'capex_per_gpu' if isinstance(offer, OwnedOffer) else 'price'}"


def _campaigns(scenario: Scenario, money: float) -> Iterator[Input]:
    work = {campaign.id: _work(campaign) for campaign in scenario.campaigns}
    total = sum(work.values())
    if not total:
        return
    groups: list[tuple[str, tuple[str, ...], float]] = [
        (id_, (id_,), own / total) for id_, own in work.items() if own >= LARGE_SHARE * total
    ]
    if len(work) > 1:
        groups.append(("*", tuple(work), 1.0))
    for name, ids, share in groups:
        start = "campaigns[*]" if name == "*" else f"campaigns.{name}"
        yield Input(
            key=f"{start}.gpu_hours",
            change=partial(_with_campaigns, frozenset(ids), _with_work),
            estimate=share * money,
        )
        yield Input(
            key=f"{start}.deadline",
            change=partial(_with_campaigns, frozenset(ids), _with_window),
            estimate=share * money * DEADLINE_SHARE,
        )


def _work(campaign: Campaign) -> float:
    return campaign.work * (1 if campaign.repeat is None else campaign.repeat.count)


def _demand(scenario: Scenario, money: float) -> Iterator[Input]:
    if any(row.gpus for row in scenario.demand):
        yield Input(key="demand[*].gpus", change=_with_demand, estimate=money)


def _spot(scenario: Scenario, spends: Mapping[str, Purchase]) -> Iterator[Input]:
    spot = [offer for offer in scenario.offers if isinstance(offer, SpotOffer)]
    if not spot:
        return
    own = {offer.id for offer in spot}
    on_spot = _total(spends[id_] for id_ in own)
    stable = _total(purchase for id_, purchase in spends.items() if id_ not in own)
    saved = 0.0
    if on_spot.gpu_hours and stable.gpu_hours:
        unit = stable.money / stable.gpu_hours - on_spot.money / on_spot.gpu_hours
        saved = max(unit, 0.0) * on_spot.gpu_hours
    start = f"offers.{spot[0].id}" if len(spot) == 1 else "offers[spot]"
    yield Input(key=f"{start}.max_gpus", change=_with_depth, estimate=saved)
    yield Input(key=f"{start}.availability", change=_with_availability, estimate=saved)
    if any(offer.node_mtbr_hours is not None for offer in spot):
        yield Input(
            key=f"{start}.node_mtbr_hours",
            change=_with_reclaims,
            estimate=on_spot.money * RECLAIM_SHARE,
        )


def _total(purchases: Iterable[Purchase]) -> Purchase:
    some = list(purchases)
    return Purchase(
        money=sum(item.money for item in some), gpu_hours=sum(item.gpu_hours for item in some)
    )


def _rest(
    scenario: Scenario, plan: Plan, lines: Mapping[str, float], money: float
) -> Iterator[Input]:
    if any(kind.node_mtbf_hours is not None for kind in scenario.hardware):
        key = _group_key("hardware", [kind.id for kind in scenario.hardware])
        yield Input(
            key=f"{key}.node_mtbf_hours", change=_with_failures, estimate=money * FAILURE_SHARE
        )
    if scenario.backfill:
        key = _group_key("backfill", [buyer.id for buyer in scenario.backfill])
        yield Input(
            key=f"{key}.value",
            change=_with_backfill,
            estimate=abs(lines.get("backfill_revenue", 0.0)),
        )
    if scenario.discount_rate:
        start, pieces = scenario.horizon.start, scenario.horizon.pieces
        years = (pieces[-1][0] - start).days / 365.0
        rate = scenario.discount_rate / (1.0 + scenario.discount_rate)
        yield Input(
            key="discount_rate",
            change=_with_rate,
            estimate=abs((plan.objective or 0.0) * rate * years / 2.0),
        )
    if scenario.policy.tail_charge:
        yield Input(
            key="policy.tail_charge",
            change=_with_tail_charge,
            estimate=abs(lines.get("commitment_tail", 0.0)),
        )


def _group_key(table: str, ids: Sequence[str]) -> str:
    return f"{table}.{ids[0]}" if len(ids) == 1 else f"{table}[*]"


def _with_prices(ids: frozenset[str], scenario: Scenario, factor: float) -> Scenario:
    offers = [_priced(x, factor) if x.id in ids else x for x in scenario.offers]
    return scenario.model_copy(update={"offers": tuple(offers)})


def _priced(offer: Offer, factor: float) -> Offer:
    changed: dict[str, Any] = {}
    if isinstance(offer, OwnedOffer):
        changed["capex_per_gpu"] = offer.capex_per_gpu * factor
        changed["opex_per_gpu_hour"] = offer.opex_per_gpu_hour * factor
    elif isinstance(offer, PricedOffer):
        changed["price"] = _times(offer.price, factor)
        changed["price_path"] = tuple(
            step.model_copy(update={"price": step.price * factor}) for step in offer.price_path
        )
        if isinstance(offer, LeasedOffer):
            changed["usage_price"] = _times(offer.usage_price, factor)
    return offer.model_copy(update=changed)


def _times(value: Any, factor: float) -> Any:
    if value is None:
        return None
    return tuple(x * factor for x in value) if isinstance(value, tuple) else value * factor


def _with_campaigns(
    ids: frozenset[str],
    change: Callable[[Campaign, float], Campaign],
    scenario: Scenario,
    factor: float,
) -> Scenario | None:
    campaigns = tuple(change(x, factor) if x.id in ids else x for x in scenario.campaigns)
    return _changed(scenario, "campaigns", campaigns)


def _with_work(campaign: Campaign, factor: float) -> Campaign:
    return campaign.model_copy(update={"gpu_hours": campaign.gpu_hours * factor})


def _with_window(campaign: Campaign, factor: float) -> Campaign:
    days = round((campaign.deadline - campaign.earliest).days * factor)
    return campaign.model_copy(update={"deadline": campaign.earliest + timedelta(days=days)})


def _with_demand(scenario: Scenario, factor: float) -> Scenario | None:
    rows = tuple(
        row.model_copy(update={"gpus": row.gpus * factor}) if row.gpus else row
        for row in scenario.demand
    )
    return _changed(scenario, "demand", rows)


def _with_spot(
    scenario: Scenario, change: Callable[[SpotOffer], Mapping[str, Any]]
) -> Scenario | None:
    offers = tuple(
        offer.model_copy(update=change(offer)) if isinstance(offer, SpotOffer) else offer
        for offer in scenario.offers
    )
    return _changed(scenario, "offers", offers)


def _with_depth(scenario: Scenario, factor: float) -> Scenario | None:
    return _with_spot(scenario, lambda offer: {"max_gpus": offer.max_gpus * factor})


def _with_availability(scenario: Scenario, factor: float) -> Scenario | None:
    spot = [offer for offer in scenario.offers if isinstance(offer, SpotOffer)]
    shares = [x for o in spot for x in (o.availability, *o.availability_by_gpus.values())]
    if max(shares) * factor > 1.0:
        return None
    return _with_spot(
        scenario,
        lambda offer: {
            "availability": offer.availability * factor,
            "availability_by_gpus": {
                gpus: share * factor for gpus, share in offer.availability_by_gpus.items()
            },
        },
    )


def _with_reclaims(scenario: Scenario, factor: float) -> Scenario | None:
    return _with_spot(
        scenario, lambda offer: {"node_mtbr_hours": _times(offer.node_mtbr_hours, factor)}
    )


def _with_failures(scenario: Scenario, factor: float) -> Scenario | None:
    kinds = tuple(
        kind.model_copy(update={"node_mtbf_hours": _times(kind.node_mtbf_hours, factor)})
        for kind in scenario.hardware
    )
    return _changed(scenario, "hardware", kinds)


def _with_backfill(scenario: Scenario, factor: float) -> Scenario | None:
    buyers = tuple(
        buyer.model_copy(update={"value": buyer.value * factor}) for buyer in scenario.backfill
    )
    return _changed(scenario, "backfill", buyers)


def _with_rate(scenario: Scenario, factor: float) -> Scenario | None:
    rate = scenario.discount_rate * factor
    return _changed(scenario, "discount_rate", rate) if rate > -1.0 else None


def _with_tail_charge(scenario: Scenario, factor: float) -> Scenario | None:
    charge = scenario.policy.tail_charge * factor
    if charge > 1.0:
        return None
    policy = scenario.policy.model_copy(update={"tail_charge": charge})
    return _changed(scenario, "policy", policy)


def _changed(scenario: Scenario, key: str, value: object) -> Scenario | None:
    """Return the scenario with one part replaced; None when it is what it was."""
    if value == getattr(scenario, key):
        return None
    return scenario.model_copy(update={key: value})
