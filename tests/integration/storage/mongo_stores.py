"""The MongoDB store over a real server, for every suite."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest

from memory_server.errors import StorageUnavailable
from memory_server.ports.search import SearchIndex
from memory_server.ports.store import Store
from memory_server.storage.mongo import MongoStore
from memory_server.storage.mongo.database import MongoDatabase
from tests.clock import ManualClock
from tests.mongo import SharedDatabase

SECONDS = 180.0


class OnMongo:
    """The store over the database that tests share."""

    @pytest.fixture
    async def store(
        self, mongo_database: SharedDatabase, clock: ManualClock
    ) -> AsyncIterator[Store]:
        database = MongoDatabase(mongo_database.uri, mongo_database.name)
        store = MongoStore(database, clock=clock)
        await store.open()
        yield store
        with suppress(StorageUnavailable):  # the test has closed it
            await following(store.search)
        await store.close()


async def following(index: SearchIndex) -> None:
    """Return once an index follows the database.

    The driver leaves a connection open that is given up while it is being made, which a test that
    is over at once would be blamed for.
    """
    async with asyncio.timeout(SECONDS):
        while True:
            if (await index.describe())["is_ready"]:
                return
            await asyncio.sleep(0.002)
