"""The words of the field: what a term means here, its formula, its unit and an example.

One list for ``gpuladder explain``, the glossary of the workbook and the page. Formulas are those of
the contract of results and of FORMULATION.md; where a term is older than this program its source
stands beside it. Every ``left = right`` of an example is computed by a test.
"""

from __future__ import annotations

from gpuladder.glossary.compared import COMPARED
from gpuladder.glossary.owned import OWNED
from gpuladder.glossary.term import Term
from gpuladder.glossary.use import USE

__all__ = ["TERMS", "Term"]

_CAPACITY = (
    Term(
        name="commitment",
        aliases=("committed", "contract commitment"),
        definition="An obligation to pay for capacity over a term whether it is used or not: a "
        "burst window, reservation, dedicated cluster or owned hardware.",
        formula="GPUs × hours of the term × price",
        unit="GPUs over a term",
        example="8 GPUs for 4 weeks at 2.00: 8 × 672 × 2.00 = 10752, used or idle.",
        source="FOCUS 1.3, dataset ContractCommitment",
    ),
    Term(
        name="tenor",
        aliases=("term",),
        definition="Length of a commitment from its start to its end; the end is the first day "
        "without it.",
        unit="days, weeks, months or years",
        example="A tenor of 3 months from 2026-02-02 ends on 2026-05-02; that day is not in it.",
    ),
    Term(
        name="burst window",
        aliases=("burst_window", "capacity block"),
        definition="A short block of capacity for a fixed length, booked ahead and usually paid "
        "in full when it is booked.",
        formula="GPUs × hours × price at its start",
        unit="GPUs",
        example="32 GPUs for 14 days at 3.00: 32 × 336 × 3.00 = 32256, due at the start.",
        source="EC2 Capacity Blocks, GCP calendar mode",
    ),
    Term(
        name="reservation",
        aliases=("reserved", "standing reservation"),
        definition="Standing capacity for a tenor, in whole lots, billed every hour of the term.",
        unit="GPUs",
        example="64 GPUs for a year at 2.10: 64 × 8760 × 2.10 = 1177344.",
    ),
    Term(
        name="dedicated",
        definition="Whole clusters or racks of one tenant, in large lots, often with a cost of "
        "setting up. The only rented capacity that campaigns of dedicated tenancy may use.",
        unit="GPUs",
        example="Two lots of 64 GPUs with a set-up of 50000: 2 × 64 = 128 GPUs, set up once.",
    ),
    Term(
        name="owned",
        aliases=("owned hardware",),
        definition="Hardware that is bought: paid at the start or by a loan, run at a cost per "
        "GPU-hour, and worth its residual value at the end.",
        formula="purchase or its loan + running cost − residual value, each discounted at its own "
        "date",
        unit="GPUs",
        example="A GPU of 30000 that keeps 60 % of its value each year is worth "
        "30000 × 0.6 = 18000 after one year.",
    ),
    Term(
        name="on demand",
        aliases=("on_demand", "on-demand"),
        definition="Firm capacity billed for what is used, up to a quota.",
        formula="GPUs in use × hours × price",
        unit="GPUs",
        example="10 GPUs for 100 hours at 4.00: 10 × 100 × 4.00 = 4000.",
    ),
    Term(
        name="spot",
        aliases=("interruptible", "preemptible"),
        definition="Capacity that can be reclaimed, billed for what is used; only work of classes "
        "that tolerate it may run there.",
        formula="GPUs in use × hours × price; work done × goodput",
        unit="GPUs",
        example="At 1.20 with a goodput of 0.80 a useful hour costs 1.20 ÷ 0.80 = 1.50.",
    ),
    Term(
        name="flex reservation",
        aliases=("flex", "usage_price", "holding rate"),
        definition="A reservation with a holding rate for every hour and a usage price for every "
        "hour used. It serves campaigns, never baseline demand or backfill.",
        formula="holding rate × hours held + usage price × hours used",
        unit="GPUs",
        example="Held 1000 GPU-hours at 0.50, used 400 at 2.00: 1000 × 0.50 + 400 × 2.00 = 1300.",
        source="CoreWeave Flex Reservation",
    ),
    Term(
        name="stable capacity",
        aliases=("stable", "firm capacity"),
        definition="All capacity of a pool that cannot be reclaimed: commitments active, held "
        "ones, and on demand. Interchangeable between campaigns.",
        unit="GPUs",
        example="32 reserved, 16 held and 8 on demand are 32 + 16 + 8 = 56 stable GPUs.",
    ),
    Term(
        name="pool",
        definition="One place where capacity is interchangeable: a provider, region, hardware and "
        "fabric.",
        example="Two reservations of one pool serve any campaign there; two pools never mix.",
    ),
    Term(
        name="backfill",
        definition="Sale of committed capacity that would be idle; never from metered or flex "
        "capacity.",
        formula="GPU-hours sold × value",
        unit="currency",
        example="100 idle GPU-hours at a value of 0.60 bring 100 × 0.60 = 60.",
    ),
)

