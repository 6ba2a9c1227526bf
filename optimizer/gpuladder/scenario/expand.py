"""The scenario with its shorthands written out: one tenor per offer, one row per repeat."""

from __future__ import annotations

from dataclasses import dataclass

from gpuladder.scenario.schema import (
    Campaign,
    HeldCommitment,
    LeasedOffer,
    OnDemandOffer,
    OwnedOffer,
    Pool,
    Scenario,
    SpotOffer,
)
from gpuladder.timegrid import Span, TimeGrid, grid_boundaries

CommittedTerm = LeasedOffer | OwnedOffer
MeteredOffer = OnDemandOffer | SpotOffer


@dataclass(frozen=True, slots=True)
class Expanded:
    """A scenario's tables, ready to be looked up.

    Attributes
    ----------
    committed : dict of str to LeasedOffer or OwnedOffer
        One entry per offer and tenor, in file order; ``offer@tenor`` where tenors were a list. Each
        leased offer has exactly one tenor and one price.
    on_demand, spot : dict of str to offer
        Metered offers by id, in file order.
    campaigns : dict of str to Campaign
        Repeats written out as ``id#1``, ``id#2``, …
    """

    grid: TimeGrid
    pools: dict[str, Pool]
    committed: dict[str, CommittedTerm]
    on_demand: dict[str, OnDemandOffer]
    spot: dict[str, SpotOffer]
    campaigns: dict[str, Campaign]
    held: dict[str, HeldCommitment]


def term_of(offer: CommittedTerm) -> Span:
    """Return the length of an expanded committed offer's term."""
    return offer.life if isinstance(offer, OwnedOffer) else offer.tenor[0]


def time_grid(scenario: Scenario) -> TimeGrid:
    """Return the scenario's period grid."""
    horizon = scenario.horizon
    return TimeGrid(grid_boundaries(horizon.start, horizon.pieces), horizon.counted_from)


def expand_offer(offer: CommittedTerm) -> list[CommittedTerm]:
    """Return one offer per tenor; an offer with one tenor keeps its id."""
    if isinstance(offer, OwnedOffer) or len(offer.tenor) == 1:
        if not isinstance(offer, OwnedOffer) and isinstance(offer.price, tuple):
            return [offer.model_copy(update={"price": offer.price[0]})]
        return [offer]
    prices = offer.price if isinstance(offer.price, tuple) else (offer.price,) * len(offer.tenor)
    return [
        offer.model_copy(update={"id": f"{offer.id}@{tenor}", "tenor": (tenor,), "price": price})
        for tenor, price in zip(offer.tenor, prices, strict=True)
    ]


def expand_campaign(campaign: Campaign) -> list[Campaign]:
    """Return one campaign per repetition, dates moved on; ids get ``#1``, ``#2`` and so on."""
    if campaign.repeat is None:
        return [campaign]
    every = campaign.repeat.every
    return [
        campaign.model_copy(
            update={
                "id": f"{campaign.id}#{number + 1}",
                "earliest": every.after(campaign.earliest, number),
                "deadline": every.after(campaign.deadline, number),
                "repeat": None,
            }
        )
        for number in range(campaign.repeat.count)
    ]


def expand(scenario: Scenario) -> Expanded:
    """Return the scenario with its shorthands written out and its tables keyed by id."""
    committed = [
        single
        for offer in scenario.offers
        if isinstance(offer, LeasedOffer | OwnedOffer)
        for single in expand_offer(offer)
    ]
    campaigns = [single for campaign in scenario.campaigns for single in expand_campaign(campaign)]
    return Expanded(
        grid=time_grid(scenario),
        pools={pool.id: pool for pool in scenario.pools},
        committed={offer.id: offer for offer in committed},
        on_demand={o.id: o for o in scenario.offers if isinstance(o, OnDemandOffer)},
        spot={o.id: o for o in scenario.offers if isinstance(o, SpotOffer)},
        campaigns={campaign.id: campaign for campaign in campaigns},
        held={held.id: held for held in scenario.commitments},
    )
