"""The MongoDB store over a real server, for every suite."""

import uuid
from collections.abc import AsyncIterator

import pytest

from memory_server.ports.store import Store
from memory_server.storage.mongo import MongoStore
from memory_server.storage.mongo.database import MongoDatabase
from tests.clock import ManualClock


class OnMongo:
    """The store over a database of its own."""

    @pytest.fixture
    async def store(self, mongodb: str, clock: ManualClock) -> AsyncIterator[Store]:
        name = f"memory_test_{uuid.uuid4().hex[:16]}"
        database = MongoDatabase(mongodb, name)
        store = MongoStore(database, clock=clock)
        await store.open()
        yield store
        await store.open()  # a test may have closed it
        await database.client.drop_database(name)
        await store.close()
