"""Services over an index that follows the store at a distance, as beside other servers."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from memory_server.domain.chunk import Source
from memory_server.domain.embedding import EmbeddingSpace, Vector
from memory_server.domain.memory import Memory
from memory_server.ports.memories import Add, Erase, Replace
from memory_server.ports.search import Hit, SearchIndex, Selection
from memory_server.providers.embedding.deterministic import HashingEmbedder
from memory_server.services.readiness import ReadinessOfServer
from memory_server.services.search import Retrieval, SearchRequest
from memory_server.storage.sqlite.store import SqliteStore
from tests.clock import START, ManualClock
from tests.factories import PROJECT, a_fact, a_memory, a_scope, a_turn
from tests.unit.memory_server.services.conftest import ScriptedExtractor

LATER = START + timedelta(days=1)


class IndexBehind(SearchIndex):
    """Finds what it was told, whatever became of it, and describes itself as it was told."""

    def __init__(self) -> None:
        self.found: list[Hit] = []
        self.described: Mapping[str, Any] = {"kind": "behind"}

    async def text(self, selection: Selection, terms: Sequence[str]) -> Sequence[Hit]:
        return self.found

    async def vector(
        self, selection: Selection, vector: Vector, space: EmbeddingSpace
    ) -> Sequence[Hit]:
        return self.found

    async def describe(self) -> Mapping[str, Any]:
        return self.described


class StoreBehind(SqliteStore):
    """A store whose index is a moment behind."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(None, clock=clock)
        self.index = IndexBehind()

    @property
    def search(self) -> SearchIndex:
        return self.index


@pytest.fixture
async def store(clock: ManualClock) -> AsyncIterator[StoreBehind]:
    store = StoreBehind(clock)
    await store.open()
    yield store
    await store.close()


@pytest.fixture
def readiness(store: StoreBehind, extractor: ScriptedExtractor) -> ReadinessOfServer:
    return ReadinessOfServer(
        store=store,
        embedder=HashingEmbedder(),
        extractor=extractor,
        embedding={},
        extraction={},
    )


async def know(store: StoreBehind) -> Memory:
    """Store a memory that the index finds from now on."""
    memory = a_memory()
    await store.memories.apply(PROJECT, [Add(memory=memory)])
    store.index.found.append(Hit(memory.id, 1.0))
    return memory


async def found(store: StoreBehind, *, as_of: datetime | None = None, **changes: Any) -> list[str]:
    request = SearchRequest(
        scope=a_scope(**changes), source=Source.SEMANTIC, query="Lisbon", top_k=9, as_of=as_of
    )
    chunks = (await Retrieval(store=store, embedder=HashingEmbedder()).search(request)).chunks
    return [chunk.id for chunk in chunks]


async def test_what_is_stored_is_found(store: StoreBehind) -> None:
    memory = await know(store)

    assert await found(store) == [memory.id]
    assert await found(store, as_of=START) == [memory.id]


async def test_what_was_erased_elsewhere_is_shown_no_more(store: StoreBehind) -> None:
    memory = await know(store)

    await store.memories.apply(PROJECT, [Erase(memory_id=memory.id)])

    assert await found(store) == []


@pytest.mark.parametrize("as_of", [None, START])
async def test_what_was_deleted_elsewhere_is_shown_no_more(
    store: StoreBehind, as_of: datetime | None
) -> None:
    memory = await know(store)

    deleted = replace(memory, deleted=True, revision=2)
    await store.memories.apply(PROJECT, [Replace(memory=deleted)])

    assert await found(store, as_of=as_of) == []


async def test_what_was_superseded_elsewhere_is_shown_as_it_is_now(store: StoreBehind) -> None:
    memory = await know(store)
    newer = replace(
        memory, body=a_fact(text="Ana lives in Porto"), version=2, revision=2, valid_from=LATER
    )
    await store.memories.apply(PROJECT, [Replace(memory=newer, former_id="former")])
    store.index.found.append(Hit("former", 0.5))

    assert await found(store) == [memory.id]
    assert await found(store, as_of=START) == ["former"]


async def test_what_went_to_another_user_elsewhere_is_shown_no_more(store: StoreBehind) -> None:
    memory = await know(store)

    moved = replace(memory, user_id="bob", revision=2)
    await store.memories.apply(PROJECT, [Replace(memory=moved)])

    assert await found(store) == []
    assert await found(store, user_id="bob") == [memory.id]


async def test_a_turn_that_is_gone_is_shown_no_more(store: StoreBehind) -> None:
    turn = await store.turns.append(a_turn())
    store.index.found.append(Hit(turn.id, 1.0))
    await store.erase(a_scope())

    request = SearchRequest(scope=a_scope(), source=Source.STM, query="Lisbon", top_k=9)
    chunks = (await Retrieval(store=store, embedder=HashingEmbedder()).search(request)).chunks

    assert chunks == []


async def test_a_server_whose_index_is_loaded_is_starting(
    store: StoreBehind, readiness: ReadinessOfServer
) -> None:
    await readiness.probe()
    store.index.described = {"is_ready": False, "state": "loading 42 %", "problem": None}

    look = await readiness.look()

    assert (look.status, look.blocked_on) == ("starting", ["search index: loading 42 %"])


async def test_a_server_that_does_not_hear_of_others_is_not_ready(
    store: StoreBehind, readiness: ReadinessOfServer
) -> None:
    await readiness.probe()
    store.index.described = {"is_ready": True, "problem": "the stream broke off"}

    look = await readiness.look()

    assert (look.status, look.blocked_on) == ("blocked", ["search index: the stream broke off"])
