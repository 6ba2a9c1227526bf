"""The search for the price at which an offer leaves a plan, or enters it.

Let V(f) be the least cost with the offer at f times today's price, c the cost of a plan without
what moves with that price, and S what does, at today's price. Each plan is a line c + f S and V is
their lower envelope, concave and piecewise linear. Two facts carry the search:

* **S falls as the price rises.** Let x be optimal at f and y at g > f. Then c(x) + f S(x) ≤ c(y) +
  f S(y) and c(y) + g S(y) ≤ c(x) + g S(x). Added up, (g − f)(S(y) − S(x)) ≤ 0. So what is bought,
  weighed by today's discounted prices, never rises with the offer's own price, and there is one
  price up to which it is bought at all.
* **That price is where the best plan with the offer meets the best one without.** With V₀ the cost
  without it, a plan that buys some of it is no dearer up to f = (V₀ − c) / S. Every such plan moves
  the price up, never past the true one (Newton's method on V(f) = V₀, as W. Dinkelbach, Management
  Science 13, 1967). A solve just above that price either finds a plan that moves it on, or shows
  that the offer is out there.

Where a cash budget stands, a higher price also shrinks what may be paid for. A plan that buys the
offer and keeps the budgets at one price keeps them at any lower one, so there still is one price up
to which it is bought; but a line ends where its plan would break a budget, and beyond that only
prices that were solved at count: there the search bisects.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from gpuladder.analysis.variants import Answered, Variant, solve_variants
from gpuladder.analysis.walk_away_prices import Market, Purchase, reprice, without
from gpuladder.audit import audit
from gpuladder.plan import Status, Termination

if TYPE_CHECKING:
    from gpuladder.analysis.budget import Budget
    from gpuladder.plan import Plan
    from gpuladder.scenario.schema import Scenario
    from gpuladder.solving import Edit

MOST_SOLVES = 40
"""More are never needed; a guard against a solver that contradicts itself."""
PROBES = (0.9, 0.6, 0.3)
"""Shares of the price at which the relaxed program would buy it that are tried in turn …"""
LEAST_FACTOR = 0.05
"""… and the last one tried, of today's price."""
SURGES = (2.0, 5.0, 10.0)
"""Multiples of today's price tried for an offer that nothing can replace."""
CLOSE = 0.01
"""How close below a crossing is solved at, as a share of the tolerance."""
BOUGHT = 1e-4
"""Share of the smallest purchase that matters below which nothing is bought."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One offer to be searched for; pickles."""

    scenario: Scenario
    base: Plan
    offer: str
    relaxed_factor: float
    """Share of today's price at which the program without whole numbers would buy it."""
    tolerance: float
    budget: Budget
    seconds: float
    """Most seconds for this offer, counted from when it is begun."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What the search found; factors of today's price."""

    offer: str
    is_replaceable: bool | None = None
    """Whether there is a plan without it; None when that was not solved."""
    low: float | None = None
    """Highest factor at which it is known to be bought."""
    high: float | None = None
    """Lowest factor at which it is known not to be."""
    low_proven: float = 0.0
    high_proven: float = float("inf")
    """The same by the bounds of the solves."""
    same_low: float | None = None
    """Highest factor at which as much as today is known to be bought."""
    same_high: float | None = None
    same_low_proven: float = 0.0
    """Highest factor at which as much is bought by the bounds; ``same_high`` is proven as it is."""
    is_rigid: bool = False
    """Whether as much as today is bought even at the highest of ``SURGES``."""
    entry: Purchase | None = None
    """What is bought at ``low``."""
    entry_plan: Plan | None = None
    plan_without: Plan | None = None
    lowest_tried: float | None = None
    """Lowest factor at which it was tried and not bought, when it never was."""
    is_finished: bool = False


@dataclass(frozen=True, slots=True)
class _Line:
    """A plan as a line over the factor: other cost, and spend at today's price."""

    other: float
    spend: float
    plan: Plan

    def meets(self, cost: float) -> float:
        """Return the factor at which this plan costs ``cost``."""
        return (cost - self.other) / self.spend


