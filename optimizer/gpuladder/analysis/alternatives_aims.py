"""Other aims than cost, within a limit on cost: as objectives of the program, and as measures.

Every measure is taken from a plan by the same definitions that its objective is made from:

* providers: those that anything is bought from or that a commitment is held with;
* lock-in: the full-term cost of each order, setup, purchase and loan included, running cost and
  residual value not, times the months of its term (currency × months);
* spot: GPU-hours on spot;
* signatures: orders, each one offer and start date;
* early signatures: the same money times the months from the day an order has to be signed by to the
  horizon end (currency × months): the less, the later it is given away;
* cash peak: the most that is billed in one calendar month that touches the horizon, held
  commitments and loans as signed included, sales and residual value not.

Cost comes second: its whole room within the slack weighs half a provider or signature, so that of
the plans with the fewest the cheapest is found, and a thousandth of the plan's own measure for the
others. A column that is always 1 takes the best cost known off again, so that the objective is
about the aim's own size and a relative gap of it means what it says.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.analysis.cash import cash_rows
from gpuladder.analysis.edits import NewColumns, NewRow, extend
from gpuladder.analysis.frame import DAYS_PER_MONTH, Frame, calendar_edges, hours_between
from gpuladder.analysis.ledger import Ledger, ledger_of
from gpuladder.analysis.terms import terms_of
from gpuladder.plan import Order, Plan
from gpuladder.program.context import make_context
from gpuladder.program.orders import list_terms, useful_lots
from gpuladder.scenario.schema import CashBudget
from gpuladder.timegrid import add_months

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from gpuladder.analysis.terms import Term
    from gpuladder.compiled import CompiledModel, FloatArray
    from gpuladder.scenario.schema import Scenario
    from gpuladder_models.data import IntArray, ProgramData

PROVIDERS = "fewest_providers"
LOCK_IN = "shortest_lock_in"
SPOT = "least_spot"
SIGNATURES = "fewest_signatures"
LATEST = "latest_signatures"
CASH = "flattest_cash"
AIMS = (PROVIDERS, LOCK_IN, SPOT, SIGNATURES, LATEST, CASH)
UNBILLED = ("backfill_revenue", "owned_residual", "owned_loan")
"""Lines that no month's bills are made of; a loan is billed as signed."""
COST_TOLERANCE = 1e-6  # relative
COST_WEIGHT = 1e-3  # of the plan's own measure, for all of the slack
COUNT_WEIGHT = 0.5  # of one provider or signature, for all of the slack


def unit_of(aim: str, currency: str) -> str:
    """Return the unit of an aim's measure."""
    return {
        PROVIDERS: "providers",
        LOCK_IN: f"{currency} × months",
        SPOT: "GPU-hours",
        SIGNATURES: "orders",
        LATEST: f"{currency} × months",
        CASH: f"{currency} in a month",
    }[aim]


def measures(scenario: Scenario, plan: Plan) -> dict[str, float]:
    """Return every aim's measure of a plan."""
    ledger = ledger_of(Frame.of(scenario, plan))
    horizon_end = ledger.frame.grid.end
    return {
        PROVIDERS: float(len(_providers(ledger))),
        LOCK_IN: sum(_lock_in(term) for term in ledger.orders),
        SPOT: sum(float(g @ ledger.frame.grid.hours) for g in ledger.use.spot.values()),
        SIGNATURES: float(len(ledger.orders)),
        LATEST: sum(_earliness(term, horizon_end) for term in ledger.orders),
        CASH: max(_cash_by_month(ledger).values(), default=0.0),
    }


def _providers(ledger: Ledger) -> set[str]:
    tables = ledger.frame.tables
    pools = {term.pool for term in ledger.terms}
    pools |= {tables.on_demand[use.offer].pool for use in ledger.frame.plan.on_demand}
    pools |= {tables.spot[offer].pool for _, offer in ledger.use.spot}
    return {tables.pools[pool].provider for pool in pools}


def months_of(term: Term) -> float:
    """Return the length of a term in months."""
    return (term.end - term.start).days / DAYS_PER_MONTH


def committed_money(term: Term, *, is_setup: bool | None = None) -> float:
    """Return what an order costs over its full term; its setup alone or without it if so asked."""
    left_out = ("owned_opex", "owned_residual", "owned_loan")
    money = sum(
        charge.total
        for charge in term.charges
        if charge.line not in left_out and is_setup in (None, charge.line == "setup")
    )
    return money if is_setup else money + sum(row.payment for row in term.repaid)


