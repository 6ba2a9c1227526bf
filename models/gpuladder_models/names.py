"""The registry: every component of the program, its equation, its unit and how its dual reads.

A constraint's name here is its name in the model, its equation in FORMULATION.md, the code under
which the auditor reports it and a topic of ``gpuladder explain``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What a component is."""

    VARIABLE = "variable"
    CONSTRAINT = "constraint"
    OBJECTIVE = "objective"


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """One component of the program."""

    name: str
    kind: Kind
    equation: str
    """Number in FORMULATION.md; V1, C1, O1 …"""
    title: str
    index: str
    """What one member stands for."""
    unit: str
    """Unit of a variable's value or of a constraint's right-hand side."""
    dual_unit: str = ""
    reading: str = ""
    """What one more unit of the right-hand side means, in plain words; empty for definitions."""
    example: str = ""
    """The limit with round numbers; for limits that a user sets or that have a reading."""


def _variable(equation: str, name: str, title: str, index: str, unit: str) -> Component:
    return Component(
        name=name, kind=Kind.VARIABLE, equation=equation, title=title, index=index, unit=unit
    )


def _constraint(
    equation: str,
    name: str,
    title: str,
    index: str,
    unit: str,
    reading: str = "",
    example: str = "",
) -> Component:
    return Component(
        name=name,
        kind=Kind.CONSTRAINT,
        equation=equation,
        title=title,
        index=index,
        unit=unit,
        dual_unit=f"currency per {unit}",
        reading=reading,
        example=example,
    )


def _objective(equation: str, name: str, title: str, index: str) -> Component:
    return Component(
        name=name, kind=Kind.OBJECTIVE, equation=equation, title=title, index=index, unit="currency"
    )