_WORK = (
    Term(
        name="campaign",
        aliases=("run",),
        definition="One forecast run, or a family of small runs that share a deadline.",
        unit="reference GPU-hours",
        example="10000 useful hours with 25 % waste are 10000 × 1.25 = 12500 hours of work.",
    ),
    Term(
        name="gang",
        definition="One run on a fixed number of GPUs from start to finish without a pause.",
        formula="duration = work ÷ (GPUs × relative speed × scaling × goodput)",
        unit="GPUs for a time",
        example="12800 hours of work on 64 GPUs at a goodput of 1: 12800 ÷ 64 = 200 hours.",
    ),
    Term(
        name="elastic",
        definition="Many small jobs: any number of GPUs up to a maximum, stop and go.",
        unit="GPUs",
        example="1680 hours of work within one week need 1680 ÷ 168 = 10 GPUs on average.",
    ),
    Term(
        name="preemption class",
        aliases=("preemption_class", "preemption-tolerance class"),
        definition="Which interruptions a run survives: the share of its work that may be done on "
        "spot, the time to write a checkpoint and to restart.",
        example="A class with a spot share of 0.5 may do 500 of 1000 hours on spot: "
        "500 ÷ 1000 = 0.5.",
    ),
    Term(
        name="goodput",
        definition="Share of paid time that moves the run forward, after writing checkpoints, "
        "redoing lost work and restarting.",
        formula="η = τ ÷ (M · e^(R/M) · (e^((τ + C)/M) − 1)); without interruptions τ ÷ (τ + C)",
        unit="share",
        example="A checkpoint of 5 minutes every 95 minutes, no interruptions: "
        "95 ÷ (95 + 5) = 0.95.",
        source="Daly 2006, doi 10.1016/j.future.2004.11.016",
    ),
    Term(
        name="waste",
        aliases=("failed-run waste",),
        definition="Work of failed runs on top of the useful work.",
        formula="work = GPU-hours × (1 + waste)",
        unit="share",
        example="30000 useful hours at 0.25: 30000 × 1.25 = 37500.",
    ),
    Term(
        name="MFU",
        aliases=("model FLOPs utilisation",),
        definition="Model FLOPs achieved ÷ peak FLOPs of the hardware while it runs. Not "
        "utilisation, which is about hours allocated and used.",
        formula="GPU-hours = FLOPs ÷ (peak FLOPs per second × MFU × 3600)",
        unit="share",
        example="The same run at 0.35 costs 0.55 ÷ 0.35 = 1.571 times what it costs at 0.55.",
        source="PaLM, arXiv 2204.02311, appendix B",
    ),
    Term(
        name="effective price",
        aliases=("effective_price",),
        definition="Price of an hour that is not redone.",
        formula="price ÷ (1 − share lost)",
        unit="currency per GPU-hour",
        example="0.40 with a tenth redone: 0.40 ÷ 0.9 = 0.444.",
    ),
    Term(
        name="lead",
        aliases=("lead time", "sign by"),
        definition="Time between signing and the start of a commitment; the latest day to sign is "
        "the start less the lead.",
        unit="days, weeks or months",
        example="A start on 2026-05-04 with a lead of 2 weeks is signed by 2026-04-20.",
    ),
)

