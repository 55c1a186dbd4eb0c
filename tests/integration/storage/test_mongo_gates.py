"""A project's removal and what is on its way into the project, on two servers."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import pytest

from memory_server.errors import ProjectNotEmpty, ProjectNotFound
from memory_server.ports.memories import Add
from memory_server.ports.store import Store
from memory_server.storage.mongo import MongoDatabase, MongoStore
from memory_server.storage.mongo.collections import MEMBERS, MEMORIES, SESSIONS, TURNS
from tests.clock import ManualClock
from tests.factories import a_member, a_memory, a_project, a_turn

WRITES = 50
Write = Callable[[Store, int], Coroutine[Any, Any, None]]


@pytest.fixture
async def databases(mongodb: str) -> AsyncIterator[list[MongoDatabase]]:
    name = f"memory_test_{uuid.uuid4().hex[:16]}"
    databases = [MongoDatabase(mongodb, name) for _ in range(2)]
    yield databases
    await databases[0].open()
    await databases[0].client.drop_database(name)
    await databases[0].close()


@pytest.fixture
async def servers(
    databases: list[MongoDatabase], clock: ManualClock
) -> AsyncIterator[list[MongoStore]]:
    stores = [MongoStore(database, clock=clock) for database in databases]
    for store in stores:
        await store.open()
    yield stores
    for store in stores:
        await store.close()


async def a_turn_of(store: Store, number: int) -> None:
    await store.turns.append(a_turn(project_id="shop", session_id=f"s{number % 8}"))


async def a_memory_of(store: Store, number: int) -> None:
    memory = a_memory(project_id="shop", user_id=f"u{number % 8}")
    await store.memories.apply("shop", [Add(memory=memory)])


async def a_member_of(store: Store, number: int) -> None:
    await store.members.add(a_member(project_id="shop"))


@pytest.mark.parametrize("first", [0, 20, 40])
@pytest.mark.parametrize("write", [a_turn_of, a_memory_of, a_member_of])
async def test_a_removed_project_never_keeps_what_was_on_its_way(
    servers: list[MongoStore], databases: list[MongoDatabase], write: Write, first: int
) -> None:
    """Of the writes, `first` are begun before the removal and the rest after it."""
    one, other = servers
    await one.projects.add(a_project(id="shop"))
    before = [asyncio.create_task(write(one, n)) for n in range(first)]
    await asyncio.sleep(0)
    removal = asyncio.create_task(other.projects.remove("shop"))
    after = [asyncio.create_task(write(one, n)) for n in range(first, WRITES)]

    results = await asyncio.gather(removal, *before, *after, return_exceptions=True)

    removed, written = results[0], results[1:]
    refused = [result for result in written if isinstance(result, ProjectNotFound)]
    failed = [result for result in written if isinstance(result, Exception)]
    assert failed == refused
    if isinstance(removed, ProjectNotEmpty):
        assert not refused
        assert await one.projects.find("shop") is not None
        return
    assert removed is None
    assert await one.projects.find("shop") is None
    for collection in (TURNS, SESSIONS, MEMBERS, *MEMORIES.values()):
        assert await databases[0][collection].count_documents({}) == 0


async def test_what_one_server_changes_the_other_reads(servers: list[MongoStore]) -> None:
    one, other = servers
    await one.projects.add(a_project(id="shop"))
    assert await other.projects.find("shop") is not None

    await one.projects.remove("shop")

    assert await other.projects.find("shop") is None
    with pytest.raises(ProjectNotFound):
        await a_turn_of(other, 1)