def _lock_in(term: Term) -> float:
    return committed_money(term) * months_of(term)


def _earliness(term: Term, horizon_end: date) -> float:
    return committed_money(term) * (horizon_end - term.sign_by).days / DAYS_PER_MONTH


def horizon_months(scenario: Scenario, frame: Frame) -> list[tuple[date, date]]:
    """Return the calendar months that touch the horizon, the first from its start."""
    edges = calendar_edges(frame.grid.start, frame.grid.end, 1)
    begins = [scenario.horizon.start, *edges[1:-1]]
    return list(zip(begins, edges[1:], strict=True))


def _cash_by_month(ledger: Ledger) -> dict[date, float]:
    months: dict[date, float] = {}
    for row in cash_rows(ledger):
        if row.line not in UNBILLED and row.month_start < ledger.frame.grid.end:
            months[row.month_start] = months.get(row.month_start, 0.0) + row.cash
    for due, amount in (bill for term in ledger.orders for bill in _billed_apart(term)):
        month = due.replace(day=1)
        if month < ledger.frame.grid.end:
            months[month] = months.get(month, 0.0) + amount
    return months


def _billed_apart(term: Term) -> Iterator[tuple[date, float]]:
    """Yield what bought hardware is billed beside its charges, which end when it is valued.

    Its loan as signed, and running cost in what is left of the horizon's last month.
    """
    yield from ((row.due, row.payment) for row in term.repaid)
    for charge in term.charges:
        if charge.line == "owned_opex" and charge.end < term.end:
            rate = charge.total / hours_between(charge.begin, charge.end)
            last = min(term.end, add_months(charge.end.replace(day=1), 1))
            yield charge.end, rate * hours_between(charge.end, last)


def asked_scenario(scenario: Scenario, aim: str, plan: Plan) -> Scenario:
    """Return the scenario to build an aim's program from: for cash, with a budget a month.

    The budgets' rows say what each month's payments are; the edit puts the peak in their place.
    """
    if aim != CASH:
        return scenario
    months = horizon_months(scenario, Frame.of(scenario, plan))
    budgets = [
        CashBudget.model_validate({"from": begin, "until": end, "max": 0.0})
        for begin, end in months
    ]
    policy = scenario.policy.model_copy(
        update={"cash_budgets": (*scenario.policy.cash_budgets, *budgets)}
    )
    return scenario.model_copy(update={"policy": policy})


@dataclass(frozen=True, kw_only=True)
class CostLimit:
    """The near-optimal plans: those that cost at most ``most``."""

    least: float
    """Cost of the best plan known."""
    most: float

    @property
    def tolerated(self) -> float:
        """The limit with what the solver's own tolerance lets a cost exceed it by."""
        return self.most + COST_TOLERANCE * max(abs(self.most), 1.0)

    def row(self, compiled: CompiledModel) -> NewRow:
        """Return the row that keeps the cost within the limit, in units of the limit."""
        priced = np.flatnonzero(compiled.cost)
        unit = max(abs(self.most), 1.0)
        return NewRow(
            columns=priced.astype(np.int32),
            values=compiled.cost[priced] / unit,
            upper=self.most / unit,
        )

    def weight(self, worth: float) -> float:
        """Return the weight of cost at which the room within the limit is worth so much."""
        return worth / max(self.most - self.least, 1e-9 * max(abs(self.most), 1.0))


