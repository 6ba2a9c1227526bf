"""The options of ``gpuladder size`` that stand for the seven lines of a workload."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gpuladder.errors import Problem, UsageError

if TYPE_CHECKING:
    from gpuladder.scenario.source import RawMap
    from gpuladder.sizing.line import Question
    from gpuladder.sizing.sanity import Where

Command = TypeVar("Command", bound=Callable[..., Any])
_METHODS = ("pretraining", "full_finetune", "lora", "qlora", "rl")

Option = tuple[str, tuple[str, ...], str, dict[str, Any]]
"""Flag, the key it stands for, its help, and what click needs to know of it."""
_RUN, _CHECKPOINTS = ("workload", "run"), ("workload", "checkpoints")
_MFU, _PLACEMENT = ("workload", "mfu"), ("workload", "placement")


def _choice(*names: str) -> dict[str, Any]:
    return {"type": click.Choice(names)}


OPTIONS: tuple[Option, ...] = (
    ("--params", (*_RUN, "params"), "(1) Parameters of the model: 13e9 or 13B.", {}),
    ("--active-params", (*_RUN, "active_params"), "(1) Parameters a token passes through.", {}),
    ("--tokens", (*_RUN, "tokens"), "(1) Tokens trained on: 2e12 or 2T.", {}),
    ("--generated-tokens", (*_RUN, "generated_tokens"), "(1) Tokens of rollouts (rl).", {}),
    ("--method", (*_RUN, "method"), "(1) What is done; pretraining.", _choice(*_METHODS)),
    ("--sequence", (*_RUN, "sequence"), "(1) Context in tokens; adds the attention term.", {}),
    ("--layers", (*_RUN, "layers"), "(1) Layers of the model, with --hidden.", {}),
    ("--hidden", (*_RUN, "hidden"), "(1) Width of the model, with --layers.", {}),
    ("--heads", (*_RUN, "heads"), "(1) Attention heads; 128 wide each.", {}),
    ("--micro-batch", (*_RUN, "micro_batch"), "(1) Sequences in memory at once; 1.", {}),
    (
        "--recompute",
        (*_RUN, "recompute"),
        "(1) Activations computed again; selective.",
        _choice("none", "selective", "full"),
    ),
    ("--weight-bytes", (*_RUN, "weight_bytes"), "(1) Bytes per weight; 2.", {}),
    ("--usable-share", (*_RUN, "usable_share"), "(1) Usable share of memory; 0.8.", {}),
    (
        "--communication",
        (*_RUN, "communication"),
        "(1) Whether pieces talk all the time; periodic.",
        _choice("periodic", "constant"),
    ),
    (
        "--communication-share",
        (*_RUN, "communication_share"),
        "(1) Share of a step that does not shrink.",
        {},
    ),
    (
        "--scaling",
        (*_RUN, "scaling"),
        "(1) Measured throughput by GPUs.",
        {"metavar": "8=1,16=1.9"},
    ),
    ("--runs", (*_RUN, "runs"), "(1) Runs of this size; 1.", {}),
    (
        "--every",
        ("workload", "cadence", "every"),
        "(2) How often it comes back, e.g. '4 weeks'.",
        {"metavar": "SPAN"},
    ),
    ("--count", ("workload", "cadence", "count"), "(2) How many times in all, with --every.", {}),
    (
        "--time-limit",
        ("workload", "time_limit"),
        "(3) Time-to-train limit of one run, e.g. '21 days'.",
        {"metavar": "SPAN"},
    ),
    (
        "--preemption",
        ("workload", "preemption"),
        "(4) Whether a run survives being stopped; checkpointed.",
        _choice("never", "checkpointed"),
    ),
    (
        "--interval-minutes",
        (*_CHECKPOINTS, "interval_minutes"),
        "(5) Minutes between checkpoints, or auto; auto.",
        {},
    ),
    (
        "--checkpoint-minutes",
        (*_CHECKPOINTS, "write_minutes"),
        "(5) Minutes to write a checkpoint; 5.",
        {},
    ),
    (
        "--restart-minutes",
        (*_CHECKPOINTS, "restart_minutes"),
        "(5) Minutes to be running again; 15.",
        {},
    ),
    (
        "--node-mtbf-hours",
        (*_CHECKPOINTS, "node_mtbf_hours"),
        "(5) Hours between failures of a node; 6334 (Llama 3: 419 on 2,048 nodes in 54 days).",
        {},
    ),
    ("--checkpoint-gb", (*_CHECKPOINTS, "size_gb"), "(5) Size of a checkpoint, GB.", {}),
    ("--kept", (*_CHECKPOINTS, "kept"), "(5) Checkpoints kept at once; 1.", {}),
    ("--mfu", (*_MFU, "expected"), "(6) Expected share of peak; 0.4.", {}),
    ("--mfu-low", (*_MFU, "low"), "(6) Pessimistic share of peak.", {}),
    ("--mfu-high", (*_MFU, "high"), "(6) Optimistic share of peak.", {}),
    ("--mfu-generation", (*_MFU, "generation"), "(6) Share of peak of rollouts (rl).", {}),
    (
        "--hardware",
        (*_MFU, "hardware"),
        "(6) Hardware the MFU is of; --place-hardware, or h100.",
        {"metavar": "NAME"},
    ),
    (
        "--place-hardware",
        (*_PLACEMENT, "hardware"),
        "(7) Hardware it may run on; may be repeated.",
        {"metavar": "NAME", "multiple": True},
    ),
    (
        "--place-provider",
        (*_PLACEMENT, "providers"),
        "(7) Provider whose prices count; may be repeated.",
        {"metavar": "NAME", "multiple": True},
    ),
    (
        "--place-verified",
        (*_PLACEMENT, "verified"),
        "(7) Only prices of verified machines.",
        {"is_flag": True},
    ),
    ("--earliest", ("earliest",), "(7) First day, with --deadline.", {"metavar": "DATE"}),
    ("--deadline", ("deadline",), "(7) Day by which it is done.", {"metavar": "DATE"}),
    ("--gpus", ("gpus",), "GPUs of one run; the fewest that keep its limit.", {}),
    ("--gpu-hours", ("gpu_hours",), "Stated GPU-hours, to be checked.", {}),
    (
        "--price-kind",
        ("price_kind",),
        "Prices of the catalogue for the nodes that fit; on_demand.",
        _choice("on_demand", "spot"),
    ),
)
"""In the order of the seven lines, each with its number."""


def name_of(flag: str) -> str:
    """Return the name under which click passes a flag on."""
    return flag.removeprefix("--").replace("-", "_")


def line_options(command: Command) -> Command:
    """Add the options of the seven lines."""
    for flag, _key, help_text, more in reversed(OPTIONS):
        known: dict[str, Any] = {"metavar": "NUMBER"} | more
        if "type" in more:
            del known["metavar"]
        if "is_flag" in more:
            known = more | {"default": None}
        command = click.option(flag, help=help_text, **known)(command)
    return command


def question_of(flags: dict[str, Any]) -> tuple[Question, Where]:
    """Return the question that the given flags put, and where each of its keys was written.

    Raises
    ------
    UsageError
        With every flag that is wrong.
    """
    from pydantic import ValidationError

    from gpuladder.scenario.source import Locations, RawMap
    from gpuladder.scenario.wording import problems_of
    from gpuladder.sizing.line import DEFAULT_MFU, Question

    raw = RawMap()
    for flag, key, _help, _more in OPTIONS:
        value = flags[name_of(flag)]
        if value is not None and value != ():
            _put(raw, key, _scaling(value, flag) if flag == "--scaling" else value, flag)
    band = raw.get("workload", {}).get("mfu", {})
    if not {"low", "expected", "high"} & set(band):
        for name, share in DEFAULT_MFU.items():
            _put(raw, (*_MFU, name), share, "--mfu")
    elif "expected" not in band:
        _put(raw, (*_MFU, "expected"), DEFAULT_MFU["expected"], "--mfu")
    root = RawMap()
    root.put("line", raw, "")
    locations = Locations(root)

    def where(*keys: str) -> str:
        return locations.place(("line", *keys))

    try:
        return Question.model_validate(raw), where
    except ValidationError as error:
        found = problems_of(error, ("line",), raw, locations)
        raise UsageError([replace(each, where=_flags_of(each)) for each in found]) from error


def _flags_of(problem: Problem) -> str:
    """Return the flags that a problem is about: those of the keys it names, else its place."""
    named = re.findall(r"`(\w+)`", problem.what) if problem.code == "GL-S103" else []
    flags = [flag for flag, key, *_rest in OPTIONS if key[-1] in named]
    return ", ".join(flags) or problem.where.partition(" ")[0]


def _put(raw: RawMap, key: tuple[str, ...], value: Any, flag: str) -> None:
    from gpuladder.scenario.source import RawMap

    for part in key[:-1]:
        if part not in raw:
            raw.put(part, RawMap(), flag)
        raw = raw[part]
    raw.put(key[-1], value, flag)


def _scaling(text: str, flag: str) -> RawMap:
    """Read ``8=1,16=1.9``: GPUs and their throughput."""
    from gpuladder.scenario.source import RawMap

    found = RawMap(flag)
    for part in text.split(","):
        size, sign, rate = (piece.strip() for piece in part.partition("="))
        if not sign or not size or not rate or size in found:
            raise UsageError(
                Problem(
                    code="GL-U005",
                    where=flag,
                    what=f"not a scaling curve: {text!r}",
                    fix="write each number of GPUs once with its throughput: 8=1,16=1.9,32=3.5",
                )
            )
        found.put(size, rate, flag)
    return found
