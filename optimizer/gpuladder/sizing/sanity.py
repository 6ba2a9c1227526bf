"""Inputs that contradict each other or are in the wrong unit, each with its arithmetic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuladder.errors import Problem, Severity
from gpuladder.sizing.catalogue import find_hardware
from gpuladder.sizing.work import gpu_hours

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gpuladder.sizing.spec import MfuBand, Run

    Where = Callable[..., str]
    """Returns where a key of the workload was written, such as ``where("run", "params")``."""

HIGHEST_MFU = 0.75
"""No published training run is above it; the best FlashAttention runs reach 0.72."""
LOWEST_MFU = 0.02
NEAR = 0.01
"""Stated and derived hours that differ by less are the same."""
FAR = 3.0
"""Stated and derived hours that differ by more contradict each other."""
_MOST_TOKENS_PER_PARAMETER = 20_000.0
_LEAST_PARAMS = 1e6
_LEAST_TOKENS = 1e5
_LEAST_WEIGHT_BYTES, _MOST_WEIGHT_BYTES = 0.5, 4.0
_ROUNDING = 0.02
_UNIT = 30.0
"""Times off a peak of the catalogue that no number format explains."""


def nowhere(*_keys: str) -> str:
    """Return no place: a workload that stands in no file."""
    return ""


def mfu_problems(band: MfuBand, where: Where = nowhere) -> Iterator[Problem]:
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
            yield from share_problems(f"mfu.{name}", value, where("mfu", name))
    if not low <= expected <= high:
        yield Problem(
            code="GL-S903",
            where=where("mfu"),
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


def run_problems(run: Run, where: Where = nowhere) -> Iterator[Problem]:
    """Yield sizes of a run that look like another unit."""
    for name, value in (("params", run.params), ("active_params", run.active)):
        if value < _LEAST_PARAMS and (name == "params" or value != run.params):
            yield _doubted_size(
                where("run", name),
                f"`{name}` is {value:g}: a model of {value:,.0f} parameters",
                "it is a number of parameters, not billions of them",
                f"write {value:g}e9 for {value:g} billion",
            )
    ratio = run.tokens / run.active
    if run.tokens < _LEAST_TOKENS or ratio > _MOST_TOKENS_PER_PARAMETER:
        yield _doubted_size(
            where("run", "tokens"),
            f"`tokens` is {run.tokens:g}, {ratio:.3g} per parameter",
            "no known run is trained on so few, or so many for its size",
            "write all tokens of one run, such as 2e12 or 2T for two trillion",
        )
    if not _LEAST_WEIGHT_BYTES <= run.weight_bytes <= _MOST_WEIGHT_BYTES:
        yield _doubted_size(
            where("run", "weight_bytes"),
            f"`weight_bytes` is {run.weight_bytes:g}: {run.weight_bytes * 8:g} bits a weight",
            "weights have 4 to 32 bits; perhaps these are bits",
            f"write {run.weight_bytes / 8:g} for {run.weight_bytes:g} bits",
        )


def _doubted_size(where: str, what: str, why: str, fix: str) -> Problem:
    return Problem(
        code="GL-S905", where=where, what=what, why=why, fix=fix, severity=Severity.WARNING
    )


def peak_problems(name: str, peak_tflops: float, where: str = "") -> Iterator[Problem]:
    """Yield peaks in another unit or with sparsity, judged by the catalogue."""
    spec = find_hardware(name)
    if spec is None:
        return
    ratio = peak_tflops / spec.peak_tflops
    if not 1.0 / _UNIT <= ratio <= _UNIT:
        yield Problem(
            code="GL-S908",
            where=where,
            what=f"`{name}` has a peak of {peak_tflops:g} TFLOPS: {ratio:.3g} times the "
            f"{spec.peak_tflops:g} of dense BF16",
            why="it looks like another unit: GPU-hours are FLOPs over it",
            fix=f"write the dense BF16 peak in TFLOPS, {spec.peak_tflops:g}",
            severity=Severity.WARNING,
        )
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
    rollouts = f" and {short(run.generated_tokens)} of rollouts" if run.generated_tokens > 0 else ""
    tokens = f"{short(run.tokens)} tokens{rollouts}"
    return f"{runs}{short(run.active)} × {tokens} on {hardware} at {share}"


def short(number: float) -> str:
    """Return a large number in the usual letters: 13B, 2.5T, 350M."""
    for size, letter in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K")):
        if number >= size:
            return f"{number / size:.4g}{letter}"
    return f"{number:.4g}"


def counted(number: float, noun: str) -> str:
    """Return a number with its noun: 1 node, 2 nodes."""
    return f"{number:,.6g} {noun}{'' if number == 1 else 's'}"


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
