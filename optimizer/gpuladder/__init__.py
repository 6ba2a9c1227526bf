"""Commitment-structure optimiser for GPU capacity.

    import gpuladder

    result = gpuladder.solve("scenarios/quickstart.yaml")
    folder = gpuladder.write_run(result, "reports")

The names below are the public interface; everything else may change between versions. They are
loaded when they are first used, so that an import costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpuladder.analysis.result import Result
    from gpuladder.errors import GpuladderError, ScenarioError
    from gpuladder.pipeline import read_run, solve, write_run
    from gpuladder.plan import Plan
    from gpuladder.scenario.loading import load
    from gpuladder.scenario.schema import Scenario
    from gpuladder.version import __version__

_HOME = {
    "GpuladderError": "gpuladder.errors",
    "Plan": "gpuladder.plan",
    "Result": "gpuladder.analysis.result",
    "Scenario": "gpuladder.scenario.schema",
    "ScenarioError": "gpuladder.errors",
    "__version__": "gpuladder.version",
    "load": "gpuladder.scenario.loading",
    "read_run": "gpuladder.pipeline",
    "solve": "gpuladder.pipeline",
    "write_run": "gpuladder.pipeline",
}

__all__ = [
    "GpuladderError",
    "Plan",
    "Result",
    "Scenario",
    "ScenarioError",
    "__version__",
    "load",
    "read_run",
    "solve",
    "write_run",
]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used."""
    if name not in _HOME:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return __all__
