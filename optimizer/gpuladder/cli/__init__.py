"""The command line, one verb a file.

Data goes to stdout and talk to stderr. Nothing here imports the solver, the schema or the report
before a verb needs them, so that help is instant.
"""
