"""What is counted of a store by somebody who does not serve it, while another does."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from memory_server.ports.memories import Replace
from memory_server.ports.store import Store
from memory_server.storage.mongo import MongoDatabase
from memory_server.storage.mongo.standing import standing as of_database
from memory_server.storage.sqlite.standing import standing as of_file
from memory_server.storage.standing import Standing
from tests.clock import START
from tests.conformance.spaces import OLD, know, say
from tests.factories import PROJECT, SPACE, a_fact, a_vector
from tests.integration.storage.mongo_stores import OnMongo
from tests.integration.storage.sqlite_stores import InFile
from tests.mongo import SharedDatabase

Look = Callable[[], Awaitable[Standing]]


class Counted:
    """A subclass provides the fixtures `store`, open and empty, and `look`."""

    async def test_turns_live_memories_and_all_vectors_are_counted(
        self, store: Store, look: Look
    ) -> None:
        before = (await look()).holdings
        await store.spaces.declare(OLD, now=START)
        await say(store)
        memory = await know(store)
        gone = await know(store)
        newer = replace(memory, body=a_fact(text="Oslo"), version=2, revision=memory.revision + 1)
        change = Replace(memory=newer, former_id="former", vector=a_vector(0, 1))
        await store.memories.apply(PROJECT, [change], space=SPACE)
        await store.memories.apply(
            PROJECT, [Replace(memory=replace(gone, deleted=True, revision=gone.revision + 1))]
        )

        held = (await look()).holdings

        assert before is not None
        assert held is not None
        assert (before.turns, before.memories, before.spaces.held) == (0, 0, 0)
        assert (held.turns, held.memories, held.spaces.held) == (1, 1, 4)
        assert held.spaces.active == OLD


class TestSqliteFile(InFile, Counted):
    @pytest.fixture
    def look(self, store: Store, tmp_path: Path) -> Look:
        async def look() -> Standing:
            return of_file(tmp_path / "data" / "memory.db")

        return look


class TestMongo(OnMongo, Counted):
    @pytest.fixture
    async def look(self, store: Store, mongo_database: SharedDatabase) -> AsyncIterator[Look]:
        database = MongoDatabase(mongo_database.uri, mongo_database.name)
        await database.open()

        async def look() -> Standing:
            return await of_database(database, counts=True)

        yield look
        await database.close()


def test_a_file_of_an_unknown_schema_is_not_counted(tmp_path: Path) -> None:
    (tmp_path / "memory.db").touch()

    assert of_file(tmp_path / "memory.db").holdings is None
