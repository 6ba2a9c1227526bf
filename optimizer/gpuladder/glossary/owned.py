"""The words of bought hardware: its loan, its market value and its books."""

from __future__ import annotations

from gpuladder.glossary.term import Term

OWNED = (
    Term(
        name="loan",
        aliases=("financing", "instalment", "down payment", "credit"),
        definition="Hardware bought on credit: a down payment, then level payments in arrears. "
        "What is still owed when the hardware is valued is settled there, so a loan at the "
        "discount rate costs what cash does.",
        formula="payment = P ÷ Σ (1 + i)^(−days ÷ 365)",
        unit="currency",
        example="1000 at 21 % in two yearly payments: 1000 × 0.21 ÷ (1 − 1 ÷ 1.4641) = 662.49 "
        "each. After one year 1000 × 1.21 = 1210.00 is owed before the payment of that day.",
        source="Brealey, Myers & Allen, Principles of Corporate Finance, ch. 2",
    ),
    Term(
        name="residual value",
        aliases=("residual_per_year", "residual_curve", "residual_per_generation", "turnovers"),
        definition="What a sale of bought hardware brings at the earlier of the end of the horizon "
        "and of its life: a share of the price by age, less when a successor is on sale.",
        formula="price × share at its age × residual_per_generation for each successor since",
        unit="currency",
        example="30000, worth 0.6 of it at its age and 0.8 of that after a successor: "
        "30000 × 0.6 × 0.8 = 14400.",
    ),
    Term(
        name="book value",
        aliases=("depreciation", "disposal gain", "straight_line", "declining", "by_generation"),
        definition="What the accounts still hold of bought hardware, by the offer's depreciation. "
        "The objective counts what a sale brings instead; the difference is a gain or a loss.",
        formula="price − Σ depreciation; gain = residual value − book value",
        unit="currency",
        example="30000 over 4 years, straight: after one year 30000 − 30000 ÷ 4 = 22500. Sold for "
        "18000 then: 18000 − 22500 = -4500, a loss.",
    ),
)
