"""What each code of a scenario's problems stands for: topics of ``gpuladder explain``."""

from __future__ import annotations

from typing import NamedTuple


class Code(NamedTuple):
    """A code's title, and the explanation behind it."""

    title: str
    explanation: str


CODES: dict[str, Code] = {
    "GL-S001": Code(
        "A file cannot be read",
        "The path is wrong, or not a scenario: one .yaml file, a folder with scenario.yaml and one "
        "CSV per table, or one .xlsx workbook. Tables are linked by relative paths.",
    ),
    "GL-S002": Code(
        "Not valid YAML",
        "The text does not follow YAML 1.2. The place names the line where reading failed; the "
        "mistake is often on the line before: indentation, a missing blank after a colon, quotes.",
    ),
    "GL-S003": Code(
        "A key is written twice",
        "Only one of two values could count, and nobody could tell which one was meant.",
    ),
    "GL-S004": Code(
        "YAML that is not read",
        "Tags could name code, and aliases can unfold a small file into a huge one. A scenario is "
        "plain data.",
    ),
    "GL-S005": Code(
        "Not a table of comma-separated values",
        "A CSV table is UTF-8 text with commas between columns, decimal points and one header row.",
    ),
    "GL-S006": Code(
        "Not a scenario workbook",
        "A workbook has one sheet per table and a sheet `scenario` with the columns `key` and "
        "`value`. Formulas need a stored value, and error cells are refused.",
    ),
    "GL-S007": Code(
        "Not UTF-8 text",
        "Text in another encoding would turn names into other names without a word.",
    ),
    "GL-S008": Code(
        "An override that does not fit",
        "`--set key.path=value` names one key, rows of a table by their id; `--with FILE` lays a "
        "YAML file over the scenario, where `{id: x, remove: true}` removes a row.",
    ),
    "GL-S009": Code(
        "A file or sheet that is not read, or a table given twice",
        "CSV files and sheets count only under the name of a table.",
    ),
    "GL-S010": Code(
        "A file cannot be written",
        "Files are never overwritten, and a workbook's cell holds 32,000 characters.",
    ),
    "GL-S101": Code(
        "An unknown key",
        "Unknown keys are never ignored: a misspelt limit would not limit. Keys of an offer depend "
        "on its kind, those of a campaign on its shape.",
    ),
    "GL-S102": Code("A key is missing", "It has no default. An empty table is written `[]`."),
    "GL-S103": Code("A value of the wrong type", "For example a text where a number is needed."),
    "GL-S104": Code(
        "A number out of range",
        "Shares lie between 0 and 1, prices and capacities are positive.",
    ),
    "GL-S105": Code(
        "Not a date or a span",
        "Dates are YYYY-MM-DD; spans are `14 days`, `4 weeks`, `12 months`, `3 years`.",
    ),
    "GL-S106": Code(
        "Not yet supported",
        "Planned and documented, not there yet. Ignoring it would plan something else than asked.",
    ),
    "GL-S107": Code("Not one of the choices", "The key has a fixed set of values."),
    "GL-S108": Code(
        "Not a finite number",
        "NaN and infinity cannot be planned with. Leave a key out to say that there is no limit.",
    ),
    "GL-S109": Code(
        "A time with a zone",
        "All times of a scenario are in one zone, which is not written.",
    ),
    "GL-S110": Code(
        "A share that looks like per cent",
        "Rates and shares are written as fractions: 8 % is 0.08, and 8 would be 800 %.",
    ),
    "GL-S111": Code(
        "More GPUs than anybody has",
        "Beside more than a thousand million, single GPUs are lost in the solver's tolerances. "
        "Leave a limit out to say that there is none.",
    ),
    "GL-S201": Code(
        "An unknown name",
        "A pool, hardware, preemption class, offer or provider that no table has.",
    ),
    "GL-S202": Code(
        "A residency tag that no pool has",
        "It matches nothing; often it is misspelt.",
    ),
    "GL-S211": Code("An id used twice", "Results and overrides name rows by their id."),
    "GL-S212": Code(
        "A generated id that is taken",
        "A list of tenors makes `id@tenor`, repeats make `id#1`; no other row may have such an id.",
    ),
    "GL-S213": Code(
        "Two rows that say the same",
        "If one thing is written twice, its quota or its lots count twice.",
    ),
    "GL-S214": Code(
        "Two demand rows for one pool and time",
        "The duration curve would count that time twice.",
    ),
    "GL-S301": Code("Dates out of order", "An end must be after its start; ends are exclusive."),
    "GL-S302": Code(
        "A campaign outside the horizon",
        "None of its window is planned, so it could never be done.",
    ),
    "GL-S303": Code(
        "A campaign partly outside the horizon",
        "All its work is planned inside, which makes it tighter than its dates say.",
    ),
    "GL-S305": Code("Too many periods", "Use longer steps, or segments that are coarse later."),
    "GL-S401": Code(
        "A campaign with no place to run",
        "Its filters, coupling or tenancy leave no pool, or no pool left can have capacity then.",
    ),
    "GL-S402": Code(
        "An elastic campaign that cannot be done in time",
        "Even `max_gpus` on the fastest hardware, without any interruption, is not enough.",
    ),
    "GL-S403": Code(
        "A gang in parts of nodes",
        "A gang occupies whole nodes; none of its sizes does in any pool where it may run.",
    ),
    "GL-S404": Code(
        "A gang larger than any pool could hold",
        "All lots, quota and held commitments of a pool together are smaller, and so is spot.",
    ),
    "GL-S405": Code(
        "A gang that cannot be done in time",
        "At best it takes longer than its window, counted from a period boundary, or than "
        "`max_duration`.",
    ),
    "GL-S406": Code(
        "Some sizes are not whole nodes",
        "Such sizes of a gang are left out of the choice; a job's last node counts whole.",
    ),
    "GL-S407": Code("Sizes that do not fit together", "One of the two keys is probably wrong."),
    "GL-S408": Code(
        "Spot is allowed and not on offer",
        "A class may run on spot, and no spot offer has any depth.",
    ),
    "GL-S410": Code(
        "A campaign with next to no work",
        "Less than 0.1 GPU-hours is lost in the solver's tolerances; usually the unit is wrong.",
    ),
    "GL-S501": Code("An offer without a price", "On some date on which it could be bought."),
    "GL-S502": Code(
        "As many prices as tenors",
        "A list of prices goes with the list of tenors, one for one.",
    ),
    "GL-S503": Code(
        "An offer that costs nothing",
        "It would be bought without end; usually a price is missing or in another unit.",
    ),
    "GL-S504": Code(
        "A price above on demand",
        "A commitment or spot offer dearer than on demand in the same pool is rarely meant.",
    ),
    "GL-S505": Code(
        "A buyer who pays more than on demand",
        "Why would anybody, when on demand is cheaper? Check the value.",
    ),
    "GL-S506": Code(
        "Money out of nothing",
        "A committed offer without `max_lots` costs less than a buyer without `max_gpus` pays.",
    ),
    "GL-S507": Code("An order that cannot be placed", "`min_lots` is larger than `max_lots`."),
    "GL-S508": Code("Lots in parts of nodes", "Perhaps the lot is counted in nodes."),
    "GL-S509": Code(
        "An offer that can never be used",
        "Its lead or its dates leave no day of the horizon.",
    ),
    "GL-S510": Code(
        "Offers in a pool that nobody can use",
        "No campaign's filters, demand or buyer reach the pool.",
    ),
    "GL-S511": Code(
        "A price in the wrong unit",
        "Judged by other offers on the same hardware the price is several times too high or too "
        "low, as a price per node, day, month or year would be.",
    ),
    "GL-S512": Code(
        "Two values of the same hardware",
        "What a sale of owned hardware brings at an age is either `residual_per_year` or "
        "`residual_curve`. `residual_per_generation` may come on top of both.",
    ),
    "GL-S513": Code(
        "A residual curve out of order",
        "Ages ascend, whatever day they are counted from: 12 months and 1 years are one age. "
        "Shares that rise with age are doubted.",
    ),
    "GL-S514": Code(
        "A loan that is not whole payments",
        "`term` is a multiple of `every`; months and years go together, and days and weeks.",
    ),
    "GL-S515": Code(
        "A loan that outlives its hardware",
        "What is owed at the end of life is paid off then: a lender's security is the hardware.",
    ),
    "GL-S516": Code(
        "A depreciation method without its share",
        "`declining` needs what is kept each year, `by_generation` what is kept per generation; "
        "keys of another method would count for nothing.",
    ),
    "GL-S517": Code(
        "A residual curve that ends early",
        "After its last age the curve is level, so older hardware would lose nothing any more.",
    ),
    "GL-S518": Code(
        "A generation that never ends",
        "Value by generation drops on the date from which the hardware is `superseded`, and on "
        "the offer's `turnovers`; both parts are needed, and a date after the purchase: earlier "
        "ones are in its price.",
    ),
    "GL-S601": Code(
        "An expiry a few days off a boundary",
        "A term of 365 days against windows of 13 weeks (364 days) expires one day into the next "
        "window: renewed a review late, and the ladder does not see what was meant.",
    ),
    "GL-S602": Code(
        "What is carried over does not fit",
        "A run under way, work done before the horizon, or an order signed before it contradicts "
        "the campaign, the offer or the dates it belongs to.",
    ),
    "GL-S701": Code(
        "A limit broken by what is held",
        "A held commitment cannot be given back, so no plan could keep the limit.",
    ),
    "GL-S702": Code(
        "A ladder window shorter than a period",
        "Terms end on boundaries, so some windows could never see an expiry.",
    ),
    "GL-S703": Code(
        "Provider shares that cannot add up",
        "All GPU-hours come from somebody, so the shares must be able to reach 1.",
    ),
    "GL-S704": Code("A limit that limits nothing", "Its dates or terms match nothing."),
    "GL-S801": Code("Demand outside the horizon", "Such rows are left out."),
    "GL-S802": Code("Gaps in the demand", "A period without rows counts as no demand."),
    "GL-S803": Code(
        "Demand without capacity",
        "Demand is served by committed, held or on-demand capacity of its own pool.",
    ),
    "GL-S804": Code(
        "Demand rows at uneven distances",
        "Each row of a period counts for the same share of it, however far apart the rows are.",
    ),
    "GL-S901": Code(
        "Hardware or a price that is not known",
        "`gpuladder size` knows the hardware of its catalogue, a workload that of its scenario.",
    ),
    "GL-S902": Code(
        "Stale prices",
        "Prices of the catalogue carry the date on which they were true; older than 90 days they "
        "are doubted.",
    ),
    "GL-S903": Code(
        "An MFU that cannot be",
        "Model FLOPs utilisation is a share of the dense peak between 0 and 1, and a band runs "
        "from low over expected to high.",
    ),
    "GL-S904": Code(
        "An unlikely MFU",
        "Published training runs reach from a few per cent to about 0.72.",
    ),
    "GL-S905": Code(
        "A run of unlikely size",
        "Parameters and tokens are counted one by one: 13e9 or 13B, not 13. Weights have half a "
        "byte to four.",
    ),
    "GL-S906": Code(
        "GPU-hours and workload contradict each other",
        "The stated GPU-hours are more than three times outside what the workload makes over its "
        "band of MFU.",
    ),
    "GL-S907": Code(
        "GPU-hours and workload differ",
        "Both are given; the stated GPU-hours count.",
    ),
    "GL-S908": Code(
        "A peak with sparsity, or in another unit",
        "Datasheets print the peak with structured sparsity, twice the dense one; training does "
        "not reach it. It is written in TFLOPS: 989, not 989e12.",
    ),
    "GL-S909": Code(
        "No size keeps the time limit",
        "Up to the largest size at which a further device still pays, the run takes too long.",
    ),
    "GL-S912": Code(
        "A run that is never done",
        "It is interrupted faster than it can start again and checkpoint.",
    ),
    "GL-S913": Code(
        "A rate that is not known",
        "List rates of storage and egress are in US dollars; a bill in another currency leaves out "
        "what no rate is stated for.",
    ),
    "GL-S914": Code(
        "A model that fits nowhere",
        "No node or rack in which it may run holds one copy of it in usable memory.",
    ),
    "GL-S915": Code(
        "Runs of a workload that are one gang",
        "A gang is one run from start to finish; several runs are its cadence or its `repeat`.",
    ),
    "GL-S916": Code(
        "A line of the workload that the plan does not count",
        "It counts in the sheet of `gpuladder size` alone.",
    ),
    "GL-S917": Code(
        "Lines of a workload that contradict each other",
        "A shape of other parameters than stated, rollouts of a run that has none, a checkpoint "
        "too small to go on from, a scaling curve that no cluster shows, a part of a node.",
    ),
    "GL-S918": Code(
        "A key of a workload that counts for nothing",
        "The method or another key leaves it no effect, such as `micro_batch` beside `lora`, whose "
        "memory is a rule of thumb.",
    ),
    "GL-S919": Code(
        "A run that is longer than the time it has",
        "On the GPUs stated it ends after its time limit or deadline, or is under way when the "
        "next one starts.",
    ),
    "GL-S920": Code(
        "Activations that a rule of thumb has no room for",
        "The rules for the memory of fine-tuning leave long contexts and large batches out.",
    ),
    "GL-S911": Code(
        "A row of the invoice that matches nothing",
        "Terms of providers belong to a pool's provider.",
    ),
    "GL-S910": Code(
        "A workload at odds with its class",
        "Checkpoints, restarts and whether a run may be stopped are said twice; the preemption "
        "class counts.",
    ),
}
"""Every code a scenario's problems can have."""
