"""What an audit can find, how much it forgives, and the report it hands back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date

    from gpuladder.plan import CostLine

LIMITS: dict[str, str] = {
    "stable_supply": "stable GPUs of a pool cover everything that runs on them",
    "backfill_supply": "backfill is sold from firm committed capacity only",
    "backfill_depth": "a backfill buyer takes no more than it wants",
    "draw_limit": "a flex reservation serves at most what is held",
    "draw_use": "draws on flex reservations serve campaigns only",
    "dedicated_supply": "dedicated tenancy runs on dedicated and owned capacity only",
    "metered_use": "metered capacity is bought for what demand and campaigns use",
    "backfill_tenancy": "backfill takes no capacity that dedicated tenancy runs on",
    "on_demand_quota": "on-demand use stays within the quota",
    "spot_depth": "spot use stays within the market's depth",
    "elastic_width": "an elastic campaign uses no more GPUs than it can",
    "elastic_work": "an elastic campaign's work is done, or dropped and paid for",
    "class_spot_share": "no more of a campaign's work on spot than its class allows",
    "gang_choice": "a gang runs in exactly one mode, or is dropped whole",
    "lots_active": "no more lots active than are on offer",
    "order_minimum": "an order is at least as large as the smallest one sold",
    "ladder": "no more GPUs expire in one window than the ladder allows",
    "policy_spot_share": "no more of all work on spot than the company allows",
    "provider_share": "no provider holds more of the GPU-hours than allowed",
    "committed_cap": "committed GPUs stay within the company's cap",
    "hardware_limit": "committed GPUs of a generation stay within the limit",
    "cash_budget": "payments in a span stay within the budget",
    "order_start": "a term starts on a date on which it can start",
    "run_mode": "a gang runs where, as large, when and as long as it can",
    "unknown_id": "every record names things that the scenario has",
    "not_whole": "lots and gang choices are whole",
    "negative": "every quantity is a number at or above zero",
    "duplicate": "no two records say the same thing",
    "eligibility": "capacity is used only by what may use it, when it can be had",
    "cost_line": "every cost line is what the quantities cost",
    "objective": "the cost lines add up to the objective",
    "bound": "the proof agrees with the objective and the status",
    "scenario_mismatch": "the plan answers this scenario",
    "metric": "every reported figure can be computed again",
}
"""Every finding code with the rule it stands for; limits of the program keep their own name."""

RELATIVE_TOLERANCE = 1e-6
"""Forgiven share of a row's magnitude (the sum of its absolute terms): a solver's feasibility."""

ABSOLUTE_TOLERANCE_GPUS = 1e-6
"""GPUs forgiven in any row; rows in GPU-hours forgive it over the hours of the row."""

QUANTITY_TOLERANCE = 1e-9
"""Quantities this close to zero count as zero."""

LARGEST_QUANTITY = 1e12
"""A quantity beyond this is no quantity: sums of such numbers would drown all others."""

MONEY_TOLERANCE = 0.005
"""Half a cent: currency forgiven in any amount."""

MONEY_RELATIVE_TOLERANCE = 1e-9
"""Forgiven share of an amount: rounding of sums. Costs follow from the plan's own quantities, so a
solver's feasibility has no part in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One fault of a plan.

    Attributes
    ----------
    code : str
        Key of ``LIMITS``.
    key : str
        What it is about: a pool, offer, campaign, buyer, provider, hardware or cost line.
    period : date or None
        First day of the period, window or span, or the date at fault; None when there is none.
    message : str
        The fault in plain words, with the numbers.
    amount : float
        By how much the limit is broken, in the limit's own unit; 0 where that has no meaning.
    """

    code: str
    key: str
    period: date | None
    message: str
    amount: float

    def __post_init__(self) -> None:
        if self.code not in LIMITS:
            msg = f"not a finding code: {self.code}"
            raise ValueError(msg)

    @property
    def limit(self) -> str:
        """The rule that is broken, in plain words."""
        return LIMITS[self.code]

    def record(self) -> dict[str, str | float | None]:
        """Return the finding as values that JSON can hold."""
        return {
            "code": self.code,
            "limit": self.limit,
            "key": self.key,
            "period": None if self.period is None else self.period.isoformat(),
            "message": self.message,
            "amount": self.amount if math.isfinite(self.amount) else None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """The outcome of an audit.

    Attributes
    ----------
    findings : tuple of Finding
        Every fault, in the order of the checks; empty when the plan stands.
    objective : float or None
        Net present cost computed again from the quantities, currency; None without a plan.
    cost_lines : tuple of CostLine
        Every cost line computed again, currency; empty without a plan.
    """

    findings: tuple[Finding, ...]
    objective: float | None
    cost_lines: tuple[CostLine, ...]

    @property
    def passed(self) -> bool:
        """Tell whether nothing was found."""
        return not self.findings

    def record(self) -> dict[str, object]:
        """Return ``passed`` and the findings as values that JSON can hold."""
        return {"passed": self.passed, "findings": [item.record() for item in self.findings]}


def exceeds(value: float, limit: float, scale: float, allowance: float) -> bool:
    """Tell whether ``value`` is above ``limit`` beyond the tolerance of its row.

    Parameters
    ----------
    value, limit : float
        Both sides of the row; a value that is not a number exceeds every limit.
    scale : float
        Magnitude of the row: the sum of its absolute terms.
    allowance : float
        Absolute tolerance in the row's unit.
    """
    return not value <= limit + RELATIVE_TOLERANCE * scale + allowance


def is_usable(value: float) -> bool:
    """Tell whether a quantity is a number that a plan can hold."""
    return abs(value) <= LARGEST_QUANTITY


def money_differs(stated: float, computed: float) -> bool:
    """Tell whether two amounts of money differ by more than rounding."""
    tolerance = MONEY_TOLERANCE + MONEY_RELATIVE_TOLERANCE * abs(computed)
    return not abs(stated - computed) <= tolerance


def number(value: float) -> str:
    """Write a quantity for a message: up to three decimals, no trailing zeros."""
    text = f"{value:,.3f}".rstrip("0").rstrip(".")
    return text if text not in ("0", "-0") or value == 0 else f"{value:.3g}"
