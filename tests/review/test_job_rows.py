"""Which rows of a file are jobs, when they ran, and how many GPUs they held."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gpuladder.errors import GpuladderError
from gpuladder.review.imports.slurm import length_seconds, state_name, tres_gpus

SACCT = """\
JobID|Account|State|Start|End|Elapsed|AllocTRES
100|vision|COMPLETED|2026-01-05T00:00:00|2026-01-05T02:00:00|02:00:00|cpu=16,gres/gpu:h100=8,gres/gpu=8
100.batch||COMPLETED|2026-01-05T00:00:00|2026-01-05T02:00:00|02:00:00|cpu=16,gres/gpu:h100=8,gres/gpu=8
100.extern||COMPLETED|2026-01-05T00:00:00|2026-01-05T02:00:00|02:00:00|cpu=16,gres/gpu:h100=8,gres/gpu=8
100.0||COMPLETED|2026-01-05T00:10:00|2026-01-05T01:00:00|00:50:00|cpu=16,gres/gpu:h100=8,gres/gpu=8
101_4|vision|CANCELLED by 1000|2026-01-05T00:00:00|2026-01-05T01:30:00|01:30:00|gres/gpu=4
102_[5-9]|vision|PENDING|Unknown|Unknown|00:00:00|
103|speech|RUNNING|2026-01-05T03:00:00|Unknown|1-00:00:00|gres/gpu:a100=2,gres/gpu:h100=2
104|speech|COMPLETED|2026-01-05T03:00:00|2026-01-05T04:00:00|01:00:00|cpu=4,mem=16G
105|speech|NODE_FAIL|2026-01-05T04:00:00|2026-01-05T05:00:00|01:00:00|gres/gpu=2
105|speech|COMPLETED|2026-01-05T06:00:00|2026-01-05T09:00:00|03:00:00|gres/gpu=2
106|speech|COMPLETED|2026-01-05T06:00:00|2026-01-05T07:00:00|01:00:00|gres/gpu=1
106|speech|COMPLETED|2026-01-05T06:00:00|2026-01-05T07:00:00|01:00:00|gres/gpu=1
107|speech|FAILED|2026-01-05T06:00:00|2026-01-05T06:00:00|00:00:00|gres/gpu=1
108|speech|CANCELLED by 7|None|2026-01-05T06:00:00|00:00:00|
109.0|speech|COMPLETED|2026-01-05T06:00:00|2026-01-05T07:00:00|01:00:00|gres/gpu=1
110|speech|COMPLETED|2026-01-05T06:00:00|2026-01-05T07:00:00|01:00:00|gres/gpu=1,gres/gpu:h100=2
"""


def seconds(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def test_what_sacct_writes(read_jobs, reasons):
    """Or steps would count beside their job, typed GPUs beside their total, and a cancelled
    array task not at all.

    By hand: vision 8 × 2 h + 4 × 1.5 h = 22; speech 2 × 1 h + 2 × 3 h + 1 × 1 h = 9 GPU-hours, of
    which 6 (cancelled) and 2 (node failure) are waste.
    """
    history = read_jobs(SACCT)
    assert history.layout == "sacct"
    assert reasons(history) == {
        "a step, whose GPUs its job holds already": 3,
        "a step whose job does not stand before it": 1,
        "never started": 2,
        "still running: --as-of says until when to count it": 1,
        "no GPUs": 1,
        "the same job again: of rows with one number and start the last end counts": 1,
        "runs for no time at all": 1,
        "typed GPUs contradict the total of GPUs": 1,
    }
    assert (history.rows.read, history.rows.kept) == (16, 5)
    assert [team.quantities["allocated"].sum() for team in history.usage.teams] == [9, 22]
    assert history.teams == ("speech", "vision")
    assert history.balance.jobs == 31
    assert history.states == {"CANCELLED": 6, "COMPLETED": 23, "NODE_FAIL": 2}


def test_running_jobs_count_until_the_stated_moment(read_jobs, notes):
    """Or the GPUs in use today would be missing: 4 from 03:00 to 09:30 are 26 GPU-hours."""
    history = read_jobs(SACCT, choice={"as_of": seconds("2026-01-05 09:30")})
    assert history.balance.jobs == 31 + 26
    assert notes(history)["still running: counted until --as-of"] == 1
    early = read_jobs(SACCT, choice={"as_of": seconds("2026-01-05 03:00")})
    assert early.balance.jobs == 31


def test_a_job_in_two_exports_counts_once_with_its_end(read_jobs, reasons):
    """Or months glued together would count a job twice: as still running, and as ended.

    Until 01:00 in the first export, until 03:00 in the second: 8 × 3 h = 24 GPU-hours.
    """
    rows = (
        "JobID|Account|State|Start|End|Elapsed|AllocTRES\n"
        "7|a|RUNNING|2026-01-05T00:00:00|Unknown|01:00:00|gres/gpu=8\n"
        "7|a|COMPLETED|2026-01-05T00:00:00|2026-01-05T03:00:00|03:00:00|gres/gpu=8\n"
    )
    history = read_jobs(rows, choice={"as_of": seconds("2026-01-05 01:00")})
    assert history.balance.jobs == 24
    assert sum(reasons(history).values()) == 1


def test_the_number_of_a_job_counts_within_its_cluster(read_jobs):
    """Or jobs of two clusters that happen to have one number would be taken for duplicates."""
    history = read_jobs(
        "Cluster|JobID|Account|State|Start|Elapsed|AllocTRES\n"
        "north|7|a|COMPLETED|2026-01-05T00:00:00|01:00:00|gres/gpu=8\n"
        "south|7|a|COMPLETED|2026-01-05T00:00:00|01:00:00|gres/gpu=8\n"
    )
    assert history.balance.jobs == 16


def test_a_job_beside_itself_is_said(read_jobs, notes):
    """Or GPU-hours that one job cannot have held would count without a word."""
    history = read_jobs(
        "job,team,gpus,start,end\n"
        "7,a,8,2026-01-05 00:00,2026-01-07 00:00\n"
        "7,a,8,2026-01-06 00:00,2026-01-06 12:00\n"
        "8,a,8,2026-01-06 00:00,2026-01-06 12:00\n"
    )
    assert notes(history) == {"of a job that already runs under the same number: both count": 1}


def test_rows_alike_without_numbers_both_count(read_jobs, notes):
    """Or two real jobs of one second would be taken for one."""
    row = "a,8,2026-01-05 00:00,2026-01-05 01:00\n"
    history = read_jobs(f"team,gpus,start,end\n{row}{row}")
    assert history.balance.jobs == 16
    assert list(notes(history).values()) == [1]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("a,8,2026-01-05 02:00,2026-01-05 01:00", "ends before it starts"),
        ("a,8,2026-01-05 02:00,2026-01-05 02:00", "runs for no time at all"),
        ("a,0,2026-01-05 00:00,2026-01-05 01:00", "no GPUs"),
        ("a,-8,2026-01-05 00:00,2026-01-05 01:00", "fewer than no GPUs"),
        ('a,"1,5",2026-01-05 00:00,2026-01-05 01:00', "a comma in a number"),
        ("a,8,2026-01-05 00:00,", "still running"),
        (",8,2026-01-05 00:00,2026-01-05 01:00", "no team"),
        ("a,8,soon,2026-01-05 01:00", "not a time"),
        ("a,8,2026-01-05 00:00,2028-01-05 01:00", "runs for more than 366 days"),
        ("a\x07,8,2026-01-05 00:00,2026-01-05 01:00", "control characters"),
    ],
)
def test_a_row_that_is_no_job_is_dropped_for_its_reason(read_jobs, reasons, row, reason):
    """Or a slip would add GPU-hours, take them away, or end the import in a traceback."""
    history = read_jobs(f"team,gpus,start,end\n{row}\nb,1,2026-01-05 00:00,2026-01-05 01:00\n")
    (found,) = reasons(history).items()
    assert reason in found[0]
    assert found[1] == 1
    assert history.balance.jobs == 1


def test_when_nothing_is_left_the_reasons_are_the_error(read_jobs):
    """Or a file in which every row is wrong would pass for a quiet quarter."""
    with pytest.raises(GpuladderError, match="GL-I009") as caught:
        read_jobs("team,gpus,start,end\na,0,2026-01-05 00:00,2026-01-05 01:00\n")
    assert "1 read, 0 kept, 1 dropped" in str(caught.value)
    assert "no GPUs" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("team,gpus,start\na,1,2026-01-05\n", "no column says how long jobs ran"),
        ("team,gpus,start,duration\na,1,2026-01-05,5\n", "did you mean `duration`?"),
        ("JobID|Account|State|Start|End\n1|a|FAILED|x|y\n", "no column says how many GPUs"),
        ("gpus,start,end\n1,2026-01-05,2026-01-06\n", "no column `team`"),
    ],
)
def test_a_file_that_does_not_say_enough_is_refused(read_jobs, text, words):
    """Or lengths and GPUs would be guessed."""
    with pytest.raises(GpuladderError, match="GL-I003") as caught:
        read_jobs(text)
    assert words in str(caught.value)


def test_one_team_for_a_file_without_teams(read_jobs):
    """Or a small company's file could not be read."""
    history = read_jobs("gpus,start,duration_s\n2,2026-01-05,7200\n", choice={"team": "all"})
    assert (history.teams, history.balance.jobs) == (("all",), 4)


