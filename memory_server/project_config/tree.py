"""From YAML nodes to plain values that know where they stand in the file."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from memory_server.project_config.problem import Finding, Place, Steps
from memory_server.project_config.yaml_text import Composed, start_of

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset(["true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"])
_FALSE = frozenset(["false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"])
_WHOLE = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_DECIMAL = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|nan)", re.IGNORECASE)
_TAG = "tag:yaml.org,2002:"
_ODD = {
    f"{_TAG}int": "a number in another notation (octal, hexadecimal, base 60 or with underscores)",
    f"{_TAG}float": "a number in base 60 or with underscores",
    f"{_TAG}timestamp": "a date",
}
LONGEST_NUMBER = 400
"""Characters; more is no number anybody means."""


@dataclass(frozen=True, slots=True)
class Odd:
    """A value no key takes, kept only as the name of its kind."""

    kind: str


@dataclass(frozen=True, slots=True)
class Tree:
    """A document as plain values."""

    value: Any
    """None, bool, int, float, str, list, dict, and `Odd`."""
    places: dict[Steps, Place]
    key_places: dict[Steps, Place]
    texts: list[tuple[Steps, Place, str]]
    """Every key and scalar as written, quotes and escapes resolved."""
    findings: list[Finding]


def grow(composed: Composed) -> Tree:
    """Return the values of a document; what cannot be kept is told in `findings`."""
    builder = _Builder(composed.notes)
    value = builder.value(composed.root, ())
    return Tree(value, builder.places, builder.key_places, builder.texts, builder.findings)


@dataclass(slots=True)
class _Builder:
    notes: dict[int, str]
    places: dict[Steps, Place] = field(default_factory=dict)
    key_places: dict[Steps, Place] = field(default_factory=dict)
    texts: list[tuple[Steps, Place, str]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def value(self, node: Node, steps: Steps) -> Any:
        self.places[steps] = start_of(node)
        self._tell_note(node, steps)
        if isinstance(node, MappingNode):
            return self._mapping(node, steps)
        if isinstance(node, SequenceNode):
            return [self.value(child, (*steps, at)) for at, child in enumerate(node.value)]
        assert isinstance(node, ScalarNode), "YAML has three kinds of nodes"
        self.texts.append((steps, start_of(node), node.value))
        return _scalar(node)

    def _mapping(self, node: MappingNode, steps: Steps) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key, child in node.value:
            if (name := self._name(key, steps)) is None:
                continue
            own = (*steps, name)
            if name in values:
                first = self.key_places[own][0]
                message = f"given twice, first on line {first}: remove one"
                self.findings.append(Finding(own, message, start_of(key)))
                continue
            self.key_places[own] = start_of(key)
            values[name] = self.value(child, own)
        return values

    def _name(self, key: Node, steps: Steps) -> str | None:
        """Return the name a key node gives, or None if it gives none."""
        if not isinstance(key, ScalarNode):
            message = "a list or mapping stands where the name of a key is expected"
            self.findings.append(Finding(steps, message, start_of(key)))
            return None
        name = str(key.value)
        self.texts.append(((*steps, name), start_of(key), name))
        if key.tag == f"{_TAG}merge":
            message = "merge keys (<<) are not supported here: write the values out"
            self.findings.append(Finding((*steps, name), message, start_of(key)))
            return None
        self._tell_note(key, (*steps, name))
        return name

    def _tell_note(self, node: Node, steps: Steps) -> None:
        if note := self.notes.get(id(node)):
            self.findings.append(Finding(steps, note, start_of(node)))


def _scalar(node: ScalarNode) -> Any:
    text = str(node.value)
    if node.style is not None:
        return text
    for accepts, make in _PLAIN:
        if accepts(text):
            return make(text)
    return Odd(_ODD[node.tag]) if node.tag in _ODD else text


def _number(make: Callable[[str], float]) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        if len(text) > LONGEST_NUMBER:
            return Odd("a number of more than 400 digits")
        return make(text)

    return read


def _not_finite(text: str) -> float:
    return math.nan if "n" in text.lower().lstrip("-+.")[:1] else math.inf


_PLAIN: tuple[tuple[Callable[[str], object], Callable[[str], Any]], ...] = (
    (_NULLS.__contains__, lambda _: None),
    (_TRUE.__contains__, lambda _: True),
    (_FALSE.__contains__, lambda _: False),
    (_WHOLE.fullmatch, _number(int)),
    (_DECIMAL.fullmatch, _number(float)),
    (_NOT_FINITE.fullmatch, _not_finite),
)
"""How a value without quotes is read, first match wins. Booleans as in YAML 1.1, because that is
what other readers of the same file take yes and on for; numbers only in plain notation."""
