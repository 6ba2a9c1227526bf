"""Where the shipped scenarios are, and how their scripts are loaded."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

SCENARIOS = Path(__file__).parents[2] / "scenarios"


@pytest.fixture
def scenarios() -> Path:
    """Folder of the shipped scenarios."""
    return SCENARIOS


@pytest.fixture
def script() -> Iterator[Callable[[str], ModuleType]]:
    """Load a script of the folder by its path, as a module of its own."""
    names: list[str] = []

    def load(path: str) -> ModuleType:
        name = "shipped_" + path.removesuffix(".py").replace("/", "_").replace("-", "_")
        spec = importlib.util.spec_from_file_location(name, SCENARIOS / path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module  # dataclasses look their module up
        names.append(name)
        spec.loader.exec_module(module)
        return module

    yield load
    for name in names:
        sys.modules.pop(name, None)
