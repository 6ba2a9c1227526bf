"""``gpuladder import jobs``: streams, exit codes, files, and a scenario that solves."""

from __future__ import annotations

import csv
import json

import pytest

JOBS = """\
team,gpus,start,duration_s,state
vision,16,2026-01-05 06:00:00,180000,COMPLETED
vision,16,2026-01-05 06:00:00,90000,FAILED
speech,2,2026-01-06 00:30:00,7200,COMPLETED
speech,0,2026-01-06 00:30:00,7200,COMPLETED
"""
"""Vision: 16 × 50 h useful and 16 × 25 h wasted; speech: 2 GPUs for two hours, and none for two."""
OFFERS = """\
id,pool,kind,price,max_gpus,tenor,lot_gpus
east-metered,east,on_demand,2,,,
east-block,east,reserved,1,,7 days,8
west-metered,west,on_demand,3,,,
"""


@pytest.fixture
def jobs(tmp_path):
    (tmp_path / "q1.csv").write_text(JOBS)
    (tmp_path / "offers.csv").write_text(OFFERS)
    return tmp_path / "q1.csv"


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def folders(path):
    return sorted(path.glob("reports/q1/jobs/*"))


def test_the_document_and_the_files_agree(gpuladder, jobs, tmp_path):
    """Or a pipeline would read other numbers than an analyst sees."""
    done = gpuladder("import", "jobs", jobs, "--timezone", "UTC", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    (folder,) = folders(tmp_path)
    assert document["folder"] == str(folder.relative_to(tmp_path))
    del document["folder"]
    assert document == json.loads((folder / "jobs.json").read_text())
    rows = document["rows"]
    assert (rows["read"], rows["kept"], rows["dropped"]) == (4, 3, 1)
    assert rows["reasons"][0]["reason"] == "no GPUs"
    assert "4 read, 3 kept, 1 dropped" in done.stderr
    assert document["gpu_hours"]["jobs"] == 1204
    assert document["gpu_hours_by_state"] == {"COMPLETED": 804, "FAILED": 400}

    (campaign,) = rows_of(folder / "campaigns.csv")
    assert float(campaign["gpu_hours"]) * (1 + float(campaign["waste"])) == 1200
    assert campaign["max_gpus"] == "32"
    history = rows_of(folder / "history.csv")
    assert sum(float(row["gpus"]) for row in history) == 1204
    assert [row["gpus"] for row in history if row["hour"] == "2026-01-06 00:00"] == ["1.0", "32.0"]
    demand = rows_of(folder / "demand.csv")
    assert {row["pool"] for row in demand} == {"speech"}
    assert sum(float(row["gpus"]) for row in demand) == 4
    # Every hour of whole weeks: Monday the 5th to the deadline on the 22nd.
    assert (demand[0]["at"], demand[-1]["at"]) == ("2026-01-05 00:00", "2026-01-25 23:00")
    assert len(demand) == 21 * 24
    (seen,) = rows_of(folder / "calendar.csv")
    assert (seen["jobs"], seen["useful_gpu_hours"], seen["wasted_gpu_hours"]) == (
        "2",
        "800.0",
        "400.0",
    )
    assert (folder / "calendar.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert not (folder / "scenario.yaml").exists()


def test_a_person_reads_balance_teams_and_campaigns(gpuladder, jobs):
    """Or the answer would be in files only."""
    done = gpuladder("import", "jobs", jobs, "--timezone", "UTC")
    assert done.returncode == 0
    for words in ("all jobs", "1,204.0", "vision-01", "50.0%", "no deadlines"):
        assert words in done.stdout
    assert "calendar.png" in done.stderr


def test_an_import_is_never_written_over(gpuladder, jobs, tmp_path):
    """Or last quarter's calendar, judged and corrected, would be gone."""
    for _ in range(2):
        assert gpuladder("import", "jobs", jobs, "--timezone", "UTC").returncode == 0
    assert len(folders(tmp_path)) == 2


def test_the_scenario_loads_without_doubts_and_solves(gpuladder, jobs, tmp_path):
    """Or the calendar would end as a table that nothing can be decided with.

    Vision needs 1,200 GPU-hours before the 22nd: 8 reserved GPUs at 1.00 give 1,344 in a week, and
    on demand they would be 2,400. In the first week vision is even over 168 hours, 50/7 GPUs, which
    leaves 6/7 of the 8. Speech needs 1 GPU in two hours and 2 in one: 1/7 + 1/7 + 8/7 GPU-hours are
    missing, at 2.00.
    """
    arguments = ("--timezone", "UTC", "--pool", "east", "--hardware", "a100-40")
    done = gpuladder("import", "jobs", jobs, *arguments, "--offers", "offers.csv", "-q")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    (folder,) = folders(tmp_path)
    scenario = folder / "scenario.yaml"
    checked = gpuladder("validate", scenario)
    assert (checked.returncode, checked.stderr) == (0, "")
    solved = gpuladder("solve", scenario, "--json", "--analysis-seconds", "0", "--gap", "0")
    assert solved.returncode == 0, solved.stderr
    assert json.loads(solved.stdout)["objective"] == pytest.approx(1344 + 2 * 10 / 7)


def test_a_scenario_without_offers_has_the_catalogue_s_price(gpuladder, jobs, tmp_path):
    """Or a first look would need a price list before it could be taken."""
    done = gpuladder("import", "jobs", jobs, "--timezone", "UTC", "--pool", "east")
    assert done.returncode == 0, done.stderr
    (folder,) = folders(tmp_path)
    text = (folder / "scenario.yaml").read_text()
    assert "kind: on_demand" in text
    assert "fill in" in text
    assert gpuladder("validate", folder / "scenario.yaml").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("jobs", "none.csv"), "GL-I001", "no such file"),
        (("jobs", "q1.csv"), "GL-I007", "--timezone"),
        (("jobs", "q1.csv", "--timezone", "Mars"), "GL-I008", "no such time zone"),
        (("jobs", "q1.csv", "--timezone", "UTC", "--gap", "-1"), "GL-I012", "--gap"),
        (("jobs", "q1.csv", "--timezone", "UTC", "--column", "gpu=gpus"), "GL-I006", "`gpus`"),
        (("jobs", "q1.csv", "--timezone", "UTC", "--only", "team=x"), "GL-I009", "not asked for"),
        (("jobs", "q1.csv", "--timezone", "UTC", "--only", "team"), "GL-I006", "COLUMN=VALUE"),
        (("jobs", "q1.csv", "--timezone", "UTC", "--as-of", "now"), "GL-I008", "--as-of"),
        (("jobs", "q1.csv", "--as-of", "2026-01-05"), "GL-I007", "--as-of"),
        (("jobs", "q1.csv", "--horizon-start", "May"), "GL-I008", "not a date"),
        (("jobs", "q1.csv", "--format", "sacct"), "GL-I003", "JobID"),
        (("jobs", "q1.csv", "--offers", "offers.csv"), "GL-I014", "--pool"),
        (("jobs", "q1.csv", "--pool", "eats", "--offers", "offers.csv"), "GL-I014", "`east`"),
        (("jobs", "q1.csv", "--pool", "east", "--hardware", "h1000"), "GL-S901", "h1000"),
        (("jobs",), "GL-U001", "FILE"),
    ],
)
def test_what_cannot_be_is_one_error_and_no_file(gpuladder, jobs, tmp_path, arguments, code, words):
    """Or half an import would be left behind, or a wrong flag be passed over."""
    done = gpuladder("import", *arguments, "--json")
    assert done.returncode == 2
    problems = json.loads(done.stdout)["error"]["problems"]
    assert [problem["code"] for problem in problems] == [code]
    assert words in done.stderr
    assert not (tmp_path / "reports").exists()
    explained = gpuladder("explain", code)
    assert explained.returncode == 0


