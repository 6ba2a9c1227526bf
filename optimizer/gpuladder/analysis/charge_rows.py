"""What a plan would be billed for: frozen rows, one per charge and month.

Money is undiscounted, in the scenario's currency. Dates are half-open: ``begin`` is inclusive,
``end`` exclusive. A forecast, not a bill.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import StrEnum


class Part(StrEnum):
    """What a charge is."""

    PREPAID = "prepaid"
    """Paid in one piece: upfront share, set-up, purchase of hardware, instalment, valuation."""
    RECURRING = "recurring"
    """Holding a commitment, billed as time goes by, used or not."""
    USED = "used"
    """Committed capacity in use: its part of what the commitment costs; nothing is billed."""
    UNUSED = "unused"
    """Committed capacity that nothing uses; nothing is billed."""
    METERED = "metered"
    """On demand and spot, billed by use."""
    FEE = "fee"
    """What a flex reservation charges for use, on top of holding it."""
    REVENUE = "revenue"
    """What buyers pay for idle capacity; negative."""


class User(StrEnum):
    """Who uses capacity."""

    CAMPAIGN = "campaign"
    DEMAND = "demand"
    BACKFILL = "backfill"


@dataclass(frozen=True, slots=True, kw_only=True)
class UseRow:
    """Who uses the capacity of a charge."""

    by: User
    name: str | None
    """The campaign or the backfill buyer; None for demand."""
    team: str | None = None
    preemption_class: str | None = None
    runs: float | None = None
    """Of the campaign's completed runs, the part of its GPU-hours that this row has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargeRow:
    """One charge in one calendar month, or the part of it before or after the horizon end."""

    part: Part
    line: str | None
    """Cost line it is billed under, or ``held``; None where nothing is billed."""
    term: str | None
    """The commitment it belongs to (``TermRow.id``); None where there is none."""
    offer: str
    """Expanded offer id; the held commitment's id; for revenue the buyer's id."""
    pool: str
    kind: str
    begin: date
    end: date
    quantity: float
    """In ``unit``: what is priced."""
    unit: str
    """``GPU-Hours``, ``GPUs`` or ``Units``."""
    billed: float
    """Cash: as billed."""
    effective: float
    """Accrual: as consumed."""
    list_price: float | None = None
    """On-demand list price of the same hours, per GPU-hour; None where there is none to compare."""
    use: UseRow | None = None
    """Who uses it; None for what is bought, unused, or bought and used by nobody."""
    is_after_horizon: bool = False
    """Whether it falls after the horizon end, where no use is planned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TermRow:
    """A commitment with its whole term: an order of the plan, or one already held."""

    id: str
    """Unique: ``offer/start`` for an order, its own id for a held commitment."""
    offer: str
    pool: str
    provider: str
    region: str
    hardware: str
    kind: str
    is_held: bool
    is_flex: bool
    """Whether it serves only what is drawn, and charges for use on top."""
    start: date
    end: date
    sign_by: date
    tenor: str
    """As offered, such as ``12 months``; a held commitment's days when it does not say."""
    lots: int
    gpus: float
    gpu_hours: float
    """Over the whole term."""
    price: float
    """Currency per GPU-hour held; 0 for bought hardware."""
    cost: float
    """Over the whole term; of bought hardware, purchase and loan until it is valued; of a held
    commitment, its price and what is still due beside it."""
    upfront: float
    """Of the cost, what is paid on the first day."""
    prepaid: float
    """Of what the rows spread, what was paid before the horizon: no row bills it."""
    list_price: float | None
    """On-demand list price in the period it starts in, or the first; None without one."""
    charged_from: date
    """First day that the charges cover: the horizon start for what was held before."""
    charged_until: date
    """Day after the last: the end, or for bought hardware the date of its valuation if sooner."""
    is_truncated: bool
    """Whether the horizon cuts the term: part of it lies before or after."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Charges:
    """All that a plan would be billed for, with the commitments it comes from.

    Per commitment, the effective cost of its used and unused rows adds up to what its prepaid and
    recurring rows bill and what was prepaid before the horizon; over all rows and each month,
    billed is the cash and effective the accrual of ``Tables.cash``.
    """

    currency: str
    horizon_start: date
    horizon_end: date
    terms: tuple[TermRow, ...]
    rows: tuple[ChargeRow, ...]
