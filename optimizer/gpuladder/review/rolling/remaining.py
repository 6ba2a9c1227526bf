"""What of a plan's cost belongs after a date."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuladder.plan import COST_LINES
from gpuladder.review.rolling.contracts import is_signed, name_of

if TYPE_CHECKING:
    from datetime import date

    from gpuladder.analysis.ledger import Ledger


def remaining_lines(ledger: Ledger, to: date) -> dict[str, float]:
    """Return the plan's cost lines from a date on, in present values of that date.

    What belongs after the date:

    * use by the hour (on demand, spot, draws) and backfill revenue of the periods from it on;
    * orders that the next decision is still free to sign, whole: holding, setup, purchase, residual
      value and the charge for what lies past the horizon;
    * what is dropped of campaigns whose deadline is later.

    Orders that were signed belong before it, whatever of them is still to be paid: their cost is
    sunk. So is the cost of held commitments, as ever.

    Parameters
    ----------
    to : date
        A boundary of the plan's periods.
    """
    frame = ledger.frame
    after = slice(frame.grid.boundaries.index(to), None)
    lines = dict.fromkeys(COST_LINES, 0.0)
    for flow in ledger.flows:
        lines[flow.line] += float(flow.present_value[after].sum())
    still_open = {name_of(o) for o in frame.plan.orders if not is_signed(frame, o, to)}
    for term in ledger.orders:
        if term.id in still_open:
            for charge in term.charges:
                lines[charge.line] += float(charge.present_value.sum())
            tail = frame.scenario.policy.tail_charge * term.tail
            lines["commitment_tail"] += tail * frame.factor(frame.grid.end)
    for campaign, cost in ledger.drop_cost.items():
        if frame.tables.campaigns[campaign].deadline > to:
            lines["drop"] += cost
    return {line: amount / frame.factor(to) for line, amount in lines.items()}
