"""SQL conditions in which every value is bound: the one place where a scope becomes SQL."""

import json
from collections.abc import Sequence

from memory_server.domain.chunk import source_name
from memory_server.domain.filters import Filter
from memory_server.domain.moments import to_micros
from memory_server.domain.scope import Scope
from memory_server.ports.search import Selection
from memory_server.search.local.filter_sql import filter_sql
from memory_server.search.local.statements import HOLE

SqlValue = str | int | float | bytes | None


class Predicate:
    """The AND of conditions over one table, built up, with its bound values."""

    def __init__(self, table: str) -> None:
        self._table = table
        self._conditions: list[str] = []
        self.values: dict[str, SqlValue] = {}

    def bind(self, value: SqlValue) -> str:
        """Return the placeholder under which the value is bound."""
        name = f"c{len(self.values)}"
        self.values[name] = value
        return f":{name}"

    def add(self, condition: str) -> None:
        """Demand one more condition, written without any value of a user in it."""
        self._conditions.append(condition)

    def equals(self, column: str, value: SqlValue) -> None:
        """Demand that a column has exactly this value; None: that it has none."""
        wanted = "IS NULL" if value is None else f"= {self.bind(value)}"
        self.add(f"{self._table}.{column} {wanted}")

    def among(self, column: str, values: Sequence[str]) -> None:
        """Demand that a column has one of these values."""
        listed = self.bind(json.dumps(values))
        self.add(f"{self._table}.{column} IN (SELECT value FROM json_each({listed}))")  # noqa: S608 bound

    def within(self, scope: Scope) -> None:
        """Demand every condition of the scope."""
        for column, value in scope.conditions():
            self.equals(column, value)

    def passes(self, condition: Filter | None) -> None:
        """Demand that the `fields` column passes the filter."""
        if condition is not None:
            self.add(filter_sql(condition, f"{self._table}.fields", self.bind))

    def fill(self, statement: str) -> str:
        """Return the statement with its hole filled by these conditions."""
        return statement.replace(HOLE, " AND ".join(self._conditions) or "1")


def selected(selection: Selection) -> Predicate:
    """Return what a document must be to be found: the same for every leg."""
    predicate = Predicate("d")
    predicate.within(selection.scope)
    predicate.equals("source", source_name(selection.source, selection.custom_type))
    if selection.asks_the_past and selection.as_of is not None:
        moment = predicate.bind(to_micros(selection.as_of))
        predicate.add("d.state <= 1")
        predicate.add(f"d.valid_from <= {moment}")
        predicate.add(f"(d.valid_to IS NULL OR d.valid_to > {moment})")
    else:
        predicate.add("d.state = 0")
    predicate.passes(selection.filter)
    return predicate
