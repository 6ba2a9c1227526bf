"""From jobs to a calendar: campaigns, runs, waste, repetitions, dates; and nothing gets lost."""

from __future__ import annotations

import random
from datetime import date, datetime, timedelta

import pytest

from gpuladder.errors import GpuladderError
from gpuladder.review.calendar import CalendarRule

HEADER = "team,gpus,start,duration_s,state,job\n"


def job(day, hours, gpus, *, team="a", hour=0, state="COMPLETED", name=""):
    """Return a row: a job that starts on a day from 2026-01-05, a Monday, on."""
    start = datetime(2026, 1, 5) + timedelta(days=day, hours=hour)  # noqa: DTZ001
    return f"{team},{gpus},{start:%Y-%m-%d %H:%M:%S},{round(hours * 3600)},{state},{name}\n"


def everything(history):
    """Return the GPU-hours of the calendar's work and waste and of the demand."""
    work = sum(c.count * c.gpu_hours * (1 + c.waste) for c in history.campaigns)
    return work + history.demand.sum()


def test_a_burst_is_an_elastic_campaign(read_jobs):
    """Or launches that belong together would be planned apart, at the wrong size and dates.

    Jobs of 4 GPUs: 0 h to 30 h, 12 h to 36 h, and 30 h to 60 h. The third starts when the first
    ends, so at most 8 GPUs are held at once. 4 × (30 + 24 + 30) = 336 GPU-hours. The last end is
    2026-01-07 12:00, so work can be done until the 8th, and 14 days more.
    """
    history = read_jobs(HEADER + job(0, 30, 4) + job(0, 24, 4, hour=12) + job(1, 30, 4, hour=6))
    (campaign,) = history.campaigns
    assert campaign.row("class") == {
        "id": "a-01",
        "team": "a",
        "shape": "elastic",
        "preemption_class": "class",
        "gpu_hours": 336,
        "earliest": "2026-01-05",
        "deadline": "2026-01-22",
        "max_gpus": 8,
    }
    assert campaign.seen[0].peak_gpus == 8
    assert campaign.seen[0].jobs == 3
    # (30² + 24² + 30²) / 84 hours, each job weighted by its GPU-hours
    assert campaign.seen[0].job_hours == pytest.approx(2376 / 84)
    assert not history.demand.any()


def test_an_end_at_midnight_is_the_end_of_that_day(read_jobs):
    """Or every such deadline would be a day late."""
    history = read_jobs(HEADER + job(0, 48, 8), rule={"slack_days": 0})
    (campaign,) = history.campaigns
    assert campaign.deadline == date(2026, 1, 7)


def test_a_pause_in_starts_parts_campaigns(read_jobs):
    """Or the tail of one long job would hold together what is not one campaign.

    The first job runs for ten days; the team starts nothing for exactly 48 hours, then again.
    """
    rows = job(0, 240, 2) + job(2, 60, 6) + job(3, 60, 6, hour=23)
    history = read_jobs(HEADER + rows)
    assert [c.gpu_hours for c in history.campaigns] == [480, 720]
    assert [c.earliest.day for c in history.campaigns] == [5, 7]
    longer = read_jobs(HEADER + rows, rule={"gap_hours": 48.01})
    assert [c.gpu_hours for c in longer.campaigns] == [1200]
    assert history.balance.jobs == longer.balance.jobs == 1200


def test_teams_never_share_a_campaign(read_jobs):
    """Or one team's work would be billed to another."""
    history = read_jobs(HEADER + job(0, 50, 8) + job(0, 50, 8, team="b"))
    assert [(c.team, c.gpu_hours) for c in history.campaigns] == [("a", 400), ("b", 400)]


def test_a_campaign_that_goes_on_for_too_long_is_cut(read_jobs):
    """Or a team that never pauses would be one campaign of a year, with a year to shift it about.

    A job of 8 GPUs for 24 hours on each of 70 days, cut after 28 days: 28, 28 and 14 jobs.
    """
    history = read_jobs(HEADER + "".join(job(day, 24, 8) for day in range(70)))
    assert [c.seen[0].jobs for c in history.campaigns] == [28, 28, 14]
    assert [c.count for c in history.campaigns] == [1, 1, 1]  # a cut is no repetition
    assert all(c.seen[0].is_cut for c in history.campaigns)
    assert everything(history) == pytest.approx(70 * 192, rel=1e-12)


def test_what_is_small_stays_demand_hour_by_hour(read_jobs):
    """Or small jobs would be lost, or count in a campaign and in the demand.

    Team b's 4 GPUs from 00:30 to 02:30 are 2, 4 and 2 GPUs in three hours.
    """
    history = read_jobs(HEADER + job(0, 50, 8) + job(0, 2, 4, team="b", hour=0.5))
    assert [c.team for c in history.campaigns] == ["a"]
    assert history.teams == ("a", "b")
    assert history.demand[1, :4].tolist() == [2, 4, 2, 0]
    assert history.demand.sum() == history.balance.demand == 8
    assert history.balance.jobs == 408