@dataclass(slots=True)
class _Search:
    task: Task
    market: Market
    stop_at: float
    lines: list[_Line] = field(default_factory=list)
    bought_at: float | None = None
    """Highest factor solved at with a purchase."""
    not_bought_at: float | None = None
    """Lowest factor solved at without."""
    high_proven: float = float("inf")
    """Lowest factor at which the bounds prove that it is not bought."""
    bound_without: float = -float("inf")
    """Proven floor of the cost without it."""
    same_gap: float = 0.0
    """Gap, in money, of the solve that ended the search for the same quantity."""
    out: Plan | None = None
    solves: int = 0

    @property
    def least(self) -> float:
        return self.market.least_spend(self.task.offer)

    def holds(self, line: _Line, factor: float) -> bool:
        """Tell whether a plan keeps the cash budgets when its offer is paid at a factor."""
        scenario = self.task.scenario
        if not scenario.policy.cash_budgets:
            return True
        findings = audit(reprice(scenario, self.task.offer, factor), line.plan).findings
        return all(finding.code != "cash_budget" for finding in findings)

    def solve(self, scenario: Scenario, edit: Edit | None = None) -> Answered | None:
        """Solve one variant in this process; None when there is no time for it."""
        task = self.task
        if time.time() >= self.stop_at or self.solves >= MOST_SOLVES:
            return None
        self.solves += 1
        start = self.lines[-1].plan if self.lines else task.base
        answers = solve_variants(
            [Variant(key="", scenario=scenario, edit=edit, start=start)],
            relative_gap=task.budget.relative_gap,
            seconds_each=task.budget.seconds_each,
            stop_at=self.stop_at,
            workers=1,
        )
        return answers.get("")

    def take(self, plan: Plan, factor: float) -> _Line | None:
        """Note a plan found at a factor; None when it has no quantities."""
        if plan.objective is None:
            return None
        spend = self.market.purchases(plan)[self.task.offer].spend
        spend = spend if spend > BOUGHT * self.least else 0.0
        line = _Line(plan.objective - factor * spend, spend, plan)
        self.lines.append(line)
        if spend == 0.0 and (self.out is None or line.other < (self.out.objective or 0.0)):
            self.out = plan
        return line

    def probe(self, factor: float) -> _Line | None:
        """Solve at a factor and note whether it is bought there; None when it was not solved."""
        answer = self.solve(reprice(self.task.scenario, self.task.offer, factor))
        if answer is None:
            return None
        plan = answer.plan
        if plan.termination is Termination.UNBOUNDED:
            self.bought_at = max(factor, self.bought_at or 0.0)
            return _Line(-float("inf"), self.least, plan)
        line = self.take(plan, factor)
        if line is None:
            return None
        cost_without = self.cost_without
        is_dearer = (
            cost_without is not None
            and plan.objective is not None
            and (plan.objective > cost_without + 1e-9 * abs(cost_without))
        )
        if line.spend > 0.0 and not is_dearer:
            self.bought_at = max(factor, self.bought_at or 0.0)
            return line
        known = factor if self.not_bought_at is None else min(factor, self.not_bought_at)
        self.not_bought_at = known
        self.exclude(factor, plan)
        return line if line.spend == 0.0 else replace_spend(line)

    def exclude(self, factor: float, plan: Plan) -> None:
        """Note what a solve that found no purchase proves of higher prices.

        A purchase of spend S that would pay at g > f costs at least the bound at f, so (g − f) S is
        at most the gap; and S is at least the smallest purchase that matters.
        """
        self.high_proven = min(self.high_proven, factor + _open(plan) / self.least)

    @property
    def cost_without(self) -> float | None:
        """Least cost known without the offer."""
        return None if self.out is None else self.out.objective

    def ranked(self) -> list[tuple[float, _Line]]:
        """Return plans that buy it with the factor at which each costs as much as the best without.

        The highest factor comes first.
        """
        cost = self.cost_without
        if cost is None:
            return []
        found = [(line.meets(cost), line) for line in self.lines if line.spend > 0.0]
        return sorted(found, key=lambda pair: -pair[0])

    def best(self) -> tuple[float, _Line] | None:
        """Return the highest factor at which a known plan that buys it is no dearer than none."""
        return next((pair for pair in self.ranked() if self.holds(pair[1], pair[0])), None)


def replace_spend(line: _Line) -> _Line:
    """Return a line whose purchase does not count: without it the plan would be cheaper."""
    return replace(line, spend=0.0)


def _open(plan: Plan) -> float:
    """Return a plan's gap in money."""
    if plan.objective is None or plan.bound is None:
        return float("inf")
    return max(plan.objective - plan.bound, 0.0)


def _floor(plan: Plan) -> float:
    return -float("inf") if plan.bound is None else plan.bound


