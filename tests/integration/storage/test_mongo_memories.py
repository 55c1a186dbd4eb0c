"""Memories in MongoDB: several servers at once, and what others see in the database."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from memory_server.domain.chunk import Source
from memory_server.domain.memory import Fact, MemoryType
from memory_server.domain.scope import Visibility
from memory_server.errors import DuplicateMemory, MemoryNotFound, VersionConflict
from memory_server.ports.memories import Add, Erase, Memories, MemoryQuery, Replace
from memory_server.ports.store import Store
from memory_server.providers.embedding.deterministic import HashingEmbedder
from memory_server.search.local.documents import State
from memory_server.services.memories import MemoryKeeping, SaveRequest
from memory_server.storage.mongo import MongoStore
from memory_server.storage.mongo.arrivals import Arrivals
from memory_server.storage.mongo.collections import MEMORIES
from memory_server.storage.mongo.database import MongoDatabase
from memory_server.storage.mongo.documents import Document, named, vectors_of
from memory_server.storage.mongo.memories import MongoMemories
from memory_server.storage.mongo.memory_documents import entry_of
from tests.clock import START, CountingIds, ManualClock
from tests.conformance.memory_changes import changed
from tests.factories import (
    OTHER_SPACE,
    PROJECT,
    SPACE,
    a_fact,
    a_memory,
    a_record,
    a_scope,
    a_vector,
    an_episode,
)

EVERYTHING = MemoryQuery(include_deleted=True, include_superseded=True)


@pytest.fixture
async def database(mongodb: str) -> AsyncIterator[MongoDatabase]:
    """Return an open database of its own."""
    database = MongoDatabase(mongodb, f"memory_test_{uuid.uuid4().hex[:16]}")
    await database.open()
    yield database
    await database.client.drop_database(database.name)
    await database.close()


@pytest.fixture
async def servers(
    mongodb: str, database: MongoDatabase, clock: ManualClock
) -> AsyncIterator[list[MongoStore]]:
    """Return the stores of two servers of that database."""
    stores = [MongoStore(MongoDatabase(mongodb, database.name), clock=clock) for _ in range(2)]
    for store in stores:
        await store.open()
    yield stores
    for store in stores:
        await store.close()


@pytest.fixture
def store(servers: list[MongoStore]) -> MongoStore:
    """Return the store of one of them."""
    return servers[0]


async def stored(database: MongoDatabase, kind: MemoryType = MemoryType.SEMANTIC) -> list[Document]:
    """Return the documents of a type, by id."""
    return await database[MEMORIES[kind]].find().sort("id").to_list()


async def outcomes(*calls: Any) -> Sequence[type]:
    """Carry out calls at once; return the kinds of errors of those that failed."""
    results = await asyncio.gather(*calls, return_exceptions=True)
    return [type(one) for one in results if isinstance(one, BaseException)]


def keepings(servers: Sequence[Store], clock: ManualClock) -> Sequence[MemoryKeeping]:
    """Return a service on each server."""
    return [
        MemoryKeeping(store=store, embedder=HashingEmbedder(), clock=clock, ids=CountingIds(prefix))
        for store, prefix in zip(servers, "ab", strict=True)
    ]


class TestSeveralServers:
    @pytest.mark.parametrize("upsert", [True, False])
    async def test_twenty_identical_saves_leave_one_live_memory(
        self, servers: list[MongoStore], clock: ManualClock, *, upsert: bool
    ) -> None:
        request = SaveRequest(body=Fact(label="seat", text="12A"), upsert=upsert)
        one, other = keepings(servers, clock)

        await asyncio.gather(*(by.save(a_scope(), request) for by in (one, other) * 10))

        (memory,) = await servers[0].memories.find(a_scope(), EVERYTHING)
        assert (memory.reinforcement_count, memory.version) == (19, 1)

    async def test_of_memories_of_one_identity_one_lives(self, servers: list[MongoStore]) -> None:
        failed = await outcomes(
            *(
                server.memories.apply(PROJECT, [Add(memory=a_memory(identity_key="i"))])
                for server in servers * 8
            )
        )

        assert failed == [DuplicateMemory] * 15
        assert len(await servers[1].memories.find(a_scope(), EVERYTHING)) == 1

    async def test_of_changes_of_one_state_one_is_made(self, servers: list[MongoStore]) -> None:
        memory = a_memory()
        await servers[0].memories.apply(PROJECT, [Add(memory=memory)])

        failed = await outcomes(
            *(
                server.memories.apply(
                    PROJECT, [Replace(memory=changed(memory), former_id=f"was-{number}")]
                )
                for number, server in enumerate(servers * 4)
            )
        )

        assert failed == [VersionConflict] * 7
        assert len(await servers[1].memories.history(a_scope(), memory.id)) == 2

    async def test_no_version_outlives_a_memory_that_is_erased_meanwhile(
        self, servers: list[MongoStore], database: MongoDatabase
    ) -> None:
        for number in range(10):
            memory = a_memory()
            past = a_memory(id=f"past-{number}", is_latest=False, superseded_by=memory.id)
            await servers[0].memories.apply(PROJECT, [Add(memory=memory)])

            failed = await outcomes(
                servers[0].memories.apply(PROJECT, [Add(memory=past, history_of=memory.id)]),
                servers[1].memories.apply(PROJECT, [Erase(memory_id=memory.id)]),
            )

            assert set(failed) <= {VersionConflict, MemoryNotFound}
            assert await stored(database) == []

    async def test_no_version_is_left_in_sight_when_its_memory_is_deleted_meanwhile(
        self, servers: list[MongoStore], database: MongoDatabase
    ) -> None:
        for number in range(10):
            memory = a_memory(id=f"memory-{number}")
            past = a_memory(id=f"past-{number}", is_latest=False, superseded_by=memory.id)
            await servers[0].memories.apply(PROJECT, [Add(memory=memory)])

            deleted = replace(memory, deleted=True, revision=2)
            assert not await outcomes(
                servers[0].memories.apply(PROJECT, [Add(memory=past, history_of=memory.id)]),
                servers[1].memories.apply(PROJECT, [Replace(memory=deleted)]),
            )

        assert all(document["hidden"] for document in await stored(database))


class TestWhatOthersAreTold:
    @pytest.fixture
    def memories(self, store: MongoStore, database: MongoDatabase, clock: ManualClock) -> Memories:
        """Return the memories of a server whose announcements can be heard."""
        return MongoMemories(database, clock, Arrivals(clock))

    async def test_all_that_changed_is_announced_once_it_is_stored(
        self, memories: Memories, database: MongoDatabase
    ) -> None:
        told: list[tuple[str, str]] = []
        database.listen(lambda name, ids: told.extend((name, named(one)[1]) for one in ids))
        memory, episode = a_memory(id="fact"), a_memory(id="episode", body=an_episode())

        await memories.apply(PROJECT, [Add(memory=memory), Add(memory=episode)])
        assert sorted(told) == [("memory_episodic", "episode"), ("memory_semantic", "fact")]

        told.clear()
        private = replace(changed(memory), visibility=Visibility.ORG)
        await memories.apply(PROJECT, [Replace(memory=private, former_id="former")])
        assert set(told) == {("memory_semantic", "fact"), ("memory_semantic", "former")}

        told.clear()
        await memories.apply(PROJECT, [Erase(memory_id="fact")])
        assert set(told) == {("memory_semantic", "fact"), ("memory_semantic", "former")}

    async def test_nothing_is_announced_of_what_failed(
        self, memories: Memories, database: MongoDatabase
    ) -> None:
        told: list[Any] = []
        database.listen(lambda *change: told.append(change))

        with pytest.raises(MemoryNotFound):
            await memories.apply(PROJECT, [Add(memory=a_memory()), Erase(memory_id="unknown")])

        assert told == []


class TestDocuments:
    async def test_each_type_has_a_collection_and_people_can_read_it(
        self, store: MongoStore, database: MongoDatabase
    ) -> None:
        metadata = {"tier": "gold", "size": 2**70, "a.b": 1}
        await store.memories.apply(PROJECT, [Add(memory=a_memory(id="m", metadata=metadata))])

        (document,) = await stored(database)

        assert document["_id"] == f"{PROJECT}/m"
        assert document["body"]["text"] == "Ana lives in Lisbon"
        assert document["metadata"] == {"tier": "gold", "size": str(2**70)}
        assert (await store.memories.get(a_scope(), "m")).metadata == metadata

    async def test_metadata_that_was_odd_is_plain_after_a_change(self, store: MongoStore) -> None:
        memory = a_memory(metadata={"a.b": 1})
        await store.memories.apply(PROJECT, [Add(memory=memory)])
        plain = replace(memory, metadata={"tier": "gold"}, revision=2)

        await store.memories.apply(PROJECT, [Replace(memory=plain)])

        assert await store.memories.get(a_scope(), memory.id) == plain

    async def test_a_version_keeps_the_vectors_of_what_it_says(
        self, store: MongoStore, database: MongoDatabase
    ) -> None:
        memory = a_memory(id="m")
        await store.memories.apply(PROJECT, [Add(memory=memory, vector=a_vector(1))], space=SPACE)
        counted = replace(memory, revision=2)
        other = a_vector(0, 1)[:3]
        await store.memories.apply(
            PROJECT, [Replace(memory=counted, vector=other)], space=OTHER_SPACE
        )
        new = changed(counted)
        await store.memories.apply(
            PROJECT, [Replace(memory=new, former_id="was", vector=a_vector(0, 0, 1))], space=SPACE
        )

        now, was = await stored(database)

        assert {name: list(one) for name, one in vectors_of(now).items()} == {
            SPACE.name: list(a_vector(0, 0, 1))
        }
        assert {name: list(one) for name, one in vectors_of(was).items()} == {
            SPACE.name: list(a_vector(1)),
            OTHER_SPACE.name: list(other),
        }

    async def test_the_index_is_told_what_a_document_holds(
        self, store: MongoStore, database: MongoDatabase
    ) -> None:
        record = a_memory(body=a_record(tags={"place.city": "Porto"}), metadata={"n": [1, None]})
        await store.memories.apply(PROJECT, [Add(memory=record)])
        (document,) = await stored(database, MemoryType.CUSTOM)

        entry = entry_of(document)

        assert (entry.source, entry.custom_type, entry.state) == (
            Source.CUSTOM,
            "ticket",
            State.LIVE,
        )
        assert entry.fields == {"metadata": {"n": [1, None]}, "tags": {"place": {"city": "Porto"}}}

    async def test_the_index_is_told_that_a_version_of_a_deleted_memory_is_hidden(
        self, store: MongoStore, database: MongoDatabase
    ) -> None:
        memory = a_memory(id="m")
        await store.memories.apply(PROJECT, [Add(memory=memory)])
        new = changed(memory)
        await store.memories.apply(PROJECT, [Replace(memory=new, former_id="was")])
        states = [entry_of(one).state for one in await stored(database)]

        deleted = replace(new, deleted=True, revision=3, updated_at=START)
        await store.memories.apply(PROJECT, [Replace(memory=deleted)])

        assert states == [State.LIVE, State.PAST]
        assert [entry_of(one).state for one in await stored(database)] == [State.HIDDEN] * 2

    async def test_a_version_of_a_deleted_memory_stays_hidden_when_it_changes(
        self, store: MongoStore, database: MongoDatabase
    ) -> None:
        memory = a_memory(id="m", deleted=True)
        past = a_memory(id="past", is_latest=False, superseded_by="m", body=a_fact(text="Faro"))
        await store.memories.apply(PROJECT, [Add(memory=memory), Add(memory=past, history_of="m")])

        await store.memories.apply(
            PROJECT, [Replace(memory=replace(past, revision=2), vector=a_vector(1))], space=SPACE
        )

        assert [entry_of(one).state for one in await stored(database)] == [State.HIDDEN] * 2