COMPONENTS: tuple[Component, ...] = (
    _variable("V1", "lots", "lots bought", "order j: committed offer and start", "lot"),
    _variable(
        "V2", "placed", "order placed or not", "order with a setup cost or minimum", "0 or 1"
    ),
    _variable("V3", "firm", "firm committed capacity", "cell n: pool and period", "GPU"),
    _variable("V4", "flex_held", "flex capacity held", "flex offer and cell x", "GPU"),
    _variable("V5", "stable", "stable GPUs of an elastic campaign", "campaign and cell", "GPU"),
    _variable(
        "V6", "spot", "spot GPUs of an elastic campaign", "campaign, spot offer, period", "GPU"
    ),
    _variable(
        "V7", "dropped_elastic", "share of an elastic campaign not done", "campaign", "share"
    ),
    _variable("V8", "mode", "mode of a gang chosen", "gang, place, size and start m", "0 or 1"),
    _variable("V9", "dropped_gang", "gang not run", "gang", "0 or 1"),
    _variable("V10", "campaign_use", "stable GPUs of all campaigns", "cell n", "GPU"),
    _variable("V11", "backfilled", "firm GPUs sold to backfill", "buyer and cell", "GPU"),
    _variable("V12", "on_demand", "on-demand GPUs", "offer and level of a cell", "GPU"),
    _variable("V13", "drawn", "GPUs drawn from a flex reservation", "flex offer and cell", "GPU"),
    _constraint("C1", "order_placed", "an order with lots is placed", "order", "lot"),
    _constraint(
        "C2",
        "order_minimum",
        "fewest lots of a placed order",
        "order",
        "lot",
        "what it costs that an order of this offer must have one lot more",
        "A minimum of 4 lots of 8 GPUs: an order is 0, or at least 4 × 8 = 32 GPUs.",
    ),
    _constraint(
        "C3",
        "lots_active",
        "lots on offer",
        "committed offer and period",
        "lot",
        "the worth of one more lot of this offer on sale in this period",
        "At most 10 lots of 8 GPUs on sale: never more than 10 × 8 = 80 GPUs active at once.",
    ),
    _constraint("C4", "firm_capacity", "what firm capacity is made of", "cell", "GPU"),
    _constraint(
        "C5", "flex_capacity", "what flex capacity is made of", "flex offer and cell", "GPU"
    ),
    _constraint(
        "C6",
        "elastic_work",
        "an elastic campaign's work",
        "campaign",
        "reference GPU-hour",
        "what one more reference GPU-hour of this campaign costs",
        "10000 useful hours with 25 % waste: hours on stable capacity and on spot, each "
        "times speed and goodput, come to 10000 × 1.25 = 12500.",
    ),
    _constraint(
        "C7",
        "elastic_width",
        "an elastic campaign's width",
        "campaign and period",
        "GPU",
        "the worth of letting this campaign use one more GPU in this period",
        "A width of 16 GPUs with half of the week before the deadline: 16 × 0.5 = 8 on average.",
    ),
    _constraint(
        "C8",
        "class_spot_share",
        "spot share of a preemption class",
        "campaign",
        "reference GPU-hour",
        "the worth of letting one more reference GPU-hour of this campaign run on spot",
        "A class with a spot share of 0.5 and 12500 hours of work: 12500 × 0.5 = 6250 on spot.",
    ),
    _constraint("C9", "gang_choice", "a gang runs in one mode", "gang", "run"),
    _constraint(
        "C10",
        "spot_depth",
        "depth of a spot market",
        "spot offer and period",
        "GPU",
        "the worth of one more spot GPU on offer in this period",
        "A depth of 64 GPUs available 75 % of the time: 64 × 0.75 = 48 on average.",
    ),
    _constraint("C11", "campaign_use_balance", "what campaigns use in all", "cell", "GPU"),
    _constraint("C12", "backfill_supply", "backfill is firm capacity", "cell", "GPU"),
    _constraint(
        "C13",
        "backfill_depth",
        "what a backfill buyer takes",
        "buyer and period",
        "GPU",
        "the worth of a buyer who takes one more GPU in this period",
        "A buyer of 24 GPUs in a week of 168 hours takes at most 24 × 168 = 4032 GPU-hours.",
    ),
    _constraint(
        "C14",
        "stable_supply",
        "stable supply covers demand",
        "level of a cell",
        "GPU",
        "what one more GPU of demand at this level costs; the worth of one more GPU there",
        "Demand of 50 GPUs with 32 reserved and 16 held leaves 50 − 32 − 16 = 2 on demand.",
    ),
    _constraint(
        "C15",
        "on_demand_quota",
        "on-demand quota",
        "offer and level of a cell",
        "GPU",
        "the worth of one more GPU of quota in this period",
        "A quota of 40 GPUs that starts in the middle of a period counts 40 × 0.5 = 20 there.",
    ),
    _constraint("C16", "draw_limit", "a draw is held", "flex offer and cell", "GPU"),
    _constraint("C17", "draw_use", "draws serve campaigns", "cell", "GPU"),
    _constraint(
        "C18",
        "dedicated_supply",
        "dedicated tenancy is served by dedicated capacity",
        "cell",
        "GPU",
        "the worth of one more dedicated GPU in this pool and period",
        "A dedicated campaign on 64 GPUs and clusters of 32: 64 ÷ 32 = 2 of them.",
    ),
    _constraint(
        "C19",
        "ladder",
        "expiries in a window",
        "window",
        "GPU",
        "the worth of letting one more GPU expire in this window",
        "At most 40 % may end in a quarter, 80 GPUs committed at its start: 80 × 0.4 = 32.",
    ),
    _constraint(
        "C20",
        "policy_spot_share",
        "spot share of all work",
        "future",
        "reference GPU-hour",
        "the worth of one more reference GPU-hour on spot",
        "At most 30 % of 50000 hours of work on spot: 50000 × 0.3 = 15000.",
    ),
    _constraint(
        "C21",
        "provider_share",
        "share of one provider",
        "provider",
        "GPU-hour",
        "the worth of one more GPU-hour allowed to this provider",
        "At most 60 % of 200000 GPU-hours from one provider: 200000 × 0.6 = 120000.",
    ),
    _constraint(
        "C22",
        "committed_cap",
        "committed GPUs in all",
        "period",
        "GPU",
        "the worth of one more committed GPU allowed in this period",
        "A cap of 128 with 48 held leaves 128 − 48 = 80 GPUs for new commitments.",
    ),
    _constraint(
        "C23",
        "hardware_limit",
        "exposure to a generation",
        "hardware and period",
        "GPU",
        "the worth of one more committed GPU of this generation allowed in this period",
        "A cap of 64 for a superseded generation with 24 held leaves 64 − 24 = 40 GPUs.",
    ),
    _constraint(
        "C24",
        "cash_budget",
        "payments in a span",
        "budget",
        "unit of currency paid",
        "what one more unit of currency in this budget saves",
        "A budget of 250000 with 90000 due for held terms leaves 250000 − 90000 = 160000.",
    ),
    _constraint(
        "C25",
        "backfill_tenancy",
        "what dedicated tenancy stands on is not sold",
        "cell",
        "GPU",
        "the worth of one more firm GPU beside dedicated tenancy and backfill",
        "Of 96 firm GPUs with 64 under dedicated tenancy, 96 − 64 = 32 may be sold.",
    ),
    _constraint("C26", "metered_use", "metered hours are used hours", "level of a cell", "GPU"),
    _objective("O1", "on_demand", "on-demand use", "offer, period"),
    _objective("O2", "spot", "spot use of elastic campaigns and gangs", "offer, period"),
    _objective("O3", "burst_window", "burst windows held", "order"),
    _objective("O4", "reserved", "reservations held", "order"),
    _objective("O5", "dedicated", "dedicated capacity held", "order"),
    _objective("O6", "usage", "use of flex reservations", "offer, period"),
    _objective("O7", "setup", "setup of dedicated orders", "order"),
    _objective("O8", "owned_capex", "purchase of hardware: cash or down payment", "order"),
    _objective("O14", "owned_loan", "loans on hardware, settled when it is valued", "order"),
    _objective("O9", "owned_opex", "running of bought hardware", "order"),
    _objective("O10", "owned_residual", "value bought hardware keeps (negative)", "order"),
    _objective("O11", "commitment_tail", "charge for terms past the horizon", "order"),
    _objective("O12", "drop", "work left undone", "campaign"),
    _objective("O13", "backfill_revenue", "sales of idle capacity (negative)", "buyer, period"),
)


def component(name: str, kind: Kind) -> Component:
    """Return a component of the registry.

    Raises
    ------
    KeyError
        When there is none of that name and kind.
    """
    for item in COMPONENTS:
        if item.name == name and item.kind is kind:
            return item
    raise KeyError(name)


def of_kind(kind: Kind) -> tuple[Component, ...]:
    """Return all components of a kind, in order."""
    return tuple(item for item in COMPONENTS if item.kind is kind)
