"""Filters do in a store what MongoDB would do, compared with a few lines of Python."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_server.domain.chunk import Source
from memory_server.domain.filters import Clauses, Comparison, Connective, Filter, Operator
from memory_server.ports.memories import Add, MemoryQuery
from memory_server.ports.search import Selection
from memory_server.ports.store import Store
from tests.factories import PROJECT, a_memory, a_scope

NOON = "2026-01-31T12:00:00+00:00"

VALUES: Mapping[str, Any] = {
    "absent": ...,
    "null": None,
    "zero": 0,
    "one": 1,
    "one_and_a_half": 1.5,
    "big": 2**53 + 1,
    "true": True,
    "false": False,
    "text": "gold",
    "capital": "Gold",
    "digit": "1",
    "empty": "",
    "accent": "é",
    "quote": 'it\'s "x" \\ %_',
    "null_character": "gold\0plated",
    "null_at_the_end": "gold\0",
    "spelled_null": "gold\\u0000",
    "nulls_in_a_list": ["silver\0", "x"],
    "operator": {"$gt": ""},
    "noon": NOON,
    "noon_elsewhere": "2026-01-31T13:00:00+01:00",
    "noon_zulu": "2026-01-31T12:00:00Z",
    "day": "2026-01-31",
    "empty_list": [],
    "texts": ["gold", "silver"],
    "mixed": [1, "gold", None, True],
    "lists": [["gold"]],
    "object": {"tier": "gold", "x": 1},
}
"""What documents hold under `metadata.k`, by the id of the document."""

OPERANDS: Sequence[Any] = (
    None,
    0,
    1,
    1.5,
    1.0,
    2**53,
    -(2**63),
    True,
    False,
    "gold",
    "1",
    "",
    "é",
    'it\'s "x" \\ %_',
    "gold\0plated",
    "gold\\u0000",
    "silver",
    "silver\0",
    "zz",
    datetime(2026, 1, 31, 12, tzinfo=UTC),
    datetime(2026, 1, 31, tzinfo=UTC),
)

SINGLE = (Operator.EQ, Operator.NE, Operator.GT, Operator.GTE, Operator.LT, Operator.LTE)
PATHS = ("metadata.k", "metadata.k.tier", "metadata.other", "metadata.ключ-1", "tags")

comparisons = st.one_of(
    st.builds(
        Comparison, st.sampled_from(PATHS), st.sampled_from(SINGLE), st.sampled_from(OPERANDS)
    ),
    st.builds(
        Comparison,
        st.sampled_from(PATHS),
        st.sampled_from((Operator.IN, Operator.NIN)),
        st.lists(st.sampled_from(OPERANDS), max_size=4).map(tuple),
    ),
    st.builds(Comparison, st.sampled_from(PATHS), st.just(Operator.EXISTS), st.booleans()),
)
filters = st.recursive(
    comparisons,
    lambda inner: st.builds(
        Clauses, st.sampled_from(Connective), st.lists(inner, min_size=1, max_size=3).map(tuple)
    ),
    max_leaves=5,
)


def passes(document: Mapping[str, Any], condition: Filter) -> bool:
    """Decide the slow way whether a document passes."""
    if isinstance(condition, Clauses):
        outcomes = [passes(document, part) for part in condition.filters]
        if condition.connective is Connective.AND:
            return all(outcomes)
        return any(outcomes) is (condition.connective is Connective.OR)
    value: Any = document
    for key in condition.path.split("."):
        value = value.get(key, ...) if isinstance(value, dict) else ...
    return _compares(value, condition.operator, condition.value)


def _compares(value: Any, operator: Operator, operand: Any) -> bool:
    match operator:
        case Operator.EXISTS:
            return (value is not ...) is operand
        case Operator.NE | Operator.NIN:
            opposite = Operator.EQ if operator is Operator.NE else Operator.IN
            return not _compares(value, opposite, operand)
        case Operator.IN:
            return any(_compares(value, Operator.EQ, one) for one in operand)
    elements = value if isinstance(value, list) else [value]
    if operand is None:
        missing = value is ... or None in elements
        return operator is Operator.EQ and missing
    return any(_holds(one, operator, operand) for one in elements)


def _holds(element: Any, operator: Operator, operand: Any) -> bool:
    if isinstance(operand, datetime):
        element = _date(element)
    if _kind(element) is not _kind(operand):
        return False
    match operator:
        case Operator.EQ:
            return bool(element == operand)
        case Operator.GT:
            return bool(element > operand)
        case Operator.GTE:
            return bool(element >= operand)
        case Operator.LT:
            return bool(element < operand)
        case _:
            return bool(element <= operand)


def _date(element: Any) -> Any:
    try:
        moment = datetime.fromisoformat(element)
    except (TypeError, ValueError):
        return ...
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _kind(value: Any) -> type:
    return float if type(value) is int else type(value)


def _document(value: Any) -> dict[str, Any]:
    held = {} if value is ... else {"k": value, "other": [value]}
    return {"metadata": {"ключ-1": "gold"} | held}


DOCUMENTS = {name: _document(value) for name, value in VALUES.items()}


class FiltersContract:
    """A subclass provides the fixture `store`, open and empty."""

    @pytest.fixture
    async def filled(self, store: Store) -> Store:
        """Return the store with one memory for each value."""
        memories = [
            a_memory(id=name, metadata=document["metadata"]) for name, document in DOCUMENTS.items()
        ]
        await store.memories.apply(PROJECT, [Add(memory=memory) for memory in memories])
        return store

    @pytest.mark.parametrize("operand", OPERANDS, ids=repr)
    @pytest.mark.parametrize("operator", SINGLE)
    async def test_every_operator_meets_every_kind_of_value(
        self, filled: Store, operator: Operator, operand: Any
    ) -> None:
        await self._agree(filled, Comparison("metadata.k", operator, operand))

    @settings(
        max_examples=150,
        deadline=None,
        # One store serves all examples: they only read.
        suppress_health_check=[
            HealthCheck.function_scoped_fixture,
            HealthCheck.differing_executors,
        ],
    )
    @given(filters)
    async def test_filters_of_any_shape_agree(self, filled: Store, condition: Filter) -> None:
        await self._agree(filled, condition)

    @pytest.mark.parametrize("empty", Connective)
    async def test_a_connective_without_filters_has_its_neutral_value(
        self, filled: Store, empty: Connective
    ) -> None:
        await self._agree(filled, Clauses(empty, ()))

    async def test_a_great_many_values_can_be_listed(self, filled: Store) -> None:
        many = tuple(f"value {number}" for number in range(1000))

        await self._agree(filled, Comparison("metadata.k", Operator.IN, (*many, "gold")))

    async def test_deep_filters_can_be_asked(self, filled: Store) -> None:
        condition: Filter = Comparison("metadata.k", Operator.EQ, "gold")
        for _ in range(8):
            condition = Clauses(Connective.NOR, (condition,) * 2)

        await self._agree(filled, condition)

    async def _agree(self, store: Store, condition: Filter) -> None:
        expected = {name for name, one in DOCUMENTS.items() if passes(one, condition)}
        query = MemoryQuery(filter=condition)
        selection = Selection(
            scope=a_scope(), source=Source.SEMANTIC, filter=condition, limit=len(DOCUMENTS)
        )
        found = await store.memories.find(a_scope(), query)
        hits = await store.search.text(selection, ["lisbon"])

        assert {memory.id for memory in found} == expected
        assert {hit.id for hit in hits} == expected
