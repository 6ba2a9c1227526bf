"""Inputs that contradict each other or are in the wrong unit."""

from __future__ import annotations

import pytest
from tests.sizing.published import rows

from gpuladder.errors import Severity
from gpuladder.sizing import effects, sanity
from gpuladder.sizing.spec import MfuBand, Run, Workload


def codes(problems):
    return [(problem.code, problem.severity) for problem in problems]


ERROR, WARNING = Severity.ERROR, Severity.WARNING


def test_stated_hours_against_what_the_run_takes():
    """30,000 hours would be bought for a run of 110, a published mistake."""
    run = Run(params=13e9, tokens=2e9)
    hours = sanity.hours_band(6 * 13e9 * 2e9, 989, (0.40, 0.40, 0.40))
    words = sanity.work_in_words(run, "h100", 0.40)
    (problem,) = sanity.stated_hours_problems(30_000, hours, words)
    assert (problem.code, problem.severity) == ("GL-S906", ERROR)
    assert problem.what == (
        "13B × 2B tokens on h100 at 40 % MFU is 110 GPU-hours; 30,000 was given, 274 times more"
    )


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        (100, []),
        (100.9, []),
        (120, [("GL-S907", WARNING)]),
        (240, [("GL-S907", WARNING)]),
        (28, [("GL-S907", WARNING)]),
        (450, [("GL-S906", ERROR)]),
        (20, [("GL-S906", ERROR)]),
    ],
)
def test_how_far_stated_hours_may_lie_from_the_band(stated, expected):
    """A small difference would stop a plan, or a contradiction pass.

    The band of MFU makes 80 to 140 hours; three times outside it is a contradiction.
    """
    assert codes(sanity.stated_hours_problems(stated, (80, 100, 140), "x")) == expected


@pytest.mark.parametrize(
    ("band", "expected"),
    [
        ({"expected": 0.4}, []),
        ({"low": 0.35, "expected": 0.4, "high": 0.55}, []),
        ({"expected": 40}, [("GL-S903", ERROR)]),
        ({"expected": 0.76}, [("GL-S904", WARNING)]),
        ({"expected": 0.004}, [("GL-S904", WARNING)]),
        ({"low": 0.5, "expected": 0.4}, [("GL-S903", ERROR)]),
        ({"expected": 0.4, "generation": 8}, [("GL-S903", ERROR)]),
    ],
)
def test_bands_of_mfu(band, expected):
    """A percentage would make a run a hundred times too short, the reverse as much too long."""
    assert codes(sanity.mfu_problems(MfuBand.model_validate(band))) == expected


def test_published_utilisations_are_accepted_but_the_known_mistake():
    """Real runs would be doubted, or the percentage in a column of shares accepted.

    Epoch AI's table holds one row in per cent: FlashAttention-2's 72.0.
    """
    doubted = {
        row["model"]: codes(sanity.share_problems("mfu", float(row["mfu"])))
        for row in rows("epoch_mfu")
    }
    wrong = {model: found for model, found in doubted.items() if found}
    assert list(wrong.values()) == [[("GL-S903", ERROR)]]
    assert "FlashAttention" in next(iter(wrong))


@pytest.mark.parametrize(
    ("name", "peak", "expected"),
    [
        ("H100", 989, []),
        ("H100", 1979, [("GL-S908", WARNING)]),
        ("H100", 3958, [("GL-S908", WARNING)]),
        ("A100", 624, [("GL-S908", WARNING)]),
        ("B200", 2250, []),
        ("our own chip", 1979, []),
    ],
)
def test_peaks_with_sparsity(name, peak, expected):
    """Hours would come out at half of what they are."""
    assert codes(sanity.peak_problems(name, peak)) == expected


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        ({"params": 13e9, "tokens": 2e9}, []),
        ({"params": 13, "tokens": 2e9}, [("GL-S905", WARNING)] * 2),
        ({"params": 13e9, "tokens": 2000}, [("GL-S905", WARNING)]),
    ],
)
def test_runs_counted_in_billions(run, expected):
    """A model of thirteen parameters would be sized."""
    assert codes(sanity.run_problems(Run.model_validate(run))) == expected


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"layers": 10, "hidden": 512}, "12 × 10 layers × 512² are 31.46M parameters"),
        ({"generated_tokens": 1e9}, "`method` is pretraining"),
        ({"method": "rl"}, "no `generated_tokens`"),
    ],
)
def test_lines_of_a_run_that_contradict_each_other(keys, words):
    """A run would be sized by one of two lines that cannot both be meant."""

    def found(mfu, **keys):
        run = {"params": 13e9, "tokens": 2e9} | keys
        return list(effects.contradictions(Workload.model_validate({"run": run, "mfu": mfu})))

    (problem,) = found(0.4, **keys)
    assert (problem.code, words in problem.what) == ("GL-S917", True)
    assert found(0.4, layers=40, hidden=5120) == []
    assert len(found({"expected": 0.4, "generation": 0.1}, layers=40, hidden=5120)) == 1
