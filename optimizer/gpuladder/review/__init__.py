"""History in, renewals out: what was used and what was decided, read back beside a plan.

House rules of this package, beside those of every other:

- Other people's files come in through ``review.imports`` alone; nothing here opens a table by
  other means. A row is kept or dropped for a stated reason, and read = kept + dropped.
- It may solve, through ``solving`` and ``analysis``; importing history never does.
- Result types that the report or the verdict reads stand in modules that import neither pandas
  nor the solver, also not inside a function: the contract of ``report`` looks through imports.
- Heavy libraries (pandas, pyarrow, matplotlib) are imported inside the function that needs them.
- Each part has its section in ``REVIEW.md`` beside this file, with the rule, its parameters and
  their defaults, and what is assumed because history does not say it.
"""
