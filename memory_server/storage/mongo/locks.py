"""Locks within one server: what would only be in its own way in the database waits here."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from weakref import WeakValueDictionary

from memory_server.storage.mongo.database import MongoDatabase

Key = tuple[str, ...]


class Locks:
    """One lock for each key that somebody holds or waits for.

    They spare work and promise nothing: other servers have locks of their own.
    """

    def __init__(self, database: MongoDatabase) -> None:
        self._database = database
        self._locks: WeakValueDictionary[Key, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def hold(self, keys: Iterable[Key]) -> AsyncIterator[None]:
        """Hold the locks of these keys, taken in their order so that nobody waits in a circle.

        Whoever waits has begun: the database is not closed before they are done. Raises
        `StorageUnavailable` for a wait that takes longer than the database lets a call wait.
        """
        with self._database.translated():
            async with self._database.within(
                self._all(sorted(set(keys))),
                "other calls of this server were at work on the same session or user",
            ):
                yield

    @asynccontextmanager
    async def _all(self, keys: Sequence[Key]) -> AsyncIterator[None]:
        async with AsyncExitStack() as held:
            for key in keys:
                await held.enter_async_context(self._of(key))
            yield

    def _of(self, key: Key) -> asyncio.Lock:
        return self._locks.setdefault(key, asyncio.Lock())
