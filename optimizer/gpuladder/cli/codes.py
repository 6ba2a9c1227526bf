"""What the codes of problems mean: the topics of ``gpuladder explain`` that begin with ``GL-``."""

from __future__ import annotations

CODES: dict[str, str] = {
    # What a file holds.
    "GL-S001": (
        "A file or folder cannot be read. A scenario is one .yaml file, a folder with "
        "scenario.yaml and CSV tables, or one .xlsx workbook; table files lie beside it."
    ),
    "GL-S002": "The text is not valid YAML, or not a mapping of keys. The place names the line.",
    "GL-S003": (
        "A key, or a column, is written twice. Only one of them could count, so neither does."
    ),
    "GL-S004": (
        "YAML that a scenario does not need: tags, deep nesting, aliases that unfold without "
        "end. A scenario is data and never names code."
    ),
    "GL-S005": "A CSV table is malformed: wrong separator, values without a column, or no header.",
    "GL-S006": (
        "An Excel workbook is malformed: a missing sheet, an error cell, a formula without a "
        "stored value, or values without a header."
    ),
    "GL-S007": "A text file is not UTF-8. Save it as UTF-8; another encoding would change names.",
    "GL-S008": (
        "An override does not fit: --set wants key.path=value with rows named by their id, "
        "--with a YAML file with the keys to change ({id: x, remove: true} takes a row out)."
    ),
    "GL-S009": "A file or sheet beside the scenario was not read, or gives a table a second time.",
    # What single values say.
    "GL-S101": (
        "An unknown key. Unknown keys are never ignored: they would be limits or prices that do "
        "not count."
    ),
    "GL-S102": "A required key is missing.",
    "GL-S103": "A value has the wrong type, e.g. text where a number is needed.",
    "GL-S104": "A number is out of range. Shares are between 0 and 1, not per cent.",
    "GL-S105": "Not a date (YYYY-MM-DD) or not a span (14 days, 4 weeks, 12 months, 3 years).",
    "GL-S106": (
        "A feature that is planned but not supported yet. Leaving it out silently would give a "
        "plan that is not the one asked for."
    ),
    "GL-S107": "A value is not one of the choices.",
    "GL-S108": "A number is not finite. Leave the key out where there is no limit.",
    "GL-S109": "A time carries a time zone. Scenario times have none; write all in one zone.",
    # What values say about each other.
    "GL-S201": (
        "A row names something that no table has: a pool, hardware, class, offer or provider."
    ),
    "GL-S202": "No pool carries a residency tag that a campaign asks for.",
    "GL-S211": "An id is used twice, or a row is written twice.",
    "GL-S212": "Ids that tenor lists (offer@tenor) or repeats (campaign#2) make collide.",
    "GL-S213": "Two rows say the same. If they are one thing written twice, it would count twice.",
    "GL-S214": "Two demand rows for the same pool and time.",
    "GL-S301": "Dates out of order: an end is not after its beginning.",
    "GL-S302": "A campaign or its repeats lie outside the horizon.",
    "GL-S303": "A campaign's window reaches beyond the horizon; all its work is planned inside.",
    "GL-S305": "Too many periods. Use longer steps, or segments that are coarse later.",
    "GL-S401": (
        "A campaign has no place to run: its filters, coupling, tenancy and dates leave no pool "
        "with capacity."
    ),
    "GL-S402": "An elastic campaign cannot be done in time, even at max_gpus throughout.",
    "GL-S403": "No size of a gang is whole nodes of any pool where it may run.",
    "GL-S404": "A gang is larger than any pool could hold.",
    "GL-S405": "A gang cannot be done in time: too long for its window or its max_duration.",
    "GL-S406": "Some sizes are not whole nodes; they are left out, or counted as if they were.",
    "GL-S407": "Sizes of a campaign contradict each other.",
    "GL-S501": "An offer has no price on some date on which it is sold.",
    "GL-S502": "Not as many prices as tenors.",
    "GL-S503": "An offer costs nothing and would be bought without end.",
    "GL-S504": "A commitment or spot costs more than on demand in the same pool.",
    "GL-S505": "A backfill buyer pays more than on demand costs in the same pool.",
    "GL-S511": "A price whose size suggests another unit: per node, per month, in cents.",
    # Saved runs.
    "GL-R001": "A run folder cannot be written. Nothing is kept of a run that is not whole.",
    "GL-R002": "There is no such run, or a file of it is missing.",
    "GL-R003": "A file of a saved run is damaged.",
    "GL-R004": "A saved run was written by a newer version, which may mean something else by it.",
    # The answer.
    "GL-P001": "The solver ended without a plan and without a proof that there is none.",
    "GL-P002": (
        "The scenario pays for buying without end; some revenue exceeds its cost, unlimited."
    ),
    "GL-P003": "The solver refused an edit of the program; a fault of ours.",
    "GL-P010": "Infeasible: this campaign is short of GPU-hours, with the smallest fix.",
    "GL-P011": "Infeasible: this limit cannot be kept, by how much, and the smallest fix.",
    "GL-P012": "Infeasible: no single campaign or limit could be named as the cause.",
    "GL-A001": "The audit computed something else than the plan says. Do not sign on the plan.",
    "GL-A002": "Costs charged to campaigns and the rest do not add up to the objective.",
    "GL-U001": "The command line was used wrongly.",
    "GL-U002": "There is no such topic to explain.",
    "GL-U130": "Interrupted before anything could be written.",
    "GL-X070": "A fault of the program's own: run it again with --debug and report the traceback.",
}
"""Each code of ``errors.Problem`` with what it stands for."""
