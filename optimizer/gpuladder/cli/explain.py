"""``gpuladder explain``: what a code, a limit, a variable or a metric means."""

from __future__ import annotations

import click

from gpuladder.cli.options import common, console_of
from gpuladder.errors import Problem, UsageError


@click.command(short_help="Explain a code, a limit, a variable, a metric or an exit code.")
@click.argument("topic", required=False)
@common
@click.pass_context
def explain(context: click.Context, topic: str | None) -> None:
    """Explain TOPIC: a problem's code, a limit, a variable, an equation, a metric, an exit code.

    Without TOPIC, list what can be explained.
    """
    from gpuladder.cli.topics import all_topics, find

    console = console_of(context)
    if topic is None:
        topics = sorted({(item.kind, item.name) for item in all_topics()})
        console.document({"topics": [{"kind": kind, "name": name} for kind, name in topics]})
        console.data("\n".join(f"{kind:<12}{name}" for kind, name in topics))
        return
    found, near = find(topic)
    if not found:
        raise UsageError(
            Problem(
                code="GL-U002",
                what=f"nothing to explain under {topic!r}",
                fix=f"did you mean: {', '.join(near)}"
                if near
                else "`gpuladder explain` lists all topics",
            )
        )
    console.document(
        {"topics": [{"name": item.name, "kind": item.kind, **item.facts} for item in found]}
    )
    console.data("\n\n".join(item.text for item in found))
