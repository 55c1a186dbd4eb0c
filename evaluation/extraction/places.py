"""YAML as it was written: every scalar is text, every value knows its line and column.

A label `no`, `007` or `1.50` is a word of a conversation, never a boolean or a number.
"""

from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

Steps = tuple[str | int, ...]
"""The way to a value from the top of the file: keys and list positions, from 0."""
Place = tuple[int, int]
"""Line and column, both from 1."""

_NULLS = frozenset({"", "~", "null"})


class Unreadable(Exception):
    """The text is not one YAML document; says why and where."""

    def __init__(self, message: str, place: Place = (1, 1)) -> None:
        super().__init__(message)
        self.message = message
        self.place = place


@dataclass(slots=True)
class Located:
    """A document as text, lists and mappings; null where nothing or `null` is written."""

    value: Any = None
    places: dict[Steps, Place] = field(default_factory=dict)
    repeated: list[tuple[Steps, Place]] = field(default_factory=list)
    """Keys that a mapping has already, and where they stand again; the first one counts."""

    def place(self, steps: Steps) -> Place:
        """Return where a value stands, or what it is missing from."""
        while steps and steps not in self.places:
            steps = steps[:-1]
        return self.places.get(steps, (1, 1))


def located(text: str) -> Located:
    """Return the values of a document with their places; raises `Unreadable`."""
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = (1, 1) if mark is None else (mark.line + 1, mark.column + 1)
        reason = error.problem or "it cannot be read here"
        raise Unreadable(
            f"no valid YAML: {reason}; words with a colon, a quote, # or [ at their "
            "beginning go into quotes",
            place,
        ) from None
    except yaml.YAMLError:
        raise Unreadable("no valid YAML: a character that cannot be in it") from None
    grown = Located()
    if root is not None:
        grown.value = _value(root, (), grown)
    return grown


def _value(node: Node, steps: Steps, grown: Located) -> Any:
    grown.places[steps] = _start(node)
    if isinstance(node, SequenceNode):
        return [_value(child, (*steps, at), grown) for at, child in enumerate(node.value)]
    if isinstance(node, MappingNode):
        return _mapping(node, steps, grown)
    assert isinstance(node, ScalarNode), "YAML has three kinds of nodes"
    text = str(node.value)
    return None if node.style is None and text in _NULLS else text


def _mapping(node: MappingNode, steps: Steps, grown: Located) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, child in node.value:
        name = key.value if isinstance(key, ScalarNode) else "(no name)"
        own = (*steps, name)
        if name in values:
            grown.repeated.append((own, _start(key)))
            continue
        values[name] = _value(child, own, grown)
    return values


def _start(node: Node) -> Place:
    return node.start_mark.line + 1, node.start_mark.column + 1
