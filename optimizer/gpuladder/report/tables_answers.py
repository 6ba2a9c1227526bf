"""Tables of the answers beside the plan: each note says what a figure is and what it is not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gpuladder.report.fields import (
    Field,
    answered,
    day,
    gpu_hours,
    gpus,
    money,
    number,
    price,
    share,
    tabulate,
    text,
)
from gpuladder.report.labels import aim_label, axis_label, kind_label, title
from gpuladder.report.table import Format, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gpuladder.analysis.answers import TornadoRow
    from gpuladder.analysis.result import Result
    from gpuladder.report.table import Cell


_HALF_A_CENT = 0.005


def _worth(key: str, name: str, note: str) -> Field:
    """Return a field of money per unit of a limit, which may be cents or millions."""
    return _shown_as(money(key, name, note, total=False), Format.EACH)


def _value(key: str, name: str, note: str) -> Field:
    return _shown_as(number(key, name, "", note), Format.EACH)


def _shown_as(field: Field, shown: Format) -> Field:
    return replace(field, column=replace(field.column, format=shown))


def _wide(field: Field, width: float) -> Field:
    return replace(field, column=replace(field.column, width=width))


_SHADOW_PRICES = (
    text("limit", "Limit", read=lambda row: title(row.limit)),
    text("key", "About"),
    day("period", "Period from", "First day of its period; empty where it is not of a period."),
    text("unit", "One unit"),
    _wide(text("reading", "Reading"), 52),
    _worth(
        "marginal_up",
        "Worth of one more",
        "The whole program solved again with one unit more: what it saves; of demand, work, the "
        "minimum of an order or a lead, what it costs.",
    ),
    _worth("marginal_down", "Worth of one less", "The same with one unit less: what it costs."),
    _worth("marginal_error", "Worth known within", "How far the two may be off, as proven."),
    _worth(
        "fixed_plan_dual",
        "Fixed-plan dual",
        "Per unit, with whole lots and runs as planned. It says nothing about buying another lot.",
    ),
    _worth("dual_low", "Dual, lowest", "Lower end where several duals are optimal."),
    _worth("dual_high", "Dual, highest", "Upper end where several duals are optimal."),
    _value("valid_from", "Dual valid from", "Value of the limit; empty where there is no end."),
    _value("valid_to", "Dual valid to", "Value of the limit; empty where there is no end."),
    text("change", "Change behind it", "As written on the command line."),
    _wide(text("note", "Note"), 40),
)

_WALK_AWAY = (
    text("offer", "Offer"),
    text("pool", "Pool"),
    text("kind", "Kind", read=lambda row: kind_label(row.kind)),
    text("is_in_plan", "In the plan", read=lambda row: row.is_in_plan),
    price("price_today", "Price today", "Owned: capital cost per GPU."),
    price(
        "walk_away_price",
        "Walk-away price",
        "In the plan: highest price at which any of it is bought. Out of it: highest price at "
        "which any would be.",
    ),
    share("room_share", "Room", "Walk-away price less today's, as a share of today's."),
    price(
        "same_quantity_price",
        "Same-quantity price",
        "Highest price at which at least as much is bought as today.",
    ),
    money(
        "money_at_stake",
        "Money at stake",
        "Present value of what the plan spends on it; out of the plan: what it would at entry.",
        total=False,
    ),
    _wide(
        text(
            "replaced_by",
            "Replaced by",
            "Beyond the walk-away price; out of the plan: what it would replace.",
        ),
        40,
    ),
    gpus("gpus", "Quantity", "Bought over all starts; metered: most in use."),
    gpu_hours("gpu_hours", "Use", "Bought, or used when metered, in the horizon.", total=False),
    gpus("entry_gpus", "Quantity at entry", "Out of the plan: bought just below the price."),
    price("tolerance", "Known within", "The true price is at most this far off."),
    _wide(text("note", "Note"), 40),
)

_SENTENCES = (_wide(text("sentence", "Answer", read=lambda said: said), 100),)

_STRUCTURES = (
    text("pool", "Pool"),
    text("structure", "Structure", read=lambda row: title(row.structure)),
    money("cost", "Cost", "Net present cost of the whole scenario.", total=False),
    gpu_hours("idle_gpu_hours", "Idle", "In the pool.", total=False),
    money("idle_cost", "Idle cost", "In the pool.", total=False),
    money("cost_per_run", "Cost per run", "Of the campaigns that may run there.", total=False),
    share("gap", "Gap", "Proven distance from the cheapest possible."),
    text("note", "Note"),
)

_FLIPS = (
    text("pool", "Pool"),
    text("axis", "What changes", read=lambda row: axis_label(row.axis)),
    _value("value", "Value", "Times today's runs, or burst price ÷ standing price."),
    number("runs_per_quarter", "Runs a quarter"),
    money("burst_cost", "With burst windows", "No standing terms.", total=False),
    money("standing_cost", "With standing terms", "No burst windows.", total=False),
    text(
        "cheaper",
        "Cheaper",
        "Tie: equal, or not proven which is; empty where the point was not solved.",
    ),
)

_BASELINES = (
    text("baseline", "Key"),
    text("title", "Structure"),
    money("saving", "Plan saves", "Its cost less the plan's.", total=False),
    money("cost", "Cost", "Net present cost under this structure.", total=False),
    _wide(text("how", "How it was made"), 56),
    share("saving_share", "Plan saves, share"),
    money("bound", "Proven floor", "No plan of this structure is cheaper.", total=False),
    _wide(text("note", "Note"), 46),
)

_WATERFALL = (
    text("step", "Step"),
    money(
        "delta",
        "Change",
        "Negative when it saves; adds up to the whole saving.",
        read=lambda row: settled(row.delta),
    ),
    money("cost_after", "Cost after it", total=False),
    _wide(text("how", "What is free from here on"), 56),
)

_ALTERNATIVES = (
    text("aim", "Aim", read=lambda row: aim_label(row.aim)),
    share("slack_share", "Slack", "How much more it may cost than the cheapest plan known."),
    money("extra_cost", "Price paid", "Its cost less the plan's.", total=False),
    share("extra_share", "Price paid, share"),
    money("cost", "Cost", total=False),
    _wide(text("summary", "What it buys"), 52),
    number("measure", "Reached", "", "Of what the aim makes least; see the unit."),
    number("measure_of_plan", "In the plan"),
    text("unit", "Unit of the aim"),
    text("is_audited", "Audited", read=lambda row: row.is_audited),
    text("note", "Note"),
)

_RANGES = (
    text("offer", "Offer"),
    share("slack_share", "Slack", "How much more a plan may cost than the cheapest one known."),
    gpu_hours("gpu_hours_in_plan", "In the plan", total=False),
    gpu_hours("least_gpu_hours", "Least", "In any plan within the slack.", total=False),
    gpu_hours("most_gpu_hours", "Most", "In any plan within the slack.", total=False),
    _wide(text("reading", "Reading"), 52),
)

_UNANSWERED = (text("question", "Question"), text("why", "Why"))


def shadow_prices(result: Result) -> Table:
    """Return what one more unit of each limit is worth."""
    return tabulate(
        "shadow_prices",
        "Shadow prices: what one more unit of a limit is worth",
        _SHADOW_PRICES,
        result.answers.shadow_prices,
        currency=result.scenario.currency,
        note="Per unit. The worth of one more and of one less is a difference of solved plans; the "
        "dual holds lots and runs fixed, and only in its range. Neither is a market price, and "
        "worths do not add up. Money is undiscounted to the limit's own period; where a limit "
        "holds over several periods, a present value. Empty: not solved, see the note.",
    )


def walk_away(result: Result) -> Table:
    """Return up to which price each offer belongs in the plan, most money first."""
    return tabulate(
        "walk_away",
        "Walk-away prices",
        _WALK_AWAY,
        sorted(result.answers.walk_away, key=lambda row: (-row.money_at_stake, row.offer)),
        currency=result.scenario.currency,
        note="Most money first. Each price is solved for, with all other offers at today's prices: "
        "two that move together have other limits. It is what the offer is worth to this "
        "scenario, not what the provider would accept. Empty: not closed in the time given.",
    )


def burst_or_standing(result: Result) -> Table:
    """Return burst windows against standing terms, a sentence per pool."""
    return tabulate(
        "burst_or_standing",
        "Burst windows or standing terms",
        _SENTENCES,
        result.answers.burst_or_standing,
        currency=result.scenario.currency,
    )


def structures(result: Result) -> Table:
    """Return what the scenario costs with and without burst windows and standing terms."""
    return tabulate(
        "structures",
        "Burst windows or standing terms",
        _STRUCTURES,
        result.answers.structures,
        currency=result.scenario.currency,
        note="Costs are of the whole scenario with one choice taken away in one pool; everything "
        "else, on demand included, is decided anew. They are no quotes for the pool alone.",
    )


def flips(result: Result) -> Table:
    """Return the solved points on which burst windows and standing terms change places."""
    return tabulate(
        "flips",
        "Where the answer flips",
        _FLIPS,
        result.answers.flips,
        currency=result.scenario.currency,
        note="Solved points, not a fitted curve: between two points only the ends are known.",
    )


def baselines(result: Result) -> Table:
    """Return what the scenario costs under the structures in use."""
    return tabulate(
        "baselines",
        "Baselines: the structures teams use",
        _BASELINES,
        result.answers.baselines,
        currency=result.scenario.currency,
        note="The same scenario and program with decisions taken away; what is not named as taken "
        "away is decided as well as can be, so a team that also plans worse pays more. Savings are "
        "against the plan as found; the note gives what is proven of the difference.",
    )


def waterfall(result: Result) -> Table:
    """Return where the savings come from, step by step."""
    return tabulate(
        "waterfall",
        "Where the saving comes from",
        _WATERFALL,
        result.answers.waterfall,
        currency=result.scenario.currency,
        note="One family of decisions is freed after another, in this order; in another order the "
        "same steps have other sizes. A step without figures has its effect in the next one.",
    )


def alternatives(result: Result) -> Table:
    """Return plans almost as cheap, each best in one respect."""
    return tabulate(
        "alternatives",
        "Alternatives: almost as cheap, and different",
        _ALTERNATIVES,
        answered(result.answers.alternatives, "cost"),
        currency=result.scenario.currency,
        note="Each is a whole plan that costs at most the slack more, and the best of them in one "
        "respect, not in all: in the others it may be worse than the plan.",
    )


def quantity_ranges(result: Result) -> Table:
    """Return how much of each offer any plan within the slack holds."""
    return tabulate(
        "quantity_ranges",
        "What is firm and what is a matter of taste",
        _RANGES,
        answered(result.answers.quantity_ranges, "least_gpu_hours", "most_gpu_hours"),
        currency=result.scenario.currency,
        note="Each range is for its offer alone: the ends of two offers need not fit one plan.",
    )


def sensitivity(result: Result) -> Table:
    """Return how much each input moves the cost, the largest swing first, a column per change."""
    by_key: dict[str, dict[float, TornadoRow]] = {}
    moved = answered(result.answers.tornado, "cost")
    for row in moved:
        by_key.setdefault(row.key, {})[row.change_share] = row
    shares = sorted({row.change_share for row in moved})
    ordered = sorted(by_key.items(), key=lambda item: (-swing(item[1].values()), item[0]))
    fields = (
        text("key", "Input", read=lambda item: item[0]),
        *(
            money(
                f"delta_{_signed(change)}",
                f"Change at {change:+.0%}",
                "Change of the net present cost, the plan decided anew.",
                total=False,
                read=_delta(change),
            )
            for change in shares
        ),
        text(
            "structure_changes",
            "Other commitments",
            "Changes of the input at which other commitments are signed.",
            read=_other_structures,
        ),
        text("note", "Note", read=_notes),
    )
    return tabulate(
        "sensitivity",
        "Sensitivity: the inputs that matter most",
        fields,
        ordered,
        currency=result.scenario.currency,
        note="Change of the net present cost when one input alone moves and the plan is solved "
        "again. It says what moves the cost, not how likely the input is to move. Empty: not "
        "solved in the time given.",
    )


def unanswered(result: Result) -> Table:
    """Return the questions that were not answered."""
    return tabulate(
        "unanswered",
        "Questions not answered",
        _UNANSWERED,
        result.answers.unanswered,
        currency=result.scenario.currency,
    )


def settled(value: float | None) -> float | None:
    """Return an amount, or zero when it is only what rounding leaves."""
    return 0.0 if value is not None and abs(value) < _HALF_A_CENT else value


def swing(rows: Iterable[TornadoRow]) -> float:
    """Return the distance between the highest and the lowest cost of an input's changes."""
    deltas = [row.delta for row in rows if row.delta is not None]
    return max(deltas, default=0.0) - min(deltas, default=0.0)


def _delta(change: float) -> Callable[[tuple[str, dict[float, TornadoRow]]], Cell]:
    def read(item: tuple[str, dict[float, TornadoRow]]) -> Cell:
        row = item[1].get(change)
        return None if row is None else row.delta

    return read


def _other_structures(item: tuple[str, dict[float, TornadoRow]]) -> str:
    changes = [f"{at:+.0%}" for at, row in sorted(item[1].items()) if row.is_structure_changed]
    # The word in front keeps a spreadsheet from taking the text for a formula.
    return f"at {', '.join(changes)}" if changes else ""


def _notes(item: tuple[str, dict[float, TornadoRow]]) -> str:
    notes: dict[str, list[str]] = {}
    for change, row in sorted(item[1].items()):
        if row.note:
            notes.setdefault(row.note, []).append(f"{change:+.0%}")
    return "; ".join(f"at {', '.join(changes)}: {note}" for note, changes in notes.items())


def _signed(change: float) -> str:
    """Return a change as part of a key: −0.25 is ``minus_25``."""
    return f"{'minus' if change < 0 else 'plus'}_{abs(change) * 100:g}".replace(".", "_")
