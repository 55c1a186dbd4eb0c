"""Several servers search one database, each by an index of its own."""

import asyncio
import sqlite3
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import bson
import pytest

from memory_server.domain.chunk import Source
from memory_server.domain.memory import Memory
from memory_server.errors import StorageError
from memory_server.ports.memories import Add, Erase, Replace
from memory_server.ports.search import Selection
from memory_server.providers.system import SystemClock
from memory_server.storage.mongo import MongoStore
from memory_server.storage.mongo.database import MongoDatabase
from tests.factories import (
    OTHER_SPACE,
    PROJECT,
    SPACE,
    a_fact,
    a_memory,
    a_scope,
    a_turn,
    a_vector,
)
from tests.mongo import DatabaseProcess

SECONDS = 180.0
FACTS = Selection(scope=a_scope(), source=Source.SEMANTIC, limit=1000)
TURNS = replace(FACTS, source=Source.STM)


class Servers:
    """The stores of several servers over one database; each has a directory of its own."""

    def __init__(self, uri: str, folder: Path) -> None:
        self.uri = uri
        self.name = f"memory_test_{uuid.uuid4().hex[:16]}"
        self.folder = folder
        self._open: list[MongoStore] = []

    def directory(self, server: str) -> Path:
        """Return where a server keeps its index."""
        return self.folder / server

    async def start(self, server: str) -> MongoStore:
        """Start a server."""
        store = MongoStore(
            MongoDatabase(self.uri, self.name),
            clock=SystemClock(),
            directory=self.directory(server),
        )
        await store.open()
        self._open.append(store)
        return store

    async def drop(self) -> None:
        """Drop the database."""
        database = MongoDatabase(self.uri, self.name)
        await database.open()
        await database.client.drop_database(self.name)
        await database.close()

    async def stop(self) -> None:
        """Stop all servers."""
        for store in self._open:
            await store.close()


@pytest.fixture
async def servers(mongodb: str, tmp_path: Path) -> AsyncIterator[Servers]:
    servers = Servers(mongodb, tmp_path)
    yield servers
    await servers.stop()
    await servers.drop()


async def know(store: MongoStore, text: str = "Ana lives in Lisbon", **changes: Any) -> Memory:
    """Store a fact with a vector."""
    memory = a_memory(body=a_fact(text=text), **changes)
    await store.memories.apply(PROJECT, [Add(memory=memory, vector=a_vector(1))], space=SPACE)
    return memory


async def found(store: MongoStore, word: str = "Lisbon", of: Selection = FACTS) -> set[str]:
    return {hit.id for hit in await store.search.text(of, [word.lower()])}


async def near(store: MongoStore) -> set[str]:
    return {hit.id for hit in await store.search.vector(FACTS, a_vector(1), SPACE)}


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Return once a condition holds, which must be soon; what fails meanwhile does not hold."""
    async with asyncio.timeout(SECONDS):
        while True:
            try:
                if await condition():
                    return
            except StorageError:
                pass
            await asyncio.sleep(0.01)


async def finds(store: MongoStore, *ids: str, word: str = "Lisbon") -> None:
    """Return once a server finds these, and nothing else."""

    async def holds() -> bool:
        return await found(store, word) == set(ids)

    await until(holds)


async def is_ready(store: MongoStore) -> None:
    """Return once a server's index can answer and is whole."""

    async def ready() -> bool:
        described = await store.search.describe()
        return bool(described["is_ready"]) and described["last_load"]["percent"] == 100

    await until(ready)


async def test_a_server_finds_at_once_what_it_wrote_and_another_soon(servers: Servers) -> None:
    one, other = await servers.start("one"), await servers.start("other")

    for number in range(5):
        memory = await know(one, f"Ana likes word{number}")
        assert await found(one, f"word{number}") == {memory.id}
        assert memory.id in await near(one)
        await finds(other, memory.id, word=f"word{number}")
    assert await near(other) == await near(one)


async def test_what_one_server_erases_another_soon_finds_no_more(servers: Servers) -> None:
    one, other = await servers.start("one"), await servers.start("other")
    memory = await know(one)
    await finds(other, memory.id)

    await one.memories.apply(PROJECT, [Erase(memory_id=memory.id)])

    assert await found(one) == set()
    await finds(other)
    assert await near(other) == set()


async def test_what_becomes_of_a_memory_elsewhere_is_followed(servers: Servers) -> None:
    one, other = await servers.start("one"), await servers.start("other")
    memory = await know(one)
    await finds(other, memory.id)
    newer = replace(memory, body=a_fact(text="Ana lives in Porto"), version=2, revision=2)

    await one.memories.apply(PROJECT, [Replace(memory=newer, former_id="former")])
    await finds(other)
    await finds(other, memory.id, word="Porto")

    await one.memories.apply(PROJECT, [Replace(memory=replace(newer, deleted=True, revision=3))])
    await finds(other, word="Porto")


