"""Which contract forms a cadence points to, and the arithmetic of terms against each other."""

from __future__ import annotations

from dataclasses import dataclass

HOURS_PER_DAY = 24.0
LONGEST_BLOCK_DAYS = 182.0
"""Longest block that can be booked ahead (AWS EC2 Capacity Blocks for ML)."""
RESERVED_RATIO = 0.634
"""One-year reservation over on demand: p4d.24xlarge, us-east-1, 13.921094 ÷ 21.957642 (2026-01)."""
BREAK_EVEN_SOURCE = (
    "Committed hours are paid used or not: worth it from the share price ÷ on demand"
)


@dataclass(frozen=True, slots=True)
class ContractForm:
    """One contract form, whether the cadence points to it, and why."""

    form: str
    fits: bool
    reason: str


def break_even_utilisation(committed_price: float, on_demand_price: float) -> float:
    """Return the share of its hours that must be used for a commitment to beat on demand."""
    return committed_price / on_demand_price


def reservation_cost(price_per_hour: float, hours: float) -> float:
    """Return what a reservation costs over its hours, whatever share of them is used."""
    return price_per_hour * hours


def forward_rate(
    short_rate: float, short_years: float, long_rate: float, long_years: float
) -> float:
    """Return the average price after the short term at which both terms cost the same.

    A long lock is dearer than a short one renewed at less than this.
    """
    return (long_rate * long_years - short_rate * short_years) / (long_years - short_years)


def annual_price_ratio(first_year_rate: float, average_rate: float, years: int) -> float:
    """Return the yearly price ratio that a long average implies beside the first year's price.

    The root of ``1 + q + … + q^(years − 1) = years × average ÷ first``, found by bisection.
    """
    wanted = years * average_rate / first_year_rate
    low, high = 0.0, max(2.0, wanted)
    for _ in range(200):
        middle = (low + high) / 2.0
        total = sum(middle**year for year in range(years))
        low, high = (middle, high) if total < wanted else (low, middle)
    return (low + high) / 2.0


def duty_share(run_hours: float, days_between_starts: float) -> float:
    """Return the share of time in which runs of one cadence are under way, at most 1."""
    return min(run_hours / (days_between_starts * HOURS_PER_DAY), 1.0)


def contract_forms(
    duty: float,
    run_hours: float,
    *,
    reserved_ratio: float = RESERVED_RATIO,
    spot_allowed: bool = False,
    rhythm: str = "",
) -> tuple[ContractForm, ...]:
    """Return the contract forms, each with whether this cadence points to it.

    Parameters
    ----------
    duty : float
        Share of time in which a run is under way, 0 to 1.
    run_hours : float
        Length of one run.
    reserved_ratio : float
        Price of a reservation over on demand: its break-even utilisation.
    spot_allowed : bool
        Whether the work survives being reclaimed.
    rhythm : str
        How often a run starts, in words.
    """
    days = run_hours / HOURS_PER_DAY
    standing = duty >= reserved_ratio
    share = (
        f"busy {duty:.1%} of the time{rhythm and f', {rhythm}'}, break-even {reserved_ratio:.1%}"
    )
    return (
        ContractForm(
            "reserved",
            standing,
            f"{share}: a standing reserve {'pays' if standing else 'stands idle too long'}",
        ),
        ContractForm(
            "burst_window",
            not standing and 1.0 <= days <= LONGEST_BLOCK_DAYS,
            f"runs of {days:.1f} days, {'without' if standing else 'with'} idle time between them; "
            f"blocks last 1 to {LONGEST_BLOCK_DAYS:.0f} days",
        ),
        ContractForm(
            "on_demand",
            not standing and days < 1.0,
            f"runs of {days:.1f} days; anything shorter than a block's day is bought by the hour",
        ),
        ContractForm(
            "spot",
            spot_allowed,
            "the work survives being reclaimed" if spot_allowed else "the work must not be stopped",
        ),
    )
