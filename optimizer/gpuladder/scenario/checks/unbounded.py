"""A buyer without limit and an offer without limit must not make money out of nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpuladder.scenario.checks.supply import starts
from gpuladder.scenario.expand import CommittedTerm, term_of
from gpuladder.scenario.schema import BackfillBuyer, LeasedOffer, OwnedOffer
from gpuladder.sizing.owned import down_payment, loan_of, market_value
from gpuladder.timegrid import HOURS_PER_DAY, TimeGrid

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from gpuladder.errors import Problem
    from gpuladder.scenario.checks.context import Context

_DAYS_PER_YEAR = 365.0


def check(context: Context) -> Iterator[Problem]:
    """Yield pairs of offer and buyer whose every further lot earns more than it costs."""
    policy = context.policy
    if context.grid is None or policy.committed_gpus_max is not None:
        return
    if policy.cash_budgets or policy.hardware_limits or policy.ladder is not None:
        return  # one of these may bound it; the solver will tell
    if policy.provider_share_max is not None:
        return
    for index, buyer in context.backfill:
        if buyer.max_gpus is not None:
            continue
        for at, term in context.terms:
            if term.max_lots is None and _may_sell(context, buyer, term):
                start = _paying_start(context, context.grid, term, buyer.value)
                if start is not None:
                    yield _problem(context, at, index, term, buyer, start)
                    break


def _may_sell(context: Context, buyer: BackfillBuyer, term: CommittedTerm) -> bool:
    if isinstance(term, LeasedOffer) and term.usage_price is not None:
        return False
    if buyer.pools is not None and term.pool not in buyer.pools:
        return False
    return buyer.hardware is None or context.pools[term.pool].hardware in buyer.hardware


def _problem(
    context: Context, at: int, index: int, term: CommittedTerm, buyer: BackfillBuyer, start: date
) -> Problem:
    place = context.locations.place(("backfill", index))
    return context.error(
        "GL-S506",
        ("offers", at, "max_lots"),
        f"`{term.id}` bought from {start} costs less than the buyer `{buyer.id}` pays for it "
        f"({buyer.value:g} per GPU-hour), and neither has a limit",
        why=f"buying more would earn more without end; the buyer is at {place}",
        fix="give the buyer `max_gpus`, the offer `max_lots`, or check both prices",
    )


def _paying_start(
    context: Context, grid: TimeGrid, term: CommittedTerm, value: float
) -> date | None:
    """Return the first start whose present revenue exceeds its present cost, per GPU."""
    rate = float(context.sections.get("discount_rate", 0.0))

    def factor(days: float) -> float:
        return float((1.0 + rate) ** (-days / _DAYS_PER_YEAR))

    middle = (1.0 + rate) ** (-grid.midpoint_days / _DAYS_PER_YEAR)
    for start in starts(grid, term):
        end = term_of(term).after(start)
        hours = grid.overlap_hours(grid.hour_of(start), grid.hour_of(end))
        accrued = float(np.dot(hours, middle))
        begin_days = float((start - grid.start).days)
        if isinstance(term, OwnedOffer):
            capex, last = term.capex_per_gpu, min(end, grid.end)
            loan = loan_of(term, capex, start)
            cost = down_payment(term, capex) * factor(begin_days)
            for row in () if loan is None else loan.until(last):
                cost += row.payment * factor(float((row.due - grid.start).days))
            kind = context.hardware_of(term.pool)
            sale = market_value(term, capex, start, None if kind is None else kind.superseded)
            cost += term.opex_per_gpu_hour * accrued
            cost -= sale.value_at(last) * factor(float((last - grid.start).days))
        else:
            price = _price(term, begin_days, start)
            inside = float(hours.sum())
            tail = max((end - grid.end).days, 0) * HOURS_PER_DAY
            cost = price * (
                term.upfront * inside * factor(begin_days)
                + (1.0 - term.upfront) * accrued
                + context.policy.tail_charge * tail * factor(float((grid.end - grid.start).days))
            )
        if value * accrued > cost * (1 + 1e-9):
            return start
    return None


def _price(term: LeasedOffer, days: float, start: date) -> float:
    """Return the price a term locks when it starts: the path's step, else the drifting price."""
    steps = [step.price for step in term.price_path if step.from_date <= start]
    base = term.price if isinstance(term.price, float) else None
    if steps:
        return steps[-1]
    if base is None:
        return float("inf")
    if term.price_path:
        return base
    return float(base * (1.0 + term.price_change_per_year) ** (days / _DAYS_PER_YEAR))
