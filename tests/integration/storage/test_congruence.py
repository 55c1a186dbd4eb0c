"""One corpus in SQLite and in MongoDB: whatever is asked, both answer the same."""

import uuid
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio

from memory_server.domain.scope import Scope
from memory_server.domain.words import query_terms
from memory_server.errors import MemoryNotFound
from memory_server.ports.search import Hit
from memory_server.ports.store import Store
from memory_server.storage.mongo import MongoStore
from memory_server.storage.mongo.database import MongoDatabase
from memory_server.storage.sqlite import SqliteStore
from tests.clock import ManualClock
from tests.factories import PROJECT
from tests.integration.storage.corpus import (
    SPACE,
    Chance,
    Corpus,
    corpus,
    queries,
    selection,
    write,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

SEED = 20260131
FINDS, LOOKUPS, HISTORIES, COUNTS, RECENT, TEXTS, VECTORS = 190, 40, 50, 40, 40, 70, 70
"""How many questions of each kind: 500."""


@dataclass(frozen=True, slots=True)
class Both:
    """Two stores that hold the same."""

    sqlite: Store
    mongo: Store
    written: Corpus


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def both(mongodb: str) -> AsyncIterator[Both]:
    """Return a SQLite store and a MongoDB store with the corpus; tests only read them."""
    clock = ManualClock()
    name = f"memory_test_{uuid.uuid4().hex[:16]}"
    database = MongoDatabase(mongodb, name)
    stores = (SqliteStore(None, clock=clock), MongoStore(database, clock=clock))
    written = corpus(SEED)
    for store in stores:
        await store.open()
        await write(store, written)
    yield Both(*stores, written)
    await database.client.drop_database(name)
    for store in stores:
        await store.close()


async def test_both_find_the_same_memories(both: Both) -> None:
    chance = Chance(SEED + 1)
    for _ in range(FINDS):
        scope, query = chance.scope(), queries(chance, both.written)
        one, other = [list(await store.memories.find(scope, query)) for store in _stores(both)]
        assert one == other, (scope, query)


async def test_both_look_up_the_same_memories(both: Both) -> None:
    chance = Chance(SEED + 2)
    for _ in range(LOOKUPS):
        scope, ids = chance.scope(), [chance.one(both.written.ids) for _ in range(9)]
        one, other = [list(await store.memories.get_many(scope, ids)) for store in _stores(both)]
        assert one == other, (scope, ids)


async def test_both_count_the_same(both: Both) -> None:
    chance = Chance(SEED + 3)
    for _ in range(COUNTS):
        scope = chance.scope()
        one, other = [
            (await store.memories.counts(scope), await store.memories.domains(scope))
            for store in _stores(both)
        ]
        assert one == other, scope


async def test_both_know_the_same_recent_turns(both: Both) -> None:
    chance = Chance(SEED + 4)
    for _ in range(RECENT):
        scope, limit = chance.scope(), chance.number(0, 40)
        one, other = [list(await store.turns.recent(scope, limit=limit)) for store in _stores(both)]
        assert one == other, (scope, limit)


async def test_both_know_the_same_histories(both: Both) -> None:
    chance = Chance(SEED + 5)
    for _ in range(HISTORIES):
        whole = Scope(project_id=PROJECT)
        scope = whole if chance.happens(0.7) else chance.scope()
        memory_id = chance.one(both.written.ids)
        one, other = [await _history(store, scope, memory_id) for store in _stores(both)]
        assert one == other, (scope, memory_id)


async def test_both_search_the_same(both: Both) -> None:
    chance = Chance(SEED + 6)
    for _ in range(TEXTS):
        chosen, terms = selection(chance), query_terms(chance.words(4))
        _compare([await store.search.text(chosen, terms) for store in _stores(both)], chosen)
    for _ in range(VECTORS):
        chosen, vector = selection(chance), chance.vector()
        hits = [await store.search.vector(chosen, vector, SPACE) for store in _stores(both)]
        _compare(hits, chosen)


def _stores(both: Both) -> tuple[Store, Store]:
    return both.sqlite, both.mongo


def _compare(hits: Sequence[Sequence[Hit]], asked: Any) -> None:
    one, other = hits
    assert [hit.id for hit in one] == [hit.id for hit in other], asked
    scores = [hit.score for hit in one]
    assert scores == pytest.approx([hit.score for hit in other], abs=1e-4), asked


async def _history(store: Store, scope: Any, memory_id: str) -> Any:
    try:
        return list(await store.memories.history(scope, memory_id))
    except MemoryNotFound as error:
        return str(error)
