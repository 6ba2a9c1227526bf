"""Run folders: whole or not at all, never over another, and read back."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gpuladder.errors import ReportError
from gpuladder.report import run_folder
from gpuladder.report.run_folder import find_run, read_run, slug, write_run
from gpuladder.scenario.fingerprint import fingerprint

NOW = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)


def test_holds_everything_about_an_answer(result, tmp_path: Path) -> None:
    """A run could not be checked, shown or repeated later."""
    folder = write_run(result, tmp_path, "the log", {"schema": "x", "name": "é"}, now=NOW)
    assert folder == tmp_path / "small" / "20260105T093000Z"
    names = {path.name for path in folder.iterdir()}
    assert names == {
        "plan.json",
        "result.json",
        "scenario.resolved.yaml",
        "tables",
        "report.xlsx",
        "solver.log",
    }
    assert (folder / "solver.log").read_text() == "the log"
    document = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    assert document == {"schema": "x", "name": "é"}
    assert (folder / "tables" / "commitments.csv").is_file()
    assert (folder / "tables" / "inputs_offers.csv").is_file()


def test_never_over_another_run(result, tmp_path: Path) -> None:
    """The plan that was signed on could be overwritten by a later experiment."""
    first = write_run(result, tmp_path, "first", {}, now=NOW)
    second = write_run(result, tmp_path, "second", {}, now=NOW)
    assert first != second
    assert (first / "solver.log").read_text() == "first"
    assert (second / "solver.log").read_text() == "second"
    assert (tmp_path / "small" / "latest").read_text().strip() == second.name


def test_a_name_taken_in_the_meantime_is_left_alone(result, tmp_path: Path, monkeypatch) -> None:
    """Two solves that end in the same second would destroy each other's run."""
    taken = tmp_path / "small" / "20260105T093000Z"
    real_exists = Path.exists

    def exists(path: Path) -> bool:
        """Let another run take the name right after it was found free."""
        if path == taken and not real_exists(path):
            path.mkdir()
            (path / "plan.json").write_text("another run's")
            return False
        return real_exists(path)

    monkeypatch.setattr(Path, "exists", exists)
    folder = write_run(result, tmp_path, "", {}, now=NOW)
    assert folder.name == "20260105T093000Z-2"
    assert (taken / "plan.json").read_text() == "another run's"


@pytest.mark.parametrize(
    ("failing", "error"),
    [
        ("write_workbook", OSError(28, "No space left on device")),
        ("write_csv_files", OSError(5, "Input/output error")),
        ("write_workbook", RuntimeError("a fault")),
        ("write_workbook", KeyboardInterrupt()),
    ],
)
def test_nothing_half_written_is_left(result, tmp_path: Path, monkeypatch, failing, error) -> None:
    """A full disk would leave a run folder that looks complete and is not."""

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(run_folder, failing, fail)
    expected = ReportError if isinstance(error, OSError) else type(error)
    with pytest.raises(expected):
        write_run(result, tmp_path, "", {}, now=NOW)
    assert list((tmp_path / "small").iterdir()) == []


def test_a_failed_run_leaves_the_latest_one_in_place(result, tmp_path: Path, monkeypatch) -> None:
    """After a failed write the pointer would lead nowhere."""
    good = write_run(result, tmp_path, "", {}, now=NOW)

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(run_folder, "write_workbook", fail)
    with pytest.raises(ReportError, match="No space left"):
        write_run(result, tmp_path, "", {}, now=NOW)
    assert find_run(tmp_path / "small") == good


def test_round_trip(result, tmp_path: Path) -> None:
    """`audit` and `report` would check another plan than the one that was solved."""
    folder = write_run(result, tmp_path, "", {}, now=NOW)
    for path in (folder, tmp_path / "small"):
        scenario, plan = read_run(path)
        assert plan == result.plan
        assert scenario == result.scenario
        assert fingerprint(scenario) == plan.scenario.sha256


