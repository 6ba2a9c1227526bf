"""Node or rack, and where a further device stops paying."""

from __future__ import annotations

import pytest

from gpuladder.sizing import scaling
from gpuladder.sizing.placement import Communication, admits, fabric


@pytest.mark.parametrize(
    ("footprint", "communication", "reach", "decided_by"),
    [
        (500, Communication.CONSTANT, "node", "memory"),
        (500, Communication.PERIODIC, "node", "memory"),
        (600, Communication.PERIODIC, "node", "communication"),
        (600, Communication.CONSTANT, "rack", "both"),
        (512, Communication.CONSTANT, "node", "memory"),
    ],
)
def test_a_run_crosses_the_node_only_if_both_tests_say_so(
    footprint, communication, reach, decided_by
):
    """A team would pay for a rack it does not need, or stall on links that are too slow."""
    verdict = fabric(footprint, 512.0, communication)
    assert (verdict.fabric, verdict.decided_by) == (reach, decided_by)
    assert decided_by.replace("both", "both tests") in verdict.reason


def test_only_racks_admit_what_needs_a_rack():
    """A rack run would be placed in pools whose links end at the node."""
    assert admits("rack", "rack")
    assert admits("rack", "node")
    assert admits("node", "node")
    assert not admits("node", "rack")


def test_each_further_device_is_judged_by_what_it_adds():
    """Devices would be bought that add next to nothing.

    8 GPUs do 80, 16 do 144 (the 8 more add 8 each, 0.8 of one), 32 do 192 (16 more add 3 each,
    0.3), 64 do 180: less than before.
    """
    points = scaling.curve({32: 192, 8: 80, 64: 180, 16: 144})
    assert [p.gpus for p in points] == [8, 16, 32, 64]
    assert [p.efficiency for p in points] == pytest.approx([1, 0.9, 0.6, 0.28125])
    assert [p.marginal_share for p in points] == pytest.approx([1, 0.8, 0.3, -0.0375])
    assert scaling.last_paying(points).gpus == 16
    assert scaling.last_paying(points, 0.25).gpus == 32


def test_a_share_of_communication_bounds_the_speed_up():
    """A run would be promised to finish in half the time on twice the GPUs.

    A tenth of the step at 8 GPUs does not shrink (Amdahl): at 16 a step takes 0.9 / 2 + 0.1 = 0.55,
    so throughput is 8 / 0.55 and efficiency 1 / 1.1.
    """
    rates = scaling.amdahl_throughput([8, 16], 0.1)
    assert rates == pytest.approx({8: 8.0, 16: 8 / 0.55})
    assert scaling.curve(rates)[1].efficiency == pytest.approx(1 / 1.1)


def test_a_value_of_time_buys_a_larger_cluster():
    """The size would not follow what an hour of waiting costs.

    At 1 a GPU-hour, size 8 costs 8 an hour of 1/8 of the work: 8/8 = 1; size 16 does 1.75 times as
    much: 16/14 = 1.14. An hour worth 100: 108/8 = 13.5 against 116/14 = 8.3.
    """
    points = scaling.curve({8: 8, 16: 14})
    assert scaling.cheapest_size(points, 1.0, 0.0).gpus == 8
    assert scaling.cheapest_size(points, 1.0, 100.0).gpus == 16


def test_gang_scaling_lies_on_the_curve_and_is_not_extrapolated():
    """A size between two measured ones would be taken as perfect, one beyond as still better."""
    points = scaling.curve({8: 8, 16: 12, 32: 16})
    assert scaling.gang_scaling(points, [8, 12, 16, 64]) == pytest.approx(
        {8: 1.0, 12: 0.875, 16: 0.75, 64: 0.5}
    )


def test_a_curve_without_work_is_refused():
    """Division by a throughput of nothing would pass as a curve."""
    with pytest.raises(ValueError, match="does some work"):
        scaling.curve({8: 0.0, 16: 4.0})
