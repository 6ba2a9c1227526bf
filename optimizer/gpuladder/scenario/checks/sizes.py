"""Sizes that the solver's arithmetic cannot tell from nothing, or from everything."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpuladder.errors import Problem
    from gpuladder.scenario.checks.context import Context
    from gpuladder.scenario.source import Key

LEAST_GPU_HOURS = 0.1
"""Less work is lost in the tolerances of the solver: it would be done, or not, by chance."""
MOST_GPUS = 1e9
"""More GPUs than anybody has; beyond, single GPUs are lost in the tolerances of the solver."""

_COUNTED = {
    "hardware": ("gpus_per_node",),
    "offers": ("lot_gpus", "max_gpus"),
    "campaigns": ("gpus", "max_gpus", "job_gpus"),
    "commitments": ("gpus",),
    "backfill": ("max_gpus",),
    "demand": ("gpus",),
}


def check(context: Context) -> Iterator[Problem]:
    """Yield campaigns with next to no work, and numbers of GPUs beyond any fleet."""
    for index, campaign in context.campaigns:
        if campaign.gpu_hours < LEAST_GPU_HOURS:
            yield context.error(
                "GL-S410",
                ("campaigns", index, "gpu_hours"),
                f"`{campaign.id}` has {campaign.gpu_hours:g} GPU-hours of work, less than "
                f"{LEAST_GPU_HOURS:g}",
                why="so little work is lost in the solver's tolerances",
                fix="check the unit, or take the campaign out",
            )
    for path, gpus in _gpus(context):
        if gpus > MOST_GPUS:
            yield context.error(
                "GL-S111",
                path,
                f"{gpus:g} GPUs are more than {MOST_GPUS:g}",
                why="beside so many, single GPUs are lost in the solver's tolerances",
                fix="check the number; to say that there is no limit, leave the key out",
            )


def _gpus(context: Context) -> Iterator[tuple[tuple[Key, ...], float]]:
    """Yield every number of GPUs and its place, the largest of a list."""
    for table, keys in _COUNTED.items():
        for index, row in context.table(table):
            for key in keys:
                value = getattr(row, key, None)
                if value is not None:
                    largest = max(value) if isinstance(value, tuple) else value
                    yield (table, index, key), largest
    policy = context.policy
    if policy.committed_gpus_max is not None:
        yield ("policy", "committed_gpus_max"), policy.committed_gpus_max
    for index, limit in enumerate(policy.hardware_limits):
        path = ("policy", "hardware_limits", index, "max_committed_gpus")
        yield path, limit.max_committed_gpus