@dataclass(frozen=True, kw_only=True)
class Aim:
    """An edit: the aim as the objective, the cost limit as a row."""

    name: str
    scenario: Scenario
    plan: Plan
    """Best plan known; its measure is the scale."""
    limit: CostLimit
    scale: float
    """The plan's measure, above 0."""

    def __call__(self, compiled: CompiledModel, data: ProgramData) -> CompiledModel:
        """Return the program with the aim in place of its cost."""
        if self.name in (PROVIDERS, SIGNATURES):
            return self._count(compiled, data)
        if self.name == CASH:
            return self._peak(compiled)
        weight = self.limit.weight(COST_WEIGHT)
        cost = self._linear(compiled, data) / self.scale + weight * compiled.cost
        one = NewColumns(np.ones(1), np.ones(1), is_integer=False)
        cost = np.append(cost, -weight * self.limit.least)
        return extend(compiled, one, [self.limit.row(compiled)], cost)

    def _linear(self, compiled: CompiledModel, data: ProgramData) -> FloatArray:
        weights = np.zeros(compiled.num_columns)
        blocks = compiled.column_blocks
        if self.name == SPOT:
            weights[blocks["spot"].slice] = spot_hours(data)
            weights[blocks["mode"].slice] = mode_spot_hours(data)
            return weights
        terms = self._terms(data)
        months = np.array([self._months(term) for term in terms])
        money = np.array([committed_money(term, is_setup=False) for term in terms])
        weights[blocks["lots"].slice] = money * months
        setups = np.array([committed_money(term, is_setup=True) for term in terms])
        placed = data.orders.placed
        weights[blocks["placed"].slice] = (setups * months)[placed]
        return weights

    def _months(self, term: Term) -> float:
        if self.name == LOCK_IN:
            return months_of(term)
        return (self._frame.grid.end - term.sign_by).days / DAYS_PER_MONTH

    def _terms(self, data: ProgramData) -> list[Term]:
        """Return one lot of every order as a term, in the order of the program."""
        boundaries = self._frame.grid.boundaries
        orders = tuple(
            Order(offer=data.labels.committed[offer], start=boundaries[start], lots=1)
            for offer, start in zip(
                data.orders.offer.tolist(), data.orders.start.tolist(), strict=True
            )
        )
        single = self.plan.model_copy(update={"orders": orders})
        return [term for term in terms_of(Frame.of(self.scenario, single)) if not term.held]

    @cached_property
    def _frame(self) -> Frame:
        return Frame.of(self.scenario, self.plan)

    def _count(self, compiled: CompiledModel, data: ProgramData) -> CompiledModel:
        """Count what is bought from, or signed, by columns that say what is left out.

        A column is 1 where a provider or an order is left out altogether, and 0 is always allowed,
        so that an earlier plan remains a starting point.
        """
        groups, upper = self._groups(compiled, data)
        count = int(groups.max(initial=-1)) + 1
        members = np.flatnonzero((groups >= 0) & (upper > 0))
        first = compiled.num_columns
        rows = [
            NewRow(
                columns=np.array([column, first + groups[column]], np.int32),
                values=np.array([1.0, upper[column]]),
                upper=float(upper[column]),
            )
            for column in members.tolist()
        ]
        weight = self.limit.weight(COUNT_WEIGHT)
        cost = np.concatenate(
            [weight * compiled.cost, np.full(count, -1.0), [count - weight * self.limit.least]]
        )
        columns = NewColumns(np.append(np.zeros(count), 1.0), np.ones(count + 1), is_integer=True)
        return extend(compiled, columns, [*rows, self.limit.row(compiled)], cost)

    def _groups(self, compiled: CompiledModel, data: ProgramData) -> tuple[IntArray, FloatArray]:
        """Return each column's group, −1 for none, and the most it could usefully be."""
        blocks = compiled.column_blocks
        groups = np.full(compiled.num_columns, -1, np.int64)
        upper = compiled.column_upper.copy()
        lots = blocks["lots"].slice
        upper[lots] = np.minimum(upper[lots], most_lots(self.scenario, data))
        if self.name == SIGNATURES:
            groups[lots] = np.arange(len(data.orders.offer))
            return groups, upper
        pools = data.labels.pools
        provider = np.array([self._group_of(pools[p], data) for p in range(len(pools))], np.int64)
        groups[lots] = provider[_order_pools(self._frame, data)]
        levels = data.levels
        use = blocks["on_demand"].slice
        groups[use] = provider[data.cells.pool[levels.cell[data.on_demand.level]]]
        upper[use] = np.minimum(data.on_demand.quota, useful_on_demand(data))
        spot_provider = provider[data.policy.spot_pool]
        if len(spot_provider):
            spot = blocks["spot"].slice
            groups[spot] = spot_provider[data.spot.offer[data.elastic.spot_cell]]
            upper[spot] = data.spot.depth[data.elastic.spot_cell]
            on_spot = np.flatnonzero(data.gangs.mode_spot >= 0)
            groups[blocks["mode"].begin + on_spot] = spot_provider[data.gangs.mode_spot[on_spot]]
        return groups, upper

    def _group_of(self, pool: str, data: ProgramData) -> int:
        """Return the number of a pool's provider, −1 where a commitment is held with it."""
        tables, begin = self._frame.tables, self._frame.grid.start
        name = tables.pools[pool].provider
        held = {tables.pools[h.pool].provider for h in tables.held.values() if h.end > begin}
        free = [provider for provider in data.labels.providers if provider not in held]
        return -1 if name in held else free.index(name)

    def _peak(self, compiled: CompiledModel) -> CompiledModel:
        """Minimise a column that is no less than the payments of any month."""
        block = compiled.row_blocks["cash_budget"]
        own = len(self.scenario.policy.cash_budgets)
        upper, rows = compiled.row_upper.copy(), []
        for position, key in enumerate(block.keys):
            if key < own:
                continue
            row = block.begin + position
            entries = slice(compiled.starts[row], compiled.starts[row + 1])
            columns = np.append(compiled.columns[entries], compiled.num_columns)
            values = np.append(compiled.values[entries] / self.scale, -1.0)
            rows.append(NewRow(columns.astype(np.int32), values, float(upper[row]) / self.scale))
            upper[row] = np.inf
        opened = replace(compiled, row_upper=upper)
        weight = self.limit.weight(COST_WEIGHT)
        cost = np.append(weight * compiled.cost, [1.0, -weight * self.limit.least])
        peak = NewColumns(np.array([0.0, 1.0]), np.array([np.inf, 1.0]), is_integer=False)
        return extend(opened, peak, [*rows, self.limit.row(compiled)], cost)


