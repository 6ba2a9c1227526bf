"""Owned hardware in the accounts: how it is paid for, book value, depreciation and debt by quarter.

The objective counts what is paid and what a sale would bring; the books follow the offer's own
depreciation. Both see the same loan and the same market value.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gpuladder.economics import discount_factor
from gpuladder.scenario.expand import expand
from gpuladder.scenario.schema import OwnedOffer
from gpuladder.sizing.depreciation import by_quarter
from gpuladder.sizing.invoice_tables import OwnedOrderRow, OwnedQuarterRow
from gpuladder.sizing.owned import book_value, down_payment, loan_of, market_value

if TYPE_CHECKING:
    from datetime import date

    from gpuladder.plan import Plan
    from gpuladder.scenario.schema import Scenario


def owned_orders(scenario: Scenario, plan: Plan) -> tuple[OwnedOrderRow, ...]:
    """Return one row for each order of owned hardware in a plan."""
    horizon_end = expand(scenario).grid.end
    rows = []
    for offer, start, gpus, superseded in _orders(scenario, plan):
        cost = gpus * offer.capex_per_gpu
        end = offer.life.after(start)
        valued_on = min(end, horizon_end)
        loan = loan_of(offer, cost, start)
        signed = () if loan is None else loan.until(end)
        settled = () if loan is None else loan.until(valued_on)
        paid = down_payment(offer, cost) + math.fsum(
            row.payment * discount_factor(scenario.discount_rate, (row.due - start).days)
            for row in settled
        )
        book = book_value(offer, cost, start, superseded).value_at(valued_on)
        sale = market_value(offer, cost, start, superseded).value_at(valued_on)
        rows.append(
            OwnedOrderRow(
                offer=offer.id,
                start=start,
                end=end,
                gpus=gpus,
                capex=cost,
                down_payment=down_payment(offer, cost),
                instalment=loan.payment if loan is not None and signed else 0.0,
                instalments=len(signed),
                last_payment=signed[-1].due if signed else start,
                interest=math.fsum(row.interest for row in signed),
                financed_capex=paid,
                financed_capex_per_gpu=paid / gpus,
                valued_on=valued_on,
                depreciation=cost - book,
                book_value=book,
                residual_value=sale,
                disposal_gain=sale - book,
                debt=math.fsum(row.payment for row in settled if row.due == valued_on),
            )
        )
    return tuple(rows)


def owned_quarters(scenario: Scenario, plan: Plan) -> tuple[OwnedQuarterRow, ...]:
    """Return book value, depreciation and debt of every owned order by quarter over its life.

    The market value beside the book is the one of the objective.
    """
    rows = []
    for offer, start, gpus, superseded in _orders(scenario, plan):
        cost = gpus * offer.capex_per_gpu
        found = by_quarter(
            cost,
            start,
            offer.life.after(start),
            book=book_value(offer, cost, start, superseded),
            market=market_value(offer, cost, start, superseded),
            loan=loan_of(offer, cost, start),
        )
        rows += [
            OwnedQuarterRow(
                offer=offer.id,
                start=start,
                gpus=gpus,
                schedule=offer.depreciation.method,
                quarter=row,
            )
            for row in found
        ]
    return tuple(rows)


def _orders(scenario: Scenario, plan: Plan) -> list[tuple[OwnedOffer, date, int, date | None]]:
    """Return each order's offer, start, GPUs, and the date on which its hardware is superseded."""
    expanded = expand(scenario)
    kinds = {kind.id: kind for kind in scenario.hardware}
    found = []
    for order in plan.orders:
        offer = expanded.committed[order.offer]
        if isinstance(offer, OwnedOffer):
            kind = kinds[expanded.pools[offer.pool].hardware]
            found.append((offer, order.start, order.lots * offer.lot_gpus, kind.superseded))
    return found
