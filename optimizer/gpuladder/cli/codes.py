"""What the codes of problems mean that do not come from a scenario."""

from __future__ import annotations

CODES: dict[str, str] = {
    # The answer.
    "GL-R001": "The solver ended without a plan and without a proof that there is none.",
    "GL-R002": "The solver refused an edit of the program; a fault of ours.",
    "GL-R003": "The scenario pays for buying without end: some revenue exceeds its cost.",
    "GL-R004": "The plan does not fit the scenario it is to be explained with.",
    "GL-R005": "Primal and dual objective differ: the shadow prices cannot be trusted.",
    "GL-R010": "Infeasible: a campaign, or a pool's demand, is short of GPU-hours.",
    "GL-R011": "Infeasible: a limit that cannot be kept, and by how much it would give way.",
    "GL-R012": "Infeasible: no single campaign or limit could be named as the cause.",
    "GL-R013": "Infeasible for whole lots, nodes and runs alone: with parts there would be a plan.",
    "GL-R014": "Infeasible: a smallest set of limits that cannot all be kept.",
    # The audit.
    "GL-A001": "The audit computed something else than the plan says. Do not sign on the plan.",
    "GL-A002": "Costs charged to campaigns and the rest do not add up to the objective.",
    "GL-A003": "The plan names something that the scenario does not have.",
    # Saved runs.
    "GL-F001": "A run folder cannot be written. Nothing is kept of a run that is not whole.",
    "GL-F002": "There is no such run, or a file of it is missing.",
    "GL-F003": "A file of a saved run is damaged.",
    "GL-F004": "A saved run was written by a newer version, which may mean something else by it.",
    "GL-F005": "A folder of that name is there already; nothing is ever written over another.",
    # Histories and other files from elsewhere.
    "GL-I001": "A file to import cannot be opened, or not be read to its end.",
    "GL-I002": "A file to import has no content, or a header and no row.",
    "GL-I003": "A column that an import needs is missing; name it with --column FIELD=COLUMN.",
    "GL-I004": "A file to import is not UTF-8 text: another encoding, or a binary file.",
    "GL-I005": "Rows of a file to import do not have the columns of its header.",
    "GL-I006": "A map of columns is wrong, or several columns could be meant.",
    "GL-I007": "Times without an offset: nothing says in which zone; state it with --timezone.",
    "GL-I008": "A time zone, or a way to write times, that there is not.",
    "GL-I009": "Every row of a file to import was dropped; the reasons are counted.",
    "GL-I010": "A Parquet file cannot be read: damaged, of unknown types, or pyarrow is missing.",
    "GL-I041": "Two series of a usage history contradict each other, such as busy above allocated.",
    "GL-I042": "The unit of a quantity is not stated: GPUs, GPU-hours, or a share of something.",
    "GL-I043": "The step of a series, for which each row stands, is not stated or is none.",
    "GL-I044": "Rows of one team and step differ; say whether they are parts, or which counts.",
    "GL-I045": "A history of more teams than there can be: another column was read as the team.",
    "GL-I046": "A history of more years than there can be: a time was misread.",
    "GL-I047": "Several currencies, which cannot be added up; choose one with --currency.",
    "GL-I048": "Rows of a bill that nothing says are of GPUs; state SKU=GPUS with --gpus-per-unit.",
    "GL-I049": "A statement about a bill is written wrongly, or is not read for this file.",
    "GL-I050": "A commitment of a bill is not known whole, so that no scenario can hold it.",
    "GL-I054": "A contract price is written wrongly, of nobody, or of another time.",
    "GL-I055": "A folder of an earlier import has no usage history, or a damaged one.",
    # The command line.
    "GL-U001": "The command line was used wrongly.",
    "GL-U002": "There is no such topic to explain.",
    "GL-U003": "What was asked for cannot be written to standard output.",
    "GL-U004": "There is nothing to size: no workload, no such campaign, or too many of both.",
    "GL-U005": "An option of `gpuladder size` is out of range or contradicts another.",
    "GL-U006": "A grid of values to sweep over is written wrongly, or is too large.",
    "GL-U007": "An option names an offer or commitment that the run does not have.",
    "GL-U130": "Interrupted before anything could be written.",
    "GL-X070": "A fault of the program's own: run it again with --debug and report the traceback.",
}
"""Each code of ``errors.Problem`` with what it stands for; the scenario's own are beside it."""