def test_only_some_rows(read_jobs, reasons):
    """Or two kinds of GPU in one file could not be planned apart."""
    history = read_jobs(
        "team,gpus,start,duration_s,kind\n"
        "a,1,2026-01-05,3600,h100\na,1,2026-01-05,3600,a100\na,1,2026-01-05,3600,t4\n",
        choice={"only": {"kind": frozenset(("h100", "a100"))}},
    )
    assert history.balance.jobs == 2
    assert reasons(history) == {"not asked for with --only kind": 1}


def test_only_jobs_that_start_in_a_window(read_jobs, reasons):
    """Or a quarter could not be cut out of a year."""
    history = read_jobs(
        "team,gpus,start,duration_s\n"
        "a,1,2026-01-04 23:59:59,3600\na,1,2026-01-05,3600\na,1,2026-01-06,3600\n",
        choice={"since": seconds("2026-01-05"), "until": seconds("2026-01-06")},
    )
    assert history.balance.jobs == 1
    assert reasons(history) == {"starts outside --from and --until": 2}


def test_the_night_of_the_autumn_clock_change(read_jobs, notes):
    """Or jobs of that night would be an hour short, or end before they start.

    In Berlin 01:00 to 04:00 is four hours that night. A job from the first 02:50 to a 02:10 ends in
    the second: 20 minutes.
    """
    history = read_jobs(
        "team,gpus,start,end\n"
        "a,1,2026-10-25 01:00,2026-10-25 04:00\n"
        "b,3,2026-10-25 02:50,2026-10-25 02:10\n",
        timezone="Europe/Berlin",
    )
    assert [team.quantities["allocated"].sum() for team in history.usage.teams] == [4, 1]
    assert sum(notes(history).values()) == 2
    assert history.usage.start == datetime(2026, 10, 24, 23)  # noqa: DTZ001


