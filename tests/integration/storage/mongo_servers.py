"""Several servers on one database, each with a store of its own."""

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from memory_server.ports.clock import Clock
from memory_server.storage.mongo import MongoDatabase, MongoStore


@asynccontextmanager
async def servers_on(
    uri: str, clock: Clock, *, count: int = 3
) -> AsyncIterator[tuple[list[MongoStore], MongoDatabase]]:
    """Yield the stores of some servers, and their database, which goes at the end."""
    name = f"memory_test_{uuid.uuid4().hex[:16]}"
    stores = [MongoStore(MongoDatabase(uri, name), clock=clock) for _ in range(count)]
    database = MongoDatabase(uri, name)
    await database.open()
    for store in stores:
        await store.open()
    yield stores, database
    for store in stores:
        await store.close()
    await database.client.drop_database(name)
    await database.close()
