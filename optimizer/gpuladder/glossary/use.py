"""The words of what was used: what a history says of reserved GPUs, and what it does not."""

from __future__ import annotations

from gpuladder.glossary.term import Term

USE = (
    Term(
        name="allocated",
        aliases=("allocated of reserved", "empty"),
        definition="A GPU is allocated while a job holds it, at work or not. What is reserved and "
        "not allocated stands empty.",
        formula="min(allocated − metered, capacity) ÷ capacity",
        unit="GPUs; share of reserved GPU-hours",
        example="64 reserved and 40 allocated for an hour: 40 ÷ 64 = 0.625 allocated, and "
        "64 − 40 = 24 GPU-hours empty.",
    ),
    Term(
        name="busy",
        aliases=("busy of allocated", "stalled", "dormant"),
        definition="A GPU is busy while it computes. What is allocated and not busy is stalled; "
        "the part of it that finished or sleeping jobs hold is dormant.",
        formula="min(busy, allocated) ÷ allocated",
        unit="GPUs; share of allocated GPU-hours",
        example="40 allocated and 30 busy for an hour: 30 ÷ 40 = 0.75 busy, and 40 − 30 = 10 "
        "GPU-hours stalled.",
    ),
    Term(
        name="dead reservation",
        definition="A reservation of which less than a threshold (5 % unless told otherwise) was "
        "busy or, where busy is not known, allocated.",
        unit="reservation",
        example="16 GPUs for 744 hours, 101 GPU-hours used: 101 ÷ 11904 = 0.008 of it.",
    ),
    Term(
        name="pooling",
        aliases=("saved by pooling", "lending"),
        definition="One reservation for several teams in place of one for each, at the same "
        "standard: every hour in full, or a share of hours or of GPU-hours. Below the peak it can "
        "need more: shares of hours do not add up.",
        formula="Σ level of each team − level of their sum",
        unit="GPUs",
        example="Two teams that need 4 GPUs in turn: alone 4 + 4 = 8, together 4; saved 8 − 4 = 4.",
    ),
    Term(
        name="realised rate",
        aliases=("loaded rate", "effective cost"),
        definition="What a GPU-hour of one offer really cost by the bill: the amortised cost of "
        "what was used by the GPU-hours used; loaded, with the cost of what was not used.",
        formula="effective cost ÷ GPU-hours used",
        unit="currency per GPU-hour",
        example="24 GPU-hours used at 45.00 and 8 unused at 15.00: 45.00 ÷ 24 = 1.875, loaded "
        "(45.00 + 15.00) ÷ 24 = 2.50.",
        source="FOCUS 1.3, EffectiveCost",
    ),
)