def _order_pools(frame: Frame, data: ProgramData) -> IntArray:
    pools = {name: number for number, name in enumerate(data.labels.pools)}
    of_offer = np.array(
        [pools[frame.tables.committed[name].pool] for name in data.labels.committed], np.int64
    )
    return of_offer[data.orders.offer] if len(data.orders.offer) else np.zeros(0, np.int64)


def most_lots(scenario: Scenario, data: ProgramData) -> FloatArray:
    """Return a number of lots of each order beyond which it could not be worth more, (J,)."""
    most = data.orders.most_lots.copy()
    useful: dict[tuple[str, float], float] = {}
    for term in list_terms(make_context(scenario)):
        if np.isfinite(most[term.number]):
            continue
        least_share = float(term.share[term.share > 0].min())
        key = (term.offer.id, least_share)
        if key not in useful:
            useful[key] = useful_lots(scenario, term.offer, least_share)
        most[term.number] = max(useful[key], term.offer.min_lots)
    return most


def useful_on_demand(data: ProgramData) -> FloatArray:
    """Return the most GPUs on demand that a level could use: demand and every campaign there.

    Shape (I,).
    """
    cells, elastic, gangs = data.cells, data.elastic, data.gangs
    campaigns = np.zeros(len(cells.held))
    width = np.zeros((len(elastic.work), len(data.labels.periods)))
    width[elastic.width_instance, elastic.width_period] = elastic.width
    period = cells.period[elastic.stable_cell]
    np.add.at(campaigns, elastic.stable_cell, width[elastic.stable_instance, period])
    largest = np.zeros((len(gangs.work), len(cells.held)))
    instance = gangs.mode_instance[gangs.stable.column]
    np.maximum.at(largest, (instance, gangs.stable.row), gangs.stable.value)
    campaigns += largest.sum(axis=0)
    level = data.on_demand.level
    return np.asarray(data.levels.demand[level] + campaigns[data.levels.cell[level]])


def spot_hours(data: ProgramData) -> FloatArray:
    """Return the GPU-hours of one spot GPU of each elastic use, shape (B,)."""
    return period_hours(data)[data.spot.period[data.elastic.spot_cell]]


def mode_spot_hours(data: ProgramData, offer: int | None = None) -> FloatArray:
    """Return the GPU-hours of each gang mode on spot, or on one spot offer, shape (M,)."""
    spot = data.gangs.spot
    hours = period_hours(data)[data.spot.period[spot.row]] * spot.value
    if offer is not None:
        hours = np.where(data.spot.offer[spot.row] == offer, hours, 0.0)
    return np.bincount(spot.column, hours, len(data.gangs.mode_start)).astype(np.float64)


def period_hours(data: ProgramData) -> FloatArray:
    """Return the length of each period, shape (T,)."""
    hours = np.zeros(len(data.labels.periods))
    hours[data.cells.period] = data.cells.hours
    return hours
