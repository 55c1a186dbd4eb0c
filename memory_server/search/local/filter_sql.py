"""Filters as SQL over a JSON column: MongoDB's rules, every value and path bound.

Each condition is either 0 or 1, never NULL, so that NOT means what it says. What nothing passes is
a bound 0: a literal one swallows the conditions beside it before the planner sees them, and an
index that was asked for by name is refused.
"""

import json
from collections.abc import Callable, Sequence
from datetime import datetime

from memory_server.domain.filters import (
    Clauses,
    Comparison,
    Connective,
    Filter,
    Operator,
    Scalar,
    segments_of,
)
from memory_server.domain.moments import exact_micros

Bind = Callable[[str | int | float], str]

_SIGNS = {Operator.GT: ">", Operator.GTE: ">=", Operator.LT: "<", Operator.LTE: "<="}


def filter_sql(condition: Filter, column: str, bind: Bind) -> str:
    """Return the filter as one SQL expression; `bind` names the placeholder of a value."""
    if isinstance(condition, Comparison):
        return _Field(column, bind(_json_path(condition.path)), bind).compare(condition)
    parts = [filter_sql(part, column, bind) for part in condition.filters]
    return _joined(condition, parts, bind)


def _joined(clauses: Clauses, parts: Sequence[str], bind: Bind) -> str:
    match clauses.connective:
        case Connective.AND:
            return f"({' AND '.join(parts) or '1'})"
        case Connective.OR:
            return f"({' OR '.join(parts) or bind(0)})"
        case Connective.NOR:
            return f"(NOT ({' OR '.join(parts) or bind(0)}))"


def _json_path(path: str) -> str:
    return "$" + "".join(f'."{segment}"' for segment in segments_of(path))


class _Field:
    """One path of a JSON column."""

    def __init__(self, column: str, path: str, bind: Bind) -> None:
        self._column = column
        self._path = path
        self._bind = bind

    def compare(self, comparison: Comparison) -> str:
        value = comparison.value
        match comparison.operator:
            case Operator.EXISTS:
                return self._absent(negated=bool(value))
            case Operator.EQ | Operator.NE | Operator.IN | Operator.NIN:
                values = value if isinstance(value, tuple) else (value,)
                found = self._any_of(values)
                negated = comparison.operator in (Operator.NE, Operator.NIN)
                return f"(NOT {found})" if negated else found
            case ranged:
                return self._ranged(_SIGNS[ranged], value)

    def _absent(self, *, negated: bool) -> str:
        return f"(json_type({self._column}, {self._path}) IS {'NOT ' if negated else ''}NULL)"

    def _element(self, condition: str) -> str:
        """Say that the value, or an element of a list, meets the condition."""
        elements = f"json_each({self._column}, {self._path}) AS e"
        not_members = f"json_type({self._column}, {self._path}) IS NOT 'object'"
        found = f"SELECT 1 FROM {elements} WHERE {condition}"  # noqa: S608 every value is bound
        return f"({not_members} AND EXISTS ({found}))"

    def _any_of(self, values: Sequence[Scalar]) -> str:
        conditions = list(self._kinds(values))
        found = self._element(" OR ".join(conditions)) if conditions else self._bind(0)
        return f"({found} OR {self._absent(negated=False)})" if None in values else found

    def _kinds(self, values: Sequence[Scalar]) -> Sequence[str]:
        """Return one condition for each kind of value: kinds never compare equal."""
        kinds: dict[str, list[str | int | float]] = {}
        for operand in map(_operand, values):
            if operand is not None:
                kind, bound = operand
                kinds.setdefault(kind, []).append(bound)
        conditions = [self._one_of(kind, bound) for kind, bound in kinds.items()]
        return [*conditions, "e.type = 'null'"] if None in values else conditions

    def _one_of(self, kind: str, values: Sequence[str | int | float]) -> str:
        listed = self._bind(json.dumps(values))
        among = f"{kind} IN (SELECT value FROM json_each({listed}))"  # noqa: S608 bound
        return self._whole(among, values) if kind == _TEXT else among

    def _whole(self, among: str, values: Sequence[str | int | float]) -> str:
        """Compare texts to their end, as JSON spells them where there is a null character."""
        spelled = [json.dumps(value, ensure_ascii=False) for value in values]
        listed = self._bind(json.dumps(spelled))
        exact = f"{self._spelled} IN (SELECT value FROM json_each({listed}))"  # noqa: S608 bound
        if any("\0" in str(value) for value in values):
            return f"(e.type = 'text' AND {exact})"
        return f"({among} AND (NOT {self._has_null} OR {exact}))"

    def _ranged(self, sign: str, value: Scalar | tuple[Scalar, ...]) -> str:
        operand = None if isinstance(value, tuple) else _operand(value)
        if operand is None:
            return self._bind(0)
        kind, bound = operand
        if kind == _TEXT:
            kind = f"CASE WHEN {self._has_null} THEN whole_text({self._spelled}) ELSE {kind} END"
        return self._element(f"{kind} {sign} {self._bind(bound)}")

    @property
    def _spelled(self) -> str:
        """Where SQLite reads a text out of JSON, it ends at the first null character: spell it."""
        return f"({self._column} -> e.fullkey)"

    @property
    def _has_null(self) -> str:
        return rf"instr({self._column}, '\u0000') > 0"


def whole_text(spelled: object) -> str | None:
    """Return the text that JSON spells, or None: the SQL function `whole_text`."""
    value = json.loads(spelled) if isinstance(spelled, str) else None
    return value if isinstance(value, str) else None


_TEXT = "CASE WHEN e.type = 'text' THEN e.atom END"
_NUMBER = "CASE WHEN e.type IN ('integer', 'real') THEN e.atom END"
_BOOLEAN = "CASE e.type WHEN 'true' THEN 1 WHEN 'false' THEN 0 END"
_DATE = "CASE WHEN e.type = 'text' THEN micros(e.atom) END"


def _operand(value: Scalar) -> tuple[str, str | int | float] | None:
    """Return the expression over elements of the value's kind, and the value to compare with."""
    match value:
        case None:
            return None
        case bool():
            return _BOOLEAN, int(value)
        case int():
            return _NUMBER, value if -(2**63) <= value < 2**63 else float(value)
        case float():
            return _NUMBER, value
        case str():
            return _TEXT, value
        case datetime():
            return _DATE, exact_micros(value)
