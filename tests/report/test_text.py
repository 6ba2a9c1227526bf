"""The answer on a terminal."""

import dataclasses

import pytest

from gpuladder.report.table import text_width
from gpuladder.report.text import MOST_ORDERS, summary_text


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_fits_the_terminal(make, width: int) -> None:
    """Lines that wrap make the table of what to sign unreadable."""
    text = summary_text(make("name" * 40, orders=3), width=width)
    wide = [line for line in text.splitlines() if text_width(line) > max(width, 72)]
    assert not wide


def test_says_what_to_sign_and_by_when(result) -> None:
    """The one thing a person has to act on would be missing."""
    text = summary_text(result, width=120)
    assert (
        "Sign 2 commitments, together at most 48 GPUs at a time, the first by 2026-01-05." in text
    )
    line = next(line for line in text.splitlines() if "east-res@1" in line)
    # Start 19 January less seven days to sign; 182 days long.
    assert line.split() == [
        "2026-01-12",
        "east-res@1",
        "reserved",
        "24",
        "2026-01-19",
        "2026-07-20",
        "49,383",
    ]


def test_says_what_it_costs_and_how_sure_that_is(result) -> None:
    """A cost without its proof cannot be signed on."""
    text = " ".join(summary_text(result).split())
    assert "99,679 USD, proven to be within 0.30 % of the cheapest possible" in text
    assert "found nothing" in text


def test_no_codes_unless_asked(result) -> None:
    """Escape codes would end up in logs and pipes."""
    assert "\x1b" not in summary_text(result)
    assert "\x1b[" in summary_text(result, colour=True)


def test_escape_sequences_in_names_do_not_reach_the_terminal(make) -> None:
    """A name in a scenario file could rewrite what the terminal shows."""
    result = make()
    rows = [
        dataclasses.replace(row, offer="evil\x1b[2Jx\r\n", pool="p")
        for row in result.tables.commitments
    ]
    changed = dataclasses.replace(
        result, tables=dataclasses.replace(result.tables, commitments=tuple(rows))
    )
    assert "\x1b" not in summary_text(changed)
    assert "\r" not in summary_text(changed)


def test_nothing_to_sign(make) -> None:
    """A plan without commitments would print an empty table."""
    text = summary_text(make(orders=0))
    assert "Sign nothing" in text
    assert "Sign by" not in text


def test_no_plan_says_who_is_short(infeasible) -> None:
    """The answer no would come without a way out."""
    text = summary_text(infeasible)
    assert "No plan can satisfy this scenario" in text
    assert "pretrain is short of 321.5 GPU-hours. Deadline 9 days later." in text


def test_long_lists_are_cut_and_say_so(make) -> None:
    """A hundred orders would push the cost off the screen."""
    text = summary_text(make(orders=MOST_ORDERS + 7))
    assert "… and 7 more" in text


def test_offers_that_differ_at_their_end_stay_apart(make) -> None:
    """Two tenors of one offer would look the same on a narrow terminal."""
    result = make(orders=2)
    offers = (
        "a-very-long-offer-name-of-a-provider@1 years",
        "a-very-long-offer-name-of-a-provider@3 years",
    )
    rows = tuple(
        dataclasses.replace(row, offer=offer)
        for row, offer in zip(result.tables.commitments, offers, strict=True)
    )
    changed = dataclasses.replace(
        result, tables=dataclasses.replace(result.tables, commitments=rows)
    )
    text = summary_text(changed, width=80)
    assert "@1 years" in text
    assert "@3 years" in text


@pytest.mark.parametrize("width", [40, 60, 65, 80])
def test_offers_are_told_apart_however_narrow(make, width: int) -> None:
    """A buyer would sign two blocks of one length instead of one of each."""
    result = make(orders=3)
    offers = ("east-block@14 days", "east-block@28 days", "east-blocks-for-training@28 days")
    rows = tuple(
        dataclasses.replace(row, offer=offer)
        for row, offer in zip(result.tables.commitments, offers, strict=True)
    )
    changed = dataclasses.replace(
        result, tables=dataclasses.replace(result.tables, commitments=rows)
    )
    lines = summary_text(changed, width=width).splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("Sign by"))
    shown = {line[10 : line.index(" 24 ")].strip() for line in lines[start + 1 : start + 4]}
    assert len(shown) == 3


def test_a_wide_terminal_shows_offers_in_full(make) -> None:
    """Names would be cut beside empty space."""
    result = make(orders=1)
    offer = "a-very-long-offer-name-of-a-provider-and-of-a-region@1 years"
    row = dataclasses.replace(result.tables.commitments[0], offer=offer)
    tables = dataclasses.replace(result.tables, commitments=(row,))
    assert offer in summary_text(dataclasses.replace(result, tables=tables), width=140)
