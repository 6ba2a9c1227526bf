"""Owned hardware in the accounts: book value, depreciation and loans by quarter.

The objective counts owned hardware as the scenario says: capital cost at the start, running cost
accrued, residual value at the end. These tables add what accounts want to see. A loan changes the
net present cost by what its instalments weigh more, or less, than cash; ``OwnedOrderRow`` says by
how much, and which ``capex_per_gpu`` would make the program compete with the loan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuladder.economics import residual_share
from gpuladder.scenario.expand import expand
from gpuladder.scenario.schema import OwnedOffer
from gpuladder.sizing.depreciation import (
    ByGeneration,
    Curve,
    DecliningBalance,
    Financing,
    StraightLine,
    by_quarter,
    financed_capex,
)
from gpuladder.sizing.invoice_tables import OwnedOrderRow, OwnedQuarterRow
from gpuladder.sizing.spec import OwnedTerms

if TYPE_CHECKING:
    from datetime import date

    from gpuladder.plan import Plan
    from gpuladder.scenario.schema import Hardware, Scenario

DAYS_PER_MONTH = 365.0 / 12.0


def owned_orders(scenario: Scenario, plan: Plan) -> tuple[OwnedOrderRow, ...]:
    """Return one row for each order of owned hardware in a plan."""
    horizon_end = expand(scenario).grid.end
    rows = []
    for offer, start, gpus, terms, _ in _orders(scenario, plan):
        cost = gpus * offer.capex_per_gpu
        end = offer.life.after(start)
        loan = _financing(terms, start)
        paid = cost if loan is None else financed_capex(cost, start, loan, scenario.discount_rate)
        days = (min(end, horizon_end) - start).days
        rows.append(
            OwnedOrderRow(
                offer=offer.id,
                start=start,
                end=end,
                gpus=gpus,
                capex=cost,
                financed_capex=paid,
                financed_capex_per_gpu=paid / gpus,
                residual_value=cost * residual_share(offer.residual_per_year, days),
            )
        )
    return tuple(rows)


def owned_quarters(scenario: Scenario, plan: Plan) -> tuple[OwnedQuarterRow, ...]:
    """Return book value, depreciation and debt of every owned order by quarter over its life.

    The market value beside the book is the offer's ``residual_per_year``, as in the objective.
    """
    rows = []
    for offer, start, gpus, terms, kind in _orders(scenario, plan):
        cost = gpus * offer.capex_per_gpu
        found = by_quarter(
            cost,
            start,
            offer.life.after(start),
            book=_book(offer, terms, kind, start, cost),
            market=DecliningBalance(cost=cost, bought=start, kept_per_year=offer.residual_per_year),
            financing=_financing(terms, start),
        )
        rows += [
            OwnedQuarterRow(
                offer=offer.id, start=start, gpus=gpus, schedule=terms.schedule, quarter=row
            )
            for row in found
        ]
    return tuple(rows)


def _orders(
    scenario: Scenario, plan: Plan
) -> list[tuple[OwnedOffer, date, int, OwnedTerms, Hardware]]:
    expanded = expand(scenario)
    stated = {} if scenario.invoice is None else {t.offer: t for t in scenario.invoice.owned}
    kinds = {kind.id: kind for kind in scenario.hardware}
    found = []
    for order in plan.orders:
        offer = expanded.committed[order.offer]
        if isinstance(offer, OwnedOffer):
            terms = stated.get(offer.id, OwnedTerms(offer=offer.id))
            kind = kinds[expanded.pools[offer.pool].hardware]
            found.append((offer, order.start, order.lots * offer.lot_gpus, terms, kind))
    return found


def _book(offer: OwnedOffer, terms: OwnedTerms, kind: Hardware, start: date, cost: float) -> Curve:
    salvage = cost * terms.salvage_share
    if terms.schedule == "straight_line":
        return StraightLine(cost=cost, bought=start, life=offer.life, salvage=salvage)
    if terms.schedule == "declining":
        kept = offer.residual_per_year if terms.kept_per_year is None else terms.kept_per_year
        return DecliningBalance(cost=cost, bought=start, kept_per_year=kept, salvage=salvage)
    superseded = () if kind.superseded is None else (kind.superseded,)
    return ByGeneration(
        cost=cost,
        bought=start,
        turnovers=(*superseded, *terms.turnovers),
        kept=terms.kept_per_generation,
    )


def _financing(terms: OwnedTerms, start: date) -> Financing | None:
    if terms.rate is None:
        return None
    months = max(round(terms.term.days(start) / DAYS_PER_MONTH), 1)
    return Financing(rate=terms.rate, months=months, down_payment=terms.down_payment)
