"""Where the answer flips: points of two curves, closed in on by bisection between solved points.

Along the cadence both structures are solved again; along the price ratio only the one with burst
windows changes, because the other buys none. A point's answer is what its proven bounds tell; where
they do not, it is a tie.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from gpuladder.analysis.answers import FlipRow
from gpuladder.analysis.baselines_words import difference, is_tie
from gpuladder.analysis.burst_or_standing_cases import Choice, at_cadence, at_price
from gpuladder.analysis.variants import Variant, solve_variants
from gpuladder.plan import Status

if TYPE_CHECKING:
    from gpuladder.analysis.budget import Budget
    from gpuladder.analysis.variants import Answered
    from gpuladder.plan import Plan

CADENCE = "cadence"
PRICE_RATIO = "price_ratio"
CADENCES = (2.0, 0.5, 4.0)  # times today's runs, most telling first
MOST_RUNS = 48
PRICE_FACTORS = (1.5, 0.5, 2.0, 0.75, 1.25, 3.0)
PRICE_TOLERANCE = 0.01  # relative width at which a flip of price is closed
ROUNDS = 6
CURVE_GAP = 5e-4  # a point needs to tell which is cheaper, not by how many cents


@dataclass(frozen=True)
class Curve:
    """Solved points of one pool along one axis, by runs in the horizon or by price factor."""

    choice: Choice
    axis: str
    points: dict[float, tuple[Plan, Plan]] = field(default_factory=dict)
    """Plans with bursts (no standing terms), and with standing terms (no bursts)."""
    asked: frozenset[float] = frozenset()

    @property
    def today(self) -> float:
        """Where the scenario itself lies on the axis."""
        return float(len(self.choice.runs)) if self.axis == CADENCE else 1.0

    def winner(self, at: float) -> str:
        """Return ``burst``, ``standing`` or ``tie`` at a solved point, empty without figures."""
        burst, standing = self.points[at]
        if Status.INFEASIBLE in (burst.status, standing.status):
            return _only_feasible(burst, standing)
        gap = difference(burst, standing)
        if gap is None or burst.objective is None or standing.objective is None:
            return ""
        if is_tie(burst.objective, standing.objective) or gap.low < 0.0 < gap.high:
            return "tie"
        return "burst" if gap.found < 0.0 else "standing"

    def first_points(self) -> list[float]:
        """Return where to look first."""
        if self.axis == PRICE_RATIO:
            has_both = all(plan.objective is not None for plan in self.points[self.today])
            return list(PRICE_FACTORS) if has_both else []
        runs = [max(round(self.today * times), 1) for times in CADENCES]
        return [float(n) for n in dict.fromkeys(runs) if n != self.today and n <= MOST_RUNS]

    def next_points(self) -> list[float]:
        """Return the middle between neighbours with different answers, until they are close."""
        solved = sorted(at for at in self.points if self.winner(at))
        middles = []
        for low, high in pairwise(solved):
            if self.winner(low) == self.winner(high) or self.is_close(low, high):
                continue
            middle = (low + high) / 2.0
            middles.append(float(round(middle)) if self.axis == CADENCE else middle)
        return [at for at in middles if at not in self.asked]

    def is_close(self, low: float, high: float) -> bool:
        """Tell whether a flip between two points needs no point in between."""
        if self.axis == CADENCE:
            return high - low <= 1.0
        return high - low <= PRICE_TOLERANCE * low

    def variants(self, at: float) -> list[Variant]:
        """Return what has to be solved for a point: with bursts, and with standing terms."""
        choice, key = self.choice, f"{self.choice.pool}/{self.axis}/{at!r}"
        if self.axis == PRICE_RATIO:
            dearer = at_price(choice, at)
            return [Variant(key=f"{key}/b", scenario=dearer, edit=choice.without_standing)]
        spread = at_cadence(choice, round(at))
        return [
            Variant(key=f"{key}/b", scenario=spread, edit=choice.without_standing),
            Variant(key=f"{key}/s", scenario=spread, edit=choice.without_bursts),
        ]

    def with_answers(self, points: list[float], answers: dict[str, Answered]) -> Curve:
        """Return the curve with the points that were solved."""
        known = dict(self.points)
        for at in points:
            plans = [answers[v.key].plan for v in self.variants(at) if v.key in answers]
            if self.axis == PRICE_RATIO and plans:
                known[at] = (plans[0], self.points[self.today][1])
            elif len(plans) == 2:
                known[at] = (plans[0], plans[1])
        return replace(self, points=known, asked=self.asked | set(points))

    def rows(self) -> list[FlipRow]:
        """Return the solved points in order."""
        return [self._row(at) for at in sorted(self.points)]

    def _row(self, at: float) -> FlipRow:
        choice, (burst, standing) = self.choice, self.points[at]
        if self.axis == CADENCE:
            value, runs = at / self.today, round(at)
        else:
            value, runs = self.ratio(at), len(choice.runs)
        return FlipRow(
            pool=choice.pool,
            axis=self.axis,
            value=value,
            runs_per_quarter=choice.per_quarter(runs),
            burst_cost=burst.objective,
            standing_cost=standing.objective,
            cheaper=self.winner(at),
        )

    def ratio(self, factor: float) -> float:
        """Return the burst price ÷ standing price at a price factor."""
        return factor * self.choice.burst_price / self.choice.standing_price

    def flips(self) -> list[tuple[float, float, str, str]]:
        """Return neighbours with different answers: from, to, and the answer at each."""
        solved = sorted(at for at in self.points if self.winner(at))
        return [
            (low, high, self.winner(low), self.winner(high))
            for low, high in pairwise(solved)
            if self.winner(low) != self.winner(high)
        ]


def _only_feasible(burst: Plan, standing: Plan) -> str:
    if burst.objective is not None:
        return "burst"
    return "standing" if standing.objective is not None else ""


def closed_in(curves: list[Curve], budget: Budget) -> list[Curve]:
    """Solve the first points of all curves, then those between that tell more, while time lasts."""
    points = [curve.first_points() for curve in curves]
    for _ in range(ROUNDS):
        asked = [
            variant
            for curve, own in zip(curves, points, strict=True)
            for at in own
            for variant in curve.variants(at)
        ]
        if not asked:
            break
        answers = solve_variants(
            asked,
            relative_gap=max(budget.relative_gap, CURVE_GAP),
            seconds_each=budget.seconds_each,
            stop_at=budget.stop_at,
            workers=budget.workers,
        )
        curves = [
            curve.with_answers(own, answers) for curve, own in zip(curves, points, strict=True)
        ]
        points = [curve.next_points() for curve in curves]
    return curves