def test_several_zones_in_one_file(read_jobs):
    """Or the jobs of two offices would not overlap where they did: both run at 12:00 UTC."""
    history = read_jobs(
        "team,gpus,start,duration_s\n"
        "a,1,2026-07-06 14:00:00+02:00,3600\na,1,2026-07-06T05:00:00-0700,3600\n",
        timezone=None,
    )
    (team,) = history.usage.teams
    assert team.quantities["allocated"].tolist() == [2]


def test_length_and_end_that_differ_are_said(read_jobs, notes):
    """Or a paused job, or a file of another zone than stated, would go unnoticed."""
    history = read_jobs(
        "team,gpus,start,end,elapsed\n"
        "a,1,2026-01-05 00:00,2026-01-05 05:00,02:00:00\n"
        "a,1,2026-01-05 00:00,2026-01-05 02:00,02:00:01\n"
    )
    assert list(notes(history).values()) == [1]
    assert history.balance.jobs == pytest.approx(4 + 1 / 3600)


def test_gpu_hours_of_the_file_are_checked(read_jobs, notes):
    """Or a column that is not what it seems (minutes, CPUs) would be believed."""
    history = read_jobs(
        "vc,submit_time,duration_s,num_gpus,gpu_hours\n"
        "a,2017-10-01 00:00:00,3600,2,2.0\na,2017-10-01 00:00:01,3600,2,120\n"
    )
    assert history.layout == "philly"
    assert list(notes(history).values()) == [1]
    assert history.balance.jobs == 4


def test_a_team_that_a_spreadsheet_would_run_is_renamed(read_jobs, notes):
    """Or a name in a job file would be run as a formula on somebody's desk."""
    history = read_jobs("team,gpus,start,duration_s\n=1+1,1,2026-01-05,3600\n")
    assert history.teams == ("_=1+1",)
    assert sum(notes(history).values()) == 1


def test_a_history_of_too_many_years_is_refused(read_jobs):
    """Or one wrong date would fill the memory: 450 years × 20 teams of hours are 79 million."""
    rows = [f"t{n},1,2026-01-05,3600" for n in range(20)]
    with pytest.raises(GpuladderError, match="GL-I011"):
        read_jobs("\n".join(["team,gpus,start,duration_s", *rows, "t0,1,1950-01-05,3600",
                             "t0,1,2400-01-05,3600", ""]))  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("00:50:00", 3000),
        ("50:00", 3000),
        ("1-02:00:00", 93600),
        ("2-00:00:01.500", 172801.5),
        ("123:00:00", 442800),
        ("1-25:00:00", None),
        ("00:61:00", None),
        ("00:00:60", None),
        ("1-05:00", None),
        ("INVALID", None),
        ("-01:00:00", None),
        ("", None),
    ],
)
def test_lengths_of_slurm(text, expected):
    """Or days would be read as hours."""
    assert length_seconds(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("billing=16,cpu=16,gres/gpu=8,mem=200G,node=1", 8),
        ("cpu=16,gres/gpu:h100=8,gres/gpu=8", 8),
        ("gres/gpu=8,gres/gpu:a100=4,gres/gpu:h100=4", 8),
        ("gres/gpu:a100=4,gres/gpu:h100=2", 6),
        ("gres/gpu:nvidia_h100_80gb_hbm3=8,gres/gpumem=600G,gres/gpuutil=90", 8),
        ("gres/shard=4,cpu=2", 0),
        ("", 0),
        ("gres/gpu=4,gres/gpu:h100=8", None),
        ("gres/gpu=4,gres/gpu=8", None),
    ],
)
def test_gpus_among_the_resources_of_slurm(text, expected):
    """Or typed and untyped GPUs, which are the same ones, would be added up."""
    assert tres_gpus(text) == expected


def test_states_of_slurm():
    """Or a cancelled job would count as useful because it says who cancelled it."""
    assert state_name("CANCELLED by 1000") == "CANCELLED"
    assert state_name("CANCELLED+") == "CANCELLED"
    assert state_name("completed") == "COMPLETED"
    assert state_name("") == ""