def test_round_trip_without_a_plan(infeasible, tmp_path: Path) -> None:
    """A run that says no could not be looked at again."""
    folder = write_run(infeasible, tmp_path, "log", {}, now=NOW)
    scenario, plan = read_run(folder)
    assert (scenario, plan) == (infeasible.scenario, infeasible.plan)
    assert (folder / "report.xlsx").is_file()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("plan.json", "{"),
        ("plan.json", "[]"),
        ("plan.json", '{"schema_id": "gpuladder.plan/1"}'),
        ("plan.json", '{"schema_id": "something else"}'),
        ("scenario.resolved.yaml", "name: [1"),
        ("scenario.resolved.yaml", "name: x\n"),
    ],
)
def test_damaged_files_are_named(result, tmp_path: Path, name: str, text: str) -> None:
    """A damaged run would end in a traceback, or worse, in a report."""
    folder = write_run(result, tmp_path, "", {}, now=NOW)
    (folder / name).write_text(text)
    with pytest.raises(ReportError) as caught:
        read_run(folder)
    problem = caught.value.problems[0]
    assert problem.code == "GL-F003"
    assert problem.where.endswith(name)
    assert problem.fix


def test_bytes_that_are_not_text_are_named(result, tmp_path: Path) -> None:
    """A file cut or overwritten on disk would end in a traceback."""
    folder = write_run(result, tmp_path, "", {}, now=NOW)
    (folder / "plan.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ReportError, match="damaged"):
        read_run(folder)


@pytest.mark.parametrize("name", ["plan.json", "scenario.resolved.yaml"])
def test_missing_files_are_named(result, tmp_path: Path, name: str) -> None:
    """The user would not know what to restore."""
    folder = write_run(result, tmp_path, "", {}, now=NOW)
    (folder / name).unlink()
    with pytest.raises(ReportError, match=name):
        read_run(folder)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    """A typing error would end in a traceback."""
    with pytest.raises(ReportError, match="no such run folder"):
        read_run(tmp_path / "nothing")


def test_a_plan_of_a_newer_version_is_refused(result, tmp_path: Path) -> None:
    """An old program would read a new plan by its old meaning."""
    folder = write_run(result, tmp_path, "", {}, now=NOW)
    text = (folder / "plan.json").read_text().replace("gpuladder.plan/1", "gpuladder.plan/2")
    (folder / "plan.json").write_text(text)
    with pytest.raises(ReportError, match="update gpuladder") as caught:
        read_run(folder)
    assert caught.value.problems[0].code == "GL-F004"


def test_the_pointer_never_leads_out_of_its_folder(result, tmp_path: Path) -> None:
    """A shared folder could make `audit` read a file of somebody's choosing."""
    write_run(result, tmp_path, "", {}, now=NOW)
    (tmp_path / "small" / "latest").write_text("../../elsewhere\n")
    assert find_run(tmp_path / "small").parent == tmp_path / "small"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Training year 2026", "training-year-2026"),
        ("Größe/../é", "groe-e"),
        ("CON", "scenario-con"),
        ("x" * 300, "x" * 60),
    ],
)
def test_folder_names_are_safe(name: str, expected: str) -> None:
    """A scenario's name could lead out of the reports folder, or name a device."""
    assert slug(name) == expected


def test_names_of_which_nothing_is_left_keep_their_own_folders() -> None:
    """Runs of one scenario would lie among those of another, and `latest` would mean either."""
    folders = [slug(name) for name in (".", "..", "🚀", "🛰", "שלום", "日本")]
    assert len(set(folders)) == len(folders)
    assert all(re.fullmatch(r"scenario-[0-9a-f]{8}", folder) for folder in folders)
    assert slug("🚀") == folders[2]


def test_a_file_in_the_way_is_a_problem_not_a_fault(result, tmp_path: Path) -> None:
    """A wrong --output would end in a traceback."""
    (tmp_path / "out").write_text("a file")
    with pytest.raises(ReportError) as caught:
        write_run(result, tmp_path / "out", "", {}, now=NOW)
    assert caught.value.problems[0].code == "GL-F001"
