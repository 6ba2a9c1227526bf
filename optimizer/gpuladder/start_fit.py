"""How much of an earlier plan there still is in a scenario that is to start from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpuladder.program import make_program_data

if TYPE_CHECKING:
    from gpuladder.plan import Plan
    from gpuladder.scenario.schema import Scenario

NAMES_SHOWN = 3


@dataclass(frozen=True, slots=True)
class StartFit:
    """What of an earlier plan can be decided again, and what cannot.

    Attributes
    ----------
    num_orders, num_runs : int
        Orders and runs of the earlier plan that exist in the scenario too.
    missing : tuple of str
        Those that do not, in words.
    """

    num_orders: int
    num_runs: int
    missing: tuple[str, ...]

    @property
    def text(self) -> str:
        """One line for the user."""
        num_fitting = self.num_orders + self.num_runs
        if not num_fitting and not self.missing:
            return "The earlier plan has no orders and no runs to start from."
        if not num_fitting:
            return f"Nothing of the earlier plan fits, the search starts anew: {self._missing}."
        fits = f"{_counted(self.num_orders, 'order')} and {_counted(self.num_runs, 'run')}"
        if not self.missing:
            return f"All of the earlier plan fits: {fits}."
        return f"Of the earlier plan {fits} fit; not in this scenario: {self._missing}."

    @property
    def _missing(self) -> str:
        more = len(self.missing) - NAMES_SHOWN
        return ", ".join(self.missing[:NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")


def start_fit(scenario: Scenario, plan: Plan) -> StartFit:
    """Return how much of an earlier plan exists in a scenario: its orders, and its gangs' runs.

    Everything else of a plan is computed anew from these.
    """
    data = make_program_data(scenario)
    labels, gangs = data.labels, data.gangs
    orders = {
        (labels.committed[offer], labels.periods[start])
        for offer, start in zip(data.orders.offer.tolist(), data.orders.start.tolist(), strict=True)
    }
    runs = {
        (
            labels.campaigns[gangs.campaign[gangs.mode_instance[mode]]],
            labels.pools[gangs.mode_pool[mode]],
            labels.spot[gangs.mode_spot[mode]] if gangs.mode_spot[mode] >= 0 else None,
            int(gangs.mode_gpus[mode]),
            labels.periods[gangs.mode_start[mode]],
        )
        for mode in range(len(gangs.mode_start))
    }
    no_orders = [each for each in plan.orders if (each.offer, str(each.start)) not in orders]
    no_runs = [
        each
        for each in plan.runs
        if (each.campaign, each.pool, each.spot_offer, each.gpus, str(each.start)) not in runs
    ]
    return StartFit(
        num_orders=len(plan.orders) - len(no_orders),
        num_runs=len(plan.runs) - len(no_runs),
        missing=(
            *(f"`{each.offer}` from {each.start}" for each in no_orders),
            *(f"a run of `{each.campaign}` from {each.start}" for each in no_runs),
        ),
    )


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
