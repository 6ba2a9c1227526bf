"""Whether a plan speaks of this scenario at all: a stranger's plan cannot be analysed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuladder.errors import AuditError, Problem

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from gpuladder.analysis.frame import Frame

_SHOWN = 5


def require_references(frame: Frame) -> None:
    """Check that every record of the plan names things and periods that the scenario has.

    Raises
    ------
    AuditError
        When one does not, with the first few of them.
    """
    unknown = list(dict.fromkeys(_unknown(frame)))
    if unknown:
        more = f" and {len(unknown) - _SHOWN} more" if len(unknown) > _SHOWN else ""
        shown = ", ".join(unknown[:_SHOWN]) + more
        raise AuditError(
            Problem(
                code="GL-A003",
                what=f"the plan names what the scenario has not: {shown}",
                why="its costs cannot be worked out",
                fix="analyse the plan with the scenario it was solved for",
            )
        )


def _unknown(frame: Frame) -> Iterator[str]:
    """Yield each thing or date that a record names and the scenario has not."""
    plan, tables, grid = frame.plan, frame.tables, frame.grid
    buyers = {buyer.id for buyer in frame.scenario.backfill}
    named: list[tuple[str, str, Container[str]]] = [
        *(("committed offer", order.offer, tables.committed) for order in plan.orders),
        *(("committed offer", draw.offer, tables.committed) for draw in plan.drawn),
        *(("on-demand offer", metered.offer, tables.on_demand) for metered in plan.on_demand),
        *(("spot offer", spot.offer, tables.spot) for spot in plan.spot_use),
        *(("spot offer", run.spot_offer, tables.spot) for run in plan.runs if run.spot_offer),
        *(("pool", use.pool, tables.pools) for use in plan.stable_use),
        *(("pool", run.pool, tables.pools) for run in plan.runs),
        *(("pool", sale.pool, tables.pools) for sale in plan.backfill),
        *(("campaign", use.campaign, tables.campaigns) for use in plan.stable_use),
        *(("campaign", spot.campaign, tables.campaigns) for spot in plan.spot_use),
        *(("campaign", run.campaign, tables.campaigns) for run in plan.runs),
        *(("campaign", drop.campaign, tables.campaigns) for drop in plan.dropped),
        *(("buyer", sale.buyer, buyers) for sale in plan.backfill),
    ]
    periods = {
        *(metered.period for metered in plan.on_demand),
        *(draw.period for draw in plan.drawn),
        *(use.period for use in plan.stable_use),
        *(spot.period for spot in plan.spot_use),
        *(sale.period for sale in plan.backfill),
    }
    for what, key, table in named:
        if key not in table:
            yield f"{what} {key!r}"
    yield from (f"period {day}" for day in sorted(periods - frame.period_index.keys()))
    for order in plan.orders:
        if not grid.start <= order.start < grid.end:
            yield f"start {order.start} of {order.offer!r}"
