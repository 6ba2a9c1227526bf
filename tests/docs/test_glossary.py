"""The glossary and the examples of limits: every sum in them is right, every name is known."""

from __future__ import annotations

import re

import pytest

from gpuladder.analysis.metrics import METRICS
from gpuladder.cli.topics import all_topics, find
from gpuladder.glossary import TERMS
from gpuladder_models.names import COMPONENTS, Kind, of_kind

NUMBER = r"-?\d+(?:\.\d+)?(?: %)?"
SUM = re.compile(rf"(?P<left>[\d(][\d.()%+−×÷ ]*[\d)%]) = (?P<right>{NUMBER})")


def sums(text: str) -> list[tuple[str, str]]:
    """Return each ``left = right`` of an example."""
    return [(found["left"], found["right"]) for found in SUM.finditer(text)]


def value(expression: str) -> float:
    """Return what an expression of an example comes to; a per cent is a hundredth."""
    plain = expression.replace(" %", "/100").translate(str.maketrans("×÷−", "*/-"))
    return float(eval(plain, {"__builtins__": {}}))


EXAMPLES = [(t.name, t.example) for t in TERMS] + [(c.name, c.example) for c in COMPONENTS]


@pytest.mark.parametrize(
    ("name", "left", "right"),
    [(name, *pair) for name, example in EXAMPLES for pair in sums(example)],
)
def test_the_sums_of_examples_are_right(name: str, left: str, right: str) -> None:
    """A board that checks one example with a calculator would stop believing the others."""
    digits = len(right.partition(".")[2].replace(" %", ""))
    assert round(value(left), digits) == pytest.approx(value(right), abs=1e-9), name


def test_terms_have_examples_and_most_can_be_checked() -> None:
    """A term that is only defined is read in two ways by two people."""
    assert [term.name for term in TERMS if not term.example] == []
    assert sum(bool(sums(term.example)) for term in TERMS) >= 0.85 * len(TERMS)


def test_every_limit_that_has_a_price_has_an_example() -> None:
    """A reader of the shadow prices could not tell what one unit of the limit is."""
    silent = [c.name for c in of_kind(Kind.CONSTRAINT) if c.reading and not sums(c.example)]
    assert silent == []


def test_names_are_used_once() -> None:
    """Two meanings under one word would each be quoted for the other."""
    names = [name.casefold() for term in TERMS for name in (term.name, *term.aliases)]
    assert len(names) == len(set(names))


def test_equations_are_those_of_the_page() -> None:
    """`gpuladder explain C19` would show a number without the mathematics."""
    for item in COMPONENTS:
        (topic,) = (t for t in find(item.equation)[0] if t.name == item.name)
        assert topic.facts["equation"], item.name
    ladder = next(t for t in find("C19")[0])
    assert "ρ" in ladder.facts["equation"]


@pytest.mark.parametrize("word", ["ESR", "Lock-in", "cliff share", "tail", "goodput", "spot"])
def test_words_of_the_field_are_found(word: str) -> None:
    """An analyst types the word of the trade, not the key of a file."""
    found, _ = find(word)
    assert any(topic.kind == "term" for topic in found)


def test_every_metric_can_be_explained() -> None:
    """A figure of the report would be a dead end."""
    kinds = {(topic.name, topic.kind) for topic in all_topics()}
    assert {(name, "metric") for name in METRICS} <= kinds
