"""Commitments that are held when the horizon starts."""

from __future__ import annotations

from typing import Literal

from gpuladder.fields import Day, Identifier, NonNegative, Positive, Record, Share, TermText


class Due(Record):
    """A payment still to be made on a date, beside the price of the hours."""

    on: Day
    amount: Positive
    """Currency."""


class HeldCommitment(Record):
    """A commitment signed before the horizon; its cost is sunk, its capacity and expiry count."""

    id: Identifier
    pool: Identifier
    kind: Literal["burst_window", "reserved", "dedicated", "owned"]
    gpus: Positive
    start: Day
    end: Day
    price: NonNegative
    """Currency per GPU-hour."""
    tenor: TermText | None = None
    """Term as signed."""
    renewable_as: Identifier | None = None
    """Offer under which it can be renewed."""
    offer: Identifier | None = None
    """Offer, one tenor of it, under which it was signed: its lots count in `max_lots`, and where
    that offer has a `usage_price` it serves only what is drawn, at that price."""
    upfront: Share = 0.0
    """Share of the price of the whole term paid at its start."""
    dues: tuple[Due, ...] = ()
    """Payments still to be made beside the price: setup, purchase, instalments."""