def test_wrong_offers_are_named_as_the_user_s_file(gpuladder, jobs, tmp_path):
    """Or the message would point into a folder that is no longer there."""
    (tmp_path / "offers.csv").write_text("id,pool,kind,price\nx,east,on_demand,-1\n")
    done = gpuladder(
        "import", "jobs", jobs, "--timezone", "UTC", "--pool", "east", "--offers", "offers.csv"
    )
    assert done.returncode == 2
    assert "offers.csv:2" in done.stderr
    assert ".writing" not in done.stderr
    assert folders(tmp_path) == []


def test_sacct_from_end_to_end(gpuladder, tmp_path):
    """Or the most common file of all would not be known by itself."""
    (tmp_path / "q1.txt").write_text(
        "JobID|Account|State|Start|End|Elapsed|ReqTRES\n"
        "1|vision|COMPLETED|2026-01-05T06:00:00|2026-01-07T08:00:00|2-02:00:00|gres/gpu=16\n"
        "1.batch|vision|COMPLETED|2026-01-05T06:00:00|2026-01-07T08:00:00|2-02:00:00|gres/gpu=16\n"
        "2|vision|RUNNING|2026-01-05T06:00:00|Unknown|03:00:00|gres/gpu=1\n"
    )
    done = gpuladder(
        "import", "jobs", "q1.txt", "--timezone", "America/New_York", "--as-of", "2026-01-05 16:00",
        "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["layout"] == "sacct"
    assert document["gpu_hours"]["jobs"] == 16 * 50 + 10
    assert document["history"]["start"] == "2026-01-05T11:00:00"  # New York is five hours behind
