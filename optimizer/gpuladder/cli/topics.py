"""What ``gpuladder explain`` knows: terms, codes, the program's parts, audit rules, metrics."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass

from gpuladder.cli.codes import CODES

_EXIT_CODES = {
    "0": "done; a plan within the gap, audited",
    "1": "the answer is no: infeasible, an audit finding, or a tripped --fail-over",
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
    """``term``, ``problem``, ``variable``, ``constraint``, ``objective``, ``audit rule``,
    ``metric`` or ``exit code``."""
    facts: dict[str, str]
    """What there is to say, by heading."""
    aliases: tuple[str, ...] = ()
    """Other names it is found under."""

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
    from gpuladder.glossary import TERMS
    from gpuladder.scenario.codes import CODES as SCENARIO_CODES
    from gpuladder_models.formulation import equations
    from gpuladder_models.names import COMPONENTS

    for term in TERMS:
        facts = {
            "meaning": term.definition,
            "formula": term.formula,
            "unit": term.unit,
            "example": term.example,
            "source": term.source,
        }
        yield Topic(term.name, "term", facts, term.aliases)
    for code, (title, explanation) in SCENARIO_CODES.items():
        yield Topic(code, "problem", {"meaning": title, "more": explanation})
    for code, meaning in CODES.items():
        yield Topic(code, "problem", {"meaning": meaning})
    written = equations()
    for part in COMPONENTS:
        facts = {
            "meaning": part.title,
            "number": part.equation,
            "equation": written[part.equation],
            "one for each": part.index,
            "unit": part.unit,
            "unit of the dual": part.dual_unit,
            "reading of the dual": part.reading,
            "example": part.example,
            "see": "models/FORMULATION.md",
        }
        yield Topic(part.name, part.kind.value, facts, (part.equation,))
    for name, rule in LIMITS.items():
        yield Topic(name, "audit rule", {"rule": rule})
    for name, metric in METRICS.items():
        yield Topic(name, "metric", {"meaning": metric.definition, "unit": metric.unit})
    for number, meaning in _EXIT_CODES.items():
        yield Topic(number, "exit code", {"meaning": meaning})


def find(word: str) -> tuple[list[Topic], list[str]]:
    """Return the topics a word names, by name, alias or equation number, and near misses if none.

    Case, spaces, hyphens and underscores make no difference.
    """
    wanted = _key(word)
    topics = list(all_topics())
    found = [t for t in topics if wanted in {_key(name) for name in (t.name, *t.aliases)}]
    if found:
        return found, []
    names = sorted({name for topic in topics for name in (topic.name, *topic.aliases)})
    near = difflib.get_close_matches(word, names, n=5, cutoff=0.5)
    near += [name for name in names if wanted in _key(name) and name not in near]
    return [], near[:8]


def _key(word: str) -> str:
    return word.strip().casefold().replace("-", "_").replace(" ", "_")
