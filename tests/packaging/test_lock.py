"""The lock file: complete, hashed, and silent about where packages come from."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

REPOSITORY = Path(__file__).parents[2]
LOCK = (REPOSITORY / "requirements.lock").read_text()


def locked():
    return {
        canonicalize_name(match["name"])
        for match in re.finditer(r"^(?P<name>[A-Za-z0-9_.-]+)==\S+", LOCK, re.MULTILINE)
    }


def test_every_declared_dependency_is_locked():
    """A fresh install would take whatever version is newest that day."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    declared = [
        *project["project"]["dependencies"],
        *project["project"]["optional-dependencies"]["dev"],
        *project["build-system"]["requires"],
    ]
    names = {canonicalize_name(Requirement(text).name) for text in declared}
    assert names <= locked()


def test_every_pin_carries_hashes():
    """A tampered or swapped package would be installed without a word."""
    entries = re.split(r"^(?=[A-Za-z0-9])", LOCK, flags=re.MULTILINE)[1:]
    assert entries
    assert [entry.split()[0] for entry in entries if "--hash=sha256:" not in entry] == []


def test_the_lock_names_no_place():
    """An install behind a company mirror would reach for a host it must not talk to."""
    assert re.search(r"https?:|file:|--(extra-)?index|--find-links|--trusted-host", LOCK) is None
