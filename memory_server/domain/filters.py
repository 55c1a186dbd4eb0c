"""The filter language: a small, closed subset of MongoDB's.

A document from a client is parsed into these values; from there on nothing a user wrote is
ever read as an operator or as part of a query's text.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Literal

from memory_server.errors import InvalidFilter

Scalar = str | int | float | bool | datetime | None

Kind = Literal["string", "number", "boolean", "date"]
"""The declared type of a metadata key."""


class Operator(StrEnum):
    """How a field is compared."""

    EQ = "$eq"
    NE = "$ne"
    GT = "$gt"
    GTE = "$gte"
    LT = "$lt"
    LTE = "$lte"
    IN = "$in"
    NIN = "$nin"
    EXISTS = "$exists"


class Connective(StrEnum):
    """How clauses are joined."""

    AND = "$and"
    OR = "$or"
    NOR = "$nor"


@dataclass(frozen=True, slots=True)
class Comparison:
    """One field against one value.

    `path` is `metadata.<key>[.<key>]`, or the name of a field the server itself asks for
    (`domain`, `tags`, `agent_id`). `value` is a scalar; a tuple of scalars for IN and NIN;
    a bool for EXISTS. A field that holds a list matches when any of its elements does. NE and
    NIN also match where the field is absent, as in MongoDB.
    """

    path: str
    operator: Operator
    value: Scalar | tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Clauses:
    """Several filters under one connective."""

    connective: Connective
    filters: Sequence["Filter"]


Filter = Comparison | Clauses
NOTHING = Comparison("metadata", Operator.IN, ())
"""The filter that matches no document."""


_KINDS: Sequence[tuple[type | tuple[type, ...], str]] = (
    (type(None), "null"),
    (bool, "boolean"),
    ((int, float), "number"),
    (str, "string"),
    (datetime, "date"),
    ((list, tuple), "a list"),
)
"""What values are called; a bool is an int too, so it comes first."""


def segments_of(path: str) -> list[str]:
    """Return the names that a path joins by dots, or raise `InvalidFilter`."""
    segments = path.split(".")
    if not all(segments) or set(path) & set('"\\\0'):
        raise InvalidFilter(f"{path!r} is not a path: names joined by dots, without quotes")
    return segments


def kind_of(value: object) -> str:
    """Return what a value is called in messages and compared as."""
    return next((name for types, name in _KINDS if isinstance(value, types)), "an object")


def parse_date(text: str) -> datetime | None:
    """Return the moment an ISO 8601 text names (UTC where it has no offset), or None."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def matches(condition: Filter, document: Mapping[str, Any]) -> bool:
    """Return whether a document passes, by MongoDB's rules; kinds of values never compare equal."""
    if isinstance(condition, Comparison):
        present, values = _values_at(document, condition.path)
        return _TESTS[condition.operator](condition.value, values, present)
    passed = (matches(part, document) for part in condition.filters)
    match condition.connective:
        case Connective.AND:
            return all(passed)
        case Connective.OR:
            return any(passed)
        case Connective.NOR:
            return not any(passed)


def _values_at(document: Mapping[str, Any], path: str) -> tuple[bool, Sequence[Any]]:
    """Return whether the path is there, and what stands at its end, element by element."""
    found: Any = document
    for key in path.split("."):
        if not isinstance(found, Mapping) or key not in found:
            return False, ()
        found = found[key]
    return True, found if isinstance(found, list | tuple) else (found,)


def _equal(wanted: Scalar, values: Sequence[Any], present: bool) -> bool:  # noqa: FBT001 one table, one shape
    if wanted is None:
        return not present or any(value is None for value in values)
    return any(found == operand for found, operand in _comparable(wanted, values))


def _comparable(wanted: Any, values: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the values that are of the operand's kind; stored dates are ISO texts."""
    for value in values:
        found = (
            parse_date(value) if isinstance(wanted, datetime) and isinstance(value, str) else value
        )
        if found is not None and kind_of(found) == kind_of(wanted):
            yield found, wanted


def _among(wanted: Any, values: Sequence[Any], present: bool) -> bool:  # noqa: FBT001 see _equal
    return any(_equal(one, values, present) for one in wanted)


_Test = Callable[[Any, Sequence[Any], bool], bool]
_TESTS: Mapping[Operator, _Test] = {
    Operator.EQ: _equal,
    Operator.NE: lambda wanted, values, present: not _equal(wanted, values, present),
    Operator.IN: _among,
    Operator.NIN: lambda wanted, values, present: not _among(wanted, values, present),
    Operator.GT: lambda wanted, values, _: any(a > b for a, b in _comparable(wanted, values)),
    Operator.GTE: lambda wanted, values, _: any(a >= b for a, b in _comparable(wanted, values)),
    Operator.LT: lambda wanted, values, _: any(a < b for a, b in _comparable(wanted, values)),
    Operator.LTE: lambda wanted, values, _: any(a <= b for a, b in _comparable(wanted, values)),
    Operator.EXISTS: lambda wanted, _, present: present is wanted,
}
