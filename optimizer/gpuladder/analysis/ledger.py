"""What capacity costs and who used it, by pool and period, in present values.

Every amount of the net present cost stands in the ledger once: lumps are laid on the hours they pay
for, so the sum over pools and periods equals each cost line.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.analysis.frame import TOLERANCE_GPUS, Frame
from gpuladder.analysis.terms import Term, terms_of
from gpuladder.analysis.usage import PoolUse, Use, total, use_of
from gpuladder.economics import price_at
from gpuladder.plan import COST_LINES
from gpuladder.scenario.schema import LeasedOffer, PricedOffer

if TYPE_CHECKING:
    from gpuladder.timegrid import FloatArray


@dataclass(frozen=True)
class PoolLedger:
    """Capacity, use and cost of one pool.

    Arrays have shape (T,). Hours are GPU-hours; costs are present values and leave held
    commitments out, because their cost is sunk.

    Attributes
    ----------
    held_hours : array
        Part of ``firm_hours`` that was signed before the horizon.
    firm_hours, firm_cost : array
        Committed capacity that anyone may use, held included, and what holding it costs.
    held_cost : array
        What held commitments cost at their own price, flex reservations among them included.
    flex_hours, flex_cost, held_flex_cost : dict of str to array
        Flex reservations by offer, usable only as drawn, held ones included; what holding those of
        the plan costs; what the held ones cost at their own price.
    drawn_hours : dict of str to array
        Of these, in use.
    firm_used_hours : array
        Firm capacity used by campaigns and demand.
    backfilled_hours : array
        Firm capacity sold to backfill buyers.
    metered_hours, metered_cost : array
        On-demand GPU-hours bought; cost of these and of flex use.
    committed_share : array
        Share of the campaigns' stable GPU-hours that committed capacity serves.
    demand_committed_hours : array
        GPU-hours of demand that committed capacity serves.
    """

    pool: str
    hours: FloatArray
    use: PoolUse
    terms: tuple[Term, ...]
    held_hours: FloatArray
    firm_hours: FloatArray
    firm_cost: FloatArray
    held_cost: FloatArray
    flex_hours: dict[str, FloatArray]
    flex_cost: dict[str, FloatArray]
    held_flex_cost: dict[str, FloatArray]
    drawn_hours: dict[str, FloatArray]
    firm_used_hours: FloatArray
    backfilled_hours: FloatArray
    metered_hours: FloatArray
    metered_cost: FloatArray
    committed_share: FloatArray
    demand_committed_hours: FloatArray

    @cached_property
    def demand_hours(self) -> FloatArray:
        """GPU-hours of demand."""
        return self.use.levels.mean(self.use.levels.demand) * self.hours

    @cached_property
    def campaign_hours(self) -> FloatArray:
        """GPU-hours of stable capacity used by campaigns."""
        return self.use.campaign_gpus() * self.hours

    @cached_property
    def used_hours(self) -> FloatArray:
        """GPU-hours of stable capacity used by campaigns and demand."""
        return self.demand_hours + self.campaign_hours

    @cached_property
    def committed_hours(self) -> FloatArray:
        """GPU-hours of committed capacity, firm and flex, held included."""
        return self.firm_hours + total(self.flex_hours.values(), len(self.hours))

    @cached_property
    def committed_used_hours(self) -> FloatArray:
        """Of these, used by campaigns and demand."""
        return self.firm_used_hours + total(self.drawn_hours.values(), len(self.hours))

    @cached_property
    def idle_hours(self) -> FloatArray:
        """Committed GPU-hours that no campaign, demand or backfill used."""
        idle = self.committed_hours - self.committed_used_hours - self.backfilled_hours
        return np.where(idle > TOLERANCE_GPUS * self.hours, idle, 0.0)

    @cached_property
    def firm_idle_share(self) -> FloatArray:
        """Share of firm capacity that is idle."""
        idle = self.firm_hours - self.firm_used_hours - self.backfilled_hours
        return _part(idle, self.firm_hours)

    @cached_property
    def held_idle_cost(self) -> FloatArray:
        """Idle share of the held commitments' cost at their own price."""
        flex = total(self.held_flex_cost.values(), len(self.hours))
        idle = np.maximum((self.held_cost - flex) * self.firm_idle_share, 0.0)
        for offer, cost in self.held_flex_cost.items():
            idle += cost * self.undrawn_share(offer)
        return idle

    def undrawn_share(self, offer: str) -> FloatArray:
        """Return the share of a flex reservation's GPU-hours that is not drawn, shape (T,)."""
        return 1.0 - _part(self.drawn_hours[offer], self.flex_hours[offer])

    @cached_property
    def backfilled_cost(self) -> FloatArray:
        """Cost of holding what was sold to backfill buyers."""
        return self.firm_cost * _part(self.backfilled_hours, self.firm_hours)

    @cached_property
    def used_cost(self) -> FloatArray:
        """Cost of the stable GPU-hours in use: their share of holding, and all that is metered."""
        held = self.firm_cost * _part(self.firm_used_hours, self.firm_hours)
        flex = [
            cost * _part(self.drawn_hours[offer], self.flex_hours[offer])
            for offer, cost in self.flex_cost.items()
        ]
        metered = np.where(self.used_hours > 0.0, self.metered_cost, 0.0)
        return held + total(flex, len(self.hours)) + metered

    @cached_property
    def idle_cost(self) -> FloatArray:
        """Cost of holding what was idle: the rest of what holding costs."""
        holding = self.firm_cost + total(self.flex_cost.values(), len(self.hours))
        metered = np.where(self.used_hours > 0.0, self.metered_cost, 0.0)
        return holding - (self.used_cost - metered) - self.backfilled_cost

    @cached_property
    def unused_metered_cost(self) -> FloatArray:
        """Cost of metered capacity in periods in which nothing used the pool."""
        return np.where(self.used_hours > 0.0, 0.0, self.metered_cost)

    @cached_property
    def used_price(self) -> FloatArray:
        """Average cost of a stable GPU-hour in use, currency per GPU-hour."""
        return _part(self.used_cost, self.used_hours)

    def committed_gpus_of(self, campaign: str) -> FloatArray:
        """GPUs of committed capacity that a campaign used, averaged over each period."""
        return self.use.campaigns[campaign] * self.committed_share


