"""`import usage` and `utilisation` as a user runs them, on real teams and on odd files."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

SCENARIOS = Path(__file__).parents[2] / "scenarios"
HELIOS = SCENARIOS / "data" / "helios_earth_hourly_2020.csv"


FIRST = """\
name: first
horizon: {start: 2026-06-01, end: 2026-06-29, step: week}
hardware: [{id: h100, memory_gb: 80, gpus_per_node: 8, peak_tflops: 989}]
pools: [{id: east, provider: acme, region: us-east, hardware: h100}]
preemption_classes: [{id: steady, spot_share_max: 0}]
offers:
  - {id: metered, pool: east, kind: on_demand, price: 3.00, max_gpus: 64}
  - {id: standing, pool: east, kind: reserved, price: 1.00, tenor: 4 weeks, lot_gpus: 8}
campaigns:
  - {id: evaluation, shape: elastic, preemption_class: steady, gpu_hours: 5376, max_gpus: 8,
     earliest: 2026-06-01, deadline: 2026-06-29}
  - {id: sweep, shape: elastic, preemption_class: steady, gpu_hours: 1344, max_gpus: 8,
     earliest: 2026-06-08, deadline: 2026-06-15}
policy: {tail_charge: 1}
"""


@pytest.fixture
def series(tmp_path):
    """Write a small series of two teams, one of which hardly uses what it holds."""
    path = tmp_path / "gpus.csv"
    rows = [
        f"{team},2026-01-01 {hour:02}:00,8,{allocated},{busy}"
        for hour in range(4)
        for team, allocated, busy in (("vision", 8, 6), ("speech", 0, 0))
    ]
    header = "team,hour,capacity_gpus,allocated_gpus,busy_gpus"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def table(folder, name):
    with (folder / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_an_import_is_a_folder_that_a_scenario_reads(gpuladder, document, tmp_path):
    """The demand of an import must load in a scenario as it stands, or it is of no use."""
    done = gpuladder("import", "usage", HELIOS, "--json", "-o", "out")
    assert done.returncode == 0, done.stderr
    found = document(done)
    assert (found["schema"], found["layout"]) == ("gpuladder.import.usage/1", "helios")
    assert (found["rows"]["read"], found["rows"]["kept"]) == (8184, 8184)
    folder = tmp_path / found["folder"]
    scenario = tmp_path / "scenario"
    scenario.mkdir()
    for file in (SCENARIOS / "helios").iterdir():
        if file.suffix in (".csv", ".yaml"):
            (scenario / file.name).write_bytes(file.read_bytes())
    (scenario / "demand.csv").write_bytes((folder / "demand.csv").read_bytes())
    checked = gpuladder("validate", scenario)
    assert checked.returncode == 0, checked.stderr


def test_utilisation_of_a_folder_is_that_of_the_file(gpuladder, document, tmp_path):
    """An imported history must say the same as the file it came from."""
    folder = document(gpuladder("import", "usage", HELIOS, "--json", "-o", "out"))["folder"]
    options = ("--price", "1.74", "--json", "-o", "out")
    of_file = document(gpuladder("utilisation", HELIOS, *options))
    of_folder = document(gpuladder("utilisation", folder, *options))
    assert of_folder["teams"] == of_file["teams"]
    assert of_folder["pooling"] == of_file["pooling"]
    assert of_folder["source"] == HELIOS.name


def test_a_folder_of_jobs_is_a_history_too(gpuladder, document, tmp_path):
    """Jobs hold GPUs: their history must be read without writing it anew.

    One job of 8 GPUs for 2 hours: 16 GPU-hours.
    """
    jobs = tmp_path / "jobs.csv"
    jobs.write_text("team,gpus,start,duration_s\nvision,8,2026-01-05 10:00:00,7200\n")
    done = gpuladder("import", "jobs", jobs, "--timezone", "UTC", "--json")
    assert done.returncode == 0, done.stderr
    (folder,) = (path.parent for path in tmp_path.glob("reports/*/jobs/*/history.csv"))
    found = document(gpuladder("utilisation", folder, "--json"))
    assert found["teams"][0]["allocated"] == pytest.approx(16)
    assert any("`capacity`" in line for line in found["untold"])


def test_utilisation_at_the_scenarios_prices(gpuladder, document, tmp_path):
    """Money at any other price than the contract's would be a wrong argument in a renewal.

    The scenario holds vcJkd's 16 GPUs at 1.740137: 16 × 744 h × 1.740137 = 20,714.59.
    """
    done = gpuladder(
        "utilisation", HELIOS, "--scenario", SCENARIOS / "helios", "--json", "-o", "out"
    )
    assert done.returncode == 0, done.stderr
    found = document(done)
    team = next(row for row in found["teams"] if row["team"] == "vcJkd")
    assert team["is_dead"] is True
    assert team["reserved_cost"] == pytest.approx(16 * 744 * 1.740137)
    assert team["empty_cost"] == pytest.approx((16 * 744 - 101.15) * 1.740137)
    assert "vcJkd-held" in team["price_source"]
    assert found["dead"] == ["vcJkd", "vcira"]


def test_the_terminal_names_losses_and_what_cannot_be_told(gpuladder, series):
    """A reader sees the dead reservation with its money, and which question has no answer.

    speech holds 8 GPUs for 4 hours at 2.00: 64 for nothing.
    """
    done = gpuladder("utilisation", series, "--timezone", "UTC", "--price", "2")
    assert done.returncode == 0, done.stderr
    assert "speech: 0.00% busy of 32 GPU-hours, 64 USD" in done.stdout
    assert "`pending`" in done.stdout


def test_utilisation_writes_tables_and_a_workbook(gpuladder, document, series, tmp_path):
    """The figures go into a review as files; sums in them are those of the document."""
    openpyxl = pytest.importorskip("openpyxl")
    done = gpuladder("utilisation", series, "--timezone", "UTC", "--json", "--price", "speech=2")
    found = document(done)
    folder = tmp_path / found["folder"]
    rows = {row["team"]: row for row in table(folder / "tables", "teams")}
    assert (rows["speech"]["empty_cost"], rows["vision"]["empty_cost"]) == ("64.0", "")
    assert rows["vision"]["stalled"] == "8.0"
    workbook = openpyxl.load_workbook(folder / "utilisation.xlsx")
    assert workbook.sheetnames == ["Teams", "Pools", "Pooling", "Untold"]
    assert json.loads((folder / "utilisation.json").read_text())["teams"] == found["teams"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--unit", "percent"), "GL-I042"),
        (("--price", "visoin=2"), "GL-I054"),
        (("--format", "focus"), "GL-I003"),
    ],
)
def test_wrong_statements_end_with_one_clear_message(gpuladder, document, series, arguments, code):
    """Wrong input exits with 2, says what to do, and leaves nothing behind."""
    done = gpuladder("utilisation", series, "--timezone", "UTC", "--json", *arguments)
    assert done.returncode == 2
    assert code in {problem["code"] for problem in document(done)["error"]["problems"]}
    assert not Path(series.parent / "reports").exists()


def test_a_folder_without_a_history_is_refused(gpuladder, tmp_path):
    """A run folder of `solve` has no usage to look at."""
    done = gpuladder("utilisation", tmp_path)
    assert done.returncode == 2
    assert "GL-I055" in done.stderr


def test_a_plans_own_bill_reads_back(gpuladder, document, tmp_path):
    """What the plan says it will be billed must be read as what it costs, or one of them is wrong.

    The README's plan: 8 GPUs reserved for 672 hours at 1.00, all used; 8 on demand for a week,
    1,344 GPU-hours at 3.00; 9,408 in all.
    """
    scenario = tmp_path / "first.yaml"
    scenario.write_text(FIRST, encoding="utf-8")
    assert gpuladder("solve", scenario, "-o", "runs").returncode == 0
    assert gpuladder("report", "runs/first", "--format", "focus").returncode == 0
    (bill,) = tmp_path.glob("runs/first/*/focus/cost_and_usage.csv")
    contracts = bill.with_name("contract_commitment.csv")
    done = gpuladder(
        *("import", "usage", bill, "--contracts", contracts, "--contract-quantity", "total"),
        *("--column", "pool=x_Pool", "--json"),
    )
    assert done.returncode == 0, done.stderr
    found = document(done)
    rates = {row["kind"]: (row["gpu_hours"], row["rate"]) for row in found["rates"]}
    assert rates == {
        "reserved": (pytest.approx(5376), pytest.approx(1.0)),
        "on_demand": (pytest.approx(1344), pytest.approx(3.0)),
    }
    assert sum(row["effective_cost"] for row in found["charges"]) == pytest.approx(9408)
    (held,) = table(tmp_path / found["folder"], "commitments")
    assert held == {
        "id": "standing/2026-06-01",
        "pool": "east",
        "kind": "reserved",
        "gpus": "8.0",
        "start": "2026-06-01",
        "end": "2026-06-29",
        "price": "1.0",
    }


LIST = """\
instance_type,gpu,gpus,region,usd_hour_on_demand,usd_hour_ri_1y_standard_no_upfront,as_of
p4d.24xlarge,NVIDIA A100,8,us-east-1,21.957642,13.921094,2026-01-21
p5.48xlarge,NVIDIA H100,8,us-east-1,55.04,,2026-01-21
p5.48xlarge,NVIDIA H100,8,us-west-2,0.0,,2026-01-21
"""


def test_a_price_list_is_offers_that_a_scenario_reads(gpuladder, document, tmp_path):
    """The tables of an import must load as they stand, with every price by GPU-hour.

    21.957642 for eight GPUs is 2.74470525 each.
    """
    (tmp_path / "list.csv").write_text(LIST, encoding="utf-8")
    done = gpuladder("import", "prices", "list.csv", "--json")
    assert done.returncode == 0, done.stderr
    found = document(done)
    assert "line 4, aws us-west-2 p5.48xlarge on_demand: 0" in done.stderr
    folder = tmp_path / found["folder"]
    assert [row["place"] for row in table(folder, "refused")] == ["4"]
    scenario = tmp_path / "scenario"
    scenario.mkdir()
    for name in ("offers.csv", "pools.csv"):
        (scenario / name).write_bytes((folder / name).read_bytes())
    (scenario / "scenario.yaml").write_text(
        """\
