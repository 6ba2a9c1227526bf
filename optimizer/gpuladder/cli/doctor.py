"""``gpuladder doctor``: what is installed, and whether the solver solves."""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata
from pathlib import Path

import click

from gpuladder.cli.console import Exit
from gpuladder.cli.options import common, console_of
from gpuladder.version import __version__

PACKAGES = (
    "click",
    "highspy",
    "numpy",
    "openpyxl",
    "pydantic",
    "pyomo",
    "PyYAML",
    "XlsxWriter",
)


@click.command(short_help="Show versions, and whether the solver works.")
@common
@click.pass_context
def doctor(context: click.Context) -> None:
    """Show versions and paths, and let the solver solve a small scenario.

    Exit code 1 when the solver gives a wrong answer.
    """
    console = console_of(context)
    facts = {
        "gpuladder": __version__,
        "installed_in": str(Path(__file__).parents[1]),
        "python": sys.version.split()[0],
        "interpreter": sys.executable,
        "platform": platform.platform(),
        "cores": str(os.cpu_count()),
    } | {name: _version(name) for name in PACKAGES}
    expected, found = smoke_test()
    healthy = found is not None and abs(found - expected) <= 1e-6 * abs(expected)
    console.document(
        {
            "facts": facts,
            "solver": {"expected_cost": expected, "cost": found, "healthy": healthy},
        }
    )
    console.data("\n".join(f"{name:<14}{value}" for name, value in facts.items()))
    console.data(f"{'solver':<14}{'works' if healthy else f'wrong: {found} for {expected}'}")
    context.exit(Exit.DONE if healthy else Exit.ANSWER_IS_NO)


def smoke_test() -> tuple[float, float | None]:
    """Solve a scenario whose answer is known without a computer; return expected and found cost.

    Eight GPUs are needed for 30 days. Reserving them costs 8 × 720 h × 1.00 = 5,760; on demand the
    same hours cost three times as much.
    """
    from gpuladder.scenario.schema import Scenario
    from gpuladder.solving import solve_scenario

    solved = solve_scenario(Scenario.model_validate(_SMOKE))
    return 5760.0, solved.plan.objective


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "missing"


_SMOKE = {
    "name": "doctor",
    "horizon": {"start": "2026-06-01", "end": "2026-07-01", "step": "day"},
    "hardware": [{"id": "gpu", "memory_gb": 80, "gpus_per_node": 8, "peak_tflops": 1000}],
    "pools": [{"id": "pool", "provider": "p", "region": "r", "hardware": "gpu"}],
    "preemption_classes": [{"id": "steady", "spot_share_max": 0}],
    "offers": [
        {"id": "metered", "pool": "pool", "kind": "on_demand", "price": 3},
        {
            "id": "standing",
            "pool": "pool",
            "kind": "reserved",
            "tenor": "30 days",
            "lot_gpus": 8,
            "price": 1,
        },
    ],
    "campaigns": [
        {
            "id": "steady-work",
            "shape": "elastic",
            "preemption_class": "steady",
            "gpu_hours": 5760,
            "max_gpus": 8,
            "earliest": "2026-06-01",
            "deadline": "2026-07-01",
        }
    ],
}