@dataclass(frozen=True)
class Flow:
    """Money billed or received by use: undiscounted and present value by period, shape (T,)."""

    line: str
    amounts: FloatArray
    present_value: FloatArray


@dataclass(frozen=True)
class Ledger:
    """The books of a plan.

    Attributes
    ----------
    flows : tuple of Flow
        All that is billed by use, and backfill revenue.
    spot_cost : dict of (campaign, offer) to array, shape (T,)
        Present value of spot use.
    drop_cost : dict of str to float
        Charge for the share of each campaign that is not done, taken at face value.
    tail_charge : float
        Present value charged for what the orders cost after the horizon.
    lines : dict of str to float
        Cost lines computed from the plan's quantities, in the order of ``plan.COST_LINES``.
    """

    frame: Frame
    use: Use
    terms: tuple[Term, ...]
    pools: dict[str, PoolLedger]
    flows: tuple[Flow, ...]
    spot_cost: dict[tuple[str, str], FloatArray]
    drop_cost: dict[str, float]
    tail_charge: float
    lines: dict[str, float]

    @property
    def objective(self) -> float:
        """Sum of the cost lines."""
        return sum(self.lines.values())

    @property
    def orders(self) -> tuple[Term, ...]:
        """The plan's orders."""
        return tuple(term for term in self.terms if not term.held)

    @property
    def held(self) -> tuple[Term, ...]:
        """Held commitments."""
        return tuple(term for term in self.terms if term.held)


def ledger_of(frame: Frame) -> Ledger:
    """Open the books: read use and terms from the plan and price them."""
    use, terms = use_of(frame), terms_of(frame)
    flows = _flows(frame, use)
    spot_cost = {
        (campaign, offer): metered_values(frame, frame.tables.spot[offer], gpus)[1]
        for (campaign, offer), gpus in use.spot.items()
    }
    drops = {
        item.campaign: item.share * (frame.tables.campaigns[item.campaign].drop_cost or 0.0)
        for item in frame.plan.dropped
    }
    tail_charge = (
        frame.scenario.policy.tail_charge
        * sum(term.tail for term in terms if not term.held)
        * frame.factor(frame.grid.end)
    )
    lines = dict.fromkeys(COST_LINES, 0.0)
    for charge in (charge for term in terms if not term.held for charge in term.charges):
        lines[charge.line] += float(charge.present_value.sum())
    for flow in flows:
        lines[flow.line] += float(flow.present_value.sum())
    lines["commitment_tail"] = tail_charge
    lines["drop"] = sum(drops.values())
    return Ledger(
        frame=frame,
        use=use,
        terms=terms,
        pools={pool: _pool_ledger(frame, use.pools[pool], terms) for pool in frame.tables.pools},
        flows=flows,
        spot_cost=spot_cost,
        drop_cost=drops,
        tail_charge=tail_charge,
        lines=lines,
    )


