"""The filter language: a small, closed subset of MongoDB's.

A document from a client is parsed into these values; from there on nothing a user wrote is
ever read as an operator or as part of a query's text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

Scalar = str | int | float | bool | datetime | None


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