_LADDER = (
    Term(
        name="expiry ladder",
        aliases=("ladder", "staggered expiries", "rung"),
        definition="Spread of the end dates of commitments over time, so that a part can be "
        "decided anew in each window.",
        formula="GPUs expiring in a window ÷ GPUs committed at its start ≤ max_expiring_share",
        unit="share",
        example="Four terms of 25 GPUs, one ending each quarter: 25 ÷ 100 = 0.25 in the first.",
    ),
    Term(
        name="cliff share",
        aliases=("cliff", "cliff_share_after", "cliff_share_before"),
        definition="Largest share of the committed GPUs that expires in one ladder window.",
        formula="max over windows of GPUs expiring ÷ GPUs committed at the window's start",
        unit="share",
        example="60 of 80 GPUs end in one quarter: 60 ÷ 80 = 0.75.",
    ),
    Term(
        name="lock-in",
        aliases=("lock_in", "lock_in_peak", "remaining obligation"),
        definition="Undiscounted cost of the remaining terms, and of loans on hardware, at a "
        "date: what is owed if nothing is ever used again.",
        formula="Σ GPUs × price × hours left + Σ instalments to come",
        unit="currency",
        example="32 GPUs at 2.00 with 1000 hours left: 32 × 2.00 × 1000 = 64000.",
    ),
    Term(
        name="commitment tail",
        aliases=("tail", "tail_charge", "tail_cost"),
        definition="What commitments cost after the end of the horizon. Always reported; part of "
        "the objective only by policy.tail_charge. Bought hardware has none: it is valued there.",
        formula="tail_charge × discount factor of the horizon's end × Σ cost after it",
        unit="currency",
        example="A tail of 200000 charged at 0.5, undiscounted: 200000 × 0.5 = 100000.",
    ),
    Term(
        name="burst or standing",
        definition="Whether short windows booked for each run or a standing reservation is "
        "cheaper for a calendar.",
        formula="standing wins where use of its hours exceeds standing price ÷ burst price",
        unit="share",
        example="At 2.00 standing and 3.20 burst the standing one needs use of "
        "2.00 ÷ 3.20 = 0.625.",
    ),
)

_RATIOS = (
    Term(
        name="coverage",
        definition="How much of what was used ran on commitments.",
        formula="committed GPU-hours used ÷ all GPU-hours used",
        unit="share",
        example="700 of 1000 GPU-hours used ran on commitments: 700 ÷ 1000 = 0.7.",
        source="FinOps Foundation, commitment discount coverage",
    ),
    Term(
        name="utilisation",
        aliases=("utilization", "utilisation_with_backfill"),
        definition="How much of what was committed was used.",
        formula="committed GPU-hours used ÷ committed GPU-hours",
        unit="share",
        example="700 of 800 committed GPU-hours were used: 700 ÷ 800 = 0.875.",
        source="FinOps Foundation, commitment discount utilization",
    ),
    Term(
        name="effective savings rate",
        aliases=("ESR", "effective_savings_rate"),
        definition="What was saved against the same use at on-demand list prices.",
        formula="1 − cost ÷ the same use at on-demand list price",
        unit="share",
        example="600 paid for what lists at 1000: 1 − 600 ÷ 1000 = 0.4.",
        source="FinOps Foundation, effective savings rate",
    ),
    Term(
        name="break-even utilisation",
        aliases=("break-even", "breakeven"),
        definition="Use of a commitment's hours above which it is cheaper than on demand.",
        formula="commitment price ÷ on-demand price",
        unit="share",
        example="2.10 committed against 3.00 on demand: 2.10 ÷ 3.00 = 0.7.",
    ),
    Term(
        name="idle",
        aliases=("idle_gpu_hours", "idle_cost", "between-run idle"),
        definition="Committed GPU-hours that no campaign, demand or backfill used, at what they "
        "cost to hold.",
        formula="(committed − used − backfilled) × cost of holding",
        unit="GPU-hours and currency",
        example="800 − 700 − 40 = 60 idle hours at 2.00 cost 60 × 2.00 = 120.",
    ),
    Term(
        name="cost per completed run",
        aliases=("cost_per_completed_run", "loaded cost"),
        definition="What a run costs with the idle capacity it is charged with.",
        formula="(direct cost + idle cost charged) ÷ runs completed by their deadline",
        unit="currency per run",
        example="900000 direct and 100000 idle over 10 runs: (900000 + 100000) ÷ 10 = 100000.",
    ),
)

