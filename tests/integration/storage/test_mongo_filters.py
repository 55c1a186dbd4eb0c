"""A filter means the same in MongoDB as in SQLite, for every kind of value and key."""

import json
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from memory_server.domain.filters import Clauses, Comparison, Connective, Filter, Operator
from memory_server.errors import InvalidFilter
from memory_server.ports.memories import Add, MemoryQuery
from memory_server.ports.store import Store
from memory_server.storage.mongo import MongoStore
from memory_server.storage.mongo.database import MongoDatabase
from memory_server.storage.mongo.filters import comparable, filter_query
from memory_server.storage.sqlite import SqliteStore
from tests.clock import ManualClock
from tests.conformance.filters import DOCUMENTS, OPERANDS, SINGLE, filters
from tests.factories import PROJECT, a_memory, a_procedure, a_scope

KEYS = ("k", "tier", "other", "ключ-1", "a.b", "a", "b", "$gt", "$k", "", "_id", "0", "null\0")

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2),
    st.sampled_from((2**31, 2**53 + 1, 2**63 - 1, -(2**63), 2**63, -(2**70), 10**400)),
    st.sampled_from((0.0, -0.0, 1.0, 1.5, 1e308, -1e-300, float(2**53), float(2**63))),
    st.sampled_from(("", "gold", "Gold", "1", "true", "null", "$k", "gold\0", "é", "e\u0301")),
    st.sampled_from(
        ("2026-01-31", "2026-01-31T12:00:00Z", "2026-01-31T13:00:00.000001+01:00", "20260131")
    ),
    st.sampled_from(("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59.999999-14:00")),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS), inner, max_size=3)
    ),
    max_leaves=6,
)
metadata = st.dictionaries(st.sampled_from(KEYS), values, max_size=4)

NAMED = [key for key in KEYS if key and not {".", "\0"} & set(key)]
paths = st.lists(st.sampled_from(NAMED), min_size=1, max_size=3).map(
    lambda names: ".".join(("metadata", *names))
)
operands = st.one_of(
    st.sampled_from(OPERANDS),
    scalars.filter(lambda one: not isinstance(one, int) or -(2**63) <= one < 2**63),
)
comparisons = st.one_of(
    st.builds(Comparison, paths, st.sampled_from(SINGLE), operands),
    st.builds(
        Comparison,
        paths,
        st.sampled_from((Operator.IN, Operator.NIN)),
        st.lists(operands, max_size=4).map(tuple),
    ),
    st.builds(Comparison, paths, st.just(Operator.EXISTS), st.booleans()),
)
any_filters = st.recursive(
    comparisons,
    lambda inner: st.builds(
        Clauses, st.sampled_from(Connective), st.lists(inner, max_size=3).map(tuple)
    ),
    max_leaves=4,
)

ONE_STORE_SERVES_ALL = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
)


@pytest.fixture
async def mongo(mongodb: str, clock: ManualClock) -> AsyncIterator[Store]:
    """Return a MongoDB store over a database of its own."""
    name = f"memory_test_{uuid.uuid4().hex[:16]}"
    database = MongoDatabase(mongodb, name)
    store = MongoStore(database, clock=clock)
    await store.open()
    yield store
    await database.client.drop_database(name)
    await store.close()


@pytest.fixture
async def sqlite(clock: ManualClock) -> AsyncIterator[Store]:
    """Return a SQLite store."""
    store = SqliteStore(None, clock=clock)
    await store.open()
    yield store
    await store.close()


async def found(store: Store, condition: Filter, **scope: Any) -> Sequence[str]:
    """Return the ids of what passes, in the store's order."""
    query = MemoryQuery(filter=condition)
    return [one.id for one in await store.memories.find(a_scope(**scope), query)]


async def keep(stores: Sequence[Store], user_id: str, *documents: Mapping[str, Any]) -> None:
    """Store a memory for each object of metadata."""
    memories = [
        a_memory(id=f"{user_id}-{number}", user_id=user_id, metadata=one)
        for number, one in enumerate(documents)
    ]
    for store in stores:
        await store.memories.apply(PROJECT, [Add(memory=one) for one in memories])


class TestSameAnswers:
    @seed(1)
    @settings(ONE_STORE_SERVES_ALL, max_examples=100)
    @given(filters)
    async def test_filters_of_any_shape_pass_the_same(
        self, mongo: Store, sqlite: Store, condition: Filter
    ) -> None:
        if not await found(mongo, Clauses(Connective.AND, ())):
            await keep((mongo, sqlite), "ana", *(one["metadata"] for one in DOCUMENTS.values()))

        assert await found(mongo, condition) == await found(sqlite, condition)

    @seed(2)
    @settings(ONE_STORE_SERVES_ALL, max_examples=40)
    @given(
        st.lists(metadata, min_size=1, max_size=8), st.lists(any_filters, min_size=8, max_size=8)
    )
    async def test_documents_of_any_shape_pass_the_same(
        self,
        mongo: Store,
        sqlite: Store,
        documents: Sequence[Mapping[str, Any]],
        conditions: Sequence[Filter],
    ) -> None:
        user_id = uuid.uuid4().hex
        await keep((mongo, sqlite), user_id, *documents)

        for condition in conditions:
            answers = [await found(one, condition, user_id=user_id) for one in (mongo, sqlite)]
            assert answers[0] == answers[1], condition

    @seed(3)
    @settings(ONE_STORE_SERVES_ALL, max_examples=50)
    @given(metadata)
    async def test_metadata_of_any_shape_comes_back_as_it_was_given(
        self, mongo: Store, document: Mapping[str, Any]
    ) -> None:
        memory = a_memory(
            metadata=document,
            contextual_metadata=document,
            body=a_procedure(steps=(document,), resources=(document, [1, 2.0])),
        )
        await mongo.memories.apply(PROJECT, [Add(memory=memory)])

        read = await mongo.memories.get(a_scope(), memory.id)

        assert read == memory
        assert json.dumps(read.metadata) == json.dumps(document)  # its order and kinds too
        assert json.dumps(read.contextual_metadata) == json.dumps(document)


@pytest.mark.parametrize(
    "path", ["", "metadata.", "metadata..k", 'metadata."k"', "metadata.k\\", "metadata.\0"]
)
def test_what_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(InvalidFilter, match="is not a path"):
        filter_query(Comparison(path, Operator.EQ, 1))


def test_a_document_lists_each_value_with_its_path_and_kind() -> None:
    fields = {
        "metadata": {"tier": "gold", "seen": ["2026-01-31", None], "n": {"x": 1}, "a.b": 1, "e": []}
    }

    assert comparable(fields) == [
        {"path": "metadata"},
        {"path": "metadata.tier", "text": "gold"},
        {"path": "metadata.seen", "text": "2026-01-31", "moment": 1769817600000000},
        {"path": "metadata.seen", "null": True},
        {"path": "metadata.n"},
        {"path": "metadata.n.x", "number": 1},
        {"path": "metadata.e"},
    ]
