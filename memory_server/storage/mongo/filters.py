"""Filters as MongoDB queries, and what a document holds to be compared with them.

The database compares `metadata` differently from what the filter language promises: a path reaches
through lists, a date is a text like any other, a key may not hold a null character. So a document
lists its values under `fields`, each with its path and its kind, and filters compare those.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from memory_server.domain.filters import (
    Comparison,
    Connective,
    Filter,
    Operator,
    Scalar,
    segments_of,
)
from memory_server.domain.moments import exact_micros, micros_of_text
from memory_server.storage.mongo.documents import Document

FIELDS = "fields"
"""Where a document lists what filters compare."""

EVERYTHING: Document = {}
NOTHING: Document = {"_id": {"$in": []}}


def comparable(fields: Mapping[str, Any]) -> list[Document]:
    """Return what filters may name as it is stored under `fields`: one value an element.

    Every element has its `path` and, but for objects and empty lists, the value under the name of
    its kind: `text` (and `moment` where it is a date), `number`, `boolean` or `null`.
    """
    return [*_listed("", fields)]


def filter_query(condition: Filter) -> Document:
    """Return the filter as a query over documents with `fields`; raises `InvalidFilter`.

    It is one for `find` as for `$match`, wherever in a pipeline.
    """
    if isinstance(condition, Comparison):
        return _comparison(".".join(segments_of(condition.path)), condition)
    parts = [filter_query(part) for part in condition.filters]
    match condition.connective:
        case Connective.AND:
            return {"$and": parts} if parts else EVERYTHING
        case Connective.OR:
            return {"$or": parts} if parts else NOTHING
        case Connective.NOR:
            return {"$nor": parts} if parts else EVERYTHING


def _listed(prefix: str, members: Mapping[str, Any]) -> Iterator[Document]:
    for key, value in members.items():
        if "." not in key:  # no path reaches it: a dot parts two names
            yield from _at(f"{prefix}{key}", value)


def _at(path: str, value: Any) -> Iterator[Document]:
    elements = value if isinstance(value, list | tuple) else (value,)
    kinds = [kinds for kinds in map(_kinds, elements) if kinds]
    yield from ({"path": path, **one} for one in kinds or ({},))
    if isinstance(value, Mapping):
        yield from _listed(f"{path}.", value)


def _kinds(value: Any) -> Document:
    match value:
        case None:
            return {"null": True}
        case bool():
            return {"boolean": value}
        case int() | float():
            return {"number": _number(value)}
        case str():
            moment = micros_of_text(value)
            return {"text": value} if moment is None else {"text": value, "moment": moment}
    return {}


def _comparison(path: str, comparison: Comparison) -> Document:
    value = comparison.value
    match comparison.operator:
        case Operator.EXISTS:
            return {f"{FIELDS}.path": path if value else {"$ne": path}}
        case Operator.EQ | Operator.NE | Operator.IN | Operator.NIN:
            found = _any_of(path, value if isinstance(value, tuple) else (value,))
            negated = comparison.operator in (Operator.NE, Operator.NIN)
            return {"$nor": [found]} if negated else found
        case ranged:
            return _ranged(path, ranged, value)


def _any_of(path: str, values: Sequence[Scalar]) -> Document:
    kinds: dict[str, list[Any]] = {}
    for kind, value in map(_operand, values):
        kinds.setdefault(kind, []).append(value)
    if not kinds:
        return NOTHING
    conditions = [{kind: {"$in": wanted}} for kind, wanted in kinds.items()]
    found = {FIELDS: {"$elemMatch": {"path": path, "$or": conditions}}}
    absent = {f"{FIELDS}.path": {"$ne": path}}
    return {"$or": [found, absent]} if None in values else found


def _ranged(path: str, operator: Operator, value: Scalar | tuple[Scalar, ...]) -> Document:
    if value is None or isinstance(value, tuple):
        return NOTHING
    kind, bound = _operand(value)
    return {FIELDS: {"$elemMatch": {"path": path, kind: {operator.value: bound}}}}


def _operand(value: Scalar) -> tuple[str, Any]:
    if isinstance(value, datetime):
        return "moment", exact_micros(value)
    kinds = _kinds(value)
    kind = next(iter(kinds))
    return kind, kinds[kind]


def _number(value: float) -> float:
    """Return a number that the database can hold: of whole ones beyond 64 bits, the nearest."""
    if isinstance(value, float) or -(2**63) <= value < 2**63:
        return value
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
