"""The garbage collector comes back as it was."""

import gc

import pytest

from gpuladder_models.collector import collector_off


@pytest.fixture(autouse=True)
def _collecting():
    yield
    gc.enable()
    gc.unfreeze()


@pytest.mark.parametrize("was_on", [True, False])
def test_it_is_off_inside_and_as_before_outside(was_on):
    """Without it a caller's process would collect no garbage for the rest of its life."""
    (gc.enable if was_on else gc.disable)()
    with collector_off():
        assert not gc.isenabled()
    assert gc.isenabled() is was_on


def test_it_is_back_after_a_failure():
    """Without it one malformed scenario would switch collection off for good."""
    with pytest.raises(KeyError), collector_off():
        {}["missing"]
    assert gc.isenabled()


def test_what_was_made_can_still_be_collected():
    """Without it every solved program would stay in memory."""

    class Cycle:
        count = 0

        def __init__(self):
            self.me = self

        def __del__(self):
            Cycle.count += 1

    with collector_off():
        Cycle()
    gc.collect()
    assert Cycle.count == 1
    assert gc.get_freeze_count() == 0


def test_objects_frozen_by_the_caller_stay_frozen():
    """Without it a server that froze its objects before forking would lose their sharing."""
    gc.freeze()
    with collector_off():
        pass
    assert gc.get_freeze_count() > 0
