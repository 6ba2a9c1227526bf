"""What has happened by a date: work done, runs under way, GPU-hours bought, money paid."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.analysis.cash import money_between
from gpuladder.scenario.schema import ElasticCampaign
from gpuladder.timegrid import HOURS_PER_DAY

if TYPE_CHECKING:
    from datetime import date

    from gpuladder.analysis.frame import Frame
    from gpuladder.analysis.ledger import Ledger
    from gpuladder.plan import Run
    from gpuladder.scenario.held import HeldCommitment

SHARE_TOLERANCE = 1e-9
"""Share of a campaign's work below which nothing is left of it: what a solver's rounding leaves."""
UNPAID_LINES = ("owned_residual", "backfill_revenue", "commitment_tail", "drop")
"""Cost lines that no cash budget counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far one campaign has come.

    Attributes
    ----------
    work, spot_work : float
        Done, failed runs included, reference GPU-hours; of that on spot.
    place : str or None
        Of a gang under way: the pool or spot offer it runs on.
    gpus : int
        Its size.
    is_over : bool
        Whether nothing of it is left to decide.
    deadline : date or None
        The deadline now agreed, where it is another than the scenario's.
    """

    work: float = 0.0
    spot_work: float = 0.0
    place: str | None = None
    gpus: int = 0
    is_over: bool = False
    deadline: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What the next scenario starts from.

    Attributes
    ----------
    signed : tuple of HeldCommitment
        Orders of the plan that have become commitments.
    progress : dict of str to Progress
        By expanded campaign; those that have not begun are left out.
    provider_gpu_hours : dict of str to float
        GPU-hours bought or held since the plan's start.
    paid : tuple of float
        Of each cash budget, what was paid since its own start.
    """

    signed: tuple[HeldCommitment, ...] = ()
    progress: dict[str, Progress] = field(default_factory=dict)
    provider_gpu_hours: dict[str, float] = field(default_factory=dict)
    paid: tuple[float, ...] = ()


def planned_progress(ledger: Ledger, to: date) -> dict[str, Progress]:
    """Return how far each campaign has come on a date, when everything went as planned."""
    frame = ledger.frame
    tables = frame.tables.campaigns
    done = {
        key: Progress(is_over=True) for key, campaign in tables.items() if campaign.deadline <= to
    }
    for key, (work, spot) in _elastic_work(ledger, to).items():
        left = tables[key].work - work
        over = left <= SHARE_TOLERANCE * tables[key].work or key in done
        done[key] = Progress(work=work, spot_work=spot, is_over=over)
    for run in frame.plan.runs:
        if run.start < to:
            done[run.campaign] = _run_progress(frame, run, to)
    return done


def planned_provider_hours(ledger: Ledger, to: date) -> dict[str, float]:
    """Return GPU-hours committed, held or metered before a date, by provider."""
    frame = ledger.frame
    before = _before(frame, to)
    total: dict[str, float] = defaultdict(float)
    for pool, book in ledger.pools.items():
        hours = book.committed_hours + book.metered_hours
        total[frame.tables.pools[pool].provider] += float(hours[before].sum())
    for (_, offer), gpus in ledger.use.spot.items():
        pool = frame.tables.spot[offer].pool
        used = float((gpus * frame.grid.hours)[before].sum())
        total[frame.tables.pools[pool].provider] += used
    return {provider: hours for provider, hours in total.items() if hours > 0.0}


def planned_payments(ledger: Ledger, to: date) -> tuple[float, ...]:
    """Return what each cash budget has paid from its own start to a date, as planned."""
    paid = []
    for budget in ledger.frame.scenario.policy.cash_budgets:
        begin, end = max(budget.from_date, ledger.frame.grid.start), min(budget.until, to)
        if begin >= end:
            paid.append(0.0)
            continue
        money = money_between(ledger, (begin, end))
        lines = [row for line, row in money.items() if line not in UNPAID_LINES]
        paid.append(sum(float(row.cash[0]) for row in lines))
    return tuple(paid)


def _before(frame: Frame, to: date) -> slice:
    return slice(0, frame.grid.boundaries.index(to))


def _elastic_work(ledger: Ledger, to: date) -> dict[str, tuple[float, float]]:
    """Return the work of elastic campaigns before a date, and of that on spot."""
    frame = ledger.frame
    before = _before(frame, to)
    stable: dict[str, float] = defaultdict(float)
    spot: dict[str, float] = defaultdict(float)
    for pool, book in ledger.pools.items():
        for key, gpus in book.use.campaigns.items():
            campaign = frame.tables.campaigns[key]
            if isinstance(campaign, ElasticCampaign):
                hours = float(np.dot(gpus[before], frame.grid.hours[before]))
                stable[key] += hours * frame.elastic_speed(campaign, pool, None)
    for (key, offer), gpus in ledger.use.spot.items():
        campaign = frame.tables.campaigns[key]
        if isinstance(campaign, ElasticCampaign):
            hours = float(np.dot(gpus[before], frame.grid.hours[before]))
            pool = frame.tables.spot[offer].pool
            spot[key] += hours * frame.elastic_speed(campaign, pool, offer)
    return {
        key: (stable[key] + spot[key], spot[key])
        for key in dict.fromkeys((*stable, *spot))
        if stable[key] + spot[key] > 0.0
    }


def _run_progress(frame: Frame, run: Run, to: date) -> Progress:
    """Return how far a gang has come: work goes on evenly from its start to its finish."""
    work = frame.tables.campaigns[run.campaign].work
    share = min((to - run.start).days * HOURS_PER_DAY / run.hours, 1.0)
    over = 1.0 - share <= SHARE_TOLERANCE
    done = work if over else work * share
    return Progress(
        work=done,
        spot_work=done if run.spot_offer is not None else 0.0,
        place=None if over else run.spot_offer or run.pool,
        gpus=run.gpus,
        is_over=over,
    )
