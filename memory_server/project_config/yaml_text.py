"""From the bytes of a file to YAML nodes, refusing what a configuration has no use for.

Anchors, aliases and tags are noted and taken out while the nodes are made, so that nothing is
ever expanded or constructed; depth and number of nodes are bounded, so that a hostile file costs
no more than a large one.
"""

from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml.events import AliasEvent, NodeEvent, StreamEndEvent
from yaml.nodes import Node, ScalarNode

from memory_server.project_config.problem import Place

LARGEST_FILE = 1_000_000
"""Bytes."""
DEEPEST_NESTING = 32
MOST_NODES = 10_000

_ANCHOR = "anchors and aliases (& and *) are not supported here: write the value out"
_TAG = "tags (!) are not supported here: remove the tag"
_TAB = "a tab character: YAML takes only spaces here"

_ESCAPE = "a backslash in double quotes starts an escape: use single quotes"
_NO_LIST = "a list cannot start here: put `-` on a line of its own"

_SYNTAX = (
    ("found character '\\t'", _TAB),
    ("mapping values are not allowed", "a second `: ` in this line, or indentation that is wrong"),
    ("could not find expected ':'", "this line or the one before has no `key: value` form"),
    ("expected <block end>", "wrong indentation, or a quote that is not closed"),
    ("found unexpected end of stream", "a quoted value is not closed"),
    ("expected ',' or", "a [ or { is not closed, or a comma is missing"),
    ("found unknown escape", _ESCAPE),
    ("expected escape sequence", _ESCAPE),
    ("found undefined tag handle", _TAG),
    ("found character", "a value cannot start with this character: quote it"),
    ("block sequence entries are not allowed", _NO_LIST),
    ("sequence entries are not allowed", _NO_LIST),
)
"""What PyYAML says, and what we say. Its own words may quote the file, so they are not shown."""


class Unreadable(Exception):
    """The text is not one YAML document; says why and where."""

    def __init__(self, message: str, place: Place = (1, 1)) -> None:
        super().__init__(message)
        self.message = message
        self.place = place


@dataclass(frozen=True, slots=True)
class Composed:
    """The nodes of a document, and what was taken out of them."""

    root: Node
    notes: dict[int, str] = field(default_factory=dict)
    """By `id` of the node: why it cannot stay as it was written."""


def decode(data: bytes) -> str:
    """Return the text of a file, or raise `Unreadable`."""
    if len(data) > LARGEST_FILE:
        raise Unreadable(f"the file is larger than {LARGEST_FILE:,} bytes")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Unreadable("the file is UTF-16 (byte offset 0): save it as UTF-8")
    if data.startswith(b"\xef\xbb\xbf"):
        raise Unreadable("the file starts with a byte order mark: save it as UTF-8 without BOM")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        place = place_of(data[: error.start].decode("utf-8"), len(data))
        message = f"the file is not UTF-8: the byte at offset {error.start} cannot be read"
        raise Unreadable(message, place) from None


def compose(text: str) -> Composed:
    """Return the nodes of the one document in the text, or raise `Unreadable`."""
    try:
        loader = _Composer(text)
    except yaml.reader.ReaderError as error:
        message = f"the control character U+{error.character:04X} cannot be in a YAML file"
        raise Unreadable(message, place_of(text, int(error.position))) from None
    try:
        return loader.compose_only_document()
    except yaml.MarkedYAMLError as error:
        raise _syntax_error(error, text) from None
    except (yaml.YAMLError, ValueError, OverflowError):
        # ValueError: numbers PyYAML cannot take, as in "\UFFFFFFFF" or a %YAML directive.
        message = "not valid YAML: a number or an escape is out of range"
        raise Unreadable(message, _place(loader.get_mark())) from None
    finally:
        loader.dispose()


def place_of(text: str, offset: int) -> Place:
    """Return line and column of a character."""
    before = text[:offset]
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


def start_of(node: Node) -> Place:
    """Return where a node starts."""
    return _place(node.start_mark)


class _Composer(yaml.SafeLoader):
    """PyYAML's safe loader up to the nodes, with bounds and without sharing."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._notes: dict[int, str] = {}
        self._depth = 0
        self._nodes = 0

    def compose_only_document(self) -> Composed:
        self._next()
        if self.check_event(StreamEndEvent):
            raise Unreadable("the file is empty: it needs a `memory:` mapping")
        root = self.compose_document()
        if not self.check_event(StreamEndEvent):
            place = _place(self._peek().start_mark)
            raise Unreadable("a second document (---) starts here: only one is read", place)
        assert root is not None, "there was a document"
        return Composed(root, self._notes)

    def compose_node(self, parent: Node | None, index: int) -> Node | None:
        event = self._peek()
        self._count(event)
        note = _take_out(event)
        if isinstance(event, AliasEvent):
            self._next()
            node: Node | None = _null(event)
        else:
            self._depth += 1
            node = super().compose_node(parent, index)
            self._depth -= 1
        if note and node is not None:
            self._notes[id(node)] = note
        return node

    def _peek(self) -> Any:
        return self.peek_event()  # type: ignore[no-untyped-call]  # the stubs leave it untyped

    def _next(self) -> None:
        self.get_event()  # type: ignore[no-untyped-call]  # the stubs leave it untyped

    def _count(self, event: Any) -> None:
        self._nodes += 1
        if self._nodes > MOST_NODES:
            message = f"the file holds more than {MOST_NODES:,} values"
            raise Unreadable(message, _place(event.start_mark))
        if self._depth >= DEEPEST_NESTING:
            message = f"nested more than {DEEPEST_NESTING} levels deep"
            raise Unreadable(message, _place(event.start_mark))


def _take_out(event: Any) -> str | None:
    """Remove anchor and tag from an event; say what was removed."""
    note = None
    if isinstance(event, NodeEvent) and event.anchor is not None:
        note, event.anchor = _ANCHOR, None
    if getattr(event, "tag", None) is not None:
        note, event.tag, event.implicit = _TAG, None, _implicit(event)
    return note


def _implicit(event: Any) -> object:
    """Return what PyYAML puts into an event whose tag is not written."""
    return (True, False) if isinstance(event, yaml.ScalarEvent) else True


def _null(event: Any) -> ScalarNode:
    return ScalarNode("tag:yaml.org,2002:null", "", event.start_mark, event.end_mark)


def _syntax_error(error: yaml.MarkedYAMLError, text: str) -> Unreadable:
    mark = error.problem_mark or error.context_mark
    place = (1, 1) if mark is None else _place(mark)
    problem = error.problem or ""
    lines = text.splitlines()
    line = lines[place[0] - 1] if place[0] <= len(lines) else ""
    if "\t" in line[: len(line) - len(line.lstrip())]:
        return Unreadable(_TAB, place)
    known = (ours for theirs, ours in _SYNTAX if problem.startswith(theirs))
    return Unreadable(f"not valid YAML: {next(known, 'it cannot be read here')}", place)


def _place(mark: Any) -> Place:
    return int(mark.line) + 1, int(mark.column) + 1
