"""Company limits after a date: what was used of them stays used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuladder.review.rows import RollNote
from gpuladder.scenario.expand import expand_campaign
from gpuladder.scenario.schema import CashBudget, SoFar

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from gpuladder.review.rolling.state import State
    from gpuladder.scenario.schema import Campaign, Policy
    from gpuladder.timegrid import TimeGrid


def window_begin(policy: Policy, grid: TimeGrid, to: date) -> date | None:
    """Return when the ladder's window under way on a date began; None when none is."""
    if policy.ladder is None:
        return None
    number, begin = 0, grid.anchor
    while (end := policy.ladder.window.after(grid.anchor, number + 1)) <= to:
        number, begin = number + 1, end
    return begin if begin < to else None


def carried(
    policy: Policy, state: State, left: Sequence[Campaign], to: date
) -> tuple[Policy, tuple[RollNote, ...]]:
    """Return the limits from a date on, and what changed of them.

    Parameters
    ----------
    left : sequence of Campaign
        Campaigns still to be done.
    """
    so_far, notes = _so_far(policy, state, left)
    budgets: list[CashBudget] = []
    for budget, paid in zip(policy.cash_budgets, state.paid, strict=True):
        label = f"cash budget {budget.from_date} to {budget.until}"
        if budget.until <= to:
            notes.append(RollNote(subject="policy", text=f"{label}: over, {paid:,.2f} paid"))
        elif paid == 0.0 and budget.from_date >= to:
            budgets.append(budget)
        else:
            rest = max(budget.max - paid, 0.0)
            budgets.append(
                CashBudget(from_date=max(budget.from_date, to), until=budget.until, max=rest)
            )
            text = f"{label}: {paid:,.2f} of {budget.max:,.2f} paid, {rest:,.2f} left"
            notes.append(RollNote(subject="policy", text=text))
    update = {"so_far": so_far, "cash_budgets": tuple(budgets)}
    return policy.model_copy(update=update), tuple(notes)


def _so_far(policy: Policy, state: State, left: Sequence[Campaign]) -> tuple[SoFar, list[RollNote]]:
    """Return what counts in the shares from before the date: nothing where none is limited."""
    before, notes = policy.so_far, []
    work = spot = 0.0
    providers: dict[str, float] = {}
    if policy.spot_share_max is not None:
        work = before.gpu_hours + sum(item.work for item in state.progress.values())
        spot = before.spot_gpu_hours + sum(item.spot_work for item in state.progress.values())
        rest = sum(one.work for item in left for one in expand_campaign(item))
        most = policy.spot_share_max * (work + rest)
        text = f"{spot:,.0f} of {work:,.0f} GPU-hours of work so far on spot"
        if spot > most:
            text += f": more than {policy.spot_share_max:g} of all work, so none of the rest may be"
            spot = min(spot, most)
        notes.append(RollNote(subject="policy", text=text))
    if policy.provider_share_max is not None:
        names = dict.fromkeys((*before.provider_gpu_hours, *state.provider_gpu_hours))
        providers = {
            name: before.provider_gpu_hours.get(name, 0.0) + state.provider_gpu_hours.get(name, 0.0)
            for name in names
        }
        total = sum(providers.values())
        shares = ", ".join(f"{name} {hours / total:.1%}" for name, hours in providers.items())
        if total > 0.0:
            notes.append(RollNote(subject="policy", text=f"providers' shares so far: {shares}"))
    return (
        SoFar(gpu_hours=work, spot_gpu_hours=spot, provider_gpu_hours=providers),
        notes,
    )
