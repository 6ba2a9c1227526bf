"""What is held and owed on a date: where one plan closes, and where the next one opens."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpuladder.analysis.frame import DAYS_PER_MONTH, Frame, ratio
from gpuladder.analysis.lock_in import obligation
from gpuladder.analysis.terms import terms_of
from gpuladder.plan import Plan, ScenarioRef, SolveOptions, Status, Termination
from gpuladder.review.rolling.contracts import is_signed, name_of
from gpuladder.scenario.fingerprint import fingerprint

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from gpuladder.analysis.terms import Term
    from gpuladder.scenario.schema import Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A commitment that binds on a date, whether its term has begun or not."""

    id: str
    pool: str
    kind: str
    gpus: float
    start: date
    end: date


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """What is held and owed on a date, before anything is decided on it.

    Attributes
    ----------
    gpus : dict of str to float
        GPUs of the terms that run on the date, by pool.
    obligation, unpaid : float
        Undiscounted cost of what is left of the terms, and of that what is not paid yet.
    average_months : float or None
        Months left of leased terms, weighted by GPUs.
    """

    at: date
    commitments: tuple[Standing, ...]
    gpus: dict[str, float]
    obligation: float
    unpaid: float
    average_months: float | None


def closing_position(scenario: Scenario, plan: Plan, at: date) -> Position:
    """Return where a plan stands on a date: held commitments and what it had to sign before."""
    frame = Frame.of(scenario, plan)
    signed = {name_of(order) for order in plan.orders if is_signed(frame, order, at)}
    return _position([t for t in terms_of(frame) if t.held or t.id in signed], at)


def opening_position(scenario: Scenario) -> Position:
    """Return where a scenario starts: with its held commitments alone."""
    return _position(terms_of(Frame.of(scenario, _nothing(scenario))), scenario.horizon.start)


def _position(terms: Sequence[Term], at: date) -> Position:
    bound = sorted((term for term in terms if term.end > at), key=lambda term: term.id)
    owed = [obligation(term, at) for term in bound]
    gpus: dict[str, float] = defaultdict(float)
    for term in bound:
        if term.start <= at:
            gpus[term.pool] += term.gpus
    leased = [term for term in bound if term.is_owed_by_the_hour]
    months = sum(t.gpus * (t.end - max(at, t.start)).days / DAYS_PER_MONTH for t in leased)
    return Position(
        at=at,
        commitments=tuple(
            Standing(
                id=term.id,
                pool=term.pool,
                kind=term.kind,
                gpus=term.gpus,
                start=term.start,
                end=term.end,
            )
            for term in bound
        ),
        gpus=dict(gpus),
        obligation=sum(item.amount for item in owed),
        unpaid=sum(item.unpaid for item in owed),
        average_months=ratio(months, sum(term.gpus for term in leased)),
    )


def _nothing(scenario: Scenario) -> Plan:
    """Return a plan that decides nothing."""
    return Plan(
        scenario=ScenarioRef(name=scenario.name, sha256=fingerprint(scenario)),
        currency=scenario.currency,
        status=Status.NO_PLAN,
        termination=Termination.INTERRUPTED,
        objective=None,
        bound=None,
        gap=None,
        options=SolveOptions(time_limit_seconds=0.0, relative_gap=0.0, threads=1, seed=0),
        versions={},
        seconds={},
    )