def search(task: Task) -> Found:
    """Search for one offer's prices, as far as its time goes."""
    began = time.time()
    stop_at = min(task.budget.stop_at, began + task.seconds)
    state = _Search(task, Market(task.scenario), stop_at)
    base = state.take(task.base, 1.0)
    found = Found(offer=task.offer)
    if base is None:
        return found
    if base.spend > 0.0:
        state.bought_at = 1.0
        answer = state.solve(task.scenario, without(task.offer))
        if answer is None:
            return found
        if answer.plan.status is Status.INFEASIBLE:
            low, high = _same_quantity(state, base)
            return replace(
                found,
                is_replaceable=False,
                same_low=low,
                same_high=high,
                same_low_proven=(low or 0.0) - state.same_gap / state.least,
                is_rigid=high is None and (state.bought_at or 0.0) >= SURGES[-1],
                is_finished=True,
            )
        if answer.plan.objective is None:
            return found
        state.bound_without = _floor(answer.plan)
        state.take(answer.plan, 0.0)
    else:
        state.not_bought_at = 1.0
        state.bound_without = _floor(task.base)
        state.exclude(1.0, task.base)
        if not _enter(state):
            lowest = state.not_bought_at
            return replace(
                found, is_replaceable=True, lowest_tried=lowest, is_finished=lowest <= LEAST_FACTOR
            )
    is_closed = _close(state)
    same = _same_quantity(state, base) if base.spend > 0.0 else (None, None)
    best = state.best()
    entry = None if best is None else best[1]
    low = _low(state, best)
    return replace(
        found,
        is_replaceable=True,
        low=low,
        high=state.not_bought_at,
        low_proven=_low_proven(state, low, entry),
        high_proven=state.high_proven,
        same_low=same[0],
        same_high=same[1],
        same_low_proven=(same[0] or 0.0) - state.same_gap / state.least,
        entry=None if entry is None else state.market.purchases(entry.plan)[task.offer],
        entry_plan=None if entry is None else entry.plan,
        plan_without=state.out,
        is_finished=is_closed,
    )


def _enter(state: _Search) -> bool:
    """Lower the price until it is bought; tell whether it ever was."""
    near = min(state.task.relaxed_factor, 1.0)
    tries = [near * (1.0 - state.task.tolerance), *(near * share for share in PROBES)]
    for factor in [*(x for x in tries if x > LEAST_FACTOR), LEAST_FACTOR]:
        line = state.probe(factor)
        if line is None:
            return False
        if line.spend > 0.0:
            return True
    return False


def _low(state: _Search, best: tuple[float, _Line] | None) -> float | None:
    """Return the highest factor at which it is known to be bought."""
    if best is None:
        return state.bought_at
    return max(best[0], state.bought_at or 0.0)


def _low_proven(state: _Search, low: float | None, entry: _Line | None) -> float:
    """Return the factor up to which it is bought even if the best plan without costs its bound."""
    if low is None or state.cost_without is None:
        return 0.0
    spend = state.least if entry is None else entry.spend
    return low - (state.cost_without - state.bound_without) / spend


def _close(state: _Search) -> bool:
    """Narrow the bracket to the tolerance; tell whether that was done in time."""
    tolerance = state.task.tolerance
    while True:
        low, high = _low(state, state.best()), state.not_bought_at
        if low is None:
            return False
        if high is not None and high <= low * (1.0 + tolerance) * (1.0 + 1e-12):
            return True
        if state.probe(_next(state, low, high)) is None:
            return False


def _next(state: _Search, low: float, high: float | None) -> float:
    """Return the factor to try next: just above what the lines say; half-way where they end."""
    ranked = state.ranked()
    if ranked and ranked[0][0] <= low * (1.0 + 1e-12):
        return low * (1.0 + state.task.tolerance)
    return 2.0 * low if high is None else (low + high) / 2.0


def _same_quantity(state: _Search, base: _Line) -> tuple[float | None, float | None]:
    """Return a bracket of the highest factor at which as much as today is bought.

    A plan that buys less beats today's from where their lines cross. Just below the lowest crossing
    known, a solve either buys as much as today, or finds a plan that crosses lower.
    """
    tolerance, edge = state.task.tolerance, BOUGHT * state.least
    for _ in range(MOST_SOLVES):
        less = [line for line in state.lines if line.spend < base.spend - edge]
        if not less:
            if not _surge(state, base, edge):
                return None, None
            continue
        crossing = min((x.other - base.other) / (base.spend - x.spend) for x in less)
        if crossing <= 1.0 + tolerance:
            state.same_gap = 0.0
            return 1.0, max(crossing, 1.0)
        below = crossing * (1.0 - CLOSE * tolerance)
        line = state.probe(below)
        if line is None:
            return None, crossing
        state.same_gap = _open(line.plan)
        is_same = line.spend >= base.spend - edge
        if is_same or line.other + below * line.spend >= base.other + below * base.spend - 1e-9 * (
            abs(base.other) + base.spend
        ):
            return below, crossing
    return None, None


def _surge(state: _Search, base: _Line, edge: float) -> bool:
    """Raise the price until less is bought; tell whether that ever happened."""
    for factor in SURGES:
        line = state.probe(factor)
        if line is None:
            return False
        if line.spend < base.spend - edge:
            return True
    return False
