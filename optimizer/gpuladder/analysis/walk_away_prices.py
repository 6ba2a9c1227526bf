"""What a plan buys of each offer, and the same scenario with one offer at another price."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from gpuladder.economics import price_at
from gpuladder.program import make_program_data
from gpuladder.program.campaigns import spot_unit_cost
from gpuladder.program.context import make_context
from gpuladder.program.orders import list_terms, start_periods
from gpuladder.scenario.expand import expand_offer
from gpuladder.scenario.schema import LeasedOffer, Offer, OwnedOffer, Scenario

if TYPE_CHECKING:
    from gpuladder.compiled import CompiledModel
    from gpuladder.plan import Plan, Run
    from gpuladder.solving import Edit
    from gpuladder_models.data import FloatArray, ProgramData

PRICED_LINES = (
    "burst_window",
    "reserved",
    "dedicated",
    "commitment_tail",
    "owned_capex",
    "owned_loan",
    "owned_residual",
)
"""Cost lines of an order that move with its price; setup, running and usage do not."""


@dataclass(frozen=True, slots=True)
class Purchase:
    """What a plan buys of one offer."""

    spend: float = 0.0
    """Present value of what moves with the offer's price, at today's price."""
    money: float = 0.0
    """Present value of all that is spent on it."""
    gpus: float = 0.0
    """Lots × GPUs over all starts; metered: peak GPUs used."""
    gpu_hours: float = 0.0
    """Bought, or used when metered, inside the horizon."""


def reprice(scenario: Scenario, offer: str, factor: float) -> Scenario:
    """Return the scenario with the whole price path of one expanded offer times ``factor``.

    An offer with several tenors becomes one offer per tenor, under the ids that it stands for, of
    which one is repriced. The price of an owned offer is its capital cost. Set-up, running and
    usage prices stay.
    """
    offers: list[Offer] = []
    for item in scenario.offers:
        singles: list[Any] = [item]
        if isinstance(item, LeasedOffer | OwnedOffer):
            singles = list(expand_offer(item))
        if all(single.id != offer for single in singles):
            offers.append(item)
            continue
        offers += [_times(x, factor) if x.id == offer else x for x in singles]
    return scenario.model_copy(update={"offers": tuple(offers)})


def _times(offer: Offer, factor: float) -> Offer:
    if isinstance(offer, OwnedOffer):
        return offer.model_copy(update={"capex_per_gpu": offer.capex_per_gpu * factor})
    price = getattr(offer, "price", None)
    path = tuple(
        step.model_copy(update={"price": step.price * factor}) for step in offer.price_path
    )
    return offer.model_copy(
        update={"price": None if price is None else price * factor, "price_path": path}
    )


def without(offer: str) -> Edit:
    """Return the edit that forbids one expanded offer."""
    return partial(_forbid, offer)


def _forbid(offer: str, compiled: CompiledModel, data: ProgramData) -> CompiledModel:
    upper = compiled.column_upper.copy()
    for family, columns in columns_of(data, offer).items():
        upper[compiled.column_blocks[family].begin + columns] = 0.0
    return replace(compiled, column_upper=upper)


def columns_of(data: ProgramData, offer: str) -> dict[str, np.ndarray]:
    """Return the variables of one expanded offer, by family."""
    labels = data.labels
    if offer in labels.committed:
        number = labels.committed.index(offer)
        orders = np.flatnonzero(data.orders.offer == number)
        return {"lots": orders}
    if offer in labels.on_demand:
        number = labels.on_demand.index(offer)
        return {"on_demand": np.flatnonzero(data.on_demand.offer == number)}
    number = labels.spot.index(offer)
    return {
        "spot": np.flatnonzero(data.spot.offer[data.elastic.spot_cell] == number),
        "mode": np.flatnonzero(data.gangs.mode_spot == number),
    }


class Market:
    """A scenario's offers with what one unit of each costs; reads purchases off plans."""

    def __init__(self, scenario: Scenario) -> None:
        self.data = data = make_program_data(scenario)
        self._context = context = make_context(scenario)
        labels, hours = data.labels, context.grid.hours
        self.offers = (*labels.committed, *labels.on_demand, *labels.spot)
        terms = list_terms(context)
        lines = data.orders.cost_lines
        self._order_spend = np.sum([lines[name] for name in PRICED_LINES], axis=0)
        self._order_hours = [t.offer.lot_gpus * float(t.share @ hours) for t in terms]
        self._lot_gpus = [t.offer.lot_gpus for t in terms]
        self._period = {day: number for number, day in enumerate(labels.periods)}
        self._orders = {
            (labels.committed[o], labels.periods[s]): j
            for j, (o, s) in enumerate(zip(data.orders.offer, data.orders.start, strict=True))
        }
        self._setup = dict(
            zip(data.orders.placed.tolist(), data.orders.setup_cost.tolist(), strict=True)
        )
        cells = data.levels.cell[data.on_demand.level]
        self._levels = {
            (labels.on_demand[o], labels.periods[t], int(k)): i
            for i, (o, t, k) in enumerate(
                zip(
                    data.on_demand.offer,
                    data.cells.period[cells],
                    data.levels.index[data.on_demand.level],
                    strict=True,
                )
            )
        }
        self._level_hours = data.levels.share[data.on_demand.level] * data.cells.hours[cells]
        self._spot_unit = spot_unit_cost(context, data.spot)
        self._spot = {
            (labels.spot[o], labels.periods[t]): q
            for q, (o, t) in enumerate(zip(data.spot.offer, data.spot.period, strict=True))
        }

    def pool(self, offer: str) -> str:
        """Return the pool of an expanded offer."""
        return self._offer(offer).pool

    def kind(self, offer: str) -> str:
        """Return the kind of an expanded offer."""
        return self._offer(offer).kind

    def price_today(self, offer: str) -> float:
        """Return the price at the first date it can be had; owned: capital cost per GPU."""
        item, grid = self._offer(offer), self._context.grid
        if isinstance(item, OwnedOffer):
            return item.capex_per_gpu
        day = max(item.available_from or grid.start, grid.start)
        if isinstance(item, LeasedOffer):
            starts = start_periods(self._context, item)
            day = grid.boundaries[starts[0]] if starts else day
        return price_at(item, day, grid.start)

    def _offer(self, offer: str) -> Offer:
        tables = self._context.expanded
        found: Any = {**tables.committed, **tables.on_demand, **tables.spot}[offer]
        return cast("Offer", found)

    def is_usable(self, offer: str) -> bool:
        """Tell whether any plan can buy of an expanded offer."""
        return any(columns.size for columns in columns_of(self.data, offer).values())

    def least_spend(self, offer: str) -> float:
        """Return the spend of the smallest purchase that matters, at today's price.

        One lot at its cheapest start; metered: a node for the period where that is cheapest.
        """
        data, node = self.data, self._node(offer)
        if offer in data.labels.committed:
            own = self._order_spend[columns_of(data, offer)["lots"]]
            return float(own[own > 0].min(initial=np.inf))
        if offer in data.labels.on_demand:
            uses = columns_of(data, offer)["on_demand"]
            cells = data.levels.cell[data.on_demand.level[uses]]
            # Of nothing, bincount counts in whole numbers whatever its weights are.
            whole = np.bincount(cells, data.on_demand.cost[uses]).astype(np.float64)
            return node * float(whole[whole > 0].min(initial=np.inf))
        number = data.labels.spot.index(offer)
        unit: FloatArray = self._spot_unit[data.spot.offer == number]
        return node * float(unit[unit > 0].min(initial=np.inf))

    def _node(self, offer: str) -> int:
        pools = {pool.id: pool for pool in self._context.scenario.pools}
        return self._context.gpus_per_node(pools[self.pool(offer)])

    def unit_spends(self, offer: str) -> dict[str, FloatArray]:
        """Return the spend of one unit of each of an offer's variables, by family."""
        data = self.data
        units = {
            "lots": self._order_spend,
            "on_demand": data.on_demand.cost,
            "spot": data.elastic.spot_cost,
            "mode": data.gangs.mode_cost,
        }
        return {family: units[family][own] for family, own in columns_of(data, offer).items()}

    def purchases(self, plan: Plan) -> dict[str, Purchase]:
        """Return what a plan buys of each offer; nothing of an offer is a purchase of nothing."""
        books = {offer: _Book() for offer in self.offers}
        data = self.data
        for order in plan.orders:
            j = self._orders[order.offer, str(order.start)]
            spend = order.lots * float(self._order_spend[j])
            money = order.lots * float(data.orders.cost[j]) + self._setup.get(j, 0.0)
            book = books[order.offer]
            book.add(spend, money, order.lots * self._order_hours[j])
            book.gpus += order.lots * self._lot_gpus[j]
        for use in plan.on_demand:
            i = self._levels[use.offer, str(use.period), use.level]
            cost = use.gpus * float(data.on_demand.cost[i])
            book = books[use.offer]
            book.add(cost, cost, use.gpus * float(self._level_hours[i]))
            book.gpus = max(book.gpus, use.gpus)
        in_use: dict[tuple[str, int], float] = {}
        for spot in plan.spot_use:
            q = self._spot[spot.offer, str(spot.period)]
            in_use[spot.offer, q] = in_use.get((spot.offer, q), 0.0) + spot.gpus
        for run in plan.runs:
            if run.spot_offer is None:
                continue
            for q, gpus in self._run_cells(run):
                in_use[run.spot_offer, q] = in_use.get((run.spot_offer, q), 0.0) + gpus
        hours = self._context.grid.hours[data.spot.period]
        for (offer, q), gpus in in_use.items():
            cost = gpus * float(self._spot_unit[q])
            books[offer].add(cost, cost, gpus * float(hours[q]))
            books[offer].gpus = max(books[offer].gpus, gpus)
        return {offer: book.closed() for offer, book in books.items()}

    def _run_cells(self, run: Run) -> list[tuple[int, float]]:
        """Return the spot cells that a run uses, with its GPUs in each."""
        gangs, labels = self.data.gangs, self.data.labels
        start = self._period[str(run.start)]
        modes = np.flatnonzero((gangs.mode_start == start) & (gangs.mode_gpus == run.gpus))
        for m in modes.tolist():
            campaign = labels.campaigns[gangs.campaign[gangs.mode_instance[m]]]
            number = int(gangs.mode_spot[m])
            if campaign == run.campaign and number >= 0 and labels.spot[number] == run.spot_offer:
                own = gangs.spot.column == m
                rows, values = gangs.spot.row[own].tolist(), gangs.spot.value[own].tolist()
                return list(zip(rows, values, strict=True))
        return []


class _Book:
    """Adds up the purchases of one offer."""

    def __init__(self) -> None:
        self.spend = self.money = self.hours = self.gpus = 0.0

    def add(self, spend: float, money: float, hours: float) -> None:
        self.spend += spend
        self.money += money
        self.hours += hours

    def closed(self) -> Purchase:
        return Purchase(self.spend, self.money, self.gpus, self.hours)
