"""What a commitment is in FOCUS terms: one tranche of the ladder, proposed or already held."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpuladder.report.focus_lines import stamp
from gpuladder.report.labels import kind_label

if TYPE_CHECKING:
    from datetime import date, datetime

    from gpuladder.analysis.charge_rows import TermRow

_ALL = 1.0 - 1e-12
"""Share of a cost that is all of it, rounding apart."""


@dataclass(frozen=True, slots=True)
class Tranche:
    """One commitment with what FOCUS asks about it.

    Attributes
    ----------
    term : TermRow
    currency, plan_status : str
    is_public, is_discount : bool
        Whether it is bought as publicly offered, and whether it is a commitment discount.
    written : datetime
        Moment of writing, UTC.
    horizon_start : date
        What is held and has begun by then is active.
    """

    term: TermRow
    currency: str
    plan_status: str
    is_public: bool
    is_discount: bool
    written: datetime
    horizon_start: date

    @property
    def lifecycle(self) -> str:
        """Proposed for an order of the plan; Active or Pending for what is held."""
        if not self.term.is_held:
            return "Proposed"
        return "Active" if self.term.start <= self.horizon_start else "Pending"

    @property
    def offer(self) -> str | None:
        """The offer it is bought under; None for a held one that does not say."""
        return None if self.term.offer == self.term.id else self.term.offer

    @property
    def upfront_share(self) -> float:
        """Share of the cost that is paid on the first day."""
        share = self.term.upfront / self.term.cost if self.term.cost > 0.0 else 0.0
        return 1.0 if share > _ALL else share

    @property
    def payment_model(self) -> str:
        """No, Partial or All Upfront."""
        if self.upfront_share in (0.0, 1.0):
            return "All Upfront" if self.upfront_share else "No Upfront"
        return "Partial Upfront"

    @property
    def payment_interval(self) -> str:
        """One-Time when all is paid upfront, else Monthly."""
        return "One-Time" if self.upfront_share == 1.0 else "Monthly"

    @property
    def written_at(self) -> str:
        """Moment at which the file was written."""
        return stamp(self.written)

    @property
    def duration(self) -> str:
        """The tenor as ``12 Months`` or ``1 Year``."""
        count, unit = self.term.tenor.split()
        name = unit.rstrip("s").title()
        return f"{count} {name}" if count == "1" else f"{count} {name}s"

    @property
    def discount(self) -> float | None:
        """1 − price ÷ list price, of a discount below the list price."""
        listed = self.term.list_price
        if not self.is_discount or not listed:
            return None
        share = 1.0 - self.term.price / listed
        return share if 0.0 <= share <= 1.0 else None

    @property
    def applicability(self) -> str:
        """What it may be used for, as JSON: capacity of its own pool."""
        rule = {"Dimension": "x_Pool", "Operator": "In", "Values": [self.term.pool]}
        return json.dumps(
            {"IsGlobalScope": False, "InclusionOperator": "And", "Inclusions": [rule]},
            ensure_ascii=False,
        )

    @property
    def description(self) -> str:
        """What is committed, in words."""
        term = self.term
        what = f"{term.gpus:g} GPUs of {term.offer}, {kind_label(self.rung)}"
        return f"{what}, {self.duration.lower()} from {term.start}"

    @property
    def rung(self) -> str:
        """Kind of capacity; a flex reservation is one of its own."""
        return "flex" if self.term.is_flex else self.term.kind
