"""``gpuladder schema``: the JSON schema of a scenario, for editors and generators."""

from __future__ import annotations

import json

import click

from gpuladder.cli.options import common, console_of


@click.command(short_help="Print the JSON schema of a scenario.")
@common
@click.pass_context
def schema(context: click.Context) -> None:
    """Print the JSON schema of a scenario, for editors that complete and check while you type."""
    from gpuladder.scenario.fingerprint import json_schema

    console = console_of(context)
    document = json_schema()
    console.document(document)
    console.data(json.dumps(document, indent=2))
