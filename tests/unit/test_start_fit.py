"""What an earlier plan has in common with the scenario that is to start from it."""

from __future__ import annotations

from tests.analytic.builders import WEEK, day, gang, offer, scenario, solved

from gpuladder.start_fit import start_fit

KEYS = {"price": 1.0, "tenor": "4 weeks", "lot_gpus": 8}


def of(order_id: str, run_id: str, **tables: object):
    return scenario(
        offers=[offer("reserved", id=order_id, **KEYS)],
        campaigns=[gang(run_id, 8, 8 * WEEK * 4, deadline=day(4))],
        **tables,
    )


def test_the_same_scenario_fits_whole() -> None:
    """A user would doubt a start that is as good as it can be."""
    asked = of("lease", "train")
    assert start_fit(asked, solved(asked)).text == (
        "All of the earlier plan fits: 1 order and 1 run."
    )


def test_what_does_not_fit_is_named() -> None:
    """A search would start from less than the user thinks, in silence."""
    fit = start_fit(of("lease", "other"), solved(of("lease", "train")))
    assert fit.text == (
        "Of the earlier plan 1 order and 0 runs fit; not in this scenario: "
        f"a run of `train` from {day()}."
    )


def test_another_scenario_s_plan_fits_nowhere() -> None:
    """The wrong run folder would be named without any sign of it."""
    fit = start_fit(of("lease", "other"), solved(of("rent", "train")))
    assert fit.text.startswith("Nothing of the earlier plan fits, the search starts anew: `rent`")