async def test_vectors_given_later_reach_every_server(servers: Servers) -> None:
    one, other = await servers.start("one"), await servers.start("other")
    turn = await one.turns.append(a_turn())
    vector = a_vector(1)[: OTHER_SPACE.dimension]

    await one.turns.set_vectors(PROJECT, {turn.id: vector}, OTHER_SPACE)
    assert len(await one.search.vector(TURNS, vector, OTHER_SPACE)) == 1

    async def reached() -> bool:
        return len(await other.search.vector(TURNS, vector, OTHER_SPACE)) == 1

    await until(reached)


async def test_servers_that_write_at_once_end_alike(servers: Servers) -> None:
    stores = [await servers.start(name) for name in ("one", "other", "third")]

    async def write(store: MongoStore, number: int) -> None:
        for round_ in range(8):
            turn = a_turn(f"word{round_} of server {number}", session_id=f"s{round_ % 2}")
            await store.turns.append(turn, vector=a_vector(1, number), space=SPACE)
            assert turn.id in await found(store, f"word{round_}", TURNS)

    await asyncio.gather(*(write(store, number) for number, store in enumerate(stores)))

    async def alike() -> bool:
        answers = [await store.search.text(TURNS, ["server"]) for store in stores]
        return len(answers[0]) == 24 and answers[0] == answers[1] == answers[2]

    await until(alike)


async def test_a_server_that_was_away_goes_on_from_where_it_was(servers: Servers) -> None:
    one, other = await servers.start("one"), await servers.start("other")
    kept = [(await know(one)).id for _ in range(20)]
    await finds(other, *kept)
    loaded = (await other.search.describe())["last_load"]
    await other.close()

    missed = (await know(one)).id
    await other.open()

    assert await found(other) == {*kept, missed}
    described = await other.search.describe()
    assert described["last_load"] == loaded
    assert described["documents_read"] <= 2


async def test_a_server_that_was_killed_goes_on_from_where_it_was(servers: Servers) -> None:
    one = await servers.start("one")
    kept = [(await know(one)).id for _ in range(20)]
    command = [sys.executable, "-m", "tests.integration.storage.mirror_process", servers.uri]
    command += [servers.name, str(servers.directory("other"))]
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    async with asyncio.timeout(SECONDS):
        assert await process.stdout.readline() == b"current\n"
    process.kill()
    await process.wait()

    missed = (await know(one)).id
    other = await servers.start("other")

    assert await found(other) == {*kept, missed}
    assert (await other.search.describe())["documents_read"] <= 2


async def test_an_index_in_memory_is_loaded_before_it_answers(servers: Servers) -> None:
    one = await servers.start("one")
    kept = [(await know(one)).id for _ in range(20)]
    store = MongoStore(MongoDatabase(servers.uri, servers.name), clock=SystemClock())
    await store.open()

    assert await found(store) == set(kept)
    await store.close()


async def test_a_server_away_for_too_long_loads_anew_and_forgets_what_is_gone(
    servers: Servers,
) -> None:
    one, other = await servers.start("one"), await servers.start("other")
    gone, left = await know(one), await know(one)
    await finds(other, gone.id, left.id)
    await other.close()
    await one.memories.apply(PROJECT, [Erase(memory_id=gone.id)])
    _lose_place(servers.directory("other"))

    await other.open()

    await finds(other, left.id)
    await is_ready(other)
    reason = (await other.search.describe())["last_load"]["reason"]
    assert reason == "the stream of changes went on too far while it was not read"


def _lose_place(directory: Path) -> None:
    """Let an index remember a place in the stream that the database does not know any more."""
    (path,) = directory.glob("index-*.sqlite")
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE mirror SET token = ?", (bson.encode({"_data": "8200"}),))
    connection.close()


async def test_nothing_is_found_of_a_database_that_was_dropped(servers: Servers) -> None:
    one = await servers.start("one")
    await know(one)
    assert len(await found(one)) == 1

    await servers.drop()

    await finds(one)
    assert await near(one) == set()


async def test_a_server_catches_up_when_the_database_comes_back(tmp_path: Path) -> None:
    process = DatabaseProcess(tmp_path / "database")
    process.start()
    servers = Servers(process.uri, tmp_path)
    try:
        one, other = await servers.start("one"), await servers.start("other")
        before = await know(one)
        await finds(other, before.id)

        process.kill()

        async def is_told() -> bool:
            return bool((await other.search.describe())["problem"])

        await until(is_told)
        process.start()
        after = await know(one, id="after")

        await finds(other, before.id, after.id)
        await is_ready(other)
        assert (await other.search.describe())["problem"] is None
    finally:
        await servers.stop()
        process.stop()


async def test_the_index_describes_itself(servers: Servers) -> None:
    one = await servers.start("one")
    await know(one)
    await is_ready(one)

    async def is_idle() -> bool:
        described = await one.search.describe()
        return bool(described["behind"]["documents"] == 0)

    await until(is_idle)
    described = await one.search.describe()

    assert described["kind"] == "local_mirror"
    assert (described["documents"], described["vectors"], described["state"]) == (1, 1, "current")
    assert described["behind"] == {"documents": 0, "seconds": 0.0}
    assert described["last_load"]["reason"] == "there was no index of this database here"
    assert described["problem"] is None
