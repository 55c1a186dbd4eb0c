"""A server's store that mirrors a database until it is killed; it says when it is current."""

import asyncio
import sys
from pathlib import Path

from memory_server.providers.system import SystemClock
from memory_server.storage.mongo import MongoStore
from memory_server.storage.mongo.database import MongoDatabase


async def main() -> None:
    """Open the store that the arguments name."""
    uri, name, directory = sys.argv[1:]
    store = MongoStore(MongoDatabase(uri, name), clock=SystemClock(), directory=Path(directory))
    await store.open()
    while not (await store.search.describe())["is_ready"]:  # noqa: ASYNC110 nothing tells of it
        await asyncio.sleep(0.01)
    print("current", flush=True)  # noqa: T201 read by the test
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
