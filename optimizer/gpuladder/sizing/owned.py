"""Terms of bought hardware: how it is paid for, what it keeps of its value, how it is written off.

The records are keys of the scenario's `owned` offers; the functions turn such an offer into its
payments, its market value and its book value. Values are in currency for a purchase of ``cost``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Protocol

from pydantic import Field

from gpuladder.fields import Number, Record, Share, SpanText, TermText
from gpuladder.sizing.depreciation import (
    ByGeneration,
    Curve,
    DecliningBalance,
    ResidualCurve,
    StraightLine,
)
from gpuladder.sizing.loans import Loan
from gpuladder.timegrid import Span

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

MOST_PAYMENTS = 1200
"""Payments of one loan: a century of months; more is a slip in `every`."""


class Financing(Record):
    """A loan for the purchase, repaid in level payments in arrears."""

    rate: Annotated[Number, Field(ge=0, le=10)]
    """Interest, annual, effective."""
    term: TermText
    """Time from the purchase to the last payment."""
    every: TermText = Span(1, "month")
    """Time between payments."""
    down_payment: Share = 0.0
    """Share of the price that is paid at the purchase and not borrowed."""


class ResidualPoint(Record):
    """What is left of the price at an age."""

    age: SpanText
    """Time since the purchase."""
    share: Share
    """Share of the purchase price that a sale would bring."""


class Depreciation(Record):
    """How the books write hardware off; the objective counts market values instead."""

    method: Literal["straight_line", "declining", "by_generation"] = "straight_line"
    salvage_share: Share | None = None
    """Share of the price left in the books at the end (straight_line, declining); 0 when left
    out."""
    kept_per_year: Share | None = None
    """Share of the book value kept each year (declining); the offer's `residual_per_year` when
    left out."""
    kept_per_generation: Share | None = None
    """Share of the book value kept when a successor is on sale (by_generation); the offer's
    `residual_per_generation` when left out."""


class OwnedTerms(Protocol):
    """What of an `owned` offer the formulas read."""

    @property
    def life(self) -> Span:
        """How long it serves."""

    @property
    def financing(self) -> Financing | None:
        """Its loan."""

    @property
    def residual_per_year(self) -> float | None:
        """Share of the value kept each year."""

    @property
    def residual_curve(self) -> tuple[ResidualPoint, ...]:
        """Share of the price left by age."""

    @property
    def residual_per_generation(self) -> float | None:
        """Share of the value kept when a successor is on sale."""

    @property
    def turnovers(self) -> tuple[date, ...]:
        """Dates of further successors."""

    @property
    def depreciation(self) -> Depreciation:
        """How the books write it off."""


def down_payment(offer: OwnedTerms, cost: float) -> float:
    """Return what is paid on the day of purchase: all of it, or what is not borrowed."""
    return cost if offer.financing is None else cost * offer.financing.down_payment


def loan_of(offer: OwnedTerms, cost: float, start: date) -> Loan | None:
    """Return the loan of a purchase; None when it is paid in cash."""
    if offer.financing is None:
        return None
    borrowed = cost - down_payment(offer, cost)
    return Loan(borrowed=borrowed, start=start, terms=offer.financing)


def market_value(
    offer: OwnedTerms, cost: float, bought: date, superseded: date | None = None
) -> Curve:
    """Return what a sale would bring over time.

    By age it follows `residual_curve`, or keeps `residual_per_year` each year; from each
    successor's date on, only `residual_per_generation` of that is left. Without a value by age,
    all is kept between successors, and nothing when no generation is stated either.

    Parameters
    ----------
    superseded : date, optional
        Date of the first successor of its hardware; `turnovers` follow it.
    """
    kept = offer.residual_per_generation
    by_age: Curve
    if offer.residual_curve:
        points = tuple((point.age, point.share) for point in offer.residual_curve)
        by_age = ResidualCurve(cost=cost, bought=bought, points=points)
    else:
        otherwise = 0.0 if kept is None else 1.0
        yearly = otherwise if offer.residual_per_year is None else offer.residual_per_year
        by_age = DecliningBalance(cost=cost, bought=bought, kept_per_year=yearly)
    if kept is None:
        return by_age
    return ByGeneration(
        value=by_age, bought=bought, turnovers=successors(offer, superseded), kept=kept
    )


def book_value(
    offer: OwnedTerms, cost: float, bought: date, superseded: date | None = None
) -> Curve:
    """Return the book value over time by the offer's own `depreciation`."""
    terms = offer.depreciation
    salvage = cost * (terms.salvage_share or 0.0)
    if terms.method == "straight_line":
        return StraightLine(cost=cost, bought=bought, life=offer.life, salvage=salvage)
    if terms.method == "declining":
        yearly = offer.residual_per_year if terms.kept_per_year is None else terms.kept_per_year
        return DecliningBalance(
            cost=cost, bought=bought, kept_per_year=yearly or 0.0, salvage=salvage
        )
    kept = terms.kept_per_generation
    kept = offer.residual_per_generation if kept is None else kept
    return ByGeneration(
        value=DecliningBalance(cost=cost, bought=bought, kept_per_year=1.0),
        bought=bought,
        turnovers=successors(offer, superseded),
        kept=1.0 if kept is None else kept,
    )


def successors(offer: OwnedTerms, superseded: date | None) -> Sequence[date]:
    """Return the dates on which a successor is on sale, each once."""
    first = () if superseded is None else (superseded,)
    return tuple(dict.fromkeys((*first, *offer.turnovers)))
