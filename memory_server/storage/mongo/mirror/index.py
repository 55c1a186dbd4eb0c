"""The local index over a database that other servers change too."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from memory_server.domain.embedding import EmbeddingSpace, Vector
from memory_server.ports.clock import Clock
from memory_server.ports.search import Hit, SearchIndex, Selection
from memory_server.search.local.index import LocalIndex
from memory_server.storage.mongo.database import MongoDatabase
from memory_server.storage.mongo.mirror.cache import Cache
from memory_server.storage.mongo.mirror.feed import Feed
from memory_server.storage.mongo.mirror.refresher import Refresher
from memory_server.storage.mongo.mirror.source import StoredDocuments, key_of

REWRITTEN_EVERY = timedelta(minutes=15)
ABANDONED = timedelta(days=1)
"""How long an index file of this machine is kept that no process uses."""


class MirroredIndex(SearchIndex):
    """A `LocalIndex` of this process's own, kept at what the database holds.

    A search shows all that this server wrote before it, and what others wrote as soon as the
    stream of changes has told of it.
    """

    def __init__(
        self,
        database: MongoDatabase,
        *,
        clock: Clock,
        directory: Path | None,
        vector_memory_bytes: int,
    ) -> None:
        """Prepare it; without a `directory` the index is in memory and loaded at each opening."""
        self._database = database
        self._clock = clock
        self._cache = Cache(directory)
        self._local = LocalIndex(self._cache, vector_memory_bytes=vector_memory_bytes)
        self._refresher: Refresher | None = None
        self._feed: Feed | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._rewritten_at: datetime | None = None
        database.listen(self._mark)

    async def open(self) -> None:
        """Open the index file and begin to follow the database; loading goes on meanwhile."""
        if self._refresher is not None:
            return
        refresher = Refresher(StoredDocuments(self._database), self._cache, clock=self._clock)
        feed = Feed(self._database, refresher, clock=self._clock)
        await refresher.resume(await self._cache.open(self._database.location))
        self._refresher, self._feed = refresher, feed
        self._tasks = [asyncio.create_task(refresher.run()), asyncio.create_task(feed.run())]

    async def close(self) -> None:
        """Stop following and let the index file go."""
        refresher, self._refresher = self._refresher, None
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            await _end(task)
        if refresher is not None:
            refresher.stop()
        await self._cache.close()
        self._local.forget()

    async def has_traces(self) -> bool:
        """Whether words of what is gone may still be read from this machine's disk."""
        await self._following().settle()
        return await self._cache.has_traces()

    async def remove_traces(self) -> None:
        """Leave nothing of what is gone in the index file; at most every `REWRITTEN_EVERY`.

        Files that processes left behind here go too: nobody keeps them up to date.
        The index file cannot tell what was erased from what is deleted all the time, and to write
        it anew takes about two seconds for 100 MB, in which it falls behind.
        """
        now = self._clock.now()
        await self._cache.remove_abandoned(before=now - ABANDONED)
        is_early = self._rewritten_at is not None and now < self._rewritten_at + REWRITTEN_EVERY
        if not is_early and await self.has_traces():
            self._rewritten_at = now
            await self._cache.remove_traces()

    async def text(self, selection: Selection, terms: Sequence[str]) -> Sequence[Hit]:
        await self._following().settle()
        return await self._local.text(selection, terms)

    async def vector(
        self, selection: Selection, vector: Vector, space: EmbeddingSpace
    ) -> Sequence[Hit]:
        await self._following().settle()
        return await self._local.vector(selection, vector, space)

    async def describe(self) -> Mapping[str, Any]:
        refresher = self._following()
        mirrored = dict(refresher.describe())
        if self._feed is not None:
            mirrored["problem"] = self._feed.problem or mirrored["problem"]
        return {
            **await self._local.describe(),
            "kind": "local_mirror",
            "state": refresher.state() or "current",
            "is_ready": refresher.is_current,
            **mirrored,
        }

    def _following(self) -> Refresher:
        if self._refresher is None:
            self._database.check_open()
            raise AssertionError("the index is closed, and the database is not")
        return self._refresher

    def _mark(self, collection: str, ids: Sequence[str]) -> None:
        keys = [key for one in ids if (key := key_of(collection, one)) is not None]
        if self._refresher is not None:
            self._refresher.mark_own(keys)


async def _end(task: asyncio.Task[None]) -> None:
    """Cancel a task until it ends: the driver may take that for a connection that broke off."""
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=0.1)
