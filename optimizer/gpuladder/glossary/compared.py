"""The words of two runs set side by side, and of a plan set beside a bill."""

from __future__ import annotations

from gpuladder.glossary.term import Term

COMPARED = (
    Term(
        name="told apart",
        aliases=("not told apart", "not_told_apart"),
        definition="One run costs more than another for certain only where the dearer one's proven "
        "bound lies above the cheaper one's plan. Else the search could have made the difference.",
        formula="bound of the dearer run > cost of the cheaper one",
        example="A plan of 100 and one of 104 that is proven to within 5: the second could cost "
        "104 − 5 = 99, so the two are not told apart.",
    ),
    Term(
        name="fail-over",
        aliases=("--fail-over",),
        definition="By how much a figure may rise from one run to the next before `gpuladder diff` "
        "ends with exit code 1; a figure that cannot be compared has not passed.",
        formula="(after − before) ÷ |before|",
        unit="per cent",
        example="From 9408 to 10080: (10080 − 9408) ÷ 9408 = 0.0714, more than 5 %.",
    ),
    Term(
        name="FOCUS-shaped",
        aliases=("focus",),
        definition="In the columns of the FinOps Open Cost and Usage Specification, so that a plan "
        "can be set beside bills: forecasts, not billing data, and not conformant.",
        example="8 GPUs for a year at 1.00, half of it paid ahead: billed on the first day "
        "8 × 8760 × 1.00 ÷ 2 = 35040, effective in January 8 × 744 × 1.00 = 5952.",
        source="FOCUS 1.3 and 1.4",
    ),
)
