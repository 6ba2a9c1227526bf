"""From a plan to the scenario of the next decision."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gpuladder.analysis.frame import Frame
from gpuladder.analysis.ledger import Ledger, ledger_of
from gpuladder.errors import Problem, UsageError
from gpuladder.review.rolling import campaigns as rolled_campaigns
from gpuladder.review.rolling import contracts, horizon, policy, prices, state
from gpuladder.review.rolling.remaining import remaining_lines
from gpuladder.review.rows import Rolled, RollNote
from gpuladder.scenario.fingerprint import canonical
from gpuladder.scenario.loading import check
from gpuladder.scenario.source import RawDocument, raw_tree

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from gpuladder.plan import Order, Plan
    from gpuladder.scenario.held import HeldCommitment
    from gpuladder.scenario.schema import Horizon, Scenario


def roll(scenario: Scenario, plan: Plan, to: date) -> Rolled:
    """Return the scenario of the next decision: what is left of a plan from a date on.

    Planned again with nothing changed it costs what the plan costs from that date on (see
    ``remaining_lines``), because every limit that looks back keeps what it has seen.

    Parameters
    ----------
    scenario : Scenario
        What the plan answers.
    plan : Plan
    to : date
        New horizon start: a boundary of the plan's periods, later than the first.

    Raises
    ------
    UsageError
        When there is no plan to roll, or no period begins on the date.
    ScenarioError
        When the new scenario would contradict itself.
    """
    if not plan.has_quantities:
        raise UsageError(
            Problem(
                code="GL-V002",
                what=f"there is no plan to roll: the status is {plan.status.value}",
                why="the next scenario starts from what a plan has signed and done",
                fix="solve the scenario first, or change its horizon by hand",
            )
        )
    ledger = ledger_of(Frame.of(scenario, plan))
    new_horizon = horizon.moved(scenario, ledger.frame.grid, to)
    return _rolled(ledger, to, planned_state(ledger, to), new_horizon)


def planned_state(ledger: Ledger, to: date) -> state.State:
    """Return what has happened by a date when everything went as planned."""
    frame = ledger.frame
    return state.State(
        signed=tuple(contracts.held_from(frame, order, to) for order in signed_orders(frame, to)),
        progress=state.planned_progress(ledger, to),
        provider_gpu_hours=state.planned_provider_hours(ledger, to),
        paid=state.planned_payments(ledger, to),
    )


def signed_orders(frame: Frame, to: date) -> tuple[Order, ...]:
    """Return the plan's orders that have to be signed before a date."""
    return tuple(order for order in frame.plan.orders if contracts.is_signed(frame, order, to))


def open_orders(frame: Frame, to: date) -> tuple[Order, ...]:
    """Return the plan's orders that the next decision is still free to sign or not."""
    return tuple(order for order in frame.plan.orders if not contracts.is_signed(frame, order, to))


def _rolled(ledger: Ledger, to: date, now: state.State, new_horizon: Horizon) -> Rolled:
    scenario, grid = ledger.frame.scenario, ledger.frame.grid
    begin = policy.window_begin(scenario.policy, grid, to)
    ladder = scenario.policy.ladder
    ours = (*scenario.commitments, *now.signed)
    held = contracts.distinct(contracts.kept(ours, to, begin, ladder))
    left, classes, notes = rolled_campaigns.remaining(scenario, now.progress, to)
    limits, of_policy = policy.carried(scenario.policy, now, left, to)
    needed = {name for item in held for name in (item.offer, item.renewable_as) if name}
    offers, of_offers = prices.carried(scenario, grid, to, needed)
    made = scenario.model_copy(
        update={
            "horizon": new_horizon,
            "offers": offers,
            "preemption_classes": (*scenario.preemption_classes, *classes),
            "campaigns": left,
            "commitments": held,
            "demand": tuple(row for row in scenario.demand if row.at.date() >= to),
            "policy": limits,
        }
    )
    loaded = check(RawDocument(root=raw_tree(canonical(made)), path=Path(scenario.name)))
    return Rolled(
        scenario=loaded.scenario,
        to=to,
        plan_sha256=ledger.frame.plan.scenario.sha256,
        remaining_cost=sum(remaining_lines(ledger, to).values()),
        notes=(*_contract_notes(scenario, held, to), *notes, *of_policy, *of_offers),
        warnings=loaded.warnings,
    )


def _contract_notes(
    scenario: Scenario, held: tuple[HeldCommitment, ...], to: date
) -> Iterator[RollNote]:
    now = {item.id for item in held}
    for item in scenario.commitments:
        if item.id not in now:
            yield RollNote(subject=item.id, text=f"ended on {item.end}: left out")
    before = {item.id for item in scenario.commitments}
    for item in held:
        if item.end <= to:
            text = f"ended on {item.end}: counts in the ladder's window under way alone"
            yield RollNote(subject=item.id, text=text)
        elif item.id not in before:
            flight = "in flight" if item.start >= to else "running"
            text = f"{item.gpus:g} GPUs of {item.pool} until {item.end}: held now, {flight}"
            yield RollNote(subject=item.id, text=text)
