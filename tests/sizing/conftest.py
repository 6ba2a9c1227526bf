"""A small scenario whose campaigns state workloads."""

from __future__ import annotations

import copy

import pytest
import yaml

CONTENT = yaml.safe_load(
    """
name: workloads
horizon: {start: 2026-01-05, end: 2026-06-01, step: month}
hardware:
  - {id: H100, memory_gb: 80, gpus_per_node: 8, peak_tflops: 989, node_mtbf_hours: 6334}
  - {id: A100, memory_gb: 80, gpus_per_node: 8, peak_tflops: 312, relative_speed: 0.4}
pools:
  - {id: east, provider: aws, region: us, hardware: H100}
  - {id: west, provider: vast-ai, region: us, hardware: A100}
offers:
  - {id: east-od, pool: east, kind: on_demand, price: 3.0, max_gpus: 512}
  - {id: west-od, pool: west, kind: on_demand, price: 1.5, max_gpus: 512}
  - {id: east-spot, pool: east, kind: spot, price: 1.2, max_gpus: 64, node_mtbr_hours: 200}
  - {id: east-1q, pool: east, kind: reserved, price: 2.0, tenor: 3 months, lot_gpus: 8,
     max_lots: 8, upfront: 0.5}
preemption_classes:
  - {id: steady, spot_share_max: 0, checkpoint_minutes: 3, restart_minutes: 10}
  - {id: tolerant, spot_share_max: 0.5, checkpoint_minutes: 3, restart_minutes: 10}
campaigns:
  - id: pretrain
    shape: gang
    preemption_class: steady
    earliest: 2026-02-05
    deadline: 2026-04-05
    waste: 0.1
    storage_gb: 5000
    egress_gb: 100
    staff_cost: 1000
    workload:
      run: {params: 13e9, tokens: 130e9}
      mfu: {low: 0.35, expected: 0.4, high: 0.5}
      time_limit: 30 days
  - id: tuning
    shape: elastic
    preemption_class: tolerant
    max_gpus: 32
    earliest: 2026-01-05
    deadline: 2026-02-05
    workload:
      run: {method: lora, params: 70e9, tokens: 1e9, runs: 5}
      mfu: 0.35
      cadence: {every: 2 months, count: 2}
"""
)


@pytest.fixture
def content():
    """Return the scenario as plain values, to be changed."""
    return copy.deepcopy(CONTENT)


@pytest.fixture
def write(tmp_path):
    """Return a function that writes plain values as a scenario file."""

    def written(values, name="scenario.yaml"):
        path = tmp_path / name
        path.write_text(yaml.safe_dump(values, sort_keys=False))
        return path

    return written
