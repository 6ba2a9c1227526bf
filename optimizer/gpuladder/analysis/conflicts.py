"""Limits that cannot all be kept: smallest sets of them, from the linear program.

The elastic programs of ``why_not`` say how much would have to give way; a conflict says what stands
against what. It is a proof of its own: the limits named are impossible together whatever the rest
of the scenario says. Where the linear program has a plan and the whole one has none, only whole
lots, nodes and runs are in the way; there is no smallest set to name then.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from gpuladder.analysis.readings import period_words
from gpuladder.analysis.result import ConflictRow, Infeasibility
from gpuladder.analysis.shadow_prices_limits import Limit, Rows, row_limits
from gpuladder.analysis.why_not import SECONDS, why_infeasible
from gpuladder.compiled import compile_model
from gpuladder.plan import Termination
from gpuladder.program import make_program_data
from gpuladder.solver import Program
from gpuladder.solving import solve_options
from gpuladder_models.build import build_model
from gpuladder_models.names import Kind, component

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gpuladder.compiled import CompiledModel
    from gpuladder.scenario.schema import Scenario

MOST_CONFLICTS = 5
"""Sets to look for; the next search does without the limits of those found."""


@dataclass(frozen=True, slots=True)
class _Found:
    """What the linear program says."""

    is_feasible: bool
    conflicts: tuple[frozenset[int], ...]
    """Rows of each."""


def explain_infeasible(scenario: Scenario, *, seconds: float = SECONDS) -> Infeasibility:
    """Return who is short, the smallest fixes, and which limits stand against each other.

    Parameters
    ----------
    scenario : Scenario
        One whose program has no solution.
    seconds : float
        Most seconds for each elastic program, and for all conflicts together.
    """
    short = why_infeasible(scenario, seconds=seconds)
    data = make_program_data(scenario)
    compiled = compile_model(build_model(data))
    rows = Rows(scenario, data, compiled, np.ones(compiled.num_columns))
    limits = [*row_limits(rows), *_gang_limits(rows)]
    found = _conflicts(scenario, compiled, limits, time.monotonic() + seconds)
    return replace(
        short,
        conflicts=tuple(
            row
            for number, members in enumerate(found.conflicts, start=1)
            for row in _rows(number, members, limits)
        ),
        is_integrality_only=found.is_feasible,
    )


def _gang_limits(rows: Rows) -> Iterable[Limit]:
    gangs, names = rows.data.gangs, rows.data.labels.campaigns
    for position, instance in rows.of("gang_choice"):
        name = names[gangs.campaign[instance]]
        yield Limit(
            limit="gang_choice",
            key=name,
            unit="run",
            thing=f"run of {name}",
            rows=np.array([position], np.int32),
            value=1.0,
        )


def _conflicts(
    scenario: Scenario, compiled: CompiledModel, limits: list[Limit], stop: float
) -> _Found:
    """Look for conflicts one after another, each without the limits of those before it."""
    own = {int(row) for limit in limits for row in limit.rows}
    program = Program(replace(compiled, is_integer=np.zeros_like(compiled.is_integer)))
    found: list[frozenset[int]] = []
    while len(found) < MOST_CONFLICTS and (left := stop - time.monotonic()) > 0.0:
        options = solve_options(scenario).model_copy(update={"time_limit_seconds": left})
        ended = program.solve(options).termination
        if ended is not Termination.INFEASIBLE:
            return _Found(not found and ended is Termination.GAP_REACHED, tuple(found))
        rows, _ = program.conflict(left)
        members = frozenset(own & set(rows.tolist()))
        if not members:
            break
        found.append(members)
        freed = np.array(sorted(members), np.int32)
        free = np.full(len(freed), np.inf)
        program.set_rows(freed, -free, free)
    return _Found(is_feasible=False, conflicts=tuple(found))


def _rows(number: int, members: frozenset[int], limits: list[Limit]) -> Iterable[ConflictRow]:
    """Return a row for each limit in a conflict, its periods together."""
    together: dict[tuple[str, str], list[Limit]] = {}
    for limit in limits:
        if members & set(limit.rows.tolist()):
            together.setdefault((limit.limit, limit.key), []).append(limit)
    for (name, key), parts in together.items():
        yield ConflictRow(conflict=number, limit=name, key=key, reading=_reading(parts))


def _reading(parts: list[Limit]) -> str:
    """Return a limit in the words of the registry, with its value and its periods."""
    first = parts[0]
    title = component(first.limit, Kind.CONSTRAINT).title
    values = sorted({part.value for part in parts if part.value is not None})
    size = ""
    if values and values != [0.0]:  # supply has to cover use also where nothing is demanded
        span = f"{values[0]:,.6g}"
        if len(values) > 1:
            span += f" to {values[-1]:,.6g}"
        size = f", {span} {first.unit}{'' if values == [1.0] else 's'}"
    days = [(part.period, part.until) for part in parts if part.period and part.until]
    when = f", {period_words(days[0][0], days[-1][1])}" if days else ""
    return f"{title}: {first.key}{size}{when}"
