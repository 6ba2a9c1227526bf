"""Inputs that contradict each other or are in the wrong unit, each with its arithmetic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuladder.errors import Problem, Severity
from gpuladder.sizing.catalogue import find_hardware
from gpuladder.sizing.work import Method, gpu_hours

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpuladder.sizing.spec import MfuBand, Run

HIGHEST_MFU = 0.75
"""No published training run is above it; the best FlashAttention runs reach 0.72."""
LOWEST_MFU = 0.02
NEAR = 0.01
"""Stated and derived hours that differ by less are the same."""
FAR = 3.0
"""Stated and derived hours that differ by more contradict each other."""
_MOST_TOKENS_PER_PARAMETER = 20_000.0
_ROUNDING = 0.02


def mfu_problems(band: MfuBand, where: str = "") -> Iterator[Problem]:
    """Yield what is wrong with a band of MFU: percentages, impossible and unlikely values."""
    low, expected, high = band.band
    stated = {
        "low": band.low,
        "expected": expected,
        "high": band.high,
        "generation": band.generation,
    }
    for name, value in stated.items():
        if value is not None:
            yield from share_problems(f"mfu.{name}", value, where)
    if not low <= expected <= high:
        yield Problem(
            code="GL-S903",
            where=where,
            what=f"the MFU band is out of order: low {low:g}, expected {expected:g}, high {high:g}",
            fix="write low ≤ expected ≤ high; a high MFU is the cheap end",
        )


def share_problems(name: str, value: float, where: str = "") -> Iterator[Problem]:
    """Yield what is wrong with one share of peak."""
    if value > 1.0:
        yield Problem(
            code="GL-S903",
            where=where,
            what=f"`{name}` is {value:g}: more than all of peak",
            why="it is a share; this looks like a percentage",
            fix=f"write {value / 100.0:g} for {value:g} %"
            if value <= 100.0
            else "write a share between 0 and 1",
        )
    elif value > HIGHEST_MFU:
        yield Problem(
            code="GL-S904",
            where=where,
            what=f"`{name}` is {value:g}, above {HIGHEST_MFU:g}",
            why="no published training run reaches it: perhaps hardware FLOPs with recomputation, "
            "a utilisation of the cluster, or a peak that is too low",
            fix="give model FLOPs per second over the dense peak",
            severity=Severity.WARNING,
        )
    elif value < LOWEST_MFU:
        yield Problem(
            code="GL-S904",
            where=where,
            what=f"`{name}` is {value:g}, below {LOWEST_MFU:g}",
            why="perhaps a percentage that was divided by 100 twice: "
            f"{value:g} would be {value * 100:g} %",
            fix=f"write {value * 100:g} if {value * 100:g} of peak is meant",
            severity=Severity.WARNING,
        )


def run_problems(run: Run, where: str = "") -> Iterator[Problem]:
    """Yield sizes of a run that look like another unit."""
    if run.params < 1e6:
        yield Problem(
            code="GL-S905",
            where=where,
            what=f"`params` is {run.params:g}: a model of {run.params:,.0f} parameters",
            why="it is a number of parameters, not billions of them",
            fix=f"write {run.params:g}e9 for {run.params:g} billion",
            severity=Severity.WARNING,
        )
    ratio = run.tokens / run.active
    if run.tokens < 1e5 or ratio > _MOST_TOKENS_PER_PARAMETER:
        yield Problem(
            code="GL-S905",
            where=where,
            what=f"`tokens` is {run.tokens:g}, {ratio:.3g} per parameter",
            why="no known run is trained on so few, or so many for its size",
            fix="write all tokens of one run, such as 2e12 for two trillion",
            severity=Severity.WARNING,
        )


def contradictions(
    run: Run, generation_mfu: float | None = None, where: str = ""
) -> Iterator[Problem]:
    """Yield lines of a run that contradict each other, or that count for nothing beside others."""

    def doubt(what: str, why: str, fix: str) -> Problem:
        return Problem(
            code="GL-S917", where=where, what=what, why=why, fix=fix, severity=Severity.WARNING
        )

    if run.layers is not None and run.hidden is not None:
        shaped = 12.0 * run.layers * run.hidden**2
        if not run.active / FAR <= shaped <= run.params * FAR:
            yield doubt(
                f"12 × {run.layers:g} layers × {run.hidden:g}² are {short(shaped)} parameters; "
                f"{short(run.active)} was given",
                "attention and activations follow the shape, all else the parameters",
                "correct `layers` and `hidden`, or `params`",
            )
    learns = run.method is Method.RL
    if run.generated_tokens > 0 and not learns:
        yield doubt(
            f"`generated_tokens` is {short(run.generated_tokens)} and `method` is "
            f"{run.method.value}",
            "rollouts are counted, and only reinforcement learning has them",
            "write `method: rl`, or leave the tokens out",
        )
    if learns and run.generated_tokens == 0:
        yield doubt(
            "`method` is rl, and no `generated_tokens` are given",
            "rollouts are most of such a run's time and are left out",
            "give the tokens that are generated in one run",
        )
    if generation_mfu is not None and run.generated_tokens == 0:
        yield doubt(
            f"`mfu.generation` is {generation_mfu:g}, and nothing is generated",
            "it counts for nothing",
            "give `generated_tokens`, or leave it out",
        )


def peak_problems(name: str, peak_tflops: float, where: str = "") -> Iterator[Problem]:
    """Yield peaks that look like the figure with sparsity, judged by the catalogue."""
    spec = find_hardware(name)
    if spec is None:
        return
    ratio = peak_tflops / spec.peak_tflops
    for factor, meaning in ((2.0, "with sparsity"), (4.0, "of FP8 with sparsity")):
        if abs(ratio / factor - 1.0) < _ROUNDING:
            yield Problem(
                code="GL-S908",
                where=where,
                what=f"`{name}` has a peak of {peak_tflops:g} TFLOPS: {factor:g} × the "
                f"{spec.peak_tflops:g} of dense BF16, the figure {meaning}",
                why="training does not use sparsity: GPU-hours would come out at "
                f"1/{factor:g} of what they are",
                fix=f"write the dense BF16 peak, {spec.peak_tflops:g}",
                severity=Severity.WARNING,
            )


def stated_hours_problems(
    stated: float,
    derived: tuple[float, float, float],
    arithmetic: str,
    where: str = "",
) -> Iterator[Problem]:
    """Yield the contradiction between stated GPU-hours and those of the workload.

    Parameters
    ----------
    stated : float
    derived : tuple of float
        GPU-hours at the high, the expected and the low MFU: fewest first.
    arithmetic : str
        How the derived hours came about, such as ``13B × 2B tokens on h100 at 40 % MFU``.
    where : str
    """
    fewest, expected, most = derived
    if abs(stated / expected - 1.0) <= NEAR:
        return
    ratio = max(stated / most, fewest / stated)
    size = max(stated / expected, expected / stated)
    direction = "more" if stated > expected else "fewer"
    contradicts = ratio > FAR
    yield Problem(
        code="GL-S906" if contradicts else "GL-S907",
        where=where,
        what=f"{arithmetic} is {expected:,.0f} GPU-hours; {stated:,.0f} was given, "
        f"{size:,.3g} times {direction}",
        why="both cannot be meant"
        if contradicts
        else "the stated hours count, and the workload only explains them",
        fix="leave `gpu_hours` out to use the workload's, or correct one of the two",
        severity=Severity.ERROR if contradicts else Severity.WARNING,
    )


def work_in_words(run: Run, hardware: str, mfu: float) -> str:
    """Return a run's arithmetic as a reader says it: ``13B × 2B tokens on h100 at 40 % MFU``."""
    share = f"{mfu * 100:.3g} % MFU"
    runs = f"{run.runs} runs of " if run.runs > 1 else ""
    return f"{runs}{short(run.active)} × {short(run.tokens)} tokens on {hardware} at {share}"


def short(number: float) -> str:
    """Return a large number in the usual letters: 13B, 2.5T, 350M."""
    for size, letter in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K")):
        if number >= size:
            return f"{number / size:.4g}{letter}"
    return f"{number:.4g}"


def hours_band(
    model_flops: float, peak_tflops: float, band: tuple[float, float, float]
) -> tuple[float, float, float]:
    """Return GPU-hours at the high, the expected and the low MFU: fewest first."""
    low, expected, high = band
    return (
        gpu_hours(model_flops, peak_tflops, high),
        gpu_hours(model_flops, peak_tflops, expected),
        gpu_hours(model_flops, peak_tflops, low),
    )
