"""Company limits: the ladder's windows, shares, exposure and cash budgets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpuladder.economics import price_at
from gpuladder.program.capacity import period_prices
from gpuladder.program.context import Context, Entries
from gpuladder.scenario.schema import (
    CashBudget,
    DedicatedOffer,
    HeldCommitment,
    LadderPolicy,
    OwnedOffer,
)
from gpuladder.sizing.owned import down_payment, loan_of
from gpuladder.timegrid import HOURS_PER_DAY, FloatArray, Span, TimeGrid
from gpuladder_models.data import (
    Cells,
    Elastic,
    Flex,
    Gangs,
    Ladder,
    Levels,
    OnDemand,
    Orders,
    Policy,
    Sparse,
    Spot,
    sparse,
)

if TYPE_CHECKING:
    from datetime import date

    from gpuladder.program.orders import Term
    from gpuladder.sizing.loans import Instalment


def ladder_windows(grid: TimeGrid, window: Span, last: date) -> list[tuple[date, date]]:
    """Return windows ``(start, end]`` counted from the grid's anchor until ``last`` lies in one.

    The first is the one in which the horizon starts.
    """
    windows: list[tuple[date, date]] = []
    number, end = 0, grid.anchor
    while not windows or end < last:
        number += 1
        begin, end = end, window.after(grid.anchor, number)
        if end > grid.start:
            windows.append((begin, end))
    return windows


def committed_at(start: date, end: date, day: date, horizon_end: date) -> bool:
    """Tell whether a term stands at a window's start; past the horizon, over its last instant."""
    if day >= horizon_end:
        return start < horizon_end <= end
    return start <= day < end


def counts_for_ladder(held: HeldCommitment, shortest: Span) -> bool:
    """Tell whether a held commitment is long enough; one without a stated tenor counts."""
    return held.tenor is None or held.tenor.after(held.start) >= shortest.after(held.start)


def make_ladder(context: Context, terms: list[Term]) -> Ladder:
    """Return the ladder's rows; none without a ladder policy."""
    policy = context.scenario.policy.ladder
    if policy is None:
        return Ladder(window=(), orders=sparse(), limit=np.zeros(0))
    shortest = policy.min_tenor or policy.window
    counted = [t for t in terms if t.end >= shortest.after(t.start)]
    held = [item for item in context.scenario.commitments if counts_for_ladder(item, shortest)]
    last = max([t.end for t in counted] + [item.end for item in held], default=context.grid.start)
    windows = ladder_windows(context.grid, policy.window, last)
    limits = [_held_room(context, policy, held, window) for window in windows]
    entries = Entries()
    for number, (begin, end) in enumerate(windows):
        for term in counted:
            expires = begin < term.end <= end
            stands = committed_at(term.start, term.end, begin, context.grid.end)
            weight = float(expires) - policy.max_expiring_share * float(stands)
            if weight:
                entries.add(number, term.number, weight * term.offer.lot_gpus)
    return Ladder(
        window=tuple(f"{begin}/{end}" for begin, end in windows),
        orders=entries.matrix(),
        limit=np.array(limits, np.float64),
    )


def _held_room(
    context: Context, policy: LadderPolicy, held: list[HeldCommitment], window: tuple[date, date]
) -> float:
    """Return what held commitments and the exemption leave for new expiries in a window."""
    begin, end = window
    stands = sum(i.gpus for i in held if committed_at(i.start, i.end, begin, context.grid.end))
    expires = sum(i.gpus for i in held if begin < i.end <= end)
    return policy.exempt_gpus + policy.max_expiring_share * stands - expires