def _pool_ledger(frame: Frame, use: PoolUse, terms: tuple[Term, ...]) -> PoolLedger:
    hours, periods, levels = frame.grid.hours, frame.grid.num_periods, use.levels
    mine = tuple(term for term in terms if term.pool == use.pool)
    firm = [term for term in mine if not term.flex]
    held = [term for term in mine if term.held]
    flex = {term.offer: [t for t in mine if t.offer == term.offer] for term in mine if term.flex}
    firm_hours = total((term.gpu_hours for term in firm), periods)
    on_demand = total(use.on_demand.values(), len(levels.demand))
    campaigns, drawn = use.campaign_gpus(), use.drawn_gpus()
    drawn_used = np.minimum(drawn, campaigns)
    undrawn = levels.demand + (campaigns - drawn_used)[levels.period]
    room = np.maximum(firm_hours / hours - use.backfill_gpus(), 0.0)[levels.period]
    firm_used = np.clip(undrawn - on_demand, 0.0, room)
    firm_share = _part(firm_used, undrawn)
    drawn_share = _part(drawn_used, campaigns)
    metered_cost = np.zeros(periods)
    for offer, gpus in use.on_demand.items():
        source = frame.tables.on_demand[offer]
        metered_cost += metered_values(frame, source, levels.mean(gpus))[1]
    for offer, gpus in use.drawn.items():
        metered_cost += usage_values(frame, offer, gpus)[1]
    return PoolLedger(
        pool=use.pool,
        hours=hours,
        use=use,
        terms=mine,
        held_hours=total((term.gpu_hours for term in held if not term.flex), periods),
        firm_hours=firm_hours,
        firm_cost=total((term.present_value for term in firm if not term.held), periods),
        held_cost=total((term.present_value for term in held), periods),
        flex_hours={str(o): total((t.gpu_hours for t in ts), periods) for o, ts in flex.items()},
        flex_cost={
            str(offer): total((term.present_value for term in own if not term.held), periods)
            for offer, own in flex.items()
        },
        held_flex_cost={
            str(offer): total((term.present_value for term in own if term.held), periods)
            for offer, own in flex.items()
        },
        drawn_hours={
            str(offer): use.drawn.get(str(offer), np.zeros(periods))
            * _part(drawn_used, drawn)
            * hours
            for offer in flex
        },
        firm_used_hours=levels.mean(firm_used) * hours,
        backfilled_hours=use.backfill_gpus() * hours,
        metered_hours=levels.mean(on_demand) * hours,
        metered_cost=metered_cost,
        committed_share=drawn_share + (1.0 - drawn_share) * levels.mean(firm_share),
        demand_committed_hours=levels.mean(firm_share * levels.demand) * hours,
    )


def metered_values(
    frame: Frame, offer: PricedOffer, gpus: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the undiscounted cost and the present value of average GPUs in use, by period."""
    amounts = np.zeros(len(gpus))
    for period in np.flatnonzero(gpus):
        price = price_at(offer, frame.grid.boundaries[period], frame.grid.start)
        amounts[period] = gpus[period] * frame.grid.hours[period] * price
    return amounts, amounts * frame.midpoint_factors


def usage_values(frame: Frame, offer_id: str, gpus: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the undiscounted cost and the present value of GPUs drawn from a flex reservation."""
    offer = frame.tables.committed[offer_id]
    price = offer.usage_price or 0.0 if isinstance(offer, LeasedOffer) else 0.0
    amounts = gpus * frame.grid.hours * price
    return amounts, amounts * frame.midpoint_factors


def _flows(frame: Frame, use: Use) -> tuple[Flow, ...]:
    """Return all that is billed by use: one flow per metered or flex offer, spot use and buyer."""
    flows: list[Flow] = []
    for pool in use.pools.values():
        for offer, gpus in pool.on_demand.items():
            source = frame.tables.on_demand[offer]
            flows.append(Flow("on_demand", *metered_values(frame, source, pool.levels.mean(gpus))))
        for offer, gpus in pool.drawn.items():
            flows.append(Flow("usage", *usage_values(frame, offer, gpus)))
        for buyer in frame.scenario.backfill:
            if buyer.id in pool.backfill:
                revenue = -buyer.value * pool.backfill[buyer.id] * frame.grid.hours
                flows.append(Flow("backfill_revenue", revenue, revenue * frame.midpoint_factors))
    for (_, offer), gpus in use.spot.items():
        flows.append(Flow("spot", *metered_values(frame, frame.tables.spot[offer], gpus)))
    return tuple(flows)


def _part(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Return an element-wise quotient, 0 where there is nothing to divide by."""
    safe = np.where(denominator > 0.0, denominator, 1.0)
    return np.where(denominator > 0.0, numerator / safe, 0.0)