_MONEY = (
    Term(
        name="net present cost",
        aliases=("objective", "net_present_cost", "NPC"),
        definition="All cost lines, discounted to the start of the horizon; what the plan "
        "minimises. Held commitments are sunk and not in it.",
        formula="Σ cost × (1 + r)^(−days ÷ 365)",
        unit="currency",
        example="1100 due in 365 days at 10 %: 1100 ÷ 1.10 = 1000.",
    ),
    Term(
        name="cash and accrual",
        aliases=("cash", "accrual"),
        definition="Payments in the month they are billed, against cost in the month capacity is "
        "consumed. Over a full term both are the same sum.",
        unit="currency per month",
        example="A window of 30000 paid ahead for three equal months accrues "
        "30000 ÷ 3 = 10000 a month.",
    ),
    Term(
        name="bound",
        aliases=("proven bound",),
        definition="A cost that no plan can be below: proven by the solver.",
        unit="currency",
        example="A bound of 995 under a plan of 1000 leaves 1000 − 995 = 5 unproven.",
    ),
    Term(
        name="gap",
        aliases=("relative gap", "relative_gap"),
        definition="How far the plan may be from the cheapest possible one.",
        formula="(cost − bound) ÷ |cost|",
        unit="share",
        example="(1000 − 995) ÷ 1000 = 0.005.",
    ),
    Term(
        name="fixed-plan dual",
        aliases=("dual", "fixed_plan_dual"),
        definition="Rate at which the cost changes with a limit while whole lots and modes stay "
        "as they are. Never the price of a whole lot.",
        unit="currency per unit of the limit",
        example="Lots of 8 GPUs at 1.00 each, on demand at 3.00. For 10 GPUs: 8 + 2 × 3 = 14, and "
        "the dual says 3. For 11 GPUs two lots do: 2 × 8 = 16, so one more costs 16 − 14 = 2.",
    ),
    Term(
        name="marginal",
        aliases=("marginal_up", "marginal_down"),
        definition="Change of the cost when a limit is moved by one unit and everything is "
        "decided again, whole lots included.",
        formula="cost(limit + 1) − cost(limit)",
        unit="currency",
        example="Cost 1000 with 64 GPUs of quota and 988 with 65: 988 − 1000 = -12.",
    ),
    Term(
        name="shadow price",
        aliases=("shadow_prices",),
        definition="What one more unit of a limit is worth, in words, with the fixed-plan dual "
        "and the re-solved marginal beside it.",
        unit="currency per unit",
        example="One more GPU in a week of 168 hours, worth 2.50 an hour: 168 × 2.50 = 420.",
    ),
    Term(
        name="walk-away price",
        aliases=("walk_away", "walk-away"),
        definition="For an offer in the plan, the price above which it leaves it; for an offer "
        "out of it, the price below which it enters.",
        unit="currency per GPU-hour",
        example="Bought at 2.00 and kept up to 2.30: room of 2.30 ÷ 2.00 − 1 = 0.15.",
    ),
)

TERMS: tuple[Term, ...] = (*_CAPACITY, *OWNED, *_WORK, *_LADDER, *_RATIOS, *USE, *_MONEY, *COMPARED)
"""Every term, in reading order."""