def make_policy(
    context: Context,
    terms: list[Term],
    orders: Orders,
    cells: Cells,
    levels: Levels,
    on_demand: OnDemand,
    flex: Flex,
    spot: Spot,
    elastic: Elastic,
    gangs: Gangs,
) -> Policy:
    """Return the company's other limits."""
    policy, grid = context.scenario.policy, context.grid
    pools = list(context.expanded.pools.values())
    providers = list(dict.fromkeys(pool.provider for pool in pools))
    asked = policy.provider_share_max
    if isinstance(asked, dict):
        shares = asked
    else:
        shares = {} if asked is None else dict.fromkeys(providers, asked)
    past = policy.so_far.provider_gpu_hours
    limits = [
        (limit, period)
        for limit in policy.hardware_limits
        for period, day in enumerate(grid.boundaries[:-1])
        if day >= limit.after
    ]
    limit_cells = Entries()
    for row, (limit, period) in enumerate(limits):
        for pool in pools:
            if pool.hardware == limit.hardware:
                limit_cells.add(row, context.cell(pool.id, period), 1.0)
    repaid = [_repaid(term) for term in terms] if policy.cash_budgets else []
    payments = [
        _Payments(context, budget, terms, repaid, orders, cells, levels)
        for budget in policy.cash_budgets
    ]
    return Policy(
        spot_share_max=np.inf if policy.spot_share_max is None else policy.spot_share_max,
        work_so_far=policy.so_far.gpu_hours,
        spot_work_so_far=policy.so_far.spot_gpu_hours,
        provider=np.array([providers.index(name) for name in shares], np.int64),
        provider_future=np.zeros(len(shares), np.int64),
        provider_share=np.array(list(shares.values()), np.float64),
        provider_room=np.array(
            [share * sum(past.values()) - past.get(name, 0.0) for name, share in shares.items()],
            np.float64,
        ),
        pool_provider=np.array([providers.index(pool.provider) for pool in pools], np.int64),
        spot_pool=np.array(
            [context.pool_index[o.pool] for o in context.expanded.spot.values()], np.int64
        ),
        committed_max=np.inf if policy.committed_gpus_max is None else policy.committed_gpus_max,
        limit_cells=limit_cells.matrix(),
        limit_label=tuple((limit.hardware, str(grid.boundaries[t])) for limit, t in limits),
        limit_max=np.array([limit.max_committed_gpus for limit, _ in limits], np.float64),
        budget_label=tuple(f"{b.from_date}/{b.until}" for b in policy.cash_budgets),
        budget_orders=_stacked([p.orders() for p in payments]),
        budget_setups=_stacked([p.setups() for p in payments]),
        budget_on_demand=_stacked([p.on_demand(on_demand) for p in payments]),
        budget_draws=_stacked([p.draws(flex) for p in payments]),
        budget_elastic_spot=_stacked([p.elastic_spot(spot, elastic) for p in payments]),
        budget_modes=_stacked([p.modes(spot, gangs) for p in payments]),
        budget_max=np.array(
            [b.max - p.held() for b, p in zip(policy.cash_budgets, payments, strict=True)],
            np.float64,
        ),
    )


def _stacked(rows: list[FloatArray]) -> Sparse:
    entries = Entries()
    for number, row in enumerate(rows):
        columns = np.flatnonzero(row)
        entries.add(np.full(len(columns), number), columns, row[columns])
    return entries.matrix()


def _repaid(term: Term) -> tuple[Instalment, ...]:
    """Return what one lot's loan is repaid in, none when it is not bought on credit."""
    offer = term.offer
    if not isinstance(offer, OwnedOffer):
        return ()
    loan = loan_of(offer, offer.capex_per_gpu * offer.lot_gpus, term.start)
    return () if loan is None else loan.until(term.end)


