"""ProgramData: everything the mathematics is told, as labels and read-only numpy arrays.

Symbols of FORMULATION.md stand in brackets. A *cell* [n] is a pool in a period under a future; a
*level* [l] is one level of a cell's demand duration curve; an *instance* [c] is a campaign under a
future. Costs are present values, currency, already weighted by the probability of their future.
Infinity means that there is no limit.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sparse:
    """A sparse matrix as three arrays of one length: row, column and value."""

    row: IntArray
    column: IntArray
    value: FloatArray

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self.row)


def sparse(entries: list[tuple[int, int, float]] | None = None) -> Sparse:
    """Return a sparse matrix from ``(row, column, value)`` triples; empty without any."""
    if not entries:
        return Sparse(
            row=np.zeros(0, np.int64), column=np.zeros(0, np.int64), value=np.zeros(0, np.float64)
        )
    row, column, value = zip(*entries, strict=True)
    return Sparse(
        row=np.asarray(row, np.int64),
        column=np.asarray(column, np.int64),
        value=np.asarray(value, np.float64),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """Names of what the indices stand for, in index order."""

    futures: tuple[str, ...]
    periods: tuple[str, ...]
    """First day of each period, ISO dates."""
    pools: tuple[str, ...]
    committed: tuple[str, ...]
    """Committed offers, one per tenor."""
    on_demand: tuple[str, ...]
    spot: tuple[str, ...]
    campaigns: tuple[str, ...]
    buyers: tuple[str, ...]
    providers: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """[j] Lots of one committed offer that start on one boundary."""

    offer: IntArray
    """Committed offer, shape (J,)."""
    start: IntArray
    """Period in which it starts, shape (J,)."""
    future: IntArray
    """Future it belongs to, −1 when it is decided for all of them, shape (J,)."""
    most_lots: FloatArray
    """[L̄] Bound on lots, shape (J,)."""
    cost: FloatArray
    """Present value of one lot, all its cost lines but the setup, shape (J,)."""
    cost_lines: dict[str, FloatArray]
    """The same by cost line, each of shape (J,), not weighted by probability."""
    placed: IntArray
    """[j ∈ K] Orders that need a yes-or-no, because of a setup cost or a minimum, shape (K,)."""
    least_lots: FloatArray
    """[L̲] Fewest lots of a placed order, shape (K,)."""
    setup_cost: FloatArray
    """Present value of the setup of a placed order, shape (K,)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """[n] Pools in periods under futures, future-major then pool then period."""

    future: IntArray
    pool: IntArray
    period: IntArray
    held: FloatArray
    """[H] GPUs held already, shape (N,)."""
    held_dedicated: FloatArray
    """[H^d] GPUs of dedicated and owned commitments held already, shape (N,)."""
    hours: FloatArray
    """[h] Length of the period, shape (N,)."""
    firm: Sparse
    """(N, J): GPUs one lot of order j gives in cell n, flex reservations left out."""
    firm_dedicated: Sparse
    """(N, J): the same for dedicated and owned offers alone."""
    loaded: BoolArray
    """Whether any campaign may use the cell's stable capacity, shape (N,)."""
    dedicated_tenancy: BoolArray
    """Whether any of them insists on dedicated tenancy, shape (N,)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """[l] Levels of the demand duration curves: only those with demand or in a loaded cell."""

    cell: IntArray
    index: IntArray
    """Position in its cell's curve, ascending by demand, shape (L,)."""
    demand: FloatArray
    """[d] GPUs, shape (L,)."""
    share: FloatArray
    """[w] Share of the period at this level, shape (L,)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OnDemand:
    """[i] Use of an on-demand offer at a level."""

    offer: IntArray
    level: IntArray
    quota: FloatArray
    """[Q] GPUs, shape (I,)."""
    cost: FloatArray
    """Present value of one GPU at that level, shape (I,)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flex:
    """Flex reservations: held in whole lots, paid again for use."""

    offer: IntArray
    """Committed offer of each flex cell, shape (X,)."""
    cell: IntArray
    """Cell, shape (X,)."""
    held: Sparse
    """(X, J): GPUs one lot of order j holds in flex cell x."""
    standing: FloatArray
    """[H^x] GPUs held already, shape (X,)."""
    draw_flex: IntArray
    """Flex cell of each draw: those that campaigns may load, shape (D,)."""
    draw_cost: FloatArray
    """Present value of one GPU drawn over the period, shape (D,)."""
    draw_dedicated: BoolArray
    """Whether it is dedicated capacity, shape (D,)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """[q] A spot offer in a period under a future."""

    offer: IntArray
    period: IntArray
    future: IntArray
    depth: FloatArray
    """[S̄] GPUs, depth × availability, shape (Q,)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Elastic:
    """Elastic use: stable GPUs in cells and spot GPUs, averaged over the period."""

    campaign: IntArray
    """Campaign of each instance, shape (E,)."""
    future: IntArray
    work: FloatArray
    """[W] Reference GPU-hours to be done, shape (E,)."""
    stable_instance: IntArray
    """Instance of each stable use, shape (A,)."""
    stable_cell: IntArray
    stable_work: FloatArray
    """Reference GPU-hours done by one GPU, shape (A,)."""
    stable_dedicated: BoolArray
    """Whether it insists on dedicated tenancy, shape (A,)."""
    spot_instance: IntArray
    """Instance of each spot use, shape (B,)."""
    spot_cell: IntArray
    """Index into ``Spot``, shape (B,)."""
    spot_work: FloatArray
    spot_cost: FloatArray
    """Present value of one GPU, shape (B,)."""
    width_instance: IntArray
    """Instance of each width row, shape (V,)."""
    width_period: IntArray
    width: FloatArray
    """[G] GPUs at most, shape (V,)."""
    spot_share: FloatArray
    """[σ] Most of the work done that may be on spot, shape (E,)."""
    spot_work_room: FloatArray
    """Reference GPU-hours that may still be on spot when nothing is dropped, shape (E,)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gangs:
    """[m] Modes of gangs: place, size and start."""

    campaign: IntArray
    """Campaign of each instance, shape (G,)."""
    future: IntArray
    work: FloatArray
    """Reference GPU-hours to be done, shape (G,)."""
    mode_instance: IntArray
    """Instance of each mode, shape (M,)."""
    mode_pool: IntArray
    mode_spot: IntArray
    """Spot offer, −1 on stable capacity, shape (M,)."""
    mode_gpus: IntArray
    mode_start: IntArray
    """Period at whose first boundary it starts, shape (M,)."""
    mode_hours: FloatArray
    """[D] Wall-clock hours, shape (M,)."""
    mode_cost: FloatArray
    """Present value of its spot use, 0 on stable capacity, shape (M,)."""
    mode_dedicated: BoolArray
    stable: Sparse
    """(N, M): GPUs a mode uses of a cell's stable capacity."""
    spot: Sparse
    """(Q, M): GPUs a mode uses of a spot offer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drops:
    """[z] Campaign instances that may be left undone, wholly or in part."""

    elastic: IntArray
    """Elastic instance of each elastic drop, shape (Z1,)."""
    elastic_cost: FloatArray
    """Present value of dropping all of it, shape (Z1,)."""
    gang: IntArray
    """Gang instance of each gang drop, shape (Z2,)."""
    gang_cost: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Backfill:
    """[y] Sales of idle firm capacity."""

    buyer: IntArray
    cell: IntArray
    cost: FloatArray
    """Present value of selling one GPU: negative, shape (Y,)."""
    depth_row: IntArray
    """Depth row of each sale, −1 when its buyer has no limit, shape (Y,)."""
    depth_buyer: IntArray
    """Buyer of each depth row, shape (R,)."""
    depth_period: IntArray
    depth: FloatArray
    """[Ȳ] GPUs, shape (R,)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LotsActive:
    """Lots of an offer active in a period, where the offer has a limit."""

    offer: IntArray
    period: IntArray
    orders: Sparse
    """(rows, J): 1 where order j is active in the row's period."""
    most: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Ladder:
    """Expiry windows."""

    window: tuple[str, ...]
    """``start/end`` of each row's window, ISO dates."""
    orders: Sparse
    """(rows, J): GPUs expiring less share × GPUs committed, per lot."""
    limit: FloatArray
    """Exempt GPUs, plus share × held at the start, less held expiring, shape (rows,)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Company limits; infinity or no rows where there is none."""

    spot_share_max: float
    work_so_far: float
    """Reference GPU-hours done before the horizon."""
    spot_work_so_far: float
    """Of these, on spot."""
    provider: IntArray
    """Provider of each provider row, shape (rows,)."""
    provider_future: IntArray
    provider_share: FloatArray
    provider_room: FloatArray
    """Share × all GPU-hours before the horizon, less the provider's own, shape (rows,)."""
    pool_provider: IntArray
    """Provider of each pool, shape (P,)."""
    spot_pool: IntArray
    """Pool of each spot offer."""
    committed_max: float
    limit_cells: Sparse
    """(rows, N): 1 where the cell counts towards the row's hardware limit."""
    limit_label: tuple[tuple[str, str], ...]
    """Hardware and period of each row."""
    limit_max: FloatArray
    budget_label: tuple[str, ...]
    budget_orders: Sparse
    """(rows, J): undiscounted payments of one lot in the row's span."""
    budget_setups: Sparse
    """(rows, K)."""
    budget_on_demand: Sparse
    """(rows, I)."""
    budget_draws: Sparse
    """(rows, D)."""
    budget_elastic_spot: Sparse
    """(rows, B)."""
    budget_modes: Sparse
    """(rows, M)."""
    budget_max: FloatArray
    """Budget less what held commitments are paid in the span, shape (rows,)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramData:
    """The whole program."""

    labels: Labels
    probability: FloatArray
    """Probability of each future, shape (F,)."""
    orders: Orders
    cells: Cells
    levels: Levels
    on_demand: OnDemand
    flex: Flex
    spot: Spot
    elastic: Elastic
    gangs: Gangs
    drops: Drops
    backfill: Backfill
    lots_active: LotsActive
    ladder: Ladder
    policy: Policy

    def __post_init__(self) -> None:
        """Make every array read-only."""
        for group in fields(self):
            _freeze(getattr(self, group.name))


def _freeze(value: object) -> None:
    if isinstance(value, np.ndarray):
        value.setflags(write=False)
    elif isinstance(value, dict):
        for item in value.values():
            _freeze(item)
    elif hasattr(value, "__dataclass_fields__"):
        for item in fields(value):  # type: ignore[arg-type]
            _freeze(getattr(value, item.name))