def test_without_a_calendar_all_is_demand(read_jobs):
    """Or a team whose demand is a curve and not a calendar could not use its jobs."""
    rows = HEADER + job(0, 50, 8) + job(0, 400, 8)
    history = read_jobs(rows, rule={"campaign_gpu_hours": float("inf")})
    assert history.campaigns == ()
    assert history.demand.sum() == history.balance.jobs == 3600


def test_a_wide_long_job_is_a_gang(read_jobs):
    """Or a training run that cannot pause would be planned as if it could.

    64 GPUs × 50 h = 3,200 GPU-hours. 8 GPUs × 50 h are too little; 12 GPUs do not fill nodes of 8.
    """
    history = read_jobs(HEADER + job(0, 50, 64) + job(0, 50, 8) + job(0, 300, 12))
    gang = next(c for c in history.campaigns if c.shape == "gang")
    assert gang.row("class")["gpus"] == 64
    assert gang.gpu_hours == 3200
    rest = next(c for c in history.campaigns if c.shape == "elastic")
    assert rest.gpu_hours == 400 + 3600
    # Widths 8 and 12, weighted by 400 and 3,600 GPU-hours, are 11.6: two nodes.
    assert rest.row("class")["job_gpus"] == 16
    assert rest.row("class")["max_gpus"] == 24  # 20 at once
    assert history.balance.gangs == 3200


def test_attempts_at_one_run_are_one_gang_with_waste(read_jobs):
    """Or a run that needed three attempts would be three runs, or its failures be forgotten.

    One number, 64 GPUs: failed after 10 h, stopped at its limit after 24 h, completed after 14 h.
    Useful are 64 × 38 = 2,432 GPU-hours, wasted 640.
    """
    history = read_jobs(
        HEADER
        + job(0, 10, 64, state="FAILED", name="7")
        + job(1, 24, 64, state="TIMEOUT", name="7")
        + job(3, 14, 64, name="7")
    )
    (gang,) = history.campaigns
    assert gang.shape == "gang"
    assert gang.gpu_hours == 2432
    assert gang.waste == pytest.approx(640 / 2432)
    assert gang.seen[0].jobs == 3
    assert everything(history) == pytest.approx(3072, rel=1e-12)


def test_runs_beside_each_other_are_several_gangs(read_jobs):
    """Or a sweep under one name would be planned as one long run on a part of its GPUs."""
    columns = {"run": "state"}  # the same for both
    history = read_jobs(HEADER + job(0, 50, 64) + job(1, 50, 64), columns=columns)
    assert [c.gpu_hours for c in history.campaigns] == [3200, 3200]
    one = read_jobs(HEADER + job(0, 24, 64) + job(1, 24, 64), columns=columns)
    assert [c.gpu_hours for c in one.campaigns] == [3072]


def test_a_run_that_comes_back_later_is_another(read_jobs):
    """Or two runs of one name, months apart, would be one run of months."""
    columns = {"run": "state"}
    history = read_jobs(HEADER + job(0, 50, 64) + job(30, 50, 64), columns=columns)
    assert [c.earliest for c in history.campaigns] == [date(2026, 1, 5), date(2026, 2, 4)]


def test_failed_and_cancelled_hours_are_waste(read_jobs):
    """Or a plan would leave no room for what fails: 400 of 1,200 GPU-hours did."""
    rows = job(0, 50, 8) + job(0, 25, 8, state="FAILED") + job(0, 25, 8, state="CANCELLED")
    history = read_jobs(HEADER + rows + job(0, 50, 8, state="PREEMPTED"))
    (campaign,) = history.campaigns
    assert campaign.gpu_hours == 800
    assert campaign.waste == pytest.approx(0.5)
    assert not campaign.nothing_completed
    stated = read_jobs(HEADER + rows, rule={"wasted_states": frozenset(("FAILED",))})
    assert stated.campaigns[0].waste == pytest.approx(200 / 600)


def test_where_nothing_was_completed_all_of_it_is_work(read_jobs):
    """Or the share of waste would be infinite, and the GPU-hours be lost."""
    history = read_jobs(HEADER + job(0, 50, 8, state="FAILED"))
    (campaign,) = history.campaigns
    assert (campaign.gpu_hours, campaign.waste) == (400, 0)
    assert campaign.nothing_completed


def test_what_recurs_is_one_row_that_repeats(read_jobs):
    """Or a weekly evaluation would be planned once, or its rhythm be lost.

    On four Mondays 8 GPUs for 40, 44, 36 and 40 hours, the third a day late: 1,280 GPU-hours, 320
    each. The window of the first is moved back from all: from Monday 2026-01-05 to the end of the
    third, Tuesday 2026-01-20 and 36 h: it ends on the 22nd, 14 days back the 8th; with no slack.
    """
    rows = job(0, 40, 8) + job(7, 44, 8) + job(15, 36, 8) + job(21, 40, 8)
    history = read_jobs(HEADER + rows, rule={"slack_days": 0})
    (campaign,) = history.campaigns
    row = campaign.row("class")
    assert row["repeat"] == {"every": "7 days", "count": 4}
    assert row["gpu_hours"] == 320
    assert (row["earliest"], row["deadline"]) == ("2026-01-05", "2026-01-08")
    assert campaign.last_deadline == date(2026, 1, 29)
    assert everything(history) == pytest.approx(1280, rel=1e-12)