class _Payments:
    """Undiscounted payments billed in one budget's span, per unit of each decision.

    Billed: the upfront share of the whole term at its start and the rest by the hour, setup and
    purchase at the start, of a financed purchase the down payment then, its instalments when due
    and what is left of them at the end of life; metered use and draws by the hour.
    """

    def __init__(
        self,
        context: Context,
        budget: CashBudget,
        terms: list[Term],
        repaid: list[tuple[Instalment, ...]],
        orders: Orders,
        cells: Cells,
        levels: Levels,
    ) -> None:
        self.context, self.budget, self.terms, self.repaid = context, budget, terms, repaid
        self.placed, self.cells, self.levels = orders.placed, cells, levels
        begin = max(budget.from_date, context.grid.start)
        end = min(budget.until, context.grid.end)
        self.share = context.grid.overlap_share(begin, end)

    def _hours(self, begin: date, end: date) -> float:
        first = max(begin, self.budget.from_date, self.context.grid.start)
        last = min(end, self.budget.until)
        return max((last - first).days, 0) * HOURS_PER_DAY

    def _falls_inside(self, day: date) -> bool:
        return self.budget.from_date <= day < self.budget.until

    def held(self) -> float:
        """Return what held commitments are paid in the span, from the horizon start on."""
        return sum(self._held(item) for item in self.context.scenario.commitments)

    def _held(self, item: HeldCommitment) -> float:
        if item.end <= self.context.grid.start:
            return 0.0
        hours = (1.0 - item.upfront) * self._hours(item.start, item.end)
        if item.start >= self.context.grid.start and self._falls_inside(item.start):
            hours += item.upfront * (item.end - item.start).days * HOURS_PER_DAY
        due = sum(
            each.amount
            for each in item.dues
            if each.on >= self.context.grid.start and self._falls_inside(each.on)
        )
        return item.gpus * item.price * hours + due

    def orders(self) -> FloatArray:
        """Return the payments of one lot of each order, shape (J,)."""
        return np.array([self._lot(term) for term in self.terms], np.float64)

    def _lot(self, term: Term) -> float:
        offer, hours = term.offer, self._hours(term.start, term.end)
        if isinstance(offer, OwnedOffer):
            capex = offer.capex_per_gpu * offer.lot_gpus
            bought = down_payment(offer, capex) if self._falls_inside(term.start) else 0.0
            due = [row.payment for row in self.repaid[term.number] if self._falls_inside(row.due)]
            return bought + sum(due) + offer.opex_per_gpu_hour * offer.lot_gpus * hours
        rate = price_at(offer, term.start, self.context.grid.start) * offer.lot_gpus
        whole = (term.end - term.start).days * HOURS_PER_DAY
        upfront = offer.upfront * whole if self._falls_inside(term.start) else 0.0
        return rate * (upfront + (1.0 - offer.upfront) * hours)

    def setups(self) -> FloatArray:
        """Return the setup paid per placed order, shape (K,)."""
        own = [self.terms[j] for j in self.placed.tolist()]
        return np.array(
            [
                t.offer.setup_cost
                if isinstance(t.offer, DedicatedOffer) and self._falls_inside(t.start)
                else 0.0
                for t in own
            ],
            np.float64,
        )

    def _level_hours(self, level: np.ndarray) -> FloatArray:
        cell = self.levels.cell[level]
        part = self.levels.share[level] * self.cells.hours[cell]
        return np.asarray(part * self.share[self.cells.period[cell]], np.float64)

    def on_demand(self, use: OnDemand) -> FloatArray:
        """Return the payments of one GPU of each on-demand use, shape (I,)."""
        offers = list(self.context.expanded.on_demand.values())
        price = np.array([period_prices(self.context, offer) for offer in offers])
        period = self.cells.period[self.levels.cell[use.level]]
        return price[use.offer, period] * self._level_hours(use.level) if offers else np.zeros(0)

    def draws(self, flex: Flex) -> FloatArray:
        """Return the payments of one GPU of each draw, shape (D,)."""
        offers = list(self.context.expanded.committed.values())
        usage = np.array([getattr(o, "usage_price", None) or 0.0 for o in offers], np.float64)
        cell = flex.cell[flex.draw_flex]
        hours = self.cells.hours[cell] * self.share[self.cells.period[cell]]
        return np.asarray(usage[flex.offer[flex.draw_flex]] * hours, np.float64)

    def _spot(self, spot: Spot) -> FloatArray:
        offers = list(self.context.expanded.spot.values())
        if not offers:
            return np.zeros(0)
        price = np.array([period_prices(self.context, offer) for offer in offers])
        hours = self.context.grid.hours * self.share
        return np.asarray(price[spot.offer, spot.period] * hours[spot.period], np.float64)

    def elastic_spot(self, spot: Spot, elastic: Elastic) -> FloatArray:
        """Return the payments of one spot GPU of each elastic use, shape (B,)."""
        return self._spot(spot)[elastic.spot_cell]

    def modes(self, spot: Spot, gangs: Gangs) -> FloatArray:
        """Return the spot payments of each gang mode, shape (M,)."""
        paid = self._spot(spot)[gangs.spot.row] * gangs.spot.value
        return np.bincount(gangs.spot.column, paid, len(gangs.mode_start)).astype(np.float64)
