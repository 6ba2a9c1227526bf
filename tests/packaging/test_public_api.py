"""The public surface of ``import gpuladder``."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import pytest

import gpuladder

HEAVY = {"pyomo", "highspy", "numpy", "pydantic", "pandas", "xlsxwriter", "openpyxl", "yaml"}


def test_the_public_surface_is_small_and_real():
    """A name in the documentation would not exist, or a promise would be made by accident."""
    assert 0 < len(gpuladder.__all__) <= 10
    for name in gpuladder.__all__:
        assert getattr(gpuladder, name) is not None
    assert set(gpuladder.__all__) <= set(dir(gpuladder))


def test_an_unknown_name_is_an_attribute_error():
    """hasattr and completion would break on the lazy module."""
    assert not hasattr(gpuladder, "sovle")


@pytest.mark.parametrize("name", gpuladder.__all__)
def test_no_module_hides_a_public_name(name):
    """`gpuladder.solve(...)` would fail, depending on what was imported before."""
    assert find_spec(f"gpuladder.{name}") is None


def test_import_is_light():
    """Every script that imports the library would wait a second for what it may not use."""
    code = "import sys, gpuladder; print(*{name.split('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert HEAVY.isdisjoint(done.stdout.split())
