"""Nobody waits for others of the same server without a bound, nor without being told why."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from memory_server.errors import StorageUnavailable
from memory_server.storage.mongo import MongoDatabase
from memory_server.storage.mongo import database as module
from memory_server.storage.mongo.database import Session
from memory_server.storage.mongo.locks import Locks
from tests.mongo import SharedDatabase

WAIT_SECONDS = 0.05


@pytest.fixture
async def database(
    mongo_database: SharedDatabase, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[MongoDatabase]:
    """A database that takes one transaction at a time."""
    monkeypatch.setattr(module, "AT_ONCE", 1)
    database = MongoDatabase(mongo_database.uri, mongo_database.name, wait_seconds=WAIT_SECONDS)
    await database.open()
    yield database
    await database.close()


async def test_a_lock_that_is_not_let_go_is_told_and_can_be_had_afterwards(
    database: MongoDatabase,
) -> None:
    locks = Locks(database)

    async with locks.hold([("a",)]):
        with pytest.raises(StorageUnavailable, match=r"same session or user for 0\.05 seconds"):
            async with locks.hold([("b",), ("a",)]):
                pass

    async with locks.hold([("a",), ("b",)]):
        pass


async def test_a_transaction_that_finds_no_room_is_told_and_finds_it_afterwards(
    database: MongoDatabase,
) -> None:
    ends = asyncio.Event()

    async def hold(_: Session) -> None:
        await ends.wait()

    async def nothing(_: Session) -> str:
        return "done"

    holding = asyncio.create_task(database.transact(hold))
    await asyncio.sleep(0)
    with pytest.raises(StorageUnavailable, match="1 other transactions of this server"):
        await database.transact(nothing)
    ends.set()
    await holding

    assert await database.transact(nothing) == "done"
