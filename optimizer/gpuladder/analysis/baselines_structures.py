"""The structures that teams actually use, as restrictions of the program.

What is not named as taken away stays free. A pool that sells nothing on demand and has no standing
offer keeps what it sells, or nothing could run there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpuladder.analysis.baselines_orders import merged, renewal_orders, standing_orders
from gpuladder.analysis.edits import Restriction
from gpuladder.analysis.variants import Variant

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gpuladder.analysis.baselines_orders import Market, PoolLoad
    from gpuladder.scenario.schema import HeldCommitment, Scenario

ALL_ON_DEMAND = "all_on_demand"
STRICT = "all_on_demand_strict"
"""All on demand without exception, where some pools sell nothing on demand."""
ROLLED_OVER = "-rolled-over"


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """A baseline to be solved."""

    key: str
    title: str
    how: str
    scenario: Scenario
    edit: Restriction
    note: str = ""
    rolled: tuple[str, ...] = ()
    """Held commitments that were written on at their own price; their cost is added."""

    @property
    def baseline(self) -> str:
        """Name under which it is reported."""
        return ALL_ON_DEMAND if self.key == STRICT else self.key

    def variant(self) -> Variant:
        """Return the question to be solved."""
        return Variant(key=self.key, scenario=self.scenario, edit=self.edit)


def all_on_demand(market: Market) -> list[Structure]:
    """Return the baseline without any commitment, and the one that keeps the only way in."""
    strict = Structure(
        key=STRICT,
        title="All on demand",
        how="no new commitment and no spot; the cheapest calendar on that",
        scenario=market.scenario,
        edit=Restriction(closed=market.committed, has_spot=False),
    )
    metered = market.metered_pools()
    kept = sorted({o.pool for o in market.tables.committed.values() if o.pool not in metered})
    if not kept:
        return [strict]
    lenient = Structure(
        key=ALL_ON_DEMAND,
        title=strict.title,
        how=f"no new commitment in a pool that sells on demand, and no spot; {_listed(kept)} sell"
        " nothing on demand and keep what they sell; the cheapest calendar on that",
        scenario=market.scenario,
        edit=Restriction(closed=market.in_pools(metered), has_spot=False),
        note="with no commitment at all there is no plan",
    )
    return [strict, lenient]


def long_term(market: Market) -> Structure:
    """Return the baseline of one signature: the annual cliff."""
    offers = {pool: offer.id for pool, offer in market.standing_offers().items()}
    kept = _no_other_way(market, frozenset(offers))
    chosen = frozenset(offers.values())
    terms = _listed([f"{offer} in {pool}" for pool, offer in offers.items()])
    return Structure(
        key="one_long_term",
        title="One long term signed on day one",
        how="all that is committed is signed at once, from the first date on offer, in each pool"
        f" under its cheapest standing offer ({terms or 'there is none'}), as much as pays",
        scenario=market.scenario,
        edit=Restriction(closed=market.committed - chosen - kept, at_first_start=chosen),
    )


def _no_other_way(market: Market, standing_pools: frozenset[str]) -> frozenset[str]:
    """Return the offers of pools that have neither on-demand capacity nor a standing offer."""
    pools = frozenset(market.tables.pools) - market.metered_pools() - standing_pools
    return market.in_pools(pools)


def rollover(market: Market) -> list[Structure]:
    """Return the baseline of what is held, rolled over; none where nothing ends."""
    grid = market.tables.grid
    ending = [h for h in market.tables.held.values() if grid.start < h.end < grid.end]
    if not ending:
        return []
    renewals = {held.id: renewal_orders(market, held) for held in ending}
    written_on = [held for held in ending if renewals[held.id] is None]
    orders = merged(tuple(order for own in renewals.values() for order in own or ()))
    longer = tuple(_written_on(held, market) for held in written_on)
    scenario = market.scenario.model_copy(
        update={"commitments": (*market.scenario.commitments, *longer)}
    )
    kept = _no_other_way(market, frozenset(held.pool for held in ending))
    no_restriction = (
        f"no restriction of the plan: {_listed([h.id for h in written_on])} renewed at the price"
        " held, which is not on offer"
    )
    return [
        Structure(
            key="rollover",
            title="Held commitments rolled over as they are",
            how="each held commitment is renewed at its size when it ends, under its renewal offer"
            " from the first date on offer, again and again; nothing else is committed",
            scenario=scenario,
            edit=Restriction(closed=market.committed - kept, fixed=orders),
            note=no_restriction if written_on else "",
            rolled=tuple(held.id for held in longer),
        )
    ]


def _written_on(held: HeldCommitment, market: Market) -> HeldCommitment:
    """Return a held commitment that follows on the one that ends, to past the horizon end."""
    grid, end = market.tables.grid, held.end
    while held.tenor is not None and held.tenor.count and end < grid.end:
        end = held.tenor.after(end)
    return held.model_copy(
        update={
            "id": f"{held.id}{ROLLED_OVER}",
            "start": held.end,
            "end": max(end, grid.end),
        }
    )


def freedoms(market: Market) -> list[Structure]:
    """Return the baselines that take one freedom away: spot, and the calendar."""
    no_shift = Structure(
        key="no_shift",
        title="No campaign shifted",
        how="each run starts at its earliest date; elastic work is done at full width from its"
        " first day on; all else free",
        scenario=market.scenario,
        edit=Restriction(is_unshifted=True),
    )
    if not market.tables.spot:
        return [no_shift]
    no_spot = Structure(
        key="no_spot",
        title="No spot",
        how="no spot capacity is used; all else free",
        scenario=market.scenario,
        edit=Restriction(has_spot=False),
    )
    return [no_spot, no_shift]


def standing(market: Market, loads: Mapping[str, PoolLoad], reference: str) -> list[Structure]:
    """Return the baselines of standing reserve at a level; none where no pool offers any."""
    offers = market.standing_offers()
    if not offers:
        return []

    def at(key: str, title: str, what: str, level: Callable[[str], float]) -> Structure:
        levels = {pool: level(pool) for pool in offers}
        orders = tuple(
            o for pool, gpus in levels.items() for o in standing_orders(market, pool, gpus)
        )
        told = _listed([f"{pool} {gpus:,.0f} GPUs" for pool, gpus in levels.items()])
        kept = _no_other_way(market, frozenset(offers))
        return Structure(
            key=key,
            title=title,
            how=f"each pool is kept at {what} of its stable use {reference} ({told}), in whole lots"
            " of its cheapest standing offer as far as on offer, held commitments counted; nothing"
            " else is committed",
            scenario=market.scenario,
            edit=Restriction(closed=market.committed - kept, fixed=orders),
        )

    def trailing(pool: str) -> float:
        standing, metered = market.standing_price(pool), market.on_demand_price(pool)
        if standing is None or not metered:
            return loads[pool].peak
        share = 1.0 - standing / metered
        return loads[pool].quantile(share) if share > 0 else 0.0

    return [
        at("standing_peak", "Standing reserve at peak", "the peak", lambda p: loads[p].peak),
        at(
            "standing_average",
            "Standing reserve at average",
            "the average",
            lambda p: loads[p].average,
        ),
        at(
            "standing_quantile",
            "Standing reserve at the trailing quantile",
            "the quantile 1 − reserved ÷ on-demand price (the peak where nothing is on demand)",
            trailing,
        ),
    ]


def _listed(names: list[str]) -> str:
    return ", ".join(names)
