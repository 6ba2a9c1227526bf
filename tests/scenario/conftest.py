"""A minimal scenario that is right in every way, and ways to spoil it."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import yaml

from gpuladder.errors import ScenarioError
from gpuladder.scenario.loading import load

MINIMAL: dict[str, Any] = {
    "name": "minimal",
    "horizon": {"start": "2026-07-06", "end": "2027-01-04", "step": "week"},
    "hardware": [{"id": "h100", "memory_gb": 80, "gpus_per_node": 8, "peak_tflops": 989}],
    "pools": [{"id": "east", "provider": "acme", "region": "us-east", "hardware": "h100"}],
    "offers": [
        {"id": "od", "pool": "east", "kind": "on_demand", "price": 3.0},
        {
            "id": "res",
            "pool": "east",
            "kind": "reserved",
            "price": 2.0,
            "tenor": "13 weeks",
            "lot_gpus": 8,
            "max_lots": 8,
        },
    ],
    "preemption_classes": [{"id": "critical", "spot_share_max": 0}],
    "campaigns": [
        {
            "id": "train",
            "shape": "elastic",
            "preemption_class": "critical",
            "gpu_hours": 1000,
            "max_gpus": 64,
            "earliest": "2026-07-13",
            "deadline": "2026-08-10",
        }
    ],
}
GANG = {
    "id": "train",
    "shape": "gang",
    "preemption_class": "critical",
    "gpu_hours": 1000,
    "gpus": 16,
    "earliest": "2026-07-13",
    "deadline": "2026-08-10",
}


@pytest.fixture
def raw():
    """The minimal scenario as plain values, to be changed."""
    return copy.deepcopy(MINIMAL)


@pytest.fixture
def found(tmp_path):
    """Return all problems of plain values, each as ``(severity, code, where, text)``."""

    def problems(content: dict[str, Any]):
        path = tmp_path / "scenario.yaml"
        path.write_text(yaml.safe_dump(content, sort_keys=False))
        try:
            return list(load(path).warnings)
        except ScenarioError as error:
            return list(error.problems)

    return problems


@pytest.fixture
def refused(tmp_path):
    """Load a text that must be refused and return its problems."""

    def problems(text: str | bytes, name: str = "scenario.yaml"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        with pytest.raises(ScenarioError) as caught:
            load(path)
        return list(caught.value.problems)

    return problems
