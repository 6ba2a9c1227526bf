"""Load a scenario: read it, lay overrides over it, check it, and report all that is wrong at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gpuladder.errors import Problem, ScenarioError, Severity
from gpuladder.scenario.reading import load_raw
from gpuladder.scenario.schema import Scenario
from gpuladder.scenario.shape import shape
from gpuladder.scenario.source import Locations, RawDocument


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
    return check(load_raw(Path(path)))


def check(document: RawDocument) -> Loaded:
    """Check a raw scenario; see ``load``."""
    locations = Locations(document.root)
    shaped = shape(document.root, locations)
    problems = [*document.notices, *shaped.problems]
    errors = [problem for problem in problems if problem.severity is Severity.ERROR]
    warnings = [problem for problem in problems if problem.severity is Severity.WARNING]
    if errors:
        raise ScenarioError([*errors, *warnings])
    return Loaded(shaped.scenario(), tuple(warnings), locations)
