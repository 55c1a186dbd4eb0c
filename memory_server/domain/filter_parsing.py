"""Documents of the filter language, read into filters."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from memory_server.domain.filters import (
    NOTHING,
    Clauses,
    Comparison,
    Connective,
    Filter,
    Kind,
    Operator,
    Scalar,
    kind_of,
    parse_date,
)
from memory_server.domain.limits import (
    MAX_FILTER_COMPARISONS,
    MAX_FILTER_DEPTH,
    MAX_FILTER_TEXT,
    MAX_FILTER_VALUES,
)
from memory_server.errors import InvalidFilter, PublishingPath, UndeclaredPath

RESERVED = frozenset(
    (
        "org_id",
        "user_id",
        "project_id",
        "session_id",
        "visibility",
        "deleted",
        "is_latest",
        "has_embedding",
    )
)
"""Fields that the server itself decides on; no filter may name them."""
PUBLISHING = "publishing"
"""Where the product keeps what is published; nothing below it can be filtered on."""
_RANGES = {Operator.GT, Operator.GTE, Operator.LT, Operator.LTE}
_SEGMENT = re.compile(r"[\w-]+")


def parse_filter(
    document: Mapping[str, Any], *, declared: Mapping[str, Kind], note: str = ""
) -> Filter:
    """Return the filter a client wrote; an empty document matches everything.

    `declared` maps each bare key (`tier`, `address.city`) to its type; the document names it
    as `metadata.tier`. `agent_id` may always be named. Raises `UndeclaredPath` for any other
    path, with `note` where it is not declared, `PublishingPath` for what is published, and
    `InvalidFilter` for anything outside the language.
    """
    return _Parser(_strict_paths(declared, note)).parse(document)


def parse_lenient(
    document: Mapping[str, Any] | None, *, declared: Mapping[str, Kind] | None = None
) -> tuple[Filter | None, list[str]]:
    """Return a filter whose paths are not checked, and warnings about what it will not do.

    An undeclared `metadata.` path is compared as it is; any other path matches nothing, under
    `$nor` too, and so does a document outside the language: what is not understood never widens
    a result.
    """
    if not document:
        return None, []
    warnings: list[str] = []
    try:
        return _Parser(_lenient_paths(declared or {}, warnings)).parse(document), warnings
    except InvalidFilter as error:
        return NOTHING, [f"metadata_filter matches nothing: {error}"]


@dataclass(frozen=True, slots=True)
class _Path:
    """A path that may be compared; with no kind, values are taken as they come."""

    name: str
    kind: Kind | None = None
    never: bool = False


_Paths = Callable[[str], _Path]


def _strict_paths(declared: Mapping[str, Kind], note: str) -> _Paths:
    accepted = _accepted(declared)

    def resolve(name: str) -> _Path:
        if name not in accepted:
            wrong = PublishingPath if name.split(".")[0] == PUBLISHING else UndeclaredPath
            raise wrong(_explain(name, accepted, note))
        return _Path(name, accepted[name])

    return resolve


def _lenient_paths(declared: Mapping[str, Kind], warnings: list[str]) -> _Paths:
    accepted = _accepted(declared)

    def resolve(name: str) -> _Path:
        if name in accepted:
            return _Path(name, accepted[name])
        literal = _is_metadata(name)
        outcome = (
            "documents are compared by what they have there" if literal else "it matches nothing"
        )
        warnings.append(f"{_explain(name, accepted)}; {outcome}")
        return _Path(name, never=not literal)

    return resolve


def _accepted(declared: Mapping[str, Kind]) -> dict[str, Kind]:
    accepted: dict[str, Kind] = {"agent_id": "string"}
    return accepted | {f"metadata.{key}": kind for key, kind in sorted(declared.items())}


def _is_metadata(name: str) -> bool:
    first, *keys = name.split(".")
    return first == "metadata" and bool(keys) and all(_SEGMENT.fullmatch(key) for key in keys)


def _explain(name: str, accepted: Mapping[str, Kind], note: str = "") -> str:
    is_reserved = name.split(".")[0] in (*RESERVED, PUBLISHING)
    undeclared = f"is not a declared filter path{note}"
    what = "is reserved for the server" if is_reserved else undeclared
    meant = f": did you mean metadata.{name}?" if f"metadata.{name}" in accepted else ""
    paths = ", ".join(f"{path} ({kind})" for path, kind in accepted.items())
    return f"{_shown(name)} {what}{meant} (accepted paths: {paths})"


def _shown(name: object) -> str:
    text = repr(name)
    return text if len(text) <= 80 else text[:77] + "..."


class _Parser:
    """Reads one document, counting as it goes."""

    def __init__(self, paths: _Paths) -> None:
        self._paths = paths
        self._comparisons = 0

    def parse(self, document: Any, depth: int = 0) -> Filter:
        if not isinstance(document, Mapping):
            raise InvalidFilter(f"a filter is an object, not {kind_of(document)}")
        if depth > MAX_FILTER_DEPTH:
            raise InvalidFilter(f"the filter is nested deeper than {MAX_FILTER_DEPTH} levels")
        parts = [
            part for name, value in document.items() for part in self._part(name, value, depth)
        ]
        return parts[0] if len(parts) == 1 else Clauses(Connective.AND, tuple(parts))

    def _part(self, name: str, value: Any, depth: int) -> Iterator[Filter]:
        if not name.startswith("$"):
            yield from self._field(self._paths(name), value)
            return
        connective = _connective(name)
        if not isinstance(value, list) or not value:
            raise InvalidFilter(f"{name} takes a list of at least one filter")
        parts = tuple(self.parse(part, depth + 1) for part in value)
        never = connective is Connective.NOR and any(map(_holds_nothing, parts))
        yield NOTHING if never else Clauses(connective, parts)

    def _field(self, path: _Path, value: Any) -> Iterator[Filter]:
        if not isinstance(value, Mapping):
            yield self._comparison(path, Operator.EQ, value)
            return
        if not value:
            raise InvalidFilter(f"{path.name} is compared with an empty object")
        for name, operand in value.items():
            yield self._comparison(path, _operator(path, name), operand)

    def _comparison(self, path: _Path, operator: Operator, operand: Any) -> Filter:
        self._comparisons += 1
        if self._comparisons > MAX_FILTER_COMPARISONS:
            raise InvalidFilter(f"the filter has more than {MAX_FILTER_COMPARISONS} comparisons")
        comparison = Comparison(path.name, operator, _operand(path, operator, operand))
        return NOTHING if path.never else comparison


def _holds_nothing(condition: Filter) -> bool:
    """Whether a part of it names a path that matches nothing: denied, it would match all."""
    if isinstance(condition, Clauses):
        return any(map(_holds_nothing, condition.filters))
    return condition == NOTHING


def _connective(name: str) -> Connective:
    try:
        return Connective(name)
    except ValueError:
        raise InvalidFilter(
            f"{_shown(name)} is not an operator here; allowed: {', '.join(Connective)}, or a path"
        ) from None


def _operator(path: _Path, name: Any) -> Operator:
    try:
        return Operator(name)
    except ValueError:
        raise InvalidFilter(
            f"{path.name}: {_shown(name)} is not an operator; allowed: {', '.join(Operator)}"
        ) from None


def _operand(path: _Path, operator: Operator, operand: Any) -> Scalar | tuple[Scalar, ...]:
    if operator is Operator.EXISTS:
        if not isinstance(operand, bool):
            raise InvalidFilter(f"{path.name}: $exists takes true or false")
        return operand
    if operator in (Operator.IN, Operator.NIN):
        return tuple(_scalar(path, value) for value in _listed(path, operator, operand))
    value = _scalar(path, operand)
    if operator in _RANGES:
        _check_range(path, operator, value)
    return value


def _listed(path: _Path, operator: Operator, operand: Any) -> list[Any]:
    if not isinstance(operand, list):
        raise InvalidFilter(f"{path.name}: {operator} takes a list, not {kind_of(operand)}")
    if len(operand) > MAX_FILTER_VALUES:
        raise InvalidFilter(f"{path.name}: {operator} takes at most {MAX_FILTER_VALUES} values")
    return operand


def _check_range(path: _Path, operator: Operator, value: Scalar) -> None:
    if path.kind in ("string", "boolean"):
        raise InvalidFilter(
            f"{path.name}: {operator} needs a number or date key, and this key is a {path.kind}"
        )
    if value is None or isinstance(value, bool):
        raise InvalidFilter(f"{path.name}: {operator} cannot be used with {kind_of(value)}")


def _scalar(path: _Path, value: Any) -> Scalar:
    kind = kind_of(value)
    if kind == "null" or (path.kind is None and kind in ("string", "number", "boolean")):
        return _within_limits(path, value)
    if path.kind == "date" and kind == "string":
        if (moment := parse_date(value)) is None:
            raise InvalidFilter(f"{path.name} takes a date like 2026-01-31 or 2026-01-31T12:00:00Z")
        return moment
    if kind == path.kind:
        return _within_limits(path, value)
    raise InvalidFilter(f"{path.name} takes a {path.kind or 'scalar'} value, not {kind}")


def _within_limits(path: _Path, value: Scalar) -> Scalar:
    if isinstance(value, str) and len(value) > MAX_FILTER_TEXT:
        raise InvalidFilter(f"{path.name}: a value is at most {MAX_FILTER_TEXT} characters long")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise InvalidFilter(f"{path.name}: a whole number has at most 64 bits")
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidFilter(f"{path.name}: a number is finite")
    return value
