"""The garbage collector stays away while a model is built, and comes back for what is left."""

from __future__ import annotations

import gc
import weakref

import pytest
from tests.unit.programs import sparse_calendar

from gpuladder.program import make_program_data
from gpuladder_models import collector
from gpuladder_models.build import build_model
from gpuladder_models.collector import collector_off


@pytest.mark.parametrize("enabled", [True, False])
def test_collector_is_left_as_it_was(enabled: bool) -> None:
    """A library would switch off the collector of the program that calls it."""

    def stopped() -> None:
        with collector_off():
            assert not gc.isenabled()
            raise KeyboardInterrupt

    try:
        gc.enable() if enabled else gc.disable()
        with pytest.raises(KeyboardInterrupt):
            stopped()
        assert gc.isenabled() is enabled
    finally:
        gc.enable()


def test_models_no_longer_in_use_are_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that solves many variants would fill the memory with models of the past."""
    monkeypatch.setattr(collector, "MOST_UNSEEN", 5000)
    data = make_program_data(sparse_calendar())
    models = [weakref.ref(build_model(data)) for _ in range(60)]
    assert sum(model() is not None for model in models) < 30