name: imported
horizon: {start: 2026-07-01, end: 2026-08-01, step: week}
hardware:
  - {id: nvidia-a100, memory_gb: 40, gpus_per_node: 8, peak_tflops: 312}
  - {id: nvidia-h100, memory_gb: 80, gpus_per_node: 8, peak_tflops: 989}
preemption_classes: [{id: steady, spot_share_max: 0}]
campaigns:
  - {id: tuning, shape: elastic, preemption_class: steady, gpu_hours: 100, max_gpus: 8,
     earliest: 2026-07-01, deadline: 2026-08-01}
""",
        encoding="utf-8",
    )
    checked = gpuladder("validate", scenario, "--json")
    assert checked.returncode == 0, checked.stderr
    offers = {row["id"]: row for row in table(folder, "offers")}
    on_demand = offers["aws-us-east-1-nvidia-a100-p4d.24xlarge-on-demand"]
    assert float(on_demand["price"]) == pytest.approx(2.744705)


def test_a_list_of_nothing_leaves_nothing(gpuladder, tmp_path):
    """All prices zero: exit code 2, each row named, no folder."""
    lines = LIST.splitlines()
    (tmp_path / "list.csv").write_text(f"{lines[0]}\n{lines[3]}\n", encoding="utf-8")
    done = gpuladder("import", "prices", "list.csv")
    assert done.returncode == 2
    assert "line 2, aws us-west-2 p5.48xlarge on_demand: 0" in done.stderr
    assert not (tmp_path / "reports").exists()


def test_names_never_become_formulas(gpuladder, document, tmp_path):
    """A team called =1+1 would run in the reader's spreadsheet."""
    path = tmp_path / "gpus.csv"
    rows = "".join(f"=1+1,2026-01-01 0{hour}:00,8,8\n" for hour in range(3))
    path.write_text(f"team,hour,capacity_gpus,allocated_gpus\n{rows}", encoding="utf-8")
    done = gpuladder("import", "usage", path, "--timezone", "UTC", "--json")
    folder = tmp_path / document(done)["folder"]
    assert {row["team"] for row in table(folder, "usage")} == {"'=1+1"}