@pytest.mark.parametrize(
    ("rows", "counts"),
    [
        (job(0, 40, 8) + job(7, 40, 8), [1, 1]),  # two are no rhythm
        (job(0, 40, 8) + job(7, 40, 8) + job(18, 40, 8), [1, 1, 1]),  # step 9, 2 days off
        (job(0, 40, 8) + job(7, 40, 8) + job(14, 80, 8), [1, 1, 1]),  # twice the size
        (job(0, 200, 8) + job(7, 200, 8) + job(14, 200, 8), [1, 1, 1]),  # they overlap
        (job(0, 90, 8) + "".join(job(d, 40, 8) for d in (9, 16, 23)), [1, 3]),
        ("".join(job(d, 40, 8) for d in (0, 7, 14, 21, 50)), [4, 1]),
    ],
)
def test_what_is_no_rhythm_does_not_repeat(read_jobs, rows, counts):
    """Or campaigns would be planned for days on which nobody meant to run them."""
    history = read_jobs(HEADER + rows)
    assert [c.count for c in history.campaigns] == counts


def test_no_repetitions_when_none_are_asked_for(read_jobs):
    """Or a user who sees a false rhythm could not turn it off."""
    rows = HEADER + "".join(job(d, 40, 8) for d in (0, 7, 14))
    assert [c.count for c in read_jobs(rows, rule={"repeat_least": 0}).campaigns] == [1, 1, 1]


@pytest.mark.parametrize(
    ("start", "earliest", "begin"),
    [
        # The history begins on Wednesday 2026-01-07, in the week of Monday the 5th.
        (None, date(2026, 1, 7), date(2026, 1, 5)),
        (date(2027, 3, 1), date(2027, 3, 3), date(2027, 3, 1)),  # a Monday
        (date(2027, 3, 2), date(2027, 3, 10), date(2027, 3, 8)),  # a Tuesday
    ],
)
def test_the_calendar_is_moved_by_whole_weeks(read_jobs, start, earliest, begin):
    """Or what ran on weekdays would be planned on Sundays.

    Three days of work end on the 10th; with 14 days of slack the third week from Monday holds all.
    """
    history = read_jobs(HEADER + job(2, 72, 8), rule={"horizon_start": start})
    (campaign,) = history.campaigns
    assert campaign.earliest == earliest
    assert campaign.deadline == earliest + timedelta(days=3 + 14)
    assert history.horizon == (begin, begin + timedelta(weeks=3))


def test_nothing_is_lost_whatever_the_file(read_jobs):
    """Or GPU-hours would vanish between calendar and demand, or count twice.

    400 random jobs; the order of rows, and how many are read at once, change nothing.
    """
    rng = random.Random(7)
    rows = [
        job(
            rng.uniform(0, 60),
            rng.choice((0.5, 3, 20, 90)) + rng.randrange(3600) / 3600,
            rng.choice((1, 2, 8, 16, 64)),
            team=rng.choice("abc"),
            state=rng.choice(("COMPLETED", "FAILED", "TIMEOUT")),
            name=str(number // 2) if number % 5 == 0 else f"x{number}",
        )
        for number in range(400)
    ]
    total = sum(int(row.split(",")[1]) * int(row.split(",")[3]) for row in rows) / 3600
    first = read_jobs(HEADER + "".join(rows))
    assert first.balance.jobs == pytest.approx(total, rel=1e-12)
    assert everything(first) == pytest.approx(total, rel=1e-12)
    held = sum(team.quantities["allocated"].sum() for team in first.usage.teams)
    assert held == pytest.approx(total, rel=1e-12)
    assert {c.shape for c in first.campaigns} == {"elastic", "gang"}
    assert first.balance.demand > 0
    rng.shuffle(rows)
    again = read_jobs(HEADER + "".join(rows), chunk_rows=3)
    assert again.campaigns == first.campaigns
    assert (again.demand == first.demand).all()


@pytest.mark.parametrize(
    ("wrong", "flag"),
    [
        ({"gap_hours": -1}, "--gap"),
        ({"longest_days": 0}, "--longest"),
        ({"slack_days": -1}, "--slack"),
        ({"gang_gpus": 0}, "--gang-gpus"),
        ({"repeat_least": 1}, "--repeat-least"),
        ({"gap_hours": float("nan")}, "--gap"),
        ({"node_gpus": 0}, "--node-gpus"),
    ],
)
def test_a_rule_that_cannot_be_meant_is_refused(wrong, flag):
    """Or a slip in a flag would make a calendar of nonsense."""
    with pytest.raises(GpuladderError, match="GL-I012") as caught:
        CalendarRule(**wrong)
    assert flag in str(caught.value)
