"""What this server wrote lately, kept at hand until Atlas Search knows of it."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from memory_server.domain.chunk import Source
from memory_server.domain.embedding import EmbeddingSpace
from memory_server.ports.clock import Clock
from memory_server.ports.search import SearchIndex
from memory_server.search.atlas.deployment import Database
from memory_server.search.atlas.indexes import AtlasIndexes
from memory_server.search.atlas.known import Written, known, outdated, written
from memory_server.search.atlas.recent import Recent
from memory_server.search.local.index import LocalIndex
from memory_server.storage.mongo.documents import Document, identity, named, vectors_of
from memory_server.storage.mongo.mirror.cache import Cache, Progress
from memory_server.storage.mongo.mirror.marks import Key
from memory_server.storage.mongo.mirror.source import Source as Stored
from memory_server.storage.mongo.mirror.source import key_of

MOST = 5_000
"""Documents that are kept. More written at once, as by an import, are found when Atlas has them."""

BATCH = 500
"""Documents that are read at once."""

LINGER = timedelta(seconds=30)
"""How long a document stays at the least: one host of Atlas may know what another does not yet."""

LONGEST = timedelta(minutes=10)
"""How long a document stays at the most: an index further behind is not waited for."""

VECTOR_MEMORY_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Kept:
    """One document: since when it is as it is, and what Atlas is to know of it; None: removed."""

    since: datetime
    written: Written | None


class RecentWrites(Recent):
    """The documents that `listen` was told of, as they are stored now, in a small local index."""

    def __init__(self, stored: Stored, collections: Mapping[Source, str], clock: Clock) -> None:
        self._stored = stored
        self._collections = collections
        self._clock = clock
        self._cache = Cache(None)
        self._index = LocalIndex(self._cache, vector_memory_bytes=VECTOR_MEMORY_BYTES)
        self._marked: dict[Key, datetime] = {}
        self._kept: dict[Key, _Kept] = {}
        self._turn = asyncio.Lock()

    @property
    def index(self) -> SearchIndex:
        return self._index

    async def open(self) -> None:
        """Begin with nothing."""
        await self._cache.open("recent writes")

    async def close(self) -> None:
        """Forget everything."""
        self._marked, self._kept = {}, {}
        await self._cache.close()
        self._index.forget()

    def listen(self, collection: str, ids: Sequence[str]) -> None:
        """Note that documents were written: a search that begins now sees them."""
        now = self._clock.now()
        for one in ids:
            key = key_of(collection, one)
            if key is not None:
                self._marked.pop(key, None)
                self._marked[key] = now
        for key in list(self._marked)[: max(0, len(self._marked) - MOST)]:
            del self._marked[key]

    async def catch_up(self) -> None:
        async with self._turn:
            while self._marked:
                keys = list(self._marked)[:BATCH]
                since = {key: self._marked[key] for key in keys}
                documents = await self._stored.fetch(keys)
                await self._put(since, documents)
                for key in keys:
                    if self._marked.get(key) == since[key]:
                        del self._marked[key]
            await self._remove(list(self._kept)[: max(0, len(self._kept) - MOST)])

    def ids(self, source: Source, project_id: str) -> Collection[str]:
        collection = self._collections[source]
        return [
            key.id
            for key in self._kept
            if key.collection == collection and key.project_id == project_id
        ]

    async def settle(self, database: Database, indexes: AtlasIndexes) -> None:
        """Let go of what Atlas knows by now, and of what is too old."""
        await self._hear_of_others(database)
        await self.catch_up()
        now = self._clock.now()
        for source, collection in self._collections.items():
            due = {
                key: kept
                for key, kept in self._kept.items()
                if key.collection == collection and now - kept.since >= LINGER
            }
            gone = {key for key, kept in due.items() if now - kept.since >= LONGEST}
            gone |= {key for key, kept in due.items() if kept.written is None}
            waiting = [kept.written for kept in due.values() if kept.written is not None]
            if waiting and indexes.words(source) is not None:
                spaces = _answering(indexes, source)
                found = await known(database, collection, waiting, spaces)
                gone |= {key for key in due if identity(key.project_id, key.id) in found}
            async with self._turn:
                await self._remove([key for key in gone if self._kept.get(key) is due[key]])

    async def _hear_of_others(self, database: Database) -> None:
        """Mark what other servers changed: what is kept here goes before what Atlas finds."""
        for collection in self._collections.values():
            ours = [
                kept.written
                for key, kept in self._kept.items()
                if key.collection == collection and kept.written is not None
            ]
            if ours:
                for document_id in await outdated(database, collection, ours):
                    self._marked[Key(collection, *named(document_id))] = self._clock.now()

    async def _put(self, since: Mapping[Key, datetime], documents: Mapping[Key, Document]) -> None:
        made = {
            key: partial(self._stored.entry, key, documents[key]) if key in documents else None
            for key in since
        }
        await self._cache.write(made, Progress())
        for key, moment in since.items():
            document = documents.get(key)
            told = None if document is None else written(document, vectors_of(document))
            self._kept.pop(key, None)
            self._kept[key] = _Kept(moment, told)

    async def _remove(self, keys: Sequence[Key]) -> None:
        if keys:
            await self._cache.write(dict.fromkeys(keys), Progress())
            for key in keys:
                del self._kept[key]


def _answering(indexes: AtlasIndexes, source: Source) -> Sequence[EmbeddingSpace]:
    """Return the spaces in which Atlas answers for a source."""
    return [one for one in indexes.wanted.spaces if indexes.vectors(source, one) is not None]
