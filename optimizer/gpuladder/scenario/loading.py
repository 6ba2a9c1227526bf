"""Load a scenario: read it, lay overrides over it, check it, report all that is wrong at once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gpuladder.errors import Problem, ScenarioError, Severity
from gpuladder.scenario.checks import run_checks
from gpuladder.scenario.checks.context import Context
from gpuladder.scenario.overrides import lay_over, set_value
from gpuladder.scenario.reading import load_raw
from gpuladder.scenario.shape import shape
from gpuladder.scenario.source import Locations, RawDocument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpuladder.scenario.schema import Scenario


@dataclass(frozen=True)
class Loaded:
    """A checked scenario, what is doubtful about it, and where its values were written."""

    scenario: Scenario
    warnings: tuple[Problem, ...]
    locations: Locations


def load(
    path: str | Path, *, overrides: Sequence[str] = (), overlays: Sequence[str | Path] = ()
) -> Loaded:
    """Load and check a scenario.

    Parameters
    ----------
    path : str or pathlib.Path
        A YAML file, a folder with ``scenario.yaml`` and CSV files, or an ``.xlsx`` workbook.
    overrides : sequence of str
        Assignments such as ``policy.tail_charge=0.5`` or ``offers.od.price=3``, applied last.
    overlays : sequence of path
        YAML files laid over the scenario, in order.

    Returns
    -------
    Loaded
        The scenario and the warnings.

    Raises
    ------
    ScenarioError
        When anything is wrong; ``problems`` holds all errors first, then all warnings.
    """
    document = load_raw(Path(path))
    problems: list[Problem] = []
    for overlay in overlays:
        try:
            lay_over(document.root, Path(overlay))
        except ScenarioError as error:
            problems += error.problems
    for assignment in overrides:
        try:
            set_value(document.root, assignment)
        except ScenarioError as error:
            problems += error.problems
    if problems:
        raise ScenarioError(problems)
    return check(document)


def check(document: RawDocument) -> Loaded:
    """Check a raw scenario; see ``load``."""
    locations = Locations(document.root)
    shaped = shape(document.root, locations)
    context = Context(locations, shaped.sections, shaped.rows)
    problems = [
        *document.notices,
        *shaped.problems,
        *run_checks(context, is_whole=shaped.is_whole),
    ]
    errors = [problem for problem in problems if problem.severity is Severity.ERROR]
    warnings = [problem for problem in problems if problem.severity is Severity.WARNING]
    if errors:
        raise ScenarioError([*errors, *warnings])
    return Loaded(shaped.scenario(), tuple(warnings), locations)
