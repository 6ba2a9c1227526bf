"""How the tests here run the command line: as a user does, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data"


@pytest.fixture
def data():
    """Folder with this test folder's scenarios."""
    return DATA


@pytest.fixture
def gpuladder(tmp_path):
    """Run the command line in an empty folder and return the completed process."""

    def run(*arguments, environment=None, timeout=120, **options):
        return subprocess.run(
            [sys.executable, "-m", "gpuladder", *(str(argument) for argument in arguments)],
            cwd=options.pop("cwd", tmp_path),
            env=os.environ | (environment or {}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            **options,
        )

    return run


@pytest.fixture
def document():
    """Parse stdout as exactly one JSON document."""

    def parse(done):
        return json.loads(done.stdout, parse_constant=pytest.fail)

    return parse
