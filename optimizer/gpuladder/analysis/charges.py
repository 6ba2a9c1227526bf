"""What a plan would be billed for, charge by charge and month by month, from the same books.

Nothing is decided here: terms, prices and use come from the ledger, and the rows add up to the cash
and accrual tables. Within a period use is even; a period that lies in two months is split between
them by hours, and so is the month in which the horizon ends.
"""

from __future__ import annotations

import math
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.analysis.campaigns import runs_done, uses_of
from gpuladder.analysis.cash import day_after_all
from gpuladder.analysis.charge_rows import ChargeRow, Charges, Part, TermRow, User
from gpuladder.analysis.charges_terms import (
    GPU_HOURS,
    LEAST_HOURS,
    Books,
    Calendar,
    term_charges,
)
from gpuladder.analysis.charges_users import CampaignFacts, Facts, on_demand_shares, use_row
from gpuladder.analysis.frame import Frame, calendar_edges, hours_between, ratio
from gpuladder.analysis.ledger import Ledger, ledger_of, metered_values
from gpuladder.analysis.ratios import list_price
from gpuladder.analysis.references import require_references
from gpuladder.timegrid import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpuladder.analysis.charges_users import Who
    from gpuladder.analysis.terms import Term
    from gpuladder.plan import Plan
    from gpuladder.scenario.schema import Scenario
    from gpuladder.timegrid import FloatArray

PURCHASE_LINES = ("owned_capex", "owned_loan")
"""Lines that pay for bought hardware; running it and its valuation are no part of the price."""


def charges_of(scenario: Scenario, plan: Plan) -> Charges:
    """Return all that a plan would be billed for, and the commitments it comes from.

    Raises
    ------
    AuditError
        When the plan names what the scenario does not have.
    """
    frame = Frame.of(scenario, plan)
    require_references(frame)
    ledger = ledger_of(frame)
    grid = frame.grid
    edges = calendar_edges(grid.start, day_after_all(ledger), 1)
    books = Books(
        ledger=ledger,
        calendar=Calendar(tuple(sorted({*edges, grid.end})), grid.boundaries),
        facts=_facts(ledger),
        listed={pool: list_price(frame, pool).prices for pool in ledger.pools},
    )
    terms = _term_rows(books)
    rows = chain(
        *(term_charges(books, term, row) for term, row in zip(ledger.terms, terms, strict=True)),
        *(_on_demand(books, pool) for pool in ledger.pools),
        _spot(books),
        *(_revenue(books, pool) for pool in ledger.pools),
    )
    return Charges(
        currency=scenario.currency,
        horizon_start=grid.start,
        horizon_end=grid.end,
        terms=terms,
        rows=tuple(rows),
    )


def _facts(ledger: Ledger) -> Facts:
    """Return what rows say of each campaign; its runs are spread over its GPU-hours."""
    hours = ledger.frame.grid.hours
    dropped = {item.campaign: item.share for item in ledger.frame.plan.dropped}
    used = {
        name: sum(float(gpus @ hours) for gpus in places.values())
        for name, places in uses_of(ledger).items()
    }
    return {
        name: CampaignFacts(
            team=campaign.team,
            preemption_class=campaign.preemption_class,
            runs_per_gpu_hour=(ratio(runs_done(dropped.get(name, 0.0)), used.get(name, 0.0)) or 0),
        )
        for name, campaign in ledger.frame.tables.campaigns.items()
    }


def _term_rows(books: Books) -> tuple[TermRow, ...]:
    """Return every commitment under an id that no other has."""
    taken: set[str] = set()
    rows = []
    for term in books.ledger.terms:
        wished = term.id if term.held else f"{term.offer}/{term.start}"
        name, number = wished, 1
        while name in taken:
            number += 1
            name = f"{wished}#{number}"
        taken.add(name)
        rows.append(_term_row(books, term, name))
    return tuple(rows)


