"""Checks of a scenario beyond single values: one concern a file, all problems collected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuladder.errors import Problem, Severity
from gpuladder.scenario.checks import (
    carried,
    dates,
    duplicates,
    expiry,
    limits,
    magnitude,
    owned,
    placement,
    prices,
    references,
    series,
    shares,
    sizes,
    unbounded,
    unused,
    workloads,
)

if TYPE_CHECKING:
    from gpuladder.scenario.checks.context import Context

ROW_CHECKS = (
    references,
    duplicates,
    dates,
    shares,
    sizes,
    prices,
    magnitude,
    owned,
    carried,
    workloads,
)
"""Look at rows one by one or in pairs: run on whatever rows are valid."""
WHOLE_CHECKS = (placement, series, limits, unbounded, unused, expiry)
"""Look at how everything fits together: a missing row would make them cry wolf."""


def run_checks(context: Context, *, is_whole: bool) -> list[Problem]:
    """Return all problems of the valid parts of a scenario.

    Parameters
    ----------
    context : Context
        The valid parts.
    is_whole : bool
        Whether every row has the right shape; if not, or if ids are unknown, the checks that need
        the whole scenario are left for the next run.
    """
    problems = [problem for each in ROW_CHECKS for problem in each.check(context)]
    errors = [problem for problem in problems if problem.severity is Severity.ERROR]
    if is_whole and not any(problem.code in _BREAKING for problem in errors):
        problems += [problem for each in WHOLE_CHECKS for problem in each.check(context)]
    return problems


_BREAKING = {
    "GL-S101",
    "GL-S102",
    "GL-S201",
    "GL-S211",
    "GL-S212",
    "GL-S301",
    "GL-S302",
    "GL-S305",
    "GL-S512",
    "GL-S513",
    "GL-S514",
}
"""Codes after which the whole cannot be judged."""
