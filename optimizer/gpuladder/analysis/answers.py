"""What the answers beside the plan say: frozen rows, one class per table.

Money is in the scenario's currency. ``None`` in a figure means that it is not known: not solved in
the time given, or not defined; the ``note`` beside it says which. Nothing here is ever guessed.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

INTERRUPTED = "interrupted"
"""Why a question is unanswered when the user ended the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowPriceRow:
    """What one more unit of a limit is worth: three numbers, each saying what it is not."""

    limit: str
    """Name of the constraint, or of the key where the limit is a date (deadline, lead …)."""
    key: str
    """What it belongs to: a campaign, offer, pool, window …"""
    period: date | None
    """First day of the period; None where the limit is not of a period."""
    unit: str
    """One unit of the limit, such as ``GPU``, ``8 GPUs (a lot)`` or ``day``."""
    reading: str
    """A sentence to paste, with the number and its unit."""
    fixed_plan_dual: float | None
    """Worth of one more unit with lots and runs fixed, undiscounted to the period's own date;
    positive where more of the limit saves money."""
    dual_low: float | None
    dual_high: float | None
    """Range of the duals when several are optimal; equal when it is unique."""
    valid_from: float | None
    valid_to: float | None
    """Values of the limit between which the fixed-plan dual holds."""
    marginal_up: float | None
    """Saving of the program solved again with one unit more."""
    marginal_down: float | None
    """Extra cost of the program solved again with one unit less."""
    marginal_error: float | None
    """How far the marginals may be off, from the proven bounds; None where there are none."""
    change: str
    """The edit behind the marginals, as written on the command line; empty without."""
    note: str
    """What the figures are not: degenerate, unfinished, infeasible with one unit less …"""


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkAwayRow:
    """Up to which price an offer belongs in the plan."""

    offer: str
    pool: str
    kind: str
    is_in_plan: bool
    price_today: float
    """Currency per GPU-hour; owned: capital cost per GPU."""
    gpus: float
    """Lots × GPUs bought over all starts; metered: peak GPUs used."""
    gpu_hours: float
    """Bought, or used when metered, inside the horizon."""
    money_at_stake: float
    """Present value of what the plan spends on it; out of the plan: what it would at entry."""
    same_quantity_price: float | None
    """In the plan: highest price at which at least today's GPU-hours are bought."""
    walk_away_price: float | None
    """In the plan: highest price at which any is bought. Out of it: highest at which any is."""
    tolerance: float | None
    """The true price is at most this far from the one given."""
    room_share: float | None
    """(walk-away price − today's) ÷ today's; negative for an offer that is out."""
    entry_gpus: float | None
    """Out of the plan: GPUs bought just below the walk-away price."""
    replaced_by: str
    """In the plan: what replaces it beyond the walk-away price; out of it: what it replaces."""
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StructureRow:
    """One commitment structure for a pool: free, without burst windows, without standing terms."""

    pool: str
    structure: str
    cost: float | None
    """Net present cost of the whole scenario under it."""
    idle_gpu_hours: float | None
    idle_cost: float | None
    cost_per_run: float | None
    gap: float | None
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FlipRow:
    """One point of the curve on which bursts and standing reserve change places."""

    pool: str
    axis: str
    """``cadence`` (times today's runs) or ``price_ratio`` (burst ÷ standing price)."""
    value: float
    runs_per_quarter: float | None
    burst_cost: float | None
    standing_cost: float | None
    cheaper: str
    """``burst``, ``standing`` or ``tie``; empty when not solved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineRow:
    """The scenario under a structure that teams actually use."""

    baseline: str
    title: str
    how: str
    """How it was made, in a sentence: which decisions are restricted."""
    cost: float | None
    bound: float | None
    saving: float | None
    """Baseline less plan."""
    saving_share: float | None
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WaterfallRow:
    """One step from the first baseline to the plan; the deltas add up."""

    step: str
    delta: float | None
    """Change of the net present cost, negative when it saves."""
    cost_after: float | None
    how: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AlternativeRow:
    """A plan almost as cheap that is as different as can be in one respect."""

    aim: str
    slack_share: float
    cost: float | None
    extra_cost: float | None
    extra_share: float | None
    measure: float | None
    """What was minimised, of the alternative."""
    measure_of_plan: float | None
    unit: str
    summary: str
    """What it buys, in a sentence."""
    is_audited: bool
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantityRangeRow:
    """Smallest and largest quantity of an offer in any plan within the slack."""

    offer: str
    slack_share: float
    gpu_hours_in_plan: float
    least_gpu_hours: float | None
    most_gpu_hours: float | None
    reading: str
    """Firm, flexible, or a matter of taste."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TornadoRow:
    """How much an input moves the cost."""

    key: str
    change_share: float
    """−0.25, −0.10, 0.10 or 0.25."""
    cost: float | None
    delta: float | None
    is_structure_changed: bool | None
    """Whether the commitments to sign differ: the lots of any offer, over all starts."""
    error: float | None = None
    """How far ``delta`` may be off, from the proven bounds; None where there are none."""
    note: str = ""
    """Why there is no cost (infeasible, not solved in the time given …), or no difference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unanswered:
    """A question that was asked and not begun, or broken off."""

    question: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """All answers beside the plan; empty where not asked for."""

    shadow_prices: tuple[ShadowPriceRow, ...] = ()
    walk_away: tuple[WalkAwayRow, ...] = ()
    structures: tuple[StructureRow, ...] = ()
    flips: tuple[FlipRow, ...] = ()
    burst_or_standing: tuple[str, ...] = ()
    """One plain sentence per pool."""
    baselines: tuple[BaselineRow, ...] = ()
    waterfall: tuple[WaterfallRow, ...] = ()
    alternatives: tuple[AlternativeRow, ...] = ()
    quantity_ranges: tuple[QuantityRangeRow, ...] = ()
    tornado: tuple[TornadoRow, ...] = ()
    unanswered: tuple[Unanswered, ...] = ()
