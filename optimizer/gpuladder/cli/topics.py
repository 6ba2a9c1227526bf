"""What ``gpuladder explain`` knows: codes, the program's parts, audit rules, metrics, exits."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass

from gpuladder.cli.codes import CODES

_EXIT_CODES = {
    "0": "done; a plan within the gap, audited",
    "1": "the answer is no: infeasible, or an audit finding",
    "2": "usage or scenario wrong",
    "3": "stopped at a limit: the best plan so far is written, with its proven gap",
    "4": "the solver ended without a plan",
    "70": "a fault of the program's own (a traceback with --debug)",
    "130": "interrupted: the best plan so far is written",
}


@dataclass(frozen=True, slots=True)
class Topic:
    """One thing that can be explained."""

    name: str
    kind: str
    """``problem``, ``variable``, ``constraint``, ``objective``, ``audit rule``, ``metric`` or
    ``exit code``."""
    facts: dict[str, str]
    """What there is to say, by heading."""

    @property
    def text(self) -> str:
        """The topic as a user reads it."""
        lines = [f"{self.name} ({self.kind})"]
        lines += [f"  {heading}: {fact}" for heading, fact in self.facts.items() if fact]
        return "\n".join(lines)


def all_topics() -> Iterator[Topic]:
    """Yield every topic; a name may stand for several kinds of thing."""
    from gpuladder.analysis.metrics import METRICS
    from gpuladder.audit.findings import LIMITS
    from gpuladder.scenario.codes import CODES as SCENARIO_CODES
    from gpuladder_models.names import COMPONENTS

    for code, (title, explanation) in SCENARIO_CODES.items():
        yield Topic(code, "problem", {"meaning": title, "more": explanation})
    for code, meaning in CODES.items():
        yield Topic(code, "problem", {"meaning": meaning})
    for part in COMPONENTS:
        facts = {
            "meaning": part.title,
            "equation": part.equation,
            "one for each": part.index,
            "unit": part.unit,
            "unit of the dual": part.dual_unit,
            "reading of the dual": part.reading,
            "see": "models/FORMULATION.md",
        }
        yield Topic(part.name, part.kind.value, facts)
    for name, rule in LIMITS.items():
        yield Topic(name, "audit rule", {"rule": rule})
    for name, metric in METRICS.items():
        yield Topic(name, "metric", {"meaning": metric.definition, "unit": metric.unit})
    for number, meaning in _EXIT_CODES.items():
        yield Topic(number, "exit code", {"meaning": meaning})


def find(word: str) -> tuple[list[Topic], list[str]]:
    """Return the topics a word names, by name or equation number, and near misses if none."""
    wanted = word.strip().casefold().replace("-", "_").replace(" ", "_")
    topics = list(all_topics())
    keys = [topic.name.casefold().replace("-", "_") for topic in topics]
    found = [
        topic
        for topic, key in zip(topics, keys, strict=True)
        if wanted in (key, topic.facts.get("equation", "").casefold())
    ]
    if found:
        return found, []
    names = sorted({topic.name for topic in topics})
    near = difflib.get_close_matches(word, names, n=5, cutoff=0.5)
    near += [name for name in names if wanted in name.casefold() and name not in near]
    return [], near[:8]