def _term_row(books: Books, term: Term, name: str) -> TermRow:
    frame = books.ledger.frame
    grid, pool = frame.grid, frame.tables.pools[term.pool]
    gpu_hours = term.gpus * hours_between(term.start, term.end)
    is_bought = term.kind == "owned" and not term.held
    paid = [c for c in term.charges if not is_bought or c.line in PURCHASE_LINES]
    cost = sum(charge.total for charge in paid)
    upfront = sum(charge.total for charge in paid if charge.paid_on == term.start)
    if term.held:
        cost = gpu_hours * term.price + sum(due.amount for due in term.dues)
        upfront = gpu_hours * term.price * term.upfront_share
    past = [c for c in term.charges if c.paid_on is not None and c.paid_on < grid.start]
    begins = [begin for begin in grid.boundaries[:-1] if begin <= term.start]
    listed = float(books.listed[term.pool][max(len(begins) - 1, 0)])
    return TermRow(
        id=name,
        offer=term.offer or term.id,
        pool=term.pool,
        provider=pool.provider,
        region=pool.region,
        hardware=pool.hardware,
        kind=term.kind,
        is_held=term.held,
        is_flex=term.flex,
        start=term.start,
        end=term.end,
        sign_by=term.sign_by,
        tenor=str(term.tenor or Span((term.end - term.start).days, "day")),
        lots=term.lots,
        gpus=term.gpus,
        gpu_hours=gpu_hours,
        price=term.price,
        cost=cost,
        upfront=upfront,
        prepaid=sum(charge.total for charge in past),
        list_price=None if math.isnan(listed) else listed,
        charged_from=min(charge.begin for charge in term.charges),
        charged_until=max(charge.end for charge in term.charges),
        is_truncated=term.start < grid.start or term.end > grid.end,
    )


def _on_demand(books: Books, pool: str) -> Iterator[ChargeRow]:
    """Yield what is bought on demand in a pool, by offer and user."""
    frame, book = books.ledger.frame, books.ledger.pools[pool]
    shares = on_demand_shares(book)
    for name, by_level in book.use.on_demand.items():
        offer = frame.tables.on_demand[name]
        gpus = book.use.levels.mean(by_level)
        amounts = metered_values(frame, offer, gpus)[0]
        for who, share in shares.all():
            yield from _metered(
                books, "on_demand", name, pool, who, (gpus * book.hours * share, amounts * share)
            )


def _spot(books: Books) -> Iterator[ChargeRow]:
    """Yield spot use, by offer and campaign."""
    frame = books.ledger.frame
    for (campaign, name), gpus in books.ledger.use.spot.items():
        offer = frame.tables.spot[name]
        amounts = metered_values(frame, offer, gpus)[0]
        who = (User.CAMPAIGN, campaign)
        flow = (gpus * frame.grid.hours, amounts)
        yield from _metered(books, "spot", name, offer.pool, who, flow)


def _metered(
    books: Books,
    kind: str,
    offer: str,
    pool: str,
    who: Who | None,
    flow: tuple[FloatArray, FloatArray],
) -> Iterator[ChargeRow]:
    """Yield metered use by month; ``flow`` is GPU-hours and money by period, each shape (T,)."""
    calendar, listed = books.calendar, books.listed[pool]
    hours, amounts = calendar.over(flow[0]), calendar.over(flow[1])
    worth = calendar.over(flow[0] * np.nan_to_num(listed))
    unknown = calendar.over(flow[0] * np.isnan(listed))
    for interval in np.flatnonzero(hours > LEAST_HOURS).tolist():
        begin, end = calendar.in_horizon(interval)
        quantity = float(hours[interval])
        is_listed = unknown[interval] <= LEAST_HOURS
        yield ChargeRow(
            part=Part.METERED,
            line=kind,
            term=None,
            offer=offer,
            pool=pool,
            kind=kind,
            begin=begin,
            end=end,
            quantity=quantity,
            unit=GPU_HOURS,
            billed=float(amounts[interval]),
            effective=float(amounts[interval]),
            list_price=float(worth[interval]) / quantity if is_listed else None,
            use=use_row(who, quantity, books.facts),
        )


def _revenue(books: Books, pool: str) -> Iterator[ChargeRow]:
    """Yield what buyers pay for a pool's idle capacity."""
    frame, book = books.ledger.frame, books.ledger.pools[pool]
    for buyer in frame.scenario.backfill:
        gpus = book.use.backfill.get(buyer.id)
        if gpus is None:
            continue
        hours = books.calendar.over(gpus * book.hours)
        for interval in np.flatnonzero(hours > LEAST_HOURS).tolist():
            begin, end = books.calendar.in_horizon(interval)
            quantity = float(hours[interval])
            yield ChargeRow(
                part=Part.REVENUE,
                line="backfill_revenue",
                term=None,
                offer=buyer.id,
                pool=pool,
                kind="backfill",
                begin=begin,
                end=end,
                quantity=quantity,
                unit=GPU_HOURS,
                billed=-buyer.value * quantity,
                effective=-buyer.value * quantity,
                use=use_row((User.BACKFILL, buyer.id), quantity, books.facts),
            )
