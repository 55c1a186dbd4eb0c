"""The part of a filter that a search stage can decide.

The stages take it from the index: fields that are indexed, equality, membership and ranges, joined
by AND and OR. What they leave undecided, and what an index rounds, is decided after the stage by
`$match`; so the part pushed down may let more pass than the filter, and never less.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory_server.domain.filters import (
    Clauses,
    Comparison,
    Connective,
    Filter,
    Kind,
    Operator,
    Scalar,
    kind_of,
)
from memory_server.domain.moments import exact_micros
from memory_server.search.atlas.documents import MOMENTS

OWN: Mapping[str, str] = {
    "agent_id": "agent_id",
    "session_id": "session_id",
    "role": "role",
    "domain": "domain",
    "tags": "body.tags",
    "exchange_id": "exchange_id",
    "viewpoint": "viewpoint",
    "speaker": "speaker",
}
"""The server's own fields that filters may name, all texts, and where they are indexed."""

EXACT = 2**53
"""Above it, whole numbers may be rounded in an index."""

LONGEST_TEXT = 1_000
"""Characters of a text that is looked up; the index leaves out texts of more than 32,766 bytes."""

_KINDS: Sequence[Kind] = ("string", "number", "boolean", "date")
_KEY = re.compile(r"[a-z][a-z0-9_]{0,63}(\.[a-z][a-z0-9_]{0,63})?")
"""What a declared key looks like; an index takes no other."""

_RANGES = {
    Operator.GT: Operator.GTE,
    Operator.GTE: Operator.GTE,
    Operator.LT: Operator.LTE,
    Operator.LTE: Operator.LTE,
}


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields by which an index can be narrowed: stored paths."""

    paths: frozenset[str]
    keys: Mapping[str, Kind]
    """The declared metadata keys."""

    def __contains__(self, path: str) -> bool:
        return path in self.paths


def key_path(key: str, kind: Kind) -> str:
    """Return where a declared metadata key is indexed."""
    return f"{MOMENTS}.{key}" if kind == "date" else f"metadata.{key}"


def keys_of(condition: Filter | None) -> Iterator[tuple[str, Kind]]:
    """Yield the metadata keys that a filter compares, each with the kind of what it asks for."""
    if isinstance(condition, Clauses):
        for part in condition.filters:
            yield from keys_of(part)
        return
    if condition is None or not condition.path.startswith("metadata."):
        return
    key = condition.path.removeprefix("metadata.")
    values = condition.value if isinstance(condition.value, tuple) else (condition.value,)
    kinds = {kind_of(value) for value in values}
    for kind in _KINDS:
        if condition.operator is not Operator.EXISTS and kinds == {kind} and _KEY.fullmatch(key):
            yield key, kind


def pushed(condition: Filter | None, fields: Fields) -> Filter | None:
    """Return the part of a filter that the index can decide, over stored paths; None: nothing.

    Whatever passes the filter passes it.
    """
    if condition is None:
        return None
    if isinstance(condition, Comparison):
        return _comparison(condition, fields)
    parts = [pushed(part, fields) for part in condition.filters]
    known = [part for part in parts if part is not None]
    match condition.connective:
        case Connective.AND:
            return Clauses(Connective.AND, known) if known else None
        case Connective.OR:
            complete = bool(known) and len(known) == len(parts)
            return Clauses(Connective.OR, known) if complete else None
        case Connective.NOR:
            return None


def _comparison(asked: Comparison, fields: Fields) -> Comparison | None:
    place = _place(asked.path, fields)
    if place is None or place[0] not in fields:
        return None
    path, kind = place
    if asked.operator is Operator.IN and isinstance(asked.value, tuple):
        values = tuple(_value(one, kind) for one in asked.value)
        usable = bool(values) and None not in values
        return Comparison(path, Operator.IN, values) if usable else None
    value = None if isinstance(asked.value, tuple) else _value(asked.value, kind)
    if value is None:
        return None
    if asked.operator is Operator.EQ:
        return Comparison(path, Operator.EQ, value)
    ranged = _RANGES.get(asked.operator)
    is_ordered = kind in ("number", "date")
    return Comparison(path, ranged, value) if ranged is not None and is_ordered else None


def _place(path: str, fields: Fields) -> tuple[str, Kind] | None:
    """Return where a path of the filter language is indexed, and as what."""
    if path in OWN:
        return OWN[path], "string"
    kind = fields.keys.get(path.removeprefix("metadata.")) if path.startswith("metadata.") else None
    return None if kind is None else (key_path(path.removeprefix("metadata."), kind), kind)


def _value(value: Scalar, kind: Kind) -> Scalar:
    """Return the value as it is indexed under a kind; None where the index does not tell."""
    if value is None or kind_of(value) != kind:
        return None
    match value:
        case datetime():
            return exact_micros(value)
        case str():
            return value if 0 < len(value) <= LONGEST_TEXT else None
        case bool():
            return value
        case _:
            return value if abs(value) <= EXACT else None


def as_mql(condition: Filter) -> dict[str, Any]:
    """Return a pushed filter as `$vectorSearch` takes it."""
    if isinstance(condition, Clauses):
        return {condition.connective.value: [as_mql(part) for part in condition.filters]}
    return {condition.path: {condition.operator.value: _plain(condition.value)}}


def as_operator(condition: Filter) -> dict[str, Any]:
    """Return a pushed filter as an operator of `$search`."""
    if isinstance(condition, Clauses):
        parts = [as_operator(part) for part in condition.filters]
        if condition.connective is Connective.AND:
            return {"compound": {"filter": parts}}
        return {"compound": {"should": parts, "minimumShouldMatch": 1}}
    place = {"path": condition.path}
    match condition.operator:
        case Operator.EQ:
            return {"equals": {**place, "value": condition.value}}
        case Operator.IN:
            return {"in": {**place, "value": _plain(condition.value)}}
        case ranged:
            return {"range": {**place, ranged.value.removeprefix("$"): condition.value}}


def _plain(value: Scalar | Sequence[Scalar]) -> Any:
    return list(value) if isinstance(value, tuple) else value
