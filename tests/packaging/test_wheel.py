"""The built wheel, installed in a fresh environment, beside files with hostile names."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
HOSTILE_NAMES = ("models", "optimizer", "reports")


def run(*command, cwd):
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=240,
        env=clean,
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    built = run(
        sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, REPOSITORY,
        cwd=folder,
    )  # fmt: skip
    assert built.returncode == 0, built.stdout + built.stderr
    (path,) = folder.glob("gpuladder-*.whl")
    return path


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    """A new environment with the wheel; dependencies come from the one that runs the tests."""
    folder = tmp_path_factory.mktemp("fresh") / "environment"
    made = run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
    assert made.returncode == 0, made.stderr
    python = folder / "bin" / "python"
    installed = run(
        sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python,
        "install", "--no-deps", "--no-index", wheel, cwd=folder.parent,
    )  # fmt: skip
    assert installed.returncode == 0, installed.stderr
    packages = next((folder / "lib").glob("python*")) / "site-packages"
    # A folder named in a .pth file is searched, but its own .pth files (the editable install of
    # this repository among them) are not: what is imported is the wheel.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin"


@pytest.fixture
def hostile_folder(tmp_path):
    for name in HOSTILE_NAMES:
        (tmp_path / f"{name}.py").write_text(f"raise SystemExit('imported {name}.py')\n")
    return tmp_path


def test_both_packages_are_in_the_wheel_and_nothing_else(wheel):
    """A user would get a package without its mathematics, or with our tests in site-packages."""
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {
        "gpuladder",
        "gpuladder_models",
    }
    assert {"gpuladder/py.typed", "gpuladder_models/py.typed"} <= set(names)
    assert "gpuladder_models/FORMULATION.md" in names  # what `gpuladder explain C4` reads
    assert any(name.endswith("licenses/LICENSE") for name in names)


def is_cache(path):
    return any(part.startswith(".") or part == "__pycache__" for part in path.parts)


def test_the_wheel_holds_every_file_of_the_source(wheel):
    """A user would miss a module or a template that every developer has."""
    expected = {
        path.relative_to(root).as_posix()
        for root in (REPOSITORY / "optimizer", REPOSITORY / "models")
        for package in root.glob("gpuladder*")
        for path in package.rglob("*")
        if path.is_file() and not is_cache(path.relative_to(root))
    }
    assert expected <= set(zipfile.ZipFile(wheel).namelist())


def test_the_imported_package_is_the_wheel(environment, hostile_folder):
    """The guard below would guard nothing if it ran on the sources."""
    found = run(
        environment / "python",
        "-c",
        "import gpuladder, gpuladder_models; print(gpuladder.__file__, gpuladder_models.__file__)",
        cwd=hostile_folder,
    )
    assert found.returncode == 0, found.stderr
    assert found.stdout.count("site-packages") == 2
    assert str(REPOSITORY / "optimizer") not in found.stdout


@pytest.mark.parametrize(
    "command",
    [
        ("gpuladder", "--help"),
        ("gpuladder", "schema"),
        ("gpuladder", "doctor"),
        ("python", "-m", "gpuladder", "--help"),
        ("python", "-m", "gpuladder", "doctor", "--json"),
    ],
    ids=" ".join,
)
def test_the_command_line_works_beside_hostile_files(environment, hostile_folder, command):
    """A team with a models.py of its own could not start the program in its project folder."""
    program, *arguments = command
    done = run(environment / program, *arguments, cwd=hostile_folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "imported" not in done.stdout + done.stderr


def test_the_library_works_beside_hostile_files(environment, hostile_folder):
    """A notebook beside a models.py of its own could not import the library."""
    done = run(
        environment / "python",
        "-c",
        "import gpuladder\nfor name in gpuladder.__all__: getattr(gpuladder, name)",
        cwd=hostile_folder,
    )
    assert done.returncode == 0, done.stderr
