"""The scenarios behind the question: structures of a pool, other cadences, other prices.

Where burst windows and standing terms of one hardware are sold in different pools alone, these
pools are looked at together, under the name of all of them; "the pool" then means all of them.

A pool's runs are the campaigns that may run on its burst windows and on its standing terms, repeats
written out. A cadence of *n* runs
spreads *n* of them evenly from the first one's earliest date to the horizon end: run *i* (from 0)
takes the work, size and length of window of today's run number ``floor(i × today's ÷ n)``, in order
of earliest dates, and its window opens ``floor(i × days ÷ n)`` days after the first; a window that
would end after the horizon is moved back to end with it. Campaigns that may not run in the pool
stay as they are. Today's number of runs is always today's own calendar.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

from gpuladder.analysis.baselines_orders import Market, kind_of
from gpuladder.analysis.edits import Restriction
from gpuladder.economics import price_at
from gpuladder.program.context import admits
from gpuladder.scenario.schema import LeasedOffer, PriceStep

if TYPE_CHECKING:
    from gpuladder.scenario.schema import Campaign, Scenario

DAYS_PER_QUARTER = 365.25 / 4.0
STANDING_KINDS = ("reserved", "dedicated")


@dataclass(frozen=True)
class Choice:
    """A pool that sells both burst windows and standing terms, or pools that do together."""

    market: Market
    pools: tuple[str, ...]
    bursts: frozenset[str]
    standing: frozenset[str]
    metered: frozenset[str]
    runs: tuple[Campaign, ...]
    """Campaigns that may run on either, repeats written out, by earliest date."""
    burst_price: float
    """Lowest of its burst windows on their first date, currency per GPU-hour."""
    standing_price: float

    @property
    def pool(self) -> str:
        """Name of the pool, or of all of them."""
        return " + ".join(self.pools)

    @property
    def without_bursts(self) -> Restriction:
        """Forbid burst windows in the pool."""
        return Restriction(closed=self.bursts)

    @property
    def without_standing(self) -> Restriction:
        """Forbid new standing terms in the pool."""
        return Restriction(closed=self.standing)

    @property
    def without_either(self) -> Restriction:
        """Forbid both."""
        return Restriction(closed=self.bursts | self.standing)

    @property
    def standing_alone(self) -> Restriction:
        """Forbid all but standing terms in the pool."""
        return Restriction(closed=self.bursts | self.metered)

    @property
    def horizon_days(self) -> int:
        """Length of the horizon."""
        grid = self.market.tables.grid
        return (grid.end - grid.start).days

    def per_quarter(self, runs: int) -> float:
        """Return runs in the horizon as runs a quarter."""
        return runs * DAYS_PER_QUARTER / self.horizon_days


def choices(market: Market) -> list[Choice]:
    """Return the pools with both kinds of offers, each startable inside the horizon, and runs.

    Pools of one hardware are taken together where none of them has both.
    """
    pools = market.tables.pools
    single = [found for pool in pools if (found := _choice(market, (pool,))) is not None]
    answered = {pools[choice.pools[0]].hardware for choice in single}
    by_hardware: dict[str, list[str]] = {}
    for pool in pools.values():
        if pool.hardware not in answered:
            by_hardware.setdefault(pool.hardware, []).append(pool.id)
    together = [_choice(market, tuple(group)) for group in by_hardware.values()]
    return [*single, *(choice for choice in together if choice is not None)]


def _choice(market: Market, group: tuple[str, ...]) -> Choice | None:
    tables = market.tables
    own = {
        name: offer
        for name, offer in tables.committed.items()
        if offer.pool in group and isinstance(offer, LeasedOffer) and market.starts.get(name)
    }
    bursts = frozenset(name for name, offer in own.items() if kind_of(offer) == "burst_window")
    standing = frozenset(name for name, offer in own.items() if kind_of(offer) in STANDING_KINDS)

    def may_use(campaign: Campaign, names: frozenset[str]) -> bool:
        return any(admits(campaign, tables.pools[own[name].pool]) for name in names)

    runs = sorted(
        (c for c in tables.campaigns.values() if may_use(c, bursts) and may_use(c, standing)),
        key=lambda campaign: campaign.earliest,
    )
    if not bursts or not standing or not runs:
        return None
    grid = tables.grid

    def lowest(names: frozenset[str]) -> float:
        return min(
            price_at(own[name], grid.boundaries[market.starts[name][0]], grid.start)
            for name in names
        )

    metered = [o for o in (*tables.on_demand.values(), *tables.spot.values()) if o.pool in group]
    return Choice(
        market=market,
        pools=tuple(p for p in group if p in {offer.pool for offer in own.values()}),
        bursts=bursts,
        standing=standing,
        metered=frozenset(offer.id for offer in metered),
        runs=tuple(runs),
        burst_price=lowest(bursts),
        standing_price=lowest(standing),
    )


def at_cadence(choice: Choice, runs: int) -> Scenario:
    """Return the scenario with so many runs of the pool in the horizon."""
    scenario, tables = choice.market.scenario, choice.market.tables
    today = len(choice.runs)
    if runs == today:
        return scenario
    first, end = choice.runs[0].earliest, tables.grid.end
    first = max(first, tables.grid.start)
    days = (end - first).days
    moved = [
        _moved(choice.runs[number * today // runs], number, first, number * days // runs, end)
        for number in range(runs)
    ]
    own = {campaign.id for campaign in choice.runs}
    others = [c for c in tables.campaigns.values() if c.id not in own]
    return scenario.model_copy(update={"campaigns": (*others, *moved)})


def _moved(run: Campaign, number: int, first: date, after_days: int, end: date) -> Campaign:
    length = run.deadline - run.earliest
    opens = first + timedelta(days=after_days)
    opens = max(first, min(opens, end - length))
    return run.model_copy(
        update={"id": f"{run.id}~{number + 1}", "earliest": opens, "deadline": opens + length}
    )


def at_price(choice: Choice, factor: float) -> Scenario:
    """Return the scenario with the pool's burst windows at ``factor`` times their prices."""
    scenario = choice.market.scenario
    offers = tuple(
        _scaled(offer, factor)
        if offer.kind == "burst_window" and offer.pool in choice.pools
        else offer
        for offer in scenario.offers
    )
    return scenario.model_copy(update={"offers": offers})


def _scaled(offer: LeasedOffer, factor: float) -> LeasedOffer:
    price = offer.price
    if isinstance(price, tuple):
        scaled: object = tuple(each * factor for each in price)
    else:
        scaled = None if price is None else price * factor
    steps = tuple(
        PriceStep.model_validate({"from": step.from_date, "price": step.price * factor})
        for step in offer.price_path
    )
    return offer.model_copy(update={"price": scaled, "price_path": steps})
