"""Reading YAML 1.2: core-schema scalars, line numbers kept, nothing executed.

PyYAML's own constructor follows YAML 1.1, in which ``no`` is false and ``2026-07-06`` a date. Only
its parser is used here; what a plain scalar means is decided by the core schema of YAML 1.2.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import yaml

from gpuladder.errors import Problem, ScenarioError
from gpuladder.scenario.source import TEXT_KEYS, RawList, RawMap, reading_problem

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_DEPTH = 24
"""Deepest nesting read; a scenario needs six levels."""
MAX_ALIASED_NODES = 100_000
"""Most nodes that aliases may add: stops a small file from unfolding into a huge one."""

_PREFIX = "tag:yaml.org,2002:"
_CORE_SCHEMA = (
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    ("int", r"^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$", list("-+0123456789")),
    (
        "float",
        (
            r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
            r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
        ),
        list("-+.0123456789"),
    ),
)
"""Plain scalars of YAML 1.2: type, pattern, and the characters they may begin with."""


def core_loader(*, fast: bool = True) -> Any:
    """Return a PyYAML loader that resolves plain scalars by the YAML 1.2 core schema.

    Parameters
    ----------
    fast : bool
        Use the C parser when PyYAML was built with it.
    """
    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader) if fast else yaml.SafeLoader
    loader: Any = type("CoreLoader", (base,), {"yaml_implicit_resolvers": {}})
    for name, pattern, first in _CORE_SCHEMA:
        loader.add_implicit_resolver(_PREFIX + name, re.compile(pattern), first)
    return loader


_CoreLoader = core_loader()


def _read_int(text: str) -> int:
    return int(text, 0) if text[:2] in ("0o", "0x") else int(text)


def _read_float(text: str) -> float:
    return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))


_SCALARS: dict[str, Callable[[str], Any]] = {
    _PREFIX + "str": str,
    _PREFIX + "int": _read_int,
    _PREFIX + "float": _read_float,
    _PREFIX + "bool": lambda text: text.lower() == "true",
    _PREFIX + "null": lambda _text: None,
}


class _Builder:
    """Turns composed nodes into raw values; collects what is wrong on the way."""

    def __init__(self, place_of: Callable[[int], str]) -> None:
        self.place_of = place_of
        self.problems: list[Problem] = []
        self.seen: set[int] = set()
        self.aliased = 0

    def build(
        self, node: yaml.Node, *, as_text: bool = False, depth: int = 0, copy: bool = False
    ) -> Any:
        if depth > MAX_DEPTH:
            raise ScenarioError(
                reading_problem(
                    "GL-S004",
                    f"nested more than {MAX_DEPTH} levels deep",
                    where=self.place_of(node.start_mark.line),
                    fix="a scenario needs six levels at most; an alias may point at its own parent",
                )
            )
        if isinstance(node, yaml.ScalarNode):
            return self.scalar(node, as_text=as_text)
        copy = copy or id(node) in self.seen
        self.seen.add(id(node))
        if copy:
            self.count(node)
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, depth=depth, copy=copy)
        place = self.place_of(node.start_mark.line)
        self.refuse_tag(node, "seq")
        items = RawList(place)
        for item in node.value:
            items.add(
                self.build(item, as_text=as_text, depth=depth + 1, copy=copy),
                self.place_of(item.start_mark.line),
            )
        return items

    def mapping(self, node: yaml.MappingNode, *, depth: int, copy: bool) -> RawMap:
        self.refuse_tag(node, "map")
        result = RawMap(self.place_of(node.start_mark.line))
        for key_node, value_node in node.value:
            place = self.place_of(key_node.start_mark.line)
            if not isinstance(key_node, yaml.ScalarNode):
                self.problems.append(
                    reading_problem("GL-S002", "a key is a list or a mapping", where=place)
                )
                continue
            key = str(key_node.value)
            if key in result:
                self.problems.append(
                    reading_problem(
                        "GL-S003",
                        f"the key `{key}` is written twice in the same mapping",
                        where=place,
                        why=f"only one of them could count; the first is at {result.places[key]}",
                        fix="keep one of the two",
                    )
                )
                continue
            value = self.build(value_node, as_text=key in TEXT_KEYS, depth=depth + 1, copy=copy)
            result.put(key, value, place)
        return result

    def scalar(self, node: yaml.ScalarNode, *, as_text: bool) -> Any:
        tag = node.tag
        read = _SCALARS.get(tag)
        if read is None:
            self.refuse_tag(node, "str")
            return node.value
        if as_text and not tag.endswith(":null"):
            return node.value
        try:
            return read(node.value)
        except ValueError:
            self.problems.append(
                reading_problem(
                    "GL-S002",
                    f"{node.value[:60]!r} cannot be read as {tag.removeprefix(_PREFIX)}",
                    where=self.place_of(node.start_mark.line),
                )
            )
            return node.value

    def refuse_tag(self, node: yaml.Node, expected: str) -> None:
        if node.tag != _PREFIX + expected:
            self.problems.append(
                reading_problem(
                    "GL-S004",
                    f"the tag `{node.tag.replace(_PREFIX, '!!')}` is not read",
                    where=self.place_of(node.start_mark.line),
                    why="a scenario is data; tags could name code",
                    fix="write the plain value",
                )
            )

    def count(self, node: yaml.Node) -> None:
        self.aliased += 1 + len(node.value)
        if self.aliased > MAX_ALIASED_NODES:
            raise ScenarioError(
                reading_problem(
                    "GL-S004",
                    f"aliases unfold to more than {MAX_ALIASED_NODES} values",
                    where=self.place_of(node.start_mark.line),
                    fix="write the rows out, or move them to a CSV file",
                )
            )


def read_yaml(text: str, source: str) -> Any:
    """Return the value of a YAML (or JSON) document with the line of every part.

    Parameters
    ----------
    text : str
        The document.
    source : str
        Name of the file, shown in messages as ``source:line``.

    Raises
    ------
    ScenarioError
        On a syntax error, a key written twice, a tag, or aliases that unfold without measure.
    """
    return _read(text, lambda line: f"{source}:{line + 1}")


def read_flow(text: str, place: str, *, key: str = "") -> Any:
    """Return the value of a piece of YAML that stands in a cell or on the command line."""
    return _read(text, lambda _line: place, as_text=key in TEXT_KEYS)


def _read(text: str, place_of: Callable[[int], str], *, as_text: bool = False) -> Any:
    try:
        node = yaml.compose(text, Loader=_CoreLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise ScenarioError(
            reading_problem(
                "GL-S002",
                f"not valid YAML: {' '.join(filter(None, (error.context, error.problem)))}",
                where=place_of(mark.line if mark is not None else 0),
                fix=_syntax_hint(text),
            )
        ) from error
    except (yaml.YAMLError, RecursionError, UnicodeError) as error:
        detail = str(error).splitlines()[0] if str(error) else "nested too deeply"
        raise ScenarioError(
            reading_problem("GL-S002", f"not valid YAML: {detail}", where=place_of(0))
        ) from error
    if node is None:
        return None
    builder = _Builder(place_of)
    value = builder.build(node, as_text=as_text)
    if builder.problems:
        raise ScenarioError(builder.problems)
    return value


def _syntax_hint(text: str) -> str:
    if re.search(r"^ *\t", text, re.MULTILINE):
        return "indent with spaces: YAML does not allow tabs"
    return "check the indentation and the quotes of that line and the one before"
